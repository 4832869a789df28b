"""One document: a sentence with marked drugs, its abstract, and the combinations that somebody saw in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.base.errors import CorruptData

# classes of a relation by their number; a set of drugs without a relation is none
LABELS = ("NO_COMB", "COMB", "POS", "NEG")
NO_COMB, COMB, POS, NEG = range(4)


@dataclass(frozen=True)
class MarkedDrug:
    """A drug in a sentence: its first character, the one behind its last, and its name as somebody wrote it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class DrugRelation:
    """Drugs by their numbers in the document, as listed, and what is said of taking them together."""

    label: int
    spans: tuple[int, ...]
    context_needed: bool = False


@dataclass(frozen=True)
class Document:
    """Places are counted in characters (Unicode code points) of the sentence, which is part of the paragraph."""

    doc_id: str
    sentence: str
    paragraph: str
    source: str
    drugs: tuple[MarkedDrug, ...]
    relations: tuple[DrugRelation, ...]


def check_document(document: Document, where: str) -> None:
    """Raise `CorruptData` for what no document can be: places outside the sentence, relations of no drugs."""
    for field, text in (("sentence", document.sentence), ("paragraph", document.paragraph)):
        # half of an emoji, as a cut escape leaves it
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise CorruptData(
                "it has half of a character", where=f"{where}: {field}", todo="write both halves (\\ud83d\\udc8a)"
            )
    if not document.sentence.strip():
        raise CorruptData(
            "the sentence is empty", where=f"{where}: sentence", todo="give the sentence that names the drugs"
        )
    if document.sentence not in document.paragraph:
        todo = "put the sentence, as it is in `sentence`, into the paragraph"
        raise CorruptData("the sentence is not in the paragraph", where=f"{where}: paragraph", todo=todo)
    _check_drugs(document, where)
    _check_relations(document, where)


def _check_drugs(document: Document, where: str) -> None:
    length = len(document.sentence)
    for number, drug in enumerate(document.drugs):
        if not 0 <= drug.start < drug.end <= length:
            what = f"characters {drug.start} to {drug.end} are not in the sentence, which has {length}"
            todo = "count characters from 0, not bytes; `end` is the one behind the last"
            raise CorruptData(what, where=f"{where}: spans[{number}]", todo=todo)
    order = sorted(range(len(document.drugs)), key=lambda number: document.drugs[number].start)
    for one, other in pairwise(order):
        first, second = document.drugs[one], document.drugs[other]
        if second.start < first.end:
            same = (first.start, first.end) == (second.start, second.end)
            what = f"drug {other} {'is' if same else 'overlaps'} drug {one}: {first.start} to {first.end}"
            raise CorruptData(what, where=f"{where}: spans[{other}]", todo="mark no character twice")


def _check_relations(document: Document, where: str) -> None:
    counts, before = len(document.drugs), dict[frozenset[int], int]()
    for number, relation in enumerate(document.relations):
        place, drugs = f"{where}: rels[{number}]", frozenset(relation.spans)
        for span in relation.spans:
            if not 0 <= span < counts:
                what = f"drug {span} is none of the {counts} of the sentence"
                raise CorruptData(what, where=f"{place}.spans", todo="name drugs by their span_id, from 0")
        if len(drugs) != len(relation.spans) or len(drugs) < 2:
            what = f"{list(relation.spans)} are not two or more different drugs"
            raise CorruptData(what, where=f"{place}.spans", todo="name each drug of the combination once")
        if drugs in before:
            what = f"its drugs are also those of rels[{before[drugs]}]"
            raise CorruptData(what, where=place, todo="give one class to a set of drugs")
        before[drugs] = number
        if relation.label not in (COMB, POS, NEG):
            raise CorruptData(f"{relation.label} is no class", where=f"{place}.class", todo="use POS, COMB or NEG")


def abstracts_of(documents: Sequence[Document]) -> list[int]:
    """The abstract of every document, by the number of its first document.

    Two documents are of one abstract if they name one source, or if their paragraphs differ in blanks alone (each
    has its own sentence split at blanks).
    """
    first: dict[tuple[str, str], int] = {}
    leader = list(range(len(documents)))

    def root(number: int) -> int:
        while leader[number] != number:
            number = leader[number]
        return number

    for number, document in enumerate(documents):
        for kind, text in (("source", document.source), ("paragraph", "".join(document.paragraph.split()))):
            if text:
                one, other = root(first.setdefault((kind, text), number)), root(number)
                leader[max(one, other)] = min(one, other)
    return [root(number) for number in range(len(documents))]
