"""What is asked of an engine to write and to load a file of images, and what is undone when one is wrong."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError, ImageNotFound

from harness.base import large_files
from harness.base.errors import ImageError, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images import handover, transport
from harness.images.fetch import Supply
from harness.images.identity import code_tree, environment_image_name, image_name
from harness.images.receipts import receipt_path
from harness.images.record import recorded_tree
from harness.images.transport import SavedImage, SavedImages, load_images, save_images
from tests.core.word_for_word import said

METHOD, OTHER = "constant", "als_wr"
AGAIN = "save them again, with the same version of this repository: harness image save FILE NAMES"


def archive_of(**members: object) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, value in members.items():
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            entry = tarfile.TarInfo(name.replace("_", "."))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


class Shelf:
    """An engine and the client that waits for it; both note what they are asked for."""

    name, socket = "docker", Path("/run/shelf.sock")
    base_url, api_version = "http+docker://localhost", "1.41"

    def __init__(self, monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
        self.did: list[Any] = []
        self.client = SimpleNamespace(images=self, info=lambda: {"DockerRootDir": "/somewhere"})
        self.held: dict[str, str] = {}
        self.status, self.text, self.layout = 200, "", layout
        self.lines: list[dict[str, str]] = []
        self.loaded: dict[str, str] = {}
        self.refusal: APIError | None = None
        self.known: Any = lambda name: name in self.held or None
        monkeypatch.setattr(transport, "_patient", self._patient)
        monkeypatch.setattr(transport, "known_image", self._known)
        monkeypatch.setattr("harness.images.receipts._stores", {})
        for kind in ("ensure_image", "ensure_environment"):
            monkeypatch.setattr(transport, kind, self._ensure(kind))

    def _ensure(self, kind: str) -> Any:
        def ensure(engine: object, _layout: object, name: str, accelerator: str, *, supply: object) -> Any:
            assert engine is self
            self.did.append((kind, name, accelerator, supply))
            return SimpleNamespace(
                name=f"image of {name}", environment_tree=f"tree {name}", code_tree=f"code {name}"
            )

        return ensure

    @contextmanager
    def _patient(self, engine: object) -> Iterator[Any]:
        assert engine is self
        yield SimpleNamespace(
            base_url=self.base_url, api_version=self.api_version, get=self._get, load_image=self._load
        )

    def _get(self, url: str, *, params: object, stream: bool) -> Any:
        self.did.append((url, params, stream))
        whole = archive_of(manifest_json=[])

        def pieces(size: int) -> Iterator[bytes]:
            assert size == 1 << 20
            yield whole[:700]
            yield whole[700:]

        return SimpleNamespace(status_code=self.status, text=self.text, iter_content=pieces)

    def _load(self, stream: Any) -> list[dict[str, str]]:
        self.did.append(("load", Path(stream.name).name))
        self.held |= self.loaded
        if self.refusal is not None:
            raise self.refusal
        return self.lines

    def _known(self, engine: object, _layout: object, *about: str) -> Any:
        assert engine is self
        self.did.append(("known", *about))
        return self.known(about[0])

    def get(self, name: str) -> Any:
        if name in self.held.values():
            return SimpleNamespace(tag=lambda *names: self.held.update({":".join(names): name}))
        if name not in self.held:
            raise ImageNotFound("none")
        return SimpleNamespace(id=self.held[name])

    def remove(self, name: str, **how: object) -> None:
        self.did.append(("remove", name, how))
        del self.held[name]

    @property
    def engine(self) -> Any:
        return self


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, repository: Layout, tmp_path: Path) -> Shelf:
    return Shelf(monkeypatch, Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local"))


def test_all_images_are_asked_for_at_once_and_the_note_comes_last(shelf: Shelf, tmp_path: Path) -> None:
    file, supply = tmp_path / "here" / "x.tar", Supply(network=False)
    file.parent.mkdir()
    note = save_images(shelf.engine, shelf.layout, [METHOD, "_base"], file, "cuda", supply=supply)
    assert shelf.did == [
        ("ensure_image", METHOD, "cuda", supply),
        ("ensure_environment", "_base", "cuda", supply),
        (
            "http+docker://localhost/v1.41/images/get",
            {"names": [f"image of {METHOD}", "image of _base"]},
            True,
        ),
    ]
    assert note == SavedImages(
        images=tuple(
            SavedImage(
                name=name,
                accelerator="cuda",
                image=f"image of {name}",
                environment_tree=f"tree {name}",
                code_tree=f"code {name}",
            )
            for name in (METHOD, "_base")
        )
    )
    with tarfile.open(file) as archive:
        assert archive.getnames() == ["manifest.json", "permafrost.json"]
        stream = archive.extractfile("permafrost.json")
        assert stream is not None and stream.read().decode() == note.model_dump_json(indent=2) + "\n"
        assert archive.getmember("permafrost.json").mode == 0o644
    assert file.stat().st_mode & 0o777 == 0o644 and list(file.parent.iterdir()) == [file]


def test_an_engine_that_hands_nothing_out_leaves_no_file(shelf: Shelf, tmp_path: Path) -> None:
    file = tmp_path / "here" / "x.tar"
    file.parent.mkdir()
    shelf.status, shelf.text = 500, f" first {'x' * 400}"
    with pytest.raises(ImageError) as refused:
        save_images(shelf.engine, shelf.layout, [METHOD], file)
    assert said(refused.value) == (
        f"docker does not hand its images out: first {'x' * 394}",
        "/run/shelf.sock",
        "run `harness doctor`",
    )
    assert list(file.parent.iterdir()) == []
    file.write_text("mine")
    with pytest.raises(UsageError) as there:
        save_images(shelf.engine, shelf.layout, [METHOD], file)
    assert said(there.value) == ("there is a file of that name", str(file), "remove it, or name another")


@pytest.mark.parametrize("is_file", [False, True])
def test_a_folder_that_is_not_there_is_told_before_an_image_is_built(
    shelf: Shelf, tmp_path: Path, is_file: bool
) -> None:
    file = tmp_path / "below" / "x.tar"
    if is_file:
        file.parent.touch()
    with pytest.raises(UsageError) as refused:
        save_images(shelf.engine, shelf.layout, [METHOD], file)
    assert said(refused.value) == (
        f"the folder of '{file}' is not there",
        str(file.parent),
        "make it, or name another one",
    )
    assert shelf.did == [] and file.parent.exists() is is_file


def test_a_file_of_images_is_on_the_disk_before_it_has_its_name(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a power cut leaves it whole or absent; meanwhile it is hidden and says what it will be."""
    file, did = tmp_path / "here" / "x.tar", list[object]()
    file.parent.mkdir()

    def sync(_handle: int) -> None:
        (making,) = file.parent.iterdir()
        did.append((making.name.startswith(".x.tar."), file.exists()))

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(large_files, "sync_folder", lambda folder: did.append((folder, file.exists())))
    before = len([*Path("/proc/self/fd").iterdir()])
    save_images(shelf.engine, shelf.layout, [METHOD], file)
    assert did == [(True, False), (file.parent, True)]
    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_a_note_that_is_no_file_is_none(shelf: Shelf, tmp_path: Path) -> None:
    file = tmp_path / "x.tar"
    with tarfile.open(file, "w") as archive:
        entry = tarfile.TarInfo("permafrost.json")
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    with pytest.raises(ImageError, match=r"or not all of it: 'permafrost\.json'"):
        load_images(shelf.engine, shelf.layout, file)


