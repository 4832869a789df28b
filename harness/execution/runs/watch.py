"""Waiting for one container, while its end, its clock, its log, its memory and its output are watched.

The engine's wait is a network read that cannot be told from a dead engine when it times out, so it is left
to a thread and never given a time limit; limits are this loop's. Nothing is polled over the network: the
loop sleeps until the log says something, the kernel tells of an end or a lack of memory, the wait returns,
or the next look at the output is due. The end is looked at before the clock: a harness that was stopped for
a while, or whose engine hangs, must not find a run late that has long ended.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from harness.engine.cgroup import ControlGroup, Shortage, Usage
from harness.engine.processes import ContainerProcesses
from harness.execution.runs.classify import Stop
from harness.execution.runs.disk import disk_fault, output_fault
from harness.execution.runs.faults import engine_faults, explain
from harness.execution.runs.log import BoundedLog, Frames
from harness.execution.runs.request import Limits
from harness.execution.runs.workspace import Workspace

_FIRST_TICK, _LAST_TICK = 0.02, 0.25
_PIECE = 1 << 16
# how long a container may resist SIGKILL, or its engine say nothing of its end, before the engine is given up
_PATIENCE = 30.0
_LOG_PATIENCE = 5.0
# how long the disk may be full before an innocent run is stopped: the one that filled it is, meanwhile
_DISK_PATIENCE = 2.0
_LONGEST_PAUSE = 3600.0


@dataclass(frozen=True)
class Running:
    """A container that was started: what the engine and the kernel let us see of it."""

    api: Any
    engine: str
    container: str
    stream: socket.socket
    group: ControlGroup
    processes: ContainerProcesses
    began: float


@dataclass
class Watched:
    """How a container ended. `lived_s`: how long the process lived, by the kernel's word and our clock."""

    exit_code: int | None = None
    engine_fault: str = ""
    stopped: Stop | None = None
    stop_detail: str = ""
    lived_s: float | None = None
    paused_s: float = 0.0
    usage: Usage = field(default_factory=Usage)
    shortage: Shortage = Shortage.UNREAD


class _Waiter(threading.Thread):
    """Waits on the engine and wakes the loop."""

    def __init__(self, running: Running, wake: int) -> None:
        super().__init__(name=f"wait-{running.container[:12]}", daemon=True)
        self._api, self._engine, self._container = running.api, running.engine, running.container
        self._wake = wake
        self._guard = threading.Lock()
        self._closed = False
        self.exit_code: int | None = None
        self.fault = ""

    def run(self) -> None:
        """Block until the container ends or the engine goes away."""
        try:
            self.exit_code = self._wait()
        except engine_faults() as error:
            self.fault = explain(error)
        with self._guard:
            if not self._closed:
                os.eventfd_write(self._wake, 1)

    def _wait(self) -> int:
        if self._engine != "podman":
            return int(self._api.wait(self._container, timeout=None)["StatusCode"])
        # through Docker's interface Podman looks without a pause, which costs it a whole core
        url = f"{self._api.base_url}/v4.0.0/libpod/containers/{self._container}/wait"
        answer = self._api.post(url, params={"condition": "exited", "interval": "50ms"}, timeout=None)
        answer.raise_for_status()
        return int(answer.json())

    def abandon(self) -> None:
        """The loop no longer listens."""
        with self._guard:
            self._closed = True


def watch(
    running: Running, *, limits: Limits, workspace: Workspace, log: BoundedLog, stop: threading.Event
) -> Watched:
    """Return when the container has ended, or when the engine is lost."""
    ending = Watched()
    group, processes, stream = running.group, running.processes, running.stream
    frames = Frames()
    wake = os.eventfd(0, os.EFD_CLOEXEC)
    waiter = _Waiter(running, wake)
    waiter.start()
    selector = selectors.DefaultSelector()
    for handle in (wake, stream, group.events, *processes.handles):
        if handle is not None:
            selector.register(handle, selectors.EVENT_READ)
    stopper = _Stopper(running, limits)
    end = _End(running)
    tick, has_log, due = _FIRST_TICK, True, running.began
    try:
        while True:
            # before the clock, and asked of the kernel: all handles may be ready after a long sleep
            end.look()
            now = time.monotonic()
            patience = limits.grace_seconds if stop.is_set() else _PATIENCE
            if fault := end.overdue(now, patience) or stopper.overdue(now):
                ending.engine_fault = fault
                break
            if end.at is None and now >= min(due, stopper.next_step()):
                group.read()
                stopper.look(now, workspace, stop, frozen=group.is_frozen())
                tick = min(tick * 1.5, _LAST_TICK)
                due = now + tick
            pause = _LAST_TICK if end.at is not None else min(due, stopper.next_step()) - now
            ready = {key.fd for key, _ in selector.select(max(0.0, pause))}
            if group.events in ready:
                group.take_signal()
                tick, due = _FIRST_TICK, min(due, now + _FIRST_TICK)
            for handle in ready.intersection(processes.handles):
                selector.unregister(handle)
            if has_log and stream.fileno() in ready:
                has_log = _take(stream, frames, log)
                if not has_log:
                    selector.unregister(stream)
            if wake in ready:
                break
        end.look()
        if has_log:
            _drain(stream, frames, log)
    finally:
        waiter.abandon()
        selector.close()
        os.close(wake)
    group.take_signal()
    ending.usage, ending.shortage = group.usage, group.shortage()
    ending.exit_code = waiter.exit_code
    if end.lost:
        ending.engine_fault = "the process by which the engine watches the container was killed"
    elif ending.exit_code is None and not ending.engine_fault:
        ending.engine_fault = f"the engine was lost during the run: {waiter.fault}"
    ending.lived_s, ending.paused_s = end.lived_s, stopper.paused_s
    ending.stopped, ending.stop_detail = stopper.reason, stopper.detail
    if stop.is_set() and end.at is not None and ending.exit_code is None:
        ending.stopped = Stop.INTERRUPT
    return ending


