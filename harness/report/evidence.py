"""What a number rests on: its runs, and of each its log, code, lock, split and record, by digest and by place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from harness.base.errors import ImageError
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.compare import Book
from harness.images.cards import environment_chain
from harness.images.identity import code_folders, combined
from harness.images.record import recorded_tree, variant_of
from harness.images.sources import code_files
from harness.images.trees import code_of_folders
from harness.planning.cells import Cell
from harness.planning.plan import Plan
from harness.results.reference import load_reference
from harness.results.store import Store, join
from harness.status import Group, ScoredCell, Table, build_table


class File(NamedTuple):
    """A file of the repository with its sha256."""

    path: Path
    sha256: str


@dataclass(frozen=True)
class Made:
    """What a method's image is made of today: its code folders, its locks, and the tree of both together."""

    image: str
    code: str
    folders: tuple[Path, ...]
    files: tuple[File, ...]
    locks: tuple[File, ...]


@dataclass(frozen=True)
class Evidence:
    """All runs that a report speaks of: those of its table, and others that its claims and studies rest on."""

    layout: Layout
    store: Store
    table: Table
    beside: tuple[ScoredCell, ...]
    _made: dict[tuple[str, Accelerator], Made | None] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def runs(self) -> dict[str, ScoredCell]:
        """The runs by key."""
        cells = (*self.table.cells, *self.beside)
        return {one.key: one for one in cells if one.key and one.cell.record}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """All cells by row, dataset and kind of split."""
        return Table("", 0, (*self.table.cells, *self.beside), 0).groups

    @cached_property
    def group_of(self) -> dict[str, Group]:
        """The group of each run, by key."""
        return {one.key: group for group in self.groups for one in group.cells if one.key}

    def groups_of(self, keys: Iterable[str]) -> list[Group]:
        """The groups of these runs, each once."""
        groups = {id(group): group for key in keys if (group := self.group_of.get(key))}
        return list(groups.values())

    def made(self, method: str, accelerator: Accelerator = "cpu") -> Made | None:
        """What the method's image is made of; None where its folders are not whole."""
        if (method, accelerator) not in self._made:
            self._made[method, accelerator] = self._made_of(method, accelerator)
        return self._made[method, accelerator]

    def _made_of(self, method: str, accelerator: Accelerator) -> Made | None:
        try:
            folders = code_folders(self.layout, method)
            files = [folder / name for folder in folders for name in sorted(code_files(folder))]
            code = code_of_folders(*folders)
            image = combined(recorded_tree(self.layout, method, accelerator), code)
        except ImageError:
            return None
        locks = [
            path
            for one in environment_chain(self.layout, method)
            for backend in one.backends
            if (path := one.lock_path(backend, variant_of(one, accelerator))).is_file()
        ]
        return Made(image, code, tuple(folders), _hashed(files), _hashed(locks))

    def place(self, path: Path) -> str:
        """A file's place in the repository; of the harness' own files, their place in the package."""
        roots = (self.layout.root, self.layout.benchmarks.parents[1])
        return next((str(path.relative_to(root)) for root in roots if path.is_relative_to(root)), path.name)


def gather(layout: Layout, table: Table, books: Sequence[Book], more: Collection[str] = ()) -> Evidence:
    """The evidence of a table, of the claims beside it, and of more runs by key."""
    store, known = Store(layout.runs), {scored.key for scored in table.cells if scored.cell.record}
    of_claims = (run.key for book in books for run in book.obtained)
    keys = [key for key in dict.fromkeys((*of_claims, *more)) if key and key not in known]
    # a claim's runs are of a benchmark of the table
    benchmarks = () if more else {scored.cell.job.benchmark for scored in table.cells}
    entries = load_reference(layout, *benchmarks)
    # of one key both are the same, and what is stored here may be damaged
    planned = [entries[key].planned if key in entries else store.record(key).planned for key in keys]
    plan = Plan("beside", tuple(Cell(one.job, one) for one in planned))
    joined = zip(plan.cells, join(plan, store, records=True), strict=True)
    # then the committed result is what claims are about
    cells = [waiting if waiting.key in entries and not cell.record else cell for waiting, cell in joined]
    beside = build_table(layout, store, plan, cells, entries)
    return Evidence(layout, store, table, beside.cells)


def _hashed(paths: Iterable[Path]) -> tuple[File, ...]:
    return tuple(File(path, sha256_of(path)) for path in paths)
