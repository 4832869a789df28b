"""CPU seconds of SSI-DDI and SAGAN: ours against the same training steps plainly, from the same weights.

Plainly each molecule is encoded for every pair it is in, edge by edge, and meets every type's matrix there. Both
take the same batches of 128 in one process, on one thread, and must end with the same logits.

Usage: python -m benchmarks.molecule_networks [--mirror DIR] [--steps N] [METHOD ...]
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
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.parts import TRAIN, VALID_S1
from harness.data import load_dataset
from harness.engine import Engine, find_engine
from harness.images import ensure_environment

BATCH, EPOCH = 128, 905


def measure(
    engine: Engine,
    layout: Layout,
    method: str,
    smiles: Sequence[str],
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    types: int,
) -> dict[str, float]:
    """CPU seconds of both, and how far apart their logits are; `source` holds triplets, `target` as many pairs."""
    code, path = code_of(layout, "sagan")
    return measured(
        engine,
        ensure_environment(engine, layout, method).image_id,
        ("/opt/venv/bin/python3", "/benchmarks/molecule_networks_plain.py"),
        {"smiles": np.array(smiles), "source": source, "target": target},
        mounts={**code, HERE: "/benchmarks"},
        environment={"PYTHONPATH": path, "METHOD": method, "TYPES": str(types), "OMP_NUM_THREADS": "1"},
    )


def drawn(dataset: DdiDataset, which: str, items: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """So many training triplets of a released split, and as many of its S1 pairs to choose by."""
    parts = dataset.released[dataset.drugs :, 2 * dataset.released_names.index(which)]
    generator = np.random.default_rng(17263407)
    source, target = (generator.choice(np.flatnonzero(parts == part), items) for part in (TRAIN, VALID_S1))
    return np.column_stack([dataset.pairs[source], dataset.labels[source]]), dataset.pairs[target]


def main() -> None:
    """Measure the methods that are asked for on DrugBank's released cluster split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, action="append", default=[])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("methods", nargs="*", default=["ssi_ddi", "sagan"], metavar="METHOD")
    chosen = parser.parse_args()
    layout = find_layout(Path(__file__).resolve().parent)
    dataset = load_dataset(layout, "drugbank", DdiDataset, mirrors=chosen.mirror)
    source, target = drawn(dataset, "cluster", chosen.steps * BATCH)
    with find_engine(layout) as engine:
        for method in chosen.methods:
            found = measure(engine, layout, method, dataset.smiles, source, target, dataset.types)
            ours, plain = (found[name] / chosen.steps * EPOCH for name in ("ours", "plain"))
            sys.stdout.write(
                f"{method:8} an epoch: ours {ours:4.0f}  plain {plain:4.0f} ({plain / ours:.1f} times)"
                f"  apart {found['apart']:.1e}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
