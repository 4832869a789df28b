"""What a table is asked to show is one metric of one benchmark, and refused in words that say what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.metric import Metric
from harness.contest import ContestRequest, contest_plan, metric_of
from harness.contest.request import _seeds, benchmark_of
from harness.methods.card import load_method
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.core.factories import planned_job, put_run
from tests.core.word_for_word import said


@pytest.mark.parametrize(
    ("benchmark", "name"),
    [
        ("repurposing", "NS-AUC/as-defined"),
        ("ddi", "S1 F1/as-defined"),
        ("dti", "AUROC"),
        ("combos", "exact positive F1/as-defined"),
    ],
)
def test_the_usual_metric_is_the_first_of_tables_as_defined(benchmark: str, name: str) -> None:
    assert metric_of(benchmark, None).name == name
    assert metric_of(benchmark, name).name == name


def test_a_metric_that_can_not_rank_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError) as refused:
        metric_of("repurposing", "AUC")
    assert said(refused.value) == (
        "there are 2 metrics called AUC",
        "--metric AUC",
        "choose one of: AUC/as-published, AUC/as-defined (docs/metrics.md says how they differ)",
    )
    with pytest.raises(UsageError, match="no metric is called 'AUROCC'") as refused:
        metric_of("dti", "AUROCC")
    assert refused.value.where == "benchmark dti" and refused.value.todo.startswith("did you mean 'AUROC'")
    # the beginning of a name is none: neither of a metric nor of its kinds
    for beginning in ("AU", "AUC/", "AUC/as"):
        with pytest.raises(UsageError, match=f"no metric is called '{beginning}'"):
            metric_of("repurposing", beginning)
    scoring = type(benchmarks.get("dti").scoring)
    monkeypatch.setattr(scoring, "metrics", (Metric("items", "how many", better="neither"),))
    with pytest.raises(UsageError) as refused:
        metric_of("dti", "items")
    assert said(refused.value) == (
        "neither high nor low values of items are better, so methods can't be ranked by it",
        "--metric items",
        "choose another one (harness list metrics)",
    )


@pytest.fixture
def here(repository: Layout, tmp_path: Path) -> Layout:
    """The cards and data of the repository, and three runs of a control, one of them on other data."""
    layout = replace(repository, local=tmp_path / "local")
    parameters = load_method(layout, "constant").variant("published").parameters
    for number, (seed, dataset) in enumerate(((2, "synthetic"), (1, "synthetic"), (3, "fdataset"))):
        planned = planned_job(seed, dataset=dataset)
        job = planned.job.model_copy(update={"parameters": parameters})
        put_run(Store(layout.runs), planned.model_copy(update={"job": job}), tmp_path / str(number))
    return layout


def cells(layout: Layout, *methods: str, **asked: Any) -> list[tuple[str, str, str, str, int]]:
    plan = contest_plan(layout, Store(layout.runs), ContestRequest(methods=methods, **asked), {})
    jobs = (cell.job for cell in plan.cells)
    return [(job.method, job.variant, job.dataset, job.split.text, job.split.seed) for job in jobs]


def _rows(
    *places: tuple[str, int], methods: tuple[str, ...] = ("constant",)
) -> list[tuple[str, str, str, str, int]]:
    return [(method, "published", dataset, "random", seed) for dataset, seed in places for method in methods]


def test_every_method_is_planned_on_every_seed_of_a_setting(here: Layout) -> None:
    every = (("fdataset", 3), ("synthetic", 1), ("synthetic", 2))
    assert cells(here, "constant") == _rows(*every)
    assert cells(here, "als_wr", "constant") == _rows(*every, methods=("als_wr", "constant"))
    assert cells(here, "constant", datasets=("synthetic",)) == _rows(*every[1:])
    assert cells(here, "constant", splits=("random",)) == _rows(*every)
    seeds = (("fdataset", 7), ("fdataset", 9), ("synthetic", 7), ("synthetic", 9))
    assert cells(here, "constant", seeds=(9, 7)) == _rows(*seeds)
    new = {"datasets": ("fdataset",), "splits": ("weakly_correlated",), "seeds": (5,)}
    assert cells(here, "constant", **new) == [("constant", "published", "fdataset", "weakly_correlated", 5)]
    assert cells(here, "als_wr/corrected", "constant", seeds=(7,), datasets=("synthetic",)) == [
        ("als_wr", "corrected", "synthetic", "random", 7),
        ("constant", "published", "synthetic", "random", 7),
    ]


@pytest.mark.parametrize(
    "asked",
    [
        "random:inner_folds=5,test_share=0.2",
        "random:test_share=0.2,inner_folds=5",
        "random:test_share=0.2",
        "random:test_share=2e-1",
    ],
)
def test_a_split_is_the_same_however_it_is_written(here: Layout, asked: str) -> None:
    every = _rows(("fdataset", 3), ("synthetic", 1), ("synthetic", 2))
    assert cells(here, "constant", splits=(asked,)) == every
    assert cells(here, "constant", splits=(asked, "random")) == every
    new = cells(here, "constant", splits=(asked,), datasets=("synthetic",), seeds=(9,))
    assert new == _rows(("synthetic", 9))


def test_a_split_of_other_settings_is_another(here: Layout, tmp_path: Path) -> None:
    """Its strategy alone stands for all of them."""
    every, planned = cells(here, "constant"), planned_job(4)
    other = SplitSpec(strategy="random", seed=4, parameters={"test_share": 0.5})
    parameters = load_method(here, "constant").variant("published").parameters
    job = planned.job.model_copy(update={"parameters": parameters, "split": other})
    put_run(Store(here.runs), planned.model_copy(update={"job": job}), tmp_path / "other")
    row = ("constant", "published", "synthetic", "random:test_share=0.5", 4)
    assert cells(here, "constant", splits=("random",)) == [*every, row]
    assert cells(here, "constant", splits=("random:inner_folds=5,test_share=0.5",)) == [row]
    assert cells(here, "constant", splits=("random:inner_folds=5",)) == every
    with pytest.raises(UsageError, match="no split is called 'random:test_share=0\\.3'"):
        cells(here, "constant", splits=("random:test_share=0.3",))


def test_who_looks_at_committed_results_is_not_told_to(here: Layout) -> None:
    request = ContestRequest(methods=("bnnr",))
    for with_committed, more in ((True, ""), (False, ", or add --reference for the committed results")):
        with pytest.raises(UsageError) as refused:
            _seeds([], "repurposing", request, with_committed=with_committed)
        assert said(refused.value) == (
            "no run of what was asked for is known",
            "bnnr",
            f"run the methods first (harness run --method ...){more}",
        )


@pytest.mark.parametrize(
    "changed",
    [
        {"upstream": "a" * 64},
        {"accelerator": "cuda"},
        {"options": {"inner_folds": 3}},
        {"split": SplitSpec(strategy=benchmarks.get("repurposing").scoring.predicting, seed=4)},
    ],
)
def test_runs_of_another_kind_name_no_seed_and_no_setting(
    here: Layout, tmp_path: Path, changed: dict[str, Any]
) -> None:
    """Of a checkout, on a GPU, with another option, or of what nobody knows: they stand in no such table."""
    before, planned = cells(here, "constant"), planned_job(4)
    parameters = load_method(here, "constant").variant("published").parameters
    job = planned.job.model_copy(update={"parameters": parameters, **changed})
    put_run(Store(here.runs), planned.model_copy(update={"job": job}), tmp_path / "other")
    assert cells(here, "constant") == before
    planned = planned_job(5)
    usual = planned.job.model_copy(update={"parameters": parameters})
    put_run(Store(here.runs), planned.model_copy(update={"job": usual}), tmp_path / "usual")
    assert cells(here, "constant") == [*before, *_rows(("synthetic", 5))]


@pytest.mark.parametrize(
    ("methods", "asked", "message"),
    [
        ((), {}, ("--method is missing", "", "name your method first, then those it is compared with")),
        (
            ("constant", "als_wr", "constant"),
            {},
            ("constant/published is named twice", "--method", "name each once; variants as NAME/VARIANT"),
        ),
        (
            ("als_wr",),
            {},
            (
                "no run of what was asked for is known",
                "als_wr",
                "run the methods first (harness run --method ...), or add --reference for the committed results",
            ),
        ),
        # of a setting in which nothing was run only seeds that a person names can be planned
        (
            ("constant",),
            {"datasets": ("cdataset",), "splits": ("random",)},
            (
                "no run of what was asked for is known",
                "constant",
                "run the methods first (harness run --method ...), or add --reference for the committed results",
            ),
        ),
        (
            ("constant",),
            {"suite": "ddi-smoke"},
            (
                "this suite has nothing of repurposing on the datasets and splits that were asked for",
                "--suite ddi-smoke",
                "choose a suite of repurposing (harness list suites), or leave --dataset and --split out",
            ),
        ),
    ],
)
def test_a_request_is_to_be_changed_so(
    here: Layout, methods: tuple[str, ...], asked: dict[str, Any], message: tuple[str, str, str]
) -> None:
    with pytest.raises(UsageError) as refused:
        cells(here, *methods, **asked)
    assert said(refused.value) == message


def test_a_method_may_have_a_part_in_several_benchmarks(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that all have in common is meant, or if there are more, that of the datasets."""

    def chosen(*parts: tuple[str, ...], dataset: str = "") -> str:
        card = load_method(repository, "bnnr")
        cards = [
            card.model_copy(update={"name": name, "benchmarks": own})
            for name, own in zip("abc", parts, strict=False)
        ]
        monkeypatch.setattr("harness.contest.request._entrants", lambda *_: [(one, "published") for one in cards])
        return benchmark_of(repository, ContestRequest(methods=("a", "b"), datasets=(dataset,) if dataset else ()))

    assert chosen(("repurposing", "dti"), ("dti", "ddi")) == "dti"
    assert chosen(("repurposing", "dti"), ("dti", "repurposing"), dataset="fdataset") == "repurposing"
    for parts, where in (
        ((("repurposing", "dti"), ("ddi",)), "a: repurposing, dti; b: ddi"),
        ((("repurposing", "dti"), ("dti", "repurposing")), "a: repurposing, dti; b: dti, repurposing"),
    ):
        with pytest.raises(UsageError) as refused:
            chosen(*parts)
        assert refused.value.where == where


def test_methods_and_datasets_of_several_benchmarks_are_refused(repository: Layout) -> None:
    todo = "name methods and datasets of the same benchmark"
    what = "these methods and datasets have no one benchmark in common"
    assert benchmark_of(repository, ContestRequest(methods=("bnnr",))) == "repurposing"
    assert benchmark_of(repository, ContestRequest(methods=("bnnr",), datasets=("fdataset",))) == "repurposing"
    with pytest.raises(UsageError) as refused:
        benchmark_of(repository, ContestRequest(methods=("bnnr",), datasets=("synthetic_ddi", "fdataset")))
    assert said(refused.value) == (what, "bnnr: repurposing; datasets: ddi, repurposing", todo)
    with pytest.raises(UsageError) as refused:
        benchmark_of(repository, ContestRequest(methods=("bnnr", "mrcgnn")))
    assert said(refused.value) == (what, "bnnr: repurposing; mrcgnn: ddi", todo)
    with pytest.raises(UsageError, match="no split is called 'randm'"):
        contest_plan(repository, Store(repository.runs), ContestRequest(methods=("bnnr",), splits=("randm",)), {})
