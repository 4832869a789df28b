"""What is told of drugs and diseases: features, views, reasons, items of one's own, goldens, made-up problems."""

from __future__ import annotations

import itertools
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.base.errors import InvalidPredictions, UsageError
from harness.base.input_files import as_file
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.new_item import Kind, NewItem, Usual
from harness.benchmarks.repurposing import BENCHMARK
from harness.benchmarks.repurposing.answer import FoldQuestion, Predictions
from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.extension import KINDS, USUAL, with_new
from harness.benchmarks.repurposing.input_arrays import similarity, standardised, views
from harness.benchmarks.repurposing.names import INPUTS
from harness.benchmarks.repurposing.parity.answers import _split_of
from harness.benchmarks.repurposing.parity.metrics import check_metrics
from harness.benchmarks.repurposing.parity.splits import _spec, check_split
from harness.benchmarks.repurposing.scoring import score_predictions
from harness.benchmarks.repurposing.splits.folds import FoldSplit
from harness.benchmarks.repurposing.splits.separation import separation
from harness.benchmarks.repurposing.splits.strategies import random, weakly_correlated
from harness.data import load_dataset
from harness.parity.finding import Standing
from harness.parity.goldens import Incomplete
from harness.splits import strategy_names
from harness.splits.spec import SplitSpec

ONE_KIND = "no {} has exactly two kinds of labels, +1 among them, in the test set"


def tiny(*, square: bool = False) -> RepurposingDataset:
    """Two drugs and three diseases; the features of drugs are similarities if asked for."""
    features = [[1.0, 0.5], [0.5, 1.0]] if square else [[1.0, 2.0, 3.0, 7.0], [4.0, 5.0, 6.0, 8.0]]
    return RepurposingDataset(
        "tiny",
        np.array([[1, 0, -1], [0, 1, 0]], dtype=np.int8),
        np.array(features),
        np.array([[1.0, 5.0], [2.0, 7.0], [3.0, 1.0]]),
        ("a", "b"),
        ("x", "y", "z"),
        ("a", "b") if square else ("f1", "f2", "g", "i"),
        ("h", "k"),
    )


def new(kind: str, name: str, text: str) -> NewItem:
    return NewItem(kind=kind, name=name, text=text)


def test_the_reason_of_every_metric_says_what_it_would_need() -> None:
    folds = np.full((2, 2), -1, dtype=np.int8)
    nothing = Predictions(np.array([[0.1, 0.2, 0.3, 0.4]]), None, np.array([0.1]))
    metrics, notes = score_predictions(np.zeros((2, 2), dtype=np.int8), folds, nothing)
    no_positive = "there is no positive in the test set"
    assert {name: notes[name] for name, value in metrics.items() if value is None} == {
        "NS-AUC/as-published": ONE_KIND.format("drug"),
        "NS-AUC/as-defined": "no disease has two different labels in the test set",
        "AUC/as-published": "the test set does not have both positives and others",
        "AUC/as-defined": "the test set does not have both positives and others",
        "disease-wise AUC/as-published": ONE_KIND.format("disease"),
        "disease-wise AUC/as-defined": "no disease has both positives and others in the test set",
        "drug-wise AUC/as-published": ONE_KIND.format("drug"),
        "drug-wise AUC/as-defined": "no drug has both positives and others in the test set",
        "NDCG/as-published": ONE_KIND.format("disease"),
        "NDCG/as-defined": "no disease has a positive in the test set",
        "global NDCG/as-published": no_positive,
        "global NDCG/as-defined": no_positive,
        "accuracy/as-published": "no label is known in the test set",
        "accuracy/as-defined": "no label is known in the test set",
        "F-score/as-published": ONE_KIND.format("disease"),
        **{f"HR@{best}/as-published": no_positive for best in (2, 5, 10)},
    }


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("a-1", "b-1", "a-2", "c-x-y", "b-"), [0, 1, 0, 2, 1]),
        (("a-1", "b"), [0, 0]),
        (("-1", "a-1"), [0, 1]),
        (("a-b-1", "a-c-1", "b-b-1", "a-2"), [0, 0, 1, 0]),
        ((), []),
    ],
)
def test_views_are_told_by_what_stands_before_the_first_dash(names: tuple[str, ...], expected: list[int]) -> None:
    found = views(names)
    assert found.tolist() == expected and found.dtype == np.int32


