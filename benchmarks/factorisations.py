"""CPU seconds of ALS-WR, LogisticMF and PMF: ours against a plain transcription, in one run in the method's image.

Ours is `fit_predict` of the main file as it is called in a run, the peer is plain_factorisations.py. Labels
are those of the golden cases. Of several repetitions the fastest counts, on either side.

Usage: python -m benchmarks.factorisations [--golden DIR] [--repeat N] [METHOD ...]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.in_image import HERE, measured, shared_folder
from harness.base.layout import Layout, find_layout
from harness.engine import Engine, find_engine
from harness.images import ensure_image
from harness.methods.card import load_method

SEED = 17263407
DATASETS = ("Fdataset", "Synthetic")
GOLDENS = {"als_wr": "ALSWR", "logistic_mf": "LogisticMF", "pmf": "PMF"}
# parameters that undo a defect, or that are not the algorithm's
NOT_IN_THE_ORIGINAL = ("all_drugs", "blas_kernels", "shrink_batch", "positives_only")
CODE = """
import json, os, runpy, sys, time, types
os.environ["PERMAFROST_IN"] = "/in"
sys.path[:0] = ["/opt/method", "/peer"]
import repurposing_sdk
tasks = []
repurposing_sdk.run = tasks.append
runpy.run_path("/opt/method/main.py")
import numpy as np, plain_factorisations
job, labels = json.load(open("/in/job.json")), np.load("/in/associations.npy")
problem = types.SimpleNamespace(associations=labels, parameters=job["parameters"])
peer, R = getattr(plain_factorisations, job["method"]), np.ascontiguousarray(labels.T)
def fastest(repeat, call):
    seconds = []
    for _ in range(repeat):
        started = time.process_time()
        answer = call()
        seconds.append(time.process_time() - started)
    return answer, min(seconds)
answer, ours = fastest(job["repeat"], lambda: tasks[0](problem))
expected, plain = fastest(job["repeat"], lambda: peer(R, **job["plain"]))
print(json.dumps({"ours": ours, "plain": plain, "error": float(abs(answer.scores - expected).max())}))
"""


def measure(engine: Engine, layout: Layout, method: str, labels: Path, repeat: int) -> dict[str, Any]:
    """Both in one process, alone on one thread."""
    parameters = load_method(layout, method).variant("published").parameters
    associations = np.load(labels)["A_train"]
    plain: dict[str, Any] = {name: value for name, value in parameters.items() if name not in NOT_IN_THE_ORIGINAL}
    if method == "als_wr":
        plain["count"] = associations.shape[1]
    job = {"method": method, "parameters": parameters, "plain": plain, "repeat": repeat}
    peer = HERE / "plain_factorisations.py"
    return measured(
        engine,
        ensure_image(engine, layout, method).image_id,
        ("python3", "-c", CODE),
        {"associations": associations},
        mounts={peer: "/peer/plain_factorisations.py"},
        job=job,
    )


def main() -> None:
    """Measure the methods that are asked for."""
    layout = find_layout(Path(__file__).resolve().parent)
    shared = shared_folder(layout)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, default=shared / "golden" / "repurposing")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("methods", nargs="*", default=sorted(GOLDENS), metavar="METHOD")
    chosen = parser.parse_args()
    with find_engine(layout) as engine:
        for method in chosen.methods:
            for dataset in DATASETS:
                labels = chosen.golden / f"{GOLDENS[method]}_{dataset}_{SEED}.npz"
                found = measure(engine, layout, method, labels, chosen.repeat)
                sys.stdout.write(
                    f"{method:12} {dataset:10} ours {found['ours']:6.3f}  plain {found['plain']:6.3f}  "
                    f"{found['plain'] / found['ours']:5.1f} times  error {found['error']:.1e}\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
