"""What a dataset of pairs must be, is counted as and said to be: by hand, one fault at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from harness.base.errors import CorruptData
from harness.benchmarks import own_data
from harness.benchmarks.dti.checks import checked_remarks
from harness.benchmarks.dti.converters.dti_csv import Parameters
from harness.benchmarks.dti.dataset import LEADING, MEMBER, DtiDataset
from harness.benchmarks.dti.names import METRICS
from harness.benchmarks.dti.splits.pairs import FORM, NEGATIVE, NEW, TEST, TRAIN, pair_split
from harness.benchmarks.dti.splits.strategies import new_nodes, random, released
from harness.benchmarks.dti.statistics import DtiStatistics
from harness.benchmarks.reading import reading_of


def _rows(*rows: tuple[int, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.int32)


MADE = DtiDataset(
    name="made",
    pairs=_rows((0, 0), (1, 1), (2, 0)),
    values=np.ones(3),
    drug_ids=("a", "b", "c"),
    target_ids=("p", "q"),
    smiles=("C", "CC", "O"),
    sequences=("M", "K"),
    released=np.array([-1, 0, 1], dtype=np.int8),
    edges=_rows((0, 0, 5), (1, 3, 4)),
    node_names=("x",),
    relation_names=("drug-x", "target-target"),
    drug_similarity=np.eye(3),
    target_similarity=np.eye(2),
    group_names=("test2/k:1", "test6/flu"),
    group_sizes=np.array([2, 1], dtype=np.int32),
    group_members=_rows((0, MEMBER, 2), (0, MEMBER, 0), (0, LEADING, 1), (1, MEMBER, 4)),
    group_pairs=_rows((0, 2, 0), (1, 2, 1)),
)


def test_a_dataset_that_is_whole_is_taken() -> None:
    assert checked_remarks(MADE) == ()
    bare = replace(MADE, released=MADE.released[:0], drug_similarity=np.empty((0, 0)))
    assert checked_remarks(replace(bare, target_similarity=np.empty((0, 0)))) == ()


FAULTS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"values": np.ones(2)}, "'values' has shape (2,), not (3,)", "", "correct the converter"),
    ({"pairs": _rows((0, 0, 0)), "values": np.ones(1)}, "'pairs' has shape (1, 3), not (1, 2)", "", ""),
    ({"released": MADE.released[:2]}, "'released' has shape (2,), not (3,)", "", ""),
    ({"drug_similarity": np.eye(2)}, "'drug_similarity' has shape (2, 2), not (3, 3)", "", ""),
    ({"target_similarity": np.eye(3)}, "'target_similarity' has shape (3, 3), not (2, 2)", "", ""),
    ({"group_sizes": MADE.group_sizes[:1]}, "'group_sizes' has shape (1,), not (2,)", "", ""),
    ({"edges": MADE.edges[:, :2]}, "'edges' has shape (2, 2), not (2, 3)", "", ""),
    ({"group_members": MADE.group_members[:, :2]}, "'group_members' has shape (4, 2), not (4, 3)", "", ""),
    ({"group_pairs": MADE.group_pairs[:, :2]}, "'group_pairs' has shape (2, 2), not (2, 3)", "", ""),
    ({"smiles": ("C", "CC")}, "'smiles' has not one text for each", "", "give an empty text where none is known"),
    ({"sequences": ("M",)}, "'sequences' has not one text for each", "", "give an empty text where none is known"),
    (
        {"pairs": _rows().reshape(0, 2), "values": np.empty(0), "released": MADE.released[:0]},
        "there is no pair",
        "",
        "give at least one drug with a target it binds",
    ),
    ({"drug_ids": ("a", "b", "A")}, "1 drugs have a name that others have, 'a' for one", "", "a name of its own"),
    ({"target_ids": ("p", "P")}, "1 targets have a name that others have, 'p' for one", "", ""),
    ({"node_names": tuple("zxyYXY")}, "2 other nodes have a name that others have, 'x' for one", "", ""),
    ({"relation_names": ("r", "r")}, "1 relations have a name that others have, 'r' for one", "", ""),
    ({"group_names": ("g", "G")}, "1 groups have a name that others have, 'g' for one", "", ""),
    (
        {"pairs": _rows((0, 0), (3, 1), (2, 0))},
        "'pairs' holds 3, which is not in 0 to 2",
        ": row 1",
        "add what it",
    ),
    ({"pairs": _rows((0, 0), (1, 1), (2, 2))}, "'pairs' holds 2, which is not in 0 to 1", ": row 2", ""),
    ({"pairs": _rows((-1, 0), (1, 1), (2, 0))}, "'pairs' holds -1, which is not in 0 to 2", ": row 0", ""),
    ({"edges": _rows((2, 0, 5))}, "'edges' holds 2, which is not in 0 to 1", ": row 0", ""),
    ({"edges": _rows((0, 0, 5), (0, 6, 0))}, "'edges' holds 6, which is not in 0 to 5", ": row 1", ""),
    ({"edges": _rows((0, 0, 6))}, "'edges' holds 6, which is not in 0 to 5", ": row 0", ""),
    ({"group_members": _rows((2, 0, 0))}, "'group_members' holds 2, which is not in 0 to 1", ": row 0", ""),
    ({"group_members": _rows((1, 2, 0))}, "'group_members' holds 2, which is not in 0 to 1", ": row 0", ""),
    ({"group_members": _rows((1, 0, 5))}, "'group_members' holds 5, which is not in 0 to 4", ": row 0", ""),
    ({"group_pairs": _rows((2, 0, 0))}, "'group_pairs' holds 2, which is not in 0 to 1", ": row 0", ""),
    ({"group_pairs": _rows((1, 3, 0))}, "'group_pairs' holds 3, which is not in 0 to 2", ": row 0", ""),
    ({"group_pairs": _rows((1, 0, 2))}, "'group_pairs' holds 2, which is not in 0 to 1", ": row 0", ""),
    ({"values": np.array([1, np.inf, 2])}, "'values' has a number that is not finite", ": row 1", "correct the"),
    ({"drug_similarity": np.full((3, 3), np.nan)}, "'drug_similarity' has a number that", ": row 0", ""),
    ({"target_similarity": np.diag([1, np.nan])}, "'target_similarity' has a number that", ": row 1", ""),
    # what is over by more than a sum of digits may be
    (
        {"drug_similarity": np.array([[1, 0, 0], [0, 1 + 1e-8, 0], [0, 0, 1]])},
        "'drug_similarity' holds 1.00000001, which is not in 0 to 1",
        ": row 1, column 1",
        "scale it",
    ),
    (
        {"target_similarity": np.array([[1, -1e-8], [0, 1]])},
        "'target_similarity' holds -1e-08, which is not in 0 to 1",
        ": row 0, column 1",
        "scale it",
    ),
    (
        {"target_similarity": np.array([[1, 1.5], [0, 1]])},
        "'target_similarity' holds 1.5, which is not in 0 to 1",
        ": row 0, column 1",
        "scale it",
    ),
    (
        {"pairs": _rows((1, 1), (0, 0), (1, 1))},
        "the pair 'b', 'q' is there twice",
        ": pairs 0 and 2",
        "keep one of them",
    ),
    # of several the first is told
    (
        {"pairs": _rows((2, 1), (0, 0), (2, 1), (0, 0)), "values": np.ones(4), "released": np.zeros(4, np.int8)},
        "the pair 'a', 'p' is there twice",
        ": pairs 1 and 3",
        "keep one of them",
    ),
    (
        {"edges": _rows((0, 0, 5), (1, 3, 0), (0, 2, 3))},
        "an edge joins a drug and a target",
        ": edge 1",
        "give it as a pair",
    ),
    (
        {"edges": _rows((0, 0, 5), (1, 4, 2))},
        "an edge joins a drug and a target: it could tell a method what is asked",
        ": edge 1",
        "give it as a pair",
    ),
    ({"edges": _rows((0, 2, 3))}, "an edge joins a drug and a target", ": edge 0", ""),
]


@pytest.mark.parametrize(("changes", "what", "where", "todo"), FAULTS)
def test_a_converter_that_is_wrong_is_told(changes: dict[str, Any], what: str, where: str, todo: str) -> None:
    with pytest.raises(CorruptData) as refused:
        checked_remarks(replace(MADE, **changes))
    assert refused.value.what.startswith(what)
    assert refused.value.where == f"dataset made{where}" and todo in refused.value.todo


def test_edges_of_one_kind_or_with_others_are_taken() -> None:
    """The last drug and the first target are neighbours by number, and so are the last target and an other."""
    edges = _rows((0, 1, 2), (1, 3, 4), (0, 2, 5), (1, 4, 5), (0, 5, 0), (1, 5, 3))
    assert checked_remarks(replace(MADE, edges=edges)) == ()


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({"smiles": ("", "CC", "")}, "2 of 3 drugs have no structure"),
        ({"sequences": ("M", "")}, "1 of 2 targets have no sequence"),
        ({"pairs": _rows((0, 0), (1, 1), (0, 1))}, "1 of 3 drugs are in no pair"),
        ({"pairs": _rows((0, 0), (1, 0), (2, 0))}, "1 of 2 targets are in no pair"),
        ({"smiles": ("C", "C1CC(((", "((")}, "2 of 3 drugs have a SMILES that RDKit can't read, 'b' first"),
    ],
)
def test_what_is_odd_is_remarked_and_nothing_else(changes: dict[str, Any], remark: str) -> None:
    assert checked_remarks(replace(MADE, **changes)) == (remark,)


def test_statistics_count_what_is_known() -> None:
    own = replace(MADE, smiles=("C", "", "O"), sequences=("", "K"), values=np.array([1.0, 1.0, 2.0]))
    assert own.statistics().model_dump() == {
        "drugs": 3,
        "targets": 2,
        "pairs": 3,
        "affinity": True,
        "structures": 2,
        "sequences": 1,
        "nodes": 1,
        "relations": 2,
        "edges": 2,
        "groups": 2,
    }
    assert not MADE.statistics().affinity and MADE.nodes == 6
    # a measured pair is one, however weak
    for one in (MADE, replace(MADE, values=np.array([0.0, -2.5, 7.0]))):
        assert one.known.tolist() == [[True, False], [False, True], [True, False]]


def test_members_of_a_group_are_those_of_their_role() -> None:
    assert MADE.members_of("test2/k:1").tolist() == [2, 0]
    assert MADE.members_of("test2/k:1", LEADING).tolist() == [1]
    assert MADE.members_of("test6/flu").tolist() == [4]


@pytest.mark.parametrize("name", sorted(DtiStatistics.model_fields.keys() - {"affinity"}))
def test_a_count_below_its_least_is_refused(name: str) -> None:
    least = int(name in ("drugs", "targets", "pairs"))
    given = {"drugs": 1, "targets": 1, name: least}
    assert DtiStatistics.model_validate(given).model_dump()[name] == least
    with pytest.raises(ValidationError, match=name):
        DtiStatistics.model_validate({**given, name: least - 1})


def test_a_line_of_counts_and_the_bytes_of_an_answer() -> None:
    known = DtiStatistics(drugs=68, targets=442, pairs=30_056)
    assert known.line.rstrip() == "   68 drugs   442 targets   30056 pairs"
    assert DtiStatistics(drugs=1, targets=1, pairs=1).line == "    1 drugs     1 targets       1 pairs         "
    sizes = {pairs: DtiStatistics(drugs=1, targets=1, pairs=pairs).result_bytes({}) for pairs in (1, 10, 30_056)}
    assert sizes == {1: 1, 10: 16, 30_056: 48_089}
    unknown = DtiStatistics(drugs=1, targets=1)
    assert unknown.line.split()[4] == "?" and unknown.result_bytes({}) == 0
    assert (unknown.affinity, unknown.structures, unknown.relations) == (False, 0, 0)


def test_a_score_is_read_as_what_it_is() -> None:
    bindings = reading_of("dti", MADE)
    assert len(bindings.meaning) == 2 and "It is no probability" in bindings.meaning[0]
    assert "hypothesis" in bindings.meaning[1]
    assert bindings.known == ((("a", "p"), "binds"), (("b", "q"), "binds"), (("c", "p"), "binds"))
    measured = reading_of("dti", replace(MADE, values=np.array([5, 7.25, 1])))
    assert "A score is the affinity" in measured.meaning[0] and measured.meaning[1:] == bindings.meaning[1:]
    assert [text for _, text in measured.known] == ["affinity 5", "affinity 7.25", "affinity 1"]


def test_own_tables_reach_the_parameter_that_reads_them() -> None:
    own = own_data.own_data_of("dti")
    assert own is not None and own.CONVERTER == "dti_csv"
    assert {word: table.parameter for word, table in own.TABLES.items()} == {
        **{word: word for word in ("pairs", "drugs", "targets", "edges", "groups")},
        "drug-similarity": "drug_similarity",
        "target-similarity": "target_similarity",
    }
    assert {word for word, table in own.TABLES.items() if table.required} == {"pairs", "drugs", "targets"}
    assert {table.parameter for table in own.TABLES.values()} == Parameters.model_fields.keys()


def test_less_is_better_of_errors_and_of_one_answer_alone() -> None:
    better = {metric.name: metric.better for metric in METRICS}
    assert len(better) == len(METRICS) == 9 + 4 + 4 * 6 + 2
    assert {name for name, way in better.items() if way == "lower"} == {
        "MSE",
        "one answer/drugs",
        "one answer/targets",
    }
    assert {*better.values()} == {"higher", "lower"}
    assert [metric.name for metric in METRICS if metric.range != (0.0, 1.0)] == ["MSE"]


def test_a_split_is_described_by_what_is_in_its_parts() -> None:
    split = pair_split(
        _rows((TRAIN, 0, 0, 0), (TEST, 1, 1, 1), (TEST, 1, 0, NEGATIVE), (TEST, 2, 1, NEW), (TRAIN, 2, 0, 2))
    )
    strategy: Any = random
    tables = FORM.describe(split, MADE, strategy, random.Parameters())
    row = ("pairs", "positives", "negatives", "drugs", "targets")
    assert tables == {
        "train": dict(zip(row, (2, 2, 0, 2, 1), strict=True)),
        "test": {**dict(zip(row, (3, 2, 1, 2, 2), strict=True)), "new drugs": 1, "new targets": 1},
    }
    assert split.values_on(MADE).tolist() == [1, 1, 0, 1, 1]
    measured = replace(MADE, values=np.array([5, 7.25, -1]))
    assert split.values_on(measured).tolist() == [5, 7.25, 0, 1, -1]
    train = FORM.describe(split, measured, strategy, random.Parameters())["train"]
    assert (train["pairs"], train["positives"], train["negatives"]) == (2, 1, 0), "-1 is neither"


@pytest.mark.parametrize(("column", "value"), [(1, 3), (2, 2), (3, 3)])
def test_a_split_of_a_larger_dataset_does_not_fit(column: int, value: int) -> None:
    rows = _rows((TRAIN, 2, 1, 2), (TEST, 1, 1, 1))
    assert FORM.fits(pair_split(rows), MADE)
    rows[0, column] = value
    assert not FORM.fits(pair_split(rows), MADE)


def test_random_folds_are_parts_of_all_pairs_and_negatives_are_drawn_once() -> None:
    """Of 15 pairs and as many free ones; at most all of these are drawn."""
    pairs = np.argwhere(np.ones((5, 6)))[::2].astype(np.int32)
    dataset = replace(
        DtiDataset("many", pairs, np.ones(15), tuple("abcde"), tuple("pqrstu"), ("C",) * 5, ("M",) * 6)
    )
    folds = [random.make(dataset, 3, random.Parameters(folds=5, fold=fold)) for fold in range(5)]
    asked = np.concatenate([one.rows[~one.is_train & (one.rows[:, 3] >= 0), 3] for one in folds])
    assert sorted(asked) == list(range(15)) and {one.test for one in folds} == {6}
    every = random.make(dataset, 3, random.Parameters(folds=5, negatives=9))
    assert int((every.rows[:, 3] == NEGATIVE).sum()) == 15
    few = random.make(dataset, 3, random.Parameters(folds=5, negatives=1.5))
    # half of a pair is rounded as everywhere
    assert int((few.rows[:, 3] == NEGATIVE).sum()) == round(1.5 * 3)
    assert random.broken_promises(dataset, few, random.Parameters(folds=5, negatives=2)) == [
        "there are 4 negatives, not 6"
    ]
    for field, value in (("folds", 1), ("fold", -1), ("negatives", 0)):
        with pytest.raises(ValidationError, match=field):
            random.Parameters.model_validate({field: value})
    assert random.Parameters(folds=3, fold=2).fold == 2
    with pytest.raises(ValidationError, match="fold 3 is none of 3, which are counted from 0"):
        random.Parameters(folds=3, fold=3)


def test_a_training_fold_that_is_asked_leaves_the_test_part_out() -> None:
    whole = released.make(MADE, 0, released.Parameters())
    assert whole.rows.tolist() == [[TRAIN, 1, 1, 1], [TRAIN, 2, 0, 2], [TEST, 0, 0, 0]]
    fold = released.make(MADE, 0, released.Parameters(part=0))
    assert fold.rows.tolist() == [[TRAIN, 2, 0, 2], [TEST, 1, 1, 1]]
    for split, part in ((whole, -1), (fold, 0)):
        assert released.broken_promises(MADE, split, released.Parameters(part=part)) == []


@pytest.mark.parametrize(
    ("part", "rows", "broken"),
    [
        (-1, [[TRAIN, 2, 0, 2], [TEST, 0, 0, 0]], "training pairs are not those of the parts beside -1"),
        (
            0,
            [[TRAIN, 2, 0, 2], [TRAIN, 0, 0, 0], [TEST, 1, 1, 1]],
            "training pairs are not those of the parts beside 0",
        ),
        (0, [[TRAIN, 2, 0, 2], [TRAIN, 2, 1, NEGATIVE], [TEST, 1, 1, 1]], "training pairs are not"),
        (0, [[TRAIN, 2, 0, 2], [TEST, 1, 1, 1], [TEST, 1, 1, 1]], "test pairs are not those of part 0"),
        (0, [[TRAIN, 2, 0, 2], [TEST, 2, 1, NEGATIVE], [TEST, 1, 1, 1]], "test pairs are not those of part 0"),
    ],
    ids=[
        "a pair is missing",
        "the test part is learned from",
        "a negative is learned",
        "asked twice",
        "a negative is asked",
    ],
)
def test_a_released_part_with_other_pairs_breaks_its_promise(
    part: int, rows: list[list[int]], broken: str
) -> None:
    split = pair_split(np.array(rows, dtype=np.int32))
    (told,) = released.broken_promises(MADE, split, released.Parameters(part=part))
    assert broken in told


def test_added_nodes_are_asked_with_all_others_and_new_ones_are_not() -> None:
    """Drug `b` and target `q` were added: they are asked though a pair is known, and `c` is not."""
    rows = _rows((0, 0), (2, 0))
    own = {"pairs": rows, "values": np.ones(2), "released": MADE.released[:0]}
    marked = {"group_names": ("new", "test6/flu"), "group_members": _rows((0, MEMBER, 1), (0, MEMBER, 4))}
    split = new_nodes.make(replace(MADE, **own, **marked), 0, new_nodes.Parameters())  # type: ignore[arg-type]
    assert split.test_pairs.tolist() == [[0, 1], [1, 0], [1, 1], [2, 1]]
    fresh = new_nodes.make(replace(MADE, **{**own, "pairs": _rows((0, 0), (0, 1))}), 0, new_nodes.Parameters())  # type: ignore[arg-type]
    assert fresh.test_pairs.tolist() == [[1, 0], [1, 1], [2, 0], [2, 1]]
