"""The consistency index: a split that equals real time costs nothing, one that turns it around costs most."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from harness.base.errors import DataError, EngineError, UsageError
from harness.base.layout import Layout
from harness.benchmarks.ddi.splits.consistency import YEARS as THRESHOLDS
from harness.benchmarks.ddi.splits.consistency import _differs, consistency, costs
from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN, TEST_NEW, VALID_NEW
from harness.cli.split import command

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


def exact_share(differences: list[int]) -> float:
    """Of all ways to turn signs around: those whose sum is as far from 0 as the observed one, on either side."""
    told = [one for one in differences if one]
    sums = [
        sum(sign * one for sign, one in zip(signs, told, strict=True))
        for signs in product((1, -1), repeat=len(told))
    ]
    return sum(abs(one) >= abs(sum(told)) for one in sums) / len(sums)


@pytest.mark.parametrize(
    "differences",
    [[5] * 8, [-5] * 8, [9, -2, 4, 0, 7, 1], [-9, 2, -4, 0, -7, -1], [3, -3, 0], [10, 1, 1, -1], [0, 0], [-8]],
)
def test_a_difference_is_tested_on_both_sides(differences: list[int]) -> None:
    """Against turning around every set of signs; its own sign says nothing."""
    draws = 20_000
    found = _differs(np.array(differences), draws, 1)
    exact = exact_share(differences)
    assert found == pytest.approx(exact, abs=4 * (exact * (1 - exact) / draws) ** 0.5 + 1 / draws)
    assert found == pytest.approx(_differs(-np.array(differences), draws, 1))


def by_definition(roles: np.ndarray, years: np.ndarray, threshold: int) -> int:
    """Algorithm 2, drug by drug."""
    total = 0
    for role, year in zip(roles.tolist(), years.tolist(), strict=True):
        late, known, new = year >= threshold, role == KNOWN, role in (VALID_NEW, TEST_NEW)
        if year and ((late and known) or (not late and new)):
            total += abs(year - threshold)
    return total


@pytest.mark.parametrize("against", [None, "third"])
def test_every_split_is_held_against_the_worst_of_all(against: str | None) -> None:
    generator = np.random.RandomState(4)
    years = np.where(generator.rand(60) < 0.8, generator.randint(1980, 2020, 60), 0).astype(np.int32)
    true = np.where(years < 2000, KNOWN, TEST_NEW).astype(np.int32)
    # the later, the worse: the worst is the last
    splits = {
        name: np.where(generator.rand(60) < wrong, KNOWN + TEST_NEW - true, true).astype(np.int32)
        for name, wrong in (("first", 0.1), ("second", 0.3), ("third", 0.5), ("fourth", 0.9))
    }
    splits["first"][:5] = DISCARDED
    thresholds = (1990, 2000, 2010)
    rows = consistency(splits, years, thresholds=thresholds, against=against, controls=200, seed=3)
    assert [(row.year, row.split) for row in rows] == list(product(thresholds, splits))
    for row in rows:
        paid = {name: by_definition(roles, years, row.year) for name, roles in splits.items()}
        assert row.penalty == paid[row.split]
        assert row.index == max(paid.values()) / row.penalty
        assert row.drugs == int(((years > 0) & (splits[row.split] != DISCARDED)).sum())
    assert max(row.penalty for row in rows if row.year == 2000) == rows[7].penalty, "the last split is the worst"
    base = next(iter(splits)) if against is None else against
    assert {row.differs for row in rows if row.split == base} == {1.0}
    assert min(row.differs for row in rows if row.split == "fourth") < 0.05


def test_controls_deal_the_same_roles_at_random() -> None:
    """Their mean and spread are those of a permutation; shares count the observed split as one of the draws."""
    generator = np.random.RandomState(0)
    splits = {"half": generator.permutation(TRUE)}
    (row,) = consistency(splits, YEARS, thresholds=[2000], controls=3000, seed=1)
    draws = [by_definition(generator.permutation(TRUE), YEARS, 2000) for _ in range(3000)]
    assert row.control_mean == pytest.approx(np.mean(draws), abs=5 * np.std(draws) / 3000**0.5)
    assert row.control_sd == pytest.approx(np.std(draws), rel=0.1)
    assert row.better == pytest.approx(np.mean(np.array(draws) <= row.penalty), abs=0.04)
    assert row.worse == pytest.approx(np.mean(np.array(draws) >= row.penalty), abs=0.04)
    assert row.better + row.worse > 1, "a draw that does as well does as badly, too"
    assert row.to_json()["penalty"] == row.penalty and len(row.to_json()) == 10


def test_the_seed_draws_the_controls() -> None:
    rows = [consistency({"true": TRUE}, YEARS, thresholds=[2000], seed=seed)[0] for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_seed_draws_the_signs_of_a_difference_too(seed: int) -> None:
    """Of a difference that chance may well give: one that it never gives has the same share whatever is drawn."""
    generator = np.random.RandomState(0)
    splits = {name: generator.permutation(TRUE) for name in ("one", "other")}
    _, row = consistency(splits, YEARS, thresholds=[2000], controls=200, seed=seed)
    paid, base = (costs(splits[name], YEARS, 2000) for name in ("other", "one"))
    told = (paid - base)[paid != base]
    signs = np.random.RandomState([seed, 1]).choice(np.array([-1, 1]), size=(200, len(told)))
    extreme = sum(abs(int(one @ told)) >= abs(int(told.sum())) for one in signs)
    assert row.differs == (extreme + 1) / 201 and 0.02 < row.differs < 0.98


def test_thresholds_and_controls_are_the_papers() -> None:
    """Figure 5: every fifth year from 1985 to 2020."""
    assert THRESHOLDS == (1985, 1990, 1995, 2000, 2005, 2010, 2015, 2020)
    rows = consistency({"true": TRUE}, YEARS)
    assert [row.year for row in rows] == list(THRESHOLDS)
    # the smallest share that four hundred draws can give
    assert min(row.better for row in rows) == pytest.approx(1 / 401)


def test_a_published_number_comes_out_again() -> None:
    """To the last digit: controls and signs are drawn from the seed, a stream each."""
    other = np.array([KNOWN, TEST_NEW, KNOWN, VALID_NEW, KNOWN, DISCARDED] * 10, dtype=np.int32)
    rows = consistency({"true": TRUE, "other": other}, YEARS, thresholds=[2000], controls=50, seed=3)
    assert [row.to_json() for row in rows] == [
        {
            "split": "true",
            "year": 2000,
            "drugs": 50,
            "penalty": 0,
            "index": None,
            "control_mean": 150.4,
            "control_sd": pytest.approx(20.708452380610193, rel=1e-12),
            "better": 1 / 51,
            "worse": 1.0,
            "differs": 1.0,
        },
        {
            "split": "other",
            "year": 2000,
            "drugs": 40,
            "penalty": 50,
            "index": 1.0,
            "control_mean": 121.4,
            "control_sd": pytest.approx(27.019252395282887, rel=1e-12),
            "better": 1 / 51,
            "worse": 1.0,
            "differs": 1 / 51,
        },
    ]


def test_what_can_not_be_compared_is_refused() -> None:
    with pytest.raises(DataError) as undated:
        consistency({"true": TRUE}, np.zeros_like(YEARS))
    assert (undated.value.what, undated.value.todo) == (
        "no drug of the dataset has a year of approval",
        "use a dataset that tells them",
    )
    with pytest.raises(UsageError) as refused:
        consistency({"true": TRUE, "other": TRUE}, YEARS, against="cluster")
    assert (refused.value.what, refused.value.todo) == (
        "there is no split 'cluster' to compare with",
        "name one of true, other",
    )
    for against in (None, "cluster"):
        with pytest.raises(UsageError) as nothing:
            consistency({}, YEARS, against=against)
        assert (nothing.value.what, nothing.value.todo) == ("there is no split to judge", "name at least one")


def test_another_benchmark_has_no_index() -> None:
    with pytest.raises(UsageError, match="only drug interactions"):
        CliRunner().invoke(command, ["consistency", "synthetic"], catch_exceptions=False, standalone_mode=False)


def test_every_strategy_named_is_told(shared: Path) -> None:
    told = ["consistency", "--dataset", "drugbank", "--mirror", str(shared / "mirror"), "--year", "2000"]
    told += ["--split", "cluster:gamma=0.6", "--split", "random", "--split", "released:which=random"]
    shown = CliRunner().invoke(command, [*told, "--json", "--controls", "20"], standalone_mode=False)
    rows = json.loads(shown.stdout)["rows"]
    assert [row["split"] for row in rows] == ["cluster:gamma=0.6", "random", "released:which=random"]
    assert rows[-1]["penalty"] == 3825
    table = CliRunner().invoke(command, [*told, "--controls", "20"], standalone_mode=False).output
    assert "differs from cluster:gamma=0.6" in table
    assert "3,825" in table


def test_by_default_every_simulation_is_compared(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strategies that make no split of this dataset are no reason to fail."""

    def no_engine(*_: object) -> None:
        raise EngineError("there is no engine")

    monkeypatch.setattr("harness.benchmarks.ddi.splits.strategies.datasail.answered", no_engine)
    told = ["consistency", "synthetic_ddi", "--year", "2000", "--controls", "5", "--seed", "77", "--json"]
    shown = CliRunner().invoke(command, told, standalone_mode=False)
    answer = json.loads(shown.stdout)
    assert {row["split"] for row in answer["rows"]} >= {"random", "usage", "cluster"}
    assert answer["left_out"] == {"datasail": "there is no engine"}


def test_the_page_is_made_of_what_was_measured(repository: Layout) -> None:
    shown = CliRunner().invoke(command, ["consistency", "--markdown"], standalone_mode=False)
    assert shown.output.startswith("# Consistency of drug splits with approval times")
