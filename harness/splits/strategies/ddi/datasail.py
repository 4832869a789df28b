"""DataSAIL's own split: clusters of similar molecules are dealt so that little similarity is between the roles.

The package of Joeres et al. (2025), version 1.4.0, runs in its frozen environment with the solver SCIP: binary
fingerprints, Tanimoto similarity, so many clusters, technique C1. It has no seed; the order in which it is given
the drugs is drawn instead. Its solver is stopped by nodes of the search tree, not by seconds: so a split repeats.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from harness.errors import EngineError
from harness.splits.drugs.dealing import Shares, split_items, wrong_shares

if TYPE_CHECKING:
    from harness.data.ddi import DdiDataset
    from harness.splits.parts import Codes, PartSplit

SUMMARY = "DataSAIL's clusters and solver keep similar drugs together (needs a container engine)"

_ENVIRONMENT = "datasail"
FILES = tuple(sorted((Path(__file__).parents[4] / "containers" / _ENVIRONMENT).glob("*.*")))
_PROGRAM = "split.py"
_ANSWER = "roles.npy"
_SECONDS = 3600
_LOG_TAIL = 2000


class Parameters(Shares):
    """DataSAIL's own defaults, but for the nodes."""

    clusters: int = Field(default=50, ge=3)
    epsilon: float = Field(default=0.05, ge=0, lt=1)
    nodes: int = Field(default=1000, ge=1)


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Run DataSAIL in its container."""
    from harness.files import write_json
    from harness.layout import find_layout
    from harness.ownership import own_folder

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
        roles = _roles(Path(folder), dataset.drugs)
    return split_items(dataset, roles, seed)


def _roles(folder: Path, drugs: int) -> Codes:
    """What the program answers to the job in `folder`."""
    from harness.data.npy import read_npy
    from harness.engine import find_engine
    from harness.images import ensure_environment
    from harness.layout import find_layout
    from harness.runs import Limits, Mount, RunRequest, execute
    from harness.runs.request import GIB
    from harness.vocabulary import Verdict

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
            entrypoint=("/opt/venv/bin/python3",),
            command=(f"/opt/{_PROGRAM}",),
            required=(_ANSWER,),
            expected=(_ANSWER,),
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
            return read_npy(outcome.out_folder / _ANSWER, "<i4", (drugs,))
        finally:
            outcome.discard()


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """The roles have their shares as nearly as DataSAIL was asked for, and no drug is discarded."""
    largest = max(
        1 - parameters.valid_share - parameters.test_share, parameters.valid_share, parameters.test_share
    )
    return wrong_shares(made.drugs, parameters, allowance=int(parameters.epsilon * largest * dataset.drugs) + 1)
