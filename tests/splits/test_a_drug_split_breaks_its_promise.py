"""Every drug split must keep what its strategy promises, and a file that breaks a promise must be found out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.base.errors import CorruptData, DataError, UsageError
from harness.base.npy import npy_bytes
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits import parts
from harness.benchmarks.ddi.splits.drugs.measure import measure_split
from harness.benchmarks.ddi.splits.drugs.similarity import similarities
from harness.benchmarks.ddi.splits.form import FORM
from harness.benchmarks.ddi.splits.parts import (
    DISCARDED,
    KNOWN,
    OUTSIDE,
    TEST_NEW,
    TEST_S0,
    TEST_S1,
    TEST_S2,
    TRAIN,
    VALID_NEW,
    VALID_S0,
    VALID_S1,
    VALID_S2,
    PartSplit,
    part_split,
    read_parts,
)
from harness.splits.strategies import get_strategy, strategy_names
from tests.splits.kinds import as_parts
from tests.splits.made_up_drugs import made_up_drugs

IN_A_CONTAINER = {"datasail"}
DISCARDING = {"lohi", "spectra"}
HERE = sorted(set(strategy_names("ddi")) - IN_A_CONTAINER - {"released", "new_drugs", "period"})

datasets = st.builds(
    made_up_drugs, st.integers(30, 90), st.integers(0, 2**31), multilabel=st.booleans(), families=st.just(0)
)


def _made(dataset: DdiDataset, name: str, seed: int = 1, **told: Any) -> tuple[PartSplit, list[str]]:
    strategy = get_strategy("ddi", name)
    parameters = strategy.Parameters.model_validate(told)
    split = as_parts(strategy.make(dataset, seed, parameters))
    broken = FORM.broken_promises(split, dataset) + strategy.broken_promises(dataset, split, parameters)
    if draws := getattr(strategy, "broken_draws", None):
        broken += draws(dataset, split, seed, parameters)
    return split, broken


def _drawn(dataset: DdiDataset, name: str, seed: int) -> tuple[PartSplit, list[str]]:
    """A split of drawn data, whose pairs may all be of drugs that are discarded: such a draw shows nothing."""
    try:
        return _made(dataset, name, seed)
    except DataError as error:
        assume("no item is left to test on" not in str(error))
        raise


@pytest.mark.parametrize("name", HERE)
@settings(max_examples=12, deadline=None)
@given(dataset=datasets, seed=st.integers(0, 2**32 - 1))
def test_made_splits_keep_every_promise(name: str, dataset: DdiDataset, seed: int) -> None:
    split, broken = _drawn(dataset, name, seed)
    assert broken == []
    if name not in DISCARDING:
        assert not (split.drugs == DISCARDED).any()


@settings(max_examples=30, deadline=None)
@given(dataset=datasets, name=st.sampled_from(HERE), seed=st.integers(0, 2**31))
def test_every_item_lies_where_its_drugs_belong(dataset: DdiDataset, name: str, seed: int) -> None:
    split, _ = _drawn(dataset, name, seed)
    expected = {
        (KNOWN, KNOWN): {TRAIN, VALID_S0, TEST_S0},
        (KNOWN, VALID_NEW): {VALID_S1},
        (VALID_NEW, VALID_NEW): {VALID_S2},
        (KNOWN, TEST_NEW): {TEST_S1},
        (TEST_NEW, TEST_NEW): {TEST_S2},
        (VALID_NEW, TEST_NEW): {OUTSIDE},
    }
    for (head, tail), part in zip(dataset.pairs, split.items, strict=True):
        low, high = sorted((int(split.drugs[head]), int(split.drugs[tail])))
        assert int(part) in expected.get((low, high), {OUTSIDE}), (low, high)
    dealt = np.sort(np.concatenate([split.items_in(part) for part in parts.PARTS]))
    np.testing.assert_array_equal(dealt, np.arange(len(dataset.pairs)))
    held_out = [int((split.items == part).sum()) for part in (VALID_S0, TEST_S0)]
    known = int((split.items == TRAIN).sum()) + sum(held_out)
    assert held_out[0] == held_out[1]
    assert abs(held_out[0] - 0.1 * known) < 2


@settings(max_examples=30, deadline=None)
@given(dataset=datasets, gamma=st.sampled_from([0.3, 0.5, 0.55, 0.7, 0.9]), seed=st.integers(0, 2**31))
def test_no_new_drug_is_nearer_to_a_known_one_than_gamma(dataset: DdiDataset, gamma: float, seed: int) -> None:
    """Against all pairs of drugs, one by one."""
    for name, told in (
        ("cluster", {"gamma": gamma}),
        ("lohi", {"threshold": gamma}),
        ("spectra", {"gamma": gamma, "spectral": 1.0}),
    ):
        try:
            split, broken = _made(dataset, name, seed, **told)
        except DataError:  # everything is similar to everything
            continue
        assert broken == []
        known, new = split.drugs == KNOWN, split.drugs > KNOWN
        assert similarities(dataset.fingerprints)[np.ix_(known, new)].max(initial=0) <= gamma
        measured = measure_split(dataset, split, gamma)
        assert measured["largest similarity"]["known to new"] <= gamma
        assert measured["known-new pairs above"] == {f"{gamma:g}:": 0}


def test_the_change_of_distribution_is_under_control() -> None:
    dataset = made_up_drugs(300, 3, families=120)
    nearest = []
    for gamma in (0.4, 0.5, 0.6, 0.7, 0.8):
        found = [_made(dataset, "cluster", seed, gamma=gamma)[0] for seed in range(5)]
        nearest.append(_alike(dataset, found))
    assert nearest == sorted(nearest)
    assert nearest[0] < nearest[-1]
    alike, kept = [], []
    for spectral in (0.0, 0.25, 0.5, 0.75, 1.0):
        found = [_made(dataset, "spectra", seed, spectral=spectral)[0] for seed in range(10)]
        alike.append(sum(_pairs_above(dataset, split) for split in found))
        kept.append(sum(int((split.drugs != DISCARDED).sum()) for split in found))
    assert alike == sorted(alike, reverse=True)
    assert alike[-1] == 0
    assert kept == sorted(kept, reverse=True)
    assert kept[0] == 10 * 300


def _pairs_above(dataset: DdiDataset, split: PartSplit) -> int:
    """Pairs of a known and a new drug above SPECTRA's gamma."""
    (count,) = measure_split(dataset, split, 0.55)["known-new pairs above"].values()
    return int(count)


