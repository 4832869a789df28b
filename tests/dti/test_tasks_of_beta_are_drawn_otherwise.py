"""The generator must make the tasks of the original code: as a plain twin, and as the published files."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.download import MIRROR_VARIABLE
from harness.base.errors import DataError, MissingData, UsageError
from harness.base.layout import Layout
from harness.benchmarks.dti.converters.beta.groups import dataset_of
from harness.benchmarks.dti.dataset import LEADING, MEMBER, DtiDataset
from harness.benchmarks.dti.parity.splits import JAVA, check_file, dataset_beside
from harness.benchmarks.dti.splits.generator import connectivity as generator
from harness.benchmarks.dti.splits.generator.bindings import bindings_of
from harness.benchmarks.dti.splits.generator.categories import Category, sides, spread_negatives
from harness.benchmarks.dti.splits.generator.connectivity import SCENARIOS
from harness.benchmarks.dti.splits.generator.folds import Halves, fold_of, occurrence_auroc, parts_of
from harness.benchmarks.dti.splits.generator.groups import ranked
from harness.benchmarks.dti.splits.generator.spaces import category_space, neighbour_space, uniform_negatives
from harness.benchmarks.dti.splits.java import JavaRandom, buckets_of, table_of
from harness.benchmarks.dti.splits.pairs import FORM, NEGATIVE, NEW, PairSplit, pair_split
from harness.benchmarks.dti.splits.strategies import (
    annotated_pairs,
    connectivity,
    drug_classes,
    general,
    new_pairs,
    single_nodes,
    target_classes,
)
from harness.data import load_dataset
from harness.parity import references
from harness.parity.cases import SPLITS, find_cases
from harness.parity.finding import Standing
from tests.dti import java_twin as twin
from tests.dti.made_bindings import made_bindings, members_of, named, pairs_of

CATEGORIES = ("TEO", "TRO", "TEE", "TRE")
READINGS = ("as-published", "as-defined", "corrected")
TASKS: list[tuple[Any, dict[str, Any]]] = [
    *((general, {"isolate_free": free, "fold": 2}) for free in (False, True)),
    *((connectivity, {"space": space, "fold": 1}) for space in SCENARIOS),
    # these have a binding whose target is isolated, those before have ones whose drug is
    *((connectivity, {"space": space, "fold": 2}) for space in ("SS", "SU")),
    *((drug_classes, {"space": space, "fold": 1, "rank": 1}) for space in CATEGORIES),
    *((target_classes, {"space": space, "fold": 0}) for space in CATEGORIES),
    *((new_pairs, {"space": space, "rank": 2}) for space in CATEGORIES),
    *((annotated_pairs, {"space": space}) for space in CATEGORIES),
    *((single_nodes, {"kind": kind, "rank": 1}) for kind in ("drug", "target")),
]


@cache
def made(seed: int = 5) -> DtiDataset:
    """The same object each time, so that what its tasks share is made once."""
    return made_bindings(seed)


@cache
def crowded() -> DtiDataset:
    """One with many bindings of few nodes."""
    return made_bindings(7, drugs=99, targets=90, pairs=900)


def split_of(strategy: Any, seed: int = 1024, dataset: DtiDataset | None = None, **parameters: Any) -> PairSplit:
    """A split of the made dataset, or another."""
    split: PairSplit = strategy.make(dataset or made(), seed, strategy.Parameters(**parameters))
    return split


def broken(strategy: Any, split: PairSplit, **parameters: Any) -> list[str]:
    """All promises that a split breaks."""
    checked = strategy.Parameters(**parameters)
    own = strategy.broken_promises(made(), split, checked)
    if draws := getattr(strategy, "broken_draws", None):
        own += draws(made(), split, 1024, checked)
    return [*FORM.broken_promises(split, made()), *own]


def by_name(split: PairSplit, dataset: DtiDataset) -> tuple[list[twin.Pair], list[twin.Pair], list[twin.Pair]]:
    """What is learned from, the bindings that are asked, and the negatives, in their order."""
    is_negative = split.rows[:, 3] == NEGATIVE
    parts = split.is_train, ~split.is_train & ~is_negative, is_negative
    train, test, negatives = (named(dataset, split.rows[rows, 1:3]) for rows in parts)
    return train, test, negatives


def network(dataset: DtiDataset) -> list[list[str]]:
    """All drugs and all targets in the order of the network."""
    return [[name for name in members_of(dataset, "network") if name.startswith(kind)] for kind in ("db", "be")]


@pytest.mark.parametrize(("made_by", "seed"), [(5, 1024), (6, 2**31)])
@pytest.mark.parametrize("space", tuple(SCENARIOS))
def test_connectivity_is_drawn_as_by_the_twin(made_by: int, seed: int, space: str) -> None:
    dataset = made(made_by)
    pairs = named(dataset, dataset.pairs)
    chosen = twin.scenario(pairs, SCENARIOS[space], seed)
    assert chosen
    for fold in (1, 2):
        task = twin.fold(pairs, chosen, fold, 10, seed)
        negatives = twin.connected(pairs, task, space, network(dataset), seed)
        split = split_of(connectivity, seed, dataset, space=space, fold=fold)
        assert by_name(split, dataset) == (task.train, task.test, negatives)


@pytest.mark.parametrize("fold", range(10))
def test_general_tasks_are_drawn_as_by_the_twin(fold: int) -> None:
    pairs, seed = named(made(), made().pairs), 1024 if fold % 2 else 0
    task = twin.fold(pairs, pairs, fold, 10, seed)
    negatives = twin.general(pairs, task, network(made()), seed)
    whole = split_of(general, seed, fold=fold, isolate_free=False)
    assert by_name(whole, made()) == (task.train, task.test, negatives)
    free = [[pair for pair in part if _learned(pair, task)] for part in (task.test, negatives)]
    assert by_name(split_of(general, seed, fold=fold), made()) == (task.train, *free)


def test_the_first_and_the_last_drug_and_target_may_be_those_of_no_binding() -> None:
    """A table lists what binds nothing wherever it likes."""
    dataset = made()
    ends = [[0, dataset.drugs - 1], [0, dataset.targets - 1]]
    bound = ~(np.isin(dataset.pairs[:, 0], ends[0]) | np.isin(dataset.pairs[:, 1], ends[1]))
    dataset = replace(dataset, pairs=dataset.pairs[bound], values=dataset.values[bound])
    found = general.others_of(dataset, fold_of(bindings_of(dataset), bindings_of(dataset).codes, 0, 10, 1))
    for nodes, unbound, column, count in zip(found, ends, (0, 1), (dataset.drugs, dataset.targets), strict=True):
        others = {*range(count)} - {*dataset.pairs[:, column].tolist()}
        assert {*unbound} < others == {*nodes.tolist()}


def _learned(pair: twin.Pair, task: twin.Task) -> bool:
    return all(any(end == one[side] for one in task.train) for side, end in enumerate(pair))


@pytest.mark.parametrize("space", CATEGORIES)
@pytest.mark.parametrize("group", ["test2/category:1", "test3/family:0", "test5/disease 1", "test6/disease 2"])
def test_categories_are_drawn_as_by_the_twin(group: str, space: str) -> None:
    test, _, name = group.partition("/")
    strategy = {"2": drug_classes, "3": target_classes, "5": new_pairs, "6": annotated_pairs}[test[-1]]
    fold: dict[str, Any] = {"fold": 3} if test in ("test2", "test3") else {}
    dataset = crowded()
    pairs, own, members = named(dataset, dataset.pairs), pairs_of(dataset, group), members_of(dataset, group)
    for seed in range(1020, 1024):
        if fold:
            task = twin.fold(pairs, own, 3, 10, seed)
        else:
            task = twin.Task(list(twin.lines(pairs)), list(twin.lines(own)))
        among = members if test == "test2" else list(twin.nodes(members))
        negatives = twin.category([*pairs, *own], task, space, among, test == "test2", seed)
        split = split_of(strategy, seed, dataset, space=space, group=name, **fold)
        assert by_name(split, dataset) == (task.train, task.test, negatives)


def test_unknown_members_of_a_class_lead() -> None:
    """All that is known of a shuffled class is which drugs come first: these give the negatives, or nobody can."""
    dataset, name = made_bindings(), "test2/class:0"
    _, test, negatives = by_name(split_of(drug_classes, dataset=dataset, group="class:0", space="TRO"), dataset)
    assert len(negatives) == len(test) and {drug for drug, _ in negatives} == {members_of(dataset, name)[0]}
    # now the leading drug binds whatever is asked
    rows, number = dataset.group_members, dataset.group_names.index(name)
    lead = int(rows[(rows[:, 0] == number) & (rows[:, 1] == LEADING), 2][0])
    lacking = np.setdiff1d(np.arange(dataset.targets), dataset.pairs[dataset.pairs[:, 0] == lead, 1])
    pairs = np.concatenate([dataset.pairs, np.column_stack([np.full(len(lacking), lead), lacking])])
    full = replace(dataset, pairs=pairs.astype(np.int32), values=np.ones(len(pairs)))
    with pytest.raises(MissingData, match="come before those that are known"):
        split_of(drug_classes, dataset=full, group="class:0", space="TRO")


@pytest.mark.parametrize("space", ["TRE", "TEE"])
def test_outside_of_a_class_with_unknown_members_a_task_has_the_negatives_that_there_are(space: str) -> None:
    """Which of its members lead says nothing of other drugs: where these leave no pair, none is asked."""
    dataset = made_bindings()
    rows, number = dataset.group_members, dataset.group_names.index("test2/class:0")
    others = np.setdiff1d(np.arange(dataset.drugs), rows[rows[:, 0] == number, 2])
    every = np.array([*product(others, range(dataset.targets))])
    pairs = np.unique(np.concatenate([dataset.pairs, every]), axis=0)
    full = replace(dataset, pairs=pairs.astype(np.int32), values=np.ones(len(pairs)))
    _, test, negatives = by_name(split_of(drug_classes, dataset=full, group="class:0", space=space), full)
    assert test and negatives == []


def test_unknown_members_of_a_class_are_drawn_for() -> None:
    """A larger class takes more random numbers, so that targets come in another order behind it."""
    dataset = made_bindings()
    larger = replace(dataset, group_sizes=dataset.group_sizes + 1)
    first, other = (
        by_name(split_of(drug_classes, dataset=one, group="class:0", space="TRO"), one)[2]
        for one in (dataset, larger)
    )
    assert {drug for drug, _ in first} == {drug for drug, _ in other} and first != other


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(("strategy", "parameters"), TASKS)
def test_every_task_keeps_its_promises_and_is_another_by_another_seed(
    strategy: Any, parameters: dict[str, Any], reading: str
) -> None:
    """What a disease binds is all known or all new; else what is asked and what is learned from differ, too."""
    try:
        strategy.Parameters(**parameters, reading=reading)
    except ValueError:
        assert (strategy, reading) != (general, "as-defined")
        return
    split = split_of(strategy, **parameters, reading=reading)
    assert broken(strategy, split, **parameters, reading=reading) == []
    again, other = (split_of(strategy, seed, **parameters, reading=reading) for seed in (1024, 7))
    assert again.digest == split.digest
    are_same = [one == two for one, two in zip(by_name(split, made()), by_name(other, made()), strict=True)]
    assert are_same == [strategy in (new_pairs, annotated_pairs)] * 2 + [False]


@pytest.mark.parametrize(("strategy", "parameters"), TASKS)
def test_a_changed_task_breaks_a_promise(strategy: Any, parameters: dict[str, Any]) -> None:
    split = split_of(strategy, **parameters)
    negatives = np.flatnonzero(split.rows[:, 3] == NEGATIVE)
    train, asked = np.flatnonzero(split.is_train), np.flatnonzero(~split.is_train & (split.rows[:, 3] != NEGATIVE))
    assert len(asked) and len(negatives)
    changes = {
        "a training pair is lost": np.delete(split.rows, train[0], axis=0),
        "a binding is not asked": np.delete(split.rows, asked[0], axis=0),
        "a negative is there twice": np.concatenate([split.rows, split.rows[negatives[:1]]]),
        "a binding stands as a negative": split.rows.copy(),
        "a training pair is asked": split.rows.copy(),
    }
    changes["a binding stands as a negative"][asked[0], 3] = NEGATIVE
    changes["a training pair is asked"][train[0], 0] = 1
    for change, rows in changes.items():
        assert broken(strategy, pair_split(rows), **parameters), change


def test_a_binding_of_one_new_node_is_not_of_the_first_scenario() -> None:
    split = split_of(connectivity, space="TT")
    learned, asked = split.rows[split.is_train], split.rows[~split.is_train & (split.rows[:, 3] != NEGATIVE)]
    rows = split.rows[~split.is_train | (split.rows[:, 1] != asked[0, 1])]
    left = learned[learned[:, 1] != asked[0, 1]]
    wrong = sum(row[1] not in left[:, 1] or row[2] not in left[:, 2] for row in asked)
    assert 0 < wrong < len(asked)
    told = connectivity.broken_promises(made(), pair_split(rows), connectivity.Parameters(space="TT"))
    assert told == [
        f"{wrong} bindings are not of the scenario",
        "the bindings of both parts are not all bindings, each once",
    ]


@pytest.mark.parametrize(("known", "new"), [(1, 2), (2, 1)])
def test_a_binding_of_one_known_node_is_not_of_the_third_scenario(known: int, new: int) -> None:
    """Neither its drug nor its target may be learned from."""
    split = split_of(connectivity, space="DI")
    rows, learned = split.rows.copy(), split.rows[split.is_train]
    times = [np.bincount(learned[:, end]) for end in range(3)]
    lone = np.flatnonzero((times[known][learned[:, known]] > 1) & (times[new][learned[:, new]] == 1))
    asked = np.flatnonzero(split.is_train)[lone[0]]
    rows[asked, 0] = rows[~split.is_train][0, 0]
    told = connectivity.broken_promises(made(), pair_split(rows), connectivity.Parameters(space="DI"))
    assert told[0] == "1 bindings are not of the scenario"


def test_more_negatives_than_bindings_are_told_where_isolated_nodes_are_left_out() -> None:
    """Some of both were left out, so that fewer negatives than bindings are none."""
    split = split_of(general, fold=2)
    halves, negatives = parts_of(made(), split)
    most = len(fold_of(halves.bindings, halves.bindings.codes, 2, 10, 1024).test)
    nodes, taken = halves.learned, {*halves.bindings.codes.tolist(), *negatives.tolist()}
    drugs, targets = nodes.drugs.tolist(), nodes.targets.tolist()
    free = [(drug, target) for drug in drugs for target in targets if drug * made().targets + target not in taken]
    more = [(1, *pair, NEGATIVE) for pair in free[: most + 1 - len(negatives)]]
    told = broken(general, pair_split(np.concatenate([split.rows, np.array(more)])), fold=2)
    assert told == [f"there are {most + 1} negatives, not {most}"]


def test_fewer_than_half_of_the_bindings_of_a_node_are_told() -> None:
    split = split_of(single_nodes, rank=1)
    asked = np.flatnonzero(~split.is_train & (split.rows[:, 3] != NEGATIVE))
    rows = split.rows.copy()
    rows[asked[0], 0] = rows[split.is_train][0, 0]
    told = single_nodes.broken_promises(made(), pair_split(rows), single_nodes.Parameters(rank=1))
    assert told == [f"{len(asked) - 1} bindings are asked, not {len(asked)}"]


@pytest.mark.parametrize(
    ("strategy", "parameters", "other"),
    [
        (connectivity, {"space": "TT"}, {"space": "AA"}),
        (connectivity, {"space": "CC"}, {"space": "TT"}),
        (connectivity, {"space": "SS"}, {"space": "SU"}),
        (connectivity, {"space": "SU", "fold": 2}, {"space": "SS", "fold": 2}),
        (connectivity, {"space": "DI"}, {"space": "TC"}),
        (drug_classes, {"space": "TEO"}, {"space": "TEE"}),
        (drug_classes, {"space": "TEO"}, {"space": "TRO"}),
        (drug_classes, {"group": "category:0"}, {"group": "category:1"}),
        (target_classes, {"space": "TRO"}, {"space": "TRE"}),
        (target_classes, {"reading": "as-defined"}, {"reading": "as-published"}),
        (annotated_pairs, {"group": "disease 0"}, {"group": "disease 1"}),
        (single_nodes, {"kind": "drug"}, {"kind": "target"}),
        (general, {"isolate_free": False}, {"isolate_free": True}),
    ],
)
def test_a_task_is_not_taken_for_another(strategy: Any, parameters: dict[str, Any], other: dict[str, Any]) -> None:
    split = split_of(strategy, **parameters)
    assert broken(strategy, split, **parameters) == []
    assert broken(strategy, split, **other)


@pytest.mark.parametrize("space", CATEGORIES)
def test_drugs_that_lead_are_of_the_space_of_members_alone(space: str) -> None:
    """Of a class with members that nobody knows, negatives of other drugs are not of the leading one."""
    bindings = bindings_of(made())
    halves = fold_of(bindings, bindings.codes, 1, 10, 1024)
    drugs, targets = halves.learned.drugs, halves.asked.targets if space[1] == "E" else halves.only_learned.targets
    members, leading = drugs[:3], np.array([0, made().drugs - 1])
    mask = category_space(halves, space, Category(True, members, 5, leading))
    others = np.setdiff1d(np.concatenate([drugs, halves.asked.drugs]), members)
    expected = {*members.tolist(), *leading.tolist()} if space[2] == "O" else {*others.tolist()}
    assert {*np.flatnonzero(mask.any(axis=1)).tolist()} == expected
    assert {*np.flatnonzero(mask.any(axis=0)).tolist()} == {*targets.tolist()}
    # targets have none that lead: of their category it says nothing
    of_targets = Category(False, halves.learned.targets[:3], 5, leading)
    assert not category_space(halves, "TEO", of_targets)[made().drugs - 1].any()


@pytest.mark.parametrize("similar", [True, False])
def test_neighbours_are_learned_nodes_that_share_a_learned_one_or_none(similar: bool) -> None:
    """With the other end of a binding that is asked; where both of its ends are learned, of its drug."""
    bindings = bindings_of(made())
    of_drug = of_target = 0
    for share in (0.2, 0.5, 0.9):
        is_train = np.random.default_rng(int(10 * share)).random(len(bindings.codes)) < share
        halves = Halves(bindings, bindings.codes[is_train], bindings.codes[~is_train])
        train, test = (
            [*zip(bindings.drugs_of(codes).tolist(), bindings.targets_of(codes).tolist(), strict=True)]
            for codes in (halves.train, halves.test)
        )
        drugs, targets = ({pair[end] for pair in train} for end in (0, 1))
        expected = set()
        for drug, target in test:
            if drug in drugs:
                own = {other for one, other in train if one == drug}
                like = {one for one, other in train if other in own}
                expected |= {(one, target) for one in (like if similar else drugs - like)}
                of_drug += 1
            elif target in targets:
                own = {one for one, other in train if other == target}
                like = {other for one, other in train if one in own}
                expected |= {(drug, other) for other in (like if similar else targets - like)}
                of_target += 1
        assert {*map(tuple, np.argwhere(neighbour_space(halves, similar)).tolist())} == expected
    assert of_drug and of_target


@pytest.mark.parametrize("strategy", [drug_classes, target_classes])
@pytest.mark.parametrize("space", CATEGORIES)
def test_how_often_a_drug_occurs_tells_nothing_once_corrected(strategy: Any, space: str) -> None:
    dataset = crowded()
    published, corrected = (
        [
            occurrence_auroc(
                *parts_of(dataset, split_of(strategy, dataset=dataset, space=space, fold=fold, reading=one))
            )
            for fold in range(10)
        ]
        for one in ("as-published", "corrected")
    )
    assert np.mean(published) > 0.6
    assert abs(np.mean(corrected) - 0.5) < 0.02


@pytest.mark.parametrize("seed", range(8))
def test_the_drug_with_most_bindings_is_matched_first(seed: int) -> None:
    """Of drugs 2 and 3 with three free targets and one, the one must be left to what needs one alone."""
    asked, learned = [(0, 0), (0, 1), (0, 2), (1, 3)], [(3, 4), (3, 5), (4, 6)]
    assert spread(asked, learned, "TRO", [2, 3], seed) == [(2, 4), (2, 5), (2, 6), (3, 6)]


@pytest.mark.parametrize("seed", range(8))
def test_a_drug_with_just_as_many_free_pairs_as_bindings_keeps_them(seed: int) -> None:
    """Drug 2 has more, and must not be given what drugs 0 and 1 have room for."""
    asked = [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)]
    own = [(0, 3), (0, 4), (0, 5), (1, 0), (1, 1), (1, 2)]
    assert spread(asked, [(2, 6)], "TEO", [0, 1, 2], seed) == own


def spread(
    asked: list[tuple[int, int]], learned: list[tuple[int, int]], space: str, members: list[int], seed: int
) -> list[tuple[int, int]]:
    """Negatives of a class of drugs as corrected, in ascending order."""
    pairs = [(f"db{drug}", f"be{target}") for drug, target in [*asked, *learned]]
    texts = (dict.fromkeys((f"{kind}{number}" for number in range(7)), "") for kind in ("db", "be"))
    bindings = bindings_of(dataset_of("made", pairs, *texts))
    test, train = (bindings.code(*np.array(some).T) for some in (asked, learned))
    category = Category(True, np.array(members), len(members), np.empty(0, dtype=np.int64))
    found = spread_negatives(Halves(bindings, train, test), space, category, bindings.known, seed)
    return sorted(zip(bindings.drugs_of(found).tolist(), bindings.targets_of(found).tolist(), strict=True))


def test_first_negatives_given_as_corrected_are_found() -> None:
    split = split_of(target_classes, space="TRE")
    assert any("occurs" in one for one in broken(target_classes, split, space="TRE", reading="corrected"))


def test_negatives_of_the_rarest_drugs_given_as_corrected_are_found() -> None:
    """A ranking below chance tells as much as one above: it has to be turned around."""
    dataset, name = crowded(), "category:0"
    parameters = drug_classes.Parameters(space="TRE", group=name, reading="corrected")
    split = drug_classes.make(dataset, 1024, parameters)
    assert drug_classes.broken_promises(dataset, split, parameters) == []
    rows, negatives = split.rows.copy(), split.rows[:, 3] == NEGATIVE
    learned, asked = rows[split.is_train], rows[~split.is_train & ~negatives]
    members = [dataset.drug_ids.index(one) for one in members_of(dataset, f"test2/{name}")]
    targets, known = np.setdiff1d(learned[:, 2], asked[:, 2]), {tuple(pair) for pair in dataset.pairs.tolist()}
    # drugs of no other row of the test, each once
    drugs = np.setdiff1d(learned[:, 1], members)[: negatives.sum()].tolist()
    rows[negatives, 1:3] = [
        next((one, target) for target in targets if (one, target) not in known) for one in drugs
    ]
    (complaint,) = drug_classes.broken_promises(dataset, pair_split(rows), parameters)
    assert complaint.startswith("ranking by how rarely a drug occurs has an AUROC of 0.0")


def test_nested_spaces_hold_the_others() -> None:
    """As defined, tested nodes are among all nodes; as published, they are not."""
    for reading, shared in (("as-defined", True), ("as-published", False)):
        seen = set()
        for fold in range(10):
            _, test, negatives = by_name(split_of(connectivity, space="AA", reading=reading, fold=fold), made())
            seen |= {drug for drug, _ in negatives} & {drug for drug, _ in test}
        assert bool(seen) == shared


@pytest.mark.parametrize("count", [1, 5, 9, 10, 11])
def test_negatives_are_the_first_distinct_pairs_that_are_drawn(count: int) -> None:
    """Of ten, also where all are wanted; where more are, all in any order."""
    space, known = np.ones((4, 3), dtype=np.bool_), np.isin(np.arange(12), (2, 7))
    drawn = np.random.RandomState(3).randint(12, size=64 * count).tolist()
    first = [*dict.fromkeys(code for code in drawn if code not in (2, 7))]
    found = uniform_negatives(space, known, count, 3).tolist()
    assert found == first[:count] if count <= 10 else sorted(found) == sorted(first)


def test_each_space_has_a_draw_of_its_own() -> None:
    """Nearly all pairs are of all of these spaces: by the seed alone they would have the same negatives."""
    drawn = [
        {*by_name(split_of(connectivity, space=space, fold=1, reading="as-defined"), made())[2]}
        for space in ("TA", "CA", "AA")
    ]
    assert [len(one & other) for one, other in combinations(drawn, 2)] == [0, 0, 0]


def test_half_of_the_bindings_of_the_most_bound_are_asked() -> None:
    for kind, side in (("drug", 0), ("target", 1)):
        counts = np.sort(np.bincount(made().pairs[:, side]))[::-1]
        for rank in (0, 9):
            train, test, negatives = by_name(split_of(single_nodes, kind=kind, rank=rank), made())
            # of those with as many the first in the order of the data
            places = Counter(made().pairs[:, side].tolist())
            node = sorted((-number, node) for node, number in places.items())[rank][1]
            assert test[0][side] == (made().drug_ids, made().target_ids)[side][node]
            assert len(test) == counts[rank] // 2 and len({pair[side] for pair in [*test, *negatives]}) == 1
            assert len(train) + len(test) == len(made().pairs)


@pytest.mark.parametrize(
    ("drugs", "size", "is_task"), [(2, 6, False), (2, 7, True), (3, 4, False), (13, 1, True), (1, 50, False)]
)
def test_a_disease_of_trials_is_a_task_from_two_drugs_and_thirteen_pairs_on(
    drugs: int, size: int, is_task: bool
) -> None:
    dataset = made_bindings()
    number = dataset.group_names.index("test6/disease 0")
    rest = dataset.group_pairs[dataset.group_pairs[:, 0] != number]
    own = [[number, drug, 0] for drug in range(drugs)]
    sizes = dataset.group_sizes.copy()
    sizes[number] = size
    changed = replace(dataset, group_sizes=sizes, group_pairs=np.concatenate([rest, own]).astype(np.int32))
    assert ("disease 0" in ranked(changed, 6, 1, 10)) is is_task


def test_new_bindings_are_known_to_be_new() -> None:
    split = split_of(new_pairs)
    assert (split.rows[~split.is_train, 3] == NEW).sum() == 9 and (split.rows[split.is_train, 3] >= 0).all()
    assert sorted(split.rows[split.is_train, 3]) == list(range(len(made().pairs)))


def _without_groups(*prefixes: str) -> DtiDataset:
    dataset = made_bindings()
    names = tuple(f"other {name}" if name.startswith(prefixes) else name for name in dataset.group_names)
    return replace(dataset, group_names=names)


@pytest.mark.parametrize(
    ("strategy", "parameters", "file"),
    [
        (general, {}, "drugbank.nq"),
        (connectivity, {"space": "TA"}, "sequence.txt"),
        (drug_classes, {}, "linkedSPL"),
        (target_classes, {"group": "family"}, "PTHR15.0_human"),
        (new_pairs, {"rank": 3}, "2020-11"),
        # of ten diseases five are published: no plan of all ten stops at the sixth
        (new_pairs, {"rank": 5}, "2020-11"),
        (annotated_pairs, {}, "clinicalCT"),
    ],
)
def test_what_is_not_public_is_named(strategy: Any, parameters: dict[str, Any], file: str) -> None:
    dataset = _without_groups("network", "test2", "test3", "test6")
    with pytest.raises(MissingData) as error:
        split_of(strategy, dataset=dataset, **parameters)
    assert file in error.value.where
    if strategy in (general, connectivity):
        assert split_of(strategy, dataset=dataset, **parameters, reading="as-defined").test
        assert len(strategy.positives(dataset, 1024, strategy.Parameters(**parameters)).test)


@pytest.mark.parametrize(
    ("strategy", "published", "defined"),
    [(drug_classes, 5, 3), (target_classes, 5, 3), (new_pairs, 5, 10), (annotated_pairs, 10, 10)],
)
def test_each_reading_has_so_many_groups_and_no_more(strategy: Any, published: int, defined: int) -> None:
    for reading, most in (("as-published", published), ("as-defined", defined)):
        for rank in (most - 1, most):
            try:
                split_of(strategy, reading=reading, rank=rank)
                told = ""
            except MissingData as error:
                told = error.what
            beyond = f"this reading has {most} groups of each kind, not {rank + 1}"
            assert (told == beyond) is (rank == most), told


def test_a_group_that_is_named_is_itself_whatever_its_rank() -> None:
    """A rank counts among those of a scheme, or of the first one where none is named."""
    first, other = (split_of(drug_classes, group="class:0", space="TRO", rank=rank).digest for rank in (0, 2))
    assert first == other
    names = ranked(made_bindings(), 2, 2, 5)
    assert [name.partition(":")[0] for name in names] == ["category"] * 3 + ["class"] * 3
    for rank, name in enumerate(names[:3]):
        of_first, named_so = (
            split_of(drug_classes, space="TRO", **own) for own in ({"rank": rank}, {"group": name})
        )
        assert of_first.digest == named_so.digest
    with pytest.raises(MissingData, match="Test 2 has 3 groups here, not 4"):
        split_of(drug_classes, space="TRO", rank=3)


def test_a_class_that_is_not_known_whole_is_not_taken_for_whole() -> None:
    dataset = made_bindings()
    dataset.group_sizes[dataset.group_names.index("test3/family:1")] = 0
    with pytest.raises(MissingData, match="more bindings than are public"):
        split_of(target_classes, dataset=dataset, group="family:1")


def test_affinities_and_unknown_groups_are_refused() -> None:
    dataset = replace(made_bindings(), values=np.arange(len(made().pairs)) / 7)
    with pytest.raises(UsageError, match="affinities"):
        split_of(connectivity, dataset=dataset)
    with pytest.raises(UsageError, match="family:7"):
        split_of(target_classes, group="family:7")
    with pytest.raises(MissingData, match="groups of each kind"):
        split_of(target_classes, rank=3, reading="as-defined")
    with pytest.raises(ValueError, match="3 folds"):
        target_classes.Parameters(reading="as-defined", fold=3)


def test_published_tasks_of_diseases_come_out(repository: Layout, shared: Path) -> None:
    dataset = load_dataset(repository, "beta", DtiDataset, mirrors=[shared / "mirror"])
    compared = proved = 0
    for strategy, prefix in ((new_pairs, "test5"), (annotated_pairs, "test6")):
        for group in [name.partition("/")[2] for name in dataset.group_names if name.startswith(f"{prefix}/")]:
            for space in CATEGORIES:
                parameters = strategy.Parameters(group=group, space=space)
                split = strategy.make(dataset, 1024, parameters)
                _, test, negatives = by_name(split, dataset)
                assert test == pairs_of(dataset, f"{prefix}/{group}")
                assert negatives == pairs_of(dataset, f"{prefix}-{space}/{group}")
                assert strategy.broken_promises(dataset, split, parameters) == []
                assert strategy.broken_draws(dataset, split, 1024, parameters) == []
                number = dataset.group_names.index(f"{prefix}/{group}")
                members = dataset.group_members[dataset.group_members[:, 0] == number]
                proved += len(members[members[:, 1] == MEMBER]) == dataset.group_sizes[number]
                compared += 1
    assert (compared, proved) == (60, 44)


@pytest.mark.parametrize("of_drugs", [True, False])
def test_nodes_that_share_a_bucket_stand_as_they_were_added(of_drugs: bool) -> None:
    """Those of the space's own half first: a set of Java's remembers it, and the first node has most negatives."""
    halves = drug_classes.positives(made(), 1024, drug_classes.Parameters(rank=0, fold=1))
    bindings, nobody = halves.bindings, np.empty(0, dtype=np.int64)
    nodes_of, ends = (bindings.drugs_of, bindings.drugs) if of_drugs else (bindings.targets_of, bindings.targets)
    found = []
    for space, halves_in_order in (("TEE", (halves.test, halves.train)), ("TRE", (halves.train, halves.test))):
        added = list(dict.fromkeys(node for half in halves_in_order for node in nodes_of(half).tolist()))
        buckets = buckets_of(ends.hashes[added], table_of(len(added)))
        expected = [added[place] for place in sorted(range(len(added)), key=lambda place: int(buckets[place]))]
        found.append(sides(halves, space, Category(of_drugs, nobody, 0, nobody))[not of_drugs].tolist())
        assert found[-1] == expected
    assert found[0] != found[1] and sorted(found[0]) == sorted(found[1])


@pytest.mark.parametrize(("strategy", "test"), [(new_pairs, 5), (annotated_pairs, 6)])
def test_drawing_again_finds_other_negatives(strategy: Any, test: int) -> None:
    dataset = made_bindings()
    split = split_of(strategy, dataset=dataset, group="disease 1", space="TRO")
    parameters = strategy.Parameters(group="disease 1", space="TRO")
    negatives = split.rows[split.rows[:, 3] == NEGATIVE, 1:3]
    said = "the generator draws other negatives than the published ones"
    for rows, complaints in ((negatives, []), (negatives[::-1], [said])):
        number = len(dataset.group_names)
        pairs = np.column_stack([np.full(len(rows), number), rows])
        published = replace(
            dataset,
            group_names=(*dataset.group_names, f"test{test}-TRO/disease 1"),
            group_sizes=np.append(dataset.group_sizes, 0),
            group_pairs=np.concatenate([dataset.group_pairs, pairs]),
        )
        again = split_of(strategy, dataset=published, group="disease 1", space="TRO")
        assert (again.rows[again.rows[:, 3] == NEGATIVE, 1:3] == rows).all()
        assert strategy.broken_draws(published, again, 1024, parameters) == complaints
        # another seed draws its own
        other = split_of(strategy, 1, dataset=published, group="disease 1", space="TRO")
        assert other.digest == split_of(strategy, 1, dataset=dataset, group="disease 1", space="TRO").digest
        assert strategy.broken_draws(published, other, 1, parameters) == []
        # nor has another reading to find those, or a disease of which a target is not public
        defined = strategy.Parameters(group="disease 1", space="TRO", reading="as-defined")
        assert strategy.broken_draws(published, again, 1024, defined) == []
        sizes = published.group_sizes.copy()
        sizes[published.group_names.index(f"test{test}/disease 1")] += 1
        assert strategy.broken_draws(replace(published, group_sizes=sizes), again, 1024, parameters) == []


@pytest.mark.parametrize(
    ("strategy", "parameters"),
    [
        (general, {"fold": 2}),
        (connectivity, {"space": "TT", "fold": 1}),
        (drug_classes, {"space": "TEO", "fold": 1}),
        (target_classes, {"space": "TRO"}),
        (new_pairs, {"space": "TEO"}),
        (single_nodes, {}),
    ],
)
def test_one_negative_of_a_drug_that_is_not_asked_for_is_told(strategy: Any, parameters: dict[str, Any]) -> None:
    """Two drugs have no binding: none of these spaces has a pair of theirs."""
    rows = split_of(strategy, **parameters).rows.copy()
    rows[np.flatnonzero(rows[:, 3] == NEGATIVE)[0], 1] = made().drugs - 1
    assert made().drugs - 1 not in made().pairs[:, 0]
    said = "1 negatives are bindings, or outside the space"
    assert broken(strategy, pair_split(rows), **parameters) == [said]


@pytest.mark.parametrize(
    "name", ["java_primitives", "beta/test0", "beta/test1_TT", "beta/test1_regen", "beta/test5"]
)
def test_golden_tables_are_equal(repository: Layout, shared: Path, name: str) -> None:
    cases = [case for case in find_cases(shared / "golden" / "dti") if case.name.startswith(name)]
    assert len(cases) == 1
    finding = references.check(repository, cases[0], [shared / "mirror"])
    assert finding.arrays and {one.standing for one in finding.arrays} == {Standing.OK}


def test_a_golden_table_that_differs_is_found(repository: Layout, shared: Path, tmp_path: Path) -> None:
    """A row of another order is beyond, a table without a task has failed, and what lies beside is no case."""
    source, folder = shared / "golden" / "dti" / "beta", tmp_path / "dti" / "beta"
    folder.mkdir(parents=True)
    for path in source.iterdir():
        if not path.name.startswith(("test1", "test2", "test3")):
            (folder / path.name).symlink_to(path)
    rows = gzip.decompress((source / "test0_positives_folds0-4.csv.gz").read_bytes()).decode().splitlines()
    (folder / "test0_swapped.csv").write_text("\n".join([rows[0], rows[2], rows[1], *rows[3:]]))
    (folder / "notes.csv").write_text("a,b\n1,2\n")
    findings = {case.name: references.check(repository, case, []).worst for case in find_cases(tmp_path / "dti")}
    assert findings == {
        "beta/test0_positives_folds0-4": Standing.OK,
        "beta/test0_swapped": Standing.BEYOND,
        "beta/test5_repo_testpairs": Standing.OK,
        "beta/notes": Standing.FAILED,
    }


def test_tables_are_compared_with_the_dataset_beside_them(tmp_path: Path) -> None:
    """No dataset has these bindings, and no data are needed."""
    house, folder = (
        Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local"),
        tmp_path / "dti" / "beta",
    )
    folder.mkdir(parents=True)
    dataset = made()
    tables = {
        "beta_positives_12240.csv.gz": ["drug,target", *map(",".join, named(dataset, dataset.pairs))],
        "beta_drug_smiles.csv.gz": ["drug", *dataset.drug_ids],
        "targets_with_sequence_known.csv.gz": ["target", *dataset.target_ids],
    }
    train, test, _ = by_name(split_of(general, fold=2), dataset)
    header = "test,job,task,fold,role,drug,target,label"
    rows = [
        f"0,j,isolateFree,2,{role},{drug},{target},1"
        for role, part in (("train", train), ("test", test))
        for drug, target in part
    ]
    tables |= {"test0_whole.csv": [header, *rows], "test0_turned.csv": [header, rows[1], rows[0], *rows[2:]]}
    # neither part is as long as an original file that was cut: one is longer
    begun = [*rows[: len(train) - 1], *rows[len(train) : -1]]
    tables |= {"test0_begun.csv": [header, *begun]}
    # its negatives need all nodes of the network, which nobody has: what is there must be right all the same
    drawn = [*rows, f"0,j,isolateFree,2,test,{dataset.drug_ids[0]},{dataset.target_ids[0]},0"]
    tables |= {"test0_drawn.csv": [header, *drawn]}
    tables |= {"test0_misdrawn.csv": [header, *drawn[:-3], drawn[-2], drawn[-3], drawn[-1]]}
    tables |= {"test0_unread.csv": [header, rows[0].replace(",1", ",one"), rows[-1].replace("0,j", "9,j")]}
    for name, lines in tables.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    findings = {case.name: references.check(house, case, []) for case in find_cases(tmp_path / "dti")}
    standings = {name: [one.standing for one in finding.arrays] for name, finding in findings.items()}
    assert standings == {
        "beta/test0_begun": [Standing.BEYOND, Standing.BEYOND],
        "beta/test0_drawn": [Standing.OK, Standing.MISSING_DATA],
        "beta/test0_misdrawn": [Standing.OK, Standing.BEYOND],
        "beta/test0_turned": [Standing.BEYOND, Standing.OK],
        "beta/test0_unread": [Standing.FAILED, Standing.FAILED],
        "beta/test0_whole": [Standing.OK, Standing.OK],
    }
    # without them it is compared with the dataset `beta`, which is not here
    alone = tmp_path / "alone" / "dti" / "beta"
    alone.mkdir(parents=True)
    (folder / "test0_whole.csv").rename(alone / "test0_whole.csv")
    (case,) = find_cases(alone.parent)
    with pytest.raises(UsageError, match="beta"):
        references.check(house, case, [])


def test_diseases_beside_a_golden_have_new_bindings_of_known_nodes(tmp_path: Path) -> None:
    """Of a trial only what is not known to bind; once, and of no node that the bindings do not have."""
    tables = {
        "beta_positives_12240.csv.gz": "drug,target\nDB1,BE1\nDB2,BE2\n",
        "beta_drug_smiles.csv.gz": "drug\nDB1\nDB2\nDB3\n",
        "targets_with_sequence_known.csv.gz": "target\nBE1\nBE2\n",
        "t5_disease_K.csv": "disease,K_in_iteration_order\nasthma,be2 be1\n",
        "test5_repo_testpairs.csv.gz": "task,drug,target,label\n"
        + "asthma,db3,be1,1\nasthma,db3,be1,1\nasthma,db1,be2,0\nflu,db3,be2,1\n",
        "test6_disease_targets.csv.gz": "disease,target\nBig Flu,be2\nBig Flu,be9\nBig Flu,be1\nBig Flu,be2\n",
        "test6_annotation.csv.gz": "disease,drug_id,target_id\n"
        + "Big Flu,DB3,BE2\nBig Flu,DB2,BE2\nBig Flu,DB3,BE2\nBig Flu,DB9,BE1\nBig Flu,DB2,BE1\n",
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
    dataset = dataset_beside(tmp_path)
    assert dataset is not None and dataset.group_names == ("test5/asthma", "test6/big_flu")
    assert [pairs_of(dataset, name) for name in dataset.group_names] == [
        [("db3", "be1")],
        [("db3", "be2"), ("db2", "be1")],
    ]
    assert [members_of(dataset, name) for name in dataset.group_names] == [["be2", "be1"], ["be2", "be1"]]
    assert dataset.group_sizes.tolist() == [2, 2]
    (tmp_path / "targets_with_sequence_known.csv.gz").unlink()
    dataset_beside.cache_clear()
    assert dataset_beside(tmp_path) is None


@pytest.mark.parametrize(
    ("table", "standing", "note"),
    [
        (
            "test,job,task,fold,role,drug,target,label\n",
            Standing.MISSING_DATA,
            "; give its originals with --mirror",
        ),
        ("drug,target\n", Standing.FAILED, ": neither a table of tasks nor an input of one"),
    ],
)
def test_a_table_that_can_not_be_compared_is_told_by_its_name(
    tmp_path: Path,
    repository: Layout,
    table: str,
    standing: Standing,
    note: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    path = tmp_path / "test1_TT.csv"
    path.write_text(f"{table}\n")
    layout = Layout(repository.root, tmp_path / "cache", tmp_path / "local")
    finding = check_file(layout, "beta/test1_TT", path, [])
    assert (finding.case, finding.kind, finding.subject) == ("beta/test1_TT", SPLITS, SPLITS)
    assert finding.standing is standing and finding.note.endswith(note)


def few_bindings(pairs: list[tuple[int, int]], drugs: int, targets: int) -> DtiDataset:
    """A person's own bindings, which may be all that there can be."""
    return DtiDataset(
        name="few",
        pairs=np.array(pairs, dtype=np.int32),
        values=np.ones(len(pairs)),
        drug_ids=tuple(f"d{number}" for number in range(drugs)),
        target_ids=tuple(f"t{number}" for number in range(targets)),
        smiles=("C",) * drugs,
        sequences=("A",) * targets,
    )


