"""A fault in one's own documents must be refused with file, line and field, and what is odd be read as meant."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import CorruptData, ManifestError
from harness.base.layout import Layout
from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.checks import checked_remarks
from harness.benchmarks.combos.dataset import TEST_FILE, TRAINING_FILE, UNANNOTATED, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import NEG, POS, Document, DrugRelation, MarkedDrug
from harness.data import load_dataset
from tests.combos.made_documents import line, write_files

NAME = "allenai/drug-combo-extraction/219717e8c2f7139584c605e211acbd86b26c93dd/data"
SPANS = line()["spans"]


@pytest.fixture
def own(tmp_path: Path) -> Layout:
    """An empty repository."""
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")


def _span(number: int, **changes: object) -> dict[str, object]:
    """The spans of a line, one of them changed."""
    spans = [dict(span) for span in SPANS]  # type: ignore[attr-defined]
    spans[number].update(changes)
    return {"spans": spans}


def _relation(**changes: object) -> dict[str, object]:
    return {"rels": [{"class": "POS", "spans": [0, 1], "is_context_needed": True, **changes}]}


@pytest.mark.parametrize("first", ["", "\ufeff"])
def test_lines_become_a_dataset(own: Layout, first: str) -> None:
    other = line(doc_id="two", rels=[], source="https://example.org/2", token="other fields are left alone")
    # a lone carriage return ends no line of JSON
    texts = json.dumps(line(), ensure_ascii=False, separators=(",\r", ": ")), json.dumps(other)
    content = first + "".join(f"{text}\n" for text in texts)
    write_files(own, train=content.replace("\n", "\r\n").encode())
    dataset = load_dataset(own, "mine", CombosDataset)
    document = dataset.documents[0]
    # places are code points: the emoji before the drugs is one
    assert [document.sentence[drug.start : drug.end] for drug in document.drugs] == [
        "bractimab",
        "abrevolin",
        "caldorine",
    ]
    assert document.drugs[1] == MarkedDrug(2, 11, "abrevolin")
    # as listed, not sorted
    assert document.relations == (DrugRelation(POS, (1, 0)),) and document.source == ""
    assert dataset.documents[1].source == "https://example.org/2"
    assert not any(array.flags.writeable for array in dataset.arrays.values())
    # a name of one's own is no md5, and that says nothing where no name is one
    assert dataset.remarks == ("1 of 2 documents have a doc_id that is not the md5 of their sentence",)


def test_files_tell_the_parts(own: Layout) -> None:
    rows = {
        "train": [line()],
        "test": [line(doc_id="2"), line(doc_id="3", rels=[])],
        "unannotated": [line(doc_id="4", rels=[])],
    }
    write_files(own, 2, **rows)
    dataset = load_dataset(own, "mine", CombosDataset)
    assert dataset.released.tolist() == [TRAINING_FILE, TEST_FILE, TEST_FILE, UNANNOTATED]
    statistics = dataset.statistics()
    assert (statistics.documents, statistics.test_documents, statistics.unannotated) == (4, 2, 1)
    assert (statistics.relations, statistics.test_relations, statistics.without_relation) == (2, 1, 1)


FAULTS = [
    ({"sentence": None}, "there is no field 'sentence'", "line 2"),
    ({"sentence": 7}, "7 is not a text", "line 2: sentence"),
    ({"sentence": "", "spans": [], "rels": []}, "the sentence is empty", "line 2: sentence"),
    ({"paragraph": "It is elsewhere."}, "the sentence is not in the paragraph", "line 2: paragraph"),
    ({"spans": {"0": 1}}, "{'0': 1} is not a list", "line 2: spans"),
    ({"spans": "s" * 99}, f"'{'s' * 59} is not a list", "line 2: spans"),
    ({"spans": [7]}, "7 is not an object", "line 2: spans[0]"),
    (_span(1, span_id=2), "span_id is 2, not 1", "line 2: spans[1]"),
    (_span(1, span_id=0), "span_id is 0, not 1", "line 2: spans[1]"),
    (_span(0, start=2.0), "2.0 is not a whole number", "line 2: spans[0].start"),
    (_span(0, start=True), "True is not a whole number", "line 2: spans[0].start"),
    (_span(0, start=-1), "characters -1 to 26 are not in the sentence, which has 53", "line 2: spans[0]"),
    (_span(2, end=54), "characters 33 to 54 are not in the sentence", "line 2: spans[2]"),
    (_span(2, end=10**30), "are not in the sentence", "line 2: spans[2]"),
    (_span(2, end=33), "characters 33 to 33 are not in the sentence", "line 2: spans[2]"),
    (_span(2, start=17, end=26), "drug 2 is drug 0: 17 to 26", "line 2: spans[2]"),
    (_span(2, start=25, end=30), "drug 2 overlaps drug 0: 17 to 26", "line 2: spans[2]"),
    (_span(2, start=1), "drug 1 overlaps drug 2: 1 to 42", "line 2: spans[1]"),
    (_relation(**{"class": "MAYBE"}), "'MAYBE' is no class", "line 2: rels[0].class"),
    (_relation(**{"class": "NO_COMB"}), "'NO_COMB' is no class", "line 2: rels[0].class"),
    (_relation(spans=[0, 3]), "drug 3 is none of the 3", "line 2: rels[0].spans"),
    (_relation(spans=[0, -1]), "drug -1 is none of the 3", "line 2: rels[0].spans"),
    (_relation(spans=[0, "1"]), "'1' is not a whole number", "line 2: rels[0].spans"),
    (_relation(spans=[1]), "[1] are not two or more different drugs", "line 2: rels[0].spans"),
    (_relation(spans=[]), "[] are not two or more different drugs", "line 2: rels[0].spans"),
    (_relation(spans=[0, 1, 0]), "[0, 1, 0] are not two or more different drugs", "line 2: rels[0].spans"),
    (_relation(is_context_needed="no"), "'no' is not true or false", "line 2: rels[0].is_context_needed"),
    (
        {"rels": [*_relation()["rels"], {"class": "NEG", "spans": [1, 0], "is_context_needed": False}]},  # type: ignore[misc]
        "its drugs are also those of rels[0]",
        "line 2: rels[1]",
    ),
    ({"source": 7}, "7 is not a text", "line 2: source"),
    ({"doc_id": line()["doc_id"]}, "is also in ", "line 2: doc_id"),
    ({"doc_id": ""}, "the doc_id is empty", "line 2: doc_id"),
]


@pytest.mark.parametrize(("changes", "what", "where"), FAULTS)
def test_a_fault_is_told_with_its_place(own: Layout, changes: dict[str, object], what: str, where: str) -> None:
    folder = write_files(own, train=[line(), line(**{"doc_id": "other", **changes})])
    with pytest.raises(CorruptData, match=re.escape(what)) as error:
        load_dataset(own, "mine", CombosDataset)
    assert error.value.where == f"{folder / 'train.jsonl'}: {where}"
    assert error.value.todo


@pytest.mark.parametrize(
    ("content", "what", "where"),
    [
        (json.dumps(line()).encode()[:-20] + b"\n", "not a line of JSON", "line 1"),
        (json.dumps(line()).encode() + b"\n[1]\n", "not an object", "line 2"),
        (json.dumps(line()).encode() + b"\n\xff\n", "not UTF-8: invalid start byte", "line 2"),
        # of what is no UTF-8 nothing is replaced
        (json.dumps(line()).encode().replace(b"helped", b"h\xeflped"), "not UTF-8: invalid", "line 1"),
        (b'{"a":' + b"[" * 100_000, "not a line of JSON", "line 1"),
        (json.dumps(line()).encode().replace(b"\\udc8a", b""), "half of a character", "line 1: sentence"),
    ],
)
def test_a_line_that_is_none_is_told(own: Layout, content: bytes, what: str, where: str) -> None:
    folder = write_files(own, train=content)
    with pytest.raises(CorruptData, match=what) as error:
        load_dataset(own, "mine", CombosDataset)
    assert error.value.where == f"{folder / 'train.jsonl'}: {where}"


def test_all_that_is_wrong_with_some_lines_is_told_at_once(own: Layout) -> None:
    """Also what concerns several lines, of which others are wrong in themselves."""
    relation = {"class": "pos", "spans": [0, "1"]}
    lines = [line(), line(doc_id=7, spans=[{}], rels=[relation, 7]), line(sentence=None, rels=[]), line()]
    folder = write_files(own, train="".join(f"{json.dumps(one)}\n" for one in lines).encode())
    with pytest.raises(CorruptData) as error:
        load_dataset(own, "mine", CombosDataset)
    path = folder / "train.jsonl"
    assert error.value.where.splitlines() == [
        f"{path}: line 2: doc_id: 7 is not a text",
        f"         {path}: line 2: spans[0]: there is no field 'span_id'",
        f"         {path}: line 2: rels[0].class: 'pos' is no class",
        f"         {path}: line 2: rels[0].spans: '1' is not a whole number",
        f"         {path}: line 2: rels[0]: there is no field 'is_context_needed'",
        f"         {path}: line 2: rels[1]: 7 is not an object",
        f"         {path}: line 3: there is no field 'sentence'",
        f"         {path}: line 4: doc_id: the document '{line()['doc_id']}' is also in {path}: line 1",
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_another_encoding_is_told_once_and_by_its_name(own: Layout, encoding: str) -> None:
    """Each line was said to be cut short."""
    lines = f"{json.dumps(line())}\n{json.dumps(line(doc_id='other'))}\n"
    folder = write_files(own, train=lines.encode(encoding))
    with pytest.raises(CorruptData, match=r"^not UTF-8: it has zero bytes") as error:
        load_dataset(own, "mine", CombosDataset)
    assert (error.value.where, error.value.todo) == (f"{folder / 'train.jsonl'}", "save the file as UTF-8")


def test_all_names_that_are_none_are_told_at_once(own: Layout) -> None:
    names = ["a", "b", "", "b", "c"]
    write_files(own, train=[line(doc_id=name) for name in names], test=[line(doc_id="a"), line(doc_id="d")])
    with pytest.raises(CorruptData, match="3 faults") as error:
        load_dataset(own, "mine", CombosDataset)
    for fault in ("line 3: doc_id: the doc_id is empty", "the document 'b' is also in ", "'a' is also in "):
        assert fault in error.value.where


def test_a_file_without_a_document_is_told(own: Layout) -> None:
    write_files(own, train=b"\n")
    with pytest.raises(CorruptData, match="there is no document"):
        load_dataset(own, "mine", CombosDataset)


def test_relations_of_documents_that_are_not_annotated_are_told(own: Layout) -> None:
    write_files(own, train=[line()], unannotated=[line(doc_id="2")])
    with pytest.raises(CorruptData, match="not annotated has relations"):
        load_dataset(own, "mine", CombosDataset)


def test_a_parameter_that_means_nothing_is_told(own: Layout) -> None:
    write_files(own, valid=[line()])
    with pytest.raises(ManifestError, match="parameters of converter"):
        load_dataset(own, "mine", CombosDataset)


def test_a_sentence_without_an_abstract_is_one(own: Layout) -> None:
    write_files(own, train=[line(paragraph="")])
    dataset = load_dataset(own, "mine", CombosDataset)
    assert dataset.paragraphs == dataset.sentences
    assert dataset.remarks == ("1 of 1 documents have no abstract beside their sentence",)


def _document(number: int, drugs: int = 2, **changes: object) -> Document:
    sentence = " ".join(f"d{number}x{drug}" for drug in range(drugs)) + " ."
    width = len(f"d{number}x0") + 1
    marked = tuple(
        MarkedDrug(drug * width, drug * width + width - 1, f"d{number}x{drug}") for drug in range(min(drugs, 10))
    )
    if drugs > 10:
        parts = [sentence.index(f"d{number}x{drug}") for drug in range(drugs)]
        marked = tuple(
            MarkedDrug(start, start + len(f"d{number}x{drug}"), f"d{number}x{drug}")
            for drug, start in enumerate(parts)
        )
    values = {"paragraph": f"A. {sentence} B.", "source": "", **changes}
    return Document(f"id{number}", sentence, str(values["paragraph"]), str(values["source"]), marked, ())


@pytest.mark.parametrize(
    ("documents", "released", "remark"),
    [
        ([_document(0, 16)], [0], "1 of 1 documents have more than 15 drugs"),
        ([_document(0, 15)], [0], ""),
        (
            [_document(0, 1), _document(1, 0)],
            [0, 0],
            "2 of 2 documents have fewer than 2 drugs, and no combination",
        ),
        ([_document(0, paragraph="d0x0 d0x1 . d0x0 d0x1 .")], [0], "1 of 1 documents have their sentence twice"),
        (
            [_document(0, source="one"), _document(1, source="one"), _document(2)],
            [0, 1, 0],
            "1 of 3 documents are for training and share an abstract with a test document",
        ),
    ],
)
def test_what_is_odd_is_remarked(documents: list[Document], released: list[int], remark: str) -> None:
    remarks = checked_remarks(dataset_of("made", documents, released))
    assert (remarks[0].startswith(remark) and len(remarks) == 1) if remark else not remarks


def test_all_that_is_odd_of_a_dataset_is_remarked() -> None:
    documents = [_document(0, 16, source="one"), _document(1, 1, source="one"), _document(2)]
    assert BENCHMARK.remarks(dataset_of("made", documents, [0, 1, 0])) == (
        "1 of 3 documents have more than 15 drugs",
        "1 of 3 documents have fewer than 2 drugs, and no combination",
        "1 of 3 documents are for training and share an abstract with a test document",
    )


def test_the_first_name_of_several_documents_is_told() -> None:
    documents = [replace(_document(number), doc_id=name) for number, name in enumerate("baab")]
    with pytest.raises(CorruptData, match="2 names are those of several documents, 'b' for one"):
        checked_remarks(dataset_of("made", documents, [0, 1, 0, 0]))


def test_a_text_that_differs_from_the_sentence_is_kept_and_remarked(own: Layout) -> None:
    write_files(own, train=[line(**_span(0, text="Bractimab"))])
    dataset = load_dataset(own, "mine", CombosDataset)
    assert dataset.span_texts[0] == "Bractimab"
    assert dataset.remarks == ("1 of 1 documents have a drug whose text is not that of the sentence",)


@pytest.fixture(scope="module")
def original(shared: Path) -> tuple[Path, list[dict[str, object]], list[dict[str, object]]]:
    """The mirror, and the rows of both released files."""
    folder = shared / "mirror" / "github.com" / NAME
    train, test = (
        [json.loads(row) for row in (folder / f"final_{part}_set.jsonl").read_text(encoding="utf-8").splitlines()]
        for part in ("train", "test")
    )
    return shared / "mirror", train, test


def test_the_released_files_are_read_as_they_are(
    repository: Layout, original: tuple[Path, list[dict[str, object]], list[dict[str, object]]]
) -> None:
    mirror, train, test = original
    dataset = load_dataset(repository, "combos", CombosDataset, mirrors=[mirror])
    assert dataset.released.tolist() == [0] * len(train) + [1] * len(test)
    classes = {"COMB": 1, "POS": 2, "NEG": 3}
    for document, row in zip(dataset.documents, train + test, strict=True):
        assert (document.doc_id, document.sentence) == (row["doc_id"], row["sentence"])
        assert (document.paragraph, document.source) == (row["paragraph"], row["source"] or "")
        spans, relations = row["spans"], row["rels"]
        assert isinstance(spans, list) and isinstance(relations, list)
        assert [(drug.start, drug.end, drug.text) for drug in document.drugs] == [
            (span["start"], span["end"], span["text"]) for span in spans
        ]
        assert [(one.label, list(one.spans), one.context_needed) for one in document.relations] == [
            (classes[one["class"]], one["spans"], one["is_context_needed"]) for one in relations
        ]


def test_the_released_files_have_the_counts_of_the_paper_and_others(
    repository: Layout, original: tuple[Path, list[dict[str, object]], list[dict[str, object]]]
) -> None:
    """1,634 instances and 1,248 relations are the paper's; 838 positive and 410 other relations are not."""
    mirror, train, test = original
    dataset = load_dataset(repository, "combos", CombosDataset, mirrors=[mirror])
    statistics = dataset.statistics()
    assert (statistics.documents, statistics.test_documents) == (1634, 272) == (len(train + test), len(test))
    assert (statistics.relations, statistics.test_relations) == (1248, 209)
    assert (statistics.positive, statistics.test_positive) == (838, 150)
    others = [statistics.combined, statistics.negative, statistics.test_combined, statistics.test_negative]
    assert others == [278, 132, 43, 16]
    assert (statistics.context_needed, statistics.test_context_needed) == (835, 133)
    assert (statistics.pairs, statistics.triples, statistics.quadruples, statistics.larger) == (900, 226, 69, 53)
    assert (statistics.without_relation, statistics.with_one, statistics.with_more) == (591, 877, 166)
    assert statistics.most_drugs == 15
    relations = [one for row in train + test for one in row["rels"]]  # type: ignore[attr-defined]
    classes = Counter(one["class"] for one in relations)
    assert classes == {"POS": 838, "COMB": 278, "NEG": 132}
    # the oddities that remarks tell: one line with wrong places, one wrong name, two shared abstracts
    assert [remark.split(" of")[0] for remark in dataset.remarks] == ["1", "1", "2"]
    unsorted = [
        document
        for document in dataset.documents
        for one in document.relations
        if [*one.spans] != sorted(one.spans)
    ]
    assert len(unsorted) == 6
    assert (
        sum(
            [drug.start for drug in one.drugs] != sorted(drug.start for drug in one.drugs)
            for one in dataset.documents
        )
        == 65
    )
    assert NEG not in {
        one.label for document in dataset.documents for one in document.relations if len(one.spans) > 11
    }


