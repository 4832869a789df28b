"""Statistics over several methods and their ranges equal what their definitions give, on sides made up here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from harness.base.errors import CorruptData
from harness.base.vocabulary import Verdict
from harness.compare.adjustment import judge_adjusted
from harness.compare.claims import ADJUSTED_P, DIFFERENCE, MEDIAN, Claim, H
from harness.compare.comparison import ClaimVerdict, Comparable, Comparison
from harness.compare.groups import Several, judge_all
from harness.compare.names import ClaimSources, MetricName, PublishedNames, Remark, Target
from harness.compare.paper import Contrast, PaperStatistics, Place
from harness.compare.runs import Obtained
from harness.compare.values import TIME, Side, our_side, values_of_control

METRIC = "NS-AUC"
METHODS = ("A", "B", "C", "D")
SPLITS = ("random_simple", "weakly_correlated")
NAMES = PublishedNames(
    benchmark="repurposing",
    variant="published",
    options={"inner_folds": 5},
    seeds=60,
    sources=ClaimSources(paper="a paper", files="files"),
    methods={name: name.lower() for name in METHODS},
    datasets={"One": "one", "Two": "two"},
    splits={split: split for split in SPLITS},
    metrics=[MetricName(published=METRIC, ours="NS-AUC/as-published", reason="drug-wise")],
)
PAPER = PaperStatistics(
    metric=METRIC,
    methods=dict(zip(METHODS, METHODS, strict=True)),
    datasets={"One": "One", "Two": "Two"},
    metrics={METRIC: "ordered share"},
    contrasts=[
        Contrast(name="AB-CD", first=["A", "B"], second=["C", "D"], splits=[SPLITS[0], SPLITS[0]]),
        Contrast(name="CD-AB", first=["C", "D"], second=["A", "B"], splits=[SPLITS[0], SPLITS[0]]),
    ],
)
KNOWN = Comparable(frozenset("abcd"), frozenset({"one", "two"}), frozenset(SPLITS))
PLACES = tuple(Place(dataset, method, SPLITS[0]) for dataset in ("One", "Two") for method in METHODS)
# C and D are a little worse than A and B; D is the worst
LEVELS = {"A": 0.80, "B": 0.79, "C": 0.74, "D": 0.70}


def drawn(places: tuple[Place, ...], seeds: range, *, random: int = 0, shift: float = 0.0) -> Side:
    generator = np.random.default_rng(random)
    return Side(
        {
            place: {
                seed: {METRIC: LEVELS[place.method] + shift + float(generator.normal(0, 0.03))} for seed in seeds
            }
            for place in places
        }
    )


def claim(statistic: str, published: float, **changed: object) -> Claim:
    fields: dict[str, object] = {
        "source": "Table 9, somewhere",
        "statistic": statistic,
        "method": "AB-CD",
        "dataset": "One",
        "split": SPLITS[0],
        "metric": METRIC,
        "published": repr(published),
        **changed,
    }
    return Claim(**fields)  # type: ignore[arg-type]


def several(published: Side, ours: Side) -> Several:
    means = {
        (place, METRIC): float(np.mean([run[METRIC] for run in runs.values()]))
        for place, runs in published.values.items()
    }
    return Several(NAMES, PAPER, KNOWN, replace(published, means=means), ours)


def columns(side: Side, methods: str, seeds: list[int], dataset: str = "One") -> np.ndarray:
    return np.array(
        [[side.values[Place(dataset, method, SPLITS[0])][seed][METRIC] for seed in seeds] for method in methods]
    )


def by_definition(statistic: str, side: Side, seeds: list[int]) -> float:
    """Of one dataset; H is taken to the paper's number of runs."""
    first, second = columns(side, "AB", seeds).ravel(), columns(side, "CD", seeds).ravel()
    if statistic == DIFFERENCE:
        return float(first.mean() - second.mean())
    if statistic == MEDIAN:
        best = sorted("ABCD", key=lambda method: -columns(side, method, sorted(side.values[PLACES[0]])).mean())[:3]
        return float(np.median(columns(side, "".join(best), seeds)))
    count, full = len(first) + len(second), NAMES.seeds * 4
    return float(stats.kruskal(first, second).statistic * (full - 1) / (count - 1))


