"""How types of interaction that a method gives to pairs are read."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.reading import Reading

_PAIR = ("head", "tail")
_BOTH_ORDERS = (
    "Every pair is asked in both orders, head first. They are one row here, in the order that scores higher; "
    "--both-orders lists both. Where a type says what the first drug does to the second, the order is part of it."
)


def reading(dataset: DdiDataset) -> Reading:
    """Of data with one type a pair, every pair is given one, whether its drugs interact or not."""
    heads, tails = dataset.pairs.T.tolist()
    if dataset.multilabel:
        score = (
            "Each row is one type of one pair. A score lies between 0 and 1 and is no calibrated probability: the "
            "method learned from as many pairs that were drawn as are known."
        )
        items, types = (axis.tolist() for axis in np.nonzero(np.equal(dataset.labels, 1)))
        triplets = [(heads[item], tails[item], kind) for item, kind in zip(items, types, strict=True)]
        return Reading(
            (score, _BOTH_ORDERS),
            exchangeable=_PAIR,
            known=tuple((_names(dataset, *pair, dataset.type_names[kind]), "known") for *pair, kind in triplets),
        )
    meaning = (
        f"The type is a forced choice: every pair gets the best of {dataset.types} types, also where its drugs do "
        "not interact. A row is no evidence that there is an interaction.",
        "A score compares the types of one pair. That it also orders pairs is a rule of thumb, and it is no "
        "probability.",
    )
    labelled = zip(heads, tails, dataset.labels.tolist(), strict=True)
    return Reading(
        (*meaning, _BOTH_ORDERS),
        answers=("type",),
        exchangeable=_PAIR,
        known=tuple((_names(dataset, head, tail), dataset.type_names[kind]) for head, tail, kind in labelled),
    )


def _names(dataset: DdiDataset, head: int, tail: int, *others: str) -> tuple[str, ...]:
    return dataset.drug_ids[head], dataset.drug_ids[tail], *others
