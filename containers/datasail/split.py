"""DataSAIL on drugs: reads /in/job.json, writes /out/roles.npy (0 known, 1 valid, 2 test) and /out/clusters.npy.

DataSAIL stops its solver after so many seconds, which gives another split on another machine. What stops it here
is a number of nodes of the search tree; nothing else is changed. A drug that it can't read stays known, in a
cluster of its own.
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


def note_clusters() -> dict[str, Any]:
    """What will hold the cluster of every drug, by name, once DataSAIL has found them."""
    from datasail import routine

    noted: dict[str, Any] = {}
    find = routine.cluster

    def noting(*given: Any, **settings: Any) -> Any:
        found = find(*given, **settings)
        # drugs of one structure have one of them as their representative
        noted.update({drug: found.cluster_map[same] for drug, same in found.id_map.items()})
        return found

    routine.cluster = noting
    return noted


def main() -> None:
    """Split once: clusters of similar molecules stay together (DataSAIL's technique C1)."""
    do_without_pip()
    from datasail.sail import datasail

    clusters = note_clusters()
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
    names = [str(clusters.get(str(drug), f"drug {drug}")) for drug in range(len(roles))]
    np.save("/out/clusters.npy", np.unique(names, return_inverse=True)[1].astype("<i4"))


if __name__ == "__main__":
    main()
