"""Datasets by name: fetched, converted, checked against their manifest, and kept as arrays named by digest.

`load_dataset` gives arrays whose content has the digest of the manifest, or says what differs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.data.brought import brought_tables, checksum
from harness.data.manifest import DatasetManifest, load_manifest, manifest_path
from harness.data.sources import obtain
from harness.errors import CorruptData
from harness.files import digest_of, folder_in_the_making, sha256_of, write_json
from harness.layout import Layout

if TYPE_CHECKING:
    from harness.data.model import RepurposingDataset

_NAMES_FILE = "names.json"


def dataset_digest(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> str:
    """The digest a dataset's arrays have: from the manifest, or from the arrays where it records none."""
    manifest = load_manifest(layout, name)
    return manifest.converted.digest if manifest.converted else load_dataset(layout, name, mirrors=mirrors).digest


def is_converted(layout: Layout, manifest: DatasetManifest) -> bool:
    """Whether the arrays are here, so that nothing has to be fetched."""
    return (_converted_folder(layout, manifest) / _NAMES_FILE).is_file()


def fetch_dataset(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> dict[str, Path]:
    """Checked copies of a dataset's original files."""
    manifest = load_manifest(layout, name)
    if manifest.bring:
        return brought_tables(layout, manifest)
    return {file.name: obtain(layout, name, file, mirrors) for file in manifest.files}


def load_dataset(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> RepurposingDataset:
    """The converted arrays of a dataset; made when they are not there yet."""
    manifest = load_manifest(layout, name)
    folder = _converted_folder(layout, manifest)
    if not (folder / _NAMES_FILE).is_file():
        _keep(convert_dataset(layout, name, mirrors=mirrors), folder)
    dataset = _read(folder, manifest.name, (folder / _NAMES_FILE).stat().st_mtime_ns)
    return _matching(dataset, layout, manifest)


def convert_dataset(layout: Layout, name: str, *, mirrors: Sequence[Path] = ()) -> RepurposingDataset:
    """Convert the original files again, whatever is cached, and check the result against the manifest."""
    from dataclasses import replace

    from harness.data.checks import checked_remarks
    from harness.data.converters import find_converter
    from harness.data.model import content_digest

    manifest = load_manifest(layout, name)
    convert = find_converter(layout, manifest)
    dataset = convert(manifest, fetch_dataset(layout, name, mirrors=mirrors))
    remarks = checked_remarks(dataset)
    return _matching(replace(dataset, digest=content_digest(dataset), remarks=remarks), layout, manifest)


def _matching(dataset: RepurposingDataset, layout: Layout, manifest: DatasetManifest) -> RepurposingDataset:
    """The dataset, if it is the one its manifest describes."""
    where = manifest_path(layout, manifest.name)
    found = dataset.statistics(associated=manifest.statistics.associated).model_dump()
    for field, expected in manifest.statistics.model_dump().items():
        if found[field] != expected:
            raise CorruptData(
                f"dataset '{manifest.name}' has {found[field]} {field.replace('_', ' ')}, not {expected}",
                where=f"{where}: statistics.{field}",
                todo="correct the manifest, or the files and the converter it names",
            )
    if manifest.converted and dataset.digest != manifest.converted.digest:
        raise CorruptData(
            f"dataset '{manifest.name}' was converted to other arrays than those recorded",
            where=f"{where}: converted.digest: {manifest.converted.digest}, found {dataset.digest}",
            todo="correct the manifest, or the files and the converter it names",
        )
    return dataset


def _converted_folder(layout: Layout, manifest: DatasetManifest) -> Path:
    """Named by the recorded digest; without one, by everything the conversion depends on."""
    if manifest.converted:
        return layout.cache / "datasets" / manifest.converted.digest
    from harness.data.converters import converter_source

    brought = brought_tables(layout, manifest) if manifest.bring else {}
    recipe = digest_of(
        {
            "converter": sha256_of(converter_source(layout, manifest)),
            "parameters": manifest.parameters,
            "files": {file.name: file.sha256 for file in manifest.files}
            | {name: checksum(path) for name, path in brought.items()},
        }
    )
    return layout.cache / "datasets" / f"recipe-{recipe}"


def _keep(dataset: RepurposingDataset, folder: Path) -> None:
    from harness.data.model import ARRAYS, NAMES
    from harness.data.npy import npy_bytes

    with folder_in_the_making(folder) as making:
        for name, dtype in ARRAYS.items():
            (making / f"{name}.npy").write_bytes(npy_bytes(getattr(dataset, name).astype(dtype)))
        names = {name: list(getattr(dataset, name)) for name in NAMES}
        write_json(making / _NAMES_FILE, {**names, "digest": dataset.digest, "remarks": list(dataset.remarks)})


@lru_cache(maxsize=8)
def _read(folder: Path, name: str, _changed: int) -> RepurposingDataset:
    """Kept arrays, hashed once per process: a changed file is found before it is used."""
    from dataclasses import replace

    from harness.data.model import ARRAYS, NAMES, RepurposingDataset, content_digest
    from harness.data.npy import NotNpy, read_header, read_npy

    try:
        told = json.loads((folder / _NAMES_FILE).read_text(encoding="utf-8"))
        parts: dict[str, Any] = {key: tuple(told[key]) for key in NAMES}
        for array, dtype in ARRAYS.items():
            path = folder / f"{array}.npy"
            parts[array] = read_npy(path, dtype, read_header(path)[1])
        dataset = RepurposingDataset(name=name, **parts)
        found = content_digest(dataset)
        if found != told["digest"]:
            raise NotNpy(f"digest is {found}, not the recorded {told['digest']}")
        remarks = tuple(str(remark) for remark in told["remarks"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorruptData(
            f"the kept arrays of dataset '{name}' were changed",
            where=f"{folder}: {error}",
            todo="remove that folder; they will be converted again",
        ) from None
    return replace(dataset, digest=found, remarks=remarks)
