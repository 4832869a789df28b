"""Whole scaffolds are new: drugs that share their rings and what joins these stay together.

The scaffold is that of Bemis and Murcko, as RDKit cuts it out (Yang et al., 2019). Drugs without a ring share the
empty scaffold. Drugs whose SMILES can't be read or tells no atom have no scaffold, and each is dealt alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from harness.benchmarks.ddi import molecules
from harness.benchmarks.ddi.splits.drugs.deal import Integers, Shares, split_groups, wrong_groups, wrong_items

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "whole Bemis-Murcko scaffolds are new"


class Parameters(Shares):
    """The shares of new drugs."""


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Deal whole scaffolds."""
    return split_groups(dataset, groups(dataset, parameters), seed, parameters, what="scaffolds")


def groups(dataset: DdiDataset, parameters: Parameters) -> Integers:
    """What is dealt: scaffolds."""
    return scaffolds(dataset.smiles)


@lru_cache(maxsize=4)
def scaffolds(smiles: tuple[str, ...]) -> Integers:
    """The number of every drug's scaffold."""
    from rdkit import Chem, rdBase

    names = []
    with rdBase.BlockLogs():
        for number, text in enumerate(smiles):
            molecule = Chem.MolFromSmiles(text) if text else None
            if molecule is None or molecules.is_unknown(molecule):
                names.append(f"none of {number}")
            else:
                names.append(Chem.MolToSmiles(Chem.MurckoDecompose(molecule), isomericSmiles=False))
    return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.int64)


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """Shares of roles as far as whole scaffolds allow, one role per scaffold, and S0 has its shares."""
    wrong = wrong_groups(groups(dataset, parameters), made.drugs, parameters, what="scaffolds")
    return [*wrong, *wrong_items(dataset, made)]
