"""What a person reads beside predictions: what a score of this benchmark says, and what is known already."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.reading import reading as reading_of_texts
from harness.benchmarks.ddi.reading import reading as reading_of_pairs
from harness.benchmarks.dti.dataset import NEW_NODES, DtiDataset
from harness.benchmarks.dti.reading import reading as reading_of_targets
from harness.benchmarks.reading import Reading
from harness.data import load_dataset
from tests.ddi.tiny import SIGNS, tiny


def _targets(*values: float) -> Reading:
    return reading_of_targets(
        DtiDataset(
            name="made",
            pairs=np.array([[1, 0], [0, 2]], dtype=np.int32),
            values=np.array(values),
            drug_ids=("d", "e"),
            target_ids=("p", "q", "r"),
            smiles=("C", "CC"),
            sequences=("M", "MA", "MK"),
        )
    )


def _says(sentences: tuple[str, ...], *words: str) -> None:
    """Each sentence has its words; there is no other sentence."""
    assert len(sentences) == len(words)
    for sentence, word in zip(sentences, words, strict=True):
        assert word in sentence


def test_the_type_of_a_pair_is_a_forced_choice() -> None:
    reading = reading_of_pairs(tiny())
    choice, score, order = reading.meaning
    assert choice == (
        "The type is a forced choice: every pair gets the best of 2 types, also where its drugs do not interact. "
        "A row is no evidence that there is an interaction."
    )
    _says((score, order), "it is no probability", "--both-orders lists both")
    assert (reading.answers, reading.exchangeable) == (("type",), ("head", "tail"))
    assert reading.known == ((("a", "b"), "x"), (("a", "c"), "y"), (("b", "c"), "y"))


def test_of_several_types_each_is_a_row_of_its_own() -> None:
    reading = reading_of_pairs(tiny(labels=SIGNS))
    _says(reading.meaning, "is no calibrated probability", "--both-orders lists both")
    # the type is asked, not answered; a drawn negative is nothing that is known
    assert (reading.answers, reading.exchangeable) == ((), ("head", "tail"))
    assert reading.known == ((("a", "b", "x"), "known"), (("a", "b", "y"), "known"), (("b", "c", "y"), "known"))


@pytest.mark.parametrize(
    ("values", "meaning", "known"),
    [
        ((1.0, 1.0), "It is no probability", ("binds", "binds")),
        ((5.25, 7.0), "in the unit of the data it learned from", ("affinity 5.25", "affinity 7")),
    ],
)
def test_an_affinity_has_a_unit_and_a_binding_has_none(
    values: tuple[float, float], meaning: str, known: tuple[str, str]
) -> None:
    reading = _targets(*values)
    _says(reading.meaning, meaning, "Known pairs were learned from and are not ranked", "pair: 1 target. Ask")
    assert reading.known == ((("e", "p"), known[0]), (("d", "r"), known[1]))
    assert (reading.answers, reading.exchangeable) == ((), ())


def test_pairs_that_are_not_asked_are_told_unless_what_a_person_added_is_asked() -> None:
    pairs = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    ids = {"drug_ids": ("d", "e"), "target_ids": ("p", "q"), "smiles": ("C", "CC"), "sequences": ("M", "MA")}
    made = DtiDataset(name="made", pairs=pairs, values=np.ones(3), **ids)  # type: ignore[arg-type]
    assert not any("Asked are" in line for line in reading_of_targets(made).meaning)
    lacking = replace(made, pairs=pairs[:2], values=np.ones(2))
    assert "pair: 1 drug. Ask about another one" in reading_of_targets(lacking).meaning[-1]
    added = replace(lacking, group_names=(NEW_NODES,))
    assert reading_of_targets(added).meaning == reading_of_targets(made).meaning


def test_a_combination_that_is_not_listed_was_not_found(repository: Layout) -> None:
    corpus = load_dataset(repository, "combos_corpus", CombosDataset)
    reading = reading_of_texts(corpus)
    _says(reading.meaning, "not a calibrated one", "no proof that the text has none")
    assert (reading.answers, reading.exchangeable, reading.known) == (("label",), (), ())
