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
from tests.core.word_for_word import said

Told = tuple[str, str, str]


def told(do: Callable[[], object]) -> list[Told]:
    """All faults of one call."""
    with pytest.raises(HarnessError) as caught:
        do()
    error = caught.value
    return [said(one) for one in error.errors] if isinstance(error, SeveralFaults) else [said(error)]


def put(path: Path, content: str | bytes) -> Path:
    """A file of this content, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def manifest(converter: str, **parameters: Any) -> DatasetManifest:
    """As much of a manifest as a converter reads."""
    return cast(DatasetManifest, SimpleNamespace(name="mine", converter=converter, parameters=parameters))
