"""CPU seconds and memory of DeepPurpose: ours against the package's own trainer, on the same pairs of Davis.

Both make what their encoders read, train one epoch in batches of 256, and score the pairs they trained on.

Usage: python -m benchmarks.deeppurpose [--mirror DIR] [--steps N] [VARIANT ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.in_image import HERE, code_of, measured
from harness.base.layout import find_layout
from harness.benchmarks.dti.dataset import DtiDataset
from harness.data import load_dataset
from harness.engine import find_engine
from harness.images import ensure_environment
from harness.methods.card import load_method

BATCH = 256


def main() -> None:
    """Measure the variants that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, action="append", default=[])
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("variants", nargs="*", default=["published", "morgan_aac"], metavar="VARIANT")
    chosen = parser.parse_args()
    layout = find_layout(Path(__file__).resolve().parent)
    dataset = load_dataset(layout, "davis", DtiDataset, mirrors=chosen.mirror)
    rows = np.random.default_rng(17263407).choice(len(dataset.pairs), chosen.steps * BATCH, replace=False)
    arrays: dict[str, Any] = {
        "smiles": np.array(dataset.smiles),
        "sequences": np.array(dataset.sequences),
        "pairs": dataset.pairs[rows],
        "values": dataset.values[rows],
    }
    code, path = code_of(layout, "deeppurpose")
    with find_engine(layout) as engine:
        image = ensure_environment(engine, layout, "deeppurpose").image_id
        for variant in chosen.variants:
            parameters = load_method(layout, "deeppurpose").variant(variant).parameters
            encodings = [str(parameters[f"{side}_encoding"]) for side in ("drug", "target")]
            both = {
                whose: measured(
                    engine,
                    image,
                    ("/opt/venv/bin/python3", "/benchmarks/deeppurpose_plain.py", whose, *encodings),
                    arrays,
                    mounts={**code, HERE: "/benchmarks"},
                    environment={"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
                )
                for whose in ("ours", "package")
            }
            lines = [
                f"{part} {both['ours'][part]:.1f} s, package {both['package'][part]:.1f} s"
                f" ({both['package'][part] / both['ours'][part]:.1f} times)"
                for part in ("reading", "training", "scoring")
            ]
            peaks = " and ".join(f"{both[whose]['peak'] / 1e9:.1f}" for whose in ("ours", "package"))
            sys.stdout.write(f"{'/'.join(encodings)}: {'; '.join(lines)}; peak {peaks} GB\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
