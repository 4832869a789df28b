"""The arrays of golden cases, as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData

Array = npt.NDArray[Any]


class Incomplete(Exception):
    """A case can't be run because something it needs does not lie beside it."""


def arrays_in(path: Path) -> Mapping[str, Array]:
    """All arrays of a golden file; read once until it changes."""
    return _read(path, path.stat().st_mtime_ns)


@cache
def _read(path: Path, _mtime: int) -> Mapping[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            # C order: what is compared and written must not depend on how it was stored
            return {name: np.asarray(archive[name], order="C") for name in archive.files}
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise CorruptData(f"not a readable golden: {error}", where=str(path), todo="get this file again") from None
