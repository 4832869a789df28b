"""The status table as plain text that fits 80 columns: for pipes, files and logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.base.few import few_in_line
from harness.base.plurals import counted, form_of
from harness.base.tables import GAP, aligned, wrapped
from harness.base.vocabulary import Verdict
from harness.results.scoring import without_truth
from harness.status.footnotes import Footnotes
from harness.status.table import PUBLISHED_ORDER, Group, ScoredCell, Table, known_sets

_MORE = 6


def to_text(table: Table, *, width: int = 80, cells: bool = False, metric: str = "") -> str:
    """Sums, one block per dataset and split (or the flat list of cells), reasons, legend.

    Without a `metric`, those that each benchmark shows first.
    """
    lines = [headline(table), ""]
    footnotes = Footnotes()
    for (name, column), members in groupby(table.groups, key=lambda group: (group.benchmark, group.column)):
        block = list(members)
        stand_in = " (a stand-in)" if block[0].dataset in table.stand_ins else ""
        lines.append(f"{name}: {column}{stand_in}")
        if cells:
            lines += [*cell_lines(block, metric), ""]
            continue
        for grid in block_grids(block, footnotes, width=width, metric=metric):
            lines += [*aligned([grid.header, *grid.rows.values()], indent="  ", ruled=True), ""]
    if footnotes.lines:
        lines += [*(line for text in footnotes.lines for line in wrapped(text, "")), ""]
    for heading, texts in explanations(table):
        lines += [heading, *(line for text in texts for line in wrapped(text, "  ")), ""]
    lines += [line for note in notes(table, metric) for line in wrapped(note, "")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(table: Table) -> str:
    """`smoke: 8 cells planned = 6 ok + 2 pending`: the sum that must hold."""
    counts = table.counts
    terms = " + ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    count = len(table.cells)
    if count == table.planned:
        return f"{table.name}: {counted(count, 'cell')} planned = {terms or '0'}"
    return f"{table.name}: {count} of {counted(table.planned, 'cell')} planned in view = {terms or '0'}"


@dataclass(frozen=True)
class TextGrid:
    """A header, and a row for each group that has something to say."""

    header: list[str]
    rows: dict[Group, list[str]]


def block_grids(block: Sequence[Group], footnotes: Footnotes, *, width: int, metric: str) -> list[TextGrid]:
    """The grids of one dataset and split: verdicts, and as many key metrics as the width holds.

    All settings of the first metric are shown: those that are too wide come in a grid below.
    """
    names = {group: f"{group.title} [control]" if group.control else group.title for group in block}
    grids = [TextGrid(["method", "verdict"], {group: [names[group], group.verdict_text] for group in block})]
    first, *others = [(metric,)] if metric else known_sets(block)
    for name in (*first, *(name for members in others for name in members)):
        trial = footnotes.copy()
        texts = {group: entry for group in block if (entry := trial.entry(group, name))}
        title = f"{name.removesuffix('/as-published')} (n)"
        column = [title, *(texts.get(group, "-") for group in block)]
        if _width(grids[-1]) + max(map(len, column)) > width:
            if name not in first or not texts:
                break
            grids.append(TextGrid(["method"], {group: [names[group]] for group in texts}))
        footnotes.keep(trial)
        grids[-1].header.append(title)
        for group, row in grids[-1].rows.items():
            row.append(texts.get(group, "-"))
    return grids


def _width(grid: TextGrid) -> int:
    """The width of the grid, with indentation and a gap behind each column."""
    columns = zip(grid.header, *grid.rows.values(), strict=True)
    return 2 + sum(max(map(len, column)) + len(GAP) for column in columns)


def explanations(table: Table) -> list[tuple[str, list[str]]]:
    """What stands below a table: headings, each with lines that are there."""
    parts = [("Why not ok", reason_lines(table)), ("Verdicts", legend_lines(table))]
    return [(heading, lines) for heading, lines in parts if lines]


def reason_lines(table: Table) -> list[str]:
    """Two lines per reason: its cells, and the reason."""
    by_reason: dict[tuple[Verdict, str], list[tuple[Group, ScoredCell]]] = {}
    for group in table.groups:
        for scored in group.cells:
            if scored.cell.verdict not in (Verdict.OK, Verdict.PENDING):
                by_reason.setdefault((scored.cell.verdict, scored.cell.reason), []).append((group, scored))
    lines = []
    for (verdict, reason), members in by_reason.items():
        rows = list(dict.fromkeys(group.row for group, _ in members))
        columns = _columns(group for group, _ in members)
        if len(rows) == len(columns) == 1 and len({group for group, _ in members}) == 1:
            seeds = [str(scored.cell.job.split.seed) for _, scored in members]
            which = f"{form_of('seed', len(seeds))} {few_in_line(seeds, _MORE)}"
        else:
            which = counted(len(members), "cell")
        lines.append(f"{verdict}: {few_in_line(rows, 3)} on {few_in_line(columns, _MORE, '; ')}, {which}")
        lines.append(f"    {' '.join(reason.split())}")
    return lines


def _columns(groups: Iterable[Group]) -> list[str]:
    """The columns of these groups; where they are many, the datasets, each with the number of its splits."""
    columns = {group.column: group.dataset for group in groups}
    if len(columns) <= _MORE:
        return list(columns)
    counts = Counter(columns.values())
    return [f"{dataset} ({counted(count, 'split')})" for dataset, count in counts.items()]


def legend_lines(table: Table) -> list[str]:
    """The meaning of every verdict in view."""
    present = [verdict for verdict in Verdict if table.counts[verdict]]
    width = max((len(verdict) for verdict in present), default=0)
    return [f"{verdict:{width}}  {verdict.meaning}" for verdict in present]


def notes(table: Table, metric: str = "") -> list[str]:
    """Sentences below the table: how metrics are computed, and remarks about its rows."""
    if not (table.planned or table.others):
        return ["No run is stored here yet: `harness run --suite smoke` makes some.", *remarks(table)]
    own = sorted({group.dataset for group in table.groups if group.unpublished})
    if metric:
        kinds = ""
    elif len(own) == len({group.dataset for group in table.groups}) and table.cells:
        kinds = ", as defined, for nothing is published of these data"
    elif own:
        kinds = f", as published; of {', '.join(own)}, of which nothing is published, as defined"
    else:
        kinds = ", as published"
    return [
        f"Metrics: mean ± sample standard deviation over the seeds that ended ok (n of them){kinds}.",
        *remarks(table),
    ]


def remarks(table: Table) -> list[str]:
    """Sentences about the rows of a table: stand-ins, order, reference results, other runs."""
    lines = [f"{dataset} is a stand-in, no claim rests on it: {why}." for dataset, why in table.stand_ins.items()]
    if any(group.published_order for group in table.groups):
        lines.append(
            f"{PUBLISHED_ORDER}: the answer depends on the order of drugs, diseases and items, so a run gets"
            " the published one; all other runs get a secret order."
        )
    if references := sum(1 for scored in table.cells if scored.reference):
        lines.append(
            f"{counted(references, 'cell')} not run on this machine: the committed reference results are shown."
        )
    unscored = [one.cell.job for one in table.cells if one.cell.verdict is Verdict.OK and not one.scored]
    asked = sum(1 for job in unscored if without_truth(job))
    if len(unscored) > asked:
        lines.append(f"{counted(len(unscored) - asked, 'cell')} ok without fresh scores: run `harness score`.")
    if asked:
        lines.append(f"{counted(asked, 'cell')} of `harness predict` without scores: nobody knows the truth.")
    if table.others:
        verb = "belongs" if table.others == 1 else "belong"
        lines.append(
            f"{table.others} stored {form_of('run', table.others)} {verb} to no cell of this plan: of other plans,"
            " of an image, dataset or split that has changed since, or too damaged to be read."
        )
    return lines


def score_of(scored: ScoredCell, metric: str) -> str:
    """The metric of a cell as text."""
    value = scored.metrics.get(metric)
    return "-" if value is None else f"{value:.4f}"


def cell_lines(block: Sequence[Group], metric: str) -> list[str]:
    """The cells of one dataset and split, each with its metric, or with the first that its benchmark shows."""
    metric = metric or known_sets(block)[0][0]
    rows = [["method", "seed", "verdict", "key", metric.removesuffix("/as-published")]]
    for group in block:
        for scored in group.cells:
            job, key = scored.cell.job, (scored.key or "-")[:12]
            verdict = str(scored.cell.verdict)
            rows.append([group.title, str(job.split.seed), verdict, key, score_of(scored, metric)])
    return aligned(rows, indent="  ", ruled=True)
