"""Each strategy of its own data keeps what it promises, and each promise is broken by a split that does not."""

from __future__ import annotations

import hashlib
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.dti import BENCHMARK
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.pairs import NEGATIVE, NEW, TEST, TRAIN, PairSplit, pair_split, read_pairs
from harness.benchmarks.dti.splits.strategies import new_nodes, random, released
from harness.data import load_dataset

Rows = np.typing.NDArray[np.int32]
FORM = BENCHMARK.form


@pytest.fixture
def world(repository: Layout) -> DtiDataset:
    return load_dataset(repository, "dti_world", DtiDataset)


@pytest.fixture
def measured(repository: Layout) -> DtiDataset:
    return load_dataset(repository, "dti_world_affinity", DtiDataset)


def _made(strategy: Any, dataset: DtiDataset, seed: int = 7, **parameters: Any) -> tuple[PairSplit, Any]:
    chosen = strategy.Parameters(**parameters)
    return strategy.make(dataset, seed, chosen), chosen


CASES = [
    (random, "dti_world", {}),
    (random, "dti_world", {"folds": 3, "fold": 2, "negatives": 2.5}),
    (random, "dti_world", {"negatives": 1000}),
    (random, "dti_world_affinity", {"folds": 4}),
    (released, "dti_world_affinity", {}),
    (released, "dti_world_affinity", {"part": 3}),
    (new_nodes, "dti_world", {}),
    (new_nodes, "dti_world_affinity", {}),
]


@pytest.mark.parametrize(("strategy", "name", "parameters"), CASES)
def test_what_is_promised_is_kept(
    repository: Layout, strategy: Any, name: str, parameters: dict[str, Any]
) -> None:
    dataset = load_dataset(repository, name, DtiDataset)
    split, chosen = _made(strategy, dataset, **parameters)
    assert FORM.broken_promises(split, dataset) == []
    assert strategy.broken_promises(dataset, split, chosen) == []
    assert FORM.fits(split, dataset)
    again, other = (_made(strategy, dataset, seed, **parameters)[0] for seed in (7, 8))
    assert again.digest == split.digest
    assert (other.digest == split.digest) is (strategy is not random), "the others draw nothing"
    table = FORM.describe(split, dataset, strategy, chosen)
    assert table["train"]["pairs"] == split.training and table["test"]["pairs"] == split.test


@pytest.mark.parametrize(
    ("row", "change", "words"),
    [
        (0, {0: 5}, "part 5 has no meaning"),
        (0, {1: 9999}, "1 rows name no drug of the dataset"),
        (0, {2: -1}, "1 rows name no target of the dataset"),
        (0, {3: -3}, "1 rows name no item of the dataset"),
        (0, {3: 1}, "1 rows are of another pair than their item"),
        (0, {3: NEGATIVE}, "1 rows are pairs of the dataset without their item"),
        (0, {3: NEW}, "1 rows are pairs of the dataset without their item"),
    ],
)
def test_a_row_that_is_wrong_is_found(world: DtiDataset, row: int, change: dict[int, int], words: str) -> None:
    rows = _made(random, world)[0].rows.copy()
    for column, value in change.items():
        rows[row, column] = value
    broken = FORM.broken_promises(pair_split(rows), world)
    assert len(broken) == 1 and words in broken[0]


@pytest.mark.parametrize("column", [1, 2])
def test_a_row_with_the_drug_or_the_target_of_its_item_alone_is_found(world: DtiDataset, column: int) -> None:
    rows = _made(random, world)[0].rows.copy()
    there = {tuple(pair) for pair in rows[:, 1:3].tolist()}
    pair = rows[0, 1:3].tolist()
    for number in range(world.drugs if column == 1 else world.targets):
        pair[column - 1] = number
        if tuple(pair) not in there:
            break
    rows[0, 1:3] = pair
    assert FORM.broken_promises(pair_split(rows), world) == [
        "1 rows are of another pair than their item, row 0 for one"
    ]


def test_a_pair_in_both_parts_is_found(world: DtiDataset) -> None:
    rows = _made(random, world)[0].rows
    twice = np.concatenate([rows, rows[:1] + np.array([TEST, 0, 0, 0], dtype=np.int32)])
    assert FORM.broken_promises(pair_split(twice), world) == ["1 pairs are there twice"]


