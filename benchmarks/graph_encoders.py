"""CPU seconds of MRCGNN and TIGER: ours against the same training steps plainly, from the same weights.

Plainly every view of MRCGNN's graph is encoded type by type, and TIGER's drugs are encoded for every pair they are
in, path by path (what only makes the weights that the original does not use is left out there too). Both take the
same batches of 128 in one process, on one thread, and must end with the same logits.

Usage: python -m benchmarks.graph_encoders [--mirror DIR] [--steps N] [METHOD[:VARIANT] ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.in_image import HERE, code_of, measured
from harness.base.layout import Layout, find_layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.parts import TRAIN
from harness.data import load_dataset
from harness.engine import Engine, find_engine
from harness.images import ensure_environment

BATCH = 128
DEFAULT = ("mrcgnn", "tiger", "tiger:corrected")


def measure(
    engine: Engine,
    layout: Layout,
    method: str,
    dataset: DdiDataset,
    graph: npt.NDArray[Any],
    steps: npt.NDArray[Any],
    *,
    variant: str = "published",
) -> dict[str, Any]:
    """CPU seconds of both, how far apart their logits and first gradients are, and what no gradient reaches.

    `graph` holds triplets, `steps` those of every batch (steps x batch x 3).
    """
    sizes = np.array([dataset.drugs, dataset.types, dataset.entities, dataset.relations])
    arrays = {
        "fingerprints": dataset.fingerprints,
        "knowledge": dataset.knowledge,
        "smiles": np.array(dataset.smiles),
    }
    code, path = code_of(layout, method)
    return measured(
        engine,
        ensure_environment(engine, layout, method).image_id,
        ("/opt/venv/bin/python3", "/benchmarks/graph_encoders_plain.py"),
        {**arrays, "sizes": sizes, "graph": graph, "steps": steps},
        mounts={**code, HERE: "/benchmarks"},
        environment={"PYTHONPATH": path, "METHOD": method, "VARIANT": variant, "OMP_NUM_THREADS": "1"},
    )


def main() -> None:
    """Measure the methods that are asked for on DrugBank's released cluster split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, action="append", default=[])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("methods", nargs="*", default=list(DEFAULT), metavar="METHOD")
    chosen = parser.parse_args()
    layout = find_layout(Path(__file__).resolve().parent)
    dataset = load_dataset(layout, "drugbank", DdiDataset, mirrors=chosen.mirror)
    parts = dataset.released[dataset.drugs :, 2 * dataset.released_names.index("cluster")]
    graph = np.column_stack([dataset.pairs, dataset.labels])[parts == TRAIN].astype(np.int64)
    steps = np.random.default_rng(17263407).choice(graph, (chosen.steps, BATCH))
    with find_engine(layout) as engine:
        for asked in chosen.methods:
            method, _, variant = asked.partition(":")
            found = measure(engine, layout, method, dataset, graph, steps, variant=variant or "published")
            ours, plain = (found[name] / chosen.steps * (len(graph) // BATCH) for name in ("ours", "plain"))
            sys.stdout.write(
                f"{asked:16} an epoch: ours {ours:5.0f}  plain {plain:5.0f} ({plain / ours:.1f} times)"
                f"  {found['bytes'] / 1e9:.2f} GB  apart {found['apart']:.1e}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
