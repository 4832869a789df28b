"""How fast drug combinations are scored: the harness against a loop over all pairs of rows, in one run.

Equal values are asked. Predicted is every set of drugs of every document of the published test file, 10,285 rows,
some as positive, some as other, most as no relation.

Usage: python -m benchmarks.combos_metrics --mirror DIR
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from pathlib import Path

import numpy as np

from harness.base.layout import find_layout
from harness.benchmarks.combos.answer import Combination, Predictions
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.metrics.evaluation import MatchRule
from harness.benchmarks.combos.metrics.scored_rows import ScoredRows
from harness.benchmarks.combos.names import PUBLISHED, RULES, flat_name
from harness.benchmarks.combos.scoring import SCORING, scored_rows
from harness.benchmarks.combos.splits.form import FORM, DocumentSplit
from harness.benchmarks.combos.splits.strategies import released
from harness.data import load_dataset
from tests.combos import plain_evaluation as plain


def every_set(dataset: CombosDataset, split: DocumentSplit) -> Predictions:
    """A label for each set of drugs."""
    generator = np.random.default_rng(1)
    labels = ("POS", "COMB", *["NO_COMB"] * 8)
    return tuple(
        tuple(
            Combination(spans, labels[generator.integers(len(labels))], 0.5)
            for size in range(2, drugs + 1)
            for spans in combinations(range(drugs), size)
        )
        for drugs in dataset.span_counts[split.asked].tolist()
    )


def plain_scores(rows: ScoredRows) -> dict[str, float]:
    """Precision and recall as published, row by row."""
    values = {}
    for name, rule in RULES.items():
        sides = plain.as_published(rows.gold.rows, rows.predicted.rows, *rule)
        for measure, side in zip(("recall", "precision"), sides, strict=True):
            values[flat_name(name, measure, PUBLISHED)] = plain.mean(side) or 0.0
    return values


def main() -> None:
    """Both times and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mirror", type=Path, required=True)
    dataset = load_dataset(find_layout(), "combos", CombosDataset, mirrors=[parser.parse_args().mirror])
    split = released.make(dataset, FORM.usual_seed, released.Parameters())
    answer = every_set(dataset, split)
    started = time.process_time()
    values, _ = SCORING.score(dataset, split, answer, {})
    between = time.process_time()
    rows = scored_rows(dataset, split, answer)
    before = time.process_time()
    for rule in RULES.values():
        rows.evaluator.as_published(MatchRule(*rule))
    after = time.process_time()
    expected = plain_scores(rows)
    every, ours, theirs = between - started, after - before, time.process_time() - after
    apart = max(abs((values[name] or 0.0) - value) for name, value in expected.items())
    assert apart < 1e-12, f"values differ by {apart}"
    print(f"{len(rows.predicted.rows)} rows: ours {ours:.2f} s, plain {theirs:.2f} s, {theirs / ours:.0f} times")
    print(f"all {len(values)} metrics, buckets included: {every:.2f} s, {theirs / every:.0f} times")


if __name__ == "__main__":
    main()
