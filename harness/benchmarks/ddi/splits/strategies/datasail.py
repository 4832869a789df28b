"""DataSAIL's own split: clusters of similar molecules are dealt so that little similarity is between the roles.

The package of Joeres et al. (2025), version 1.4.0, runs in its frozen environment with the solver SCIP: binary
fingerprints, Tanimoto similarity, so many clusters, technique C1. It has no seed; the order in which it is given
the drugs is drawn instead. Its solver is stopped by nodes of the search tree, not by seconds: so a split repeats.
That is how a split is proved to be DataSAIL's: it is made again, and its clusters are looked at.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from harness.base.errors import EngineError
from harness.benchmarks.ddi.splits.drugs.deal import (
    Integers,
    Shares,
    mixed_groups,
    split_items,
    wrong_items,
    wrong_shares,
)

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import Codes, PartSplit

SUMMARY = "DataSAIL's clusters and solver keep similar drugs together (needs a container engine)"

_ENVIRONMENT = "datasail"
FILES = tuple(sorted((Path(__file__).parents[5] / "containers" / _ENVIRONMENT).glob("*.*")))
_PROGRAM = "split.py"
_ROLES, _CLUSTERS = "roles.npy", "clusters.npy"
_SECONDS = 3600
_LOG_TAIL = 2000


class Parameters(Shares):
    """DataSAIL's own defaults, but for the nodes."""

    clusters: int = Field(default=50, ge=3)
    epsilon: float = Field(default=0.05, ge=0, lt=1)
    nodes: int = Field(default=1000, ge=1)


@dataclass(frozen=True, eq=False)
class Assignment:
    """What DataSAIL gives every drug: a role, and the cluster that it stays with."""

    roles: Codes
    clusters: Integers


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Run DataSAIL in its container."""
    return split_items(dataset, answered(dataset, seed, parameters).roles, seed)


def answered(dataset: DdiDataset, seed: int, parameters: Parameters) -> Assignment:
    """DataSAIL's answer, from its container."""
    from harness.base.files import write_json
    from harness.base.layout import find_layout
    from harness.base.ownership import own_folder

    new = (parameters.valid_share, parameters.test_share)
    job = {
        "smiles": dataset.smiles,
        "order": np.random.RandomState([seed, 1]).permutation(dataset.drugs).tolist(),
        "shares": [1 - sum(new), *new],
        "clusters": parameters.clusters,
        "epsilon": parameters.epsilon,
        "nodes": parameters.nodes,
    }
    layout = find_layout()
    with tempfile.TemporaryDirectory(dir=own_folder(layout.local / "work"), prefix="in-") as folder:
        write_json(Path(folder) / "job.json", job)
        return _run(Path(folder), dataset.drugs)


def _run(folder: Path, drugs: int) -> Assignment:
    """What the program answers to the job in `folder`."""
    from harness.base.layout import find_layout
    from harness.base.npy import read_npy
    from harness.base.vocabulary import Verdict
    from harness.engine import find_engine
    from harness.execution.runs import INIT, Limits, Mount, RunRequest, execute
    from harness.execution.runs.request import GIB
    from harness.images import ensure_environment

    layout = find_layout()
    with find_engine(layout) as engine:
        image = ensure_environment(engine, layout, _ENVIRONMENT)
        request = RunRequest(
            image=image.name,
            image_id=image.image_id,
            in_folder=folder,
            work=layout.local / "work",
            limits=Limits(seconds=_SECONDS, memory_bytes=8 * GIB),
            mounts=(Mount(layout.containers / _ENVIRONMENT / _PROGRAM, f"/opt/{_PROGRAM}"),),
            entrypoint=(*INIT, "/opt/venv/bin/python3"),
            command=(f"/opt/{_PROGRAM}",),
            required=(_ROLES, _CLUSTERS),
            expected=(_ROLES, _CLUSTERS),
        )
        outcome = execute(engine, request)
        try:
            if outcome.verdict is not Verdict.OK:
                log = outcome.log.read_bytes()[-_LOG_TAIL:].decode(errors="replace")
                raise EngineError(
                    f"DataSAIL ended as '{outcome.verdict}': {outcome.reason}",
                    where=log,
                    todo="choose other parameters; `harness image verify datasail` examines its image",
                )
            roles, clusters = (
                read_npy(outcome.out_folder / name, "<i4", (drugs,)) for name in (_ROLES, _CLUSTERS)
            )
            return Assignment(roles, clusters.astype(np.int64))
        finally:
            outcome.discard()


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """The roles have their shares as nearly as DataSAIL was asked for, no drug is discarded, S0 has its shares."""
    largest = max(
        1 - parameters.valid_share - parameters.test_share, parameters.valid_share, parameters.test_share
    )
    allowance = int(parameters.epsilon * largest * dataset.drugs) + 1
    return [*wrong_shares(made.drugs, parameters, allowance=allowance), *wrong_items(dataset, made)]


def broken_draws(dataset: DdiDataset, made: PartSplit, seed: int, parameters: Parameters) -> list[str]:
    """DataSAIL's clusters have one role each, and of all such deals it is the one that DataSAIL chooses."""
    answer = answered(dataset, seed, parameters)
    broken = mixed_groups(answer.clusters, made.drugs, what="of DataSAIL's clusters")
    wrong = int((made.drugs != answer.roles).sum())
    if wrong:
        broken.append(f"{wrong} drugs have another role than DataSAIL gives them for seed {seed}")
    return broken
