"""What a person is told to do about documents, names and splits, word for word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.checks import checked_remarks
from harness.benchmarks.combos.dataset import UNANNOTATED, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import COMB, NEG, POS, Document, DrugRelation, MarkedDrug
from harness.benchmarks.combos.extension import KINDS, USUAL, with_new
from harness.benchmarks.combos.input_texts import inputs_of
from harness.benchmarks.combos.names import KEY_METRICS, METRICS, ORDER_FREE_METRICS
from harness.benchmarks.combos.own_data import CONVERTER, TABLES
from harness.benchmarks.combos.reading import reading
from harness.benchmarks.combos.splits.form import split_of
from harness.benchmarks.combos.splits.strategies import abstracts, random, released, unannotated
from harness.benchmarks.combos.statistics import CombosStatistics
from harness.benchmarks.new_item import Kind, NewItem, Usual
from harness.benchmarks.own_data import OwnTable
from harness.data import load_dataset
from tests.combos.made_documents import line, write_files
from tests.core.word_for_word import said


def _span(**changes: object) -> dict[str, object]:
    spans: Any = line()["spans"]
    return {"spans": [{**spans[0], **changes}, *spans[1:]]}


def _relations(*classes: str, **changes: object) -> dict[str, object]:
    return {"rels": [{"class": one, "spans": [0, 1], "is_context_needed": True, **changes} for one in classes]}


_FIELD = "add it; a text may be empty"
_VALUE = "correct the value"
NOT_TEXTS: tuple[object, ...] = (0, False, [], {})


@pytest.mark.parametrize(
    ("changes", "where", "what", "todo"),
    [
        ({"sentence": None}, "", "there is no field 'sentence'", _FIELD),
        ({"paragraph": [1]}, ": paragraph", "[1] is not a text", _VALUE),
        ({"spans": 7}, ": spans", "7 is not a list", _VALUE),
        ({"rels": [7]}, ": rels[0]", "7 is not an object", _VALUE),
        (_span(end="x"), ": spans[0].end", "'x' is not a whole number", _VALUE),
        (_span(text=None), ": spans[0].text", "None is not a text", _VALUE),
        (
            _span(span_id=4),
            ": spans[0]",
            "span_id is 4, not 0",
            "number the spans of a line from 0 in their order",
        ),
        (_relations("POS", is_context_needed=1), ": rels[0].is_context_needed", "1 is not true or false", _VALUE),
        (_relations("ANY"), ": rels[0].class", "'ANY' is no class", "use COMB, POS, NEG"),
        # what is written is not taken for what is left out
        *(({"source": value}, ": source", f"{value!r} is not a text", _VALUE) for value in NOT_TEXTS),
        (
            {"paragraph": " "},
            ": paragraph",
            "the sentence is not in the paragraph",
            "put the sentence, as it is in `sentence`, into the paragraph",
        ),
        (
            {"doc_id": "x" * 99, "source": "y" * 99, "rels": "z" * 99},
            ": rels",
            f"'{'z' * 59} is not a list",
            _VALUE,
        ),
    ],
)
def test_a_line_is_to_be_corrected_so(
    tmp_path: Path, changes: dict[str, object], where: str, what: str, todo: str
) -> None:
    own = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    folder = write_files(own, train=[line(**changes)])
    with pytest.raises(CorruptData) as refused:
        load_dataset(own, "mine", CombosDataset)
    assert said(refused.value) == (what, f"{folder / 'train.jsonl'}: line 1{where}", todo)


@pytest.mark.parametrize(
    ("files", "what", "where", "todo"),
    [
        ({"train": b"1\n"}, "not an object", "train.jsonl: line 1", 'write {"doc_id": ..., "sentence": ...}'),
        (
            {"train": b"\xef\xbb\xbf\n [{\n"},
            "not JSON Lines: one list of documents",
            "train.jsonl",
            "write each document in a line of its own: jq -c '.[]' documents.json > documents.jsonl",
        ),
        (
            {"train": [line()], "test": [line()]},
            f"the document '{line()['doc_id']}' is also in ",
            "test.jsonl: line 1: doc_id",
            "give each document a doc_id of its own",
        ),
        (
            {"train": [line()], "unannotated": [line(doc_id="2")]},
            "a document that is not annotated has relations",
            "unannotated.jsonl: line 1: rels",
            "leave them out, or list it for training",
        ),
        (
            {"train": b"{\n"},
            "not a line of JSON: ",
            "train.jsonl: line 1",
            "write each document as JSON in a line of its own; this one may be cut short",
        ),
    ],
)
def test_a_file_is_to_be_corrected_so(
    tmp_path: Path, files: dict[str, Any], what: str, where: str, todo: str
) -> None:
    own = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    folder = write_files(own, **files)
    with pytest.raises(CorruptData) as refused:
        load_dataset(own, "mine", CombosDataset)
    assert refused.value.what.startswith(what)
    assert said(refused.value)[1:] == (f"{folder}/{where}", todo)
    if "also" in what:
        assert refused.value.what.endswith(f"{folder / 'train.jsonl'}: line 1")


DRUGS = (MarkedDrug(0, 1, "a"), MarkedDrug(2, 3, "b"))
GOOD = Document("one", "a b", "so a b", "", DRUGS, (DrugRelation(POS, (0, 1)),))


@pytest.mark.parametrize(
    ("changes", "where", "what", "todo"),
    [
        (
            {"paragraph": "a b \ud800"},
            ": paragraph",
            "it has half of a character",
            "write both halves (\\ud83d\\udc8a)",
        ),
        (
            {"sentence": "a b\udfff"},
            ": sentence",
            "it has half of a character",
            "write both halves (\\ud83d\\udc8a)",
        ),
        *(
            (changes, where, "it has half of a character", "write both halves (\\ud83d\\udc8a)")
            for changes, where in (
                ({"doc_id": "one\udc8a"}, ": doc_id"),
                ({"source": "\ud83d"}, ": source"),
                ({"drugs": (DRUGS[0], MarkedDrug(2, 3, "b\udc8a"))}, ": spans[1].text"),
            )
        ),
        ({"sentence": " "}, ": sentence", "the sentence is empty", "give the sentence that names the drugs"),
        (
            {"paragraph": "a"},
            ": paragraph",
            "the sentence is not in the paragraph",
            "put the sentence, as it is in `sentence`, into the paragraph",
        ),
        (
            {"drugs": (MarkedDrug(0, 1, "a"), MarkedDrug(2, 4, "b"))},
            ": spans[1]",
            "characters 2 to 4 are not in the sentence, which has 3",
            "count characters from 0, not bytes; `end` is the one behind the last",
        ),
        (
            {"drugs": (MarkedDrug(0, 2, "a"), MarkedDrug(1, 3, "b"))},
            ": spans[1]",
            "drug 1 overlaps drug 0: 0 to 2",
            "mark no character twice",
        ),
        (
            {"relations": (DrugRelation(POS, (0, 2)),)},
            ": rels[0].spans",
            "drug 2 is none of the 2 of the sentence",
            "name drugs by their span_id, from 0",
        ),
        (
            {"relations": (DrugRelation(POS, (1, 1)),)},
            ": rels[0].spans",
            "[1, 1] are not two or more different drugs",
            "name each drug of the combination once",
        ),
        (
            {"relations": (DrugRelation(POS, (0, 1)), DrugRelation(NEG, (1, 0)))},
            ": rels[1]",
            "its drugs are also those of rels[0]",
            "give one class to a set of drugs",
        ),
        (
            {"relations": (DrugRelation(0, (0, 1)),)},
            ": rels[0].class",
            "0 is no class",
            "use POS, COMB or NEG",
        ),
    ],
)
def test_a_document_of_a_converter_is_to_be_corrected_so(
    changes: dict[str, Any], where: str, what: str, todo: str
) -> None:
    assert checked_remarks(dataset_of("made", [GOOD, replace(GOOD, doc_id="two")], [0, 0])) == ()
    wrong = replace(GOOD, **{"doc_id": "two", **changes})
    with pytest.raises(CorruptData) as refused:
        checked_remarks(dataset_of("made", [GOOD, wrong], [0, 0]))
    assert said(refused.value) == (what, f"dataset made: document 1 ({wrong.doc_id}){where}", todo)


def test_a_dataset_of_a_converter_is_to_be_corrected_so() -> None:
    two = dataset_of("made", [GOOD, replace(GOOD, doc_id="two")], [0, 0])
    one = "not one row for each, or a number that stands for nothing"
    for dataset, what, todo in (
        (dataset_of("made", [], []), "there is no document", "give at least one"),
        (
            dataset_of("made", [GOOD, GOOD], [0, 0]),
            "1 names are those of several documents, 'one' for one",
            "give each document a name of its own",
        ),
        (replace(two, paragraphs=("so a b",)), f"'paragraphs' has {one}", "correct the converter"),
        (replace(two, sources=()), f"'sources' has {one}", "correct the converter"),
        (replace(two, released=np.array([0], dtype=np.int8)), f"'released' has {one}", "correct the converter"),
        (
            replace(two, relations=np.array([[-1, 1, 0], [0, 1, 0]], dtype=np.int32)),
            f"'relations' has {one}",
            "correct the converter",
        ),
        (
            replace(two, relations=np.zeros(3, dtype=np.int32)),
            f"'relations' has {one}",
            "correct the converter",
        ),
        (
            replace(two, released=np.array([0, UNANNOTATED], dtype=np.int8)),
            "a document that is not annotated has relations",
            "leave them out, or release it for training",
        ),
    ):
        with pytest.raises(CorruptData) as refused:
            checked_remarks(dataset)
        assert said(refused.value) == (what, "dataset made", todo)


def _items(text: str, *drugs: str) -> list[NewItem]:
    return [NewItem(kind="text", name="text 1", text=text), *(NewItem(kind="drug", name=one) for one in drugs)]


@pytest.mark.parametrize(
    ("items", "what", "where", "todo"),
    [
        (_items("", "a")[1:], "there is no sentence to mark drugs in", "--drug", "give it with --text"),
        (
            _items("aspirin and Aspirine", "aspirn"),
            "'aspirn' stands nowhere in the text as a whole word",
            NewItem(kind="drug", name="aspirn").where,
            "name it as it stands there; near it: aspirin, Aspirine",
        ),
        (
            _items("aspirin", "ASPIRN"),
            "'ASPIRN' stands nowhere in the text as a whole word",
            NewItem(kind="drug", name="ASPIRN").where,
            "name it as it stands there; near it: aspirin",
        ),
        (
            _items("ASPIRIN", "aspirn"),
            "'aspirn' stands nowhere in the text as a whole word",
            NewItem(kind="drug", name="aspirn").where,
            "name it as it stands there; near it: ASPIRIN",
        ),
        (
            _items("aspirin", "xyz"),
            "'xyz' stands nowhere in the text as a whole word",
            NewItem(kind="drug", name="xyz").where,
            "name it as it stands there",
        ),
        (
            _items("a b c", "a b", "b c"),
            "'a b' and 'b c' overlap in 'a b c'",
            _items("a b c")[0].where,
            "name one of them, as it stands there",
        ),
    ],
)
def test_own_sentences_are_to_be_named_so(items: list[NewItem], what: str, where: str, todo: str) -> None:
    with pytest.raises(UsageError) as refused:
        with_new(dataset_of("made", [GOOD], [0]), items)
    assert said(refused.value) == (what, where, todo)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('a,b;a!b?(a)[b]"a"', 'a , b ; a ! b ? ( a ) [ b ] " a "'),
        ("a: b, 1,000 and 1:2.", "a : b , 1,000 and 1:2."),
        ("a b given. Then a.", "a b given . Then a ."),
        ("i.v. a b e.g. so", "i.v. a b e.g. so"),
        ("a  b\nwell.", "a b well ."),
        ("xa a\u0301 a b ab", "xa a\u0301 a b ab"),
    ],
)
def test_a_sentence_is_written_as_those_of_the_data(text: str, sentence: str) -> None:
    larger = with_new(dataset_of("made", [GOOD], [0]), _items(text, "a", "b"))
    document = larger.documents[-1]
    assert document.sentence == sentence and len(larger.documents) == 2
    assert all(sentence[drug.start : drug.end] == drug.text for drug in document.drugs)
    assert document.relations == () and larger.name == "made"


def test_what_is_asked_about_is_what_commands_say() -> None:
    assert {
        "text": Kind(holds="sentence", named=False, lists=("doc_ids",), between_lines=" "),
        "drug": Kind(),
    } == KINDS
    assert Usual("pure_minilm", ("combos", "combos_corpus")) == USUAL
    assert (
        CONVERTER == "combos_jsonl"
        and {
            "sentences": OwnTable("train", "annotated sentences to learn from, in JSON Lines", required=True),
            "test-sentences": OwnTable("test", "annotated sentences to test with"),
            "open-sentences": OwnTable("unannotated", "sentences that nobody has annotated, to be asked about"),
        }
        == TABLES
    )
    read = reading(dataset_of("made", [GOOD], [0]))
    assert read.answers == ("label",) and read.meaning == (
        "A score is a model's own probability, and not a calibrated one; a rule without a model says 1.",
        "A combination that is not listed was not found, which is no proof that the text has none.",
    )
    assert [strategy.SUMMARY for strategy in (released, abstracts, random, unannotated)] == [
        "learn from the released training file, ask for the test file",
        "the released files without training documents that share an abstract with a test document",
        "abstracts drawn at random, whichever file they were released in",
        "learn from every annotated document, ask for all others (to predict)",
    ]
    assert random.Parameters().test_share == 0.2
    assert (BENCHMARK.form.usual_seed, BENCHMARK.form.published_seeds()) == (2021, (2021, 2022, 2023, 2024))


def test_what_is_counted_is_told_in_one_line() -> None:
    counts = CombosStatistics(documents=3, relations=2)
    assert counts.line == "    3 texts     ? drugs          2 relations      "
    assert counts.model_copy(update={"drugs": 0}).line == "    3 texts     0 drugs          2 relations      "
    assert counts.result_bytes({}) == 720
    for wrong in ({"documents": 0, "relations": 0}, {"documents": 1, "relations": -1}):
        with pytest.raises(ValueError, match="greater than or equal"):
            CombosStatistics(**wrong)
    assert CombosStatistics(documents=1, relations=0, drugs=0, pairs=0, larger=0, most_drugs=0).pairs == 0
    fields = CombosStatistics.model_fields
    assert {name: field.description for name, field in fields.items() if field.description} == {
        "unannotated": "documents whose relations nobody knows",
        "drugs": "marked drugs, each where it stands in a sentence",
        "most_drugs": "of one document",
        "positive": "relations of class POS",
        "combined": "relations of class COMB: together, with no effect said",
        "negative": "relations of class NEG",
        "context_needed": "relations that the sentence alone does not show",
        "pairs": "relations of two drugs",
        "without_relation": "annotated documents",
    }


def test_metrics_say_what_they_are() -> None:
    described = {metric.name: metric.description for metric in METRICS}
    assert len(described) == len(METRICS) == 72
    assert {metric.better for metric in METRICS} == {"higher"}
    both = "harmonic mean of precision and recall of"
    parts = "combinations, parts counting as parts"
    expected = {
        "exact positive F1/as-published": f"{both} positive combinations; each with its best match",
        "partial positive F1/as-defined": f"{both} positive {parts}; matched one to one",
        "exact any precision/as-defined": "share of predicted combinations that are true; matched one to one",
        "partial any recall/as-published": f"share of true {parts} that are found; each with its best match",
        "exact any recall of two drugs/as-published": "share of true combinations that are found, of two drugs",
        "exact any precision of more drugs/as-published": "share of predicted combinations that are true,"
        " of three or more drugs",
        "exact any recall of unseen combinations/as-published": "share of true combinations that are found,"
        " of drugs that no training document combines",
        "exact any recall of seen combinations/as-published": "share of true combinations that are found,"
        " of drugs that a training document combines",
        "exact any recall of sentences/as-published": "share of true combinations that are found,"
        " in documents where no relation needs the context",
        "exact any recall of contexts/as-published": "share of true combinations that are found,"
        " in documents where all relations need the context",
    }
    assert {name: described[name] for name in expected} == expected
    rules = ("exact positive", "partial positive", "exact any", "partial any")
    assert tuple(f"{rule} F1/as-published" for rule in rules) == KEY_METRICS
    assert tuple(f"{rule} F1/as-defined" for rule in rules) == ORDER_FREE_METRICS


@pytest.mark.parametrize(
    ("write", "what", "todo"),
    [
        (None, "the split can't be read: No such file or directory", ""),
        (lambda path: path.mkdir(), "the split can't be read: Is a directory", ""),
        (
            lambda path: path.write_bytes(npy_bytes(np.zeros((2, 1), dtype=np.int8))),
            "the split has the shape (2, 1) instead of one part per document",
            "make it again",
        ),
    ],
)
def test_a_split_file_is_to_be_made_again(
    tmp_path: Path, write: Callable[[Path], object] | None, what: str, todo: str
) -> None:
    path = tmp_path / "split.npy"
    if write is not None:
        write(path)
    with pytest.raises(CorruptData) as refused:
        BENCHMARK.form.read(path, lambda: dataset_of("made", [], []))
    assert said(refused.value) == (what, str(path), todo)


def test_a_dataset_without_a_test_file_is_to_be_split_otherwise() -> None:
    with pytest.raises(UsageError) as refused:
        released.make(dataset_of("made", [GOOD], [0]), 1, released.Parameters())
    assert said(refused.value) == (
        "dataset 'made' was released without a test file",
        "split released",
        "choose another strategy, such as random",
    )


def test_what_has_nothing_to_learn_from_breaks_the_promise_to_predict() -> None:
    nothing = dataset_of("made", [replace(GOOD, relations=())], [UNANNOTATED])
    split = unannotated.make(nothing, 1, unannotated.Parameters())
    assert (split.training, split.test) == (0, 1)
    promise = "an annotated document does not train, or one that is not annotated is not asked"
    assert unannotated.broken_promises(nothing, split, unannotated.Parameters()) == [promise]


def test_a_description_counts_what_is_outside_too() -> None:
    kinds = [(0, POS), (0, COMB), (1, NEG), (1, POS), (UNANNOTATED, None)]
    documents = [
        replace(GOOD, doc_id=str(number), paragraph=f"a b {number // 2}", relations=relations)
        for number, (_, kind) in enumerate(kinds)
        for relations in [(DrugRelation(kind, (0, 1)),) if kind is not None else ()]
    ]
    dataset = dataset_of("made", documents, [part for part, _ in kinds])
    strategy: Any = released
    tables = BENCHMARK.form.describe(split_of([0, 0, 0, 1, -1]), dataset, strategy, released.Parameters())
    assert tables == {
        "train": {"documents": 3, "abstracts": 2, "drugs": 6, "COMB": 1, "POS": 1, "NEG": 1},
        "test": {
            "documents": 1,
            "abstracts": 1,
            "drugs": 2,
            "COMB": 0,
            "POS": 1,
            "NEG": 0,
            "abstracts of train": 1,
        },
        "outside": {"documents": 1, "abstracts": 1, "drugs": 2, "COMB": 0, "POS": 0, "NEG": 0},
    }


def test_an_input_that_there_is_not_is_to_be_corrected_on_the_card() -> None:
    dataset = dataset_of("made", [GOOD], [0])
    assert inputs_of(dataset, split_of([0]), ["paragraphs", "sentences"])["paragraphs"] == ["so a b"]
    with pytest.raises(UsageError, match="paragraph") as refused:
        inputs_of(dataset, split_of([0]), ["paragraph"])
    assert refused.value.where == "method.toml: inputs" and "paragraphs" in refused.value.todo
