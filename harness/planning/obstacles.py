"""Obstacles: why cells have no run, kept beside the runs, so that a table can say it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.base.files import write_atomic
from harness.base.vocabulary import Verdict
from harness.planning.jobs import Job

# a run is named by its key, whatever failed in the harness itself
Kind = Literal["dataset", "method", "variant", "run"]

FOLDER = ".obstacles"


@dataclass(frozen=True)
class Obstacles:
    """Notes under a store's folder: a dataset that is nowhere, an image that can't be built, a fault of ours."""

    store: Path

    def note(self, kind: Kind, name: str, reason: str, *, trace: str = "") -> None:
        """Remember why `name` stands in the way, and for a person who looks into it, where in the code."""
        if trace:
            write_atomic(self.trace_path(kind, name), trace)
            reason += f" (trace: {self.trace_path(kind, name).relative_to(self.store.parent)})"
        write_atomic(self._path(kind, name), reason)

    def clear(self, kind: Kind, name: str) -> None:
        """Remove the note and its trace."""
        for path in (self._path(kind, name), self.trace_path(kind, name)):
            path.unlink(missing_ok=True)

    def trace_path(self, kind: Kind, name: str) -> Path:
        """Where the trace of a failure lies."""
        return self._path(kind, name).with_suffix(".trace")

    def all(self, kind: Kind) -> dict[str, str]:
        """Every name of a kind with its reason."""
        found = {}
        for path in sorted((self.store / FOLDER / kind).glob("*.txt")):
            # a campaign may clear it meanwhile; a named pipe is no note, and would be waited for
            with suppress(FileNotFoundError):
                if path.is_file():
                    found[path.stem] = path.read_text(encoding="utf-8")
        return found

    def _path(self, kind: Kind, name: str) -> Path:
        return self.store / FOLDER / kind / f"{name}.txt"


@dataclass(frozen=True)
class ObstacleNotes:
    """All notes, read once for many cells."""

    datasets: dict[str, str]
    methods: dict[str, str]
    variants: dict[str, str]
    runs: dict[str, str]

    @classmethod
    def of(cls, store: Path) -> ObstacleNotes:
        """The notes of one store."""
        obstacles = Obstacles(store)
        return cls(
            obstacles.all("dataset"), obstacles.all("method"), obstacles.all("variant"), obstacles.all("run")
        )

    def before(self, job: Job) -> tuple[Verdict, str] | None:
        """The verdict and the reason of a job that was never run; None where nothing stands in its way."""
        if job.dataset in self.datasets:
            return Verdict.MISSING_DATA, self.datasets[job.dataset]
        if reason := self.methods.get(image_of(job)):
            return Verdict.INFRASTRUCTURE, reason
        if reason := self.variants.get(variant_of(job)):
            return Verdict.INFRASTRUCTURE, reason
        return None


def image_of(job: Job) -> str:
    """The name under which obstacles of a method's image are noted: it has one for each accelerator."""
    return job.method if job.accelerator == "cpu" else f"{job.method}-{job.accelerator}"


def variant_of(job: Job) -> str:
    """The name under which obstacles of one variant are noted."""
    return f"{image_of(job)}-{job.variant}"
