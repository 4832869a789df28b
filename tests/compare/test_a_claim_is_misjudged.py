"""Every claim gets the verdict its test gives, with the reason; none is lost, and too few seeds decide nothing."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.base.vocabulary import Verdict
from harness.compare.claims import Claim, rounding_of
from harness.compare.comparison import ClaimVerdict, Comparable, Comparison
from harness.compare.judge import Single, _value_of
from harness.compare.names import ClaimSources, MetricName, PublishedNames, Remark, Target
from harness.compare.runs import Obtained
from harness.compare.statistics import welch_half_width

NAMES = PublishedNames(
    benchmark="repurposing",
    variant="published",
    options={"inner_folds": 5},
    seeds=100,
    sources=ClaimSources(paper="a paper", files="files"),
    methods={"ALSWR": "als_wr", "LRSSL": "lrssl"},
    datasets={"Fdataset": "fdataset", "Synthetic": "synthetic"},
    splits={"random_simple": "random"},
    metrics=[
        MetricName(published="NS-AUC", ours="NS-AUC/as-published", reason="drug-wise"),
        MetricName(published="NDCG", ours="NDCG/as-published", reason="ties"),
        MetricName(published="HR", reason="not computed here"),
    ],
    distribution_only=[Remark(method="LRSSL", reason="no seed")],
    explained=[Remark(method="ALSWR", dataset="Fdataset", reason="chaos")],
)
KNOWN = Comparable(
    frozenset({"als_wr", "lrssl"}),
    frozenset({"fdataset", "synthetic"}),
    frozenset({"random"}),
    without_data={"synthetic": "nobody has it"},
)
PLACE = Target("als_wr", "fdataset", "random")


def claim(published: str = "0.8", **changes: Any) -> Claim:
    fields: dict[str, Any] = {
        "source": "files",
        "statistic": "value",
        "method": "ALSWR",
        "dataset": "Fdataset",
        "split": "random_simple",
        "metric": "NS-AUC",
        "published": published,
        "seed": 1,
    }
    return Claim(**{**fields, **changes})


def run(value: float | None, verdict: Verdict = Verdict.OK) -> Obtained:
    metrics = {"NS-AUC/as-published": value, "NDCG/as-published": value}
    return Obtained("k" * 64, verdict, "because", metrics if verdict is Verdict.OK else None, {})


def judged(one: Claim, runs: dict[int, Obtained], place: Target = PLACE) -> Comparison:
    return Single(NAMES, KNOWN, {place: runs}).judge(one)


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (0.8, ClaimVerdict.REPRODUCED),
        (0.8 + 5e-10, ClaimVerdict.REPRODUCED),
        (0.8 + 5e-9, ClaimVerdict.DEVIATES),
        (0.79, ClaimVerdict.DEVIATES),
    ],
)
def test_a_value_per_seed_must_agree_to_the_last_digits(ours: float, expected: ClaimVerdict) -> None:
    assert judged(claim(), {1: run(ours)}).verdict is expected


def test_stored_digits_widen_the_tolerance_by_half_a_unit() -> None:
    assert judged(claim("0.801", rounding=0.0005), {1: run(0.80140)}).verdict is ClaimVerdict.REPRODUCED
    assert judged(claim("0.801", rounding=0.0005), {1: run(0.80160)}).verdict is ClaimVerdict.DEVIATES


def test_a_missing_run_is_pending_and_a_failed_one_is_not_comparable() -> None:
    assert judged(claim(), {}).verdict is ClaimVerdict.PENDING
    assert judged(claim(), {2: run(0.8)}).verdict is ClaimVerdict.PENDING
    failed = judged(claim(), {1: run(None, Verdict.TIMEOUT)})
    assert failed.verdict is ClaimVerdict.NOT_COMPARABLE and "timeout" in failed.reason
    undefined = judged(claim(), {1: run(None)})
    assert undefined.verdict is ClaimVerdict.NOT_COMPARABLE and "undefined" in undefined.reason


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "HAN"},
        {"dataset": "TRANSCRIPT"},
        {"split": "another"},
        {"metric": "HR"},
        {"dataset": "Synthetic"},
    ],
)
def test_what_is_not_here_is_not_comparable_with_a_reason(changes: dict[str, Any]) -> None:
    one = judged(claim(**changes), {1: run(0.8)})
    assert one.verdict is ClaimVerdict.NOT_COMPARABLE and one.reason


def test_an_unseeded_original_has_no_values_per_seed() -> None:
    place = Target("lrssl", "fdataset", "random")
    one = judged(claim(method="LRSSL"), {1: run(0.8)}, place)
    assert one.verdict is ClaimVerdict.NOT_COMPARABLE and "distribution" in one.reason
    assert one.ours == 0.8


def test_a_known_reason_explains_a_deviation_and_excuses_none() -> None:
    far = judged(claim(), {1: run(0.7)})
    assert far.verdict is ClaimVerdict.DEVIATES and far.reason.endswith("chaos")
    assert "chaos" not in judged(claim(), {1: run(0.8)}).reason
    remark = Remark(method="LibMF", dataset="Synthetic", split="random_simple", reason="threads")
    assert remark.is_about("LibMF", "Synthetic", "random_simple")
    assert not remark.is_about("LibMF", "Synthetic", "weakly_correlated")
    assert not remark.is_about("LibMF", "Fdataset", "random_simple")


def mean(n_ours: int, ours: float, *, sd_ours: float = 0.0, **changes: Any) -> Comparison:
    one = claim(**{"statistic": "mean", "seed": None, "sd": 0.02, "n": 100, "rounding": 0.005, **changes})
    values = [ours + sd_ours * (1 if seed % 2 else -1) for seed in range(n_ours)]
    return judged(one, {seed: run(value) for seed, value in enumerate(values)})


def test_two_of_a_hundred_seeds_decide_nothing() -> None:
    for ours in (0.8, 0.5):
        one = mean(2, ours)
        assert one.verdict is ClaimVerdict.NOT_COMPARABLE
        assert one.reason == "2 of 100 seeds" and one.n == 2


def test_a_mean_is_judged_by_a_named_test() -> None:
    exact = mean(100, 0.803, sd_ours=0.02)
    assert (exact.verdict, exact.test) == (ClaimVerdict.REPRODUCED, "printed precision")
    within = mean(50, 0.802, sd_ours=0.02, rounding=0.0)
    assert within.verdict is ClaimVerdict.REPRODUCED
    assert within.test == "Welch, n = 50 and 100: 99% interval around 0, 90% interval within ± 0.02"
    beyond = mean(50, 0.85, sd_ours=0.02)
    assert beyond.verdict is ClaimVerdict.DEVIATES and "Welch" in beyond.test
    assert beyond.reason == "the interval of the difference excludes 0"
    blunt = mean(12, 0.8, sd_ours=0.2)
    assert blunt.verdict is ClaimVerdict.NOT_COMPARABLE and blunt.reason.startswith("too few runs")
    assert mean(0, 0.8).verdict is ClaimVerdict.PENDING


def test_runs_that_failed_do_not_vanish_from_a_mean() -> None:
    one = claim(statistic="mean", seed=None, sd=0.02, n=100, rounding=0.005)
    runs = {seed: run(0.8 + 0.02 * (-1) ** seed) for seed in range(50)}
    assert judged(one, runs).reason == "the interval lies within one published standard deviation"
    runs |= {50: run(None, Verdict.MEMORY), 51: run(None)}
    told = judged(one, runs)
    assert told.n == 50 and told.reason.endswith("; 2 of our 52 runs without a value")


def test_a_value_of_0_counts_in_a_mean() -> None:
    """A method that fails half of the seeds with no hit at all is half as good."""
    one = claim("0.4", statistic="mean", seed=None, sd=0.02, n=100, rounding=0.005)
    told = judged(one, {seed: run(0.8 * (seed % 2)) for seed in range(50)})
    assert told.ours == pytest.approx(0.4) and told.n == 50


def status(published: str, runs: dict[int, Obtained]) -> Comparison:
    return judged(claim(published, statistic="status", metric="", seed=None, n=100), runs)


def test_a_status_is_compared_with_our_verdicts() -> None:
    ok, failed = run(0.8), run(None, Verdict.ERROR)
    assert status("ran", {}).verdict is ClaimVerdict.PENDING
    assert status("ran", {1: ok, 2: ok}).verdict is ClaimVerdict.NOT_COMPARABLE
    assert status("ran", dict.fromkeys(range(10), ok)).verdict is ClaimVerdict.REPRODUCED
    assert status("ran", {1: ok, 2: failed}).verdict is ClaimVerdict.DEVIATES
    assert status("ran", dict.fromkeys(range(100), ok)).verdict is ClaimVerdict.REPRODUCED
    assert status("runtime error", {1: ok}).verdict is ClaimVerdict.DEVIATES
    assert status("runtime error", {1: failed}).verdict is ClaimVerdict.REPRODUCED
    assert status("memory error", {1: failed}).verdict is ClaimVerdict.NOT_COMPARABLE
    # one failure among runs that ended well is no failing method
    assert status("runtime error", {1: ok, 2: failed}).verdict is ClaimVerdict.DEVIATES
    mixed = status("runtime error", {1: failed, 2: run(None, Verdict.TIMEOUT)})
    assert mixed.verdict is ClaimVerdict.NOT_COMPARABLE and "timeout" in mixed.reason
    assert status("ran", {1: run(None, Verdict.INTERRUPTED)}).verdict is ClaimVerdict.PENDING
    # a word that stands for no verdict of ours is no failure, and no success either
    for word, runs in product(("Ran", "error"), ({1: failed}, dict.fromkeys(range(10), ok))):
        told = status(word, runs)
        assert told.verdict is ClaimVerdict.NOT_COMPARABLE and told.n == len(runs)
        assert told.reason == (
            f"'{word}' is no status that runs here are held against: ran, memory error, runtime error"
        )


@pytest.mark.parametrize(("text", "half"), [("0.80", 0.005), ("1.00", 0.005), ("2e-6", 5e-7), ("26.4", 0.05)])
def test_printed_digits_tell_their_rounding(text: str, half: float) -> None:
    assert rounding_of(text) == pytest.approx(half)


def test_the_interval_is_welchs() -> None:
    ours, theirs = [0.1, 0.4, 0.3, 0.9, 0.2], [0.5, 0.6, 0.7, 0.1, 0.2, 0.8, 0.4]
    interval = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.99)
    half = welch_half_width(stats.tstd(ours), len(ours), stats.tstd(theirs), len(theirs))
    assert half == pytest.approx((interval.high - interval.low) / 2, rel=1e-9)


@given(st.floats(0, 1), st.integers(1, 50), st.floats(0, 1), st.integers(1, 200))
def test_the_interval_is_never_negative(sd: float, n: int, other: float, m: int) -> None:
    half = welch_half_width(sd, n, other, m)
    assert half >= 0 and not math.isnan(half)


def deviation(values: list[float]) -> float:
    """The sample's, by its definition."""
    middle = sum(values) / len(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


@pytest.mark.parametrize("n", [10, 20, 50, 100])
def test_a_mean_is_held_to_the_interval_of_as_many_runs_as_either_side_has(n: int) -> None:
    """n of ours, a hundred of theirs: at its edge the verdict turns."""
    one = claim(statistic="mean", seed=None, sd=0.05, n=100)
    runs = [0.8 + 0.04 * (1 if seed % 2 else -1) for seed in range(n)]
    half = welch_half_width(deviation(runs), n, 0.05, 100)
    narrow = welch_half_width(deviation(runs), n, 0.05, 100, 0.90)
    inside = ClaimVerdict.REPRODUCED if 0.999 * half + narrow <= 0.05 else ClaimVerdict.NOT_COMPARABLE
    for offset, expected in ((0.999 * half, inside), (1.001 * half, ClaimVerdict.DEVIATES)):
        for sign in (1, -1):
            told = judged(one, {seed: run(value + sign * offset) for seed, value in enumerate(runs)})
            assert told.verdict is expected
            assert told.interval == pytest.approx((sign * offset - narrow, sign * offset + narrow))
            assert told.margin == pytest.approx(0.05) and told.n == n
            assert told.difference == pytest.approx(sign * offset)
            assert told.keys == ("k" * 64,) * n


def test_what_was_printed_widens_the_interval_by_its_rounding() -> None:
    plain, rounded = (mean(50, 0.8, sd_ours=0.02, rounding=rounding, sd=0.05, n=100) for rounding in (0.0, 0.0005))
    assert plain.margin is not None and rounded.margin is not None
    assert rounded.margin - plain.margin == pytest.approx(0.0005)
    # what deviates does so by more than the rounding as well
    half = welch_half_width(deviation([0.02, -0.02] * 25), 50, 0.05, 100)
    for rounding, verdict in ((0.0, ClaimVerdict.DEVIATES), (0.0005, ClaimVerdict.REPRODUCED)):
        assert mean(50, 0.8 + half + 0.0003, sd_ours=0.02, rounding=rounding, sd=0.05).verdict is verdict


def test_seeds_decide_from_the_tenth_on_or_when_all_are_there() -> None:
    assert mean(9, 0.5).reason == "9 of 100 seeds"
    assert mean(10, 0.5).verdict is ClaimVerdict.DEVIATES
    assert mean(4, 0.5, n=5).reason == "4 of 5 seeds"
    assert mean(5, 0.5, n=5, sd=0.01).verdict is ClaimVerdict.DEVIATES
    # as printed, but not of all seeds
    assert "Welch" in mean(99, 0.803, sd_ours=0.02, sd=0.05).test
    assert mean(5, 0.8, n=5).test == "printed precision"
    assert mean(5, 0.8 + 0.005 + 1e-12, n=5, sd=0.0).test == "printed precision"
    assert mean(5, 0.8 + 0.006, n=5, sd=0.0).verdict is ClaimVerdict.DEVIATES


def test_an_interval_that_could_not_have_seen_a_difference_decides_nothing() -> None:
    """Its 90 % interval reaches beyond one published deviation, on either side."""
    for sd_ours, offset in product((0.02, 0.05, 0.08, 0.1, 0.2), (0.0, 0.01, -0.01)):
        one = mean(20, 0.8 + offset, sd_ours=sd_ours, rounding=0.0, sd=0.05)
        spread = deviation([sd_ours, -sd_ours] * 10)
        is_wide = abs(offset) + welch_half_width(spread, 20, 0.05, 100, 0.90) > 0.05
        assert one.verdict is (ClaimVerdict.NOT_COMPARABLE if is_wide else ClaimVerdict.REPRODUCED)
        assert one.reason.startswith("too few runs: the interval does not fit") is is_wide
        assert (one.needed is not None) is is_wide
        if one.needed is not None:
            # so many runs decide, and one less does not
            spreads = [
                abs(offset) + welch_half_width(spread, n, 0.05, 100, 0.90) for n in (one.needed - 1, one.needed)
            ]
            wide = [welch_half_width(spread, n, 0.05, 100) for n in (one.needed - 1, one.needed)]
            assert [total <= 0.05 or abs(offset) > half for total, half in zip(spreads, wide, strict=True)] == [
                False,
                True,
            ]
            assert one.why == f"{one.reason}; {one.needed - 20} more would decide"
    unknown = mean(20, 0.8, sd_ours=0.02, sd=None, rounding=0.0)
    assert unknown.verdict is ClaimVerdict.NOT_COMPARABLE


@pytest.mark.parametrize("sd", [0.02, None])
def test_a_band_is_as_wide_as_the_printed_deviation_or_five_hundredths(sd: float | None) -> None:
    width = 0.05 if sd is None else sd

    def at(offset: float, n: int = 3) -> Comparison:
        one = claim(statistic="band", seed=None, sd=sd, rounding=0.001)
        return judged(one, {seed: run(0.8 + offset) for seed in range(n)})

    for sign in (1, -1):
        within, beyond = at(sign * (width + 0.0009)), at(sign * (width + 0.0011))
        assert (within.verdict, beyond.verdict) == (ClaimVerdict.REPRODUCED, ClaimVerdict.DEVIATES)
        assert within.margin == pytest.approx(width + 0.001) and within.n == 3
        assert within.reason.startswith("within ") and beyond.reason.startswith("beyond ")
        assert within.reason.endswith("; all 3 values are equal")
        assert within.interval == pytest.approx((sign * (width + 0.0009),) * 2)
        named = "no deviation is printed" if sd is None else "the printed deviation"
        assert named in within.reason and named in beyond.reason
    few = at(0.0, 2)
    assert (few.verdict, few.reason) == (ClaimVerdict.NOT_COMPARABLE, "2 of at least 3 seeds")
    assert few.ours == pytest.approx(0.8)
    assert at(0.0, 0).verdict is ClaimVerdict.PENDING
    undefined = judged(claim(statistic="band", seed=None, sd=sd), {1: run(None), 2: run(None)})
    assert undefined.verdict is ClaimVerdict.NOT_COMPARABLE
    assert undefined.reason.startswith("no value of the metric in our 2 runs: undefined here: ")


def test_a_band_tells_the_runs_it_is_without() -> None:
    one = claim(statistic="band", seed=None, sd=0.02, note="of one type")
    runs = {seed: run(0.8) for seed in range(3)} | {3: run(None), 4: run(None, Verdict.TIMEOUT)}
    reason = "within the printed deviation; all 3 values are equal; 2 of our 5 runs without a value; of one type"
    assert judged(one, runs).reason == reason
    # what was not made or not scored yet is no lost value
    waiting = {**{seed: run(0.8) for seed in range(3)}, 3: run(None, Verdict.INTERRUPTED)}
    waiting[4] = Obtained("k" * 64, Verdict.OK, "", None, {}, unscored="no data")
    assert judged(one, waiting).reason == "within the printed deviation; all 3 values are equal; of one type"


def test_a_tolerance_grows_with_large_values_only() -> None:
    """Relative above 1, absolute below it."""
    for published in ("0.001", "1", "2000"):
        value = float(published)
        width = 1e-9 * max(1.0, value)
        one = judged(claim(published), {1: run(value + 0.9 * width)})
        assert one.verdict is ClaimVerdict.REPRODUCED and one.margin == pytest.approx(width)
        assert one.interval is None
        assert (one.ours, one.n, one.keys) == (value + 0.9 * width, 1, ("k" * 64,))
        assert judged(claim(published), {1: run(value - 1.2 * width)}).verdict is ClaimVerdict.DEVIATES


def test_a_run_that_is_not_scored_is_waited_for() -> None:
    waiting = Obtained("k" * 64, Verdict.OK, "", None, {}, unscored="no data")
    one = judged(claim(), {1: waiting})
    assert (one.verdict, one.reason) == (ClaimVerdict.PENDING, "not scored: no data")


def test_a_run_that_failed_or_has_no_metric_has_no_value_whatever_else_is_told_of_it() -> None:
    failed = Obtained("k" * 64, Verdict.ERROR, "", None, {})
    assert _value_of(failed, "NS-AUC") == (None, "our run is 'error': ")
    scored = Obtained("k" * 64, Verdict.OK, "", {}, {})
    assert _value_of(scored, "NS-AUC") == (None, "undefined here: the scorer gives no such metric")
    noted = replace(scored, notes={"NS-AUC": "no positive"})
    assert _value_of(noted, "NS-AUC") == (None, "undefined here: no positive")
    assert _value_of(replace(scored, metrics={"NS-AUC": 0.0}), "NS-AUC") == (0.0, "")
    assert _value_of(None, "NS-AUC") == (None, "not run yet")


def test_a_mean_of_which_every_run_failed_waits_for_nothing() -> None:
    one = claim(statistic="mean", seed=None, sd=0.05, n=100)
    failed = run(None, Verdict.MEMORY)
    told = judged(one, {1: failed, 2: failed})
    assert told.verdict is ClaimVerdict.NOT_COMPARABLE
    assert told.reason == f"no value of the metric in our 2 runs: our run is 'memory': {failed.reason}"
    # what has no verdict of its own, or is not scored yet, may still give one
    for other, why in (
        (run(None, Verdict.INTERRUPTED), "our run is 'interrupted'"),
        (Obtained("k" * 64, Verdict.OK, "", None, {}, unscored="no data"), "not scored: no data"),
    ):
        told = judged(one, {1: failed, 2: other})
        assert told.verdict is ClaimVerdict.PENDING and f"in our 2 runs: {why}" in told.reason


def test_costs_and_other_data_are_shown_and_never_judged() -> None:
    cost = judged(claim(statistic="cost", note="of other hardware"), {1: run(0.8)})
    assert (cost.verdict, cost.reason) == (ClaimVerdict.NOT_COMPARABLE, "a cost of other hardware")
    about = Remark(metric="NS-AUC", split="random_simple", reason="test items are missing")
    names = NAMES.model_copy(update={"other_data": [about]})
    one = Single(names, KNOWN, {PLACE: {1: run(0.8)}}).judge(claim())
    assert (one.verdict, one.reason, one.ours) == (ClaimVerdict.NOT_COMPARABLE, "test items are missing", 0.8)
    assert (
        Single(names, KNOWN, {PLACE: {1: run(0.8)}}).judge(claim(metric="NDCG")).verdict is ClaimVerdict.REPRODUCED
    )


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"method": "bnnr"}, "method 'bnnr'"),
        ({"dataset": "fdataset"}, "dataset 'fdataset'"),
        ({"split": "random:test_share=0.2"}, "split 'random:test_share=0.2'"),
    ],
)
def test_a_name_of_ours_is_not_said_to_be_no_part_of_this(changed: dict[str, str], what: str) -> None:
    """A claim gives published names."""
    known = replace(KNOWN, methods=KNOWN.methods | {"bnnr"}, datasets=KNOWN.datasets | {"fdataset"})
    one = Single(NAMES, known, {}).judge(claim(**changed))
    assert (one.verdict, one.reason) == (
        ClaimVerdict.NOT_COMPARABLE,
        f"{what} is a name of this artifact; claims give the one that was published",
    )


