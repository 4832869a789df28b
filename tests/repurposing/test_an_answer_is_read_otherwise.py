"""What a person is told of rankings, own tables and requests; and the made-up problems of self-tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.benchmarks.own_data import OwnTable
from harness.benchmarks.reading import reading_of
from harness.benchmarks.repurposing import BENCHMARK, own_data, requests
from harness.benchmarks.repurposing.answer import Predictions
from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.extension import USUAL
from harness.benchmarks.repurposing.parity.metrics import check_metrics
from harness.benchmarks.repurposing.parity.splits import check_split
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.data import manifest_names
from harness.methods.card import method_names
from harness.parity.finding import Standing


class _Folded(Strict):
    inner_folds: int


def test_pairs_stand_by_the_score_of_the_first_model_and_equal_ones_as_in_the_dataset() -> None:
    problem = problems.ordinary()
    dataset, asked = problem.dataset, np.argwhere(problem.split.folds == TEST)
    scores = np.floor(4 * np.random.default_rng(3).random((2, len(asked)))) / 4
    answer = Predictions(scores, None, np.ones(2))
    told = [
        (dataset.drug_ids[drug], dataset.disease_ids[disease], score)
        for (drug, disease), score in zip(asked.tolist(), scores[0].tolist(), strict=True)
    ]
    ranking = BENCHMARK.ranking(dataset, problem.split, answer, None)
    assert ranking.columns == ("drug", "disease", "score")
    assert [*ranking.rows] == sorted(told, key=lambda one: -one[-1])
    assert BENCHMARK.ranking(dataset, problem.split, answer, 3).rows == ranking.rows[:3]


def test_known_pairs_are_named_with_what_is_known_of_them() -> None:
    labels, none = np.array([[1, 0], [0, -1], [0, 0]], np.int8), np.zeros((0, 0))
    dataset = RepurposingDataset("tiny", labels, none, none, ("a", "b", "c"), ("x", "y"), (), ())
    reading = reading_of("repurposing", dataset)
    assert reading.known == ((("a", "x"), "associated"), (("b", "y"), "not associated"))
    assert reading.meaning == (
        "A score orders the unknown pairs of one answer. It is no probability, and scores of two methods or "
        "of two datasets can't be compared.",
        "A pair that ranks high is a hypothesis. Known pairs were learned from and are not ranked.",
    )


def test_tables_of_ones_own_are_pairs_and_features() -> None:
    assert benchmarks.part("repurposing", f"converters.{own_data.CONVERTER}") is not None
    assert {
        "associations": OwnTable(
            "associations",
            "known pairs: drug, disease and, if wanted, label, part; or a matrix of drugs and diseases",
            required=True,
        ),
        "drugs": OwnTable("drug_features", "features of each drug", required=False),
        "diseases": OwnTable("disease_features", "features of each disease", required=False),
    } == own_data.TABLES


def test_who_names_nothing_is_answered_by_a_method_on_a_dataset_that_are_here(repository: Layout) -> None:
    assert USUAL.method in method_names(repository) and {*USUAL.datasets} <= {*manifest_names(repository)}
    assert USUAL.datasets[-1] == "synthetic", "the last one lies in the repository: there always is an answer"


@pytest.mark.parametrize(("parameters", "wanted"), [(_Folded(inner_folds=5), 0), (_Folded(inner_folds=5), 5)])
def test_as_many_inner_models_as_folds_may_be_wanted_or_none(parameters: Strict, wanted: int) -> None:
    requests.check(parameters, {"inner_folds": wanted})
    requests.check(Strict(), {"inner_folds": wanted})


@pytest.mark.parametrize("parameters", [_Folded(inner_folds=5), _Folded(inner_folds=1), Strict()])
def test_one_inner_model_is_refused_whatever_the_split(parameters: Strict) -> None:
    """No split has one fold alone: every run of it failed."""
    with pytest.raises(UsageError) as refused:
        requests.check(parameters, {"inner_folds": 1})
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        "a fold that is held out needs another one to learn from",
        "--inner-folds 1",
        "ask for 0, which holds nothing out, or for 2 or more",
    )


def test_a_split_without_inner_folds_is_asked_for_none_once() -> None:
    with pytest.raises(UsageError) as refused:
        requests.check(_Folded(inner_folds=0), {"inner_folds": 3})
    assert refused.value.todo == (
        "--inner-folds 0; or a split with them, too: --split STRATEGY:inner_folds=3 --inner-folds 3"
    )


@pytest.mark.parametrize("wanted", [2, 4, 6])
def test_another_number_of_inner_models_is_refused(wanted: int) -> None:
    with pytest.raises(UsageError) as refused:
        requests.check(_Folded(inner_folds=5), {"inner_folds": wanted})
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        f"the split has 5 inner folds, and the run wants {wanted}",
        f"--inner-folds {wanted}",
        "--inner-folds 0 or --inner-folds 5; or a split with them, too: "
        f"--split STRATEGY:inner_folds={wanted} --inner-folds {wanted}",
    )


@pytest.mark.parametrize(
    ("case", "standing", "note"),
    [
        ("another_split", Standing.NOT_IMPLEMENTED, "no split strategy covers it"),
        # what is more than a name may be of something else
        ("split_random_Synthetic_1b", Standing.NOT_IMPLEMENTED, "no split strategy covers it"),
        ("split_weakly_Synthetic_cosine_None_3_old", Standing.NOT_IMPLEMENTED, "no split strategy covers it"),
        ("my_split_weakly_Synthetic_cosine_None_3", Standing.NOT_IMPLEMENTED, "no split strategy covers it"),
        ("split_random_Nowhere_1", Standing.NOT_IMPLEMENTED, "no dataset is called 'nowhere'"),
        ("split_random_Fdataset_1", Standing.MISSING_DATA, "give its originals with --mirror"),
    ],
)
def test_a_golden_split_that_can_not_be_made_says_why(
    repository: Layout,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: str,
    standing: Standing,
    note: str,
) -> None:
    # a folder of originals that the machine knows would have them
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    elsewhere = Layout(repository.root, tmp_path, tmp_path)
    found = check_split(elsewhere, case, {}, (tmp_path,))
    assert (found.case, found.standing, found.arrays) == (case, standing, ()) and found.note.endswith(note)


def test_metrics_that_a_golden_case_lacks_are_absent() -> None:
    case = {"F": np.ones((2, 3)), "S": np.arange(6.0).reshape(2, 3), "A": np.eye(2, 3), "lin_auc": np.asarray(0.5)}
    found = {one.array: one for one in check_metrics({f"0/{name}": array for name, array in case.items()})}
    assert found["acc"].standing is Standing.ABSENT and found["acc"].note == "1 case"
    assert found["lin_auc"].standing is not Standing.ABSENT


def test_made_up_negatives_take_the_place_of_what_was_unknown() -> None:
    before, after = (one.dataset.associations for one in (problems.ordinary(), problems.with_negatives()))
    assert (after == -1).any() and (before[after == -1] == 0).all()
    assert (after[after != -1] == before[after != -1]).all()


def test_made_up_labels_are_explained_by_groups() -> None:
    labels = problems.as_published().dataset.associations
    groups = [np.arange(size) % problems._GROUPS for size in labels.shape]
    same = groups[0][:, None] == groups[1]
    assert labels[same].mean() > 0.5 and labels[~same].mean() < 0.05
