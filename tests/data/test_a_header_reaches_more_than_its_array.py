"""Whatever the header of a .npy file says, it is an array or a refusal with a reason: never another exception."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.npy import MAGIC, NotNpy, npy_bytes, read_header, read_npy


def _file(header: str, data: bytes = b"", *, length: int | None = None) -> bytes:
    text = header.encode("utf-8", errors="surrogateescape")
    return MAGIC + struct.pack("<H", len(text) if length is None else length) + text + data


def _said(descr: str = "'<f8'", fortran: str = "False", shape: str = "(2,)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n"


def _read(path: Path, content: bytes) -> str:
    """The refusal in words; the array must be whole where there is none."""
    path.write_bytes(content)
    try:
        descr, shape, _ = read_header(path)
        assert read_npy(path, descr, shape).shape == shape
    except NotNpy as refusal:
        return str(refusal)
    return ""


HOSTILE = {
    "a hexadecimal number of thousands of digits": _said(shape="(0x" + "f" * 4000 + ",)"),
    "a number of thousands of digits": _said(shape="(" + "9" * 4000 + ",)"),
    "an octal number": _said(shape="(0o17,)"),
    "a number with underscores": _said(shape="(1_0,)"),
    "a sum": _said(shape="(1+1,)"),
    "a negative length": _said(shape="(-1,)"),
    "a length beyond 64 bits": _said(shape=f"({2**63},)"),
    "a product beyond 64 bits": _said(shape="(999999999999, 999999999999)"),
    "nothing times more than 64 bits": _said(shape="(0, 999999999999, 999999999999)"),
    "nothing times what is too many bytes": _said(shape=f"(0, {10**18}, 2)"),
    "more dimensions than numpy has": _said(shape="(" + "1, " * 70 + ")"),
    "a deep tuple": _said(shape="(" * 1800 + ")" * 1800),
    "a deep list": _said(shape="[" * 1800 + "]" * 1800),
    "a boolean length": _said(shape="(True,)"),
    "a shape that is a number": _said(shape="2"),
    "an object type": _said(descr="'|O'"),
    "a record type": _said(descr="[('a', '<f8')]"),
    "a type with fields in text": _said(descr="'f8,f8'"),
    "complex numbers": _said(descr="'<c16'", shape="(1,)"),
    "a type of dates": _said(descr="'<M8[ns]'"),
    "a type that divides by zero": _said(descr="'m8[s/0]'"),
    "a type that there is not": _said(descr="'<f7'"),
    "a type of no bytes": _said(descr="'<f0'"),
    "a text of no length": _said(descr="'<U0'"),
    "control signs": _said(descr="'\x1b[2J'"),
    "digits of another script": _said(shape="(\u0662,)"),
    "half a sign": _said(descr="'\udcff'"),
    "a key twice": "{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
    "a call": _said(shape="(__import__('os').getpid(),)"),
    "nothing": "",
    "nothing but spaces": "{" + " " * 4000,
    "spaces where a length is due": _said(shape="(" + " " * 4000),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_header_is_refused_with_a_short_reason(tmp_path: Path, case: str) -> None:
    reason = _read(tmp_path / "a.npy", _file(HOSTILE[case], bytes(16)))
    assert reason and len(reason) < 300


@pytest.mark.parametrize("length", [0, 1, 40, 4097, 65535])
def test_a_header_that_lies_about_its_length_is_refused(tmp_path: Path, length: int) -> None:
    assert _read(tmp_path / "a.npy", _file(_said(), bytes(16), length=length))


@given(st.text(max_size=400))
def test_any_text_is_a_refusal_or_an_array(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    _read(tmp_path_factory.getbasetemp() / "text.npy", _file(text.encode(errors="replace").decode(), bytes(16)))


_NUMBERS = st.one_of(st.integers(), st.integers(-(2**70), 2**70), st.just(10**4500 // 10**500))


@given(
    descr=st.text("<>|=biufcOUSVM0123456789[],ns ", max_size=12),
    fortran=st.sampled_from(["True", "False", "1", "None"]),
    shape=st.lists(st.one_of(_NUMBERS.map(hex), _NUMBERS.map(oct), st.integers(0, 3).map(str)), max_size=40),
)
def test_any_fields_are_a_refusal_or_an_array(
    tmp_path_factory: pytest.TempPathFactory, descr: str, fortran: str, shape: list[str]
) -> None:
    header = _said(f"'{descr}'", fortran, "(" + "".join(f"{length}, " for length in shape) + ")")
    _read(tmp_path_factory.getbasetemp() / "fields.npy", _file(header[:4000], bytes(16)))


@pytest.mark.parametrize("kind", ["|i1", "|u1", "<i4", "<i8", "<f4", "<f8", "|b1"])
@pytest.mark.parametrize("shape", [(0,), (3,), (2, 0), (2, 3), (2, 1, 3)])
def test_what_numpy_and_this_project_write_is_read(tmp_path: Path, kind: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, dtype=kind)
    (tmp_path / "ours.npy").write_bytes(npy_bytes(array))
    with (tmp_path / "numpy.npy").open("wb") as stream:
        np.lib.format.write_array(stream, array, version=(1, 0))
    for name in ("ours.npy", "numpy.npy"):
        assert read_header(tmp_path / name)[:2] == (kind, shape)
        np.testing.assert_array_equal(read_npy(tmp_path / name, kind, shape), array)


def test_a_single_number_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.float64(2.5))
    assert read_npy(tmp_path / "a.npy", "<f8", ()) == 2.5


def test_a_shape_without_spaces_and_a_header_without_a_line_end_are_read(tmp_path: Path) -> None:
    assert not _read(
        tmp_path / "a.npy", _file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,2,)}", bytes(16))
    )