def test_the_first_reason_that_nothing_can_decide_is_told() -> None:
    """A method that is not here is told before a metric that is not computed, and a cost before a metric."""
    assert judged(claim(metric="HR", method="SomebodyElse"), {}).reason == (
        "method 'SomebodyElse' is not part of this artifact"
    )
    assert judged(claim(metric="HR", dataset="Synthetic"), {}).reason == "nobody has it"
    assert judged(claim(metric="HR", statistic="cost", note="of other hardware"), {}).reason == (
        "a cost of other hardware"
    )
    assert judged(claim(metric="HR"), {}).reason == "not computed here"


def test_a_remark_on_one_metric_says_nothing_of_others() -> None:
    remarks = {
        "distribution_only": [Remark(metric="NDCG", reason="ties fall by chance")],
        "explained": [Remark(metric="NS-AUC", reason="rounded")],
    }
    single = Single(NAMES.model_copy(update=remarks), KNOWN, {PLACE: {1: run(0.7)}})
    assert single.judge(claim()).reason == "differs by more than the tolerance; rounded"
    assert (
        single.judge(claim(metric="NDCG")).reason == "ties fall by chance; only its distribution can be compared"
    )


@pytest.mark.parametrize("statistic", ["mean", "band"])
def test_what_ours_was_fitted_to_is_not_reproduced_by_it(statistic: str) -> None:
    """Agreement is a fit; what deviates all the same does so."""
    names = NAMES.model_copy(update={"fitted": [Remark(metric="NS-AUC", reason="fitted to it")]})
    for value, verdict, reason in (
        (0.8, ClaimVerdict.NOT_COMPARABLE, "fitted to it"),
        (0.5, ClaimVerdict.DEVIATES, None),
    ):
        runs = {PLACE: {seed: run(value) for seed in range(12)}}
        one = claim(statistic=statistic, seed=None, sd=0.02, n=10)
        found = Single(names, KNOWN, runs).judge(one)
        assert (found.verdict, found.n) == (verdict, 12) and found.ours == pytest.approx(value)
        assert reason in (None, found.reason)
        # of another metric it says nothing
        other = Single(names, KNOWN, runs).judge(one._replace(metric="NDCG"))
        assert other.verdict is (ClaimVerdict.DEVIATES if value == 0.5 else ClaimVerdict.REPRODUCED)


