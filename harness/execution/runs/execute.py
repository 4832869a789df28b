"""A run from request to outcome: attempts, until one ends for a reason of the method's own.

Only what may be the engine's or the machine's doing is repeated, a bounded number of times, each time in a fresh
workspace and with the engine found again. What a method does is never repeated: a second try would hide what
the first showed.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.base.errors import EngineError, ImageError, InvalidPredictions, UsageError
from harness.base.foreign_text import printable, shortened
from harness.base.vocabulary import Verdict
from harness.engine.engine import Engine
from harness.engine.leftovers import remove_stubborn
from harness.engine.orphans import discard_run
from harness.execution.runs.attempt import ImageGone, Observed, run_once
from harness.execution.runs.classify import ATTEMPTS, Stop, classify, is_unexplained_kill
from harness.execution.runs.faults import engine_faults, explain
from harness.execution.runs.outcome import Attempt, Outcome
from harness.execution.runs.request import RunRequest
from harness.execution.runs.user import container_user
from harness.execution.runs.workspace import make_readable, new_workspace

log = logging.getLogger(__name__)

_PAUSES = (0.5, 2.0)
# an engine may answer and yet need some seconds until it can start a container again
_PAUSES_OF_ENGINES = (1.0, 10.0)


def execute(
    engine: Engine,
    request: RunRequest,
    *,
    check: Callable[[Path], object] | None = None,
    stop: threading.Event | None = None,
    patience: float = 60.0,
) -> Outcome:
    """Run a request and say how it ended; raises only where no run was possible at all."""
    _check_request(request)
    stop = stop or threading.Event()
    attempts: list[Attempt] = []
    kills = failed_starts = 0
    # an engine that came back may be gone again when it is asked what it has left
    lost: tuple[type[Exception], ...] = (EngineError, *engine_faults())
    while True:
        workspace = new_workspace(request.work, container_user(engine.facts, uid=os.geteuid(), gid=os.getegid()))
        try:
            observation = run_once(engine, request, workspace, stop)
            observation.signs = replace(observation.signs, earlier_kills=kills)
            verdict, reason = _judge(observation, check)
        except ImageGone as gone:
            workspace.discard()
            if len(attempts) + 1 >= ATTEMPTS or not _find_again(engine, request, patience):
                raise _image_error(engine, request) from gone
            attempts.append(Attempt(Verdict.INFRASTRUCTURE, f"the image was gone: {gone}", 0.0))
            continue
        except BaseException:
            workspace.discard()
            raise
        kills += is_unexplained_kill(observation.signs)
        attempts.append(Attempt(verdict, reason, observation.wall_s))
        # a laden engine was seen to start a container without the files of its image, and the next one with them
        failed_starts += bool(observation.signs.start_fault)
        may_change = verdict is Verdict.INFRASTRUCTURE or (observation.signs.start_fault and failed_starts == 1)
        # a full disk does not get emptier by trying again
        disk_is_full = observation.signs.stopped is Stop.DISK or observation.signs.disk_fault
        if not may_change or len(attempts) >= ATTEMPTS or disk_is_full:
            break
        log.warning("attempt %d of %d failed: %s", len(attempts), ATTEMPTS, reason)
        pauses = _PAUSES_OF_ENGINES if observation.signs.engine_fault else _PAUSES
        stop.wait(pauses[min(len(attempts), len(pauses)) - 1])
        try:
            engine.renew(patience=patience)
            # the engine may have come back with the lost container still running
            discard_run(engine, workspace.name)
        except lost as error:
            reason = f"{reason}; {error.what if isinstance(error, EngineError) else explain(error)}"
            break
        workspace.discard()
    remove_out(observation)
    return _outcome(engine, request, observation, verdict, reason, attempts)


def remove_out(observation: Observed) -> None:
    """Remove the folders that were mounted; the answer has been copied out of them."""
    for place in (observation.workspace.out, observation.workspace.shown):
        for left in remove_stubborn(place):
            log.warning("could not be removed: %s", left)


def _check_request(request: RunRequest) -> None:
    if not request.image_id.startswith("sha256:"):
        raise ImageError(
            f"an image is run by its id, not by a name: {request.image_id!r}",
            where=request.image,
            todo="give the id that the build recorded",
        )
    if not request.in_folder.is_dir():
        raise UsageError("the folder of inputs is missing", where=str(request.in_folder), todo="make it first")
    make_readable(request.in_folder)


def _judge(observation: Observed, check: Callable[[Path], object] | None) -> tuple[Verdict, str]:
    """The verdict and its reason; the benchmark's check is made only where all signs are good.

    A reason may quote what a method wrote, so it is made fit for a table: printable, and bounded.
    """
    verdict, reason = classify(observation.signs)
    if verdict is Verdict.OK and check is not None:
        try:
            check(observation.workspace.collected)
        except InvalidPredictions as fault:
            verdict, reason = classify(replace(observation.signs, output_fault=str(fault)))
    return verdict, shortened(printable(reason))


def _find_again(engine: Engine, request: RunRequest, patience: float) -> bool:
    """Whether the image is there once the engine was found again."""
    engine.renew(patience=patience)
    return engine.image_id(request.image_id) is not None


def _image_error(engine: Engine, request: RunRequest) -> ImageError:
    now = engine.image_id(request.image)
    state = f"its name now stands for {now}" if now else "nor any image of its name"
    return ImageError(
        f"the engine does not have the image that was planned ({state})",
        where=f"{request.image} {request.image_id}",
        todo="build it again (harness image build); if it then differs, its environment or code has changed",
    )


def _outcome(
    engine: Engine,
    request: RunRequest,
    observation: Observed,
    verdict: Verdict,
    reason: str,
    attempts: list[Attempt],
) -> Outcome:
    limit_kept = observation.memory_limit_kept
    warnings = [*engine.facts.warnings, *observation.warnings]
    if limit_kept is False:
        warnings.append("the kernel held no memory limit for this run")
    return Outcome(
        verdict=verdict,
        reason=reason,
        exit_code=observation.signs.exit_code,
        oom_flag=observation.signs.oom_flag,
        oom_kills=observation.oom_kills,
        wall_s=round(observation.wall_s, 4),
        ran_s=observation.signs.ran_s,
        paused_s=round(observation.signs.paused_s, 4),
        cpu_s=observation.cpu_s,
        peak_bytes=observation.peak_bytes,
        memory_limit_enforced=engine.facts.memory_limit_enforced if limit_kept is None else limit_kept,
        confinement=observation.confinement,
        started=observation.started,
        log=observation.workspace.log,
        log_bytes=observation.log_bytes,
        log_cut_bytes=observation.log_cut_bytes,
        out_folder=observation.workspace.collected,
        output_bytes=observation.collection.bytes,
        ignored=observation.collection.ignored,
        engine=engine.facts,
        image_id=request.image_id,
        attempts=tuple(attempts),
        warnings=tuple(dict.fromkeys(warnings)),
        folder=observation.workspace.folder,
    )
