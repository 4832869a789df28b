"""A contest: what each method got in each setting, and the tests between them; every lack has a mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from harness.base.few import few_in_line
from harness.base.vocabulary import Verdict
from harness.benchmarks.metric import Metric
from harness.contest.statistics import (
    SIGNIFICANCE,
    PairedTest,
    RankTest,
    holm,
    paired_test,
    rank_test,
    ranks_from_best,
    seeds_to_decide,
    smallest_p,
)
from harness.status.table import PUBLISHED_ORDER, Group, Summary, Table, summarise

# Below so many seeds no test can reach the level, even where one method is always better.
FEWEST_SEEDS = seeds_to_decide(1)
# How many of several settings are named.
_SHOWN = 4
# Friedman's test needs so many columns and rows.
_FEWEST_METHODS, _FEWEST_BLOCKS = 3, 2


class Mark(Enum):
    """What a reader must know of a number; the value is the sign beside it."""

    FAILED = "†"
    MISSING = "‡"
    FEW = "§"

    @property
    def meaning(self) -> str:
        """What is wrong with a number that bears it."""
        return {
            Mark.FAILED: "runs failed; the number is over the others, or there is none",
            Mark.MISSING: "seeds without a value: not run, not scored, or the metric is undefined",
            Mark.FEW: f"fewer than {FEWEST_SEEDS} seeds: too few for any test",
        }[self]


@dataclass(frozen=True, eq=False)
class Entry:
    """One method in one setting: its values by seed, its rank, and how the first method does against it."""

    group: Group
    metric: str
    # rank of the mean over the seeds that all entries of the setting have, 1 the best; None where there are none
    rank: float | None = None
    # the first method against this one, positive where the first is better; None for the first itself
    test: PairedTest | None = None
    # the p-value of `test` after Holm's correction over all tests of the contest
    adjusted_p: float | None = None

    @cached_property
    def values(self) -> dict[int, float]:
        """The values of the runs that ended ok, by seed."""
        values = {
            scored.cell.job.split.seed: scored.metrics.get(self.metric)
            for scored in self.group.cells
            if scored.cell.verdict is Verdict.OK
        }
        return {seed: value for seed, value in values.items() if value is not None}

    @property
    def row(self) -> str:
        """The method, and its variant unless `published`."""
        return self.group.row

    @property
    def setting(self) -> str:
        """Dataset and split."""
        return self.group.column

    @property
    def planned(self) -> int:
        """How many seeds were asked for."""
        return len(self.group.cells)

    @cached_property
    def summary(self) -> Summary | None:
        """Mean and deviation of the values."""
        return summarise(self.values.values())

    @property
    def is_applicable(self) -> bool:
        """Whether the method can be run here at all."""
        return self.group.verdicts[Verdict.NOT_APPLICABLE] < self.planned

    @property
    def failures(self) -> int:
        """How many runs ended for a reason of the method's own, not ok."""
        return sum(
            count for verdict, count in self.group.verdicts.items() if verdict.is_final and not verdict.is_good
        )

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What must be said beside the number."""
        if not self.is_applicable:
            return ()
        missing = len(self.values) + self.failures < self.planned
        few = 0 < len(self.values) < FEWEST_SEEDS
        holds = {Mark.FAILED: self.failures > 0, Mark.MISSING: missing, Mark.FEW: few}
        return tuple(mark for mark in Mark if holds[mark])

    @property
    def remark(self) -> str:
        """What lies behind the marks: `timeout 2, pending 1 of 10 seeds`."""
        counts = [f"{verdict} {count}" for verdict, count in sorted(self.group.verdicts.items())]
        undefined = self.group.verdicts[Verdict.OK] - len(self.values)
        unscored = sum(1 for one in self.group.cells if one.cell.verdict is Verdict.OK and not one.scored)
        if unscored:
            counts.append(f"{unscored} not scored: run `harness score`")
        if undefined - unscored:
            notes = "; ".join(self.group.remarks(self.metric)[:1])
            counts.append(f"{undefined - unscored} without this metric" + (f" ({notes})" if notes else ""))
        return f"{', '.join(counts)}; {len(self.values)} of {self.planned} seeds have a value"


@dataclass(frozen=True, eq=False)
class Contest:
    """All entries, setting by setting with the methods in the order of the request, and the test over settings."""

    metric: Metric
    entries: tuple[Entry, ...]
    table: Table
    # over the settings in which every method has a rank; None where they, or the methods, are too few
    rank_test: RankTest | None
    # the settings of that test, and its methods in the order of its ranks
    blocks: tuple[str, ...] = ()
    # whether runs on other seeds than those of all methods were left out
    on_common_seeds: bool = False

    @property
    def first(self) -> str:
        """The method that the others are held against."""
        return self.entries[0].row

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The rows in the order of the request."""
        return tuple(dict.fromkeys(entry.row for entry in self.entries))

    @cached_property
    def settings(self) -> dict[str, list[Entry]]:
        """The entries by setting."""
        members: dict[str, list[Entry]] = {}
        for entry in self.entries:
            members.setdefault(entry.setting, []).append(entry)
        return members

    @property
    def tests(self) -> int:
        """How many p-values are corrected together."""
        return sum(1 for entry in self.entries if entry.test is not None)

    @property
    def legend(self) -> list[str]:
        """What the marks that numbers bear mean."""
        return [f"{mark.value} {mark.meaning}." for mark in Mark if any(mark in one.marks for one in self.entries)]

    @property
    def seeds_note(self) -> list[str]:
        """What was left out, if anything was."""
        told = "Of each setting only the seeds on which every method was run count, whatever came of the run."
        return [told] if self.on_common_seeds else []

    @property
    def order_note(self) -> list[str]:
        """What the sign of methods that find their items in the published order means, if there are any."""
        if not any(entry.group.published_order for entry in self.entries):
            return []
        told = "these runs got their items in the published order, all others in a secret one."
        return [f"{PUBLISHED_ORDER}: {told}"]

    @property
    def problems(self) -> list[str]:
        """The entries whose numbers must not stand alone, with what they lack; like ones in one line."""
        settings: dict[tuple[str, str, str], list[str]] = {}
        for entry in self.entries:
            if entry.marks:
                marks = "".join(mark.value for mark in entry.marks)
                settings.setdefault((marks, entry.row, entry.remark), []).append(entry.setting)
        return [
            f"{marks} {row} on {few_in_line(on, _SHOWN, '; ')}: {remark}"
            for (marks, row, remark), on in settings.items()
        ]

    @property
    def can_decide(self) -> bool:
        """Whether some test could be significant, were the first method always better."""
        tests = [entry.test for entry in self.entries if entry.test is not None]
        return any(smallest_p(test.n) * len(tests) <= SIGNIFICANCE for test in tests)

    @cached_property
    def mean_ranks(self) -> dict[str, float]:
        """The mean rank of every method over the blocks of the rank test."""
        return dict(zip(self.methods, self.rank_test.ranks, strict=True)) if self.rank_test else {}