def test_an_input_that_there_is_not_is_answered_with_all_that_there_are() -> None:
    with pytest.raises(UsageError, match="no input is called 'labels'") as refused:
        BENCHMARK.inputs(tiny(), FoldSplit(np.zeros((2, 3), dtype=np.int8), "x"), ["labels"], {"inner_folds": 0})
    assert refused.value.where == "method.toml: inputs"
    told = refused.value.todo.removeprefix("choose among: ").split(", ")
    assert told[:2] == ["associations", "folds"] and {*told} == {*INPUTS}


def test_each_input_is_the_one_of_its_name_and_nobody_changes_it_for_the_next() -> None:
    dataset, folds = tiny(), np.array([[0, 0, -1], [-1, -2, 0]], dtype=np.int8)
    given = BENCHMARK.inputs(dataset, FoldSplit(folds, "x"), INPUTS, {"inner_folds": 0})
    drugs, diseases = dataset.drug_features, dataset.disease_features
    expected = {
        "associations": [[1, 0, 0], [0, 0, 0]],
        "folds": folds,
        "drug_features": drugs,
        "disease_features": diseases,
        "drug_standardised": standardised(drugs),
        "disease_standardised": standardised(diseases),
        "drug_similarity": similarity(drugs),
        "disease_similarity": similarity(diseases),
        "drug_views": [0, 0, 0, 0],
    }
    assert [*given] == [*expected]
    for name, array in expected.items():
        np.testing.assert_array_equal(np.asarray(given[name]), array)
        if name not in ("associations", "folds"):
            assert not np.asarray(given[name]).flags.writeable
    again = BENCHMARK.inputs(dataset, FoldSplit(folds, "x"), ["drug_similarity"], {"inner_folds": 0})
    assert again["drug_similarity"] is given["drug_similarity"], "made once"


def test_how_features_lie_in_memory_changes_no_bit() -> None:
    features = np.random.default_rng(5).normal(size=(999, 3))
    features[7, 1] = np.nan
    turned = np.asfortranarray(features)
    assert standardised(turned).tobytes() == standardised(features).tobytes()
    assert standardised(turned).flags.c_contiguous


def test_in_a_secret_order_everything_of_a_drug_moves_with_it() -> None:
    """The mask of training pairs, and the views of features that are the drugs themselves; no other views do."""
    folds = np.array([[0, -1, 0], [-1, 0, 0], [0, 0, -2], [-1, -1, 0], [0, 0, -1]], dtype=np.int8)
    names = np.arange(5.0)[:, None]
    given = {
        "folds": folds,
        "training": (folds >= 0).astype(np.int8),
        "drug_features": names,
        "drug_views": np.arange(5, dtype=np.int32),
    }
    moved = {name: np.asarray(one) for name, one in BENCHMARK.reorder(given, "5" * 32).inputs.items()}
    order = moved["drug_features"][:, 0].astype(int)
    assert order.tolist() != list(range(5)) and moved["drug_views"].tolist() == order.tolist()
    assert (moved["training"] == (moved["folds"] >= 0)).all() and moved["folds"].tolist() != folds.tolist()
    for count in (4, 6):
        views = np.arange(count, dtype=np.int32)
        kept = BENCHMARK.reorder({**given, "drug_views": views}, "5" * 32).inputs["drug_views"]
        assert np.asarray(kept).tolist() == views.tolist()


def test_what_predicts_is_a_strategy() -> None:
    assert BENCHMARK.scoring.predicting == "unknown_pairs"
    assert BENCHMARK.scoring.predicting in strategy_names("repurposing")


