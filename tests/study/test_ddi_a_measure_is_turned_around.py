"""Each number of the sheets about real time is computed here from measures made up by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from harness.base.errors import EngineError, MissingData
from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.drugs.similarity import similarities
from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN, PartSplit
from harness.benchmarks.ddi.study import measurement as measuring
from harness.benchmarks.ddi.study import page
from harness.benchmarks.ddi.study.data_facts import Period, Sizes, SplitFacts, SplitMeasures, measuring_code
from harness.benchmarks.ddi.study.drawings import Curve, lines
from harness.benchmarks.ddi.study.realtime import contradiction, nearest
from harness.data import load_dataset
from harness.splits import load_split
from harness.splits.spec import parse_split
from harness.splits.strategies import strategy_source
from harness.study.sheets import Sheet
from tests.study.conftest import MakeSheets
from tests.study.kept import described, is_kept

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
    monkeypatch.setattr("harness.benchmarks.ddi.study.changes_since", lambda *_: [])
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
        split("random", 2, [1, 1, 1], discarded=10, better=[0.9] * 3, worse=[0.9] * 3),
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
    assert told["Random"][:3] == ["yes / no", "no / no", "low / as chance"], "one seed of the two discards some"
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
    ("near", "of", "told"),
    [
        (1, 3, "as chance"),
        (2, 3, "nearer than chance"),
        (3, 3, "nearer than chance"),
        # of two seeds
        (3, 6, "as chance"),
        (4, 6, "nearer than chance"),
    ],
)
def test_more_than_half_of_the_thresholds_decide(near: int, of: int, told: str, sheet: MakeSheet) -> None:
    shares = [0.05] * near + [0.5] * (of - near)
    for side, word in (("better", "nearer"), ("worse", "farther")):
        own: list[dict[str, Any]] = [{side: shares[at : at + 3]} for at in range(0, of, 3)]
        seeds = [split("cluster", seed, [1] * 3, **changed) for seed, changed in enumerate(own, 1)]
        (row,) = (one for one in sheet("table", "1", *seeds).rows if one[0] == "Cluster")
        assert row[3] == f"high / {told.replace('nearer', word)}"


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
    first, *_ = contradiction(released([100, 150, 210], [120, 160, 1210], worse=[0.05, 0.051, 0.01]))
    assert "their random one at 1990, 2000, 2010, and not farther at no threshold (penalty of cluster" in first
    assert "1990: 120 against 100, chance 500 ± 50; 2000: 160 against 150, chance 500 ± 50; 2010: 1,210" in first
    assert first.endswith(" At 1990, 2010 it is farther than chance (p <= 0.05).")
    *_, falls = contradiction(released([120, 150, 200], [100, 150, 210]))
    assert falls.startswith("Random less cluster is +20 at 1990 and -2 with every year; it is 0 at 2003.3.")
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
    signs = np.tile(np.array([1, -1, 1], dtype=np.int8), (len(parts), 1))
    several = replace(own, labels=signs, type_names=("a", "b", "c"))
    doubled = {name: 2 * count for name, count in measuring._sized(own).triplets.items()}
    assert measuring._sized(several).triplets == doubled


@pytest.fixture
def made_up() -> SplitFacts:
    """Two seeds of three strategies and of two gammas, one of which is the cluster split, and what is released."""
    return measured(
        [
            split(
                "random", 1, [400, 300, 190], index=[2.0, None, 1.0], differs=[0.05, 0.5, 0.001], sha256="1" * 64
            ),
            split("random", 2, [450, 310, 190], index=[3.0, 1.5, None], worse=[0.05, 0.051, 1.0], sha256="2" * 64),
            split("lohi", 1, [0, 0, 1234], discarded=101, better=[0.01, 0.05, 0.06], chance_sd=[0.0] * 3),
            split("cluster", 1, [300, 300, 2200], similarity=0.551, better=[0.05, 0.01, 0.2], sha256="3" * 64),
            split("cluster", 2, [400, 310, 200], similarity=0.449, index=[1.0, 4.0, None], sha256="4" * 64),
            split("cluster:gamma=0.55", 1, [300, 300, 2200], group="gamma", sha256="3" * 64),
            split("cluster:gamma=0.55", 2, [400, 310, 200], group="gamma", sha256="4" * 64),
            split("cluster:gamma=0.6", 7, [410, 320, 210], group="gamma", index=[None] * 3, sha256="5" * 64),
            split("released:which=random", 0, [1000, 6, 5], group="released", differs=[0.05, 0.051, 0.001]),
            split("released:which=cluster", 0, [1200, 6, 7], group="released", worse=[0.05, 0.01, 0.051]),
        ],
        left_out={"datasail": "there is no engine", "spectra": "it *failed*"},
        dated=886,
        sizes=[
            Sizes(
                dataset="drugbank",
                digest="",
                drugs=1710,
                types=86,
                triplets={"random": 188509, "cluster": 190547, "all": 191570},
                pairs=191400,
            ),
            Sizes(
                dataset="twosides_standin", digest="", drugs=604, types=200, triplets={"all": 247447}, pairs=9999
            ),
        ],
        periods=[
            Period(after=1980, until=1990, drugs=253, items=12345),
            Period(after=2010, until=None, drugs=177, items=3210),
            Period(after=1990, until=2000, drugs=267, items=1234567),
        ],
        drug_map=[(0, 0, 1980), (10, 20, 1981), (500, 999, 1990), (999, 0, 1991), (1, 1, 2010), (2, 2, 2011)],
    )


def test_sheets_of_data_read_as_kept(
    sheets_of_data: MakeSheets, made_up: SplitFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "harness.benchmarks.ddi.study.changes_since", lambda *_: ["the data are others", "so is the code"]
    )
    for (kind, number), shown in sheets_of_data(made_up).items():
        assert is_kept(f"ddi-{kind}-{number}.txt", described(shown))
    assert is_kept("consistency.md", page.markdown(made_up))


def test_sizes_of_all_files_of_twosides_have_no_stand_in(
    sheets_of_data: MakeSheets, made_up: SplitFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.benchmarks.ddi.study.changes_since", lambda *_: [])
    whole = made_up.sizes[1].model_copy(
        update={"dataset": "twosides", "triplets": {"random": 1, "cluster": 2, "all": 3000}}
    )
    shown = sheets_of_data(made_up.model_copy(update={"sizes": [whole]}))["table", "6"]
    assert [row[0] for row in shown.rows] == ["twosides"]
    assert shown.rows[0][3].endswith(" / 1 random, 2 cluster, 3,000 all")
    assert "twosides: 3,000 triplets of 9,999 pairs are more" in shown.notes[1]
    assert shown.notes[1].endswith("nobody here can tell.")


def test_a_curve_of_a_picture_is_the_row_of_its_split(sheet: MakeSheet) -> None:
    """Means of the seeds; colours by strategy, and what discards most drugs is left out. An index may be 0."""
    given = [
        split("random", 1, [400, 300, 190], index=[2.0, None, 1.0]),
        split("random", 2, [500, 310, 180], index=[4.0, None, 3.0]),
        split("frequency", 1, [500, 500, 500], index=[None] * 3),
        split("cluster", 1, [300, 300, 200], index=[1.5, 0.0, 1.0], chance_sd=[0.0, 50.0, 100.0]),
        split("released:which=random", 1, [7, 6, 5], group="released"),
    ]
    heading = "our splits that keep most drugs, mean of the seeds"
    five = sheet("figure", "5", *given)
    assert [one.heading for one in five.pictures] == [
        heading,
        "released splits",
        "nearer than chance, in standard deviations",
    ]
    curves = [Curve("random", [(1990.0, 3.0), (2010.0, 2.0)], 0)]
    curves.append(Curve("cluster", [(1990.0, 1.5), (2000.0, 0.0), (2010.0, 1.0)], 7))
    assert five.pictures[0].svg == lines(f"Consistency index, {heading}", curves, "threshold year")
    released_curve = Curve("released random", [(1990.0, 1.0), (2000.0, 1.0), (2010.0, 1.0)], 8)
    expected = lines("Consistency index, released splits", [released_curve], "threshold year")
    assert five.pictures[1].svg == expected
    chance = "nearer than chance, in standard deviations"
    curves = [
        Curve("random", [(1990.0, 1.0), (2000.0, 3.9), (2010.0, 6.3)], 0),
        Curve("frequency", [(1990.0, 0.0), (2000.0, 0.0), (2010.0, 0.0)], 1),
        Curve("cluster", [(1990.0, 0.0), (2000.0, 4.0), (2010.0, 3.0)], 7),
        Curve("released random", [(1990.0, 9.86), (2000.0, 9.88), (2010.0, 9.9)], 8),
    ]
    assert five.pictures[2].svg == lines(chance, curves, "threshold year", form="+.2f")
    eight = sheet("figure", "8", *given)
    what = "penalty less that of cluster; splits that keep most drugs"
    curves = [Curve("random", [(1990.0, 100.0), (2000.0, 0.0), (2010.0, -10.0)], 0)]
    curves.append(Curve("frequency", [(1990.0, 200.0), (2000.0, 200.0), (2010.0, 300.0)], 1))
    assert [(one.heading, one.svg) for one in eight.pictures] == [
        (what, lines(what, curves, "threshold year", form=",.0f"))
    ]
    gamma = split("cluster:gamma=0.6", 1, [9, 8, 7], group="gamma", index=[1.0, 2.0, 3.0])
    nine = sheet("figure", "9", gamma).pictures
    what = "cluster splits by gamma, mean of the seeds"
    curves = [Curve("0.6", [(1990.0, 1.0), (2000.0, 2.0), (2010.0, 3.0)])]
    assert [(one.heading, one.svg) for one in nine] == [
        (what, lines(f"Consistency index, {what}", curves, "threshold year"))
    ]


def test_a_distance_from_chance_is_told_in_deviations(made_up: SplitFacts) -> None:
    """Mean of the seeds with both ends; one seed has none, and no deviation no distance."""
    shown = page.markdown(made_up)
    # (300 - 500) / 50 = -4 and (400 - 500) / 50 = -2
    assert "| `cluster` | -3.0 (-4.0 to -2.0) | -3.9 (-4.0 to -3.8) | +14.0 (-6.0 to +34.0) |" in shown
    assert "| `lohi` | +0.0 | +0.0 | +0.0 |" in shown
    assert "gamma=0.55" not in shown and "| `cluster:gamma=0.6` | -1.8 | -3.6 | -5.8 |" in shown
    assert "1990: 1 (first is cluster)" in shown and "2010: 3 (first is random)" in shown
    assert "| `random` | 0 of 6 | 1 of 6 | 2 of 6 |" in shown and "| `lohi` | 2 of 3 | 0 of 3 | 0 of 3 |" in shown
    assert "seeds 1, 2, 7." in shown and "On made, 886 drugs with a year" in shown
    # every seed counts, in a rank as in a count
    changed: dict[tuple[str, int], dict[str, Any]] = {
        ("random", 2): {"differs": [0.01] * 3},
        ("cluster", 1): {"penalty": [300, 300, 200]},
        ("cluster", 2): {"penalty": [400, 310, 0]},
    }
    own = [one.model_copy(update=changed.get((one.split, one.seed), {})) for one in made_up.splits]
    shown = page.markdown(made_up.model_copy(update={"splits": own}))
    assert "| `random` | 0 of 6 | 1 of 6 | 5 of 6 |" in shown and "2010: 1 (first is cluster)" in shown


def test_a_split_that_is_another_for_one_seed_has_its_own_row(made_up: SplitFacts) -> None:
    """The cluster splits of the default gamma are there once, and only where every seed's is the same."""
    for seed in (1, 2):
        other = [
            one.model_copy(update={"sha256": "6" * 64} if (one.group, one.seed) == ("gamma", seed) else {})
            for one in made_up.splits
        ]
        names = [
            line.split("`")[1]
            for line in page.markdown(made_up.model_copy(update={"splits": other})).splitlines()
            if line.startswith("| `")
        ]
        assert names == 2 * [
            *("random", "lohi", "cluster", "cluster:gamma=0.55", "cluster:gamma=0.6"),
            *("released:which=random", "released:which=cluster"),
        ]


