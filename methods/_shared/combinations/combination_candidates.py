"""Candidates: the sets of a sentence's drugs of which a method is asked whether they are a combination.

Sets are ordered by size, and among equal sizes lexicographically, as the authors' code lists them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from combos_sdk import Document, Relation

# the authors' three classes; which relation belongs to which
ANSWERS = ("NO_COMB", "COMB", "POS")
CLASSES = {"NO_COMB": 0, "COMB": 1, "NEG": 1, "POS": 2}
NO_COMB = 0
# a sentence with more drugs has no candidate, as published: there are 2^n - n - 1 of them
MOST_DRUGS = 15

Drugs = tuple[int, ...]


class Candidate(NamedTuple):
    """Drugs by their places in the document, and the class of the relation of these drugs."""

    drugs: Drugs
    label: int = NO_COMB


@cache
def all_sets(drugs: int) -> tuple[Drugs, ...]:
    """Every set of two or more drugs; none of more drugs than the authors allow."""
    if drugs > MOST_DRUGS:
        return ()
    return tuple(one for size in range(2, drugs + 1) for one in combinations(range(drugs), size))


def candidate_sets(document: Document, pruned_above: int = 0, reach: int = 0) -> Sequence[Drugs]:
    """All sets of a document's drugs, or, of more than `pruned_above`, those near each other in the text.

    Without pruning (0), a document with more drugs than the authors allow has none.
    """
    count = len(document.spans)
    if not pruned_above or count <= pruned_above:
        if count > MOST_DRUGS:
            warnings.warn(f"{count} drugs in a sentence: without pruning it has no candidates", stacklevel=2)
        return all_sets(count)
    return near_sets(sorted(range(count), key=lambda drug: (document.spans[drug].start, drug)), reach)


def near_sets(order: Sequence[int], reach: int) -> list[Drugs]:
    """Sets that a sentence with many drugs is likely to be about, in their order; `order` is that of the text.

    These are all pairs, all sets within `reach` neighbours, and all runs of neighbours.
    """
    count = len(order)
    pairs = combinations(range(count), 2)
    runs = (tuple(range(begin, end)) for begin in range(count) for end in range(begin + 2, count + 1))
    within = (
        (first, *rest)
        for first in range(count)
        for size in range(1, reach)
        for rest in combinations(range(first + 1, min(first + reach, count)), size)
    )
    sets = {tuple(sorted(order[place] for place in one)) for group in (pairs, runs, within) for one in group}
    return sorted(sets, key=lambda one: (len(one), one))


def training_candidates(sets: Sequence[Drugs], relations: Sequence[Relation]) -> list[Candidate]:
    """The relations in their order, then every set that is no part of one of them.

    A part of a relation is neither positive nor negative. Where there are no sets there is no relation.
    """
    if not sets:
        return []
    whole = [mask_of(relation.spans) for relation in relations]
    annotated = [Candidate(tuple(sorted(one.spans)), CLASSES[one.label]) for one in relations]
    masks = map(mask_of, sets)
    return annotated + [
        Candidate(one) for one, mask in zip(sets, masks, strict=True) if all(mask & ~other for other in whole)
    ]


def asked_candidates(sets: Sequence[Drugs], relations: Sequence[Relation] = ()) -> Iterator[Candidate]:
    """Every set, with the class of the relation of exactly these drugs where that is known."""
    classes = {mask_of(relation.spans): CLASSES[relation.label] for relation in reversed(relations)}
    return (Candidate(one, classes.get(mask_of(one), NO_COMB)) for one in sets)


def mask_of(drugs: Sequence[int]) -> int:
    """The drugs as bits of a number."""
    mask = 0
    for drug in drugs:
        mask |= 1 << drug
    return mask
