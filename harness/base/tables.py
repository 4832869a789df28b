"""Tables as text, Markdown and CSV, and lines that fit a terminal."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

GAP = "  "
# A spreadsheet takes a text that begins so for a formula, and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def aligned(rows: Iterable[Sequence[str]], *, indent: str = "", ruled: bool = False) -> list[str]:
    """Lines with entries below each other, without spaces at their ends. `ruled`: a rule below the first."""
    table = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if ruled:
        table.insert(1, ["-" * width for width in widths])
    lines = (GAP.join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)) for row in table)
    return [f"{indent}{line}".rstrip() for line in lines]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table whose entries are Markdown already: of `plain`, `code` or a page's own markup."""
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The table as CSV: all digits, nothing for None, an apostrophe before what looks like a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_harmless(entry) for entry in row] for row in rows)
    return stream.getvalue()


def _harmless(entry: Any) -> Any:
    return f"'{entry}" if isinstance(entry, str) and entry.startswith(_FORMULA) else entry


def wrapped(text: str, indent: str, width: int = 80) -> list[str]:
    """Lines of at most `width` characters; what follows the first is indented further than its own indentation."""
    stripped = text.lstrip()
    start = indent + text[: len(text) - len(stripped)]
    return textwrap.wrap(
        stripped,
        width,
        initial_indent=start,
        subsequent_indent=f"{start}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
