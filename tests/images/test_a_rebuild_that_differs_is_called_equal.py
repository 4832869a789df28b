"""A second build is compared with the first, file by file, and what differs is named, with no engine at hand."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.layout import Layout
from harness.images import verify
from harness.images.stages import EnvironmentBuild
from harness.images.trees import TreeEntry, environment_listing

FIRST = {
    "usr": TreeEntry("folder", 0o755, 0, 0, "", "", 0),
    "usr/a": TreeEntry("file", 0o644, 0, 0, "", "1" * 64, 3),
}
SECOND = {**FIRST, "usr/a": replace(FIRST["usr/a"], sha256="2" * 64)}


def _made(entries: dict[str, TreeEntry]) -> EnvironmentBuild:
    return EnvironmentBuild("sha256:2", entries, environment_listing(entries, {}), 1.0)


@pytest.mark.parametrize(
    ("entries", "fault"),
    [(FIRST, ""), (SECOND, "1 path with differences: /usr/a (sha256)"), ({}, "2 paths with differences: ")],
)
def test_a_rebuild_is_equal_only_with_every_file(
    monkeypatch: pytest.MonkeyPatch, layout: Layout, entries: dict[str, TreeEntry], fault: str
) -> None:
    removed: list[str] = []
    images = SimpleNamespace(remove=lambda image, force: removed.append(image))
    engine: Any = SimpleNamespace(client=SimpleNamespace(images=images))
    base = SimpleNamespace(name="_base")
    monkeypatch.setattr(verify, "needed_layers", lambda *_: [(base, "cpu")])
    monkeypatch.setattr(
        verify,
        "ensure_environment",
        lambda *_: SimpleNamespace(name="first", environment_tree=_made(FIRST).tree),
    )
    for name in ("fetch_parts", "find_sources", "parts_of_layers", "tag_image"):
        monkeypatch.setattr(verify, name, lambda *_, **__: None)
    monkeypatch.setattr(verify, "building", lambda _: nullcontext())
    monkeypatch.setattr(verify, "_make_again", lambda *_: _made(entries))
    monkeypatch.setattr(verify, "image_entries", lambda *_: FIRST)
    (finding,) = verify._rebuild(engine, layout, ["_base"], "cpu")
    assert finding.check == "rebuilt"
    assert finding.fault.startswith(fault) and bool(finding.fault) is bool(fault)
    assert len(removed) == 1
