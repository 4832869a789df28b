"""Rows of a study hold the runs that ended ok, their costs, and claims of the paper's rows alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import Book
from harness.compare.claims import Claim
from harness.compare.judge import ClaimVerdict, Comparison
from harness.compare.names import ClaimSources, MetricName, PublishedNames, Target
from harness.compare.runs import Obtained
from harness.study.sides import CONTROL, OWN, Row, Sides

NAMES = PublishedNames(
    benchmark="repurposing",
    variant="published",
    beside=["corrected"],
    seeds=3,
    sources=ClaimSources(paper="a paper", files="files"),
    methods={"Sum": "sum"},
    datasets={"Letters": "letters"},
    splits={"early": "random"},
    metrics=[MetricName(published="F1", ours="F1/as-published", reason="the same")],
)
HERE = Target("sum", "letters", "random")


def run(
    value: float | None,
    verdict: Verdict = Verdict.OK,
    *,
    cpu_s: float | None = 60.0,
    memory: int | None = 1_000_000,
) -> Obtained:
    metrics: dict[str, float | None] | None = None if verdict is not Verdict.OK else {"F1/as-published": value}
    return Obtained("k" * 64, verdict, "because", metrics, {}, cpu_s=cpu_s, memory=memory)


def sides_of(runs: Mapping[int, Obtained], beside: Mapping[int, Obtained]) -> Sides:
    claim = Claim("Table 1, Sum", "band", "Sum", "Letters", "early", "F1", "0.5", sheet="Table 1")
    comparison = Comparison(claim, HERE, "F1/as-published", ClaimVerdict.PENDING, "not run yet")
    book = Book(
        "repurposing", (), (comparison,), {HERE: dict(runs)}, {"corrected": {HERE: dict(beside)}} if beside else {}
    )
    return Sides(cast(Layout, None), book, NAMES, ("coin",))


@pytest.fixture
def sides() -> Sides:
    """Five runs, of which three ended ok, and another variant's."""
    runs = {
        3: run(0.3, cpu_s=30.0),
        1: run(0.1, cpu_s=10.0),
        2: run(None, Verdict.TIMEOUT, cpu_s=7000.0, memory=9_000_000),
        4: run(None, cpu_s=50.0, memory=None),
        5: run(None, Verdict.INTERRUPTED, cpu_s=1.0),
    }
    return sides_of(runs, {1: run(0.9)})


def test_what_ended_badly_has_no_value_and_no_cost(sides: Sides) -> None:
    row = Row("Sum", "sum")
    assert [one.cpu_s for one in sides.ended(row, "Letters", "early")] == [10.0, 30.0, 50.0]
    summary = sides.ours(row, "Letters", "early", "F1")
    assert summary is not None and summary.n == 2 and summary.mean == pytest.approx(0.2)
    assert sides.costs(row, "Letters", "early", ["cpu_s"]) == ([30.0], 3)


def test_a_run_with_one_unknown_cost_has_none(sides: Sides) -> None:
    """Medians of a row are over the same runs, whichever quantity comes first."""
    row = Row("Sum", "sum")
    assert sides.costs(row, "Letters", "early", ["cpu_s", "memory"]) == ([20.0, 1_000_000.0], 2)
    assert sides.costs(row, "Letters", "early", ["memory", "cpu_s"]) == ([1_000_000.0, 20.0], 2)


def test_only_rows_of_the_paper_have_claims(sides: Sides) -> None:
    place = ("Letters", "early", "F1")
    assert sides.claim("Table 1", Row("Sum", "sum"), *place) is sides.book.comparisons[0]
    assert sides.claim("Table 2", Row("Sum", "sum"), *place) is None
    for variant in ("corrected", OWN, CONTROL):
        assert sides.claim("Table 1", Row("Sum", "sum", variant), *place) is None


def test_another_variant_has_its_own_runs(sides: Sides) -> None:
    rows = sides.rows("Letters", ["early"])
    assert [row.title for row in rows] == ["Sum", "sum/corrected", "coin"]
    summary = sides.ours(rows[1], "Letters", "early", "F1")
    assert summary is not None and summary.mean == 0.9
    assert [row.title for row in sides.rows("Letters", ["late"])] == ["Sum", "coin"]
    assert sides.ours(rows[2], "Letters", "early", "F1") is None
