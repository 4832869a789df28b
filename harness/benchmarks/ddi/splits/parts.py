"""A split of drug interactions: a role per drug, a part per item, and what every such split must keep.

The file is `<i4 [drugs + items, 2]`: a row per drug, then a row per item; the columns are the part (of a drug: its
role) and the place, the order of an item within its part. Published scores leave out the last incomplete batch, so
the order is part of a split.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData
from harness.base.npy import NotNpy, npy_bytes, read_header, read_npy

# The role of a drug.
KNOWN, VALID_NEW, TEST_NEW, DISCARDED = 0, 1, 2, -2
ROLES = {KNOWN: "known", VALID_NEW: "valid-new", TEST_NEW: "test-new", DISCARDED: "discarded"}

# The part of an item. S0 joins two known drugs, S1 a known and a new one, S2 two new ones of the same role.
TRAIN, VALID_S0, VALID_S1, VALID_S2, TEST_S0, TEST_S1, TEST_S2 = range(7)
OUTSIDE = -2
VALID, TEST = (VALID_S0, VALID_S1, VALID_S2), (TEST_S0, TEST_S1, TEST_S2)
PARTS = {
    TRAIN: "train",
    VALID_S0: "valid S0",
    VALID_S1: "valid S1",
    VALID_S2: "valid S2",
    TEST_S0: "test S0",
    TEST_S1: "test S1",
    TEST_S2: "test S2",
    OUTSIDE: "outside",
}

DTYPE = "<i4"

Codes = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PartSplit:
    """The role of every drug, the part and the place of every item, and the sha256 of the file that holds them."""

    drugs: Codes
    items: Codes
    places: Codes
    digest: str

    def items_in(self, part: int) -> Integers:
        """The indices of a part's items, in their order."""
        found = np.flatnonzero(self.items == part)
        return found[np.argsort(self.places[found], kind="stable")]

    def drugs_in(self, role: int) -> Integers:
        """The drugs of a role."""
        return np.flatnonzero(self.drugs == role)

    @property
    def table(self) -> Codes:
        """What the file holds."""
        rows = np.column_stack(
            [np.concatenate([self.drugs, self.items]), np.concatenate([np.zeros_like(self.drugs), self.places])]
        )
        return rows.astype(np.int32)

    @property
    def training(self) -> int:
        """How many items train."""
        return int((self.items == TRAIN).sum())

    @property
    def test(self) -> int:
        """How many items are asked of a method: S1 and S2."""
        return int(np.isin(self.items, (TEST_S1, TEST_S2)).sum())


def part_split(drugs: Codes, items: Codes, places: Codes | None = None) -> PartSplit:
    """A split with its digest. Without places, every part keeps the order of the items."""
    drugs, items = np.array(drugs, dtype=np.int32), np.array(items, dtype=np.int32)
    places = places_of(items) if places is None else np.array(places, dtype=np.int32)
    for array in (drugs, items, places):
        array.setflags(write=False)
    unhashed = PartSplit(drugs, items, places, "")
    return PartSplit(drugs, items, places, hashlib.sha256(parts_bytes(unhashed)).hexdigest())


def places_of(items: Codes) -> Codes:
    """The place of every item in its part, counted in the order of the items."""
    order = np.argsort(items, kind="stable")
    _, first, sizes = np.unique(items[order], return_index=True, return_counts=True)
    places = np.empty(len(items), dtype=np.int32)
    places[order] = np.arange(len(items)) - np.repeat(first, sizes)
    return places


def parts_bytes(split: PartSplit) -> bytes:
    """The split file."""
    return npy_bytes(split.table)


def read_parts(path: Path, drugs: int) -> PartSplit:
    """A split file from anywhere, of so many drugs, checked for its form."""
    try:
        shape = read_header(path)[1]
        if len(shape) != 2 or shape[1] != 2:
            raise NotNpy(f"has the shape {shape} instead of two columns")
        if shape[0] < drugs:
            raise NotNpy(f"has {shape[0]} rows, fewer than the {drugs} drugs")
        table = read_npy(path, DTYPE, shape)
    except OSError as error:
        raise CorruptData(f"the split can't be read: {error.strerror}", where=str(path)) from None
    except NotNpy as error:
        raise CorruptData(
            f"the split file {error}", where=str(path), todo="make it again with `harness split make`"
        ) from None
    split = part_split(table[:drugs, 0], table[drugs:, 0], table[drugs:, 1])
    if table[:drugs, 1].any():
        raise CorruptData("the split file gives drugs a place", where=str(path), todo="drugs have place 0")
    return split


def expected_parts(pairs: npt.NDArray[np.int32], drugs: Codes) -> Codes:
    """What the roles of its two drugs make of every item: train (or S0), S1 or S2 of valid or test, or outside."""
    low, high = np.sort(drugs[pairs], axis=1).T
    parts = np.full(len(pairs), OUTSIDE, dtype=np.int32)
    parts[(low == KNOWN) & (high == KNOWN)] = TRAIN
    for role, alone, both in ((VALID_NEW, VALID_S1, VALID_S2), (TEST_NEW, TEST_S1, TEST_S2)):
        parts[(low == KNOWN) & (high == role)] = alone
        parts[(low == role) & (high == role)] = both
    return parts


def broken_promises(
    split: PartSplit, pairs: npt.NDArray[np.int32], drug_count: int, negative: npt.NDArray[np.bool_]
) -> list[str]:
    """What every split promises: its size, known codes, items where their drugs belong, places without a gap.

    No item is lost but negatives, which were drawn for some other split.
    """
    if (len(split.drugs), len(split.items)) != (drug_count, len(pairs)):
        return [
            f"the split is of {len(split.drugs)} drugs and {len(split.items)} items, "
            f"the dataset has {drug_count} and {len(pairs)}"
        ]
    strange = [f"role {code} has no meaning" for code in np.unique(split.drugs) if int(code) not in ROLES]
    strange += [f"part {code} has no meaning" for code in np.unique(split.items) if int(code) not in PARTS]
    if strange:
        return strange
    broken = [f"there is no {ROLES[role]} drug" for role in (KNOWN, TEST_NEW) if not len(split.drugs_in(role))]
    if not split.training:
        broken.append("there is no training item")
    broken += _misplaced(split, pairs, negative)
    for part, name in PARTS.items():
        places = np.sort(split.places[split.items == part])
        if not np.array_equal(places, np.arange(len(places))):
            broken.append(f"the places of part {name} are not numbered from 0 without a gap")
    return broken


def _misplaced(split: PartSplit, pairs: npt.NDArray[np.int32], negative: npt.NDArray[np.bool_]) -> list[str]:
    """Items in no part, or in one, where the roles of their drugs do not put them."""
    expected = expected_parts(pairs, split.drugs)
    found = np.where(np.isin(split.items, (VALID_S0, TEST_S0)), TRAIN, split.items)
    lost = np.flatnonzero((found == OUTSIDE) & (expected != OUTSIDE) & ~negative)
    broken = [f"{len(lost)} items are in no part, for one item {lost[0]}"] if len(lost) else []
    wrong = np.flatnonzero((found != expected) & (found != OUTSIDE))
    for part in np.unique(split.items[wrong]):
        there = wrong[split.items[wrong] == part]
        head, tail = pairs[there[0]]
        broken.append(
            f"{len(there)} items of part {PARTS[int(part)]} join other drugs, for one item {there[0]}: a "
            f"{ROLES[int(split.drugs[head])]} drug ({head}) and a {ROLES[int(split.drugs[tail])]} drug ({tail})"
        )
    return broken