def test_what_is_known_to_differ_is_told_beside_a_mean_and_a_status_that_deviates() -> None:
    """The same that lets values per seed be compared with nothing."""
    place = Target("lrssl", "fdataset", "random")

    def reason(published: str, value: float, **changes: Any) -> str:
        one = claim(published, **{"method": "LRSSL", "seed": None, "sd": 0.02, "n": 10, **changes})
        return judged(one, {seed: run(value) for seed in range(12)}, place).reason

    assert reason("0.8", 0.5, statistic="mean") == "the interval of the difference excludes 0; no seed"
    assert reason("0.8", 0.5, statistic="mean", note="as printed") == (
        "the interval of the difference excludes 0; no seed; as printed"
    )
    assert reason("0.8", 0.5, statistic="band") == "beyond the printed deviation; all 12 values are equal; no seed"
    assert reason("memory error", 0.5, statistic="status", metric="") == "runs here: 12 of 12 ok; no seed"
    assert "no seed" not in reason("0.8", 0.8, statistic="mean") + reason("0.8", 0.8, statistic="band")
    assert "no seed" not in reason("ran", 0.5, statistic="status", metric="")


@pytest.mark.parametrize("statistic", ["mean", "band"])
def test_a_number_that_a_control_has_as_well_is_not_taken_for_evidence_of_a_method(statistic: str) -> None:
    """By the mean of its runs on the same dataset and split; at the edge of the margin and not beyond."""
    one = claim(statistic=statistic, seed=None, sd=0.02, n=10, note="printed")
    mine = {seed: run(0.8) for seed in range(12)}

    def told(ours: dict[int, Obtained], **controls: dict[int, Obtained]) -> Comparison:
        runs = {PLACE: ours} | {replace(PLACE, method=name): own for name, own in controls.items()}
        return Single(NAMES, KNOWN, runs, ("coin", "count")).judge(one)

    alone = told(mine)
    assert alone.verdict is ClaimVerdict.REPRODUCED and not alone.controls and alone.margin is not None
    edge = 0.8 + alone.margin
    near, far = {1: run(edge - 1e-9)}, {1: run(edge + 1e-9)}
    both = {1: run(0.7), 2: run(0.9), 3: run(None), 4: run(None, Verdict.ERROR)}
    for found, expected in (
        (told(mine, coin=near, count=far), ("coin",)),
        (told(mine, count=both), ("count",)),
        (told(mine, coin=near, count=both), ("coin", "count")),
        # one that scores 0 once has that in its mean
        (told(mine, coin={1: run(0.0), 2: run(1.6)}), ("coin",)),
        (told(mine, coin=far, other=near), ()),
        (told(mine, coin={1: run(None)}, count={}), ()),
    ):
        remark = f"; a control is within the margin as well: {', '.join(expected)}" if expected else ""
        assert found.controls == expected and found.verdict is ClaimVerdict.REPRODUCED
        assert found.reason == alone.reason.removesuffix("; printed") + remark + "; printed"
    # of another split it says nothing, and beside what is not reproduced neither
    elsewhere = {PLACE: mine, replace(PLACE, method="coin", split="weakly_correlated"): near}
    assert not Single(NAMES, KNOWN, elsewhere, ("coin",)).judge(one).controls
    assert not told({seed: run(0.5) for seed in range(12)}, coin=near).controls


