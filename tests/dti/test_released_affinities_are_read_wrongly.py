"""Affinities must be those of the release, cell by cell; a pickle must never run anything."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.benchmarks.dti.checks import checked_remarks
from harness.benchmarks.dti.converters import luo
from harness.benchmarks.dti.converters.graphdta import convert, read_matrix
from harness.benchmarks.dti.dataset import DtiDataset
from harness.data import load_dataset
from harness.data.arrays import content_digest
from tests.dti.beta_files import manifest, written

MATRIX = np.array([[10.0, np.nan, 1000.0], [1e4, 0.5, np.nan]])
LIGANDS = '{"11": "CO", "5": "C"}'
PROTEINS = '{"KIN": "MK", "ABL": "AA", "ABL2": "AG"}'
ARRAY, TYPE = b"cnumpy.core.multiarray\n_reconstruct\n", b"cnumpy\ndtype\n"
FOLDS = {"test_fold_setting1.txt": "[2]", "train_fold_setting1.txt": "[[3], [0], [1], [], []]"}


def pickled(array: npt.NDArray[Any], *, by_columns: bool = False) -> bytes:
    """A pickle of a matrix as Python 2 wrote it, instruction by instruction."""
    name, data = array.dtype.str[1:].encode(), array.tobytes("F" if by_columns else "C")
    return b"".join(
        [
            b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R",
            b"(K\x01K%cK%c\x86" % array.shape,
            b"cnumpy\ndtype\nU\x02%bK\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
            % name,
            b"%bT%btb." % (b"\x88" if by_columns else b"\x89", len(data).to_bytes(4, "little") + data),
        ]
    )


def released(folder: Path, **changes: str | bytes) -> dict[str, Path]:
    """The files of a small release."""
    files: dict[str, str | bytes] = {
        "ligands_can.txt": LIGANDS,
        "proteins.txt": PROTEINS,
        "Y": pickled(MATRIX),
        **FOLDS,
    }
    return written(folder, files | {name.replace("_txt", ".txt"): text for name, text in changes.items()})


def test_cells_with_a_number_are_pairs_row_by_row(tmp_path: Path) -> None:
    dataset = convert(manifest(), released(tmp_path))
    assert dataset.drug_ids == ("11", "5") and dataset.smiles == ("CO", "C")
    assert dataset.target_ids == ("KIN", "ABL", "ABL2") and dataset.sequences == ("MK", "AA", "AG")
    assert dataset.pairs.tolist() == [[0, 0], [0, 2], [1, 0], [1, 1]]
    assert dataset.values.tolist() == [10.0, 1000.0, 1e4, 0.5] and dataset.affinity
    assert dataset.released.tolist() == [1, 2, -1, 0]
    assert not checked_remarks(dataset)


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_a_matrix_is_the_same_however_it_was_written(tmp_path: Path, precision: type, by_columns: bool) -> None:
    path = tmp_path / "Y"
    matrix: npt.NDArray[Any] = MATRIX.astype(precision)
    path.write_bytes(pickled(matrix, by_columns=by_columns))
    found = read_matrix(path)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, matrix)


def test_constants_become_logarithms_of_molar(tmp_path: Path) -> None:
    dataset = convert(manifest(constants=True), released(tmp_path))
    np.testing.assert_allclose(dataset.values, [8, 6, 5, 9.301029995664])


def test_one_constant_that_is_none_is_refused(tmp_path: Path) -> None:
    matrix = np.where(MATRIX == 0.5, 0.0, MATRIX)
    with pytest.raises(CorruptData, match="a dissociation constant is not above 0"):
        convert(manifest(constants=True), released(tmp_path, Y=pickled(matrix)))


def test_other_line_ends_and_a_byte_order_mark_are_the_same(tmp_path: Path) -> None:
    other = {
        name: b"\xef\xbb\xbf" + path.read_bytes().replace(b", ", b",\r\n ")
        for name, path in released(tmp_path).items()
        if name != "Y"
    }
    digest = content_digest(convert(manifest(), released(tmp_path)))
    assert content_digest(convert(manifest(), released(tmp_path) | written(tmp_path, other))) == digest


@pytest.mark.parametrize(
    ("changes", "what", "where"),
    [
        ({"ligands_can_txt": "{"}, "not JSON", "ligands_can.txt"),
        ({"ligands_can_txt": '{"11": 4, "5": ""}'}, "'11' has no text", "ligands_can.txt"),
        ({"proteins_txt": '{"KIN": "MK", "ABL": "", "ABL2": null}'}, "'ABL' has no text", "proteins.txt"),
        ({"proteins_txt": "{}"}, "a matrix of shape", "Y"),
        ({"test_fold_setting1_txt": "[2, 4]"}, "4 is no cell of the 4", "test_fold"),
        ({"test_fold_setting1_txt": "[2, 0]"}, "0 is no cell of the 4, or is in a fold", "train_fold"),
        ({"test_fold_setting1_txt": "[true]"}, "True is no cell", "test_fold"),
        # not counted from behind: this would be the very cell that is left
        ({"test_fold_setting1_txt": "[-2]"}, "-2 is no cell of the 4", "test_fold"),
        ({"test_fold_setting1_txt": "[]"}, "1 cells are in no fold", "train_fold"),
        ({"train_fold_setting1_txt": "[0, 1, 3]"}, "not a list of folds", "train_fold"),
        ({"Y": pickled(MATRIX)[:-9]}, "not a pickled matrix", "Y"),
        ({"Y": pickled(np.arange(6).reshape(2, 3))}, "not a pickled matrix", "Y"),
        ({"Y": pickle.dumps([1.0])}, "not a pickled matrix", "Y"),
        # the state of a matrix, of a data type, and that of a data type, of a matrix
        *(
            ({"Y": pickled(MATRIX).replace(one + end, other + end)}, "numbers: it holds something else", "Y")
            for one, other, end in ((ARRAY, TYPE, b"cnumpy\nndarray"), (TYPE, ARRAY, b"U\x02f8"))
        ),
        ({"Y": b""}, "not a pickled matrix", "Y"),
    ],
)
def test_a_faulty_release_is_refused_with_the_file(
    tmp_path: Path, changes: dict[str, str | bytes], what: str, where: str
) -> None:
    with pytest.raises(CorruptData, match=what) as caught:
        convert(manifest(), released(tmp_path, **changes))
    assert where in caught.value.where


class _Runs:
    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        self.reduced = call, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.reduced


@pytest.mark.parametrize("name", ["collections dtype", "numpy.other ndarray", "numpy load", "os _reconstruct"])
def test_a_name_that_is_none_of_numpys_arrays_is_refused(tmp_path: Path, name: str) -> None:
    """Also one that another module has: nothing of it is taken for numpy's."""
    module, word = name.split()
    (tmp_path / "Y").write_bytes(f"c{module}\n{word}\n.".encode())
    with pytest.raises(CorruptData, match=rf"it names {module}\.{word}, which is no part of a numpy array"):
        read_matrix(tmp_path / "Y")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_runs_nothing(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "ran"
    for call, arguments in (
        (os.system, (f"touch {mark}",)),
        (eval, (f"open({str(mark)!r}, 'w')",)),
        (np.save, (mark, 1)),
    ):
        (tmp_path / "Y").write_bytes(pickle.dumps([_Runs(call, *arguments)], protocol))
        with pytest.raises(CorruptData, match="no part of a numpy array"):
            read_matrix(tmp_path / "Y")
        assert not list(tmp_path.glob("ran*"))


@pytest.mark.parametrize(
    ("name", "drugs", "targets", "pairs", "test", "least", "most"),
    [("davis", 68, 442, 30056, 5010, 5.0, 10.8), ("kiba", 2111, 229, 118254, 19709, 0.0, 17.2)],
)
def test_releases_have_their_published_numbers(
    repository: Layout,
    shared: Path,
    name: str,
    drugs: int,
    targets: int,
    pairs: int,
    test: int,
    least: float,
    most: float,
) -> None:
    dataset = load_dataset(repository, name, DtiDataset, mirrors=[shared / "mirror"])
    assert (dataset.drugs, dataset.targets, len(dataset.pairs)) == (drugs, targets, pairs)
    assert int((dataset.released == -1).sum()) == test and set(dataset.released.tolist()) == set(range(-1, 5))
    assert dataset.values.min() == pytest.approx(least, abs=0.05) and dataset.values.max() == pytest.approx(
        most, abs=0.05
    )
    path = next((shared / "mirror" / "github.com" / "thinng").glob(f"GraphDTA/*/data/{name}/folds/test*"))
    assert json.loads(path.read_text())[0] in np.flatnonzero(dataset.released == -1)


SIMILARITY = np.array([[1, 0.5, 0.25], [0.5, 1, 0.125], [0.25, 0.125, 1]])


def luo_files(folder: Path) -> dict[str, Path]:
    """The files of a small network."""
    np.save(folder / "drug_similarity.npy", SIMILARITY)
    return {"drug_similarity.npy": folder / "drug_similarity.npy"} | written(
        folder,
        {
            "drug.txt": "DB1\nDB2\nDB3\n",
            "protein.txt": "P1\nP2\nP1\n",
            "mat_drug_protein.txt": "0 1 0 \n0 0 0\n1 0 1\n",
            "mat_drug_drug.txt": "0 1 0\n1 0 1\n0 1 0\n",
            "luo_drug_smiles.csv": 'DrugBank ID,Name,SMILES\nDB1,"a, b",C\nDB2,b,CC\nDB3,c,N\n',
            "luo_protein_sequences.csv": "index,sequence\nP1,MK\nP2,AA\nP1,MG\n",
        },
    )


def test_a_protein_that_is_there_twice_is_two_targets(tmp_path: Path) -> None:
    dataset = luo.convert(manifest(), luo_files(tmp_path))
    assert dataset.target_ids == ("P1", "P2", "P1-2") and dataset.sequences == ("MK", "AA", "MG")
    assert dataset.pairs.tolist() == [[0, 1], [2, 0], [2, 2]] and dataset.smiles == ("C", "CC", "N")
    assert dataset.edges.tolist() == [[0, 0, 1], [0, 1, 2]]
    assert len(checked_remarks(dataset)) == 1 and dataset.remarks[0].startswith("1 of 3 proteins")
    # who reads the dataset must know what the paper has beside it
    assert len(dataset.remarks) == 2 and dataset.remarks[1].endswith("of the paper are not public")
    assert dataset.drug_similarity.tolist() == SIMILARITY.tolist() and not dataset.affinity
    assert dataset.drug_ids == ("DB1", "DB2", "DB3") and dataset.relation_names == ("drug-drug",)


@pytest.mark.parametrize(
    ("name", "text", "what", "where"),
    [
        ("mat_drug_drug.txt", "0 1 0\n1 0 1\n0 0 0\n", "not symmetric", "mat_drug_drug.txt"),
        # as many above the diagonal as below, of other pairs
        ("mat_drug_drug.txt", "0 1 0\n0 0 0\n0 1 0\n", "not symmetric", "mat_drug_drug.txt"),
        ("mat_drug_drug.txt", "0 1 0\n1 0 1\n", "2 rows instead of 3", "mat_drug_drug.txt"),
        ("mat_drug_protein.txt", "0 1 0\n0 0\n1 0 1\n", "2 cells instead of 3", "line 2"),
        ("mat_drug_protein.txt", "0 1 0\n0 0 0\n1 2 1\n", "neither 0 nor 1", "line 3"),
        ("luo_protein_sequences.csv", "index,sequence\nP1,MK\nP3,AA\nP1,MG\n", "'P3' stands where", "line 3"),
        ("luo_protein_sequences.csv", "index,sequence\nP1,MK\n", "1 texts for 3", "luo_protein"),
        (
            "luo_protein_sequences.csv",
            "index,sequence\nP1,MK\nP2,AA\nP1,MG\nP4,M\n",
            "4 texts for 3 names",
            "luo_protein",
        ),
        ("luo_drug_smiles.csv", "DrugBank ID,SMILES\nDB1,C\nDB2,CC\nDB3,N\nDB4,O\n", "4 texts for 3", "luo_drug"),
        ("mat_drug_protein.txt", "0 1 0\n0 0 0\n1 0 1\n0 0 0\n", "4 rows instead of 3", "mat_drug_protein.txt"),
        ("drug_similarity.npy", "no matrix", "is not a .npy file", "drug_similarity.npy"),
    ],
)
def test_a_faulty_matrix_is_refused_with_its_line(
    tmp_path: Path, name: str, text: str, what: str, where: str
) -> None:
    files = luo_files(tmp_path)
    files[name].write_text(text)
    with pytest.raises(CorruptData, match=what) as caught:
        luo.convert(manifest(), files)
    assert where in caught.value.where


def test_the_network_of_luo_has_its_published_numbers(repository: Layout, shared: Path) -> None:
    dataset = load_dataset(repository, "luo", DtiDataset, mirrors=[shared / "mirror"])
    assert (dataset.drugs, dataset.targets, len(dataset.pairs), 2 * len(dataset.edges)) == (708, 1512, 1923, 10036)
    assert all(dataset.smiles) and all(dataset.sequences) and dataset.drug_similarity.shape == (708, 708)
