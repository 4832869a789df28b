"""CPU seconds of reading a corpus of drug combinations: candidates with their marked texts, and their word pieces.

All sets of each document's drugs in windows of 400 words, as published models are asked; against the same texts
made one by one by the definition, and a fiftieth of the same rows made word by word with transformers' tokeniser.
One thread, in the image of `pure_minilm`, whose vocabulary is used.

Usage: python -m benchmarks.combination_texts [--mirror DIR]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.in_image import HERE, code_of, measured
from harness.base.layout import find_layout
from harness.benchmarks.combos.dataset import CombosDataset
from harness.data import load_dataset
from harness.engine import find_engine
from harness.images import ensure_environment


def main() -> None:
    """The released corpus where a mirror or the cache has it, or the embedded one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", action="append", default=[], type=Path)
    parser.add_argument("--dataset", default="combos", choices=["combos", "combos_corpus"])
    chosen = parser.parse_args()
    layout = find_layout(HERE)
    dataset = load_dataset(layout, chosen.dataset, CombosDataset, mirrors=chosen.mirror)
    documents = [
        [one.sentence, one.paragraph, [[drug.start, drug.end] for drug in one.drugs]] for one in dataset.documents
    ]
    with find_engine(layout) as engine:
        code, path = code_of(layout, "pure_minilm")
        result = measured(
            engine,
            ensure_environment(engine, layout, "pure_minilm").image_id,
            ("/opt/venv/bin/python3", "/benchmarks/combination_texts_plain.py"),
            {"nothing": np.zeros(1)},
            mounts={
                **code,
                HERE: "/benchmarks",
                HERE.parent / "tests" / "combos": "/plain",
                HERE.parent / "methods" / "_sdk" / "python": "/sdk",
                HERE.parent / "harness" / "benchmarks" / "combos" / "sdk" / "python": "/combos_sdk",
            },
            environment={"PYTHONPATH": f"{path}:/plain:/sdk:/combos_sdk", "OMP_NUM_THREADS": "1"},
            job={"documents": documents},
        )
    for name in ("texts", "rows"):
        one = result[name]
        sys.stdout.write(
            f"{name}: {one['ours']:.2f} CPU s for {one['count']:,} candidates; "
            f"{one['ours_compared']:.2f} s against {one['plain']:.2f} s for {one['compared']:,}: "
            f"{one['plain'] / one['ours_compared']:.1f} times; "
            f"{'equal' if one['equal'] else 'OTHERS'}\n"
        )
    sys.stdout.write(f"peak memory {result['peak'] / 2**20:,.0f} MiB\n")


if __name__ == "__main__":
    main()
