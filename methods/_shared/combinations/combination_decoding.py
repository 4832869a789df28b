"""Decoding: which of a sentence's predicted combinations are kept, as no drug may be in two."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from combination_candidates import NO_COMB, Drugs, mask_of

# the exact cover holds a number for every set of drugs: beyond, the largest weights go first
EXACT_DRUGS = 20


def greedy(sets: Sequence[Drugs], labels: Sequence[int]) -> list[int]:
    """Which of a sentence's candidates are kept as published, by their places, in their order.

    The largest that is a combination goes first, and takes all that share a drug with it. Where none is left, sets
    that are none are kept in the same way. Of equal sizes the last goes first, by the text of its list of drugs.
    """
    ranks = [(len(one), str(list(one))) for one in sets]
    order = sorted(range(len(sets)), key=ranks.__getitem__, reverse=True)
    masks = [mask_of(one) for one in sets]
    kept: list[int] = []
    for wanted in (True, False):
        rest = [place for place in order if (labels[place] != NO_COMB) == wanted]
        taken = sum(masks[place] for place in kept)
        for place in rest:
            if not masks[place] & taken:
                kept.append(place)
                taken |= masks[place]
    return sorted(kept)


def weights_of(probabilities: Sequence[Sequence[float]]) -> list[float]:
    """What each candidate is worth in a cover: the log odds of its best class against that of no combination.

    The cover of most weight is then the most probable labelling in which no drug is in two combinations, if every
    candidate is taken on its own.
    """
    tiny = np.finfo(np.float64).tiny
    return [math.log(max(*rest, tiny)) - math.log(max(none, tiny)) for none, *rest in probabilities]


def cover(sets: Sequence[Drugs], weights: Sequence[float]) -> list[int]:
    """Places of disjoint sets whose weights have the largest sum, in their order.

    Exact where candidates of positive weight have at most `EXACT_DRUGS` drugs. In what order candidates come makes
    no difference.
    """
    positive = [place for place, weight in enumerate(weights) if weight > 0]
    positive.sort(key=lambda place: (-weights[place], sets[place]))
    drugs = sorted({drug for place in positive for drug in sets[place]})
    bits = {drug: bit for bit, drug in enumerate(drugs)}
    masks = {place: mask_of([bits[drug] for drug in sets[place]]) for place in positive}
    if len(drugs) > EXACT_DRUGS:
        return _largest_first(positive, masks)
    return _heaviest(positive, masks, weights, len(drugs))


def _largest_first(order: Sequence[int], masks: dict[int, int]) -> list[int]:
    taken, kept = 0, []
    for place in order:
        if not masks[place] & taken:
            kept.append(place)
            taken |= masks[place]
    return sorted(kept)


def _heaviest(order: Sequence[int], masks: dict[int, int], weights: Sequence[float], drugs: int) -> list[int]:
    """Dynamic programming over sets of drugs: 2^n numbers, and at most 3^n / 2 sums for n drugs.

    `best[s]` is the largest weight that sets within s can have. One drug comes after the other: s with it is worth
    what s is without it, or more by a set that contains it beside what is left of s.
    """
    best, choice = np.zeros(1), np.full(1 << drugs, -1, dtype=np.int64)
    for drug in range(drugs):
        bit = 1 << drug
        # of the drugs so far and this one
        best = np.concatenate([best, best])
        rest = np.arange(bit)
        for place in order:
            if masks[place] >> drug == 1:
                others = masks[place] ^ bit
                within = rest[rest & others == others]
                sums = weights[place] + best[within ^ others]
                better = sums > best[within | bit]
                best[within[better] | bit] = sums[better]
                choice[within[better] | bit] = place
    kept, mask = [], (1 << drugs) - 1
    while mask:
        place = int(choice[mask])
        # nothing with the last drug of the mask is worth taking
        mask ^= masks[place] if place >= 0 else 1 << (mask.bit_length() - 1)
        kept += [place] if place >= 0 else []
    return sorted(kept)
