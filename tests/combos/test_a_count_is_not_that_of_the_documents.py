"""What is counted of documents must be theirs, and what is said of a dataset or a score must be what it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from harness.benchmarks import own_data
from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.checks import checked_remarks
from harness.benchmarks.combos.converters.combos_jsonl import Parameters
from harness.benchmarks.combos.dataset import TEST_FILE, TRAINING_FILE, UNANNOTATED, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import COMB, NEG, POS, Document, DrugRelation, MarkedDrug, abstracts_of
from harness.benchmarks.combos.names import BUCKETS, METRICS
from harness.benchmarks.combos.splits.form import FORM, split_of
from harness.benchmarks.combos.splits.strategies import released
from harness.benchmarks.combos.statistics import CombosStatistics
from harness.benchmarks.combos.study.corpus import _mark, counts_of, training_candidates
from harness.benchmarks.reading import reading_of

Relations = tuple[tuple[int, tuple[int, ...], bool], ...]
# released, drugs, relations: class, drugs, whether the context is needed
DOCUMENTS: tuple[tuple[int, int, Relations], ...] = (
    (TRAINING_FILE, 2, ((POS, (1, 0), True),)),
    (TRAINING_FILE, 5, ((COMB, (0, 1, 2), False), (NEG, (3, 4), True), (POS, (0, 1, 2, 3, 4), False))),
    (TRAINING_FILE, 3, ()),
    (TEST_FILE, 4, ((NEG, (0, 1, 2, 3), True), (COMB, (0, 3), False))),
    (TEST_FILE, 1, ()),
    (UNANNOTATED, 2, ()),
)


def _document(number: int, drugs: int, relations: Relations, **changes: Any) -> Document:
    names = [f"d{number}{'abcdefgh'[drug]}" for drug in range(drugs)]
    marked = tuple(MarkedDrug(4 * place, 4 * place + 3, name) for place, name in enumerate(names))
    sentence = " ".join([*names, f"end {number}"])
    own = tuple(DrugRelation(*relation) for relation in relations)
    values = {"paragraph": f"A. {sentence} B.", "source": f"source {number}", **changes}
    return Document(f"id{number}", sentence, values["paragraph"], values["source"], marked, own)


@pytest.fixture(scope="module")
def made() -> CombosDataset:
    """Documents of both files and one that nobody annotated."""
    documents = [_document(number, drugs, own) for number, (_, drugs, own) in enumerate(DOCUMENTS)]
    return dataset_of("made", documents, [part for part, *_ in DOCUMENTS], ["odd"])


def test_documents_come_back_as_they_were_given() -> None:
    """Every text to the last blank, and drugs of a relation in their order."""
    documents = [_document(0, 3, ((POS, (2, 0), True), (NEG, (1, 2), False))), _document(1, 0, (), source=" s ")]
    drugs = [replace(drug, text=f" {drug.text}\n") for drug in documents[0].drugs]
    documents[0] = replace(documents[0], drugs=tuple(drugs), sentence=f" {documents[0].sentence}  ")
    assert dataset_of("made", documents, [TRAINING_FILE, TEST_FILE]).documents == tuple(documents)


def test_statistics_count_both_files_and_the_test_file(made: CombosDataset) -> None:
    assert made.statistics().model_dump() == {
        "documents": 6,
        "test_documents": 2,
        "unannotated": 1,
        "drugs": 17,
        "most_drugs": 5,
        "relations": 6,
        "test_relations": 2,
        "positive": 2,
        "test_positive": 0,
        "combined": 2,
        "test_combined": 1,
        "negative": 2,
        "test_negative": 1,
        "context_needed": 3,
        "test_context_needed": 1,
        "pairs": 3,
        "triples": 1,
        "quadruples": 1,
        "larger": 1,
        "without_relation": 2,
        "with_one": 1,
        "with_more": 2,
    }
    assert made.remarks == ("odd",)


def test_arrays_have_the_types_of_their_files(made: CombosDataset) -> None:
    types = {name: (array.dtype.str, array.shape) for name, array in made.arrays.items()}
    assert types == {
        "spans": ("<i4", (17, 3)),
        "relations": ("<i4", (6, 3)),
        "relation_spans": ("<i4", (18, 2)),
        "released": ("|i1", (6,)),
    }
    assert [*made.names] == ["doc_ids", "sentences", "paragraphs", "sources", "span_texts"]
    nothing = dataset_of("none", [_document(0, 0, ())], [TRAINING_FILE])
    assert (nothing.statistics().most_drugs, nothing.spans.shape) == (0, (0, 3))


@pytest.mark.parametrize("name", sorted(CombosStatistics.model_fields))
def test_a_count_below_its_least_is_refused(name: str) -> None:
    least = 1 if name == "documents" else 0
    given = {"documents": 1, "relations": 0, name: least}
    assert CombosStatistics.model_validate(given).model_dump()[name] == least
    with pytest.raises(ValidationError, match=name):
        CombosStatistics.model_validate({**given, name: least - 1})


def test_a_line_of_counts_and_the_bytes_of_an_answer() -> None:
    known = CombosStatistics(documents=1634, relations=1248, drugs=4700)
    assert known.line.rstrip() == " 1634 texts  4700 drugs       1248 relations"
    assert CombosStatistics(documents=7, relations=0, drugs=0).line.split()[2] == "0"
    assert CombosStatistics(documents=7, relations=0).line.split()[2] == "?"
    assert known.result_bytes({}) == 4 * 60 * 1634


def test_a_split_is_described_by_what_is_in_its_parts(made: CombosDataset) -> None:
    documents = [*made.documents]
    # one test document shares an abstract with one for training, the other with one of neither part
    documents[3] = _document(3, 4, DOCUMENTS[3][2], source="source 0")
    documents[5] = _document(5, 2, (), source="source 4")
    dataset = dataset_of("made", documents, made.released.tolist())
    strategy: Any = released
    tables = FORM.describe(split_of(made.released), dataset, strategy, released.Parameters())
    row = ("documents", "abstracts", "drugs", "COMB", "POS", "NEG")
    assert tables == {
        "train": dict(zip(row, (3, 3, 10, 1, 2, 1), strict=True)),
        "test": {**dict(zip(row, (2, 2, 5, 1, 0, 1), strict=True)), "abstracts of train": 1},
        "outside": dict(zip(row, (1, 1, 2, 0, 0, 0), strict=True)),
    }


def test_abstracts_are_called_by_their_first_documents() -> None:
    """One document joins two groups that were apart: all are of the first one's abstract."""
    documents = [
        _document(0, 1, (), source="x"),
        _document(1, 1, (), source="y"),
        _document(2, 1, (), source=""),
        _document(3, 1, (), source="y", paragraph="d0a end 0"),
    ]
    documents[0] = _document(0, 1, (), source="x", paragraph="d0a  end 0")
    assert abstracts_of(documents) == [0, 0, 2, 0]


