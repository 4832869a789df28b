"""The status table on a terminal, in colour; elsewhere as plain text."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TextIO

from harness.status.table import Table
from harness.status.text import block_rows, headline, legend_lines, notes, reason_lines, to_text
from harness.vocabulary import Verdict

_COLOURS = {
    Verdict.OK: "green",
    Verdict.NOT_APPLICABLE: "bright_black",
    Verdict.PENDING: "blue",
    Verdict.INTERRUPTED: "blue",
    Verdict.MISSING_DATA: "yellow",
    Verdict.INFRASTRUCTURE: "magenta",
}


def show(table: Table, *, cells: bool = False, stream: TextIO | None = None) -> None:
    """Write the table where a person, or a pipe, reads it."""
    stream = stream or sys.stdout
    if cells or not stream.isatty():
        stream.write(to_text(table, cells=cells))
        return
    _in_colour(table, stream)


def _in_colour(table: Table, stream: TextIO) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    console.print(headline(table), style="bold")
    for (name, column), members in groupby(table.groups, key=lambda group: (group.benchmark, group.column)):
        block = list(members)
        header, rows = block_rows(block, width=console.width - 3 * 5)
        grid = Grid(title=f"{name}: {column}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for title in header:
            grid.add_column(title, justify="left")
        for group, row in zip(block, rows, strict=True):
            worst = next((one for one in reversed(Verdict) if group.verdicts[one]), Verdict.OK)
            texts = [Text(text) for text in row]
            texts[1].stylize(_COLOURS.get(worst, "red"))
            if group.control:
                texts[0].stylize("italic")
            grid.add_row(*texts)
        console.print(grid)
    if reasons := reason_lines(table):
        console.print("Why not ok", style="bold")
        for line in reasons:
            console.print(f"  {line}", markup=False)
    console.print("Verdicts", style="bold")
    for line in legend_lines(table):
        console.print(f"  {line}", markup=False)
    for line in notes(table):
        console.print(line, markup=False)
