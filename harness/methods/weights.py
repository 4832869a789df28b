"""Pretrained models: named by a method's weights.toml, brought by a person, kept, and given to its containers.

A method that reads several has `weights.NAME.toml` for each further one, which is called METHOD:NAME. One that
nobody publishes names the program in the method's image that makes it of the first.

They are kept in the cache by revision, with the checksums that the manifest gives, or that they had when they were
brought. A container gets them only if they still have these checksums, and a run's key holds a digest of all.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from harness.base.download import Refused, mirror_folders, transfer
from harness.base.errors import UsageError, WeightsError
from harness.base.file_state import load_toml_once
from harness.base.files import checksum, digest_of, folder_in_the_making, read_json, sha256_of, write_json
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.base.unknown_names import unknown_name
from harness.data.manifest import mirror_path, plain_name
from harness.methods.card import method_names

_FILES = "weights*.toml"
_CHECKSUMS = "checksums.json"


class WeightsManifest(Strict):
    """A pretrained model, as its method reads it."""

    title: str
    repository: str = Field(default="", description="the page of the model")
    revision: str = ""
    source: str = Field(default="", description="the URL that a file's name is put after")
    program: str = Field(
        default="", description="the module in the image that makes it of the method's own model and a corpus"
    )
    licence: str
    citation: str
    size: str = Field(description="of all files, about")
    files: list[str] = Field(min_length=1)
    sha256: dict[str, str] = {}

    @field_validator("files")
    @classmethod
    def _are_plain_names(cls, names: list[str]) -> list[str]:
        return [plain_name(name) for name in names]

    @model_validator(mode="after")
    def _says_where(self) -> WeightsManifest:
        if bool(self.program) == bool(self.source):
            raise ValueError("source: either this or program says where the files come from")
        for name in self.files if self.source else ():
            mirror_path(self.url(name))
        if unknown := sorted(set(self.sha256) - set(self.files)):
            raise ValueError(f"sha256: no such file: {', '.join(unknown)}")
        return self

    def url(self, name: str) -> str:
        """Where one file is published."""
        return f"{self.source.rstrip('/')}/{name}"

    @property
    def origin(self) -> str:
        """What the files are of, for messages."""
        return (
            f"{self.repository}, revision {self.revision}" if self.source else f"{self.title}, as made by a person"
        )


def weights_names(layout: Layout) -> list[str]:
    """All pretrained models that methods read."""
    return [
        ":".join([name, *path.name.split(".")[1:-1]])
        for name in method_names(layout)
        for path in sorted((layout.methods / name).glob(_FILES), key=lambda path: len(path.name))
    ]


def load_weights(layout: Layout, name: str) -> WeightsManifest:
    """The manifest of a pretrained model."""
    if name not in (known := weights_names(layout)):
        raise unknown_name("pretrained model", name, known, where=layout.methods)
    method, _, further = name.partition(":")
    path = layout.methods / method / _FILES.replace("*", f".{further}" if further else "")
    return load_toml_once(path, WeightsManifest)


@dataclass(frozen=True)
class KeptWeights:
    """A folder with every file of a manifest, and their recorded checksums."""

    manifest: WeightsManifest
    folder: Path
    sha256: Mapping[str, str]

    @property
    def digest(self) -> str:
        """A digest of all files; their place does not matter."""
        return digest_of(dict(self.sha256))

    def verify(self) -> None:
        """Raise `WeightsError` unless every file is the recorded one; a file is read once until it changes."""
        for name, recorded in self.sha256.items():
            path = self.folder / name
            actual = _sum_of(path)
            if actual != recorded:
                raise WeightsError(
                    f"the file '{name}' of {self.manifest.title} was changed",
                    where=f"{path}: sha256 is {actual}, recorded {recorded}",
                    todo=f"remove the folder {self.folder} and bring the files again",
                )

    def copy_to(self, folder: Path) -> None:
        """Put copies of all files into a new folder."""
        folder.mkdir()
        for name in self.sha256:
            shutil.copyfile(self.folder / name, folder / name)

    def described(self) -> dict[str, Any]:
        """What job.json says about the weights."""
        files = {name: {"file": f"weights/{name}", "sha256": one} for name, one in sorted(self.sha256.items())}
        return {"title": self.manifest.title, "revision": self.manifest.revision, "files": files}


def _folder(layout: Layout, name: str, manifest: WeightsManifest) -> Path:
    """Where a model's files are kept; another revision or list of files has another place."""
    digest = digest_of([manifest.revision, sorted(manifest.files)])
    return layout.cache / "weights" / f"{name.replace(':', '-')}-{digest[:16]}"


