"""Task files list bindings first: no order in which a method is asked may tell it which pairs these are."""

from __future__ import annotations

import numpy as np
import pytest

from harness.benchmarks.dti import BENCHMARK
from harness.benchmarks.dti.conformance import problems
from harness.benchmarks.dti.splits import pairs
from harness.benchmarks.dti.splits.pairs import NEGATIVE, TEST, TRAIN, pair_split


@pytest.mark.parametrize("order", ["", "a secret"])
def test_asked_pairs_come_in_an_order_that_does_not_depend_on_the_truth(order: str) -> None:
    problem = problems.bindings()
    split, dataset = problem.split, problem.dataset
    backwards = pair_split(split.rows[::-1])
    inputs = [BENCHMARK.inputs(dataset, one, ["test_pairs"], {}) for one in (split, backwards)]
    if order:
        inputs = [BENCHMARK.reorder(one, order).inputs for one in inputs]
    one, other = (np.asarray(own["test_pairs"]) for own in inputs)
    assert np.array_equal(one, other)
    assert np.array_equal(one, one[np.lexsort((one[:, 1], one[:, 0]))])


@pytest.mark.parametrize("piece", range(1, 6))
@pytest.mark.parametrize("place", range(5))
def test_two_pairs_that_changed_places_are_found_wherever_they_lie(
    monkeypatch: pytest.MonkeyPatch, piece: int, place: int
) -> None:
    """A file is looked through piece by piece, and they may lie on both sides of a cut."""
    monkeypatch.setattr(pairs, "_CHUNK", piece)
    drugs = list(range(6))
    drugs[place], drugs[place + 1] = drugs[place + 1], drugs[place]
    asked = [[TEST, drug, 7, NEGATIVE] for drug in drugs]
    split = pair_split(np.array([[TRAIN, 9, 7, 0], *asked]))
    assert split.test_pairs.tolist() == [[drug, 7] for drug in range(6)]


def test_scores_meet_the_truth_of_their_own_pair() -> None:
    """Whoever knows the truth scores 1, in whatever order the file of the split is."""
    problem = problems.bindings()
    for split in (problem.split, pair_split(problem.split.rows[::-1])):
        values = split.values_on(problem.dataset)
        truth = {tuple(row[1:3]): value for row, value in zip(split.rows.tolist(), values.tolist(), strict=True)}
        scores = np.array([truth[tuple(pair)] for pair in split.test_pairs.tolist()])
        assert BENCHMARK.scoring.score(problem.dataset, split, scores, {})[0]["AUROC"] == 1


def test_an_answer_to_a_secret_order_is_given_back_in_the_usual_one() -> None:
    problem = problems.bindings()
    inputs = BENCHMARK.inputs(problem.dataset, problem.split, ["smiles"], {})
    arrangement = BENCHMARK.reorder(inputs, "a secret")
    new, old = arrangement.inputs, inputs
    name = {text: number for number, text in enumerate(old["smiles"])}
    # a score that tells its drug, by what is known of it
    scores = np.array([float(name[new["smiles"][drug]]) for drug, _ in np.asarray(new["test_pairs"])])
    assert np.array_equal(arrangement.restore["scores.npy"](scores), np.asarray(old["test_pairs"])[:, 0])