def test_what_is_measured_is_what_the_paper_compares() -> None:
    names = ["random", "frequency", "usage", "scaffold", "lohi", "spectra", "datasail", "cluster"]
    assert [*measuring.STRATEGIES] == names and measuring.SEEDS == (1, 2, 3)
    assert measuring.GAMMAS == ("0.55", "0.6", "0.65", "0.7")
    assert measuring._COMPARED_WITH == {
        "strategies": "cluster",
        "gamma": "cluster:gamma=0.55",
        "released": "released:which=cluster",
    }
    assert measuring._PERIODS == ((1980, 1990), (1990, 2000), (2000, 2010), (2010, None))
    assert measuring._SIZED == (("drugbank",), ("twosides", "twosides_standin"))


def test_all_groups_are_measured_with_all_seeds(monkeypatch: pytest.MonkeyPatch, small: DdiDataset) -> None:
    """Released splits are there once, and others with three seeds; every part goes where it belongs."""
    asked: list[tuple[str, int, list[str], tuple[object, ...]]] = []

    class Group:
        def __init__(
            self, layout: object, data: object, name: str, seed: int, mirrors: tuple[object, ...]
        ) -> None:
            assert layout == "layout" and data is small
            self.name, self.seed, self.mirrors = name, seed, mirrors

        def measures(self, texts: Iterable[str], left_out: dict[str, str]) -> list[SplitMeasures]:
            asked.append((self.name, self.seed, [*texts], self.mirrors))
            left_out[f"{self.name} {self.seed}"] = "why"
            return [split(self.name, self.seed, [1, 2, 3])]

    loaded: list[tuple[object, ...]] = []

    def load(layout: object, name: str, kind: type, *, mirrors: object) -> DdiDataset:
        loaded.append((layout, name, kind, mirrors))
        if name == "twosides":
            raise MissingData("no files", where="", todo="")
        return small

    monkeypatch.setattr(measuring, "_Group", Group)
    monkeypatch.setattr("harness.data.load_dataset", load)
    monkeypatch.setattr(measuring, "_map", lambda data: [(1, 2, 1990)] if data is small else [])
    said: list[str] = []
    found = measuring.measure(cast(Layout, "layout"), "one", [Path("m")], said.append)
    assert loaded == [
        ("layout", name, DdiDataset, [Path("m")]) for name in ("one", "drugbank", "twosides", "twosides_standin")
    ]
    gammas = [f"cluster:gamma={gamma}" for gamma in ("0.55", "0.6", "0.65", "0.7")]
    here = (Path("m"),)
    assert asked == [
        *(("strategies", seed, [*measuring.STRATEGIES], here) for seed in (1, 2, 3)),
        *(("gamma", seed, gammas, here) for seed in (1, 2, 3)),
        ("released", 1, [f"released:which={name}" for name in small.released_names], here),
    ]
    assert said == [*(f"splits: {name}, seed {seed}" for name, seed, *_ in asked), "map of drugs"]
    assert [(one.group, one.split, one.seed) for one in found.splits] == [
        ("strategies", name, seed) for name, seed, *_ in asked
    ]
    assert found.left_out == {f"{name} {seed}": "why" for name, seed, *_ in asked}
    assert (found.dataset, found.digest, found.code) == ("one", small.digest, measuring_code())
    assert found.years == [1985, 1990, 1995, 2000, 2005, 2010, 2015, 2020]
    assert found.sizes == [measuring._sized(small)] * 2 and found.drug_map == [(1, 2, 1990)]
    assert found.periods == [measuring._period(small, *period) for period in measuring._PERIODS]
    assert found.dated == sum(year > 0 for year in small.years.tolist())


