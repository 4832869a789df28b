"""Files handed to a container: arrays as .npy, texts as JSON Lines, each described for job.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.npy import npy_bytes

Array = npt.NDArray[Any]
Given = Array | Sequence[str]


@dataclass(frozen=True)
class GivenFile:
    """One input as a file: its bytes, and what job.json says of it."""

    content: bytes
    description: dict[str, Any]


def as_file(name: str, given: Given) -> GivenFile:
    """The file of one input: an array is described by shape and type, texts by their number."""
    # goldens group their arrays (param/weight); all inputs lie in one folder
    stem = name.replace("/", ".")
    form: dict[str, Any]
    if isinstance(given, np.ndarray):
        file, content = f"{stem}.npy", npy_bytes(given)
        form = {"shape": list(given.shape), "dtype": given.dtype.newbyteorder("<").str}
    else:
        lines = [json.dumps(text, ensure_ascii=False) + "\n" for text in given]
        file, content = f"{stem}.jsonl", "".join(lines).encode()
        form = {"lines": len(lines)}
    return GivenFile(content, {"file": file, **form, "sha256": hashlib.sha256(content).hexdigest()})


def write_given(folder: Path, name: str, given: Given) -> dict[str, Any]:
    """Write one input; returns its description."""
    file = as_file(name, given)
    (folder / file.description["file"]).write_bytes(file.content)
    return file.description


def is_equal(one: Given, other: Given) -> bool:
    """Whether two inputs are the same; NaN equals NaN."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return type(one) is type(other) and list(one) == list(other)
