"""The Merkle tree of RFC 6962 (section 2.1): one hash for a whole log, and short proofs about it.

Everything here is a function of the leaves' hashes, in order. A proof is a list of hashes. Whoever holds it and a
root, but not the log, can check it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence, Set

_LEAF, _NODE = b"\x00", b"\x01"
EMPTY = hashlib.sha256().digest()


def leaf_hash(content: bytes) -> bytes:
    """The hash of one entry of a log."""
    return hashlib.sha256(_LEAF + content).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The hash of the whole tree."""
    return roots_at(leaves, {len(leaves)})[len(leaves)]


def roots_at(leaves: Sequence[bytes], sizes: Set[int]) -> dict[int, bytes]:
    """The hash of the tree over the first so many leaves, for each size: each leaf is hashed into it once."""
    peaks: list[tuple[int, bytes]] = []
    roots = {0: EMPTY} if 0 in sizes else {}
    for number, leaf in enumerate(leaves, start=1):
        size, peak = 1, leaf
        # two neighbours of one size become one
        while peaks and peaks[-1][0] == size:
            peak, size = _node(peaks.pop()[1], peak), 2 * size
        peaks.append((size, peak))
        if number in sizes:
            roots[number] = _joined(peaks)
    return roots


def _joined(peaks: Sequence[tuple[int, bytes]]) -> bytes:
    *others, (_, root) = peaks
    for _, peak in reversed(others):
        root = _node(peak, root)
    return root


def inclusion_proof(leaves: Sequence[bytes], place: int) -> list[bytes]:
    """The hashes that lead from the leaf at a place, counted from zero, to the root."""
    if not 0 <= place < len(leaves):
        raise IndexError(f"a log of {len(leaves)} leaves has none at {place}")
    if len(leaves) == 1:
        return []
    middle = _split(len(leaves))
    if place < middle:
        return [*inclusion_proof(leaves[:middle], place), root_of(leaves[middle:])]
    return [*inclusion_proof(leaves[middle:], place - middle), root_of(leaves[:middle])]


def is_included(leaf: bytes, place: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether a proof shows that this leaf stands at a place of the log with this size and root."""
    if not 0 <= place < size:
        return False
    here, last = leaf, size - 1
    for sibling in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            here = _node(sibling, here)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            here = _node(here, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and here == root


def consistency_proof(leaves: Sequence[bytes], size: int) -> list[bytes]:
    """The hashes that show that the log's first `size` leaves were the whole log once."""
    if not 0 < size <= len(leaves):
        raise IndexError(f"a log of {len(leaves)} leaves was never one of {size}")
    return _subproof(leaves, size, whole=True)


def _subproof(leaves: Sequence[bytes], size: int, *, whole: bool) -> list[bytes]:
    if size == len(leaves):
        return [] if whole else [root_of(leaves)]
    middle = _split(len(leaves))
    if size <= middle:
        return [*_subproof(leaves[:middle], size, whole=whole), root_of(leaves[middle:])]
    return [*_subproof(leaves[middle:], size - middle, whole=False), root_of(leaves[:middle])]


def is_extended(size: int, root: bytes, later_size: int, later_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that a log with one size and root has grown into another (RFC 9162, 2.1.4.2)."""
    if size == later_size:
        return root == later_root and not proof
    if not 0 < size < later_size:
        return False
    hashes = [root, *proof] if size & (size - 1) == 0 else [*proof]
    if not hashes:
        return False
    place, last = size - 1, later_size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = _node(sibling, old), _node(sibling, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = _node(new, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and old == root and new == later_root


def _split(size: int) -> int:
    """The largest power of two below a size."""
    return 1 << ((size - 1).bit_length() - 1)


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()
