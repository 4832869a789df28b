"""A control must say what its card says, counted pair by pair: methods are held against it."""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem, DataStructs
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

from harness.base.layout import Layout
from harness.benchmarks.dti.conformance import problems
from harness.benchmarks.dti.conformance.problems import Problem
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.strategies import target_classes
from harness.conformance import self_test
from harness.data import load_dataset
from harness.execution.trials import Trial
from harness.methods.card import load_method
from tests.methods.host import OnThisMachine

CONTROLS = ("degree_product", "test_frequency", "nearest_neighbour")
PROBLEMS = {make.__name__: make() for make in (problems.bindings, problems.affinities)}
Pairs = list[tuple[int, int]]
Scores = np.typing.NDArray[np.float64]


def _answer(
    layout: Layout, folder: Path, name: str, problem: Problem
) -> tuple[Scores, Pairs, dict[tuple[int, int], float]]:
    """Scores, the asked pairs, and the training values by pair."""
    card = load_method(layout, name)
    parameters = card.variant("published").parameters
    trial = Trial(card=card, benchmark="dti", inputs=problem.inputs(card, {}), parameters=parameters, seed=1)
    with OnThisMachine(layout, folder)(trial) as result:
        assert not result.reason
        scores: Scores = np.load(result.out / "scores.npy")
    asked, train = (
        list(map(tuple, np.asarray(trial.inputs[f"{part}_pairs"]).tolist())) for part in ("test", "train")
    )
    return scores, asked, dict(zip(train, np.asarray(trial.inputs["train_values"]).tolist(), strict=True))


def test_degree_product_of_bindings(layout: Layout, tmp_path: Path) -> None:
    scores, asked, train = _answer(layout, tmp_path, "degree_product", PROBLEMS["bindings"])
    drugs, targets = (Counter(column) for column in zip(*train, strict=True))
    known = [drugs[drug] * targets[target] for drug in drugs for target in targets]
    for (drug, target), score in zip(asked, scores.tolist(), strict=True):
        product = drugs[drug] * targets[target]
        rank = sum(other < product for other in known) + sum(other == product for other in known) / 2
        assert score == pytest.approx(rank / len(known), rel=1e-12)
        assert (score == 0) == (product == 0)
    assert 0 in scores and 0.9 < scores.max() < 1


def test_counts_and_their_ranks_have_the_same_order(layout: Layout, tmp_path: Path) -> None:
    """Metrics of the order are those of the counts: equal counts score the same, and no others do."""
    for name in ("degree_product", "test_frequency"):
        scores, asked, train = _answer(layout, tmp_path / name, name, PROBLEMS["bindings"])
        known, often = [Counter(column) for column in zip(*train, strict=True)], Counter(drug for drug, _ in asked)
        counts = [
            known[0][drug] * known[1][target] if name == "degree_product" else -often[drug]
            for drug, target in asked
        ]
        by_count = {
            count: {score for score, own in zip(scores.tolist(), counts, strict=True) if own == count}
            for count in counts
        }
        assert all(len(own) == 1 for own in by_count.values())
        assert (np.diff([own.pop() for _, own in sorted(by_count.items())]) > 0).all()


def test_degree_product_of_affinities(layout: Layout, tmp_path: Path) -> None:
    scores, asked, train = _answer(layout, tmp_path, "degree_product", PROBLEMS["affinities"])
    mean = np.mean(list(train.values()))
    for (drug, target), score in zip(asked, scores.tolist(), strict=True):
        own = (
            [value for (one, _), value in train.items() if one == drug],
            [value for (_, other), value in train.items() if other == target],
        )
        assert score == pytest.approx(mean + sum(np.mean(values) - mean if values else 0.0 for values in own))


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_test_frequency(layout: Layout, tmp_path: Path, problem: Problem) -> None:
    scores, asked, _ = _answer(layout, tmp_path, "test_frequency", problem)
    often = Counter(drug for drug, _ in asked)
    for (drug, _), score in zip(asked, scores.tolist(), strict=True):
        more, as_often = (
            sum(test(often[other], often[drug]) for other, _ in asked) for test in (operator.gt, operator.eq)
        )
        assert score == pytest.approx((more + as_often / 2) / len(asked), rel=1e-12)
    assert scores.min() > 0 and scores.max() < 1


def _alike(problem: Problem, one: int, other: int) -> float:
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    bits = [generator.GetFingerprint(Chem.MolFromSmiles(problem.dataset.smiles[drug])) for drug in (one, other)]
    return float(DataStructs.TanimotoSimilarity(*bits))


def test_nearest_neighbour_of_bindings(layout: Layout, tmp_path: Path) -> None:
    problem = PROBLEMS["bindings"]
    scores, asked, train = _answer(layout, tmp_path, "nearest_neighbour", problem)
    for (drug, target), score in zip(asked, scores.tolist(), strict=True):
        binding = [one for one, other in train if other == target]
        assert score == pytest.approx(max((_alike(problem, drug, one) for one in binding), default=0.0))
    assert 0 < np.median(scores) < 1


def test_nearest_neighbours_of_affinities(layout: Layout, tmp_path: Path) -> None:
    problem = PROBLEMS["affinities"]
    scores, asked, train = _answer(layout, tmp_path, "nearest_neighbour", problem)
    for (drug, target), score in list(zip(asked, scores.tolist(), strict=True))[::3]:
        known = [(_alike(problem, drug, one), value) for (one, other), value in train.items() if other == target]
        # equally similar drugs count in the order of training
        nearest = sorted(known, key=lambda one: -one[0])[:5]
        values = [value for _, value in known] or list(train.values())
        weight = sum(alike for alike, _ in nearest)
        assert score == pytest.approx(sum(a * v for a, v in nearest) / weight if weight else np.mean(values))


def test_a_structure_that_can_not_be_read_is_like_no_other(layout: Layout, tmp_path: Path) -> None:
    problem = PROBLEMS["bindings"]
    drug = int(problem.split.test_pairs[0, 0])
    smiles = list(problem.dataset.smiles)
    smiles[drug] = "C1CC("
    broken = Problem(replace(problem.dataset, smiles=tuple(smiles)), problem.split)
    scores, asked, _ = _answer(layout, tmp_path, "nearest_neighbour", broken)
    assert not any(score for (one, _), score in zip(asked, scores.tolist(), strict=True) if one == drug)
    assert scores.any()
    assert "C1CC(" in (tmp_path / "out" / "method.json").read_text()


def test_a_published_task_is_solved_by_counting(layout: Layout, tmp_path: Path) -> None:
    """The finding: negatives are filled drug by drug, so that the drug asked most often binds least."""
    dataset = load_dataset(layout, "dti_world", DtiDataset)
    means = []
    for reading in ("as-published", "corrected"):
        aurocs = []
        for fold in range(3):
            parameters = target_classes.Parameters(space="TRE", fold=fold, reading=reading)
            problem = Problem(dataset, target_classes.make(dataset, 1024, parameters))
            scores, _, _ = _answer(layout, tmp_path, "test_frequency", problem)
            auroc = problem.metrics({"scores.npy": scores})["AUROC"]
            assert auroc is not None
            aurocs.append(auroc)
        means.append(np.mean(aurocs))
    assert means[0] > 0.9 and abs(means[1] - 0.5) < 0.2


@pytest.mark.parametrize("name", CONTROLS)
def test_controls_pass_the_self_test_on_this_machine(layout: Layout, tmp_path: Path, name: str) -> None:
    card = load_method(layout, name)
    assert card.control
    results = list(self_test(card, OnThisMachine(layout, tmp_path)))
    assert not [result for result in results if not result.passed]
