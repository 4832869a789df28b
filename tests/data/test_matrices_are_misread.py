"""Matrices in made-up MATLAB files: turned, named and refused as their converter's parameters say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.io import savemat

from harness.base.errors import CorruptData, ManifestError
from harness.benchmarks.repurposing.converters.matlab import NameArray, _names, _variable, convert
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.data.manifest import DatasetManifest

SETTINGS: dict[str, Any] = {
    "associations": {"file": "all.mat", "variable": "known", "transpose": True},
    "drug_features": {"file": "all.mat", "variable": "drugs"},
    "disease_features": {"file": "all.mat", "variable": "diseases"},
    "drug_ids": {"file": "all.mat", "variable": "names"},
    "disease_ids": {"file": "table.csv", "axis": "columns", "encoding": "latin-1"},
}
CONTENT: dict[str, Any] = {
    # diseases are rows
    "known": [[1, 0, -1], [0, 1, 0]],
    "drugs": [[1.0, 0.5, 0.25], [0.5, 1.0, 0.0], [0.25, 0.0, 1.0]],
    "diseases": [[0.5, 7.0, 1.5], [2.0, 8.0, 2.5]],
    "names": np.array([["DB1"], ["DB2"], ["DB3"]], dtype=object),
}
# bytes in front of the first variable of a file
_HEADER = 128


def converted(folder: Path, *, content: dict[str, Any] | None = None, **settings: Any) -> RepurposingDataset:
    savemat(folder / "all.mat", {**CONTENT, **(content or {})})
    (folder / "table.csv").write_bytes("id,flu,fi\u00e8vre\nrow one,1,2\nrow two,3,4\n".encode("latin-1"))
    manifest = SimpleNamespace(name="made_up", converter="matlab", parameters={**SETTINGS, **settings})
    files = {name: folder / name for name in ("all.mat", "table.csv")}
    return convert(cast(DatasetManifest, manifest), files)


def test_drugs_are_rows_and_every_matrix_is_as_it_was(tmp_path: Path) -> None:
    dataset = converted(tmp_path)
    assert dataset.name == "made_up" and dataset.associations.dtype == np.int8
    assert dataset.associations.tolist() == [[1, 0], [0, 1], [-1, 0]]
    assert dataset.drug_features.tolist() == CONTENT["drugs"]
    assert dataset.disease_features.tolist() == CONTENT["diseases"]
    assert dataset.drug_ids == ("DB1", "DB2", "DB3") and dataset.disease_ids == ("flu", "fi\u00e8vre")


def test_columns_of_a_similarity_are_the_items_themselves(tmp_path: Path) -> None:
    dataset = converted(tmp_path)
    assert dataset.drug_feature_names == ("DB1", "DB2", "DB3")
    assert dataset.disease_feature_names == ("feature1", "feature2", "feature3")


def test_names_may_stand_in_the_rows_of_a_table(tmp_path: Path) -> None:
    """The header is none of them."""
    names = {"file": "table.csv", "axis": "rows", "encoding": "latin-1"}
    assert converted(tmp_path, disease_ids=names).disease_ids == ("row one", "row two")


def test_a_matrix_may_be_taken_as_it_is(tmp_path: Path) -> None:
    associations = {"file": "all.mat", "variable": "known"}
    assert converted(tmp_path, associations=associations).associations.tolist() == CONTENT["known"]


def test_a_variable_that_is_not_there_is_told_beside_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(CorruptData, match="there is no variable 'disease'") as caught:
        converted(tmp_path, disease_features={"file": "all.mat", "variable": "disease"})
    assert caught.value.where == "all.mat"
    assert caught.value.todo == "the file has: diseases, drugs, known, names"


@pytest.mark.parametrize(
    "content",
    [
        # as MATLAB writes with -v7.3, which is HDF5
        b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(64),
        b"no matrix at all",
        b"",
    ],
)
def test_a_file_that_is_none_of_matlab_or_of_another_version_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "old.mat"
    path.write_bytes(content)
    with pytest.raises(CorruptData, match="no file of MATLAB that can be read: ") as caught:
        _variable("old.mat", "known", {"old.mat": path})
    assert caught.value.where == "old.mat"
    assert caught.value.todo == "save it with MATLAB's option -v7, or restore the original file"


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_file_of_which_a_part_came_is_told_wherever_it_ends(tmp_path: Path, is_packed: bool) -> None:
    """What the library raises depends on where: one that nobody caught ended the command with a traceback."""
    path = tmp_path / "part.mat"
    savemat(path, {"known": CONTENT["known"]}, do_compression=is_packed)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(CorruptData) as caught:
            _variable("part.mat", "known", {"part.mat": path})
        # behind the header a file without variables ends, too
        said = "there is no variable 'known'" if end == _HEADER else "no file of MATLAB that can be read: "
        assert caught.value.what.startswith(said) and caught.value.where == "part.mat"


def test_a_packed_file_that_was_damaged_is_told(tmp_path: Path) -> None:
    path = tmp_path / "damaged.mat"
    savemat(path, {"known": CONTENT["known"]}, do_compression=True)
    whole = path.read_bytes()
    path.write_bytes(whole[: _HEADER + 8] + b"\xff" * 8 + whole[_HEADER + 16 :])
    with pytest.raises(CorruptData, match="no file of MATLAB that can be read: "):
        _variable("damaged.mat", "known", {"damaged.mat": path})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"id,fi\xe8vre\n", "names can't be read: "),
        (b"id,flu\n" + b"x" * 200_000, "names can't be read: "),
    ],
    ids=["empty", "empty lines", "another encoding", "an endless cell"],
)
def test_names_that_are_none_are_told(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "names.csv"
    path.write_bytes(content)
    with pytest.raises(CorruptData, match=said) as caught:
        _names(NameArray(file="names.csv", axis="columns"), {"names.csv": path})
    assert caught.value.where == "names.csv"
    # empty lines are no names, wherever they stand
    path.write_bytes(b"\nid,flu\n\nrow one,1\n\n\nrow two,2\n\n")
    assert _names(NameArray(file="names.csv", axis="columns"), {"names.csv": path}) == ("flu",)
    assert _names(NameArray(file="names.csv", axis="rows"), {"names.csv": path}) == ("row one", "row two")


def test_an_encoding_that_there_is_not_is_told_by_its_field(tmp_path: Path) -> None:
    names = {"file": "table.csv", "axis": "rows", "encoding": "latin-0"}
    with pytest.raises(ManifestError) as refused:
        converted(tmp_path, disease_ids=names)
    assert refused.value.where == (
        "made_up/dataset.toml: parameters.disease_ids.encoding: 'latin-0' is no encoding, such as utf-8 or latin-1"
    )


@pytest.mark.parametrize("empty", [[], "", np.empty((0, 0))])
def test_a_name_that_is_empty_is_told_by_its_number(tmp_path: Path, empty: Any) -> None:
    names = np.array([["DB1"], ["DB2"], ["DB3"]], dtype=object)
    names[1, 0] = empty
    with pytest.raises(CorruptData, match=r"^name 2 of variable 'names' is empty") as refused:
        converted(tmp_path, content={"names": names})
    assert refused.value.where == "all.mat"


def test_a_file_that_the_manifest_does_not_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"names 'more\.mat', which is none of the manifest's files"):
        converted(tmp_path, drug_features={"file": "more.mat", "variable": "drugs"})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"known": [[2, 0, 0], [0, 0, 0]]}, "variable 'known' has values that are no labels"),
        ({"known": [[0.5, 0, 0], [0, 0, 0]]}, "variable 'known' has values that are no labels"),
        ({"drugs": "a text"}, "variable 'drugs' is not a matrix of numbers"),
        ({"drugs": np.zeros((2, 2, 2))}, "variable 'drugs' is not a matrix of numbers"),
    ],
)
def test_what_is_no_matrix_of_labels_or_numbers_is_told(
    tmp_path: Path, content: dict[str, Any], said: str
) -> None:
    with pytest.raises(CorruptData, match=said) as caught:
        converted(tmp_path, content=content)
    assert caught.value.where == "all.mat"