PUBLISHED, OURS = drawn(PLACES, range(40)), drawn(PLACES, range(100, 120), random=1)
STATISTICS = (MEDIAN, DIFFERENCE, H)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_statistic_of_both_sides_is_its_definition(statistic: str) -> None:
    about = "all" if statistic == MEDIAN else "AB-CD"
    one = several(PUBLISHED, OURS).judge(claim(statistic, 0.1, method=about))
    assert one.n == 20 and one.files is not None
    assert one.ours == pytest.approx(by_definition(statistic, OURS, list(range(100, 120))))
    assert one.files.value == pytest.approx(by_definition(statistic, PUBLISHED, list(range(40))))
    assert one.files.n == (NAMES.seeds if statistic == DIFFERENCE else 40)


def test_a_number_that_rests_on_fitted_parameters_says_so_where_it_is_reproduced() -> None:
    """A median rests on the three best alone, and D is none of them. What is fitted elsewhere, nobody."""
    ours = drawn(PLACES, range(100, 160), random=1)
    here = "within the range of the authors' own runs"

    def reason(statistic: str, *fitted: str, dataset: str = "One", shift: float = 0.0) -> str:
        found = several(PUBLISHED, drawn(PLACES, range(100, 160), random=1, shift=shift) if shift else ours)
        remarks = [Remark(method=name, dataset=dataset, reason="a fit") for name in fitted]
        names = NAMES.model_copy(update={"fitted": remarks})
        asked = claim(statistic, by_definition(statistic, PUBLISHED, list(range(40))), rounding=0.05)
        if statistic == MEDIAN:
            asked = asked._replace(method="all")
        return replace(found, names=names).judge(asked).reason

    def told(methods: str) -> str:
        return f"{here}; parameters of our {methods} were fitted to values that are published for it"

    for statistic in STATISTICS:
        assert reason(statistic) == reason(statistic, *"ABCD", dataset="Two") == here
        assert reason(statistic, "A") == told("A")
        assert reason(statistic, "D") == (here if statistic == MEDIAN else told("D"))
    assert reason(MEDIAN, *"ABCD") == told("A, B, C")
    assert "fitted" not in reason(MEDIAN, "A", shift=0.2)


@pytest.mark.parametrize("seeds", [10, 20, 35])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_range_is_where_99_of_100_draws_of_the_authors_runs_lie(statistic: str, seeds: int) -> None:
    """Of as many seeds as ours, widened for those that are not known: a difference has the two variances' sum."""
    ours = drawn(PLACES, range(100, 100 + seeds), random=1)
    one = several(PUBLISHED, ours).judge(
        claim(statistic, 0.1, method="all" if statistic == MEDIAN else "AB-CD", rounding=0.001)
    )
    generator = np.random.default_rng(7)
    draws = np.array(
        [by_definition(statistic, PUBLISHED, generator.choice(40, size=seeds).tolist()) for _ in range(1000)]
    )
    half = stats.norm.ppf(0.995) * draws.std() * np.sqrt(1 + seeds / 40)
    low, high = range_of(one)
    # two hundred draws tell a deviation within a twentieth, so that a 95 % range (three quarters of it) shows
    assert (high - low) / 2 - 0.001 == pytest.approx(half, rel=0.17)
    assert (low + high) / 2 == pytest.approx(draws.mean(), abs=0.25 * half)
    assert one.test.startswith(f"99% range of {seeds} published seeds: ")
    # the 90 % interval is of the same deviation, around the difference from the same middle
    assert one.interval is not None and one.ours is not None
    narrow = (one.interval[1] - one.interval[0]) / 2
    assert narrow == pytest.approx(((high - low) / 2 - 0.001) * 1.6449 / 2.5758, rel=0.05)
    assert sum(one.interval) / 2 == pytest.approx(one.ours - (low + high) / 2, abs=0.05 * half)


def range_of(one: Comparison) -> tuple[float, float]:
    """The 99 % range that the test of a comparison names."""
    low, high = one.test.partition(": ")[2].partition(";")[0].split(" to ")
    return float(low), float(high)