@pytest.mark.parametrize("part", [TRAIN, TEST])
def test_an_empty_part_is_found(world: DtiDataset, part: int) -> None:
    rows = _made(random, world)[0].rows
    words = "training" if part == TRAIN else "test"
    assert FORM.broken_promises(pair_split(rows[rows[:, 0] != part]), world) == [f"there is no {words} pair"]


def test_a_random_fold_of_another_size_or_kind_is_found(world: DtiDataset) -> None:
    split, chosen = _made(random, world)
    rows = split.rows.copy()
    assert len(random.broken_promises(world, pair_split(rows[1:]), chosen)) == 1
    assert len(random.broken_promises(world, pair_split(rows[:-1]), chosen)) == 1
    # a binding that the dataset lacks is no negative
    drawn = np.flatnonzero(rows[:, 3] == NEGATIVE)
    rows[drawn[0], 3] = NEW
    assert random.broken_promises(world, pair_split(rows), chosen) == [
        f"there are {len(drawn) - 1} negatives, not {len(drawn)}"
    ]
    rows[drawn[0], 3] = NEGATIVE
    own = np.flatnonzero((rows[:, 3] >= 0) & (rows[:, 0] == TEST))
    rows[own[:2], 0] = TRAIN
    assert len(random.broken_promises(world, pair_split(rows), chosen)) == 2


def test_a_fold_that_is_larger_by_a_whole_pair_is_found(world: DtiDataset) -> None:
    dataset = replace(world, pairs=world.pairs[:40], values=world.values[:40])
    split, chosen = _made(random, dataset)
    assert random.broken_promises(dataset, split, chosen) == []
    rows = split.rows.copy()
    rows[0, 0] = TEST
    asked = split.test_pairs.tolist()
    free = next(pair for pair in np.argwhere(~dataset.known).tolist() if pair not in asked)
    larger = pair_split(np.concatenate([rows, [[TEST, *free, NEGATIVE]]]))
    assert FORM.broken_promises(larger, dataset) == []
    assert random.broken_promises(dataset, larger, chosen) == ["5 of 40 pairs are asked, not one in 10"]


def test_folds_are_each_others_rest(world: DtiDataset) -> None:
    asked = [_made(random, world, fold=fold)[0] for fold in range(10)]
    items = [split.rows[~split.is_train & (split.rows[:, 3] >= 0), 3] for split in asked]
    assert sorted(np.concatenate(items).tolist()) == list(range(len(world.pairs)))


def test_a_released_part_is_that_of_the_authors(measured: DtiDataset, world: DtiDataset) -> None:
    split, chosen = _made(released, measured, part=2)
    used = split.rows[:, 3]
    assert (measured.released[used] >= 0).all(), "the test part is not learned from either"
    other, _ = _made(released, measured, part=3)
    assert released.broken_promises(measured, other, chosen) == [
        "the test pairs are not those of part 2",
        "the training pairs are not those of the parts beside 2",
    ]
    with pytest.raises(UsageError, match="no released part 9"):
        _made(released, measured, part=9)
    with pytest.raises(UsageError, match=r"no released test part\n.*\n.*give its pairs a column `part`"):
        _made(released, world)


def test_new_drugs_and_targets_are_asked_about_and_no_others(world: DtiDataset) -> None:
    split, chosen = _made(new_nodes, world)
    drugs, targets = (set(column.tolist()) for column in world.pairs.T)
    asked = {tuple(pair) for pair in split.test_pairs.tolist()}
    every = {(drug, target) for drug in range(world.drugs) for target in range(world.targets)}
    assert asked == {(drug, target) for drug, target in every if drug not in drugs or target not in targets}
    assert split.training == len(world.pairs)
    fewer, others = pair_split(split.rows[:-1]), split.rows.copy()
    # as many, one of them of nodes that are known
    others[-1, 1:3] = min((drug, target) for drug in drugs for target in targets if not world.known[drug, target])
    for wrong in (fewer, pair_split(others)):
        assert new_nodes.broken_promises(world, wrong, chosen) == [
            "the asked pairs are not those of new drugs and targets"
        ]


def test_where_nothing_is_new_every_unknown_pair_is_asked(world: DtiDataset) -> None:
    known = np.array([[drug, drug % world.targets] for drug in range(world.drugs)], dtype=np.int32)
    dataset = replace(world, pairs=known, values=np.ones(len(known)))
    split, chosen = _made(new_nodes, dataset)
    assert split.test == world.drugs * world.targets - len(known)
    assert new_nodes.broken_promises(dataset, split, chosen) == []


