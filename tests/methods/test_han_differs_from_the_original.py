"""HAN against its definition, written down plainly here, and what its documented defects do."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.graph_networks import measure
from harness.base.layout import Layout
from harness.benchmarks.repurposing.conformance import problems
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.methods.card import load_method
from tests.methods.trials import ONE_MODEL, arrays_of

Array = npt.NDArray[Any]


@pytest.fixture
def made(repository: Layout) -> Iterator[ModuleType]:
    """The module that makes HAN's inputs, which needs nothing but NumPy."""
    path = repository.methods / "han" / "inputs.py"
    spec = importlib.util.spec_from_file_location("han_inputs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["han_inputs"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["han_inputs"]


def test_k_of_the_k_plus_one_largest_become_one(made: ModuleType) -> None:
    similarity = np.random.default_rng(3).normal(size=(40, 40))
    marked = made.neighbours_marked(similarity, 15)
    for given, found in zip(similarity, marked, strict=True):
        largest = set(np.argsort(given)[-16:])
        ones = set(np.flatnonzero(found == 1))
        assert len(ones) == 15
        assert ones < largest
        others = sorted(set(range(40)) - ones)
        np.testing.assert_array_equal(found[others], given[others].astype(np.float32))


def test_rows_shorter_than_the_neighbourhood_keep_one_entry(made: ModuleType) -> None:
    marked = made.neighbours_marked(np.random.default_rng(4).normal(size=(9, 9)), 15)
    assert ((marked == 1).sum(axis=1) == 8).all()


def test_nodes_are_joined_where_they_share_a_partner(made: ModuleType) -> None:
    positive = np.random.default_rng(5).random((12, 7)) < 0.2
    graph = made.metapath_graph(positive)
    expected = [(i, j) for i in range(12) for j in range(12) if any(positive[i] & positive[j])]
    assert list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)) == expected


@pytest.mark.parametrize("shift", [0, 1])
def test_a_label_stands_where_the_loss_looks_for_it(made: ModuleType, shift: int) -> None:
    generator = np.random.default_rng(6)
    positive, training = generator.random((8, 5)) < 0.4, generator.random((8, 5)) < 0.7
    targets = made.shifted_targets(positive, training, shift)
    for i, j in np.argwhere(training):
        # a flat index below zero counts from the end
        row, column = np.unravel_index(((i - shift) * 5 + j) % 40, (8, 5))
        assert targets.seen[row, column]
        assert targets.labels[row, column] == positive[i, j]
    assert targets.seen.sum() == training.sum()
    ones = (positive & training).sum()
    assert targets.pos_weight == pytest.approx((training.sum() - ones) / ones)


def attention(X: Array, weights: dict[str, Array], layer: str, linked: Array) -> Array:
    """Node by node and head by head; a node with nobody to attend to gets its bias alone."""
    W, bias = weights[f"{layer}.gat_layers.0.fc.weight"], weights[f"{layer}.gat_layers.0.bias"]
    left, right = (weights[f"{layer}.gat_layers.0.attn_{side}"] for side in "lr")
    out = np.zeros((len(X), 160))
    for head in range(5):
        Z = X @ W[32 * head : 32 * head + 32].T
        for j in range(len(X)):
            sources = np.flatnonzero(linked[:, j])
            e = Z[sources] @ left[head] + Z[j] @ right[head]
            e = np.exp(np.where(e > 0, e, 0.2 * e))
            if len(sources):
                out[j, 32 * head : 32 * head + 32] = (e / e.sum()) @ Z[sources]
    out += bias
    return np.asarray(np.where(out > 0, out, np.expm1(np.minimum(out, 0))))


def logits_of(weights: dict[str, Array], drugs: Array, diseases: Array, positive: Array) -> Array:
    links = {"drug": positive @ positive.T > 0, "dis": positive.T @ positive > 0}
    sides = []
    # a drug's features come first, a disease's after them; the rest is zero
    for kind, X in (("drug", drugs[:, : len(drugs)]), ("dis", diseases[:, len(drugs) :])):
        X = X @ weights[f"{kind}_emb.weight"].T
        for layer in (1, 2):
            X = attention(X, weights, f"embedding_{layer}_{kind}", links[kind])
            X = X @ weights[f"{kind}_emb_{layer}.weight"].T
        sides.append(X)
    return np.asarray(sides[0] @ weights["weights.weight"].T @ sides[1].T)


