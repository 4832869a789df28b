"""What GraphDTA and DeepDTA see of a SMILES and of a sequence, held to what the originals' code saw."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from harness.base.layout import Layout

MODULES = ("drug_graphs", "affinity_letters", "affinity_concordance", "molecules")


@pytest.fixture
def modules(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """Those that read texts need nothing but RDKit and NumPy."""
    for folder in ("_shared/molecules", "_shared/affinities", "graphdta"):
        monkeypatch.syspath_prepend(str(repository.methods / folder))
    yield {name: import_module(name) for name in MODULES}
    for name in MODULES:
        del sys.modules[name]


@pytest.fixture
def graphs(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["drug_graphs"]


@pytest.fixture
def letters(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["affinity_letters"]


def test_graphs_and_letters_are_those_of_the_original(
    graphs: ModuleType, letters: ModuleType, shared: Path
) -> None:
    golden = np.load(shared / "golden" / "dti" / "graphdta_graph.npz")
    for one in golden["cases"]:
        case = {name: golden[f"c{one}_{name}"] for name in ("smiles_raw", "smiles_iso", "seq", "target")}
        assert graphs.canonical(str(case["smiles_raw"])) == str(case["smiles_iso"])
        (graph,) = graphs.drug_graphs([str(case["smiles_raw"])])
        assert np.array_equal(graph.atoms, golden[f"c{one}_x"])
        assert np.array_equal(graph.bonds, golden[f"c{one}_edge_index"])
        read = letters.letter_numbers([str(case["seq"])], letters.RESIDUES, len(case["target"]), "sequences")
        assert np.array_equal(read[0], case["target"])


def test_an_atom_is_described_by_the_wrong_columns(graphs: ModuleType) -> None:
    """The oxygen of phenol, and a carbon of its ring; shares of their features."""
    (graph,) = graphs.drug_graphs(["c1ccccc1O"])
    assert graph.atoms.shape == (7, 78)
    # oxygen comes first in the canonical text; one neighbour, one hydrogen, implicit valence of one
    assert np.flatnonzero(graph.atoms[0]).tolist() == [2, 44 + 1, 55 + 1, 66 + 1]
    assert set(graph.atoms[0][graph.atoms[0] > 0]) == {np.float32(1 / 4)}
    # two neighbours, one hydrogen, aromatic
    assert np.flatnonzero(graph.atoms[2]).tolist() == [0, 44 + 2, 55 + 1, 66 + 1, 77]
    assert set(graph.atoms[2][graph.atoms[2] > 0]) == {np.float32(1 / 5)}


def test_bonds_stand_in_another_order(graphs: ModuleType) -> None:
    """By atoms as bonds first mention them: the ring of OC1CC1 is closed by the last bond."""
    (graph,) = graphs.drug_graphs(["OC1CC1"])
    assert graphs.canonical("OC1CC1") == "OC1CC1"
    assert graph.bonds.T.tolist() == [[0, 1], [1, 0], [1, 2], [1, 3], [2, 1], [2, 3], [3, 2], [3, 1]]


def test_a_drug_the_original_stops_at_ends_the_run(graphs: ModuleType) -> None:
    """A lone atom, text that is no SMILES, an atom with eleven neighbours; an empty text is of no pair's drug."""
    crowded = "[Fe](C)(C)(C)(C)(C)(C)(C)(C)(C)(C)C"
    with pytest.warns(UserWarning) as caught:
        lone, nothing, unknown, many = graphs.drug_graphs(["[Li+]", "", "no SMILES", crowded])
    assert lone.bonds.shape == nothing.bonds.shape == unknown.bonds.shape == (2, 0)
    assert np.flatnonzero(unknown.atoms[0])[0] == 43
    assert np.flatnonzero(lone.atoms[0])[0] != 43
    assert many.atoms[:, 44 + 10].any()
    texts = [str(one.message) for one in caught]
    assert len(texts) == 2
    assert "1 drugs" in texts[0] and "'no SMILES'" in texts[0] and "unknown element" in texts[0]
    assert repr(crowded) in texts[1]


def test_a_strange_letter_is_taken_for_another(letters: ModuleType) -> None:
    with pytest.warns(UserWarning, match=r"2 sequences .* begins 'AJm' \(J m\)"):
        rows = letters.letter_numbers(["AJm", "Z!", "AB"], letters.RESIDUES, 4, "sequences")
    assert rows.tolist() == [[1, 0, 0, 0], [25, 0, 0, 0], [1, 2, 0, 0]]


def test_what_is_cut_off_is_complained_about(letters: ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert letters.letter_numbers(["ACD?", ""], "ABCD", 3, "texts").tolist() == [[1, 3, 4], [0, 0, 0]]


def test_a_model_is_chosen_by_another_index(modules: dict[str, ModuleType]) -> None:
    """Of five comparable pairs two are in order and one is tied; equal values are not compared."""
    concordance = modules["affinity_concordance"].concordance
    assert concordance(np.array([1.0, 1.0, 2.0, 3.0]), np.array([0.1, 0.6, 0.6, 0.5])) == 2.5 / 5
    assert concordance(np.ones(3), np.arange(3.0)) == 0
