"""How a person reads the rows that `harness predict` lists: what a score says, and what is known already.

A benchmark may have a module `reading` with a function `reading(dataset)` that gives a `Reading`.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness import benchmarks

Names = tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """What rankings on one dataset say, and what they do not."""

    # sentences about scores
    meaning: tuple[str, ...]
    # the columns of a ranking that a method answers; all others but the score name what it was asked
    answers: tuple[str, ...] = ()
    # two columns whose names may change places: each pair is asked in both orders
    exchangeable: tuple[str, ...] = ()
    # names as in the columns that were asked, and what is known of them
    known: tuple[tuple[Names, str], ...] = ()


def reading_of(benchmark: str, dataset: object) -> Reading:
    """How rankings on a dataset are read."""
    module = benchmarks.part(benchmark, "reading")
    if module is None:
        return Reading(("A score orders the rows of one answer. It is no probability.",))
    reading: Reading = module.reading(dataset)
    return reading
