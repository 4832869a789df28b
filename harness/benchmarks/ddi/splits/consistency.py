"""How near drug splits come to real time: the paper's Algorithm 2, its consistency index, and its significance.

Drugs approved before a threshold year should be known, the others new. A drug on the wrong side costs the distance
of its year from the threshold; the sum is a split's penalty P, and its index is the largest penalty of all splits
that are compared over its own. Undated drugs and discarded ones cost nothing. Two tests go with it: against
controls that deal the same roles at random to all drugs, and of the difference from one of the splits, by turning
around at random which of the two has which drug's cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import DataError, UsageError
from harness.benchmarks.ddi.splits.parts import KNOWN, Codes

YEARS = tuple(range(1985, 2021, 5))
CONTROLS = 400

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Consistency:
    """One split at one threshold. `better` and `worse` are the shares of controls that do as well, and as badly;
    `differs` is the p value of the difference from the split that all are compared with."""

    split: str
    year: int
    drugs: int
    penalty: int
    index: float | None
    control_mean: float
    control_sd: float
    better: float
    worse: float
    differs: float

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def costs(roles: Codes, years: Codes, threshold: int) -> Integers:
    """What every drug adds to the penalty of a split. `years` are 0 where unknown."""
    late = years >= threshold
    wrong = np.where(late, roles == KNOWN, roles > KNOWN) & (years > 0)
    return np.where(wrong, np.abs(years.astype(np.int64) - threshold), 0)


def consistency(
    splits: Mapping[str, Codes],
    years: Codes,
    *,
    thresholds: Sequence[int] = YEARS,
    against: str | None = None,
    controls: int = CONTROLS,
    seed: int = 0,
) -> list[Consistency]:
    """Every split, given by the roles of its drugs, at every threshold; compared with the first unless told."""
    if not (years > 0).any():
        raise DataError("no drug of the dataset has a year of approval", todo="use a dataset that tells them")
    if not splits:
        raise UsageError("there is no split to judge", todo="name at least one")
    if against is not None and against not in splits:
        raise UsageError(f"there is no split '{against}' to compare with", todo=f"name one of {', '.join(splits)}")
    other = next(iter(splits)) if against is None else against
    drawn = {name: _controls(roles, controls, seed) for name, roles in splits.items()}
    found = []
    for threshold in thresholds:
        paid = {name: costs(roles, years, threshold) for name, roles in splits.items()}
        worst = max(int(cost.sum()) for cost in paid.values())
        for name, roles in splits.items():
            penalty = int(paid[name].sum())
            chance = np.array([costs(drawn_roles, years, threshold).sum() for drawn_roles in drawn[name]])
            found.append(
                Consistency(
                    split=name,
                    year=threshold,
                    drugs=int(((years > 0) & (roles >= KNOWN)).sum()),
                    penalty=penalty,
                    index=worst / penalty if penalty else None,
                    control_mean=float(chance.mean()),
                    control_sd=float(chance.std()),
                    better=_share(chance <= penalty),
                    worse=_share(chance >= penalty),
                    differs=_differs(paid[name] - paid[other], controls, seed),
                )
            )
    return found


def _controls(roles: Codes, count: int, seed: int) -> list[Codes]:
    """The same roles, dealt at random."""
    generator = np.random.RandomState(seed)
    return [generator.permutation(roles) for _ in range(count)]


def _differs(differences: Integers, count: int, seed: int) -> float:
    """Two-sided p value of a sum of differences, whose signs mean nothing if the splits are equally good."""
    differences = differences[differences != 0]
    signs = np.random.RandomState([seed, 1]).randint(0, 2, size=(count, len(differences))) * 2 - 1
    return _share(np.abs(signs @ differences) >= abs(int(differences.sum())))


def _share(extreme: npt.NDArray[np.bool_]) -> float:
    """The p value of a permutation test: what is observed counts as one of the draws."""
    return float((int(extreme.sum()) + 1) / (len(extreme) + 1))
