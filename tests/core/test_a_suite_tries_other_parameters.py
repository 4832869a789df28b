"""A block that searches tries all combinations, in their order, or as many as it says, drawn by the method."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.layout import Layout
from harness.methods.card import MethodCard, load_method
from harness.planning.suites import Block, _combination, _combinations

CHOICES: dict[str, list[Any]] = {"n_factors": [5, 10, 20], "reg": [0.1, 0.01]}
EVERY = [dict(zip(CHOICES, one, strict=True)) for one in product(*CHOICES.values())]


@pytest.fixture
def card(repository: Layout) -> MethodCard:
    return load_method(repository, "pmf")


def tried(card: MethodCard, **block: Any) -> list[dict[str, Any]]:
    whole = Block(methods=["pmf"], datasets=["synthetic"], splits=["random"], seeds=[1], search=CHOICES, **block)
    return _combinations(whole, card, "published")


@pytest.mark.parametrize("draws", [6, 7, 100])
def test_as_many_draws_as_combinations_are_all_of_them_in_order(card: MethodCard, draws: int) -> None:
    assert tried(card, draws=draws) == EVERY


def test_fewer_are_drawn_by_the_method_and_are_the_same_ones_each_time(card: MethodCard) -> None:
    """Of two variants others are drawn: whoever tunes one knows nothing of the other."""
    few = tried(card, draws=4)
    assert len(few) == 4 and all(one in EVERY for one in few) and len({str(one) for one in few}) == 4
    assert tried(card, draws=4) == few and few != EVERY[:4]
    draws = {str(tried(card.model_copy(update={"name": name}), draws=3)) for name in ("a", "b", "c", "d")}
    assert len(draws) > 1


def test_a_parameter_that_a_method_does_not_have_is_not_tried(card: MethodCard) -> None:
    block = Block(
        methods=["pmf"],
        datasets=["synthetic"],
        splits=["random"],
        seeds=[1],
        search={"colour": ["red"]},
        draws=3,
    )
    assert _combinations(block, card, "published") == [{}]


def test_a_parameter_follows_another_where_the_methods_own_two_are_equal(card: MethodCard) -> None:
    own = card.variant("published").parameters
    assert own["fit_seed"] == own["random_state"] and own["n_factors"] != own["n_iters"]
    block = Block(
        methods=["pmf"],
        datasets=["synthetic"],
        splits=["random"],
        seeds=[1],
        search={"random_state": [1, 2], "n_factors": [5]},
        follow={"fit_seed": "random_state", "n_iters": "n_factors"},
        draws=9,
    )
    assert _combinations(block, card, "published") == [
        {"random_state": seed, "n_factors": 5, "fit_seed": seed} for seed in (1, 2)
    ]


@given(
    choices=st.dictionaries(st.sampled_from("abcde"), st.lists(st.integers(), min_size=1, max_size=4), min_size=1)
)
def test_a_number_stands_for_the_combination_that_a_list_of_all_has_there(choices: dict[str, list[int]]) -> None:
    every = [dict(zip(choices, one, strict=True)) for one in product(*choices.values())]
    assert [_combination(choices, number) for number in range(len(every))] == every
    assert list(_combination(choices, 0)) == list(choices)
