"""A second build is compared with the first, file by file, and what differs is named, with no engine at hand."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.layout import Layout
from harness.images import verify
from harness.images.locks import canonical_name
from harness.images.stages import EnvironmentBuild
from harness.images.trees import TreeEntry, environment_listing

FIRST = {
    "usr": TreeEntry("folder", 0o755, 0, 0, "", "", 0),
    "usr/a": TreeEntry("file", 0o644, 0, 0, "", "1" * 64, 3),
}
SECOND = {**FIRST, "usr/a": replace(FIRST["usr/a"], sha256="2" * 64)}
# whose digest is larger than that of the first, as that of the second is smaller
THIRD = {**FIRST, "usr/a": replace(FIRST["usr/a"], sha256="6" * 64)}


def _made(entries: dict[str, TreeEntry]) -> EnvironmentBuild:
    return EnvironmentBuild("sha256:2", entries, environment_listing(entries, {}), 1.0)


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        (FIRST, ""),
        (SECOND, "1 path with differences: /usr/a (sha256)"),
        (THIRD, "1 path with differences: /usr/a (sha256)"),
        (
            {**FIRST, "usr/a": replace(FIRST["usr/a"], mode=0o600, sha256="2" * 64, size=4)},
            "1 path with differences: /usr/a (mode, sha256, size)",
        ),
        ({}, "2 paths with differences: /usr (gone), /usr/a (gone)"),
        ({**FIRST, "b": FIRST["usr"]}, "1 path with differences: /b (new)"),
        # of many the first are named
        (
            {**FIRST, **{f"n{number}": FIRST["usr"] for number in range(9)}},
            f"9 paths with differences: {', '.join(f'/n{number} (new)' for number in range(8))}",
        ),
    ],
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
        lambda *_, **__: SimpleNamespace(name="first", environment_tree=_made(FIRST).tree),
    )
    for name in ("parts_of_layers", "tag_image"):
        monkeypatch.setattr(verify, name, lambda *_, **__: None)
    monkeypatch.setattr(verify, "building", lambda _: nullcontext())
    monkeypatch.setattr(verify, "_make_again", lambda *_: _made(entries))
    monkeypatch.setattr(verify, "image_entries", lambda *_: FIRST)
    supply: Any = SimpleNamespace(fetch=lambda *_: 0)
    (finding,) = verify._rebuild(engine, layout, ["_base"], "cpu", supply)
    assert finding.check == "rebuilt"
    assert finding.fault == fault
    assert len(removed) == 1


@pytest.mark.parametrize("names", [["_base"], ["constant"], ["constant", "_base", "als_wr"]])
def test_every_layer_is_made_again_with_its_own_parts_and_removed(
    monkeypatch: pytest.MonkeyPatch, layout: Layout, names: list[str]
) -> None:
    did: list[Any] = []
    images = SimpleNamespace(remove=lambda image, force: did.append(("remove", image, force)))
    engine: Any = SimpleNamespace(client=SimpleNamespace(images=images))
    layers = [SimpleNamespace(name=name) for name in ("_base", "_numpy")]
    built = {"_base": _made(FIRST), "_numpy": replace(_made(SECOND), image_id="sha256:3", seconds=2.25)}

    def answer(what: str, value: Any) -> Any:
        def note(*about: Any, **how: Any) -> Any:
            did.append((what, *about[1:], *how.items()))
            return value

        return note

    def entries(asked: Any, image: str) -> dict[str, TreeEntry]:
        assert asked is engine
        did.append(("entries", image))
        return FIRST

    def again(_engine: Any, _layout: Any, environment: Any, variant: str, rebuilds: dict[str, str]) -> Any:
        did.append(("make", environment.name, variant, [*rebuilds]))
        return built[environment.name]

    # where a person said that parts come from
    supply: Any = SimpleNamespace(fetch=answer("fetch", 0))

    def ensure(asked: Any, _layout: Layout, name: str, accelerator: str, **how: Any) -> Any:
        assert asked is engine and accelerator == "cuda" and how == {"supply": supply}
        return SimpleNamespace(name=f"first {name}", environment_tree=built[name].tree)

    patches: dict[str, Any] = {
        "needed_layers": answer("needed", [(one, "cpu") for one in layers]),
        "ensure_environment": ensure,
        "parts_of_layers": lambda chosen: [one.name for one, _ in chosen],
        "building": lambda _: nullcontext(),
        "_make_again": again,
        "tag_image": answer("tag", None),
        "image_entries": entries,
        "layers_of": lambda _: layers,
        "make_method": answer("method", ("sha256:m", 1.0)),
        "code_of_entries": lambda _: "c" * 64,
    }
    for name, patch in patches.items():
        monkeypatch.setattr(verify, name, patch)
    findings = list(verify._rebuild(engine, layout, names, "cuda", supply))
    tags = [one[2] for one in did if one[0] == "tag"]
    for tag, name in zip(tags, ("base", "numpy"), strict=True):
        stem, _, unique = tag.rpartition("-")
        assert stem == f"localhost/permafrost/rebuilt-{name}:{built[f'_{name}'].tree[:16]}" and len(unique) == 8
    methods = [name for name in names if not name.startswith("_")]
    assert did == [
        ("needed", names, "cuda"),
        ("fetch", ["_base"]),
        ("make", "_base", "cpu", []),
        ("tag", "sha256:2", tags[0]),
        ("fetch", ["_numpy"]),
        ("make", "_numpy", "cpu", ["_base"]),
        ("tag", "sha256:3", tags[1]),
        *(
            step
            for name in methods
            for step in (
                ("method", layout, name, tags[1], ("cached", False)),
                ("entries", "sha256:m"),
                ("remove", "sha256:m", True),
            )
        ),
        ("remove", tags[1], True),
        ("remove", tags[0], True),
    ]
    assert [(one.image, one.check, one.detail, one.fault) for one in findings] == [
        ("_base", "rebuilt", f"equal tree {built['_base'].tree[:16]}, built in 1.0 s", ""),
        ("_numpy", "rebuilt", f"equal tree {built['_numpy'].tree[:16]}, built in 2.2 s", ""),
        *((name, "rebuilt", f"equal code tree {'c' * 16}", "") for name in methods),
    ]


def test_of_many_differences_eight_are_named_and_seconds_are_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=iter([10.0, 11.26, 11.5]).__next__)
    monkeypatch.setattr("harness.images.verify.time", clock)
    check = verify._Timed("an image")
    assert check("a", "b") == verify.ImageFinding("an image", "a", "b", "", 1.3)
    assert check("a", "b", "c") == verify.ImageFinding("an image", "a", "b", "c", 0.2)
    assert [canonical_name(name) for name in ("A.b__C-d", "x")] == ["a-b-c-d", "x"]
