"""Morgan fingerprints of drugs, and how similar they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from dti_sdk import Array
from rdkit import Chem, rdBase
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator


def morgan_bits(structures: Sequence[str], radius: int, size: int) -> Array:
    """The bits of each structure; none where it is unknown or can't be read."""
    generator = GetMorganGenerator(radius=radius, fpSize=size)
    bits = np.zeros((len(structures), size), dtype=np.float32)
    with rdBase.BlockLogs():
        molecules = [Chem.MolFromSmiles(smiles) for smiles in structures]
    for drug, (smiles, molecule) in enumerate(zip(structures, molecules, strict=True)):
        if molecule is None:
            warnings.warn(f"the SMILES '{smiles}' can't be read: its drug is like no other", stacklevel=2)
        else:
            bits[drug] = generator.GetFingerprintAsNumPy(molecule)
    return bits


def tanimoto(ours: Array, theirs: Array) -> Array:
    """Shared bits by all bits, 0 where there is none."""
    shared = (ours @ theirs.T).astype(float)
    total = ours.sum(axis=1)[:, None] + theirs.sum(axis=1) - shared
    return np.divide(shared, total, out=np.zeros_like(shared), where=total > 0)
