"""The consensus must be what its rule says, computed here pair by pair without NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from harness.prediction.consensus import agreements, mid_ranks

# few different scores, so that there are ties; some items that a method does not list
Answers = Sequence[Mapping[str, float]]
ANSWERS = some.lists(
    some.dictionaries(some.sampled_from("abcdefg"), some.sampled_from([-1.5, 0.0, 0.25, 2.0]), max_size=7),
    min_size=1,
    max_size=4,
)


def plain(answers: Answers) -> dict[str, tuple[list[Fraction], Fraction, Fraction]]:
    """The rule word by word: ranks, mean and spread of each item."""
    items = {item for answer in answers for item in answer}
    result = {}
    for item in items:
        ranks = []
        for answer in answers:
            better = [one for one in items if one in answer and (item not in answer or answer[one] > answer[item])]
            # those without a score are as good as each other
            same = [one for one in items if answer.get(one) == answer.get(item)]
            first, last = len(better) + 1, len(better) + len(same)
            ranks.append(Fraction(first + last, 2))
        normalised = [(rank - 1) / (len(items) - 1) if len(items) > 1 else Fraction(0) for rank in ranks]
        result[item] = ranks, sum(normalised, Fraction(0)) / len(normalised), max(normalised) - min(normalised)
    return result


@given(ANSWERS)
def test_it_is_what_the_rule_says(answers: Answers) -> None:
    expected, found = plain(answers), agreements(answers)
    assert {one.item for one in found} == expected.keys() and len(found) == len(expected)
    for one in found:
        ranks, mean, spread = expected[one.item]
        assert one.ranks == tuple(map(float, ranks))
        assert one.consensus == pytest.approx(float(mean), abs=1e-11)
        assert one.disagreement == pytest.approx(float(spread), abs=1e-11)
    keys = [(expected[one.item][1], expected[one.item][2]) for one in found]
    assert keys == sorted(keys)


@given(ANSWERS)
def test_the_order_of_methods_changes_no_number(answers: Answers) -> None:
    def numbers(order: Answers) -> dict[str, tuple[float, float]]:
        return {one.item: (one.consensus, one.disagreement) for one in agreements(order)}

    assert numbers(answers) == numbers([*reversed(answers)])


@given(some.lists(some.sampled_from([-1.0, 0.0, 3.5]), max_size=9))
def test_ranks_are_a_division_of_all_places(scores: list[float]) -> None:
    ranks = mid_ranks(scores).tolist()
    assert sum(ranks) == len(scores) * (len(scores) + 1) / 2
    assert [ranks.index(min(ranks))] == [scores.index(max(scores))] if scores else ranks == []


def test_one_method_alone_decides() -> None:
    found = agreements([{"a": 1.0, "b": 3.0, "c": 2.0}])
    assert [(one.item, one.consensus, one.disagreement) for one in found] == [
        ("b", 0.0, 0.0),
        ("c", 0.5, 0.0),
        ("a", 1.0, 0.0),
    ]
