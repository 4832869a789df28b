"""The status table as Markdown: one matrix per benchmark, methods against datasets and splits."""

from __future__ import annotations

from itertools import groupby

from harness.status.table import Group, Table, key_metrics
from harness.status.text import headline, legend_lines, notes, reason_lines


def to_markdown(table: Table, *, cells: bool = False) -> str:
    """Sums, matrix (or the flat list of cells), reasons, legend."""
    lines = [f"# Status of `{table.name}`", "", headline(table), ""]
    if cells:
        lines += _rows(
            ["cell", "verdict", "reason", "key"],
            [
                [one.cell.job.label, one.cell.verdict, one.cell.reason, f"`{(one.key or '-')[:12]}`"]
                for one in table.cells
            ],
        )
    else:
        for name, members in groupby(table.groups, key=lambda group: group.benchmark):
            lines += [f"## {name}", "", *_matrix(name, list(members)), ""]
    if reasons := reason_lines(table):
        lines += ["", "## Why not ok", ""]
        lines += [f"- {what}: {why.strip()}" for what, why in zip(reasons[::2], reasons[1::2], strict=True)]
    lines += ["", "## Verdicts", ""]
    for line in legend_lines(table):
        verdict, meaning = line.split(maxsplit=1)
        lines.append(f"- **{verdict}**: {meaning}")
    lines += ["", *notes(table)]
    return "\n".join(lines) + "\n"


def _matrix(name: str, groups: list[Group]) -> list[str]:
    metric = key_metrics(name)[0]
    columns = list(dict.fromkeys(group.column for group in groups))
    by_row: dict[tuple[bool, str], dict[str, Group]] = {}
    for group in groups:
        by_row.setdefault((group.control, group.row), {})[group.column] = group
    rows = []
    for (control, row), found in sorted(by_row.items()):
        title = f"{row} *(control)*" if control else row
        rows.append([title, *(_entry(found.get(column), metric) for column in columns)])
    return [f"Each entry: verdicts, then {metric} (n).", "", *_rows(["method", *columns], rows)]


def _entry(group: Group | None, metric: str) -> str:
    if group is None:
        return "not planned"
    summary = group.summary(metric)
    return group.verdict_text + (f"<br>{summary.text} ({summary.n})" if summary else "")


def _rows(header: list[str], rows: list[list[str]]) -> list[str]:
    table = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(_escaped(entry) for entry in row) + " |" for row in table]


def _escaped(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")
