"""The status table: the planned matrix joined with the store and the scores, a verdict in every cell."""

from harness.status.footnotes import Footnotes
from harness.status.json_values import to_json
from harness.status.markdown import to_markdown
from harness.status.table import Group, ScoredCell, Table, build_table, known_sets, metric_sets, suite_jobs
from harness.status.terminal import show
from harness.status.text import to_text

__all__ = [
    "Footnotes",
    "Group",
    "ScoredCell",
    "Table",
    "build_table",
    "known_sets",
    "metric_sets",
    "show",
    "suite_jobs",
    "to_json",
    "to_markdown",
    "to_text",
]
