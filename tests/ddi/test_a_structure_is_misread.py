"""Structures: what does not parse is told with its place, equal ones are found, and substructures are counted."""

from __future__ import annotations

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.benchmarks.ddi.molecules import canonical_smiles, count_fingerprints, is_unknown, molecules_of


def read(*smiles: str) -> list[object]:
    """Molecules of structures that parse."""
    return molecules_of(smiles, [f"drug {number}" for number in range(len(smiles))])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "'' is no structure: the SMILES is empty"),
        ("C(", "'C(' is no structure: the SMILES does not parse"),
        # no atom is left
        (" ", "' ' is no structure: the SMILES does not parse"),
        # five bonds of a carbon
        ("C(C)(C)(C)(C)C", "is no structure: the SMILES does not parse"),
    ],
)
def test_a_text_that_is_no_structure_is_told_with_its_place(text: str, what: str) -> None:
    with pytest.raises(CorruptData) as caught:
        molecules_of(("CC", text), ("first drug", "second drug"))
    assert what in caught.value.what and caught.value.where == "second drug"
    assert "is written * (a single unknown atom)" in caught.value.todo


def test_every_text_that_is_none_is_told_at_once() -> None:
    with pytest.raises(CorruptData) as caught:
        molecules_of(("C(", "CC", ""), ("one", "two", "three"))
    told = str(caught.value)
    assert "one" in told and "three" in told and "two" not in told


def test_the_library_says_nothing_of_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CorruptData):
        read("C(")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("smiles", "unknown"), [("*", True), ("**", True), ("*C", False), ("[H][H]", False), ("[Li+]", False)]
)
def test_a_structure_is_unknown_where_no_atom_is_known(smiles: str, unknown: bool) -> None:
    (molecule,) = read(smiles)
    assert is_unknown(molecule) is unknown


def test_one_structure_is_written_in_one_way() -> None:
    one, same, other = canonical_smiles(read("OCC", "CCO", "CCN"))
    assert one == same != other


def test_substructures_are_counted_up_to_two_bonds_from_an_atom() -> None:
    """Of a chain of seven: its atoms are two ends and five others; with two bonds around, three are alike."""
    chain, ring, unknown = count_fingerprints(read("CCCCCCC", "c1ccccc1", "**"), 4096)
    assert sorted(chain[chain > 0].tolist()) == [1, 2, 2, 2, 2, 2, 3, 5]
    # all atoms of the ring are alike: one substructure for each distance, six times
    assert ring[ring > 0].tolist() == [6, 6, 6]
    assert not unknown.any()


def test_fingerprints_are_folded_to_as_many_columns_as_are_wanted() -> None:
    folded = count_fingerprints(read("c1ccccc1", "*"), 1)
    whole = count_fingerprints(read("c1ccccc1", "*"), 4096)
    assert folded.shape == (2, 1) and folded.dtype == np.int32
    assert folded[:, 0].tolist() == whole.sum(axis=1).tolist()
    assert count_fingerprints([], 8).shape == (0, 8)
