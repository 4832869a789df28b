"""Each statistic between methods is what its definition says, by brute force, by scipy and by statsmodels."""

from __future__ import annotations

import json
import math
import subprocess
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contest import statistics as ours
from tests.judges import judge

# few different values: ties and zeros are the rule
few = st.lists(st.integers(-4, 4).map(lambda one: one / 4), min_size=1, max_size=9)
many = st.lists(st.floats(-1, 1), min_size=1, max_size=12)
tables = st.integers(3, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=2, max_size=4)
)


def _rank_sum(magnitudes: list[float], chosen: list[bool]) -> float:
    """The mean ranks of the chosen, counted: how many are smaller, and half of those equal."""
    return math.fsum(
        sum(other < one for other in magnitudes) + (sum(other == one for other in magnitudes) + 1) / 2
        for one, is_chosen in zip(magnitudes, chosen, strict=True)
        if is_chosen
    )


@given(st.one_of(few, many))
@settings(max_examples=60, deadline=None)
def test_signed_ranks_are_counted_over_all_signs(differences: list[float]) -> None:
    left = [one for one in differences if one]
    magnitudes = [abs(one) for one in left]
    middle = len(left) * (len(left) + 1) / 4
    own = abs(_rank_sum(magnitudes, [one > 0 for one in left]) - middle)
    signs = list(product([True, False], repeat=len(left)))
    extreme = sum(abs(_rank_sum(magnitudes, list(chosen)) - middle) >= own - 1e-9 for chosen in signs)
    assert ours.signed_rank_p(differences) == pytest.approx(extreme / len(signs), abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5, 6, 12, 50, 100])
def test_signed_ranks_without_ties_agree_with_scipy(count: int) -> None:
    from scipy.stats import wilcoxon

    differences = np.random.default_rng(count).normal(0.3, 1, size=count)
    assert ours.signed_rank_p(differences) == pytest.approx(wilcoxon(differences, method="exact").pvalue, rel=1e-9)


def test_signed_ranks_with_ties_agree_with_scipys_permutations() -> None:
    from scipy.stats import PermutationMethod, wilcoxon

    differences = np.array([1, -1, 2, 2, 3, -3, 3, 4, 5, 5], dtype=float)
    theirs = wilcoxon(differences, method=PermutationMethod(n_resamples=2000))
    assert ours.signed_rank_p(differences) == pytest.approx(theirs.pvalue, rel=1e-9)


def test_no_difference_is_no_evidence() -> None:
    assert ours.signed_rank_p([0.0, 0.0, 0.0]) == 1.0
    same = ours.paired_test([0.1 + 0.2, 0.5, 0.7], [0.3, 0.5, 0.7])
    assert (same.p, same.dominance, same.dz, same.difference) == (1.0, 0.0, None, 0.0)


@pytest.mark.parametrize("difference", [0.267, 0.1, 2.0])
def test_a_method_that_is_better_by_the_same_on_every_seed_has_no_deviation_to_divide_by(
    difference: float,
) -> None:
    """What is lost in the mean of equal numbers is no deviation."""
    test = ours.paired_test([0.4 + difference] * 6, [0.4] * 6)
    assert (test.n, test.dz, test.dominance) == (6, None, 1.0)
    assert ours.paired_test([0.5], [0.25]) == ours.PairedTest(1, 0.25, 1.0, 1.0, None)


@given(st.integers(1, 30))
def test_the_smallest_p_is_that_of_a_method_that_is_always_better(count: int) -> None:
    assert ours.smallest_p(count) == pytest.approx(ours.signed_rank_p([1.0 + one for one in range(count)]))


@given(st.integers(1, 40))
def test_the_seeds_that_decide_are_the_fewest(comparisons: int) -> None:
    count = ours.seeds_to_decide(comparisons)
    assert ours.smallest_p(count) * comparisons <= ours.SIGNIFICANCE
    assert ours.smallest_p(count - 1) * comparisons > ours.SIGNIFICANCE


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=15))
def test_effect_sizes_are_what_they_say(pairs: list[tuple[float, float]]) -> None:
    first, second = [list(one) for one in zip(*pairs, strict=True)]
    test = ours.paired_test(first, second)
    differences = [round(one - other, 12) for one, other in pairs]
    wins, losses = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    assert test.dominance == pytest.approx((wins - losses) / len(pairs))
    mean = math.fsum(differences) / len(pairs)
    assert test.difference == pytest.approx(mean, abs=1e-12)
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in differences) / (len(pairs) - 1))
    if test.dz is not None and spread > 1e-9:
        assert test.dz == pytest.approx(mean / spread, rel=1e-6, abs=1e-9)
    mirrored = ours.paired_test(second, first)
    assert mirrored.p == pytest.approx(test.p)
    assert mirrored.dominance == -test.dominance


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(deadline=None)
def test_holm_is_its_definition(chances: list[float]) -> None:
    adjusted = ours.holm(chances)
    ordered = sorted(range(len(chances)), key=lambda place: chances[place])
    for rank, place in enumerate(ordered):
        products = [(len(chances) - step) * chances[ordered[step]] for step in range(rank + 1)]
        assert adjusted[place] == pytest.approx(min(1.0, max(products)))
    level = 0.05
    # the step-down procedure rejects exactly those whose adjusted value is at most the level
    rejected = set()
    for rank, place in enumerate(ordered):
        if chances[place] > level / (len(chances) - rank):
            break
        rejected.add(place)
    assert {place for place, one in enumerate(adjusted) if one <= level * (1 - 1e-12)} <= rejected
    assert rejected <= {place for place, one in enumerate(adjusted) if one <= level * (1 + 1e-12)}


