"""Intervals, rank tests and adjustments equal what their definitions and another library give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from harness.compare.groups import DEVIATIONS, EQUIVALENCE_DEVIATIONS
from harness.compare.statistics import (
    CONFIDENCE,
    EQUIVALENCE,
    SIGNIFICANCE,
    benjamini_hochberg,
    h_at,
    half_width,
    kruskal_wallis,
    p_of_h,
    places_among,
    ranks_of,
    runs_needed,
    welch_half_width,
)

# ties, and values that differ in the last bit alone, which are no ties
VALUES = st.lists(
    st.integers(0, 6).map(float) | st.integers(0, 6).map(lambda bits: 1 + bits * 2.0**-52), min_size=1, max_size=15
)


def h_by_definition(first: list[float], second: list[float]) -> float:
    """12 / N (N + 1) sum of R^2 / n - 3 (N + 1), over 1 - sum of (t^3 - t) / (N^3 - N) for ties."""
    everything = first + second
    count = len(everything)

    def rank(value: float) -> float:
        return sum(other < value for other in everything) + (sum(other == value for other in everything) + 1) / 2

    squares = sum(sum(rank(value) for value in group) ** 2 / len(group) for group in (first, second))
    h = 12 / (count * (count + 1)) * squares - 3 * (count + 1)
    ties = sum(everything.count(value) ** 3 - everything.count(value) for value in set(everything))
    correction = 1 - ties / (count**3 - count)
    return h / correction if correction else 0.0


@given(VALUES, VALUES)
def test_h_with_ties_is_kruskals(first: list[float], second: list[float]) -> None:
    ours = float(kruskal_wallis(*places_among([np.array(first), np.array(second)])))
    assert ours == pytest.approx(h_by_definition(first, second), abs=1e-9)
    if len(set(first + second)) > 1:
        theirs = stats.kruskal(first, second)
        assert ours == pytest.approx(theirs.statistic, abs=1e-9)
        assert p_of_h(max(ours, 0.0)) == pytest.approx(theirs.pvalue, abs=1e-6)


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_ranks_share_their_mean_among_ties(rows: list[list[float]]) -> None:
    width = min(map(len, rows))
    values = np.array([row[:width] for row in rows])
    assert ranks_of(values).tolist() == stats.rankdata(values, axis=-1).tolist()


@given(VALUES, VALUES, st.integers(0, 2**32 - 1))
def test_draws_of_places_have_the_h_of_draws_of_values(first: list[float], second: list[float], seed: int) -> None:
    """To the last bit: sums of ranks are exact."""
    tables = [np.array(first), np.array(second)]
    draws = [np.random.default_rng(seed).integers(0, len(one), (3, 4)) for one in tables]
    ours = kruskal_wallis(*(table[at] for table, at in zip(places_among(tables), draws, strict=True)))
    for h, *drawn in zip(ours, *(table[at] for table, at in zip(tables, draws, strict=True)), strict=True):
        assert h == kruskal_wallis(*places_among(drawn))
        assert h == pytest.approx(h_by_definition(*(one.tolist() for one in drawn)), abs=1e-9)


def test_places_keep_the_form_of_their_tables() -> None:
    first, second = places_among([np.array([[0.5, -2.0], [7.0, 0.5]]), np.array([[7.0, 1.0, -3.0]])])
    assert (first.tolist(), second.tolist()) == ([[2, 1], [4, 2]], [[4, 3, 0]])


def test_many_samples_at_once_are_the_single_ones() -> None:
    random = np.random.default_rng(0)
    first, second = random.integers(0, 9, (7, 20)), random.integers(0, 9, (7, 12))
    single = [float(kruskal_wallis(one, other)) for one, other in zip(first, second, strict=True)]
    assert kruskal_wallis(first, second).tolist() == single


def test_the_critical_value_has_its_chance() -> None:
    assert p_of_h(h_at(0.01)) == pytest.approx(0.01)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_chances_are_benjamini_and_hochbergs(chances: list[float]) -> None:
    adjusted = benjamini_hochberg(chances)
    assert adjusted == pytest.approx(stats.false_discovery_control(chances).tolist())
    count = len(chances)
    for chance, ours in zip(chances, adjusted, strict=True):
        larger = [other * count / sum(one <= other for one in chances) for other in chances if other >= chance]
        assert ours == pytest.approx(min(1.0, *larger))


def test_levels_are_those_that_are_told() -> None:
    """99 %, two-sided: the tables say so."""
    assert pytest.approx(0.99) == CONFIDENCE and pytest.approx(0.01) == SIGNIFICANCE
    assert pytest.approx(stats.norm.ppf(0.995), abs=1e-4) == DEVIATIONS
    # two one-sided tests at 5 % each
    assert EQUIVALENCE == 0.90 and pytest.approx(stats.norm.ppf(0.95), abs=1e-4) == EQUIVALENCE_DEVIATIONS


@given(st.floats(1e-3, 1), st.integers(2, 60), st.floats(1e-3, 1), st.integers(2, 200))
def test_the_interval_of_a_difference_is_welchs(sd: float, n: int, other: float, m: int) -> None:
    """Satterthwaite's degrees of freedom, as another library has them."""
    known = stats.ttest_ind_from_stats(0.3, sd, n, 0.1, other, m, equal_var=False)
    ours, theirs = sd**2 / n, other**2 / m
    freedom = (ours + theirs) ** 2 / (ours**2 / (n - 1) + theirs**2 / (m - 1))
    half = welch_half_width(sd, n, other, m)
    assert half == pytest.approx(stats.t.ppf(0.995, freedom) * (ours + theirs) ** 0.5)
    # zero lies outside the interval exactly where the test is significant
    assert (half < 0.2) == (known.pvalue < 0.01) or known.pvalue == pytest.approx(0.01)


