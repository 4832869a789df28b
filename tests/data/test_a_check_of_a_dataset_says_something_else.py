"""What a dataset's own checks say, word for word: of pairs of drugs, and of drugs and diseases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.benchmarks.ddi import checks as pair_checks
from harness.benchmarks.repurposing import checks
from tests.data.test_a_bound_of_a_dataset_is_off_by_one import SMALL
from tests.data.told import told
from tests.ddi.tiny import tiny


@pytest.mark.parametrize(
    ("change", "what", "where", "todo"),
    [
        (
            {"pairs": np.zeros((0, 2), dtype=np.int32), "labels": np.zeros(0, dtype=np.int32)}
            | {"released": tiny().released[:3]},
            "there is no item",
            "",
            "give at least one pair of drugs with its type",
        ),
        ({"smiles": ("C",)}, "'smiles' has not one text per drug", "", "give an empty text where none is known"),
        (
            {"drug_ids": ("a", "a", "a")},
            "1 drugs have a name that others have, 'a' for one",
            "",
            "give each a name of its own",
        ),
        (
            {"relation_names": tuple("cbaaba")},
            "2 relations have a name that others have, 'b' for one",
            "",
            "give each a name of its own",
        ),
        (
            {"entity_names": ("b", "a", "c", "d")},
            "the first entities are not the drugs",
            "",
            "correct the converter",
        ),
        (
            {"pairs": np.array([[0, 1], [1, 1], [2, 2]], dtype=np.int32)},
            "drug 'b' is paired with itself",
            ": item 1",
            "remove that item",
        ),
        (
            {"labels": np.array([[1, 0], [0, 0], [1, -1]], dtype=np.int8)},
            "an item is neither positive nor negative, or both",
            ": item 1",
            "give it types of one sign",
        ),
        (
            {"labels": np.array([[1, 0], [-1, 1], [1, 1]], dtype=np.int8)},
            "an item is neither positive nor negative, or both",
            ": item 1",
            "give it types of one sign",
        ),
    ],
)
def test_items_that_can_not_be_say_which(change: dict[str, Any], what: str, where: str, todo: str) -> None:
    assert told(lambda: pair_checks.checked_remarks(tiny(**change))) == [(what, f"dataset tiny{where}", todo)]


@pytest.mark.parametrize("code", [-2, 0, 1, 2, 3, 4, 5, 6, -3, -1, 7])
@pytest.mark.parametrize("row", [0, 3])
@pytest.mark.parametrize("split", ["random", "later"])
def test_of_a_released_split_every_code_has_a_meaning(code: int, row: int, split: str) -> None:
    """Roles of drugs are -2 and 0 to 2, parts of items -2 and 0 to 6; the faulty split is named."""
    names = "random", "later"
    released = np.hstack([tiny().released] * 2)
    column = 2 * names.index(split)
    released[row, column] = code
    # a place that no other item has
    released[row, column + 1] = 9 if row >= 3 else 0
    dataset = tiny(released=released, released_names=names)
    if code in ((-2, 0, 1, 2) if row < 3 else (-2, *range(7))):
        pair_checks.checked_remarks(dataset)
        return
    assert told(lambda: pair_checks.checked_remarks(dataset)) == [
        (
            "a role or part is none of the known ones, or two items have the same place",
            f"dataset tiny: released split '{split}'",
            "correct the converter",
        )
    ]


@pytest.mark.parametrize(
    ("change", "what", "where", "todo"),
    [
        (
            {"drug_features": np.ones((3, 1))},
            "'drug_features' has shape (3, 1), its names say (3, 2)",
            "",
            "give drugs in rows and diseases in columns, features one entity per row",
        ),
        (
            {"associations": np.array([[1, 2], [0, 3], [0, 0]], dtype=np.int8)},
            "label 2 is none of -1, 0, +1",
            ": drug 'a', disease 'y'",
            "use +1 for a known effect, -1 for a known failure, 0 for unknown",
        ),
        (
            {"associations": np.zeros((3, 2), dtype=np.int8)},
            "there is no positive association",
            "",
            "give at least one pair with label +1",
        ),
        (
            {"associations": np.ones((3, 2), dtype=np.int8)},
            "every pair is positive: there is a single class and nothing to rank",
            "",
            "give pairs with label -1, or leave the unknown ones out",
        ),
        (
            {"drug_ids": ("a", "a", "a")},
            "1 drug names occur more than once, 'a' for one",
            "",
            "give every row and column a name of its own",
        ),
        (
            {"disease_feature_names": tuple("khgghg"), "disease_features": np.ones((2, 6))},
            "2 disease feature names occur more than once, 'h' for one",
            "",
            "give every row and column a name of its own",
        ),
        (
            {"drug_features": np.array([[1, 2], [3, np.inf], [-np.inf, 1]])},
            "2 drug features infinite",
            ": drug 'b', feature 'g'",
            "give finite numbers, or leave unknown values empty",
        ),
    ],
)
def test_associations_that_can_not_be_say_which(change: dict[str, Any], what: str, where: str, todo: str) -> None:
    assert told(lambda: checks.checked_remarks(replace(SMALL, **change))) == [
        (what, f"dataset small{where}", todo)
    ]


def test_every_remark_of_drugs_and_diseases_comes_in_its_order() -> None:
    nan = np.nan
    odd = replace(
        SMALL,
        associations=np.array([[1, 0], [0, 0], [-1, 0]], dtype=np.int8),
        drug_features=np.array([[nan, 2.0], [nan, nan], [1.0, 3.0]]),
        disease_features=np.array([[nan], [nan]]),
    )
    assert checks.checked_remarks(odd) == (
        "3 drug features unknown; preparation fills in column means",
        "1 drug row without any feature; there the mean of every column is put",
        "1 drug feature column constant, so zero once standardised",
        "2 disease features unknown; preparation fills in column means",
        "2 disease rows without any feature; there the mean of every column is put",
        "1 disease feature column constant, so zero once standardised",
        "1 drug without a known association, kept as rows of zeros",
        "1 disease without a known association, kept as rows of zeros",
    )
