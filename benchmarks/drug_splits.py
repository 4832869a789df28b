"""CPU seconds and peak memory of clustering drugs: DrugBank, made-up drugs of several numbers, and what follows.

The made-up drugs come in families: counts of about 45 of 1,024 features, a quarter of them changed in a family.
The time grows with the square of the number, the memory with the number; both are fitted to the last two numbers
and told for 60,000 and 1,000,000. Each number is measured in a process of its own, whose peak memory it is.

Usage: python -m benchmarks.drug_splits [--mirror DIR] [--gamma 0.55] [NUMBER ...]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.base.layout import find_layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.drugs.clusters import clusters_of
from harness.data import load_dataset
from harness.splits.strategies import get_strategy

FEATURES, PRESENT, FAMILY = 1024, 45, 20
CHANGED = 0.25
TOLD = (60_000, 1_000_000)
_BATCH = 5_000


def made_up(drugs: int) -> npt.NDArray[np.int32]:
    """Count fingerprints in families; some features are far more frequent than others, as in molecules."""
    generator = np.random.RandomState(drugs)
    popularity = 1 / np.arange(1, FEATURES + 1)
    popularity /= popularity.sum()
    families = -(-drugs // FAMILY)
    counts = np.zeros((drugs, FEATURES), dtype=np.int32)
    for begin in range(0, families, _BATCH):
        these = min(_BATCH, families - begin)
        features = generator.choice(FEATURES, size=(these, PRESENT), p=popularity)
        sizes = generator.geometric(0.5, size=(these, PRESENT))
        for member in range(FAMILY):
            rows = (begin + np.arange(these)) * FAMILY + member
            new = generator.random_sample(features.shape) < CHANGED
            own = np.where(new, generator.choice(FEATURES, size=features.shape, p=popularity), features)
            keep = rows < drugs
            np.add.at(counts, (rows[keep, None], own[keep]), sizes[keep])
    return counts


def measured(drugs: int, gamma: float) -> dict[str, float]:
    """One number of drugs, in this process."""
    counts = made_up(drugs)
    started, wall = time.process_time(), time.monotonic()
    groups = clusters_of(counts, gamma)
    return {
        "drugs": drugs,
        "clusters": int(groups.max()) + 1,
        "cpu": time.process_time() - started,
        "wall": time.monotonic() - wall,
        "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def in_own_process(drugs: int, gamma: float) -> dict[str, float]:
    """The same, in a process that ends with it."""
    command = [sys.executable, "-m", "benchmarks.drug_splits", "--gamma", str(gamma), "--inside", str(drugs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def told(rows: list[dict[str, float]]) -> list[str]:
    """What the last two rows say of larger numbers."""
    before, last = rows[-2:]
    square = (last["cpu"] - before["cpu"]) / (last["drugs"] ** 2 - before["drugs"] ** 2)
    each = (last["bytes"] - before["bytes"]) / (last["drugs"] - before["drugs"])
    lines = []
    for drugs in (number for number in TOLD if number > last["drugs"]):
        seconds = last["cpu"] + square * (drugs**2 - last["drugs"] ** 2)
        memory = last["bytes"] + each * (drugs - last["drugs"])
        lines.append(f"{drugs:9,} drugs, extrapolated: {seconds:9,.0f} CPU s, {memory / 2**30:5.1f} GiB")
    return lines


def drugbank(mirrors: list[Path]) -> str:
    """The whole strategy on the real dataset, nothing remembered; the best of several."""
    layout = find_layout(Path(__file__).resolve().parent)
    dataset = load_dataset(layout, "drugbank", mirrors=mirrors)
    assert isinstance(dataset, DdiDataset)
    strategy = get_strategy("ddi", "cluster")
    times = []
    for _ in range(5):
        vars(strategy)["clusters"].cache_clear()
        started = time.process_time()
        strategy.make(dataset, 1, strategy.Parameters())
        times.append(time.process_time() - started)
    return f"{dataset.drugs:9,} drugs of DrugBank, {len(dataset.pairs):,} items: {min(times):.2f} CPU s"


def main() -> None:
    """Measure the numbers that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", action="append", default=[], type=Path)
    parser.add_argument("--gamma", type=float, default=0.55)
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    parser.add_argument("numbers", nargs="*", type=int, default=[7_500, 15_000, 30_000, 60_000], metavar="NUMBER")
    chosen = parser.parse_args()
    if chosen.inside:
        sys.stdout.write(json.dumps(measured(chosen.inside, chosen.gamma)) + "\n")
        return
    if chosen.mirror:
        sys.stdout.write(drugbank(chosen.mirror) + "\n")
    rows = []
    for drugs in chosen.numbers:
        row = in_own_process(drugs, chosen.gamma)
        rows.append(row)
        sys.stdout.write(
            f"{drugs:9,} drugs: {row['cpu']:9.2f} CPU s ({row['wall']:.2f} s), {row['bytes'] / 2**30:5.2f} GiB, "
            f"{row['clusters']:,.0f} clusters\n"
        )
        sys.stdout.flush()
    if len(rows) > 1:
        sys.stdout.write("\n".join(told(rows)) + "\n")


if __name__ == "__main__":
    main()
