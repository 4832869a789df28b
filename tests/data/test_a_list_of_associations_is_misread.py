"""Associations as a list or a matrix: every fault by its place, every cell where it belongs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.benchmarks.new_item import NewItem
from harness.benchmarks.repurposing import BENCHMARK
from harness.benchmarks.repurposing.checks import checked_remarks
from harness.benchmarks.repurposing.converters import csv
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.extension import with_new
from harness.benchmarks.repurposing.released import ReleasedDataset
from harness.benchmarks.repurposing.splits.folds import OUTSIDE, TEST
from harness.data import cells
from harness.data.arrays import content_digest, keep, read
from tests.data.told import Told, manifest, put, told


def by_csv(folder: Path, associations: str, drugs: str = "", diseases: str = "") -> Any:
    contents = {"a.csv": associations, "d.csv": drugs, "e.csv": diseases}
    files = {name: put(folder / name, text) for name, text in contents.items() if text}
    names = {
        "associations": "a.csv",
        "drug_features": "d.csv" if drugs else "",
        "disease_features": "e.csv" if diseases else "",
    }
    return csv.convert(manifest("csv", **names), files)


LIST = "drug,disease,label\na,x,1\nb,y,-1\nb,x,0\n"
COLUMNS = (
    "for a list of pairs, name them drug, disease, label, part (label and part may be left out); for a matrix, "
    "give a line per drug and a column per disease, with 1, -1, 0 or nothing in the cells"
)


@pytest.mark.parametrize(
    ("associations", "drugs", "faults"),
    [
        ("drug,disease\na,\n", "", [("the pair has a name that is empty", "a.csv: line 2", "give both names")]),
        (
            LIST + "a,x,0\n",
            "",
            [("the pair 'a', 'x' is also in line 2", "a.csv: line 5", "keep one of the lines")],
        ),
        (
            "drug,disease\na,x\nb,x\na,x\n",
            "",
            [("the pair 'a', 'x' is also in line 2", "a.csv: line 4", "keep one of the lines")],
        ),
        (
            "drug,disease,label\na,x,2\nb,y,\nc,x,0.5\nc,y,nan\n",
            "",
            [
                ("label '2' is none of -1, 0, +1", "a.csv: line 2", "correct the label"),
                ("label '' is none of -1, 0, +1", "a.csv: line 3", "correct the label"),
                ("label '0.5' is none of -1, 0, +1", "a.csv: line 4", "correct the label"),
                ("label 'nan' is none of -1, 0, +1", "a.csv: line 5", "correct the label"),
            ],
        ),
        (
            "drug,part,disease\na,test,x\nb,TRAIN,y\nb,Valid,x\na,,y\n",
            "",
            [
                ("'Valid' is no part", "a.csv: line 4", "write train or test"),
                ("'' is no part", "a.csv: line 5", "write train or test"),
            ],
        ),
        ("drug,gene\na,x\nb,y\n", "", [("the columns are drug, gene", "a.csv: line 1", COLUMNS)]),
        (
            "drug,disease,part,Part\na,x,test,test\n",
            "",
            [("the columns are drug, disease, part, Part", "a.csv: line 1", COLUMNS)],
        ),
        (
            "Drug,disease,source,Year\na,x,s,1\nb,y,s,2\n",
            "",
            [("the columns are Drug, disease, source, Year", "a.csv: line 1", "leave out source, Year")],
        ),
        (
            "drug,disease,label,\na,x,1,\nb,y,1,\n",
            "",
            [("the columns are drug, disease, label, ", "a.csv: line 1", "leave out the column without a name")],
        ),
        (
            "drug,disease,split\na,x,train\nb,y,test\n",
            "",
            [
                (
                    "the columns are drug, disease, split",
                    "a.csv: line 1",
                    "if split tells training from test pairs, name it part, else leave it out",
                )
            ],
        ),
        (
            f"x,{','.join(f'e{n}' for n in range(20))}\na{',yes' * 20}\n",
            "",
            [
                (
                    "the columns are x, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10 and 9 more",
                    "a.csv: line 1",
                    f"{COLUMNS}, and not 'yes'",
                )
            ],
        ),
        # a list of pairs has a column of diseases
        (
            "Drugs,a,b\nd1,ja,nein\n",
            "",
            [("the columns are Drugs, a, b", "a.csv: line 1", f"{COLUMNS}, and not 'ja'")],
        ),
        # of a long text its beginning
        (
            f"Drugs,a,b\nd1,{'j' * 40}a,nein\n",
            "",
            [("the columns are Drugs, a, b", "a.csv: line 1", f"{COLUMNS}, and not '{'j' * 40}'")],
        ),
        ("drug,target\nd1,t\n", "", [("the columns are drug, target", "a.csv: line 1", COLUMNS)]),
        ("compound,a,b\nd1,ja,nein\n", "", [("the columns are compound, a, b", "a.csv: line 1", COLUMNS)]),
        (
            "Diseases,d1,d2\nflu,1,0\n",
            "",
            [
                (
                    "the lines of the matrix are said to be diseases: 'Diseases'",
                    "a.csv: line 1",
                    "give a line per drug and a column per disease; if the lines are drugs, say so in this cell",
                )
            ],
        ),
        (
            f"drug,disease,{','.join(f'x{n}' for n in range(14))}\na,b{',1' * 14}\n",
            "",
            [
                (
                    "the columns are drug, disease, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9 and 4 more",
                    "a.csv: line 1",
                    "leave out x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 and 2 more",
                )
            ],
        ),
        ("word\na\n", "", [("the columns are word", "a.csv: line 1", COLUMNS)]),
        # empty lines may stand before the header
        ("\n\nword\na\n", "", [("the columns are word", "a.csv: line 3", COLUMNS)]),
        (
            "\n,,\n,x,x\na,1,0\nb,0,1\n",
            "",
            [("'x' is also the name of column 2", "a.csv: line 3, column 3", "keep one of the columns")],
        ),
        (
            ",x,,x\na,1,0,1\n,1,1,1\nb,1,2,0\na,0,0,0\n",
            "",
            [
                ("the column has no name", "a.csv: line 1, column 3", "name it by its disease"),
                ("'x' is also the name of column 2", "a.csv: line 1, column 4", "keep one of the columns"),
                ("the line has no name", "a.csv: line 3", "name it in the first column"),
                ("label '2' is none of -1, 0, +1", "a.csv: line 4, column ''", "correct the label"),
                ("'a' is also in line 2", "a.csv: line 5", "keep one of the lines"),
            ],
        ),
        (
            LIST,
            "drug,f,g\na,1,heavy\n",
            [
                (
                    "'heavy' is not a number",
                    "d.csv: line 2, column 'g'",
                    "give a number, or leave an unknown value empty",
                )
            ],
        ),
        (
            LIST,
            "drug,f\na,1\nc,2\n",
            [
                (
                    "drug 'b' has no line in the drug features",
                    "a.csv: line 3",
                    "add it there (its cells may be empty), or remove it here",
                )
            ],
        ),
        (
            LIST,
            "drug,f\nc,2\n",
            [
                (
                    f"drug '{name}' has no line in the drug features",
                    f"a.csv: line {line}",
                    "add it there (its cells may be empty), or remove it here",
                )
                for name, line in (("a", 2), ("b", 3))
            ],
        ),
        *(
            (
                LIST,
                drugs,
                [
                    (
                        "the table has no features",
                        "d.csv",
                        "give a header, a first column of names and at least one feature column",
                    )
                ],
            )
            for drugs in ("drug,f\n", "drug\na\nb\n")
        ),
    ],
)
def test_a_table_of_associations_is_corrected_by_its_faults(
    tmp_path: Path, associations: str, drugs: str, faults: list[Told]
) -> None:
    assert told(lambda: by_csv(tmp_path, associations, drugs)) == [
        (what, f"{tmp_path}/{where}", todo) for what, where, todo in faults
    ]


def test_exchanged_tables_are_told_as_such(tmp_path: Path) -> None:
    drugs, diseases = "drug,f\nx,1\ny,2\n", "disease,f\na,1\nb,2\n"
    assert told(lambda: by_csv(tmp_path, LIST, drugs, diseases)) == [
        (
            "diseases stand where drugs belong, and drugs where diseases belong",
            str(tmp_path / "a.csv"),
            "turn the matrix, or exchange the two tables of features",
        )
    ]
    # a name that stands in one wrong column is that line's fault alone
    one = told(lambda: by_csv(tmp_path, "drug,disease\na,b\n", drugs, diseases))
    assert [what for what, *_ in one] == ["drug 'a' has no line in the drug features"]
    assert told(lambda: csv.convert(manifest("csv", associations=""), {}))[0][:2] == (
        "the file 'drug_features.csv' is not listed",
        "mine/dataset.toml: files",
    )
    empty = manifest("csv", associations="", drug_features="", disease_features="")
    assert told(lambda: csv.convert(empty, {})) == [
        (
            "there are no associations",
            "mine/dataset.toml: parameters.associations",
            "name the table that holds them",
        )
    ]


def test_drugs_and_diseases_that_go_by_the_same_numbers_are_not_exchanged(tmp_path: Path) -> None:
    dataset = by_csv(tmp_path, "drug,disease\n1,2\n2,1\n", "drug,f\n1,0.5\n2,0.25\n", "disease,f\n1,7\n2,8\n")
    assert (dataset.drug_ids, dataset.disease_ids) == (("1", "2"), ("1", "2"))
    assert dataset.associations.tolist() == [[0, 1], [1, 0]]


def test_a_list_and_a_matrix_are_the_same_dataset(tmp_path: Path) -> None:
    one = by_csv(tmp_path / "1", "Disease,Label,DRUG\nx,1,a\ny,-1,b\nx,0,b\nz,+1,a\n")
    other = by_csv(tmp_path / "2", "name,x,y,z\na,1,,1\nb,0,-1,\n")
    for dataset in (one, other):
        assert dataset.associations.tolist() == [[1, 0, 1], [0, -1, 0]]
        assert (dataset.drug_ids, dataset.disease_ids) == (("a", "b"), ("x", "y", "z"))
        assert (dataset.drug_feature_names, dataset.disease_feature_names) == (("a", "b"), ("x", "y", "z"))
        assert dataset.drug_features.tolist() == np.eye(2).tolist()
        assert dataset.disease_features.tolist() == np.eye(3).tolist()
        assert dataset.remarks == tuple(
            f"nothing is known of the {kind}s but their names: each resembles itself alone"
            for kind in ("drug", "disease")
        )
    bare = by_csv(tmp_path / "3", "drug,disease\nb,y\na,x\n", drugs="d,f,g\na,1,\nb,2,3\nc,,4\n")
    assert bare.associations.tolist() == [[0, 1], [1, 0], [0, 0]] and bare.disease_ids == ("y", "x")
    assert (bare.drug_ids, bare.drug_feature_names, len(bare.remarks)) == (("a", "b", "c"), ("f", "g"), 1)
    assert str(bare.drug_features.tolist()) == "[[1.0, nan], [2.0, 3.0], [nan, 4.0]]"


@pytest.mark.parametrize(
    ("cells_of_column", "is_matrix"),
    [(["1", "x"], False), (["1", "1", "x"], True), (["", "", "x"], True), (["x", "y", "1"], False), ([], False)],
)
def test_a_matrix_is_told_by_most_of_its_first_column(cells_of_column: list[str], is_matrix: bool) -> None:
    rows = [(1, ["n", "x"]), *((place, ["a", cell]) for place, cell in enumerate(cells_of_column, start=2))]
    assert csv._is_matrix(cells.RawTable(Path("x"), rows, ",")) is is_matrix
    assert not csv._is_matrix(cells.RawTable(Path("x"), [(1, ["n"]), (2, ["a"])], ","))


def test_every_pair_is_of_the_part_of_its_line_and_others_of_none(tmp_path: Path) -> None:
    made = by_csv(tmp_path, "Part,drug,label,disease\nTest,a,1,x\ntrain,a,-1,y\ntest,b,0,y\ntrain,c,1,x\n")
    assert made.associations.tolist() == [[1, -1], [0, 0], [1, 0]]
    assert made.released.tolist() == [[TEST, 0], [OUTSIDE, TEST], [0, OUTSIDE]]
    assert made.remarks[-1] == "2 pairs to test on: --split released"
    untested = by_csv(tmp_path, "drug,disease,part\na,x,train\nb,x,train\n")
    assert untested.remarks[-1] == "column `part` names no pair to test on: --split released needs some"
    without = by_csv(tmp_path, "drug,label,disease\na,1,x\na,-1,y\nb,0,y\nc,1,x\n")
    assert without.released is None and made.associations.tolist() == without.associations.tolist()
    assert content_digest(made) != content_digest(without)
    plain = {name: value for name, value in vars(without).items() if name != "released"}
    assert content_digest(without) == content_digest(RepurposingDataset(**plain))


def test_parts_are_kept_and_grow_with_drugs_of_ones_own(tmp_path: Path) -> None:
    made = by_csv(tmp_path, "drug,disease,part\na,x,test\nb,y,train\n", "n,f\na,1\nb,2\n")
    keep(replace(made, digest=content_digest(made)), tmp_path / "kept")
    again = read(tmp_path / "kept", "mine", BENCHMARK.dataset)
    assert isinstance(again, ReleasedDataset) and again.released is not None
    assert again.released.tolist() == [[TEST, OUTSIDE], [OUTSIDE, 0]]
    larger = with_new(again, [NewItem(kind="drug", name="c", text="f=3")])
    assert isinstance(larger, ReleasedDataset) and larger.released is not None
    assert larger.released.tolist() == [[TEST, OUTSIDE], [OUTSIDE, 0], [OUTSIDE, OUTSIDE]]
    with pytest.raises(CorruptData) as refused:
        checked_remarks(replace(again, released=again.released[:1]))
    assert refused.value.what == "'released' has shape (1, 2), its names say (2, 2)"
