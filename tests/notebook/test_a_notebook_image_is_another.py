"""The image of a notebook stands on the method's own, is built once, and built again where it is another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import ImageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import Supply, image_tree
from harness.images.cards import environment_chain, epoch_of, layers_of, load_environment
from harness.images.context import parts_of
from harness.images.identity import combined
from harness.images.lock import held_packages
from harness.images.receipts import BuiltImage, read_receipt, receipt_path, write_receipt
from harness.images.record import lock_digests
from harness.notebook import NotebookImage, ensure_notebook_image, image
from harness.notebook.image import notebook_image_name

BELOW = BuiltImage(
    engine="docker",
    name="localhost/permafrost/bnnr:1",
    image_id="sha256:below",
    environment_tree="e" * 64,
    code_tree="c" * 64,
    size_bytes=1,
)


class Site:
    """An engine and its builder that note what they are asked for, in order."""

    name = "docker"

    def __init__(self, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
        self.layout, self.supply = layout, cast(Supply, self)
        self.socket = layout.cache / "engine.sock"
        self.did: list[Any] = []
        self.tags: dict[str, str] = {}
        self.layers = {"sha256:below": ["a", "b"], "sha256:new": ["a", "b", "c"]}
        self.client = SimpleNamespace(info=dict, images=self)
        for name in ("ensure_image", "build", "fill_environment_context", "tag_image"):
            monkeypatch.setattr(image, name, getattr(self, name))
        monkeypatch.setattr("harness.images.export.image_layers", self.image_layers)

    def get(self, name: str) -> Any:
        return SimpleNamespace(attrs={"Size": "77"}) if name in self.tags else None

    def image_id(self, name: str) -> str | None:
        return self.tags.get(name)

    def ensure_image(self, engine: object, layout: Layout, method: str, *, supply: object) -> BuiltImage:
        assert engine is self and layout is self.layout and supply is self and method == "bnnr"
        return BELOW

    def fetch(self, layout: Layout, parts: Any) -> int:
        assert layout is self.layout
        self.did.append(("fetch", sorted(part.file for part in parts)))
        return len(parts)

    def fill_environment_context(self, layout: Layout, chain: Any, accelerator: str, folder: Path) -> None:
        assert layout is self.layout
        self.did.append(("fill", [one.name for one in chain], accelerator))
        (folder / "debs").mkdir()
        # one that the method's image holds, and one that it does not
        for name in (held_packages(chain[:-1])[0].part.file, "added.deb"):
            (folder / "debs" / name).touch()

    def build(self, engine: object, folder: Path, **asked: Any) -> str:
        assert engine is self and folder.parent == self.layout.cache / "images"
        assert folder.name.startswith("context-")
        self.did.append({**asked, "debs": [path.name for path in (folder / "debs").iterdir()]})
        return "sha256:new"

    def image_layers(self, engine: object, name: str) -> list[str]:
        assert engine is self
        return self.layers[name]

    def tag_image(self, engine: object, image_id: str, name: str) -> None:
        assert engine is self
        self.tags[name] = image_id

    def ensured(self) -> NotebookImage:
        return ensure_notebook_image(cast(Engine, self), self.layout, "bnnr", supply=self.supply)


@pytest.fixture
def site(repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    return Site(layout, monkeypatch)


def name_of(layout: Layout, tree: str) -> str:
    """As it is written down: another name would leave every image that was built behind."""
    locks = lock_digests(load_environment(layout, "_notebook_octave"), "cpu")
    return f"localhost/permafrost/notebook-bnnr:{digest_of({'method': tree, **locks})[:16]}"


def test_only_what_a_kernel_needs_is_put_on_the_methods_own_image(site: Site) -> None:
    name = name_of(site.layout, combined(BELOW.environment_tree, BELOW.code_tree))
    assert site.ensured() == NotebookImage(name, "sha256:new", BELOW, "_notebook_octave", "octave")
    layers = layers_of(environment_chain(site.layout, "bnnr"))
    added = load_environment(site.layout, "_notebook_octave")
    assert site.did == [
        ("fetch", sorted(part.file for part in parts_of(added, "cpu"))),
        ("fill", [*(one.name for one in layers), "_notebook_octave"], "cpu"),
        {
            "target": "debian",
            "arguments": {"BASE": "localhost/permafrost/bnnr:1"},
            "labels": {"permafrost": "notebook", "permafrost.method": "bnnr"},
            "epoch": epoch_of(layers),
            "debs": ["added.deb"],
        },
    ]
    assert site.tags == {name: "sha256:new"}
    assert read_receipt(receipt_path(site.layout, site, name)) == BuiltImage(  # type: ignore[arg-type]
        engine="docker",
        name=name,
        image_id="sha256:new",
        environment_tree=BELOW.environment_tree,
        code_tree=BELOW.code_tree,
        size_bytes=77,
    )
    assert not list((site.layout.cache / "images").glob("context-*"))


def test_an_image_is_built_once_and_again_where_the_engine_has_another(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = site.ensured()
    site.did.clear()
    with monkeypatch.context() as patch:
        # nor does it wait for anybody who builds
        patch.setattr(image, "building", None)
        assert site.ensured() == first and site.did == []
    site.tags[first.name] = "sha256:another"
    assert site.ensured() == first and len(site.did) == 3
    site.did.clear()
    site.tags.clear()
    assert site.ensured() == first and len(site.did) == 3


def test_what_another_process_built_meanwhile_is_taken(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    name = name_of(site.layout, combined(BELOW.environment_tree, BELOW.code_tree))

    @contextmanager
    def waited(layout: Layout) -> Iterator[None]:
        site.tags[name] = "sha256:theirs"
        site.layers["sha256:theirs"] = ["a", "b", "d"]
        theirs = BELOW.model_copy(update={"name": name, "image_id": "sha256:theirs"})
        write_receipt(receipt_path(layout, site, name), theirs)  # type: ignore[arg-type]
        yield

    monkeypatch.setattr(image, "building", waited)
    assert site.ensured().image_id == "sha256:theirs" and site.did == []


def test_one_on_layers_that_the_methods_image_has_no_more_is_built_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method's image that was built anew holds the same tree in other layers."""
    first = site.ensured()
    site.did.clear()
    site.layers["sha256:below"] = ["a", "b2"]
    site.layers["sha256:newer"] = ["a", "b2", "c"]
    monkeypatch.setattr(image, "build", lambda *_, **__: "sha256:newer")
    assert site.ensured().image_id == "sha256:newer" != first.image_id
    assert len(site.did) == 2 and site.tags == {first.name: "sha256:newer"}


@pytest.mark.parametrize("layers", [["a", "c"], ["b", "a", "c"], ["a"]])
def test_an_image_on_other_layers_is_refused(site: Site, layers: list[str]) -> None:
    site.layers["sha256:new"] = layers
    with pytest.raises(ImageError) as refusal:
        site.ensured()
    assert refusal.value.what == "the notebook's image of method 'bnnr' does not stand on the method's own layers"
    assert refusal.value.where == "looked at right after its build"
    assert refusal.value.todo == "build it again; if images were being removed meanwhile, that is why"
    assert site.tags == {} and not list((site.layout.cache / "images").glob("*/*.json"))


def test_a_name_says_what_the_image_holds(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    name = name_of(repository, image_tree(repository, "bnnr"))
    assert notebook_image_name(repository, "bnnr") == name
    for changed in ("image_tree", "lock_digests"):
        answer: Any = {"image_tree": "f" * 64, "lock_digests": {"debian.lock": "f" * 64}}[changed]
        with monkeypatch.context() as patch:
            patch.setattr(image, changed, lambda *_, answer=answer: answer)
            assert notebook_image_name(repository, "bnnr") not in ("", name)
