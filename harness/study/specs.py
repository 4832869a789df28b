"""`study.toml` of a benchmark's package: its tables and figures, each by how it is made and what of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from harness import benchmarks
from harness.base.errors import unknown
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml
from harness.compare.claims import TABLES, load_printed
from harness.compare.names import PublishedNames
from harness.study.sheets import Sheet

FILE = "study.toml"
CLAIMS, GRID, COSTS = "claims", "grid", "costs"
GENERAL = (CLAIMS, GRID, COSTS)


class Cost(Strict):
    """A quantity that depends on the hardware: both sides stand beside each other, each under its heading."""

    metric: str
    printed: str
    ours: str
    quantity: Literal["cpu_s", "memory"]
    unit: float = Field(gt=0)
    digits: int = Field(default=0, ge=0)


class SheetPart(Strict):
    """A metric on a dataset in a figure; `table` has the printed numbers, where one does."""

    dataset: str
    metric: str
    table: str = ""


class Spec(Strict):
    """One table or figure. Names of datasets, splits and metrics are published ones.

    `made`: `claims` has a row per claim, `grid` and `costs` have one per method or what else `rows` names; all
    other ways are the benchmark's own code.
    """

    kind: Literal["table", "figure"]
    number: str
    title: str
    made: str
    legend: str = ""
    notes: list[str] = []
    # how the page lays it out
    style: str = ""
    # which suite makes its runs: said where there is none yet
    suite: str = ""
    # of a grid: what stands in its first columns, with their headings, and what in all others
    rows: dict[Literal["category", "dataset", "method", "split"], str] = {}
    columns: list[Literal["method", "metric", "split"]] = []
    # printed words of how runs ended, and the mark that stands for each: then the entries are these
    marks: dict[str, str] = {}
    costs: list[Cost] = []
    # of each split the mean over its metrics, and the place that it gives
    averages: bool = False
    dataset: str = ""
    # a heading for each split and metric
    splits: dict[str, str] = {}
    metrics: dict[str, str] = {}
    # what a metric's name begins with
    settings: list[str] = []
    parts: list[SheetPart] = []

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
        """It, made; notes are added to its own. A figure without rows says which suite makes its runs."""
        notes, legend = [*self.notes, *more.pop("notes", ())], self.legend
        if self.kind == "figure" and self.suite and not rows:
            notes, legend = [f"No run yet: `harness run --suite {self.suite}` makes them."], ""
        return Sheet(
            self.kind,
            self.number,
            self.title,
            head,
            rows,
            notes=notes,
            legend=legend,
            style=self.style,
            **more,
        )


class Description(Strict):
    """The whole file. `columns`: what those of tables of claims mean; `categories`: of the paper's methods."""

    columns: str = ""
    categories: dict[str, str] = {}
    sheets: list[Spec]


def load_description(layout: Layout, names: PublishedNames, makers: Iterable[str]) -> Description | None:
    """What the study of a benchmark shows, where it has one; a name that nobody knows is refused."""
    path = benchmarks.folder(names.benchmark) / FILE
    if not path.is_file():
        return None
    description = load_toml(path, Description)
    printed = {row["table"] for row in load_printed(layout.published / names.benchmark / TABLES)}
    metrics = [metric.published for metric in names.metrics]
    for place, spec in enumerate(description.sheets):
        checks: list[tuple[str, Iterable[str], Collection[str]]] = [("made", [spec.made], [*GENERAL, *makers])]
        if spec.made in GENERAL:
            checks += [
                ("number", [spec.number], printed),
                ("dataset", filter(None, [spec.dataset]), names.datasets),
                ("splits", spec.splits.values(), names.splits),
                ("metrics", spec.metrics.values(), metrics),
            ]
        for field, used, known in checks:
            for name in used:
                if name not in known:
                    raise unknown(field, name, known, where=f"{path}: sheets.{place}.{field}")
    return description
