"""Images in one file: what comes out of it is what this tree asks for, or nothing of it stays."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from harness.base.errors import ImageError, UsageError
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images.build import ensure_image
from harness.images.builder import BuildEngine
from harness.images.identity import code_tree, image_name
from harness.images.record import recorded_tree
from harness.images.transport import SavedImage, SavedImages, load_images, save_images
from tests.private_engine import UNCLOSED, private_cache, served

__all__ = ["private_cache", "served"]

METHOD = "constant"


class Untouched:
    """An engine that must not be asked for anything."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"the engine was asked for its {name}")


UNTOUCHED = cast(BuildEngine, Untouched())


def saved(layout: Layout, **changes: str) -> SavedImage:
    fields: dict[str, Any] = {
        "name": METHOD,
        "accelerator": "cpu",
        "image": image_name(layout, METHOD),
        "environment_tree": recorded_tree(layout, METHOD),
        "code_tree": code_tree(layout, METHOD),
    }
    return SavedImage(**{**fields, **changes})


def write(path: Path, members: Mapping[str, object]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, value in members.items():
            content = json.dumps(value).encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def made_up(note: SavedImage, path: Path, *names: str, **more: object) -> Path:
    return write(
        path,
        {
            "manifest.json": [{"Config": "c", "RepoTags": [note.image, *names], "Layers": []}],
            "permafrost.json": SavedImages(images=(note,)).model_dump(mode="json"),
            **more,
        },
    )


INDEX = {"manifests": [{"annotations": {"io.containerd.image.name": "docker.io/library/debian:12"}}]}
# as Podman reads it
REFERENCE = {"manifests": [{"annotations": {"org.opencontainers.image.ref.name": "docker.io/library/debian:12"}}]}


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (("debian:12",), {}),
        ((), {"repositories": {"debian": {"12": "x"}}}),
        ((), {"index.json": INDEX}),
        ((), {"index.json": REFERENCE}),
    ],
    ids=["manifest", "repositories", "index", "reference"],
)
def test_a_file_takes_no_name_but_those_of_its_note(
    layout: Layout, tmp_path: Path, names: tuple[str, ...], more: dict[str, object]
) -> None:
    file = made_up(saved(layout), tmp_path / "x.tar", *names, **more)
    with pytest.raises(ImageError, match=r"it also holds .*debian:12"):
        load_images(UNTOUCHED, layout, file)


def test_the_tag_that_docker_writes_beside_a_name_is_none(layout: Layout, tmp_path: Path) -> None:
    note = saved(layout, image="localhost/permafrost/constant:0123456789abcdef")
    annotations = {"io.containerd.image.name": note.image, "org.opencontainers.image.ref.name": "0123456789abcdef"}
    index = {"manifests": [{"annotations": annotations}]}
    file = made_up(note, tmp_path / "x.tar", **{"index.json": index})
    with pytest.raises(ImageError, match="this tree asks for"):
        load_images(UNTOUCHED, layout, file)


def _again(name: str) -> Callable[[tarfile.TarFile, bytes], None]:
    def add(archive: tarfile.TarFile, content: bytes) -> None:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))

    return add


def _through_a_link(kind: bytes) -> Callable[[tarfile.TarFile, bytes], None]:
    def add(archive: tarfile.TarFile, content: bytes) -> None:
        entry = tarfile.TarInfo("here")
        entry.type, entry.linkname = kind, "."
        archive.addfile(entry)
        _again("here/manifest.json")(archive, content)

    return add


