"""What is odd in a dataset of drug pairs is told with its true count, and what is not odd is not told."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

from harness.base.plurals import counted
from harness.benchmarks.ddi import BENCHMARK
from harness.benchmarks.ddi.remarks import remarks_on
from tests.ddi.tiny import SIGNS, tiny

NOT_RELEASED = {"released_names": (), "released": np.empty((6, 0), dtype=np.int32)}
SINGLE = "1 drug of a single atom: graphs without an edge"
NODES = "2 drugs without a node of the knowledge graph"
YEAR = "1 drug without a year of approval"
# of every part: the roles of its drugs, the lower one first
ROLES = {0: (0, 0), 1: (0, 0), 2: (0, 1), 3: (1, 1), 4: (0, 0), 5: (0, 2), 6: (2, 2)}


@pytest.mark.parametrize(
    ("changes", "remarks"),
    [
        ({}, (SINGLE, NODES, YEAR)),
        # one structure, written in two ways
        ({"smiles": ("CCO", "OCC", "CC")}, ("1 drug with the structure of another drug", NODES, YEAR)),
        ({"smiles": ("CC", "CC", "CC")}, ("2 drugs with the structure of another drug", NODES, YEAR)),
        # drugs of unknown structure are like no other, nor like each other
        (
            {"smiles": ("*", "*", "CC")},
            (
                "2 drugs of a single atom: graphs without an edge",
                "2 drugs of unknown structure: similar to no other drug",
                NODES,
                YEAR,
            ),
        ),
        ({"knowledge": np.array([[0, 3, 0], [3, 2, 0]])}, (SINGLE, NODES.replace("2 drugs", "1 drug"), YEAR)),
        ({"knowledge": np.array([[0, 1, 0], [3, 2, 0]])}, (SINGLE, YEAR)),
        (
            {"knowledge": np.empty((0, 3), dtype=np.int32), "relation_names": (), "entity_names": ("a", "b", "c")},
            (SINGLE, YEAR),
        ),
        ({"drug_texts": ("t", " ", "")}, (SINGLE, NODES, "2 drugs without a text; it is empty", YEAR)),
        (
            {"graph_texts": ("\n", "t", "t")},
            (SINGLE, NODES, "1 drug without a text of the knowledge graph; it is empty", YEAR),
        ),
        ({"years": np.array([1990, 1991, 1992])}, (SINGLE, NODES)),
        ({"years": np.array([0, 0, 0])}, (SINGLE, NODES, "3 drugs without a year of approval")),
        (
            {"pairs": np.array([[0, 1], [0, 1], [1, 0]]), **NOT_RELEASED},
            (
                "1 drug without any item; they stay",
                SINGLE,
                NODES,
                YEAR,
                "1 item more than ordered pairs: some pairs have several types",
            ),
        ),
        ({"labels": np.array([1, 1, 1])}, (SINGLE, NODES, YEAR, "1 type without an item")),
        ({"type_names": ("x", "y", "z", "w")}, (SINGLE, NODES, YEAR, "2 types without an item")),
    ],
)
def test_of_one_type(changes: dict[str, Any], remarks: tuple[str, ...]) -> None:
    dataset = tiny(**changes)
    assert remarks_on(dataset) == remarks
    assert BENCHMARK.remarks(dataset) == remarks


@pytest.mark.parametrize(
    ("pairs", "labels", "told"),
    [
        ([[0, 1], [0, 2], [1, 2]], SIGNS, ()),
        ([[0, 1], [1, 0], [1, 2]], SIGNS, (1,)),
        # a negative of one type is a positive of another: that it is clean for the first does not make it clean
        ([[0, 1], [0, 1], [0, 1]], [[1, 0], [0, -1], [-1, 0]], (2, "1 type without an item")),
        # a type that has negatives alone is without an item
        ([[0, 1], [0, 2], [1, 2]], [[1, 0], [0, -1], [1, 0]], ("1 type without an item",)),
    ],
)
def test_of_several_types(pairs: list[list[int]], labels: Any, told: tuple[int | str, ...]) -> None:
    dataset = tiny(pairs=np.array(pairs), labels=np.array(labels, dtype=np.int8), **NOT_RELEASED)
    unclean = "of pairs that have some type, in one order or the other"
    expected = tuple(f"{counted(one, 'negative item')} {unclean}" if isinstance(one, int) else one for one in told)
    about_drugs = (SINGLE, NODES, YEAR)
    assert tuple(one for one in remarks_on(dataset) if not re.search(r" drugs? ", one)) == expected
    assert set(about_drugs) <= {*remarks_on(dataset)}


@pytest.mark.parametrize("roles", [*product((-2, 0, 1, 2), repeat=2)])
def test_an_item_of_a_released_split_that_its_drugs_do_not_lead_to(roles: tuple[int, int]) -> None:
    wrong = {part for part, fitting in ROLES.items() if tuple(sorted(roles)) != fitting}
    told = set()
    for part in ROLES:
        released = tiny().released.copy()
        # the first two drugs and their item; the others lie outside
        released[:2, 0], released[3:, 0] = roles, (part, -2, -2)
        remarks = [one for one in remarks_on(tiny(released=released)) if one.startswith("released")]
        assert remarks[-1] == "released split 'random': 2 items outside"
        if len(remarks) > 1:
            assert remarks[:-1] == ["released split 'random': 1 item of drugs of other roles"]
            told.add(part)
    assert told == wrong


def test_every_released_split_is_told_of_by_its_own_name() -> None:
    first = tiny().released
    # in the second split all drugs are known and all items train, but for one that is outside
    second = np.array([[0, 9], [0, 9], [0, 9], [0, 0], [0, 1], [-2, 2]])
    third = np.array([[0, 9], [0, 9], [0, 9], [6, 0], [5, 1], [4, 2]])
    dataset = tiny(released=np.hstack([first, second, third]), released_names=("one", "two", "three"))
    assert [one for one in remarks_on(dataset) if one.startswith("released")] == [
        "released split 'two': 1 item outside",
        "released split 'three': 2 items of drugs of other roles",
    ]
