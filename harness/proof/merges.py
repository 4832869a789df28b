"""Merges: a log that holds all leaves of another one, and proves it.

The other log's leaves enter as they are. A `merge` leaf then names the root of that log, and the places at which
its leaves stand here, in its order. So whoever holds this log can put the other one together again, and compare
its root with what was signed elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.base.plurals import counted
from harness.proof.leaves import Event, Leaf, now
from harness.proof.tree import leaf_hash, root_of


def merged_lines(held: Sequence[bytes], other: Sequence[bytes]) -> list[bytes]:
    """What a log that holds some lines must take in, so that it holds another log too; nothing if it does."""
    free: dict[bytes, list[int]] = {}
    for place in reversed(range(len(held))):
        free.setdefault(held[place], []).append(place)
    lines, places = list[bytes](), list[int]()
    for line in other:
        if at := free.get(line):
            places.append(at.pop())
        else:
            places.append(len(held) + len(lines))
            lines.append(line)
    root = root_of([leaf_hash(line) for line in other]).hex()
    # a root has no characters that JSON would write otherwise
    if not other or (not lines and any(f'"root":"{root}"'.encode() in line for line in held)):
        return []
    what = f"a log of {counted(len(other), 'leaf', 'leaves')}"
    return [*lines, Leaf(Event.MERGE, now(), what, root=root, parts=_text(places)).line]


def broken_merges(leaves: Sequence[Leaf]) -> Iterator[Leaf]:
    """The merges whose log can't be put together again from the leaves that they name.

    A merge that came from another log names places of that log: it is looked at there.
    """
    of_others: set[int] = set()
    for place in reversed(range(len(leaves))):
        leaf = leaves[place]
        if leaf.kind is not Event.MERGE or place in of_others:
            continue
        places = _places(leaf.parts, place)
        other = [leaves[one] for one in places]
        if root_of([leaf_hash(one.line) for one in other]).hex() != leaf.root:
            yield leaf
            continue
        of_others.update(places)
        yield from broken_merges(other)


def _text(places: Sequence[int]) -> str:
    """`1-5,9`: places counted from 1, in order."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place:
            runs[-1][1] = place + 1
        else:
            runs.append([place + 1, place + 1])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _places(text: str, end: int) -> list[int]:
    """The places that a text names, counted from 0; none where it names other than leaves before `end`."""
    places: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        bounds = (first, last if dash else first)
        if not all(one.isascii() and one.isdigit() and len(one) <= len(str(end)) for one in bounds):
            return []
        if not 1 <= int(bounds[0]) <= int(bounds[1]) <= end or len(places) > end:
            return []
        places += range(int(bounds[0]) - 1, int(bounds[1]))
    return places
