"""Which stages are built on which images, with which arguments and labels; what is removed again afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.images import stages
from harness.images.cards import CondaPart, Environment, EnvironmentCard, WheelsPart, environment_chain, epoch_of
from harness.images.identity import code_folders, code_tree
from harness.images.trees import TreeEntry, environment_listing, listing_digest

ENTRIES = {
    "usr": TreeEntry("folder", 0o755, 0, 0, "", "", 9),
    "usr/a": TreeEntry("file", 0o644, 0, 0, "", "1" * 64, 3),
    "usr/b": TreeEntry("file", 0o644, 0, 0, "", "2" * 64, 4),
    "usr/c": TreeEntry("link", 0, 0, 0, "a", "", 5),
}
CONFIG = {"User": "1000"}


class Site:
    """An engine and its builder that note everything they are asked for, in order."""

    name, socket = "docker", Path("/run/x.sock")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
        self.did: list[object] = []
        self.folders: list[Path] = []
        self.client = SimpleNamespace(images=self)
        self.layers = {"sha256:1": ["a", "b", "c"], "environment:1": ["a", "b"]}
        self.code: Mapping[str, TreeEntry] = {}
        patches: dict[str, Callable[..., Any]] = {
            "build": self._build,
            "fill_environment_context": self._fill,
            "fill_method_context": lambda layout, own, sdk, folder: self.did.append(
                ("fill", own, sdk, layout is self.layout and folder.name[:8])
            ),
            "copy_files": self._copy,
            "require_built": lambda folder, wheels: self.did.append(("require", folder.name[:8], *wheels)),
            "image_entries": lambda _engine, image: self._answer(("entries", image), ENTRIES),
            "image_config": lambda _engine, image: self._answer(("config", image), CONFIG),
            "code_entries": lambda _engine, image: self._answer(("code", image), self.code),
        }
        for name, patch in patches.items():
            monkeypatch.setattr(stages, name, patch)
        monkeypatch.setattr("harness.images.export.image_layers", lambda _engine, image: self.layers[image])
        clock = SimpleNamespace(monotonic=iter([100.0, 102.5]).__next__)
        monkeypatch.setattr("harness.images.stages.time", clock)
        self.layout = layout

    def _answer(self, what: object, answer: Any) -> Any:
        self.did.append(what)
        return answer

    def _build(self, engine: object, folder: Path, **asked: Any) -> str:
        assert engine is self
        self.folders.append(folder)
        debs = sorted(path.name for path in folder.glob("debs/*"))
        self.did.append({**asked, "debs": debs})
        return f"sha256:{sum(isinstance(one, dict) for one in self.did)}"

    def _fill(self, _layout: object, layers: Any, accelerator: str, folder: Path) -> None:
        self.did.append(("fill", [one.name for one in layers], accelerator))
        (folder / "debs").mkdir()
        (folder / "debs" / "x.deb").touch()
        (folder / "debs" / "y.deb").touch()

    def _copy(self, _engine: object, image: str, folder: str, target: Path) -> list[str]:
        self.did.append(("copy", image, folder, target.name))
        return ["a wheel"]

    def get(self, image: str) -> Any:
        return SimpleNamespace(tag=lambda *names: self.did.append(("tag", image, *names)))

    def remove(self, image: str, **how: object) -> None:
        self.did.append(("remove", image, how))

    def make(self, *layers: Environment, **choices: Any) -> stages.EnvironmentBuild:
        engine: Any = self
        return stages.make_environment(engine, self.layout, layers, "cuda", **choices)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, repository: Layout, tmp_path: Path) -> Site:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    return Site(monkeypatch, layout)


def layer(name: str, **card: Any) -> Environment:
    return Environment(name, Path(name), EnvironmentCard(summary="x", **card))


BASE = layer("_base", epoch=77, language="octave")
TOOLS = layer("_tools", language="r")
CONDA = layer("_toys", conda=CondaPart())
WHEELS = layer("_wheels", wheels=WheelsPart())


def asked(target: str, name: str, *, cached: bool = True, debs: bool = True, **arguments: str) -> dict[str, Any]:
    return {
        "target": target,
        "arguments": arguments,
        "labels": {"permafrost": "environment", "permafrost.environment": name},
        "epoch": 77,
        "cached": cached,
        "debs": ["x.deb", "y.deb"] if debs else [],
    }


def test_a_base_stands_on_nothing(site: Site) -> None:
    build = site.make(BASE, base=None)
    assert site.did == [
        ("fill", ["_base"], "cuda"),
        asked("base", "_base", ACCELERATOR="cuda"),
        ("entries", "sha256:1"),
        ("config", "sha256:1"),
    ]
    listing = environment_listing(ENTRIES, CONFIG)
    assert build == stages.EnvironmentBuild("sha256:1", ENTRIES, listing, 2.5)
    assert (build.tree, build.sizes) == (listing_digest(listing), [3, 4])
    (folder,) = site.folders
    assert folder.parent == site.layout.cache / "images" and folder.name.startswith("context-")
    assert not folder.exists(), "a context goes when its build is over"


@pytest.mark.parametrize("cached", [True, False])
def test_a_layer_stands_on_its_base(site: Site, cached: bool) -> None:
    site.make(BASE, TOOLS, base="below:1", cached=cached)
    assert site.did[:2] == [
        ("fill", ["_base", "_tools"], "cuda"),
        asked("r", "_tools", cached=cached, ACCELERATOR="cuda", BASE="below:1"),
    ]
    assert len(site.did) == 4


@pytest.mark.parametrize("cached", [True, False])
def test_conda_packages_are_unpacked_by_another_image_first(site: Site, cached: bool) -> None:
    build = site.make(BASE, CONDA, base="below:1", helper="conda:1", cached=cached)
    step = "localhost/permafrost/step-toys:1"
    assert site.did == [
        ("fill", ["_base", "_toys"], "cuda"),
        asked("conda", "_toys", cached=cached, CONDA_INSTALLER="conda:1", BASE="below:1"),
        ("tag", "sha256:1", "localhost/permafrost/step-toys", "1"),
        asked("octave", "_toys", cached=cached, debs=False, ACCELERATOR="cuda", BASE=step),
        ("remove", step, {"noprune": True}),
        ("entries", "sha256:2"),
        ("config", "sha256:2"),
    ]
    assert build.image_id == "sha256:2"


def test_without_an_installer_conda_is_one_stage(site: Site) -> None:
    site.make(BASE, CONDA, base="below:1")
    assert site.did[1] == asked("octave", "_toys", ACCELERATOR="cuda", BASE="below:1") and len(site.did) == 4


@pytest.mark.parametrize("cached", [True, False])
def test_wheels_are_compiled_beside_the_image(site: Site, cached: bool) -> None:
    site.make(BASE, WHEELS, base="below:1", helper="compiler:1", cached=cached)
    assert site.did == [
        ("fill", ["_base", "_wheels"], "cuda"),
        asked("wheels", "_wheels", cached=cached, COMPILER="compiler:1"),
        ("copy", "sha256:1", "opt/wheels", "wheels"),
        ("require", "context-", "a wheel"),
        ("remove", "sha256:1", {"force": True, "noprune": True}),
        asked("octave", "_wheels", cached=cached, ACCELERATOR="cuda", BASE="below:1"),
        ("entries", "sha256:2"),
        ("config", "sha256:2"),
    ]


USAGE = (
    "This container reads a job at /in and writes an answer to /out. `harness job write KEY DIR` makes both and "
    "prints the line that starts it (docs/by-hand.md in the repository of Permafrost)."
)


@pytest.mark.parametrize("cached", [True, False])
def test_a_method_is_its_environment_and_its_code(
    site: Site, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    code = code_tree(site.layout, "constant")
    monkeypatch.setattr(stages, "code_of_entries", lambda _: code)
    engine: Any = site
    made = stages.make_method(engine, site.layout, "constant", "environment:1", cached=cached)
    assert made == ("sha256:1", 2.5)
    own, *sdk = code_folders(site.layout, "constant")
    epoch = epoch_of(environment_chain(site.layout, "constant"))
    assert site.did == [
        ("fill", own, sdk, "context-"),
        {
            "target": "method",
            "arguments": {"ENVIRONMENT": "environment:1"},
            "labels": {
                "permafrost": "method",
                "permafrost.method": "constant",
                "permafrost.code": code,
                "permafrost.usage": USAGE,
            },
            "epoch": epoch,
            "cached": cached,
            "debs": [],
        },
        ("code", "sha256:1"),
    ]


@pytest.mark.parametrize(
    ("layers", "code", "why"),
    [
        (["a", "x", "c"], "", "is not built on its environment's layers"),
        (["a"], "", "is not built on its environment's layers"),
        (["b", "a", "c"], "", "is not built on its environment's layers"),
        # whatever its digest is compared with the right one: smaller or larger
        (["a", "b"], "0" * 64, "does not hold the code that the repository held when it was named"),
        (["a", "b"], "f" * 64, "does not hold the code that the repository held when it was named"),
    ],
)
def test_a_method_on_other_layers_or_of_other_code_is_refused(
    site: Site, monkeypatch: pytest.MonkeyPatch, layers: list[str], code: str, why: str
) -> None:
    site.layers["sha256:1"] = layers
    monkeypatch.setattr(stages, "code_of_entries", lambda _: code or code_tree(site.layout, "constant"))
    engine: Any = site
    with pytest.raises(ImageError) as refused:
        stages.make_method(engine, site.layout, "constant", "environment:1")
    assert refused.value.what == f"the image of method 'constant' {why}"
    assert refused.value.where == "looked at right after its build"
    assert refused.value.todo == "build it again; if files were being edited meanwhile, that is why"


def test_a_name_is_given_with_its_tag(site: Site) -> None:
    engine: Any = site
    stages.tag_image(engine, "sha256:9", "host:5000/permafrost/x:abc")
    assert site.did == [("tag", "sha256:9", "host:5000/permafrost/x", "abc")]
