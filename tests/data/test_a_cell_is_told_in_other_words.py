"""What is wrong with a line, a cell or a table, word for word, and how cells are read."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.base.faults import all_faults
from harness.data import cells, lines
from tests.data.told import put, told


def test_a_line_or_a_number_that_is_none_says_where(tmp_path: Path) -> None:
    path = put(tmp_path / "x.txt", b"\xef\xbb\xbfa b\n\n  c   d \ne f g\n")
    read = lines.lines_of(path, 2)
    assert [next(read), next(read)] == [(f"{path}: line 1", ["a", "b"]), (f"{path}: line 3", ["c", "d"])]
    restore = "restore the original file"
    assert told(lambda: next(read)) == [("3 cells instead of 2", f"{path}: line 4", restore)]
    assert told(lambda: next(lines.lines_of(put(path, "a"), 2)))[0][0] == "1 cell instead of 2"
    read = lines.lines_of(put(path, "é b\n\n".encode() + b"c \xe9\n"), 2)
    assert next(read) == (f"{path}: line 1", ["é", "b"])
    assert told(lambda: next(read)) == [("not UTF-8", f"{path}: line 3", restore)]
    span = range(3, 6)
    assert [lines.number_in(text, span, "drug", "here") for text in ("3", "5", "05", "4".zfill(30))] == [
        3,
        5,
        5,
        4,
    ]
    # of more digits than that nothing is counted, and of thousands Python makes no number
    for text in ("2", "6", "-3", "3.0", "x", "", "\N{SUPERSCRIPT FOUR}", "4".zfill(31), "1" * 5000):
        assert told(partial(lines.number_in, text, span, "drug", "here")) == [
            (f"drug '{text}' is not one of 3 to 5", "here", f"{restore}, or correct the number")
        ]
    files = {"x.txt": path}
    assert lines.path_of("x.txt", files) == path
    assert told(lambda: lines.path_of("y", files)) == [
        ("the file 'y' is not listed", "files", "list it under [[files]] in dataset.toml")
    ]
    put(path, "\ufeff{}")
    assert lines.table_in("x.txt", files) == {}
    put(path, "[]")
    assert told(lambda: lines.table_in("x.txt", files)) == [("not a JSON object", str(path), restore)]
    for content in (b"{", b"\xff", b"[" * 100_000):
        ((what, where, todo),) = told(partial(lines.json_in, put(path, content)))
        assert what.startswith("not JSON: ") and (where, todo) == (str(path), restore)


def test_a_table_that_is_none_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"

    def read(content: str | bytes) -> list[tuple[int, list[str]]]:
        return [*cells.read_table(put(path, content)).lines]

    assert told(lambda: read(b"\xd0\xcf\x11\xe0x")) == [
        ("an old workbook, or one with a password", str(path), "save it as .xlsx, without a password")
    ]
    assert told(lambda: read(b"a,b\nc,\xe9\n")) == [
        (
            "not UTF-8: invalid continuation byte",
            f"{path}: line 2",
            "save the table as UTF-8 (spreadsheet programs: 'CSV UTF-8')",
        )
    ]
    # a byte order mark is no part of a line, and lines end in every way that a table's may
    for content, line in (
        (b"\xef\xbb\xbfa,b\n\xe9,c\n", 2),
        (b"\xe9,b\nc,d\n", 1),
        (b"a,b\rc,d\re,\xe9\r", 3),
        (b"a,b\r\nc,\xe9\r\n", 2),
        ("a,\u010a\nb,".encode("utf-16") + "\ud80a".encode("utf-16-le", "surrogatepass") + b"c\0", 2),
    ):
        ((what, where, _),) = told(partial(read, content))
        assert what.startswith("not UTF-8: ") and where == f"{path}: line {line}"
    for separator, name in ((",", "commas"), ("\t", "tabs"), (";", "semicolons")):
        ((what, where, todo),) = told(partial(read, f'a{separator}b\nc{separator}"d\ne{separator}f\n'))
        assert what.startswith(f"not a table separated by {name}: ") and where.startswith(f"{path}: line ")
        assert todo == "give every quotation mark its partner, and no cell more than 131,072 characters"
    # a spreadsheet's word on what separates cells is no row: lines keep their numbers; a header may look like it
    assert read(b"sep=;\na,b;c\n1;2\n") == [(2, ["a,b", "c"]), (3, ["1", "2"])]
    assert read(b"sep=;,b\n1,2\n") == [(1, ["sep=;", "b"]), (2, ["1", "2"])]
    assert read(b"sep=|\na,b\n") == [(1, ["sep=|"]), (2, ["a", "b"])]
    packed = gzip.compress(b"a,b\n1,2\n")
    assert read(packed) == [(1, ["a", "b"]), (2, ["1", "2"])]
    ((what, where, todo),) = told(lambda: read(packed[:-9]))
    assert what.startswith("damaged: ") and (where, todo) == (str(path), "pack it again")
    monkeypatch.setattr(cells, "_MOST_BYTES", 3 << 20)
    assert len(cells.unpacked(put(path, b"x" * (3 << 20)))) == 3 << 20
    for content in (b"x" * ((3 << 20) + 1), gzip.compress(b"x" * ((3 << 20) + 1))):
        assert told(partial(cells.unpacked, put(path, content))) == [
            ("it holds more than 3 MiB", str(path), "give a smaller one")
        ]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_cells_are_read_whatever_separates_them(tmp_path: Path, separator: str, encoding: str) -> None:
    rows = [["a", "", "c"], ["", "", ""], [" e\u0301 ", "2", ""]]
    text = "".join(separator.join(row) + "\r\n" for row in rows) + "\n"
    table = cells.read_table(put(tmp_path / "x", text.encode(encoding)))
    assert [*table.lines] == [(1, ["a", "", "c"]), (3, ["\u00e9", "2", ""])] and table.separator == separator
    assert table.header == ["a", "", "c"] and table.where(3) == f"{tmp_path / 'x'}: line 3"


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a;b\n1,5;2\n3,5;4\n", ";"),
        ("a,b\n1;2;3,4\n5;6;7,8\n", ","),
        ("a\tb,c\n1\t2\n", "\t"),
        ("a,b;c\n1,2\n1;2\n", ","),
        # more lines count before more cells, and more cells where the lines are as many
        ("a\tb, c, d\n1\t2\n3\t4\n", "\t"),
        ("a,b;c;d\n1,2;3;4\n", ";"),
        # where marks have no partner, whatever separates cells
        ('a;b\n"x"y;2\n"z"w;3\n', ";"),
        # commas would make more cells, and quotation marks without a partner
        ('a;b,c,d\n"x";"1,2,3"\n"y";"4,5,6"\n', ";"),
        ("word\n1\n", ","),
        ("", ","),
        ('a;b,c\n"x,y";2\n"z,w";3\n', ";"),
    ],
)
def test_what_separates_cells_is_told_by_most_lines(tmp_path: Path, text: str, separator: str) -> None:
    assert cells._separator(text) == separator


@pytest.mark.parametrize(
    ("separator", "column", "cell", "number"),
    [
        (";", ["1,5", "2"], "1,5", 1.5),
        ("\t", ["x", "-,5"], "-,5", -0.5),
        (";", ["1.5", "1,5"], "1,5", None),
        (";", ["1,5", "2", "1.5"], "1,5", None),
        (",", ["1,5"], "1,5", None),
        ("", ["1,5"], "1,5", None),
        (";", ["1"], "1,", None),
        (";", ["1"], "1,000,000", None),
        (",", ["1"], " +1.5e3 ", 1500.0),
        (",", ["1"], "1_000", None),
        (",", ["1"], "", None),
        (",", ["1"], "nan", "nan"),
    ],
)
def test_a_number_is_one_however_it_is_written(separator: str, column: list[str], cell: str, number: Any) -> None:
    rows = [(1, ["9.9"]), *((place, [one]) for place, one in enumerate(column, start=2))]
    table = cells.RawTable(Path("x"), rows, separator)
    line = cells.TableLine({"c": cell}, "here", table)
    if number is None:
        with pytest.raises(ValueError, match=r"."):
            line.number("c")
    else:
        assert str(line.number("c")) == str(table.number(cell)) == str(float(number))


def test_the_columns_of_a_table_are_those_that_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"

    def read(text: str, *columns: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[dict[str, str]]:
        with all_faults() as faults:
            found = cells.table_of(put(path, text), *columns, faults=faults, optional=optional)
        return [dict(one.cells) for one in found]

    one, two = ("a", "b"), ("c", "d")
    assert read("B,A\n1,2\n", one) == [{"b": "1", "a": "2"}]
    assert read("d,c,e\n1,2,3\n", one, two, optional=("e", "f")) == [{"d": "1", "c": "2", "e": "3"}]
    where = f"{path}: line 1"
    assert told(lambda: read("a,x,b,Y\n", one, two, optional=("e",))) == [
        ("the columns are a, x, b, Y", where, "leave out x, Y; name them a, b, or c, d, and if wanted e")
    ]
    # a split under another name is not to be thrown away, where there may be one
    part = "if Split tells training from test pairs, name it part, else leave it out"
    rest = "name them a, b, and if wanted part"
    for header, todo in (("a,b,Split", f"{part}; {rest}"), ("a,b,x,Split", f"{part}; leave out x; {rest}")):
        assert told(partial(read, f"{header}\n", one, optional=("part",)))[0][2] == todo
    assert told(lambda: read("a,b,split\n", one))[0][2] == "leave out split; name them a, b"
    # where it has its own name already, another column is none
    assert told(lambda: read("a,b,Part,split\n", one, optional=("part",)))[0][2] == f"leave out split; {rest}"
    assert told(lambda: read("a\n", one)) == [("the columns are a", where, "name them a, b")]
    assert told(lambda: read("\n,\na,c\n", one)) == [("the columns are a, c", f"{path}: line 3", "name them a, b")]
    assert told(lambda: read("a,b,B\n", one)) == [("the columns are a, b, B", where, "name them a, b")]
    assert told(lambda: read("a,b,e,E\n", one, optional=("e",))) == [
        ("the columns are a, b, e, E", where, "name them a, b, and if wanted e")
    ]
    todo = "give a line of column names, and lines below it"
    assert told(lambda: read("\n;\n", one)) == [("the table is empty", str(path), todo)]
    assert told(lambda: read("a,b\n1\n1,2\n1,2,3\n", one)) == [
        ("1 cell instead of 2", f"{path}: line 2", "give every line the header's columns"),
        ("3 cells instead of 2", f"{path}: line 4", "give every line the header's columns"),
    ]

    def repeated() -> None:
        with all_faults() as faults:
            rows = cells.table_of(put(path, "a,b\n1,2\n1,3\n2,4\n1,5\n"), one, faults=faults)
            cells.check_once(((row, row.cells["a"]) for row in rows), "drug '{}'", faults)

    assert told(repeated) == [
        ("drug '1' is also in line 2", f"{path}: line 3", "keep one of the lines"),
        ("drug '1' is also in line 2", f"{path}: line 5", "keep one of the lines"),
    ]
    row = cells.TableLine({"a": "1", "b": ""}, "here", cells.RawTable(path, [], ","))
    row.check_full("a")
    assert told(lambda: row.check_full("a", "b")) == [
        ("the cell of 'b' is empty", "here", "fill it, or remove the line")
    ]


def test_a_table_is_listed_by_its_file_and_its_sheet(tmp_path: Path) -> None:
    files = {"x.xlsx": tmp_path / "1", "y#z.csv": tmp_path / "2"}
    assert cells.listed_table("x.xlsx#a b", files, "mine") == cells.TableFile(tmp_path / "1", "a b")
    assert cells.listed_table("y#z.csv", files, "mine") == cells.TableFile(tmp_path / "2", "")
    assert [cells.split_sheet(name) for name in ("a.xlsx", "a.xlsx#", "a.xlsx#b#c", "A.XLSX#b", "a.csv#b")] == [
        ("a.xlsx", ""),
        ("a.xlsx#", ""),
        ("a.xlsx", "b#c"),
        # as Windows may have it
        ("A.XLSX", "b"),
        ("a.csv#b", ""),
    ]
    assert str(cells.TableFile(Path("a"), "b")) == "a, sheet 'b'" and str(cells.TableFile(Path("a"))) == "a"
    assert told(lambda: cells.listed_table("w", files, "mine")) == [
        ("the file 'w' is not listed", "mine/dataset.toml: files", "list the tables under [[files]]")
    ]
