"""A drug's neighbourhood in the knowledge graph as TIGER sees it: where a random walk went, and its paths."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from graphs import Graph, Integers, Links, distances

# nodes of a walk, the drug itself included
LENGTH = 32


def knowledge_graphs(knowledge: Integers, drugs: int, relations: int, generator: random.Random) -> list[Graph]:
    """One graph per drug, from walks that are drawn. A drug outside the graph stays alone."""
    joined: dict[int, set[int]] = defaultdict(set)
    incident: dict[int, list[int]] = defaultdict(list)
    for place, (head, tail) in enumerate(knowledge[:, :2].tolist()):
        joined[head].add(tail)
        joined[tail].add(head)
        incident[head].append(place)
    neighbours = {node: sorted(others) for node, others in joined.items()}
    found = []
    for drug in range(drugs):
        if drug not in neighbours:
            found.append(_alone(drug, relations))
            continue
        nodes = sorted(_walk(neighbours, drug, generator))
        facts = knowledge[[place for node in nodes for place in incident[node]]]
        found.append(subgraph(nodes, facts, drug, relations))
    return found


def subgraph(nodes: Sequence[int], facts: Integers, drug: int, relations: int) -> Graph:
    """What the facts (head, tail, relation) say of these nodes, in both directions, and the paths of other
    lengths.

    A path of length 1 is a fact, once for each; the others have relations of their own above those of the facts.
    """
    place = {node: number for number, node in enumerate(nodes)}
    inside = np.array(
        [
            (place[head], place[tail], kind)
            for head, tail, kind in facts.tolist()
            if head in place and tail in place
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    edges = np.concatenate([inside[:, :2], inside[:, 1::-1]]).T
    apart = distances(edges, len(nodes))
    further = np.stack(np.nonzero(np.isfinite(apart) & (apart != 1)))
    steps = apart[further[0], further[1]].astype(np.int64)
    paths = Links.of(
        np.concatenate([edges, further], axis=1),
        np.concatenate([np.ones(edges.shape[1]), steps]),
        np.concatenate([np.tile(inside[:, 2], 2), steps + relations]),
    )
    return Graph(np.array(nodes), np.bincount(edges[1], minlength=len(nodes)), paths, place[drug])


def _alone(drug: int, relations: int) -> Graph:
    itself = Links.of(np.zeros((2, 1), np.int64), [1], [relations])
    return Graph(np.array([drug]), np.ones(1, np.int64), itself)


def _walk(neighbours: dict[int, list[int]], start: int, generator: random.Random) -> set[int]:
    met, node = {start}, start
    for _ in range(LENGTH - 1):
        node = generator.choice(neighbours[node])
        met.add(node)
    return met
