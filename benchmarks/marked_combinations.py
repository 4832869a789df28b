"""CPU seconds of the marked classifier over MiniLM: ours against the same training and prediction plainly.

The card's variant `published` on the released split, one thread, in one process, from the same weights, without
dropout so that both curves of the loss are the same. Asked are documents of at most eight drugs, as where it was
first measured. Wanted: a third of the plain time, and losses that differ by rounding.

Usage: python -m benchmarks.marked_combinations [--mirror DIR] [--every N] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.in_image import HERE, code_of, measured
from harness.base.layout import Layout, find_layout
from harness.benchmarks.combos.dataset import CombosDataset
from harness.data import load_dataset
from harness.engine import Engine, find_engine
from harness.images import ensure_environment
from harness.methods.card import load_method, merged_parameters

METHOD, SEED, MOST_DRUGS = "pure_minilm", 2021, 8
CLASSES = {1: "COMB", 2: "POS", 3: "NEG"}
WANTED, ROUNDING = 3.0, 1e-3


def documents(dataset: CombosDataset, part: int, every: int) -> list[dict[str, Any]]:
    """One of so many documents of a released file, as the program reads them."""
    rows: list[dict[str, Any]] = []
    for number in np.flatnonzero(dataset.released == part)[::every].tolist():
        own = np.flatnonzero(dataset.relations[:, 0] == number)
        relations = [[CLASSES[int(dataset.relations[one, 1])], _spans(dataset, int(one))] for one in own]
        spans = dataset.spans[dataset.spans[:, 0] == number, 1:].tolist()
        rows.append({"sentence": dataset.sentences[number], "spans": spans, "relations": relations})
    return rows


def _spans(dataset: CombosDataset, relation: int) -> list[int]:
    members: list[int] = dataset.relation_spans[dataset.relation_spans[:, 0] == relation, 1].tolist()
    return members


def measure(
    engine: Engine, layout: Layout, train: Sequence[dict[str, Any]], asked: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """CPU seconds of both, losses, and how far apart they are."""
    code, path = code_of(layout, METHOD)
    parameters = merged_parameters(load_method(layout, METHOD), "published", {})
    given = {"train": train, "asked": asked, "parameters": parameters, "seed": SEED}
    return measured(
        engine,
        ensure_environment(engine, layout, METHOD).image_id,
        ("/opt/venv/bin/python3", "/benchmarks/marked_combinations_plain.py"),
        {"documents": np.array([json.dumps(given)])},
        mounts={**code, HERE: "/benchmarks"},
        environment={"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
    )


def main() -> None:
    """Measure, and end with 1 where a wish is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, action="append", default=[])
    parser.add_argument("--every", type=int, default=1, help="take one of so many documents")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    layout = find_layout(Path(__file__).resolve().parent)
    dataset = load_dataset(layout, "combos", CombosDataset, mirrors=chosen.mirror)
    train, asked = (documents(dataset, part, chosen.every) for part in (0, 1))
    with find_engine(layout) as engine:
        result = measure(engine, layout, train, [one for one in asked if len(one["spans"]) <= MOST_DRUGS])
    ours, plain = (sum(result[f"{name} {part}"] for part in ("fit", "predict")) for name in ("ours", "plain"))
    good = plain / ours >= WANTED and result["apart"]["losses"] < ROUNDING
    if chosen.json:
        sys.stdout.write(json.dumps({**result, "ratio": plain / ours, "good": good}) + "\n")
    else:
        for name in ("ours", "plain"):
            fit, predict = (result[f"{name} {part}"] for part in ("fit", "predict"))
            curve = ", ".join(f"{loss:.4f}" for loss in result[name])
            sys.stdout.write(f"{name:6} fit {fit:6.1f} s  predict {predict:5.1f} s  losses {curve}\n")
        sys.stdout.write(
            f"{result['candidates']} candidates, {result['questions']} questions: {plain / ours:.2f} times "
            f"(wanted: {WANTED:.0f}); losses apart {result['apart']['losses']:.1e}, "
            f"probabilities {result['apart']['chances']:.1e}\n"
        )
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
