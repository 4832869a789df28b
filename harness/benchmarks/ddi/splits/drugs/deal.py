"""Dealing drugs, alone or in whole groups, to the roles known, valid-new and test-new, and items to parts.

Every drug split ends here: how its items become train, S0, S1 and S2 is decided in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.base.errors import DataError
from harness.base.manifests import Strict
from harness.benchmarks.ddi.splits.drugs.usage import negatives
from harness.benchmarks.ddi.splits.parts import (
    DISCARDED,
    KNOWN,
    PARTS,
    ROLES,
    TEST_NEW,
    TEST_S0,
    TRAIN,
    VALID_NEW,
    VALID_S0,
    Codes,
    PartSplit,
    expected_parts,
    part_split,
)

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset

Integers = npt.NDArray[np.int64]

# Share of the items between known drugs that is held out for validation, and for testing too (S0).
HELD_OUT = 0.1
# Largest difference of a role's share of the drugs from the one asked for, where single drugs are dealt.
_ROUNDING = 0.01
# Largest difference of S0 from its share, in items: the authors round otherwise than we do.
_NEAR = 2


class Shares(Strict):
    """How many of the drugs are new; the released splits have 10 % and 10 %."""

    valid_share: float = Field(default=0.1, gt=0, lt=0.5)
    test_share: float = Field(default=0.1, gt=0, lt=0.5)


def targets(drugs: int, shares: Shares, *, available: int | None = None) -> dict[int, int]:
    """How many drugs each new role should have: rounded down, and at least one.

    Where fewer drugs than that are `available` to be new, the two roles share these in the same proportion.
    """
    wanted = shares.test_share + shares.valid_share
    most = drugs if available is None else min(drugs, available / wanted)
    return {
        TEST_NEW: max(1, int(shares.test_share * most)),
        VALID_NEW: max(1, int(shares.valid_share * most)),
    }


def deal_groups(groups: Integers, seed: int, shares: Shares, *, what: str) -> Codes:
    """Whole groups to roles. The largest is known. Of the others, in random order, test takes what fits into its
    share, or the smallest where nothing fits; then validation does; the rest is known."""
    sizes = np.bincount(groups)
    if len(sizes) < 3:
        raise DataError(
            f"{len(sizes)} {what} can't be dealt to known, validation and test drugs",
            where="the split's parameters",
            todo="choose parameters that give at least three groups",
        )
    order = np.random.RandomState(seed).permutation(len(sizes))
    order = order[order != np.argmax(sizes)]
    roles = np.full(len(sizes), KNOWN, dtype=np.int32)
    for role, room in targets(len(groups), shares, available=len(groups) - int(sizes.max())).items():
        for group in order[roles[order] == KNOWN]:
            if sizes[group] <= room:
                roles[group] = role
                room -= int(sizes[group])
        if not (roles == role).any():
            left = order[roles[order] == KNOWN]
            roles[left[np.argmin(sizes[left])]] = role
    return roles[groups]


def deal_drugs(ranks: Integers, seed: int, shares: Shares) -> Codes:
    """Single drugs to roles: the last by rank are new; chance decides which of these are for validation."""
    wanted = targets(len(ranks), shares)
    new = np.argsort(ranks, kind="stable")[len(ranks) - sum(wanted.values()) :]
    new = np.random.RandomState(seed).permutation(np.sort(new))
    roles = np.full(len(ranks), KNOWN, dtype=np.int32)
    roles[new[: wanted[TEST_NEW]]] = TEST_NEW
    roles[new[wanted[TEST_NEW] :]] = VALID_NEW
    return roles


def split_groups(dataset: DdiDataset, groups: Integers, seed: int, shares: Shares, *, what: str) -> PartSplit:
    """The split that deals whole groups."""
    return split_items(dataset, deal_groups(groups, seed, shares, what=what), seed)


def wrong_groups(groups: Integers, roles: Codes, shares: Shares, *, what: str) -> list[str]:
    """What a split that deals whole groups breaks: shares as far as these allow, and one role for every group."""
    return [*wrong_shares(roles, shares, groups=groups), *mixed_groups(groups, roles, what=what)]


def split_items(dataset: DdiDataset, roles: Codes, seed: int) -> PartSplit:
    """The parts that follow from roles; S0 is drawn from what joins known drugs, positives and negatives apart."""
    items = expected_parts(dataset.pairs, roles)
    generator = np.random.RandomState([seed, 0])
    negative = negatives(dataset)
    for kind in (~negative, negative):
        among = generator.permutation(np.flatnonzero((items == TRAIN) & kind))
        count = int(HELD_OUT * len(among))
        items[among[:count]] = VALID_S0
        items[among[count : 2 * count]] = TEST_S0
    split = part_split(roles, items)
    if not split.training or not split.test:
        raise DataError(
            f"no item is left to {'test on' if split.training else 'train on'}",
            where=f"dataset {dataset.name}, {', '.join(told_roles(roles))}",
            todo="choose parameters that keep more drugs apart, or fewer out",
        )
    return split


def wrong_items(dataset: DdiDataset, split: PartSplit) -> list[str]:
    """What a split breaks of `split_items`, beyond what every split promises: S0 of valid and of test have their
    shares of what joins known drugs, of positives and of negatives."""
    broken = []
    negative = negatives(dataset)
    for kind, name in ((~negative, "items"), (negative, "negatives")):
        found = split.items[kind]
        among = int(np.isin(found, (TRAIN, VALID_S0, TEST_S0)).sum())
        for part in (VALID_S0, TEST_S0):
            held_out = int((found == part).sum())
            if abs(held_out - HELD_OUT * among) >= _NEAR:
                broken.append(
                    f"{held_out} of {among} {name} between known drugs are {PARTS[part]}, not {HELD_OUT:.0%}"
                )
    return broken


def told_roles(roles: Codes) -> list[str]:
    """How many drugs have each role."""
    return [f"{int((roles == role).sum())} {name}" for role, name in ROLES.items()]


def wrong_shares(
    roles: Codes,
    shares: Shares,
    *,
    groups: Integers | None = None,
    allowance: int = 0,
    discards: bool = False,
) -> list[str]:
    """Roles whose share of the drugs that are kept is not the one asked for, and drugs that may not be discarded.

    Whole groups can be dealt only so exactly: as far as the second largest is large, and the largest is known.
    """
    kept = int((roles >= KNOWN).sum())
    available = None
    if groups is not None:
        sizes = np.sort(np.bincount(groups))
        available, allowance = kept - int(sizes[-1]), int(sizes[-2:].min())
    lost = int((roles == DISCARDED).sum())
    broken = [f"{lost} drugs are discarded"] if lost and not discards else []
    for role, wanted in targets(kept, shares, available=available).items():
        found = int((roles == role).sum())
        if abs(found - wanted) > max(allowance, 1, _ROUNDING * kept):
            broken.append(f"{found} of {kept} drugs are {ROLES[role]}, not {wanted}")
    return broken


def mixed_groups(groups: Integers, roles: Codes, *, what: str) -> list[str]:
    """Groups whose drugs have more than one role."""
    pairs = np.unique(np.column_stack([groups, roles]), axis=0)
    numbers, counts = np.unique(pairs[:, 0], return_counts=True)
    mixed = numbers[counts > 1]
    if not len(mixed):
        return []
    members = np.flatnonzero(groups == mixed[0])
    return [f"{len(mixed)} {what} have drugs of several roles, for one that of drugs {members[:5].tolist()}"]
