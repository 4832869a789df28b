"""What is said of a split that breaks a promise, word for word, just at a bound and just beyond it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.base.npy import npy_bytes
from harness.benchmarks.ddi.splits import parts
from harness.benchmarks.ddi.splits.drugs import deal, measure
from harness.benchmarks.ddi.splits.drugs.deal import Shares
from harness.benchmarks.ddi.splits.strategies import datasail, frequency, lohi, period, released, spectra
from harness.benchmarks.repurposing.splits import folds
from tests.splits.made_up_drugs import made_up_drugs
from tests.splits.word_for_word import Codes, codes, told

# roles 0, 0, 1, 1, 2, 2 and an item of every part; the two last join drugs that are never asked together
ROLES = codes(0, 0, 1, 1, 2, 2, -2)
PAIRS = np.array([[0, 1], [1, 0], [0, 1], [0, 2], [3, 2], [4, 1], [5, 4], [2, 4], [0, 6]], dtype=np.int32)
ITEMS = codes(0, 1, 4, 2, 3, 5, 6, -2, -2)
NONE = np.zeros(len(PAIRS), dtype=bool)


def broken(
    roles: Codes = ROLES, items: Codes = ITEMS, places: Codes | None = None, negative: Any = NONE, drugs: int = 7
) -> list[str]:
    return parts.broken_promises(parts.part_split(roles, items, places), PAIRS, drugs, negative)


def changed(array: Codes, **values: int) -> Codes:
    array = array.copy()
    for place, value in values.items():
        array[int(place[1:])] = value
    return array


def test_a_whole_split_breaks_nothing() -> None:
    assert broken() == []
    expected = np.where(np.isin(ITEMS, (1, 4)), 0, ITEMS)
    assert parts.expected_parts(PAIRS, ROLES).tolist() == expected.tolist()
    split = parts.part_split(ROLES, ITEMS)
    assert (split.training, split.test) == (1, 2)
    assert split.digest == hashlib.sha256(npy_bytes(split.table)).hexdigest()
    assert split.table.tolist() == [[role, 0] for role in ROLES] + [
        [int(part), int(place)] for part, place in zip(ITEMS, [0, 0, 0, 0, 0, 0, 0, 0, 1], strict=True)
    ]
    other = parts.part_split(ROLES, changed(ITEMS, i1=0), codes(1, 0, 0, 0, 0, 0, 0, 0, 1))
    assert other.items_in(0).tolist() == [1, 0] and other.drugs_in(1).tolist() == [2, 3]
    for array in (other.drugs, other.items, other.places):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"drugs": 8}, ["the split is of 7 drugs and 9 items, the dataset has 8 and 9"]),
        (
            {"items": ITEMS[:8]},
            ["the split is of 7 drugs and 8 items, the dataset has 7 and 9"],
        ),
        (
            {"roles": changed(ROLES, i0=3, i1=-1), "items": changed(ITEMS, i0=7, i1=-1)},
            [
                "role -1 has no meaning",
                "role 3 has no meaning",
                "part -1 has no meaning",
                "part 7 has no meaning",
            ],
        ),
        (
            {"items": changed(ITEMS, i0=-2)},
            ["there is no training item", "1 items are in no part, for one item 0"],
        ),
        (
            {"items": changed(ITEMS, i5=-2, i6=-2)},
            ["2 items are in no part, for one item 5"],
        ),
        ({"items": changed(ITEMS, i5=-2), "negative": np.arange(9) == 5}, []),
        (
            {"items": changed(ITEMS, i3=5, i4=5)},
            [
                "2 items of part test S1 join other drugs, for one item 3: "
                "a known drug (0) and a valid-new drug (2)"
            ],
        ),
        (
            {"items": changed(ITEMS, i8=0)},
            ["1 items of part train join other drugs, for one item 8: a known drug (0) and a discarded drug (6)"],
        ),
        (
            {"places": codes(0, 0, 0, 1, 0, 0, 0, 0, 0)},
            [
                "the places of part valid S1 are not numbered from 0 without a gap",
                "the places of part outside are not numbered from 0 without a gap",
            ],
        ),
    ],
)
def test_what_every_drug_split_promises_is_told(change: dict[str, Any], said: list[str]) -> None:
    assert broken(**change) == said


def test_a_split_needs_known_and_new_drugs() -> None:
    found = broken(roles=np.full(7, 1, dtype=np.int32), items=np.full(9, 3, dtype=np.int32))
    assert found == ["there is no known drug", "there is no test-new drug", "there is no training item"]


def test_a_split_file_of_another_form_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"

    def read(table: Any, drugs: int = 2) -> Any:
        path.write_bytes(npy_bytes(np.array(table, dtype=np.int32)))
        return parts.read_parts(path, drugs)

    assert read([[0, 0], [2, 0], [5, 0]]).items.tolist() == [5]
    assert read([[0, 0], [2, 0]]).items.tolist() == []
    again = "make it again with `harness split make`"
    for table, why in (
        ([0, 1], "has the shape (2,) instead of two columns"),
        ([[0, 0, 0]], "has the shape (1, 3) instead of two columns"),
        ([[[0], [0]], [[0], [0]]], "has the shape (2, 2, 1) instead of two columns"),
        ([[0, 0]], "has 1 rows, fewer than the 2 drugs"),
    ):
        assert told(partial(read, table)) == (f"the split file {why}", str(path), again)
    assert told(lambda: read([[0, 0], [2, 1], [5, 0]])) == (
        "the split file gives drugs a place",
        str(path),
        "drugs have place 0",
    )
    assert told(lambda: parts.read_parts(tmp_path / "no", 2)) == (
        "the split can't be read: No such file or directory",
        str(tmp_path / "no"),
        "",
    )
    assert (
        told(lambda: folds.read_split(tmp_path / "no"))[0] == "the split can't be read: No such file or directory"
    )
    path.write_bytes(npy_bytes(np.zeros(3, dtype=np.int8)))
    assert told(lambda: folds.read_split(path)) == (
        "the split file has 1 dimensions instead of 2",
        str(path),
        again,
    )
    matrix = np.array([[-1, 0], [1, -2]], dtype=np.int8)
    path.write_bytes(npy_bytes(matrix))
    split = folds.read_split(path)
    assert split.folds.tolist() == matrix.tolist() and not split.folds.flags.writeable
    assert split.digest == hashlib.sha256(path.read_bytes()).hexdigest()


# shares, groups and similar drugs


@pytest.mark.parametrize(
    ("known", "valid", "test", "lost", "more", "said"),
    [
        (80, 10, 10, 0, {}, []),
        (79, 11, 10, 0, {}, []),
        (78, 12, 10, 0, {}, ["12 of 100 drugs are valid-new, not 10"]),
        (82, 10, 8, 0, {}, ["8 of 100 drugs are test-new, not 10"]),
        (80, 10, 10, 3, {}, ["3 drugs are discarded"]),
        (80, 10, 10, 1, {}, ["1 drugs are discarded"]),
        (80, 10, 10, 3, {"discards": True}, []),
        (75, 13, 12, 0, {"allowance": 3}, []),
        (74, 14, 12, 0, {"allowance": 3}, ["14 of 100 drugs are valid-new, not 10"]),
        (240, 33, 27, 0, {}, []),
        (239, 34, 27, 0, {}, ["34 of 300 drugs are valid-new, not 30"]),
    ],
)
def test_a_share_is_kept_to_its_rounding(
    known: int, valid: int, test: int, lost: int, more: dict[str, Any], said: list[str]
) -> None:
    roles = np.repeat(codes(0, 1, 2, -2), [known, valid, test, lost])
    assert deal.wrong_shares(roles, Shares(), **more) == said


def test_whole_groups_keep_their_share_as_far_as_they_can() -> None:
    groups = np.repeat([0, 1, 2, 3], [70, 10, 14, 6])
    for valid, test in ((2, 1), (1, 3)):
        roles = np.zeros(100, dtype=np.int32)
        roles[groups == valid], roles[groups == test] = 1, 2
        assert deal.wrong_shares(roles, Shares(), groups=groups) == []
    roles = np.zeros(100, dtype=np.int32)
    roles[groups > 0] = 2
    assert deal.wrong_shares(roles, Shares(), groups=groups) == [
        "30 of 100 drugs are test-new, not 10",
    ]
    assert deal.mixed_groups(groups, roles, what="clusters") == []
    roles[[0, 1, 80]] = 1, 2, 0
    assert deal.mixed_groups(groups, roles, what="clusters") == [
        "2 clusters have drugs of several roles, for one that of drugs [0, 1, 2, 3, 4]"
    ]
    assert deal.wrong_groups(groups, roles, Shares(), what="x")[-1].startswith("2 x have drugs of several roles")
    assert deal.told_roles(codes(0, 0, 1, 2, -2)) == ["2 known", "1 valid-new", "1 test-new", "1 discarded"]


@pytest.mark.parametrize(("held", "said"), [(10, False), (11, False), (9, False), (12, True), (8, True)])
def test_s0_has_its_share_to_two_items(held: int, said: bool) -> None:
    items = np.repeat(codes(0, 1, 4), [90 - held, held, 10])
    dataset: Any = SimpleNamespace(multilabel=False, labels=np.zeros(100))
    split = parts.part_split(codes(0), items)
    wanted = [f"{held} of 100 items between known drugs are valid S0, not 10%"]
    assert deal.wrong_items(dataset, split) == (wanted if said else [])
    signed: Any = SimpleNamespace(multilabel=True, labels=np.full((100, 1), -1))
    assert deal.wrong_items(signed, split) == (
        [one.replace("items", "negatives") for one in wanted] if said else []
    )


NEAR = np.array([[2, 0], [2, 0], [0, 2], [1, 2], [2, 1]], dtype=np.int32)


def test_similar_drugs_of_two_roles_are_told_with_the_nearest() -> None:
    split = parts.part_split(codes(0, 2, 1, 2, 0), codes())
    nearest = "of a known and a new drug are more similar than {}, at most 1.00000 (drugs 0 and 1)"
    assert measure.too_similar(NEAR, split, 0.8) == [f"1 pairs {nearest.format(0.8)}"]
    assert measure.too_similar(NEAR, split, 0.7) == [
        f"2 pairs {nearest.format(0.7)}",
        "1 pairs of a validation and a test drug are more similar than 0.7, at most 0.80000 (drugs 2 and 3)",
    ]
    groups = np.array([0, 0, 1, 2, 2])
    assert measure.describe_groups(groups, split) == {
        "groups": {"in all": 3, "largest": 2, "singletons": 1, "of several roles": 2}
    }
    dataset: Any = SimpleNamespace(fingerprints=NEAR)
    found = measure.measure_split(dataset, parts.part_split(codes(0, 2, 1, 2, 0), codes(0, 5, 5)), 0.75)
    assert found["drugs"] == {"known": 2, "valid-new": 1, "test-new": 2, "discarded": 0}
    assert {name: count for name, count in found["items"].items() if count} == {"train": 1, "test S1": 2}
    assert found["largest similarity"] == {"known to new": 1.0, "validation to test": 0.8}


def test_one_interaction_more_makes_a_known_drug() -> None:
    dataset = made_up_drugs(60, 5, items=500)
    counts = frequency.frequencies(dataset)
    least = next(count for count in sorted(set(counts.tolist())) if count > counts.min() and count + 1 in counts)
    roles = np.where(counts < least, parts.TEST_NEW, parts.KNOWN)

    def complaints() -> list[str]:
        broken = frequency.broken_promises(dataset, deal.split_items(dataset, roles, 1), frequency.Parameters())
        return [one for one in broken if "interactions" in one]

    assert complaints() == []
    roles[np.flatnonzero(counts == least + 1)[0]] = parts.TEST_NEW
    assert complaints() == [f"a known drug has {least} interactions, fewer than the {least + 1} of a new one"]


@pytest.mark.parametrize(("new", "complaints"), [(15, []), (16, ["16 of 100 drugs are test-new, not 10"])])
def test_datasail_may_miss_a_share_by_a_part_of_the_largest(new: int, complaints: list[str]) -> None:
    dataset = made_up_drugs(100, 5, items=500)
    roles = np.zeros(100, dtype=np.int32)
    roles[:10], roles[10 : 10 + new] = parts.VALID_NEW, parts.TEST_NEW
    split = deal.split_items(dataset, roles, 1)
    assert datasail.broken_promises(dataset, split, datasail.Parameters()) == complaints


def test_what_a_strategy_promises_of_drugs_is_told() -> None:
    """One split that is none of theirs: 8 new drugs, 3 for validation, 9 discarded of 60, a year apart each."""
    dataset = replace(made_up_drugs(60, 5, items=500), years=np.arange(1960, 2020, dtype=np.int32))
    roles = np.zeros(60, dtype=np.int32)
    roles[:8], roles[8:11], roles[11:20] = 2, 1, -2
    split = deal.split_items(dataset, roles, 1)
    shares = ["8 of 51 drugs are test-new, not 5", "3 of 51 drugs are valid-new, not 5"]
    needless = "1 drugs are discarded that are similar to none that is kept"
    assert datasail.broken_promises(dataset, split, datasail.Parameters()) == ["9 drugs are discarded"]
    of_random = released.Parameters(which="random")
    assert released.broken_promises(dataset, split, of_random) == ["9 drugs are discarded", *shares]
    assert frequency.broken_promises(dataset, split, frequency.Parameters()) == [
        "9 drugs are discarded",
        *shares,
        "a known drug has 6 interactions, fewer than the 22 of a new one",
    ]
    assert released.broken_promises(dataset, split, released.Parameters(which="random")) == [
        "9 drugs are discarded",
        *shares,
    ]
    # what joins known drugs has a share of its own where not all files are public
    for which in ("cluster", "random"):
        unheld = parts.part_split(roles, np.where(np.isin(split.items, (1, 4)), 0, split.items))
        assert released.broken_promises(dataset, unheld, released.Parameters(which=which)) == (
            released.broken_promises(dataset, split, released.Parameters(which=which))
        )
    assert lohi.broken_promises(dataset, split, lohi.Parameters()) == [
        "8 drugs are test-new, not between 5.4 and 6",
        "3 drugs are valid-new, not between 5.4 and 6",
        "17 pairs of a known and a new drug are more similar than 0.4, at most 0.88235 (drugs 27 and 9)",
        "1 pairs of a validation and a test drug are more similar than 0.4, at most 0.48485 (drugs 10 and 7)",
        "7 drugs are discarded that are similar to no new one",
    ]
    assert period.broken_promises(dataset, split, period.Parameters()) == [
        "9 drugs approved after 2010 have another role, for one drug 51: known",
        "32 drugs of other years, or of none, have another role, for one drug 0: test-new",
        "3 drugs are valid-new, not 1",
    ]
    assert spectra.broken_promises(dataset, split, spectra.Parameters()) == [
        *shares,
        needless,
        "12 pairs of a known and a new drug are more similar than 0.55, at most 0.88235 (drugs 27 and 9)",
        "27 pairs of known drugs are more similar than 0.55",
        "1 pairs of test-new drugs are more similar than 0.55",
    ]
    assert spectra.broken_promises(dataset, split, spectra.Parameters(spectral=0)) == [
        *shares,
        "9 drugs are discarded at a spectral parameter of 0",
        needless,
    ]
    drawn = spectra.broken_draws(dataset, split, 1, spectra.Parameters())
    assert drawn == ["35 drugs are kept or discarded otherwise than seed 1 does"]
