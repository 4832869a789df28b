"""The cells of a plan with what the store knows of them: the one place where plan and results meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from harness.base.vocabulary import Verdict
from harness.planning.obstacles import ObstacleNotes
from harness.planning.plan import Cell, Plan
from harness.results.store import Store, StoredRun


def join(plan: Plan, store: Store, *, records: bool = False) -> tuple[Cell, ...]:
    """The plan with what the store knows: as many cells as planned, each with exactly one verdict.

    `records` keeps the fields of every record; without them 100,000 cells cost a third less, and far less memory.
    """
    obstacles = ObstacleNotes.of(store.folder)
    cells = []
    for cell in plan.cells:
        if cell.key is None:
            cells.append(cell)
            continue
        standing = store.standing(cell.key)
        if standing.verdict is Verdict.PENDING and (obstacle := obstacles.before(cell.job)):
            standing = StoredRun(*obstacle, {})
        elif not standing.verdict.is_final and (fault := obstacles.runs.get(cell.key)):
            # later than any unfinished run that is stored: such a note goes when a run is
            standing = StoredRun(Verdict.INFRASTRUCTURE, fault, standing.content)
        content = standing.content if records else {}
        cells.append(Cell(cell.job, cell.planned, standing.verdict, standing.reason, content))
    check_sum(plan, cells)
    return tuple(cells)


def check_sum(plan: Plan, cells: Iterable[Cell]) -> Counter[Verdict]:
    """Planned equals the sum of the verdicts, or the table would lie."""
    counts = Counter(cell.verdict for cell in cells)
    assert sum(counts.values()) == len(plan.cells), "cells were lost between the plan and the table"
    return counts