def notes(layout: Layout, *names: str) -> list[SavedImage]:
    saved = []
    for name in names:
        is_method = not name.startswith("_")
        tree = recorded_tree(layout, name)
        saved.append(
            SavedImage(
                name=name,
                accelerator="cpu",
                image=image_name(layout, name) if is_method else environment_image_name(name, tree),
                environment_tree=tree,
                code_tree=code_tree(layout, name) if is_method else "",
            )
        )
    return saved


def file_of(layout: Layout, path: Path, *names: str, **more: object) -> Path:
    saved = notes(layout, *names)
    manifest: list[dict[str, object]] = [{"RepoTags": [one.image]} for one in saved]
    note = SavedImages(images=tuple(saved)).model_dump(mode="json")
    path.write_bytes(archive_of(**{"manifest_json": manifest, "permafrost_json": note, **more}))
    return path


def loaded(shelf: Shelf, file: Path) -> list[Any]:
    return [*load_images(shelf.engine, shelf.layout, file)]


def test_images_are_loaded_once_and_each_is_looked_at(shelf: Shelf, tmp_path: Path) -> None:
    file = file_of(shelf.layout, tmp_path / "x.tar", METHOD, "_base")
    saved = notes(shelf.layout, METHOD, "_base")
    shelf.loaded = {one.image: "sha256:new" for one in saved}
    looks = [("known", one.image, one.environment_tree, one.code_tree) for one in saved]
    assert loaded(shelf, file) == [True, True]
    assert shelf.did == [*looks, ("load", "x.tar"), *looks]
    shelf.did.clear()
    assert loaded(shelf, file) == [True, True]
    assert shelf.did == looks, "what is here is not loaded again"
    del shelf.held[saved[1].image]
    load_images(shelf.engine, shelf.layout, file)
    assert ("load", "x.tar") in shelf.did, "one that is missing is enough"


