"""A control must answer what its card says, sentence by sentence: methods are held against it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.combos.documents import COMB, NEG, POS
from harness.execution.trials import Trial
from harness.methods.card import load_method
from tests.methods.host import OnThisMachine

# drugs in brackets; which of them are related, by their order, and how
Annotated = tuple[str, Mapping[tuple[int, ...], int]]
Found = list[dict[tuple[int, ...], tuple[str, float]]]

LEARNED: Sequence[Annotated] = (
    ("[Alpha] plus [beta] helped .", {(0, 1): POS}),
    ("[alpha] and [Beta] helped .", {(1, 0): NEG}),
    ("[gamma] , [delta] and [delta] again .", {(2, 0, 1): COMB}),
    ("[alpha] with [delta] .", {(0, 1): POS}),
    ("[Alpha] with [Delta] .", {(1, 0): POS}),
    ("[alpha] or [delta] .", {(0, 1): COMB}),
)
ASKED = (
    "[beta] was in combination with [alpha] but [gamma] was not , nor was there any [delta] .",
    "[alpha] , [delta] and a long list of other things that are no drug , then [delta] and [gamma] .",
    "[alpha] after a long list of other things that are no drug at all , then [beta] .",
    "[alpha] alone .",
    "none .",
)


def _inputs(learned: Sequence[Annotated], asked: Sequence[str]) -> dict[str, Any]:
    sentences, spans, texts = list[str](), list[tuple[int, int, int]](), list[str]()
    for number, text in enumerate([*(text for text, _ in learned), *asked]):
        sentence = ""
        for part in text.replace("]", "[").split("["):
            if part.lower() in ("alpha", "beta", "gamma", "delta"):
                spans.append((number, len(sentence), len(sentence) + len(part)))
                texts.append(part)
            sentence += part
        sentences.append(sentence)
    rows = [(number, label, one) for number, (_, own) in enumerate(learned) for one, label in own.items()]
    members = [(row, drug) for row, (_, _, one) in enumerate(rows) for drug in one]
    return {
        "sentences": sentences,
        "spans": np.array(spans, dtype=np.int32).reshape(-1, 3),
        "span_texts": texts,
        "relations": np.array([(number, label, 0) for number, label, _ in rows], dtype=np.int32).reshape(-1, 3),
        "relation_spans": np.array(members, dtype=np.int32).reshape(-1, 2),
        "train": np.arange(len(learned), dtype=np.int32),
        "asked": np.arange(len(learned), len(sentences), dtype=np.int32),
    }


def _answer(
    layout: Layout, folder: Path, name: str, learned: Sequence[Annotated] = LEARNED, asked: Sequence[str] = ASKED
) -> Found:
    """The combinations of each asked sentence, with class and score."""
    card = load_method(layout, name)
    inputs = _inputs(learned, asked)
    if "span_texts" not in card.inputs:
        del inputs["span_texts"]
    parameters = card.variant("published").parameters
    trial = Trial(card=card, benchmark="combos", inputs=inputs, parameters=parameters, seed=1)
    with OnThisMachine(layout, folder)(trial) as result:
        assert not result.reason
        lines = (result.out / "combinations.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line)["combinations"] for line in lines]
    return [{tuple(one["spans"]): (one["label"], one["score"]) for one in own} for own in rows]


def test_all_drugs_are_one_positive_combination(layout: Layout, tmp_path: Path) -> None:
    whole = ("POS", 1.0)
    assert _answer(layout, tmp_path, "all_drugs") == [
        {(0, 1, 2, 3): whole}, {(0, 1, 2, 3): whole}, {(0, 1): whole}, {}, {},
    ]  # fmt: skip


def test_all_pairs_are_positive(layout: Layout, tmp_path: Path) -> None:
    pairs = dict.fromkeys(combinations(range(4), 2), ("POS", 1.0))
    assert _answer(layout, tmp_path, "all_pairs") == [pairs, pairs, {(0, 1): ("POS", 1.0)}, {}, {}]


def test_known_combinations_are_those_with_the_same_names(layout: Layout, tmp_path: Path) -> None:
    """Whatever the case and order; as often marked; the more frequent class, and COMB of two."""
    tie, more = ("COMB", 0.5), ("POS", pytest.approx(2 / 3))
    assert _answer(layout, tmp_path, "known_combinations") == [
        {(0, 1): tie, (1, 3): more},
        {(0, 1): more, (0, 2): more, (1, 2, 3): ("COMB", 1.0)},
        {(0, 1): tie},
        {},
        {},
    ]
    assert _answer(layout, tmp_path, "known_combinations", learned=()) == [{}] * 5


def test_trigger_words_make_close_drugs_positive(layout: Layout, tmp_path: Path) -> None:
    """Four words may lie between neighbours; where all are apart, the sentence is one combination."""
    positive, other = ("POS", 1.0), ("COMB", 1.0)
    assert _answer(layout, tmp_path, "trigger_words") == [
        {(0, 1, 2): positive}, {(0, 1): other, (2, 3): other}, {(0, 1): other}, {}, {},
    ]  # fmt: skip


def test_word_ngrams_learn_what_stands_between(layout: Layout, tmp_path: Path) -> None:
    """Names that were never seen; no drug is in two combinations, and scores are those of the class."""
    names = ("alpha", "beta", "gamma", "delta")
    learned: list[Annotated] = []
    for number, (one, two) in enumerate([*combinations(names, 2)] * 4):
        joined, apart = ("plus", POS) if number % 2 else ("mixed with", COMB), number % 3
        word, label = joined
        learned.append((f"we gave [{one}] {word} [{two}] here .", {(0, 1): label}))
        learned.append((f"[{one}] {'and' * apart} not [{two}] .", {}))
    asked = [
        "they gave [delta] plus [alpha] .",
        "they gave [beta] mixed with [alpha] .",
        "[gamma] not [beta] .",
        "we gave [alpha] plus [beta] here , [gamma] mixed with [delta] here .",
        "[alpha] .",
    ]
    found = _answer(layout, tmp_path, "word_ngrams", learned, asked)
    labels = [{one: label for one, (label, _) in own.items()} for own in found]
    assert labels[:3] == [{(0, 1): "POS"}, {(0, 1): "COMB"}, {}]
    assert labels[4] == {}
    drugs = [drug for one in labels[3] for drug in one]
    assert len(drugs) == len({*drugs})
    assert all(0.5 < score < 1 for own in found[:2] for _, score in own.values())


def test_word_ngrams_without_training_answer_nothing(layout: Layout, tmp_path: Path) -> None:
    assert _answer(layout, tmp_path, "word_ngrams", learned=()) == [{}] * 5