def _behind_an_end(archive: tarfile.TarFile, content: bytes) -> None:
    """Engines read this number, and Python's library takes it for the end of the archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as more:
        _again("nothing")(more, b"")
    header = bytearray(stream.getvalue()[:512])
    header[136:148] = b"\x81" + bytes(11)  # its time
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    archive.fileobj.write(bytes(header))
    archive.offset += len(header)
    _again("manifest.json")(archive, content)


@pytest.mark.parametrize(
    ("add", "words"),
    [
        (_again("./manifest.json"), "'./manifest.json' is not where its name says"),
        (_again("/manifest.json"), "'/manifest.json' is not where its name says"),
        (_again("x/../manifest.json"), "'x/../manifest.json' is not where its name says"),
        (_again("manifest.json"), "it holds two files of one name"),
        (_through_a_link(tarfile.SYMTYPE), "'here/manifest.json' is not where its name says"),
        (_through_a_link(tarfile.LNKTYPE), "'here/manifest.json' is not where its name says"),
        (_behind_an_end, "something follows its end"),
    ],
)
def test_a_file_in_which_engines_find_another_list_is_refused(
    layout: Layout, tmp_path: Path, add: Callable[[tarfile.TarFile, bytes], None], words: str
) -> None:
    note = saved(layout)
    file = made_up(note, tmp_path / "x.tar")
    listed = [{"Config": "c", "RepoTags": [note.image, "debian:12"], "Layers": []}]
    with tarfile.open(file, "a") as archive:
        add(archive, json.dumps(listed).encode())
    with pytest.raises(ImageError) as refused:
        load_images(UNTOUCHED, layout, file)
    assert refused.value.what.endswith(words)


def test_a_list_that_is_a_link_is_refused(layout: Layout, tmp_path: Path) -> None:
    note = saved(layout)
    listed = [{"Config": "c", "RepoTags": [note.image], "Layers": []}]
    members = {"list": listed, "permafrost.json": SavedImages(images=(note,)).model_dump(mode="json")}
    with tarfile.open(write(tmp_path / "x.tar", members), "a") as archive:
        entry = tarfile.TarInfo("manifest.json")
        entry.type, entry.linkname = tarfile.SYMTYPE, "list"
        archive.addfile(entry)
    with pytest.raises(ImageError, match=r"manifest\.json"):
        load_images(UNTOUCHED, layout, tmp_path / "x.tar")


@pytest.mark.parametrize(
    "more",
    [
        {"manifest.json": [{"RepoTags": ["NAME"], "repotags": ["NAME", "debian:12"]}]},
        {"manifest.json": [{"RepoTag\u017f": ["NAME", "debian:12"]}]},
        {"index.json": {"Manifests": INDEX["manifests"]}},
        {"index.json": {"manifests": [{"Annotations": INDEX["manifests"][0]["annotations"]}]}},
    ],
)
def test_a_name_is_found_however_its_field_is_written(
    layout: Layout, tmp_path: Path, more: dict[str, object]
) -> None:
    """Engines are written in Go, whose reader of JSON takes names of fields in any letters."""
    note = saved(layout)
    named = json.loads(json.dumps(more).replace("NAME", note.image))
    with pytest.raises(ImageError, match=r"it also holds .*debian:12|'RepoTags'"):
        load_images(UNTOUCHED, layout, made_up(note, tmp_path / "x.tar", **named))


@pytest.mark.parametrize(
    "changes",
    [
        {"environment_tree": "0" * 64},
        {"code_tree": "0" * 64},
        {"image": "localhost/permafrost/constant:0123456789abcdef"},
    ],
)
def test_an_image_of_another_version_is_refused_before_it_is_loaded(
    layout: Layout, tmp_path: Path, changes: dict[str, str]
) -> None:
    file = made_up(saved(layout, **changes), tmp_path / "x.tar")
    with pytest.raises(ImageError, match="this tree asks for"):
        load_images(UNTOUCHED, layout, file)


def test_every_image_of_a_file_must_be_wanted_not_the_first_alone(layout: Layout, tmp_path: Path) -> None:
    other = saved(layout, name="als_wr", image="localhost/permafrost/als_wr:0123456789abcdef")
    notes = SavedImages(images=(saved(layout), other))
    names = [note.image for note in notes.images]
    members = {
        "manifest.json": [{"Config": "c", "RepoTags": names, "Layers": []}],
        "permafrost.json": notes.model_dump(mode="json"),
    }
    with pytest.raises(ImageError) as refused:
        load_images(UNTOUCHED, layout, write(tmp_path / "x.tar", members))
    wanted = image_name(layout, "als_wr")
    assert refused.value.what == (
        f"images were refused, and none is left of them: it holds {other.image}, and this tree asks for {wanted}"
    )


def test_what_is_no_such_file_is_refused(layout: Layout, tmp_path: Path) -> None:
    whole = made_up(saved(layout), tmp_path / "x.tar").read_bytes()
    for content in (b"", b"text", whole[:700], whole[:1500]):
        (tmp_path / "y.tar").write_bytes(content)
        with pytest.raises(ImageError, match="no file of `harness image save`, or not all of it"):
            load_images(UNTOUCHED, layout, tmp_path / "y.tar")
    with pytest.raises(ImageError, match="no file of"):
        load_images(UNTOUCHED, layout, write(tmp_path / "z.tar", {"manifest.json": []}))


@pytest.mark.parametrize("note", ["text", {}, {"images": [{"name": "constant"}]}])
def test_a_note_of_another_form_is_refused(layout: Layout, tmp_path: Path, note: object) -> None:
    with pytest.raises(ImageError, match="no file of `harness image save`, or not all of it"):
        load_images(UNTOUCHED, layout, made_up(saved(layout), tmp_path / "x.tar", **{"permafrost.json": note}))


@pytest.mark.parametrize(
    "more",
    [
        {"repositories": []},
        {"index.json": {"manifests": ["text"]}},
        {"manifest.json": 1},
        {"manifest.json": ["x"]},
    ],
)
def test_lists_of_another_form_are_refused(layout: Layout, tmp_path: Path, more: dict[str, object]) -> None:
    with pytest.raises(ImageError, match="no file of `harness image save`, or not all of it"):
        load_images(UNTOUCHED, layout, made_up(saved(layout), tmp_path / "x.tar", **more))


def test_a_list_that_is_nested_too_deeply_is_refused(layout: Layout, tmp_path: Path) -> None:
    file = made_up(saved(layout), tmp_path / "x.tar")
    with tarfile.open(file, "a") as archive:
        entry = tarfile.TarInfo("repositories")
        entry.size = 200_000
        archive.addfile(entry, io.BytesIO(b"[" * entry.size))
    with pytest.raises(ImageError, match="no file of `harness image save`, or not all of it"):
        load_images(UNTOUCHED, layout, file)


def test_a_file_that_is_there_is_not_overwritten(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_text("mine")
    with pytest.raises(UsageError, match="a file of that name"):
        save_images(UNTOUCHED, layout, [METHOD], tmp_path / "x.tar")
    assert (tmp_path / "x.tar").read_text() == "mine"


@pytest.fixture(scope="module")
def file(engine: Engine, repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image of a method, as the engine that everybody uses writes it."""
    path = tmp_path_factory.mktemp("saved") / "constant.tar"
    note = save_images(engine, repository, [METHOD], path)
    assert [one.image for one in note.images] == [image_name(repository, METHOD)]
    assert [one.name for one in path.parent.iterdir()] == ["constant.tar"], "nothing else is left beside it"
    return path