def test_a_claim_waits_for_no_run_that_nobody_can_make() -> None:
    """Who has the data and makes a run has it judged."""
    names = NAMES.model_copy(update={"no_data": [Remark(metric="NS-AUC", reason="sequences are not public")]})
    one = Single(names, KNOWN, {}).judge(claim())
    assert (one.verdict, one.reason) == (ClaimVerdict.NOT_COMPARABLE, "sequences are not public")
    assert Single(names, KNOWN, {}).judge(claim(metric="NDCG")).verdict is ClaimVerdict.PENDING
    assert Single(names, KNOWN, {PLACE: {1: run(0.8)}}).judge(claim()).verdict is ClaimVerdict.REPRODUCED
    assert Single(names, KNOWN, {PLACE: {1: run(0.7)}}).judge(claim()).verdict is ClaimVerdict.DEVIATES


def test_a_note_of_the_claim_stands_beside_its_verdict() -> None:
    assert mean(50, 0.802, sd_ours=0.02, rounding=0.0, note="of one fold").reason.endswith("; of one fold")


@pytest.mark.parametrize("field", ["method", "dataset", "split", "metric"])
def test_a_remark_is_about_what_it_names(field: str) -> None:
    about = {"method": "A", "dataset": "B", "split": "C", "metric": "D"}
    assert Remark(reason="x").is_about(**about)
    assert Remark(**about, reason="x").is_about(**about)
    assert Remark(**{field: about[field]}, reason="x").is_about(**about)
    assert not Remark(**{**about, field: "another"}, reason="x").is_about(**about)