def _alike(dataset: DdiDataset, splits: list[PartSplit]) -> float:
    """How similar new drugs are to their nearest known ones, at most."""
    near = similarities(dataset.fingerprints)
    return float(np.mean([near[np.ix_(split.drugs > KNOWN, split.drugs == KNOWN)].max() for split in splits]))


def test_scaffolds_stay_whole() -> None:
    dataset = made_up_drugs(60, 5)
    split, _ = _made(dataset, "scaffold")
    scaffolds = get_strategy("ddi", "scaffold").groups(dataset, None)  # type: ignore[attr-defined]
    by_smiles = dict(zip(dataset.smiles, scaffolds, strict=True))
    assert by_smiles["c1ccccc1"] == by_smiles["Cc1ccccc1"] == by_smiles["Clc1ccccc1"]
    assert by_smiles["CCO"] == by_smiles["CCN"] != by_smiles["C1CCCCC1"]
    for number in np.unique(scaffolds):
        assert len(np.unique(split.drugs[scaffolds == number])) == 1


def test_stereoisomers_have_one_scaffold() -> None:
    """What stands before or behind the plane of a ring is no part of it."""
    dataset = made_up_drugs(24, 5)
    both = ("C1CC[C@H]2CCCC[C@H]2C1", "C1CC[C@H]2CCCC[C@@H]2C1", "C1CCC2CCCCC2C1")
    scaffolds = get_strategy(
        "ddi", "scaffold"
    ).groups(  # type: ignore[attr-defined]
        _with(dataset, smiles=(*both, *dataset.smiles[3:])), None
    )
    assert scaffolds[0] == scaffolds[1] == scaffolds[2]


