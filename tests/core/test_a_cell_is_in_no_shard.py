"""Shards must be the plan: every cell in one of them, the same on every machine, and none with all the work."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import api
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.cells import Cell
from harness.planning.jobs import Job
from harness.planning.needs import RunKind, run_kind
from harness.planning.plan import Plan
from harness.planning.shards import Shard, parse_shard, shard_numbers, shard_of
from harness.splits.spec import SplitSpec


def cell_of(method: str, dataset: str, seed: int, verdict: Verdict = Verdict.PENDING) -> Cell:
    """A cell that exists nowhere."""
    split = SplitSpec(strategy="random", seed=seed)
    return Cell(Job(benchmark="repurposing", method=method, dataset=dataset, split=split), None, verdict)


_KINDS = st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz"))


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[Cell], dict[RunKind, float]]:
    """Cells of some kinds, and the seconds that some of these took."""
    kinds = draw(st.dictionaries(_KINDS, st.integers(1, 30), max_size=12))
    refused = draw(st.sets(st.sampled_from(sorted(kinds)))) if kinds else set()
    cells = [
        cell_of(method, dataset, seed, Verdict.NOT_APPLICABLE if (method, dataset) in refused else Verdict.PENDING)
        for (method, dataset), count in kinds.items()
        for seed in range(count)
    ]
    known = draw(st.sets(st.sampled_from(sorted(kinds)))) if kinds else set()
    seconds = {
        (method, "published", dataset): float(draw(st.integers(1, 10_000)))
        for method, dataset in sorted(known - refused)
    }
    return cells, seconds


@given(plans(), st.integers(1, 40))
def test_every_cell_is_in_one_shard_in_the_order_of_the_plan(
    made: tuple[list[Cell], dict[RunKind, float]], count: int
) -> None:
    plan = Plan("made up", tuple(made[0]))
    shards = [shard_of(plan, Shard(number, count), made[1]) for number in range(1, count + 1)]
    places = {id(cell): place for place, cell in enumerate(plan.cells)}
    found = [[places[id(cell)] for cell in shard.cells] for shard in shards]
    assert sorted(place for shard in found for place in shard) == list(range(len(plan.cells)))
    assert all(shard == sorted(shard) for shard in found)
    assert all(shard.whole is plan for shard in shards) and plan.whole is plan


@given(plans(), st.integers(1, 40))
def test_no_shard_has_much_more_to_do_than_another(
    made: tuple[list[Cell], dict[RunKind, float]], count: int
) -> None:
    cells, seconds = made
    numbers = shard_numbers(cells, count, seconds)
    of_kind: dict[RunKind, Counter[int]] = {}
    work, unknown = dict.fromkeys(range(1, count + 1), 0.0), dict.fromkeys(range(1, count + 1), 0)
    for cell, number in zip(cells, numbers, strict=True):
        kind = run_kind(cell.job)
        of_kind.setdefault(kind, Counter(dict.fromkeys(range(1, count + 1), 0)))[number] += 1
        if kind in seconds:
            work[number] += seconds[kind]
        elif cell.verdict is not Verdict.NOT_APPLICABLE:
            unknown[number] += 1
    assert all(max(counts.values()) - min(counts.values()) <= 1 for counts in of_kind.values())
    assert max(work.values()) - min(work.values()) <= max(seconds.values(), default=0.0)
    assert max(unknown.values()) - min(unknown.values()) <= 1


@given(plans(), st.integers(1, 40), st.randoms())
def test_a_shard_does_not_depend_on_the_order_in_which_things_are_named(
    made: tuple[list[Cell], dict[RunKind, float]], count: int, random: Random
) -> None:
    cells, seconds = made
    expected = {
        cell.job.label: number for cell, number in zip(cells, shard_numbers(cells, count, seconds), strict=True)
    }
    shuffled = random.sample(cells, len(cells))
    numbers = shard_numbers(shuffled, count, dict(reversed(seconds.items())))
    assert {cell.job.label: number for cell, number in zip(shuffled, numbers, strict=True)} == expected


def test_shards_stay_what_they_were() -> None:
    """Machines with another Python, or with other versions of packages, must agree on these."""
    cells = [cell_of(method, "x", seed) for method in "abc" for seed in range(5)]
    seconds = {("a", "published", "x"): 10.0, ("b", "published", "x"): 7.5}
    assert shard_numbers(cells, 4, seconds) == [1, 2, 3, 1, 4, 1, 2, 3, 2, 4, 4, 1, 2, 3, 3]


def test_what_is_left_over_goes_where_least_is_to_be_done() -> None:
    """In seconds where they are known, else in runs."""
    cells = [cell_of(method, "x", 1) for method in "abc"]
    seconds = {("a", "published", "x"): 10.0, ("b", "published", "x"): 7.0, ("c", "published", "x"): 2.0}
    assert shard_numbers(cells, 2, seconds) == [1, 2, 2]
    assert shard_numbers(cells, 2, {}) == [1, 2, 1]
    # a shard with more runs may still have less to do
    unlike = {(method, "published", "x"): took for method, took in zip("abcd", (10.0, 2.0, 2.0, 2.0), strict=True)}
    assert shard_numbers([cell_of(method, "x", 1) for method in "abcd"], 2, unlike) == [1, 2, 2, 2]
    # what takes long is dealt out before what nobody knows of
    assert shard_numbers(cells[:2], 2, {("b", "published", "x"): 0.5}) == [2, 1]


def test_what_is_missing_on_one_machine_changes_no_shard(layout: Layout, tmp_path: Path) -> None:
    """The plan of a machine without data, and with runs and times of its own, has the same parts."""
    here = api.Repository(layout)
    bare = api.Repository(Layout(layout.root, tmp_path / "empty", tmp_path / "local"))
    for number in (1, 3):
        one, other = (
            api.plan(suite="smoke", shard=f"{number}/3", make_splits=False, repository=repository)
            for repository in (here, bare)
        )
        assert [cell.job for cell in one.cells] == [cell.job for cell in other.cells] != []
        assert one.name == f"smoke, only shard {number}/3"


@pytest.mark.parametrize(
    "text", ["", "3", "0/3", "4/3", "1/0", "1/3/5", "-1/3", "a/b", "1.0/3", "1/ 3", "\u0663/\u0661\u0660", "1/3\n"]
)
def test_a_shard_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_shard(text)
    assert refused.value.where == "--shard" and "3/10" in refused.value.todo


def test_more_shards_than_cells_leave_some_empty() -> None:
    numbers = shard_numbers([cell_of("a", "x", 1), cell_of("b", "x", 1)], 5, {})
    assert numbers == [1, 2] and parse_shard("5/5") == Shard(5, 5)