@pytest.mark.parametrize(
    ("space", "why"),
    [
        ("CC", "fewer than 1 of its pairs are not known to bind"),
        *((space, "no binding that is asked has another pair beside it") for space in ("SS", "SU", "DI")),
    ],
)
def test_data_in_which_everything_binds_are_refused_and_nothing_waits_for_ever(space: str, why: str) -> None:
    every = few_bindings([(drug, target) for drug in range(3) for target in range(2)], 3, 2)
    with pytest.raises(DataError) as refused:
        split_of(connectivity, dataset=every, space=space)
    assert refused.value.what == f"these data have too few pairs for it: {why}"


def test_a_space_with_as_many_free_pairs_as_are_wanted_is_drawn_from_to_the_last() -> None:
    nodes = np.arange(3), np.arange(2)
    bindings = bindings_of(few_bindings([(0, 0), (1, 1), (2, 0), (2, 1)], 3, 2))
    drawn = generator._drawn(bindings, *nodes, 2, JavaRandom(1))
    free = bindings.code(np.array([0, 1]), np.array([1, 0]))
    assert sorted(drawn.tolist()) == sorted(free.tolist())
    with pytest.raises(DataError) as refused:
        generator._drawn(bindings, *nodes, 3, JavaRandom(1))
    assert refused.value.what == (
        "these data have too few pairs for it: fewer than 3 of its pairs are not known to bind"
    )
    assert refused.value.todo == "take another space, or another split"


