"""Arrays that an SDK has to read and write without losing a bit: all types and shapes that the protocol knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

TYPES = ("int8", "uint8", "int32", "int64", "float32", "float64")
SHAPES = ((), (0,), (1,), (5,), (1, 1), (3, 1), (1, 4), (0, 3), (3, 0), (4, 3))


def all_kinds() -> dict[str, npt.NDArray[Any]]:
    """An array of every type and shape, by name."""
    return {
        f"{kind}_{'x'.join(map(str, shape)) or 'none'}": _extremes(kind, shape)
        for kind in TYPES
        for shape in SHAPES
    }


def _extremes(kind: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Numbers where a wrong conversion shows: the ends of integer types, beyond 2^53; NaN, infinity, -0."""
    if kind.startswith("float"):
        few = np.array([np.nan, -np.inf, -0.0, np.finfo(kind).smallest_subnormal, 1 / 3], dtype=kind)
    else:
        ends = np.iinfo(kind)
        few = np.array([ends.min, ends.max, ends.max - 1, 0, 1], dtype=kind)
    return np.resize(few, shape).astype(kind)
