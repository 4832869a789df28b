"""Waiting for one container with the harness's own clock, while its log, memory and output are watched.

The engine's wait is a network read that cannot be told from a dead engine when it times out, so it is left
to a thread and never given a time limit; limits are this loop's. Nothing is polled over the network: the
loop sleeps until the log says something, the kernel reports an out-of-memory kill, the wait returns, or the
next look at the output is due.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from harness.engine.cgroup import ControlGroup, Usage
from harness.runs.classify import Stop
from harness.runs.disk import disk_fault, output_fault
from harness.runs.faults import engine_faults, explain
from harness.runs.log import BoundedLog, Frames
from harness.runs.request import Limits
from harness.runs.workspace import Workspace

_FIRST_TICK, _LAST_TICK = 0.02, 0.25
_PIECE = 1 << 16
# how long a container may resist SIGKILL, or the rest of a log may take, before the engine is given up
_PATIENCE = 30.0
_LOG_PATIENCE = 5.0
# how long the disk may be full before an innocent run is stopped: the one that filled it is, meanwhile
_DISK_PATIENCE = 2.0


@dataclass
class Watched:
    """What was seen until the end."""

    exit_code: int | None = None
    engine_fault: str = ""
    stopped: Stop | None = None
    stop_detail: str = ""
    usage: Usage = field(default_factory=Usage)
    out_of_memory: bool = False


class _Waiter(threading.Thread):
    """Waits on the engine and wakes the loop."""

    def __init__(self, api: Any, engine: str, container: str, wake: int) -> None:
        super().__init__(name=f"wait-{container[:12]}", daemon=True)
        self._api, self._engine, self._container, self._wake = api, engine, container, wake
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
    api: Any,
    engine: str,
    container: str,
    stream: socket.socket,
    group: ControlGroup,
    *,
    limits: Limits,
    workspace: Workspace,
    log: BoundedLog,
    began: float,
    stop: threading.Event,
) -> Watched:
    """Return when the container has ended, or when the engine is lost."""
    seen = Watched()
    frames = Frames()
    wake = os.eventfd(0, os.EFD_CLOEXEC)
    waiter = _Waiter(api, engine, container, wake)
    waiter.start()
    selector = selectors.DefaultSelector()
    selector.register(wake, selectors.EVENT_READ)
    selector.register(stream, selectors.EVENT_READ)
    if group.events is not None:
        selector.register(group.events, selectors.EVENT_READ)
    stopper = _Stopper(api, container, limits, began)
    tick, streaming, due = _FIRST_TICK, True, began
    try:
        while True:
            now = time.monotonic()
            if now >= min(due, stopper.next_step()):
                group.read()
                stopper.look(now, workspace, stop, group)
                tick = min(tick * 1.5, _LAST_TICK)
                due = now + tick
            if stopper.given_up(now):
                seen.engine_fault = "the engine did not stop the container"
                break
            ready = {key.fd for key, _ in selector.select(max(0.0, min(due, stopper.next_step()) - now))}
            if group.events in ready:
                group.take_signal()
                tick, due = _FIRST_TICK, min(due, now + _FIRST_TICK)
            if streaming and stream.fileno() in ready:
                streaming = _take(stream, frames, log)
                if not streaming:
                    selector.unregister(stream)
            if wake in ready:
                break
        if streaming:
            _drain(stream, frames, log)
    finally:
        waiter.abandon()
        selector.close()
        os.close(wake)
    group.take_signal()
    seen.usage, seen.out_of_memory = group.usage, group.out_of_memory
    if waiter.exit_code is not None:
        seen.exit_code = waiter.exit_code
    elif not seen.engine_fault:
        seen.engine_fault = f"the engine was lost during the run: {waiter.fault}"
    seen.stopped, seen.stop_detail = stopper.reason, stopper.detail
    return seen


class _Stopper:
    """Decides that a container must end, and sees to it: a polite signal, a grace, a kill."""

    def __init__(self, api: Any, container: str, limits: Limits, began: float) -> None:
        self._api, self._container, self._limits = api, container, limits
        self._deadline = began + limits.seconds
        self._kill_at = self._give_up_at = self._disk_full_since = float("inf")
        self.reason: Stop | None = None
        self.detail = ""

    def next_step(self) -> float:
        """When this has something to do, whatever else happens."""
        return min(self._kill_at, self._give_up_at) if self.reason else self._deadline

    def given_up(self, now: float) -> bool:
        """Whether even the kill has had no effect for too long."""
        return now >= self._give_up_at

    def look(self, now: float, workspace: Workspace, stop: threading.Event, group: ControlGroup) -> None:
        """Look at clock, wish and output; act on the first reason."""
        if self.reason is not None:
            if now >= self._kill_at:
                self._signal("SIGKILL")
                self._kill_at, self._give_up_at = float("inf"), now + _PATIENCE
            return
        limits = self._limits
        if stop.is_set():
            self._stop(now, Stop.INTERRUPT, "stopped at the user's wish")
        elif now >= self._deadline:
            self._stop(now, Stop.TIMEOUT, f"stopped at its time limit of {limits.seconds:g} s")
        elif fault := output_fault(workspace, limits, group.processes()):
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
    """One piece of log; False at its end."""
    try:
        data = stream.recv(_PIECE)
    except OSError:
        return False
    for piece in frames.feed(data):
        log.write(piece)
    return bool(data)


def _drain(stream: socket.socket, frames: Frames, log: BoundedLog) -> None:
    """What the engine still holds of the log after the end."""
    stream.settimeout(_LOG_PATIENCE)
    while _take(stream, frames, log):
        pass
