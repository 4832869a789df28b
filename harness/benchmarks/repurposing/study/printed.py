"""Tables and figures of the study of collaborative filters as sheets: text for every entry, drawings beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from harness.benchmarks.repurposing.study.drawings import correlograms, panels, times
from harness.benchmarks.repurposing.study.figures import Figures
from harness.benchmarks.repurposing.study.tables import ControlRow, Row, StatusTable, Table
from harness.benchmarks.repurposing.study.words import (
    FIGURES,
    HEAD,
    figure_table,
    line,
    reasons,
    status,
    status_reasons,
)
from harness.compare.render import comparison_json
from harness.study.sheets import Sheet

_STATUS_NOTE = "Printed (✓ ran, E runtime error, M memory error), then how our runs ended; ≠ where they deviate."
_LEGENDS = {
    "2b": "Above the diagonal Spearman's correlation; below it where the values lie, and regressions with R² "
    "above 0.25; on it the distribution of each metric.",
    "3": "Of each dataset the three best methods by mean; where ours are others, those too. "
    "A box holds the middle half; whiskers end within one and a half boxes.",
    "4": "Theirs: wall seconds of training, on the authors' machines. Ours: CPU seconds of the whole run, other "
    "code on this machine. So these distributions are shown, not judged.",
}
_DRAWN = {"2b": correlograms, "3": panels, "4": times}
_STYLES = {"2b": "three", "3": "two boxes controls", "4": "two boxes"}


def table_sheet(table: Table | StatusTable) -> Sheet:
    """A table."""
    return _status_sheet(table) if isinstance(table, StatusTable) else _number_sheet(table)


def figure_sheets(figures: Figures | None) -> Iterator[Sheet]:
    """The figures that were asked for."""
    for number in figures.numbers if figures else ():
        assert figures is not None
        head, rows = figure_table(figures, number)
        yield Sheet(
            "figure",
            number,
            FIGURES[number],
            head,
            rows,
            legend=_LEGENDS[number],
            pictures=_DRAWN[number](figures),
            style=_STYLES[number],
        )


def _number_sheet(table: Table) -> Sheet:
    blank = [""] * (len(HEAD) - 1)
    return Sheet(
        "table",
        table.number,
        table.title,
        HEAD,
        [line(row) for row in table.lines],
        tally=table.tally,
        notes=reasons(table),
        chips=[[*blank, str(row.comparison.verdict)] for row in table.rows]
        + [[*blank, ""] for _ in table.controls],
        values={**_about(table), "rows": [_row_json(row) for row in table.lines]},
    )


def _status_sheet(table: StatusTable) -> Sheet:
    rows = [
        {
            "dataset": dataset,
            "split": split,
            "cells": {
                column: {**asdict(cell), "ours": {str(verdict): count for verdict, count in cell.ours.items()}}
                for column, cell in zip(table.columns, cells, strict=True)
            },
        }
        for dataset, split, cells in table.rows
    ]
    return Sheet(
        "table",
        table.number,
        table.title,
        ("dataset", "split", *table.columns),
        [(dataset, split.replace("_", " "), *map(status, cells)) for dataset, split, cells in table.rows],
        tally=table.tally,
        counted="cells",
        notes=[_STATUS_NOTE, *status_reasons(table)],
        chips=[["", "", *(str(cell.verdict or "") for cell in cells)] for _, _, cells in table.rows],
        style="statuses",
        values={**_about(table), "rows": rows},
    )


def _about(table: Table | StatusTable) -> dict[str, Any]:
    return {"title": table.title, "verdicts": {str(verdict): count for verdict, count in table.tally.items()}}


def _row_json(row: Row | ControlRow) -> dict[str, Any]:
    if isinstance(row, ControlRow):
        return {**asdict(row), "verdict": "control"}
    return {
        "about": row.about,
        "quantity": row.quantity,
        "control": row.control,
        **comparison_json(row.comparison),
    }
