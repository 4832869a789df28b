"""Every claim gets the verdict its test gives, with the reason; none is lost, and too few seeds decide nothing."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare.claims import Claim, rounding_of
from harness.compare.judge import ClaimVerdict, Comparison, Known, judge
from harness.compare.names import MetricName, Names, Remark, Sources, Target
from harness.compare.obtained import Obtained
from harness.compare.statistics import welch_half_width
from harness.vocabulary import Verdict

NAMES = Names(
    benchmark="repurposing",
    variant="published",
    inner_folds=5,
    seeds=100,
    sources=Sources(paper="a paper", files="files"),
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
KNOWN = Known(
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
    return judge(one, NAMES, KNOWN, {place: runs})


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
    assert within.verdict is ClaimVerdict.REPRODUCED and "Welch" in within.test
    beyond = mean(50, 0.85, sd_ours=0.02)
    assert beyond.verdict is ClaimVerdict.DEVIATES and "Welch" in beyond.test
    blunt = mean(12, 0.8, sd_ours=0.2)
    assert blunt.verdict is ClaimVerdict.NOT_COMPARABLE and "wider" in blunt.reason
    assert mean(0, 0.8).verdict is ClaimVerdict.PENDING


def test_runs_that_failed_do_not_vanish_from_a_mean() -> None:
    one = claim(statistic="mean", seed=None, sd=0.02, n=100, rounding=0.005)
    runs = {seed: run(0.8 + 0.02 * (-1) ** seed) for seed in range(50)}
    assert judged(one, runs).reason == "the interval of the difference contains 0"
    runs |= {50: run(None, Verdict.MEMORY), 51: run(None)}
    told = judged(one, runs)
    assert told.n == 50 and told.reason.endswith("; 2 of our 52 runs have no value")


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


@pytest.mark.parametrize(("text", "half"), [("0.80", 0.005), ("1.00", 0.005), ("2e-6", 5e-7), ("26.4", 0.05)])
def test_printed_digits_tell_their_rounding(text: str, half: float) -> None:
    assert rounding_of(text) == pytest.approx(half)


def test_the_interval_is_welchs() -> None:
    from scipy import stats

    ours, theirs = [0.1, 0.4, 0.3, 0.9, 0.2], [0.5, 0.6, 0.7, 0.1, 0.2, 0.8, 0.4]
    interval = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.99)
    half = welch_half_width(stats.tstd(ours), len(ours), stats.tstd(theirs), len(theirs))
    assert half == pytest.approx((interval.high - interval.low) / 2, rel=1e-9)


@given(st.floats(0, 1), st.integers(1, 50), st.floats(0, 1), st.integers(1, 200))
def test_the_interval_is_never_negative(sd: float, n: int, other: float, m: int) -> None:
    half = welch_half_width(sd, n, other, m)
    assert half >= 0 and not math.isnan(half)
