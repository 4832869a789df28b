"""Nothing of the truth about a test pair may reach a method; all else must arrive as it is, or be missed."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import MissingData, UsageError
from harness.base.input_files import Given, as_file
from harness.benchmarks.dti import BENCHMARK
from harness.benchmarks.dti.conformance import problems
from harness.benchmarks.dti.conformance.problems import Problem
from harness.benchmarks.dti.names import INPUTS
from harness.benchmarks.dti.splits.pairs import NEGATIVE, NEW, pair_split
from tests.given import write_inputs

PROBLEMS = {make.__name__: make() for make in (problems.bindings, problems.affinities)}
# the inputs in the order of one secret, by their bytes
IN_ORDER = {"bindings": "96d8caecd18651bf", "affinities": "f27e39d266a08452"}
ALWAYS = ("sizes", "train_pairs", "train_values", "test_pairs")


@pytest.fixture(params=PROBLEMS)
def problem(request: pytest.FixtureRequest) -> Problem:
    return PROBLEMS[request.param]


def _written(problem: Problem, folder: Path, inputs: tuple[str, ...] = INPUTS) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    described = write_inputs("dti", problem.dataset, problem.split, inputs, folder)
    return {name: (folder / description["file"]).read_bytes() for name, description in described.items()}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(sorted(PROBLEMS)))
def test_no_byte_depends_on_the_truth_of_a_test_pair(tmp_path: Path, seed: int, name: str) -> None:
    problem, generator = PROBLEMS[name], np.random.default_rng(seed)
    rows, values = problem.split.rows.copy(), problem.dataset.values.copy()
    asked = np.flatnonzero(~problem.split.is_train)
    if problem.dataset.affinity:
        values[rows[asked, 3]] = generator.normal(size=len(asked))
    else:
        rows[asked, 3] = generator.choice([NEGATIVE, NEW], len(asked))
    rows[asked] = generator.permutation(rows[asked])
    other = Problem(replace(problem.dataset, values=values), pair_split(rows))
    assert _written(problem, tmp_path / "one") == _written(other, tmp_path / "other")


def test_values_to_learn_from_arrive_with_their_pairs(problem: Problem) -> None:
    rows = np.random.default_rng(6).permutation(problem.split.rows)
    inputs = BENCHMARK.inputs(problem.dataset, pair_split(rows), [], {})
    assert tuple(inputs) == ALWAYS
    value = dict(zip(map(tuple, problem.dataset.pairs.tolist()), problem.dataset.values.tolist(), strict=True))
    pairs = [tuple(pair) for pair in np.asarray(inputs["train_pairs"]).tolist()]
    assert [value[pair] for pair in pairs] == np.asarray(inputs["train_values"]).tolist()
    assert not set(pairs) & {tuple(pair) for pair in np.asarray(inputs["test_pairs"]).tolist()}
    assert np.asarray(inputs["sizes"]).tolist() == [24, 18, 54, int(problem.dataset.affinity)]


def test_only_what_is_declared_arrives(problem: Problem) -> None:
    assert tuple(BENCHMARK.inputs(problem.dataset, problem.split, ["smiles"], {})) == (*ALWAYS, "smiles")
    with pytest.raises(UsageError, match="no input is called 'labels'"):
        BENCHMARK.inputs(problem.dataset, problem.split, ["labels"], {})


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize(
    ("name", "column", "what"),
    [
        ("smiles", 0, "1 drugs of the task have no structure"),
        ("sequences", 1, "1 targets of the task have no sequence"),
    ],
)
def test_a_text_that_the_task_needs_is_missed(
    problem: Problem, part: str, name: str, column: int, what: str
) -> None:
    # two asked pairs, so that most nodes are in one part alone
    split = pair_split(problem.split.rows[: problem.split.training + 2])
    own, others = (split.train_pairs, split.test_pairs)[:: 1 if part == "train" else -1]
    node = int(np.setdiff1d(own[:, column], others[:, column])[0]) if part == "train" else int(own[0, column])
    texts = list(getattr(problem.dataset, name))
    texts[node] = ""
    other: dict[str, Any] = {name: tuple(texts)}
    without = replace(problem.dataset, **other)
    ids = (without.drug_ids, without.target_ids)[column]
    with pytest.raises(MissingData, match=f"{what}, '{ids[node]}' for one"):
        BENCHMARK.inputs(without, split, [name], {})
    # whoever reads other things is not stopped
    assert BENCHMARK.inputs(without, split, ["edges"], {})


def test_an_unknown_text_outside_the_task_is_empty(problem: Problem) -> None:
    inputs = BENCHMARK.inputs(problem.dataset, problem.split, ["smiles", "sequences"], {})
    assert inputs["smiles"][-1] == "" and inputs["sequences"][-1] == ""


@pytest.mark.parametrize("name", ["edges", "relation_names"])
def test_a_network_that_is_not_there_is_missed(problem: Problem, name: str) -> None:
    without = replace(problem.dataset, edges=np.empty((0, 3), dtype=np.int32), relation_names=(), node_names=())
    with pytest.raises(MissingData, match="no network"):
        BENCHMARK.inputs(without, problem.split, [name], {})
    assert BENCHMARK.inputs(without, problem.split, ["smiles"], {})


def _facts(inputs: dict[str, Given]) -> dict[str, object]:
    """What the inputs say, in words that do not depend on any order: a node is called by its similarities."""
    drugs, targets, nodes, _ = (int(size) for size in inputs["sizes"])
    names = [f"drug {text}" for text in inputs["smiles"]] + [f"target {text}" for text in inputs["sequences"]]
    edges = [tuple(edge) for edge in np.asarray(inputs["edges"]).tolist()]
    # other nodes have no text: they are called by what they are joined with
    for node in range(drugs + targets, nodes):
        ends = [(kind, names[head]) for kind, head, tail in edges if tail == node]
        names.append(f"node of {sorted(ends)}")
    pairs = {
        part: [
            (names[drug], names[drugs + target]) for drug, target in np.asarray(inputs[f"{part}_pairs"]).tolist()
        ]
        for part in ("train", "test")
    }
    similar = {}
    for kind, first, count in (("drug", 0, drugs), ("target", drugs, targets)):
        matrix = np.asarray(inputs[f"{kind}_similarity"])
        for one in range(count):
            for other in range(count):
                similar[names[first + one], names[first + other]] = matrix[one, other]
    return {
        "edges": sorted((kind, names[head], names[tail]) for kind, head, tail in edges),
        "train": sorted(zip(pairs["train"], np.asarray(inputs["train_values"]).tolist(), strict=True)),
        "test": sorted(pairs["test"]),
        "similar": similar,
        "relations": inputs["relation_names"],
    }


def test_a_secret_order_changes_no_fact_and_is_undone(problem: Problem) -> None:
    inputs = dict(BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {}))
    arrangement = BENCHMARK.reorder(inputs, "a secret")
    moved = dict(arrangement.inputs)
    assert _facts(moved) == _facts(inputs)
    changed = {name for name in inputs if not np.array_equal(np.asarray(inputs[name]), np.asarray(moved[name]))}
    assert changed | {"train_values"} == set(inputs) - {"sizes", "relation_names"}
    # nor do edges stay in their places, where their relations would tell which is which
    assert np.asarray(inputs["edges"])[:, 0].tolist() != np.asarray(moved["edges"])[:, 0].tolist()
    texts = [
        (moved["smiles"][drug], moved["sequences"][target]) for drug, target in np.asarray(moved["test_pairs"])
    ]
    wanted = [
        (inputs["smiles"][drug], inputs["sequences"][target]) for drug, target in np.asarray(inputs["test_pairs"])
    ]
    back = arrangement.restore["scores.npy"](np.array([wanted.index(pair) for pair in texts], dtype=np.float64))
    assert back.tolist() == list(range(len(wanted)))


def test_another_secret_is_another_order(problem: Problem) -> None:
    inputs = BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {})
    one, other = (BENCHMARK.reorder(inputs, secret).inputs for secret in ("a secret", "another"))
    assert one["smiles"] != other["smiles"] and one["sequences"] != other["sequences"]


def test_a_run_of_before_is_handed_its_pairs_in_the_same_order_again(problem: Problem) -> None:
    """Its record tells the secret: with it anybody makes the same inputs."""
    arrangement = BENCHMARK.reorder(BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {}), "5" * 32)
    files = [as_file(name, given) for name, given in sorted(arrangement.inputs.items())]
    found = sha256(b"".join(file.content for file in files)).hexdigest()[:16]
    assert found == IN_ORDER[next(name for name, one in PROBLEMS.items() if one is problem)]


def test_a_run_is_asked_as_many_pairs_as_it_is_handed(problem: Problem) -> None:
    inputs = BENCHMARK.inputs(problem.dataset, problem.split, [], {})
    assert BENCHMARK.asked_in(inputs, {}) == BENCHMARK.scoring.question(problem.dataset, problem.split, {})
