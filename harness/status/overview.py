"""The status of a large plan on a few screens: verdicts by method and by dataset, and how to see every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby

from harness.base.tables import fitted, wrapped
from harness.base.vocabulary import Verdict
from harness.status.table import Group, Table
from harness.status.text import explanations, headline, remarks

# The largest table of a paper has 234 rows.
_MOST_ROWS = 250


def is_large(table: Table) -> bool:
    """Whether the table has more rows than anybody reads."""
    return len(table.groups) > _MOST_ROWS


def to_overview(table: Table) -> str:
    """Sums, for each benchmark the verdicts of its methods and datasets, reasons, legend, how to see more."""
    lines = [headline(table), ""]
    for name, members in groupby(table.groups, key=lambda group: group.benchmark):
        groups = list(members)
        lines.append(name)
        lines += _sums(sorted(groups, key=lambda group: (group.control, group.method)), "method", _method)
        lines += _sums(groups, "dataset", lambda group: group.dataset)
    for heading, texts in explanations(table):
        lines += [heading, *(line for text in texts for line in wrapped(text, "  ")), ""]
    lines += [line for text in (*remarks(table), _how_to_see_more(table)) for line in wrapped(text, "")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _method(group: Group) -> str:
    return f"{group.method} [control]" if group.control else group.method


def _sums(groups: Iterable[Group], head: str, name_of: Callable[[Group], str]) -> list[str]:
    """One line for each name: its cells, and how many of them have each verdict."""
    counts: dict[str, Counter[Verdict]] = {}
    for group in groups:
        counts.setdefault(name_of(group), Counter()).update(group.verdicts)
    verdicts = [verdict for verdict in Verdict if any(of_name[verdict] for of_name in counts.values())]
    columns = [["cells", *(str(of_name.total()) for of_name in counts.values())]]
    columns += [[verdict, *(str(of_name[verdict] or "-") for of_name in counts.values())] for verdict in verdicts]
    numbers = ([text.rjust(max(map(len, column))) for text in column] for column in columns)
    return [*fitted([*zip([head, *counts], *numbers, strict=True)], indent="  "), ""]


def _how_to_see_more(table: Table) -> str:
    return (
        f"These are sums of {len(table.groups)} rows. Rows with their metrics: --method NAME, --dataset NAME or"
        " --benchmark NAME; all of them: --output FILE.md; every cell with its key: --cells."
    )