def verdict_of(ours: Side, one: Claim, published: Side = PUBLISHED) -> tuple[ClaimVerdict, str]:
    found = several(published, ours).judge(one)
    return found.verdict, found.reason


def test_a_difference_is_reproduced_in_the_range_and_deviates_beyond_it() -> None:
    value = by_definition(DIFFERENCE, PUBLISHED, list(range(40)))
    one = claim(DIFFERENCE, value, rounding=0.0005)
    low, high = range_of(several(PUBLISHED, OURS).judge(one))
    tolerance, centre = (high - low) / 2, (high + low) / 2
    mine = by_definition(DIFFERENCE, OURS, list(range(100, 120)))

    def moved(by: float) -> Side:
        values = {
            place: {
                seed: {METRIC: run[METRIC] + (by if place.method in "AB" else 0.0)} for seed, run in runs.items()
            }
            for place, runs in OURS.values.items()
        }
        return Side(values)

    for sign in (1, -1):
        inside, outside = (centre - mine + sign * share * tolerance for share in (0.9, 1.1))
        assert verdict_of(moved(inside), one) == (
            ClaimVerdict.REPRODUCED,
            "within the range of the authors' own runs",
        )
        assert verdict_of(moved(outside), one)[0] is ClaimVerdict.DEVIATES


def test_a_difference_below_zero_is_judged_as_its_opposite() -> None:
    value = by_definition(DIFFERENCE, PUBLISHED, list(range(40)))
    for method, printed in (("AB-CD", value), ("CD-AB", -value)):
        one = claim(DIFFERENCE, printed, method=method, rounding=0.0005)
        assert verdict_of(PUBLISHED, one) == (
            ClaimVerdict.REPRODUCED,
            "within the range of the authors' own runs",
        )


@pytest.mark.parametrize(("by", "agrees"), [(0.0, True), (0.0005, True), (0.0006, False), (-0.0006, False)])
def test_a_printed_difference_follows_from_the_means_but_for_its_rounding(by: float, agrees: bool) -> None:
    value = by_definition(DIFFERENCE, PUBLISHED, list(range(40)))
    one = several(PUBLISHED, OURS).judge(claim(DIFFERENCE, value + by, rounding=0.0005))
    assert one.files is not None and one.files.agrees is agrees
    if not agrees:
        assert one.verdict is ClaimVerdict.DEVIATES and "do not give the printed number" in one.reason


@pytest.mark.parametrize("statistic", [MEDIAN, H])
def test_a_printed_median_or_h_is_held_against_draws_of_the_authors_own_seeds(statistic: str) -> None:
    """What was printed, not what their files give, which always lies among them."""
    generator = np.random.default_rng(7)
    draws = [by_definition(statistic, PUBLISHED, generator.choice(40, size=40).tolist()) for _ in range(1000)]
    half = stats.norm.ppf(0.995) * np.std(draws)
    for share in (-1.3, -0.7, 0.7, 1.3):
        printed = claim(
            statistic, float(np.mean(draws) + share * half), method="all" if statistic == MEDIAN else "AB-CD"
        )
        one = several(PUBLISHED, PUBLISHED).judge(printed)
        assert one.files is not None and one.files.agrees is (abs(share) < 1)
        said = "as the authors' runs, which do not give the printed number"
        assert (one.verdict is ClaimVerdict.DEVIATES and one.reason == said) is (abs(share) > 1)


def test_what_never_varies_is_reproduced_by_the_same_and_by_nothing_else() -> None:
    """The range has no width: its ends are in it."""
    same = Side({place: {seed: {METRIC: 0.75} for seed in range(40)} for place in PLACES})
    one = claim(MEDIAN, 0.75, method="all")
    assert verdict_of(same, one, same) == (ClaimVerdict.REPRODUCED, "within the range of the authors' own runs")
    for value in (0.7500001, 0.7499999):
        other = Side({place: {seed: {METRIC: value} for seed in range(40)} for place in PLACES})
        assert verdict_of(other, one, same)[0] is ClaimVerdict.DEVIATES


