"""Files handed to a container: arrays as .npy, texts as JSON Lines, each described for job.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.data.npy import npy_bytes

Array = npt.NDArray[Any]
Given = Array | Sequence[str]


def write_given(folder: Path, name: str, given: Given) -> dict[str, Any]:
    """Write one input and describe it: an array by shape and type, texts by their number."""
    # goldens group their arrays (param/weight); all inputs lie in one folder
    stem = name.replace("/", ".")
    if isinstance(given, np.ndarray):
        file, content = f"{stem}.npy", npy_bytes(given)
        told: dict[str, Any] = {"shape": list(given.shape), "dtype": given.dtype.newbyteorder("<").str}
    else:
        lines = [json.dumps(text, ensure_ascii=False) + "\n" for text in given]
        file, content = f"{stem}.jsonl", "".join(lines).encode()
        told = {"lines": len(lines)}
    (folder / file).write_bytes(content)
    return {"file": file, **told, "sha256": hashlib.sha256(content).hexdigest()}


def is_equal(one: Given, other: Given) -> bool:
    """Whether two inputs are the same; what is not a number equals itself."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return type(one) is type(other) and list(one) == list(other)
