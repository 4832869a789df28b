"""What a table or figure says in words and figures: the same on a terminal, in Markdown and on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from harness.base.vocabulary import Verdict
from harness.benchmarks.repurposing.study.figures import Figures
from harness.benchmarks.repurposing.study.tables import MARKS, ControlRow, Row, StatusCell, StatusTable, Table
from harness.compare.adjusted import ADJUSTED_P, H
from harness.compare.judge import ClaimVerdict
from harness.compare.statistics import Array

HEAD = ("", "", "printed", "authors' files", "ours", "best control", "verdict")
NONE = "-"

# What the columns of all tables of numbers mean; said once.
COLUMNS = (
    "printed: the paper's number. authors' files: the same from the published results (over how many seeds); "
    "≠ marks a printed number that does not follow from them, brackets one that is not printed. "
    "ours: from our runs (seeds). "
    "best control: the control with the highest mean NS-AUC on the same datasets and splits. "
    "H of fewer runs is taken to the paper's number of runs."
)


def figure(quantity: str, value: float | None) -> str:
    """A number with as many digits as its kind deserves."""
    if value is None:
        return NONE
    if quantity == H:
        return f"{value:.1f}"
    return f"{value:.1g}" if quantity == ADJUSTED_P else f"{value:.4f}"


def line(row: Row | ControlRow) -> tuple[str, ...]:
    """The entries of one row, as many as HEAD."""
    if isinstance(row, ControlRow):
        ours = f"{row.ours:.4f} ({row.n})"
        return row.about, row.quantity, NONE, NONE, ours, "", "control"
    one, files = row.comparison, row.comparison.files
    printed = one.claim.published if one.claim.sd is None else f"{one.claim.published} ± {one.claim.sd:g}"
    if row.part:
        printed = NONE
    elif one.claim.note.startswith("not printed"):
        printed = f"({printed})"
    theirs = NONE
    if files is not None:
        theirs = f"{figure(row.quantity, files.value)} ({files.n}){'' if files.agrees else ' ≠'}"
    ours = NONE if one.ours is None else f"{figure(row.quantity, one.ours)} ({one.n})"
    return row.about, row.quantity, printed, theirs, ours, row.control, str(one.verdict)


def reasons(table: Table) -> list[str]:
    """Why a number is not reproduced, and what else must be known of it: each reason once, with its rows."""
    found: dict[str, list[str]] = {}
    for row in table.rows:
        one = row.comparison
        if one.verdict is not ClaimVerdict.REPRODUCED:
            reason = one.reason.removesuffix(f"; {one.claim.note}")
            found.setdefault(f"{one.verdict}: {reason}", []).append(row.about)
        for note in filter(None, one.claim.note.split("; ")):
            found.setdefault(note, []).append(row.about)
    every = {row.about for row in table.rows}
    told = {
        reason: "all" if set(about) == every else ", ".join(dict.fromkeys(about))
        for reason, about in found.items()
    }
    return [f"{about}: {reason}" for reason, about in told.items()]


def status(cell: StatusCell) -> str:
    """`✓ ok 10`: printed, then how our runs ended; ≠ where that deviates."""
    ended = ", ".join(f"{verdict} {cell.ours[verdict]}" for verdict in Verdict if cell.ours[verdict])
    if not ended and cell.verdict is ClaimVerdict.NOT_COMPARABLE:
        ended = "no data"
    mark = MARKS.get(cell.printed, "")
    return f"{mark} {ended or NONE}{' ≠' if cell.verdict is ClaimVerdict.DEVIATES else ''}".strip()


def status_reasons(table: StatusTable) -> list[str]:
    """Why cells are not reproduced, with their number."""
    found = Counter(
        f"{cell.verdict}: {cell.reason}"
        for _, _, cells in table.rows
        for cell in cells
        if cell.verdict not in (None, ClaimVerdict.REPRODUCED)
    )
    return [f"{count} cell{'' if count == 1 else 's'}: {reason}" for reason, count in found.most_common()]


def figure_table(figures: Figures, number: str) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    """A figure as a table: head and rows."""
    return {"2b": _metrics, "3": _panels, "4": _times}[number](figures)


FIGURES = {
    "2b": "How the metrics go together: Spearman's rank correlation (R² of a linear regression)",
    "3": "The three best methods by mean, and the distributions of their values",
    "4": "Training times of the fastest three of the methods that are often among the best",
}


def _metrics(figures: Figures) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    head = ["metrics", *(f"{one.title} ({one.runs:,} runs)" for one in figures.correlograms), "verdict", "reason"]
    rows: list[tuple[str, ...]] = []
    for place, pair in enumerate(figures.correlograms[0].pairs if figures.correlograms else ()):
        found = [one.pairs[place] for one in figures.correlograms]
        about = f"{figures.title(pair.first)}, {figures.title(pair.second)}"
        verdict, reason = figures.agreement[place]
        rows.append((about, *(f"{one.rho:+.2f} ({one.r2:.2f})" for one in found), str(verdict), reason))
    return head, rows


def _panels(figures: Figures) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    head = ("metric", "split", "dataset", "best three, authors' files", "ours", "seeds", "verdict", "reason")
    rows: list[tuple[str, ...]] = []
    for panel in figures.panels:
        for best in panel.datasets:
            theirs, ours = (", ".join(map(figures.title, three)) or NONE for three in (best.published, best.ours))
            about = (figures.title(panel.metric), figures.title(panel.split), figures.title(best.dataset))
            rows.append((*about, theirs, ours, str(best.n), str(best.verdict), best.reason))
    return head, rows


def _times(figures: Figures) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    head = ("dataset", "method", "authors: wall seconds of training", "ours: CPU seconds of the whole run")
    rows: list[tuple[str, ...]] = []
    for times in figures.times:
        for method, theirs, ours in times.boxes:
            rows.append((figures.title(times.dataset), figures.title(method), _spread(theirs), _spread(ours)))
    return head, rows


def _spread(values: Array) -> str:
    """`12.3 (10.1 to 15.0; 46)`: median, least and most, of how many."""
    if not len(values):
        return NONE
    return f"{np.median(values):.3g} ({values.min():.3g} to {values.max():.3g}; {len(values)})"
