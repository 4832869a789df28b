"""Whatever secret order a run found its items in, its answer belongs to the published ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.input_files import Array, Given
from harness.base.npy import npy_bytes
from harness.benchmarks import ddi, repurposing
from harness.benchmarks.ddi.conformance import problems as pair_problems
from harness.benchmarks.order import PUBLISHED, Arrangement, new_order, permutation, places_of
from harness.benchmarks.repurposing.conformance import problems
from harness.execution.inputs import arrange

SECRETS = st.text("0123456789abcdef", min_size=32, max_size=32)
FIRST_EIGHT = [3, 2, 4, 6, 0, 5, 1, 7]
FEATURES = ("drug_features", "disease_features", "drug_similarity", "disease_similarity", "drug_views")


@given(secret=SECRETS, axis=st.sampled_from(["drugs", "items"]), count=st.integers(0, 300))
def test_a_permutation_loses_nothing(secret: str, axis: str, count: int) -> None:
    order = permutation(secret, axis, count)
    assert sorted(order.tolist()) == list(range(count))
    assert order[places_of(order)].tolist() == list(range(count))


def test_a_secret_means_the_same_order_in_years() -> None:
    """Records hold secrets: another order of the same secret would make every stored run irreproducible."""
    assert permutation("0123456789abcdef", "drugs", 8).tolist() == FIRST_EIGHT
    assert permutation("0123456789abcdef", "diseases", 8).tolist() != FIRST_EIGHT


def test_no_two_runs_share_a_secret() -> None:
    secrets = {new_order() for _ in range(100)}
    assert len(secrets) == 100
    assert all(len(secret) == 32 and int(secret, 16) >= 0 for secret in secrets)


def _asked(inputs: Mapping[str, Given]) -> Array:
    return np.asarray(np.asarray(inputs["folds"]) == -1)


def _scores(inputs: Mapping[str, Given]) -> Array:
    """A method that reads every input but no number of a row: equal for one pair in any order."""
    drugs, diseases = (np.nan_to_num(np.asarray(inputs[name])) for name in FEATURES[:2])
    similar = np.asarray(inputs["drug_similarity"])
    known = np.asarray(inputs["associations"]).astype(float)
    return np.asarray(
        np.sort(drugs, axis=1) @ np.arange(drugs.shape[1])[:, None]
        + (np.sort(diseases, axis=1) @ np.arange(diseases.shape[1]))
        + 10 * np.sort(similar, axis=1)[:, :1]
        + 100 * known.sum(axis=1, keepdims=True)
        + 1000 * known.sum(axis=0)
    )


def _answer(inputs: Mapping[str, Given]) -> dict[str, Array]:
    folds, scores = np.asarray(inputs["folds"]), _scores(inputs)
    return {"predictions.npy": np.stack([scores[folds == -1]] * 2), "validation.npy": scores[folds >= 0]}


@pytest.mark.parametrize("make", [problems.ordinary, problems.with_more_diseases, problems.with_negatives])
@given(secret=SECRETS)
def test_scores_of_pairs(make: type[problems.Problem], secret: str) -> None:
    problem = make()  # type: ignore[call-arg]
    inputs = repurposing.BENCHMARK.inputs(problem.dataset, problem.split, FEATURES, {"inner_folds": 5})
    arrangement = arrange("repurposing", inputs, secret)
    expected, found = _answer(inputs), _answer(arrangement.inputs)
    assert arrangement.restore.keys() == expected.keys()
    for name, back in arrangement.restore.items():
        np.testing.assert_allclose(back(found[name]), expected[name])


def test_a_similarity_moves_on_both_axes() -> None:
    """A diagonal that moves on one axis tells the order."""
    problem = problems.with_more_diseases()
    inputs = repurposing.BENCHMARK.inputs(problem.dataset, problem.split, FEATURES, {"inner_folds": 0})
    moved = arrange("repurposing", inputs, new_order()).inputs
    assert np.asarray(inputs["drug_features"]).shape == (17, 17)
    for name in ("drug_features", "drug_similarity", "disease_similarity"):
        one, other = np.asarray(inputs[name]), np.asarray(moved[name])
        assert not np.array_equal(one, other, equal_nan=True)
        np.testing.assert_array_equal(np.sort(one.diagonal()), np.sort(other.diagonal()))


def test_nothing_but_the_order_changes() -> None:
    problem = problems.ordinary()
    inputs = repurposing.BENCHMARK.inputs(problem.dataset, problem.split, FEATURES, {"inner_folds": 5})
    moved = arrange("repurposing", inputs, new_order()).inputs
    assert moved.keys() == inputs.keys()
    for name, array in inputs.items():
        one, other = np.asarray(array), np.asarray(moved[name])
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_array_equal(np.sort(one, axis=None), np.sort(other, axis=None))
    assert not np.array_equal(_asked(inputs), _asked(moved))


def _pair_scores(inputs: Mapping[str, Given]) -> Array:
    """Of each asked pair: what its drugs are, and what training says of them."""
    texts, pairs = inputs["smiles"], np.asarray(inputs["train_pairs"])
    prints = np.asarray(inputs["fingerprints"]) @ np.arange(1, 33)
    edges = np.asarray(inputs["knowledge"])
    labels = np.asarray(inputs["train_labels"])
    weight = labels if labels.ndim == 1 else labels @ np.arange(labels.shape[1])
    value = np.array([sum(text.encode()) for text in texts], dtype=float) + prints
    np.add.at(value, pairs[:, 0], 7.0 * weight)
    np.add.at(value, pairs[:, 1], 3.0 * weight)
    value += np.bincount(edges[:, 0], edges[:, 2], minlength=36)[: len(value)]
    asked = np.asarray(inputs["test_pairs"])
    return np.column_stack([value[asked[:, 0]], value[asked[:, 1]]]).astype(np.float32)


@pytest.mark.parametrize("make", [pair_problems.one_type, pair_problems.several_types])
@given(secret=SECRETS)
def test_scores_of_interactions(make: type[pair_problems.Problem], secret: str) -> None:
    problem = make()  # type: ignore[call-arg]
    names = ("fingerprints", "knowledge", "smiles")
    inputs = ddi.BENCHMARK.inputs(problem.dataset, problem.split, names, {})
    arrangement = arrange("ddi", inputs, secret)
    moved = arrangement.inputs
    back = arrangement.restore["predictions.npy"]
    np.testing.assert_array_equal(back(_pair_scores(moved)), _pair_scores(inputs))
    settings, pairs = np.asarray(moved["test_setting"]), np.asarray(moved["test_pairs"])
    assert np.array_equal(np.lexsort((pairs[:, 1], pairs[:, 0], settings)), np.arange(len(pairs)))
    assert (np.diff(np.asarray(moved["valid_setting"])) >= 0).all()
    for name in ("train_pairs", "valid_pairs", "test_pairs", "knowledge", "fingerprints"):
        one, other = np.asarray(inputs[name]), np.asarray(moved[name])
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
    assert sorted(moved["smiles"]) == sorted(inputs["smiles"])


DRUG_TEXTS = ("smiles", "drug_names", "drug_texts", "graph_texts")


def _drugs(inputs: Mapping[str, Given]) -> list[tuple[Any, ...]]:
    """All that is known of each drug, whatever its number."""
    prints = np.asarray(inputs["fingerprints"]).tolist()
    return sorted(zip(prints, *(inputs[name] for name in DRUG_TEXTS), strict=True))


def _graph(inputs: Mapping[str, Given]) -> tuple[list[Any], list[Any]]:
    """Edges between drugs, by name, and of every other entity those with drugs: entities have no names."""
    names, drugs, others = inputs["drug_names"], len(inputs["smiles"]), dict[int, list[tuple[bool, str, int]]]()
    between = []
    for head, tail, relation in np.asarray(inputs["knowledge"]).tolist():
        ends = [names[node] if node < drugs else "" for node in (head, tail)]
        between.append((*ends, relation))
        for node, is_head, other in ((head, True, ends[1]), (tail, False, ends[0])):
            if node >= drugs:
                others.setdefault(node, []).append((is_head, other, relation))
    return sorted(between), sorted(sorted(own) for own in others.values())


@pytest.mark.parametrize("secret", ["0" * 32, "0123456789abcdef" * 2])
def test_a_drug_keeps_all_that_is_known_of_it_and_its_edges(secret: str) -> None:
    """Both ends of an edge have the new numbers, and the order of edges tells nothing either."""
    problem = pair_problems.one_type()
    texts = {name: tuple(f"{name} of {number}" for number in range(problem.dataset.drugs)) for name in DRUG_TEXTS}
    dataset = replace(problem.dataset, **texts)  # type: ignore[arg-type]
    names = ("fingerprints", "knowledge", *DRUG_TEXTS)
    inputs = ddi.BENCHMARK.inputs(dataset, problem.split, names, {})
    moved = arrange("ddi", inputs, secret).inputs
    assert _drugs(moved) == _drugs(inputs) and moved["drug_names"] != inputs["drug_names"]
    assert _graph(moved) == _graph(inputs)
    relations = [np.asarray(one["knowledge"])[:, 2].tolist() for one in (inputs, moved)]
    assert relations[0] != relations[1] and sorted(relations[0]) == sorted(relations[1])


def test_validation_labels_stay_with_their_pairs() -> None:
    problem = pair_problems.one_type()
    inputs = ddi.BENCHMARK.inputs(problem.dataset, problem.split, ("smiles",), {})
    moved = arrange("ddi", inputs, new_order()).inputs
    assert moved["train_pairs"] is not inputs["train_pairs"]

    def items(of: Mapping[str, Given], part: str) -> list[tuple[str, str, int]]:
        pairs, texts = np.asarray(of[f"{part}_pairs"]), of["smiles"]
        labels = np.asarray(of[f"{part}_labels"]).tolist()
        return sorted((texts[head], texts[tail], label) for (head, tail), label in zip(pairs, labels, strict=True))

    for part in ("train", "valid"):
        assert items(inputs, part) == items(moved, part)


def test_a_published_answer_is_not_touched(tmp_path: Path) -> None:
    """Rewriting would make -0.0 another byte, and so another checksum."""
    path = tmp_path / "predictions.npy"
    np.save(path, np.array([[-0.0, 1.0]]))
    before = path.read_bytes()
    problem = problems.ordinary()
    inputs = repurposing.BENCHMARK.inputs(problem.dataset, problem.split, [], {"inner_folds": 0})
    arrangement = arrange("repurposing", inputs, PUBLISHED)
    assert arrangement.inputs is inputs
    arrangement.restore_files(tmp_path)
    assert path.read_bytes() == before


def test_files_are_rewritten_in_the_published_order(tmp_path: Path) -> None:
    arrangement = Arrangement({}, {"predictions.npy": lambda scores: scores[::-1]})
    for name in ("predictions.npy", "lowest.npy"):
        (tmp_path / name).write_bytes(npy_bytes(np.array([1.0, 2.0])))
    arrangement.restore_files(tmp_path)
    assert np.load(tmp_path / "predictions.npy").tolist() == [2.0, 1.0]
    assert np.load(tmp_path / "lowest.npy").tolist() == [1.0, 2.0]
