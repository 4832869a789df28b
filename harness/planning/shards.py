"""Shards: a plan in parts that machines which know nothing of each other work out alike.

A part follows from the jobs of the plan, the method cards and the reference results: from files of the repository,
and from nothing that was run or is missing on a machine. Equal checkouts give equal parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.errors import UsageError
from harness.base.files import digest_of
from harness.base.vocabulary import Verdict
from harness.planning.cells import Cell
from harness.planning.needs import PART, RunKind, run_kind
from harness.planning.plan import Plan

_CLASSES = _KNOWN, _UNKNOWN, _REFUSED = "known", "unknown", "refused"
_TEXT = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


@dataclass(frozen=True)
class Shard:
    """One of so many parts, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def parse_shard(text: str) -> Shard:
    """The shard that `3/10` names."""
    match = _TEXT.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(
            f"'{text}' names no shard",
            where="--shard",
            todo="write the third of ten as 3/10; the first is 1/10, the last 10/10",
        )
    return Shard(int(match[1]), int(match[2]))


def shard_of(plan: Plan, shard: Shard, reference: Mapping[RunKind, float]) -> Plan:
    """The cells of one shard, in the order of the plan. `reference`: CPU seconds of committed runs."""
    numbers = shard_numbers(plan.cells, shard.of, reference)
    cells = tuple(cell for cell, number in zip(plan.cells, numbers, strict=True) if number == shard.number)
    return replace(plan, name=f"{plan.name}{PART}shard {shard}", cells=cells, part_of=plan)


def shard_numbers(cells: Sequence[Cell], count: int, reference: Mapping[RunKind, float]) -> list[int]:
    """For each cell the number of its shard.

    Every kind of run is dealt out evenly: of each, two shards differ by one run at most. What is left over goes to
    the shards that have least: in expected seconds where these are known, else in runs. So two shards differ by
    one run of the longest kind at most, and by one run of which nothing is known.
    """
    members: dict[tuple[str, RunKind], list[int]] = {}
    for place, cell in enumerate(cells):
        members.setdefault((_class(cell, reference), run_kind(cell.job)), []).append(place)
    loads = {name: [0.0] * count for name in _CLASSES}
    runs, numbers = [0] * count, [0] * len(cells)
    for name, kind in sorted(members, key=lambda one: (-reference.get(one[1], 0.0), one)):
        # by what the jobs are, so that the order in which a person names them is all the same
        places = sorted(members[name, kind], key=lambda place: digest_of(cells[place].job.model_dump(mode="json")))
        load = loads[name]
        lightest = sorted(range(count), key=lambda one: (load[one], runs[one], one))
        for turn, place in enumerate(places):
            shard = lightest[turn % count]
            load[shard] += reference[kind] if name == _KNOWN else 1.0
            runs[shard] += 1
            numbers[place] = shard + 1
    return numbers


def _class(cell: Cell, reference: Mapping[RunKind, float]) -> str:
    """Whether a cell's seconds are known. What its method's card refuses is dealt out apart: it takes none."""
    if cell.verdict is Verdict.NOT_APPLICABLE:
        return _REFUSED
    return _KNOWN if run_kind(cell.job) in reference else _UNKNOWN