@pytest.mark.parametrize("other", [UNANNOTATED, TRAINING_FILE])
def test_what_nobody_annotated_is_not_for_training(other: int) -> None:
    documents = [_document(number, 2, (), source="one") for number in range(3)]
    remarks = checked_remarks(dataset_of("made", documents, [TRAINING_FILE, TEST_FILE, other]))
    count = 1 + (other == TRAINING_FILE)
    assert remarks == (f"{count} of 3 documents are for training and share an abstract with a test document",)


def test_the_study_counts_what_is_there(made: CombosDataset) -> None:
    """Training, test and all, by hand."""
    documents = [*made.documents[:5]]
    documents[3] = _document(3, 4, ((POS, (0, 1, 2, 3), True), (COMB, (0, 3), False)))
    counts = counts_of(dataset_of("made", documents, made.released.tolist()[:5]))
    assert counts["instances"] == [3, 2, 5] and counts["relations"] == [4, 2, 6]
    assert counts["POS"] == [2, 1, 3] and counts["OTHER"] == [2, 1, 3]
    assert counts["abstracts with a positive combination"] == [2, 1, 3]
    assert counts["most drugs of a positive combination"] == [5, 4, 5]
    assert counts["instances whose spans are not in the order of the text"] == [0, 0, 0]
    assert counts["relations that need context"] == [2, 1, 3]
    names = ("no relation", "one relation", "two or more relations")
    assert [counts[name] for name in names] == [[1, 1, 2], [1, 0, 1], [1, 1, 2]]
    sizes = ("2 drugs", "3 drugs", "4 drugs", "5 drugs or more")
    assert [counts[name] for name in sizes] == [[2, 1, 3], [1, 0, 1], [0, 1, 1], [1, 0, 1]]
    assert counts["fewest drugs of a sentence"] == [2, 1, 1]
    assert counts["most drugs of a sentence"] == [5, 4, 5]
    # all sets of two drugs or more: 1 + 26 + 4 of training, 11 + 0 of the test file
    assert counts["candidates, as the script of the published numbers makes them"] == [31, 11, 42]
    assert counts["instances with overlapping relations: disjoint decoding can't find all"] == [1, 1, 2]
    assert counts["relations that list their drugs in no order"] == [1, 0, 1]
    assert counts["instances without a source"] == [0, 0, 0]
    assert counts["instances whose doc_id is not the md5 of their sentence"] == [3, 2, 5]
    assert counts["drugs whose text is not that of the sentence"] == [0, 0, 0]
    assert counts["test relations that training does not have"] == [0, 2, 2]
    assert counts["full percents of test relations that training does not have"] == [0, 100, 100]
    assert counts["abstracts of both files"] == [0, 0, 0]


