"""What is said of folds, of years, of names and of recorded checksums, word for word."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.splits.consistency import consistency, costs
from harness.benchmarks.ddi.splits.strategies import datasail
from harness.benchmarks.repurposing.splits import folds
from harness.benchmarks.repurposing.splits.seeds import published_seeds
from harness.benchmarks.repurposing.splits.strategies import random, unknown_pairs, weakly_correlated
from harness.splits import checksums
from harness.splits.checksums import Recorded
from harness.splits.spec import SplitSpec, parse_split
from tests.splits.made_up_drugs import made_up_drugs
from tests.splits.test_a_split_comes_out_otherwise import associations
from tests.splits.word_for_word import codes, told

# associations


def matrix(*rows: list[int]) -> Any:
    return np.array(rows, dtype=np.int8)


@pytest.mark.parametrize(
    ("found", "labels", "said"),
    [
        (matrix([-1, 0], [1, -2]), matrix([0, 1], [1, 0]), []),
        (matrix([-1, 0]), matrix([0], [0]), ["the split is (1, 2), the dataset (2, 1)"]),
        (matrix([-1, -3, 0]), matrix([0, 0, 0]), ["code -3 has no meaning"]),
        (matrix([0, -2]), matrix([0, 0]), ["there is no test pair"]),
        (matrix([-1, -2]), matrix([0, 0]), ["there is no training pair"]),
        (matrix([-2, -2]), matrix([0, 0]), ["there is no test pair", "there is no training pair"]),
        (matrix([-1, 0, 2]), matrix([0, 0, 0]), ["the inner folds are [0, 2], not numbered from 0"]),
        (matrix([-1, 1]), matrix([0, 0]), ["the inner folds are [1], not numbered from 0"]),
        (matrix([-1, 0, 0, 1]), matrix([0, 0, 0, 0]), []),
        (
            matrix([-1, 0, 0, 0, 1]),
            matrix([0, 0, 0, 0, 0]),
            ["the inner folds differ in size by 2 pairs", "inner folds hold between 1 and 3 pairs with label +0"],
        ),
        (
            matrix([-1, 0, 0, 1, 1]),
            matrix([0, 1, 1, -1, -1]),
            [
                "inner folds hold between 0 and 2 pairs with label -1",
                "inner folds hold between 0 and 2 pairs with label +1",
            ],
        ),
    ],
)
def test_what_every_fold_promises_is_told(found: Any, labels: Any, said: list[str]) -> None:
    assert folds.broken_promises(found, labels) == said


def test_a_label_may_be_off_its_share_by_one_test_pair_and_no_more() -> None:
    dataset = associations()
    labels, off = dataset.associations, list[float]()
    for moved in range(4):
        found = random.make(dataset, 1, random.Parameters()).folds.copy()
        for label, before, after in ((1, -1, 0), (0, 0, -1)):
            found[tuple(np.argwhere((labels == label) & (found == before))[:moved].T)] = after
        said = []
        for label in (-1, 0, 1):
            tested, count = int(((found == -1) & (labels == label)).sum()), int((labels == label).sum())
            if abs(tested - count / 5) > 1:
                said += [f"{tested} of {count} pairs with label {label:+d} are test pairs, not {count / 5:.1f}"]
                off.append(abs(tested - count / 5))
        assert random.broken_promises(dataset, folds.split_of(found), random.Parameters()) == said
    assert min(off) <= 2, "some share was off by hardly more than is allowed"


def test_what_strategies_of_associations_promise_is_told() -> None:
    dataset = associations()
    size = dataset.associations.size
    good = random.make(dataset, 1, random.Parameters())
    assert random.broken_promises(dataset, good, random.Parameters()) == []
    none = folds.split_of(np.full(dataset.associations.shape, -2, dtype=np.int8))
    said = random.broken_promises(dataset, none, random.Parameters())
    assert said[:2] == [f"0 pairs are test pairs, not {size // 5}", "some pairs are neither training nor test"]
    counts = {label: int((dataset.associations == label).sum()) for label in (-1, 0, 1)}
    assert said[2:] == [
        f"0 of {count} pairs with label {label:+d} are test pairs, not {count * 54 / 270:.1f}"
        for label, count in counts.items()
    ]
    assert weakly_correlated.broken_promises(dataset, none, weakly_correlated.Parameters()) == [
        "some pairs are neither training nor test"
    ]
    for strategy in (random, weakly_correlated):
        lacking = strategy.make(dataset, 1, strategy.Parameters()).folds.copy()
        lacking[tuple(np.argwhere(lacking == 0)[0])] = -2
        said = strategy.broken_promises(dataset, folds.split_of(lacking), strategy.Parameters())
        assert said == ["some pairs are neither training nor test"], "one is enough"
    mixed = weakly_correlated.make(dataset, 1, weakly_correlated.Parameters()).folds.copy()
    mixed[3, 0], mixed[5, 1] = -1 - mixed[3, 1] if mixed[3, 1] < 0 else -1, -1
    drugs = [3, 5]
    assert weakly_correlated.broken_promises(dataset, folds.split_of(mixed), weakly_correlated.Parameters()) == [
        f"{len(drugs)} drugs have training and test pairs, 'drug3' for one"
    ]
    assert unknown_pairs.broken_promises(dataset, none, unknown_pairs.Parameters()) == [
        "the test pairs are not exactly the unknown pairs, or another one does not train"
    ]
    asked = unknown_pairs.make(dataset, 1, unknown_pairs.Parameters())
    assert unknown_pairs.broken_promises(dataset, asked, unknown_pairs.Parameters()) == []
    assert len(published_seeds()) == 100 and published_seeds()[:2] == (17263407, 22928437)


def test_a_job_gets_the_folds_that_it_asks_for() -> None:
    split = folds.split_of(matrix([-1, 0, 1], [2, -2, 0]))
    assert (split.inner_folds, split.training, split.test) == (3, 4, 1)
    assert split.for_inner_folds(3) is split.folds
    assert split.for_inner_folds(0).tolist() == [[-1, 0, 0], [0, -2, 0]]
    assert told(lambda: split.for_inner_folds(2)) == (
        "the split has 3 inner folds, the job wants 2",
        "",
        "ask for 0, for 3, or for a split with parameter inner_folds=2",
    )
    assert folds.split_of(matrix([-1, 0])).inner_folds == 0 == folds.split_of(matrix([-1, -1])).inner_folds


# time


@pytest.mark.parametrize(
    ("role", "year", "cost"),
    [
        *((0, 1999, 0), (0, 2000, 0), (0, 2001, 1), (0, 2010, 10)),
        *((1, 1999, 1), (2, 1990, 10), (2, 2000, 0), (2, 2001, 0)),
        *((-2, 1990, 0), (-2, 2010, 0), (1, 0, 0), (0, 0, 0)),
    ],
)
def test_a_drug_on_the_wrong_side_costs_its_distance(role: int, year: int, cost: int) -> None:
    assert costs(codes(role), codes(year), 2000).tolist() == [cost]


def test_splits_are_compared_as_they_are_told() -> None:
    years = codes(1990, 1995, 2005, 2010, 0, 1980)
    splits = {"good": codes(0, 0, 1, 2, 2, 0), "bad": codes(2, 1, 0, 0, 0, -2)}
    good, bad = consistency(splits, years, thresholds=[2000], controls=20, seed=3)
    assert (good.split, good.year, good.drugs, good.penalty, good.index, good.differs) == (
        "good",
        2000,
        5,
        0,
        None,
        1,
    )
    assert (bad.split, bad.drugs, bad.penalty, bad.index) == ("bad", 4, 10 + 5 + 5 + 10, 1.0)
    generator = np.random.RandomState(3)
    chance = [costs(generator.permutation(splits["bad"]), years, 2000).sum() for _ in range(20)]
    assert (bad.control_mean, bad.control_sd) == (np.mean(chance), np.std(chance))
    assert bad.better == (sum(one <= 30 for one in chance) + 1) / 21
    assert bad.worse == (sum(one >= 30 for one in chance) + 1) / 21
    other = consistency(splits, years, thresholds=[2000], against="bad", controls=20, seed=3)
    assert other[1].differs == 1 and other[0].differs == bad.differs < 1
    assert bad.to_json()["control_mean"] == bad.control_mean
    assert told(lambda: consistency(splits, codes(0, 0, 0, 0, 0, 0))) == (
        "no drug of the dataset has a year of approval",
        "",
        "use a dataset that tells them",
    )
    assert told(lambda: consistency(splits, years, against="x")) == (
        "there is no split 'x' to compare with",
        "",
        "name one of good, bad",
    )
    assert told(lambda: consistency({}, years)) == ("there is no split to judge", "", "name at least one")
    assert len(consistency(splits, years, controls=2)) == 16


# names and recorded checksums


@pytest.mark.parametrize(
    ("text", "strategy", "parameters", "label", "again"),
    [
        ("cluster", "cluster", {}, "cluster-7", "cluster"),
        ("a:b=1,c=x", "a", {"b": 1, "c": "x"}, "a-b=1-c=x-7", "a:b=1,c=x"),
        ("a:z=0.5,b=true,c=", "a", {"z": 0.5, "b": True, "c": ""}, "a-b=True-c=-z=0.5-7", "a:b=true,c=,z=0.5"),
        ("a:b=null", "a", {"b": None}, "a-b=None-7", "a:b=null"),
        ("a:", "a", {}, "a-7", "a"),
    ],
)
def test_a_split_is_named_as_it_is_read(
    text: str, strategy: str, parameters: dict[str, Any], label: str, again: str
) -> None:
    spec = parse_split(text, 7)
    assert (spec.strategy, spec.parameters, spec.seed) == (strategy, parameters, 7)
    assert (spec.label, spec.text) == (label, again)


@pytest.mark.parametrize(
    ("settings", "what", "where", "todo"),
    [
        ("gamma", "'gamma' sets nothing", "split cluster", "write for example cluster:gamma=0.6"),
        ("=1", "'=1' sets nothing", "split cluster", "write for example cluster:gamma=0.6"),
        ("a=1,b", "'b' sets nothing", "split cluster", "write for example cluster:gamma=0.6"),
        ("a=1,", "'' sets nothing", "split cluster", "write for example cluster:gamma=0.6"),
        ("a=1,b=inf", "'inf' is no finite number", "split cluster b=inf", "give one"),
        ("a=1,b=2,a=3", "a is set twice: 1 and 3", "split cluster", "set it once"),
    ],
)
def test_a_setting_that_sets_nothing_is_told(settings: str, what: str, where: str, todo: str) -> None:
    assert told(lambda: parse_split(f"cluster:{settings}", 1)) == (what, where, todo)


def test_recorded_splits_never_change(tmp_path: Path) -> None:
    layout = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    folder = layout.datasets / "mine"
    folder.mkdir(parents=True)
    path = folder / "splits.csv"
    assert checksums.recorded_splits(layout, "mine") == {}
    first = Recorded(SplitSpec(strategy="a", seed=1, parameters={"z": 1, "b": "x,y"}), 3, 2, "t")
    second = Recorded(SplitSpec(strategy="a", seed=2), 4, 5, "s")
    checksums.record_splits(layout, "mine", [first])
    checksums.record_splits(layout, "mine", [second, first])
    text = 'strategy,parameters,seed,training,test,sha256\na,"{""b"":""x,y"",""z"":1}",1,3,2,t\na,{},2,4,5,s\n'
    assert path.read_text() == text
    found = checksums.recorded_splits(layout, "mine")
    assert list(found.values()) == [first, second]
    assert list(found) == ['a {"b":"x,y","z":1} 1', "a {} 2"]
    for change in ({"training": 9}, {"test": 9}, {"sha256": "u"}):
        assert told(partial(checksums.record_splits, layout, "mine", [replace(second, **change)])) == (
            "split a-2 is published with another checksum",
            str(path),
            "a published split never changes: give the changed strategy or dataset a new name",
        )
    assert path.read_text() == text
    for number, line in enumerate(("a,{},x,4,5,t", "a,{,2,4,5,t", "a,{},2,4,x,t", "a,{},2")):
        path.write_text(text + line + "\n")
        os.utime(path, ns=(number, number))
        assert told(lambda: checksums.recorded_splits(layout, "mine")) == (
            "a recorded split can't be read",
            f"{path}: line 4",
            "restore the file from the repository",
        )
    path.write_bytes(text.encode() + b"a,{},3,4,5,\xff\n")
    assert told(lambda: checksums.recorded_splits(layout, "mine"))[:2] == (
        "a recorded split can't be read",
        str(path),
    )


# DataSAIL


def test_datasail_is_asked_for_this(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dataset = made_up_drugs(30, 3)
    layout = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    monkeypatch.setattr("harness.base.layout.find_layout", lambda: layout)
    seen: list[Any] = []

    def run(folder: Path, drugs: int) -> datasail.Assignment:
        seen.append((json.loads((folder / "job.json").read_text()), drugs, folder.name[:3]))
        return datasail.Assignment(np.zeros(30, dtype=np.int32), np.zeros(30, dtype=np.int64))

    monkeypatch.setattr(datasail, "_run", run)
    datasail.answered(dataset, 5, datasail.Parameters(valid_share=0.2, clusters=7, epsilon=0.1, nodes=9))
    job = {
        "smiles": [*dataset.smiles],
        "order": np.random.RandomState([5, 1]).permutation(30).tolist(),
        "shares": [1 - (0.2 + 0.1), 0.2, 0.1],
        "clusters": 7,
        "epsilon": 0.1,
        "nodes": 9,
    }
    assert seen == [(job, 30, "in-")]