def test_a_range_that_holds_no_effect_decides_nothing() -> None:
    level = dict.fromkeys(METHODS, 0.75)
    shifted = {
        place: {
            seed: {METRIC: run[METRIC] - LEVELS[place.method] + level[place.method]} for seed, run in runs.items()
        }
        for place, runs in PUBLISHED.values.items()
    }
    nothing = Side(shifted)
    value = by_definition(DIFFERENCE, nothing, list(range(40)))
    for statistic, printed in ((DIFFERENCE, value), (H, by_definition(H, nothing, list(range(40))))):
        verdict, reason = verdict_of(nothing, claim(statistic, printed, rounding=0.001), nothing)
        assert verdict is ClaimVerdict.NOT_COMPARABLE and "need not show an effect" in reason
    # a median is no effect
    printed = by_definition(MEDIAN, nothing, list(range(40)))
    assert verdict_of(nothing, claim(MEDIAN, printed, method="all"), nothing)[0] is ClaimVerdict.REPRODUCED


def test_a_median_may_lie_as_far_off_as_the_authors_best_three_spread() -> None:
    """Theirs, whichever three are the best of ours."""
    values = {
        place: {seed: {METRIC: run[METRIC] + 0.2 * (place.method == "D")} for seed, run in runs.items()}
        for place, runs in OURS.values.items()
    }
    one = several(PUBLISHED, Side(values)).judge(claim(MEDIAN, 0.1, method="all", rounding=0.001))
    theirs, others = (float(columns(PUBLISHED, best, [*range(40)]).std(ddof=1)) for best in ("ABC", "ABD"))
    assert one.margin == pytest.approx(theirs + 0.001, abs=1e-9) and others > 1.1 * theirs


def test_what_keeps_a_claim_from_being_judged_is_said_in_its_order() -> None:
    one = claim(DIFFERENCE, 0.1)
    known = several(PUBLISHED, OURS)
    nobody = replace(known, artifact=replace(KNOWN, without_data={"one": "nobody has it"}))
    assert nobody.judge(one).reason == "no data here: nobody has it"
    place = Place("One", "A", SPLITS[0])
    failing = replace(known, ours=replace(OURS, failures={place: "memory: killed"}))
    assert failing.judge(one).reason == f"our runs of A on One ({SPLITS[0]}) ended as memory: killed"
    # of several the first is named, with what it ended as
    others = {place._replace(method="C"): "error", place._replace(method="B"): "timeout"}
    failing = replace(known, ours=replace(OURS, failures={**others, place: "memory: killed"}))
    assert failing.judge(one).reason == f"our runs of A on One ({SPLITS[0]}) and 2 more ended as memory: killed"
    assert failing.judge(one).verdict is ClaimVerdict.NOT_COMPARABLE
    absent = replace(known, ours=Side({where: runs for where, runs in OURS.values.items() if where != place}))
    assert absent.judge(one).reason == f"not run yet: A on One ({SPLITS[0]})"
    assert absent.judge(one).verdict is ClaimVerdict.PENDING
    apart = {**OURS.values, place: {1: {METRIC: 0.8}}}
    assert replace(known, ours=Side(apart)).judge(one).reason == "no seed was run with all methods"
    few = replace(known, ours=drawn(PLACES, range(9))).judge(one._replace(note="of one fold"))
    assert (few.verdict, few.reason) == (ClaimVerdict.NOT_COMPARABLE, "9 of 60 seeds; of one fold")
    ten = replace(known, ours=drawn(PLACES, range(10))).judge(one)
    assert ten.n == 10 and ten.margin is not None
    nothing = replace(known, ours=Side({}))
    assert nothing.judge(one).reason == f"not run yet: A on One ({SPLITS[0]}) and 3 more"


