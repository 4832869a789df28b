"""What every strategy makes of made-up data, to the last bit: a strategy that draws otherwise is another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from harness.base.errors import DataError, UsageError
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.drugs.deal import Shares, deal_drugs, deal_groups, targets
from harness.benchmarks.ddi.splits.parts import KNOWN, ROLES, TEST_NEW, VALID_NEW
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.splits.strategies import get_strategy
from tests.splits.made_up_drugs import made_up_drugs

PLAIN = made_up_drugs(90, 5, items=600)
SIGNED = made_up_drugs(90, 6, items=600, multilabel=True)
# the beginnings of the sha256 for seeds 1 and 2
DIGESTS: dict[tuple[str, str, str], str] = {
    ("plain", "random", ""): "f3006f8b2e2a b67ee3a6f1d3",
    ("plain", "random", "valid_share=0.2,test_share=0.3"): "43450aa67408 37de191dbfcc",
    ("plain", "cluster", ""): "7172553f2ec5 0283b40831b8",
    ("plain", "cluster", "gamma=0.7,test_share=0.2"): "13d8588b9c47 873eca092d73",
    ("plain", "scaffold", ""): "1658d7dc5a98 bd9e04f3c09f",
    ("plain", "usage", ""): "f030713f1af3 1f3b13de2e79",
    ("plain", "frequency", ""): "9cc98223d40a 7665ace7f8e0",
    ("plain", "frequency", "valid_share=0.3"): "dc5ceb31b36e ad31e5dca95d",
    ("plain", "lohi", ""): "cc8bbcea019d e2b379f8a1ad",
    ("plain", "lohi", "threshold=0.6,test_share=0.2"): "bdebb69fd665 4a1f7db37ddc",
    ("plain", "spectra", ""): "ad58e1ec1f5d 26b051dcb390",
    ("plain", "spectra", "spectral=0.5,gamma=0.4"): "a9693d2b5924 a1f0fb3b808f",
    ("plain", "period", ""): "11b9351f0d78 3777a3c5a9fa",
    ("plain", "period", "after=1985,until=1999,new_after=2005,valid_share=0.3"): "fc577ba1d4b9 89af75421c62",
    ("signed", "random", ""): "278fe6bcb5e3 f3fdbfe6edd8",
    ("signed", "random", "valid_share=0.2,test_share=0.3"): "b71b1ffb81e7 10c1809abd2d",
    ("signed", "cluster", ""): "193dca84588b 4584cabd9d75",
    ("signed", "cluster", "gamma=0.7,test_share=0.2"): "68fe19c97d55 6187bf6a07c3",
    ("signed", "scaffold", ""): "d45e6e3f8f7f e488517024b8",
    ("signed", "usage", ""): "28fc55a435c7 d2c9822ae55d",
    ("signed", "frequency", ""): "1c5dcfe19797 e4d91120fb29",
    ("signed", "frequency", "valid_share=0.3"): "8e79139920be f88756a20510",
    ("signed", "lohi", ""): "cb2231372259 bd0bf512fbf4",
    ("signed", "lohi", "threshold=0.6,test_share=0.2"): "e9dc3a0cfaf1 bcf6e49b98ab",
    ("signed", "spectra", ""): "9b9b1225aa8a 2cf5e73c147b",
    ("signed", "spectra", "spectral=0.5,gamma=0.4"): "18e030ab253a a478c6b26572",
    ("signed", "period", ""): "bc8f3d9138fd bc8f3d9138fd",
    ("signed", "period", "after=1985,until=1999,new_after=2005,valid_share=0.3"): "0b435a81b3ec a1878522dcc9",
    ("pairs", "random", ""): "c26eee13ff61 83fc9b6d85ba",
    ("pairs", "random", "test_share=0.4,inner_folds=3"): "448fb25da6ed 6a6b355e7818",
    ("pairs", "weakly_correlated", ""): "8cf6b428cfb8 b9b537b5ed83",
    ("pairs", "weakly_correlated", "metric=cosine,inner_folds=0,test_share=0.4"): "d2eea42a7e44 d2eea42a7e44",
    ("pairs", "weakly_correlated", "early_stop=1,inner_folds=2"): "981c67769c71 c188c63e2850",
    ("pairs", "unknown_pairs", ""): "631ec3a054f6 631ec3a054f6",
}


def associations() -> RepurposingDataset:
    generator = np.random.default_rng(4)
    features = generator.normal(size=(30, 4)).round(3)
    features[20:] += 9
    return RepurposingDataset(
        name="made",
        associations=generator.choice([-1, 0, 0, 0, 1, 1], size=(30, 9)).astype(np.int8),
        drug_features=features,
        disease_features=generator.normal(size=(9, 3)),
        drug_ids=tuple(f"drug{number}" for number in range(30)),
        disease_ids=tuple(f"disease{number}" for number in range(9)),
        drug_feature_names=tuple("abcd"),
        disease_feature_names=tuple("abc"),
    )


PAIRS: list[tuple[str, Mapping[str, Any]]] = [
    ("random", {}),
    ("random", {"valid_share": 0.2, "test_share": 0.3}),
    ("cluster", {}),
    ("cluster", {"gamma": 0.7, "test_share": 0.2}),
    ("scaffold", {}),
    ("usage", {}),
    ("frequency", {}),
    ("frequency", {"valid_share": 0.3}),
    ("lohi", {}),
    ("lohi", {"threshold": 0.6, "test_share": 0.2}),
    ("spectra", {}),
    ("spectra", {"spectral": 0.5, "gamma": 0.4}),
    ("period", {}),
    ("period", {"after": 1985, "until": 1999, "new_after": 2005, "valid_share": 0.3}),
]
FOLDS: list[tuple[str, Mapping[str, Any]]] = [
    ("random", {}),
    ("random", {"test_share": 0.4, "inner_folds": 3}),
    ("weakly_correlated", {}),
    ("weakly_correlated", {"metric": "cosine", "inner_folds": 0, "test_share": 0.4}),
    ("weakly_correlated", {"early_stop": 1, "inner_folds": 2}),
    ("unknown_pairs", {}),
]


def said(parameters: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in parameters.items())


def digest_of(benchmark: str, kind: str, name: str, parameters: Mapping[str, Any], seed: int) -> str:
    strategy = get_strategy(benchmark, name)
    dataset: Any = {"plain": PLAIN, "signed": SIGNED, "pairs": associations()}[kind]
    return strategy.make(dataset, seed, strategy.Parameters.model_validate(parameters)).digest


@pytest.mark.parametrize(("name", "parameters"), PAIRS)
@pytest.mark.parametrize("kind", ["plain", "signed"])
def test_a_drug_split_is_this_one(kind: str, name: str, parameters: Mapping[str, Any]) -> None:
    found = [digest_of("ddi", kind, name, parameters, seed)[:12] for seed in (1, 2)]
    assert found == DIGESTS[kind, name, said(parameters)].split()


@pytest.mark.parametrize(("name", "parameters"), FOLDS)
def test_a_split_of_associations_is_this_one(name: str, parameters: Mapping[str, Any]) -> None:
    found = [digest_of("repurposing", "pairs", name, parameters, seed)[:12] for seed in (1, 2)]
    assert found == DIGESTS["pairs", name, said(parameters)].split()


@pytest.mark.parametrize(
    ("drugs", "valid", "test", "available", "expected"),
    [
        (100, 0.1, 0.2, None, (20, 10)),
        (19, 0.1, 0.1, None, (1, 1)),
        (5, 0.1, 0.1, None, (1, 1)),
        (100, 0.1, 0.1, 100, (10, 10)),
        (100, 0.1, 0.1, 10, (5, 5)),
        (100, 0.1, 0.3, 20, (15, 5)),
        (100, 0.1, 0.1, 0, (1, 1)),
    ],
)
def test_new_roles_get_their_share_of_the_drugs(
    drugs: int, valid: float, test: float, available: int | None, expected: tuple[int, int]
) -> None:
    found = targets(drugs, Shares(valid_share=valid, test_share=test), available=available)
    assert list(found) == [TEST_NEW, VALID_NEW] and tuple(found.values()) == expected


@pytest.mark.parametrize("seed", range(20))
def test_whole_groups_are_dealt_as_they_fit(seed: int) -> None:
    """By a plain walk: the largest stays known, test takes what fits in random order, then validation does."""
    generator = np.random.default_rng(seed)
    groups = np.unique(generator.integers(0, generator.integers(3, 12), size=40), return_inverse=True)[1]
    sizes = [int((groups == number).sum()) for number in range(groups.max() + 1)]
    if len(sizes) < 3:
        return
    shares = Shares(valid_share=0.2, test_share=0.1)
    order = [int(one) for one in np.random.RandomState(seed).permutation(len(sizes)) if one != np.argmax(sizes)]
    roles = [KNOWN] * len(sizes)
    for role, wanted in targets(len(groups), shares, available=len(groups) - max(sizes)).items():
        room = wanted
        free = [group for group in order if roles[group] == KNOWN]
        for group in free:
            if sizes[group] <= room:
                roles[group], room = role, room - sizes[group]
        if role not in roles:
            roles[min(free, key=lambda group: sizes[group])] = role
    dealt = deal_groups(groups, seed, shares, what="groups")
    assert dealt.tolist() == [roles[group] for group in groups]


def test_the_last_by_rank_are_new() -> None:
    ranks = np.array([3, 9, 0, 8, 7, 1, 2, 6, 5, 4])
    roles = deal_drugs(ranks, 3, Shares(valid_share=0.2, test_share=0.1))
    assert set(np.flatnonzero(roles != KNOWN)) == {1, 3, 4}
    assert [int((roles == role).sum()) for role in (TEST_NEW, VALID_NEW)] == [1, 2]


def test_too_few_groups_can_not_be_dealt() -> None:
    with pytest.raises(DataError) as refused:
        deal_groups(np.array([0, 1, 1]), 1, Shares(), what="clusters")
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        "2 clusters can't be dealt to known, validation and test drugs",
        "the split's parameters",
        "choose parameters that give at least three groups",
    )
    assert set(ROLES) >= set(deal_groups(np.array([0, 1, 2]), 1, Shares(), what="clusters").tolist())


DEFAULTS: dict[tuple[str, str], Mapping[str, Any]] = {
    ("ddi", "random"): {"valid_share": 0.1, "test_share": 0.1},
    ("ddi", "cluster"): {"valid_share": 0.1, "test_share": 0.1, "gamma": 0.55},
    ("ddi", "lohi"): {"valid_share": 0.1, "test_share": 0.1, "threshold": 0.4},
    ("ddi", "spectra"): {"valid_share": 0.1, "test_share": 0.1, "spectral": 1.0, "gamma": 0.55},
    ("ddi", "period"): {"after": 2000, "until": 2010, "new_after": 2010, "valid_share": 0.1},
    ("ddi", "datasail"): {"valid_share": 0.1, "test_share": 0.1, "clusters": 50, "epsilon": 0.05, "nodes": 1000},
    ("ddi", "released"): {"which": "cluster"},
    ("ddi", "new_drugs"): {},
    ("repurposing", "random"): {"test_share": 0.2, "inner_folds": 5},
    ("repurposing", "weakly_correlated"): {
        "metric": "euclidean",
        "early_stop": None,
        "test_share": 0.2,
        "inner_folds": 5,
    },
    ("repurposing", "unknown_pairs"): {},
    ("repurposing", "released"): {"unlisted": "train", "inner_folds": 5},
}


@pytest.mark.parametrize(("benchmark", "name"), DEFAULTS)
def test_what_is_not_asked_for_is_this(benchmark: str, name: str) -> None:
    assert get_strategy(benchmark, name).Parameters().model_dump() == DEFAULTS[benchmark, name]


@pytest.mark.parametrize(
    ("benchmark", "name", "taken", "refused"),
    [
        ("ddi", "random", {"valid_share": [0.001, 0.499]}, {"valid_share": [0, 0.5], "test_share": [0, 0.5]}),
        ("ddi", "cluster", {"gamma": [0, 0.999]}, {"gamma": [-0.1, 1]}),
        ("ddi", "lohi", {"threshold": [0, 0.999]}, {"threshold": [-0.1, 1]}),
        ("ddi", "spectra", {"spectral": [0, 1], "gamma": [0, 0.999]}, {"spectral": [-0.1, 1.1], "gamma": [-1, 1]}),
        (
            "ddi",
            "datasail",
            {"clusters": [3], "epsilon": [0, 0.999], "nodes": [1]},
            {"clusters": [2], "epsilon": [-0.1, 1], "nodes": [0]},
        ),
        (
            "ddi",
            "period",
            {"after": [0, 2009], "until": [2001, 2010], "new_after": [2010], "valid_share": [0.499]},
            {"after": [-1, 2010, 2011], "until": [2000, 2011, 0], "new_after": [2009, 0], "valid_share": [0, 0.5]},
        ),
        (
            "repurposing",
            "random",
            {"test_share": [0.001, 0.999], "inner_folds": [0, 100]},
            {"test_share": [0, 1], "inner_folds": [-1, 101]},
        ),
        (
            "repurposing",
            "weakly_correlated",
            {"early_stop": [1], "test_share": [0.001, 0.999], "inner_folds": [0, 100], "metric": ["cosine"]},
            {"early_stop": [0], "test_share": [0, 1], "inner_folds": [-1, 101], "metric": ["dot"]},
        ),
        (
            "repurposing",
            "released",
            {"unlisted": ["train", "test"], "inner_folds": [0, 100]},
            {"unlisted": ["none"], "inner_folds": [-1, 101]},
        ),
    ],
)
def test_parameters_are_taken_up_to_their_bounds(
    benchmark: str, name: str, taken: Mapping[str, list[Any]], refused: Mapping[str, list[Any]]
) -> None:
    model = get_strategy(benchmark, name).Parameters
    for field, values in taken.items():
        for value in values:
            assert getattr(model.model_validate({field: value}), field) == value
    for field, values in refused.items():
        for value in values:
            with pytest.raises(ValidationError):
                model.model_validate({field: value})


def test_splits_that_can_not_be_made_say_why() -> None:
    def told(name: str, dataset: DdiDataset = PLAIN, **parameters: Any) -> tuple[str, str, str]:
        strategy = get_strategy("ddi", name)
        with pytest.raises((DataError, UsageError)) as refused:
            strategy.make(dataset, 1, strategy.Parameters.model_validate(parameters))
        return refused.value.what, refused.value.where, refused.value.todo

    years = PLAIN.years
    assert told("period", after=1900, until=1901, new_after=2010) == (
        f"0 drugs were approved in the known period and {int((years > 2010).sum())} later",
        "dataset made, after 1900 until 1901, new after 2010",
        "choose other years, or a dataset that tells more of them",
    )
    old = int(((years > 2000) & (years <= 2010)).sum())
    assert told("period", new_after=2100)[0] == f"{old} drugs were approved in the known period and 0 later"
    assert told("released") == ("dataset 'made' has no released split 'cluster'", "parameter which", "none is")
    both = replace(PLAIN, released_names=("one", "two"))
    assert told("released", both, which="three") == (
        "dataset 'made' has no released split 'three'",
        "parameter which",
        "released are: one, two",
    )
    assert told("new_drugs") == (
        "every drug has a known interaction: none is new",
        "dataset made",
        "name what you ask about: --drug NAME, --pair NAME NAME, or one of your own: --drug NAME=SMILES",
    )
    assert told("spectra", gamma=0) == (
        "2 drugs are kept, too few for known, validation and test drugs",
        "dataset made, gamma 0.0, spectral 1.0",
        "choose a higher gamma or a lower spectral parameter",
    )
