"""The environment in which sources are compiled is handed to the build that needs it, and only to that."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.layout import Layout
from harness.images import build as building_module
from harness.images import builder as client_module
from harness.images.build import ensure_environment, ensure_image
from harness.images.cards import Environment, environment_chain, layers_of, load_environment
from harness.images.identity import environment_image_name
from harness.images.preparation import parts_of_layers
from harness.images.record import TreeRecord, read_record, recorded_tree
from tests.images.test_an_image_is_trusted_by_its_name import Builder, FakeEngine, builder, engine

__all__ = ["builder", "engine"]


def test_sources_are_compiled_in_the_helper(
    engine: FakeEngine, private: Layout, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building_module, "compare_with_record", lambda *_: None)
    asked: Any = engine
    ensure_image(asked, private, "libmf", supply=builder.supply)
    helper = environment_image_name("_compiler", recorded_tree(private, "_compiler"))
    made = [text for text in builder.did if text.startswith("make ")]
    compiled = [text for text in made if text.endswith(f" with {helper}")]
    assert len(compiled) == 1 and compiled[0].startswith("make libmf cpu on ")
    assert any(text.startswith("make _compiler cpu on ") for text in made[: made.index(compiled[0])])
    assert made[-1] == f"make libmf on {environment_image_name('libmf', recorded_tree(private, 'libmf'))}"


def test_a_build_for_gpus_is_made_in_a_helper_for_cpus(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is run on a GPU there, and it would be built a second time."""
    asked: list[Any] = []

    def ensured(engine: object, layout: Layout, name: str, accelerator: str, supply: object) -> SimpleNamespace:
        asked.append((name, accelerator))
        return SimpleNamespace(name=f"image of {name}", environment_tree=f"tree of {name}")

    monkeypatch.setattr(building_module, "_ensure", ensured)
    monkeypatch.setattr(building_module, "make_environment", lambda *given, **images: (*given[2:], images))
    monkeypatch.setattr(Environment, "helper", property(lambda self: "_numpy" if self.name == "_torch" else None))
    fetched: list[Any] = []
    supply: Any = SimpleNamespace(fetch=lambda _, parts: fetched.extend(parts), announce=asked.append)
    layers = layers_of(environment_chain(repository, "_torch"))
    engine: Any = None
    made: Any = building_module._make(engine, repository, layers, "cuda", supply)
    images = {"base": f"image of {layers[-2].name}", "helper": "image of _numpy"}
    assert made == ((layers, "cuda", images), f"tree of {layers[-2].name}")
    assert asked == [(layers[-2].name, "cuda"), ("_numpy", "cpu"), "building environment _torch"]
    assert fetched == parts_of_layers([(layers[-1], "cuda")])


def test_an_environment_for_gpus_is_held_against_its_own_record(
    engine: FakeEngine, private: Layout, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layer below it that has no variant for them is that of every image."""
    held: dict[str, tuple[str, TreeRecord]] = {}

    def compare(environment: Environment, variant: str, _listing: object, record: TreeRecord) -> None:
        held[environment.name] = variant, record

    monkeypatch.setattr(building_module, "compare_with_record", compare)
    asked: Any = engine
    image = ensure_environment(asked, private, "_torch", "cuda", supply=builder.supply)
    torch = load_environment(private, "_torch")
    assert read_record(torch, "cuda") not in (None, read_record(torch, "cpu"))
    assert held.pop("_torch") == ("cuda", read_record(torch, "cuda"))
    assert held and {variant for variant, _ in held.values()} == {"cpu"}
    tree = recorded_tree(private, "_torch", "cuda")
    assert (image.name, image.environment_tree) == (environment_image_name("_torch", tree), tree)


@pytest.mark.parametrize(
    ("version", "can"),
    [
        ("20.10.24", True),
        ("22.0", True),
        ("22", True),
        ("23.0.1", False),
        ("28.2.2", False),
        ("", False),
        ("v9", False),
    ],
)
def test_the_last_docker_with_buildkit_inside_is_22(tmp_path: Path, version: str, can: bool) -> None:
    client = tmp_path / "docker"
    client.write_text(f'#!/bin/sh\n[ "$1" = buildx ] && exit 1\necho "{version}"; exit 1\n')
    client.chmod(0o755)
    assert client_module._has_buildkit(str(client)) is can
