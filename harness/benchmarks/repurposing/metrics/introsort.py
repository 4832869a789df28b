"""The order that an unstable sort gives to ties, by definition: places under the introsort of numpy before 1.25.

Published values of NDCG depend on it: predictions there are +1 or -1, so nearly everything is a tie. The algorithm
is quicksort (pivot: median of first, middle and last; Hoare's partition; pieces of up to 16 elements by insertion
sort), with heapsort once a piece that was put aside lies too deep. Later versions of numpy sort ties otherwise,
depending on the processor, so the algorithm is written out here. All pieces of one depth are partitioned together
in vectorised steps, and pieces that hold none of the wanted elements are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_SMALL = 16

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass
class _Pieces:
    """Runs of places still to be sorted: first and last place, depth left, and whether a piece was put aside."""

    first: Integers
    last: Integers
    depth: Integers
    aside: Flags

    def only(self, chosen: Flags) -> _Pieces:
        return _Pieces(self.first[chosen], self.last[chosen], self.depth[chosen], self.aside[chosen])


def places(values: Floats, lengths: Integers, wanted: Flags) -> Integers:
    """Where each wanted element lies once each of the consecutive runs of `lengths` is sorted by increasing value.

    The places count from 0 within a run and come in the order of the wanted elements. Values must be finite.
    """
    order = np.arange(len(values))
    starts = np.cumsum(lengths) - lengths
    some = lengths > 0
    pieces = _Pieces(
        first=starts[some],
        last=(starts + lengths)[some] - 1,
        # twice the position of the highest bit, as an allowance of depth
        depth=2 * (np.frexp(lengths[some].astype(np.float64))[1].astype(np.int64) - 1),
        aside=np.ones(int(some.sum()), dtype=bool),
    )
    pieces = _with_wanted(pieces, wanted, order)
    while len(pieces.first):
        deep = pieces.aside & (pieces.depth < 0)
        for first, last in zip(pieces.first[deep], pieces.last[deep], strict=True):
            order[first : last + 1] = _heap_sorted(values, order[first : last + 1])
        pieces = pieces.only(~deep)
        small = pieces.last - pieces.first < _SMALL
        _sort_small(values, order, pieces.only(small))
        pieces = _with_wanted(_partition(values, order, pieces.only(~small)), wanted, order)
    found = np.empty(len(values), dtype=np.int64)
    found[order] = np.arange(len(values)) - np.repeat(starts, lengths)
    return found[wanted]


def _with_wanted(pieces: _Pieces, wanted: Flags, order: Integers) -> _Pieces:
    """Drop the pieces without any wanted element: nobody asks for their order."""
    if not len(pieces.first):
        return pieces
    place, piece = _members(pieces.first, pieces.last)
    return pieces.only(np.bincount(piece[wanted[order[place]]], minlength=len(pieces.first)) > 0)


def _members(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """All places of several pieces, and the number of the piece that each belongs to."""
    sizes = last - first + 1
    piece = np.repeat(np.arange(len(first)), sizes)
    return np.arange(int(sizes.sum())) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes), piece


def _sort_small(values: Floats, order: Integers, pieces: _Pieces) -> None:
    """Insertion sort is stable, so any stable sort gives its order."""
    if not len(pieces.first):
        return
    place, piece = _members(pieces.first, pieces.last)
    table = np.full((len(pieces.first), _SMALL), np.inf)
    table[piece, place - pieces.first[piece]] = values[order[place]]
    sorted_columns = np.argsort(table, axis=1, kind="stable")
    inside = np.arange(_SMALL) <= (pieces.last - pieces.first)[:, None]
    order[place] = order[(sorted_columns + pieces.first[:, None])[inside]]


def _partition(values: Floats, order: Integers, pieces: _Pieces) -> _Pieces:
    """Split every piece around its pivot; the pivot is in its final place afterwards."""
    first, last = pieces.first, pieces.last
    if not len(first):
        return pieces
    middle = first + ((last - first) >> 1)
    _order_two(values, order, first, middle)
    _order_two(values, order, middle, last)
    _order_two(values, order, first, middle)
    pivot = values[order[middle]]
    _swap(order, middle, last - 1)
    meeting = _exchange(values, order, first, last, pivot)
    _swap(order, meeting, last - 1)
    return _halves(pieces, meeting)


def _exchange(values: Floats, order: Integers, first: Integers, last: Integers, pivot: Floats) -> Integers:
    """Hoare's scan: the k-th element from the left that is no smaller than the pivot changes places with the k-th
    from the right that is no larger, as long as they have not met. Returns where each left scan ends."""
    place, piece = _members(first, last)
    value, limit = values[order[place]], pivot[piece]
    from_left = (value >= limit) & (place > first[piece]) & (place < last[piece])
    from_right = (value <= limit) & (place < (last - 1)[piece])
    left, right = place[from_left], place[from_right]
    left_count = np.bincount(piece[from_left], minlength=len(first))
    right_count = np.bincount(piece[from_right], minlength=len(first))
    left_start, right_end = np.cumsum(left_count) - left_count, np.cumsum(right_count)
    number, pair_piece = _members(np.zeros_like(first), np.minimum(left_count, right_count) - 1)
    lefts = left[left_start[pair_piece] + number]
    rights = right[right_end[pair_piece] - 1 - number]
    apart = lefts < rights
    _swap(order, lefts[apart], rights[apart])
    swaps = np.bincount(pair_piece[apart], minlength=len(first))
    # The next left stop is an untouched one, or the last place that was filled from the left.
    untouched = np.append(left, len(order))[np.minimum(left_start + swaps, len(left))]
    untouched = np.where(swaps < left_count, untouched, len(order))
    filled = np.append(right, len(order))[np.where(swaps > 0, right_end - swaps, len(right))]
    return np.asarray(np.minimum(untouched, filled))


def _halves(pieces: _Pieces, meeting: Integers) -> _Pieces:
    """Both sides of the pivots. The larger one is put aside, the other is worked on at once."""
    first, last, depth = pieces.first, pieces.last, pieces.depth - 1
    left_is_smaller = meeting - first < last - meeting
    halves = _Pieces(
        first=np.concatenate([first, meeting + 1]),
        last=np.concatenate([meeting - 1, last]),
        depth=np.concatenate([depth, depth]),
        aside=np.concatenate([~left_is_smaller, left_is_smaller]),
    )
    return halves.only(halves.first <= halves.last)


def _order_two(values: Floats, order: Integers, low: Integers, high: Integers) -> None:
    wrong = values[order[high]] < values[order[low]]
    _swap(order, low[wrong], high[wrong])


def _swap(order: Integers, one: Integers, other: Integers) -> None:
    order[one], order[other] = order[other], order[one]


def _heap_sorted(values: Floats, elements: Integers) -> Integers:
    """Heapsort with the larger child preferred only when strictly larger, as the fallback does."""
    heap = [0, *elements.tolist()]
    key = {element: float(values[element]) for element in heap[1:]}
    size = len(elements)
    for root in range(size // 2, 0, -1):
        _sift(heap, key, heap[root], root, size)
    for end in range(size, 1, -1):
        sinking, heap[end] = heap[end], heap[1]
        _sift(heap, key, sinking, 1, end - 1)
    return np.array(heap[1:], dtype=np.int64)


def _sift(heap: list[int], key: dict[int, float], sinking: int, hole: int, size: int) -> None:
    """Let an element sink from `hole` to where no child is larger."""
    child = 2 * hole
    while child <= size:
        if child < size and key[heap[child]] < key[heap[child + 1]]:
            child += 1
        if not key[sinking] < key[heap[child]]:
            break
        heap[hole] = heap[child]
        hole, child = child, 2 * child
    heap[hole] = sinking
