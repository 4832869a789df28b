"""Tables that a person brings for a dataset nobody can fetch: files by fixed names in a folder of their own.

They have no recorded checksum. Their present one decides which arrays are used, so that changed tables are
never mixed with what was computed before.
"""

from __future__ import annotations

from pathlib import Path

from harness import benchmarks
from harness.base.errors import MissingData
from harness.base.layout import Layout
from harness.data.manifest import FIRST_SEEN, DatasetManifest, manifest_path

_OWN = "own"


def brought_folder(layout: Layout, name: str) -> Path:
    """Where a dataset's tables are to be put: beside the manifest, out of the repository's sight."""
    return manifest_path(layout, name).parent / _OWN


def personal_names(layout: Layout) -> tuple[str, ...]:
    """Paths that no commit has, as patterns: a person's own tables, and what this machine noted of downloads.

    Below the datasets alone: a file of such a name elsewhere would be code that nobody committed.
    """
    folder = layout.datasets.name
    return (f"{folder}/*/{_OWN}/*", f"{folder}/*/{FIRST_SEEN}")


def missing_tables(layout: Layout, manifest: DatasetManifest) -> list[str]:
    """The names of tables that are needed and not there yet."""
    here = brought_folder(layout, manifest.name)
    return [table for table, optional in _tables(manifest).items() if not (optional or (here / table).is_file())]


def reason_to_bring(manifest: DatasetManifest) -> str:
    """Why nobody can fetch the tables, or what those hold that are needed."""
    return manifest.bring or "; ".join(f"{one.name}: {one.holds}" for one in manifest.brought if not one.optional)


def brought_tables(layout: Layout, manifest: DatasetManifest) -> dict[str, Path]:
    """The paths of all tables that are there, by name; a `MissingData` that says what to do if one is missing."""
    folder = brought_folder(layout, manifest.name)
    if missing := missing_tables(layout, manifest):
        raise MissingData(
            f"dataset '{manifest.name}' has to be brought: {reason_to_bring(manifest)}",
            where=f"{folder}: no {', '.join(missing)}",
            todo="put the tables there; docs/data.md, 'Datasets to be brought', says what they hold",
        )
    return {table: folder / table for table in _tables(manifest) if (folder / table).is_file()}


def _tables(manifest: DatasetManifest) -> dict[str, bool]:
    """The names of all tables, and whether the dataset is also made without one."""
    if manifest.bring:
        return dict.fromkeys(benchmarks.get(manifest.benchmark).brought_tables, False)
    return {table.name: table.optional for table in manifest.brought}
