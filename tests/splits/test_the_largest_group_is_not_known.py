"""How groups are dealt, against a plain definition: the largest is known even where it would fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.ddi.splits.drugs.deal import Shares, deal_groups
from harness.benchmarks.ddi.splits.parts import KNOWN, TEST_NEW, VALID_NEW


def dealt(sizes: list[int], seed: int, shares: Shares) -> list[int]:
    """The role of each group, group by group, as `deal_groups` says in words."""
    count, largest = sum(sizes), sizes.index(max(sizes))
    order = [int(group) for group in np.random.RandomState(seed).permutation(len(sizes)) if group != largest]
    available = count - max(sizes)
    most = min(count, available / (shares.test_share + shares.valid_share))
    roles = [KNOWN] * len(sizes)
    for role, share in ((TEST_NEW, shares.test_share), (VALID_NEW, shares.valid_share)):
        room = max(1, int(share * most))
        free = [group for group in order if roles[group] == KNOWN]
        for group in free:
            if sizes[group] <= room:
                roles[group] = role
                room -= sizes[group]
        if role not in roles:
            roles[min(free, key=lambda group: sizes[group])] = role
    return roles


@given(
    st.lists(st.integers(1, 12), min_size=3, max_size=25),
    st.integers(0, 1000),
    st.sampled_from([Shares(), Shares(valid_share=0.3, test_share=0.1), Shares(valid_share=0.05, test_share=0.4)]),
)
def test_groups_are_dealt_as_defined(sizes: list[int], seed: int, shares: Shares) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    roles = deal_groups(groups, seed, shares, what="groups")
    assert [set(roles[groups == group].tolist()) for group in range(len(sizes))] == [
        {role} for role in dealt(sizes, seed, shares)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_is_known_though_it_would_fit(seed: int) -> None:
    sizes = [10] * 10 + [11] + [10] * 9
    roles = deal_groups(np.repeat(np.arange(20), sizes), seed, Shares(), what="groups")
    assert set(roles[100:111].tolist()) == {KNOWN}
    assert {TEST_NEW, VALID_NEW} <= set(roles.tolist())
