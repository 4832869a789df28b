"""The study as plain text, Markdown or JSON values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from harness.compare.judge import ClaimVerdict
from harness.compare.render import comparison_json
from harness.status.text import wrapped
from harness.study.tables import ControlRow, Row, StatusTable, Table
from harness.study.whole import Study
from harness.study.words import COLUMNS, HEAD, figure_tables, line, reasons, status, status_reasons

_STATUS_NOTE = "Printed (✓ ran, E runtime error, M memory error), then how our runs ended; ≠ where they deviate."


def to_text(study: Study) -> str:
    """Every table and figure asked for."""
    lines = [*(text for source in study.sources for text in wrapped(source, "")), ""]
    if any(isinstance(table, Table) for table in study.tables):
        lines += [*wrapped(COLUMNS, ""), ""]
    for table in study.tables:
        lines += [f"Table {table.number}. {table.title}", f"  {tally(table)}", ""]
        lines += _columns(head(table), body(table))
        lines += ["", *(text for reason in why(table) for text in wrapped(reason, "  ")), ""]
    for number, title, names, rows in figure_tables(study):
        lines += [f"Figure {number}. {title}", "", *_columns(names, rows), ""]
    return "\n".join(text.rstrip() for text in lines).rstrip() + "\n"


def to_markdown(study: Study) -> str:
    """The same for documents."""
    lines = [f"# The study of `{study.benchmark}`", "", *(f"- {source}" for source in study.sources), ""]
    if any(isinstance(table, Table) for table in study.tables):
        lines += [COLUMNS, ""]
    for table in study.tables:
        lines += [f"## Table {table.number}. {table.title}", "", tally(table), ""]
        lines += [*_pipes(head(table), body(table)), "", *(f"- {reason}" for reason in why(table)), ""]
    for number, title, names, rows in figure_tables(study):
        lines += [f"## Figure {number}. {title}", "", *_pipes(names, rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def to_json(study: Study) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "benchmark": study.benchmark,
        "sources": list(study.sources),
        "tables": {table.number: _table_json(table) for table in study.tables},
        "figures": {
            number: {"title": title, "columns": list(names), "rows": [list(row) for row in rows]}
            for number, title, names, rows in figure_tables(study)
        },
    }


def tally(table: Table | StatusTable) -> str:
    """`9 numbers = 4 reproduced + 5 not-comparable`."""
    counts: Counter[ClaimVerdict] = table.tally
    terms = [f"{counts[verdict]} {verdict}" for verdict in ClaimVerdict if counts[verdict]]
    kind = "cells" if isinstance(table, StatusTable) else "numbers"
    return f"{counts.total()} {kind} = {' + '.join(terms)}"


def head(table: Table | StatusTable) -> Sequence[str]:
    """The names of a table's columns."""
    return ("dataset", "split", *table.columns) if isinstance(table, StatusTable) else HEAD


def body(table: Table | StatusTable) -> list[tuple[str, ...]]:
    """Its rows."""
    if isinstance(table, StatusTable):
        return [(dataset, split.replace("_", " "), *map(status, cells)) for dataset, split, cells in table.rows]
    return [line(row) for row in table.lines]


def why(table: Table | StatusTable) -> list[str]:
    """What stands below it."""
    return [_STATUS_NOTE, *status_reasons(table)] if isinstance(table, StatusTable) else reasons(table)


def _table_json(table: Table | StatusTable) -> dict[str, Any]:
    about = {"title": table.title, "verdicts": {str(verdict): count for verdict, count in table.tally.items()}}
    if isinstance(table, Table):
        return {**about, "rows": [_row_json(row) for row in table.lines]}
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
    return {**about, "rows": rows}


def _row_json(row: Row | ControlRow) -> dict[str, Any]:
    if isinstance(row, ControlRow):
        return {**asdict(row), "verdict": "control"}
    return {
        "about": row.about,
        "quantity": row.quantity,
        "control": row.control,
        **comparison_json(row.comparison),
    }


def _columns(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    table = [names, *rows]
    widths = [max(len(row[at]) for row in table) for at in range(len(names))]
    return ["  " + "  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)) for row in table]


def _pipes(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    table = [names, ["---"] * len(names), *rows]
    return ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in table]
