"""Whether a SMILES is a structure; the chemistry library is imported when it is first needed."""

from __future__ import annotations


def is_structure(smiles: str) -> bool:
    """Whether RDKit reads all of it, and finds an atom in it: what stands behind a blank it takes for a name."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
    return molecule is not None and molecule.GetNumAtoms() > 0 and not any(map(str.isspace, smiles))
