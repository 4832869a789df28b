"""Methods, datasets and seeds by name become jobs; what does not go together is refused with what does."""

from __future__ import annotations

import pytest

from harness.base.errors import HarnessError, MissingData, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.methods.card import load_methods
from harness.planning.cells import Cell
from harness.planning.plan import pinned
from harness.planning.request import Request, requested_jobs
from tests.core.factories import planned_job


def test_jobs_come_seed_by_seed(repository: Layout) -> None:
    request = Request(methods=("bnnr", "pmf"), datasets=("synthetic",), seeds=(5, 3))
    jobs = requested_jobs(repository, request)
    assert [(job.split.seed, job.method) for job in jobs] == [(5, "bnnr"), (5, "pmf"), (3, "bnnr"), (3, "pmf")]


def test_the_first_published_seeds_are_the_first_of_all_of_them(repository: Layout) -> None:
    def seeds(count: int) -> list[int]:
        request = Request(methods=("bnnr",), datasets=("synthetic",), published_seeds=count)
        return [job.split.seed for job in requested_jobs(repository, request)]

    assert len(seeds(3)) == 3 and seeds(3) == seeds(100)[:3] and len(set(seeds(100))) == 100


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (Request(methods=("bnnr",), datasets=("synthetic",), seeds=(1,), published_seeds=1), "named twice"),
        (Request(methods=("bnnr",), datasets=("synthetic",), seeds=(1,), published_seeds=0), "named twice"),
        (Request(methods=("bnnr",), datasets=("synthetic",)), "--seed is missing"),
        (Request(methods=(), datasets=("synthetic",), seeds=(1,)), "--method is missing"),
        (Request(methods=("bnnr",), datasets=(), seeds=(1,)), "--dataset is missing"),
        # who mistyped a name would else learn of it only after adding a seed
        (Request(methods=("bnr",), datasets=("synthetic",)), "no method is called 'bnr'"),
        (Request(methods=("bnnr",), datasets=("sinthetic",)), "no dataset is called 'sinthetic'"),
        (Request(methods=("bnr",), datasets=()), "no method is called 'bnr'"),
    ],
)
def test_what_is_missing_or_there_twice_is_named(repository: Layout, request_: Request, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        requested_jobs(repository, request_)


def test_a_method_of_another_benchmark_is_refused_with_those_that_fit(repository: Layout) -> None:
    request = Request(methods=("mlp",), datasets=("synthetic",), seeds=(1,))
    with pytest.raises(UsageError, match="does not belong to benchmark repurposing") as refused:
        requested_jobs(repository, request)
    named = refused.value.todo.removeprefix("choose one of its methods: ").split(", ")
    assert named == [one.name for one in load_methods(repository, "repurposing")]
    assert "mlp" not in named and "bnnr" in named
    assert refused.value.where == "--method mlp --dataset synthetic"


def test_a_cell_that_can_be_run_has_its_job_and_any_other_an_error_that_fits() -> None:
    planned = planned_job()
    assert pinned(Cell(planned.job, planned)) is planned
    with pytest.raises(MissingData, match=r"missing-data: pairs\.csv"):
        pinned(Cell(planned.job, None, verdict=Verdict.MISSING_DATA, reason="pairs.csv"))
    with pytest.raises(HarnessError, match="not-applicable: never"):
        pinned(Cell(planned.job, None, verdict=Verdict.NOT_APPLICABLE, reason="never"))
