"""Dataset manifests: where each original file comes from, how it is converted, what it must show afterwards.

A manifest that loads is complete: every file has a checksum and a size, or says that nobody could take them yet;
every URL has a place in a mirror folder.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator, model_validator

from harness import benchmarks
from harness.base.errors import ManifestError, UsageError
from harness.base.files import canonical_json, read_json
from harness.base.layout import Layout
from harness.base.manifest_faults import plain_faults
from harness.base.manifests import NamedManifest, Strict, load_named
from harness.base.repeats import repeated
from harness.base.unknown_names import unknown_name
from harness.benchmarks import Statistics
from harness.benchmarks.new_item import NewItem

log = logging.getLogger(__name__)

_SHA256 = re.compile(r"[0-9a-f]{64}")
MANIFEST = "dataset.toml"
_HOW_TO_ADD = "to add one of your own: harness data new NAME --help (docs/data.md, 'Use your own data')"
# Size and sha256 of files that the manifest beside it has none for (`trust`). It may be committed.
FIRST_SEEN = "first_seen.json"


def plain_name(text: str) -> str:
    """The name, if it leads nowhere else."""
    if text in ("", ".", "..") or "/" in text or "\\" in text:
        raise ValueError(f"'{text}' is not a plain file name")
    return text


class SourceFile(Strict):
    """One original file, byte for byte as published."""

    name: str
    urls: list[str] = Field(default=[], description="none: the file lies beside the manifest")
    sha256: str = Field(default="", description="none: taken and kept when the file is first seen")
    bytes: int = Field(default=0, ge=0)
    licence: str = ""

    @property
    def recorded(self) -> bool:
        """Whether the content is known by its sha256."""
        return bool(self.sha256)

    def with_content(self, record: dict[str, Any]) -> SourceFile:
        """The file with a recorded size and sha256."""
        return SourceFile.model_validate({**self.model_dump(), **record})

    _is_a_file_name = field_validator("name")(plain_name)

    @field_validator("sha256")
    @classmethod
    def _is_a_checksum(cls, text: str) -> str:
        if not _SHA256.fullmatch(text):
            raise ValueError("not a sha256: 64 digits 0-9 a-f are needed")
        return text

    @model_validator(mode="after")
    def _is_known_or_not(self) -> SourceFile:
        if self.bytes and not self.sha256:
            raise ValueError("sha256: goes with bytes; give both, or none for a file that nobody could see")
        return self

    @field_validator("urls")
    @classmethod
    def _are_urls(cls, urls: list[str]) -> list[str]:
        for url in urls:
            mirror_path(url)
        return urls


class BroughtTable(Strict):
    """A table that a person has to have: nobody may publish it."""

    name: str
    holds: str
    optional: bool = Field(default=False, description="the dataset is also made without it")

    _is_a_file_name = field_validator("name")(plain_name)


class Converted(Strict):
    """The digest of the converted arrays."""

    digest: str

    @field_validator("digest")
    @classmethod
    def _is_a_digest(cls, text: str) -> str:
        if not _SHA256.fullmatch(text):
            raise ValueError("not a digest: 64 digits 0-9 a-f are needed")
        return text


class DatasetManifest(NamedManifest):
    """`dataset.toml`."""

    title: str
    benchmark: str
    summary: str = ""
    published_as: str = Field(default="", description="the name in published results, where it differs")
    citation: str
    licence: str
    converter: str = ""
    extends: str = Field(default="", description="in place of a converter: the dataset that items are added to")
    extends_digest: str = Field(default="", description="the digest of that dataset when the items were added")
    new: list[NewItem] = Field(default=[], description="the items that are added")
    parameters: dict[str, Any] = {}
    files: list[SourceFile] = []
    brought: list[BroughtTable] = Field(default=[], description="tables beside the files, put into own/")
    bring: str = Field(default="", description="why there is no file to fetch: a person brings three tables")
    stand_in: str = Field(default="", description="why no claim may rest on it: it stands in for other data")
    statistics: SerializeAsAny[Statistics]
    converted: Converted | None = None

    @property
    def own_files(self) -> list[SourceFile]:
        """Files that lie beside the manifest, and nowhere else."""
        return [file for file in self.files if not file.urls]

    @field_validator("benchmark")
    @classmethod
    def _has_datasets(cls, text: str) -> str:
        if text not in benchmarks.names():
            raise ValueError(f"no benchmark is called '{text}'; name one of {', '.join(benchmarks.names())}")
        return text

    @field_validator("parameters")
    @classmethod
    def _have_a_digest(cls, table: dict[str, Any]) -> dict[str, Any]:
        """What no JSON holds has no digest, which names the arrays that are made with it: nan, inf, a date."""
        for name, value in table.items():
            try:
                canonical_json(value)
            except (TypeError, ValueError):
                known = "text, finite number, true or false, nor a list or table of such"
                told = value if isinstance(value, float | list | dict) else str(value)
                raise ValueError(f"{name}: {told} is no {known}") from None
        return table

    @field_validator("statistics", mode="before")
    @classmethod
    def _are_of_the_benchmark(cls, table: Any, others: ValidationInfo) -> Any:
        """The counts as their benchmark reads them; a benchmark that does not exist is the only fault reported."""
        name = others.data.get("benchmark")
        return benchmarks.get(name).statistics.model_validate(table) if name else Statistics()

    @model_validator(mode="after")
    def _names_files_once(self) -> DatasetManifest:
        names = [file.name for file in self.files] + [table.name for table in self.brought]
        if twice := sorted(repeated(names)):
            raise ValueError(f"files: named twice: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _is_converted_or_extends(self) -> DatasetManifest:
        if bool(self.converter) == bool(self.extends) or bool(self.new) != bool(self.extends):
            raise ValueError(
                "converter: name one, or in its place a dataset that new items are added to (extends)"
            )
        return self

    @model_validator(mode="after")
    def _brings_tables(self) -> DatasetManifest:
        if self.bring and (
            self.files or self.brought or self.parameters or self.converted or self.converter != "csv"
        ):
            raise ValueError("bring: goes with converter 'csv' and without files, tables, parameters and digest")
        return self


def mirror_path(url: str) -> Path:
    """Where a URL's file lies in a mirror folder: by host and path, GitHub's raw host under github.com."""
    parts = urlsplit(url)
    # a host of dots alone would be a step up
    if parts.scheme not in ("http", "https") or not (parts.hostname or "").strip("."):
        raise ValueError(f"'{url}' is not an http or https URL")
    steps = [unquote(step) for step in parts.path.split("/") if step]
    if not steps or any(step in (".", "..") or "/" in step or "\0" in step for step in steps):
        raise ValueError(f"'{url}' does not name a file")
    host = parts.hostname or ""
    if host == "raw.githubusercontent.com":
        host = "github.com"
    elif host == "github.com" and len(steps) > 3 and steps[2] == "raw":
        del steps[2]
    return Path(host, *steps)


def manifest_path(layout: Layout, name: str) -> Path:
    """The manifest of one dataset, of the tree or of a person's own; `UsageError` where both have one.

    Where neither has one, it may be of a dataset that was extended.
    """
    # a hot path, asked for every split of a plan: texts, not Path objects, are a quarter of its time
    paths = [f"{place}/{name}/{MANIFEST}" for place in layout.dataset_places]
    here = [path for path in paths if os.path.isfile(path)]  # noqa: PTH113
    if len(here) > 1:
        raise UsageError(
            f"two datasets are called '{name}'",
            where="\n         ".join(here),
            todo="rename the folder of one, and the name in its manifest",
        )
    if here:
        return Path(here[0])
    extended = layout.extended / name / MANIFEST
    return extended if extended.is_file() else Path(paths[0])


def has_manifest(layout: Layout, name: str) -> bool:
    """Whether there is such a dataset, be it one that was extended."""
    places = (*layout.dataset_places, layout.extended)
    return Path(name).name == name and any((place / name / MANIFEST).is_file() for place in places)


def dataset_names(layout: Layout) -> list[str]:
    """All datasets: every folder with a manifest, of the tree or of a person's own.

    Those that were extended are not among them: they are there for the questions that were asked of them.
    """
    folders = {path.parent.name for place in layout.dataset_places for path in place.glob(f"*/{MANIFEST}")}
    # one in the making has a hidden name
    return sorted(name for name in folders if not name.startswith("."))


def manifest_names(layout: Layout) -> list[str]:
    """All datasets whose manifest can be read; each other one is warned of, once.

    For what goes through all datasets: a fault in one must not stop what is about others.
    """
    sound = []
    for name in dataset_names(layout):
        try:
            load_manifest(layout, name)
        except UsageError as error:
            _warn(f"warning: dataset '{name}' is left out: {error}")
        else:
            sound.append(name)
    return sound


@cache
def _warn(text: str) -> None:
    log.warning(text)


def check_known(layout: Layout, names: Iterable[str]) -> None:
    """Raise `UsageError` for a name that no dataset has; it says how a person adds one."""
    known = dataset_names(layout)
    for name in names:
        if not has_manifest(layout, name):
            error = unknown_name("dataset", name, known, where="\n         ".join(map(str, layout.dataset_places)))
            # a folder is not a name, but its last part may be one
            last = Path(name).name
            todo = f"did you mean '{last}'?" if last in known else error.todo
            raise UsageError(error.what, where=error.where, todo=f"{todo}\n         {_HOW_TO_ADD}")


def load_manifest(layout: Layout, name: str) -> DatasetManifest:
    """The manifest of one dataset, with the recorded sizes and checksums of files that it has none for."""
    path = manifest_path(layout, name)
    if name != path.parent.name or not path.is_file():
        check_known(layout, [name])
    with plain_faults(path, DatasetManifest):
        manifest = load_named(path, DatasetManifest)
    return _complete(manifest, path.parent)


def _complete(manifest: DatasetManifest, folder: Path) -> DatasetManifest:
    """The manifest with the size and sha256 that were recorded of its files at first sight."""
    if all(file.recorded for file in manifest.files) or not (folder / FIRST_SEEN).is_file():
        return manifest
    records = read_json(folder / FIRST_SEEN)
    try:
        files = [
            file if file.recorded or file.name not in records else file.with_content(records[file.name])
            for file in manifest.files
        ]
    except (TypeError, ValueError):
        raise ManifestError(
            "what was taken of files at first sight can't be read",
            where=str(folder / FIRST_SEEN),
            todo=f"`harness data forget {manifest.name}` removes it; sizes and checksums are taken again",
        ) from None
    return manifest.model_copy(update={"files": files})