def _odd(**changes: object) -> CombosDataset:
    """A converter's dataset of two documents and a relation, changed."""
    documents = [replace(_document(0), relations=(DrugRelation(POS, (0, 1)),)), _document(1)]
    return replace(dataset_of("made", documents, [0, 1]), **changes)  # type: ignore[arg-type]


def test_a_dataset_that_is_whole_is_taken() -> None:
    assert checked_remarks(_odd()) == ()


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"doc_ids": ("one", "one")}, "1 names are those of several documents, 'one' for one"),
        ({"doc_ids": ("one",)}, "'doc_ids' has not one row for each"),
        ({"span_texts": ("one",)}, "'span_texts' has not one row for each"),
        ({"spans": np.array([[0, 0, 4], [2, 0, 4], [2, 5, 9], [0, 5, 9]], dtype=np.int32)}, "'spans' has not"),
        ({"spans": np.array([[1, 0, 4], [1, 5, 9], [0, 0, 4], [0, 5, 9]], dtype=np.int32)}, "'spans' has not"),
        ({"spans": np.array([[0, 0, 4], [0, 5, 9], [1, 0, 4], [2, 5, 9]], dtype=np.int32)}, "'spans' has not"),
        ({"spans": np.array([[-1, 0, 4], [0, 5, 9], [1, 0, 4], [1, 5, 9]], dtype=np.int32)}, "'spans' has not"),
        ({"spans": np.zeros((4, 2), dtype=np.int32)}, "'spans' has not"),
        ({"relations": np.array([[2, 1, 0]], dtype=np.int32)}, "'relations' has not"),
        ({"relations": np.array([[0, 0, 0]], dtype=np.int32)}, "0 is no class"),
        ({"relations": np.array([[0, 4, 0]], dtype=np.int32)}, "4 is no class"),
        ({"relation_spans": np.array([[0, 0], [1, 1]], dtype=np.int32)}, "'relation_spans' has not"),
        ({"relation_spans": np.array([[0, 0], [0, 2]], dtype=np.int32)}, "drug 2 is none of the 2"),
        ({"released": np.array([0, 2], dtype=np.int8)}, "'released' has not"),
        ({"released": np.array([-1, 0], dtype=np.int8)}, "a document that is not annotated has relations"),
    ],
)
def test_a_converter_that_is_wrong_is_told(changes: dict[str, object], what: str) -> None:
    with pytest.raises(CorruptData, match=re.escape(what)) as error:
        checked_remarks(_odd(**changes))
    assert error.value.where.startswith("dataset made")
