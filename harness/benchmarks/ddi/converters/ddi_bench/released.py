"""The released splits: which drugs are new, the lines of every part in their order, and the items of all splits.

A line's part is kept even where it breaks the rule of its split; the order of lines is kept too, since published
scores leave out the last incomplete batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData
from harness.benchmarks.ddi.dataset import Integers, Signs
from harness.data.lines import lines_of, number_in, path_of

# In the order of their codes, as harness/benchmarks/ddi/splits/parts.py names them.
ROLES = ("train", "valid", "test")
PARTS = ("train", "valid_S0", "valid_S1", "valid_S2", "test_S0", "test_S1", "test_S2")
OUTSIDE = -2


@dataclass(frozen=True)
class ReleasedLines:
    """The lines of one part: pairs, and a type or signs for each."""

    pairs: Integers
    labels: Integers | Signs


@dataclass(frozen=True)
class ReleasedSplit:
    """The role of every drug and the lines of every part, by the part's code."""

    name: str
    roles: Integers
    parts: Mapping[int, ReleasedLines]


@dataclass(frozen=True)
class Items:
    """All items, with part and place in every split."""

    pairs: Integers
    labels: Integers | Signs
    released: Integers
    remarks: tuple[str, ...]


def read_split(
    name: str, files: Mapping[str, Path], drugs: int, types: int, signed: bool, complete: bool
) -> ReleasedSplit:
    """One released split; unless `complete`, parts may be missing."""
    roles = np.full(drugs, OUTSIDE, dtype=np.int32)
    for role, word in enumerate(ROLES):
        for where, (cell,) in lines_of(path_of(f"{name}_{word}_set.txt", files), 1):
            drug = number_in(cell, range(drugs), "drug", where)
            if roles[drug] != OUTSIDE:
                raise CorruptData(f"drug {drug} is in two sets", where=where, todo="restore the original file")
            roles[drug] = role
    parts = {}
    for part, word in enumerate(PARTS):
        file = f"{name}_{word}.txt"
        if complete or file in files:
            parts[part] = _lines(path_of(file, files), drugs, types, signed)
    return ReleasedSplit(name, roles, parts)


def _lines(path: Path, drugs: int, types: int, signed: bool) -> ReleasedLines:
    pairs, labels = [], []
    for where, cells in lines_of(path, 4 if signed else 3):
        head, tail = (number_in(cell, range(drugs), "drug", where) for cell in cells[:2])
        pairs.append((head, tail))
        labels.append(_signs(cells[2], cells[3], types, where) if signed else _type(cells[2], types, where))
    read = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    if signed:
        return ReleasedLines(read, np.array(labels, dtype=np.int8).reshape(-1, types))
    return ReleasedLines(read, np.array(labels, dtype=np.int32))


def _type(cell: str, types: int, where: str) -> int:
    return number_in(cell, range(types), "type", where)


def _signs(bits: str, positive: str, types: int, where: str) -> npt.NDArray[np.int8]:
    """`0,1,1` and 1 for a pair that has these types, 0 for the negative drawn for them."""
    digits = np.frombuffer(bits.replace(",", "").encode(), dtype=np.uint8) - ord("0")
    if len(digits) != types or len(bits) != 2 * types - 1 or (digits > 1).any() or positive not in ("0", "1"):
        raise CorruptData(f"there are not {types} bits and a sign", where=where, todo="restore the original file")
    return digits.astype(np.int8) * np.int8(1 if positive == "1" else -1)


def united(splits: Sequence[ReleasedSplit], drugs: int, types: int) -> Items:
    """The items of all splits, once each: triplets sorted, signed pairs as they are first read."""
    signed = next(iter(splits[0].parts.values())).labels.ndim == 2
    lines = [part for split in splits for part in split.parts.values()]
    pairs = np.concatenate([part.pairs for part in lines])
    labels = np.concatenate([part.labels for part in lines])
    first, item_of = _as_read(pairs, labels) if signed else _in_order(pairs, labels, drugs, types)
    columns, remarks, start = [], [], 0
    for split in splits:
        end = start + sum(len(part.pairs) for part in split.parts.values())
        parts, places, repeats = _places(split, item_of[start:end], len(first))
        columns += [np.concatenate([split.roles, parts]), np.concatenate([np.zeros_like(split.roles), places])]
        if repeats:
            remarks.append(f"released split '{split.name}': {repeats} lines repeat others and are left out")
        start = end
    return Items(pairs[first], labels[first], np.column_stack(columns), tuple(remarks))


def _places(split: ReleasedSplit, item_of: npt.NDArray[np.int64], items: int) -> tuple[Integers, Integers, int]:
    """Part and place of every item, and how many lines repeat others; `item_of` has the item of every line."""
    parts = np.full(items, OUTSIDE, dtype=np.int32)
    places = np.empty(items, dtype=np.int32)
    start = count = 0
    for part, lines in split.parts.items():
        numbers = item_of[start : start + len(lines.pairs)]
        start += len(lines.pairs)
        _, once = np.unique(numbers, return_index=True)
        new = numbers[np.sort(once)]
        new = new[parts[new] == OUTSIDE]
        parts[new], places[new] = part, np.arange(len(new))
        count += len(new)
    outside = parts == OUTSIDE
    places[outside] = np.arange(outside.sum())
    return parts, places, len(item_of) - count


def _in_order(
    pairs: Integers, types_of: npt.NDArray[Any], drugs: int, types: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For every item a line that has it, and for every line its item; by head, tail and type."""
    keys = (pairs[:, 0].astype(np.int64) * drugs + pairs[:, 1]) * types + types_of
    _, first, item_of = np.unique(keys, return_index=True, return_inverse=True)
    return first, item_of


def _as_read(pairs: Integers, signs: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The same, in the order of reading."""
    items: dict[bytes, int] = {}
    first: list[int] = []
    item_of = np.empty(len(pairs), dtype=np.int64)
    for line, (pair, sign) in enumerate(zip(pairs, signs, strict=True)):
        key = pair.tobytes() + sign.tobytes()
        if key not in items:
            items[key] = len(first)
            first.append(line)
        item_of[line] = items[key]
    return np.array(first, dtype=np.int64), item_of
