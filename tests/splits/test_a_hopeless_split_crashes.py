"""Data that no split can be made of must be refused with a reason, and inner folds dealt as published."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.sparse import csr_array

from harness.base.errors import DataError
from harness.benchmarks.ddi.splits import parts
from harness.benchmarks.ddi.splits.strategies import lohi
from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.dataset import Features, Labels, RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, inner_folds_of
from harness.benchmarks.repurposing.splits.separation import separation
from harness.benchmarks.repurposing.splits.strategies import random, weakly_correlated
from tests.splits.made_up_drugs import made_up_drugs


def dataset_of(labels: Labels, features: Features | None = None) -> RepurposingDataset:
    """Drugs and diseases with made-up features."""
    drugs, diseases = labels.shape
    generator = np.random.default_rng(7)
    return replace(
        problems.ordinary().dataset,
        associations=labels,
        drug_features=generator.normal(size=(drugs, 3)) if features is None else features,
        disease_features=generator.normal(size=(diseases, 3)),
        drug_ids=tuple(f"d{number}" for number in range(drugs)),
        disease_ids=tuple(f"p{number}" for number in range(diseases)),
    )


def test_inner_folds_are_dealt_as_scikit_learn_deals_them() -> None:
    from sklearn.model_selection import StratifiedKFold

    generator = np.random.default_rng(11)
    for round_number in range(60):
        shape = (int(generator.integers(4, 30)), int(generator.integers(4, 30)))
        labels = generator.choice([-1, 0, 1], p=[0.1, 0.6, 0.3], size=shape).astype(np.int8)
        if round_number % 2:
            labels = np.abs(labels)
        training = np.flatnonzero(generator.random(labels.size) < 0.8)
        count, seed = int(generator.integers(2, 6)), int(generator.integers(2**32))
        expected = np.full(labels.size, TEST, dtype=np.int8)
        with warnings.catch_warnings():
            # a label with fewer pairs than folds: some folds have none
            warnings.simplefilter("ignore")
            dealer = StratifiedKFold(count, shuffle=True, random_state=seed)
            for number, (_, held_out) in enumerate(dealer.split(training, labels.reshape(-1)[training])):
                expected[training[held_out]] = number
        folds = np.full(shape, TEST, dtype=np.int8)
        inner_folds_of(training, labels, folds, count=count, seed=seed)
        np.testing.assert_array_equal(folds.reshape(-1), expected)


def test_label_of_a_single_pair_can_not_be_shared_out() -> None:
    labels = np.zeros((6, 5), dtype=np.int8)
    labels[0, 0] = 1
    with pytest.raises(DataError, match="can't be shared out by label") as caught:
        random.make(dataset_of(labels), 1, random.Parameters())
    assert caught.value.where
    assert caught.value.todo


def test_too_few_pairs_for_the_inner_folds_are_refused() -> None:
    labels = np.array([[1, 1], [0, 0]], dtype=np.int8)
    with pytest.raises(DataError, match="too few for 5 inner folds"):
        random.make(dataset_of(labels), 1, random.Parameters(test_share=0.5))
    for counts in ((4, 3), (4, 0), (0, 4), (4, 4)):
        # of the commonest label each fold has a pair, or it is refused
        labels = np.repeat(np.array([[1, 0]], dtype=np.int8), counts)[None]
        training, folds = np.arange(labels.size), np.full(labels.shape, TEST, dtype=np.int8)
        inner_folds_of(training, labels, folds, count=4, seed=2)
        assert {*folds.ravel().tolist()} == {0, 1, 2, 3}
        with pytest.raises(DataError) as refused:
            inner_folds_of(training, labels, folds, count=5, seed=2)
        assert refused.value.what == "4 training pairs of the commonest label are too few for 5 inner folds"
    with pytest.raises(DataError, match=r"^0 training pairs of the commonest label"):
        inner_folds_of(training[:0], labels, folds, count=2, seed=2)


def test_cosine_of_a_drug_without_features_is_refused() -> None:
    features = np.random.default_rng(3).normal(size=(8, 3))
    features[5] = np.nan
    with pytest.raises(DataError, match=r"drug 'd5' has no feature but zeros"):
        weakly_correlated.make(
            dataset_of(np.eye(8, 4, dtype=np.int8), features), 1, weakly_correlated.Parameters(metric="cosine")
        )


@pytest.mark.parametrize("drugs", [1, 2, 6])
def test_drugs_that_are_all_alike_can_not_be_set_apart(drugs: int) -> None:
    labels = np.zeros((drugs, 40), dtype=np.int8)
    labels[:, :20] = 1
    dataset, parameters = dataset_of(labels, np.ones((drugs, 3))), weakly_correlated.Parameters()
    test = int(weakly_correlated._test_drugs(dataset, parameters).sum())
    with pytest.raises(DataError) as refused:
        weakly_correlated.make(dataset, 1, parameters)
    assert test in (0, drugs)
    assert refused.value.what == f"no group of drugs lies apart: {test} of {drugs} would be test drugs"


def test_search_is_done_once_for_all_seeds() -> None:
    weakly_correlated._test_drugs.cache_clear()
    base = problems.ordinary().dataset
    first, second = (weakly_correlated.make(base, seed, weakly_correlated.Parameters()).folds for seed in (1, 2))
    assert weakly_correlated._test_drugs.cache_info().misses == 1
    np.testing.assert_array_equal(first == TEST, second == TEST)
    assert (first != second).any()


def test_distance_of_equal_drugs_does_not_count() -> None:
    features = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    folds = np.array([[0], [0], [TEST]], dtype=np.int8)
    found = separation(dataset_of(np.ones((3, 1), dtype=np.int8), features), folds)
    np.testing.assert_array_equal(found, [5.0, np.nan, np.nan])


@pytest.mark.parametrize(
    ("seen", "early_stop", "is_stuck"),
    [
        ([5], 1, False),
        ([4, 5], 1, False),
        ([5, 5], 1, True),
        ([5, 5], 2, False),
        ([4, 5, 5], 2, False),
        ([4, 5, 5, 5], 2, True),
        ([5, 5, 5, 4], 2, False),
        ([5, 5, 5], None, False),
    ],
)
def test_a_search_is_stuck_when_so_many_counts_before_were_the_same(
    seen: list[int], early_stop: int | None, *, is_stuck: bool
) -> None:
    assert weakly_correlated._is_stuck(seen, early_stop) is is_stuck


def plain_search(dataset: RepurposingDataset, share: float, early_stop: int | None) -> list[bool]:
    """The published search, cut by cut: which drugs are for testing."""
    count, diseases = dataset.associations.shape
    wanted = int((1 - share) * count * diseases)
    tree = hierarchy.linkage(dataset.drug_features, "average")
    low, high, before, same = 2, count, None, 0
    test = [True] * count
    while low < high:
        middle = (low + high) // 2
        cut = hierarchy.fcluster(tree, middle, "maxclust").tolist()
        held = number = 0
        while (more := cut.count(number + 1) * diseases) and held + more <= wanted:
            held, number = held + more, number + 1
        # the published number of clusters is one too many, but where not even the first fits
        test = [cluster > (number + 1 if number else 0) for cluster in cut]
        same = same + 1 if held == before else 0
        before = held
        if held == wanted or same == early_stop:
            break
        low, high = (middle + 1, high) if held < wanted else (low, middle)
    return test


def test_the_search_for_far_drugs_is_the_published_one_and_stops_when_told() -> None:
    """For some of these data an early stop decides, after one or after two counts that are the same."""
    decides = Counter[int]()
    for seed, share in product((0, 19, 22, 29, 38, 45, 52), (0.2, 0.5)):
        generator = np.random.default_rng(seed)
        drugs = int(generator.integers(5, 40))
        features = generator.normal(size=(drugs, 2)) * np.where(generator.random(drugs) < 0.3, 5, 1)[:, None]
        dataset = dataset_of(np.ones((drugs, 3), dtype=np.int8), features)
        found = {}
        for stop in (None, 1, 2):
            parameters = weakly_correlated.Parameters(test_share=share, early_stop=stop)
            found[stop] = weakly_correlated._test_drugs(dataset, parameters).tolist()
            assert found[stop] == plain_search(dataset, share, stop)
        decides.update(stop for stop in (1, 2) if found[stop] != found[None])
    assert decides[1] and decides[2]


def joined(drugs: int, pairs: list[tuple[int, int]]) -> csr_array[Any]:
    """The graph that joins these drugs."""
    graph = np.zeros((drugs, drugs), dtype=np.int32)
    for one, other in pairs:
        graph[one, other] = graph[other, one] = 1
    return csr_array(graph)


def test_drugs_that_are_all_similar_leave_none_to_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    drugs = 20
    everyone = joined(drugs, [(one, other) for one in range(drugs) for other in range(one)])
    monkeypatch.setattr(lohi, "similarity_graph", lambda *_: everyone)
    with pytest.raises(DataError) as caught:
        lohi.make(made_up_drugs(drugs, 1), 1, lohi.Parameters(threshold=0.3))
    assert caught.value.what == "no drug is left to be known: the drugs are too similar to one another"
    assert (caught.value.where, caught.value.todo) == (
        "dataset made, threshold 0.3",
        "choose a higher threshold",
    )


def test_a_region_of_more_drugs_than_are_free_takes_those_that_are() -> None:
    free = np.array([True, True, False, True])
    region, border = lohi._carved(joined(4, [(0, 1)]), free, 9, np.random.RandomState(1))
    assert not region.any() and not border.any(), "less than what was enough was found"
    region, border = lohi._carved(joined(4, [(0, 1)]), free, 3, np.random.RandomState(1))
    assert region.tolist() == free.tolist() and not border.any()


def test_of_regions_with_borders_of_one_size_the_largest_is_carved() -> None:
    """Nine tenths of the drugs that were asked for are enough only where fewer would be discarded for it."""
    everyone = np.ones(60, dtype=bool)
    region, border = lohi._carved(joined(60, []), everyone, 20, np.random.RandomState(1))
    assert int(region.sum()) == 20 and not border.any()
    # a 19th drug can only be had with three that are discarded
    others_alike = joined(22, [(one, other) for one in range(18, 22) for other in range(18, one)])
    region, border = lohi._carved(others_alike, np.ones(22, dtype=bool), 20, np.random.RandomState(1))
    assert int(region.sum()) == 18 and not border.any()


def test_a_discarded_drug_is_given_to_the_one_role_it_is_near_while_that_has_room() -> None:
    discarded = parts.DISCARDED
    test, valid, known = parts.TEST_NEW, parts.VALID_NEW, parts.KNOWN
    # 3 is near the test drug, 4 near test and valid, 5 near valid and a known one, 6 near the test drug once more
    graph = joined(7, [(3, 0), (4, 0), (4, 1), (5, 1), (5, 2), (6, 0), (3, 6)])
    roles = np.array([test, valid, known, discarded, discarded, discarded, discarded], dtype=np.int32)
    lohi._give_back(graph, roles, {test: 2, valid: 3})
    assert roles.tolist() == [test, valid, known, test, discarded, discarded, discarded]
