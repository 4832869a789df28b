"""CPU seconds of LRSSL: ours against a plain transcription in R, in one run in LRSSL's own image, on one thread.

One fit on the training pairs of the first published random split: the graphs and the iteration, and the iteration
alone. It also says how far the two projections are apart.

Usage: python -m benchmarks.lrssl [--mirror DIR] [--variant NAME] [DATASET ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks.in_image import HERE, measured
from harness.base.layout import Layout, find_layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.input_arrays import similarity, standardised, training_labels
from harness.benchmarks.repurposing.splits.folds import FoldSplit
from harness.data import load_dataset
from harness.engine import Engine, find_engine
from harness.images import ensure_image
from harness.methods.card import load_method
from harness.splits import load_split
from harness.splits.spec import SplitSpec

SEED = 17263407
DEFAULT = ("synthetic", "fdataset")
ROUNDS = 3
CODE = """
source("/opt/sdk/repurposing.R"); source("/opt/method/lrssl.R"); source("/opt/method/graphs.R")
source("/benchmarks/lrssl_plain.R")
S <- read_npy("/in/S.npy"); P <- read_npy("/in/P.npy"); Y <- read_npy("/in/Y.npy") + 0
X <- view_similarity(S)
fit <- function(features, indications, graph, iterate) {
  begun <- proc.time()
  Ss <- list(features(t(S)), indications(Y, P))
  Ls <- lapply(if (%(neighbours)s) lapply(Ss, graph, 10) else Ss, laplacian)
  halfway <- proc.time()
  set.seed(1234)
  found <- iterate(list(X), Ls, Y, 1, 2, 0.01, 0.01, 2, 500, 0.01)
  ended <- proc.time()
  cpu <- function(from) sum((ended - from)[c("user.self", "sys.self")])
  list(whole = cpu(begun), iteration = cpu(halfway), t = found$t, G = found$Gs[[1]])
}
ours <- plain <- list(whole = Inf, iteration = Inf)
for (round in seq_len(%(rounds)d)) {
  one <- fit(feature_similarity, indication_similarity, get.knn.graph, lrssl)
  two <- fit(plain_feature_similarity, plain_indication_similarity, plain_knn_graph, plain_lrssl)
  for (what in names(ours)) {
    ours[[what]] <- min(ours[[what]], one[[what]])
    plain[[what]] <- min(plain[[what]], two[[what]])
  }
}
error <- max(abs(one$G - two$G)) / max(abs(two$G))
cat(toJSON(list(ours = ours, plain = plain, t = c(one$t, two$t), error = error), auto_unbox = TRUE, digits = NA))
"""


def measure(
    layout: Layout, engine: Engine, image_id: str, dataset: str, variant: str, mirrors: list[Path]
) -> dict[str, Any]:
    """One dataset, both in one process."""
    data = load_dataset(layout, dataset, RepurposingDataset, mirrors=mirrors)
    split = load_split(layout, dataset, SplitSpec(strategy="random", seed=SEED), mirrors)
    assert isinstance(split, FoldSplit)
    neighbours = load_method(layout, "lrssl").variant(variant).parameters["graph"] == "neighbours"
    arrays: dict[str, Any] = {
        "S": standardised(data.drug_features),
        "P": similarity(data.disease_features),
        "Y": training_labels(data.associations, split.folds),
    }
    code = CODE % {"neighbours": str(neighbours).upper(), "rounds": ROUNDS}
    return measured(
        engine,
        image_id,
        ("Rscript", "--vanilla", "-e", code),
        arrays,
        mounts={HERE: "/benchmarks"},
        environment={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )


def describe(dataset: str, variant: str, found: dict[str, Any]) -> str:
    """One line for people."""
    ours, plain = found["ours"], found["plain"]
    parts = (
        f"{what} {ours[what]:.2f} against {plain[what]:.2f} s ({plain[what] / ours[what]:.1f} times)"
        for what in ours
    )
    return f"{dataset:10} {variant:9} {found['t'][0]:3d} steps  {', '.join(parts)}  error {found['error']:.1e}"


def main() -> None:
    """Measure the datasets that are asked for."""
    layout = find_layout(Path(__file__).resolve().parent)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", action="append", default=[], type=Path)
    parser.add_argument("--variant", default="corrected", choices=["published", "corrected"])
    parser.add_argument("datasets", nargs="*", default=list(DEFAULT), metavar="DATASET")
    chosen = parser.parse_args()
    with find_engine(layout) as engine:
        image_id = ensure_image(engine, layout, "lrssl").image_id
        for dataset in chosen.datasets:
            found = measure(layout, engine, image_id, dataset, chosen.variant, chosen.mirror)
            sys.stdout.write(describe(dataset, chosen.variant, found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
