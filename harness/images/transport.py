"""Images in one file: what the engine writes, which any engine can load, and the trees that prove it.

Whoever loads a file believes nothing in it: every image is read back whole and compared with the trees that this
repository asks for. What is not right is removed again.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.base.errors import ImageError, UsageError
from harness.base.large_files import file_in_the_making
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.base.plain_json import parse_plain
from harness.base.vocabulary import Accelerator
from harness.images.build import ensure_environment, ensure_image, known_image
from harness.images.builder import BuildEngine
from harness.images.export import id_of
from harness.images.fetch import Supply
from harness.images.identity import is_method, wanted_image
from harness.images.receipts import BuiltImage, building, receipt_path
from harness.images.stages import tag_image

if TYPE_CHECKING:
    import docker

_NOTE = "permafrost.json"
_MOST_NOTE_BYTES = 1 << 20
# Where the first is missing, Podman takes the second for a name; beside it, it holds a tag alone.
_NAMES_IN_INDEX = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_CHUNK = 1 << 20
# Gigabytes go through an engine without a word from it.
_TRANSPORT_SECONDS = 3600


class SavedImage(Strict):
    """One image of a file, and what was proved of it when it was saved."""

    name: str
    accelerator: Accelerator
    image: str
    environment_tree: str
    # empty for an environment
    code_tree: str


class SavedImages(Strict):
    """The note in a file of images."""

    format: Literal[1] = 1
    images: tuple[SavedImage, ...]


def save_images(
    engine: BuildEngine,
    layout: Layout,
    names: Sequence[str],
    target: Path,
    accelerator: Accelerator = "cpu",
    *,
    supply: Supply | None = None,
) -> SavedImages:
    """Write the verified images of methods and environments into one new file; what they share is in it once."""
    _refuse_target(target)
    saved = []
    for name in names:
        ensure = ensure_image if is_method(layout, name) else ensure_environment
        image = ensure(engine, layout, name, accelerator, supply=supply)
        saved.append(
            SavedImage(
                name=name,
                accelerator=accelerator,
                image=image.name,
                environment_tree=image.environment_tree,
                code_tree=image.code_tree,
            )
        )
    note = SavedImages(images=tuple(saved))
    with file_in_the_making(target) as making, _patient(engine) as api:
        wanted = {"names": [one.image for one in saved]}
        answer = api.get(f"{api.base_url}/v{api.api_version}/images/get", params=wanted, stream=True)
        if answer.status_code != 200:
            raise ImageError(
                f"{engine.name} does not hand its images out: {answer.text.strip()[:400]}",
                where=str(engine.socket),
                todo="run `harness doctor`",
            )
        with making.open("wb") as stream:
            for piece in answer.iter_content(_CHUNK):
                stream.write(piece)
        with tarfile.open(making, "a") as archive:
            content = (note.model_dump_json(indent=2) + "\n").encode()
            entry = tarfile.TarInfo(_NOTE)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return note


def _refuse_target(target: Path) -> None:
    """Refuse what can't be written: at once, and not after minutes in which images were built for it."""
    if target.exists():
        raise UsageError("there is a file of that name", where=str(target), todo="remove it, or name another")
    if not target.parent.is_dir():
        raise UsageError(
            f"the folder of '{target}' is not there", where=str(target.parent), todo="make it, or name another one"
        )


def load_images(engine: BuildEngine, layout: Layout, file: Path) -> list[BuiltImage]:
    """The images of a file, each verified. If one is not what this repository asks for, none of them stays."""
    note = _read_note(file)
    for saved in note.images:
        _must_be_wanted(layout, saved, file)
    # what is here and right needs no loading; what is here and wrong is found before anything is replaced
    here = {saved.image: known_image(engine, layout, *_expected(saved)) for saved in note.images}
    if not all(here.values()):
        with building(layout), _undone_on_failure(engine, layout, list(here)):
            _load(engine, file)
            try:
                here = {saved.image: known_image(engine, layout, *_expected(saved)) for saved in note.images}
            except ImageError as error:
                raise _refused(file, f"{error.what} ({error.where})") from None
            if missing := [name for name, image in here.items() if image is None]:
                raise _refused(file, f"{missing[0]} is not in it, though its note names it")
    return [image for image in here.values() if image is not None]


@contextmanager
def _undone_on_failure(engine: BuildEngine, layout: Layout, names: Sequence[str]) -> Iterator[None]:
    """If the block fails, these names stand again for what they stood for, and what was loaded is gone."""
    before = {name: id_of(engine, name) for name in names}
    try:
        yield
    except BaseException:
        for name, old in before.items():
            new = id_of(engine, name)
            if new != old:
                receipt_path(layout, engine, name).unlink(missing_ok=True)
                engine.client.images.remove(name, force=True)
                if old is not None:
                    tag_image(engine, old, name)
        raise


