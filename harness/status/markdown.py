"""The status table as Markdown: one matrix per benchmark, methods against datasets and splits."""

from __future__ import annotations

from itertools import groupby

from harness.base.markdown import code, plain
from harness.base.tables import markdown_table
from harness.status.footnotes import Footnotes
from harness.status.table import Group, Table, known_sets
from harness.status.text import headline, legend_lines, notes, reason_lines, score_of


def to_markdown(table: Table, *, cells: bool = False, metric: str = "") -> str:
    """Sums, matrix (or the flat list of cells), reasons, legend."""
    lines = [f"# Status of {code(table.name)}", "", plain(headline(table)), ""]
    if cells:
        lines += markdown_table(
            ["cell", "verdict", "reason", "key", "metric", "score"],
            [
                [
                    *map(plain, (one.cell.job.label, one.cell.verdict, one.cell.reason)),
                    code((one.key or "-")[:12]),
                    *map(plain, (name, score_of(one, name))),
                ]
                for group in table.groups
                for name in [metric or known_sets([group])[0][0]]
                for one in group.cells
            ],
        )
    else:
        for name, members in groupby(table.groups, key=lambda group: group.benchmark):
            lines += [f"## {plain(name)}", "", *_matrix(list(members), metric), ""]
    if reasons := reason_lines(table):
        lines += ["", "## Why not ok", ""]
        lines += [f"- {plain(what)}: {plain(why)}" for what, why in zip(reasons[::2], reasons[1::2], strict=True)]
    legend = legend_lines(table)
    lines += ["", "## Verdicts", ""] if legend else []
    for line in legend:
        verdict, meaning = line.split(maxsplit=1)
        lines.append(f"- **{plain(verdict)}**: {plain(meaning)}")
    lines += ["", *map(plain, notes(table, metric))]
    return "\n".join(lines) + "\n"


def _matrix(groups: list[Group], metric: str) -> list[str]:
    columns: dict[str, list[Group]] = {}
    by_row: dict[tuple[bool, str], dict[str, Group]] = {}
    for group in groups:
        columns.setdefault(group.column, []).append(group)
        by_row.setdefault((group.control, group.title), {})[group.column] = group
    metrics = {column: (metric,) if metric else known_sets(members)[0] for column, members in columns.items()}
    footnotes, rows = Footnotes(), []
    for (control, row), by_column in sorted(by_row.items()):
        title = f"{plain(row)} *(control)*" if control else plain(row)
        entries = [_entry(by_column.get(column), metrics[column], footnotes) for column in columns]
        rows.append([title, *entries])
    metric_text = " or ".join(dict.fromkeys(", ".join(one) for one in metrics.values()))
    lines = [f"Each entry: verdicts, then {plain(metric_text)} (n).", ""]
    lines += markdown_table(["method", *map(plain, columns)], rows)
    for number, text in enumerate(footnotes.texts, start=1):
        lines += ["", f"[{number}] {plain(text)}"]
    return lines


def _entry(group: Group | None, metrics: tuple[str, ...], footnotes: Footnotes) -> str:
    if group is None:
        return "not planned"
    values = [footnotes.entry(group, metric) for metric in metrics]
    lines = [group.verdict_text, *(value or "-" for value in values)] if any(values) else [group.verdict_text]
    return "<br>".join(lines)