def refuse(_name: str) -> None:
    raise ImageError("it is another", where="there", todo="x")


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("line", f"docker can't load it: first {'e' * 394}"),
        ("engine", "docker can't load it: no room"),
        ("bare", "docker can't load it: bare"),
        ("missing", "{missing} is not in it, though its note names it"),
        ("wrong", "it is another (there)"),
    ],
)
def test_if_one_is_wrong_all_is_as_it_was(shelf: Shelf, tmp_path: Path, fault: str, why: str) -> None:
    file = file_of(shelf.layout, tmp_path / "x.tar", METHOD, "_base", OTHER)
    first, base, other = notes(shelf.layout, METHOD, "_base", OTHER)
    # one name stands for something else before, one for nothing, one is not touched by the loading
    shelf.held = {first.image: "sha256:old", base.image: "sha256:same"}
    shelf.held["keep:1"] = "sha256:old"
    shelf.loaded = {first.image: "sha256:new", other.image: "sha256:evil"}
    shelf.known = lambda _: None
    receipts = {one.image: receipt_path(shelf.layout, shelf.engine, one.image) for one in (first, base, other)}
    for path in receipts.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    if fault == "line":
        shelf.lines = [{"stream": "x"}, {"error": f"first {'e' * 400}"}, {"error": "second"}]
    elif fault == "engine":
        shelf.refusal = APIError("bare", explanation="no room")
    elif fault == "bare":
        shelf.refusal = APIError("bare")
    elif fault == "missing":
        shelf.known = lambda name: True if ("load", "x.tar") in shelf.did and name == first.image else None
    else:
        shelf.known = lambda name: refuse(name) if ("load", "x.tar") in shelf.did else None
    with pytest.raises(ImageError) as refused:
        load_images(shelf.engine, shelf.layout, file)
    assert said(refused.value) == (
        f"images were refused, and none is left of them: {why.format(missing=base.image)}",
        str(file),
        AGAIN,
    )
    assert shelf.held == {first.image: "sha256:old", base.image: "sha256:same", "keep:1": "sha256:old"}
    removed = [one for one in shelf.did if one[0] == "remove"]
    assert removed == [("remove", one.image, {"force": True}) for one in (first, other)]
    assert {name for name, path in receipts.items() if path.exists()} == {base.image}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"repositories": {"debian": {"12": "x", "11": "y"}}}, "it also holds debian:11, debian:12"),
        ({"manifest_json": [{"RepoTags": None}]}, "it also holds an image without a name"),
        (
            {"index_json": {"manifests": [{"annotations": {"io.containerd.image.name": "d:1", "x": "y"}}, {}]}},
            "it also holds d:1",
        ),
        (
            {"permafrost_json": b" " * ((1 << 20) + 1)},
            "no file of `harness image save`, or not all of it: 'permafrost.json'",
        ),
        ({"index_json": {"other": 1}}, "no file of `harness image save`, or not all of it: 'manifests'"),
    ],
)
def test_a_file_that_would_give_other_names_is_refused(
    shelf: Shelf, tmp_path: Path, more: dict[str, object], why: str
) -> None:
    file = file_of(shelf.layout, tmp_path / "x.tar", METHOD, **more)
    with pytest.raises(ImageError) as refused:
        load_images(shelf.engine, shelf.layout, file)
    assert said(refused.value) == (
        f"images were refused, and none is left of them: {why}",
        str(file),
        AGAIN,
    )
    assert shelf.did == []