def _load(engine: BuildEngine, file: Path) -> None:
    from docker.errors import APIError

    with _patient(engine) as api, file.open("rb") as stream:
        try:
            faults = [
                line["error"]
                for line in api.load_image(stream)  # type: ignore[no-untyped-call]
                if "error" in line
            ]
        except APIError as error:
            faults = [str(error.explanation or error)]
    if faults:
        raise _refused(file, f"{engine.name} can't load it: {faults[0][:400]}")


def _expected(saved: SavedImage) -> tuple[str, str, str]:
    return saved.image, saved.environment_tree, saved.code_tree


def _must_be_wanted(layout: Layout, saved: SavedImage, file: Path) -> None:
    """Refuse an image that this repository asks for under no name: one of other code, or of other locks."""
    wanted = wanted_image(layout, saved.name, saved.accelerator)
    if _expected(saved) != wanted:
        raise _refused(file, f"it holds {saved.image}, and this tree asks for {wanted[0]}")


def _read_note(file: Path) -> SavedImages:
    """The note of a file in which no engine finds a name that the note does not hold."""
    try:
        with tarfile.open(file, "r:") as archive:
            _say_one_thing(archive)
            note = SavedImages.model_validate_json(_small_file(archive, _NOTE))
            taken = _names_in(archive)
    except (tarfile.TarError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise _refused(file, f"no file of `harness image save`, or not all of it: {error}") from None
    if strange := sorted(taken - {saved.image for saved in note.images}):
        raise _refused(file, f"it also holds {', '.join(strange)}")
    return note


def _say_one_thing(archive: tarfile.TarFile) -> None:
    """Raise unless every reader of an archive finds the same files in it.

    An engine unpacks one file after the other. What is written as `./manifest.json`, again, or through a link is
    then another file than the one that is read here, and so is what follows where the library sees an end.
    """
    members = archive.getmembers()
    files = [member.name for member in members if not member.isdir()]
    links = {member.name for member in members if member.issym() or member.islnk()}
    for member in members:
        steps = member.name.split("/")
        above = {"/".join(steps[:end]) for end in range(1, len(steps))}
        if {"", ".", ".."} & {*steps} or above & links:
            raise ValueError(f"'{member.name}' is not where its name says")
    if len(files) != len({*files}):
        raise ValueError("it holds two files of one name")
    archive.fileobj.seek(archive.offset)
    while piece := archive.fileobj.read(_CHUNK):
        if piece.strip(b"\0"):
            raise ValueError("something follows its end")


def _names_in(archive: tarfile.TarFile) -> set[str]:
    """Every name that loading would give to an image, in any of the ways in which engines write archives."""
    listed = parse_plain(_small_file(archive, "manifest.json"))
    names = {name for one in listed for name in _field(one, "RepoTags") or ["an image without a name"]}
    members = set(archive.getnames())
    if "repositories" in members:
        tags = parse_plain(_small_file(archive, "repositories"))
        names |= {f"{repository}:{tag}" for repository, versions in tags.items() for tag in versions}
    if "index.json" in members:
        for one in _field(parse_plain(_small_file(archive, "index.json")), "manifests"):
            annotations = _field(one, "annotations", {})
            names |= {*[annotations[name] for name in _NAMES_IN_INDEX if annotations.get(name)][:1]}
    return names


def _field(values: dict[str, Any], name: str, *otherwise: Any) -> Any:
    """A field as engines read it, which take its name in capitals and small letters."""
    found = [value for key, value in values.items() if key.casefold() == name.casefold()] or [*otherwise]
    if len(found) != 1:
        raise KeyError(name)
    return found[0]


def _small_file(archive: tarfile.TarFile, name: str) -> bytes:
    entry = archive.getmember(name)
    stream = archive.extractfile(entry) if entry.isreg() else None
    if stream is None or entry.size > _MOST_NOTE_BYTES:
        raise KeyError(name)
    return stream.read()


def _refused(file: Path, why: str) -> ImageError:
    return ImageError(
        f"images were refused, and none is left of them: {why}",
        where=str(file),
        todo="save them again, with the same version of this repository: harness image save FILE NAMES",
    )


@contextmanager
def _patient(engine: BuildEngine) -> Iterator[docker.APIClient]:
    """A client that waits while an engine reads or writes gigabytes."""
    import docker

    api = docker.APIClient(base_url=f"unix://{engine.socket}", version="auto", timeout=_TRANSPORT_SECONDS)
    try:
        yield api
    finally:
        api.close()
