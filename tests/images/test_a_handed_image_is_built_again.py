"""Images that a mirror hands over: taken if none is here, refused if one is wrong; the oldest make room."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner
from docker.errors import ImageNotFound

from harness.base.errors import ImageError, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.cli import group
from harness.engine import Engine
from harness.images import Supply, handover, take_image
from harness.images.builder import BuildEngine
from harness.images.handover import ROOM_VARIABLE, hand_over, room_for_images
from harness.images.identity import code_tree, image_name
from harness.images.receipts import BuiltImage, receipt_path, write_receipt
from harness.images.record import recorded_tree
from tests.private_engine import UNCLOSED, private_cache, served

__all__ = ["private_cache", "served"]

METHOD = "constant"
GIB = 1 << 30


@pytest.fixture
def elsewhere(repository: Layout, tmp_path: Path) -> Layout:
    """The same tree on a machine whose cache is empty."""
    return Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")


@pytest.mark.parametrize("there", ["nothing", "a file", "a folder"])
def test_what_is_handed_over_is_written_unless_its_file_is_there(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    """A folder of its name is no file: whoever writes refuses it."""
    file = (
        tmp_path
        / "mirror"
        / "images"
        / f"{image_name(repository, METHOD).rpartition('/')[2].replace(':', '-')}.tar"
    )
    if there != "nothing":
        (file if there == "a folder" else file.parent).mkdir(parents=True)
    if there == "a file":
        file.touch()
    asked: list[Any] = []
    monkeypatch.setattr(handover, "save_images", lambda engine, layout, *others: asked.append(others))
    engine: Any = None
    assert hand_over(engine, repository, [METHOD], tmp_path / "mirror") == [file] and file.parent.is_dir()
    assert asked == ([] if there == "a file" else [([METHOD], file, "cpu")])


@pytest.mark.parametrize("text", ["no", "0", "1.5", "-1", "²"])
def test_a_limit_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(ROOM_VARIABLE, text)
    with pytest.raises(UsageError, match="no size") as refused:
        room_for_images()
    assert ROOM_VARIABLE in refused.value.where


@dataclass
class Shelf:
    """An engine with images of one GiB each, in the place of a real one."""

    layout: Layout
    held: dict[str, str] = field(default_factory=dict)
    name: str = "docker"
    socket: Path = Path("/run/shelf.sock")

    @property
    def client(self) -> Any:
        images = SimpleNamespace(get=self._get, remove=self._remove, list=lambda _: [])
        return SimpleNamespace(
            images=images,
            info=lambda: {"DockerRootDir": str(self.layout.cache)},
            df=lambda: {"LayersSize": len(self.held) * GIB},
        )

    @property
    def engine(self) -> BuildEngine:
        return cast(BuildEngine, self)

    def _get(self, name: str) -> Any:
        if name not in self.held:
            raise ImageNotFound(name)
        return SimpleNamespace(id=self.held[name])

    def _remove(self, name: str, **_: object) -> None:
        self._get(name)
        del self.held[name]

    def add(self, method: str, used: float | None = None) -> None:
        name = image_name(self.layout, method)
        self.held[name] = f"sha256:{method}"
        path = receipt_path(self.layout, self.engine, name)
        image = BuiltImage(
            engine=self.name,
            name=name,
            image_id=self.held[name],
            environment_tree=recorded_tree(self.layout, method),
            code_tree=code_tree(self.layout, method),
            size_bytes=GIB,
        )
        write_receipt(path, image)
        if used is not None:
            os.utime(path, (used, used))

    @property
    def methods(self) -> set[str]:
        return {name.rpartition("/")[2].partition(":")[0] for name in self.held}


@pytest.fixture
def shelf(elsewhere: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shelf:
    """Four images, used in the order of their names; a file of a fifth one is in a mirror."""
    shelf = Shelf(elsewhere)
    for number, method in enumerate(("als_wr", "bnnr", "constant", "popularity")):
        shelf.add(method, used=1e9 + number)
    name = image_name(elsewhere, "libmf").rpartition("/")[2].replace(":", "-")
    (tmp_path / "mirror" / "images").mkdir(parents=True)
    (tmp_path / "mirror" / "images" / f"{name}.tar").touch()

    def load(engine: BuildEngine, layout: Layout, file: Path) -> None:
        assert file == tmp_path / "mirror" / "images" / f"{name}.tar"
        shelf.add("libmf")

    monkeypatch.setattr(handover, "load_images", load)
    return shelf


def take(shelf: Shelf, method: str, tmp_path: Path, **more: Any) -> BuiltImage:
    supply = Supply([tmp_path / "mirror of others", tmp_path / "mirror"], network=False)
    return take_image(shelf.engine, shelf.layout, method, supply=supply, **more)


@pytest.mark.parametrize(
    ("room", "in_use", "left"),
    [
        (None, (), {"als_wr", "bnnr", "constant", "popularity", "libmf"}),
        ("5", (), {"als_wr", "bnnr", "constant", "popularity", "libmf"}),
        ("4", (), {"bnnr", "constant", "popularity", "libmf"}),
        ("4", ("als_wr",), {"als_wr", "constant", "popularity", "libmf"}),
        ("2", ("bnnr",), {"bnnr", "libmf"}),
        ("1", ("bnnr", "popularity"), {"bnnr", "popularity", "libmf"}),
    ],
)
def test_what_was_used_longest_ago_makes_room_but_nothing_in_use(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: str | None, in_use: Any, left: set[str]
) -> None:
    if room is None:
        monkeypatch.delenv(ROOM_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(ROOM_VARIABLE, room)
    assert take(shelf, "libmf", tmp_path, in_use=in_use).name == image_name(shelf.layout, "libmf")
    assert shelf.methods == left


def test_a_method_without_a_recorded_image_keeps_none_from_making_room(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names(layout: Layout, method: str, accelerator: Accelerator = "cpu") -> str:
        if method == "drrs":
            raise ImageError("environment 'drrs' was never built and recorded")
        return image_name(layout, method, accelerator)

    monkeypatch.setenv(ROOM_VARIABLE, "4")
    monkeypatch.setattr(handover, "image_name", names)
    take(shelf, "libmf", tmp_path)
    assert shelf.methods == {"bnnr", "constant", "popularity", "libmf"}


def test_images_for_a_gpu_make_room_by_their_own_last_use(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    def names(_layout: Layout, method: str, accelerator: Accelerator = "cpu") -> str:
        return f"localhost/permafrost/{method}:{accelerator}"

    removed: list[tuple[str, str]] = []

    def remove(_engine: BuildEngine, _layout: Layout, method: str, accelerator: Accelerator) -> None:
        removed.append((method, accelerator))
        shelf.held.popitem()

    monkeypatch.setattr(handover, "image_name", names)
    monkeypatch.setattr(handover, "remove_images", remove)
    # by their images for CPUs, popularity would be the last to go
    for place, method in enumerate(("popularity", "bnnr", "als_wr")):
        path = receipt_path(shelf.layout, shelf.engine, names(shelf.layout, method, "cuda"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (2e9 + place, 2e9 + place))
    handover._make_room(shelf.engine, shelf.layout, 2 * GIB, {"bnnr"}, "cuda")
    assert removed == [("popularity", "cuda"), ("als_wr", "cuda")]


def test_an_image_that_is_used_again_is_not_the_next_to_go(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOM_VARIABLE, "1")
    take(shelf, "als_wr", tmp_path)
    assert len(shelf.methods) == 4, "an image that is here needs no room"
    monkeypatch.setenv(ROOM_VARIABLE, "4")
    take(shelf, "libmf", tmp_path)
    assert shelf.methods == {"als_wr", "constant", "popularity", "libmf"}


def test_an_image_that_is_here_is_not_loaded(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(shelf, "libmf", tmp_path)
    monkeypatch.setattr(handover, "load_images", lambda *_: pytest.fail("it was loaded again"))
    assert take(shelf, "libmf", tmp_path).image_id == "sha256:libmf"


@pytest.mark.engine
@UNCLOSED
@pytest.mark.thorough
def test_a_machine_without_parts_gets_the_very_image(
    served: Engine, elsewhere: Layout, engine: Engine, repository: Layout, tmp_path: Path
) -> None:
    """As a person does it; the other machine has an engine and nothing else."""
    mirror = tmp_path / "mirror"
    done = CliRunner().invoke(group, ["image", "export", str(mirror), METHOD, "--images", "--json"])
    assert done.exit_code == 0, done.output
    (file,) = json.loads(done.stdout)["images"]
    before = Path(file).stat()
    assert hand_over(engine, repository, [METHOD], mirror) == [Path(file)]
    assert Path(file).stat() == before, "what is there is not written again"
    image = take_image(served, elsewhere, METHOD, supply=Supply([mirror], network=False))
    assert (image.environment_tree, image.code_tree) == (
        recorded_tree(repository, METHOD),
        code_tree(repository, METHOD),
    )
    assert image.built_seconds == 0 and not elsewhere.parts.exists(), "nothing was built"
    served.client.images.remove(image.name, force=True)


@pytest.mark.engine
@UNCLOSED
def test_a_damaged_file_is_a_fault_and_nothing_is_built_instead(
    served: Engine, elsewhere: Layout, engine: Engine, repository: Layout, tmp_path: Path
) -> None:
    (file,) = hand_over(engine, repository, [METHOD], tmp_path)
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(ImageError, match="not all of it"):
        take_image(served, elsewhere, METHOD, supply=Supply([tmp_path, *_parts(repository)], network=False))
    assert served.image_id(image_name(elsewhere, METHOD)) is None


def _parts(repository: Layout) -> list[Path]:
    """A mirror with all that a build would need."""
    return [repository.parts]
