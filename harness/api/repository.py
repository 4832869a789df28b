"""The repository that all functions work on, and where its data and its engine come from."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex

from harness.base.download import mirror_folders
from harness.base.errors import UsageError
from harness.base.layout import Layout, data_folder, find_layout
from harness.results.last_audit import REFERENCE, read_last_audit, write_last_audit
from harness.results.store import Store

# the highest seed of numpy's legacy generator
_MOST = 2**32 - 1
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
    mirrors: Path | str | Iterable[Path | str] | None = None,
    data: Path | str | None = None,
    install: bool = False,
    runtime: str | None = None,
) -> Repository:
    """The repository around a folder, by default the current one.

    `mirrors` are folders of original data files; by default those of $PERMAFROST_MIRROR. `data` is where
    your own datasets lie; by default $PERMAFROST_DATA, else a folder among your data.
    """
    if isinstance(mirrors, Path | str):
        mirrors = (mirrors,)
    folders = tuple(mirror_folders() if mirrors is None else map(Path, mirrors))
    for mirror in folders:
        if not mirror.is_dir():
            raise UsageError(
                "a mirror is no folder", where=str(mirror), todo="name a folder of original data files"
            )
    layout = find_layout(Path(folder) if folder else None)
    if folder and not Path(folder).resolve().is_relative_to(layout.root):
        # the tree that the harness lies in is not what was named
        raise UsageError(
            "this is not a Permafrost repository", where=str(folder), todo="name the folder that holds run_all.sh"
        )
    return Repository(layout.with_data(data_folder(data)), folders, install, runtime)


@contextmanager
def without_own_runs(repository: Repository) -> Iterator[Repository]:
    """The repository as a clone has it: none of this machine's runs, but the last audit of what is committed."""
    layout = repository.layout
    with tempfile.TemporaryDirectory(prefix="permafrost-clone-") as folder:
        alone = replace(layout, local=Path(folder))
        if audit := read_last_audit(layout, REFERENCE):
            write_last_audit(alone, REFERENCE, audit)
        yield replace(repository, layout=alone)


def opened(repository: Repository | None) -> Repository:
    """The repository that was handed over, else the one around the current folder."""
    return repository or open_repository()


def several(names: Names) -> tuple[str, ...]:
    """One name, or several, as several."""
    return (names,) if isinstance(names, str) else tuple(names)


def numbers(values: Numbers) -> tuple[int, ...]:
    """One seed, or several, as several. A number of numpy's is one too."""
    every = tuple(values) if isinstance(values, Iterable) else (values,)
    for value in every:
        if not isinstance(value, SupportsIndex) or not 0 <= index(value) <= _MOST:
            raise UsageError(f"{value!r} is no seed", where="--seed", todo=f"give whole numbers from 0 to {_MOST}")
    return tuple(map(index, every))


def settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a key holds them: those of numpy are plain ones, and what is not finite is refused."""
    plain = {
        name: value.item() if hasattr(value, "dtype") and not value.shape else value
        for name, value in parameters.items()
    }
    for name, value in plain.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"'{value}' is no finite number", where=f"--set {name}={value}", todo="give one")
    return plain
