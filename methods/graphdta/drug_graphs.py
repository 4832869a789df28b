"""What GraphDTA sees of a SMILES: the atoms of its canonical form, 78 features each, and the bonds both ways.

A SMILES that RDKit can't read counts as a lone atom of unknown element, and a degree above ten as ten (the
published code stops at either); a lone atom has no bonds. The job's warnings say of how many drugs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from molecules import Molecule
from rdkit import Chem, rdBase
from rdkit.Chem.rdchem import Atom

_ELEMENTS = """
C N O S F Si P Cl Br Mg Na Ca Fe As Al I B V K Tl Yb Sb Sn Ag Pd Co Se
Ti Zn H Li Ge Cu Au Ni Cd In Mn Zr Cr Pt Hg Pb Unknown
"""
ELEMENTS = tuple(_ELEMENTS.split())
# of degrees, hydrogens and implicit valences; the last is what higher ones count as
MOST = 10
FEATURES = len(ELEMENTS) + 3 * (MOST + 1) + 1


def canonical(smiles: str) -> str:
    """The canonical SMILES with its stereochemistry, empty where RDKit can't read it or what it wrote itself."""
    with rdBase.BlockLogs():
        read = Chem.MolFromSmiles(smiles)
        text = Chem.MolToSmiles(read, isomericSmiles=True) if read is not None else ""
        return text if Chem.MolFromSmiles(text) is not None else ""


def drug_graphs(smiles: Sequence[str]) -> list[Molecule]:
    """One graph per drug, in their order."""
    texts = [canonical(one) for one in smiles]
    read = [Chem.MolFromSmiles(text or "*") for text in texts]
    crowded = [any(atom.GetDegree() > MOST for atom in one.GetAtoms()) for one in read]
    # nothing is asked of a drug whose SMILES is empty
    unread = [one for one, text in zip(smiles, texts, strict=True) if one and not text]
    _warn(unread, "a lone atom of unknown element")
    many = [one for one, too_many in zip(smiles, crowded, strict=True) if too_many]
    _warn(many, f"having {MOST} bonds at most per atom")
    return [_graph(one) for one in read]


def _warn(smiles: list[str], treatment: str) -> None:
    if smiles:
        warnings.warn(
            f"{len(smiles)} drugs are not what the method was made for, the first is {smiles[0]!r}: "
            f"each counts as {treatment}",
            stacklevel=3,
        )


def _graph(read: Chem.Mol) -> Molecule:
    """Bonds by their first atom, atoms and neighbours in the order in which bonds mention them."""
    neighbours: dict[int, list[int]] = {}
    for bond in read.GetBonds():
        begin, end = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        neighbours.setdefault(begin, []).append(end)
        neighbours.setdefault(end, []).append(begin)
    bonds = [(atom, other) for atom, others in neighbours.items() for other in others]
    atoms = np.array([_features(atom) for atom in read.GetAtoms()])
    edges = np.array(bonds, dtype=np.int64).reshape(-1, 2).T
    return Molecule(
        (atoms / atoms.sum(axis=1, keepdims=True)).astype(np.float32),
        np.ascontiguousarray(edges),
        np.zeros(edges.shape[1], dtype=np.int64),
    )


def _features(atom: Atom) -> npt.NDArray[np.float64]:
    symbol = atom.GetSymbol()
    element = ELEMENTS.index(symbol) if symbol in ELEMENTS else len(ELEMENTS) - 1
    numbers = (atom.GetDegree(), atom.GetTotalNumHs(), atom.GetValence(Chem.ValenceType.IMPLICIT))
    features = np.zeros(FEATURES)
    features[element] = 1
    for place, number in enumerate(numbers):
        features[len(ELEMENTS) + place * (MOST + 1) + min(number, MOST)] = 1
    features[-1] = atom.GetIsAromatic()
    return features
