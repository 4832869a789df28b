"""A contest as flat rows, for spreadsheets, frames and programs, and the sentences that belong below it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from harness.base.few import few_in_line
from harness.base.plurals import counted
from harness.contest.contest import Contest, Entry, common_seeds
from harness.contest.statistics import SIGNIFICANCE, seeds_to_decide

# So many settings are named in a sentence.
_SETTINGS = 3
# One row per method and setting; all columns are always there.
COLUMNS = (
    *("metric", "dataset", "split", "method", "control", "mean", "sd", "n", "planned", "failed", "reference"),
    *("rank", "mean_rank", "against", "common_seeds", "difference", "p", "p_holm", "dominance", "dz"),
    *("marks", "remark"),
)


def rows_of(contest: Contest) -> list[dict[str, Any]]:
    """One row per entry. `against` is the first method where a test stands in the row."""
    return [_row(contest, entry) for entry in contest.entries]


def _row(contest: Contest, entry: Entry) -> dict[str, Any]:
    summary, test = entry.summary, entry.test
    return {
        "metric": contest.metric.name,
        "dataset": entry.group.dataset,
        "split": entry.group.split,
        "method": entry.row,
        "control": entry.group.control,
        "mean": summary.mean if summary else None,
        "sd": summary.sd if summary else None,
        "n": len(entry.values),
        "planned": entry.planned,
        "failed": entry.failures,
        "reference": sum(1 for scored in entry.group.cells if scored.reference),
        "rank": entry.rank,
        "mean_rank": contest.mean_ranks.get(entry.row),
        "against": contest.first if test else None,
        "common_seeds": test.n if test else None,
        "difference": test.difference if test else None,
        "p": test.p if test else None,
        "p_holm": entry.adjusted_p,
        "dominance": test.dominance if test else None,
        "dz": test.dz if test else None,
        "marks": "".join(mark.value for mark in entry.marks),
        "remark": entry.remark if entry.marks else "",
    }


def to_json(contest: Contest) -> dict[str, Any]:
    """Everything that the other forms show."""
    return {
        "metric": contest.metric.name,
        "better": contest.metric.better,
        "first": contest.first,
        "significance": SIGNIFICANCE,
        "rows": rows_of(contest),
        "values": [
            {"method": entry.row, "setting": entry.setting, "seeds": {str(k): v for k, v in entry.values.items()}}
            for entry in contest.entries
        ],
        "rank_test": {**asdict(contest.rank_test), "blocks": list(contest.blocks)} if contest.rank_test else None,
        "problems": contest.problems,
        "notes": notes(contest),
    }


def _about_controls(contest: Contest) -> list[str]:
    """The controls that are no bar: whose value is the worst that there is, whatever the seed."""
    metric = contest.metric
    if metric.range is None or metric.better == "neither":
        return []
    worst = metric.range[0] if metric.better == "higher" else metric.range[1]
    settings: dict[str, list[str]] = {}
    for one in contest.entries:
        if one.group.control and one.values and set(one.values.values()) == {worst}:
            settings.setdefault(one.row, []).append(one.setting)
    return [
        f"{row} has the worst {metric.name} that there is, {worst:g}, on {few_in_line(on, _SETTINGS, '; ')}: "
        "whoever is better than that may still be worse than chance (docs/metrics.md)."
        for row, on in settings.items()
    ]


def notes(contest: Contest) -> list[str]:
    """What a reader must know: how numbers are made, what the tests are, what a number lacks."""
    metric, first = contest.metric, contest.first
    lines = [
        f"{metric.name}: mean ± sample standard deviation over n seeds; {metric.better} is better. "
        "Rank: of the means over the seeds that all methods of a setting have; 1 is best.",
        *contest.seeds_note,
    ]
    if contest.tests:
        tests = "test" if contest.tests == 1 else f"{contest.tests} tests"
        lines.append(
            f"Difference, p, dominance, d_z: {first} against each other method over common seeds, positive where "
            f"{first} is better. p: Wilcoxon's signed ranks, exact, two-sided, after Holm's correction over the "
            f"{tests} of this table. Dominance: share of seeds won less share lost (Cliff). d_z: mean difference "
            "by its standard deviation."
        )
        lines.append(
            "Splits of one dataset share most of their items: p is about splits of these data, not about others."
        )
        if not contest.can_decide:
            lines.append(
                f"No test here can reach {SIGNIFICANCE}, even where {first} is always better: that takes "
                f"{counted(seeds_to_decide(contest.tests), 'common seed')}."
            )
    lines += _about_ranks(contest)
    lines += _about_controls(contest)
    lines += [*contest.legend, *contest.problems]
    for setting, members in contest.settings.items():
        common = common_seeds(members)
        most = max(len(one.values) for one in members)
        if 0 < len(common) < most:
            seeds = counted(len(common), "seed")
            lines.append(f"{setting}: ranks rest on the {seeds} that all methods have.")
        elif most and not common:
            lines.append(f"{setting}: no ranks, since no seed is common to all methods.")
    lines += [f"{one.row} on {one.setting}: not applicable." for one in contest.entries if not one.is_applicable]
    lines += [
        f"{name} is a stand-in, no claim rests on it: {why}." for name, why in contest.table.stand_ins.items()
    ]
    lines += contest.order_note
    if references := sum(1 for scored in contest.table.cells if scored.reference):
        runs = (
            "1 run is a committed reference result"
            if references == 1
            else (f"{references} runs are committed reference results")
        )
        lines.append(f"{runs}, not made on this machine.")
    return lines


def _about_ranks(contest: Contest) -> list[str]:
    test = contest.rank_test
    if test is None:
        return []
    how = "exact" if test.exact else "Iman and Davenport's approximation"
    lines = [
        f"Mean ranks over {test.blocks} settings. Friedman's test: chi-square {test.statistic:.3f}, "
        f"p {_relation(test.p)} ({how}). Nemenyi's critical difference of mean ranks at {SIGNIFICANCE}: "
        f"{test.critical_difference:.3f}."
    ]
    if test.p > SIGNIFICANCE:
        lines.append(
            "Friedman's test finds no difference between the methods, so none of their ranks counts as one."
        )
    if len({entry.group.dataset for entry in contest.entries if entry.setting in contest.blocks}) < test.blocks:
        lines.append("Some settings are splits of the same dataset: they are fewer independent ones than counted.")
    return lines


def _relation(p: float) -> str:
    """`= 0.0312`, `< 0.0001`."""
    text = p_text(p)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


def p_text(p: float) -> str:
    """`0.0312`, `<0.0001`."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"
