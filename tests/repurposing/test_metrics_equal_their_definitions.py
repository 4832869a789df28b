"""Counting all at once must give what counting one pair at a time gives, for any labels, sets and ties."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.repurposing.metrics import as_defined, as_published, introsort
from harness.benchmarks.repurposing.metrics.introsort import places
from harness.benchmarks.repurposing.metrics.pairs import Pairs, global_area
from harness.benchmarks.repurposing.names import DEFINED, METRICS, PUBLISHED, metric_names
from tests.repurposing import brute_force as plain

Case = tuple[plain.Matrix, plain.Matrix, plain.Matrix]


@st.composite
def cases(draw: st.DrawFn, *, zeros: bool) -> Case:
    """Labels, membership and scores of a small matrix; few distinct scores, so that ties are common."""
    drugs, diseases = draw(st.integers(1, 9)), draw(st.integers(1, 30))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.sampled_from([[0, 1], [-1, 0, 1], [-1, 1], [0], [1]]))
    shape = (drugs, diseases)
    labels = generator.choice(kinds, size=shape).astype(np.float64)
    inside = (generator.random(shape) < draw(st.sampled_from([0.3, 0.8, 1.0]))).astype(np.float64)
    values = [-2.0, -0.5, 0.25, 3.0, *([0.0] if zeros else [])]
    if draw(st.booleans()):
        return labels, inside, generator.choice(values, size=shape)
    return labels, inside, generator.normal(size=shape)


def _pairs(case: Case) -> Pairs:
    labels, inside, scores = case
    chosen = inside == 1
    return Pairs(chosen, labels[chosen].astype(np.int8), scores[chosen])


def _near(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) < 1e-12


@settings(max_examples=300, deadline=None)
@given(case=cases(zeros=False))
def test_as_published(case: Case) -> None:
    rows = plain.rows_of(*case)
    columns = plain.rows_of(case[0].T, case[1].T, case[2].T)
    area, gain, ranked = plain.published_global(*case)
    hits, count = plain.published_hits(*case), sum(ranked)
    known = [(label, guess) for row in rows for label, guess in plain.cut(row) if label]
    expected = {
        "NS-AUC": plain.published_ordered_share(rows),
        "AUC": area,
        "disease-wise AUC": plain.published_cut_area(columns),
        "drug-wise AUC": plain.published_cut_area(rows),
        "NDCG": plain.published_gain(columns),
        "global NDCG": gain,
        "accuracy": plain.mean([float(label == guess) for label, guess in known]),
        "F-score": plain.published_f_score(columns),
        **{f"HR@{best}": sum(hits[:best]) / count if count else None for best in (2, 5, 10)},
    }
    found = as_published.metrics(_pairs(case))
    assert list(found) == list(expected) == metric_names(PUBLISHED)
    for name, value in expected.items():
        assert _near(found[name], value), (name, found[name], value)


@pytest.mark.parametrize(
    ("lowest", "expected"),
    [(-2.0, -1.0), (0.0, 1e-31), (3.0, 1e-31), (1e-40, 5e-41), (1e-31, 5e-32), (3e-31, 1e-31)],
)
def test_zeros_become_half_of_the_lowest_score_or_next_to_nothing(lowest: float, expected: float) -> None:
    """And nothing else does: a score that is nearly 0 is one."""
    filled = as_published.without_zeros(np.array([0.0, -0.0, 5.0, -3.0, 1e-300, -1e-300]), lowest)
    assert filled.tolist() == [expected, expected, 5.0, -3.0, 1e-300, -1e-300]


def test_many_pairs_are_turned_as_few_are() -> None:
    scores = np.random.default_rng(1).permutation(70_000.0 * np.arange(70_000)).reshape(250, 280)
    labels = (scores > scores.mean()).astype(np.int8)
    inside = np.ones(scores.shape, dtype=bool)
    inside[::7, ::3] = False
    turned = Pairs(inside, labels[inside], scores[inside]).transposed
    assert np.array_equal(turned.inside, inside.T)
    assert np.array_equal(turned.scores, scores.T[inside.T]) and np.array_equal(turned.labels, labels.T[inside.T])


@settings(max_examples=300, deadline=None)
@given(case=cases(zeros=True))
def test_as_defined(case: Case) -> None:
    rows = plain.rows_of(*case)
    columns = plain.rows_of(case[0].T, case[1].T, case[2].T)
    everything = [pair for row in rows for pair in row]
    known = [(label, score) for label, score in everything if label]
    expected = {
        "NS-AUC": plain.defined_ordered_share(columns),
        "AUC": plain.defined_area([everything]),
        "disease-wise AUC": plain.defined_area(columns),
        "drug-wise AUC": plain.defined_area(rows),
        "NDCG": plain.defined_gain(columns),
        "global NDCG": plain.defined_gain([everything]),
        "accuracy": plain.mean([float(label * score > 0) for label, score in known]),
    }
    found = as_defined.metrics(_pairs(case))
    assert list(found) == list(expected) == metric_names(DEFINED)
    for name, value in expected.items():
        assert _near(found[name], value), (name, found[name], value)


@settings(max_examples=100, deadline=None)
@given(case=cases(zeros=True), outside=st.sampled_from([0, 1, 3, 40]))
def test_an_area_with_pairs_outside_is_that_of_as_many_unknown_pairs_with_score_0(
    case: Case, outside: int
) -> None:
    pairs = _pairs(case)
    row = [*zip(pairs.labels.tolist(), pairs.scores.tolist(), strict=True), *[(0, 0.0)] * outside]
    assert _near(global_area(pairs.labels, pairs.scores, outside), plain.area_of(row))


@settings(max_examples=200, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 120), min_size=1, max_size=5),
    kinds=st.sampled_from([1, 2, 3, 20, 10**6]),
    wanted=st.sampled_from([0.02, 0.5, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_places_of_ties_are_those_of_the_classic_sort(
    lengths: list[int], kinds: int, wanted: float, seed: int
) -> None:
    """numpy still sorts long doubles by the classic algorithm, so it can be asked."""
    generator = np.random.default_rng(seed)
    runs = [generator.integers(0, kinds, size=length).astype(np.float64) for length in lengths]
    asked = generator.random(sum(lengths)) < wanted
    expected = np.concatenate([_inverse(np.argsort(run.astype(np.longdouble))) for run in runs])
    found = places(np.concatenate(runs), np.array(lengths), asked)
    np.testing.assert_array_equal(found, expected[asked])


@pytest.mark.parametrize("size", [100, 1000, 3000])
@pytest.mark.parametrize("coarse", [1, 2, 7])
def test_places_where_quicksort_gives_up_and_heapsort_goes_on(
    size: int, coarse: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = []
    heap_sorted = introsort._heap_sorted

    def noticed(values: introsort.Floats, elements: introsort.Integers) -> introsort.Integers:
        reached.append(len(elements))
        return heap_sorted(values, elements)

    monkeypatch.setattr(introsort, "_heap_sorted", noticed)
    values = np.floor(_hard_for_quicksort(size) / coarse)
    found = places(values, np.array([size]), np.ones(size, dtype=bool))
    np.testing.assert_array_equal(found, _inverse(np.argsort(values.astype(np.longdouble))))
    assert reached or coarse > 2


@pytest.mark.parametrize("size", [1000, 3000])
def test_places_where_heapsort_goes_on_with_pieces_in_any_order(size: int) -> None:
    """The same hard values twice: of these the largest is rarely the first that heapsort is given."""
    values = np.tile(_hard_for_quicksort(size), 2)
    found = places(values, np.array([2 * size]), np.ones(2 * size, dtype=bool))
    np.testing.assert_array_equal(found, _inverse(np.argsort(values.astype(np.longdouble))))


def test_places_of_nothing() -> None:
    assert places(np.zeros(0), np.array([0, 0]), np.zeros(0, dtype=bool)).tolist() == []


def test_every_metric_has_a_description_and_a_direction() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names) == len(metric_names(PUBLISHED)) + len(metric_names(DEFINED))
    assert all(metric.description and metric.better == "higher" for metric in METRICS)


def test_pairs_at_once_are_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.benchmarks.repurposing.metrics import pairs as module

    generator = np.random.default_rng(3)
    case = (
        generator.choice([0.0, 1.0], size=(20, 30)),
        np.ones((20, 30)),
        generator.normal(size=(20, 30)),
    )
    whole = as_defined.metrics(_pairs(case))
    monkeypatch.setattr(module, "_AT_ONCE", 7)
    assert as_defined.metrics(_pairs(case)) == whole


def test_nothing_is_warned_about_degenerate_sets() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        empty = Pairs(np.zeros((3, 4), dtype=bool), np.zeros(0, dtype=np.int8), np.zeros(0))
        assert set(as_published.metrics(empty).values()) == {None}
        assert set(as_defined.metrics(empty).values()) == {None}


def _inverse(order: np.typing.NDArray[np.int64]) -> np.typing.NDArray[np.int64]:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


class _Undecided:
    """An element whose value is fixed as late as possible, so that every pivot turns out to be a bad one."""

    def __init__(self, number: int, values: list[int]) -> None:
        self.number = number
        self.values = values

    def __lt__(self, other: _Undecided) -> bool:
        values, open_value = self.values, len(self.values) - 1
        mine, theirs = self.number, other.number
        if values[mine] == values[theirs] == open_value:
            fixed = mine if mine == values[-1] else theirs
            values[fixed] = sum(value < open_value for value in values[:-1])
        if values[mine] == open_value:
            values[-1] = mine
        elif values[theirs] == open_value:
            values[-1] = theirs
        return values[mine] < values[theirs]


def _hard_for_quicksort(size: int) -> np.typing.NDArray[np.float64]:
    """Values that the classic sort can only finish by its fallback (McIlroy's adversary)."""
    values = [size] * size + [-1]
    elements = np.empty(size, dtype=object)
    elements[:] = [_Undecided(number, values) for number in range(size)]
    np.argsort(elements)
    return np.array(values[:-1], dtype=np.float64)
