"""CPU seconds of an epoch of EmerGNN for S1 on DrugBank's released cluster split: ours against its definition.

The definition sends messages along every edge of the graph for every pair. An epoch is estimated from some batches
of ours and some pairs of the definition's, whose gradients are compared.

Usage: python -m benchmarks.emergnn [--mirror DIR] [--batches N] [--pairs N]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.in_image import HERE, code_of, measured, shared_folder
from harness.base.layout import find_layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.parts import TRAIN
from harness.data.datasets import load_dataset
from harness.engine import find_engine
from harness.images import ensure_environment

# CPU seconds of the authors' code with a compiled kernel
ORIGINAL = 69462


def main() -> None:
    """Measure, and print one line."""
    layout = find_layout(Path(__file__).resolve().parent)
    shared = shared_folder(layout)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, default=shared / "mirror")
    parser.add_argument("--batches", type=int, default=20, help="of 32 pairs, of ours")
    parser.add_argument("--pairs", type=int, default=4, help="of the definition")
    chosen = parser.parse_args()
    dataset = load_dataset(layout, "drugbank", DdiDataset, mirrors=[chosen.mirror])
    column = 2 * dataset.released_names.index("cluster")
    part, place = dataset.released[dataset.drugs :, column : column + 2].T
    items = np.flatnonzero(part == TRAIN)
    items = items[np.argsort(place[items])]
    inputs = {
        "pairs": dataset.pairs[items],
        "labels": dataset.labels[items],
        "knowledge": dataset.knowledge,
        "fingerprints": dataset.fingerprints,
        "sizes": np.array([dataset.drugs, dataset.types, dataset.entities, dataset.relations]),
    }
    code, path = code_of(layout, "emergnn")
    with find_engine(layout) as engine:
        found = measured(
            engine,
            ensure_environment(engine, layout, "emergnn").image_id,
            ("/opt/venv/bin/python3", "/benchmarks/emergnn_plain.py"),
            inputs,
            mounts={**code, HERE: "/benchmarks"},
            environment={"PYTHONPATH": path, "BATCHES": str(chosen.batches), "PAIRS": str(chosen.pairs)},
        )
    sys.stdout.write(
        f"{found['examples']} examples  ours {found['ours']:.1f} s, {found['peak']:.0f} MB  "
        f"definition {found['plain']:.0f} s ({found['plain'] / found['ours']:.0f} times)  "
        f"authors' code {ORIGINAL} s ({ORIGINAL / found['ours']:.0f} times)  apart {found['apart']:.1e}\n"
    )


if __name__ == "__main__":
    main()