def test_any_relation_or_drug_of_a_document_may_be_the_one_that_is_counted() -> None:
    """Not its first one only; and any document of training may know a combination."""
    several = _document(1, 5, ((COMB, (0, 1), False), (NEG, (2, 3), False), (POS, (4, 2), True)))
    drugs = [*several.drugs]
    drugs[2], drugs[3] = drugs[3], replace(drugs[2], text="other")
    several = replace(several, drugs=tuple(drugs))
    documents = [_document(0, 2, ()), several, replace(several, doc_id="test", source="of the test file")]
    dataset = dataset_of("made", documents, [TRAINING_FILE, TRAINING_FILE, TEST_FILE])
    counts = counts_of(dataset)
    for name in (
        "abstracts with a positive combination",
        "instances whose spans are not in the order of the text",
        "instances with overlapping relations: disjoint decoding can't find all",
        "relations that list their drugs in no order",
        "drugs whose text is not that of the sentence",
    ):
        assert counts[name] == [1, 1, 2], name
    assert counts["test relations that training does not have"] == [0, 0, 0]
    assert counts["most drugs of a positive combination"] == [2, 2, 2]
    assert checked_remarks(dataset)[0] == "2 of 3 documents have a drug whose text is not that of the sentence"


@pytest.mark.parametrize(("printed", "mark"), [(None, ""), ("5", " ≠"), ("6", ""), ("7", " ≠")])
def test_a_printed_count_that_is_not_ours_is_marked(printed: str | None, mark: str) -> None:
    assert _mark(printed, 6) == mark


