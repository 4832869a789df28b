"""What golden cases hold: their arrays as they are stored, and what is written beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base import zips
from harness.base.errors import CorruptData
from harness.data.lines import json_in

Array = npt.NDArray[Any]

# what numpy raises of a damaged array or archive of arrays
UNREADABLE = (OSError, ValueError, TokenError, *zips.UNREADABLE)


class Incomplete(Exception):
    """A case can't be run because something it needs does not lie beside it."""


@dataclass(frozen=True)
class Golden:
    """The content of one case; an array of texts is handed over as a list of them."""

    arrays: Mapping[str, Array]
    # notes beside the arrays, which a method is handed too
    about: Mapping[str, Any] = field(default_factory=dict)


def golden_in(path: Path) -> Golden:
    """The content of an archive of arrays, with the notes in the JSON file of its name where there is one."""
    notes = path.with_suffix(".json")
    about = json_in(notes) if notes.is_file() else {}
    if not isinstance(about, dict):
        raise CorruptData(
            "notes of a golden that are no JSON object", where=str(notes), todo="get this file again"
        )
    return Golden(arrays_in(path), about)


def arrays_in(path: Path) -> Mapping[str, Array]:
    """All arrays of a golden file; read once until it changes."""
    return _read(path, path.stat().st_mtime_ns)


@cache
def _read(path: Path, _mtime: int) -> Mapping[str, Array]:
    try:
        # opened here, because what is no archive would be left open
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            # C order: what is compared and written must not depend on how it was stored
            return {name: np.asarray(archive[name], order="C") for name in archive.files}
    except UNREADABLE as error:
        raise CorruptData(f"not a readable golden: {error}", where=str(path), todo="get this file again") from None