def test_the_part_that_is_here_is_judged_on_its_own() -> None:
    every = claim(DIFFERENCE, 0.1, dataset="all")
    known = several(PUBLISHED, OURS)
    assert known.on_part(every) is None and known.on_part(claim(DIFFERENCE, 0.1)) is None
    half = replace(known, artifact=replace(KNOWN, without_data={"two": "nobody has it"}))
    assert half.judge(every).reason == "no data here of Two"
    none = replace(known, artifact=replace(KNOWN, without_data={"one": "nobody has it", "two": "nor this"}))
    assert none.judge(every).reason == "no data here of One, Two"
    part = half.on_part(every)
    assert part is not None and part.claim.dataset == "1 of 2 datasets"
    assert (part.claim.method, part.claim.split, part.claim.metric) == ("AB-CD", SPLITS[0], METRIC)
    named = (part.claim.source, part.claim.n, part.claim.note)
    assert named == ("Table 9, somewhere; on One", NAMES.seeds, "on those with data here: One")
    assert float(part.claim.published) == pytest.approx(by_definition(DIFFERENCE, PUBLISHED, list(range(40))))
    assert part.ours == pytest.approx(by_definition(DIFFERENCE, OURS, list(range(100, 120))))
    assert half.on_part(claim(MEDIAN, 0.8, dataset="all", method="all")) is None
    none = replace(known, artifact=replace(KNOWN, without_data={"one": "x", "two": "y"}))
    assert none.on_part(every) is None
    elsewhere = replace(known, artifact=replace(KNOWN, datasets=frozenset({"one"})))
    assert elsewhere.why_without("Two") == elsewhere.why_without("Three") == "not part of this artifact"


def test_the_three_best_come_in_their_order() -> None:
    known = several(PUBLISHED, OURS)
    places = [Place("One", method, SPLITS[0]) for method in "DCBA"]
    assert [place.method for place in known.best(OURS, places, METRIC)] == ["A", "B", "C"]
    places[3] = Place("Three", "A", SPLITS[0])
    assert [place.method for place in known.best(OURS, places, METRIC)] == ["B", "C", "D"]
    # one that is right nowhere has a mean as well, and a place
    nothing = {place: {seed: {METRIC: 0.0} for seed in OURS.values[place]} for place in places[:1]}
    worst = replace(OURS, values={**OURS.values, **nothing})
    assert [place.method for place in known.best(worst, places[:3], METRIC)] == ["B", "C", "D"]


def test_a_mean_that_is_missing_is_said() -> None:
    known = several(PUBLISHED, OURS)
    means = {key: value for key, value in known.published.means.items() if key[0].method != "C"}
    with pytest.raises(CorruptData, match=r"no published mean of C on One"):
        replace(known, published=replace(known.published, means=means)).judge(claim(DIFFERENCE, 0.1))


def test_a_side_knows_the_seeds_that_places_share() -> None:
    one, other = Place("One", "A", "s"), Place("One", "B", "s")
    side = Side({one: {1: {"x": 1.0}, 2: {"x": 2.0}, 3: {"y": 9.0}}, other: {3: {"x": 3.0}, 2: {"x": 4.0}}})
    assert side.seeds([one], "x") == [1, 2] and side.seeds([one, other], "x") == [2]
    assert side.seeds([one, Place("Two", "A", "s")], "x") == [] and side.seeds([], "x") == []
    assert side.table([one, other], [2], "x").tolist() == [[2.0], [4.0]]
    assert side.all_of(one, "x").tolist() == [1.0, 2.0] and side.all_of(other, "x").tolist() == [4.0, 3.0]
    assert side.mean(one, "x") == 1.5 and side.mean(one, "z") is None
    assert replace(side, means={(one, "x"): 7.0}).mean(one, "x") == 7.0
    # the mean, where a median would be another number
    assert Side({one: {seed: {"x": value} for seed, value in enumerate((1.0, 2.0, 6.0))}}).mean(one, "x") == 3.0
    # and 0 is a value of it
    assert Side({one: {seed: {"x": value} for seed, value in enumerate((0.0, 3.0))}}).mean(one, "x") == 1.5


def run(value: float | None, verdict: Verdict = Verdict.OK, **told: object) -> Obtained:
    metrics = {"NS-AUC/as-published": value, "another": 5.0} if verdict is Verdict.OK else None
    return Obtained("k" * 64, verdict, "killed", metrics, {}, **told)  # type: ignore[arg-type]


