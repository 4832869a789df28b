"""However a person's table is written, it must be the same data; what is ambiguous must be refused."""

from __future__ import annotations

import gzip
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.data.cells import read_table
from harness.data.own_dataset import new_dataset
from tests.data.workbooks import rows_xml, write_workbook

# a sign that looks different is different: "b²" is not "b2"
DRUGS, DISEASES = ("Acétyl", "b² 2", "c;3"), ("pain", "flu, acute", "cold")
MATRIX = np.array([[1, 0, -1], [0, 1, 0], [1, 0, 0]])

Table = list[list[str]]


def as_matrix(labels: np.ndarray, number: Callable[[int], str] = str) -> Table:
    return [["", *DISEASES], *([drug, *map(number, row)] for drug, row in zip(DRUGS, labels, strict=True))]


def as_list(labels: np.ndarray) -> Table:
    """Every pair, unknown ones too, so that names come in the same order."""
    pairs = ((i, j) for i in range(len(DRUGS)) for j in range(len(DISEASES)))
    return [["Drug", "disease", "LABEL"], *([DRUGS[i], DISEASES[j], f"{labels[i, j]:+d}"] for i, j in pairs)]


def text_of(table: Table, separator: str, end: str = "\n") -> str:
    return "".join(separator.join(f'"{cell}"' if cell else "" for cell in row) + end for row in table)


def bare(table: Table, separator: str) -> str:
    """Without quotation marks, as spreadsheet programs write cells that need none."""
    rows = ([f'"{cell}"' if {*cell} & {separator, ";"} else cell for cell in row] for row in table)
    return "".join(separator.join(row) + "\n" for row in rows)


FORMS: dict[str, Callable[[Path], None]] = {
    "commas.csv": lambda path: _write(path, text_of(as_matrix(MATRIX), ",").encode()),
    "semicolons.csv": lambda path: _write(path, bare(as_matrix(MATRIX, "{},0".format), ";").encode()),
    "tabs.tsv": lambda path: _write(path, bare(as_matrix(MATRIX, "{}.0".format), "\t").encode()),
    "lines of Windows.csv": lambda path: _write(
        path, b"\xef\xbb\xbf" + text_of(as_matrix(MATRIX), ";", "\r\n").encode()
    ),
    "told.csv": lambda path: _write(path, b"sep=;\r\n" + text_of(as_matrix(MATRIX), ";", "\r\n").encode()),
    "told in UTF-16.csv": lambda path: _write(
        path, ("SEP=\t\n" + text_of(as_matrix(MATRIX), "\t")).encode("utf-16")
    ),
    "UTF-16.txt": lambda path: _write(path, text_of(as_matrix(MATRIX), "\t").encode("utf-16")),
    "UTF-16, the other way round.txt": lambda path: _write(
        path, ("\ufeff" + text_of(as_matrix(MATRIX), "\t")).encode("utf-16-be")
    ),
    "packed.csv.gz": lambda path: _write(path, gzip.compress(text_of(as_matrix(MATRIX), ",").encode(), mtime=0)),
    "NFD.csv": lambda path: _write(path, unicodedata.normalize("NFD", text_of(as_matrix(MATRIX), ",")).encode()),
    "blank lines.csv": lambda path: _write(path, (text_of(as_matrix(MATRIX), ";") + "\n;;;\n\n").encode()),
    "zeros left out.csv": lambda path: _write(
        path, text_of([[cell if cell != "0" else "" for cell in row] for row in as_matrix(MATRIX)], ",").encode()
    ),
    "list.csv": lambda path: _write(path, text_of(as_list(MATRIX), ",").encode()),
    "list.tsv": lambda path: _write(path, text_of([row[::-1] for row in as_list(MATRIX)], "\t").encode()),
    "book.xlsx": lambda path: _book(path, as_matrix(MATRIX)),
    "list.xlsx": lambda path: _book(path, as_list(MATRIX)),
}


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _book(path: Path, table: Table) -> None:
    cells = [[float(cell) if cell.lstrip("+-").isdecimal() else cell for cell in row] for row in table]
    write_workbook(path, {"other": rows_xml([["nothing"]]), "mine": rows_xml(cells)})


