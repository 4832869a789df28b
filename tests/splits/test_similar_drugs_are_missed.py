"""Similar pairs are found block by block and by their norms: none may be missed, none invented."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.benchmarks.ddi.splits.drugs import clusters, similarity
from harness.benchmarks.ddi.splits.drugs.clusters import _numbered, clusters_of
from harness.benchmarks.ddi.splits.drugs.similarity import largest_similarity, pairs_between, similar_pairs
from tests.splits.made_up_drugs import made_up_drugs

Counts = npt.NDArray[np.int32]


def _one_by_one(u: Counts, v: Counts) -> float:
    """Equation (1), of one pair, in whole numbers."""
    u, v = u.astype(np.int64), v.astype(np.int64)
    dot, ours, theirs = int(u @ v), int(u @ u), int(v @ v)
    return dot / (ours + theirs - dot) if ours + theirs - dot else 0.0


def _clusters(near: npt.NDArray[np.bool_]) -> list[int]:
    """The first drug that can be reached from every drug."""
    found = list(range(len(near)))
    for drug in range(len(near)):
        if found[drug] != drug:
            continue
        waiting = [drug]
        while waiting:
            here = waiting.pop()
            found[here] = drug
            waiting += [other for other in np.flatnonzero(near[here]).tolist() if found[other] != drug]
    return found


fingerprints = st.builds(
    lambda drugs, seed, scale, sizes: np.concatenate(
        [made_up_drugs(drugs, seed).fingerprints * scale * size for size in sizes]
    ).astype(np.int32),
    st.integers(2, 20),
    st.integers(0, 2**31),
    # beyond 2^24, float32 no longer holds the dot products
    st.sampled_from([1, 3, 4000]),
    # drugs of twice the counts are as similar as their norms let them be
    st.sampled_from([[1], [1, 2], [3, 2]]),
)


@settings(max_examples=60, deadline=None)
@given(
    counts=fingerprints,
    gamma=st.sampled_from([0.0, 0.2, 0.3, 0.5, 0.55, 0.6, 0.75, 0.95, 0.999]),
    block=st.sampled_from([1, 3, 7, 2048]),
    edges=st.sampled_from([1, 5, 1 << 20]),
)
def test_pairs_and_clusters_equal_those_found_one_by_one(
    counts: Counts, gamma: float, block: int, edges: int
) -> None:
    """However large the blocks are, and after however many edges clusters are merged."""
    drugs = len(counts)
    near = np.array([[_one_by_one(u, v) for v in counts] for u in counts])
    np.fill_diagonal(near, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "BLOCK", block)
        patch.setattr(clusters, "_EDGES_AT_ONCE", edges)
        pieces = [*similar_pairs(counts, gamma)]
        groups = clusters_of(counts, gamma)
        ours, theirs = np.arange(0, drugs, 2), np.arange(1, drugs, 2)
        between = pairs_between(counts, ours, theirs, gamma)
        largest = largest_similarity(counts, ours, theirs)
    found = sorted((int(u), int(v)) for piece in pieces for u, v in zip(piece.first, piece.second, strict=True))
    assert found == [(u, v) for u in range(drugs) for v in range(u + 1, drugs) if near[u, v] > gamma]
    told = sorted(zip(between.first.tolist(), between.second.tolist(), between.similarity.tolist(), strict=True))
    assert told == [(u, v, near[u, v]) for u in ours.tolist() for v in theirs.tolist() if near[u, v] > gamma]
    assert largest == near[np.ix_(ours, theirs)].max(initial=0)
    assert [int(np.flatnonzero(groups == group)[0]) for group in groups] == _clusters(near > gamma)


def test_the_edges_of_drugs_that_are_all_alike_are_not_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand have two million edges: with half of them merged, none of the others tells anything new."""
    monkeypatch.setattr(similarity, "BLOCK", 64)
    counts = np.ones((2000, 4), dtype=np.int32)
    tracemalloc.start()
    try:
        groups = clusters_of(counts, 0.5)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not groups.any()
    # 69 MB, and 130 MB where all of them are held
    assert most < 90e6


def test_a_pair_at_gamma_is_not_above_it() -> None:
    counts = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=np.int32)
    assert clusters_of(counts, 0.5).tolist() == [0, 1, 2]
    # and one that is above it by less than float32 can tell is
    for gamma in (0.49, 0.5 - 1e-9):
        assert clusters_of(counts, gamma).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("dataset", "gamma", "groups", "largest", "singletons"),
    [
        ("drugbank", 0.3, 39, 1655, 32),
        ("drugbank", 0.55, 305, 1286, 249),
        ("drugbank", 0.7, 837, 363, 685),
        ("drugbank", 0.9, 1576, 6, 1480),
        ("twosides", 0.3, 15, 629, 12),
        ("twosides", 0.55, 169, 368, 132),
        ("twosides", 0.7, 392, 57, 309),
        ("twosides", 0.9, 608, 5, 578),
    ],
)
def test_clusters_of_the_published_fingerprints(
    shared: Path, dataset: str, gamma: float, groups: int, largest: int, singletons: int
) -> None:
    import gzip

    file = {"drugbank": "morgan_count_r2_1024_drugbank", "twosides": "morgan_count_r2_2048_twosides"}[dataset]
    with gzip.open(shared / "derived" / "ddi" / "features" / f"{file}.npy.gz") as stream:
        counts = np.load(stream).astype(np.int32)
    sizes = np.bincount(clusters_of(counts, gamma))
    assert (len(sizes), sizes.max(), (sizes == 1).sum()) == (groups, largest, singletons)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
@example([5, 7, 3, 5])
def test_clusters_are_numbered_as_they_first_occur(found: list[int]) -> None:
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(found))}
    assert _numbered(np.array(found)).tolist() == [places[cluster] for cluster in found]
