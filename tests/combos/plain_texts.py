"""Candidates, marked texts, decoding and orders as the card defines them, one after the other, at any cost."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

START, END = "<<m>>", "<</m>>"
Drugs = tuple[int, ...]
Annotated = tuple[Drugs, int]
Row = tuple[str, list[int], int]


def subsets(drugs: int) -> list[Drugs]:
    """By size, then lexicographically; none of more than 15 drugs."""
    sizes = range(2, drugs + 1) if drugs <= 15 else ()
    return [one for size in sizes for one in combinations(range(drugs), size)]


def trained(drugs: int, annotated: Sequence[Annotated]) -> list[Annotated]:
    """The annotated sets in their order, then every set that is no subset of one."""
    if drugs > 15:
        return []
    sets = [set(one) for one, _ in annotated]
    others = [(one, 0) for one in subsets(drugs) if not any(set(one) <= whole for whole in sets)]
    return [(tuple(sorted(one)), label) for one, label in annotated] + others


def asked(drugs: int, annotated: Sequence[Annotated]) -> list[Annotated]:
    """All sets, with the label of the equal annotated one."""
    labels = {frozenset(one): label for one, label in annotated}
    return [(one, labels.get(frozenset(one), 0)) for one in subsets(drugs)]


def marked(text: str, places: Sequence[tuple[int, int]]) -> str:
    """Markers around each place, from the last to the first: places are apart, and behind a blank or the start."""
    for begin, end in sorted(places, reverse=True):
        assert begin == 0 or text[begin - 1] == " "
        blank = "" if text[end : end + 1] in ("", " ") else " "
        text = f"{text[:begin]}{START} {text[begin:end]} {END}{blank}{text[end:]}"
    return text


def window(text: str, width: int) -> str:
    """The words around the first start marker and the last end marker."""
    words = text.split()
    first = words.index(START)
    last = len(words) - 1 - words[::-1].index(END)
    distance = last - first
    left = math.floor((width - distance) / 2)
    right = (width - distance) - left
    return " ".join(words[max(0, first - left) : min(len(words), last + right)])


def greedy(rows: Sequence[Row]) -> list[Row]:
    """Document by document: sorted, the first with a label taken, what shares a drug dropped, and so on."""

    def decide(left: list[Row]) -> list[Row]:
        if not left:
            return []
        pick = next((row for row in left if row[2] != 0), left[0])
        return [pick, *decide([row for row in left if not {*row[1]} & {*pick[1]}])]

    kept: list[Row] = []
    for document in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == document]
        kept += decide(sorted(own, key=lambda row: (row[0], len(row[1]), str(row[1])), reverse=True))
    return [row for row in rows if any(row is one for one in kept)]


def heaviest(sets: Sequence[Drugs], weights: Sequence[float]) -> float:
    """The largest sum of weights of disjoint sets, of all there are."""

    def rest(place: int, taken: frozenset[int]) -> float:
        if place == len(sets):
            return 0.0
        without = rest(place + 1, taken)
        if taken & {*sets[place]}:
            return without
        return max(without, weights[place] + rest(place + 1, taken | {*sets[place]}))

    return rest(0, frozenset())


def batches(labels: Sequence[int], size: int, seed: int) -> Iterator[list[int]]:
    """Both labels in each batch; the draw is made also where what it says is not followed."""
    generator = random.Random(seed)
    ones, zeros = ([place for place, label in enumerate(labels) if label == of] for of in (1, 0))
    generator.shuffle(ones)
    generator.shuffle(zeros)
    rare, frequent = (ones, zeros) if len(ones) <= len(zeros) else (zeros, ones)
    chance = (size / (len(frequent) / len(rare) + 1) - 1) / (size - 2)
    made, total = 0, math.ceil(len(labels) / size)
    while rare and frequent:
        batch, to_make = [rare.pop(0), frequent.pop(0)], total - made - 1
        while len(batch) < size and rare + frequent:
            drawn = generator.random() < chance
            if len(rare) == to_make and frequent:
                drawn = False
            elif len(frequent) == to_make and rare:
                drawn = True
            batch.append((rare if (drawn and rare) or not frequent else frequent).pop(0))
        generator.shuffle(batch)
        made += 1
        yield batch


def permutation(count: int, seed: int) -> list[int]:
    """As torch draws it: place by place, with the bits of a Mersenne Twister."""
    twister = np.random.RandomState(seed)
    order = list(range(count))
    for place in range(count - 1):
        bits = int(twister.randint(0, 2**32, dtype=np.uint32))
        other = place + bits % (count - place)
        order[place], order[other] = order[other], order[place]
    return order
