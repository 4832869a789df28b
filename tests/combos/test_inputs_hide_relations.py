"""No relation of an asked document may reach a method, in the files or in their order; all else must arrive."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.base.input_files import Given, as_file
from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.conformance.problems import sentences
from harness.benchmarks.combos.dataset import UNANNOTATED, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import COMB, LABELS, NEG, POS, DrugRelation
from harness.benchmarks.combos.names import ANSWER, INPUTS
from harness.benchmarks.combos.splits.form import OUTSIDE, TEST, TRAIN, DocumentSplit, split_of
from tests.combos.made_documents import datasets
from tests.given import write_inputs

ALWAYS = ("sentences", "spans", "relations", "relation_spans", "train", "asked")
# a document in words that do not depend on any order
Fact = tuple[str, str, tuple[tuple[int, int, str], ...], tuple[tuple[str, tuple[int, ...]], ...]]


@pytest.fixture(scope="module")
def sdk() -> Any:
    """The SDK, as a method finds it in its image."""
    root = Path(__file__).resolve().parents[2]
    folders = [str(root / "methods/_sdk/python"), str(root / "harness/benchmarks/combos/sdk/python")]
    sys.path[:0] = folders
    yield import_module("combos_sdk")
    for folder in folders:
        sys.path.remove(folder)
    for name in ("combos_sdk", "permafrost_sdk"):
        sys.modules.pop(name, None)


def _split(dataset: CombosDataset, seed: int) -> DocumentSplit:
    """Any parts; what is not annotated never trains."""
    draw = random.Random(seed)
    return split_of(
        [
            draw.choice((TEST, OUTSIDE) if part == UNANNOTATED else (TRAIN, TRAIN, TEST, OUTSIDE))
            for part in dataset.released.tolist()
        ]
    )


def _problem(sdk: Any, inputs: Mapping[str, Given]) -> Any:
    job = import_module("permafrost_sdk").Job({"parameters": {}, "seed": 1}, inputs, Path())
    return sdk._problem(job)


def _fact(document: Any) -> Fact:
    """What the SDK says of a document; drugs are called by where they start."""
    return (
        document.sentence,
        document.paragraph,
        tuple(sorted((span.start, span.end, span.text) for span in document.spans)),
        tuple(
            (one.label, tuple(sorted(document.spans[drug].start for drug in one.spans)))
            for one in document.relations
        ),
    )


def _wanted(dataset: CombosDataset, place: int, known: bool) -> Fact:
    own = dataset.documents[place]
    return (
        own.sentence,
        own.paragraph,
        tuple(sorted((drug.start, drug.end, drug.text) for drug in own.drugs)),
        tuple(
            (LABELS[one.label], tuple(sorted(own.drugs[drug].start for drug in one.spans)))
            for one in (own.relations if known else ())
        ),
    )


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dataset=datasets(), seed=st.integers(0, 1000), secret=st.sampled_from(["", "a secret", "another"]))
def test_documents_arrive_as_they_are_in_any_order(
    sdk: Any, dataset: CombosDataset, seed: int, secret: str
) -> None:
    split = _split(dataset, seed)
    inputs = BENCHMARK.inputs(dataset, split, INPUTS, {})
    if secret:
        inputs = BENCHMARK.reorder(inputs, secret).inputs
    problem = _problem(sdk, inputs)
    for part, documents in ((TRAIN, problem.train), (TEST, problem.asked)):
        wanted = [_wanted(dataset, place, part == TRAIN) for place in np.flatnonzero(split.parts == part).tolist()]
        assert Counter(map(_fact, documents)) == Counter(wanted)
        if not secret:
            assert [*map(_fact, documents)] == wanted
    assert len(inputs["sentences"]) == split.training + split.test
    for name, array in inputs.items():
        if isinstance(array, np.ndarray):
            assert array.dtype == np.int32 and array.ndim == (1 if name in ("train", "asked") else 2)
            assert array.ndim == 1 or (np.diff(array[:, 0]) >= 0).all()
            if secret and name in ("train", "asked", "relation_spans"):
                # nothing is left of the order in which the release lists them
                assert array.tolist() == sorted(array.tolist())


@settings(max_examples=40)
@given(dataset=datasets(), seed=st.integers(0, 1000), secret=st.sampled_from(["", "a secret"]))
def test_no_byte_depends_on_a_relation_of_an_asked_document(
    dataset: CombosDataset, seed: int, secret: str
) -> None:
    split = _split(dataset, seed)
    documents = list(dataset.documents)
    for place in np.flatnonzero(split.parts != TRAIN):
        # one relation of all drugs in place of all others
        drugs = tuple(range(len(documents[place].drugs)))
        other = (DrugRelation(NEG, drugs),) if len(drugs) > 1 and dataset.released[place] != UNANNOTATED else ()
        documents[place] = replace(documents[place], relations=other)
    changed = dataset_of("drawn", documents, dataset.released.tolist())
    one, other_inputs = (
        BENCHMARK.reorder(made, secret).inputs if secret else made
        for made in (BENCHMARK.inputs(own, split, INPUTS, {}) for own in (dataset, changed))
    )
    assert {name: _bytes(value) for name, value in one.items()} == {
        name: _bytes(value) for name, value in other_inputs.items()
    }


def _bytes(value: Given) -> object:
    return value.tobytes() if isinstance(value, np.ndarray) else list(value)


def test_files_do_not_depend_on_the_relations_of_asked_documents(tmp_path: Path) -> None:
    problem = sentences()
    written = []
    for name, own in (("one", problem), ("other", problem.with_other_test_labels())):
        folder = tmp_path / name
        folder.mkdir()
        described = write_inputs("combos", own.dataset, own.split, INPUTS, folder)
        written.append({key: (folder / one["file"]).read_bytes() for key, one in described.items()})
    assert written[0] == written[1]
    assert problem.dataset.relations.tolist() != problem.with_other_test_labels().dataset.relations.tolist()


def test_only_what_is_declared_arrives() -> None:
    problem = sentences()
    assert tuple(BENCHMARK.inputs(problem.dataset, problem.split, [], {})) == ALWAYS
    assert tuple(BENCHMARK.inputs(problem.dataset, problem.split, ["paragraphs"], {})) == (*ALWAYS, "paragraphs")
    with pytest.raises(UsageError, match="no input is called 'labels'"):
        BENCHMARK.inputs(problem.dataset, problem.split, ["labels"], {})


def test_texts_that_are_not_declared_are_empty(sdk: Any) -> None:
    problem = sentences()
    own = _problem(sdk, BENCHMARK.inputs(problem.dataset, problem.split, [], {}))
    assert {document.paragraph for document in own.asked} == {""}
    assert {span.text for document in own.train for span in document.spans} == {""}


def _answer(documents: Sequence[Any], scale: float) -> list[bytes]:
    """Drugs next to each other in the text are combined; the score tells the first one's place."""
    lines = []
    for document in documents:
        order = sorted(range(len(document.spans)), key=lambda drug: document.spans[drug].start)
        pairs = [order[first : first + 2] for first in range(len(order) - 1)]
        rows = [
            {"spans": sorted(pair), "label": "POS", "score": document.spans[pair[0]].start / scale}
            for pair in pairs
        ]
        lines.append((json.dumps({"combinations": rows}, sort_keys=True) + "\n").encode())
    return lines


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dataset=datasets(), seed=st.integers(0, 1000), secret=st.text(max_size=4))
def test_the_answer_to_a_secret_order_is_put_back(
    sdk: Any, dataset: CombosDataset, seed: int, secret: str
) -> None:
    split = _split(dataset, seed)
    inputs = BENCHMARK.inputs(dataset, split, INPUTS, {})
    arrangement = BENCHMARK.reorder(inputs, secret)
    wanted, moved = (_answer(_problem(sdk, own).asked, 1000) for own in (inputs, arrangement.inputs))
    restored = arrangement.restore[ANSWER](moved)
    assert [_content(line) for line in restored] == [_content(line) for line in wanted]
    assert all(line.endswith(b"\n") for line in restored)
    # both orders are asked the same
    assert BENCHMARK.asked_in(inputs, {}) == BENCHMARK.scoring.question(dataset, split, {})
    counts = sorted(BENCHMARK.asked_in(arrangement.inputs, {}).drug_counts)
    assert counts == sorted(BENCHMARK.asked_in(inputs, {}).drug_counts)


