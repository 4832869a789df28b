"""CPU seconds of MLP, MSTE and Decagon: ours against the same training steps plainly, from the same weights.

Plainly every fingerprint is multiplied in full, every sine taken anew, and the whole graph convolved for each
batch. Both take the same batches of 128 in one process, on one thread, and must end with the same logits.

Usage: python -m benchmarks.pair_networks [--mirror DIR] [--steps N] [METHOD ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.in_image import HERE, code_of, measured
from harness.base.layout import Layout, find_layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.parts import TRAIN, VALID_S0, VALID_S1, VALID_S2
from harness.data import load_dataset
from harness.engine import Engine, find_engine
from harness.images import ensure_environment

BATCH = 128


def measure(
    engine: Engine,
    layout: Layout,
    method: str,
    given: Mapping[str, npt.NDArray[Any]],
    *,
    types: int,
    steps: int,
    hidden: int = 200,
) -> dict[str, float]:
    """CPU seconds per step, of all pairs that are `asked`, of one such pair plainly, and how far logits are apart.

    Given are training `pairs` and their `labels`, pairs that are only `asked`, `fingerprints` and `knowledge`.
    """
    code, path = code_of(layout, method)
    return measured(
        engine,
        ensure_environment(engine, layout, method).image_id,
        ("/opt/venv/bin/python3", "/benchmarks/pair_networks_plain.py"),
        given,
        mounts={**code, HERE: "/benchmarks"},
        environment={
            "PYTHONPATH": path,
            "METHOD": method,
            "TYPES": str(types),
            "STEPS": str(steps),
            "HIDDEN": str(hidden),
            "BATCH": str(BATCH),
            "OMP_NUM_THREADS": "1",
        },
    )


def main() -> None:
    """Measure the methods that are asked for on DrugBank's released cluster split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, action="append", default=[])
    parser.add_argument("--steps", type=int, help="other than 100, and Decagon's 30")
    parser.add_argument("methods", nargs="*", default=["mlp", "mste", "decagon"], metavar="METHOD")
    chosen = parser.parse_args()
    layout = find_layout(Path(__file__).resolve().parent)
    dataset = load_dataset(layout, "drugbank", DdiDataset, mirrors=chosen.mirror)
    parts = dataset.released[dataset.drugs :, 2 * dataset.released_names.index("cluster")]
    valid = dataset.pairs[np.isin(parts, (VALID_S0, VALID_S1, VALID_S2))]
    given = {
        "pairs": dataset.pairs[parts == TRAIN],
        "labels": dataset.labels[parts == TRAIN],
        "asked": valid,
        "fingerprints": dataset.fingerprints,
        "knowledge": dataset.knowledge,
    }
    epoch = len(np.unique(given["pairs"], axis=0)) // BATCH
    with find_engine(layout) as engine:
        for method in chosen.methods:
            steps = chosen.steps or (30 if method == "decagon" else 100)
            found = measure(engine, layout, method, given, types=dataset.types, steps=steps)
            ours, plain = (found[name] * epoch for name in ("ours", "plain"))
            asking, plainly = found["asking"], found["asking_plainly"] * len(valid)
            sys.stdout.write(
                f"{method:8} an epoch: ours {ours:6.1f}  plain {plain:6.1f} ({plain / ours:.1f} times)"
                f"  valid pairs: ours {asking:4.1f}  plain {plainly:5.1f}  apart {found['apart']:.1e}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
