"""No label of a test item may reach a method, nor anything that depends on one; all else must arrive as it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.benchmarks.ddi import BENCHMARK
from harness.benchmarks.ddi.answer import question_on
from harness.benchmarks.ddi.conformance import problems
from harness.benchmarks.ddi.conformance.problems import Problem
from harness.benchmarks.ddi.names import INPUTS
from harness.benchmarks.ddi.splits.parts import TEST, TRAIN, part_split
from tests.ddi import brute_force as plain
from tests.given import write_inputs

PROBLEMS = {
    make.__name__: make() for make in (problems.one_type, problems.several_types, problems.without_new_pairs)
}
DECLARED = INPUTS[8:]
Loaded = dict[str, np.typing.NDArray[np.int64]]


@pytest.fixture(params=PROBLEMS)
def problem(request: pytest.FixtureRequest) -> Problem:
    return PROBLEMS[request.param]


def _written(problem: Problem, folder: Path, inputs: tuple[str, ...] = DECLARED) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    told = write_inputs("ddi", problem.dataset, problem.split, inputs, folder)
    assert {description["file"] for description in told.values()} == {path.name for path in folder.iterdir()}
    return {name: (folder / description["file"]).read_bytes() for name, description in told.items()}


def _arrays(problem: Problem, folder: Path) -> Loaded:
    _written(problem, folder, ())
    return {path.stem: np.load(path) for path in folder.iterdir()}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), several=st.booleans())
def test_no_byte_depends_on_a_test_label(tmp_path: Path, seed: int, several: bool) -> None:
    problem = PROBLEMS["several_types" if several else "one_type"]
    generator = np.random.default_rng(seed)
    labels = problem.dataset.labels.copy()
    hidden = np.isin(problem.split.items, (*TEST, -2))
    low, high = (-1, 2) if several else (0, problems.TYPES)
    labels[hidden] = generator.integers(low, high, size=labels[hidden].shape)
    other = Problem(replace(problem.dataset, labels=labels), problem.split)
    assert _written(problem, tmp_path / "one") == _written(other, tmp_path / "other")


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1))
def test_no_byte_depends_on_the_order_of_test_items(tmp_path: Path, seed: int) -> None:
    """Positives and negatives alternate in the released files: their order would tell which is which."""
    problem = PROBLEMS["several_types"]
    split, generator = problem.split, np.random.default_rng(seed)
    places = split.places.copy()
    for part in TEST:
        inside = np.flatnonzero(split.items == part)
        places[inside] = generator.permutation(len(inside))
    other = Problem(problem.dataset, part_split(split.drugs, split.items, places))
    assert _written(problem, tmp_path / "one") == _written(other, tmp_path / "other")


def test_training_and_validation_items_arrive_in_their_order(problem: Problem, tmp_path: Path) -> None:
    split, generator = problem.split, np.random.default_rng(5)
    places = split.places.copy()
    for part in range(4):
        inside = np.flatnonzero(split.items == part)
        places[inside] = generator.permutation(len(inside))
    shuffled = part_split(split.drugs, split.items, places)
    arrays = _arrays(Problem(problem.dataset, shuffled), tmp_path / "in")
    for part, name, setting in ((0, "train", 0), (1, "valid", 0), (2, "valid", 1), (3, "valid", 2)):
        items = sorted(np.flatnonzero(split.items == part), key=lambda item: int(places[item]))
        rows = (
            np.arange(len(arrays["train_pairs"]))
            if not part
            else np.flatnonzero(arrays["valid_setting"] == setting)
        )
        np.testing.assert_array_equal(arrays[f"{name}_pairs"][rows], problem.dataset.pairs[items])
        np.testing.assert_array_equal(arrays[f"{name}_labels"][rows], problem.dataset.labels[items])
    assert (np.diff(arrays["valid_setting"]) >= 0).all()
    assert len(arrays["valid_pairs"]) == int(np.isin(split.items, (1, 2, 3)).sum())


def test_every_test_pair_is_asked_once_in_order(problem: Problem, tmp_path: Path) -> None:
    arrays = _arrays(problem, tmp_path / "in")
    expected = sorted(
        {
            (setting, *map(int, problem.dataset.pairs[item]))
            for setting in (1, 2)
            for item in plain.rows_of(problem, setting)
        }
    )
    found = np.column_stack([arrays["test_setting"], arrays["test_pairs"]]).tolist()
    assert [tuple(row) for row in found] == expected


def test_nothing_that_is_not_declared_is_mounted(problem: Problem, tmp_path: Path) -> None:
    assert set(_written(problem, tmp_path / "always", ())) == set(INPUTS[:8])
    assert set(_written(problem, tmp_path / "one", ("smiles",))) == {*INPUTS[:8], "smiles"}
    with pytest.raises(UsageError, match="no input is called 'years'"):
        _written(problem, tmp_path / "no", ("years",))


def test_types_are_those_of_the_protocol(problem: Problem, tmp_path: Path) -> None:
    arrays = _arrays(problem, tmp_path / "in")
    labels = "|i1" if problem.dataset.multilabel else "<i4"
    settings_, pairs = dict.fromkeys(("valid_setting", "test_setting"), "|i1"), dict.fromkeys(INPUTS[:8], "<i4")
    expected = pairs | settings_ | dict.fromkeys(("train_labels", "valid_labels"), labels)
    assert {name: array.dtype.str for name, array in arrays.items()} == expected
    assert arrays["sizes"].tolist() == [24, 7, 36, 23]


def test_texts_arrive_one_to_a_line(problem: Problem, tmp_path: Path) -> None:
    texts = ("", "line\nbreak", 'quo"te', "other\u2028break", "µ")
    dataset = replace(problem.dataset, drug_texts=texts + problem.dataset.drug_texts[len(texts) :])
    content = _written(Problem(dataset, problem.split), tmp_path / "in", ("drug_texts",))["drug_texts"]
    lines = content.decode().split("\n")
    assert lines.pop() == ""
    assert tuple(json.loads(line) for line in lines) == dataset.drug_texts


def test_what_is_asked_is_told_alike_from_both_sides(problem: Problem, tmp_path: Path) -> None:
    arrays = _arrays(problem, tmp_path / "in")
    wanted = question_on(problem.dataset, problem.split)
    assert BENCHMARK.asked_in(arrays, {}) == wanted
    assert (wanted.types, wanted.multilabel) == (7, problem.dataset.multilabel)


def test_the_made_up_problems_are_what_they_say() -> None:
    one, several = PROBLEMS["one_type"].dataset, PROBLEMS["several_types"].dataset
    assert len(np.unique(one.pairs, axis=0)) < len(one.pairs)
    assert not one.fingerprints[problems.WITHOUT_FINGERPRINT].any()
    assert problems.WITHOUT_GRAPH_NODE not in one.knowledge[:, :2]
    assert one.drug_texts[problems.WITHOUT_TEXT] == one.graph_texts[problems.WITHOUT_TEXT] == ""
    for problem in PROBLEMS.values():
        trained = problem.dataset.labels[problem.split.items == TRAIN]
        has = (trained > 0).any(axis=0) if problem.dataset.multilabel else np.bincount(trained, minlength=7) > 0
        assert has.tolist() == [True] * 6 + [False]
    np.testing.assert_array_equal(several.labels[::2], -several.labels[1::2])
    roles = PROBLEMS["several_types"].split.drugs[several.pairs]
    np.testing.assert_array_equal(roles[::2], roles[1::2])
    assert set(PROBLEMS["without_new_pairs"].split.items.tolist()) == {0, 1, 2, 4, 5, -2}
