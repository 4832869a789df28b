"""Candidates, markers, windows, decoding and orders against definitions that are as plain as they are slow."""

from __future__ import annotations

import random
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.combos import plain_texts as plain

LABELS = {1: "COMB", 2: "POS"}
# a blank of another kind and letters beyond 16 bits: places count characters
_GAPS = ("", "and ", "of the ", "\u2009x ", "\U0001f48a  ", "e\u0301 , ", "a b c d e f g h i ")


@st.composite
def marked_sentences(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    """A text with drugs behind blanks; what follows may be no blank. The drugs come in any order."""
    text, places = draw(st.sampled_from(_GAPS)), list[tuple[int, int]]()
    for drug in range(draw(st.integers(2, 6))):
        name = draw(st.sampled_from(("abrevolin", "5 - fu", "\u03b1x")))
        places.append((len(text), len(text) + len(name)))
        text += (
            name
            + draw(st.sampled_from((" ", "  ", ") ", "-induced ")))
            + draw(st.sampled_from(_GAPS)) * (drug % 3)
        )
    return text + draw(st.sampled_from(("", "."))), draw(st.permutations(places))


@st.composite
def annotated_drugs(draw: st.DrawFn) -> tuple[int, list[plain.Annotated]]:
    """A number of drugs and relations of some of them, listed in any order."""
    drugs = draw(st.integers(0, 7))
    sets = plain.subsets(drugs)
    chosen = draw(st.lists(st.sampled_from(sets), unique=True, max_size=4)) if sets else []
    return drugs, [(tuple(draw(st.permutations(one))), draw(st.integers(1, 2))) for one in chosen]


def _relations(texts: SimpleNamespace, annotated: list[plain.Annotated]) -> list[Any]:
    return [texts.sdk.Relation(one, LABELS[label]) for one, label in annotated]


@given(annotated_drugs())
def test_candidates(texts: SimpleNamespace, drawn: tuple[int, list[plain.Annotated]]) -> None:
    drugs, annotated = drawn
    sets, relations = texts.candidates.all_sets(drugs), _relations(texts, annotated)
    assert [*map(tuple, texts.candidates.training_candidates(sets, relations))] == plain.trained(drugs, annotated)
    assert [*map(tuple, texts.candidates.asked_candidates(sets, relations))] == plain.asked(drugs, annotated)


def test_more_than_fifteen_drugs_have_no_candidates(texts: SimpleNamespace) -> None:
    assert len(texts.candidates.all_sets(15)) == 2**15 - 16
    relations = _relations(texts, [((0, 1), 2)])
    for drugs in (16, 40):
        sets = texts.candidates.all_sets(drugs)
        assert [*sets, *texts.candidates.training_candidates(sets, relations)] == []


@given(st.integers(2, 12), st.integers(1, 6), st.randoms(use_true_random=False))
def test_pruned_candidates_are_near_each_other(
    texts: SimpleNamespace, drugs: int, reach: int, generator: random.Random
) -> None:
    order = plain_order = list(range(drugs))
    generator.shuffle(order)
    near = []
    for one in plain.subsets(drugs):
        places = sorted(plain_order.index(drug) for drug in one)
        width = places[-1] - places[0] + 1
        if len(one) == 2 or width <= reach or width == len(one):
            near.append(one)
    assert texts.candidates.near_sets(order, reach) == near


def test_pruning_keeps_small_sentences_and_bounds_large_ones(texts: SimpleNamespace) -> None:
    def document(drugs: int) -> Any:
        spans = tuple(texts.sdk.Span(4 * drug, 4 * drug + 3, "") for drug in range(drugs))
        return texts.sdk.Document("abc " * drugs, "", spans, ())

    sets = texts.candidates.candidate_sets
    assert sets(document(8), 8, 6) == texts.candidates.all_sets(8)
    assert len(sets(document(15), 8, 6)) < 600
    assert len(sets(document(30), 8, 6)) < 2000
    with pytest.warns(UserWarning, match="16 drugs in a sentence"):
        assert not sets(document(16))


@given(marked_sentences(), st.integers(1, 30), st.data())
def test_marked_texts(
    texts: SimpleNamespace, drawn: tuple[str, list[tuple[int, int]]], width: int, data: st.DataObject
) -> None:
    text, places = drawn
    drugs = data.draw(st.lists(st.integers(0, len(places) - 1), unique=True, min_size=2))
    marked = texts.texts.MarkedText(text, places)
    plain_text = plain.marked(text, [places[drug] for drug in drugs])
    assert marked.whole(drugs) == plain_text
    passage = marked.passage(drugs, width)
    assert passage.text == plain.window(plain_text, width)
    words = passage.text.split(" ") if passage.text else []
    assert [word for word in words if word in texts.texts.MARKERS] == passage.markers


@given(marked_sentences(), st.integers(1, 30), st.data())
def test_a_window_of_a_golden_is_taken_as_it_stands(
    texts: SimpleNamespace, drawn: tuple[str, list[tuple[int, int]]], width: int, data: st.DataObject
) -> None:
    """Narrow ones have lost markers: of some drugs the start is there alone, or the end."""
    text, places = drawn
    drugs = data.draw(st.lists(st.integers(0, len(places) - 1), unique=True, min_size=2))
    window = texts.texts.MarkedText(text, places).passage(drugs, width)
    given_window = texts.windows.GivenWindow(window.text).passage((), 0)
    assert (given_window.text, given_window.markers) == (window.text, window.markers)
    assert [end - begin for begin, end in given_window.ranges] == [end - begin for begin, end in window.ranges]


def test_a_marker_cuts_a_word_only_where_its_drug_is_marked(texts: SimpleNamespace) -> None:
    """A drug that no blank precedes is marked too; the original's code ends there."""
    text = "anti-abrevolin-like bractimab and caldorine"
    marked = texts.texts.MarkedText(text, [(5, 14), (20, 29), (34, 43)])
    assert marked.passage([1, 2], 99).text == (
        "anti-abrevolin-like <<m>> bractimab <</m>> and <<m>> caldorine <</m>>"
    )
    assert marked.passage([0, 1], 99).text == (
        "anti- <<m>> abrevolin <</m>> -like <<m>> bractimab <</m>> and caldorine"
    )
    assert marked.whole([0, 2]) == "anti- <<m>> abrevolin <</m>> -like bractimab and <<m>> caldorine <</m>>"


def test_overlapping_and_repeated_drugs_have_markers_of_their_own(texts: SimpleNamespace) -> None:
    text = "given 5 - fu daily"
    marked = texts.texts.MarkedText(text, [(6, 12), (10, 12), (6, 12)])
    assert marked.passage([0, 1], 99).text == "given <<m>> 5 - <<m>> fu <</m>> <</m>> daily"
    assert marked.passage([0, 2], 99).text == "given <<m>> <<m>> 5 - fu <</m>> <</m>> daily"
    # one ends where the other begins
    touching = texts.texts.MarkedText("abrevolinbractimab", [(9, 18), (0, 9)])
    assert touching.passage([0, 1], 99).text == "<<m>> abrevolin <</m>> <<m>> bractimab <</m>>"


def test_a_marker_in_the_text_is_a_word(texts: SimpleNamespace) -> None:
    """The window is where the drugs are, not where somebody wrote what looks like a marker."""
    text = "<<m>> one two three four abrevolin plus bractimab ."
    places = [(text.index(name), text.index(name) + 9) for name in ("abrevolin", "bractimab")]
    assert texts.texts.MarkedText(text, places).passage([0, 1], 8).text == (
        "four <<m>> abrevolin <</m>> plus <<m>> bractimab <</m>>"
    )


def test_the_abstract_is_read_where_it_holds_the_sentence(texts: SimpleNamespace) -> None:
    spans = (texts.sdk.Span(0, 1, ""), texts.sdk.Span(4, 5, ""))
    for paragraph, context, before in (("So : a + b", True, "So : "), ("So : a + b", False, ""), ("", True, "")):
        document = texts.sdk.Document("a + b", paragraph, spans, ())
        marked = texts.texts.marked_text(document, context)
        assert marked.passage([0, 1], 99).text == f"{before}<<m>> a <</m>> + <<m>> b <</m>>"


@st.composite
def predictions(draw: st.DrawFn) -> list[plain.Row]:
    """Rows of some documents, mixed; a set occurs once in a document, listed in any order."""
    rows: list[plain.Row] = []
    for document in draw(st.lists(st.sampled_from(("a", "b", "c")), unique=True)):
        names = draw(st.sampled_from((range(5), range(7, 13))))
        sets = [one for size in range(2, 6) for one in combinations(names, size)]
        chosen = draw(st.lists(st.sampled_from(sets), unique=True, max_size=20))
        rows += [(document, list(one), draw(st.sampled_from((0, 0, 1, 2)))) for one in chosen]
    return draw(st.permutations(rows))


@given(predictions())
def test_greedy_decoding(texts: SimpleNamespace, rows: list[plain.Row]) -> None:
    kept = []
    for document in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == document]
        places = texts.decoding.greedy([tuple(row[1]) for row in own], [row[2] for row in own])
        kept += [own[place] for place in places]
    assert [row for row in rows if any(row is one for one in kept)] == plain.greedy(rows)


