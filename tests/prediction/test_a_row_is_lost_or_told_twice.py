"""Rows: those that were asked for and no others, each once, best first, with what every method says."""

from __future__ import annotations

from typing import Any

import pytest

from harness.benchmarks import Ranking
from harness.benchmarks.reading import Reading
from harness.prediction.names import Selection
from harness.prediction.rows import RankedRows, Shape, entries_of, rows_of, ties

PAIRS = ("drug", "disease", "score")
TYPES = ("head", "tail", "type", "score")
TYPED = Reading(
    (), answers=("type",), exchangeable=("head", "tail"), known=((("b", "a"), "up"), (("c", "d"), "x"))
)


def shown(
    columns: tuple[str, ...],
    *rankings: list[tuple[Any, ...]],
    reading: Reading | None = None,
    selection: Selection | None = None,
    both_orders: bool = False,
    top: int | None = None,
) -> RankedRows:
    """The rows of methods called m1, m2 and so on."""
    shape = Shape(columns, reading or Reading(()), both_orders)
    selection = selection or Selection()
    answers = [entries_of(Ranking(columns, tuple(rows)), shape, selection) for rows in rankings]
    return rows_of([f"m{number}" for number in range(1, len(answers) + 1)], answers, shape, selection, top)


def test_one_method_alone_keeps_its_rows() -> None:
    rows = [("x", "p", 3.0), ("y", "p", 2.0), ("x", "q", 1.0)]
    table = shown(PAIRS, rows, top=2)
    assert table.columns == ("rank", *PAIRS)
    assert table.rows == ((1, "x", "p", 3.0), (2, "y", "p", 2.0)) and (table.ranked, table.asked) == (2, 3)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(named={"drug": frozenset("x")}), ["xp", "xq"]),
        (Selection(named={"drug": frozenset("xy")}), ["xp", "yp", "xq"]),
        (Selection(named={"drug": frozenset("x"), "disease": frozenset("q")}), ["xq"]),
        # a disease of the drug's name is no drug
        (Selection(named={"drug": frozenset("p")}), []),
        # what is no column of its own is looked for everywhere
        (Selection(named={"thing": frozenset("p")}), ["xp", "yp"]),
        (Selection(pairs=frozenset({frozenset("py")})), ["yp"]),
        (Selection(pairs=frozenset({frozenset("py"), frozenset("xq")})), ["yp", "xq"]),
        (Selection(own=frozenset("q")), ["xq"]),
        (Selection(own=frozenset("p"), named={"drug": frozenset("y")}), ["yp"]),
        # what was added is asked beside what is named of its kind, which has no row with it
        (Selection(own=frozenset("x"), named={"drug": frozenset("y")}), ["xp", "xq"]),
        (Selection(own=frozenset("x"), named={"drug": frozenset("y"), "disease": frozenset("q")}), ["xq"]),
    ],
)
def test_rows_that_were_asked_for(selection: Selection, expected: list[str]) -> None:
    rows = [("x", "p", 3.0), ("y", "p", 2.0), ("x", "q", 1.0)]
    table = shown(PAIRS, rows, selection=selection)
    assert [row[1] + row[2] for row in table.rows] == expected
    assert [row[0] for row in table.rows] == [*range(1, len(expected) + 1)]


def test_a_pair_in_both_orders_is_one_row_in_the_better_order() -> None:
    rows = [("b", "e", "up", 5.0), ("e", "b", "down", 4.0), ("f", "b", "up", 3.0), ("b", "f", "up", 2.0)]
    merged = shown(TYPES, rows, reading=TYPED)
    assert [row[1:] for row in merged.rows] == [rows[0], rows[2]]
    assert [row[1:] for row in shown(TYPES, rows, reading=TYPED, both_orders=True).rows] == rows


def test_types_of_a_pair_are_rows_of_their_own_where_all_are_asked() -> None:
    rows = [("b", "e", "up", 5.0), ("e", "b", "down", 4.0), ("e", "b", "up", 3.0)]
    listed = shown(TYPES, rows, reading=Reading((), exchangeable=("head", "tail")))
    assert [row[1:] for row in listed.rows] == rows[:2]


def test_equal_names_of_different_things_are_not_merged() -> None:
    rows = [("text 1", "a + b", "POS", 0.9), ("text 1", "a + b", "COMB", 0.8)]
    listed = shown(("document", "drugs", "label", "score"), rows, reading=Reading((), answers=("label",)))
    assert [row[1:] for row in listed.rows] == rows