def test_a_row_that_hardly_varies_is_like_no_other() -> None:
    generator = np.random.default_rng(3)
    features = generator.normal(size=(5, 400))
    centre, scale = np.delete(features, 2, axis=0).mean(axis=0), 1.0
    features[2] = centre + scale * 1e-14
    found = similarity(features)
    assert standardised(features)[2].std() > 0
    assert (found[2] == 0).all() and (found[:, 2] == 0).all()
    features[2] = centre + 1e-3 * generator.normal(size=400)
    assert similarity(features)[2, 2] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("lowest", "told"),
    [
        (0.0, "lowest.npy: model 0 tells 0 as its smallest score but 0, and scored -2"),
        (-1.5, "lowest.npy: model 0 tells -1.5 as its smallest score but 0, and scored -2"),
        (-2.0, ""),
        (-3.0, ""),
    ],
)
def test_a_smallest_score_that_is_none_is_told_with_the_one_that_was_seen(
    tmp_path: Path, lowest: float, told: str
) -> None:
    for name, array in (("predictions", np.array([[0.0, -2.0, 1.0]])), ("lowest", np.array([lowest]))):
        (tmp_path / f"{name}.npy").write_bytes(npy_bytes(array))
    (tmp_path / "method.json").write_text('{"protocol": 1}')
    asked = FoldQuestion(np.array([[-1, -1, -1, 0]], dtype=np.int8), 0)
    if not told:
        assert asked.read(tmp_path).lowest.tolist() == [lowest]
        return
    with pytest.raises(InvalidPredictions) as refused:
        asked.read(tmp_path)
    assert str(refused.value) == told


