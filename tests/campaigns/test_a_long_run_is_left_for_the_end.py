"""The last run to end is none that could have started earlier; which runs there are, and their table, stay."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.base.vocabulary import Verdict
from harness.execution.turns import Expected, starting_order
from harness.planning.cells import Cell
from harness.planning.jobs import card_of
from harness.planning.plan import Plan
from harness.results.reference import save_reference
from harness.results.store import Store, join
from tests.fabricate import job_of, plan_of

# what the smoke suite takes, in its own order: seconds
_SMOKE = [
    *(2.9, 108.7, 34.1, 35.1, 244.5, 4.4, 1.2, 4.8, 4.0, 1.6, 12.1, 0.9, 0.9) * 2,
    *(38.4, 8.6, 6.8, 4.0, 4.8, 3.7, 11.8, 6.6, 67.2, 7.3, 0.3, 0.3),
]


def _cells(layout: Layout, count: int) -> list[Cell]:
    """Cells of a kind each: how long a run takes follows from its kind."""
    job = job_of(layout, "constant", 1)
    return [Cell(job.model_copy(update={"parameters": {"number": number}}), None) for number in range(count)]


def _number(cell: Cell) -> int:
    return int(cell.job.parameters["number"])


def _wall(order: Sequence[float], processors: int) -> float:
    """When the last run ends, each starting when a processor is free."""
    ends = [0.0] * processors
    for seconds in order:
        heapq.heapreplace(ends, ends[0] + seconds)
    return max(ends)


@pytest.mark.parametrize("processors", [1, 2, 3, 4, 8, 16])
def test_smoke_takes_little_longer_than_it_must(repository: Layout, processors: int) -> None:
    cells = _cells(repository, len(_SMOKE))
    order = starting_order(cells, lambda cell: _SMOKE[_number(cell)], processors)
    wall = _wall([_SMOKE[_number(cell)] for cell in order], processors)
    assert wall <= 1.1 * max(sum(_SMOKE) / processors, max(_SMOKE))


@given(
    lengths=st.lists(st.floats(0, 1e5), max_size=40),
    processors=st.integers(1, 9),
    failed=st.sets(st.integers(0, 39)),
)
def test_every_run_is_started_once_and_what_the_machine_failed_last(
    repository: Layout, lengths: list[float], processors: int, failed: set[int]
) -> None:
    cells = [
        replace(cell, verdict=Verdict.INFRASTRUCTURE) if number in failed else cell
        for number, cell in enumerate(_cells(repository, len(lengths)))
    ]
    order = starting_order(cells, lambda cell: lengths[_number(cell)], processors)
    assert sorted(map(_number, order)) == list(range(len(cells)))
    assert all(cell == cells[_number(cell)] for cell in order)
    verdicts = [cell.verdict is Verdict.INFRASTRUCTURE for cell in order]
    assert verdicts == sorted(verdicts)


def test_a_long_campaign_keeps_the_order_of_its_plan_until_its_end(repository: Layout) -> None:
    """Stopped half way, it has about as many seeds of everything."""
    cells = _cells(repository, 1000)
    order = starting_order(cells, lambda cell: 100.0 if _number(cell) % 10 == 0 else 1.0, 2)
    assert order[:900] == cells[:900] and order != cells


def test_runs_of_this_machine_tell_more_than_the_reference_and_the_reference_more_than_a_limit(
    evidence: Layout, made_up: Plan
) -> None:
    store = Store(evidence.runs)
    here = Expected(evidence, join(made_up, store, records=True), Silent())
    measured, other = made_up.cells[0], plan_of(evidence, ["popularity"]).cells[0]
    assert here.seconds(measured) == 1.5
    limit = card_of(evidence, other.job).resources.seconds
    assert here.seconds(other) == limit
    assert Expected(evidence, [], Silent()).seconds(measured) == card_of(evidence, measured.job).resources.seconds
    save_reference(evidence, store)
    assert Expected(evidence, [], Silent()).seconds(measured) == 1.5


def test_a_damaged_reference_is_told_and_stops_no_run(evidence: Layout, made_up: Plan) -> None:
    class Heard(Silent):
        def note(self, text: str) -> None:
            notes.append(text)

    notes: list[str] = []
    save_reference(evidence, Store(evidence.runs))
    for path in evidence.reference.rglob("*.gz"):
        path.write_bytes(b"cut")
    cell = made_up.cells[0]
    assert Expected(evidence, [], Heard()).seconds(cell) == card_of(evidence, cell.job).resources.seconds
    assert len(notes) == 1 and "not a gzipped file" in notes[0]
