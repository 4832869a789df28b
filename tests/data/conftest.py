"""A repository of the test's own, with a private cache and whatever datasets the test puts there."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.download import MIRROR_VARIABLE
from harness.base.layout import Layout


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """An empty repository; no mirror folder is set."""
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    (tmp_path / "datasets").mkdir()
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
