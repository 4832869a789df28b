"""The status table as plain text that fits 80 columns: for pipes, files and logs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

from harness.status.table import Group, ScoredCell, Table, key_metrics
from harness.vocabulary import Verdict

_GAP = "  "
_MORE = 6


def to_text(table: Table, *, width: int = 80, cells: bool = False) -> str:
    """Sums, one block per dataset and split (or the flat list of cells), reasons, legend."""
    lines = [headline(table), ""]
    if cells:
        lines += _lay_out(["cell", "verdict", "key"], [_cell_row(scored) for scored in table.cells])
        lines.append("")
    else:
        for (name, column), members in groupby(table.groups, key=lambda group: (group.benchmark, group.column)):
            block = list(members)
            header, rows = block_rows(block, width=width)
            stand_in = " (a stand-in)" if block[0].dataset in table.stand_ins else ""
            lines += [f"{name}: {column}{stand_in}", *(f"  {line}" for line in _lay_out(header, rows)), ""]
    if reasons := reason_lines(table):
        lines += ["Why not ok", *(line for text in reasons for line in wrapped(text, "  ")), ""]
    lines += ["Verdicts", *(line for text in legend_lines(table) for line in wrapped(text, "  ")), ""]
    lines += [line for note in notes(table) for line in wrapped(note, "")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(table: Table) -> str:
    """`smoke: 8 cells planned = 6 ok + 2 pending`: the sum that must hold."""
    counts = table.counts
    terms = " + ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    shown = len(table.cells)
    if shown == table.planned:
        return f"{table.name}: {_cells(shown)} planned = {terms or '0'}"
    return f"{table.name}: {shown} of {_cells(table.planned)} planned in view = {terms or '0'}"


def block_rows(block: Sequence[Group], *, width: int = 80) -> tuple[list[str], list[list[str]]]:
    """Header and rows of one dataset and split: as many key metrics as the width holds."""
    names = [f"{group.row} [control]" if group.control else group.row for group in block]
    verdicts = [group.verdict_text for group in block]
    header, rows = ["method", "verdict"], [list(pair) for pair in zip(names, verdicts, strict=True)]
    used = 2 + sum(max(len(header[at]), *(len(row[at]) for row in rows)) + len(_GAP) for at in (0, 1))
    for metric in key_metrics(block[0].benchmark):
        found = [group.summary(metric) for group in block]
        texts = ["-" if one is None else f"{one.text} ({one.n})" for one in found]
        title = f"{metric.removesuffix('/as-published')} (n)"
        needed = max(len(title), *(len(text) for text in texts))
        if not any(found) and any(scored.scored for group in block for scored in group.cells):
            # a metric of another kind of data
            continue
        if used + needed > width:
            break
        used += needed + len(_GAP)
        header.append(title)
        for row, text in zip(rows, texts, strict=True):
            row.append(text)
    return header, rows


def reason_lines(table: Table) -> list[str]:
    """Each reason once, with the cells it holds for."""
    found: dict[tuple[Verdict, str], list[tuple[Group, ScoredCell]]] = {}
    for group in table.groups:
        for scored in group.cells:
            if scored.cell.verdict not in (Verdict.OK, Verdict.PENDING):
                found.setdefault((scored.cell.verdict, scored.cell.reason), []).append((group, scored))
    lines = []
    for (verdict, reason), members in found.items():
        rows = list(dict.fromkeys(group.row for group, _ in members))
        columns = list(dict.fromkeys(group.column for group, _ in members))
        if len(rows) == len(columns) == 1:
            seeds = [str(scored.cell.job.split.seed) for _, scored in members]
            which = f"{_plural('seed', len(seeds))} {_named(seeds, _MORE)}"
        else:
            which = _cells(len(members))
        lines.append(f"{verdict}: {_named(rows, 3)} on {'; '.join(columns)}, {which}")
        lines.append(f"    {' '.join(reason.split())}")
    return lines


def legend_lines(table: Table) -> list[str]:
    """The meaning of every verdict in view."""
    present = [verdict for verdict in Verdict if table.counts[verdict]]
    width = max((len(verdict) for verdict in present), default=0)
    return [f"{verdict:{width}}  {verdict.meaning}" for verdict in present]


def notes(table: Table) -> list[str]:
    """What else a reader must know."""
    lines = [
        "Metrics: mean ± sample standard deviation over the seeds that ended ok (n of them), as published.",
    ]
    lines += [f"{dataset} is a stand-in, no claim rests on it: {why}." for dataset, why in table.stand_ins.items()]
    referred = sum(1 for scored in table.cells if scored.reference)
    if referred:
        lines.append(f"{_cells(referred)} not run on this machine: the committed reference results are shown.")
    unscored = sum(1 for scored in table.cells if scored.cell.verdict is Verdict.OK and not scored.scored)
    if unscored:
        lines.append(f"{_cells(unscored)} ok without fresh scores: run `harness score`.")
    if table.others:
        verb = "belongs" if table.others == 1 else "belong"
        lines.append(
            f"{table.others} stored {_plural('run', table.others)} {verb} to no cell of this plan: of other plans,"
            " or of an image, dataset or split that has changed since."
        )
    return lines


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


def _named(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _cell_row(scored: ScoredCell) -> list[str]:
    return [scored.cell.job.label, str(scored.cell.verdict), (scored.key or "-")[:12]]


def _lay_out(header: list[str], rows: list[list[str]]) -> list[str]:
    table = [header, *rows]
    widths = [max(len(row[at]) for row in table) for at in range(len(header))]
    lines = [_GAP.join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)) for row in table]
    return [lines[0], _GAP.join("-" * width for width in widths), *lines[1:]]


def _cells(count: int) -> str:
    return f"{count} {_plural('cell', count)}"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