def test_drugs_and_diseases_of_ones_own_stand_behind_those_that_are_known() -> None:
    larger = with_new(tiny(), [new("disease", "sick", "h = 7"), new("drug", "mine", " f2=1.5;; g = -2 ;")])
    assert (larger.drug_ids, larger.disease_ids) == (("a", "b", "mine"), ("x", "y", "z", "sick"))
    assert larger.associations.tolist() == [[1, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert larger.associations.dtype == np.int8 and larger.remarks == ()
    np.testing.assert_array_equal(larger.drug_features, [[1, 2, 3, 7], [4, 5, 6, 8], [np.nan, 1.5, -2, np.nan]])
    np.testing.assert_array_equal(larger.disease_features, [[1, 5], [2, 7], [3, 1], [7, np.nan]])
    assert (larger.drug_feature_names, larger.disease_feature_names) == (("f1", "f2", "g", "i"), ("h", "k"))
    assert with_new(tiny(), [new("drug", "mine", "g=1")]).disease_features is not None


def test_a_feature_may_have_an_equals_sign_in_its_name() -> None:
    dataset = RepurposingDataset(**{**vars(tiny()), "drug_feature_names": ("f1", "dose=high", "g", "i")})
    larger = with_new(dataset, [new("drug", "mine", "dose=high=1.5; f1 = 2")])
    np.testing.assert_array_equal(larger.drug_features[-1], [2, 1.5, np.nan, np.nan])


def test_more_features_than_drugs_are_no_similarities() -> None:
    assert len(tiny().drug_feature_names) > len(tiny().drug_ids)
    larger = with_new(tiny(), [new("drug", "mine", "g=1")])
    assert larger.drug_features.shape == (3, 4) and larger.drug_feature_names == tiny().drug_feature_names


def test_a_drug_known_by_its_similarities_is_a_column_of_the_others() -> None:
    dataset = tiny(square=True)
    larger = with_new(dataset, [new("drug", "p", "a=0.25;q=0.75"), new("drug", "q", "b=0.125")])
    nothing = np.nan
    np.testing.assert_array_equal(
        larger.drug_features,
        [
            [1, 0.5, 0.25, nothing],
            [0.5, 1, nothing, 0.125],
            [0.25, nothing, 1, 0.75],
            [nothing, 0.125, 0.75, 1],
        ],
    )
    assert larger.drug_feature_names == ("a", "b", "p", "q")
    assert dataset.drug_features.shape == (2, 2)


@pytest.mark.parametrize(
    ("text", "what", "where", "todo"),
    [
        ("f1x=1", "no feature is called 'f1x'", "new drug 'mine'", "did you mean 'f1'? known: f1"),
        ("F2X = 1", "no feature is called 'F2X'", "new drug 'mine'", "did you mean 'f2'? known: f2"),
        ("zz=1", "no feature is called 'zz'", "new drug 'mine'", "known: f1, f2, g, i"),
        ("f1=1;f1 =1", "'f1' is given twice", "new drug 'mine': f1 =1", "give each feature once"),
        ("f1=much", "'much' is no finite number", "new drug 'mine': f1=much", "write one"),
        ("f1=inf", "'inf' is no finite number", "new drug 'mine': f1=inf", "write one"),
        # Python's own way, which no table may have
        ("f1=1_0", "'1_0' is no finite number", "new drug 'mine': f1=1_0", "write one"),
        ("f1=nan", "'nan' is no finite number", "new drug 'mine': f1=nan", "write one"),
    ],
)
def test_a_feature_that_can_not_be_is_told_with_those_that_can(
    text: str, what: str, where: str, todo: str
) -> None:
    with pytest.raises(UsageError) as refused:
        with_new(tiny(), [new("drug", "mine", text)])
    assert (refused.value.what, refused.value.where, refused.value.todo) == (what, where, todo)


def test_what_says_nothing_or_is_there_already_is_no_item_of_ones_own() -> None:
    with pytest.raises(UsageError) as refused:
        with_new(tiny(), [new("drug", "mine", " ; ")])
    assert "list of features (FEATURE=NUMBER, separated by semicolons or lines)" in str(refused.value)
    # of drugs and of diseases, in whatever case
    for kind, taken in itertools.product(("drug", "disease"), ("A", "x")):
        with pytest.raises(UsageError, match=f"^.*there is a '{taken}' already"):
            with_new(tiny(), [new(kind, taken, "f1=1")])
    other = RepurposingDataset(**{**vars(tiny(square=True)), "drug_feature_names": ("b", "a")})
    with pytest.raises(UsageError, match="similarities whose columns are not named as its rows are") as refused:
        with_new(other, [new("drug", "mine", "a=1")])
    assert refused.value.where == "new drug 'mine'"
    assert refused.value.todo == (
        "take a dataset with other features, or list all in tables of your own (docs/predicting.md)"
    )


def test_features_do_not_become_similarities_by_the_number_of_new_items() -> None:
    """Two drugs with four features: with two more they were square, and methods got other inputs."""
    dataset, one, two = tiny(), new("drug", "mine", "f1=1"), new("drug", "yours", "f1=1")
    with pytest.raises(UsageError) as refused:
        with_new(dataset, [one, two])
    assert refused.value.what == (
        "with 2 new drugs the features of dataset tiny are square, which to methods are similarities"
    )
    assert refused.value.where == "new drug 'mine'"
    assert refused.value.todo == "ask for another number of new drugs at once"
    for fits in ([one], [one, two, new("drug", "hers", "f1=1")]):
        assert with_new(dataset, fits).drug_features.shape == (2 + len(fits), 4)


def test_both_kinds_of_items_are_described_alike() -> None:
    holds = "list of features (FEATURE=NUMBER, separated by semicolons or lines)"
    for kind in ("drug", "disease"):
        inputs = (f"{kind}_features", f"{kind}_standardised", f"{kind}_similarity")
        assert KINDS[kind] == Kind(holds, inputs=inputs, lists=(f"{kind}_ids",), between_lines=";")
    assert [*KINDS] == ["drug", "disease"] and Usual("bnnr", ("fdataset", "synthetic")) == USUAL
    assert BENCHMARK.place == 1 and dict(BENCHMARK.options_to_predict) == {"inner_folds": 0}
    assert BENCHMARK.brought_tables == ("associations.csv", "drug_features.csv", "disease_features.csv")


def test_all_that_is_odd_of_a_dataset_is_remarked() -> None:
    """Of drugs first, then of diseases."""
    assert BENCHMARK.remarks(problems.ordinary().dataset) == (
        "28 drug features unknown; preparation fills in column means",
        "1 drug feature column constant, so zero once standardised",
        "1 disease feature unknown; preparation fills in column means",
        "1 drug without a known association, kept as rows of zeros",
    )


@pytest.fixture(scope="module")
def synthetic(repository: Layout) -> RepurposingDataset:
    """The embedded dataset."""
    return load_dataset(repository, "synthetic", RepurposingDataset)


def test_a_golden_split_is_made_again_and_compared_pair_by_pair(
    repository: Layout, synthetic: RepurposingDataset
) -> None:
    folds = random.make(synthetic, 17263407, random.Parameters()).folds
    test = folds == -1
    golden = {"val_mask": np.packbits(test), "train_mask": np.packbits(~test)}
    drugs = {"val_drugs": np.flatnonzero(test.all(axis=1)), "train_drugs": np.flatnonzero(~test.all(axis=1))}
    distances = {"dist": separation(synthetic, folds, "euclidean") + 1e-7}
    found = check_split(repository, "split_random_Synthetic_17263407", {**golden, **drugs, **distances}, ())
    assert (found.subject, found.kind) == ("random on synthetic", "splits")
    names = ["train_mask", "val_mask", "train_drugs", "val_drugs", "dist"]
    assert [(one.array, one.standing) for one in found.arrays] == [(name, Standing.OK) for name in names]
    assert [one.allowed for one in found.arrays[:4]] == [0.0] * 4 and found.arrays[4].allowed == 1e-6
    golden["val_mask"] = golden["val_mask"].copy()
    golden["val_mask"][0] ^= 1
    (changed,) = check_split(
        repository, "split_random_Synthetic_17263407", {"val_mask": golden["val_mask"]}, ()
    ).arrays
    assert changed.standing is Standing.BEYOND
    # of a smaller dataset, and of a larger one that begins alike
    whole = np.packbits(test)
    for other_size in (whole[:-9], np.append(whole, 0).astype(np.uint8)):
        masks = {"val_mask": other_size}
        (unlike,) = check_split(repository, "split_random_Synthetic_17263407", masks, ()).arrays
        assert unlike.standing is Standing.BEYOND and unlike.note.startswith("shape ")
    other = check_split(repository, "split_random_Synthetic_17263408", {"train_mask": golden["train_mask"]}, ())
    assert other.worst is Standing.BEYOND


@pytest.mark.parametrize(
    ("name", "strategy", "parameters", "seed"),
    [
        ("split_random_My_data_7", "random", {}, 7),
        ("split_weakly_My_data_cosine_2_17", "weakly_correlated", {"metric": "cosine", "early_stop": 2}, 17),
        ("split_weakly_My_data_dot_None_5", "weakly_correlated", {"metric": "dot", "early_stop": None}, 5),
    ],
)
def test_the_name_of_a_golden_split_says_what_it_is(
    name: str, strategy: str, parameters: dict[str, Any], seed: int
) -> None:
    assert _spec(name) == (SplitSpec(strategy=strategy, seed=seed, parameters=parameters), "My_data")
    for other in (f"{name}_", f"my_{name}", name.replace("_My_data", ""), name.replace("split_", "split_un")):
        assert _spec(other) == (None, "")


def test_the_split_of_a_golden_answer_is_a_whole_one_beside_it(tmp_path: Path) -> None:
    """Neither one that lacks a mask, nor one of another dataset or seed, nor one of a folder below."""
    masks: dict[str, Any] = {name: np.zeros(3) for name in ("A_train", "train_mask", "val_mask")}
    match: Any = SimpleNamespace(case=SimpleNamespace(path=tmp_path / "als_X_1.npz"), dataset="X", seed=1)
    (tmp_path / "below").mkdir()
    for name in ("below/a_X_1", "a_X_11", "a_Y_1", "a_X_1_"):
        np.savez(tmp_path / f"{name}.npz", **masks)
    for lacking in masks:
        np.savez(tmp_path / f"{lacking}_X_1.npz", **{name: masks[name] for name in masks if name != lacking})
    with pytest.raises(Incomplete, match="needs a case of X and seed 1 that holds A_train, train_mask, val_mask"):
        _split_of(match)
    for name in ("z_X_1", "v_X_1"):
        np.savez(tmp_path / f"{name}.npz", **masks)
    assert _split_of(match) == tmp_path / "v_X_1.npz"


@pytest.mark.parametrize("early_stop", ["None", "2"])
def test_a_golden_split_of_distant_drugs_is_of_its_metric(
    repository: Layout, synthetic: RepurposingDataset, early_stop: str
) -> None:
    parameters = weakly_correlated.Parameters(
        metric="cosine", early_stop=None if early_stop == "None" else int(early_stop)
    )
    folds = weakly_correlated.make(synthetic, 3, parameters).folds
    golden: dict[str, np.ndarray] = {"val_mask": np.packbits(folds == -1)}
    golden["dist"] = separation(synthetic, folds, "cosine")
    found = check_split(repository, f"split_weakly_Synthetic_cosine_{early_stop}_3", golden, ())
    assert found.subject == "weakly_correlated on synthetic"
    assert [(one.array, one.standing) for one in found.arrays] == [
        ("val_mask", Standing.OK),
        ("dist", Standing.OK),
    ]


def test_a_golden_split_of_a_metric_that_there_is_not_is_told(repository: Layout) -> None:
    found = check_split(repository, "split_weakly_Synthetic_manhattan_None_1", {}, ())
    assert (found.standing, found.kind, found.arrays) == (Standing.NOT_IMPLEMENTED, "splits", ())
    assert found.note == "a parameter of split strategy 'weakly_correlated' is wrong"


def test_a_golden_split_that_can_not_be_made_here_is_told(
    repository: Layout, synthetic: RepurposingDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One drug without features has no cosine distance: that is a fault of ours, and no end of the comparison."""
    features = synthetic.drug_features.copy()
    features[3] = 0.0
    odd = replace(synthetic, drug_features=features)
    monkeypatch.setattr(
        "harness.benchmarks.repurposing.parity.splits.make_split",
        lambda layout, name, spec, mirrors: weakly_correlated.make(
            odd, spec.seed, weakly_correlated.Parameters.model_validate(spec.parameters)
        ),
    )
    found = check_split(repository, "split_weakly_Synthetic_cosine_None_1", {}, ())
    assert (found.standing, found.kind, found.arrays) == (Standing.FAILED, "splits", ())
    assert found.note == f"drug '{synthetic.drug_ids[3]}' has no feature but zeros: it has no cosine distance"


def _metrics_case(**changes: np.ndarray) -> dict[str, np.ndarray]:
    labels, inside = np.array([[1, 0, 1], [0, 1, 0]]), np.array([[1, 1, 1], [1, 1, 0]])
    return {"A": labels, "F": inside, "S": np.array([[3.0, -1.0, 2.0], [-2.0, 4.0, 9.0]]), **changes}


def test_golden_metrics_are_told_by_their_worst_case() -> None:
    right, off = _metrics_case(acc=np.array(1.0)), _metrics_case(acc=np.array(1.0 + 1e-9))
    cases = {"0": right, "1": off, "2": right}
    arrays = {f"{number}/{name}": array for number, case in cases.items() for name, array in case.items()}
    found = {one.array: one for one in check_metrics({**arrays, "about": np.array(1)})}
    accuracy = found["acc"]
    assert accuracy.standing is Standing.BEYOND and accuracy.note.startswith("3 cases, worst in 1")
    assert accuracy.allowed == 1e-12 and accuracy.error == pytest.approx(1e-9, rel=1e-3)
    (one,) = (
        one for one in check_metrics({f"0/{name}": array for name, array in right.items()}) if one.array == "acc"
    )
    assert (one.standing, one.note, one.error) == (Standing.OK, "1 case", 0.0)


@pytest.mark.parametrize(
    ("cases", "standing", "note"),
    [
        # what is bad goes before what is not, though it has no error, then the larger error
        (
            [np.array(1.0 + 5e-13), np.array([1.0, 1.0])],
            Standing.BEYOND,
            "2 cases, worst in 1; shape () instead of (2,)",
        ),
        ([np.array(1.0 + 3e-12), np.array(2.0)], Standing.BEYOND, "2 cases, worst in 1"),
        ([np.array(2.0), np.array(1.0 + 3e-12)], Standing.BEYOND, "2 cases, worst in 0"),
        ([np.array(1.0), np.array(1.0 + 5e-13)], Standing.OK, "2 cases, worst in 1"),
        ([np.array(1.0), np.array(1.0)], Standing.OK, "2 cases"),
        # of equal ones the first
        ([np.array(2.0)] * 9, Standing.BEYOND, "9 cases, worst in 0"),
    ],
)
def test_the_worst_case_is_the_one_that_is_told(cases: list[np.ndarray], standing: Standing, note: str) -> None:
    arrays = {
        f"{number}/{name}": array
        for number, accuracy in enumerate(cases)
        for name, array in _metrics_case(acc=accuracy).items()
    }
    (found,) = (one for one in check_metrics(arrays) if one.array == "acc")
    assert (found.standing, found.note) == (standing, note)


def test_golden_scores_of_zero_are_half_of_the_lowest() -> None:
    scores = np.array([[3.0, 0.0, 2.0], [-2.0, 4.0, 9.0]])
    filled = np.array([[3.0, -1.0, 2.0], [-2.0, 4.0, 0.0]])
    case = _metrics_case(S=scores, scores_after_fill=filled)
    nothing = _metrics_case(S=np.zeros((2, 3)), predictions=np.array([[1, 1, 1], [1, 1, 0]]))
    for one, name in ((case, "scores_after_fill"), (nothing, "predictions")):
        found = {each.array: each for each in check_metrics({f"0/{key}": array for key, array in one.items()})}
        assert found[name].standing is Standing.OK, found[name]


def test_every_golden_metric_is_compared_with_its_own() -> None:
    nothing = np.array([])
    golden = _metrics_case(
        scores_after_fill=np.array([[3.0, -1.0, 2.0], [-2.0, 4.0, 0.0]]),
        predictions=np.array([[1, -1, 1], [-1, 1, 0]]),
        lin_auc=np.array(1.0),
        ns_auc_rows=np.array([1.0, 1.0]),
        ns_auc_cols=np.array([1.0, 1.0]),
        global_auc=np.array(1.0),
        avg_AUC_binary_mean_sd=np.array([1.0, 0.3]),
        disease_auc_on_scores=np.array([1.0, 1.0]),
        avg_NDCG_mean_sd=np.array([1.0, 0.3]),
        acc=np.array(1.0),
        # one half of each disease: a label of 0 is never predicted
        avg_F_mean_sd=np.array([0.5, 0.3]),
    )
    found = {one.array: one for one in check_metrics({f"0/{name}": array for name, array in golden.items()})}
    absent = [name for name, one in found.items() if one.standing is Standing.ABSENT]
    assert absent == ["global_ndcg"]
    assert {one.standing for name, one in found.items() if name not in absent} == {Standing.OK}
    # the worst of all answers has a value, too: 0 is none that is missing
    worst = _metrics_case(S=-_metrics_case()["S"], acc=np.array(0.0), global_auc=np.array(0.0))
    found = {one.array: one for one in check_metrics({f"0/{name}": array for name, array in worst.items()})}
    assert found["acc"].standing is found["global_auc"].standing is Standing.OK
    # of no disease there is a value where no label is known, and none is wanted
    unknown = _metrics_case(A=np.zeros((2, 3)), ns_auc_rows=nothing, disease_auc_on_scores=nothing)
    found = {one.array: one for one in check_metrics({f"0/{name}": array for name, array in unknown.items()})}
    assert found["ns_auc_rows"].standing is found["disease_auc_on_scores"].standing is Standing.OK


DIGESTS = {
    "ordinary": "aecdb9c3c1187e5d",
    "with_negatives": "615cef28ed6e6a34",
    "with_one_positive": "4979b2c5c8ef2a51",
    "with_more_diseases": "5aeca49a757a40b8",
    "as_published": "c8e7db5182e2da80",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_every_method_is_asked_the_same_made_up_problems(name: str) -> None:
    """That one passed the self-test means the same everywhere, today and tomorrow."""
    problem = getattr(problems, name)()
    dataset, other = problem.dataset, problem.with_other_test_labels().dataset
    arrays = (dataset.associations, other.associations, dataset.drug_features, dataset.disease_features)
    names = (dataset.drug_ids, dataset.disease_ids, dataset.drug_feature_names, dataset.disease_feature_names)
    files = [as_file(str(number), one) for number, one in enumerate((*arrays, problem.split.folds, *names))]
    assert sha256(b"".join(file.content for file in files)).hexdigest()[:16] == DIGESTS[name]


def test_a_run_of_before_is_handed_its_items_in_the_same_order_again() -> None:
    """Its record tells the secret: with it anybody makes the same inputs."""
    problem = problems.with_negatives()
    arrangement = BENCHMARK.reorder(
        BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {"inner_folds": 5}), "5" * 32
    )
    files = [as_file(name, given) for name, given in sorted(arrangement.inputs.items())]
    assert sha256(b"".join(file.content for file in files)).hexdigest()[:16] == "2d87a2bbdbbea76e"