def test_predictions_are_ranked_best_first(world: DtiDataset) -> None:
    split, _ = _made(new_nodes, world)
    scores = np.random.default_rng(1).integers(0, 9, split.test) / 4
    order = np.argsort(-scores, kind="stable")
    rows = [(world.drug_ids[drug], world.target_ids[target]) for drug, target in split.test_pairs[order].tolist()]
    for top in (None, 5):
        ranking = BENCHMARK.ranking(world, split, scores, top)
        assert ranking.columns == ("drug", "target", "score")
        expected = [(*row, score) for row, score in zip(rows, scores[order].tolist(), strict=True)]
        assert list(ranking.rows) == expected[:top]


def test_rows_that_are_asked_are_a_slice_where_they_lie_in_order(world: DtiDataset) -> None:
    """Of the largest tasks no second list of rows is kept."""
    split, _ = _made(new_nodes, world)
    assert isinstance(split.asked, slice)
    shuffled = pair_split(np.random.default_rng(2).permutation(split.rows))
    assert not isinstance(shuffled.asked, slice)
    assert np.array_equal(shuffled.test_pairs, split.test_pairs)
    mixed = pair_split(split.rows[np.lexsort((split.rows[:, 2], split.rows[:, 1]))])
    assert not isinstance(mixed.asked, slice)
    assert np.array_equal(mixed.test_pairs, split.test_pairs)
    swapped = split.rows.copy()
    swapped[[-1, -2]] = swapped[[-2, -1]]
    assert np.array_equal(pair_split(swapped).test_pairs, split.test_pairs)


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_pairs_that_lie_out_of_order_are_seen_wherever_they_lie(
    world: DtiDataset, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """A long file is looked at in pieces, and the order is that of the whole."""
    monkeypatch.setattr("harness.benchmarks.dti.splits.pairs._CHUNK", chunk)
    split, _ = _made(new_nodes, world)
    assert isinstance(split.asked, slice)
    for place in range(len(split.rows) - 8, len(split.rows) - 1):
        swapped = split.rows.copy()
        swapped[[place, place + 1]] = swapped[[place + 1, place]]
        assert not isinstance(pair_split(swapped).asked, slice), place
        assert np.array_equal(pair_split(swapped).test_pairs, split.test_pairs)


def test_a_split_of_no_pair_is_told_as_one(world: DtiDataset) -> None:
    nothing = pair_split(np.empty((0, 4), dtype=np.int32))
    assert FORM.fits(nothing, world)
    assert FORM.broken_promises(nothing, world) == ["there is no training pair", "there is no test pair"]


def test_a_file_of_a_split_is_read_or_refused(world: DtiDataset, tmp_path: Path) -> None:
    split, _ = _made(random, world)
    path = tmp_path / "split.npy"
    path.write_bytes(FORM.content(split))
    back = read_pairs(path)
    assert back.digest == split.digest and np.array_equal(back.rows, split.rows)
    # nobody may change them behind the digest
    assert not back.rows.flags.writeable and not split.rows.flags.writeable
    for array, words in (
        (split.rows[:, :3], "has the shape"),
        (np.tile(split.rows, 2), "has the shape"),
        (split.rows.astype(np.int64), "has data type <i8"),
        (split.rows.ravel(), "has the shape"),
        (split.rows[None], "has the shape"),
        (split.rows[..., None], "has the shape"),
        (np.zeros(4, dtype=np.int32), "has the shape"),
    ):
        path.write_bytes(npy_bytes(np.ascontiguousarray(array)))
        with pytest.raises(CorruptData, match=words):
            read_pairs(path)
    with pytest.raises(CorruptData, match="can't be read"):
        read_pairs(tmp_path / "none.npy")


@pytest.mark.parametrize("count", [0, 1, 9, 10, 12_345, 1 << 20])
def test_a_digest_is_that_of_the_file_which_is_not_made(count: int) -> None:
    """All pairs of 6,250 drugs and 10,000 targets are a gigabyte, and were three while their digest was taken."""
    rows = np.arange(4 * count, dtype="<i4").reshape(-1, 4)
    tracemalloc.start()
    split = pair_split(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 16
    assert split.digest == hashlib.sha256(FORM.content(split)).hexdigest()