def test_the_study_counts_shared_abstracts_and_known_combinations() -> None:
    """Names in any case are the same; of three relations one is known, which are 66 percent and not 67."""
    drugs = ("Aa", "Bb", "Cc")
    own = [MarkedDrug(3 * place, 3 * place + 2, name) for place, name in enumerate(drugs)]
    small = [MarkedDrug(drug.start, drug.end, drug.text.lower()) for drug in own]
    rows = [
        (own, (DrugRelation(POS, (0, 1)),), "one"),
        (own, (), "one"),
        (small, (DrugRelation(POS, (1, 0)), DrugRelation(COMB, (0, 2)), DrugRelation(COMB, (1, 2))), "one"),
        (small, (DrugRelation(POS, (0, 1, 2)),), ""),
    ]
    documents = [
        Document(f"id{place}", f"Aa Bb Cc {place}", f"Aa Bb Cc {place}", source, tuple(marked), relations)
        for place, (marked, relations, source) in enumerate(rows)
    ]
    files = [TRAINING_FILE, TRAINING_FILE, TEST_FILE]
    counts = counts_of(dataset_of("made", documents[:3], files))
    assert counts["test relations that training does not have"] == [0, 2, 2]
    assert counts["full percents of test relations that training does not have"] == [0, 66, 66]
    assert counts["instances that share an abstract with another one of their file"] == [2, 0, 2]
    assert counts["abstracts of both files"] == [1, 1, 1]
    assert counts["drugs whose text is not that of the sentence"] == [0, 3, 3]
    # and of two abstracts of which each file has two sentences
    again = [replace(document, doc_id=f"{document.doc_id} again") for document in documents[1:3]]
    twice = counts_of(dataset_of("made", [*documents[:3], *again], [*files, TRAINING_FILE, TEST_FILE]))
    assert twice["instances that share an abstract with another one of their file"] == [3, 2, 5]
    # what is part of a relation is no candidate: of 4 sets one is a relation itself
    assert [training_candidates(document) for document in documents] == [4, 4, 4, 1]


def test_a_score_is_read_as_no_calibrated_probability(made: CombosDataset) -> None:
    reading = reading_of("combos", made)
    assert len(reading.meaning) == 2
    assert "not a calibrated one" in reading.meaning[0] and "no proof" in reading.meaning[1]
    # the label is what a method says: whoever asks of a document does not name it
    assert (reading.answers, reading.known) == (("label",), ())


def test_own_sentences_reach_the_parameter_that_reads_them() -> None:
    own = own_data.own_data_of("combos")
    assert own is not None and own.CONVERTER == "combos_jsonl"
    tables = {word: (table.parameter, table.required) for word, table in own.TABLES.items()}
    assert tables == {
        "sentences": ("train", True),
        "test-sentences": ("test", False),
        "open-sentences": ("unannotated", False),
    }
    assert {parameter for parameter, _ in tables.values()} == Parameters.model_fields.keys()


def test_every_metric_says_what_counts() -> None:
    words = {metric.name: metric.description for metric in METRICS}
    assert len(words) == len(METRICS) == 2 * 3 * 4 + 6 * 2 * 4
    assert {(metric.better, metric.range) for metric in METRICS} == {("higher", (0.0, 1.0))}
    assert words["exact positive recall/as-published"] == (
        "share of true positive combinations that are found; each with its best match"
    )
    assert words["partial any F1/as-defined"] == (
        "harmonic mean of precision and recall of combinations, parts counting as parts; matched one to one"
    )
    ends = {
        "two drugs": "of two drugs",
        "more drugs": "of three or more drugs",
        "unseen combinations": "of drugs that no training document combines",
        "seen combinations": "of drugs that a training document combines",
        "sentences": "in documents where no relation needs the context",
        "contexts": "in documents where all relations need the context",
    }
    assert [*ends] == [part for parts in BUCKETS.values() for part in parts]
    for part, end in ends.items():
        name = f"exact any precision of {part}/as-published"
        assert words[name] == f"share of predicted combinations that are true, {end}"
    assert BENCHMARK.key_metrics[0] == "exact positive F1/as-published"
    assert BENCHMARK.order_free_metrics[-1] == "partial any F1/as-defined"


def test_inputs_tell_how_many_drugs_are_asked_about(made: CombosDataset) -> None:
    """Documents without a drug, also the last one, have none."""
    documents = [*made.documents, _document(6, 0, ())]
    dataset = dataset_of("made", documents, [*made.released.tolist(), TEST_FILE])
    split = split_of(dataset.released)
    question = BENCHMARK.asked_in(BENCHMARK.inputs(dataset, split, [], {}), {})
    assert question.drug_counts == (4, 1, 0)
    assert question == BENCHMARK.scoring.question(dataset, split, {})
    assert np.flatnonzero(dataset.released == TEST_FILE).tolist() == split.asked.tolist()
