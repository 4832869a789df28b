"""The store: one folder per finished run, whole or absent, so that killing anything costs only runs in flight.

A run's folder is made under a temporary name, its record written last, and renamed into being. A harness claims
a key before it runs it; where two finish the same job all the same, the first folder stays. All that happens to a
run is a leaf of the log beside the store.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import CorruptData, UsageError
from harness.base.files import sha256_of, sync_folder, write_json
from harness.base.network_files import look_anew, move
from harness.base.openers import without_waiting
from harness.base.ownership import own_folder
from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.planning.cells import Cell, Cells, Judgement
from harness.planning.jobs import Job
from harness.planning.obstacles import ObstacleNotes
from harness.planning.plan import Plan
from harness.proof.leaves import Event, Leaf, now, result_leaf, scope_of
from harness.proof.log import NEXT, Log
from harness.results.arrivals import SCORES, settle
from harness.results.digests import import_leaves, stored_results
from harness.results.records import (
    RECORD_FILE,
    Record,
    StoredFile,
    checked_content,
    is_fit_to_show,
    parse_record,
)

_LOCK = ".lock"


@dataclass(frozen=True)
class StoredRun:
    """What the store knows of one key without opening its predictions."""

    verdict: Verdict
    reason: str
    content: dict[str, Any]


_NO_RUN = StoredRun(Verdict.PENDING, Verdict.PENDING.meaning, {})


@dataclass(frozen=True)
class Store:
    """Runs under `folder`, found by key."""

    folder: Path

    def path(self, key: str) -> Path:
        """Where the run of `key` lies, or would lie."""
        return self.folder / key[:2] / key

    def finished(self) -> Iterator[str]:
        """Every key that has a folder in its place."""
        if not self.folder.is_dir():
            return
        for shelf in sorted(os.scandir(self.folder), key=lambda entry: entry.name):
            if shelf.is_dir() and len(shelf.name) == 2:
                for run in sorted(os.scandir(shelf.path), key=lambda entry: entry.name):
                    # what can't be printed, as a name that is no UTF-8, can be no key: no command could name it
                    if run.name.startswith(shelf.name) and run.name.isprintable():
                        yield run.name

    def record(self, key: str) -> Record:
        """The validated record of one run."""
        path = self.path(key) / RECORD_FILE
        try:
            with open(path, "rb", buffering=0, opener=without_waiting) as stream:
                text = stream.read()
        except OSError as error:
            raise CorruptData(f"no record: {error.strerror}", where=str(path), todo="run the job again") from None
        record = parse_record(text, path)
        try:
            made_for = record.planned.key
        except UsageError as error:
            raise CorruptData(
                f"a record that this version of the harness can't read: {error.what}",
                where=str(path),
                todo=f"use the version that made it, or remove it: `harness forget {key[:12]}`",
            ) from None
        if record.key != key or made_for != key:
            raise CorruptData(
                "a record lies under another job's key",
                where=str(path),
                todo="remove that folder and run again",
            )
        return record

    def standing(self, key: str) -> StoredRun:
        """The verdict of one key: pending when there is no run, infrastructure when its evidence is damaged.

        Checks the record's digest and the presence and size of every file it names. The contents are hashed
        when they are used: by scoring and by the audit.
        """
        # a hot path, asked for every planned cell: texts, not Path objects, are a seventh of its time
        folder = f"{self.folder}/{key[:2]}/{key}"
        path = f"{folder}/{RECORD_FILE}"
        try:
            with open(path, "rb", buffering=0, opener=without_waiting) as stream:
                text = stream.read()
        except FileNotFoundError:
            return _NO_RUN
        except OSError as error:
            return StoredRun(Verdict.INFRASTRUCTURE, f"evidence is damaged: {error.strerror} ({path})", {})
        try:
            content = checked_content(text, path)
            if content.get("key") != key:
                raise CorruptData("a record lies under another job's key", where=path)
            _check_sizes(folder, content["files"])
            scope_of(content["planned"]["job"])  # fails where no job is named
            if not is_fit_to_show(content["reason"]) or not isinstance(content["resources"], dict):
                raise TypeError("neither is what a record holds there")
            return StoredRun(Verdict(content["verdict"]), content["reason"], content)
        except CorruptData as error:
            return StoredRun(Verdict.INFRASTRUCTURE, f"evidence is damaged: {error.what} ({error.where})", {})
        except (KeyError, TypeError, ValueError, AttributeError):
            # its digest is right, so somebody made it so: `record` tells which field
            return StoredRun(
                Verdict.INFRASTRUCTURE, f"evidence is damaged: a record breaks its schema ({path})", {}
            )

    def put(self, record: Record, files: dict[str, Path], *, again: bool = False) -> Record:
        """The record that is stored afterwards: this one, whose files are moved in and hashed, or an older one.

        A final verdict that is there stays, unless a person wanted the run `again` and it ended with another one.
        """
        with self._alone():
            if self._stays(record, again=again):
                return self.record(record.key)
        final, draft = self.path(record.key), Path(tempfile.mkdtemp(dir=self._own, prefix="making-"))
        try:
            complete = record.model_copy(update={"files": _take(files, draft)})
            write_json(draft / RECORD_FILE, complete.to_json())
            draft.chmod(0o755)
            with self._alone():
                # looked at again: another harness may have finished the same job meanwhile
                if not self._stays(record, again=again):
                    content = complete.to_json()
                    with self.log.event(result_leaf(content), final / RECORD_FILE):
                        self._discard(record.key)
                        final.parent.mkdir(exist_ok=True)
                        move(draft, final)
                        sync_folder(final.parent)
                return self.record(record.key)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Whether nobody else runs this key; if so, nobody does until the block, or this process, ends."""
        folder = self.folder.parent / "work" / "claims"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / key
        with open(path, "w", opener=without_waiting) as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            # it may have been removed by its last owner, and made again by another one, since it was opened
            is_current = _is_at(stream.fileno(), path)
            try:
                yield is_current
            finally:
                if is_current:
                    # asked twice over NFS, the second answer is that it is gone
                    path.unlink(missing_ok=True)

    def amend(self, record: Record) -> None:
        """Replace the verdict of a stored run, keeping its files: for what a later repetition showed."""
        draft, content = self._own / f"{record.key}.json", record.to_json()
        write_json(draft, content)
        final = self.path(record.key) / RECORD_FILE
        with self._alone(), self.log.event(result_leaf(content, Event.AMENDMENT), final):
            move(draft, final)

    def remove(self, key: str) -> None:
        """Remove one run. That it was there stays in the log."""
        with self._alone():
            if not self.path(key).is_dir():
                return
            try:
                scope = scope_of(self.standing(key).content["planned"]["job"])
            except (KeyError, TypeError, AttributeError):
                scope = ""  # a run whose record can't be read may be removed, too
            with self.log.event(Leaf(Event.REMOVAL, now(), scope, key=key), self.path(key) / RECORD_FILE):
                self._discard(key)

    @property
    def log(self) -> Log:
        """Every event of these runs."""
        return Log(self.folder.parent)

    @contextmanager
    def open_log(self) -> Iterator[tuple[Log, list[str]]]:
        """The log, to which nobody else adds anything until the block ends, and what was put right in it.

        Runs from before there was a log enter it once, as such.
        """
        with self._alone() as notes:
            yield self.log, notes

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Nobody puts a run in its place or removes one until the block ends. Nothing is written here."""
        try:
            handle = without_waiting(f"{self.folder}/{_LOCK}", os.O_RDONLY)
        except FileNotFoundError:
            yield  # a copy without it: nobody works there
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            yield
        finally:
            os.close(handle)

    def unfinished(self) -> Leaf | None:
        """The leaf that the log lacks of an event which a killed harness had begun; see `Log.unfinished`."""
        leaf, _ = self.log.unfinished()
        if leaf is not None and leaf.kind is Event.REMOVAL and (self.path(leaf.key) / RECORD_FILE).exists():
            raise CorruptData(
                "the note of an event that had begun tells of a run that is gone, and the run is there",
                where=f"{self.log.folder / NEXT}; {self.path(leaf.key)}",
                todo="no harness writes that: look who did, and remove the note",
            )
        return leaf

    def _open_log(self) -> list[str]:
        """What had to be put right before the next event, in words."""
        self.unfinished()
        notes = self.log.repair()
        if note := settle(self.log):
            notes.append(note)
        if not self.log.path.is_file() and (older := stored_results(self, self.folder.parent / "scores")):
            self.log.begin([*import_leaves(older, "stored before there was a log")])
            notes.append(f"{self.log.path}: {counted(len(older), 'run')} older than the log; it says so of each")
        return notes

    def _discard(self, key: str) -> None:
        """The run's folder is renamed away in one step, then its files are deleted; its scores first.

        Those of another run with the same answer would count for it, and no leaf of the log would say so.
        """
        (self.folder.parent / SCORES / key[:2] / f"{key}.json").unlink(missing_ok=True)
        grave = Path(tempfile.mkdtemp(dir=self._own, prefix="removed-"))
        with suppress(FileNotFoundError):
            move(self.path(key), grave)
        shutil.rmtree(grave, ignore_errors=True)

    @property
    def _own(self) -> Path:
        """A folder of this process: what a killed one leaves there is recognised and removed by the next."""
        return own_folder(self.folder.parent / "work")

    @contextmanager
    def _alone(self) -> Iterator[list[str]]:
        """Hold the lock of the store: only one harness at a time puts a run in its place.

        The block gets what had to be put right in the log, in words.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = self.folder / _LOCK
        if lock.exists() and not lock.is_file():
            # a named pipe would be waited for
            raise CorruptData("the lock of the store is no file", where=str(lock), todo="remove it, and try again")
        with lock.open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            # what others did before they let go of the lock is seen now, on any machine
            look_anew(self.folder.parent)
            look_anew(self.folder)
            yield self._open_log()

    def _stays(self, record: Record, *, again: bool) -> bool:
        """Whether what is stored under the key of `record` counts for more than `record` does."""
        look_anew(self.path(record.key).parent)
        is_final = self.standing(record.key).verdict.is_final
        return is_final and not (again and record.verdict.is_final)

    def check(self, record: Record) -> None:
        """Compare every file of a run with its recorded sha256."""
        for name, file in record.files.items():
            path = self.path(record.key) / name
            if not path.is_file():
                raise CorruptData("a file of a run is missing", where=str(path), todo="run the job again")
            if sha256_of(path) != file.sha256:
                raise CorruptData(
                    "a file of a run differs from its record",
                    where=str(path),
                    todo="remove the run and run again",
                )


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is the one that a path leads to now."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _take(files: dict[str, Path], folder: Path) -> dict[str, StoredFile]:
    """Move files into a folder, safe from a power cut, and hash what lies there then."""
    entries = {}
    for name, source in sorted(files.items()):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            move(source, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            shutil.move(source, target)
        target.chmod(0o644)
        with target.open("rb+") as stream:
            os.fsync(stream.fileno())
        sync_folder(target.parent)
        entries[name] = StoredFile(sha256=sha256_of(target), bytes=target.stat().st_size)
    return entries


def _check_sizes(folder: str, files: dict[str, dict[str, Any]]) -> None:
    for name, entry in files.items():
        try:
            size = os.stat(f"{folder}/{name}").st_size  # noqa: PTH116 (a hot path: 3x faster than Path)
        except OSError:
            raise CorruptData("a file of the run is missing", where=f"{folder}/{name}") from None
        if not isinstance(entry["sha256"], str):
            raise TypeError("a checksum is a text")
        if size != entry["bytes"]:
            raise CorruptData("a file of the run was cut or has grown", where=f"{folder}/{name}")


def join(plan: Plan, store: Store, *, records: bool = False) -> Sequence[Cell]:
    """The plan with what the store knows: as many cells as planned, each with exactly one verdict.

    `records` keeps the fields of every record: 6 kB for each, of which a million would fill any memory.
    """
    notes = ObstacleNotes.of(store.folder)
    if not records:
        every = Cells.of(plan.cells)
        return every.judged(
            judged(notes, key, kind.job, store.standing(key)) if key else None for key, kind in every.keyed()
        )
    cells = []
    for cell in plan.cells:
        if cell.key is None:
            cells.append(cell)
            continue
        verdict, reason = judged(notes, cell.key, cell.job, standing := store.standing(cell.key))
        cells.append(cell.judged(verdict, reason, standing.content))
    check_sum(plan, cells)
    return tuple(cells)


def judged(notes: ObstacleNotes, key: str, job: Job, standing: StoredRun) -> Judgement:
    """The verdict of a cell and its reason: what is stored, or else what stood in its way. No seed matters."""
    if standing.verdict is Verdict.PENDING and (obstacle := notes.before(job)):
        return obstacle
    if not standing.verdict.is_final and (fault := notes.runs.get(key)):
        # later than any unfinished run that is stored: such a note goes when a run is
        return Verdict.INFRASTRUCTURE, fault
    return standing.verdict, standing.reason


def check_sum(plan: Plan, cells: Iterable[Cell]) -> Counter[Verdict]:
    """Planned equals the sum of the verdicts, or the table would lie."""
    counts = Counter(cell.verdict for cell in cells)
    assert sum(counts.values()) == len(plan.cells), "cells were lost between the plan and the table"
    return counts
