"""Readers of a container's answer, which trust nothing: each fault names file, place and value.

Nothing is loaded before its kind, size and header are checked; nothing is ever unpickled.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import InvalidPredictions
from harness.base.npy import NotNpy, read_npy
from harness.benchmarks.method_report import METHOD, read_report

_LONGEST_HEADER = 10 + 4096


def check_report(folder: Path) -> None:
    """Raise `InvalidPredictions` without a valid `method.json`: written last, it shows that the rest is whole."""
    read_report(regular_file(folder, METHOD))


def read_numbers(
    folder: Path, name: str, descr: str, shape: tuple[int, ...], axes: Sequence[str]
) -> npt.NDArray[Any]:
    """Finite numbers of exactly this type and shape; `axes` say what a place in it is called."""
    path = regular_file(folder, name)
    longest = np.dtype(descr).itemsize * int(np.prod(shape, dtype=np.int64)) + _LONGEST_HEADER
    size = path.stat().st_size
    if size > longest:
        raise InvalidPredictions(f"{name}: has {size} bytes, more than the {longest} a valid file can have")
    try:
        numbers = read_npy(path, descr, shape)
    except NotNpy as error:
        raise InvalidPredictions(f"{name}: {error}") from None
    except OSError as error:
        raise InvalidPredictions(f"{name}: can't be read: {error.strerror}") from None
    refuse_where(~np.isfinite(numbers), "not finite", name, numbers, axes)
    return numbers


def refuse_where(
    wrong: npt.NDArray[np.bool_], told: str, name: str, numbers: npt.NDArray[Any], axes: Sequence[str]
) -> None:
    """Raise `InvalidPredictions` if any number is wrong, with how many are and where the first one is."""
    if not wrong.any():
        return
    place = np.argwhere(wrong)[0]
    where = ", ".join(f"{axis} {step}" for axis, step in zip(axes, place, strict=True))
    count = int(wrong.sum())
    values = "value is" if count == 1 else "values are"
    raise InvalidPredictions(f"{name}: {count} {values} {told}, first at {where}: {numbers[tuple(place)]}")


def kind_of(folder: Path, name: str) -> int | None:
    """The mode of what lies under this name; a link is not followed."""
    try:
        return (folder / name).lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def regular_file(folder: Path, name: str) -> Path:
    """The path of a plain file directly in the folder; links and all else are refused."""
    mode = kind_of(folder, name)
    if mode is None:
        raise InvalidPredictions(f"{name}: is missing")
    if stat.S_ISLNK(mode):
        raise InvalidPredictions(f"{name}: is a symbolic link, not a file")
    if not stat.S_ISREG(mode):
        raise InvalidPredictions(f"{name}: is not a plain file")
    path = folder / name
    if path.stat().st_size == 0:
        raise InvalidPredictions(f"{name}: is empty")
    return path
