"""Trials: runs on made-up inputs, beside the plan and the store. Golden cases and self-tests are trials.

A trial goes through the method's real image and the same isolation as any other run; only its inputs are given
as arrays instead of coming from a dataset, and nothing of it is kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from harness import benchmarks
from harness.base.files import write_json
from harness.base.heartbeat import activity
from harness.base.input_files import write_given
from harness.base.layout import Layout
from harness.base.logs import log_tail
from harness.base.vocabulary import Verdict
from harness.engine import Engine, find_engine
from harness.execution.inputs import job_document
from harness.execution.runs import REPORT_ALONE, Mount, RunRequest, answer_files, execute
from harness.execution.runs.workspace import make_readable, temporary_folders
from harness.execution.tasks import limits_of, read_answer
from harness.images import Supply, ensure_image
from harness.images.identity import parity_folders
from harness.images.sources import code_files
from harness.methods.card import MethodCard
from harness.planning.jobs import Job
from harness.splits.spec import SplitSpec

_LOG_TAIL = 2000
_PARITY = "/opt/parity"


@dataclass(frozen=True)
class Trial:
    """One method, arrays for its inputs, and how to run it."""

    card: MethodCard
    benchmark: str
    # arrays, or texts
    inputs: Mapping[str, Any]
    parameters: Mapping[str, Any]
    seed: int
    variant: str = "published"
    options: Mapping[str, int] = field(default_factory=dict)
    task: str = "predict"
    trace: bool = False
    # whether predictions are asked for; a golden case may be about a step of training, and leave traces only
    answers: bool = True


@dataclass(frozen=True)
class Result:
    """How a trial ended; `out` holds what it wrote until the trial's block ends."""

    verdict: Verdict
    reason: str
    out: Path
    wall_s: float
    ignored: tuple[str, ...] = ()


Runner = Callable[[Trial], AbstractContextManager[Result]]


def write_trial(trial: Trial, folder: Path) -> None:
    """Fill `folder` with what will be mounted at /in."""
    descriptions = {name: write_given(folder, name, value) for name, value in trial.inputs.items()}
    job = Job(
        benchmark=trial.benchmark,
        method=trial.card.name,
        variant=trial.variant,
        parameters=dict(trial.parameters),
        dataset="trial",
        split=SplitSpec(strategy="trial", seed=trial.seed),
        options=dict(trial.options),
    )
    document = job_document(job, trial.card, descriptions, seed=trial.seed, trace=trial.trace)
    write_json(folder / "job.json", {**document, "task": trial.task})


def check_answer(trial: Trial, out: Path) -> None:
    """Raise `InvalidPredictions` unless a trial's answer has the form that the benchmark asks for."""
    if trial.answers:
        read_answer(benchmarks.get(trial.benchmark).asked_in(trial.inputs, trial.options), out)


@contextmanager
def on_demand(layout: Layout, *, install: bool = False, mirrors: Sequence[Path] = ()) -> Iterator[Runner]:
    """Runs trials with an engine that the first of them asks for: metrics and splits need none."""
    with ExitStack() as stack:

        @cache
        def runner() -> Runner:
            return InContainers(layout, stack.enter_context(find_engine(layout, install=install)), mirrors)

        yield lambda trial: runner()(trial)


class InContainers:
    """Runs trials in the methods' own containers. Each image is ensured once, with parts from `mirrors`."""

    def __init__(self, layout: Layout, engine: Engine, mirrors: Sequence[Path] = ()) -> None:
        self._layout = layout
        self._engine = engine
        self._image = cache(partial(ensure_image, engine, layout, supply=Supply(mirrors)))

    @contextmanager
    def __call__(self, trial: Trial) -> Iterator[Result]:
        image = self._image(trial.card.name)
        work = self._layout.local / "work"
        with temporary_folders(work, "in", "parity") as (folder, parity):
            write_trial(trial, folder)
            request = RunRequest(
                image=image.name,
                image_id=image.image_id,
                in_folder=folder,
                work=work,
                limits=limits_of(trial.card),
                seed=trial.seed,
                # a case of single steps leaves traces alone
                **(answer_files(trial.benchmark) if trial.answers else REPORT_ALONE),
                traces=trial.trace,
                **self._replay(trial, parity),
            )
            with activity(f"{trial.task} with {trial.card.name}"):
                outcome = execute(self._engine, request, check=lambda out: check_answer(trial, out))
            reason = outcome.reason
            if outcome.verdict is Verdict.ERROR:
                reason += "\n" + log_tail(outcome.log, _LOG_TAIL)
            try:
                yield Result(outcome.verdict, reason, outcome.out_folder, outcome.wall_s, outcome.ignored)
            finally:
                outcome.discard()

    def _replay(self, trial: Trial, folder: Path) -> dict[str, Any]:
        """The mount and search path of what replays golden cases, collected in `folder`: no image holds it."""
        if trial.task == "predict":
            return {}
        for source in parity_folders(self._layout, trial.card):
            for name in code_files(source):
                shutil.copyfile(source / name, folder / name)
        make_readable(folder)
        return {"mounts": (Mount(folder, _PARITY),), "environment": {"PYTHONPATH": f"/opt/sdk:{_PARITY}"}}