class _End:
    """What the kernel says of the container's end; the engine may learn of it later, or never."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self.at: float | None = None
        self.lived_s: float | None = None
        self.lost = False

    def look(self) -> None:
        """Notice the end of the container, and that of the process by which its engine watches it."""
        if self.lived_s is not None:
            return
        if self._running.processes.monitor_lost():
            self.lost = True
            self.at = self.at or time.monotonic()
        if self._running.processes.ended():
            # the group is removed by the engine, which learns of the end as late as we do
            self._running.group.read_at_end()
            now = time.monotonic()
            self.at = self.at or now
            self.lived_s = now - self._running.began

    def overdue(self, now: float, patience: float) -> str:
        """The fault, if the engine does not say in time how the container ended; else empty."""
        if self.at is None or now < self.at + patience:
            return ""
        return "the container has ended, but the engine does not say how"


class _Stopper:
    """Decides that a container must end, and sees to it: a polite signal, a grace, a kill."""

    def __init__(self, running: Running, limits: Limits) -> None:
        self._api, self._container, self._group = running.api, running.container, running.group
        self._limits = limits
        self._began = self._looked = running.began
        self._kill_at = self._give_up_at = self._disk_full_since = float("inf")
        self.paused_s = 0.0
        self.reason: Stop | None = None
        self.detail = ""

    def next_step(self) -> float:
        """When this has something to do, whatever else happens."""
        if self.reason is not None:
            return min(self._kill_at, self._give_up_at)
        return self._began + self._limits.seconds + self.paused_s

    def overdue(self, now: float) -> str:
        """The fault, if even the kill has no effect in time; else empty."""
        return "the engine did not stop the container" if now >= self._give_up_at else ""

    def look(self, now: float, workspace: Workspace, stop: threading.Event, *, frozen: bool) -> None:
        """Look at clock, wish and output; act on the first reason. Time in which it was paused does not count."""
        if self.reason is not None:
            if now >= self._kill_at:
                self._signal("SIGKILL")
                self._kill_at, self._give_up_at = float("inf"), now + _PATIENCE
            return
        if frozen:
            self.paused_s += now - self._looked
        self._looked = now
        limits = self._limits
        if stop.is_set():
            self._stop(now, Stop.INTERRUPT, "a person stopped it")
        elif now >= self.next_step():
            self._stop(now, Stop.TIMEOUT, f"stopped at its time limit of {limits.seconds:g} s")
        elif self.paused_s > _LONGEST_PAUSE:
            self._stop(now, Stop.PAUSED, f"somebody has paused the container for {self.paused_s:.0f} s")
        elif fault := output_fault(workspace, limits, self._group.processes()):
            self._stop(now, Stop.OUTPUT, fault)
        else:
            self._look_at_disk(now, workspace)

    def _look_at_disk(self, now: float, workspace: Workspace) -> None:
        fault = disk_fault(workspace)
        self._disk_full_since = min(self._disk_full_since, now) if fault else float("inf")
        if now >= self._disk_full_since + _DISK_PATIENCE:
            self._stop(now, Stop.DISK, fault)

    def _stop(self, now: float, reason: Stop, detail: str) -> None:
        self.reason, self.detail = reason, detail
        # a writer that is over its limit goes on writing while it is asked politely
        polite = reason in (Stop.TIMEOUT, Stop.INTERRUPT)
        self._signal("SIGTERM" if polite else "SIGKILL")
        if polite:
            self._kill_at = now + self._limits.grace_seconds
        else:
            self._give_up_at = now + _PATIENCE

    def _signal(self, name: str) -> None:
        # a container that has just ended cannot be signalled; a lost engine is the waiter's to report
        try:
            self._api.kill(self._container, name)
        except engine_faults():
            return


def _take(stream: socket.socket, frames: Frames, log: BoundedLog) -> bool:
    """Copy one piece of the stream to the log; False at the end of the stream."""
    try:
        data = stream.recv(_PIECE)
    except OSError:
        return False
    for piece in frames.feed(data):
        log.write(piece)
    return bool(data)


def _drain(stream: socket.socket, frames: Frames, log: BoundedLog) -> None:
    """Copy what the engine still holds of the log after the container's end."""
    stream.settimeout(_LOG_PATIENCE)
    while _take(stream, frames, log):
        pass