def test_what_an_original_means_by_a_metric_is_its_own() -> None:
    from harness.compare.names import Meaning

    told = [
        Meaning(method="ALSWR", dataset="Fdataset", published="AUC", ours="first", reason="x"),
        Meaning(method="LRSSL", published="AUC", ours="second", reason="x"),
    ]
    names = NAMES.model_copy(update={"meanings": told})
    assert names.meaning("AUC", "als_wr", "Fdataset") == "first"
    assert names.meaning("AUC", "als_wr", "Cdataset") == "AUC"
    assert names.meaning("AUC", "lrssl", "Cdataset") == "second"
    assert names.meaning("NDCG", "lrssl", "Cdataset") == "NDCG"


def test_a_status_decides_from_the_tenth_seed_on() -> None:
    for n, verdict in ((9, ClaimVerdict.NOT_COMPARABLE), (10, ClaimVerdict.REPRODUCED)):
        told = status("ran", dict.fromkeys(range(n), run(0.8)))
        assert (told.verdict, told.n, told.reason) == (verdict, n, f"{n} of 100 seeds, all ok")
    few = judged(claim("ran", statistic="status", metric="", seed=None, n=3), dict.fromkeys(range(3), run(0.8)))
    assert few.verdict is ClaimVerdict.REPRODUCED
    told = status("ran", {1: run(0.8), 2: run(None, Verdict.MEMORY), 3: run(0.8)})
    assert told.reason == "1 of our 3 runs: memory" and len(told.keys) == 3
    told = status("memory error", {1: run(0.8), 2: run(0.8), 3: run(None, Verdict.MEMORY)})
    assert told.reason == "runs here: 2 of 3 ok"
    assert status("memory error", {1: run(None, Verdict.MEMORY)}).verdict is ClaimVerdict.REPRODUCED


