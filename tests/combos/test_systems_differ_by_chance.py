"""Two systems, or two buckets, must be compared as the paper did, and as one should: on the same documents."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.combos.metrics.bootstrap import multi_bootstrap, paired_bootstrap
from harness.benchmarks.combos.metrics.evaluation import Evaluator, ItemCredits, MatchRule
from harness.benchmarks.combos.metrics.rows import DocumentId, RelationRow
from harness.benchmarks.combos.metrics.scored_rows import (
    NEITHER,
    AskedDocument,
    RelationTruth,
    ScoredRows,
    paired_buckets,
    paired_systems,
    published_test,
)
from harness.benchmarks.combos.scoring import shares_of
from tests.combos import plain_evaluation as plain

EXACT, PARTIAL = MatchRule(exact=True, positive=True), MatchRule(exact=False, positive=False)
Pairs = list[tuple[float, bool]]
PAIRS = st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), max_size=9)
BUCKET = st.lists(PAIRS, min_size=1, max_size=4)


def _items(pairs: Pairs) -> ItemCredits:
    credits, counted = zip(*pairs, strict=True) if pairs else ((), ())
    return ItemCredits(np.arange(len(pairs)), np.array(counted, dtype=np.bool_), np.array(credits))


@settings(max_examples=60, deadline=None)
@given(sides=st.lists(st.tuples(BUCKET, BUCKET), min_size=1, max_size=2), seed=st.integers(0, 9))
def test_draws_are_the_published_ones(sides: list[tuple[list[Pairs], list[Pairs]]], seed: int) -> None:
    ours = multi_bootstrap([([*map(_items, one)], [*map(_items, other)]) for one, other in sides], 20, seed)
    theirs = plain.multi_bootstrap(sides, 20, seed)
    assert [[draws.first.tolist(), draws.second.tolist()] for draws in ours] == theirs
    for draws, (first, second) in zip(ours, theirs, strict=True):
        assert draws.better == sum(two > one for one, two in zip(first, second, strict=True))


def test_what_is_no_relation_is_drawn_unless_it_is_left_out() -> None:
    pairs = [(1.0, True), (0.0, True), *[(0.0, False)] * 20]
    side = [([_items(pairs)], [_items(pairs[:2])])]
    (drawn,), (left_out,) = (multi_bootstrap(side, 200, relations_only=only) for only in (False, True))
    # of two items of 22 often none is drawn, and that is a 0 as well
    assert drawn.first.mean() < 0.5 < left_out.first.mean() + 0.1
    assert (left_out.first.tolist(), left_out.second.tolist()) == tuple(
        plain.multi_bootstrap([([pairs[:2]], [pairs[:2]])], 200, 2021)[0]
    )


def _truth() -> RelationTruth:
    """Documents of three drugs, in whose half a combination of training is found."""
    asked: dict[DocumentId, AskedDocument] = {
        number: AskedDocument(3, [0, 1, NEITHER][number % 3]) for number in range(12)
    }
    rows = [RelationRow(number, (0, 1, 2)[: 2 + number % 2], 1 + number % 2) for number in range(10)]
    texts: dict[DocumentId, tuple[str, ...]] = {
        number: ("Aspirin", "b" if number < 5 else "other", "C") for number in range(12)
    }
    return RelationTruth(asked, rows, texts, {("aspirin", "b"), ("aspirin", "b", "c")})


def _runs(number: int, right: float, seed: int = 0) -> list[ScoredRows]:
    """Runs that are right in about this share of relations, and else predict another set."""
    generator = np.random.default_rng(seed)
    truth = _truth()
    runs = []
    for _ in range(number):
        rows = [
            row if generator.random() < right else row._replace(spans=(1, 2), label=2) for row in truth.relations
        ]
        runs.append(truth.beside([*rows, RelationRow(11, (2, 0), 1)]))
    return runs


def test_buckets_are_what_they_say() -> None:
    run = _truth().beside(
        [
            RelationRow(0, (1, 0), 2),  # as published this list is in no bucket
            RelationRow(0, (1, 0, 2), 2),
            RelationRow(1, (0, 1, 1), 2),
            RelationRow(5, (0, 1), 0),
            RelationRow(2, (0, 7), 2),
            RelationRow("elsewhere", (0, 1), 2),
            RelationRow(1, (2,), 2),
        ]
    )
    expected = {
        ("arity", False): [0, 1, 0, 0, 0, 0, 0],
        ("arity", True): [-1, -1, -1, 0, -1, -1, -1],
        ("seen", False): [1, 1, 0, 0, -1, -1, 0],
        ("seen", True): [-1, -1, -1, 0, -1, -1, -1],
        ("context", False): [0, 0, 1, -1, -1, -1, 1],
        ("context", True): [0, 0, 1, -1, -1, -1, 1],
    }
    for (name, published), buckets in expected.items():
        assert run.buckets(name, published=published)[1].tolist() == buckets, (name, published)


def test_lists_are_published_in_the_order_of_a_set() -> None:
    truth = RelationTruth({"a": AskedDocument(13, 0)}, [], {"a": "abcdefghijklm"}, set())
    lists = [(1, 8), (8, 1), (9, 10, 6, 7), (6, 7, 9, 10), (0, 8), (8, 9), (0, 1, 8, 9, 12)]
    run = truth.beside([RelationRow("a", spans, 2) for spans in lists])
    assert run.buckets("arity", published=True)[1].tolist() == [-1, 0, 1, -1, 0, 0, 1]
    # a document of more than 15 drugs has no list
    for drugs, bucket in ((15, 0), (16, -1)):
        large = truth._replace(asked={"a": AskedDocument(drugs, 0)}).beside([RelationRow("a", (0, 1), 2)])
        assert large.buckets("arity", published=True)[1].tolist() == [bucket]


def test_a_list_in_another_order_is_in_a_bucket_as_defined_alone() -> None:
    truth = _truth()
    backwards = [row._replace(spans=row.spans[::-1]) for row in truth.relations]
    run = truth.beside(backwards)
    # half of the relations have two drugs, and each is found
    assert [run.sums(PARTIAL, ("arity", half)).sum(axis=1).tolist() for half in (0, 1)] == [[5] * 4, [5] * 4]
    draws = published_test([run], "arity", PARTIAL)
    assert (draws["recall"].first.tolist(), draws["precision"].first.tolist()) == ([1] * 1000, [0] * 1000)


def test_kept_scores_hold_all_that_is_drawn_from() -> None:
    for run in _runs(3, 0.6):
        series = run.to_series()
        again = type(run).from_series(json.loads(json.dumps(series)))
        assert again == run
        assert again.to_series() == series
    runs = _runs(4, 0.6)
    kept = [ScoredRows.from_series(run.to_series()) for run in runs]
    for bucket in ("arity", "seen", "context"):
        assert paired_buckets(runs, bucket, PARTIAL) == paired_buckets(kept, bucket, PARTIAL)
    for bucket in ("arity", "seen"):
        ours, theirs = (published_test(own, bucket, PARTIAL) for own in (runs, kept))
        assert [*ours] == ["recall", "precision"]
        for measure, draws in ours.items():
            assert draws.first.tolist() == theirs[measure].first.tolist()
            assert draws.second.tolist() == theirs[measure].second.tolist()
    with pytest.raises(ValueError, match="not compared as published"):
        published_test(runs, "context", PARTIAL)


def test_the_published_test_reads_relations_as_recall() -> None:
    truth = _truth()
    # everything is found, half of what is said is wrong
    wrong = [RelationRow(number, (1, 2), 2) for number in range(10)]
    draws = published_test([truth.beside([*truth.relations, *wrong])], "arity", EXACT)
    assert draws["recall"].second.min() == 1.0
    assert draws["precision"].first.max() < 1.0


def test_the_published_test_draws_what_is_no_relation_unless_it_is_left_out() -> None:
    """Of ten combinations of two drugs one is positive, and it is found."""
    rows = [RelationRow(number, (0, 1), 1 + (number == 0)) for number in range(10)]
    run = _truth()._replace(relations=rows).beside(rows)
    for only, lowest in ((False, 0.0), (True, 1.0)):
        draws = published_test([run], "arity", EXACT, relations_only=only)
        assert (draws["recall"].first.min(), draws["precision"].first.min()) == (lowest, lowest)
    assert published_test([run], "arity", EXACT)["recall"].first.min() == 0.0


def _evaluated_again(runs: list[ScoredRows], documents: list[int], seeds: list[int]) -> list[float]:
    """Recall, precision and F1 of documents as drawn, each a document of its own; mean over drawn seeds."""
    values = []
    for seed in seeds:
        sides = [
            [
                row._replace(document=place)
                for place, document in enumerate(documents)
                for row in side.rows
                if row.document == document
            ]
            for side in (runs[seed].gold, runs[seed].predicted)
        ]
        shares = shares_of(Evaluator(*sides).as_defined(PARTIAL))
        values.append([shares[measure] for measure in ("recall", "precision", "F1")])
    return [float(mean) for mean in np.mean(np.array(values, dtype=np.float64), axis=0)]


def test_both_systems_are_evaluated_on_the_documents_and_seeds_of_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = _runs(3, 0.4, 1), _runs(3, 0.8, 2)
    documents, seeds = [0, 0, 3, 4, 4, 4, 7, 9, 9, 10, 11, 11], [2, 2, 0]

    class Drawn:
        """Draws the same documents and seeds in every round."""

        def multinomial(self, count: int, shares: object, rounds: int) -> object:
            own = documents if count == 12 else seeds
            return np.tile(np.bincount(own, minlength=count), (rounds, 1))

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Drawn())
    every = paired_systems(first, second, PARTIAL)
    ours, theirs = (_evaluated_again(runs, documents, seeds) for runs in (first, second))
    whole = [_evaluated_again(runs, [*range(12)], [0, 1, 2]) for runs in (first, second)]
    for place, measure in enumerate(("recall", "precision", "F1")):
        assert every[measure].difference == pytest.approx(whole[1][place] - whole[0][place], abs=1e-12)
        assert every[measure].low == pytest.approx(theirs[place] - ours[place], abs=1e-12)
        assert every[measure].high == every[measure].low


def test_a_seed_that_is_not_drawn_need_not_be_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second seed says something of the first document alone, and a round may draw neither."""
    runs = [np.ones((4, 3)), np.array([[1.0, 0.0, 0.0]] * 4)]

    class Drawn:
        """Draws the last two documents and the first seed in every round."""

        def multinomial(self, count: int, shares: object, rounds: int) -> object:
            return np.tile([0, 1, 2] if count == 3 else [2, 0], (rounds, 1))

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Drawn())
    assert [one.rounds for one in paired_bootstrap(runs, runs).values()] == [1000] * 3


