"""BETA's generator told once more, in the plainest way: texts in hash tables, one draw after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

Pair = tuple[str, str]
T = TypeVar("T")

NODE = "<http://bio2rdf.org/drugbank:{}>"
LINE = NODE + " <http://bio2rdf.org/drugbank_vocabulary:drug-target> " + NODE + " ."


@cache
def hash_code(text: str) -> int:
    """`String.hashCode`, unsigned."""
    code = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + 256 * high + low) % 2**32
    return code


class Random:
    """`java.util.Random`."""

    def __init__(self, seed: int) -> None:
        self.state = (seed ^ 0x5DEECE66D) % 2**48

    def bits(self) -> int:
        """`next(31)`."""
        self.state = (self.state * 0x5DEECE66D + 0xB) % 2**48
        return self.state >> 17

    def below(self, bound: int) -> int:
        """`nextInt(bound)`."""
        if bound & -bound == bound:
            return bound * self.bits() >> 31
        while True:
            bits = self.bits()
            if bits - bits % bound + bound - 1 < 2**31:
                return bits % bound


def shuffled(items: Iterable[T], random: Random) -> list[T]:
    """`Collections.shuffle`."""
    copy = list(items)
    for size in range(len(copy), 1, -1):
        other = random.below(size)
        copy[size - 1], copy[other] = copy[other], copy[size - 1]
    return copy


class Table(Generic[T]):
    """A `HashSet`: chains that are dealt anew when the table doubles; deleting keeps the table."""

    def __init__(self, text: Callable[[T], str], items: Iterable[T] = ()) -> None:
        self.text = text
        self.chains: list[list[T]] = [[] for _ in range(16)]
        for item in items:
            self.add(item)

    def _chain(self, item: T) -> list[T]:
        code = hash_code(self.text(item))
        return self.chains[(code ^ code >> 16) % len(self.chains)]

    def add(self, item: T) -> None:
        """Add at the end of a chain, if it is new."""
        if item in self._chain(item):
            return
        self._chain(item).append(item)
        if sum(map(len, self.chains)) > 0.75 * len(self.chains):
            items = list(self)
            self.chains = [[] for _ in range(2 * len(self.chains))]
            for one in items:
                self._chain(one).append(one)

    def without(self, others: Iterable[T]) -> Table[T]:
        """This, after others were deleted."""
        gone = set(others)
        self.chains = [[item for item in chain if item not in gone] for chain in self.chains]
        return self

    def __iter__(self) -> Iterator[T]:
        return (item for chain in self.chains for item in chain)


def nodes(items: Iterable[str]) -> Table[str]:
    """A set of drugs or targets."""
    return Table(NODE.format, items)


def lines(pairs: Iterable[Pair]) -> Table[Pair]:
    """A set of bindings."""
    return Table(lambda pair: LINE.format(*pair), pairs)


def others(pairs: Iterable[Pair]) -> Table[Pair]:
    """A set of other pairs."""
    return Table(lambda pair: f"{NODE.format(pair[0])} {NODE.format(pair[1])}", pairs)


def ends(pairs: Iterable[Pair], side: int) -> Table[str]:
    """The nodes of one side."""
    return nodes(pair[side] for pair in pairs)


def nested(pairs: Sequence[Pair], side: int) -> list[Pair]:
    """The pairs in the order of a map of sets."""
    listed = []
    for node in ends(pairs, side):
        inner = nodes(pair[1 - side] for pair in pairs if pair[side] == node)
        listed += [(node, other) if side == 0 else (other, node) for other in inner]
    return listed


def scenario(pairs: Sequence[Pair], number: int, seed: int) -> list[Pair]:
    """The bindings of Test 1 in the order in which they are chosen."""

    def degrees(graph: Iterable[Pair]) -> Counter[str]:
        return Counter(node for pair in graph for node in pair)

    def pool(graph: list[Pair]) -> list[Pair]:
        inside, degree = set(graph), degrees(graph)
        by_drug, by_target = ([pair for pair in order if pair in inside] for order in orders)
        if number == 1:
            return [pair for pair in by_drug if degree[pair[0]] > 1 and degree[pair[1]] > 1]
        first = [pair for pair in by_drug if degree[pair[0]] == 1 and degree[pair[1]] > 1]
        return first + [pair for pair in by_target if degree[pair[1]] == 1 and degree[pair[0]] > 1]

    orders = nested(pairs, 0), nested(pairs, 1)
    if number == 3:
        once = degrees(pairs)
        return [pair for pair in orders[0] if all(once[node] == 1 for node in pair)]
    graph, chosen = list(pairs), list[Pair]()
    while free := pool(graph):
        listed = list(others(free)) if chosen else free
        chosen.append(listed[Random(seed).below(len(listed))])
        graph.remove(chosen[-1])
    return chosen


@dataclass
class Task:
    """A fold: what is learned from and asked, in order."""

    train: list[Pair]
    test: list[Pair]


def fold(pairs: Sequence[Pair], chosen: Sequence[Pair], number: int, folds: int, seed: int) -> Task:
    """A fold of chosen bindings."""
    listed = shuffled(lines(chosen), Random(seed))
    size, more = divmod(len(listed), folds)
    blocks, start = [], 0
    for one in range(folds):
        stop = start + size + (one < more)
        blocks.append(listed[start:stop])
        start = stop
    rest = [pair for one, block in enumerate(blocks) if one != number for pair in block]
    inside = set(chosen)
    outside = lines(pair for pair in pairs if pair not in inside)
    return Task(list(lines([*rest, *outside])), list(lines(blocks[number])))


def connected(
    pairs: Sequence[Pair], task: Task, space: str, network: Sequence[Sequence[str]], seed: int
) -> list[Pair]:
    """The negatives of Test 1; `network` are all drugs and all targets in their order."""
    known, random = set(pairs), Random(seed)
    asked = [ends(task.test, side) for side in (0, 1)]
    only = [ends(task.train, side).without(asked[side]) for side in (0, 1)]
    groups = {"T": asked, "C": only, "A": lone(pairs, network)}
    if space == "CC":
        drugs, targets = (shuffled(part, random) for part in only)
        drawn = others([])
        while len(list(drawn)) < len(task.test):
            pair = drugs[random.below(len(drugs))], targets[random.below(len(targets))]
            if pair not in known:
                drawn.add(pair)
        return list(others(drawn))
    if space in ("SS", "SU"):
        collected = others(_near(task, space == "SS", random))
    elif space == "DI":
        collected = others(_isolated(task, random))
    else:
        blocks = dict.fromkeys([(space[0], space[1]), (space[1], space[0])])
        full = others(
            (drug, target)
            for one, other in blocks
            for drug in groups[one][0]
            for target in groups[other][1]
            if (drug, target) not in known
        )
        return list(others(shuffled(full, random)[: len(task.test)]))
    return list(others(pair for pair in collected if pair not in known))


def _near(task: Task, similar: bool, random: Random) -> Iterable[Pair]:
    def around(node: str, side: int) -> list[str]:
        return list(nodes(pair[1 - side] for pair in task.train if pair[side] == node))

    for pair in others(task.test):
        side = 0 if around(pair[0], 0) else 1
        if not around(pair[side], side):
            continue
        siblings = dict.fromkeys(back for near in around(pair[side], side) for back in around(near, 1 - side))
        free = list(siblings) if similar else list(ends(task.train, side).without(siblings))
        if free:
            other = shuffled(free, random)[0]
            yield (other, pair[1]) if side == 0 else (pair[0], other)


def _isolated(task: Task, random: Random) -> Iterable[Pair]:
    free = [ends(task.test, side).without(ends(task.train, side)) for side in (0, 1)]
    for drug, target in others(task.test):
        if random.below(2) == 0:
            yield drug, shuffled(free[1], random)[0]
        else:
            yield shuffled(free[0], random)[0], target


def lone(pairs: Sequence[Pair], network: Sequence[Sequence[str]]) -> list[Table[str]]:
    """The nodes without a binding, in a table that held all."""
    return [nodes(network[side]).without(pair[side] for pair in pairs) for side in (0, 1)]


def general(pairs: Sequence[Pair], task: Task, network: Sequence[Sequence[str]], seed: int) -> list[Pair]:
    """The negatives of Test 0."""
    universe = []
    for side in (0, 1):
        asked = ends(task.test, side)
        universe.append(nodes([*asked, *ends(task.train, side).without(asked), *lone(pairs, network)[side]]))
    random = Random(seed)
    drugs, targets = (shuffled(part, random) for part in universe)
    drawn = others([])
    while len(list(drawn)) < len(task.test):
        pair = drugs[random.below(len(drugs))], targets[random.below(len(targets))]
        if pair not in set(pairs):
            drawn.add(pair)
    return list(drawn)


def category(
    known: Iterable[Pair], task: Task, space: str, members: Sequence[str], of_drugs: bool, seed: int
) -> list[Pair]:
    """The negatives of Tests 2, 3, 5 and 6."""
    side = 0 if of_drugs else 1
    tested, only = space[1] == "E", space[2] == "O"
    order = [task.test, task.train] if tested else [task.train, task.test]
    if only:
        first: Iterable[str] = members
    else:
        first = ends([*order[0], *order[1]], side).without(members)
    asked = ends(task.test, 1 - side)
    second = asked if tested else ends(task.train, 1 - side).without(asked)
    random, bound = Random(seed), set(known)
    drugs, targets = (first, second) if of_drugs else (second, first)
    drugs, targets = shuffled(drugs, random), shuffled(targets, random)
    pairs = [(drug, target) for drug in drugs for target in targets if (drug, target) not in bound]
    return list(others(pairs[: len(task.test)]))