def test_holm_and_signed_ranks_agree_with_statsmodels_and_its_scipy() -> None:
    """In an environment that is not ours, with versions that are not ours."""
    random = np.random.default_rng(5)
    samples = [random.normal(0.2 * place, 1, size=9).tolist() for place in range(6)]
    chances = [ours.signed_rank_p(one) for one in samples]
    program = (
        "import json,sys; from statsmodels.stats.multitest import multipletests; from scipy.stats import wilcoxon;"
        "samples=json.load(sys.stdin); p=[wilcoxon(one,method='exact').pvalue for one in samples];"
        "print(json.dumps([p, list(multipletests(p, method='holm')[1])]))"
    )
    done = subprocess.run(
        [str(judge("proof") / "python"), "-c", program],
        input=json.dumps(samples),
        capture_output=True,
        text=True,
        check=True,
    )
    their_chances, their_holm = json.loads(done.stdout)
    assert chances == pytest.approx(their_chances)
    assert ours.holm(chances) == pytest.approx(their_holm)


@given(tables)
@settings(max_examples=60, deadline=None)
def test_ranks_are_counted_from_the_best(rows: list[list[int]]) -> None:
    ranks = ours.ranks_from_best(np.array(rows, dtype=float))
    for row, own in zip(rows, ranks.tolist(), strict=True):
        expected = [sum(two > one for two in row) + (sum(two == one for two in row) + 1) / 2 for one in row]
        assert own == expected


@given(tables)
@settings(max_examples=40, deadline=None)
def test_friedman_is_counted_over_all_orders(rows: list[list[int]]) -> None:
    values = np.array(rows, dtype=float)
    test = ours.rank_test(values)
    ranks = ours.ranks_from_best(values)
    middle = len(rows) * (len(rows[0]) + 1) / 2

    def spread(table: list[tuple[float, ...]]) -> float:
        return math.fsum((sum(column) - middle) ** 2 for column in zip(*table, strict=True))

    own = spread([tuple(row) for row in ranks.tolist()])
    # the first row may stay: the spread does not change if all rows change their columns alike
    others = [list(permutations(row)) for row in ranks.tolist()[1:]]
    spreads = [spread([tuple(ranks.tolist()[0]), *orders]) for orders in product(*others)]
    assert test.exact
    assert test.p == pytest.approx(sum(one >= own - 1e-9 for one in spreads) / len(spreads))


def test_friedman_agrees_with_scipy() -> None:
    from scipy.stats import f, friedmanchisquare

    values = np.random.default_rng(3).normal(size=(30, 5))
    values[:, 2] += 0.4
    values = values.round(1)
    test = ours.rank_test(values)
    theirs = friedmanchisquare(*values.T)
    assert test.statistic == pytest.approx(theirs.statistic)
    assert not test.exact
    by_f = 29 * theirs.statistic / (30 * 4 - theirs.statistic)
    assert test.p == pytest.approx(f.sf(by_f, 4, 4 * 29))
    # where both can be had they are near each other
    small = ours.rank_test(values[:6, :4])
    assert small.exact
    assert small.p == pytest.approx(friedmanchisquare(*values[:6, :4].T).pvalue, abs=0.05)


def test_methods_that_never_differ_have_no_statistic() -> None:
    test = ours.rank_test(np.ones((4, 3)))
    assert (test.statistic, test.p, test.ranks) == (0.0, 1.0, (2.0, 2.0, 2.0))


@pytest.mark.parametrize("count", [3, 4, 7, 12, 30])
def test_the_critical_difference_is_that_of_the_studentized_range(count: int) -> None:
    from scipy.stats import studentized_range

    theirs = studentized_range.isf(ours.SIGNIFICANCE, count, np.inf) / math.sqrt(2)
    assert ours.nemenyi_quantile(count) == pytest.approx(theirs, rel=1e-6)
    table = ours.rank_test(np.random.default_rng(0).normal(size=(10, count)))
    assert table.critical_difference == pytest.approx(theirs * math.sqrt(count * (count + 1) / 60), rel=1e-6)
