"""The study of a paper as the page shows it: figures drawn, tables as rows of text with their verdicts."""

from __future__ import annotations

from typing import Any

from harness.study import Study
from harness.study.sheets import Sheet


def study_entry(study: Study) -> dict[str, Any]:
    """Everything the template needs."""
    return {
        "benchmark": study.benchmark,
        "sources": study.sources,
        "columns": study.columns,
        "tables": [_table(sheet) for sheet in study.sheets if sheet.kind == "table"],
        "figures": [_figure(sheet) for sheet in study.sheets if sheet.kind == "figure"],
    }


def _figure(sheet: Sheet) -> dict[str, Any]:
    return {
        "number": sheet.number,
        "title": sheet.title,
        "legend": sheet.legend,
        "styles": sheet.style.split(),
        "pictures": sheet.pictures,
        "head": sheet.head,
        "rows": sheet.rows,
        "notes": sheet.notes,
    }


def _table(sheet: Sheet) -> dict[str, Any]:
    blank = [""] * len(sheet.head)
    chips = sheet.chips or [blank for _ in sheet.rows]
    return {
        "number": sheet.number,
        "title": sheet.title,
        "tally": sheet.tally_text,
        "head": sheet.head,
        "rows": [list(zip(row, shown, strict=True)) for row, shown in zip(sheet.rows, chips, strict=True)],
        "reasons": sheet.notes,
        "status": "statuses" in sheet.style.split(),
    }
