"""Java's random numbers and hash tables must be emulated to the bit: one other draw changes all that follows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.dti.splits import java
from tests.dti import java_twin as twin

SEEDS = st.integers(-(2**63), 2**63 - 1)


@given(
    seed=SEEDS,
    bounds=st.lists(st.integers(1, 2**31 - 1) | st.sampled_from([2**30, 2**30 + 1, 16, 1]), max_size=60),
)
def test_numbers_are_those_of_java(seed: int, bounds: list[int]) -> None:
    random, plain = java.JavaRandom(seed), twin.Random(seed)
    assert random.below_each(np.array(bounds, dtype=np.int64)).tolist() == [plain.below(bound) for bound in bounds]
    assert random.below(1000) == plain.below(1000)


def test_numbers_go_on_where_many_are_drawn_and_refused() -> None:
    # of the first every second draw is refused, and more are drawn than are computed at once; of the second, a
    # third of 2^31 + 1, every third, just at the bound of what is refused
    for bound in (2**30 + 1, (2**31 + 1) // 3):
        plain = twin.Random(7)
        drawn = java.JavaRandom(7).below_each(np.full(10_000, bound))
        assert drawn.tolist() == [plain.below(bound) for _ in drawn]


@settings(max_examples=50)
@given(seed=SEEDS, size=st.integers(0, 900), count=st.integers(0, 900))
def test_the_first_of_a_shuffled_list_are_followed(seed: int, size: int, count: int) -> None:
    whole = twin.shuffled(range(size), twin.Random(seed))
    assert java.shuffled(np.arange(size), java.JavaRandom(seed)).tolist() == whole
    random, plain = java.JavaRandom(seed), twin.Random(seed)
    assert java.first_of_shuffled(size, count, random).tolist() == whole[:count]
    twin.shuffled(range(size), plain)
    assert random.below(997) == plain.below(997)


@given(st.lists(st.text(max_size=12), max_size=200))
def test_sets_are_iterated_as_javas(texts: list[str]) -> None:
    distinct = list(dict.fromkeys(texts))
    items = np.array([distinct.index(text) for text in texts], dtype=np.int64)
    hashes = java.hash_codes(texts)
    assert hashes.tolist() == [twin.hash_code(text) for text in texts]
    order = list(twin.Table(str, texts))
    assert [distinct[item] for item in java.iterated(items, hashes)] == order
    places = np.arange(len(order))[::-2]
    assert [distinct[at] for at in java.iterated_at(java.hash_codes(distinct), places)] == order[::-2]


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), min_size=1, max_size=9))
def test_hash_codes_of_joined_texts(pairs: list[tuple[str, str]]) -> None:
    left, right = (java.hash_codes([pair[side] for pair in pairs]) for side in (0, 1))
    lengths = np.array([len(pair[1].encode("utf-16-le")) // 2 for pair in pairs])
    assert java.joined(left, right, lengths).tolist() == [twin.hash_code(one + other) for one, other in pairs]


def test_the_tables_grow_as_javas() -> None:
    assert [java.table_of(size) for size in (0, 12, 13, 24, 25, 12288, 12289)] == [
        16,
        16,
        32,
        32,
        64,
        16384,
        32768,
    ]