def test_a_note_may_be_long_up_to_its_bound(shelf: Shelf, tmp_path: Path) -> None:
    note = SavedImages(images=tuple(notes(shelf.layout, METHOD))).model_dump_json().encode()
    note += b" " * ((1 << 20) - len(note))
    file = file_of(shelf.layout, tmp_path / "x.tar", METHOD, permafrost_json=note)
    shelf.held = {image_name(shelf.layout, METHOD): "sha256:1"}
    assert loaded(shelf, file) == [True]


@pytest.mark.parametrize("field", ["image", "environment_tree", "code_tree"])
@pytest.mark.parametrize("name", [METHOD, "_base", "_numpy"])
def test_an_image_that_nobody_asks_for_is_named(shelf: Shelf, tmp_path: Path, field: str, name: str) -> None:
    (right,) = notes(shelf.layout, name)
    wrong = right.model_copy(update={field: "other:1"})
    note = SavedImages(images=(wrong,)).model_dump(mode="json")
    file = file_of(shelf.layout, tmp_path / "x.tar", name, permafrost_json=note)
    file.write_bytes(archive_of(manifest_json=[{"RepoTags": [wrong.image]}], permafrost_json=note))
    with pytest.raises(ImageError) as refused:
        load_images(shelf.engine, shelf.layout, file)
    why = f"it holds {wrong.image}, and this tree asks for {right.image}"
    assert refused.value.what == f"images were refused, and none is left of them: {why}"


def test_an_image_is_held_to_the_locks_of_its_own_accelerator(layout: Layout, tmp_path: Path) -> None:
    """What is built for a GPU has wheels of its own, and is neither taken nor refused for one of a processor."""
    both: tuple[Accelerator, ...] = ("cpu", "cuda")
    trees = {accelerator: recorded_tree(layout, "_torch", accelerator) for accelerator in both}
    assert trees["cpu"] != trees["cuda"]
    for accelerator, tree in trees.items():
        image = environment_image_name("_torch", tree)
        for asked in both:
            saved = SavedImage(name="_torch", accelerator=asked, image=image, environment_tree=tree, code_tree="")
            with nullcontext() if asked == accelerator else pytest.raises(ImageError, match="this tree asks for"):
                transport._must_be_wanted(layout, saved, tmp_path / "x.tar")


def test_a_client_waits_an_hour_and_is_closed(monkeypatch: pytest.MonkeyPatch, shelf: Shelf) -> None:
    monkeypatch.undo()
    did: list[object] = []
    client: Any = SimpleNamespace(close=lambda: did.append("closed"))
    monkeypatch.setattr("docker.APIClient", lambda **how: did.append(how) or client)  # type: ignore[func-returns-value]
    with pytest.raises(RuntimeError), transport._patient(shelf.engine) as api:
        assert api is client
        raise RuntimeError
    assert did == [{"base_url": "unix:///run/shelf.sock", "version": "auto", "timeout": 3600}, "closed"]


def test_files_for_a_mirror_are_named_after_their_images(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def save(*about: Any) -> None:
        asked.append(about)
        about[3].touch()

    monkeypatch.setattr(handover, "save_images", save)
    mirror = tmp_path / "a" / "mirror"
    wanted = [
        mirror / "images" / f"{name}-{image_name(shelf.layout, name).rpartition(':')[2]}.tar"
        for name in (METHOD, OTHER)
    ]
    for _ in range(2):
        files = handover.hand_over(shelf.engine, shelf.layout, [METHOD, OTHER], mirror, "cpu")
        assert files == wanted
    assert asked == [
        (shelf, shelf.layout, [name], file, "cpu") for name, file in zip((METHOD, OTHER), wanted, strict=True)
    ]


@pytest.mark.parametrize(("text", "room"), [("1", 1 << 30), (" 20 ", 20 << 30), ("", None), ("  ", None)])
def test_room_is_told_in_gib(monkeypatch: pytest.MonkeyPatch, text: str, room: int | None) -> None:
    monkeypatch.setenv("PERMAFROST_IMAGES_GIB", text)
    assert handover.room_for_images() == room


def test_room_that_is_none_says_how_to_tell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERMAFROST_IMAGES_GIB", "much")
    with pytest.raises(UsageError) as refused:
        handover.room_for_images()
    assert said(refused.value) == (
        "no size: much",
        "$PERMAFROST_IMAGES_GIB",
        "write a whole number of GiB, or unset it",
    )
