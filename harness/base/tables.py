"""Tables as text, Markdown and CSV, and lines that fit a terminal."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

GAP = "  "
_END = "\r\n"
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


def fitted(rows: Sequence[Sequence[str]], *, indent: str = "", width: int = 80) -> list[str]:
    """The same, in as many tables as the width needs. In each, what tells the rows apart stands first.

    Of several columns that do so, the last stands in the table and the others above its rows.
    """
    if len(rows) < 2 or max(map(len, aligned(rows, indent=indent))) <= width:
        return aligned(rows, indent=indent)
    columns = range(len(rows[0]))
    names = next((n for n in columns[1:] if len({tuple(row[:n]) for row in rows[1:]}) == len(rows) - 1), 1)
    above, name = [tuple(filter(None, row[: names - 1])) for row in rows], names - 1
    inner = f"{indent}  " if name else indent
    sizes = [max(len(row[place]) for row in rows) + len(GAP) for place in columns]
    parts: list[list[int]] = [[name]]
    for place in columns[names:]:
        if len(parts[-1]) > 1 and sum(sizes[at] for at in (*parts[-1], place)) > width + len(GAP) - len(inner):
            parts.append([name])
        parts[-1].append(place)
    lines: list[str] = []
    for part in parts:
        lines += [""] if lines else []
        for number, line in enumerate(aligned([[row[at] for at in part] for row in rows], indent=inner)):
            if number and above[number] != above[number - 1]:
                lines.append(f"{indent}{', '.join(above[number])}")
            lines.append(line)
    return lines


def folded(rows: Iterable[Sequence[str]], width: int | None) -> list[str]:
    """Aligned rows whose last entries take as many lines as the width needs; one line each where there is none."""
    # a fault may be told in several lines: here it is an entry like any other
    table = [[" ".join(entry.split()) if "\n" in entry else entry for entry in row] for row in rows]
    lines = aligned(table)
    if width is None:
        return lines
    starts = aligned(row[:-1] for row in table)
    place = max(map(len, starts), default=0) + len(GAP)
    if place <= width // 2:
        return [part for line in lines for part in _wrapped(line, width, "", " " * place)]
    # there is no room for a column
    return [
        part
        for line, start, row in zip(lines, starts, table, strict=True)
        for part in ([line] if len(line) <= width else (start, *_wrapped(row[-1], width, "    ", "    ")))
    ]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table whose entries are Markdown already: of `plain`, `code` or a page's own markup."""
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The table as CSV: all digits, nothing for None, an apostrophe before what looks like a formula."""
    lines: list[str] = []
    # so that it puts a text with any end of a line in quotes
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator=_END)
    writer.writerow(header)
    writer.writerows([_harmless(entry) for entry in row] for row in rows)
    return "".join(f"{line.removesuffix(_END)}\n" for line in lines)


def _harmless(entry: Any) -> Any:
    return f"'{entry}" if isinstance(entry, str) and entry.startswith(_FORMULA) else entry


def wrapped(text: str, indent: str, width: int = 80) -> list[str]:
    """Lines of at most `width` characters; what follows the first is indented further than its own indentation."""
    stripped = text.lstrip()
    start = indent + text[: len(text) - len(stripped)]
    return _wrapped(stripped, width, start, f"{start}  ", break_words=False)


def _wrapped(text: str, width: int, first: str, others: str, *, break_words: bool = True) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=break_words,
        break_on_hyphens=False,
    )
