"""Computes cases that `benchmarks.gpu` packed beside it, with this machine's libraries and nothing of the harness.

    python3 without_image.py OUT [--only WORD] [--at-once N] [--seconds S]

Prints a line for each case: seconds on the processor and on the GPU, how far apart the answers are as a part of
the largest number, whether the GPU gave the same bits twice, and the memory that it needed. OUT keeps the answers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CASES = Path(__file__).resolve().parent
# runs a method's main file as its container would, and says what it took of the GPU
START = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
runpy.run_path(sys.argv[1] + "/main.py", run_name="__main__")
import torch
print("gpu bytes", torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0)
"""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


@dataclass(frozen=True)
class Run:
    """One case in one place."""

    out: Path
    failed: str
    seconds: float
    gpu_bytes: int


def compute(case: Path, place: str, out: Path, limit: float) -> Run:
    """Run the case's method there; what it printed lies beside the answer."""
    out.mkdir(parents=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(case / "sdk"), os.environ.get("PYTHONPATH")))),
        "PYTHONHASHSEED": "0",
        "PERMAFROST_IN": str(case / "in"),
        "PERMAFROST_OUT": str(out),
        "PERMAFROST_ACCELERATOR": place,
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "OMP_NUM_THREADS": "1",
        **({} if place == "cuda" else {"CUDA_VISIBLE_DEVICES": ""}),
    }
    command = (sys.executable, "-B", "-c", START, str(case / "method"))
    began = time.monotonic()
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Run(out, f"longer than {limit:.0f} s", time.monotonic() - began, 0)
    seconds = time.monotonic() - began
    out.with_suffix(".log").write_text(done.stdout + done.stderr)
    if done.returncode:
        return Run(out, (done.stderr.strip().splitlines() or ["nothing said"])[-1], seconds, 0)
    return Run(out, "", fitted_in(out), int(re.findall(r"gpu bytes (\d+)", done.stdout)[-1]))


def fitted_in(out: Path) -> float:
    """Seconds of fitting and predicting, as the method measured them."""
    seconds = json.loads((out / "method.json").read_text())["seconds"]
    return float(sum(seconds["fit"]) + sum(seconds["predict"]))


def answers_of(out: Path) -> dict[str, np.ndarray]:
    """The numbers of each file of an answer."""
    arrays = {path.name: np.asarray(np.load(path), dtype=float) for path in sorted(out.glob("*.npy"))}
    lines = {path.name: np.array(NUMBER.findall(path.read_text()), dtype=float) for path in out.glob("*.jsonl")}
    return arrays | lines


def apart(one: Path, other: Path) -> float:
    """The largest difference between two answers, as a part of the largest number of the first."""
    ours, theirs = answers_of(one), answers_of(other)
    if ours.keys() != theirs.keys() or any(ours[name].shape != theirs[name].shape for name in ours):
        return float("inf")
    return max(
        float(np.abs(ours[name] - theirs[name]).max(initial=0) / max(np.abs(ours[name]).max(initial=0), 1e-30))
        for name in ours
    )


def line_of(case: Path, folder: Path, limit: float) -> str:
    """All runs of a case, and what to say of them."""
    places = json.loads((case / "places.json").read_text())
    runs = [
        (place, compute(case, place, folder / case.name / f"{number}-{place}", limit))
        for number, place in enumerate(places)
    ]
    said = [f"{place} {run.failed or f'{run.seconds:.1f} s'}" for place, run in runs]
    ended = {place: run for place, run in runs if not run.failed}
    if "cuda" in ended:
        said.append(f"{ended['cuda'].gpu_bytes / 2**20:.0f} MiB")
    if len(ended) > 1:
        said.append(f"apart {apart(ended['cpu'].out, ended['cuda'].out):.1e}")
    on_gpu = [run.out for place, run in runs if place == "cuda" and not run.failed]
    if len(on_gpu) > 1:
        difference = apart(*on_gpu)
        said.append("twice the same" if not difference else f"twice apart {difference:.1e}")
    return f"{case.name}: {', '.join(said)}"


def main() -> None:
    """Compute all cases, some at once."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="cases whose names hold this")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=300.0, help="the longest that a run may take")
    chosen = parser.parse_args()
    cases = [path.parent for path in sorted(CASES.glob("*/places.json")) if chosen.only in path.parent.name]
    with ThreadPoolExecutor(chosen.at_once) as pool:
        for line in pool.map(lambda case: line_of(case, chosen.out, chosen.seconds), cases):
            print(line, flush=True)


if __name__ == "__main__":
    main()
