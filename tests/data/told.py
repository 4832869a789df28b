"""What a person is told of faults: what, where and to do, word for word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import HarnessError
from harness.base.faults import SeveralFaults
from harness.data.manifest import DatasetManifest

Told = tuple[str, str, str]


def texts(error: HarnessError) -> Told:
    """The three parts of a message."""
    return error.what, error.where, error.todo


def told(do: Callable[[], object]) -> list[Told]:
    """All faults of one call."""
    with pytest.raises(HarnessError) as caught:
        do()
    error = caught.value
    return [texts(one) for one in error.errors] if isinstance(error, SeveralFaults) else [texts(error)]


def put(path: Path, content: str | bytes) -> Path:
    """A file of this content, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def manifest(converter: str, **parameters: Any) -> DatasetManifest:
    """As much of a manifest as a converter reads."""
    return cast(DatasetManifest, SimpleNamespace(name="mine", converter=converter, parameters=parameters))
