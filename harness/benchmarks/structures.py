"""Whether a SMILES is a structure; the chemistry library is imported when it is first needed."""

from __future__ import annotations


def is_structure(smiles: str) -> bool:
    """Whether RDKit reads it, and finds an atom in it."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
    return molecule is not None and molecule.GetNumAtoms() > 0
