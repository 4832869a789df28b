"""CPU seconds of NeoDTI's steps: ours against the same steps with dense matrices, on drawn networks of two sizes.

`paper` has as many nodes and edges as the published networks, `beta` a third of those of the dataset
beta_network. Both take the same steps from the same weights in one process, on one thread.

Usage: python -m benchmarks.neodti [--steps N] [--width D] [--projection K] [SIZE ...]
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
from harness.engine import Engine, find_engine
from harness.images import ensure_environment

Array = npt.NDArray[Any]
# nodes of each kind, and edges of each network; similarities are of all pairs
SIZES: Mapping[str, tuple[Mapping[str, int], Mapping[str, int | None]]] = {
    "paper": (
        {"drug": 708, "target": 1512, "disease": 5603, "effect": 4192},
        {
            "drug-drug": 10_036,
            "drug-similarity": None,
            "drug-disease": 199_214,
            "drug-effect": 80_164,
            "target-target": 7_363,
            "target-similarity": None,
            "target-disease": 1_596_745,
            "drug-target": 1_923,
        },
    ),
    "beta": (
        {"drug": 2266, "target": 1087, "disease": 1100, "effect": 562},
        {
            "drug-drug": 9_208,
            "drug-disease": 2_044,
            "drug-effect": 22_776,
            "target-target": 79,
            "target-disease": 3_280,
            "drug-target": 4_080,
        },
    ),
}
NEGATIVES = 10


def drawn(
    sizes: Mapping[str, int], edges: Mapping[str, int | None], draw: np.random.Generator
) -> dict[str, Array]:
    """Networks of these sizes, and the pairs of training as `mask`."""
    arrays: dict[str, Array] = {}
    for name, count in edges.items():
        one, _, other = name.partition("-")
        shape = sizes[one], sizes[one if other == "similarity" else other]
        cells = shape[0] * shape[1]
        values = draw.random(cells) if count is None else np.zeros(cells)
        if count is not None:
            values[draw.choice(cells, count, replace=False)] = 1.0
        matrix = values.reshape(shape)
        if shape[0] == shape[1]:
            matrix = np.maximum(matrix, matrix.T) * (1 - np.eye(len(matrix)))
        arrays[name] = matrix
    bindings = arrays["drug-target"]
    free = draw.permutation(np.flatnonzero(bindings == 0))[: NEGATIVES * int(bindings.sum())]
    mask = bindings.copy()
    mask.flat[free] = 1.0
    return {**arrays, "mask": mask}


def measure(
    engine: Engine, layout: Layout, arrays: Mapping[str, Array], *, steps: int, width: int, projection: int
) -> dict[str, Any]:
    """CPU seconds of both, and how far apart scores, losses and first gradients are."""
    code, path = code_of(layout, "neodti")
    sizes = {"STEPS": str(steps), "WIDTH": str(width), "PROJECTION": str(projection)}
    return measured(
        engine,
        ensure_environment(engine, layout, "neodti").image_id,
        ("/opt/venv/bin/python3", "/benchmarks/neodti_plain.py"),
        arrays,
        mounts={**code, HERE: "/benchmarks"},
        environment={"PYTHONPATH": path, "OMP_NUM_THREADS": "1", **sizes},
    )


def main() -> None:
    """Measure the sizes that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("steps", 2), ("width", 256), ("projection", 256)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("sizes", nargs="*", default=list(SIZES), metavar="SIZE")
    chosen = parser.parse_args()
    layout = find_layout(Path(__file__).resolve().parent)
    sizes = {"steps": chosen.steps, "width": chosen.width, "projection": chosen.projection}
    with find_engine(layout) as engine:
        for size in chosen.sizes:
            arrays = drawn(*SIZES[size], np.random.default_rng(17263407))
            seconds = measure(engine, layout, arrays, **sizes)
            ours, plain = (seconds[name] / chosen.steps for name in ("ours", "plain"))
            apart = "  ".join(f"{name} {error:.1e}" for name, error in seconds["apart"].items())
            sys.stdout.write(
                f"{size:6} a step: ours {ours:.2f}  plain {plain:.2f} ({plain / ours:.1f} times)  apart: {apart}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
