"""What a document may just be, and which documents are of one abstract."""

from __future__ import annotations

import pytest

from harness.base.errors import CorruptData
from harness.benchmarks.combos.documents import (
    POS,
    Document,
    DrugRelation,
    MarkedDrug,
    abstracts_of,
    check_document,
)


def document(paragraph: str, source: str = "", relations: tuple[tuple[int, ...], ...] = ()) -> Document:
    """A sentence of three drugs, the first two side by side, the last one at its end."""
    drugs = (MarkedDrug(0, 2, "ab"), MarkedDrug(2, 4, "cd"), MarkedDrug(5, 7, "ef"))
    told = tuple(DrugRelation(POS, spans) for spans in relations)
    return Document("1", "abcd ef", paragraph, source, drugs, told)


def test_drugs_may_touch_and_the_last_one_may_end_the_sentence() -> None:
    check_document(document("abcd ef", relations=((0, 1), (1, 2), (0, 1, 2))), "line 1")


def test_a_relation_told_twice_names_the_first_one() -> None:
    twice = document("abcd ef", relations=((0, 1), (1, 2), (2, 1)))
    with pytest.raises(CorruptData, match=r"its drugs are also those of rels\[1\]") as caught:
        check_document(twice, "line 1")
    assert caught.value.where == "line 1: rels[2]"


def test_one_abstract_is_of_one_source_or_of_one_text_whatever_its_blanks() -> None:
    """The third document joins the first two, which share nothing; the last ones name no source."""
    documents = [
        document("abcd ef. One.", "a"),
        document("abcd ef. Two.", "b"),
        document("abcd ef.  One.", "b"),
        document("abcd ef. Three."),
        document("abcd ef. Four."),
        # blanks around punctuation, as those have that were split into words
        document("abcd  ef . Two ."),
    ]
    assert abstracts_of(documents) == [0, 0, 0, 3, 4, 0]


def test_a_document_may_join_others_that_were_joined_before() -> None:
    """The last one has the source of the second, and the text of the third, which is of the first one's source."""
    pairs = (("a", "One."), ("b", "Two."), ("a", "Three."), ("b", "Three."))
    assert abstracts_of([document(f"abcd ef. {text}", source) for source, text in pairs]) == [0, 0, 0, 0]
