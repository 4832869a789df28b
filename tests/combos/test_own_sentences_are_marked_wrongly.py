"""Drugs that a person names must be marked wherever they stand, and nothing else be asked."""

from __future__ import annotations

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.combos.checks import checked_remarks
from harness.benchmarks.combos.dataset import UNANNOTATED, CombosDataset
from harness.benchmarks.combos.extension import with_new
from harness.benchmarks.combos.splits.strategies import unannotated
from harness.benchmarks.new_item import NewItem
from harness.data import load_dataset


@pytest.fixture(scope="module")
def corpus(repository: Layout) -> CombosDataset:
    """The embedded sentences."""
    return load_dataset(repository, "combos_corpus", CombosDataset)


def items(text: str, *drugs: str) -> list[NewItem]:
    """A sentence and the drugs that are marked in it."""
    return [NewItem(kind="text", name="text 1", text=text), *(NewItem(kind="drug", name=one) for one in drugs)]


@pytest.mark.parametrize(
    ("text", "drugs", "sentence", "marked"),
    [
        (
            "Aspirin plus clopidogrel.",
            ["ASPIRIN", "clopidogrel"],
            "Aspirin plus clopidogrel .",
            ["Aspirin", "clopidogrel"],
        ),
        # glued to each other, in brackets, behind an emoji and behind a letter with a combining mark
        (
            "💊 cafe\u0301 (aspirin/warfarin, 75 mg) in 1,000:",
            ["aspirin", "warfarin"],
            "💊 cafe\u0301 ( aspirin / warfarin , 75 mg ) in 1,000 :",
            ["aspirin", "warfarin"],
        ),
        # again later, in another case; never within a word
        ("aspirins aspirin\nand  Aspirin", ["aspirin"], "aspirins aspirin and Aspirin", ["aspirin", "Aspirin"]),
        (
            "preaspirin 2aspirin aspirin, aspirin",
            ["aspirin"],
            "preaspirin 2aspirin aspirin , aspirin",
            ["aspirin"] * 2,
        ),
        # a letter and its mark are one letter
        ("nai\u0301f nai x nai", ["nai"], "nai\u0301f nai x nai", ["nai", "nai"]),
        # what has a meaning in patterns
        ("5-FU (oral) + C++ helps", ["5-FU (oral)", "c++"], "5-FU (oral) + C++ helps", ["5-FU (oral)", "C++"]),
    ],
)
def test_drugs_are_marked_where_they_stand(
    corpus: CombosDataset, text: str, drugs: list[str], sentence: str, marked: list[str]
) -> None:
    larger = with_new(corpus, items(text, *drugs))
    checked_remarks(larger)
    document = larger.documents[-1]
    assert (document.sentence, document.paragraph) == (sentence, sentence)
    assert [drug.text for drug in document.drugs] == marked
    for drug in document.drugs:
        assert sentence[drug.start : drug.end] == drug.text
        # the published code puts markers between blanks
        assert sentence[drug.start - 1 : drug.start] in ("", " ") and sentence[drug.end :][:1] in ("", " ")


def test_only_own_sentences_are_asked_and_nothing_known_changes(corpus: CombosDataset) -> None:
    larger = with_new(corpus, items("aspirin and warfarin", "aspirin", "warfarin"))
    assert larger.documents[:-1] == corpus.documents
    split = unannotated.make(larger, 0, unannotated.Parameters())
    asked = {larger.doc_ids[place] for place in split.asked}
    before = {name for name, part in zip(corpus.doc_ids, corpus.released, strict=True) if part == UNANNOTATED}
    assert asked == before | {"text 1"}