def test_values_without_spread_have_an_interval_without_width() -> None:
    assert welch_half_width(0.0, 10, 0.0, 100) == 0.0
    # of one value the deviation is not known: one degree of freedom is the widest there is
    assert welch_half_width(0.0, 1, 0.1, 1) == pytest.approx(stats.t.ppf(0.995, 1) * 0.1)
    assert welch_half_width(0.1, 1, 0.0, 5) == pytest.approx(stats.t.ppf(0.995, 1) * 0.1)


def test_values_that_are_all_equal_have_no_h() -> None:
    assert kruskal_wallis(np.ones((2, 3), int), np.ones((2, 4), int)).tolist() == [0.0, 0.0]


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.floats(-1, 1), st.floats(1e-3, 1))
def test_an_interval_fits_where_both_one_sided_tests_reject(
    values: list[float], centre: float, margin: float
) -> None:
    """The test of equivalence of two one-sided t tests, as another library has them."""
    sd = float(np.std(values, ddof=1))
    assume(sd > 1e-6)
    difference = float(np.mean(values)) - centre
    above = float(stats.ttest_1samp(values, centre - margin, alternative="greater").pvalue)
    below = float(stats.ttest_1samp(values, centre + margin, alternative="less").pvalue)
    half = half_width(sd, len(values))
    assume(abs(max(above, below) - 0.05) > 1e-9)
    assert (abs(difference) + half <= margin) == (max(above, below) <= 0.05)
    greater = float(stats.ttest_1samp(values, centre + margin, alternative="greater").pvalue)
    less = float(stats.ttest_1samp(values, centre - margin, alternative="less").pvalue)
    beyond = min(greater, less)
    assume(abs(beyond - 0.05) > 1e-9)
    assert (abs(difference) - half > margin) == (beyond < 0.05)


@given(st.floats(1e-3, 1), st.integers(2, 60), st.floats(1e-3, 1), st.integers(2, 200), st.floats(0.5, 0.999))
def test_an_interval_has_the_confidence_that_is_asked_for(
    sd: float, n: int, other: float, m: int, confidence: float
) -> None:
    ours, theirs = sd**2 / n, other**2 / m
    freedom = (ours + theirs) ** 2 / (ours**2 / (n - 1) + theirs**2 / (m - 1))
    expected = stats.t.ppf((1 + confidence) / 2, freedom) * (ours + theirs) ** 0.5
    assert welch_half_width(sd, n, other, m, confidence) == pytest.approx(expected)


@given(st.integers(2, 200), st.integers(2, 20_000))
def test_the_runs_that_are_needed_are_the_fewest(least: int, threshold: int) -> None:
    needed = runs_needed(lambda n: n >= threshold, least)
    expected = max(least, threshold)
    assert needed == (expected if expected <= 10_000 else None)


def test_runs_that_are_there_may_be_more_than_anybody_would_ask_for() -> None:
    assert runs_needed(lambda n: n >= 15_000, 20_000) == 20_000
    assert runs_needed(lambda n: n >= 15_000, 3) is None
