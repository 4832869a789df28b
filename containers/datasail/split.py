"""DataSAIL on drugs: reads /in/job.json, writes /out/roles.npy (0 known, 1 valid, 2 test).

DataSAIL stops its solver after so many seconds, which gives another split on another machine. What stops it here
is a number of nodes of the search tree; nothing else is changed. A drug that it can't read stays known.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cvxpy
import numpy as np

NAMES = ("known", "valid", "test")


def stop_after(nodes: int) -> None:
    """Bound every solution by nodes in place of seconds."""
    solve = cvxpy.Problem.solve

    def bounded(problem: cvxpy.Problem, *given: Any, **settings: Any) -> Any:
        asked = {name: value for name, value in settings["scip_params"].items() if name != "limits/time"}
        return solve(problem, *given, **{**settings, "scip_params": {**asked, "limits/totalnodes": nodes}})

    cvxpy.Problem.solve = bounded


def do_without_pip() -> None:
    """DataSAIL asks a private part of pip where a cache may lie, which is not used here; the image has no pip."""
    asked = ModuleType("pip._internal.utils.appdirs")
    asked.user_cache_dir = lambda *_: "/tmp"  # type: ignore[attr-defined]
    sys.modules[asked.__name__] = asked


def main() -> None:
    """Split once: clusters of similar molecules stay together (DataSAIL's technique C1)."""
    do_without_pip()
    from datasail.sail import datasail

    job = json.loads(Path("/in/job.json").read_text(encoding="utf-8"))
    stop_after(job["nodes"])
    found, _, _ = datasail(
        techniques=["C1e"],
        splits=job["shares"],
        names=list(NAMES),
        epsilon=job["epsilon"],
        runs=1,
        solver="SCIP",
        threads=1,
        e_type="M",
        e_data={str(drug): job["smiles"][drug] for drug in job["order"]},
        e_clusters=job["clusters"],
    )
    roles = np.zeros(len(job["smiles"]), dtype="<i4")
    for drug, name in found["C1e"][0].items():
        roles[int(drug)] = NAMES.index(name)
    np.save("/out/roles.npy", roles)


if __name__ == "__main__":
    main()
