"""The splits the authors released, as they are: roles, parts and order; the seed plays no part.

They promise what the paper says of them. What the files break is told by `harness split verify`, and kept. The
parts of a person's own data promise nothing but what every split does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.base.errors import UsageError
from harness.base.manifests import Strict
from harness.benchmarks.ddi.splits.drugs.deal import wrong_shares
from harness.benchmarks.ddi.splits.parts import part_split
from harness.benchmarks.ddi.splits.strategies import cluster, random

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.drugs.deal import Integers
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "a split the authors released, as it is"


class Parameters(Strict):
    """Which of the released splits."""

    which: str = "cluster"


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Nothing is drawn."""
    if parameters.which not in dataset.released_names:
        raise UsageError(
            f"dataset '{dataset.name}' has no released split '{parameters.which}'",
            where="parameter which",
            todo=f"released are: {', '.join(dataset.released_names)}" if dataset.released_names else "none is",
        )
    column = 2 * dataset.released_names.index(parameters.which)
    part, place = dataset.released[:, column], dataset.released[:, column + 1]
    return part_split(part[: dataset.drugs], part[dataset.drugs :], place[dataset.drugs :])


def groups(dataset: DdiDataset, parameters: Parameters) -> Integers:
    """The clusters at the paper's gamma, whole in one of the two."""
    return cluster.clusters(dataset, cluster.Parameters().gamma)


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """What the strategy of the same name (cluster, random) promises of drugs, with the paper's parameters.

    Not its shares of S0: where only some of the released files are public, S0 is a larger share of what is here.
    """
    if parameters.which == "cluster":
        return cluster.wrong_drugs(dataset, made, cluster.Parameters())
    return wrong_shares(made.drugs, random.Parameters()) if parameters.which == "random" else []