@given(st.data())
def test_a_cover_has_the_largest_weight(texts: SimpleNamespace, data: st.DataObject) -> None:
    sets = data.draw(st.lists(st.sampled_from(plain.subsets(5)), unique=True, max_size=9))
    weights = [data.draw(st.integers(-4, 9)) / 2 for _ in sets]
    kept = texts.decoding.cover(sets, weights)
    assert sum(weights[place] for place in kept) == plain.heaviest(sets, weights)
    drugs = [drug for place in kept for drug in sets[place]]
    assert len(drugs) == len({*drugs})
    assert kept == sorted(kept) and all(weights[place] > 0 for place in kept)
    # whatever the order
    order = data.draw(st.permutations(range(len(sets))))
    again = texts.decoding.cover([sets[at] for at in order], [weights[at] for at in order])
    assert {order[place] for place in again} == {*kept}


def test_a_cover_of_all_sets_of_fifteen_drugs(texts: SimpleNamespace) -> None:
    """Pairs that make up all drugs but one beat every larger set; one set that is worth more takes all."""
    sets = texts.candidates.all_sets(15)
    kept = texts.decoding.cover(sets, [1.0] * len(sets))
    assert len(kept) == 7
    kept = texts.decoding.cover(sets, [8.0 if len(one) == 15 else 1.0 for one in sets])
    assert [len(sets[place]) for place in kept] == [15]


