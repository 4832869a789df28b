"""For using a method: drugs of which nothing is known are asked about with every other drug, in both orders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.base.errors import DataError
from harness.benchmarks.ddi import BENCHMARK
from harness.benchmarks.ddi.answer import question_on
from harness.benchmarks.ddi.conformance import problems
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.metrics.pairs import asked_pairs
from harness.benchmarks.ddi.splits.parts import TEST, TEST_NEW, VALID_NEW
from harness.benchmarks.ddi.splits.strategies import new_drugs

NEW = (2, 9)


def without_items(dataset: DdiDataset) -> DdiDataset:
    """The same drugs, two of them without an interaction."""
    kept = ~np.isin(dataset.pairs, NEW).any(axis=1)
    return replace(dataset, pairs=dataset.pairs[kept], labels=dataset.labels[kept])


@pytest.mark.parametrize("several", [False, True])
def test_every_pair_with_a_new_drug_is_asked_once_in_both_orders(several: bool) -> None:
    problem = problems.several_types() if several else problems.one_type()
    dataset = without_items(problem.dataset)
    split = new_drugs.make(dataset, 3, new_drugs.Parameters())
    assert BENCHMARK.form.broken_promises(split, dataset) == []
    assert new_drugs.broken_promises(dataset, split, new_drugs.Parameters()) == []
    assert not np.isin(split.items, TEST).any() and (split.drugs == VALID_NEW).any()
    pairs = [(head, tail) for head in range(dataset.drugs) for tail in range(dataset.drugs)]
    wanted = {pair for pair in pairs if pair[0] != pair[1] and set(pair) & set(NEW)}
    found = asked_pairs(dataset, split)
    told = [tuple(pair) for pair in found.pairs.tolist()]
    assert len(told) == len(set(told)) == question_on(dataset, split).pairs and set(told) == wanted
    both = {pair for pair, setting in zip(told, found.setting.tolist(), strict=True) if setting == 2}
    assert both == {(2, 9), (9, 2)}


def test_best_types_come_first_by_name() -> None:
    dataset = without_items(problems.one_type().dataset)
    split = new_drugs.make(dataset, 3, new_drugs.Parameters())
    scores = np.random.default_rng(1).random((question_on(dataset, split).pairs, dataset.types), dtype=np.float32)
    pairs = asked_pairs(dataset, split).pairs.tolist()
    every = BENCHMARK.ranking(dataset, split, scores, None)
    assert every.columns == ("head", "tail", "type", "score") and len(every.rows) == len(pairs)
    best = {
        (dataset.drug_ids[head], dataset.drug_ids[tail]): (dataset.type_names[int(row.argmax())], float(row.max()))
        for (head, tail), row in zip(pairs, scores, strict=True)
    }
    assert {(head, tail): (kind, score) for head, tail, kind, score in every.rows} == best
    assert [row[-1] for row in every.rows] == sorted((row[-1] for row in every.rows), reverse=True)
    assert BENCHMARK.ranking(dataset, split, scores, 2).rows == every.rows[:2]
    # of equal ones, and of equal types of one pair, the first as they were asked
    rough = (np.floor(4 * scores) / 4).astype(np.float32)
    told = [
        (
            dataset.drug_ids[head],
            dataset.drug_ids[tail],
            dataset.type_names[row.tolist().index(row.max())],
            row.max(),
        )
        for (head, tail), row in zip(pairs, rough, strict=True)
    ]
    rows = BENCHMARK.ranking(dataset, split, rough, None).rows
    assert [*rows] == sorted(told, key=lambda one: -one[-1])


def test_a_dataset_without_new_drugs_is_refused() -> None:
    dataset = problems.one_type().dataset
    used = np.unique(dataset.pairs)
    assert len(used) == dataset.drugs
    with pytest.raises(DataError, match="none is new"):
        new_drugs.make(dataset, 3, new_drugs.Parameters())


def test_a_drug_that_interacts_is_no_new_one() -> None:
    dataset = without_items(problems.one_type().dataset)
    split = new_drugs.make(dataset, 3, new_drugs.Parameters())
    drugs = split.drugs.copy()
    drugs[0] = TEST_NEW
    assert new_drugs.broken_promises(dataset, replace(split, drugs=drugs), new_drugs.Parameters())
