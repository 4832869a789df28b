"""Labelled tables and matrices: every fault by its place, every row where it belongs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.benchmarks.repurposing.converters import matlab, tables
from tests.data.told import Told, manifest, put, told

TAB = "x\ty\na\t1\t-1\nb\t0\t\n"


def by_tables(folder: Path, associations: str, drugs: str, **how: Any) -> Any:
    contents = {"a.txt": associations, "d.txt": drugs, "e.txt": "f\nx\t1\ny\t2\n"}
    files = {name: put(folder / name, text) for name, text in contents.items()}
    features = {"drug_features": [{"file": "d.txt", **how}], "disease_features": [{"file": "e.txt"}]}
    return tables.convert(manifest("tables", associations="a.txt", **features), files)


@pytest.mark.parametrize(
    ("associations", "drugs", "how", "fault"),
    [
        (
            TAB.replace("\t\n", "\t2\n"),
            "f\na\t1\nb\t2\n",
            {},
            ("a value is no label", "a.txt", "use +1, -1, and 0 for what is unknown"),
        ),
        (
            TAB.replace("\t\n", "\t0\n"),
            "f\na\t1\n",
            {"rows": "in order"},
            (
                "1 rows instead of 2",
                "d.txt",
                "give one row for each row or column of the associations, in their order",
            ),
        ),
        (
            TAB.replace("\t\n", "\t0\n"),
            "f\na\t1\nc\t2\n",
            {},
            (
                "'b' is in this table or in the associations, but not in both",
                "d.txt",
                "correct the name, or the manifest's list 'unmatched' of this table",
            ),
        ),
        (
            TAB.replace("\t\n", "\t0\n"),
            "f\na\t1\nb\t2\n",
            {"unmatched": ["z"]},
            (
                "'z' is listed as unmatched, but is not",
                "d.txt",
                "correct the name, or the manifest's list 'unmatched' of this table",
            ),
        ),
        *(
            (
                TAB.replace("\t\n", "\t0\n"),
                drugs,
                {},
                ("lines differ in their number of cells", f"d.txt: line {line}", "restore the original file"),
            )
            for drugs, line in (
                ("f\na\t1\nb\t2\t3\n", 3),
                ("f\n\na\t1\n\nb\t2\t3\n", 5),
                ("", 1),
                ("f\n", 1),
                ("f\tg\th\na\t1\nb\t2\n", 1),
                ("f\na\nb\n", 1),
            )
        ),
        (
            TAB.replace("\t\n", "\t0\n"),
            # of several the one that is read first
            "f\nc\t1\nb\t1\na\t1\na\t2\nb\t2\n",
            {},
            ("'b' names more than one row", "d.txt", "give every row a name of its own"),
        ),
        (
            TAB.replace("\t\n", "\t0\n"),
            "f\na\t1\nb\tx\n",
            {},
            ("a cell is no number: could not convert string to float: 'x'", "d.txt", "restore the original file"),
        ),
    ],
)
def test_a_labelled_table_is_corrected_by_its_fault(
    tmp_path: Path, associations: str, drugs: str, how: dict[str, Any], fault: Told
) -> None:
    what, where, todo = fault
    assert told(lambda: by_tables(tmp_path, associations, drugs, **how)) == [(what, f"{tmp_path}/{where}", todo)]


@pytest.mark.parametrize("label", ["0.5", "-0.25", "1.0000001", "256", "-255", "inf", "", "1e-300"])
def test_what_is_only_nearly_a_label_is_none(tmp_path: Path, label: str) -> None:
    """Neither what would be cut to a label, nor what would wrap to one in a byte, nor what is missing."""
    no_label = ("a value is no label", f"{tmp_path}/a.txt", "use +1, -1, and 0 for what is unknown")
    associations = TAB.replace("\t\n", f"\t{label}\n")
    assert told(lambda: by_tables(tmp_path, associations, "f\na\t1\nb\t2\n")) == [no_label]
    one = matlab.Matrix(file="m.mat", variable="b")
    values = np.array([[1.0, float(label or "nan")]])
    assert told(lambda: matlab._labels(values, one)) == [
        ("variable 'b' has values that are no labels", "m.mat", matlab._ANOTHER)
    ]


def test_rows_of_features_are_found_by_name_or_in_order(tmp_path: Path) -> None:
    whole = TAB.replace("\t\n", "\t0\n")
    named = by_tables(tmp_path, whole, "n\tf\tg\nb\t1\t\n\nc\t3\t4\n", unmatched=["a", "c"])
    assert str(named.drug_features.tolist()) == "[[nan, nan], [1.0, nan]]"
    ordered = by_tables(tmp_path, whole, "f\nq\t1\nr\t2\n", rows="in order")
    assert ordered.drug_features.tolist() == [[1.0], [2.0]] and ordered.drug_ids == ("a", "b")
    assert ordered.associations.tolist() == [[1, -1], [0, 0]] and ordered.associations.dtype == np.int8
    assert (ordered.disease_ids, ordered.drug_feature_names) == (("x", "y"), ("f",))
    assert told(lambda: tables._read("z", {})) == [
        ("a parameter names 'z', which is none of the manifest's files", "", "add it under [[files]]")
    ]


def test_matrices_say_what_a_file_has_in_place_of_what_is_wanted(tmp_path: Path) -> None:
    from scipy.io import savemat

    path = tmp_path / "m.mat"
    savemat(path, {"b": np.array([[1, 2], [3, 4]]), "a": np.array([["x"]]), "c": np.zeros((2, 2, 2))})
    files = {"m.mat": path}

    def matrix(variable: str, **more: Any) -> Any:
        return matlab._matrix(matlab.Matrix(file="m.mat", variable=variable, **more), files)

    assert matrix("b").tolist() == [[1, 2], [3, 4]] and matrix("b", transpose=True).tolist() == [[1, 3], [2, 4]]
    assert told(lambda: matrix("z")) == [("there is no variable 'z'", "m.mat", "the file has: a, b, c")]
    for name in ("a", "c"):
        assert told(partial(matrix, name)) == [
            (f"variable '{name}' is not a matrix of numbers", "m.mat", matlab._ANOTHER)
        ]
    one = matlab.Matrix(file="m.mat", variable="b")
    assert told(lambda: matlab._labels(np.array([[2]]), one)) == [
        ("variable 'b' has values that are no labels", "m.mat", matlab._ANOTHER)
    ]
    assert matlab._labels(np.array([[1.0, -1, 0]]), one).dtype == np.int8
    assert told(lambda: matlab._path("z", files)) == [
        ("a parameter names 'z', which is none of the manifest's files", "", "add it under [[files]]")
    ]
    square, wide = np.zeros((2, 2)), np.zeros((2, 3))
    assert matlab._feature_names(square, ("a", "b")) == ("a", "b")
    assert matlab._feature_names(wide, ("a", "b")) == ("feature1", "feature2", "feature3")
    files["n.csv"] = put(tmp_path / "n.csv", "k,x,y\nr,1,2\ns,3,4\n")
    for axis, names in (("rows", ("r", "s")), ("columns", ("x", "y"))):
        assert matlab._names(matlab.NameArray(file="n.csv", axis=axis), files) == names