def _content(line: bytes) -> set[tuple[tuple[int, ...], float]]:
    return {(tuple(one["spans"]), one["score"]) for one in json.loads(line)["combinations"]}


def test_combinations_are_put_back_by_size_and_drugs() -> None:
    """So that the bytes of an answer do not tell the secret order of its drugs."""
    problem = sentences()
    inputs = BENCHMARK.inputs(problem.dataset, problem.split, [], {})
    every = [{"spans": spans, "label": "COMB", "score": 0} for spans in ([0, 1, 2], [1, 2], [0, 2], [0, 1])]
    counts = BENCHMARK.asked_in(inputs, {}).drug_counts
    for secret in ("a secret", "another"):
        arrangement = BENCHMARK.reorder(inputs, secret)
        counts_now = BENCHMARK.asked_in(arrangement.inputs, {}).drug_counts
        answer = [
            (json.dumps({"combinations": every if count > 2 else []}) + "\n").encode() for count in counts_now
        ]
        for line, count in zip(arrangement.restore[ANSWER](answer), counts, strict=True):
            rows = [one["spans"] for one in json.loads(line)["combinations"]]
            assert len(rows) == (4 if count > 2 else 0)
            assert rows == sorted(rows, key=lambda spans: (len(spans), spans))


def test_the_order_tells_nothing_of_the_published_one() -> None:
    """In the released file the drugs that were marked later stand last; shuffled, each place is as likely."""
    problem = sentences()
    inputs = BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {})
    arrangements = [BENCHMARK.reorder(inputs, f"secret {number}").inputs for number in range(200)]
    asked = [problem.dataset.sentences[place] for place in problem.split.asked]
    first = Counter(own["sentences"][int(np.asarray(own["asked"])[0])] for own in arrangements)
    assert len(first) == len(asked) and max(first.values()) < 40
    # the drugs of one sentence of three
    sentence = next(
        text for text, one in zip(asked, BENCHMARK.asked_in(inputs, {}).drug_counts, strict=True) if one == 3
    )
    drugs = Counter[tuple[int, ...]]()
    for own in arrangements:
        row = list(own["sentences"]).index(sentence)
        spans = np.asarray(own["spans"])
        drugs[tuple(spans[spans[:, 0] == row, 1].tolist())] += 1
    assert len(drugs) == 6 and max(drugs.values()) < 70


def test_a_run_of_before_is_handed_its_documents_in_the_same_order_again() -> None:
    """Its record tells the secret: with it anybody makes the same inputs."""
    problem = sentences()
    arrangement = BENCHMARK.reorder(BENCHMARK.inputs(problem.dataset, problem.split, INPUTS, {}), "5" * 32)
    files = [as_file(name, given) for name, given in sorted(arrangement.inputs.items())]
    assert sha256(b"".join(file.content for file in files)).hexdigest()[:16] == "34232b5bc463bb88"


def test_relations_are_called_by_the_words_of_the_protocol(sdk: Any) -> None:
    assert sdk.LABELS == LABELS and (COMB, POS, NEG) == (1, 2, 3)
