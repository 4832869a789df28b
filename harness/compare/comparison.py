"""A claim beside our number: the verdict on it, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from harness.compare.claims import Claim
from harness.compare.names import Target


class ClaimVerdict(StrEnum):
    """The verdict on a published number."""

    REPRODUCED = "reproduced"
    DEVIATES = "deviates"
    NOT_COMPARABLE = "not-comparable"
    PENDING = "pending"

    @property
    def meaning(self) -> str:
        """One sentence for legends."""
        return {
            ClaimVerdict.REPRODUCED: "our number agrees with the published one by the stated test",
            ClaimVerdict.DEVIATES: "our number differs from the published one by the stated test",
            ClaimVerdict.NOT_COMPARABLE: "no run, or too few, can decide; the reason says why",
            ClaimVerdict.PENDING: "a run would decide; it has not been made or scored yet",
        }[self]


@dataclass(frozen=True)
class Recomputed:
    """A printed number computed again from the authors' own files: over `n` seeds; whether it agrees."""

    value: float
    n: int
    agrees: bool


class Comparison(NamedTuple):
    """A claim beside our number; a tuple for the reason that a claim is one.

    `interval`: of the difference, 90 %. `margin`: how far a number may lie from the published one and still be the
    same; an interval must lie within it. Of a number over several methods both are about what the authors' runs
    give for as many seeds, which `test` names, and not about the printed number. `needed`: how many runs would
    decide, if mean and deviation stay.
    """

    claim: Claim
    target: Target
    metric: str | None
    verdict: ClaimVerdict
    reason: str
    test: str = ""
    ours: float | None = None
    n: int = 0
    margin: float | None = None
    keys: tuple[str, ...] = ()
    files: Recomputed | None = None
    interval: tuple[float, float] | None = None
    needed: int | None = None
    # of a mean that is reproduced: the controls that are within the margin as well
    controls: tuple[str, ...] = ()

    @property
    def difference(self) -> float | None:
        """Ours minus published."""
        return None if self.ours is None else self.ours - self.claim.value

    @property
    def lacking(self) -> str:
        """`; 11 more would decide`, if mean and deviation stay; empty where that is not known."""
        return "" if self.needed is None else f"; {self.needed - self.n} more would decide"

    @property
    def why(self) -> str:
        """The reason, with the number of runs that are missing."""
        return self.reason + self.lacking


@dataclass(frozen=True)
class Comparable:
    """The methods, datasets and splits of this artifact: claims about others can't be compared."""

    methods: frozenset[str]
    datasets: frozenset[str]
    splits: frozenset[str]
    # datasets whose data are not here, with the reason
    without_data: Mapping[str, str] = field(default_factory=dict)
