"""Datasets by name: fetched, converted, checked against their manifest, and kept as arrays named by digest.

`load_dataset` gives arrays whose content has the digest of the manifest, or says what differs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, overload

from harness import benchmarks
from harness.base.errors import CorruptData, ManifestError, MissingData, UsageError
from harness.base.faults import all_faults
from harness.base.few import few_in_line
from harness.base.files import checksum, digest_of, sha256_of
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.benchmarks import Dataset
from harness.benchmarks.new_item import listed_kinds, with_new
from harness.data.converters import converter_source, find_converter
from harness.data.manifest import DatasetManifest, has_manifest, load_manifest, manifest_path
from harness.data.own_tables import brought_tables, missing_tables
from harness.data.sources import changed_files, local_copy, obtain_all
from harness.data.trust import alone_at_first_sight, seen_first

# `arrays.keep` writes it; that module is too heavy to import for a listing.
_NAMES_FILE = "names.json"
# as many names as a remark shows
_FEW = 6
One = TypeVar("One", bound="Dataset")


def dataset_digest(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> str:
    """The digest a dataset's arrays have: from the manifest, or from the arrays where it records none.

    A file whose content nobody has recorded is not downloaded for it: plans and tables do not ask for that.
    """
    manifest = _unchanged(layout, load_manifest(layout, name), mirrors)
    if recorded := _recorded_digest(layout, manifest):
        return recorded
    if not is_converted(layout, manifest):
        for file in manifest.files:
            if not file.recorded and local_copy(layout, name, file, mirrors) is None:
                raise MissingData(
                    f"'{file.name}' (dataset {name}) is not here",
                    where=", ".join(file.urls) or str(manifest_path(layout, name).parent / file.name),
                    todo=f"run `harness data get {name}`",
                )
    return load_dataset(layout, name, mirrors=mirrors).digest


def recorded_digest(layout: Layout, name: str) -> str:
    """The digest that the manifest records, whatever its files hold by now; empty where it records none."""
    return _recorded_digest(layout, load_manifest(layout, name))


def is_converted(layout: Layout, manifest: DatasetManifest) -> bool:
    """Whether the arrays are here, so that nothing has to be fetched."""
    # which arrays are meant, its tables say
    return not missing_tables(layout, manifest) and (_converted_folder(layout, manifest) / _NAMES_FILE).is_file()


def is_here(layout: Layout, manifest: DatasetManifest, mirrors: Sequence[Path] = ()) -> bool:
    """Whether a dataset can be loaded without a download."""
    if is_converted(layout, manifest):
        return True
    if base := manifest.extends:
        return has_manifest(layout, base) and is_here(layout, load_manifest(layout, base), mirrors)
    copies = (local_copy(layout, manifest.name, file, mirrors) for file in manifest.files)
    return not missing_tables(layout, manifest) and all(copies)


def fetch_dataset(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> dict[str, Path]:
    """Checked copies of a dataset's original files, and the tables that a person brought, by name."""
    manifest = load_manifest(layout, name)
    tables = brought_tables(layout, manifest)
    return obtain_all(layout, name, manifest.files, mirrors) | tables


