"""Replacements for the parts of TWOSIDES that are not public, made from the others: for tests, not for claims.

The pairs of all released files are dealt again by the drug sets of each split: two known drugs train, a known and
a new one are S1. Pairs that a split has already stay where they are. Each gets a negative of its own: two drugs of
the same sets, drawn uniformly, that are no known pair.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from harness.benchmarks.ddi.converters.ddi_bench.released import ReleasedLines, ReleasedSplit
from harness.benchmarks.ddi.dataset import Integers

_TRAIN, _VALID_S1, _TEST_S1 = 0, 2, 5
_PART_OF = {(0, 0): _TRAIN, (0, 1): _VALID_S1, (0, 2): _TEST_S1}

Pair = tuple[int, int]


def completed(splits: Sequence[ReleasedSplit], seed: int) -> list[ReleasedSplit]:
    """Every split with its missing parts made."""
    positives: dict[Pair, Integers] = {}
    for split in splits:
        for lines in split.parts.values():
            for pair, signs in zip(lines.pairs.tolist(), lines.labels, strict=True):
                if signs.max() > 0:
                    positives.setdefault((pair[0], pair[1]), signs)
    draw = random.Random(seed)
    return [_complete(split, positives, draw) for split in splits]


def _complete(split: ReleasedSplit, positives: Mapping[Pair, Integers], draw: random.Random) -> ReleasedSplit:
    there = {(head, tail) for lines in split.parts.values() for head, tail in lines.pairs.tolist()}
    drugs = [np.flatnonzero(split.roles == role).tolist() for role in range(3)]
    additions: dict[int, list[tuple[Pair, Integers]]] = {part: [] for part in _PART_OF.values()}
    for pair, signs in positives.items():
        roles = [int(split.roles[drug]) for drug in pair]
        part = _PART_OF.get((min(roles), max(roles)))
        if part is None or part in split.parts or pair in there:
            continue
        additions[part] += [(pair, signs), (_negative(drugs[roles[0]], drugs[roles[1]], positives, draw), -signs)]
    parts = dict(split.parts)
    for part, lines in additions.items():
        pairs = np.array([pair for pair, _ in lines], dtype=np.int32).reshape(-1, 2)
        parts.setdefault(part, ReleasedLines(pairs, np.array([signs for _, signs in lines], dtype=np.int8)))
    return ReleasedSplit(split.name, split.roles, dict(sorted(parts.items())))


def _negative(heads: list[int], tails: list[int], positives: Mapping[Pair, Integers], draw: random.Random) -> Pair:
    while True:
        head, tail = draw.choice(heads), draw.choice(tails)
        if head != tail and (head, tail) not in positives and (tail, head) not in positives:
            return head, tail