@pytest.fixture
def elsewhere(repository: Layout, tmp_path: Path) -> Layout:
    return Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")


def ids(engine: Engine) -> set[str]:
    return {image["Id"] for image in engine.api.images(all=True)}


@pytest.mark.engine
@UNCLOSED
@pytest.mark.thorough
def test_an_engine_elsewhere_gets_the_very_image(
    file: Path, served: Engine, elsewhere: Layout, repository: Layout, engine: Engine
) -> None:
    (image,) = load_images(served, elsewhere, file)
    assert (image.environment_tree, image.code_tree) == (
        recorded_tree(repository, METHOD),
        code_tree(repository, METHOD),
    )
    # nothing is built, and nothing needs to be fetched
    assert ensure_image(served, elsewhere, METHOD) == image
    assert load_images(served, elsewhere, file) == [image]
    served.client.images.remove(image.name, force=True)


def forge(engine: Engine, layout: Layout, file: Path, evil: Path) -> None:
    """Another file of the image of a file: the name, the note and the labels are right, one file in it is another.

    Nothing of either stays in the engine.
    """
    api, name = engine.api, image_name(layout, METHOD)
    before = ids(engine)
    load_images(engine, layout, file)
    container = api.create_container(name, command=["never"])["Id"]
    changed = io.BytesIO()
    with tarfile.open(fileobj=changed, mode="w") as archive:
        entry = tarfile.TarInfo("hosts.allow")
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    api.put_archive(container, "/etc", changed.getvalue())
    repository, _, tag = name.rpartition(":")
    forged = api.commit(container, repository, tag)["Id"]
    api.remove_container(container)
    evil.write_bytes(b"".join(api.get_image(name)))
    with tarfile.open(file) as archive:
        note = archive.extractfile("permafrost.json")
        assert note is not None
        content = note.read()
    with tarfile.open(evil, "a") as archive:
        entry = tarfile.TarInfo("permafrost.json")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    for one in (forged, *(ids(engine) - before)):
        if one in ids(engine):
            api.remove_image(one, force=True)
    assert ids(engine) == before


@pytest.mark.engine
@UNCLOSED
def test_a_changed_image_is_refused_and_leaves_nothing(
    file: Path, served: Engine, elsewhere: Layout, tmp_path: Path
) -> None:
    api, name, evil = served.api, image_name(elsewhere, METHOD), tmp_path / "evil.tar"
    before = ids(served)
    forge(served, elsewhere, file, evil)
    with pytest.raises(ImageError, match="does not hold what its name says") as refused:
        load_images(served, elsewhere, evil)
    assert "none is left" in refused.value.what
    assert ids(served) == before and served.image_id(name) is None
    # and a good one that is there already is not lost to a bad one
    load_images(served, elsewhere, file)
    good = served.image_id(name)
    (image,) = load_images(served, elsewhere, evil)
    assert image.image_id == good == served.image_id(name), "nothing was loaded: what is needed is here"
    api.remove_image(name, force=True)
