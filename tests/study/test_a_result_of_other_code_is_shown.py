"""Arithmetic that is kept must be of the same inputs and the same code, and a damaged file is not believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.study import cache
from harness.study.cache import cached

_CODE = "harness.benchmarks.combos.study.bucket_tests"


def test_it_is_computed_once_until_inputs_or_code_change(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Layout(layout.root, tmp_path / "cache", layout.local)
    calls: list[int] = []

    def compute() -> dict[str, list[float]]:
        calls.append(1)
        return {"second": [0.1, 0.2], "first": []}

    first = cached(here, ["inputs"], _CODE, compute)
    assert cached(here, ["inputs"], _CODE, compute) == first and len(calls) == 1
    cached(here, ["other inputs"], _CODE, compute)
    assert len(calls) == 2
    (path, *_) = sorted((tmp_path / "cache").rglob("*.json"))
    path.write_text(path.read_text().replace("0.2", "0.9"))
    assert all(cached(here, [own], _CODE, compute) == first for own in ("inputs", "other inputs"))
    assert len(calls) == 3, "the damaged one was made again"
    # who can write to the cache, and knows how digests are made, has no seal
    note = json.loads(path.read_text())
    forged = [{"second": [0.9, 0.9], "first": []}]
    path.write_text(json.dumps({**note, "content": forged, "digest": digest_of([path.stem, forged[0]])}))
    assert all(cached(here, [own], _CODE, compute) == first for own in ("inputs", "other inputs"))
    assert len(calls) == 4
    monkeypatch.setattr(cache, "_code", lambda module: "another meaning")
    cached(here, ["inputs"], _CODE, compute)
    assert len(calls) == 5


def test_a_value_is_kept_where_the_documentation_says_also_where_it_is_none(
    layout: Layout, tmp_path: Path
) -> None:
    """docs/auditing.md tells which folders of the cache may be removed."""
    here = Layout(layout.root, tmp_path / "cache", layout.local)
    calls: list[int] = []
    for _ in range(2):
        assert cached(here, [1], _CODE, lambda: calls.append(1)) is None
    assert calls == [1]
    assert {path.parent for path in (tmp_path / "cache").rglob("*.json")} == {tmp_path / "cache" / "studies"}
