"""What Java's own classes do, to the bit: `java.util.Random`, `Collections.shuffle`, `String.hashCode`, `HashSet`.

BETA's generator lets the order of hash tables decide what is drawn, so its tasks can be made again only with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

_MULTIPLIER, _INCREMENT, _STATES = 0x5DEECE66D, 0xB, (1 << 48) - 1
_BITS, _WORD = 31, (1 << 32) - 1
_STEPS = 4096
# what a table has at first, and the share of it that may be in use
_TABLE, _LOAD = 16, 0.75


def _jumps() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Factor and summand of 1, 2, ... steps of the generator at once."""
    factors, summands, factor, summand = [], [], 1, 0
    for _ in range(_STEPS):
        factor, summand = factor * _MULTIPLIER & _STATES, (summand * _MULTIPLIER + _INCREMENT) & _STATES
        factors.append(factor)
        summands.append(summand)
    return np.array(factors, dtype=np.uint64), np.array(summands, dtype=np.uint64)


_FACTORS, _SUMMANDS = _jumps()


class JavaRandom:
    """`new java.util.Random(seed)`."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _STATES

    def below(self, bound: int) -> int:
        """`nextInt(bound)`."""
        return int(self.below_each(np.array([bound]))[0])

    def below_each(self, bounds: Integers) -> Integers:
        """`nextInt` of every bound in turn; a draw that would favour small numbers is repeated, as there."""
        drawn, done = np.empty(len(bounds), dtype=np.int64), 0
        while done < len(bounds):
            chunk = bounds[done : done + _STEPS]
            count = len(chunk)
            # products wrap at 2^64, which leaves the 48 bits of a state as they are
            states = (np.uint64(self._state) * _FACTORS[:count] + _SUMMANDS[:count]) & np.uint64(_STATES)
            bits = (states >> np.uint64(48 - _BITS)).astype(np.int64)
            rest = bits % chunk
            power = (chunk & -chunk) == chunk
            refused = ~power & (bits - rest + chunk - 1 >= 1 << _BITS)
            stop = int(refused.argmax()) if refused.any() else count
            drawn[done : done + stop] = np.where(power, (chunk * bits) >> _BITS, rest)[:stop]
            self._state = int(states[min(stop, count - 1)])
            done += stop
        return drawn


def shuffled(items: Integers, random: JavaRandom) -> Integers:
    """The list after `Collections.shuffle(items, random)`."""
    return items[first_of_shuffled(len(items), len(items), random)]


def first_of_shuffled(size: int, count: int, random: JavaRandom) -> Integers:
    """The old places of the first `count` of a shuffled list: all are drawn for, only these are followed.

    Swaps are undone from the last to the first: each brings in a new place, and matters only if its other place is
    followed.
    """
    count = min(count, size)
    swaps = np.zeros(size, dtype=np.int64)
    swaps[1:] = random.below_each(np.arange(size, 1, -1, dtype=np.int64))[::-1]
    slots = np.full(size, -1, dtype=np.int64)
    slots[:count] = np.arange(count)
    place = _swapped_back(slots, swaps, count)
    followed = np.empty(count, dtype=np.int64)
    at = np.flatnonzero(place >= 0)
    followed[place[at]] = at
    return followed


def _swapped_back(slots: Integers, swaps: Integers, count: int) -> Integers:
    """`slots` after the swaps are undone, each only if one of its two places is followed."""
    size, start = len(slots), 1
    while start < size:
        # places of one stretch may be hit within it, so it is short beside what lies before
        stop = min(size, start + max(start // 16, 256))
        stretch = swaps[start:stop]
        hit = (slots[stretch] >= 0) | (stretch >= start) | (np.arange(start, stop) < count)
        for step in (start + np.flatnonzero(hit)).tolist():
            other = swaps[step]
            slots[step], slots[other] = slots[other], slots[step]
        start = stop
    return slots


def hash_codes(texts: Sequence[str]) -> Integers:
    """`String.hashCode` of every text, as unsigned."""
    return np.array([_hash_code(text) for text in texts], dtype=np.int64)


def _hash_code(text: str) -> int:
    code = 0
    for unit in np.frombuffer(text.encode("utf-16-le"), dtype="<u2").tolist():
        code = (31 * code + unit) & _WORD
    return code


def joined(left: Integers, right: Integers, length: Integers | int) -> Integers:
    """The hash codes of texts that are put together; `length` is that of the right ones."""
    powers = np.array([pow(31, n, 1 << 32) for n in range(int(np.max(length, initial=0)) + 1)], dtype=np.int64)
    return (left * powers[length] + right) & _WORD


def iterated(items: Integers, hashes: Integers) -> Integers:
    """`items`, repetitions left out, as a new `HashSet` gives them back that they were added to one by one.

    By bucket of a table that doubles when three quarters of it are full, then by their time of adding. That Java
    makes trees of crowded buckets changes no order that is ever used here. Deleting leaves a table as it is, so a
    set without some of its members is this without them.
    """
    _, first = np.unique(items, return_index=True)
    first.sort()
    buckets = buckets_of(hashes[first], table_of(len(first)))
    return items[first[np.argsort(buckets, kind="stable")]]


def iterated_at(hashes: Integers, places: Integers) -> Integers:
    """Which of distinct items of these hash codes a new `HashSet` of them gives back at these places.

    The same as `iterated`, without a sort of all: spaces have millions of pairs, of which hundreds are drawn.
    """
    table = table_of(len(hashes))
    buckets = buckets_of(hashes, table)
    ends = np.cumsum(np.bincount(buckets, minlength=table))
    at = np.searchsorted(ends, places, side="right")
    wanted = np.zeros(table, dtype=np.bool_)
    wanted[at] = True
    near = np.flatnonzero(wanted[buckets])
    near = near[np.argsort(buckets[near], kind="stable")]
    # counted from the end of a bucket, which is where it is both among all and among the wanted
    return near[np.searchsorted(buckets[near], at, side="right") - (ends[at] - places)]


def table_of(size: int) -> int:
    """How large the table of a set is that `size` items were added to."""
    table = _TABLE
    while size > _LOAD * table:
        table *= 2
    return table


def buckets_of(hashes: Integers, table: Integers | int) -> Integers:
    """The bucket of every hash code in a table of this size."""
    return (hashes ^ (hashes >> 16)) & (table - 1)
