"""What a figure shows and judges is what its definition gives, on runs made up here."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from scipy import stats

from harness.benchmarks.repurposing.study.figures import Best as BestOfDataset
from harness.benchmarks.repurposing.study.figures import (
    Figures,
    _agreement,
    _best,
    _correlogram,
    _correlograms,
    _same_correlation,
    _same_three,
    _times,
)
from harness.benchmarks.repurposing.study.figures import Panel as PanelOfFigure
from harness.benchmarks.repurposing.study.sheets import _spread, makers
from harness.compare.comparison import ClaimVerdict
from harness.compare.groups import Several
from harness.compare.paper import Place
from harness.compare.values import TIME, Side
from harness.study.sides import Sides
from harness.study.specs import Spec
from tests.study.conftest import Drawn

SPLIT = "random_simple"
LEVELS = {"A": 0.90, "B": 0.85, "C": 0.80, "D": 0.70, "E": 0.60}
PLACES = tuple(Place("One", method, SPLIT) for method in LEVELS)


def side_of(levels: dict[str, float], *, spread: float = 0.0, seeds: int = 40) -> Side:
    random = np.random.default_rng(0)
    return Side(
        {
            Place("One", method, SPLIT): {
                seed: {"NS-AUC": level + float(random.normal(0, spread)) if spread else level}
                for seed in range(seeds)
            }
            for method, level in levels.items()
        }
    )


def same_three(published: Side, mine: str, n: int = 10) -> tuple[ClaimVerdict, str]:
    return _same_three(published, PLACES, "NS-AUC", ["A", "B", "C"], list(mine), n)


def test_the_same_three_are_reproduced_in_any_order() -> None:
    published = side_of(LEVELS)
    assert same_three(published, "ABC") == (ClaimVerdict.REPRODUCED, "the same three in the same order")
    assert same_three(published, "CAB") == (ClaimVerdict.REPRODUCED, "the same three in another order")
    assert same_three(published, "ABC", 9) == (ClaimVerdict.NOT_COMPARABLE, "9 seeds")


@pytest.mark.parametrize(
    ("below", "verdict"),
    [
        (0.0, ClaimVerdict.REPRODUCED),
        (0.0049, ClaimVerdict.REPRODUCED),
        (0.005, ClaimVerdict.REPRODUCED),
        (0.0051, ClaimVerdict.DEVIATES),
        (0.04, ClaimVerdict.DEVIATES),
    ],
)
def test_three_that_would_be_printed_alike_are_the_same_three(below: float, verdict: ClaimVerdict) -> None:
    """Means are printed with two decimals: half a unit of the second."""
    found, reason = same_three(side_of({**LEVELS, "D": LEVELS["C"] - below}), "ABD")
    assert found is verdict
    assert ("equal to those in two decimals" in reason) is (verdict is ClaimVerdict.REPRODUCED)


def test_three_that_the_authors_own_runs_sometimes_give_decide_nothing() -> None:
    """D is one deviation of a mean of ten below C: about every sixth draw has it before C."""
    close = side_of({**LEVELS, "D": LEVELS["C"] - 0.02}, spread=0.04)
    verdict, reason = same_three(close, "ABD")
    assert verdict is ClaimVerdict.NOT_COMPARABLE
    told = float(reason.partition("which ")[2].partition("%")[0]) / 100
    random = np.random.default_rng(5)
    values = close.table(PLACES, range(40), "NS-AUC")
    share = np.mean(
        [
            set(np.argsort(-values[:, random.integers(0, 40, 10)].mean(axis=1))[:3].tolist()) == {0, 1, 3}
            for _ in range(2000)
        ]
    )
    assert told == pytest.approx(share, abs=0.1) and 0.02 < share < 0.5
    assert same_three(close, "ABE")[0] is ClaimVerdict.DEVIATES
    # what came in one of two hundred draws did not come never
    for below, often in ((0.04, "in 0.5% of draws"), (0.05, "in no draw")):
        rare = side_of({**LEVELS, "D": LEVELS["C"] - below}, spread=0.04)
        told_of = f"10 seeds of the authors' own runs give these three {often}"
        assert same_three(rare, "ABD") == (ClaimVerdict.DEVIATES, told_of)
    # of more seeds a mean is known better, so that these three come less often
    fewer, many = (same_three(close, "ABD", n) for n in (10, 40))
    assert many[0] is ClaimVerdict.DEVIATES or float(many[1].partition("which ")[2].partition("%")[0]) / 100 < told
    assert fewer[0] is ClaimVerdict.NOT_COMPARABLE


@pytest.fixture
def metrics(nothing_run: Several) -> tuple[str, ...]:
    return tuple(nothing_run.paper.metrics)


def correlated(metrics: tuple[str, ...], runs: int = 60) -> Side:
    """Each metric depends on the one before it, the last is the same everywhere."""
    random = np.random.default_rng(1)
    values = np.cumsum(random.normal(size=(runs, len(metrics))) + 0.1, axis=1)
    values[:, -1] = 0.5
    half = runs // 2
    return Side(
        {
            place: {
                seed: dict(zip(metrics, map(float, row), strict=True))
                for seed, row in enumerate(values[number * half : (number + 1) * half])
            }
            for number, place in enumerate(PLACES[:2])
        }
    )


def test_correlations_are_spearmans_and_lines_those_of_least_squares(
    nothing_run: Several, metrics: tuple[str, ...]
) -> None:
    maker = cast(Sides, SimpleNamespace(several=nothing_run))
    side = correlated(metrics)
    found = _correlogram(maker, side, PLACES[:2])
    assert found is not None and found.runs == 60 and found.metrics == metrics
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        (one, other) for number, one in enumerate(metrics) for other in metrics[number + 1 :]
    ]
    for pair in found.pairs:
        first, second = (found.values[:, metrics.index(name)] for name in (pair.first, pair.second))
        if pair.second == metrics[-1]:
            assert (pair.rho, pair.r2) == (0.0, 0.0) and pair.intercept == pytest.approx(0.5)
            continue
        line = stats.linregress(first, second)
        assert pair.rho == pytest.approx(stats.spearmanr(first, second).statistic)
        assert pair.r2 == pytest.approx(line.rvalue**2)
        assert (pair.slope, pair.intercept) == pytest.approx((line.slope, line.intercept))
    # a metric that is the same everywhere explains nothing of another: a level line at the mean
    flat = {
        place: {seed: {**run, metrics[0]: 0.5} for seed, run in runs.items()}
        for place, runs in side.values.items()
    }
    level = _correlogram(maker, Side(flat), PLACES[:2])
    assert level is not None
    for pair in level.pairs[: len(metrics) - 1]:
        assert (pair.first, pair.rho, pair.slope) == (metrics[0], 0.0, 0.0)
        assert pair.intercept == pytest.approx(level.values[:, metrics.index(pair.second)].mean())


def test_runs_without_one_of_the_metrics_are_left_out(nothing_run: Several, metrics: tuple[str, ...]) -> None:
    maker = cast(Sides, SimpleNamespace(several=nothing_run))
    side = correlated(metrics)
    place = PLACES[0]
    fewer = {seed: {**run} for seed, run in side.values[place].items()}
    del fewer[0][metrics[0]]
    found = _correlogram(maker, replace(side, values={**side.values, place: fewer}), PLACES[:2])
    assert found is not None and found.runs == 59
    # as many runs as metrics tell nothing
    some = {place: dict(list(side.values[place].items())[: len(metrics)])}
    assert _correlogram(maker, Side(some), PLACES[:1]) is None
    more = {place: dict(list(side.values[place].items())[: len(metrics) + 1])}
    assert _correlogram(maker, Side(more), PLACES[:1]) is not None


def test_our_correlations_are_held_against_what_the_authors_runs_could_give(drawn: Drawn) -> None:
    several = drawn(20)
    maker = cast(Sides, SimpleNamespace(several=several))
    shown = _correlograms(maker)
    assert [one.title for one in shown] == ["published, all", "published, where we have runs", "ours"]
    assert shown[0].runs > shown[1].runs > 0 and shown[2].runs > 0
    told = _agreement(maker, shown)
    assert len(told) == len(shown[-1].pairs)
    for (verdict, reason), pair in zip(told, shown[-1].pairs, strict=True):
        low, high = (float(text) for text in reason.partition(": ")[2].split(" to "))
        assert reason.startswith("99% range") and low < high
        if not min(abs(pair.rho - low), abs(pair.rho - high)) < 0.01:
            assert (verdict is ClaimVerdict.REPRODUCED) == (low <= pair.rho <= high)
    turned = tuple(replace(pair, rho=-pair.rho) for pair in shown[-1].pairs)
    other = _agreement(maker, (*shown[:2], replace(shown[2], pairs=turned)))
    assert ClaimVerdict.DEVIATES in {verdict for verdict, _ in other}
    few = cast(Sides, SimpleNamespace(several=drawn(9)))
    assert set(_agreement(few, _correlograms(few))) == {(ClaimVerdict.NOT_COMPARABLE, "9 seeds")}
    # runs of which none has all metrics are not held against the authors' by the authors' own
    *_, last = several.paper.metrics
    lacking = {
        place: {seed: {name: run[name] for name in run if name != last} for seed, run in runs.items()}
        for place, runs in several.ours.values.items()
    }
    without = cast(Sides, SimpleNamespace(several=replace(several, ours=Side(lacking))))
    shown = _correlograms(without)
    assert [one.title for one in shown] == ["published, all", "published, where we have runs"]
    assert set(_agreement(without, shown)) == {
        (ClaimVerdict.NOT_COMPARABLE, "too few of our runs have every metric")
    }
    waiting = cast(Sides, SimpleNamespace(several=drawn(10, without=["HAN"])))
    (one,) = set(_agreement(waiting, _correlograms(waiting)))
    assert one[0] is ClaimVerdict.PENDING and one[1].endswith("not run yet")


def best_of(dataset: str, methods: str, verdict: ClaimVerdict = ClaimVerdict.REPRODUCED) -> BestOfDataset:
    return BestOfDataset(dataset, tuple(methods), (), 10, verdict, "", None, ())


def test_the_three_fastest_of_those_that_are_often_among_the_best_are_shown() -> None:
    """Twice at least in all panels; the fastest first."""
    panels = (
        PanelOfFigure("AUC", SPLIT, (best_of("One", "ABC"), best_of("Two", "ADE"))),
        PanelOfFigure("NS-AUC", SPLIT, (best_of("One", "BCD"), best_of("Two", "FDB"))),
    )
    seconds = {"A": 5.0, "B": 3.0, "C": 9.0, "D": 1.0, "E": 0.1, "F": 0.2}
    times = Side(
        {
            Place("One", method, SPLIT): {seed: {TIME: told + seed} for seed in (0, 1)}
            for method, told in seconds.items()
        }
    )
    paper = SimpleNamespace(datasets={"One": "One", "Two": "Two"})
    made = SimpleNamespace(paper=paper, published=times, ours=Side({}), why_without=lambda name: f"why {name}")
    one, two = _times(cast(Sides, SimpleNamespace(several=made)), panels)
    assert [name for name, _, _ in one.boxes] == ["D", "B", "A"]
    assert [values.tolist() for _, values, _ in one.boxes] == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert (one.dataset, one.why_without, two.boxes) == ("One", "why One", ())


def test_seconds_are_told_by_their_median() -> None:
    assert _spread(np.array([9.0, 1.0, 2.0])) == "2 (1 to 9; 3)" and _spread(np.array([])) == "-"


def test_only_what_is_judged_counts() -> None:
    panel = PanelOfFigure("AUC", SPLIT, (best_of("One", "ABC", ClaimVerdict.DEVIATES), best_of("Two", "ABC")))
    figures = Figures((), (panel,), (), {"one_thing": "A_B"}, ((ClaimVerdict.PENDING, ""),))
    ours = SimpleNamespace(ours=Side({}))
    sides = SimpleNamespace(
        several=ours, names=SimpleNamespace(methods=dict.fromkeys("ABC", "als_wr")), keys=lambda *_: []
    )
    tallies = {}
    for way, make in makers(cast(Sides, sides), figures).items():
        sheet = make(Spec(kind="figure", number="1", title="", made=way))
        tallies[way] = dict(sheet.tally) if sheet else None
    deviates, reproduced = ClaimVerdict.DEVIATES, ClaimVerdict.REPRODUCED
    pending = {ClaimVerdict.PENDING: 1}
    assert tallies == {"correlations": pending, "best": {deviates: 1, reproduced: 1}, "times": {}}
    assert figures.title("one_thing") == "A B" and figures.title("another_thing") == "another thing"


@pytest.mark.parametrize(
    ("rho", "sd", "verdict"),
    [
        (0.5, 0.0607, ClaimVerdict.REPRODUCED),
        (0.5, 0.0609, ClaimVerdict.NOT_COMPARABLE),
        (0.45, 0.0303, ClaimVerdict.REPRODUCED),
        (0.55, 0.0303, ClaimVerdict.REPRODUCED),
        (0.45, 0.0305, ClaimVerdict.NOT_COMPARABLE),
        (0.55, 0.0305, ClaimVerdict.NOT_COMPARABLE),
        (0.35, 0.0585, ClaimVerdict.NOT_COMPARABLE),
        (0.35, 0.0580, ClaimVerdict.DEVIATES),
        (0.65, 0.0580, ClaimVerdict.DEVIATES),
        (0.52, 0.0070, ClaimVerdict.DEVIATES),
    ],
)
def test_a_correlation_is_the_same_within_a_tenth(rho: float, sd: float, verdict: ClaimVerdict) -> None:
    """Of 0.5: beyond the 99 % range it deviates, else the 90 % range of the difference must fit into a tenth."""
    z = {name: float(stats.norm.ppf(quantile)) for name, quantile in (("wide", 0.995), ("narrow", 0.95))}
    expected = ClaimVerdict.DEVIATES
    if abs(rho - 0.5) <= z["wide"] * sd:
        fits = abs(rho - 0.5) + z["narrow"] * sd <= 0.1
        expected = ClaimVerdict.REPRODUCED if fits else ClaimVerdict.NOT_COMPARABLE
    found, reason = _same_correlation(rho, 0.5, sd)
    assert found is verdict is expected
    low, high = 0.5 - z["wide"] * sd, 0.5 + z["wide"] * sd
    assert reason.endswith(f"99% range of the authors' runs: {low:+.2f} to {high:+.2f}")
    assert reason.startswith("too few runs") is (verdict is ClaimVerdict.NOT_COMPARABLE)


def test_three_that_one_of_two_hundred_draws_gives_deviate() -> None:
    """Fewer than one in a hundred is rare, and more decides nothing; never is not asked for."""
    draws = np.random.default_rng(0).integers(0, 40, size=(200, 10))
    seen: dict[float, ClaimVerdict] = {}
    for gap in np.arange(0.02, 0.08, 0.0005).tolist():
        close = side_of({**LEVELS, "D": LEVELS["C"] - gap}, spread=0.04)
        means = close.table(PLACES, range(40), "NS-AUC")[:, draws].mean(axis=-1)
        threes = np.argsort(-means, axis=0, kind="stable")[:3]
        share = sum({*threes[:, draw].tolist()} == {0, 1, 3} for draw in range(200)) / 200
        seen[share] = same_three(close, "ABD")[0]
    assert 0.005 in seen and max(seen) > 0.02
    for share, verdict in seen.items():
        assert verdict is (ClaimVerdict.DEVIATES if share < 0.01 else ClaimVerdict.NOT_COMPARABLE)


def without_seeds(several: Several, place: Place, seeds: int) -> Several:
    """Our side with fewer seeds of one method."""
    values = {**several.ours.values, place: dict([*several.ours.values[place].items()][:seeds])}
    return replace(several, ours=replace(several.ours, values=values))


def test_a_best_three_is_of_all_methods_that_were_run(drawn: Drawn) -> None:
    """The method with the fewest seeds decides how many there are; a method that is missing keeps it open."""

    def best(several: Several, dataset: str = "Fdataset") -> BestOfDataset:
        sides = SimpleNamespace(several=several, best_control=lambda metric, places: (metric, float(len(places))))
        return _best(cast(Sides, sides), "AUC", SPLIT, dataset)

    whole = drawn(12)
    place = Place("Fdataset", "HAN", SPLIT)
    found = best(whole)
    methods = [one for one in whole.published.values if (one.dataset, one.split) == ("Fdataset", SPLIT)]
    assert (found.n, found.verdict, found.control) == (12, ClaimVerdict.REPRODUCED, ("AUC", float(len(methods))))
    means = {one.method: float(np.mean(whole.published.all_of(one, "AUC"))) for one in methods}
    assert list(found.published) == sorted(means, key=lambda name: -means[name])[:3]
    assert [name for name, *_ in found.boxes] == [*dict.fromkeys((*found.published, *found.ours))]
    for name, theirs, ours in found.boxes:
        here = Place("Fdataset", name, SPLIT)
        assert theirs.tolist() == whole.published.all_of(here, "AUC").tolist() and len(theirs) == 46
        assert ours.tolist() == whole.ours.all_of(here, "AUC").tolist() and len(ours) == 12
    fewer = best(without_seeds(whole, place, 9))
    assert (fewer.n, fewer.verdict, fewer.reason) == (9, ClaimVerdict.NOT_COMPARABLE, "9 seeds")
    missing = best(drawn(12, without=["HAN"]))
    assert (missing.verdict, missing.n) == (ClaimVerdict.PENDING, 12)
    assert missing.reason == f"{len(methods) - 1} of {len(methods)} methods run" and "HAN" not in missing.ours
    # one of the authors' three that is missing here has a box of theirs alone, beside ours of another method
    other = best(drawn(12, without=[found.published[0]]))
    boxes = {name: (len(theirs), len(ours)) for name, theirs, ours in other.boxes}
    assert boxes == {name: (46, 0 if name == found.published[0] else 12) for name in boxes}
    assert [*boxes] == [*dict.fromkeys((*found.published, *other.ours))] and len(boxes) == 4
    absent = best(whole, "Gottlieb")
    assert (absent.verdict, absent.n, absent.ours) == (ClaimVerdict.NOT_COMPARABLE, 0, ())
    assert absent.reason == f"no data here: {whole.why_without('Gottlieb')}" and len(absent.published) == 3


def test_that_parameters_were_fitted_is_said_only_of_a_three_that_is_the_same(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.compare.groups.reason_in", lambda *_: "it was")
    whole = drawn(12)
    same, fewer = (
        _best(cast(Sides, SimpleNamespace(several=one, best_control=lambda *_: None)), "AUC", SPLIT, "Fdataset")
        for one in (whole, without_seeds(whole, Place("Fdataset", "HAN", SPLIT), 9))
    )
    told = f"parameters of our {', '.join(same.ours)} were fitted to values that are published for it"
    assert (same.verdict, same.reason) == (ClaimVerdict.REPRODUCED, f"the same three in the same order; {told}")
    assert (fewer.verdict, fewer.reason) == (ClaimVerdict.NOT_COMPARABLE, "9 seeds")


def test_the_range_of_a_correlation_is_that_of_a_hundred_draws(drawn: Drawn) -> None:
    """Of as many seeds as the place with the fewest has, the same ones of every method; written out plainly."""
    several = without_seeds(drawn(14), Place("Fdataset", "HAN", SPLIT), 12)
    shown = _correlograms(cast(Sides, SimpleNamespace(several=several)))
    told = _agreement(cast(Sides, SimpleNamespace(several=several)), shown)
    metrics, published = [*several.paper.metrics], several.published
    places = [
        place
        for place in published.values
        if not several.why_without(place.dataset)
        and any(all(metric in run for metric in metrics) for run in published.values[place].values())
    ]
    seeds = sorted(
        set.intersection(
            *({seed for seed, run in published.values[place].items() if "NS-AUC" in run} for place in places)
        )
    )
    draws, random = [], np.random.default_rng(0)
    for _ in range(100):
        chosen = [seeds[number] for number in random.choice(len(seeds), size=12)]
        rows = [
            [published.values[place][seed][metric] for metric in metrics] for place in places for seed in chosen
        ]
        rho = np.asarray(stats.spearmanr(np.array(rows)).statistic)
        draws.append([rho[one, other] for one in range(len(metrics)) for other in range(one + 1, len(metrics))])
    spread = np.std(draws, axis=0) * np.sqrt(1 + 12 / len(seeds))
    wide = float(stats.norm.ppf(0.995))
    for (_, reason), centre, sd in zip(told, np.mean(draws, axis=0), spread, strict=True):
        assert reason.endswith(f": {centre - wide * sd:+.2f} to {centre + wide * sd:+.2f}")
    few = cast(Sides, SimpleNamespace(several=without_seeds(drawn(14), Place("Fdataset", "HAN", SPLIT), 9)))
    assert set(_agreement(few, shown)) == {(ClaimVerdict.NOT_COMPARABLE, "9 seeds")}
    waiting = drawn(14, without=["HAN"])
    here = [place for place in published.values if not several.why_without(place.dataset)]
    count = sum(place.method == "HAN" for place in here)
    assert set(_agreement(cast(Sides, SimpleNamespace(several=waiting)), shown)) == {
        (ClaimVerdict.PENDING, f"{count} of {len(here)} not run yet")
    }
    assert _agreement(cast(Sides, SimpleNamespace(several=waiting)), ()) == ()
