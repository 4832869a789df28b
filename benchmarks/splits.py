"""CPU seconds of the weakly correlated split: ours against a plain transcription of the search, in one run.

The plain one counts the pairs of the drugs in the first clusters pair by pair, for every number of first clusters
and in every round, and deals the inner folds with scikit-learn. Equal folds are asked. Ours is timed with nothing
remembered; for another seed the search is not done again. The original takes 0.53 CPU seconds on Fdataset and 0.82
on Cdataset for the search alone.

Usage: python -m benchmarks.splits [--mirror DIR] [DATASET ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from sklearn.model_selection import StratifiedKFold

from benchmarks.metrics import seconds
from harness.base.layout import find_layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, Folds
from harness.benchmarks.repurposing.splits.strategies import weakly_correlated
from harness.data import load_dataset

ORIGINAL_SECONDS = {"fdataset": 0.53, "cdataset": 0.82}
SEED = 17263407


def plain_test_drugs(dataset: RepurposingDataset) -> npt.NDArray[np.bool_]:
    """The published search, counting pair by pair."""
    drugs, diseases = dataset.associations.shape
    rows = np.repeat(np.arange(drugs), diseases)
    wanted = int(0.8 * drugs * diseases)
    tree = linkage(pdist(np.nan_to_num(dataset.drug_features)), "average")
    low, high = 2, drugs
    clusters, chosen = np.ones(drugs, dtype=int), -1
    while low < high:
        middle = (low + high) // 2
        clusters = fcluster(tree, middle, criterion="maxclust")
        counts = [int((clusters[rows] <= last).sum()) for last in range(1, clusters.max() + 1)]
        selected = max((count for count in counts if count <= wanted), default=-1)
        chosen = counts.index(selected) + 1 if selected in counts else -1
        if selected == wanted:
            break
        low, high = (middle + 1, high) if selected < wanted else (low, middle)
    return np.asarray(clusters > chosen + 1)


def plain_split(dataset: RepurposingDataset) -> Folds:
    """Test drugs and inner folds."""
    folds = np.full(dataset.associations.shape, TEST, dtype=np.int8)
    folds[~plain_test_drugs(dataset)] = 0
    training = np.flatnonzero(folds.reshape(-1) == 0)
    classes = dataset.associations.reshape(-1)[training]
    dealer = StratifiedKFold(5, shuffle=True, random_state=SEED)
    for number, (_, held_out) in enumerate(dealer.split(training, classes)):
        folds.reshape(-1)[training[held_out]] = number
    return folds


def our_split(dataset: RepurposingDataset) -> Folds:
    """With nothing remembered."""
    weakly_correlated._test_drugs.cache_clear()
    return weakly_correlated.make(dataset, SEED, weakly_correlated.Parameters()).folds


def measure(dataset: RepurposingDataset) -> str:
    """One line."""
    np.testing.assert_array_equal(our_split(dataset), plain_split(dataset))
    ours, plain = seconds(lambda: our_split(dataset), 15), seconds(lambda: plain_split(dataset), 2)
    again = seconds(lambda: weakly_correlated.make(dataset, SEED, weakly_correlated.Parameters()), 15)
    line = f"{dataset.name:10} {1000 * ours:6.1f} ms  plain {1000 * plain:7.1f} ms ({plain / ours:.0f} times)"
    if original := ORIGINAL_SECONDS.get(dataset.name):
        line += f"  original's search {original} s ({original / ours:.0f} times)"
    return f"{line}  another seed {1000 * again:.1f} ms"


def main() -> None:
    """Measure the datasets that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", action="append", default=[], type=Path)
    parser.add_argument("datasets", nargs="*", default=list(ORIGINAL_SECONDS), metavar="DATASET")
    chosen = parser.parse_args()
    layout = find_layout(Path(__file__).resolve().parent)
    for name in chosen.datasets:
        sys.stdout.write(measure(load_dataset(layout, name, RepurposingDataset, mirrors=chosen.mirror)) + "\n")


if __name__ == "__main__":
    main()