@pytest.mark.parametrize(("kind", "count"), [("drug", 2), ("target", 1)])
def test_a_node_that_is_not_there_is_refused_by_its_rank(kind: str, count: int) -> None:
    """Of one binding, or none, there is no half to ask for."""
    few = few_bindings([(0, 0), (1, 2), (2, 0), (2, 1), (1, 0)], 4, 3)
    for rank in range(count):
        parameters = single_nodes.Parameters(kind=kind, rank=rank)
        assert len(single_nodes.positives(few, 1024, parameters).test) == 1
    with pytest.raises(DataError) as refused:
        split_of(single_nodes, dataset=few, kind=kind, rank=count)
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        f"there is no {kind} of rank {count}",
        f"dataset few: {count} {kind}{'s' if count > 1 else ''} with two bindings",
        f"name a rank below {count}",
    )
    with pytest.raises(DataError) as refused:
        split_of(single_nodes, dataset=few_bindings([(0, 0), (1, 1)], 2, 2), kind=kind, rank=0)
    assert refused.value.todo == "take another dataset, or kind"


def test_of_what_java_does_each_line_is_compared_and_an_unknown_kind_is_told(
    repository: Layout, tmp_path: Path
) -> None:
    path = tmp_path / "java.csv"
    right, wrong = ",".join(map(str, JavaRandom(7).below_each(np.full(3, 10)))), "10,10,10"
    path.write_text(f"nextInt,10,7,{right}\nnextInt,10,7,{wrong}\nnextGaussian,1,7,0.5\n")
    finding = check_file(repository, JAVA, path, [])
    assert (finding.kind, finding.subject) == (SPLITS, "java.util")
    assert [one.array for one in finding.arrays] == [
        "line 1: nextInt 10 7",
        "line 2: nextInt 10 7",
        "line 3: nextGaussian 1 7",
    ]
    assert [one.standing for one in finding.arrays] == [Standing.OK, Standing.BEYOND, Standing.NOT_IMPLEMENTED]
    assert finding.arrays[2].note == "not a kind of Java's that is known here"


