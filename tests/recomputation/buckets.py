"""Figures 4 and 5 of the drug combinations: differences between parts, for matches of whole sets of drugs.

A relation that is predicted is a set of drugs of the same document that occurs on both sides. Documents and seeds
are drawn with replacement, and both parts are looked at on the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tests.recomputation.records import Run

ROUNDS, SEED = 1000, 2021
PARTS = {"arity": ("two drugs", "more drugs"), "seen": ("unseen combinations", "seen combinations")}
# document and set of drugs, with the part that it belongs to
Sets = Mapping[tuple[int, frozenset[int]], int]


def sets_of(run: Run, side: str, bucket: str, least: int) -> Sets:
    """The sets of one side whose class is `least` or above; of equal ones the first."""

    def series(name: str) -> list[int]:
        values: list[int] = []
        while (value := run.metrics.get(f"{side}/{name} {len(values)}")) is not None:
            values.append(int(value))
        return values

    result: dict[tuple[int, frozenset[int]], int] = {}
    drugs = iter(series("drugs"))
    columns = (series(name) for name in ("document", "class", "size", "seen"))
    for document, label, size, seen in zip(*columns, strict=True):
        own = frozenset(next(drugs) for _ in range(size))
        if label >= least:
            result.setdefault((document, own), int(len(own) > 2) if bucket == "arity" else seen)
    return result


def tables(run: Run, bucket: str, part: int, least: int) -> dict[str, np.ndarray]:
    """By document what is right and what there is, of relations and of predictions of one part."""
    documents: list[int] = []
    while (value := run.metrics.get(f"asked/document {len(documents)}")) is not None:
        documents.append(int(value))
    gold, predicted = (sets_of(run, side, bucket, least) for side in ("relations", "predictions"))
    result = {}
    for name, own, other in (("recall", gold, predicted), ("precision", predicted, gold)):
        table = np.zeros((2, len(documents)))
        for (document, drugs), place in own.items():
            if place == part:
                table[:, documents.index(document)] += ((document, drugs) in other, 1)
        result[name] = table
    return result


def paired(runs: Sequence[Run], bucket: str, *, positive: bool) -> dict[str, tuple[float, float, float, float]]:
    """By measure: the second part less the first, its 95 % interval, and p; left out where a part has nothing."""
    least = 2 if positive else 1
    sides = [[tables(run, bucket, part, least) for run in runs] for part in (0, 1)]
    generator = np.random.default_rng(SEED)
    counts = [
        generator.multinomial(count, np.full(count, 1 / count), ROUNDS)
        for count in (sides[0][0]["recall"].shape[1], len(runs))
    ]
    documents, seeds = (np.vstack([np.ones(own.shape[1]), own]) for own in counts)
    result = {}
    for measure in ("precision", "recall"):
        means = []
        for side in sides:
            values = []
            for of_run in side:
                right, every = (documents @ row for row in of_run[measure])
                with np.errstate(invalid="ignore"):
                    values.append(right / every)
            weighted = np.where(seeds.T > 0, np.array(values), 0.0) * seeds.T
            means.append(weighted.sum(axis=0) / len(runs))
        differences = (means[1] - means[0]).round(12)
        observed, sample = differences[0], differences[1:][np.isfinite(differences[1:])]
        if not np.isfinite(observed) or not len(sample):
            continue
        tail = min(int((sample <= 0).sum()), int((sample >= 0).sum()))
        low, high = np.quantile(sample, [0.025, 0.975])
        p = min(1.0, 2 * (tail + 1) / (len(sample) + 1))
        result[measure] = float(observed), float(low), float(high), p
    return result