def test_unreadable_drugs_are_each_a_scaffold_of_their_own() -> None:
    dataset = made_up_drugs(24, 5)
    dataset = _with(dataset, smiles=("not a molecule", "", *dataset.smiles[2:]))
    scaffolds = get_strategy("ddi", "scaffold").groups(dataset, None)  # type: ignore[attr-defined]
    assert (scaffolds == scaffolds[0]).sum() == (scaffolds == scaffolds[1]).sum() == 1


def test_unknown_structures_are_each_a_scaffold_of_their_own() -> None:
    dataset = made_up_drugs(24, 5)
    dataset = _with(dataset, smiles=("*", "[*:1]", "*.*", "*c1ccccc1", *dataset.smiles[4:]))
    scaffolds = get_strategy("ddi", "scaffold").groups(dataset, None)  # type: ignore[attr-defined]
    assert [int((scaffolds == number).sum()) for number in scaffolds[:3]] == [1, 1, 1]
    assert (scaffolds == scaffolds[3]).sum() > 1  # benzene, whatever hangs there


def test_drugs_without_counts_are_similar_to_none() -> None:
    dataset = made_up_drugs(40, 5)
    counts = dataset.fingerprints.copy()
    counts[:2] = 0
    _, broken = _made(_with(dataset, fingerprints=counts), "cluster", gamma=0.3)
    assert broken == []
    assert (similarities(counts)[:2] == 0).all()


def test_too_few_groups_are_refused() -> None:
    dataset = made_up_drugs(40, 5)
    same = _with(dataset, fingerprints=np.ones_like(dataset.fingerprints))
    with pytest.raises(DataError, match=r"1 clusters at gamma 0\.55 can't be dealt"):
        _made(same, "cluster")
    with pytest.raises(DataError, match="1 drugs are kept"):
        _made(same, "spectra")
    with pytest.raises(UsageError, match="no released split 'cluster'"):
        _made(same, "released")


def test_only_the_seed_and_the_parameters_matter() -> None:
    dataset = made_up_drugs(60, 5)
    for name in HERE:
        assert _made(dataset, name)[0].digest == _made(dataset, name)[0].digest
        assert _made(dataset, name)[0].digest != _made(dataset, name, 2)[0].digest


def _with(dataset: DdiDataset, **changed: Any) -> DdiDataset:
    from dataclasses import replace

    return replace(dataset, **changed)


def _changed(split: PartSplit, dataset: DdiDataset, change: str) -> PartSplit:
    drugs, items, places = split.drugs.copy(), split.items.copy(), split.places.copy()
    if change == "test item trained on":
        moved = split.items_in(TEST_S1)[-1]
        items[moved], places[moved] = TRAIN, split.training
    elif change == "item lost":
        moved = split.items_in(TRAIN)[-1]
        items[moved], places[moved] = OUTSIDE, len(split.items_in(OUTSIDE))
    elif change == "place twice":
        first, second = split.items_in(TRAIN)[:2]
        places[first] = places[second]
    elif change == "no such part":
        items[0] = 9
    elif change == "no such role":
        drugs[0] = 9
    elif change == "nothing is tested":
        drugs[drugs == TEST_NEW] = KNOWN
    elif change == "one drug short":
        return part_split(drugs[1:], items, places)
    return part_split(drugs, items, places)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("test item trained on", "1 items of part train join other drugs"),
        ("item lost", "1 items are in no part"),
        ("place twice", "the places of part train are not numbered from 0"),
        ("no such part", "part 9 has no meaning"),
        ("no such role", "role 9 has no meaning"),
        ("nothing is tested", "there is no test-new drug"),
        ("one drug short", "the split is of 59 drugs"),
    ],
)
def test_a_changed_split_is_found_out(change: str, message: str, tmp_path: Path) -> None:
    dataset = made_up_drugs(60, 5)
    split = _changed(_made(dataset, "cluster")[0], dataset, change)
    path = tmp_path / "split.npy"
    path.write_bytes(FORM.content(split))
    read = read_parts(path, len(split.drugs))
    assert read.digest == split.digest
    assert any(message in told for told in FORM.broken_promises(read, dataset))


