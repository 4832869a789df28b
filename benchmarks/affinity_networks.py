"""CPU seconds of GraphDTA's four networks and of DeepDTA: ours against the same training steps plainly.

Plainly each molecule and sequence is encoded for every pair it is in, and sequences are convolved letter by
letter. Both take the same batches in one process, on one thread, from the same weights, and must end with the same
answers; but GIN's normalisation makes rounding so large that in single precision either is some per cent from the
exact gradients (the tests compare both in double precision).

Usage: python -m benchmarks.affinity_networks [--mirror DIR] [--steps N] [NETWORK ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.in_image import HERE, code_of, measured
from harness.base.layout import Layout, find_layout
from harness.benchmarks.dti.dataset import DtiDataset
from harness.data import load_dataset
from harness.engine import Engine, find_engine
from harness.images import ensure_environment

# as large as the batches of each method
BATCHES = {"gcn": 512, "gat": 512, "gat_gcn": 512, "gin": 512, "deepdta": 256}
# the share of the training pairs that is not held back
LEARNED = 0.8


def measure(
    engine: Engine,
    layout: Layout,
    network: str,
    smiles: Sequence[str],
    sequences: Sequence[str],
    pairs: npt.NDArray[Any],
    values: npt.NDArray[Any],
    batch: int,
    *,
    double: bool = False,
) -> dict[str, Any]:
    """CPU seconds of both, and how far apart they are in the first gradients and in the last answers.

    `double` precision tells rounding from another mathematics.
    """
    method = "deepdta" if network == "deepdta" else "graphdta"
    code, path = code_of(layout, method)
    return measured(
        engine,
        ensure_environment(engine, layout, method).image_id,
        ("/opt/venv/bin/python3", "/benchmarks/affinity_networks_plain.py"),
        {"smiles": np.array(smiles), "sequences": np.array(sequences), "pairs": pairs, "values": values},
        mounts={**code, HERE: "/benchmarks"},
        environment={
            "PYTHONPATH": path,
            "NETWORK": network,
            "BATCH": str(batch),
            "OMP_NUM_THREADS": "1",
            **({"DOUBLE": "1"} if double else {}),
        },
    )


def main() -> None:
    """Measure the networks that are asked for on the training pairs of Davis."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, action="append", default=[])
    parser.add_argument("--dataset", default="davis")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("networks", nargs="*", default=list(BATCHES), metavar="NETWORK")
    chosen = parser.parse_args()
    layout = find_layout(Path(__file__).resolve().parent)
    dataset = load_dataset(layout, chosen.dataset, DtiDataset, mirrors=chosen.mirror)
    train = np.flatnonzero(dataset.released >= 0)
    with find_engine(layout) as engine:
        for network in chosen.networks:
            size = BATCHES[network]
            rows = np.random.default_rng(17263407).permutation(train)[: chosen.steps * size]
            texts, epoch = (dataset.smiles, dataset.sequences), LEARNED * len(train) / len(rows)
            found = measure(engine, layout, network, *texts, dataset.pairs[rows], dataset.values[rows], size)
            ours, plain = (found[name] * epoch for name in ("ours", "plain"))
            sys.stdout.write(
                f"{network:8} an epoch: ours {ours:6.1f}  plain {plain:6.1f} ({plain / ours:.1f} times)  apart: "
                f"gradients {found['gradients']:.1e} ({found['worst']}), "
                f"answers {found['training']:.1e} training, {found['evaluating']:.1e} evaluating\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
