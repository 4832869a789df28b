"""What lies where in a crate: parts of a repository, a store, scores and data, each laid out as on a machine.

So a crate is read by the functions that read a repository and a store.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.base.vocabulary import Accelerator, Verdict
from harness.export.swhid import page_of
from harness.planning.cells import Cell
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import Plan
from harness.results.records import Record
from harness.results.store import Store
from harness.status import Table, build_table

METADATA = "ro-crate-metadata.json"
README = "README.md"
STATUS = ("status.json", "status.md")
SUITE = "suite.json"
SUMS = "SHA256SUMS"


class Extent(StrEnum):
    """What a crate holds of a run."""

    WHOLE = "records, logs, predictions, data and scores"
    WITHOUT_PREDICTIONS = "records, logs and scores"
    REFERENCE = "records and scores of reference results"


class Profile(StrEnum):
    """How a crate is described.

    As provenance, the suite is the workflow and the main entity. The profile of processes alone has no workflow:
    it recommends absolute names for all software, and a workflow must be a file of the crate.
    """

    PROVENANCE = "provenance"
    PROCESS = "process"


class SuiteCell(Strict):
    """A planned cell with the verdict that it had when it was packed."""

    job: Job
    planned: PlannedJob | None
    verdict: Verdict
    reason: str


class SuiteFile(Strict):
    """`suite.json`: the plan that the runs are of."""

    name: str
    extent: Extent
    profile: Profile
    # a digest of the code that describes a crate
    describer: str
    cells: list[SuiteCell]


@dataclass(frozen=True)
class CrateLayout(Layout):
    """The layout of a crate. The SDKs of benchmarks are those that lie in it."""

    @property
    def benchmarks(self) -> Path:
        """The packed part of the harness's packages of benchmarks."""
        return self.root / "harness" / "benchmarks"


def crate_layout(folder: Path) -> CrateLayout:
    """Where things lie in the crate of this folder."""
    return CrateLayout(root=folder / "repository", cache=folder / "data", local=folder)


def bill_path(method: str, accelerator: Accelerator) -> str:
    """The bill of materials of an image: every package in it, with its licence."""
    return f"materials/{method}.{accelerator}.cdx.json"


def relative_path(folder: Path, path: Path) -> str:
    """The name of a file in the crate of this folder."""
    return path.relative_to(folder).as_posix()


@dataclass(frozen=True)
class Contents:
    """The suite of a crate and the records of the runs that are in it, by key."""

    folder: Path
    suite: SuiteFile
    records: Mapping[str, Record]

    @property
    def layout(self) -> CrateLayout:
        """Where things lie."""
        return crate_layout(self.folder)

    @cached_property
    def tools(self) -> dict[str, str]:
        """The instrument of each method's runs: the folder of our code, by its content."""
        methods = sorted({record.planned.job.method for record in self.records.values()})
        return {method: page_of(self.layout.methods / method) for method in methods}

    @cached_property
    def images(self) -> list[tuple[str, Accelerator]]:
        """The methods that ran, and what each was computed on."""
        jobs = [record.planned.job for record in self.records.values()]
        return sorted({(job.method, job.accelerator) for job in jobs})

    @property
    def table(self) -> Table:
        """The status table, made from the records and the scores of the crate."""
        cells = tuple(
            Cell(one.job, one.planned, one.verdict, one.reason, self._content(one)) for one in self.suite.cells
        )
        plan = Plan(self.suite.name, cells)
        return build_table(self.layout, Store(self.layout.runs), plan, cells)

    def _content(self, cell: SuiteCell) -> dict[str, object]:
        key = cell.planned.key if cell.planned else ""
        return self.records[key].model_dump(mode="json") if key in self.records else {}


def read_suite(folder: Path) -> SuiteFile:
    """The suite of the crate in this folder."""
    path = folder / SUITE
    try:
        return SuiteFile.model_validate(json.loads(path.read_bytes()))
    except (OSError, ValueError, ValidationError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CorruptData(
            "this is no crate of Permafrost, or its suite can't be read",
            where=f"{path}: {reason}",
            todo="name the folder or the .zip that `harness export` wrote",
        ) from None
