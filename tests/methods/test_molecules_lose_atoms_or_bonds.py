"""What the methods on molecules see of a SMILES, held to what is drawn there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from harness.base.layout import Layout


@pytest.fixture
def made(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module that reads SMILES, which needs nothing but RDKit and NumPy."""
    monkeypatch.syspath_prepend(str(repository.methods / "_shared" / "molecules"))
    yield import_module("molecules")
    del sys.modules["molecules"]


def test_an_atom_is_described_by_the_wrong_columns(made: ModuleType) -> None:
    """A CH2 at a double bond, and an NH3+ at the other end."""
    (molecule,) = made.molecules_of(["C=C(Cl)C[NH3+]"])
    assert molecule.atoms.shape == (5, 55)
    expected = np.zeros(55)
    # carbon, degree 1, implicit valence 2, SP2, two hydrogens
    expected[[0, 44, 45, 49, 54]] = [1, 0.1, 2, 1, 2]
    np.testing.assert_allclose(molecule.atoms[0], expected)
    expected = np.zeros(55)
    # nitrogen, degree 1, charge 1, SP3, three hydrogens that are written down and so not implicit
    expected[[1, 44, 46, 50, 54]] = [1, 0.1, 1, 1, 3]
    np.testing.assert_allclose(molecule.atoms[4], expected)


def test_bonds_are_there_in_one_direction_only(made: ModuleType) -> None:
    (molecule,) = made.molecules_of(["C=CC#N"])
    assert molecule.bonds.tolist() == [[0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2]]
    # double, single between conjugated bonds, triple; both directions alike
    assert molecule.kinds.tolist() == [6, 2, 10, 6, 2, 10]


def test_rings_dative_bonds_and_aromatic_ones_are_of_one_kind(made: ModuleType) -> None:
    benzene, chain, dative = made.molecules_of(["c1ccccc1", "CC", "[NH3]->[Pt]"])
    assert set(benzene.kinds.tolist()) == {4 * 3 + 2 + 1}
    assert set(chain.kinds.tolist()) == {0}
    assert set(dative.kinds.tolist()) == {16}
    assert made.KINDS > 16


def test_a_lone_atom_needs_a_bond(made: ModuleType) -> None:
    lithium, salt = made.molecules_of(["[Li+]", "[Na+].[Cl-]"])
    assert lithium.bonds.shape == (2, 0)
    assert len(lithium.atoms) == 1
    assert len(salt.atoms) == 2
    assert salt.bonds.shape == (2, 0)


def test_a_smiles_that_cannot_be_read_stops_everything(made: ModuleType) -> None:
    with pytest.warns(UserWarning, match="SMILES of 2 drugs can't be read, the first is drug 1"):
        read, broken, empty = made.molecules_of(["CO", "C1CC", ""])
    assert len(read.atoms) == 2
    for one in (broken, empty):
        assert one.atoms.shape == (1, 55)
        # of unknown element
        assert one.atoms[0, 43] == 1
        assert one.bonds.shape == (2, 0)


def test_atoms_or_bonds_differ_from_the_goldens(made: ModuleType, shared: Path) -> None:
    for path in sorted((shared / "golden" / "ddi" / "SSI-DDI").glob("*.npz")):
        golden = np.load(path)
        molecules = made.molecules_of(golden["in/smiles"].tolist())
        for side in ("head", "tail"):
            chosen = [molecules[drug] for drug in golden[f"in/{side[0]}_index"]]
            firsts = np.cumsum([0, *(len(one.atoms) for one in chosen)])[:-1]
            bonds = [one.bonds + first for one, first in zip(chosen, firsts, strict=True)]
            np.testing.assert_array_equal(np.concatenate([one.atoms for one in chosen]), golden[f"in/{side}_x"])
            np.testing.assert_array_equal(np.concatenate(bonds, axis=1), golden[f"in/{side}_edge_index"])
