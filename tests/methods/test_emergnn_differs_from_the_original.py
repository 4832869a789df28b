"""EmerGNN against its definition, written down plainly, and what an epoch hides, counts and is chosen by."""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from harness.base.layout import Layout
from harness.benchmarks.ddi.metrics.multilabel import by_type
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.images.identity import code_folders
from harness.methods.card import load_method
from tests.methods.plain_emergnn import loss_of, made_case, plain

Array = npt.NDArray[Any]
Load = Callable[[str], ModuleType]

OURS = ("ragged", "graph", "reach", "examples", "measures")
BESIDE = ("ddi_items", "ddi_sdk", "permafrost_sdk")


@pytest.fixture
def ours(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Imports those modules of the method that need nothing but NumPy; other methods' have the same names."""
    for folder in reversed(code_folders(repository, "emergnn")):
        monkeypatch.syspath_prepend(folder)
    before = {name: sys.modules.pop(name) for name in (*OURS, *BESIDE) if name in sys.modules}
    yield importlib.import_module
    for name in (*OURS, *BESIDE):
        sys.modules.pop(name, None)
    sys.modules.update(before)


def graph_of(ours: Load) -> tuple[Any, list[Counter[tuple[int, int]]]]:
    """A made-up graph of 9 nodes, 5 of them drugs, and for every source how often it sends what to whom."""
    draw = np.random.default_rng(20260108)
    facts = np.column_stack([draw.integers(0, 5, (12, 2)), draw.integers(0, 2, 12)])
    knowledge = np.column_stack([draw.integers(0, 5, 9), draw.integers(5, 9, 9), draw.integers(2, 4, 9)])
    numbering = ours("graph").Numbering(types=2, kinds=2, multilabel=False)
    edges = numbering.edges(np.concatenate([facts, facts[:4]]), knowledge, 9)
    sent: list[Counter[tuple[int, int]]] = [Counter() for _ in range(9)]
    for source, target, relation in edges.tolist():
        sent[source][target, relation] += 1
    return ours("graph").Graph.of(edges, 9, numbering.count, 5), sent


def test_neighbours_of_one_class_receive_the_same(ours: Load) -> None:
    graph, sent = graph_of(ours)
    for drug in range(5):
        links = range(graph.link_starts[drug], graph.link_starts[drug + 1])
        assert sorted(graph.link_nodes[list(links)]) == sorted({target for target, _ in sent[drug]})
        seen = set()
        for link in links:
            one, target = int(graph.link_classes[link]), graph.link_nodes[link]
            members = slice(graph.member_starts[one], graph.member_starts[one + 1])
            told = zip(graph.member_relations[members], graph.member_counts[members], strict=True)
            expected = {relation: count for (to, relation), count in sent[drug].items() if to == target}
            assert dict(told) == expected
            seen.add((one, tuple(sorted(expected.items()))))
        # and no two classes of a drug are alike
        assert len({one for one, _ in seen}) == len({what for _, what in seen}) == len(seen)


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_paths_of_two_steps_are_counted_where_they_matter(ours: Load, layers: int) -> None:
    graph, sent = graph_of(ours)
    pairs = np.array([[0, 3], [0, 4], [2, 1]])
    reach = ours("reach").Reach.of(graph, pairs, layers)
    reaching = [{source for source in range(9) for to, _ in sent[source] if to == node} for node in range(9)]
    for start, ends in ((0, {3, 4}), (2, {1})):
        wanted = ends
        for _ in range(layers - 2):
            wanted = set().union(*(reaching[node] for node in wanted))
        for node in range(9):
            expected: Counter[tuple[int, int]] = Counter()
            for link in range(graph.link_starts[start], graph.link_starts[start + 1]):
                one = int(graph.link_classes[link] - graph.class_starts[start])
                for (to, relation), count in sent[graph.link_nodes[link]].items():
                    if to == node and node in wanted:
                        expected[one, relation] += count
            found, owner = reach.elements(np.array([start * 9 + node]))
            codes = (divmod(int(code), graph.relations) for code in reach.codes[found])
            assert not owner.any()
            assert dict(zip(codes, reach.counts[found].tolist(), strict=True)) == dict(expected)


def items_of(ours: Load, pairs: list[tuple[int, int]], labels: Array) -> Any:
    return ours("ddi_sdk").Items(np.array(pairs), labels, np.zeros(len(pairs), dtype=np.int8))


def test_an_epoch_learns_from_hidden_drugs_alone(ours: Load) -> None:
    pairs = [(0, 1), (1, 2), (2, 3), (3, 1), (0, 4)]
    examples = ours("examples").Examples.of(items_of(ours, pairs, np.array([3, 1, 0, 2, 1])))
    for setting, expected in ((1, [[0, 1, 3], [1, 2, 1], [2, 3, 0], [0, 4, 1]]), (2, [[3, 1, 2]])):
        known, hidden = examples.hiding(np.array([1, 3, 4]), setting)
        assert known.facts().tolist() == []
        assert hidden.facts().tolist() == expected
    known, hidden = examples.hiding(np.array([4]), 1)
    assert known.facts().tolist() == [[0, 1, 3], [1, 2, 1], [2, 3, 0], [3, 1, 2]]
    assert hidden.pairs().tolist() == [[0, 4]]


def test_a_positive_line_keeps_its_own_negative(ours: Load) -> None:
    """Also where a split has put other lines between them, or the negative elsewhere."""
    one, two = np.array([1, 0, 1]), np.array([0, 1, 0])
    labels = np.array([one, two, -one, one, -one, [1, 1, 1]], dtype=np.int8)
    examples = ours("examples").Examples.of(items_of(ours, [(place, 9) for place in range(6)], labels))
    assert examples.own.tolist() == [0, 1, 3, 5]
    assert examples.negative.tolist() == [2, -1, 4, -1]
    batches = [pairs[:, 0].tolist() for pairs, _ in examples.batches(3)]
    assert batches == [[0, 1, 3, 2, 4], [5]]
    assert examples.facts().tolist() == [
        *([0, 9, 0], [0, 9, 2], [1, 9, 1], [3, 9, 0], [3, 9, 2]),
        *([5, 9, 0], [5, 9, 1], [5, 9, 2]),
    ]


def test_drugs_outside_the_knowledge_graph_are_hidden_only_for_want_of_others(ours: Load) -> None:
    items = items_of(ours, [(0, 1), (2, 3), (4, 5)], np.zeros(3, dtype=np.int32))
    hide, draw = ours("examples").drawn_to_hide, np.random.default_rng(1)
    drawn = [hide(items, np.array([[1, 7, 0], [8, 4, 1]]), 0.5, draw) for _ in range(20)]
    assert {drug for one in drawn for drug in one.tolist()} == {1, 4}
    drawn = [hide(items, np.zeros((0, 3), dtype=int), 0.5, draw) for _ in range(20)]
    assert {drug for one in drawn for drug in one.tolist()} == set(range(6))
    # with replacement
    assert any(len(set(one.tolist())) < 3 for one in drawn)


def test_as_many_drugs_are_hidden_as_are_drawn(ours: Load) -> None:
    """The finding: of a fifth that is drawn, 1 - exp(-0.2) of all is left, for some are drawn twice."""
    items = items_of(ours, [(one, one + 1) for one in range(0, 5_000, 2)], np.zeros(2_500, dtype=np.int32))
    hide, draw = ours("examples").drawn_to_hide, np.random.default_rng(2)
    drawn = [hide(items, np.zeros((0, 3), dtype=int), 0.2, draw) for _ in range(20)]
    assert {len(one) for one in drawn} == {1_000}
    assert np.mean([len(set(one.tolist())) for one in drawn]) / 5_000 == pytest.approx(0.1813, abs=2e-3)


def test_a_model_is_chosen_by_another_metric(ours: Load) -> None:
    draw = np.random.default_rng(20260109)
    truth, found = draw.integers(0, 6, 80), draw.integers(2, 8, 80)
    expected = f1_score(truth, found, average="macro"), (truth == found).mean(), cohen_kappa_score(truth, found)
    np.testing.assert_allclose(ours("measures").of_types(truth, found), expected, atol=1e-12)
    assert ours("measures").of_types(truth[:1], truth[:1]) == (1.0, 1.0, 0.0)
    labels = draw.integers(-1, 2, (90, 5)).astype(np.int8)
    # nothing can be said of a type with positives only
    labels[:, 4] = np.abs(labels[:, 4])
    scores = draw.integers(0, 12, (90, 5)).astype(np.float32) / np.float32(12)
    by = by_type(labels, scores).values
    means = [np.mean(by[name][:4]) for name in ("ROC-AUC", "PR-AUC", "precision at half")]
    np.testing.assert_allclose(ours("measures").of_lines(labels, scores), means, atol=1e-12)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("dataset", "feat", "layers"), [("drugbank", "E", 4), ("drugbank", "M", 1), ("twosides", "E", 2)]
)
def test_it_follows_its_definition(layout: Layout, engine: Engine, dataset: str, feat: str, layers: int) -> None:
    """Encodings and logits; loss and gradients along a direction, by differences of the plain loss."""
    card, (arrays, about) = load_method(layout, "emergnn"), made_case(dataset, feat, layers)
    trial = Trial(
        card,
        "ddi",
        {**arrays, "about": [json.dumps(about)]},
        card.variant("published").parameters,
        seed=1,
        task="parity",
        trace=True,
        answers=False,
    )
    with InContainers(layout, engine)(trial) as result:
        assert result.verdict == "ok", result.reason
        traced = {path.name.removesuffix(".npy"): np.load(path) for path in (result.out / "trace").iterdir()}
    encoded, logits = plain(arrays, about)
    np.testing.assert_allclose(traced["out.ht_embed"], encoded, rtol=0, atol=1e-5)
    np.testing.assert_allclose(traced["out.logits"], logits, rtol=0, atol=1e-5)
    if dataset == "twosides":
        return
    assert traced["out.loss_eval"] == pytest.approx(loss_of(logits, arrays["in/y"]), rel=1e-6)
    draw = np.random.default_rng(20260110)
    for name, gradient in traced.items():
        if not name.startswith("grad0."):
            continue
        parameter = "param/" + name.removeprefix("grad0.")
        direction = draw.choice([-1.0, 1.0], gradient.shape) * 1e-5
        there, back = (
            loss_of(plain({**arrays, parameter: arrays[parameter] + sign * direction}, about)[1], arrays["in/y"])
            for sign in (1, -1)
        )
        assert (gradient * direction).sum() == pytest.approx((there - back) / 2, rel=1e-3, abs=1e-8), name
