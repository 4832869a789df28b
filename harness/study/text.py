"""A study as plain text, Markdown or JSON values."""

from __future__ import annotations

from typing import Any

from harness.base.markdown import code, plain
from harness.base.tables import aligned, markdown_table, wrapped
from harness.study.sheets import Sheet, Study


def to_text(study: Study) -> str:
    """Every table and figure of the study."""
    lines = [*(text for source in study.sources for text in wrapped(source, "")), ""]
    if study.columns:
        lines += [*wrapped(study.columns, ""), ""]
    for sheet in study.sheets:
        lines += [heading(sheet), *([f"  {sheet.tally_text}"] if sheet.tally_text else []), ""]
        lines += [*aligned([sheet.head, *sheet.rows], indent="  "), ""]
        if sheet.notes:
            lines += [*(text for note in sheet.notes for text in wrapped(note, "  ")), ""]
    return "\n".join(text.rstrip() for text in lines).rstrip() + "\n"


def to_markdown(study: Study) -> str:
    """Every table and figure as Markdown."""
    lines = [f"# The study of {code(study.benchmark)}", "", *(f"- {plain(one)}" for one in study.sources), ""]
    if study.columns:
        lines += [plain(study.columns), ""]
    for sheet in study.sheets:
        lines += [f"## {plain(heading(sheet))}", "", *([plain(sheet.tally_text), ""] if sheet.tally_text else [])]
        lines += [*markdown_table([*map(plain, sheet.head)], ([*map(plain, row)] for row in sheet.rows)), ""]
        if sheet.notes:
            lines += [*(f"- {plain(note)}" for note in sheet.notes), ""]
    return "\n".join(lines).rstrip() + "\n"


def to_json(study: Study) -> dict[str, Any]:
    """Every table and figure by number."""
    return {
        "benchmark": study.benchmark,
        "sources": list(study.sources),
        "tables": {sheet.number: _values(sheet) for sheet in study.sheets if sheet.kind == "table"},
        "figures": {sheet.number: _values(sheet) for sheet in study.sheets if sheet.kind == "figure"},
    }


def heading(sheet: Sheet) -> str:
    """`Table 10. Comparison of ...`."""
    return f"{sheet.kind.capitalize()} {sheet.number}. {sheet.title}"


def _values(sheet: Sheet) -> dict[str, Any]:
    if sheet.values:
        return dict(sheet.values)
    return {"title": sheet.title, "columns": list(sheet.head), "rows": [list(row) for row in sheet.rows]}
