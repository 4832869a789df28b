"""Methods beside each other on one metric: means, ranks, and tests over common seeds and datasets."""

from harness.contest.contest import Contest, Entry, Mark, hold_contest
from harness.contest.picture import draw
from harness.contest.request import ContestRequest, contest_plan, metric_of
from harness.contest.rows import COLUMNS, rows_of, to_json
from harness.contest.text import to_csv, to_latex, to_markdown, to_text

__all__ = [
    "COLUMNS",
    "Contest",
    "ContestRequest",
    "Entry",
    "Mark",
    "contest_plan",
    "draw",
    "hold_contest",
    "metric_of",
    "rows_of",
    "to_csv",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_text",
]
