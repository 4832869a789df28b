"""Each number of the sheets about real time is computed here from measures made up by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.drugs.similarity import similarities
from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN, PartSplit
from harness.benchmarks.ddi.study import measurement as measuring
from harness.benchmarks.ddi.study.data_facts import SplitFacts, SplitMeasures
from harness.benchmarks.ddi.study.realtime import contradiction, nearest
from harness.data import load_dataset
from harness.splits import load_split
from harness.splits.spec import parse_split
from harness.study.sheets import Sheet
from tests.study.conftest import MakeSheets

MakeSheet = Callable[..., Sheet]

YEARS = [1990, 2000, 2010]


def split(name: str, seed: int, penalty: list[int], group: str = "strategies", **changed: Any) -> SplitMeasures:
    count = len(YEARS)
    fields: dict[str, Any] = {
        "group": group,
        "split": name,
        "seed": seed,
        "sha256": "0" * 64,
        "source": "0" * 64,
        "known": 80,
        "new": 20,
        "discarded": 0,
        "similarity": 0.5,
        "penalty": penalty,
        "index": [1.0] * count,
        "chance_mean": [500.0] * count,
        "chance_sd": [50.0] * count,
        "better": [1.0] * count,
        "worse": [1.0] * count,
        "differs": [1.0] * count,
        **changed,
    }
    return SplitMeasures(**fields)


def measured(splits: Iterable[SplitMeasures], **changed: Any) -> SplitFacts:
    fields: dict[str, Any] = {
        "dataset": "made",
        "digest": "0" * 64,
        "code": "0" * 64,
        "years": YEARS,
        "splits": list(splits),
        "left_out": {},
        "sizes": [],
        "periods": [],
        "dated": 0,
        "drug_map": [],
        **changed,
    }
    return SplitFacts(**fields)


@pytest.fixture
def sheet(sheets_of_data: MakeSheets, monkeypatch: pytest.MonkeyPatch) -> MakeSheet:
    monkeypatch.setattr("harness.benchmarks.ddi.study.outdated", lambda *_: [])
    return lambda kind, number, *splits: sheets_of_data(measured(splits))[kind, number]


def test_a_difference_is_the_other_splits_penalty_less_that_of_cluster(sheet: MakeSheet) -> None:
    """By seed: 100 and 50 above cluster at 1990, 10 below at 2010."""
    shown = sheet(
        "figure",
        "8",
        split("random", 1, [400, 300, 190], differs=[0.05, 0.5, 0.001]),
        split("random", 2, [450, 310, 190], differs=[0.04, 0.5, 0.051]),
        split("random", 3, [9000, 9000, 9000]),
        split("cluster", 1, [300, 300, 200]),
        split("cluster", 2, [400, 310, 200]),
        split("released:which=random", 1, [7, 6, 5], group="released"),
        split("released:which=cluster", 1, [5, 6, 7], group="released", differs=[0.01] * 3),
    )
    assert shown.rows == [
        ["random less cluster", "+75 (2 of 2)", "+0 (0 of 2)", "-10 (1 of 2)"],
        ["released:which=random less released:which=cluster", "+2 (0 of 1)", "+0 (0 of 1)", "-2 (0 of 1)"],
    ]
    assert shown.head == ["penalties", "1990", "2000", "2010"]
    assert "Above 0 the cluster split is nearer to approval time" in shown.legend
    assert len(shown.pictures) == 1 and "random" in shown.pictures[0].svg


def test_a_split_that_discards_most_drugs_has_no_curve_beside_the_others(sheet: MakeSheet) -> None:
    cluster = split("cluster", 1, [300, 300, 200])
    for discarded, drawn in ((99, True), (100, False)):
        lohi = split("lohi", 1, [100, 100, 100], discarded=discarded)
        shown = sheet("figure", "8", lohi, cluster)
        assert shown.rows[0][0] == "lohi less cluster" and bool(shown.pictures) is drawn
        five = sheet("figure", "5", lohi, cluster)
        assert ("lohi" in five.pictures[0].svg) is drawn and five.rows[0][0] == "lohi"


def test_an_index_is_the_mean_of_the_seeds_that_have_one(sheet: MakeSheet) -> None:
    shown = sheet(
        "figure",
        "5",
        split("random", 1, [100, 200, 300], index=[2.0, None, None], chance_mean=[10.0, 20.0, 30.0]),
        split("random", 2, [200, 200, 301], index=[3.0, 4.0, None], chance_mean=[30.0, 20.0, 30.0]),
        split("released:which=random", 1, [7, 6, 5], group="released", index=[1.5, 1.5, 1.25]),
    )
    assert shown.rows == [
        ["random", "2.500 (150; 20)", "4.000 (200; 20)", "- (300; 30)"],
        ["released:which=random", "1.500 (7; 500)", "1.500 (6; 500)", "1.250 (5; 500)"],
    ]
    gamma = sheet("figure", "9", split("cluster:gamma=0.6", 1, [9, 8, 7], group="gamma", index=[1.0, 2.0, 3.0]))
    assert gamma.rows == [["cluster:gamma=0.6", "1.000 (9; 500)", "2.000 (8; 500)", "3.000 (7; 500)"]]


def test_a_strategy_is_told_by_its_worst_similarity_and_its_mean_of_the_rest(sheet: MakeSheet) -> None:
    rows = sheet(
        "table",
        "1",
        split("cluster", 1, [1, 1, 1], similarity=0.4, index=[1.0, 2.0, None], better=[0.05, 0.01, 0.2]),
        split("cluster", 2, [1, 1, 1], similarity=0.7, index=[3.0, None, 6.0], better=[0.04, 0.03, 0.051]),
        split("lohi", 1, [1, 1, 1], discarded=1000, known=800, new=200, worse=[0.01, 0.05, 0.9]),
        split("lohi", 2, [1, 1, 1], discarded=1500, known=400, new=100, worse=[0.01, 0.06, 0.02]),
        split("random", 1, [1, 1, 1], better=[0.01, 0.9, 0.9], worse=[0.9, 0.01, 0.9]),
    ).rows
    told = {row[0]: row[1:] for row in rows}
    assert told["Cluster"] == [
        "yes / yes",
        "yes / gamma",
        "high / nearer than chance",
        "0.700",
        "0 of 100",
        "3.000",
        "4 of 6",
    ]
    assert told["LoHi"] == [
        "no / no",
        "no / threshold",
        "medium / farther than chance",
        "0.500",
        "1,250 of 2,000",
        "1.000",
        "0 of 6",
    ]
    assert told["Random"][1:3] == ["no / no", "low / as chance"]
    assert told["SPECTRA"] == ["no / -", "yes / -", "low / -", "-", "-", "-", "-"]
    assert [row[0] for row in rows] == [
        "Random",
        "Drug frequency",
        "Drug usage",
        "Scaffold",
        "LoHi",
        "SPECTRA",
        "DataSAIL",
        "Cluster",
    ]


@pytest.mark.parametrize(
    ("near", "told"), [(1, "as chance"), (2, "nearer than chance"), (3, "nearer than chance")]
)
def test_more_than_half_of_the_thresholds_decide(near: int, told: str, sheet: MakeSheet) -> None:
    better = [0.05] * near + [0.5] * (3 - near)
    (row,) = (
        one for one in sheet("table", "1", split("cluster", 1, [1] * 3, better=better)).rows if one[0] == "Cluster"
    )
    assert row[3] == f"high / {told}"
    worse = split("cluster", 1, [1] * 3, worse=better)
    (row,) = (one for one in sheet("table", "1", worse).rows if one[0] == "Cluster")
    assert row[3] == f"high / {told.replace('nearer', 'farther')}"


def released(random: list[int], cluster: list[int], **changed: Any) -> SplitFacts:
    return measured(
        [
            split("released:which=random", 1, random, group="released", differs=[0.05, 0.06, 0.01]),
            split("released:which=cluster", 1, cluster, group="released", **changed),
        ]
    )


def test_the_released_splits_contradict_the_paper_where_cluster_pays_more() -> None:
    first, second, third = contradiction(released([100, 150, 210], [120, 150, 200], worse=[0.05, 0.01, 0.01]))
    assert "than their random one at 1990, and not farther at 2000, 2010" in first
    assert "(penalty of cluster against random: 1990: 120 against 100, chance 500 ± 50)" in first
    assert first.endswith(" At 1990 it is farther than chance (p <= 0.05).")
    assert "significant at 2 of 3 thresholds" in second
    # -20 at 1990, +10 at 2010: 1.5 a year, and 0 after 13.3 years
    assert third.startswith("Random less cluster is -20 at 1990 and +2 with every year; it is 0 at 2003.3.")
    (agrees,) = contradiction(released([100, 150, 210], [100, 140, 200]))
    assert agrees.endswith("nearer to approval time than the random one at every threshold.")
    flat = list(contradiction(released([100, 150, 200], [101, 151, 201], worse=[0.06] * 3)))
    assert "not farther at no threshold" in flat[0] and "farther than chance" not in flat[0]
    assert "it is 0 at" not in flat[2]
    assert list(contradiction(measured([]))) == []


def test_cluster_is_nearest_where_no_other_split_has_a_higher_index() -> None:
    (told,) = nearest(
        measured(
            [
                split("random", 1, [1] * 3, index=[1.0, 3.0, None]),
                split("cluster", 1, [1] * 3, index=[2.0, 2.0, 1.0]),
                split("cluster", 2, [1] * 3, index=[2.0, 4.0, 1.0]),
            ]
        )
    )
    assert told == "Of our splits, cluster has the highest mean index at 3 of 3 thresholds."
    (told,) = nearest(measured([split("random", 1, [1] * 3, index=[3.0] * 3), split("cluster", 1, [1] * 3)]))
    assert "at 0 of 3" in told
    assert list(nearest(measured([split("random", 1, [1] * 3)]))) == []


@pytest.fixture(scope="module")
def small(repository: Layout) -> DdiDataset:
    return load_dataset(repository, "synthetic_ddi", DdiDataset)


def test_a_split_is_measured_over_all_its_drugs(layout: Layout, small: DdiDataset) -> None:
    """Similarities pair by pair, sizes role by role, penalties drug by drug."""
    texts = ("random", "lohi", "cluster")
    found = measuring._Group(layout, small, "strategies", 2, ()).measures(texts, {})
    assert [one.split for one in found] == list(texts)
    near = similarities(small.fingerprints)
    for one in found:
        made = cast(PartSplit, load_split(layout, small.name, parse_split(one.split, 2)))
        known, new = np.flatnonzero(made.drugs == KNOWN), np.flatnonzero(made.drugs > KNOWN)
        assert one.sha256 == made.digest and one.seed == 2 and one.group == "strategies"
        assert (one.known, one.new) == (len(known), len(new))
        assert one.discarded == int((made.drugs == DISCARDED).sum())
        assert one.similarity == pytest.approx(near[np.ix_(known, new)].max(), abs=5e-6)
        for at, threshold in enumerate((1985, 1990, 1995, 2000, 2005, 2010, 2015, 2020)):
            total = 0
            for drug, year in enumerate(small.years.tolist()):
                wrong = drug in known if year >= threshold else drug in new
                total += abs(year - threshold) * (wrong and year > 0)
            assert one.penalty[at] == total
    worst = np.max([one.penalty for one in found], axis=0)
    for one in found:
        assert one.index == [
            round(float(most) / paid, 5) if paid else None for most, paid in zip(worst, one.penalty, strict=True)
        ]
    assert found[2].differs == [1.0] * 8 and found[0].differs != [1.0] * 8


def test_a_period_begins_after_its_first_year_and_ends_with_its_last(small: DdiDataset) -> None:
    years = np.zeros_like(small.years)
    years[:6] = [1989, 1990, 1991, 2000, 2001, 2010]
    dated = replace(small, years=years, pairs=np.array([[1, 2], [2, 3], [3, 2], [3, 4], [6, 7]], dtype=np.int32))
    period = measuring._period(dated, 1990, 2000)
    assert (period.after, period.until, period.drugs, period.items) == (1990, 2000, 2, 2)
    assert measuring._period(dated, 2000, None).drugs == 2
    assert [measuring._period(dated, *one).drugs for one in measuring._PERIODS] == [2, 2, 2, 0]


def test_sizes_are_counted_item_by_item(small: DdiDataset) -> None:
    assert not small.multilabel
    told = measuring._sized(small)
    assert (told.drugs, told.types) == (small.drugs, small.types)
    assert told.triplets["all"] == len(small.pairs)
    assert told.pairs == len({tuple(pair) for pair in small.pairs.tolist()})
    signs = np.zeros((len(small.pairs), 3), dtype=np.int8)
    signs[0], signs[1], signs[2] = [1, 1, 0], [-1, -1, 0], [1, 0, 0]
    several = replace(small, labels=signs, type_names=("a", "b", "c"))
    told = measuring._sized(several)
    assert told.triplets["all"] == 3 and told.pairs == 2


def test_the_size_of_a_released_split_has_its_training_items(small: DdiDataset) -> None:
    """All parts from 0 on, and nothing that the split leaves out; of several labels each positive one."""
    parts = np.arange(len(small.pairs)) % 5 - 1
    released = np.zeros((small.drugs + len(parts), 4), dtype=np.int32)
    released[small.drugs :, 0], released[small.drugs :, 2] = parts, -1
    own = replace(small, released=released, released_names=("some", "none"))
    assert measuring._sized(own).triplets == {"some": int((parts >= 0).sum()), "none": 0, "all": len(parts)}
    assert 0 < (parts > 0).sum() < (parts >= 0).sum() < len(parts)
