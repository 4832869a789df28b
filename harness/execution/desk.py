"""Errands on a cluster: handed to its workers a bounded number at a time, and taken in again.

The scheduler gets few tasks at a time, so that it never holds the plan; each is one errand, or several short ones.
It sees to it that each worker has the CPUs and the memory for what it runs. An errand whose worker was lost is
handed out again, and one that the machine failed to another worker, a bounded number of times. What was run twice,
the store has once.
"""

from __future__ import annotations

import math
import queue
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base.errors import EngineError
from harness.base.few import few
from harness.base.vocabulary import Verdict
from harness.execution.bulletins import IllWorker
from harness.execution.cluster import Cluster, resources_of
from harness.execution.errands import Course, Errand, Return, enough_file, hosts_of
from harness.execution.health import Health
from harness.execution.line import Line, Turn
from harness.execution.parcels import carry_out_each, pack
from harness.execution.turns import CampaignState, count_failures
from harness.planning.obstacles import Obstacles

# How often a run is handed out whose worker is lost, or fails, each time.
_TIMES = 4
# Tasks that the scheduler holds for each that can be running.
_AHEAD = 2
_LOOK_S = 0.5
# For so long another worker may come in the place of a lost one.
_ANOTHER_S = 60.0
# Workers that a message names.
_NAMED = 3


@dataclass
class Counts:
    """What became of all that was handed out, for the summary."""

    courses: Counter[Course] = field(default_factory=Counter)
    lost: int = 0
    ill: list[IllWorker] = field(default_factory=list)

    def text(self, address: str) -> str:
        """One line, and one for each worker that was given nothing more."""
        parts = [
            f"{self.courses[Course.RUN]} runs",
            f"{self.courses[Course.FOUND]} found in the store when their turn came",
            f"{self.courses[Course.DUPLICATE]} made twice, of which the first stays",
            f"{self.lost} lost with their worker",
        ]
        ill = (f"{one.host}: {one.text()}" for one in self.ill)
        return "\n".join([f"on {address}: {', '.join(parts)}", *ill])


def hand_out(cluster: Cluster, errands: Iterable[Errand], count: int, state: CampaignState, wanted: Path) -> None:
    """Have every one of so many errands carried out; returns when all have ended, or were left: a person stops.

    An errand is made when its turn comes: there may be a million. `EngineError` where no worker can go on.
    """
    state.progress.begin(f"runs on {cluster.address}", count)
    desk = _Desk(cluster, state, wanted, count)
    try:
        left = desk.run(errands, patient=False)
        # what another harness is running is looked at when all else has run
        desk.run(left, patient=True)
        desk.check()
    finally:
        desk.close()
        state.progress.note(desk.counts.text(cluster.address))


@dataclass
class _Handed:
    """A task of the scheduler: some turns, and the workers that it is meant for, if it is not for all."""

    turns: list[Turn]
    future: Any
    meant_for: Sequence[str] = ()
    # the turns that have begun, as far as was seen
    seen: int = 0


