"""A clock that goes on only while somebody waits, so that long patience is tested at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Stands in for the module `time`, and for an event that nobody sets; notes every wait."""

    now: float = 1000.0
    waits: list[float] = field(default_factory=list)
    # what happens meanwhile, after so many waits
    events: dict[int, Callable[[], object]] = field(default_factory=dict)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert len(self.waits) < 10_000, "waits for ever"
        self.now += seconds
        self.waits.append(seconds)
        self.events.get(len(self.waits), lambda: None)()
        # for the processes that are real
        time.sleep(0.0002)

    def wait(self, seconds: float) -> bool:
        self.sleep(seconds)
        return False
