"""A run by the beginning of its key: one of this machine, else a committed reference result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from harness.base.errors import CorruptData, MissingData, UsageError
from harness.base.few import few_in_line, length_apart
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.planning.commands import command_of_stored
from harness.planning.jobs import PlannedJob
from harness.results.records import LOG_FILE
from harness.results.reference import ReferenceResult, count_reference, find_reference
from harness.results.scoring import Scores, read_scores, scored_files
from harness.results.store import Store, StoredRun

_KEY = re.compile(r"[0-9a-f]{1,64}", re.IGNORECASE)
_WHOLE = 64
# How many of several runs are named.
_SHOWN = 6


@dataclass(frozen=True)
class Handle:
    """One run: the fields of its record, and its folder here or its line in the reference results."""

    content: Mapping[str, Any]
    folder: Path | None
    # the committed result with this key; where the run was made here too, only if the key was not given whole
    reference: ReferenceResult | None = None
    # of a run of this machine whose files are not worth what its record says: how it stands
    damaged: StoredRun | None = None

    @property
    def key(self) -> str:
        """The whole key."""
        return str(self.content["key"])

    @property
    def planned(self) -> PlannedJob:
        """What was run."""
        return PlannedJob.model_validate(self.content["planned"])

    @property
    def verdict(self) -> Verdict:
        """How it ended; where its evidence was damaged since, that."""
        return self.damaged.verdict if self.damaged else Verdict(self.content["verdict"])

    @property
    def reason(self) -> str:
        """Why it has its verdict."""
        return self.damaged.reason if self.damaged else str(self.content["reason"])

    @property
    def where(self) -> str:
        """The folder, or file and line."""
        if self.folder is not None:
            return str(self.folder)
        return self.reference.where if self.reference else ""

    def scores(self, layout: Layout) -> Scores | None:
        """Its fresh scores, if there are any."""
        if self.verdict is not Verdict.OK:
            return None
        if self.folder is None:
            return self.reference.fresh_scores if self.reference else None
        benchmark = self.planned.job.benchmark
        return read_scores(layout, self.key, benchmark, scored_files(benchmark, self.content["files"]))

    def log(self, layout: Layout) -> bytes:
        """What the container printed."""
        entry = self.content["files"].get(LOG_FILE)
        if self.folder is None:
            raise MissingData(
                "a reference result keeps no log, only the log's sha256",
                where=f"{self.where}: {entry['sha256'] if entry else 'none'}",
                todo=f"run it again: harness audit {self.key[:12]} --replay 1, or "
                + command_of_stored(layout, self.planned.job),
            )
        try:
            return (self.folder / LOG_FILE).read_bytes()
        except FileNotFoundError:
            raise MissingData("this run has no log", where=self.where, todo="run the job again") from None

    def has_recorded(self, log: bytes) -> bool:
        """Whether this is the log that the record names."""
        entry = self.content["files"].get(LOG_FILE)
        return bool(entry and entry["sha256"] == hashlib.sha256(log).hexdigest())


def find_handle(layout: Layout, store: Store, beginning: str) -> Handle:
    """The one run whose key begins so. `UsageError` where none does, or several do."""
    text = key_text(store, beginning)
    stored = {text} if store.path(text).is_dir() else {key for key in store.finished() if key.startswith(text)}
    entries: Mapping[str, ReferenceResult] = {}
    if len(text) < _WHOLE or not stored:
        entries = find_reference(layout, text)
    keys = sorted(stored | entries.keys())
    if len(keys) != 1:
        raise _none_or_several(layout, store, beginning, keys, entries)
    if keys[0] not in stored:
        return Handle(entries[keys[0]].content, None, entries[keys[0]])
    return stored_handle(store, keys[0], entries.get(keys[0]))


def key_text(store: Store, beginning: str) -> str:
    """A key or its beginning in the form of keys; `UsageError` if it can't be one."""
    text = beginning.strip().lower()
    if not _KEY.fullmatch(text):
        raise UsageError(
            f"no run is called '{beginning}': a key holds digits and letters from a to f",
            where=str(store.folder),
            todo=f"give a key or its beginning; {_listing(store)}",
        )
    return text


def stored_handle(store: Store, key: str, reference: ReferenceResult | None = None) -> Handle:
    """The run with this key in the store; `CorruptData` where its record can't be read."""
    record, standing = store.record(key), store.standing(key)
    damaged = None if standing.verdict is record.verdict else standing
    return Handle(record.model_dump(mode="json"), store.path(key), reference, damaged)


def _none_or_several(
    layout: Layout, store: Store, beginning: str, keys: list[str], entries: Mapping[str, ReferenceResult]
) -> UsageError:
    if not keys:
        here, committed = sum(1 for _ in store.finished()), count_reference(layout)
        return UsageError(
            f"no run has a key that begins with '{beginning}'",
            where=f"{store.folder} ({counted(here, 'run')}), {layout.reference} ({counted(committed, 'run')})",
            todo=f"{_listing(store)}; where code or data changed since, a job has another key",
        )
    length = length_apart(keys)
    named = [f"{key[: max(length, 12)]} ({_label(store, key, entries)})" for key in keys[:_SHOWN]]
    return UsageError(
        f"{len(keys)} keys begin with '{beginning}'",
        where=few_in_line([*named, *keys[_SHOWN:]], _SHOWN),
        todo=f"give {length} characters of it, which tell all of them apart",
    )


def _listing(store: Store) -> str:
    """Some keys of this machine, and how all are listed."""
    known = [key[:12] for key in islice(store.finished(), _SHOWN)]
    here = f"known here: {', '.join(known)}; " if known else ""
    return f"{here}`harness status --suite stored --cells` and `harness reference list --keys` list all"


def _label(store: Store, key: str, entries: Mapping[str, ReferenceResult]) -> str:
    if key in entries:
        return entries[key].planned.job.label
    try:
        return store.record(key).planned.job.label
    except CorruptData:
        return "its record can't be read"