class _Desk:
    """Hands errands out and takes returns in, a bounded number at a time."""

    def __init__(self, cluster: Cluster, state: CampaignState, wanted: Path, count: int) -> None:
        self._cluster, self._state, self._wanted = cluster, state, wanted
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._out: dict[str, _Handed] = {}
        self._workers = {worker.address: worker for worker in cluster.workers()}
        self._seen_worker = time.monotonic()
        # when a worker was seen to be gone, in whose place another may come
        self._missed = -math.inf
        self._number, self._left = 0, count
        self._health = Health()
        # the machines that workers are on, as far as they have said
        self._hosts: dict[str, str] = {}
        self.counts = Counts()

    def run(self, errands: Iterable[Errand], *, patient: bool) -> list[Errand]:
        """Carry them out; what another harness is running is asked for again if `patient`, else it is returned."""
        line, elsewhere = Line(errands), list[Errand]()
        looked = see = 0.0
        while line or self._out:
            if self._state.is_ending():
                line.close()
                enough_file(self._wanted).touch()
            if self._state.stop.is_set():
                self._wanted.unlink(missing_ok=True)
            if time.monotonic() - looked > 10 * _LOOK_S:
                self._look()
                looked = time.monotonic()
            if time.monotonic() > see:
                began = time.monotonic()
                self._see_what_began()
                # of many workers there is much to read: it takes a twentieth of the time at most
                see = time.monotonic() + max(2 * _LOOK_S, 20 * (time.monotonic() - began))
            self._fill(line)
            try:
                handed = self._out.pop(self._ended.get(timeout=_LOOK_S))
            except queue.Empty:
                continue
            self._take_back(handed, line, patient=patient, elsewhere=elsewhere)
        return elsewhere

    def check(self) -> None:
        """`EngineError` if runs of several methods failed in a row, wherever they were tried."""
        if self._state.is_broken:
            raise self._none_left("runs of several methods failed in a row, wherever they were tried")

    def close(self) -> None:
        """Ask nothing more of the scheduler."""
        for handed in self._out.values():
            handed.future.cancel()

    def _see_what_began(self) -> None:
        for handed in self._out.values():
            while handed.seen < len(handed.turns):
                turn = handed.turns[handed.seen]
                if len(hosts := hosts_of(turn.errand)) <= turn.begun:
                    break
                if handed.seen:
                    # one after the other: the one before has ended, and comes back with them all
                    self._state.tally.left(handed.turns[handed.seen - 1].errand.planned.key)
                self._state.tally.begun(turn.errand.planned.key, turn.errand.planned.job.label, hosts[-1])
                handed.seen += 1

    def _look(self) -> None:
        """See which workers are there; `EngineError` where none has been that could do anything for a while."""
        if self._cluster.client.status != "running":
            raise self._gone("the scheduler does not answer any more")
        before = set(self._workers)
        self._workers = {worker.address: worker for worker in self._cluster.workers()}
        if not before <= set(self._workers):
            self._missed = time.monotonic()
        for handed in self._out.values():
            if handed.meant_for and not any(address in self._workers for address in handed.meant_for):
                # nobody else would ever take it
                handed.future.cancel()
        ill = [address for address in self._workers if address in self._health.ill]
        if len(ill) < len(self._workers):
            self._seen_worker = time.monotonic()
        patience = self._cluster.patience_s(len(ill))
        if time.monotonic() - self._seen_worker > patience:
            if ill:
                raise self._none_left("no worker is left that can run anything")
            raise self._gone(f"there has been no worker for {patience:.0f} s")

    def _gone(self, what: str) -> EngineError:
        todo = "finished runs are kept, and the same command resumes"
        return EngineError(what, where=f"--on {self._cluster.address}", todo=todo)

    def _none_left(self, what: str) -> EngineError:
        ill = [f"{one.host}, worker {one.worker}: {one.reason}" for one in self.counts.ill]
        return EngineError(
            "; ".join([what, *few(ill, _NAMED)]),
            where=f"--on {self._cluster.address}",
            todo="harness doctor --on examines each machine: mend these, or start workers on others; finished runs"
            " are kept, and the same command resumes",
        )

    def _fill(self, line: Line) -> None:
        """Hand out as much as the scheduler may hold."""
        able = {address for address in self._workers if self._health.can_work(address)}
        threads = sum(self._workers[address].threads for address in able)
        room = _AHEAD * threads or (0 if self._workers else 1)
        while line:
            turn = line.first()
            is_for_all = not turn.tried and len(able) == len(self._workers)
            fit = [] if is_for_all else self._fit_for(turn)
            takers = [address for address in fit if address in able]
            if turn.errand.planned.job.method in self._state.given_up:
                self._health.is_settled(line.take()[0].errand.planned.key)
            elif is_for_all or takers:
                if len(self._out) >= room:
                    return
                # an eighth of what each thread has left, so that all end at about the same time
                self._hand_out(line.take(self._left // max(1, 8 * threads), self._state.given_up), takers)
            elif turn.back and not self._awaits_a_worker():
                # it failed wherever it can be tried
                self._take_in(line.take()[0], turn.back)
            elif turn.back or not able or any(address not in self._health.ill for address in fit):
                # another worker may come, or it is not known yet whose failures they are, or all is over
                return
            else:
                # no fault of its method's
                self._fault(line.take()[0], "no worker that is left lends what it needs", counts=False)

    def _awaits_a_worker(self) -> bool:
        """Whether one was lost a moment ago."""
        return time.monotonic() - self._missed < _ANOTHER_S

    def _fit_for(self, turn: Turn) -> list[str]:
        """The workers that lend what it needs and on which it has not failed."""
        share = turn.share
        return [
            address
            for address, worker in self._workers.items()
            if address not in turn.tried and worker.share.fits(share)
        ]

    def _hand_out(self, turns: list[Turn], meant_for: Sequence[str]) -> None:
        self._number += 1
        name = f"permafrost-{turns[0].errand.planned.key[:16]}-{self._wanted.name}-{self._number}"
        for turn in turns:
            turn.begun = len(hosts_of(turn.errand)) if turn.times else 0
            turn.times += 1
        future = self._cluster.client.submit(
            carry_out_each,
            pack([turn.errand for turn in turns]),
            key=name,
            pure=False,
            resources=resources_of(turns[0].share),
            workers=list(meant_for) or None,
        )
        self._out[name] = _Handed(turns, future, meant_for)
        future.add_done_callback(lambda _: self._ended.put(name))

    def _take_back(self, handed: _Handed, line: Line, *, patient: bool, elsewhere: list[Errand]) -> None:
        """Take in what came back, or let it have another turn."""
        from distributed import CancelledError, KilledWorker

        try:
            backs: list[Return] = handed.future.result()
        except (KilledWorker, CancelledError):
            # one after the other: only the last that had begun was at work when its worker was lost
            begun = [turn for turn in handed.turns if len(hosts_of(turn.errand)) > turn.begun]
            for turn in handed.turns:
                self._lost(turn, line, was_at_work=turn in begun[-1:])
        # Broad on purpose: Dask hands on whatever went wrong on the way there or back.
        except Exception as error:  # noqa: BLE001
            reason = f"it could not be handed out: {type(error).__name__}: {' '.join(str(error).split())}"
            for turn in handed.turns:
                self._fault(turn, reason)
        else:
            for turn in handed.turns[len(backs) :]:
                # it was not begun after one that failed
                turn.times -= 1
                line.again(turn)
            for turn, back in zip(handed.turns, backs, strict=False):
                if back.course is not Course.ELSEWHERE:
                    self._judge(turn, back, line)
                    continue
                self._health.is_settled(turn.errand.planned.key)
                if patient:
                    line.later(Turn(turn.errand))
                else:
                    elsewhere.append(turn.errand)
            if patient and all(back.course is Course.ELSEWHERE for back in backs):
                self._state.stop.wait(_LOOK_S)

    def _lost(self, turn: Turn, line: Line, *, was_at_work: bool) -> None:
        """Its worker was lost."""
        self._state.tally.left(turn.errand.planned.key, lost=was_at_work)
        if turn.times < _TIMES and not self._state.is_ending():
            line.again(turn)
            return
        self.counts.lost += turn.times
        self._fault(turn, f"its worker was lost {turn.times} times")

    def _fault(self, turn: Turn, reason: str, *, counts: bool = True) -> None:
        Obstacles(turn.errand.layout.runs).note("run", turn.errand.planned.key, reason)
        self._take_in(turn, Return(Course.FAULT, reason=reason), counts=counts)

    def _judge(self, turn: Turn, back: Return, line: Line) -> None:
        """Take it in, unless another worker is to try it."""
        planned, tally = turn.errand.planned, self._state.tally
        if back.course is Course.STOPPED:
            tally.left(planned.key)
            return
        self._hosts[back.worker] = back.host
        self.counts.lost += max(0, back.lost - len(turn.tried))
        if back.course is Course.REFUSED:
            tally.left(planned.key)
            reason = f"worker {back.worker} on {back.host} refused it: {back.reason}"
            Obstacles(turn.errand.layout.runs).note("run", planned.key, reason)
            if self._health.refused(back.worker, back.reason):
                self._tell_ill(back.worker)
            turn.times -= 1
            line.again(turn)
        elif back.is_of_machine and not self._state.is_ending():
            turn.tried[back.worker] = back
            self._health.failed(back.worker, planned.key, back.reason)
            others = any(self._health.can_work(one) for one in self._fit_for(turn))
            if turn.times < _TIMES and (others or self._awaits_a_worker()):
                tally.left(planned.key)
                what = f"{planned.job.label} failed on {back.host}, and is tried elsewhere"
                self._state.progress.note(f"{what}: {back.reason}")
                line.again(turn)
            else:
                self._take_in(turn, back)
        else:
            if back.course in (Course.RUN, Course.DUPLICATE) and back.verdict.is_final:
                for worker in self._health.went_well(back.worker, planned.key):
                    self._tell_ill(worker)
            self._take_in(turn, back)

    def _tell_ill(self, worker: str) -> None:
        one = IllWorker(host=self._hosts[worker], worker=worker, reason=self._health.ill[worker])
        self.counts.ill.append(one)
        self._state.tally.is_ill(one)
        self._state.progress.note(f"{one.host}: {one.text()}")

    def _take_in(self, turn: Turn, back: Return, *, counts: bool = True) -> None:
        planned, state = turn.errand.planned, self._state
        job, failed = planned.job, back.verdict is Verdict.INFRASTRUCTURE
        self._left -= 1
        self._health.is_settled(planned.key)
        self.counts.courses[back.course] += 1
        if counts and not back.is_of_data:
            count_failures(job.method, state, failed=failed)
        verdict = Verdict.MISSING_DATA if back.is_of_data else back.verdict
        state.tally.ended(planned.key, verdict, back.host, expected=turn.errand.expected_s)
        took = f" ({back.seconds:.1f} s)" if back.course is not Course.FAULT else ""
        reason = "" if verdict is Verdict.OK else f": {back.reason}"
        state.progress.step(f"{verdict}: {job.label}{took}{reason}")
