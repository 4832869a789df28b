"""Where things lie: one place that knows the folders of the repository, its cache and its local results."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from harness.base.errors import UsageError

_PACKAGE = Path(__file__).resolve().parents[1]
# Where a person's own datasets lie.
DATA_VARIABLE = "PERMAFROST_DATA"
Value = TypeVar("Value")


@dataclass(frozen=True)
class Layout:
    """The folders everything else is found from."""

    root: Path
    cache: Path
    local: Path
    # a person's own datasets, out of sight of git; None: there are none but those of the tree
    data: Path | None = None

    @property
    def containers(self) -> Path:
        """Frozen environments, one folder per method."""
        return self.root / "containers"

    @property
    def methods(self) -> Path:
        """Method cards and implementations, one folder per method."""
        return self.root / "methods"

    @property
    def benchmarks(self) -> Path:
        """The harness's own packages of benchmarks, where the SDKs of their methods lie too."""
        return _PACKAGE / "benchmarks"

    @property
    def datasets(self) -> Path:
        """Dataset manifests and split checksums, one folder per dataset."""
        return self.root / "datasets"

    @property
    def dataset_places(self) -> tuple[Path, ...]:
        """The folders that hold datasets: the tree's, and a person's own."""
        return (self.datasets, self.data) if self.data else (self.datasets,)

    @property
    def own_datasets(self) -> Path:
        """Where a new dataset of a person's own goes."""
        return self.data or self.datasets

    @property
    def extended(self) -> Path:
        """Datasets that `harness predict` made of others and items of one's own: found by name, never listed."""
        return self.cache / "extended"

    def with_data(self, folder: Path) -> Layout:
        """The same with a person's own datasets in a folder, which may be the tree's."""
        return replace(self, data=None if folder.resolve() == self.datasets.resolve() else folder)

    @property
    def published(self) -> Path:
        """Claims: what the papers say."""
        return self.root / "results" / "published"

    @property
    def reference(self) -> Path:
        """What this artifact got itself: committed records and scores."""
        return self.root / "results" / "reference"

    @property
    def runs(self) -> Path:
        """The store: one folder per finished run."""
        return self.local / "runs"

    @property
    def scores(self) -> Path:
        """Scores, each recomputable from its run."""
        return self.local / "scores"

    @property
    def page(self) -> Path:
        """The status page."""
        return self.local / "report.html"

    @property
    def page_note(self) -> Path:
        """What the status page was made of, under this user's seal."""
        return self.page.with_suffix(".json")

    @property
    def parts(self) -> Path:
        """Fetched parts of images, named by sha256."""
        return self.cache / "parts"

    def without_folders(self, value: Value) -> Value:
        """A JSON value whose texts name no folder of this machine: a record tells nothing of a person's disk."""
        return cast("Value", _renamed(value, self._folders))

    @property
    def _folders(self) -> list[tuple[str, str]]:
        """The folders of this machine that a text may name, the longest first, and what stands for each."""
        names = {
            Path(tempfile.gettempdir()): "$TMPDIR",
            Path.home(): "~",
            self.root: "REPOSITORY",
            self.cache: "CACHE",
            self.local: "RESULTS",
            **({self.data: "DATA"} if self.data else {}),
        }
        folders = {
            str(one): name for path, name in names.items() for one in (path, path.resolve()) if len(one.parts) > 1
        }
        return sorted(folders.items(), key=lambda item: -len(item[0]))


def _renamed(value: Any, folders: list[tuple[str, str]]) -> Any:
    if isinstance(value, dict):
        return {_renamed(name, folders): _renamed(one, folders) for name, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, folders) for one in value]
    if isinstance(value, str):
        for folder, name in folders:
            value = value.replace(folder, name)
    return value


def find_layout(start: Path | None = None) -> Layout:
    """The layout of the repository around `start`.

    $PERMAFROST_CACHE, $PERMAFROST_RESULTS and $PERMAFROST_DATA move the rest.
    """
    here = (start or Path.cwd()).resolve()
    candidates = [here, *here.parents, _PACKAGE.parent]
    for root in candidates:
        if (root / "run_all.sh").is_file() and (root / "methods").is_dir():
            break
    else:
        raise UsageError(
            "this is not a Permafrost repository",
            where=str(here),
            todo="change into the folder that holds run_all.sh",
        )
    _refuse_another_harness(root)
    default_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "permafrost"
    cache = Path(os.environ.get("PERMAFROST_CACHE") or default_cache)
    local = Path(os.environ.get("PERMAFROST_RESULTS") or root / "results" / "local")
    layout = Layout(root=root, cache=cache.expanduser().absolute(), local=local.expanduser().absolute())
    return layout.with_data(data_folder())


def data_folder(folder: Path | str | None = None) -> Path:
    """The folder of a person's own datasets: this one, else $PERMAFROST_DATA, else among the user's data."""
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    chosen = Path(folder or os.environ.get(DATA_VARIABLE) or home / "permafrost" / "datasets")
    return chosen.expanduser().absolute()


def _refuse_another_harness(root: Path) -> None:
    """A tree that has a harness is served by no other: its results would be those of other code."""
    own = root / _PACKAGE.name
    if own.is_dir() and not own.samefile(_PACKAGE):
        raise UsageError(
            "the harness that runs is not the one of this tree",
            where=f"tree {root}, harness {_PACKAGE}",
            todo="start .venv/bin/harness of this tree; after a copy or a move ./run_all.sh makes its .venv",
        )