def test_our_side_is_what_ended_ok_in_published_names() -> None:
    here, failing = Target("a", "one", SPLITS[0]), Target("b", "one", SPLITS[0])
    runs = {
        here: {1: run(0.5, cpu_s=9.0), 2: run(None), 3: run(None, Verdict.MEMORY), 4: run(0.0, cpu_s=0.0)},
        failing: {1: run(None, Verdict.MEMORY), 2: run(None, Verdict.INTERRUPTED)},
        Target("c", "one", SPLITS[0]): {1: run(None, Verdict.INTERRUPTED)},
        Target("constant", "one", SPLITS[0]): {1: run(0.5)},
        Target("a", "three", SPLITS[0]): {1: run(0.5)},
        Target("a", "one", "predict"): {1: run(0.5)},
    }
    side = our_side(NAMES, PAPER, runs)
    assert dict(side.values) == {
        Place("One", "A", SPLITS[0]): {1: {METRIC: 0.5, TIME: 9.0}, 2: {}, 4: {METRIC: 0.0, TIME: 0.0}}
    }
    assert dict(side.failures) == {Place("One", "B", SPLITS[0]): "memory: killed"}


def test_what_a_control_reached_is_of_the_places_asked_for() -> None:
    runs = {
        Target("constant", "one", SPLITS[0]): {
            2: run(0.2),
            1: run(0.1),
            3: run(None),
            4: run(None, Verdict.ERROR),
        },
        Target("constant", "two", SPLITS[0]): {1: run(0.3), 2: run(0.0)},
        Target("majority", "one", SPLITS[0]): {1: run(0.9)},
    }
    places = [Place("One", "A", SPLITS[0]), Place("One", "B", SPLITS[0])]
    assert values_of_control("constant", NAMES, runs, METRIC, places).tolist() == [0.1, 0.2]
    both = [*places, Place("Two", "A", SPLITS[0]), Place("Two", "A", SPLITS[1])]
    assert values_of_control("constant", NAMES, runs, METRIC, both).tolist() == [0.1, 0.2, 0.3, 0.0]


def test_adjusted_chances_are_of_the_tests_of_their_own_table() -> None:
    """Two tables of two tests each: ours and the files' are adjusted within each."""
    hs = {("Table 1", "One"): 7.5, ("Table 1", "Two"): 6.0, ("Table 2", "One"): 5.0, ("Table 2", "Two"): 9.0}
    tests, claims = {}, []
    known = several(PUBLISHED, OURS).judge(claim(H, 1.0))
    assert known.files is not None
    for (table, dataset), value in hs.items():
        one = claim(H, value, source=f"{table}, {dataset}", dataset=dataset)
        files = replace(known.files, value=value + 1)
        tests[one] = known._replace(claim=one, ours=value, files=files, verdict=ClaimVerdict.DEVIATES)
        claims.append(claim(ADJUSTED_P, 0.005, source=f"{table}, {dataset}", dataset=dataset, note="printed"))
    found = judge_adjusted([*tests, *claims], tests)
    assert list(found) == claims
    for table in ("Table 1", "Table 2"):
        for side in ("ours", "files"):
            more = side == "files"
            chances = [stats.chi2.sf(hs[table, dataset] + more, 1) for dataset in ("One", "Two")]
            expected = stats.false_discovery_control(chances)
            for dataset, chance in zip(("One", "Two"), expected, strict=True):
                (mine,) = (one for c, one in found.items() if c.source == f"{table}, {dataset}")
                assert mine.files is not None
                assert (mine.files.value if more else mine.ours) == pytest.approx(chance)
                same = bool(chance < 0.01)
                if more:
                    assert (mine.files.agrees, mine.files.n) == (same, known.files.n)
                else:
                    assert mine.verdict is (ClaimVerdict.REPRODUCED if same else ClaimVerdict.DEVIATES)
                    assert mine.reason == f"on the {'same' if same else 'other'} side of the level; printed"


@pytest.mark.parametrize(("field", "other"), [("method", "CD-AB"), ("dataset", "Two"), ("split", SPLITS[1])])
def test_an_adjusted_chance_is_of_the_test_in_its_own_row(field: str, other: str) -> None:
    known = several(PUBLISHED, OURS).judge(claim(H, 1.0))
    rows = [claim(H, 20.0), claim(H, 1.0, **{field: other})]
    tests = {one: known._replace(claim=one, ours=one.value) for one in rows}
    chances = [one._replace(statistic=ADJUSTED_P, published="0.005") for one in reversed(rows)]
    found = judge_adjusted(chances, tests)
    expected = stats.false_discovery_control(stats.chi2.sf([1.0, 20.0], 1))
    assert [found[one].ours for one in chances] == pytest.approx(expected)


