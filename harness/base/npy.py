"""The .npy files of this project: version 1.0, row by row, little endian, and byte for byte the same everywhere.

The header is written here and not by numpy, whose padding has changed between versions: a checksum of a whole file
must mean its content.
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MAGIC = b"\x93NUMPY\x01\x00"
_LONGEST_HEADER = 4096
# As numpy writes it, and nothing else that Python could read: in a literal, a few bytes can stand for a number too
# long to print. 18 digits are below 2**63, and numpy has at most 32 dimensions everywhere.
_HEADER = re.compile(
    r"\{ *+'descr' *+: *+'([!-&(-[\]-~]{1,20})' *+, *+'fortran_order' *+: *+(True|False) *+, *+"
    r"'shape' *+: *+\( *+((?:[0-9]{1,18} *+, *+){0,31}(?:[0-9]{1,18})?) *+\) *+,? *+\} *+\n?",
    re.ASCII,
)
_LARGEST = 2**63 - 1
# numpy's kinds: truth values, integers, floats
_NUMBERS = re.compile(r"[<>|=][biuf][1-9][0-9]?")

Array = npt.NDArray[Any]


class NotNpy(ValueError):
    """The bytes are not a plain .npy file of version 1.0."""


def npy_bytes(array: Array) -> bytes:
    """The file of one array; -0.0 and NaN are written in one form each."""
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array + 0.0).astype(array.dtype)
    if array.dtype.hasobject:
        raise NotNpy("object arrays are not data")
    shape = "(" + ", ".join(str(length) for length in array.shape) + ("," if array.ndim == 1 else "") + ")"
    header = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    padding = -(len(MAGIC) + 2 + len(header) + 1) % 64
    text = header.encode("ascii") + b" " * padding + b"\n"
    return MAGIC + struct.pack("<H", len(text)) + text + array.tobytes(order="C")


def read_header(path: Path) -> tuple[str, tuple[int, ...], int]:
    """Data type, shape and the offset of the data; nothing of the data is read and nothing is unpickled."""
    with path.open("rb") as stream:
        start = stream.read(len(MAGIC) + 2)
        if len(start) < len(MAGIC) + 2 or start[: len(MAGIC)] != MAGIC:
            raise NotNpy("is not a .npy file of version 1.0")
        (length,) = struct.unpack("<H", start[len(MAGIC) :])
        text = stream.read(min(length, _LONGEST_HEADER))
    if length > _LONGEST_HEADER or len(text) < length:
        raise NotNpy("has a header that is cut or too long")
    header = _HEADER.fullmatch(text.decode("latin-1"))
    if header is None:
        raise NotNpy("has a header that can't be read")
    descr, fortran, lengths = header.groups()
    shape = tuple(int(length) for length in lengths.split(",") if length.strip())
    if fortran == "True" and len(shape) > 1:
        raise NotNpy("is stored column by column; rows are needed")
    return descr, shape, len(MAGIC) + 2 + length


def read_npy(path: Path, descr: str, shape: tuple[int, ...]) -> Array:
    """An array of exactly this type and shape, and of exactly that many bytes; read-only."""
    found_descr, found_shape, offset = read_header(path)
    if found_descr != descr:
        raise NotNpy(f"has data type {found_descr} instead of {descr}")
    if found_shape != shape:
        raise NotNpy(f"has shape {_told(found_shape)} instead of {_told(shape)}")
    dtype = _number_type(descr)
    # numpy counts in 64 bits, and leaves lengths of 0 out when it does
    if math.prod(length for length in shape if length) * dtype.itemsize > _LARGEST:
        raise NotNpy(f"has shape {_told(shape)}, which no file can hold")
    expected = offset + math.prod(shape) * dtype.itemsize
    size = path.stat().st_size
    if size != expected:
        raise NotNpy(f"has {size} bytes instead of {expected}")
    array = np.fromfile(path, dtype=dtype, offset=offset).reshape(shape)
    array.setflags(write=False)
    return array


def _number_type(descr: str) -> np.dtype[Any]:
    # numpy reads a language of its own here, in which `m8[s/0]` divides by zero and ends the whole process
    if not _NUMBERS.fullmatch(descr):
        raise NotNpy(f"has data type {descr}, which is not of numbers")
    try:
        return np.dtype(descr)
    except TypeError:
        raise NotNpy(f"has data type {descr}, which there is not") from None


def _told(shape: tuple[int, ...]) -> str:
    return " x ".join(str(step) for step in shape) or "scalar"
