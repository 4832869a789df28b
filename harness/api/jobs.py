"""Jobs by hand: the folder of one job for a container that a person starts, and what came out of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import benchmarks
from harness.api.repository import Repository, opened
from harness.base.errors import UsageError
from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.benchmarks.order import PUBLISHED
from harness.engine import find_engine
from harness.execution.kit import HandMade, Kit, judge_by_hand, refuse_taken, write_kit
from harness.handles import find_handle
from harness.images import image_tree
from harness.planning.commands import command_of_stored
from harness.planning.plan import Plan, pinned
from harness.results.reference import find_reference


@dataclass(frozen=True)
class CheckedByHand:
    """An answer that was made by hand; `equal`: whether it is that of the run `key`, None where there is none."""

    key: str
    answer: HandMade
    equal: bool | None

    @property
    def is_good(self) -> bool:
        """Whether it is an answer, and not another one than that of the run."""
        return not self.answer.fault and self.equal is not False


def write_job(
    job: str | Plan,
    folder: Path | str,
    *,
    upstream: Path | str | None = None,
    repository: Repository | None = None,
) -> Kit:
    """All that the container of one job needs, in a new folder, and the line that starts it.

    `job` is the beginning of the key of a run, made here or committed, or a plan of one cell. `upstream` is the
    checkout that such a run had in place of our code.
    """
    refuse_taken(Path(folder).absolute())
    here = opened(repository)
    order = None
    if isinstance(job, str):
        handle = find_handle(here.layout, here.store, job)
        planned, order = handle.planned, str(handle.content.get("order", PUBLISHED))
        now = image_tree(here.layout, planned.job.method, planned.job.accelerator)
        if planned.image_tree != now:
            today = command_of_stored(here.layout, planned.job)
            writes = today.replace("harness run", f"harness job write {shlex.quote(str(folder))}")
            raise UsageError(
                f"run {handle.key[:12]} is of other code than this tree holds",
                where=f"{planned.job.label}: image tree {planned.image_tree[:16]}, now {now[:16]}",
                todo=f"check out the code of then, or write the job of today: {writes}",
            )
    else:
        if len(job.cells) != 1:
            raise UsageError(
                f"asked for: {counted(len(job.cells), 'cell')}, and a folder holds one job",
                where=", ".join(cell.job.label for cell in job.cells[:4]),
                todo="name one method, dataset, split and seed",
            )
        planned = pinned(job.cells[0])
    with find_engine(here.layout, install=here.install, runtime=here.runtime) as engine:
        return write_kit(
            here.layout,
            engine,
            planned,
            Path(folder),
            order=order,
            mirrors=here.mirrors,
            upstream=Path(upstream) if upstream is not None else None,
        )


def check_job(folder: Path | str, *, repository: Repository | None = None) -> CheckedByHand:
    """Whether the container of a written job left an answer, and whether it is that of the run with its key."""
    here = opened(repository)
    answer = judge_by_hand(here.layout, Path(folder), here.mirrors)
    key = answer.note.planned.key
    recorded = _answer_of(here, answer.note.planned.job.benchmark, key)
    equal = None if recorded is None or answer.fault else answer.files == recorded
    return CheckedByHand(key, answer, equal)


def _answer_of(here: Repository, benchmark: str, key: str) -> dict[str, str] | None:
    """The sha256 of the answer of the good run with this key, made here or committed; None where there is none."""
    run = here.store.standing(key)
    content: Mapping[str, Any] = run.content
    if run.verdict is not Verdict.OK:
        committed = find_reference(here.layout, key).get(key)
        if committed is None or committed.content["verdict"] != Verdict.OK:
            return None
        content = committed.content
    names, files = benchmarks.get(benchmark).compared_files, content["files"]
    return {name: files[name]["sha256"] for name in names if name in files}