def test_a_mean_over_tasks_is_judged_when_all_tasks_were_run() -> None:
    one = claim(statistic="band", seed=None, sd=0.1, n=5)
    some = judged(one, {task: run(0.8) for task in range(4)})
    assert (some.verdict, some.reason) == (ClaimVerdict.NOT_COMPARABLE, "4 of 5 runs")
    assert judged(one, {task: run(0.8) for task in range(5)}).verdict is ClaimVerdict.REPRODUCED


def band(*values: float, published: str = "0.5", sd: float | None = 0.05, n: int = 0) -> Comparison:
    one = claim(published, statistic="band", seed=None, sd=sd, n=n)
    return judged(one, {seed: run(value) for seed, value in enumerate(values)})


@pytest.mark.parametrize(
    ("published", "sd", "n", "reason"),
    [
        ("0.79", 0.02, 10, "no number of our runs decides: the published mean is of 10 runs alone"),
        # of so many published runs it is
        ("0.79", 0.02, 100, "too few runs: the interval does not fit into one published standard deviation"),
        (
            "0.8001",
            0.0,
            100,
            "no number of runs decides: the difference is at the edge of one published standard deviation",
        ),
    ],
)
def test_a_mean_that_no_run_of_ours_decides_says_why(published: str, sd: float, n: int, reason: str) -> None:
    """Whether the published runs are too few, or the difference is as large as the margin."""
    one = claim(published, statistic="mean", seed=None, sd=sd, n=n)
    told = judged(one, {seed: run(0.8 + 0.02 * (-1) ** seed) for seed in range(12)})
    assert told.verdict is ClaimVerdict.NOT_COMPARABLE
    assert (told.reason, told.needed is None) == (reason, "no number" in reason)


