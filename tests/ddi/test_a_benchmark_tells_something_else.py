"""What a person and a method are told of drug pairs: readings, tables, refusals, drugs of one's own, problems."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from harness.base.errors import CorruptData, UsageError
from harness.base.input_files import as_file
from harness.base.layout import Layout
from harness.benchmarks.ddi import BENCHMARK, own_data
from harness.benchmarks.ddi.conformance import problems
from harness.benchmarks.ddi.extension import KINDS, USUAL, with_new
from harness.benchmarks.ddi.metrics.evaluation import Evaluation, evaluation_of
from harness.benchmarks.ddi.metrics.multilabel import by_type
from harness.benchmarks.ddi.metrics.pairs import asked_pairs
from harness.benchmarks.ddi.molecules import count_fingerprints, molecules_of
from harness.benchmarks.ddi.names import INPUTS
from harness.benchmarks.ddi.parity.metrics import check_metrics
from harness.benchmarks.new_item import Kind, NewItem, Usual
from harness.benchmarks.own_data import OwnTable
from harness.benchmarks.reading import reading_of
from harness.data import manifest_names
from harness.methods.card import method_names
from harness.parity.finding import Standing
from tests.ddi.tiny import SIGNS, tiny

BOTH_ORDERS = (
    "Every pair is asked in both orders, head first. They are one row here, in the order that scores higher; "
    "--both-orders lists both. Where a type says what the first drug does to the second, the order is part of it."
)


def test_of_one_type_a_pair_is_read_as_a_forced_choice() -> None:
    reading = reading_of("ddi", tiny())
    assert reading.meaning == (
        "The type is a forced choice: every pair gets the best of 2 types, also where its drugs do not interact. "
        "A row is no evidence that there is an interaction.",
        "A score compares the types of one pair. That it also orders pairs is a rule of thumb, and it is no "
        "probability.",
        BOTH_ORDERS,
    )
    assert (reading.answers, reading.exchangeable) == (("type",), ("head", "tail"))
    assert reading.known == ((("a", "b"), "x"), (("a", "c"), "y"), (("b", "c"), "y"))


def test_of_several_types_each_is_read_by_itself_and_negatives_are_unknown() -> None:
    reading = reading_of("ddi", tiny(labels=SIGNS))
    assert reading.meaning == (
        "Each row is one type of one pair. A score lies between 0 and 1 and is no calibrated probability: the "
        "method learned from as many pairs that were drawn as are known.",
        BOTH_ORDERS,
    )
    assert (reading.answers, reading.exchangeable) == ((), ("head", "tail"))
    known = [(*pair, kind) for pair, kind in ((("a", "b"), "x"), (("a", "b"), "y"), (("b", "c"), "y"))]
    assert reading.known == tuple((names, "known") for names in known)


def test_tables_of_ones_own_are_interactions_drugs_and_perhaps_a_graph(repository: Layout) -> None:
    assert own_data.CONVERTER == "ddi_csv"
    assert {
        "interactions": OwnTable(
            "interactions", "head, tail, type and, if wanted, part, a line per triplet", required=True
        ),
        "drugs": OwnTable("drugs", "drug, smiles and, if wanted, name, text, graph_text, year", required=True),
        "knowledge": OwnTable("knowledge", "a graph: head, tail, relation", required=False),
    } == own_data.TABLES
    inputs, lists = ("fingerprints", "smiles"), ("drug_ids", "drug_names")
    drug = Kind("structure (SMILES)", inputs=inputs, lists=lists, between_lines=None)
    assert {"drug": drug} == KINDS and Usual("mlp", ("drugbank", "synthetic_ddi")) == USUAL
    assert USUAL.method in method_names(repository) and {*USUAL.datasets} <= {*manifest_names(repository)}
    assert BENCHMARK.place == 2


def test_an_input_that_there_is_not_is_answered_with_all_that_there_are() -> None:
    problem = problems.one_type()
    with pytest.raises(UsageError, match="no input is called 'years'") as refused:
        BENCHMARK.inputs(problem.dataset, problem.split, ["smiles", "years"], {})
    assert refused.value.where == "method.toml: inputs"
    told = refused.value.todo.removeprefix("choose among: ").split(", ")
    assert {*told} == {*INPUTS} and refused.value.todo.startswith("choose among: sizes, train_pairs")


@pytest.mark.parametrize("name", INPUTS[8:])
def test_each_declared_input_is_the_one_of_its_name(name: str) -> None:
    problem = problems.one_type()
    given = BENCHMARK.inputs(problem.dataset, problem.split, [name], {})[name]
    assert given is getattr(problem.dataset, name)
    assert [*BENCHMARK.inputs(problem.dataset, problem.split, [name, "sizes"], {})] == [*INPUTS[:8], name]


def test_drugs_of_ones_own_stand_behind_those_that_are_known() -> None:
    dataset = tiny(drug_names=("A", "", "C"), drug_texts=("t", "u", "v"), graph_texts=("k", "l", "m"))
    knowledge = np.array([[0, 3, 0], [3, 1, 0], [1, 2, 0], [1, 1, 0]], dtype=np.int32)
    dataset = tiny(**{**vars(dataset), "knowledge": knowledge, "smiles": ("C", "CC", "CCC")})
    mine, again = NewItem(kind="drug", name="mine", text="OCO"), NewItem(kind="drug", name="b2", text="like b")
    larger = with_new(dataset, [mine, again])
    assert larger.drug_ids == ("a", "b", "c", "mine", "b2") and larger.smiles == ("C", "CC", "CCC", "OCO", "CC")
    # a name of its own where it has one, else what a person called it
    assert larger.drug_names == ("A", "", "C", "mine", "b2")
    assert larger.drug_texts == ("t", "u", "v", "", "u") and larger.graph_texts == ("k", "l", "m", "", "l")
    assert larger.entity_names == ("a", "b", "c", "mine", "b2", "gene") and larger.remarks == ()
    assert larger.years.tolist() == [1990, 0, 2000, 0, 0] and larger.years.dtype == dataset.years.dtype
    # entities that are no drugs have moved, and edges of the one that it is like are its own as well
    assert larger.knowledge.tolist() == [
        [0, 5, 0], [5, 1, 0], [1, 2, 0], [1, 1, 0], [4, 2, 0], [4, 1, 0], [5, 4, 0], [1, 4, 0],
    ]  # fmt: skip
    assert larger.knowledge.dtype == knowledge.dtype and dataset.knowledge.tolist() == knowledge.tolist()
    assert larger.released.tolist() == [[0, 0], [0, 0], [2, 0], [-2, 0], [-2, 0], [0, 0], [5, 0], [5, 1]]
    molecules = molecules_of(["OCO", "CC"], ["", ""])
    assert larger.fingerprints.tolist() == [[1] * 4] * 3 + count_fingerprints(molecules, 4).tolist()
    assert with_new(dataset, [again]).drug_names[3] == "b2"
    assert with_new(tiny(), [NewItem(kind="drug", name="x", text="like c")]).drug_names[3] == "C"
    # neither a number of the data nor what a drug is called there may be another one
    named = tiny(drug_names=("Alpha", "", "C"))
    for taken in ("GENE", "B", "alpha"):
        with pytest.raises(UsageError, match=f"there is a '{taken}' already"):
            with_new(named, [NewItem(kind="drug", name=taken, text="C")])


def test_a_structure_that_nobody_can_read_says_what_to_write() -> None:
    with pytest.raises(CorruptData) as refused:
        molecules_of(["C", "C("], ["line 2", "line 3"])
    assert (refused.value.where, refused.value.todo) == (
        "line 3",
        "correct it; a drug whose structure nobody knows is written * (a single unknown atom)",
    )


def test_substructures_are_counted_within_two_bonds() -> None:
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    molecules = molecules_of(["CCCCCC", "*", "c1ccccc1CCO"], ["", "", ""])
    found = count_fingerprints(molecules, 64)
    wanted = [GetMorganGenerator(radius=2, fpSize=64).GetCountFingerprintAsNumPy(one) for one in molecules]
    assert found.dtype == np.int32 and found[1].sum() == 0 < found.max() - 1
    np.testing.assert_array_equal(found[[0, 2]], [wanted[0], wanted[2]])
    assert count_fingerprints([], 16).shape == (0, 16)


@pytest.mark.parametrize(
    ("parameters", "evaluation", "rows"),
    [
        ({}, Evaluation(batch=0, lowest_type=True, empty_is_zero=True), 10),
        (
            {"evaluation_batch": 4, "evaluation_type": "own", "evaluation_empty": "skip"},
            Evaluation(4, False, False),
            8,
        ),
        ({"evaluation_batch": 1, "evaluation_type": "lowest", "evaluation_empty": "zero"}, Evaluation(1), 10),
    ],
)
def test_a_method_is_scored_as_its_parameters_say(
    parameters: dict[str, object], evaluation: Evaluation, rows: int
) -> None:
    assert evaluation_of(parameters) == evaluation and evaluation.rows(10) == rows


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        (
            {"evaluation_type": "x"},
            ("'x' is no value for 'evaluation_type'", "parameters", "choose one of: lowest, own"),
        ),
        (
            {"evaluation_empty": "x"},
            ("'x' is no value for 'evaluation_empty'", "parameters", "choose one of: zero, skip"),
        ),
        (
            {"evaluation_batch": -1},
            (
                "'-1' is no number of rows",
                "parameters: evaluation_batch",
                "give the rows of a batch where the last incomplete one is dropped, else 0",
            ),
        ),
    ],
)
def test_an_evaluation_that_there_is_not_says_which_there_are(
    parameters: dict[str, object], told: tuple[str, str, str]
) -> None:
    with pytest.raises(UsageError) as refused:
        evaluation_of(parameters)
    assert (refused.value.what, refused.value.where, refused.value.todo) == told


def test_of_several_types_every_type_of_every_pair_is_listed() -> None:
    problem = problems.several_types()
    pairs = asked_pairs(problem.dataset, problem.split).pairs
    scores = np.random.default_rng(3).permutation(pairs.shape[0] * 7).reshape(-1, 7).astype(np.float32)
    rows = BENCHMARK.ranking(problem.dataset, problem.split, scores, None).rows
    assert [row[3] for row in rows] == [*map(float, range(scores.size))][::-1]
    pair, kind = np.argwhere(scores == scores.size - 5)[0].tolist()
    head, tail = pairs[pair].tolist()
    dataset = problem.dataset
    assert rows[4][:3] == (dataset.drug_ids[head], dataset.drug_ids[tail], dataset.type_names[kind])


def test_equal_scores_stay_in_the_order_in_which_they_were_asked() -> None:
    problem = problems.one_type()
    pairs = asked_pairs(problem.dataset, problem.split).pairs.tolist()
    rows = BENCHMARK.ranking(problem.dataset, problem.split, np.ones((len(pairs), 7), dtype=np.float32), None).rows
    ids = problem.dataset.drug_ids
    assert [row[:3] for row in rows] == [
        (ids[head], ids[tail], "The one increases effect 0") for head, tail in pairs
    ]


def test_types_with_one_kind_of_pairs_or_none_are_told_apart() -> None:
    signs = np.array([[1, 1, 0, -1], [-1, 1, 0, -1]], dtype=np.int8)
    found = by_type(signs, np.full((2, 4), 0.5, dtype=np.float32))
    assert found.present.tolist() == [True, True, False, True] and found.decided.tolist() == [
        True,
        False,
        False,
        False,
    ]
    table = {name: values.tolist() for name, values in found.values.items()}
    nothing = float("nan")
    np.testing.assert_array_equal(table["ROC-AUC"], [0.5, nothing, nothing, nothing])
    np.testing.assert_array_equal(table["PR-AUC"], [0.5, 1.0, nothing, nothing])
    # one half is no positive
    np.testing.assert_array_equal(table["accuracy"], [0.5, 0.0, nothing, 1.0])
    np.testing.assert_array_equal(table["precision at half"], [1.0, 1.0, nothing, 0.0])


def test_golden_metrics_are_held_to_the_last_digits_and_what_is_missing_is_named() -> None:
    logits, label = np.array([[2.0, 1.0], [0.0, 1.0]]), np.array([[1, 1], [0, 1]])
    golden = {"in/logits": logits, "in/label_multihot": label, "out/f1_macro": np.array(1.0)}
    found = {one.array: one for one in check_metrics(golden)}
    assert [*found] == ["f1_macro", "accuracy", "kappa"]
    assert (found["f1_macro"].standing, found["f1_macro"].error) == (Standing.OK, 0.0)
    assert found["f1_macro"].allowed == 1e-12
    assert (found["kappa"].standing, found["kappa"].note) == (Standing.ABSENT, "not in the golden")
    for missing in ("in/logits", "in/label_multihot"):
        (one,) = check_metrics({name: array for name, array in golden.items() if name != missing})
        assert (one.array, one.standing, one.note) == ("in/", Standing.FAILED, "logits or labels are missing")


def test_a_golden_of_several_types_marks_types_then_the_sign() -> None:
    logits = np.array([[800.0, -800.0], [-1.0, 2.0], [-3.0, -2.0]])
    # two positives and a negative of the first type, of the second one each
    label = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
    golden = {"in/logits": logits, "in/label": label, "out/roc_auc": np.array(0.5), "out/accuracy": np.array(0.5)}
    found = {one.array: one for one in check_metrics(golden)}
    assert [*found] == ["roc_auc", "pr_auc", "accuracy"]
    assert {found[name].standing for name in ("roc_auc", "accuracy")} == {Standing.OK}
    # a third type that no pair mentions counts 0 in the means over types, as published
    wider = {"in/logits": np.pad(logits, ((0, 0), (0, 1))), "in/label": np.insert(label, 2, 0, axis=1)}
    golden |= {**wider, "out/roc_auc": np.array(1 / 3), "out/accuracy": np.array(1 / 3)}
    found = {one.array: one for one in check_metrics(golden)}
    assert {found[name].standing for name in ("roc_auc", "accuracy")} == {Standing.OK}


@pytest.mark.parametrize("other", [1.0, 1 + 2**-23, 1.5])
def test_only_pairs_with_nearly_the_same_logit_may_tie_in_the_golden(other: float) -> None:
    """In single precision the probabilities of neighbouring numbers may be one and the same."""
    logits, label = np.array([[1.0], [other], [-1.0]], dtype=np.float32), np.array([[1, 1], [1, 0], [1, 0]])
    agreed = {}
    for area in (0.5, 0.75):
        golden = {
            "in/logits": logits,
            "in/label": label,
            "out/roc_auc": np.array(area),
            "out/accuracy": np.array(1.0),
        }
        found = {one.array: one for one in check_metrics(golden)}
        agreed[area] = found["roc_auc"].standing is Standing.OK
        assert found["accuracy"].allowed == 1e-12
        assert found["roc_auc"].allowed == (0.5 + 1e-12 if other == 1 + 2**-23 else 1e-12)
    # a tie, either, and the negative ahead of the positive
    assert agreed == {0.5: other > 1, 0.75: other < 1.5}


DIGESTS = {
    "one_type": "649860c5ff26a409",
    "several_types": "deaa19239b3deb69",
    "without_new_pairs": "ea8c11f4cfa78775",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_every_method_is_asked_the_same_made_up_problems(name: str) -> None:
    """That one passed the self-test means the same everywhere, today and tomorrow."""
    problem = getattr(problems, name)()
    given = BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {})
    other = problem.with_other_test_labels()
    truth = (problem.dataset.labels, other.dataset.labels, problem.split.table, problem.dataset.entity_names)
    files = [
        as_file(key, value) for key, value in (*given.items(), *((str(n), one) for n, one in enumerate(truth)))
    ]
    assert sha256(b"".join(file.content for file in files)).hexdigest()[:16] == DIGESTS[name]


def test_a_run_of_before_is_handed_its_items_in_the_same_order_again() -> None:
    """Its record tells the secret: with it anybody makes the same inputs."""
    problem = problems.one_type()
    arrangement = BENCHMARK.reorder(BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {}), "5" * 32)
    files = [as_file(name, given) for name, given in sorted(arrangement.inputs.items())]
    assert sha256(b"".join(file.content for file in files)).hexdigest()[:16] == "0fb64b77c44c8c60"