@pytest.mark.parametrize(
    ("text", "drugs", "what"),
    [
        ("aspirin and warfarin", ["aspirn", "aspirin", "warfarin"], "'aspirn' stands nowhere in the text"),
        ("aspirin and warfarin", ["aspirin", "warfarin", "Warfarin"], "there is a 'Warfarin' already"),
        ("aspirin and warfarin", ["aspirin"], "1 drug marked"),
        ("aspirin and warfarin", [], "0 drugs marked"),
        (
            "oral aspirin, warfarin",
            ["oral aspirin", "aspirin", "warfarin"],
            "'oral aspirin' and 'aspirin' overlap",
        ),
        (" ".join(["aspirin"] * 16), ["aspirin"], "16 drugs marked"),
        ("aspirin and warfarin", ["aspirin", "warfarin", " "], "the name is empty"),
        ("", ["aspirin"], "stands nowhere"),
    ],
)
def test_what_cannot_be_marked_is_refused(corpus: CombosDataset, text: str, drugs: list[str], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        with_new(corpus, items(text, *drugs))


def test_as_many_drugs_as_models_see_are_marked(corpus: CombosDataset) -> None:
    larger = with_new(corpus, items(" ".join(["aspirin"] * 15), "aspirin"))
    assert len(larger.documents[-1].drugs) == 15 and larger.documents[-1].source == ""
    assert (larger.doc_ids[-1], larger.released[-1]) == ("text 1", UNANNOTATED)


def test_a_name_that_a_document_has_is_taken(corpus: CombosDataset) -> None:
    own = [NewItem(kind="text", name=corpus.doc_ids[0].upper(), text="a b"), *items("", "a", "b")[1:]]
    with pytest.raises(UsageError, match="already"):
        with_new(corpus, own)


def test_several_sentences_are_marked_with_the_same_drugs(corpus: CombosDataset) -> None:
    """A drug may be in one of them alone; a sentence with too few is shown, and which it is."""
    texts = [NewItem(kind="text", name=f"text {number}", text=text) for number, text in enumerate(("a b", "b c"))]
    drugs = items("", "a", "b", "c")[1:]
    assert [len(one.drugs) for one in with_new(corpus, [*texts, *drugs]).documents[-2:]] == [2, 2]
    third = NewItem(kind="text", name="text 3", text="c alone " + "x" * 80)
    with pytest.raises(UsageError) as refused:
        with_new(corpus, [*texts, third, *drugs])
    assert refused.value.what == f"1 drug marked in 'c alone {'x' * 52}'"
    assert refused.value.where == third.where and refused.value.todo == "mark 2 to 15, each with --drug NAME"


@pytest.mark.parametrize(("before", "shown"), [(30, 20), (20, 20), (5, 5)])
def test_names_that_overlap_are_shown_where_they_do(corpus: CombosDataset, before: int, shown: int) -> None:
    """Twenty letters on either side of what belongs to both, or to the end of the text."""
    # the second name begins behind so many letters
    text = f"{'x' * (before - 4)} ab cd ef {'y' * 30}"
    with pytest.raises(UsageError) as refused:
        with_new(corpus, items(text, "ab cd", "cd ef"))
    own = text[before - shown : before + 2 + 20]
    assert refused.value.what == f"'ab cd' and 'cd ef' overlap in '{own}'"


def test_drugs_without_a_sentence_are_refused(corpus: CombosDataset) -> None:
    with pytest.raises(UsageError, match="there is no sentence"):
        with_new(corpus, items("", "aspirin")[1:])


def test_a_misspelt_drug_is_shown_what_is_near(corpus: CombosDataset) -> None:
    with pytest.raises(UsageError) as error:
        with_new(corpus, items("Aspirin and warfarin", "aspirn", "warfarin"))
    assert "near it: Aspirin" in str(error.value.todo)


def test_names_that_touch_do_not_overlap(corpus: CombosDataset) -> None:
    """As two formulas do, of which one ends and the other begins with a bracket."""
    larger = with_new(corpus, items("given x(1)[2]y daily", "x(1)", "[2]y"))
    assert [drug.text for drug in larger.documents[-1].drugs] == ["x(1)", "[2]y"]