@pytest.mark.parametrize("n", [3, 4, 10])
def test_a_band_decides_where_the_interval_of_our_mean_fits_or_lies_beyond(n: int) -> None:
    """At both edges, on both sides: Student's t for n - 1 degrees of freedom, 5 % at either end."""
    steps = [0.02 * (place - (n - 1) / 2) / n for place in range(n)]
    half = float(stats.t.ppf(0.95, n - 1)) * deviation(steps) / math.sqrt(n)
    for sign in (1, -1):
        offsets = {
            0.05 - 1.001 * half: ClaimVerdict.REPRODUCED,
            0.05 - 0.98 * half: ClaimVerdict.NOT_COMPARABLE,
            0.05 + 0.98 * half: ClaimVerdict.NOT_COMPARABLE,
            0.05 + 1.001 * half: ClaimVerdict.DEVIATES,
        }
        for offset, verdict in offsets.items():
            one = band(*(0.5 + sign * offset + step for step in steps))
            assert one.verdict is verdict and one.n == n
            assert one.interval == pytest.approx((sign * offset - half, sign * offset + half))
            assert one.test == f"90% t interval, n = {n}, within ± 0.05"
            if verdict is ClaimVerdict.NOT_COMPARABLE:
                # a little narrower is enough
                assert one.needed == n + 1 and one.lacking == "; 1 more would decide"
                assert one.reason == "too few runs: the interval does not fit into the printed deviation"
            else:
                assert one.needed is None and one.why == one.reason


def test_so_many_runs_as_are_named_would_decide() -> None:
    """If mean and deviation stay: one less would not."""
    for offset in (0.0, 0.03, 0.08, -0.2):
        one = band(0.4 + offset, 0.5 + offset, 0.6 + offset)
        assert one.verdict is ClaimVerdict.NOT_COMPARABLE and one.needed is not None
        room = abs(abs(offset) - 0.05)
        halves = [float(stats.t.ppf(0.95, n - 1)) * 0.1 / math.sqrt(n) for n in (one.needed - 1, one.needed)]
        assert halves[0] > room >= halves[1] - 1e-9


def test_no_number_of_runs_decides_at_the_edge() -> None:
    one = band(0.50, 0.55, 0.60)
    assert (one.verdict, one.needed) == (ClaimVerdict.NOT_COMPARABLE, None)
    assert one.reason == "no number of runs decides: the difference is at the edge of the printed deviation"
    assert one.why == one.reason
    beside = mean(20, 0.8, sd_ours=0.02, sd=None, rounding=0.0)
    assert beside.needed is None and "no number of runs" in beside.reason


def test_too_few_runs_by_number_tell_how_many_there_must_be() -> None:
    two = band(0.50, 0.501)
    assert (two.reason, two.needed, two.lacking) == ("2 of at least 3 seeds", 3, "; 1 more would decide")
    assert band(0.50, 0.501, n=2).reason == two.reason, "as many as the paper's are too few as well"
    wide = band(0.40, 0.60)
    assert wide.reason == "2 of at least 3 seeds" and wide.needed is not None and wide.needed > 3
    one = band(0.5)
    assert (one.reason, one.needed) == ("1 of at least 3 seeds", None)
    few = mean(5, 0.8, sd_ours=0.01)
    assert (few.reason, few.needed) == ("5 of 100 seeds", 10)
    assert mean(1, 0.8).needed is None
    # values that are all equal lack nothing but others
    assert band(0.5, 0.5).needed == 3 and mean(5, 0.8, sd_ours=0.0).needed == 10
    assert band(0.5, 0.5, 0.5, 0.501, n=5).needed == 5


def tasks(values: dict[tuple[str, int], float | None], **changes: Any) -> Comparison:
    runs = {number: replace(run(value), task=task) for number, (task, value) in enumerate(values.items())}
    return judged(claim("0.5", **{"statistic": "band", "seed": None, "sd": 0.05, "n": 4, **changes}), runs)