def test_several_methods_stand_side_by_side() -> None:
    one = [("b", "e", "up", 5.0), ("g", "b", "up", 4.0), ("f", "b", "up", 3.0)]
    two = [("f", "b", "up", 0.9), ("e", "b", "up", 0.8)]
    three = [("b", "e", "down", 7.0), ("b", "f", "down", 6.0), ("g", "b", "down", 6.0)]
    table = shown(TYPES, one, two, three, reading=TYPED)
    own = [f"m{number} {what}" for number in (1, 2, 3) for what in ("rank", "score", "type")]
    assert table.columns == ("rank", "head", "tail", "type", "agreeing", "consensus", "disagreement", *own)
    turned = "(other order)"
    assert table.rows == (
        (
            *(1, "b", "e", "up", 1, pytest.approx(1 / 6), 0.5),
            *(1.0, 5.0, "up", 2.0, 0.8, f"up {turned}", 1.0, 7.0, "down"),
        ),
        (
            *(2, "f", "b", "up", 2, pytest.approx((1 + 0 + 0.75) / 3), 1.0),
            *(3.0, 3.0, "up", 1.0, 0.9, "up", 2.5, 6.0, f"down {turned}"),
        ),
        (3, "g", "b", "up", 1, 0.75, 0.5, 2.0, 4.0, "up", None, None, None, 2.5, 6.0, "down"),
    )


def test_what_is_known_stands_below_without_a_rank() -> None:
    selection = Selection(frozenset("b"), {"drug": frozenset("b")}, stands_for={"b again": "b"})
    rows = [("b again", "e", "up", 5.0), ("a", "b again", "down", 4.0), ("f", "b again", "up", 3.0)]
    table = shown(TYPES, rows, reading=TYPED, selection=selection, top=1)
    assert table.columns[-1] == "known" and (table.ranked, table.asked) == (1, 2)
    assert table.rows == (
        (1, "b", "e", "up", 5.0, 1.0, None),
        # what a method says of it stands there too, in the order in which it is known
        (None, "b", "a", "down (other order)", 4.0, None, "up"),
    )
    assert table.among == 2


def test_a_pair_alone_is_ranked_among_all() -> None:
    """Or it would be the first in any case."""
    rows = [("x", "p", 3.0), ("y", "p", 2.0), ("x", "q", 2.0), ("y", "q", 1.0), ("z", "q", 1.0)]
    selection = Selection(pairs=frozenset({frozenset("xq")}))
    alone = shown(PAIRS, rows, selection=selection)
    assert alone.columns == ("rank", *PAIRS, "overall rank", "known")
    assert alone.rows == ((1, "x", "q", 2.0, 2.5, None),) and (alone.asked, alone.among) == (1, 5)
    two = shown(PAIRS, rows, rows[::-1], selection=selection)
    assert two.rows == ((1, "x", "q", 0.375, 0.0, 2.5, 2.0, 2.5, 2.0, None),)
    # what a person added is ranked among what was added
    assert shown(PAIRS, rows, selection=Selection(own=frozenset("yz"))).among == 3


def test_several_facts_of_a_pair_stand_together() -> None:
    reading = Reading(
        (), ("type",), ("head", "tail"), ((("a", "b"), "up"), (("b", "a"), "down"), (("a", "b"), "x"))
    )
    table = shown(TYPES, [], [], reading=reading, selection=Selection(pairs=frozenset({frozenset("ab")})))
    assert table.rows == ((None, "a", "b", *[None] * 10, "up; down (other order); x"),)


def test_what_stands_for_something_known_goes_by_its_name() -> None:
    selection = Selection(frozenset("a"), stands_for={"a again": "a", "b again": "b"})
    rows = [
        ("a again", "a", "up", 9.0),
        ("b again", "a", "up", 6.0),
        ("a again", "b", "down", 5.0),
        # once more in the order of the first
        ("b", "a again", "up", 4.5),
        ("a again", "e", "up", 4.0),
        ("b again", "e", "up", 3.0),
    ]
    table = shown(TYPES, rows, reading=Reading((), ("type",), ("head", "tail")), selection=selection)
    assert [row[1:] for row in table.rows] == [("b", "a", "up", 6.0), ("a", "e", "up", 4.0)]


def test_nothing_known_of_what_an_item_stands_for_is_ranked_whatever_pair_is_named() -> None:
    """The pair's place is among what is new of the item: of its four rows one is known."""
    reading = Reading((), known=((("a", "p"), "known to work"),))
    rows = [("a again", "p", 4.0), ("a again", "q", 3.0), ("a again", "r", 2.0), ("a again", "s", 1.0)]
    selection = Selection(
        frozenset("a"), {"drug": frozenset("a")}, frozenset({frozenset("ar")}), stands_for={"a again": "a"}
    )
    table = shown(PAIRS, rows, reading=reading, selection=selection)
    assert table.rows == ((1, "a", "r", 2.0, 2.0, None),) and (table.asked, table.among) == (1, 3)


def test_rows_with_one_score_are_counted() -> None:
    shape = Shape(PAIRS, Reading(()), both_orders=False)
    rows = [("x", "p", 2.0), ("y", "p", 1.0), ("x", "q", 1.0), ("y", "q", 0.5)]
    assert ties(entries_of(Ranking(PAIRS, tuple(rows)), shape, Selection())) == 2
