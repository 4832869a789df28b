"""Whose failures are: a worker's, where another worker makes what failed there, or else the run's own.

A run that the machine failed is asked of another worker. A worker on which three runs in a row failed is given
nothing until that is known of each; where others made three of them it is ill, and is given nothing more. Runs
that fail wherever they are tried are held against no worker.
"""

from __future__ import annotations

_STRIKES = 3


class Health:
    """What is known of the workers of one campaign, by their addresses."""

    def __init__(self) -> None:
        # of each worker the runs that failed there since one went well, and whether another worker has made them
        self._strikes: dict[str, dict[str, bool]] = {}
        self._reasons: dict[str, str] = {}
        # why a worker is given nothing more
        self.ill: dict[str, str] = {}

    def failed(self, worker: str, key: str, reason: str) -> None:
        """A run failed there, by no fault of its method's."""
        self._strikes.setdefault(worker, {})[key] = False
        self._reasons[worker] = reason

    def refused(self, worker: str, reason: str) -> bool:
        """It can do nothing for us; whether that is new."""
        is_new = worker not in self.ill
        self.ill.setdefault(worker, reason)
        return is_new

    def went_well(self, worker: str, key: str) -> list[str]:
        """A run was made there; returns the workers that are ill, as this shows."""
        self._strikes.pop(worker, None)
        shown = []
        for other, strikes in self._strikes.items():
            if key in strikes:
                strikes[key] = True
                if sum(strikes.values()) >= _STRIKES and other not in self.ill:
                    what = f"{_STRIKES} runs in a row failed there and were made by others"
                    self.ill[other] = f"{what}: {self._reasons[other]}"
                    shown.append(other)
        return shown

    def is_settled(self, key: str) -> None:
        """Whose the failures of a run were is not known: it failed wherever it was tried, or is tried no more."""
        for strikes in self._strikes.values():
            if strikes.get(key) is False:
                del strikes[key]

    def can_work(self, worker: str) -> bool:
        """Whether it may be given a run now."""
        return worker not in self.ill and len(self._strikes.get(worker, ())) < _STRIKES
