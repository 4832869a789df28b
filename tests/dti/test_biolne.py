"""bioLNE's steps against their definitions on small inputs: there is nothing of the original to hold it to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.dti.conformance import problems
from harness.conformance.checks import trial_of
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.images import ensure_image
from harness.methods.card import load_method
from tests.dti.plain_biolne import (
    JavaRandom,
    inferred,
    neighbours_of,
    node_vectors,
    rounded,
    scaled,
    walk_chances,
)
from tests.methods.java import Java

pytestmark = pytest.mark.engine

Array = npt.NDArray[Any]
SMALL = {"dimensions": 6, "walk_length": 12, "walks": 3, "window": 3}


@pytest.fixture
def java(engine: Engine, repository: Layout, tmp_path: Path) -> Java:
    inward, outward = tmp_path / "in", tmp_path / "out"
    inward.mkdir()
    outward.mkdir()
    outward.chmod(0o777)
    return Java(engine, ensure_image(engine, repository, "biolne").image_id, inward, outward)


def _trial(layout: Layout, **parameters: object) -> Trial:
    trial = trial_of(load_method(layout, "biolne"), "dti", problems.bindings())
    return replace(trial, parameters={**trial.parameters, **SMALL, **parameters})


def _scores(layout: Layout, engine: Engine, trial: Trial) -> Array:
    with InContainers(layout, engine)(trial) as result:
        assert result.verdict is Verdict.OK, result.reason
        return np.asarray(np.load(result.out / "scores.npy"))


@pytest.mark.parametrize(("p", "q", "share"), [(2.0, 1.0, 0.5), (0.5, 4.0, 0.2)])
def test_inference_from_node_vectors_is_the_plain_one(
    layout: Layout, engine: Engine, p: float, q: float, share: float
) -> None:
    """The whole way, from edges to scaled scores, with no weight on the classifier."""
    trial = _trial(layout, similarity_weight=1.0, drug_weight=share, p=p, q=q, classifier="j48")
    drugs, targets, nodes, _ = np.asarray(trial.inputs["sizes"]).tolist()
    known = np.asarray(trial.inputs["train_pairs"]).tolist()
    edges = np.asarray(trial.inputs["edges"])[:, 1:].tolist()
    neighbours = neighbours_of(nodes, [*edges, *([drug, drugs + target] for drug, target in known)])
    vectors = node_vectors(neighbours, 6, 3, 12, 3, p, q, trial.seed).astype(np.float64)
    scores = [
        share * inferred(vectors[:drugs], known, 0, drug, target)
        + (1 - share) * inferred(vectors[drugs : drugs + targets], known, 1, target, drug)
        for drug, target in np.asarray(trial.inputs["test_pairs"]).tolist()
    ]
    np.testing.assert_allclose(_scores(layout, engine, trial), scaled(np.array(scores)), atol=2e-4)


def test_a_known_pair_is_not_inferred_from_itself(java: Java) -> None:
    generator = np.random.default_rng(9)
    drugs, targets = (generator.normal(size=(count, 3)).astype(np.float32) for count in (6, 4))
    drugs[5] = np.nan
    known = np.array([(0, 0), (1, 0), (2, 0), (2, 1), (3, 2)], dtype=np.int32)
    java(
        """
        int[][] known = in("known").intRows();
        float[][] drugs = vectors("drugs");
        drugs[5] = null;
        SimilarityInference byDrugs = new SimilarityInference(drugs, known, 0);
        SimilarityInference byTargets = new SimilarityInference(vectors("targets"), known, 1);
        double[] scores = new double[48];
        for (int at = 0; at < 24; at++) {
            scores[at] = byDrugs.score(at / 4, at % 4);
            scores[24 + at] = byTargets.score(at % 4, at / 4);
        }
        out("scores", scores, 48);
        """,
        {"known": known, "drugs": drugs, "targets": targets},
    )
    places = [(drug, target) for drug in range(6) for target in range(4)]
    expected = [inferred(drugs.astype(np.float64), known.tolist(), 0, *place) for place in places]
    expected += [inferred(targets.astype(np.float64), known.tolist(), 1, *place[::-1]) for place in places]
    np.testing.assert_allclose(java.written("scores"), expected, atol=1e-12)
    assert np.count_nonzero(expected) > 20


def test_walks_go_where_node2vec_goes(java: Java) -> None:
    edges = np.array([(0, 1), (1, 2), (0, 2), (1, 3), (3, 4), (1, 3), (4, 0)], dtype=np.int32)
    java(
        """
        Network network = new Network(6, Arrays.asList(in("edges").intRows()));
        Random random = new Random(4);
        int[] walks = new int[60000];
        for (int at = 0; at < 20000; at++) {
            int[] walk;
            do walk = network.walk(0, 3, 0.25, 4, random); while (walk[1] != 1);
            System.arraycopy(walk, 0, walks, 3 * at, 3);
        }
        out("walks", walks, 20000, 3);
        out("degrees", new int[] {network.degree(1), network.degree(3), network.degree(5)}, 3);
        """,
        {"edges": edges},
    )
    assert java.written("degrees").tolist() == [3, 2, 0]
    ends, counts = np.unique(java.written("walks")[:, 2], return_counts=True)
    chances = walk_chances(neighbours_of(6, edges.tolist()), 0, 1, 0.25, 4)
    assert chances[0] == 4 / 5.25
    np.testing.assert_allclose(counts / 20000, [chances[end] for end in ends.tolist()], atol=0.015)


def test_vectors_of_pairs_are_rounded_half_up(java: Java) -> None:
    vectors = np.random.default_rng(5).normal(size=(5, 4)).astype(np.float32)
    vectors[0] = [0.5, 1.0, -0.0625, 0.0005]
    vectors[3] = [0.001, 0.0005, 1.0, 1.0]
    pairs = np.array([(0, 1), (1, 0), (2, 1), (0, 2)], dtype=np.int32)
    java(
        """
        float[][] nodes = vectors("vectors");
        nodes[4] = null;
        for (String one : new String[] {"hadamard", "average", "l1", "l2", "concatenation"}) {
            outRows(one, new PairVectors(nodes, 2, 4, one).of(in("pairs").intRows()));
        }
        """,
        {"vectors": vectors, "pairs": pairs},
    )
    nodes = np.where(np.arange(5)[:, None] == 4, 0, vectors.astype(np.float64))
    drug, target = nodes[pairs[:, 0]], nodes[2 + pairs[:, 1]]
    expected = {
        "hadamard": drug * target,
        "average": (drug + target) / 2,
        "l1": abs(drug - target),
        "l2": (drug - target) ** 2,
        "concatenation": np.hstack([drug, target]),
    }
    for name, values in expected.items():
        assert java.written(name).tolist() == np.vectorize(rounded)(values).tolist(), name
    assert (rounded(0.0005), rounded(-0.0625), rounded(0.0625)) == (0.001, -0.063, 0.063)


def test_negatives_are_candidates_below_the_spies(java: Java) -> None:
    generator = np.random.default_rng(6)
    positives = generator.normal(2, 1, size=(60, 3))
    candidates = np.concatenate([generator.normal(2, 1, size=(15, 3)), generator.normal(-2, 1, size=(45, 3))])
    java(
        """
        ReliableNegatives found = new ReliableNegatives(rows("positives"), rows("candidates"), new Random(1024));
        out("rows", found.rows, found.rows.length);
        out("spies", found.spies, found.spies.length);
        out("posteriors", found.posteriors, found.posteriors.length);
        out("facts", new double[] {found.threshold, found.rounds,
            ReliableNegatives.threshold(new double[] {0.2, 0.4, 0.9, 0.5})}, 3);
        """,
        {"positives": positives, "candidates": candidates},
    )
    threshold, rounds, of_four = java.written("facts").tolist()
    # the root of the sum of squares over n - 1
    assert of_four == pytest.approx(0.5 - 1.96 * np.sqrt(0.09 + 0.01 + 0.16) / 3)
    posteriors, order = java.written("posteriors"), list(range(60))
    JavaRandom(1024).shuffle(order)
    assert java.written("spies").tolist() == order[:6]
    assert java.written("rows").tolist() == np.flatnonzero(posteriors <= threshold).tolist()
    assert 1 <= rounds < 100 and 0.5 < threshold <= 1
    # all that are unlike the positives, few of the others
    assert set(java.written("rows").tolist()) >= set(range(15, 60))
    assert (posteriors[:15] > 0.5).mean() > 0.8


def test_naive_bayes_settles_on_its_own_labels(java: Java) -> None:
    """The posteriors of the last round are those of Gaussians fitted to the labels that they give."""
    generator = np.random.default_rng(8)
    positives = generator.normal(1, 1, size=(300, 2))
    candidates = np.concatenate([generator.normal(1, 1, size=(50, 2)), generator.normal(-2, 1, size=(250, 2))])
    java(
        """
        ReliableNegatives found = new ReliableNegatives(rows("positives"), rows("candidates"), new Random(1024));
        out("spies", found.spies, found.spies.length);
        out("posteriors", found.posteriors, found.posteriors.length);
        """,
        {"positives": positives, "candidates": candidates},
    )
    posteriors = java.written("posteriors")
    labels = posteriors > 0.5
    binding = np.concatenate([np.delete(positives, java.written("spies"), axis=0), candidates[labels]])
    classes = [candidates[~labels], binding]
    logs = []
    for values in classes:
        mean, deviation = values.mean(axis=0), values.std(axis=0)
        density = -(((candidates - mean) / deviation) ** 2) / 2 - np.log(deviation)
        logs.append(density.sum(axis=1) + np.log(len(values) + 1))
    # Weka rounds values to their typical distance
    np.testing.assert_allclose(posteriors, 1 / (1 + np.exp(logs[0] - logs[1])), atol=0.02)


def test_classifiers_know_what_binds(java: Java) -> None:
    generator = np.random.default_rng(7)
    bindings, others = generator.normal(1, 1, size=(80, 4)), generator.normal(-1, 1, size=(50, 4))
    vectors = np.concatenate([bindings, others])
    java(
        """
        double[][] all = rows("vectors");
        for (String name : new String[] {"svm", "logistic", "forest", "j48"}) {
            out(name, PairClassifier.fitted(name, all, 80, 30, 5).probabilities(all), all.length);
        }
        double[][] turned = new double[all.length][];
        for (int row = 0; row < all.length; row++) turned[row] = all[(row + 80) % all.length];
        out("turned", PairClassifier.fitted("svm", turned, 50, 30, 5).probabilities(turned), all.length);
        out("weights", new LogisticRegression(all, 80).weights, 5);
        """,
        {"vectors": vectors},
    )
    for name in ("svm", "logistic", "forest", "j48"):
        chances = java.written(name)
        assert ((chances >= 0) & (chances <= 1)).all()
        assert (chances[:80] > 0.5).mean() > 0.9 and (chances[80:] < 0.5).mean() > 0.9, name
    assert (java.written("turned")[:50] > 0.5).mean() > 0.9
    # at the minimum of w'w / 2 + sum of log(1 + exp(-y w'x)) the gradient is 0
    x, y, weights = np.column_stack([vectors, np.ones(130)]), np.arange(130) < 80, java.written("weights")
    chances = 1 / (1 + np.exp(-x @ weights))
    np.testing.assert_allclose(weights + x.T @ (chances - y), 0, atol=1e-6)
    np.testing.assert_allclose(java.written("logistic"), chances, atol=1e-12)


@pytest.mark.parametrize(
    "variant",
    ["published", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("logistic", "forest", "j48"))],
)
def test_every_variant_answers_bindings_and_affinities(layout: Layout, engine: Engine, variant: str) -> None:
    card = load_method(layout, "biolne")
    for make in (problems.bindings, problems.affinities):
        trial = trial_of(card, "dti", make())
        parameters = {**card.variant(variant).parameters, **SMALL, "trees": 5}
        scores = _scores(layout, engine, replace(trial, variant=variant, parameters=parameters))
        assert scores.min() == 0 and scores.max() == 1