def test_pairing_takes_out_what_is_common() -> None:
    # documents differ much, the systems by the same little in each
    generator = np.random.default_rng(3)
    hard = generator.random(200)
    one, other = (np.array([hard + more, np.ones(200), hard + more, np.ones(200)]) for more in (0.0, 0.01))
    (difference, low, high, p, rounds) = paired_bootstrap([one], [other])["recall"]
    assert difference == low == high == 0.01
    assert (p, rounds) == (2 / 1001, 1000)
    same = paired_bootstrap([one], [one])["F1"]
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_the_interval_is_as_wide_as_statistics_say() -> None:
    generator = np.random.default_rng(4)
    credits = generator.random((2, 400))
    one, other = (np.array([own, np.ones(400), own, np.ones(400)]) for own in credits)
    difference, low, high, _, _ = paired_bootstrap([one], [other], rounds=4000)["recall"]
    apart = credits[1] - credits[0]
    half = 1.96 * apart.std() / 20
    assert low == pytest.approx(difference - half, abs=0.004)
    assert high == pytest.approx(difference + half, abs=0.004)


def test_seeds_widen_the_interval() -> None:
    # every document alike, seeds apart: all that varies is which seeds are drawn
    first = [np.array([np.full(50, share), np.ones(50)] * 2) for share in (0.1, 0.5, 0.9)]
    second = [np.array([np.full(50, 0.5), np.ones(50)] * 2)] * 3
    difference, low, high, p, _ = paired_bootstrap(first, second)["recall"]
    assert difference == pytest.approx(0)
    assert low == pytest.approx(-0.4)
    assert high == pytest.approx(0.4)
    assert p > 0.5


def test_what_is_undefined_is_left_out() -> None:
    truth = _truth()
    nothing = [truth.beside([])] * 2
    assert {*paired_systems(nothing, _runs(2, 1.0), EXACT)} == {"recall"}
    # a bucket of one document is not in every round
    rare = truth.beside([RelationRow(0, (0, 1), 2), RelationRow(1, (0, 1, 2), 2)])
    assert 0 < paired_buckets([rare], "arity", PARTIAL)["precision"].rounds < 1000


def test_systems_are_paired_on_the_same_documents_and_seeds() -> None:
    runs = _runs(2, 0.5)
    with pytest.raises(ValueError, match="same documents"):
        paired_systems(runs, runs[:1], EXACT)
    other = _truth()
    fewer = other._replace(asked={number: own for number, own in other.asked.items() if number}, relations=[])
    # sums stand in the order in which documents were asked
    turned = other._replace(asked=dict([*other.asked.items()][::-1]))
    for odd in (fewer, turned):
        with pytest.raises(ValueError, match="same documents"):
            paired_systems(runs, [odd.beside([])] * 2, EXACT)