@pytest.fixture
def house(own: Layout) -> Layout:
    return replace(own, data=own.root / "data of one's own")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_data(house: Layout, tmp_path: Path, form: str) -> None:
    path = tmp_path / form
    FORMS[form](path)
    name = f"{path}#mine" if path.suffix == ".xlsx" else path
    dataset = new_dataset(house, "mine", {"associations": name})
    assert isinstance(dataset, RepurposingDataset)
    assert (dataset.drug_ids, dataset.disease_ids) == (DRUGS, DISEASES)
    np.testing.assert_array_equal(dataset.associations, MATRIX)
    np.testing.assert_array_equal(dataset.drug_features, np.eye(3))
    assert dataset.drug_feature_names == DRUGS


def test_a_list_without_labels_is_of_known_pairs(house: Layout, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("disease;drug\npain;a\nflu;b\n")
    dataset = new_dataset(house, "mine", {"associations": tmp_path / "pairs.csv"})
    assert isinstance(dataset, RepurposingDataset)
    assert (dataset.drug_ids, dataset.disease_ids) == (("a", "b"), ("pain", "flu"))
    np.testing.assert_array_equal(dataset.associations, np.eye(2))


def test_features_say_which_drugs_there_are(house: Layout, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text(";pain;flu\nb;1;0\na;0;1\n")
    (tmp_path / "drugs.csv").write_text("drug;mass\na;1,5\nb;\nc;1e3\n")
    dataset = new_dataset(
        house, "mine", {"associations": tmp_path / "matrix.csv", "drugs": tmp_path / "drugs.csv"}
    )
    assert isinstance(dataset, RepurposingDataset)
    np.testing.assert_array_equal(dataset.associations, [[0, 1], [1, 0], [0, 0]])
    np.testing.assert_array_equal(dataset.drug_features, [[1.5], [np.nan], [1000.0]])
    assert any("nothing is known of the diseases" in remark for remark in dataset.remarks)
    assert not any("nothing is known of the drugs" in remark for remark in dataset.remarks)


@pytest.mark.parametrize(("kind", "other"), [("drug", "disease"), ("disease", "drug")])
@pytest.mark.parametrize(
    ("columns", "remarks"), [("name,b,c,a", 0), ("name,a,b,c", 0), ("name,mass,b,c", 1), ("name,mass,b,c,a", 0)]
)
def test_similarities_stand_in_the_order_of_the_rows(
    house: Layout, tmp_path: Path, columns: str, remarks: int, kind: str, other: str
) -> None:
    names = columns.split(",")[1:]
    rows = (",".join([one, *(str(ord(one) * ord(name[0])) for name in names)]) for one in "abc")
    (tmp_path / "features.csv").write_text("\n".join([columns, *rows, ""]))
    (tmp_path / "pairs.csv").write_text(f"{kind},{other}\na,pain\nb,flu\n")
    tables = {"associations": tmp_path / "pairs.csv", f"{kind}s": tmp_path / "features.csv"}
    dataset = new_dataset(house, "mine", tables)
    assert isinstance(dataset, RepurposingDataset)
    ids, found, features = (getattr(dataset, f"{kind}_{of}") for of in ("ids", "feature_names", "features"))
    assert found == (ids if {*names} == {*"abc"} else tuple(names))
    np.testing.assert_array_equal(features, [[ord(one) * ord(name[0]) for name in found] for one in "abc"])
    assert sum(f"methods take them for similarities to the {kind}s" in one for one in dataset.remarks) == remarks
    assert not any(f"similarities to the {other}s" in one for one in dataset.remarks)


@pytest.mark.parametrize(
    ("text", "cell", "number"),
    [
        ("a;b\n0,5;1\n", "0,5", 0.5),
        ("a\tb\n-12,25\t1\n", "-12,25", -12.25),
        ("a;b\n0,5;1e-3\n", "0,5", 0.5),
        ("a;b\n1,50E-03;2,5\n", "1,50E-03", 0.0015),
        ("a;b\n-1,5e+2;1\n", "-1,5e+2", -150),
        ("a;b\n1,5;2.5E-03\n", "1,5", None),
        # a point says that commas are something else, for thousands perhaps
        ("a;b\n1,234;0.5\n", "1,234", None),
        ('a,b\n"1,234",1\n', "1,234", None),
        ("a;b\n1.234,5;1\n", "1.234,5", None),
        ("a;b\n1_000;1\n", "1_000", None),
        ("a;b\n1,234,567;1\n", "1,234,567", None),
        ("a;b\n1.5;1\n", "1.5", 1.5),
    ],
)
def test_a_comma_is_decimal_only_where_it_can_be_nothing_else(
    tmp_path: Path, text: str, cell: str, number: float | None
) -> None:
    (tmp_path / "table.csv").write_text(text)
    table = read_table(tmp_path / "table.csv")
    assert table.lines[1][1][0] == cell
    if number is None:
        with pytest.raises(ValueError):
            table.number(cell)
    else:
        assert table.number(cell) == number


WORD = st.text(st.sampled_from("abcXYZ 0.5,;\t\"'é"), min_size=1, max_size=6).map(str.strip).filter(bool)


@given(
    st.integers(2, 5).flatmap(lambda width: st.lists(st.lists(WORD, min_size=width, max_size=width), min_size=2))
)
@example([["0", ",0"], ["0", ","]])
@example([["0", "0\t0"], ["0", "0\t0"]])
def test_what_is_quoted_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, rows: Table) -> None:
    """With every cell in quotation marks there is one way to read a table, whatever its cells hold."""
    path = tmp_path_factory.mktemp("table") / "table.csv"
    for separator in ",;\t":
        lines = (separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
        path.write_text("\n".join(lines), encoding="utf-8")
        table = read_table(path)
        assert (table.separator, [row for _, row in table.lines]) == (separator, rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the table is empty"),
        (b"a,b,c\nx,y,1\n", r"the columns are a, b, c\n.*line 1\n.*drug, disease, label.*matrix"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "an old workbook"),
        (b"PK\x03\x04 no zip", "not a workbook"),
        ("drug,p\xe4in\na,1\n".encode("latin-1"), r"not UTF-8: .*\n.*line 1\n.*CSV UTF-8"),
        (b'drug,pain\na,"1\n', r"not a table separated by commas: .*\n.*line 2"),
        (gzip.compress(b"drug,pain\n", mtime=0)[:-6], "damaged: "),
    ],
)
def test_what_is_no_table_is_refused_with_a_reason(
    house: Layout, tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(CorruptData, match=message):
        new_dataset(house, "mine", {"associations": tmp_path / "table.csv"})


def test_a_packed_table_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.data.cells._MOST_BYTES", 1 << 20)
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"a,b\n" + bytes(1 << 20)))
    with pytest.raises(CorruptData, match="more than 1 MiB"):
        read_table(tmp_path / "table.csv.gz")


