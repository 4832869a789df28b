"""The converted form of texts about drugs: sentences, marked drugs, and which are combined; read-only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.combos.documents import COMB, NEG, POS, Document, DrugRelation, MarkedDrug
from harness.benchmarks.combos.statistics import CombosStatistics

Integers = npt.NDArray[np.int32]

# where a document was released
TRAINING_FILE, TEST_FILE, UNANNOTATED = 0, 1, -1

_TYPES = {**dict.fromkeys(("spans", "relations", "relation_spans"), "<i4"), "released": "|i1"}
_NAMES = ("doc_ids", "sentences", "paragraphs", "sources", "span_texts")


@dataclass(frozen=True, eq=False)
class CombosDataset:
    """Documents in the order of their files, the drugs marked in each, and the relations of the annotated ones.

    Rows of `spans` are document, start, end: those of a document together, and in the order of its drugs. Rows of
    `relations` are document, class, 1 if the context is needed; of `relation_spans` relation and drug, as listed.
    """

    name: str
    doc_ids: tuple[str, ...]
    sentences: tuple[str, ...]
    paragraphs: tuple[str, ...]
    sources: tuple[str, ...]
    span_texts: tuple[str, ...]
    spans: Integers
    relations: Integers
    relation_spans: Integers
    released: npt.NDArray[np.int8]
    digest: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Every array in the type it is kept in."""
        return {name: getattr(self, name).astype(dtype, copy=False) for name, dtype in _TYPES.items()}

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Every list of texts."""
        return {name: getattr(self, name) for name in _NAMES}

    @property
    def span_counts(self) -> npt.NDArray[np.int64]:
        """How many drugs every document has."""
        return np.bincount(self.spans[:, 0], minlength=len(self.sentences))

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """Every document, with its drugs and relations."""
        drugs: list[list[MarkedDrug]] = [[] for _ in self.sentences]
        for (document, start, end), text in zip(self.spans.tolist(), self.span_texts, strict=True):
            drugs[document].append(MarkedDrug(start, end, text))
        members: list[list[int]] = [[] for _ in self.relations]
        for relation, drug in self.relation_spans.tolist():
            members[relation].append(drug)
        relations: list[list[DrugRelation]] = [[] for _ in self.sentences]
        for (document, label, context), own in zip(self.relations.tolist(), members, strict=True):
            relations[document].append(DrugRelation(label, tuple(own), bool(context)))
        texts = zip(self.doc_ids, self.sentences, self.paragraphs, self.sources, strict=True)
        return tuple(
            Document(*four, tuple(own), tuple(seen))
            for four, own, seen in zip(texts, drugs, relations, strict=True)
        )

    def statistics(self) -> CombosStatistics:
        """What the arrays show."""
        of_test = self.released[self.relations[:, 0]] == TEST_FILE
        label, context = self.relations[:, 1], self.relations[:, 2] == 1
        sizes = Counter(np.bincount(self.relation_spans[:, 0], minlength=len(self.relations)).tolist())
        per_document = np.bincount(self.relations[:, 0], minlength=len(self.sentences))
        annotated = per_document[self.released != UNANNOTATED]
        kinds = {
            "relations": np.ones_like(of_test),
            "positive": label == POS,
            "combined": label == COMB,
            "negative": label == NEG,
            "context_needed": context,
        }
        return CombosStatistics(
            documents=len(self.sentences),
            test_documents=int((self.released == TEST_FILE).sum()),
            unannotated=int((self.released == UNANNOTATED).sum()),
            drugs=len(self.spans),
            most_drugs=int(self.span_counts.max(initial=0)),
            **{name: int(rows.sum()) for name, rows in kinds.items()},
            **{f"test_{name}": int((rows & of_test).sum()) for name, rows in kinds.items()},
            pairs=sizes[2],
            triples=sizes[3],
            quadruples=sizes[4],
            larger=sum(count for size, count in sizes.items() if size > 4),
            without_relation=int((annotated == 0).sum()),
            with_one=int((annotated == 1).sum()),
            with_more=int((annotated > 1).sum()),
        )


def dataset_of(
    name: str, documents: Sequence[Document], released: Sequence[int], remarks: Sequence[str] = ()
) -> CombosDataset:
    """A dataset of these documents, and of the file that each was released in."""
    relations = [(number, one) for number, document in enumerate(documents) for one in document.relations]
    drugs = [(number, drug) for number, document in enumerate(documents) for drug in document.drugs]
    return CombosDataset(
        name=name,
        doc_ids=tuple(document.doc_id for document in documents),
        sentences=tuple(document.sentence for document in documents),
        paragraphs=tuple(document.paragraph for document in documents),
        sources=tuple(document.source for document in documents),
        span_texts=tuple(drug.text for _, drug in drugs),
        spans=_rows([(number, drug.start, drug.end) for number, drug in drugs], 3),
        relations=_rows([(number, one.label, one.context_needed) for number, one in relations], 3),
        relation_spans=_rows([(row, drug) for row, (_, one) in enumerate(relations) for drug in one.spans], 2),
        released=np.array(released, dtype=np.int8),
        remarks=tuple(remarks),
    )


def _rows(rows: Sequence[tuple[int, ...]], columns: int) -> Integers:
    return np.array(rows, dtype=np.int32).reshape(-1, columns)
