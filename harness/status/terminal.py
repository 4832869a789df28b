"""The status table on a terminal, in colour; elsewhere as plain text."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TextIO

from harness.base.vocabulary import Verdict
from harness.status.footnotes import Footnotes
from harness.status.overview import is_large, to_overview
from harness.status.table import Table
from harness.status.text import block_grids, explanations, headline, notes, to_text

_COLOURS = {
    Verdict.OK: "green",
    Verdict.NOT_APPLICABLE: "bright_black",
    Verdict.PENDING: "blue",
    Verdict.INTERRUPTED: "blue",
    Verdict.MISSING_DATA: "yellow",
    Verdict.INFRASTRUCTURE: "magenta",
}


def show(table: Table, *, cells: bool = False, metric: str = "", stream: TextIO | None = None) -> None:
    """Write the table where a person, or a pipe, reads it; of one with hundreds of rows, sums."""
    stream = stream or sys.stdout
    if not (cells or metric) and is_large(table):
        stream.write(to_overview(table))
    elif cells or not stream.isatty():
        stream.write(to_text(table, cells=cells, metric=metric))
    else:
        _in_colour(table, stream, metric)


def _in_colour(table: Table, stream: TextIO, metric: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    # the words of a run are its own: `:warning:` is no sign, and `[1]` no style
    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    console.print(headline(table), style="bold")
    footnotes = Footnotes()
    for (name, column), members in groupby(table.groups, key=lambda group: (group.benchmark, group.column)):
        block = list(members)
        for place, grid in enumerate(block_grids(block, footnotes, width=console.width - 3 * 5, metric=metric)):
            title = "" if place else f"{name}: {column}"
            grid_table = Grid(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
            for head in grid.header:
                grid_table.add_column(head, justify="left")
            for group, row in grid.rows.items():
                worst = next((one for one in reversed(Verdict) if group.verdicts[one]), Verdict.OK)
                texts = [Text(text) for text in row]
                texts[1].stylize("" if place else _COLOURS.get(worst, "red"))
                if group.control:
                    texts[0].stylize("italic")
                grid_table.add_row(*texts)
            console.print(grid_table)
    for line in footnotes.lines:
        console.print(line)
    for heading, lines in explanations(table):
        console.print(heading, style="bold")
        for line in lines:
            console.print(f"  {line}")
    for line in notes(table, metric):
        console.print(line)