def of_seeds(*means: float, step: float = 0.2) -> dict[tuple[str, int], float | None]:
    """Four tasks that differ much, a mean over them per seed."""
    return {
        (f"fold={task}", seed): one + step * (task - 1.5) for seed, one in enumerate(means) for task in range(4)
    }


def test_all_tasks_are_no_sample_of_tasks() -> None:
    """With three seeds of each, chance is in the means per seed; they are as near as seeds are, not as tasks."""
    one = tasks(of_seeds(0.50, 0.51, 0.52))
    assert (one.verdict, one.n, len(one.keys)) == (ClaimVerdict.REPRODUCED, 3, 12)
    half = float(stats.t.ppf(0.95, 2)) * 0.01 / math.sqrt(3)
    assert one.interval == pytest.approx((0.01 - half, 0.01 + half))
    assert tasks(of_seeds(0.70, 0.71, 0.72)).verdict is ClaimVerdict.DEVIATES
    scattered = tasks(of_seeds(0.4, 0.5, 0.6))
    assert scattered.verdict is ClaimVerdict.NOT_COMPARABLE and scattered.needed == 13
    assert scattered.reason.startswith("too few runs")


def test_with_one_seed_of_all_tasks_the_interval_is_over_tasks() -> None:
    near = tasks(of_seeds(0.51, step=0.01))
    assert (near.verdict, near.n) == (ClaimVerdict.REPRODUCED, 4)
    assert near.ours == pytest.approx(0.51)
    far = tasks(of_seeds(0.51))
    assert (far.verdict, far.needed) == (ClaimVerdict.NOT_COMPARABLE, None)
    assert far.reason == "1 of at least 3 seeds of all 4 tasks"
    # two seeds of a task are one value of it
    both = tasks({**of_seeds(0.50, 0.52, step=0.01)})
    assert (both.verdict, both.n) == (ClaimVerdict.REPRODUCED, 4) and both.ours == pytest.approx(0.51)
    # two tasks have an interval, one has none
    middle = {
        place: value for place, value in of_seeds(0.51, step=0.001).items() if place[0] in ("fold=1", "fold=2")
    }
    pair = tasks(middle, n=2)
    assert (pair.verdict, pair.n) == (ClaimVerdict.REPRODUCED, 2)
    single = tasks({("fold=1", 0): 0.51}, n=1)
    assert (single.verdict, single.reason) == (
        ClaimVerdict.NOT_COMPARABLE,
        "1 of at least 3 seeds of all 1 tasks",
    )


def test_a_task_is_not_replaced_by_another_seed_of_one_that_is_there() -> None:
    values = of_seeds(0.50, 0.51, 0.52)
    some = {place: value for place, value in values.items() if place[0] != "fold=3"}
    assert (tasks(some).verdict, tasks(some).reason) == (ClaimVerdict.NOT_COMPARABLE, "3 of 4 tasks")
    # no seed has all of them
    scattered: dict[tuple[str, int], float | None] = {(f"fold={task}", task % 2): 0.5 for task in range(4)}
    assert tasks(scattered).reason == "2 of 4 tasks"
    # the seed with the fewest is told
    uneven: dict[tuple[str, int], float | None] = {(f"fold={task}", int(task == 2)): 0.5 for task in range(4)}
    assert tasks(uneven).reason == "1 of 4 tasks"
    # of as many as are printed, or of ours where those are more
    assert [tasks(scattered, n=count).reason for count in (1, 3, 5)] == ["2 of 4 tasks"] * 2 + ["2 of 5 tasks"]
    # a seed that lacks a task is no seed of all tasks
    for count in (1, 3):
        more: dict[tuple[str, int], float | None] = {(f"fold={task}", 9): 0.9 for task in range(count)}
        assert tasks({**of_seeds(0.5, 0.51, 0.52), **more}).n == 3


@pytest.mark.parametrize("published", ["0.8", "ran", "memory error", "runtime error"])
@pytest.mark.parametrize("verdicts", ["ok ok ok", "timeout ok memory", "memory error timeout", "error memory ok"])
def test_the_order_in_which_runs_are_found_decides_nothing(published: str, verdicts: str) -> None:
    """On another machine the same runs may be found in another order: the page stays the same, seed by seed."""
    runs = {
        seed: replace(run(0.8 + seed / 100, Verdict(verdict)), key=str(seed) * 64, reason=f"because of {seed}")
        for seed, verdict in enumerate(verdicts.split())
    }
    number = {"metric": "", "statistic": "status"} if published != "0.8" else {"statistic": "band", "sd": 0.5}
    one = claim(published, seed=None, n=3, **number)
    told = judged(one, runs)
    assert told.keys == tuple(sorted(told.keys))
    for order in permutations(runs):
        assert judged(one, {seed: runs[seed] for seed in order}) == told
    if failed := [run for run in runs.values() if run.verdict is not Verdict.OK]:
        expected = {
            "ran": f"{len(failed)} of our 3 runs: {failed[0].verdict}",
            "0.8": f"no value of the metric in our 3 runs: our run is '{failed[0].verdict}': because of 0",
        }
        if published == "ran" or (published == "0.8" and len(failed) == 3):
            assert told.reason == expected[published]