def test_an_adjusted_chance_without_its_test_is_refused() -> None:
    """Two rows of one table: the H of the one is not that of the other."""
    known = several(PUBLISHED, OURS).judge(claim(H, 1.0))
    one, chance = claim(H, 20.0), claim(ADJUSTED_P, 0.005, dataset="Two")
    with pytest.raises(CorruptData) as refused:
        judge_adjusted([one, chance], {one: known})
    table = one.source.partition(",")[0]
    assert refused.value.what == f"no {H} stands beside the {ADJUSTED_P} of '{chance.method}' on Two"
    assert refused.value.where == f"tables.csv: {table}"


def test_an_adjusted_chance_waits_with_its_test() -> None:
    known = several(PUBLISHED, Side({}))
    one, chance = claim(H, 100.0), claim(ADJUSTED_P, 0.005)
    found = judge_all(known, [chance, one])
    assert list(found) == [one, chance]
    assert found[chance].verdict is ClaimVerdict.PENDING and found[chance].test == ""
    assert found[chance].ours is None and found[chance].files is not None


def scattered(side: Side, factor: float) -> Side:
    """The same levels, and the deviations of single runs so many times as large."""
    return Side(
        {
            place: {
                seed: {METRIC: LEVELS[place.method] + factor * (run[METRIC] - LEVELS[place.method])}
                for seed, run in runs.items()
            }
            for place, runs in side.values.items()
        }
    )


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_statistic_is_reproduced_where_its_range_fits_into_the_margin(statistic: str) -> None:
    """Of H and differences the margin is the way to no effect, of medians the deviation of the values."""
    about = "all" if statistic == MEDIAN else "AB-CD"
    seeds = list(range(40))
    one = several(PUBLISHED, OURS).judge(
        claim(statistic, by_definition(statistic, PUBLISHED, seeds), method=about)
    )
    low, high = range_of(one)
    middle = (low + high) / 2
    margins = {
        MEDIAN: float(columns(PUBLISHED, "ABC", seeds).std(ddof=1)),
        DIFFERENCE: middle,
        H: middle - float(stats.chi2.isf(0.01, 1)),
    }
    assert one.margin == pytest.approx(margins[statistic], rel=0.01)
    assert one.interval is not None and one.margin is not None
    assert (one.verdict is ClaimVerdict.REPRODUCED) == (max(map(abs, one.interval)) <= one.margin)


def test_a_range_that_is_wider_than_its_margin_decides_nothing_and_names_the_runs_that_would() -> None:
    few = drawn(PLACES, range(100, 110), random=1)
    known = several(PUBLISHED, few)
    one = claim(DIFFERENCE, by_definition(DIFFERENCE, PUBLISHED, list(range(40))), rounding=0.0005)
    inside = known.judge(one)
    assert inside.verdict is ClaimVerdict.REPRODUCED and inside.interval is not None and inside.margin is not None
    narrow = (inside.interval[1] - inside.interval[0]) / 2
    # as far as the 99 % range allows, and the margin reaches but for the 90 % one
    wide = narrow * 2.5758 / 1.6449
    mine = sum(inside.interval) / 2
    share = 0.98 * wide
    assert share + narrow > 0.3 * inside.margin

    def moved(by: float, side: Side) -> Side:
        values = {
            place: {
                seed: {METRIC: run[METRIC] + (by if place.method in "AB" else 0.0)} for seed, run in runs.items()
            }
            for place, runs in side.values.items()
        }
        return Side(values)

    # an effect so small that the margin is just wider than the 99 % range, and ours at its end
    less = 1.05 * wide - inside.margin
    weak = moved(less, PUBLISHED)
    printed = claim(DIFFERENCE, by_definition(DIFFERENCE, weak, list(range(40))), rounding=0.0005)
    for off in (share, -share):
        blunt = several(weak, moved(less + off - mine, few)).judge(printed)
        assert blunt.verdict is ClaimVerdict.NOT_COMPARABLE, blunt
        assert blunt.reason == "too few runs: the range does not fit into the margin"
        assert blunt.needed is not None and blunt.needed > blunt.n == 10
    sharp = several(weak, moved(less - mine, few)).judge(printed)
    assert sharp.verdict is ClaimVerdict.REPRODUCED


