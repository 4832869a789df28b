"""Converted arrays in the cache: one folder of .npy files and texts, whose digest covers every value and name.

What is read back has that digest, or is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from harness.base.errors import CorruptData
from harness.base.files import digest_of, folder_in_the_making, write_atomic, write_json
from harness.base.npy import NotNpy, npy_bytes, read_header, read_npy
from harness.benchmarks import Dataset

NAMES_FILE = "names.json"


def content_digest(dataset: Dataset) -> str:
    """A hash over every value and name; the dataset's own name is not content."""
    content: dict[str, Any] = {
        name: hashlib.sha256(npy_bytes(array)).hexdigest() for name, array in dataset.arrays.items()
    }
    content |= {name: list(texts) for name, texts in dataset.names.items()}
    return digest_of(content)


def keep(dataset: Dataset, folder: Path) -> None:
    """Write a dataset; its folder appears when it is whole."""
    with folder_in_the_making(folder) as making:
        for name, array in dataset.arrays.items():
            # which names the file where a disk is full
            write_atomic(making / f"{name}.npy", npy_bytes(array))
        names = {name: list(texts) for name, texts in dataset.names.items()}
        write_json(making / NAMES_FILE, {**names, "digest": dataset.digest, "remarks": list(dataset.remarks)})


def read(folder: Path, name: str, model: type[Dataset]) -> Dataset:
    """A dataset as `keep` wrote it; hashed once per process, so that a changed file is found before it is used."""
    return _read(folder, name, model, (folder / NAMES_FILE).stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read(folder: Path, name: str, model: type[Dataset], _changed: int) -> Dataset:
    try:
        content = json.loads((folder / NAMES_FILE).read_text(encoding="utf-8"))
        digest, remarks = content.pop("digest"), tuple(str(remark) for remark in content.pop("remarks"))
        parts: dict[str, Any] = {key: tuple(texts) for key, texts in content.items()}
        for path in folder.glob("*.npy"):
            descr, shape, _ = read_header(path)
            parts[path.stem] = read_npy(path, descr, shape)
        dataset = cast(Callable[..., Dataset], model)(name=name, **parts)
        actual = content_digest(dataset)
        if actual != digest:
            raise NotNpy(f"digest is {actual}, not the recorded {digest}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptData(
            f"the kept arrays of dataset '{name}' were changed",
            where=f"{folder}: {error}",
            todo="remove that folder; they will be converted again",
        ) from None
    return replace(dataset, digest=actual, remarks=remarks)
