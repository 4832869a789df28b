"""The bytes of an array are the same everywhere, and a file of another array is refused in plain words."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from harness.base.npy import MAGIC, NotNpy, npy_bytes, read_header, read_npy


@pytest.mark.parametrize(
    ("array", "descr", "shape", "data"),
    [
        (np.array([1, 2], dtype=">i4"), "<i4", "(2,)", b"\x01\0\0\0\x02\0\0\0"),
        (np.array([[1, 2], [3, 4]], dtype="i1", order="F"), "|i1", "(2, 2)", b"\x01\x02\x03\x04"),
        # zero and what is no number have one form each
        (np.array([-0.0, -np.nan], dtype="<f4"), "<f4", "(2,)", struct.pack("<ff", 0.0, np.nan)),
        (np.array([True]), "|b1", "(1,)", b"\x01"),
        (np.zeros((0, 3), dtype="<i8"), "<i8", "(0, 3)", b""),
    ],
)
def test_an_array_has_one_file(array: np.ndarray, descr: str, shape: str, data: bytes) -> None:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    written = npy_bytes(array)
    (length,) = struct.unpack("<H", written[8:10])
    assert written[:8] == MAGIC == b"\x93NUMPY\x01\x00"
    assert written[10 : 10 + length].decode() == text.ljust(length - 1) + "\n"
    assert (10 + length) % 64 == 0 and length - len(text) in range(1, 65)
    assert written[10 + length :] == data


@pytest.mark.parametrize("padding", range(0, 64, 7))
def test_a_header_ends_where_the_next_block_begins(padding: int) -> None:
    array = np.zeros((1,) * (padding // 3 + 1), dtype="i1")
    assert (len(npy_bytes(array)) - 1) % 64 == 0


def test_objects_are_no_data() -> None:
    with pytest.raises(NotNpy, match=r"^object arrays are not data$"):
        npy_bytes(np.array([{}], dtype=object))


def _write(
    path: Path, fortran: str = "False", shape: str = "(2, 2)", descr: str = "<i4", more: bytes = b""
) -> Path:
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    path.write_bytes(MAGIC + struct.pack("<H", len(text)) + text + bytes(16) + more)
    return path


def test_what_is_read_can_not_be_changed_by_chance(tmp_path: Path) -> None:
    array = read_npy(_write(tmp_path / "a.npy"), "<i4", (2, 2))
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1


@pytest.mark.parametrize("shape", ["(4,)", "()"])
def test_of_one_dimension_rows_are_columns(tmp_path: Path, shape: str) -> None:
    path = _write(tmp_path / "a.npy", "True", shape)
    assert read_header(path)[:2] == ("<i4", (4,) if shape == "(4,)" else ())


def test_another_array_is_refused_by_its_type_its_shape_or_its_size(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.npy")
    size = path.stat().st_size

    def told(path: Path, descr: str = "<i4", shape: tuple[int, ...] = (2, 2)) -> str:
        with pytest.raises(NotNpy) as refused:
            read_npy(path, descr, shape)
        return str(refused.value)

    assert told(path, "<i8") == "has data type <i4 instead of <i8"
    assert told(path, shape=(4,)) == "has shape 2 x 2 instead of 4"
    assert told(path, shape=()) == "has shape 2 x 2 instead of scalar"
    assert told(_write(path, more=b"x")) == f"has {size + 1} bytes instead of {size}"
    assert told(_write(path, "True")) == "is stored column by column; rows are needed"
    assert told(_write(path, descr="<c8"), "<c8") == "has data type <c8, which is not of numbers"
    assert told(_write(path, descr="<i7"), "<i7") == "has data type <i7, which there is not"
    half = 2**30
    assert told(_write(path, shape=f"({half}, {half})", descr="<i8"), "<i8", (half, half)) == (
        f"has shape {half} x {half}, which no file can hold"
    )
    path.write_bytes(MAGIC + b"\x05")
    assert told(path) == "is not a .npy file of version 1.0"
    path.write_bytes(MAGIC + struct.pack("<H", 100) + b"{")
    assert told(path) == "has a header that is cut or too long"
    path.write_bytes(MAGIC + struct.pack("<H", 2) + b"{}")
    assert told(path) == "has a header that can't be read"


@pytest.mark.parametrize(("length", "fits"), [(4096, True), (4097, False)])
def test_a_header_has_a_longest_length(tmp_path: Path, length: int, fits: bool) -> None:
    text = b"{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }".ljust(length)
    path = tmp_path / "a.npy"
    path.write_bytes(MAGIC + struct.pack("<H", length) + text + b"\x07")
    if fits:
        assert read_npy(path, "|i1", (1,)).tolist() == [7]
        assert read_header(path) == ("|i1", (1,), 10 + length)
        return
    with pytest.raises(NotNpy, match="cut or too long"):
        read_header(path)


def test_the_largest_file_that_there_could_be_is_refused_for_its_size(tmp_path: Path) -> None:
    shape = (649657 * 92737, 7 * 7 * 73 * 127 * 337)
    assert shape[0] * shape[1] == 2**63 - 1
    path = _write(tmp_path / "a.npy", shape=str(shape), descr="|i1")
    with pytest.raises(NotNpy, match="bytes instead of"):
        read_npy(path, "|i1", shape)
