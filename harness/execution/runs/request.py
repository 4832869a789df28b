"""What one run needs, complete in itself: it can be pickled, sent elsewhere and executed there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from harness import benchmarks
from harness.benchmarks.method_report import METHOD

MIB, GIB = 1 << 20, 1 << 30
# Process 1 of every image: what names an entry point of its own puts this first.
INIT = ("/usr/bin/tini-static", "--")


@dataclass(frozen=True)
class Limits:
    """Bounds of one run. Whatever is exceeded ends the run with its own verdict."""

    seconds: float
    memory_bytes: int
    processes: int = 256
    output_bytes: int = GIB
    output_files: int = 10_000
    scratch_bytes: int = 256 * MIB
    log_bytes: int = MIB
    cpus: float = 1.0
    gpus: tuple[str, ...] = ()
    # between the polite signal and the one that cannot be refused
    grace_seconds: float = 5.0


@dataclass(frozen=True)
class Mount:
    """A further read-only folder, for example a user's own checkout of the authors' code."""

    source: Path
    target: str


@dataclass(frozen=True)
class RunRequest:
    """One execution of one image on one folder of inputs.

    The image is taken by its id, never by its name, so what runs is what was planned. `work` is where the
    run's own folders are made; `required` are files without which a run that ends well is still invalid.
    """

    image: str
    image_id: str
    in_folder: Path
    work: Path
    limits: Limits
    seed: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    entrypoint: tuple[str, ...] | None = None
    command: tuple[str, ...] | None = None
    required: tuple[str, ...] = (METHOD,)
    # with `trace/*.npy` where traces are asked for, all that is taken out of /out; the rest is named and dropped
    expected: tuple[str, ...] = (METHOD,)
    traces: bool = False


class AnswerFiles(TypedDict):
    """What a run is to write, as arguments of a `RunRequest`."""

    required: tuple[str, ...]
    expected: tuple[str, ...]


REPORT_ALONE: AnswerFiles = {"required": (METHOD,), "expected": (METHOD,)}


def answer_files(benchmark: str) -> AnswerFiles:
    """The files of an answer to a benchmark's jobs, and the report that is written last."""
    files = benchmarks.get(benchmark)
    return {"required": files.required_files, "expected": (*(file.name for file in files.answer_files), METHOD)}
