"""CPU seconds of NIMCGCN and HAN: ours against the same steps on the layers of PyTorch Geometric and DGL.

Those are the libraries of the originals; HAN's attention is timed written down edge by edge as well. All draw the
same random numbers, so that their answers must agree too (those of HAN drift apart after some 50 steps), and make
their graphs once. Everything of one case runs in one process, on one thread.

Usage: python -m benchmarks.graph_networks [--golden DIR] [--steps N] [METHOD:DATASET ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.in_image import HERE, measured, shared_folder
from harness.base.layout import Layout, find_layout
from harness.engine import Engine, find_engine
from harness.images import ensure_environment

SEED = 17263407
ENVIRONMENT = "graph_libraries"
STEPS = {"nimcgcn": 10, "han": 99}
DEFAULT = ("nimcgcn:HDVD", "nimcgcn:Fdataset", "han:HDVD", "han:Fdataset")
# a golden case of each dataset that holds labels and training pairs
CASES = {
    "HDVD": "HAN_HDVD",
    "Fdataset": "FastaiCollabWrapper_Fdataset",
    "Synthetic": "HAN_ep20_Synthetic",
}


def inputs_of(golden: Path, dataset: str) -> dict[str, npt.NDArray[Any]]:
    """Similarities of drugs and of diseases, labels, and which pairs are training."""
    features = np.load(golden / f"_features_{dataset}.npz")
    case = np.load(golden / f"{CASES[dataset]}_{SEED}.npz")
    return {"S": features["X_s"], "P": features["X_p"], "A": case["A_train"], "training": case["train_mask"]}


def measure(
    engine: Engine, layout: Layout, method: str, inputs: Mapping[str, npt.NDArray[Any]], steps: int
) -> dict[str, float]:
    """CPU seconds of all, and the largest difference of their answers relative to the largest score."""
    image = ensure_environment(engine, layout, ENVIRONMENT)
    return measured(
        engine,
        image.image_id,
        ("/opt/venv/bin/python3", "/benchmarks/graph_networks_plain.py"),
        inputs,
        mounts={layout.methods: "/methods", HERE: "/benchmarks"},
        environment={"METHOD": method, "STEPS": str(steps)},
    )


def main() -> None:
    """Measure the cases that are asked for."""
    layout = find_layout(Path(__file__).resolve().parent)
    shared = shared_folder(layout)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, default=shared / "golden" / "repurposing")
    parser.add_argument("--steps", type=int, help="other than NIMCGCN's 10 and HAN's 99")
    parser.add_argument("cases", nargs="*", default=list(DEFAULT), metavar="METHOD:DATASET")
    chosen = parser.parse_args()
    with find_engine(layout) as engine:
        for case in chosen.cases:
            method, dataset = case.split(":")
            steps = chosen.steps or STEPS[method]
            found = measure(engine, layout, method, inputs_of(chosen.golden, dataset), steps)
            others = "  ".join(
                f"{name} {found[name]:6.2f} ({found[name] / found['ours']:.1f} times)"
                for name in ("library", "plain")
                if name in found
            )
            sys.stdout.write(
                f"{case:17} {steps:4d} steps  ours {found['ours']:6.2f}  {others}  apart {found['apart']:.1e}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