@pytest.mark.parametrize("verdict", [ClaimVerdict.PENDING, ClaimVerdict.NOT_COMPARABLE])
def test_a_chance_is_judged_only_where_its_test_is(verdict: ClaimVerdict) -> None:
    """An H that decides nothing has a p that decides nothing, and both lack the same runs."""
    known = several(PUBLISHED, OURS).judge(claim(H, 1.0))
    one, chance = claim(H, 1.0), claim(ADJUSTED_P, 0.005)
    undecided = known._replace(claim=one, ours=900.0, verdict=verdict, needed=31, reason="too few runs")
    found = judge_adjusted([one, chance], {one: undecided})[chance]
    assert (found.verdict, found.test, found.needed, found.reason) == (verdict, "", 31, "too few runs")
    assert found.margin is None and found.interval is None
    decided = judge_adjusted([one, chance], {one: undecided._replace(verdict=ClaimVerdict.DEVIATES)})[chance]
    assert (decided.verdict, decided.needed) == (ClaimVerdict.REPRODUCED, None)
    assert decided.reason == "on the same side of the level"
    assert decided.margin is None and decided.interval is None and decided.test


@pytest.mark.parametrize("group", ["first", "second"])
def test_a_contrast_of_a_method_that_is_not_there_is_refused(group: str) -> None:
    content = PAPER.model_dump()
    content["contrasts"][0][group][1] = "E"
    with pytest.raises(ValidationError, match="contrast 'AB-CD' names 'E', which is none of the methods"):
        PaperStatistics.model_validate(content)


def test_a_misspelt_dataset_of_a_claim_does_not_stand_for_all() -> None:
    assert [PAPER.datasets_of(one) for one in ("all", "One", "Onne")] == [["One", "Two"], ["One"], ["Onne"]]


def test_a_number_over_several_methods_is_over_the_seeds_that_all_have() -> None:
    """The best methods, and chances of a whole table, are decided by runs of any seed."""
    here = [place for place in OURS.values if place.dataset == "One"]
    fewer = {seed: run for seed, run in OURS.values[here[0]].items() if seed % 2}
    both = several(PUBLISHED, Side({**OURS.values, here[0]: fewer}))
    for statistic in (H, DIFFERENCE):
        assert both.seeds_of(claim(statistic, 0.5), here) == [*range(101, 120, 2)]
        assert both.judge(claim(statistic, 0.5)).n == 10
        assert both.seeds_of(claim(statistic, 0.5), here[1:]) == [*range(100, 120)]
    assert both.seeds_of(claim(MEDIAN, 0.5), here) is None is both.seeds_of(claim(ADJUSTED_P, 0.5), here)


@pytest.mark.parametrize("large", [7.0, 1e5])
def test_chances_of_1_and_of_0_are_adjusted_as_others(large: float) -> None:
    """An H of 0 and a chance too small for a number are values: without them a table would be of fewer tests."""
    known = several(PUBLISHED, OURS).judge(claim(H, 1.0))
    assert known.files is not None
    expected = stats.false_discovery_control([1.0, stats.chi2.sf(large, 1)]).tolist()
    tests, chances = {}, []
    for (dataset, value), chance in zip({"One": 0.0, "Two": large}.items(), expected, strict=True):
        one = claim(H, value, dataset=dataset)
        files = replace(known.files, value=value)
        tests[one] = known._replace(claim=one, ours=value, files=files, verdict=ClaimVerdict.DEVIATES)
        chances.append(claim(ADJUSTED_P, chance, dataset=dataset))
    found = [*judge_adjusted(chances, tests).values()]
    assert [one.ours for one in found] == pytest.approx(expected)
    of_files = [one.files for one in found if one.files is not None]
    assert [one.value for one in of_files] == pytest.approx(expected) and all(one.agrees for one in of_files)
    assert [one.verdict for one in found] == [ClaimVerdict.REPRODUCED] * 2