def are_here(layout: Layout, name: str) -> bool:
    """Whether a model was brought."""
    return _folder(layout, name, load_weights(layout, name)).is_dir()


def kept_weights(layout: Layout, name: str) -> KeptWeights:
    """A model's files, or what to do to have them."""
    manifest = load_weights(layout, name)
    folder = _folder(layout, name, manifest)
    if not are_here(layout, name):
        ways = f"`harness weights get {name}` fetches it, or with --from FOLDER takes it from a folder"
        if manifest.program:
            ways = (
                f"`harness weights adapt {name} --corpus FILE` makes it of texts, one per line; "
                f"`harness weights get {name} --from FOLDER` takes it from a folder"
            )
        raise WeightsError(
            f"{manifest.title} ({manifest.size}) is not here: {ways}",
            where=str(folder),
            todo=f"the files are {', '.join(manifest.files)} of {manifest.origin}",
        )
    recorded = read_json(folder / _CHECKSUMS)
    if not isinstance(recorded, dict) or set(recorded) != set(manifest.files):
        raise WeightsError(
            f"the record of {manifest.title} was changed",
            where=str(folder / _CHECKSUMS),
            todo=f"remove the folder {folder} and bring the files again",
        )
    sums = {file: str(recorded[file]) for file in sorted(recorded)}
    for file, sha256 in manifest.sha256.items():
        _must_be(manifest, file, sums[file], sha256, where=str(folder))
    return KeptWeights(manifest, folder, sums)


def weights_digest(layout: Layout, name: str) -> str:
    """The digest that binds a run to its weights."""
    return kept_weights(layout, name).digest


def _must_be(manifest: WeightsManifest, name: str, actual: str, recorded: str, *, where: str) -> None:
    """Raise `WeightsError` unless a file has the checksum that the manifest records."""
    if actual != recorded:
        raise WeightsError(
            f"'{name}' is not the file of {manifest.title} that the manifest records",
            where=f"{where}: sha256 is {actual}, recorded {recorded}",
            todo=f"bring the file of {manifest.origin}, or correct the manifest",
        )


def bring_weights(
    layout: Layout,
    name: str,
    *,
    given: Path | None = None,
    mirrors: Sequence[Path] = (),
    say: Callable[[str], None],
) -> KeptWeights:
    """All files of a model in the cache, with their checksums; files that are there already are checked.

    `UsageError` if these are others than a person gives now: whoever gives some means these.
    """
    manifest = load_weights(layout, name)
    final = _folder(layout, name, manifest)
    if not final.is_dir():
        with folder_in_the_making(final) as making:
            sums = {file: _bring(manifest, file, making / file, given, mirrors, say) for file in manifest.files}
            write_json(making / _CHECKSUMS, sums)
    weights = kept_weights(layout, name)
    weights.verify()
    # another process may have been first
    if given is not None and any(_sum_of(given / file) != known for file, known in weights.sha256.items()):
        raise UsageError(
            f"{manifest.title} is here already, of other files than these",
            where=f"{final}, and {given}",
            todo=f"remove the folder {final}, then again",
        )
    return weights


def _sum_of(path: Path) -> str:
    return checksum(path) if path.is_file() else "nothing"


def _bring(
    manifest: WeightsManifest,
    name: str,
    target: Path,
    given: Path | None,
    mirrors: Sequence[Path],
    say: Callable[[str], None],
) -> str:
    """Copy one file to `target`; returns its checksum."""
    url = manifest.url(name)
    if given is None and manifest.program:
        raise WeightsError(
            f"{manifest.title} is published nowhere",
            where=manifest.citation,
            todo="make it with `harness weights adapt`, or give its folder with --from",
        )
    folders = [given / name] if given else [folder / mirror_path(url) for folder in mirror_folders(mirrors)]
    source = next((path for path in folders if path.is_file()), None)
    failures = [f"{path}: no such file" for path in folders]
    if source is not None:
        shutil.copyfile(source, target)
    elif given is not None or (failure := _download(url, target)):
        if given is None:
            failures.append(f"{url}: {failure}")
        raise WeightsError(
            f"'{name}' of {manifest.title} is in none of its sources",
            where="\n         ".join(failures),
            todo=f"get the files of {manifest.origin} elsewhere, and give their folder with --from",
        )
    sha256 = sha256_of(target)
    if name in manifest.sha256:
        _must_be(manifest, name, sha256, manifest.sha256[name], where=str(source or url))
    say(f"{name}: {target.stat().st_size} bytes, sha256 {sha256}")
    return sha256


def _download(url: str, target: Path) -> str:
    """Fetch a file whose checksum may be unrecorded; returns why that failed, else an empty text."""
    try:
        transfer(url, target, resume=False)
    except Refused as error:
        return str(error)
    return ""
