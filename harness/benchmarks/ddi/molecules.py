"""Structures of drugs: SMILES that parse, and what the chemistry library counts in them.

The library is imported when it is first needed. Fingerprints are Morgan counts of radius 2, which reproduce the
released cluster splits; binary fingerprints do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData
from harness.base.faults import all_faults

RADIUS = 2


def molecules_of(smiles: Sequence[str], wheres: Sequence[str]) -> list[Any]:
    """One molecule for each SMILES; `wheres` tell a person where each was written."""
    from rdkit import rdBase
    from rdkit.Chem import MolFromSmiles

    molecules = []
    with rdBase.BlockLogs(), all_faults() as faults:
        for text, where in zip(smiles, wheres, strict=True):
            molecule = MolFromSmiles(text)
            if molecule is None or not molecule.GetNumAtoms():
                what = f"'{text}' is no structure: the SMILES {'is empty' if not text else 'does not parse'}"
                todo = "correct it; a drug whose structure nobody knows is written * (a single unknown atom)"
                faults.add(CorruptData(what, where=where, todo=todo))
            molecules.append(molecule)
    return molecules


def is_unknown(molecule: Any) -> bool:
    """Whether no atom is known, as of `*`: such a structure is like no other, whatever it is written as."""
    return all(atom.GetAtomicNum() == 0 for atom in molecule.GetAtoms())


def canonical_smiles(molecules: Sequence[Any]) -> list[str]:
    """One way to write each structure, so that equal ones are found."""
    from rdkit.Chem import MolToSmiles

    return [MolToSmiles(molecule) for molecule in molecules]


def count_fingerprints(molecules: Sequence[Any], size: int) -> npt.NDArray[np.int32]:
    """How often each circular substructure occurs, folded to `size` columns; nothing of an unknown structure."""
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=RADIUS, fpSize=size)
    nothing = np.zeros(size, dtype=np.int32)
    rows = [nothing if is_unknown(one) else generator.GetCountFingerprintAsNumPy(one) for one in molecules]
    return np.array(rows, dtype=np.int32).reshape(len(rows), size)
