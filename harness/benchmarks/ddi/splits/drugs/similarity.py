"""The similarity of drugs, the paper's equation (1): a generalised Tanimoto coefficient of count fingerprints.

    S(u, v) = f(u).f(v) / (|f(u)|^2 + |f(v)|^2 - f(u).f(v))

A drug without any count is similar to none. Pairs are found block by block, so that memory does not grow with the
square of the drugs, and only among drugs whose norms allow it. Dot products of counts are whole numbers, which
float32 holds exactly up to 2^24 (float64 takes over beyond), so the same pairs are found on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK = 2048
_EXACT_IN_FLOAT32 = 2**24
# Candidates are chosen in float32 with this much to spare, and judged in float64.
_TO_SPARE = 1e-4

Counts = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """Pairs of drugs, first and second, and how similar they are."""

    first: Integers
    second: Integers
    similarity: Floats


def similar_pairs(fingerprints: Counts, gamma: float) -> Iterator[SimilarPairs]:
    """Every pair of drugs, once, that is more similar than `gamma` (0 or above), in pieces."""
    yield from _above(fingerprints, fingerprints, gamma, within=True)


def pairs_between(fingerprints: Counts, ours: Integers, theirs: Integers, gamma: float) -> SimilarPairs:
    """The pairs of one of `ours` and one of `theirs` that are more similar than `gamma`."""
    pieces = [*_above(fingerprints[ours], fingerprints[theirs], gamma, within=False)]
    if not pieces:
        none = np.zeros(0, dtype=np.int64)
        return SimilarPairs(none, none, np.zeros(0))
    first, second = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("first", "second"))
    return SimilarPairs(ours[first], theirs[second], np.concatenate([piece.similarity for piece in pieces]))


def largest_similarity(fingerprints: Counts, ours: Integers, theirs: Integers) -> float:
    """gamma(Dk, Dn): the largest similarity of a drug of one set and a drug of the other; 0 if one is empty."""
    largest = 0.0
    for piece in _above(fingerprints[ours], fingerprints[theirs], 0.0, within=False, raising=True):
        largest = max(largest, float(piece.similarity.max()))
    return largest


def similarities(fingerprints: Counts) -> Floats:
    """The whole matrix, for few drugs."""
    counts = fingerprints.astype(np.float64)
    dots, norms = counts @ counts.T, (counts**2).sum(axis=1)
    return _similarity(dots, norms[:, None], norms[None, :])


def _similarity(dots: Floats, ours: Floats, theirs: Floats) -> Floats:
    union = ours + theirs - dots
    return np.divide(dots, union, out=np.zeros_like(dots), where=union > 0)


def _above(
    ours: Counts, theirs: Counts, gamma: float, *, within: bool, raising: bool = False
) -> Iterator[SimilarPairs]:
    """Pairs above gamma, block by block of drugs in the order of their norms.

    With `raising`, gamma rises to the largest similarity met, so that only larger ones come.
    """
    rows, columns = _Sorted(ours), _Sorted(theirs)
    for start in range(0, len(rows.order), BLOCK):
        stop = min(start + BLOCK, len(rows.order))
        least, most = rows.norms[start], rows.norms[stop - 1]
        # With r = |f(u)| / |f(v)|, S is at most r / (1 + r^2 - r).
        reach = _reach(gamma)
        begin = start if within else int(np.searchsorted(columns.norms, least * reach, side="left"))
        end = int(np.searchsorted(columns.norms, most / reach, side="right")) if reach else len(columns.norms)
        for low in range(begin, end, BLOCK):
            high = min(low + BLOCK, end)
            found = _in_block(rows, columns, slice(start, stop), slice(low, high), gamma)
            if within:
                keep = found.first + start < found.second + low
                found = SimilarPairs(found.first[keep], found.second[keep], found.similarity[keep])
            if not len(found.first):
                continue
            if raising:
                gamma = float(found.similarity.max())
            first, second = rows.order[found.first + start], columns.order[found.second + low]
            if within:
                first, second = np.minimum(first, second), np.maximum(first, second)
            yield SimilarPairs(first, second, found.similarity)


class _Sorted:
    """Fingerprints in the order of their squared norms, in a type that holds their dot products exactly."""

    def __init__(self, counts: Counts) -> None:
        norms = np.einsum("ij,ij->i", counts, counts, dtype=np.int64)
        self.order = np.argsort(norms, kind="stable")
        self.norms = norms[self.order].astype(np.float64)
        exact = self.norms[-1] < _EXACT_IN_FLOAT32 if len(norms) else True
        self._type: type[np.float32] | type[np.float64] = np.float32 if exact else np.float64
        self._counts = counts

    def block(self, where: slice) -> npt.NDArray[Any]:
        """Some of the fingerprints."""
        return self._counts[self.order[where]].astype(self._type)


def _in_block(rows: _Sorted, columns: _Sorted, here: slice, there: slice, gamma: float) -> SimilarPairs:
    """The pairs of one block above gamma, by their places in it."""
    dots = rows.block(here) @ columns.block(there).T
    ours, theirs = rows.norms[here], columns.norms[there]
    share = gamma / (1 + gamma) * (1 - _TO_SPARE)
    bound = (share * ours).astype(dots.dtype)[:, None] + (share * theirs).astype(dots.dtype)[None, :]
    first, second = np.nonzero(dots > bound)
    found = _similarity(dots[first, second].astype(np.float64), ours[first], theirs[second])
    keep = found > gamma
    return SimilarPairs(first[keep], second[keep], found[keep])


def _reach(gamma: float) -> float:
    """The smallest ratio of two squared norms at which a similarity can be above gamma."""
    if gamma <= 0:
        return 0.0
    if gamma >= 1:
        return 1.0
    # gamma r^2 - (1 + gamma) r + gamma = 0, the smaller root
    root = ((1 + gamma) - np.sqrt((1 + gamma) ** 2 - 4 * gamma**2)) / (2 * gamma)
    return float(root**2) * (1 - _TO_SPARE)
