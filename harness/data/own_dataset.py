"""A dataset of a person's own: made of tables as they are, and accepted again after they were changed.

The tables are copied beside a manifest with their sizes, checksums and counts, into a folder that git does not
see.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tomlkit
from pydantic import ValidationError

from harness.base.errors import CorruptData, MissingData, UsageError
from harness.base.files import folder_in_the_making, sha256_of, write_atomic
from harness.base.git import git
from harness.base.layout import Layout
from harness.base.manifest_faults import plain_lines
from harness.base.manifests import NamedManifest
from harness.benchmarks import Dataset, Statistics
from harness.benchmarks.own_data import OwnData, benchmark_of, own_data_of
from harness.data.cells import split_sheet
from harness.data.converters import find_converter
from harness.data.datasets import examined, load_dataset
from harness.data.manifest import (
    FIRST_SEEN,
    MANIFEST,
    DatasetManifest,
    SourceFile,
    dataset_names,
    load_manifest,
    manifest_path,
)

_IGNORED = "# a person's own data: never committed by accident\n*\n"
# where checksums of splits are recorded
_SPLITS = "splits.csv"
_TAKEN = (MANIFEST, FIRST_SEEN, _SPLITS)
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Change:
    """One thing that a manifest says otherwise now."""

    what: str
    before: str
    now: str


@dataclass(frozen=True)
class Accepted:
    """A dataset after its changed files were accepted, and what is different."""

    dataset: Dataset
    changes: tuple[Change, ...]


def new_dataset(
    layout: Layout,
    name: str,
    tables: Mapping[str, Path | str],
    *,
    title: str = "",
    parameters: Mapping[str, Any] = _NOTHING,
) -> Dataset:
    """Make a dataset of tables, by their words. Nothing is there if anything is wrong with one of them."""
    _check_name(layout, name)
    benchmark = benchmark_of(tables)
    own, paths, chosen = _tables(benchmark, tables)
    every = {table.parameter: "" for table in own.TABLES.values()} | chosen
    manifest = DatasetManifest.model_construct(
        name=name,
        title=title or name,
        benchmark=benchmark,
        citation="unpublished",
        licence="not stated",
        converter=own.CONVERTER,
        parameters={**every, **parameters},
        files=[_source(file, path) for file, path in paths.items()],
        statistics=Statistics(),
    )
    dataset = _converted(layout, manifest, paths)
    folder = layout.own_datasets / name
    with folder_in_the_making(folder) as making:
        for file, path in paths.items():
            shutil.copyfile(path, making / file)
        write_atomic(making / ".gitignore", _IGNORED)
        fields = ("name", "title", "benchmark", "citation", "licence", "converter", "parameters")
        document = tomlkit.document()
        document.update({field: getattr(manifest, field) for field in fields})
        _fill_in(document, manifest.files, dataset, {})
        text = tomlkit.dumps(document)
        write_atomic(making / MANIFEST, text)
    if (folder / MANIFEST).read_bytes() != text.encode():
        # another process was first, and its folder stays
        raise _there_is(folder)
    try:
        return load_dataset(layout, name)
    except BaseException:
        shutil.rmtree(folder)
        raise


def accept_changes(layout: Layout, name: str, tables: Mapping[str, Path | str] = _NOTHING) -> Accepted:
    """Record what the files of a dataset hold now; `tables` are put in the place of those it has."""
    manifest = load_manifest(layout, name)
    place = manifest_path(layout, name)
    if manifest.extends or manifest.bring or not manifest.files or manifest.files != manifest.own_files:
        raise UsageError(
            f"dataset '{name}' is not made of files beside its manifest alone",
            where=str(place),
            todo="only such a dataset can be accepted; what others hold is fixed",
        )
    if place.is_relative_to(layout.datasets) and git(layout.root, "ls-tree", "HEAD", "--", f"datasets/{name}/"):
        # committed splits and results are of it, and its files would be replaced and removed
        raise UsageError(
            f"dataset '{name}' is committed with this tree, and no data of your own",
            where=str(place.parent),
            todo=f"`git restore datasets/{name}` puts its files back; `harness data new NAME` takes other tables",
        )
    _, new, chosen = _tables(manifest.benchmark, tables) if tables else (None, {}, {})
    parameters = {**manifest.parameters, **chosen}
    used = {split_sheet(text)[0] for text in parameters.values() if isinstance(text, str)}
    gone = {split_sheet(str(manifest.parameters.get(parameter, "")))[0] for parameter in chosen} - {*used, ""}
    for text in (value for name, value in manifest.parameters.items() if name not in chosen):
        file = split_sheet(text)[0] if isinstance(text, str) else ""
        held = place.parent / file
        if file in new and not (held.is_file() and sha256_of(held) == sha256_of(new[file])):
            raise UsageError(
                f"another table of dataset '{name}' has this file name",
                where=f"{new[file]}, {held}",
                todo="rename the file that you give, or give it for both tables",
            )
    kept = {file.name: place.parent / file.name for file in manifest.files if file.name not in gone}
    paths = kept | new
    if missing := [path for path in paths.values() if not path.is_file()]:
        raise MissingData("a file is not here", where="\n         ".join(map(str, missing)), todo="put it back")
    files = [_source(file, path) for file, path in paths.items()]
    after = manifest.model_copy(update={"parameters": parameters, "files": files})
    dataset = _converted(layout, after, paths)
    document = tomlkit.parse(place.read_text(encoding="utf-8"))
    if chosen:
        document["parameters"] = parameters
    _fill_in(document, after.files, dataset, manifest.statistics.settings)
    changes = [*_changes(manifest, after, dataset)]
    splits = place.parent / _SPLITS
    if splits.is_file() and manifest.converted and manifest.converted.digest != dataset.digest:
        # of the items that there were: they would be taken for splits of those that there are now
        splits.unlink()
        changes.append(Change("recorded splits", "of the data before", "none"))
    # the manifest comes last: where this is broken off, the files are changed ones, as before
    for file, path in new.items():
        write_atomic(place.parent / file, path.read_bytes())
    write_atomic(place, tomlkit.dumps(document))
    for file in {*gone, FIRST_SEEN}:
        (place.parent / file).unlink(missing_ok=True)
    return Accepted(load_dataset(layout, name), tuple(changes))


def _check_name(layout: Layout, name: str) -> None:
    try:
        NamedManifest(name=name)
    except ValidationError as error:
        (line,) = plain_lines(error, ["name"])
        raise UsageError(
            line.removeprefix("name: "), where="harness data new", todo="begin with a letter: my_data, for example"
        ) from None
    if name in dataset_names(layout):
        raise UsageError(
            f"there is a dataset '{name}' already",
            where=str(manifest_path(layout, name).parent),
            todo=f"give another name; after a change of its files, `harness data accept {name}`",
        )
    folder = layout.own_datasets / name
    if folder.exists():
        raise _there_is(folder)


def _there_is(folder: Path) -> UsageError:
    return UsageError("there is such a folder already", where=str(folder), todo="give another name, or remove it")


def _tables(benchmark: str, tables: Mapping[str, Path | str]) -> tuple[OwnData, dict[str, Path], dict[str, str]]:
    """How the benchmark's datasets are made; the files by name; and the files' names by parameter."""
    own = own_data_of(benchmark)
    if own is None or (strange := [word for word in tables if word not in own.TABLES]):
        raise UsageError(
            f"a dataset of benchmark {benchmark} has no such table",
            where=", ".join(f"--{word}" for word in (strange if own else tables)),
            todo=f"it has {', '.join(f'--{word}' for word in own.TABLES)}" if own else "leave it out",
        )
    paths: dict[str, Path] = {}
    names: dict[str, str] = {}
    for word, text in tables.items():
        file, sheet = (str(text), "") if Path(text).is_file() else split_sheet(str(text))
        path = Path(os.path.expanduser(file))  # noqa: PTH111 (Path's own fails where there is no such user)
        if not path.is_file():
            fault, todo = "there is no such file", "give its whole path, or that from the folder you are in"
            if path.is_dir():
                fault, todo = "a folder is no table", "name the file in it"
            elif path.exists():
                fault, todo = "a pipe or a device is no file, and can't be copied", "write it into a file first"
            raise UsageError(fault, where=f"--{word} {text}", todo=todo)
        if path.name in _TAKEN or path.name.startswith(".") or not path.name.isprintable():
            raise UsageError("a table can't have this name", where=f"--{word} {path!r}", todo="rename the file")
        if not path.samefile(paths.setdefault(path.name, path)):
            raise UsageError(
                "two files have one name", where=f"{paths[path.name]}, {path}", todo="rename one: both are copied"
            )
        names[own.TABLES[word].parameter] = f"{path.name}#{sheet}" if sheet else path.name
    return own, paths, names


def _source(name: str, path: Path) -> SourceFile:
    return SourceFile(name=name, bytes=path.stat().st_size, sha256=sha256_of(path))


def _converted(layout: Layout, manifest: DatasetManifest, paths: Mapping[str, Path]) -> Dataset:
    """The dataset out of files wherever they lie; they may not change meanwhile."""
    dataset = examined(find_converter(layout, manifest)(manifest, paths), manifest.benchmark)
    for file in manifest.files:
        if sha256_of(paths[file.name]) != file.sha256:
            raise CorruptData(
                "the file changed while it was read",
                where=str(paths[file.name]),
                todo="try again when it is whole",
            )
    return dataset


def _fill_in(
    document: tomlkit.TOMLDocument, files: Sequence[SourceFile], dataset: Dataset, settings: Mapping[str, Any]
) -> None:
    """Put sizes, checksums, counts and the digest into a manifest; what else it says stays, comments too."""
    listed = {table["name"]: table for table in document.get("files", [])}
    if listed.keys() != {file.name for file in files}:
        document["files"] = tomlkit.aot()
        for file in files:
            document["files"].append(listed.get(file.name, tomlkit.table().add("name", file.name)))
        listed = {table["name"]: table for table in document["files"]}
    for file in files:
        listed[file.name].update(file.model_dump(include={"bytes", "sha256"}))
    counts = dataset.statistics(**settings).model_dump(exclude_none=True)
    document.setdefault("statistics", tomlkit.table()).update(counts)
    document.setdefault("converted", tomlkit.table()).update({"digest": dataset.digest})


def _changes(before: DatasetManifest, after: DatasetManifest, dataset: Dataset) -> Iterator[Change]:
    """What is said otherwise now: of files, of how they are read, and of what they hold."""
    old, new = ({file.name: _content(file) for file in one.files} for one in (before, after))
    parameters = [{name: str(value) for name, value in one.parameters.items()} for one in (before, after)]
    settings = before.statistics.settings
    counts = [
        {name.replace("_", " "): str(value) for name, value in one.model_dump(exclude_none=True).items()}
        for one in (before.statistics, dataset.statistics(**settings))
    ]
    digests = [{"digest": before.converted.digest if before.converted else ""}, {"digest": dataset.digest}]
    for left, right in ((old, new), parameters, counts, digests):
        for name in {**left, **right}:
            if left.get(name, "") != right.get(name, ""):
                yield Change(name, left.get(name, ""), right.get(name, ""))


def _content(file: SourceFile) -> str:
    return f"{file.bytes} bytes, sha256 {file.sha256}" if file.recorded else ""
