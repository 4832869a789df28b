"""`study.toml` of a benchmark's package: its tables and figures, and how each is made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from harness import benchmarks
from harness.base.errors import unknown
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml
from harness.compare.claims import TABLES, load_printed, sheet_of
from harness.compare.names import PublishedNames
from harness.study.sheets import Sheet

FILE = "study.toml"
CLAIMS, GRID, COSTS = "claims", "grid", "costs"
GENERAL = (CLAIMS, GRID, COSTS)


class Cost(Strict):
    """A quantity that depends on the hardware, with a column and heading for each side."""

    metric: str
    printed: str
    ours: str
    quantity: Literal["cpu_s", "memory"]
    unit: float = Field(gt=0, allow_inf_nan=False)
    digits: int = Field(default=0, ge=0)


class SheetPart(Strict):
    """A metric on a dataset in a figure; `table`: the table with the printed numbers, if there is one."""

    dataset: str
    metric: str
    table: str = ""


class Spec(Strict):
    """One table or figure, with published names of datasets, splits and metrics.

    `made`: a sheet of `claims` has a row per claim, one of `grid` or `costs` a row per method or as `rows` says.
    All other words stand for the benchmark's own code.
    """

    kind: Literal["table", "figure"]
    number: str
    title: str
    made: str
    legend: str = ""
    notes: list[str] = []
    # the layout on the page
    style: str = ""
    # whether the paper prints numbers in it
    printed: bool = True
    # the suite that makes its runs; named if there is no run yet
    suite: str = ""
    # of a grid: its first columns with their headings, and the axes of all other columns
    rows: dict[Literal["category", "dataset", "method", "split"], str] = {}
    columns: list[Literal["method", "metric", "split"]] = []
    # marks by the printed word for how runs ended; with marks, the entries of a grid are how runs ended
    marks: dict[str, str] = {}
    costs: list[Cost] = []
    # whether each split also has the mean over its metrics, and the rank
    averages: bool = False
    dataset: str = ""
    # a heading for each split and metric
    splits: dict[str, str] = {}
    metrics: dict[str, str] = {}
    # the beginnings of metrics' names
    settings: list[str] = []
    parts: list[SheetPart] = []

    @property
    def label(self) -> str:
        """`Table 10`."""
        return f"{self.kind.capitalize()} {self.number}"

    @model_validator(mode="after")
    def _says_what_it_is_of(self) -> Spec:
        if self.made in (GRID, COSTS) and not self.rows:
            raise ValueError(f"sheet {self.number}, made as '{self.made}', says nothing of its rows")
        if self.made == GRID and not (self.columns and (self.metrics or self.marks)):
            raise ValueError(f"sheet {self.number}, a grid, has columns, and either metrics or marks")
        if self.made == COSTS and not ([*self.rows] == ["method"] and self.costs and len(self.splits) == 1):
            raise ValueError(f"sheet {self.number}, of costs, has rows of methods, and one split")
        return self

    def sheet(self, head: Sequence[str], rows: Sequence[Sequence[str]], **more: Any) -> Sheet:
        """The sheet with these rows; `notes` are added to its own. A figure without rows names its suite."""
        notes, legend = [*self.notes, *more.pop("notes", ())], self.legend
        if self.kind == "figure" and self.suite and not rows:
            notes, legend = [f"No run yet: `harness run --suite {self.suite}` makes them."], ""
        more |= {"notes": notes, "legend": legend, "style": self.style}
        return Sheet(self.kind, self.number, self.title, head, rows, **more)


class Description(Strict):
    """The content of `study.toml`. `columns`: their meaning in tables of claims; `categories`: of the methods."""

    columns: str = ""
    categories: dict[str, str] = {}
    sheets: list[Spec]


def load_description(layout: Layout, names: PublishedNames, makers: Iterable[str]) -> Description | None:
    """The description of a benchmark's study, if it has one; unknown names are refused."""
    path = benchmarks.folder(names.benchmark) / FILE
    if not path.is_file():
        return None
    description = load_toml(path, Description)
    printed = {sheet_of(row) for row in load_printed(layout.published / names.benchmark / TABLES)}
    metrics = [metric.published for metric in names.metrics]
    for place, spec in enumerate(description.sheets):
        checks: list[tuple[str, Iterable[str], Collection[str]]] = [("made", [spec.made], [*GENERAL, *makers])]
        if spec.made in GENERAL:
            checks += [
                ("number", [spec.label] if spec.printed else [], printed),
                ("dataset", filter(None, [spec.dataset]), names.datasets),
                ("splits", spec.splits.values(), names.splits),
                ("metrics", spec.metrics.values(), metrics),
            ]
        for field, names_used, known in checks:
            for name in names_used:
                if name not in known:
                    raise unknown(field, name, known, where=f"{path}: sheets.{place}.{field}")
    return description
