"""A drug's molecule as TIGER sees it: atoms of the canonical SMILES, and paths between all atoms of a fragment.

In the original a path's value and its relation are one array: bonds carry the number of their type, and whatever
is not 1 is moved up by 23, so that a double bond and a distance of 2 are the same. Apart (`aliased=False`), the
value is the distance, and only distances are moved up.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from graphs import Graph, Integers, Links, distances
from molecules import ELEMENTS
from rdkit import Chem, rdBase
from rdkit.Chem.rdchem import Atom

FEATURES = 67
MOST = 11
# how far relations that are distances lie above the types of bonds
ABOVE = 23
# molecules that the original leaves blank
BLANK = frozenset(
    {
        "C1CC2=NC1=C(C3=CC=C(N3)C(=C4C=CC(=N4)C(=C5C=CC(=C2C6=CC(=CC=C6)O)N5)C7=CC(=CC=C7)O)C8=CC(=CC=C8)O)"
        "C9=CC(=CC=C9)O",
        "C(CNCCNCCNCCN)N.Cl",
        "C1CC2(C1)C(=O)O[Pt-2]([NH3+])([NH3+])OC2=O",
        "O1C(=O)C(=O)O[Pt-2]12[NH2+]C0CCCCC0[NH2+]2",
        "C(C(=O)[O-])[O-].N.N.[Pt+2]",
        "N.N.Cl[Pt]Cl",
    }
)
# one node that says nothing, joined to itself
LONE = Graph(
    np.zeros((1, FEATURES), np.float32), np.ones(1, np.int64), Links.of(np.zeros((2, 1), np.int64), [1], [1])
)


def molecule_graphs(smiles: Sequence[str], *, aliased: bool, blanks: bool) -> list[Graph]:
    """One graph per drug. What RDKit can't read, and what has no bond, is a lone node."""
    with rdBase.BlockLogs():
        read = [Chem.MolFromSmiles(text) for text in smiles]
        unread = [place for place, one in enumerate(read) if one is None or not one.GetNumAtoms()]
        if unread:
            warnings.warn(
                f"SMILES of {len(unread)} drugs can't be read, the first is drug {unread[0]}: "
                "each counts as a node that says nothing",
                stacklevel=2,
            )
        blank = {place for place, text in enumerate(smiles) if blanks and text in BLANK}.union(unread)
        return [LONE if place in blank else _graph(one, aliased=aliased) for place, one in enumerate(read)]


def _graph(read: Chem.Mol, *, aliased: bool) -> Graph:
    molecule = Chem.MolFromSmiles(Chem.MolToSmiles(read))
    if molecule is None or not molecule.GetNumBonds():
        return LONE
    ends = np.array([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]).T
    kinds = np.array([int(bond.GetBondType()) for bond in molecule.GetBonds()])
    atoms = np.array([_features(atom) for atom in molecule.GetAtoms()], dtype=np.float32)
    edges = np.concatenate([ends, ends[::-1]], axis=1)
    degree = np.bincount(edges[1], minlength=len(atoms))
    return Graph(atoms, degree, _paths(edges, np.tile(kinds, 2), degree, aliased=aliased))


def _paths(edges: Integers, kinds: Integers, degree: Integers, *, aliased: bool) -> Links:
    apart = distances(edges, len(degree))
    # an atom without any bond has no path, not even to itself
    source, target = np.nonzero(np.isfinite(apart) & (degree > 0))
    value = np.nan_to_num(apart, posinf=0).astype(np.int64)
    relation = value + ABOVE
    relation[edges[0], edges[1]] = kinds
    if aliased:
        relation[edges[0], edges[1]] += np.where(kinds == 1, 0, ABOVE)
        value = relation
    return Links.of(np.stack([source, target]), value[source, target], relation[source, target])


def _features(atom: Atom) -> list[float]:
    """Element, hydrogens, implicit valence and aromaticity, as shares of how many of them are marked."""
    symbol = atom.GetSymbol()
    places = [
        ELEMENTS.index(symbol) if symbol in ELEMENTS else len(ELEMENTS),
        len(ELEMENTS) + 1 + min(atom.GetTotalNumHs(), MOST - 1),
        len(ELEMENTS) + 1 + MOST + min(atom.GetValence(Chem.ValenceType.IMPLICIT), MOST - 1),
        *([FEATURES - 1] if atom.GetIsAromatic() else []),
    ]
    row = np.zeros(FEATURES)
    row[places] = 1 / len(places)
    return row.tolist()
