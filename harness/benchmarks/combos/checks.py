"""What a converted dataset of documents must be before anything is computed from it."""

from __future__ import annotations

import hashlib

import numpy as np

from harness.base.errors import CorruptData
from harness.base.repeats import repeated
from harness.benchmarks.combos.dataset import TEST_FILE, UNANNOTATED, CombosDataset
from harness.benchmarks.combos.documents import Document, abstracts_of, check_document

# beyond these the published models see no candidate
MOST_DRUGS = 15


def checked_remarks(dataset: CombosDataset) -> tuple[str, ...]:
    """Remarks on what is odd but allowed; `CorruptData` for what is not."""
    where = f"dataset {dataset.name}"
    _check_arrays(dataset, where)
    for number, document in enumerate(dataset.documents):
        check_texts(document, f"{where}: document {number} ({document.doc_id})")
    total, other_ids = len(dataset.documents), sum(map(_has_other_id, dataset.documents))
    counts = (
        (sum(map(_has_other_text, dataset.documents)), "have a drug whose text is not that of the sentence"),
        # one's own names are never one
        (other_ids if other_ids < total else 0, "have a doc_id that is not the md5 of their sentence"),
        (sum(map(_has_no_abstract, dataset.documents)), "have no abstract beside their sentence"),
        (int((dataset.span_counts > MOST_DRUGS).sum()), f"have more than {MOST_DRUGS} drugs"),
        (int((dataset.span_counts < 2).sum()), "have fewer than 2 drugs, and no combination"),
        (sum(map(_occurs_again, dataset.documents)), "have their sentence twice in their abstract"),
        (_shared(dataset), "are for training and share an abstract with a test document"),
    )
    return tuple(f"{count} of {total} documents {what}" for count, what in counts if count)


def check_texts(document: Document, where: str) -> None:
    """`check_document`, and that no other text has half of a character, as a cut escape leaves it."""
    check_document(document, where)
    # not there, beside the same check of the sentence: scores depend on that module, and would all be stale
    texts = {"doc_id": document.doc_id, "source": document.source}
    texts |= {f"spans[{number}].text": drug.text for number, drug in enumerate(document.drugs)}
    for field, text in texts.items():
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise CorruptData(
                "it has half of a character", where=f"{where}: {field}", todo="write both halves (\\ud83d\\udc8a)"
            )


def _has_other_text(document: Document) -> bool:
    return any(document.sentence[drug.start : drug.end] != drug.text for drug in document.drugs)


def _has_other_id(document: Document) -> bool:
    digest = hashlib.md5(document.sentence.encode(), usedforsecurity=False).hexdigest()
    return document.doc_id != digest


def _has_no_abstract(document: Document) -> bool:
    return document.paragraph == document.sentence


def _occurs_again(document: Document) -> bool:
    return document.paragraph.count(document.sentence) > 1


def _shared(dataset: CombosDataset) -> int:
    abstracts = np.array(abstracts_of(dataset.documents))
    tested = np.isin(abstracts, abstracts[dataset.released == TEST_FILE])
    return int((tested & (dataset.released != TEST_FILE) & (dataset.released != UNANNOTATED)).sum())


def _check_arrays(dataset: CombosDataset, where: str) -> None:
    documents, drugs, relations = len(dataset.sentences), len(dataset.spans), len(dataset.relations)
    if not documents:
        raise CorruptData("there is no document", where=where, todo="give at least one")
    if twice := repeated(dataset.doc_ids):
        what = f"{len(twice)} names are those of several documents, '{twice[0]}' for one"
        raise CorruptData(what, where=where, todo="give each document a name of its own")
    lengths = {
        "doc_ids": documents, "paragraphs": documents, "sources": documents, "released": documents,
        "span_texts": drugs,
    }  # fmt: skip
    wrong = [name for name, count in lengths.items() if len(getattr(dataset, name)) != count]
    wrong += [
        name
        for name, columns, most in (
            ("spans", 3, documents),
            ("relations", 3, documents),
            ("relation_spans", 2, relations),
        )
        if not _has_rows(getattr(dataset, name), columns, most)
    ]
    if not np.isin(dataset.released, (UNANNOTATED, 0, TEST_FILE)).all():
        wrong.append("released")
    if wrong:
        what = f"'{wrong[0]}' has not one row for each, or a number that stands for nothing"
        raise CorruptData(what, where=where, todo="correct the converter")
    if (dataset.released[dataset.relations[:, 0]] == UNANNOTATED).any():
        what = "a document that is not annotated has relations"
        raise CorruptData(what, where=where, todo="leave them out, or release it for training")


def _has_rows(rows: np.ndarray[tuple[int, ...], np.dtype[np.int32]], columns: int, most: int) -> bool:
    """Whether there are so many columns, the first of which counts up and stays below `most`."""
    if rows.ndim != 2 or rows.shape[1] != columns:
        return False
    first = rows[:, 0]
    return bool((np.diff(first) >= 0).all() and (first >= 0).all() and (first < most).all())
