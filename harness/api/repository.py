"""The repository that all functions work on, and where its data and its engine come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.base.download import mirror_folders
from harness.base.errors import UsageError
from harness.base.layout import Layout, data_folder, find_layout
from harness.results.store import Store

# One name or number, or several.
Names = str | Iterable[str]
Numbers = int | Iterable[int]


@dataclass(frozen=True)
class Repository:
    """A repository: `mirrors` hold original data files, `install` allows an engine to be installed, `runtime` is
    what containers are started with.
    """

    layout: Layout
    mirrors: tuple[Path, ...] = ()
    install: bool = False
    runtime: str | None = None

    @property
    def store(self) -> Store:
        """The runs of this machine."""
        return Store(self.layout.runs)


def open_repository(
    folder: Path | str | None = None,
    *,
    mirrors: Iterable[Path | str] | None = None,
    data: Path | str | None = None,
    install: bool = False,
    runtime: str | None = None,
) -> Repository:
    """The repository around a folder, by default the current one.

    `mirrors` are folders of original data files; by default those of $PERMAFROST_MIRROR. `data` is where
    your own datasets lie; by default $PERMAFROST_DATA, else a folder among your data.
    """
    folders = tuple(mirror_folders() if mirrors is None else map(Path, mirrors))
    for mirror in folders:
        if not mirror.is_dir():
            raise UsageError(
                "a mirror is no folder", where=str(mirror), todo="name a folder of original data files"
            )
    layout = find_layout(Path(folder) if folder else None)
    return Repository(layout.with_data(data_folder(data)), folders, install, runtime)


def opened(repository: Repository | None) -> Repository:
    """The repository that was handed over, else the one around the current folder."""
    return repository or open_repository()


def several(names: Names) -> tuple[str, ...]:
    """One name, or several, as several."""
    return (names,) if isinstance(names, str) else tuple(names)


def numbers(values: Numbers) -> tuple[int, ...]:
    """One number, or several, as several."""
    return (values,) if isinstance(values, int) else tuple(values)