def hold_contest(table: Table, metric: Metric, order: Sequence[str], *, on_common_seeds: bool = False) -> Contest:
    """The contest of the groups of a table; `order` names the rows, the first is held against the others.

    `on_common_seeds` says of the table that it has only seeds on which every method was run.
    """
    settings: dict[str, list[Entry]] = {}
    for group in sorted(table.groups, key=lambda one: order.index(one.row)):
        settings.setdefault(group.column, []).append(Entry(group, metric.name))
    sign = -1.0 if metric.better == "lower" else 1.0
    blocks, means, entries = [], [], list[Entry]()
    for setting, members in sorted(settings.items()):
        common = _common_means(members, sign)
        ranked = [entry for entry in members if entry.values]
        ranks = dict(zip(ranked, ranks_from_best(np.asarray(common)).tolist(), strict=True)) if common else {}
        if common and len(ranked) == len(members):
            blocks.append(setting)
            means.append(common)
        entries += [
            replace(entry, rank=ranks.get(entry), test=_against(members[0], entry, sign)) for entry in members
        ]
    is_enough = len(order) >= _FEWEST_METHODS and len(blocks) >= _FEWEST_BLOCKS
    test = rank_test(np.asarray(means)) if is_enough else None
    return Contest(metric, tuple(_adjusted(entries)), table, test, tuple(blocks) if test else (), on_common_seeds)


def common_seeds(members: Sequence[Entry]) -> list[int]:
    """The seeds of which all entries that have values have one."""
    seeds = [set(entry.values) for entry in members if entry.values]
    return sorted(set.intersection(*seeds)) if seeds else []


def _common_means(members: Sequence[Entry], sign: float) -> list[float]:
    """The means over the common seeds of the entries that have values; empty where they share none."""
    ranked, seeds = [entry for entry in members if entry.values], common_seeds(members)
    return [sign * float(np.mean([entry.values[seed] for seed in seeds])) for entry in ranked] if seeds else []


def _against(first: Entry, other: Entry, sign: float) -> PairedTest | None:
    seeds = sorted(first.values.keys() & other.values.keys())
    if first is other or not seeds:
        return None
    return paired_test(
        [sign * first.values[seed] for seed in seeds], [sign * other.values[seed] for seed in seeds]
    )


def _adjusted(entries: Sequence[Entry]) -> list[Entry]:
    chances = iter(holm([entry.test.p for entry in entries if entry.test is not None]))
    return [entry if entry.test is None else replace(entry, adjusted_p=next(chances)) for entry in entries]