@overload
def load_dataset(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> Dataset: ...


@overload
def load_dataset(layout: Layout, name: str, model: type[One], *, mirrors: Sequence[Path] = ()) -> One: ...


def load_dataset(
    layout: Layout, name: str, model: type[One] | None = None, *, mirrors: Sequence[Path] = ()
) -> Dataset | One:
    """The converted arrays of a dataset, of one benchmark's `model` if given; made when they are not there yet."""
    from harness.data.arrays import keep, read

    manifest = _unchanged(layout, load_manifest(layout, name), mirrors)
    if not is_converted(layout, manifest):
        dataset = convert_dataset(layout, name, mirrors=mirrors)
        manifest = load_manifest(layout, name)  # now with size and sha256 of files seen for the first time
        keep(dataset, _converted_folder(layout, manifest))
    own = benchmarks.get(manifest.benchmark).dataset
    if model is not None and not issubclass(own, model):
        raise UsageError(
            f"dataset '{name}' is one of benchmark '{manifest.benchmark}'", todo="name one of this benchmark"
        )
    return _matching(read(_converted_folder(layout, manifest), manifest.name, own), layout, manifest)


def convert_dataset(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> Dataset:
    """Convert the original files again, whatever is cached, and check the result against the manifest."""
    with alone_at_first_sight(layout, load_manifest(layout, name)):
        # read anew: it may hold what another process recorded meanwhile
        return _convert(layout, load_manifest(layout, name), mirrors)


def _convert(layout: Layout, manifest: DatasetManifest, mirrors: Sequence[Path]) -> Dataset:
    name = manifest.name
    benchmark = benchmarks.get(manifest.benchmark)
    if manifest.extends:
        base = load_dataset(layout, manifest.extends, mirrors=mirrors)
        return _checked(replace(with_new(manifest.benchmark, base, manifest.new), name=name), layout, manifest)
    convert = find_converter(layout, manifest)
    files = fetch_dataset(layout, name, mirrors=mirrors)
    with activity(f"converting dataset {name}"), seen_first(layout, manifest, files):
        dataset = convert(manifest, files)
        # a benchmark's class may add to the one that converters fill
        if not isinstance(dataset, benchmark.dataset.__mro__[:-1]):
            raise ManifestError(
                f"converter '{manifest.converter}' makes no dataset of benchmark '{manifest.benchmark}'",
                where=f"{manifest_path(layout, name)}: converter",
                todo="name a converter of this benchmark",
            )
        return _checked(dataset, layout, manifest)


def examined(dataset: Dataset, benchmark: str) -> Dataset:
    """The dataset with its digest and remarks, if it is what a dataset of the benchmark may be."""
    from harness.data.arrays import content_digest

    remarks = (*dataset.remarks, *benchmarks.get(benchmark).remarks(dataset), *_alike(dataset, benchmark))
    return replace(dataset, digest=content_digest(dataset), remarks=remarks)


def _alike(dataset: Dataset, benchmark: str) -> Iterator[str]:
    """Names of things that a person may have meant as one."""
    for word, kind in listed_kinds(benchmark).items():
        looks: dict[str, list[str]] = {}
        for name in sorted({*dataset.names[kind.lists[0]]}):
            looks.setdefault(_look(name), []).append(name)
        for how, wanted in (("differ in capitals alone", True), ("look alike", False)):
            groups = (looks[look] for look in sorted(looks) if len(looks[look]) > 1)
            alike = [name for group in groups if (len({*map(str.lower, group)}) == 1) is wanted for name in group]
            if alike:
                shown = few_in_line([repr(name) if wanted else ascii(name) for name in alike], _FEW)
                yield f"names that {how} are each a {word} of its own: {shown}"


def _look(name: str) -> str:
    """What a person sees of a name: no capitals, no wide or joined letters, no character without a shape."""
    letters = unicodedata.normalize("NFKC", name).lower()
    return "".join(one for one in letters if unicodedata.category(one) != "Cf")


def _checked(dataset: Dataset, layout: Layout, manifest: DatasetManifest) -> Dataset:
    """The dataset with its digest and remarks, if it is the one of its manifest."""
    return _matching(examined(dataset, manifest.benchmark), layout, manifest)


def _unchanged(layout: Layout, manifest: DatasetManifest, mirrors: Sequence[Path]) -> DatasetManifest:
    """The manifest, if what it was made of is what it records; else arrays made of others would be used."""
    if changed := changed_files(layout, manifest):
        raise CorruptData(
            f"dataset '{manifest.name}': {', '.join(path.name for path in changed)} changed since the manifest "
            "recorded what it holds",
            where="\n         ".join(f"{path}: {fault}" for path, fault in changed.items()),
            todo=f"if that is meant: harness data accept {manifest.name}, which writes "
            f"{manifest_path(layout, manifest.name)} anew; else put the recorded file back",
        )
    if manifest.extends and not has_manifest(layout, manifest.extends):
        raise MissingData(
            f"dataset '{manifest.extends}', which '{manifest.name}' adds items to, is not here",
            where=str(manifest_path(layout, manifest.name)),
            todo=f"put {manifest.extends} back where it was",
        )
    before = manifest.extends_digest
    if before and dataset_digest(layout, manifest.extends, mirrors=mirrors) != before:
        raise CorruptData(
            f"dataset '{manifest.name}' adds items to '{manifest.extends}' as it was before its data changed",
            where=str(manifest_path(layout, manifest.name)),
            todo=f"ask about these items again: harness predict --dataset {manifest.extends} ...",
        )
    return manifest


def _matching(dataset: Dataset, layout: Layout, manifest: DatasetManifest) -> Dataset:
    """The dataset, if it is the one its manifest describes."""
    where = manifest_path(layout, manifest.name)
    statistics = dataset.statistics(**manifest.statistics.settings).model_dump()
    todo = "correct the manifest, or the files and the converter it names"
    if manifest.own_files:
        todo += f"; if the files are right: harness data accept {manifest.name}"
    with all_faults() as faults:
        for field, expected in manifest.statistics.model_dump().items():
            if expected is not None and statistics[field] != expected:
                what = (
                    f"dataset '{manifest.name}' has {statistics[field]} {field.replace('_', ' ')}, not {expected}"
                )
                faults.add(CorruptData(what, where=f"{where}: statistics.{field}", todo=todo))
    recorded = _recorded_digest(layout, manifest)
    if recorded and dataset.digest != recorded:
        raise CorruptData(
            f"dataset '{manifest.name}' was converted to other arrays than those recorded",
            where=f"{where}: converted.digest: {recorded}, found {dataset.digest}",
            todo=todo,
        )
    return dataset


def _recorded_digest(layout: Layout, manifest: DatasetManifest) -> str:
    """The digest that the manifest records: that of a dataset without the tables a person may add."""
    return manifest.converted.digest if manifest.converted and not brought_tables(layout, manifest) else ""


def _converted_folder(layout: Layout, manifest: DatasetManifest) -> Path:
    """The folder of the arrays, named by the recorded digest; without one, by all that the conversion depends on.

    The latter holds for a person's own files, too: an old digest in the manifest never stands for changed files.
    """
    recorded = _recorded_digest(layout, manifest)
    if recorded and not manifest.own_files:
        return layout.cache / "datasets" / recorded
    tables = brought_tables(layout, manifest)
    recipe = digest_of(
        {
            "converter": [sha256_of(path) for path in converter_source(layout, manifest)],
            "parameters": manifest.parameters,
            "files": {file.name: file.sha256 for file in manifest.files}
            | {name: checksum(path) for name, path in tables.items()},
        }
    )
    return layout.cache / "datasets" / f"recipe-{recipe}"
