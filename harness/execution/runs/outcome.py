"""How a run ended, and everything that was observed on the way."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from harness.base.vocabulary import Verdict
from harness.engine.confinement import Confinement
from harness.engine.facts import EngineFacts
from harness.engine.leftovers import remove_stubborn

_PATHS = ("log", "out_folder", "folder")


@dataclass(frozen=True)
class Attempt:
    """One try; more than one only where the engine failed."""

    verdict: Verdict
    reason: str
    wall_s: float


@dataclass(frozen=True)
class Outcome:
    """The verdict of one run with its evidence. `folder` holds `log` and `out_folder` until discarded.

    `wall_s` is by the harness's clock, from making the container to removing it; `ran_s` is how long the container
    itself ran, by the engine's stamps and the kernel's word, and `paused_s` how much of it somebody held it still.
    """

    verdict: Verdict
    reason: str
    exit_code: int | None
    oom_flag: bool
    oom_kills: int | None
    wall_s: float
    ran_s: float | None
    paused_s: float
    cpu_s: float | None
    peak_bytes: int | None
    memory_limit_enforced: bool | None
    confinement: Confinement | None
    started: str
    log: Path
    log_bytes: int
    log_cut_bytes: int
    out_folder: Path
    output_bytes: int
    ignored: tuple[str, ...]
    engine: EngineFacts
    image_id: str
    attempts: tuple[Attempt, ...]
    warnings: tuple[str, ...]
    folder: Path

    @property
    def ok(self) -> bool:
        """Whether the predictions may be stored."""
        return self.verdict is Verdict.OK

    def as_json(self) -> dict[str, Any]:
        """Plain values for a record; paths, which mean nothing elsewhere, are left out."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _PATHS}
        return values | {
            "verdict": str(self.verdict),
            "confinement": None if self.confinement is None else self.confinement.as_json(),
            "ignored": list(self.ignored),
            "engine": self.engine.as_json(),
            "attempts": [{**asdict(one), "verdict": str(one.verdict)} for one in self.attempts],
            "warnings": list(self.warnings),
        }

    def discard(self) -> None:
        """Remove the run's folder, once its files were stored or are not wanted."""
        remove_stubborn(self.folder)
