"""Every array and list of a dataset at its bounds: the last value that can be is taken, the next refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.benchmarks.ddi import checks as pair_checks
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.repurposing import checks
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.released import ReleasedDataset
from tests.ddi.tiny import tiny

SIGNS = np.array([[1, 1], [-1, 0], [0, 1]], dtype=np.int8)


def changed(name: str, place: tuple[int, ...], value: int) -> DdiDataset:
    array = np.array(getattr(tiny(), name))
    array[place] = value
    return tiny(**{name: array})


TAKEN: list[tuple[str, tuple[int, ...], int]] = [
    ("pairs", (1, 1), 1),
    ("labels", (0,), 1),
    ("fingerprints", (0, 0), 0),
    ("fingerprints", (0, 0), 1 << 30),
    ("knowledge", (0, 0), 0),
    ("knowledge", (0, 1), 3),
    ("knowledge", (0, 2), 0),
    ("years", (0,), 0),
    ("years", (0,), 1800),
    ("years", (0,), 2100),
]
REFUSED: list[tuple[str, tuple[int, ...], int, str]] = [
    ("pairs", (0, 0), -1, "-1, which is not in 0 to 2"),
    ("pairs", (0, 0), 3, "3, which is not in 0 to 2"),
    ("labels", (2,), -1, "-1, which is not in 0 to 1"),
    ("labels", (2,), 2, "2, which is not in 0 to 1"),
    ("fingerprints", (2, 3), -1, "-1, which is not in 0 to any"),
    ("knowledge", (0, 0), -1, "-1, which is not in 0 to 3"),
    ("knowledge", (0, 0), 4, "4, which is not in 0 to 3"),
    ("knowledge", (0, 1), 4, "4, which is not in 0 to 3"),
    ("knowledge", (0, 2), -1, "-1, which is not in 0 to 0"),
    ("knowledge", (0, 2), 1, "1, which is not in 0 to 0"),
    ("years", (0,), 1799, "1799, which is not in 1800 to 2100"),
    ("years", (0,), 2101, "2101, which is not in 1800 to 2100"),
    ("years", (0,), -1, "-1, which is not in"),
    # the row is the drug's, and not its place among those whose year is known
    ("years", (2,), 19, "19, which is not in 1800 to 2100"),
]


@pytest.mark.parametrize(("name", "place", "value"), TAKEN)
def test_the_last_number_that_can_be_is_taken(name: str, place: tuple[int, ...], value: int) -> None:
    pair_checks.checked_remarks(changed(name, place, value))


@pytest.mark.parametrize(("name", "place", "value", "message"), REFUSED)
def test_the_next_number_is_refused(name: str, place: tuple[int, ...], value: int, message: str) -> None:
    with pytest.raises(CorruptData) as refused:
        pair_checks.checked_remarks(changed(name, place, value))
    assert f"'{name}' holds {value}, " in refused.value.what and message in refused.value.what
    assert refused.value.todo == "correct the number, or add what it stands for"
    assert refused.value.where == f"dataset tiny: row {place[0]}"


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_signs_have_three_values(sign: int) -> None:
    labels = np.array([[1, 1], [-1, -1], [sign, 1 if sign >= 0 else -1]], dtype=np.int8)
    pair_checks.checked_remarks(tiny(labels=labels))
    for value in (-2, 2):
        with pytest.raises(CorruptData, match=rf"'labels' holds {value}, which is not in -1 to 1"):
            pair_checks.checked_remarks(tiny(labels=np.where(SIGNS > 0, value, SIGNS)))


@pytest.mark.parametrize("name", ["smiles", "drug_names", "drug_texts", "graph_texts"])
@pytest.mark.parametrize("count", [2, 4])
def test_every_text_is_there_for_every_drug(name: str, count: int) -> None:
    with pytest.raises(CorruptData) as refused:
        pair_checks.checked_remarks(tiny(**{name: ("C",) * count}))
    assert str(refused.value).splitlines()[0].startswith(f"'{name}' has not one text per drug")
    assert refused.value.todo == "give an empty text where none is known"


@pytest.mark.parametrize(
    ("name", "array", "shape"),
    [
        ("pairs", np.zeros((3, 3), dtype=np.int32), "(3, 3), not (3, 2)"),
        ("labels", np.zeros(2, dtype=np.int32), "(2,), not (3,)"),
        ("labels", np.zeros((3, 3), dtype=np.int8), "(3, 3), not (3, 2)"),
        ("fingerprints", np.ones((2, 4), dtype=np.int32), "(2, 4), not (3, 4)"),
        ("knowledge", np.zeros((1, 2), dtype=np.int32), "(1, 2), not (1, 3)"),
        ("years", np.zeros(4, dtype=np.int32), "(4,), not (3,)"),
        ("released", np.zeros((5, 2), dtype=np.int32), "(5, 2), not (6, 2)"),
        ("released", np.zeros((6, 4), dtype=np.int32), "(6, 4), not (6, 2)"),
    ],
)
def test_every_array_has_its_shape(name: str, array: Any, shape: str) -> None:
    with pytest.raises(CorruptData) as refused:
        pair_checks.checked_remarks(tiny(**{name: array}))
    assert refused.value.what == f"'{name}' has shape {shape}" and refused.value.todo == "correct the converter"


@pytest.mark.parametrize(
    ("kind", "field", "names"),
    [
        ("drugs", "drug_ids", ("a", "b", "b")),
        ("types", "type_names", ("y", "y")),
        ("entities", "entity_names", ("a", "b", "c", "c")),
        ("relations", "relation_names", ("binds", "binds")),
    ],
)
def test_every_name_is_given_once(kind: str, field: str, names: tuple[str, ...]) -> None:
    with pytest.raises(CorruptData) as refused:
        pair_checks.checked_remarks(tiny(**{field: names}))
    assert refused.value.what == f"1 {kind} have a name that others have, '{names[-1]}' for one"


def test_two_released_splits_have_two_names() -> None:
    twice = np.hstack([tiny().released] * 2)
    with pytest.raises(CorruptData, match="1 released splits have a name that others have, 'random'"):
        pair_checks.checked_remarks(tiny(released=twice, released_names=("random", "random")))
    pair_checks.checked_remarks(tiny(released=twice, released_names=("random", "cluster")))


def test_a_place_may_be_taken_in_another_part_or_split() -> None:
    """Two items of one part at one place are a fault; in two parts, or two splits, they are not."""
    released = tiny().released.copy()
    assert released[4, 0] == released[5, 0] and released[4, 1] != released[5, 1]
    released[5] = 4, released[4, 1]
    pair_checks.checked_remarks(tiny(released=released))
    released[5] = released[4]
    with pytest.raises(CorruptData, match="two items have the same place"):
        pair_checks.checked_remarks(tiny(released=released))


def test_a_type_apart_makes_the_same_pair_two_items() -> None:
    pairs = np.array([[0, 1], [0, 1], [1, 0]], dtype=np.int32)
    pair_checks.checked_remarks(tiny(pairs=pairs, labels=np.array([0, 1, 1], dtype=np.int32)))
    with pytest.raises(CorruptData) as refused:
        pair_checks.checked_remarks(tiny(pairs=pairs, labels=np.array([1, 1, 1], dtype=np.int32)))
    assert refused.value.what == "the pair 'a', 'b' is there twice with the same types"
    assert refused.value.where == "dataset tiny: items 0 and 1"


SMALL = RepurposingDataset(
    name="small",
    associations=np.array([[1, 0], [-1, 0], [0, 1]], dtype=np.int8),
    drug_features=np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]),
    disease_features=np.array([[1.0], [2.0]]),
    drug_ids=("a", "b", "c"),
    disease_ids=("x", "y"),
    drug_feature_names=("f", "g"),
    disease_feature_names=("h",),
)


def test_a_sound_dataset_has_nothing_to_remark_on() -> None:
    assert checks.checked_remarks(SMALL) == ()


@pytest.mark.parametrize(
    ("name", "array", "shape"),
    [
        ("associations", np.ones((2, 3), dtype=np.int8), "(2, 3), its names say (3, 2)"),
        ("drug_features", np.ones((3, 1)), "(3, 1), its names say (3, 2)"),
        ("drug_features", np.ones((2, 2)), "(2, 2), its names say (3, 2)"),
        ("disease_features", np.ones((2, 2)), "(2, 2), its names say (2, 1)"),
        ("disease_features", np.ones((3, 1)), "(3, 1), its names say (2, 1)"),
    ],
)
def test_every_matrix_has_the_shape_of_its_names(name: str, array: Any, shape: str) -> None:
    with pytest.raises(CorruptData) as refused:
        checks.checked_remarks(replace(SMALL, **{name: array}))
    assert refused.value.what == f"'{name}' has shape {shape}" and refused.value.where == "dataset small"


@pytest.mark.parametrize("label", [-2, 2, 127])
def test_a_label_has_three_values(label: int) -> None:
    associations = SMALL.associations.copy()
    associations[1, 1] = label
    with pytest.raises(CorruptData) as refused:
        checks.checked_remarks(replace(SMALL, associations=associations))
    assert refused.value.what == f"label {label} is none of -1, 0, +1"
    assert refused.value.where == "dataset small: drug 'b', disease 'y'"


@pytest.mark.parametrize(
    ("associations", "message"),
    [
        (np.zeros((3, 2), dtype=np.int8), "there is no positive association"),
        (-np.ones((3, 2), dtype=np.int8), "there is no positive association"),
        (np.ones((3, 2), dtype=np.int8), "a single class"),
    ],
)
def test_there_is_something_to_rank(associations: Any, message: str) -> None:
    with pytest.raises(CorruptData, match=message):
        checks.checked_remarks(replace(SMALL, associations=associations))


@pytest.mark.parametrize(
    ("field", "names", "kind"),
    [
        ("drug_ids", ("a", "c", "c"), "drug"),
        ("disease_ids", ("y", "y"), "disease"),
        ("drug_feature_names", ("g", "g"), "drug feature"),
    ],
)
def test_rows_and_columns_have_names_of_their_own(field: str, names: tuple[str, ...], kind: str) -> None:
    with pytest.raises(CorruptData) as refused:
        checks.checked_remarks(replace(SMALL, **{field: names}))  # type: ignore[arg-type]
    assert refused.value.what == f"1 {kind} names occur more than once, '{names[-1]}' for one"


def features_with(kind: str, place: tuple[int, int], value: float) -> RepurposingDataset:
    array = getattr(SMALL, f"{kind}_features").copy()
    array[place] = value
    return replace(SMALL, **{f"{kind}_features": array})


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize(
    ("kind", "place", "where"),
    [("drug", (2, 1), "drug 'c', feature 'g'"), ("disease", (1, 0), "disease 'y', feature 'h'")],
)
def test_an_infinite_feature_is_refused_with_its_place(
    kind: str, place: tuple[int, int], where: str, value: float
) -> None:
    with pytest.raises(CorruptData) as refused:
        checks.checked_remarks(features_with(kind, place, value))
    assert refused.value.what == f"1 {kind} feature infinite"
    assert refused.value.where == f"dataset small: {where}"


NONE: Callable[[int], str] = "{} drug features unknown; preparation fills in column means".format


@pytest.mark.parametrize(
    ("features", "remarks"),
    [
        ([[1, 2], [3, 4], [5, np.nan]], ["1 drug feature unknown; preparation fills in column means"]),
        # a column is constant by its known values alone, and one without any is as well
        (
            [[1, np.nan], [3, np.nan], [5, 7]],
            [NONE(2), "1 drug feature column constant, so zero once standardised"],
        ),
        (
            [[1, np.nan], [3, np.nan], [5, np.nan]],
            [NONE(3), "1 drug feature column constant, so zero once standardised"],
        ),
        (
            [[np.nan, np.nan], [3, 4], [5, 7]],
            [NONE(2), "1 drug row without any feature; there the mean of every column is put"],
        ),
        ([[1, 2], [1, 2], [1, 7]], ["1 drug feature column constant, so zero once standardised"]),
    ],
)
def test_odd_features_are_remarked_on(features: list[list[float]], remarks: list[str]) -> None:
    assert checks.checked_remarks(replace(SMALL, drug_features=np.array(features, dtype=float))) == tuple(remarks)


def test_rows_and_columns_without_associations_are_counted_apart() -> None:
    drugs = replace(SMALL, associations=np.array([[1, -1], [0, 0], [0, 0]], dtype=np.int8))
    assert checks.checked_remarks(drugs) == ("2 drugs without a known association, kept as rows of zeros",)
    diseases = replace(SMALL, associations=np.array([[1, 0], [-1, 0], [1, 0]], dtype=np.int8))
    assert checks.checked_remarks(diseases) == ("1 disease without a known association, kept as rows of zeros",)


def test_successes_and_failures_alone_are_two_classes() -> None:
    signs = np.array([[1, -1], [-1, 1], [1, 1]], dtype=np.int8)
    assert checks.checked_remarks(replace(SMALL, associations=signs)) == ()


def test_rows_without_any_column_lack_no_feature() -> None:
    """A method that reads associations alone is given no features: there is nothing to remark on."""
    bare = replace(SMALL, drug_features=np.zeros((3, 0)), drug_feature_names=())
    assert checks.checked_remarks(bare) == ()


def test_released_parts_have_the_shape_of_the_associations() -> None:
    parts = np.zeros((3, 2), dtype=np.int8)
    assert checks.checked_remarks(ReleasedDataset(**vars(SMALL), released=parts)) == ()
    assert checks.checked_remarks(ReleasedDataset(**vars(SMALL))) == ()
    with pytest.raises(CorruptData) as refused:
        checks.checked_remarks(ReleasedDataset(**vars(SMALL), released=parts.T))
    assert refused.value.what == "'released' has shape (2, 3), its names say (3, 2)"
