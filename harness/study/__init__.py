"""The study of a paper, made again: its tables and figures from our runs beside the published ones."""

from harness.study.figures import Figures
from harness.study.render import to_json, to_markdown, to_text
from harness.study.tables import Row, StatusTable, Table
from harness.study.whole import Study, make_study

__all__ = [
    "Figures",
    "Row",
    "StatusTable",
    "Study",
    "Table",
    "make_study",
    "to_json",
    "to_markdown",
    "to_text",
]
