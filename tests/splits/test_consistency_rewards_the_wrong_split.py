"""The consistency index: a split that equals real time costs nothing, one that turns it around costs most."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from harness.cli.split import command
from harness.errors import DataError, EngineError, UsageError
from harness.layout import Layout
from harness.splits.consistency import consistency, costs
from harness.splits.parts import DISCARDED, KNOWN, TEST_NEW, VALID_NEW

YEARS = np.array([1990, 1995, 2000, 2005, 0, 2010] * 10, dtype=np.int32)
TRUE = np.where(YEARS < 2000, KNOWN, TEST_NEW).astype(np.int32)


def test_algorithm_2_by_hand() -> None:
    roles = np.array([KNOWN, TEST_NEW, KNOWN, VALID_NEW, KNOWN, DISCARDED] * 10, dtype=np.int32)
    # 1995 is new though early; 2000 is at the threshold, so late; no year and no role cost nothing
    assert costs(roles, YEARS, 2000).tolist() == [0, 5, 0, 0, 0, 0] * 10
    assert costs(roles, YEARS, 2001).tolist() == [0, 6, 0, 0, 0, 0] * 10
    assert costs(roles, YEARS, 1985).tolist() == [5, 0, 15, 0, 0, 0] * 10


def test_the_true_split_is_the_best_and_its_opposite_the_worst() -> None:
    splits = {"true": TRUE, "opposite": np.where(TRUE == KNOWN, TEST_NEW, KNOWN).astype(np.int32)}
    true, opposite = consistency(splits, YEARS, thresholds=[2000])
    assert (true.penalty, true.index) == (0, None)
    assert opposite.index == 1
    assert opposite.penalty == 10 * (10 + 5 + 0 + 5 + 10)
    assert true.better == opposite.worse == pytest.approx(1 / 401)
    assert true.worse == opposite.better == 1
    assert true.differs == 1
    assert opposite.differs == pytest.approx(1 / 401)


def test_a_random_split_is_seldom_significant() -> None:
    generator = np.random.RandomState(0)
    significant = 0
    for seed in range(60):
        chance = {"chance": generator.permutation(TRUE)}
        (row,) = consistency(chance, YEARS, thresholds=[2000], controls=100, seed=seed)
        significant += row.better < 0.05
    assert significant < 9


def test_what_can_not_be_compared_is_refused() -> None:
    with pytest.raises(DataError, match="no drug of the dataset has a year"):
        consistency({"true": TRUE}, np.zeros_like(YEARS))
    with pytest.raises(UsageError, match="no split 'cluster'"):
        consistency({"true": TRUE}, YEARS, against="cluster")


def test_another_benchmark_has_no_index() -> None:
    with pytest.raises(UsageError, match="only drug interactions"):
        CliRunner().invoke(command, ["consistency", "synthetic"], catch_exceptions=False, standalone_mode=False)


def test_every_strategy_named_is_told(shared: Path) -> None:
    told = ["consistency", "--dataset", "drugbank", "--mirror", str(shared / "mirror"), "--year", "2000"]
    told += ["--split", "cluster:gamma=0.6", "--split", "random", "--split", "released:which=random"]
    shown = CliRunner().invoke(command, [*told, "--json", "--controls", "20"], standalone_mode=False)
    rows = json.loads(shown.output)["rows"]
    assert [row["split"] for row in rows] == ["cluster:gamma=0.6", "random", "released:which=random"]
    assert rows[-1]["penalty"] == 3825
    table = CliRunner().invoke(command, [*told, "--controls", "20"], standalone_mode=False).output
    assert "differs from cluster:gamma=0.6" in table
    assert "3,825" in table


def test_by_default_every_simulation_is_compared(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strategies that make no split of this dataset are no reason to fail."""

    def no_engine(*_: object) -> None:
        raise EngineError("there is no engine")

    monkeypatch.setattr("harness.splits.strategies.ddi.datasail.answered", no_engine)
    told = ["consistency", "synthetic_ddi", "--year", "2000", "--controls", "5", "--seed", "77", "--json"]
    shown = CliRunner().invoke(command, told, standalone_mode=False)
    answer = json.loads(shown.output)
    assert {row["split"] for row in answer["rows"]} >= {"random", "usage", "cluster"}
    assert answer["left_out"] == {"datasail": "there is no engine"}


def test_the_page_is_made_of_what_was_measured(repository: Layout) -> None:
    shown = CliRunner().invoke(command, ["consistency", "--markdown"], standalone_mode=False)
    assert shown.output.startswith("# Consistency of drug splits with approval times")