def test_a_matrix_that_lies_on_its_side_is_told(house: Layout, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text(",a,b\npain,1,0\nflu,0,1\n")
    (tmp_path / "drugs.csv").write_text("drug,mass\na,1\nb,2\n")
    (tmp_path / "diseases.csv").write_text("disease,chronic\npain,1\nflu,2\n")
    files = {"associations": "matrix.csv", "drugs": "drugs.csv", "diseases": "diseases.csv"}
    with pytest.raises(CorruptData, match=r"diseases stand where drugs belong(.|\n)*turn the matrix"):
        new_dataset(house, "mine", {word: tmp_path / file for word, file in files.items()})


def test_names_that_nobody_knows_are_told_as_such(house: Layout, tmp_path: Path) -> None:
    """A matrix lies on its side where drugs stand for diseases and diseases for drugs, and nowhere else."""
    (tmp_path / "matrix.csv").write_text(",flux,pein\nc,1,0\nd,0,1\n")
    (tmp_path / "drugs.csv").write_text("drug,mass\na,1\nb,2\n")
    (tmp_path / "diseases.csv").write_text("disease,chronic\npain,1\nflu,2\n")
    files = {"associations": "matrix.csv", "drugs": "drugs.csv", "diseases": "diseases.csv"}
    with pytest.raises(CorruptData) as caught:
        new_dataset(house, "mine", {word: tmp_path / file for word, file in files.items()})
    told = str(caught.value)
    assert all(f"'{name}'" in told for name in ("c", "d", "flux", "pein")) and "turn the matrix" not in told
