"""The line of errands that wait to be handed out: those that had a turn and need another, before all others.

Short errands are taken together, so that a cluster's scheduler has one task of them: as many as are expected to
take a minute, and no more than leaves enough for all workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from harness.execution.errands import Errand, Return
from harness.planning.budget import Share
from harness.planning.jobs import card_of

# What errands that are taken together are expected to take.
_TOGETHER_S = 60.0


@dataclass
class Turn:
    """An errand, and what became of it when it was handed out."""

    errand: Errand
    # how often it was
    times: int = 0
    # how often it had been begun when it was handed out last
    begun: int = 0
    # what came back where the machine failed, by worker
    tried: dict[str, Return] = field(default_factory=dict)

    @property
    def back(self) -> Return | None:
        """What came back last where the machine failed; None where it has not."""
        return next(reversed(self.tried.values()), None)

    @property
    def share(self) -> Share:
        """What it needs of a worker."""
        return Share.of(card_of(self.errand.layout, self.errand.planned.job).resources)


class Line:
    """Errands in the order of their turns; each is made when it is looked at, because there may be a million."""

    def __init__(self, errands: Iterable[Errand]) -> None:
        self._fresh = map(Turn, errands)
        self._waiting = deque[Turn]()
        self._late = deque[Turn]()
        self._fill()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def first(self) -> Turn:
        """The one whose turn it is."""
        return self._waiting[0]

    def take(self, most: int = 1, given_up: Collection[str] = ()) -> list[Turn]:
        """The one whose turn it is, with those after it that need the same, up to `most`, if all are short.

        None after it of a method that is `given_up`.
        """
        turns = [self._pop()]
        share, seconds = turns[0].share, _seconds_of(turns[0])
        while len(turns) < most and self._waiting:
            following = self._waiting[0]
            seconds += _seconds_of(following)
            is_given_up = following.errand.planned.job.method in given_up
            if seconds > _TOGETHER_S or is_given_up or following.share != share:
                break
            turns.append(self._pop())
        return turns

    def again(self, turn: Turn) -> None:
        """It needs another turn, before all others."""
        self._waiting.appendleft(turn)

    def later(self, turn: Turn) -> None:
        """It needs another turn, after all others."""
        self._late.append(turn)
        self._fill()

    def close(self) -> None:
        """Nobody has a turn any more."""
        self._fresh = map(Turn, ())
        self._waiting.clear()
        self._late.clear()

    def _pop(self) -> Turn:
        turn = self._waiting.popleft()
        self._fill()
        return turn

    def _fill(self) -> None:
        if self._waiting:
            return
        if turn := next(self._fresh, None):
            self._waiting.append(turn)
        elif self._late:
            self._waiting.append(self._late.popleft())


def _seconds_of(turn: Turn) -> float:
    """What it is expected to take; more than any bound where that is not known, or where it has failed before."""
    known = turn.errand.expected_s
    return float("inf") if known is None or turn.times else known