def test_a_cover_of_more_drugs_takes_the_largest_weights_first(texts: SimpleNamespace) -> None:
    sets = [(drug, drug + 1) for drug in range(40)]
    kept = texts.decoding.cover(sets, [1.0 + (place == 20) for place in range(40)])
    drugs = [drug for place in kept for drug in sets[place]]
    assert 20 in kept and len(drugs) == len({*drugs})


def test_weights_are_log_odds_and_finite(texts: SimpleNamespace) -> None:
    certain, none, even = texts.decoding.weights_of([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.4, 0.2, 0.4]])
    assert 700 < certain < 800 and -800 < none < -700
    assert even == 0


@given(st.data())
def test_balanced_batches(texts: SimpleNamespace, data: st.DataObject) -> None:
    size, seed = data.draw(st.integers(3, 9)), data.draw(st.integers(0, 99))
    rare = data.draw(st.integers(1, 9))
    frequent = data.draw(st.integers(rare, rare * (size - 1)))
    labels = data.draw(st.permutations([1] * rare + [0] * frequent))
    labels = [1 - label for label in labels] if data.draw(st.booleans()) and rare < frequent else labels
    sampler = texts.orders.BalancedBatches(labels, size, seed)
    assert sampler.batches() == [*plain.batches(labels, size, seed)]
    assert all({labels[place] for place in batch} == {0, 1} for batch in sampler.batches())


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 2]])
def test_what_makes_no_balanced_batches_is_refused(texts: SimpleNamespace, labels: list[int]) -> None:
    with pytest.raises(ValueError, match=r"batches of 4|neither 0 nor 1"):
        texts.orders.BalancedBatches(labels, 4)


@given(st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_splits_are_those_of_torch(texts: SimpleNamespace, count: int, seed: int) -> None:
    train, valid = texts.orders.split(range(100, 100 + count), seed)
    assert len(valid) == count // 10
    assert [item - 100 for item in train + valid] == plain.permutation(count, seed)