def test_a_task_that_can_not_be_made_is_told_and_the_others_are_compared(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything_binds = few_bindings([(drug, target) for drug in range(3) for target in range(2)], 3, 2)
    monkeypatch.setattr("harness.benchmarks.dti.parity.splits.dataset_beside", lambda folder: everything_binds)
    few = "these data have too few pairs for it: fewer than 1 of its pairs are not known to bind"
    tasks = {
        "1,CC,x,0,test,d0,t0,0": (Standing.FAILED, few),
        "2,CC,x,0,test,d0,t0,1": (
            Standing.FAILED,
            "the task can't be read: space: has to be 'TEO', 'TRO', 'TEE' or 'TRE', not 'CC'",
        ),
        "2,CC,x,-1,test,d0,t0,1": (
            Standing.FAILED,
            "the task can't be read: space: has to be 'TEO', 'TRO', 'TEE' or 'TRE', not 'CC'; fold: has to be 0 "
            "or more, not -1",
        ),
        "9,CC,x,0,test,d0,t0,1": (Standing.FAILED, "the task can't be read: '9'"),
        "1,CC,y,0,test,d0,t9,1": (Standing.FAILED, "the task can't be read: 't9'"),
        "6,TRE,x,0,test,d0,t0,1": (Standing.MISSING_DATA, "Test 6 has 0 groups here, not 1"),
        "0,x,isolateFree,0,test,d0,t0,1": (Standing.BEYOND, ""),
    }
    path = tmp_path / "tasks.csv"
    path.write_text("\n".join(["test,job,task,fold,role,drug,target,label", *tasks]))
    found = check_file(repository, "tasks", path, []).arrays
    assert [one.array for one in found] == [" ".join(line.split(",")[:5]) for line in tasks]
    assert [(one.standing, one.note) for one in found] == [*tasks.values()]
