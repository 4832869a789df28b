"""Scores must be what their definitions say, whatever is listed, and in whatever order."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.combos.metrics.evaluation import (
    CreditPair,
    Evaluator,
    ItemCredits,
    MatchRule,
)
from harness.benchmarks.combos.metrics.rows import RelationRow, class_of, oddities
from harness.benchmarks.combos.scoring import shares_of
from tests.combos import plain_evaluation as plain

Rows = list[RelationRow]

# few drugs and documents, so that much overlaps; lists of one drug, with repeats, in any order
_SPANS = st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple)
ROWS = st.lists(st.builds(RelationRow, st.sampled_from(["a", "b", 3]), _SPANS, st.integers(0, 2)), max_size=7)
RULE = st.sampled_from([MatchRule(*own) for own in product((True, False), repeat=2)])
EXACT, PARTIAL = MatchRule(exact=True, positive=True), MatchRule(exact=False, positive=True)


def as_published(gold: Rows, predicted: Rows, rule: MatchRule) -> CreditPair:
    return Evaluator(gold, predicted).as_published(rule)


def as_defined(gold: Rows, predicted: Rows, rule: MatchRule) -> CreditPair:
    return Evaluator(gold, predicted).as_defined(rule)


def _rows(*rows: tuple[str, int]) -> Rows:
    """Rows of one document, with drugs as digits."""
    return [RelationRow("a", tuple(map(int, spans)), label) for spans, label in rows]


def _values(items: ItemCredits) -> list[tuple[int, bool, float]]:
    return [*zip(items.rows.tolist(), items.counted.tolist(), items.credits.tolist(), strict=True)]


def _mixed(rows: Rows, random: Random) -> Rows:
    """Every row twice, in another order, its drugs too."""
    twice = random.sample(rows * 2, 2 * len(rows))
    return [row._replace(spans=tuple(random.sample(row.spans, len(row.spans)))) for row in twice]


def _by_set(credits: CreditPair, *sides: Rows) -> list[dict[tuple[object, frozenset[int]], float]]:
    return [
        {(rows[row].document, frozenset(rows[row].spans)): credit for row, _, credit in _values(items)}
        for items, rows in zip(credits, sides, strict=True)
    ]


def _close(value: float | None) -> object:
    return None if value is None else pytest.approx(value, rel=0, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(gold=ROWS, predicted=ROWS, rule=RULE)
def test_credits_as_published(gold: Rows, predicted: Rows, rule: MatchRule) -> None:
    credits = as_published(gold, predicted, rule)
    for items, rows, expected in zip(
        credits, (gold, predicted), plain.as_published(gold, predicted, *rule), strict=True
    ):
        # in the same order, which decides what a bootstrap draws
        own = [(rows[row], counted, credit) for row, counted, credit in _values(items)]
        assert [(row.document, str([*row.spans])) for row, *_ in own] == [key[:2] for key in expected]
        assert [(credit, counted) for _, counted, credit in own] == [*expected.values()]
        assert items.mean == _close(plain.mean(expected))


@settings(max_examples=200, deadline=None)
@given(gold=ROWS, predicted=ROWS, rule=RULE)
def test_credits_as_defined(gold: Rows, predicted: Rows, rule: MatchRule) -> None:
    best, relations, predictions = plain.best_sum(gold, predicted, *rule)
    credits = as_defined(gold, predicted, rule)
    for items, count in zip(credits, (relations, predictions), strict=True):
        assert len(items.rows) == count == items.counted.sum()
        assert items.credits.sum() == _close(best)
    both = relations + predictions
    assert shares_of(credits)["F1"] == _close(2 * best / both if both else None)


@settings(max_examples=150, deadline=None)
@given(gold=ROWS, predicted=ROWS, rule=RULE, random=st.integers(0, 2**32).map(Random))
def test_scores_as_defined_depend_on_no_order(
    gold: Rows, predicted: Rows, rule: MatchRule, random: Random
) -> None:
    ours, theirs = (_mixed(rows, random) for rows in (gold, predicted))
    credits = as_defined(gold, predicted, rule)
    assert _by_set(as_defined(ours, theirs, rule), ours, theirs) == _by_set(credits, gold, predicted)


@settings(max_examples=150, deadline=None)
@given(gold=ROWS, predicted=ROWS, positive=st.booleans())
def test_a_match_that_is_exact_is_partial_too(gold: Rows, predicted: Rows, positive: bool) -> None:
    for evaluate in (as_published, as_defined):
        exact, partial = (shares_of(evaluate(gold, predicted, MatchRule(own, positive))) for own in (True, False))
        for measure, share in exact.items():
            assert share is None or share <= (partial[measure] or 0.0) + 1e-12


def test_several_predictions_take_credit_for_one_relation_as_published_alone() -> None:
    gold, predicted = _rows(("0123", 2)), _rows(("012", 2), ("013", 2), ("01", 2))
    published, defined = (shares_of(evaluate(gold, predicted, PARTIAL)) for evaluate in (as_published, as_defined))
    assert published == {"recall": 0.75, "precision": _close((0.75 + 0.75 + 0.5) / 3), "F1": _close(12 / 17)}
    assert defined == {"recall": 0.75, "precision": 0.25, "F1": _close(2 * 0.75 / 4)}


def test_a_list_in_another_order_counts_again_as_published_alone() -> None:
    gold, predicted = _rows(("01", 2), ("23", 2)), _rows(("01", 2), ("10", 2), ("12", 2), ("12", 2))
    assert shares_of(as_published(gold, predicted, EXACT))["precision"] == _close(2 / 3)
    assert shares_of(as_defined(gold, predicted, EXACT))["precision"] == 0.5


def test_both_labels_of_a_set_are_one_prediction_of_any_relation() -> None:
    gold, predicted = _rows(("01", 1)), _rows(("01", 2), ("01", 1))
    for evaluate in (as_published, as_defined):
        # of positive relations there is none: what was predicted positive is wrong
        assert shares_of(evaluate(gold, predicted, EXACT)) == {"recall": None, "precision": 0.0, "F1": 0.0}
        shares = shares_of(evaluate(gold, predicted, MatchRule(exact=True, positive=False)))
        assert shares == {"recall": 1.0, "precision": 1.0, "F1": 1.0}


def test_the_matching_is_the_best_one_not_the_first() -> None:
    # whoever takes 012 for 01 leaves nothing to 0123
    gold, predicted = _rows(("01", 2), ("0123", 2)), _rows(("012", 2), ("01", 2))
    assert shares_of(as_defined(gold, predicted, PARTIAL)) == {
        "recall": _close((1 + 0.75) / 2),
        "precision": _close((1 + 0.75) / 2),
        "F1": _close((1 + 0.75) / 2),
    }


def test_what_the_best_matching_leaves_over_has_no_credit() -> None:
    # both that are left over match something, but not each other
    gold, predicted = _rows(("0123", 2), ("014", 2)), _rows(("0123", 2), ("234", 2))
    for items, rows in zip(as_defined(gold, predicted, PARTIAL), (gold, predicted), strict=True):
        assert [rows[row] for row in items.rows] == rows
        assert items.credits.tolist() == [1.0, 0.0]


def test_of_equally_good_matchings_one_is_taken_whatever_the_order() -> None:
    one, other = _rows(("012", 2), ("013", 2)), _rows(("01", 2))
    for gold, predicted in ((one, other), (other, one)):
        credits = [
            _by_set(as_defined(gold[::step], predicted[::step], PARTIAL), gold[::step], predicted[::step])
            for step in (1, -1)
        ]
        assert credits[0] == credits[1]
        assert sorted(share for side in credits[0] for share in side.values()) == [0, 2 / 3, 2 / 3]


def test_labels_are_names_or_numbers() -> None:
    assert [class_of(label) for label in ("NO_COMB", "COMB", "NEG", "POS", 0, 1, 2)] == [0, 1, 1, 2, 0, 1, 2]
    for label in ("pos", 3, -1, ""):
        with pytest.raises(ValueError) as caught:
            class_of(label)
        assert str(caught.value) == f"label {label!r} is none of NO_COMB, COMB, NEG, POS, 0, 1 and 2"


def test_odd_predictions_are_counted() -> None:
    rows = _rows(("01", 2), ("10", 2), ("01", 2), ("01", 0), ("09", 1), ("1", 2))
    rows.append(RelationRow("b", (0, 1), 2))
    assert oddities(rows[:1], {"a": 2}) == []
    assert [line.split()[0] for line in oddities(rows, {"a": 2})] == ["1", "1", "1", "2", "1"]
    assert oddities([RelationRow("a", (-1, 0), 2)], {"a": 2})[0].startswith("1 with drugs")
    # a drug twice is one drug
    assert oddities(_rows(("11", 2), ("1", 2), ("01", 1), ("01", 0)), {"a": 2}) == [
        "2 of fewer than two drugs match nothing",
        "1 repeat a list: as published once for each label",
        "1 list a set in another order: as published one more",
    ]
