"""What is measured of a drug split is what counting drug by drug gives; every bound is where it is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import DataError
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.drugs.deal import (
    Shares,
    deal_drugs,
    deal_groups,
    mixed_groups,
    split_items,
    targets,
    wrong_groups,
    wrong_items,
    wrong_shares,
)
from harness.benchmarks.ddi.splits.drugs.measure import describe_groups, measure_split, too_similar
from harness.benchmarks.ddi.splits.drugs.similarity import similarities
from harness.benchmarks.ddi.splits.drugs.usage import negatives, types_of_drugs
from harness.benchmarks.ddi.splits.parts import (
    DISCARDED,
    KNOWN,
    PARTS,
    ROLES,
    TEST_NEW,
    TEST_S0,
    TRAIN,
    VALID_NEW,
    VALID_S0,
    Codes,
    PartSplit,
    part_split,
)
from harness.benchmarks.ddi.splits.strategies import usage
from tests.splits.made_up_drugs import made_up_drugs

datasets = st.builds(made_up_drugs, st.integers(20, 50), st.integers(0, 2**31), multilabel=st.booleans())


def roles_of(*counts: tuple[int, int]) -> Codes:
    """So many drugs of each role, in this order."""
    return np.concatenate([np.full(count, role, dtype=np.int32) for role, count in counts])


def random_split(dataset: DdiDataset, seed: int) -> PartSplit:
    """Roles at random, also discarded drugs; items at random in parts."""
    generator = np.random.default_rng(seed)
    roles = generator.choice([DISCARDED, KNOWN, VALID_NEW, TEST_NEW], size=dataset.drugs).astype(np.int32)
    items = generator.choice(list(PARTS), size=len(dataset.pairs)).astype(np.int32)
    return part_split(roles, items)


@settings(max_examples=40, deadline=None)
@given(dataset=datasets, seed=st.integers(0, 2**31), gamma=st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.9]))
def test_measures_are_those_of_every_pair_of_drugs(dataset: DdiDataset, seed: int, gamma: float) -> None:
    split = random_split(dataset, seed)
    near = similarities(dataset.fingerprints)
    new = {VALID_NEW, TEST_NEW}
    pairs = [(one, other) for one in range(dataset.drugs) for other in range(dataset.drugs)]
    role = split.drugs.tolist()
    between = {pair: near[pair] for pair in pairs if role[pair[0]] == KNOWN and role[pair[1]] in new}
    apart = {pair: near[pair] for pair in pairs if role[pair[0]] == VALID_NEW and role[pair[1]] == TEST_NEW}
    measured = measure_split(dataset, split, gamma)
    assert measured["largest similarity"] == {
        "known to new": pytest.approx(max(between.values(), default=0.0)),
        "validation to test": pytest.approx(max(apart.values(), default=0.0)),
    }
    assert measured["known-new pairs above"] == {f"{gamma:g}:": sum(one > gamma for one in between.values())}
    assert measured["drugs"] == {name: role.count(code) for code, name in ROLES.items()}
    assert measured["items"] == {name: split.items.tolist().count(code) for code, name in PARTS.items()}
    told = too_similar(dataset.fingerprints, split, gamma)
    expected = []
    for found, what in ((between, "a known and a new drug"), (apart, "a validation and a test drug")):
        above = {pair: one for pair, one in found.items() if one > gamma}
        if above:
            expected.append(
                f"{len(above)} pairs of {what} are more similar than {gamma:g}, at most "
                f"{max(above.values()):.5f} (drugs "
            )
    assert [text[: len(start)] for text, start in zip(told, expected, strict=True)] == expected
    for text in told:
        one, other = text.partition("(drugs ")[2].rstrip(")").split(" and ")
        assert f"{near[int(one), int(other)]:.5f}" in text and near[int(one), int(other)] > gamma


def test_a_validation_drug_like_a_test_drug_is_found_though_both_are_unlike_the_known() -> None:
    dataset = made_up_drugs(6, 1)
    apart = np.eye(6, dtype=np.int32)
    apart[5] = apart[4]
    split = part_split(
        roles_of((KNOWN, 4), (VALID_NEW, 1), (TEST_NEW, 1)), np.full(len(dataset.pairs), TRAIN, dtype=np.int32)
    )
    (told,) = too_similar(apart, split, 0.5)
    assert told == (
        "1 pairs of a validation and a test drug are more similar than 0.5, at most 1.00000 (drugs 4 and 5)"
    )
    alike = replace(dataset, fingerprints=apart)
    assert measure_split(alike, split, 0.5)["largest similarity"] == {
        "known to new": 0.0,
        "validation to test": 1.0,
    }
    apart[5] = apart[3]
    (told,) = too_similar(apart, split, 0.5)
    assert "a known and a new drug" in told and "(drugs 3 and 5)" in told


def test_groups_are_described_one_by_one() -> None:
    groups = np.array([2, 2, 2, 1, 0, 0, 3, 4, 4])
    roles = np.array([KNOWN, KNOWN, TEST_NEW, KNOWN, VALID_NEW, VALID_NEW, TEST_NEW, KNOWN, DISCARDED])
    split = part_split(roles.astype(np.int32), np.array([TRAIN], dtype=np.int32))
    assert describe_groups(groups, split)["groups"] == {
        "in all": 5,
        "largest": 3,
        "singletons": 2,
        "of several roles": 2,
    }
    (told,) = mixed_groups(groups, roles, what="clusters")
    assert told == "2 clusters have drugs of several roles, for one that of drugs [0, 1, 2]"
    assert mixed_groups(groups, np.zeros(9, dtype=np.int32), what="clusters") == []


@pytest.mark.parametrize(("kept", "within"), [(1000, 10), (500, 5), (100, 1), (30, 1)])
@pytest.mark.parametrize("role", [VALID_NEW, TEST_NEW])
def test_a_share_may_be_off_by_one_drug_in_a_hundred(kept: int, within: int, role: int) -> None:
    """Ten of a thousand, and one where there are few."""
    wanted = kept // 10
    other = VALID_NEW if role == TEST_NEW else TEST_NEW
    for found, is_wrong in (
        (wanted, False),
        (wanted + within, False),
        (wanted - within, False),
        (wanted + within + 1, True),
        (wanted - within - 1, True),
    ):
        roles = roles_of((KNOWN, kept - wanted - found), (other, wanted), (role, found))
        expected = [f"{found} of {kept} drugs are {ROLES[role]}, not {wanted}"] if is_wrong else []
        assert wrong_shares(roles, Shares()) == expected, found


def test_an_allowance_is_what_was_allowed() -> None:
    roles = roles_of((KNOWN, 77), (VALID_NEW, 10), (TEST_NEW, 13))
    assert wrong_shares(roles, Shares(), allowance=3) == []
    assert wrong_shares(roles, Shares(), allowance=2) == ["13 of 100 drugs are test-new, not 10"]


def test_shares_are_of_the_drugs_that_are_kept() -> None:
    roles = roles_of((KNOWN, 80), (VALID_NEW, 10), (TEST_NEW, 10), (DISCARDED, 400))
    assert wrong_shares(roles, Shares(), discards=True) == []
    assert wrong_shares(roles, Shares()) == ["400 drugs are discarded"]


def test_whole_groups_are_dealt_as_exactly_as_they_allow() -> None:
    """The largest group is known; the second largest may be what does not fit."""
    groups = np.repeat(np.arange(28), [50, 5, *[1] * 26])
    shares = Shares(valid_share=0.2, test_share=0.2)
    # 31 of 81 drugs are not in the largest group: fewer than the 32 that are wanted, shared half and half
    for test, is_wrong in ((15, False), (10, False), (9, True)):
        new = np.argsort(groups, kind="stable")[50:]
        roles = np.full(81, KNOWN, dtype=np.int32)
        roles[new[: 31 - 15]] = VALID_NEW
        roles[new[31 - 15 : 31 - 15 + test]] = TEST_NEW
        found = [text for text in wrong_shares(roles, shares, groups=groups) if "test-new" in text]
        assert bool(found) is is_wrong, test
        if is_wrong:
            assert found == ["9 of 81 drugs are test-new, not 15"]
    assert "clusters" in "".join(wrong_groups(groups, np.resize([KNOWN, TEST_NEW], 81), shares, what="clusters"))


@pytest.mark.parametrize(
    ("drugs", "available", "valid", "test"),
    [
        (100, None, 10, 20),
        (105, None, 10, 21),
        (100, 30, 10, 20),
        (100, 15, 5, 10),
        (3, None, 1, 1),
        (100, 1, 1, 1),
    ],
)
def test_targets_are_rounded_down_and_at_least_one(
    drugs: int, available: int | None, valid: int, test: int
) -> None:
    shares = Shares(valid_share=0.1, test_share=0.2)
    assert targets(drugs, shares, available=available) == {TEST_NEW: test, VALID_NEW: valid}


def test_the_last_drugs_by_rank_are_new_and_chance_deals_them() -> None:
    ranks = np.random.default_rng(3).permutation(50)
    shares = Shares(valid_share=0.2, test_share=0.1)
    dealt = [deal_drugs(ranks, seed, shares) for seed in range(20)]
    for roles in dealt:
        assert set(ranks[roles == KNOWN]) == set(range(35))
        assert ((roles == VALID_NEW).sum(), (roles == TEST_NEW).sum()) == (10, 5)
    assert len({tuple(roles) for roles in dealt}) == 20
    # of equal ranks the later drugs are new
    assert np.flatnonzero(deal_drugs(np.zeros(10, dtype=np.int64), 0, shares) > KNOWN).tolist() == [7, 8, 9]


@pytest.mark.parametrize("seed", range(8))
def test_groups_are_dealt_whole_and_the_largest_is_known(seed: int) -> None:
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(30), [40, *[2] * 20, *[1] * 9]))
    roles = deal_groups(groups, seed, Shares(), what="clusters")
    assert wrong_groups(groups, roles, Shares(), what="clusters") == []
    assert set(roles[groups == 0]) == {KNOWN}
    for role in (VALID_NEW, TEST_NEW):
        assert 0 < (roles == role).sum() <= len(groups) // 10
    # nothing that would fit into the test drugs is left
    left = [int((groups == one).sum()) for one in range(1, 30) if (roles[groups == one] != TEST_NEW).all()]
    assert (roles == TEST_NEW).sum() + min(left) > len(groups) // 10


def test_where_no_group_fits_the_smallest_is_taken() -> None:
    groups = np.repeat(np.arange(4), [9, 5, 4, 3])
    roles = deal_groups(groups, 0, Shares(), what="clusters")
    assert (roles == TEST_NEW).sum() == 3 and (roles == VALID_NEW).sum() == 4
    for few in (1, 2):
        with pytest.raises(DataError, match=f"{few} clusters can't be dealt"):
            deal_groups(np.arange(few), 0, Shares(), what="clusters")
    assert sorted(deal_groups(np.arange(3), 0, Shares(), what="clusters")) == [KNOWN, VALID_NEW, TEST_NEW]


@settings(max_examples=30, deadline=None)
@given(dataset=datasets)
def test_usage_is_counted_item_by_item(dataset: DdiDataset) -> None:
    found = np.zeros((dataset.drugs, dataset.types), dtype=int)
    for (head, tail), label in zip(dataset.pairs.tolist(), dataset.labels, strict=True):
        types = np.flatnonzero(label > 0) if dataset.multilabel else [int(label)]
        for kind in types:
            found[head, kind] += 1
            found[tail, kind] += 1
    np.testing.assert_array_equal(types_of_drugs(dataset), found)
    signs = [dataset.multilabel and bool((label < 0).any()) for label in dataset.labels]
    assert negatives(dataset).tolist() == signs


@settings(max_examples=30, deadline=None)
@given(
    dataset=st.builds(
        made_up_drugs,
        st.integers(5, 40),
        st.integers(0, 2**31),
        items=st.integers(1, 40),
        types=st.integers(1, 4),
        multilabel=st.booleans(),
    )
)
def test_drugs_of_one_commonest_use_are_a_domain_and_so_are_those_without_any(dataset: DdiDataset) -> None:
    """The lowest type on ties; a drug without interactions is of no type, not of the first."""
    counts = types_of_drugs(dataset).tolist()
    commonest = [row.index(max(row)) if max(row) else dataset.types for row in counts]
    numbers = {use: number for number, use in enumerate(sorted(set(commonest)))}
    assert usage.groups(dataset, usage.Parameters()).tolist() == [numbers[use] for use in commonest]


@pytest.mark.parametrize("multilabel", [False, True])
def test_a_tenth_of_each_kind_is_held_out_twice(multilabel: bool) -> None:
    dataset = made_up_drugs(60, 3, multilabel=multilabel, items=1500)
    roles = deal_drugs(np.arange(60), 1, Shares())
    split = split_items(dataset, roles, 1)
    assert wrong_items(dataset, split) == []
    for kind in (negatives(dataset), ~negatives(dataset)):
        among = int((np.isin(split.items, (TRAIN, VALID_S0, TEST_S0)) & kind).sum())
        for part in (VALID_S0, TEST_S0):
            assert int(((split.items == part) & kind).sum()) == among // 10
    other = split_items(dataset, roles, 2)
    assert not np.array_equal(other.items, split.items)
    np.testing.assert_array_equal(split_items(dataset, roles, 1).items, split.items)


@pytest.mark.parametrize(("moved", "is_wrong"), [(0, False), (1, False), (3, True)])
@pytest.mark.parametrize("part", [VALID_S0, TEST_S0])
def test_a_held_out_share_may_be_off_by_a_rounded_item(part: int, moved: int, is_wrong: bool) -> None:
    dataset = made_up_drugs(60, 3, items=1500)
    split = split_items(dataset, deal_drugs(np.arange(60), 1, Shares()), 1)
    items = split.items.copy()
    items[np.flatnonzero(items == part)[:moved]] = TRAIN
    told = wrong_items(dataset, part_split(split.drugs, items))
    assert len(told) == is_wrong
    if is_wrong:
        assert f"items between known drugs are {PARTS[part]}, not 10%" in told[0]


def test_a_split_without_items_to_train_or_test_on_is_refused() -> None:
    dataset = made_up_drugs(20, 1)
    for roles, said in ((KNOWN, "no item is left to test on"), (TEST_NEW, "no item is left to train on")):
        few = replace(dataset, pairs=dataset.pairs[:5], labels=dataset.labels[:5])
        with pytest.raises(DataError, match=said):
            split_items(few, np.full(20, roles, dtype=np.int32), 1)
