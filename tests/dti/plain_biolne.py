"""bioLNE's steps once more, from their definitions and in no hurry: what its Java is compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Pairs = Sequence[Sequence[int]]


class JavaRandom:
    """java.util.Random, as its documentation defines it."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def _next(self, bits: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return self._state >> (48 - bits)

    def integer(self, bound: int) -> int:
        if bound & (bound - 1) == 0:
            return bound * self._next(31) >> 31
        while True:
            bits = self._next(31)
            if bits - bits % bound + bound - 1 < 1 << 31:
                return bits % bound

    def double(self) -> float:
        return ((self._next(26) << 27) + self._next(27)) * 2.0**-53

    def single(self) -> np.float32:
        return np.float32(self._next(24) / (1 << 24))

    def shuffle(self, values: list[int]) -> None:
        for at in range(len(values), 1, -1):
            other = self.integer(at)
            values[at - 1], values[other] = values[other], values[at - 1]


def neighbours_of(nodes: int, edges: Pairs) -> list[list[int]]:
    """An undirected graph without repeated edges."""
    joined: list[set[int]] = [set() for _ in range(nodes)]
    for one, other in edges:
        joined[one].add(other)
        joined[other].add(one)
    return [sorted(some) for some in joined]


def walk_chances(neighbours: list[list[int]], before: int, node: int, p: float, q: float) -> dict[int, float]:
    """node2vec's chance of every next node."""
    weights = {
        one: 1 / p if one == before else 1.0 if one in neighbours[before] else 1 / q for one in neighbours[node]
    }
    return {one: weight / sum(weights.values()) for one, weight in weights.items()}


def node_vectors(
    neighbours: list[list[int]], size: int, walks: int, length: int, window: int, p: float, q: float, seed: int
) -> npt.NDArray[np.float32]:
    """Walks, then skip-gram with negative sampling; NaN for nodes without neighbours."""
    random, nodes = JavaRandom(seed), len(neighbours)
    starts = [node for node in range(nodes) if neighbours[node]]
    corpus = []
    for _ in range(walks):
        random.shuffle(starts)
        corpus += [_walk(neighbours, start, length, p, q, random) for start in starts]
    counts = np.bincount(np.concatenate(corpus), minlength=nodes)
    drawn = [random.single() for _ in range(nodes * size)]
    inputs = ((np.array(drawn) - np.float32(0.5)) / np.float32(size)).reshape(nodes, size)
    outputs = np.zeros_like(inputs)
    shares = 1e-3 * counts.sum() / np.maximum(counts, 1)
    keeps = np.sqrt(shares) + shares
    stays, others = _aliases(counts)
    done = 0
    for walk in corpus:
        rate = np.float32(0.025 - (0.025 - 0.0001) * (done / counts.sum()))
        kept = [node for node in walk if keeps[node] >= 1 or random.double() < keeps[node]]
        for centre, node in enumerate(kept):
            width = window - random.integer(window)
            for at in range(max(0, centre - width), min(len(kept), centre + width + 1)):
                if at == centre:
                    continue
                change, vector = np.zeros(size, dtype=np.float32), inputs[kept[at]]
                for draw in range(6):
                    target = node
                    if draw:
                        target = random.integer(nodes)
                        target = target if random.single() < stays[target] else others[target]
                        if target == node:
                            continue
                    product = float(vector @ outputs[target])
                    if abs(product) >= 6:
                        continue
                    place = 12 * int((product + 6) * 83) / 1000 - 6
                    step = np.float32((draw == 0) - np.float32(1 / (1 + math.exp(-place)))) * rate
                    change += step * outputs[target]
                    outputs[target] += step * vector
                inputs[kept[at]] += change
        done += len(walk)
    inputs[[node for node in range(nodes) if not neighbours[node]]] = np.nan
    return inputs


def _walk(
    neighbours: list[list[int]], start: int, length: int, p: float, q: float, random: JavaRandom
) -> list[int]:
    walk, most = [start], max(1, 1 / p, 1 / q)
    while len(walk) < length:
        some = neighbours[walk[-1]]
        node = some[random.integer(len(some))]
        if len(walk) > 1:
            before = walk[-2]
            weight = 1 / p if node == before else 1 if q == 1 or node in neighbours[before] else 1 / q
            if weight < most and random.double() * most >= weight:
                continue
        walk.append(node)
    return walk


def _aliases(counts: npt.NDArray[np.int64]) -> tuple[list[np.float32], list[int]]:
    shares = [float(count) ** 0.75 for count in counts]
    total, nodes = sum(shares), len(shares)
    shares = [share * (nodes / total) for share in shares]
    stays, others = [np.float32(0)] * nodes, [0] * nodes
    small = [node for node in range(nodes) if shares[node] < 1]
    large = [node for node in range(nodes) if shares[node] >= 1]
    visited = max(node for node in range(nodes) if counts[node])
    while small and large:
        less, more = small.pop(), large[-1]
        stays[less], others[less] = np.float32(shares[less]), more
        shares[more] -= 1 - shares[less]
        if shares[more] < 1:
            small.append(large.pop())
    for node in [*small, *large]:
        stays[node], others[node] = np.float32(1 if counts[node] else 0), visited
    return stays, others


def rounded(value: float) -> float:
    """Three decimals, halves away from zero."""
    return float(Decimal(value).quantize(Decimal("0.001"), rounding=ROUND_HALF_UP))


def inferred(vectors: Numbers, known: Pairs, side: int, node: int, other: int) -> float:
    """How similar `node` is to those of its kind that bind `other`."""
    binding = [pair[side] for pair in known if pair[1 - side] == other]
    if not binding or np.isnan(vectors[node]).any():
        return 0.0
    length = np.sqrt((vectors**2).sum(axis=1))
    cosines = vectors @ vectors[node] / (length * length[node])
    some = [cosine for at, cosine in enumerate(cosines) if at != node and not np.isnan(cosine)]
    most, least = max(*some, 0.0, 5e-324), min(some)
    some = [2 * (cosines[one] - least) / (most - least) - 1 for one in binding if one != node]
    return float(sum(some) / len(binding))


def scaled(scores: Numbers) -> Numbers:
    """From 0 to 1."""
    return np.asarray((scores - scores.min()) / (scores.max() - scores.min()))
