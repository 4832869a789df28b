"""What a split is, measured: its sizes, and how similar its known and its new drugs are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.benchmarks.ddi.splits.drugs.similarity import Counts, Integers, largest_similarity, pairs_between
from harness.benchmarks.ddi.splits.parts import KNOWN, PARTS, ROLES, TEST_NEW, VALID_NEW

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit


def measure_split(dataset: DdiDataset, split: PartSplit, threshold: float) -> dict[str, dict[str, Any]]:
    """Drugs by role, items by part, gamma(Dk, Dn), and the pairs of a known and a new drug above a threshold."""
    known, new = split.drugs_in(KNOWN), np.flatnonzero(split.drugs > KNOWN)
    valid, test = split.drugs_in(VALID_NEW), split.drugs_in(TEST_NEW)
    above = pairs_between(dataset.fingerprints, known, new, threshold)
    return {
        "drugs": {name: int((split.drugs == role).sum()) for role, name in ROLES.items()},
        "items": {name: int((split.items == part).sum()) for part, name in PARTS.items()},
        "largest similarity": {
            "known to new": largest_similarity(dataset.fingerprints, known, new),
            "validation to test": largest_similarity(dataset.fingerprints, valid, test),
        },
        "known-new pairs above": {f"{threshold:g}:": len(above.first)},
    }


def describe_groups(groups: Integers, split: PartSplit) -> dict[str, dict[str, Any]]:
    """How many groups were dealt, the largest, those of one drug, and those whose drugs have several roles."""
    sizes = np.bincount(groups)
    roles = np.unique(np.column_stack([groups, split.drugs]), axis=0)
    return {
        "groups": {
            "in all": len(sizes),
            "largest": int(sizes.max()),
            "singletons": int((sizes == 1).sum()),
            "of several roles": int((np.bincount(roles[:, 0]) > 1).sum()),
        }
    }


def too_similar(fingerprints: Counts, split: PartSplit, gamma: float) -> list[str]:
    """Drugs of different roles that are more similar than gamma."""
    broken = []
    new = np.flatnonzero(split.drugs > KNOWN)
    for ours, theirs, what in (
        (split.drugs_in(KNOWN), new, "a known and a new drug"),
        (split.drugs_in(VALID_NEW), split.drugs_in(TEST_NEW), "a validation and a test drug"),
    ):
        found = pairs_between(fingerprints, ours, theirs, gamma)
        if len(found.first):
            worst = int(np.argmax(found.similarity))
            broken.append(
                f"{len(found.first)} pairs of {what} are more similar than {gamma:g}, at most "
                f"{found.similarity[worst]:.5f} (drugs {found.first[worst]} and {found.second[worst]})"
            )
    return broken
