"""A sign of life of long work: what is being done, for how long, and how long it took before.

Work says what it does with `activity`, from any thread. A command listens with `heartbeat`: when a person heard
nothing for a while, a line says what it is at. Where nobody listens, as in a notebook, nothing is said.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base.few import few_in_line

# Whoever sees nothing for longer believes that nothing happens.
PERIOD_S = 10.0
# What takes so many times as long as expected, and a little longer, is said to do so.
_LATE = 1.2
# More things at once would not fit into a line.
_SHOWN = 3

Say = Callable[[str], None]


def _to_standard_error(text: str) -> None:
    sys.stderr.write(f"at work: {text}\n")
    sys.stderr.flush()


@dataclass(frozen=True, eq=False)
class _Activity:
    what: str
    began: float
    expected_s: float | None
    # which part of a longer work it is: `12 of 7,081`
    part: str

    def text(self, now: float) -> str:
        spent = now - self.began
        if self.expected_s is None:
            return f"{self.what} ({_running(spent)})"
        is_late = spent > _LATE * self.expected_s + PERIOD_S
        words = "longer than the expected" if is_late else "expected:"
        return f"{self.what} ({_running(spent)}, {words} {duration(self.expected_s)})"


class Pulse:
    """What is being done, thread by thread, and when a person last heard of it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._activities: dict[int, list[_Activity]] = {}
        self._heard = clock()
        self._silenced = 0
        self.say: Say = _to_standard_error

    @contextmanager
    def activity(self, what: str, expected_s: float | None = None, part: str = "") -> Iterator[None]:
        """Say what this thread does until the block ends. `part` of a longer work it is, such as `2 of 9`."""
        thread, one = threading.get_ident(), _Activity(what, self._clock(), expected_s, part)
        with self._guard:
            self._activities.setdefault(thread, []).append(one)
        try:
            yield
        finally:
            with self._guard:
                self._activities[thread].remove(one)
                if not self._activities[thread]:
                    del self._activities[thread]

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Nothing is said while the block waits for a person."""
        with self._guard:
            self._silenced += 1
        try:
            yield
        finally:
            with self._guard:
                self._silenced -= 1
                self._heard = self._clock()

    @contextmanager
    def speaker(self, say: Say) -> Iterator[None]:
        """Until the block ends, signs of life go here."""
        before, self.say = self.say, say
        try:
            yield
        finally:
            self.say = before

    def heard(self) -> None:
        """A person was told something."""
        self._heard = self._clock()

    def beat(self, period: float = PERIOD_S) -> float:
        """Say what is being done if nothing was said for so long; the seconds until it is time to look again."""
        with self._guard:
            now = self._clock()
            left = self._heard + period - now
            if left > 0:
                return left
            self._heard = now
            text = "" if self._silenced else self._text(now)
        if text:
            self.say(text)
        return period

    def _text(self, now: float) -> str:
        """The innermost activity of each thread. The command's own says least, and stands alone only."""
        base = next(iter(self._activities.values()), [])[:1]
        stacks = [*self._activities.values()]
        shown = [stack for stack in stacks if stack[-1] not in base] or stacks
        return few_in_line([_of_thread(stack, now) for stack in shown], _SHOWN, "; ")


def _of_thread(stack: Sequence[_Activity], now: float) -> str:
    """`12 of 7,081: what is done (5 s)`."""
    return ": ".join([*(one.part for one in stack if one.part), stack[-1].text(now)])


PULSE = Pulse()
activity, silence = PULSE.activity, PULSE.silence


@contextmanager
def heartbeat(what: str, *, period: float = PERIOD_S, pulse: Pulse = PULSE) -> Iterator[None]:
    """Let a person hear of the work in this block at least every `period` seconds."""
    ended = threading.Event()

    def watch() -> None:
        left = period
        while not ended.wait(left):
            left = pulse.beat(period)

    with pulse.activity(what):
        pulse.heard()
        watcher = threading.Thread(target=watch, name="heartbeat", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()


def _running(seconds: float) -> str:
    """`45 s`, `12 min 10 s`, `3 h 25 min`: two lines about the same are not the same line."""
    minutes, rest = divmod(int(seconds), 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min {rest} s" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