def test_no_split_is_no_measure(layout: Layout, small: DdiDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> object:
        raise EngineError("no engine")

    monkeypatch.setattr("harness.splits.load_split", fail)
    left_out: dict[str, str] = {}
    assert measuring._Group(layout, small, "strategies", 1, ()).measures(["random", "lohi"], left_out) == []
    assert left_out == {"random": "no engine", "lohi": "no engine"}


def test_measures_are_kept_with_few_digits(
    layout: Layout, small: DdiDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as are shown; what is compared with what is asked of `consistency`, with the seed."""
    given: list[tuple[object, ...]] = []

    def consistency(roles: dict[str, Any], years: object, *, against: str, seed: int) -> list[SimpleNamespace]:
        given.append(([*roles], years is small.years, against, seed))
        third = 1 / 3
        numbers = {"control_mean": 100 + third, "control_sd": third, "better": third / 100, "worse": 2 * third}
        return [
            SimpleNamespace(split=name, penalty=at, index=None if at else third, differs=third, **numbers)
            for at in (0, 1)
            for name in roles
        ]

    monkeypatch.setattr("harness.benchmarks.ddi.splits.consistency.consistency", consistency)
    found = measuring._Group(layout, small, "gamma", 3, ()).measures(["cluster:gamma=0.6", "random"], {})
    assert given == [(["cluster:gamma=0.6", "random"], True, "cluster:gamma=0.55", 3)]
    for one, name in zip(found, ("cluster", "random"), strict=True):
        assert one.source == strategy_source("ddi", name) and one.group == "gamma"
        assert (one.penalty, one.index) == ([0, 1], [0.33333, None])
        assert (one.chance_mean, one.chance_sd) == ([100.3] * 2, [0.3] * 2)
        assert (one.better, one.worse, one.differs) == ([0.00333] * 2, [0.66667] * 2, [0.33333] * 2)
        assert one.similarity == round(one.similarity, 5)


@pytest.mark.parametrize(("dated", "perplexity"), [(8, 2), (11, 2), (12, 3)])
def test_a_map_is_the_exact_tsne_of_the_distances(
    small: DdiDataset, monkeypatch: pytest.MonkeyPatch, dated: int, perplexity: int
) -> None:
    """Scaled to a square; few drugs have few neighbours."""
    years = np.zeros_like(small.years)
    years[3 : 3 + dated] = 1990 + np.arange(dated)
    given: list[object] = []

    class Tsne:
        def __init__(self, **options: object) -> None:
            given.append(options)

        def fit_transform(self, distances: np.ndarray) -> np.ndarray:
            counts = small.fingerprints[3 : 3 + dated].astype(float)
            assert distances == pytest.approx(measuring._distances(counts))
            return np.column_stack([np.arange(dated) * 2.0 - 5, -(np.arange(dated) ** 2.0)])

    monkeypatch.setattr("sklearn.manifold.TSNE", Tsne)
    places = measuring._map(replace(small, years=years))
    assert given == [
        {
            "metric": "precomputed",
            "init": "random",
            "method": "exact",
            "perplexity": perplexity,
            "random_state": 0,
        }
    ]
    last = dated - 1
    assert places == [
        (round(999 * at / last), round(999 * (1 - at**2 / last**2)), 1990 + at) for at in range(dated)
    ]


def test_a_map_of_many_drugs_has_thirty_neighbours(small: DdiDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []

    class Tsne:
        def __init__(self, *, perplexity: int, **_: object) -> None:
            found.append(perplexity)

        def fit_transform(self, distances: np.ndarray) -> np.ndarray:
            return np.column_stack([np.arange(len(distances)), np.arange(len(distances))])

    monkeypatch.setattr("sklearn.manifold.TSNE", Tsne)
    for count in (119, 120, 124, 400):
        many = SimpleNamespace(years=np.full(count, 1990), fingerprints=np.eye(count, dtype=np.uint8))
        measuring._map(cast(DdiDataset, many))
    assert found == [29, 30, 30, 30]