def test_a_cluster_torn_apart_is_found_out() -> None:
    dataset = made_up_drugs(60, 5)
    strategy = get_strategy("ddi", "cluster")
    random, _ = _made(dataset, "random")
    broken = strategy.broken_promises(dataset, random, strategy.Parameters())
    assert any("clusters have drugs of several roles" in told for told in broken)
    assert any("pairs of a known and a new drug are more similar than 0.55" in told for told in broken)
    frequency = get_strategy("ddi", "frequency")
    assert "a known drug has" in "".join(frequency.broken_promises(dataset, random, frequency.Parameters()))
    few = strategy.Parameters.model_validate({"test_share": 0.3})
    assert any("test-new, not" in told for told in strategy.broken_promises(dataset, random, few))


@pytest.mark.parametrize("name", [*HERE, *IN_A_CONTAINER])
@pytest.mark.parametrize("multilabel", [False, True])
def test_training_items_that_became_s0_are_found_out(name: str, multilabel: bool) -> None:
    """All but one: no item is lost, none lies where its drugs do not belong."""
    dataset = made_up_drugs(60, 5, multilabel=multilabel)
    split, _ = _made(dataset, "random")
    items = split.items.copy()
    items[split.items_in(TRAIN)[1:]] = VALID_S0
    moved = part_split(split.drugs, items)
    assert FORM.broken_promises(moved, dataset) == []
    strategy = get_strategy("ddi", name)
    broken = strategy.broken_promises(dataset, moved, strategy.Parameters())
    kinds = ("items", "negatives") if multilabel else ("items",)
    for kind in kinds:
        assert any(f" {kind} between known drugs are valid S0, not 10%" in told for told in broken)


def test_a_random_split_is_no_half_thinned_one() -> None:
    dataset = made_up_drugs(90, 5, families=12)
    spectra = get_strategy("ddi", "spectra")
    half = spectra.Parameters.model_validate({"spectral": 0.5})
    random, _ = _made(dataset, "random")
    assert spectra.broken_promises(dataset, random, half) == []
    draws = spectra.broken_draws(dataset, random, 1, half)  # type: ignore[attr-defined]
    assert "drugs are kept or discarded otherwise than seed 1 does" in "".join(draws)
    thinned, broken = _made(dataset, "spectra", spectral=0.5)
    assert broken == []
    assert 0 < (thinned.drugs == DISCARDED).sum() < 90
    # a drug that is similar to none was discarded
    alone = dataset.fingerprints.copy()
    alone[0] = 0
    roles = thinned.drugs.copy()
    roles[0] = DISCARDED
    broken = spectra.broken_promises(_with(dataset, fingerprints=alone), part_split(roles, thinned.items), half)
    assert any("1 drugs are discarded that are similar to none that is kept" in told for told in broken)


@pytest.mark.parametrize("name", ["random", "frequency", "usage", "scaffold", "cluster", "datasail"])
def test_a_discarded_drug_is_found_out_where_every_drug_is_kept(name: str) -> None:
    dataset = made_up_drugs(60, 5)
    split, _ = _made(dataset, "random")
    drugs = split.drugs.copy()
    drugs[drugs == KNOWN] = np.where(np.arange((drugs == KNOWN).sum()) < 3, DISCARDED, KNOWN)
    strategy = get_strategy("ddi", name)
    broken = strategy.broken_promises(dataset, part_split(drugs, split.items), strategy.Parameters())
    assert "3 drugs are discarded" in broken


def _table(rows: list[list[int]], dtype: str = "<i4") -> npt.NDArray[Any]:
    return np.array(rows, dtype=dtype)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a .npy file"),
        (npy_bytes(_table([[0, 0, 0]])), "instead of two columns"),
        (npy_bytes(_table([[0, 0]])), "has 1 rows, fewer than the 2 drugs"),
        (npy_bytes(_table([[0, 0], [0, 0]], "<i8")), "has data type <i8"),
        (npy_bytes(_table([[0, 0], [0, 1], [0, 0]])), "gives drugs a place"),
    ],
)
def test_a_file_that_is_no_split_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "split.npy"
    path.write_bytes(content)
    with pytest.raises(CorruptData, match=message):
        read_parts(path, 2)
