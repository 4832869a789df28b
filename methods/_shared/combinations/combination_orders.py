"""Orders and samples of candidates, drawn as the authors' code draws them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def shuffled(items: Sequence[T], generator: random.Random) -> list[T]:
    """The items in the order that Python's `shuffle` gives."""
    order = list(items)
    generator.shuffle(order)
    return order


def split(items: Sequence[T], seed: int, share: float = 0.1) -> tuple[list[T], list[T]]:
    """The items to train on and those to validate with, a share of all, as torch's `random_split` draws them.

    torch permutes by swapping each place with one that is not before it, which the bits of a Mersenne Twister
    name. NumPy's older generator has the same bits.
    """
    count = len(items)
    draws = np.random.RandomState(seed % 2**32).randint(0, 2**32, size=max(count - 1, 0), dtype=np.uint32)
    order = list(items)
    for place, draw in enumerate(draws.tolist()):
        other = place + draw % (count - place)
        order[place], order[other] = order[other], order[place]
    training = count - int(share * count)
    return order[:training], order[training:]


def sampled(
    items: Sequence[T], labels: Sequence[int], ratios: Sequence[float], generator: random.Random
) -> list[T]:
    """As many items of each label as its ratio to their number says, drawn with repetition, then shuffled."""
    sample: list[T] = []
    for label, ratio in enumerate(ratios):
        own = [item for item, one in zip(items, labels, strict=True) if one == label]
        sample += generator.choices(own, k=int(ratio * len(own))) if own else []
    generator.shuffle(sample)
    return sample


class BalancedBatches:
    """Batches that each have items of both labels, 0 and 1; no published run uses them.

    Raises `ValueError` where one label is too rare for every batch to have one.
    """

    def __init__(self, labels: Sequence[int], batch_size: int, seed: int = 0) -> None:
        if strange := sorted({*labels} - {0, 1}):
            raise ValueError(f"label {strange[0]} is neither 0 nor 1")
        self._size, self._seed = batch_size, seed
        # label 1 before label 0
        self._items = [[place for place, one in enumerate(labels) if one == label] for label in (1, 0)]
        rare, frequent = sorted(map(len, self._items))
        if not rare or frequent / rare > batch_size - 1:
            raise ValueError(f"{rare} and {frequent} items don't make batches of {batch_size} with both labels")
        self.ratio = frequent / rare
        self.rare_share = (batch_size / (self.ratio + 1) - 1) / max(batch_size - 2, 1)

    def __len__(self) -> int:
        """The number of batches that all items fill; the last is not made where an item of a label is missing."""
        return math.ceil(sum(map(len, self._items)) / self._size)

    def batches(self) -> list[list[int]]:
        """Places of items, batch by batch: in each, one of either label, others by chance as the ratio says."""
        generator = random.Random(self._seed)
        queues = [shuffled(items, generator)[::-1] for items in self._items]
        rare, frequent = sorted(queues, key=len)
        batches: list[list[int]] = []
        while rare and frequent:
            batch = [rare.pop(), frequent.pop()]
            # every batch to come gets one of each
            reserved = len(self) - len(batches) - 1
            while len(batch) < self._size and (rare or frequent):
                is_rare = generator.random() < self.rare_share
                if len(rare) <= reserved or len(frequent) <= reserved:
                    is_rare = len(rare) > reserved
                queue = rare if (is_rare and rare) or not frequent else frequent
                batch.append(queue.pop())
            generator.shuffle(batch)
            batches.append(batch)
        return batches
