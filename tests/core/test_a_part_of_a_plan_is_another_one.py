"""Some of a plan's cells, judged or looked at by their kinds, are those cells, and hold nothing of the others."""

from __future__ import annotations

import pytest

from harness.base.errors import UsageError
from harness.base.vocabulary import Verdict
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import PlannedJob
from harness.planning.plan import Plan
from tests.core.factories import job_like, planned_job


def cells_of(*seeds: int) -> list[Cell]:
    return [Cell(one.job, one) for one in map(planned_job, seeds)]


def test_a_part_that_is_judged_lets_go_of_the_rest() -> None:
    """A shard is kept for as long as it runs: not all million cells of its plan with it."""
    kept = Cells(cells_of(*range(6)))
    for part in (kept[:3], kept[3:], kept.chosen([4, 1])):
        judged = part.judged([None] * len(part))
        assert judged == part and len(judged._columns.kind) == len(part)


def test_a_cell_that_is_chosen_twice_is_judged_twice() -> None:
    one, other = cells_of(1, 2)
    for places in ([1, 1], [0, 0], [1, 0]):
        chosen = Cells([one, other]).chosen(places)
        outcomes = [(Verdict.OK, f"{place}") for place in places]
        assert [cell.planned for cell in chosen.judged(outcomes)] == [
            (one, other)[place].planned for place in places
        ]
        assert [cell.reason for cell in chosen.judged(outcomes)] == [str(place) for place in places]


def test_cells_are_not_equal_to_some_of_them() -> None:
    some = cells_of(1, 2, 3)
    assert Cells(some) != some[:-1] and Cells(some[:-1]) != some and Cells(some) != [] != Cells(some)


def test_what_stands_for_a_kind_has_no_seed_and_no_split_of_its_own() -> None:
    some = [*cells_of(7, 8), Cell(job_like(method="als_wr"), None, Verdict.MISSING_DATA, "gone")]
    stand_ins = [cell for _, cell in Cells(some).keyed()]
    assert [(cell.job.method, cell.job.split.seed) for cell in stand_ins] == [
        ("constant", 0),
        ("constant", 0),
        ("als_wr", 0),
    ]
    assert [cell.planned and cell.planned.split_digest for cell in stand_ins] == ["", "", None]
    assert [cell.planned and cell.planned.job for cell in stand_ins] == [stand_ins[0].job] * 2 + [None]


def test_keys_that_only_begin_alike_are_two() -> None:
    head = "ab" * 8
    one, other, third = cells_of(1, 2, 3)
    for first, second in (("00", "01"), ("01", "00")):
        keys = [head + first * 24, head + second * 24, "ff" * 32]
        apart = Cells(cell.with_key(key) for cell, key in zip((one, other, third), keys, strict=True))
        assert apart.twice() is None and [key for key, _ in apart.keyed()] == keys


def test_of_a_run_that_is_planned_twice_the_first_is_named_first() -> None:
    """However many others there are."""
    jobs = [planned_job(seed) for seed in range(300)]
    for at in range(0, 300, 60):
        copy = jobs[at].model_copy(update={"job": jobs[at].job.model_copy(update={"dataset": "copy"})})
        for first, second in ((jobs[at], copy), (copy, jobs[at])):
            others = [one for one in jobs if one is not jobs[at]]
            cells = [Cell(one.job, one) for one in (first, *others, second)]
            with pytest.raises(UsageError) as found:
                Plan("twice", cells)
            assert found.value.where == f"{first.job.label} and {second.job.label}"


def test_a_key_that_is_known_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a million cells that takes a minute."""
    (cell,) = cells_of(1)
    key = cell.key
    (kept,) = Cells([cell])
    monkeypatch.setattr(PlannedJob, "key", property(lambda _: pytest.fail("a key was computed")))
    judged = cell.judged(Verdict.OK, "well", {"a": 1})
    assert judged.key == kept.key == key and (judged.verdict, judged.reason) == (Verdict.OK, "well")
    assert judged.record == {"a": 1} and judged.planned is cell.planned
