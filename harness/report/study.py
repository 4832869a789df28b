"""The study of a paper as the page shows it: figures drawn, tables as rows of text with their verdicts."""

from __future__ import annotations

from typing import Any

from harness.study import Study
from harness.study.drawings import correlograms, panels, times
from harness.study.render import body, head, tally, why
from harness.study.tables import StatusTable, Table
from harness.study.words import COLUMNS, figure_tables

_LEGENDS = {
    "2b": "Above the diagonal Spearman's correlation; below it where the values lie, and regressions with R² "
    "above 0.25; on it the distribution of each metric.",
    "3": "Of each dataset the three best methods by mean; where ours are others, those too. "
    "A box holds the middle half; whiskers end within one and a half boxes.",
    "4": "Theirs: wall seconds of training, on the authors' machines. Ours: CPU seconds of the whole run, other "
    "code on this machine. So these distributions are shown, not judged.",
}
_DRAWN = {"2b": correlograms, "3": panels, "4": times}


def study_entry(study: Study) -> dict[str, Any]:
    """Everything the template needs."""
    figures = study.figures
    return {
        "benchmark": study.benchmark,
        "sources": study.sources,
        "columns": COLUMNS,
        "tables": [_table(table) for table in study.tables],
        "figures": [
            {
                "number": number,
                "title": title,
                "legend": _LEGENDS[number],
                "boxes": number != "2b",
                "pictures": _DRAWN[number](figures),
                "head": names,
                "rows": rows,
            }
            for number, title, names, rows in figure_tables(study)
            if figures is not None
        ],
    }


def _table(table: Table | StatusTable) -> dict[str, Any]:
    return {
        "number": table.number,
        "title": table.title,
        "tally": tally(table),
        "head": head(table),
        "rows": [
            list(zip(row, verdicts, strict=True))
            for row, verdicts in zip(body(table), _verdicts(table), strict=True)
        ],
        "reasons": why(table),
        "status": isinstance(table, StatusTable),
    }


def _verdicts(table: Table | StatusTable) -> list[list[str]]:
    """The verdict each entry shows; empty for most."""
    if isinstance(table, StatusTable):
        return [["", "", *(str(cell.verdict or "") for cell in cells)] for _, _, cells in table.rows]
    blank = [""] * (len(head(table)) - 1)
    return [[*blank, str(row.comparison.verdict)] for row in table.rows] + [[*blank, ""] for _ in table.controls]
