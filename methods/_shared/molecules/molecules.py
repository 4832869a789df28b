"""What a method sees of a drug's SMILES: features of each atom, bonds in both directions, and their kinds.

The SMILES is read as given. What RDKit can't read, or an empty one, becomes a lone atom of unknown element, and
the job's warnings say of how many drugs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rdkit import Chem, rdBase
from rdkit.Chem.rdchem import Atom, Bond, BondType, HybridizationType

_ELEMENTS = """
C N O S F Si P Cl Br Mg Na Ca Fe As Al I B V K Tl Yb Sb Sn Ag Pd Co Se
Ti Zn H Li Ge Cu Au Ni Cd In Mn Zr Cr Pt Hg Pb
"""
ELEMENTS = tuple(_ELEMENTS.split())
# the last of these is also what every other hybridisation counts as
HYBRIDISATIONS = (
    HybridizationType.SP,
    HybridizationType.SP2,
    HybridizationType.SP3,
    HybridizationType.SP3D,
    HybridizationType.SP3D2,
)
BOND_TYPES = (BondType.SINGLE, BondType.DOUBLE, BondType.TRIPLE, BondType.AROMATIC)
KINDS = 4 * (len(BOND_TYPES) + 1)
# elements, unknown element, four numbers, hybridisations, aromatic, hydrogens
FEATURES = len(ELEMENTS) + 1 + 4 + len(HYBRIDISATIONS) + 2


@dataclass(frozen=True)
class Molecule:
    """Atoms <f4 [atoms, features]; bonds <i8 [2, both directions], source over target: each bond once from its
    first atom to its second, then all of them back; kinds <i8 [both directions], numbers below KINDS.
    """

    atoms: npt.NDArray[np.float32]
    bonds: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]


def molecules_of(smiles: Sequence[str]) -> list[Molecule]:
    """One molecule per drug, in their order."""
    with rdBase.BlockLogs():
        read = [Chem.MolFromSmiles(text) or Chem.Mol() for text in smiles]
    unread = [place for place, one in enumerate(read) if not one.GetNumAtoms()]
    if unread:
        warnings.warn(
            f"SMILES of {len(unread)} drugs can't be read, the first is drug {unread[0]}: "
            "each counts as a lone atom of unknown element",
            stacklevel=2,
        )
    unknown = Chem.MolFromSmiles("*")
    return [_molecule(one if one.GetNumAtoms() else unknown) for one in read]


def _molecule(read: Chem.Mol) -> Molecule:
    atoms = np.array([_features(one) for one in read.GetAtoms()], dtype=np.float32)
    there = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in read.GetBonds()]
    bonds = np.array(there + [(end, begin) for begin, end in there], dtype=np.int64).reshape(-1, 2)
    kinds = np.array([_kind(bond) for bond in read.GetBonds()] * 2, dtype=np.int64)
    return Molecule(atoms, np.ascontiguousarray(bonds.T), kinds)


def _kind(bond: Bond) -> int:
    """Its type, one of four or none of them; whether it is conjugated; whether it is in a ring."""
    kind = bond.GetBondType()
    place = BOND_TYPES.index(kind) if kind in BOND_TYPES else len(BOND_TYPES)
    return 4 * place + 2 * bond.GetIsConjugated() + bond.IsInRing()


def _features(atom: Atom) -> list[float]:
    symbol, hybridisation = atom.GetSymbol(), atom.GetHybridization()
    known = hybridisation if hybridisation in HYBRIDISATIONS else HYBRIDISATIONS[-1]
    return [
        *(float(symbol == one) for one in ELEMENTS),
        float(symbol not in ELEMENTS),
        atom.GetDegree() / 10,
        atom.GetValence(Chem.ValenceType.IMPLICIT),
        atom.GetFormalCharge(),
        atom.GetNumRadicalElectrons(),
        *(float(known == one) for one in HYBRIDISATIONS),
        float(atom.GetIsAromatic()),
        atom.GetTotalNumHs(),
    ]
