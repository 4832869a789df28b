"""Table 1: how far annotators agree, beside the best that the paper prints, our best runs and the controls."""

from __future__ import annotations

from harness.compare.claims import SHOWN, TABLES, load_printed
from harness.study.sheets import NONE, Sheet, percent
from harness.study.sides import CONTROL, Row, Sides
from harness.study.specs import Spec

_HEAD = ("F1", "annotators", "best printed", "our best", "best control")


def sheet(sides: Sides, spec: Spec) -> Sheet:
    """A row per metric; a name stands with each number that is the highest of several."""
    people = {
        row["metric"]: float(row["value"])
        for row in load_printed(sides.layout.published / sides.names.benchmark / TABLES)
        if row["statistic"] == SHOWN and row["table"] == spec.number
    }
    (split,) = spec.splits.values()
    rows = sides.rows(spec.dataset, [split])
    lines, keys = [], list[list[tuple[str, ...]]]()
    titles = {_title(row): row for row in rows}
    for metric, agreement in people.items():
        printed = {
            one.claim.method: one.claim.value for one in sides.book.comparisons if one.claim.metric == metric
        }
        means = {row: sides.ours(row, spec.dataset, split, metric) for row in rows}
        ours = {row: mean.mean for row, mean in means.items() if mean is not None}
        methods = {_title(row): mean for row, mean in ours.items() if row.variant != CONTROL}
        controls = {_title(row): mean for row, mean in ours.items() if row.variant == CONTROL}
        lines.append([metric, percent(agreement), *map(_shown, (printed, methods, controls))])
        best = [titles[name] if (name := _highest(means)) else None for means in (methods, controls)]
        own = [sides.keys(row, spec.dataset, split) if row else () for row in best]
        keys.append([(), (), (), *own])
    return spec.sheet(_HEAD, lines, runs=keys)


def _title(row: Row) -> str:
    return row.title


def _highest(means: dict[str, float]) -> str:
    """The name of the highest mean; empty if there is none."""
    return max(means, key=lambda one: (means[one], one), default="")


def _shown(means: dict[str, float]) -> str:
    """`44.6 (all_drugs)`."""
    name = _highest(means)
    return f"{percent(means[name])} ({name})" if name else NONE