@pytest.mark.engine
@pytest.mark.parametrize(("variant", "inner_folds"), [("published", 5), ("corrected", 0)])
def test_it_follows_its_definition(layout: Layout, engine: Engine, variant: str, inner_folds: int) -> None:
    """Starting logits from starting weights, and from them the first loss, shifted by one drug or not."""
    card = load_method(layout, "han")
    options = {"inner_folds": inner_folds}
    given = arrays_of(problems.with_negatives(), card, options)
    # one step: after it weights differ, and what is compared is what was before
    parameters = {**card.variant(variant).parameters, "epoch": 1}
    trial = Trial(
        card,
        "repurposing",
        given,
        parameters,
        seed=1,
        variant=variant,
        options=options,
        task="without_dropout",
        trace=True,
    )
    with InContainers(layout, engine)(trial) as result:
        assert result.verdict == "ok", result.reason
        traced = {path.name.removesuffix(".npy"): np.load(path) for path in (result.out / "trace").iterdir()}
    weights = {name.removeprefix("init."): value.astype(float) for name, value in traced.items()}
    training = (given["folds"] >= 0) & ((given["folds"] != 0) | (inner_folds == 0))
    positive = ((given["associations"] == 1) & training).astype(int)
    logits = logits_of(weights, traced["feat_drug"], traced["feat_disease"], positive)
    np.testing.assert_allclose(traced["logits_init_eval"], logits, rtol=0, atol=1e-5)
    ones, pairs = positive[training].sum(), training.sum()
    loss = 0.0
    for i, j in np.argwhere(training):
        share = 1 / (1 + np.exp(-logits[i - (variant == "published"), j]))
        loss -= (pairs - ones) / ones * np.log(share) if positive[i, j] else np.log(1 - share)
    assert traced["losses_nodropout"][0] == pytest.approx(loss / pairs, rel=1e-5)


@pytest.mark.engine
def test_it_equals_the_same_steps_on_the_originals_library(layout: Layout, engine: Engine) -> None:
    """DGL's attention, with dropout, drawing the same numbers; a drug attends to nobody."""
    given = arrays_of(problems.with_negatives(), load_method(layout, "han"))
    training = (given["folds"] >= 0).astype(np.int8)
    inputs = {
        "S": given["drug_similarity"],
        "P": given["disease_similarity"],
        "A": given["associations"],
        "training": training,
    }
    assert measure(engine, layout, "han", inputs, steps=9)["apart"] < 1e-4


@pytest.mark.engine
def test_scores_learned_unshifted_fit_the_labels_they_were_given_for(layout: Layout, engine: Engine) -> None:
    """The finding: with shifted labels, what was learned of a drug is the next drug's."""
    card = load_method(layout, "han")
    given = arrays_of(problems.ordinary(), card)
    training = given["folds"] >= 0
    # pairs to be scored are those that are learned from
    given["training"] = training.astype(np.int8)
    given["folds"] = np.full_like(given["folds"], -1)
    known = (given["associations"] == 1) & training
    own, next_one = {}, {}
    for variant in ("published", "corrected"):
        parameters = {**card.variant(variant).parameters, "epoch": 300}
        trial = Trial(card, "repurposing", given, parameters, seed=1, variant=variant, options=ONE_MODEL)
        with InContainers(layout, engine)(trial) as result:
            scores = np.load(result.out / "predictions.npy").reshape(known.shape)
        own[variant] = _auc(scores, known, training)
        next_one[variant] = _auc(np.roll(scores, 1, axis=0), known, training)
    assert own["corrected"] > next_one["corrected"]
    assert next_one["published"] > own["published"]


def _auc(scores: Array, known: Array, training: Array) -> float:
    ones, zeros = scores[known], scores[training & ~known]
    return float((ones[:, None] > zeros).mean())
