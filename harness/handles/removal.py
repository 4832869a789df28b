"""Forgetting runs of this machine: their folders and scores. Reference results are never touched."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.base.unknown_names import refuse_unknown_names
from harness.handles.lookup import find_handle, key_text, stored_handle
from harness.planning.obstacles import Obstacles
from harness.results.scoring import scores_path
from harness.results.store import Store


@dataclass(frozen=True)
class Forgotten:
    """A run that was, or would be, removed; `fault`: why it was not."""

    key: str
    label: str
    verdict: str
    bytes: int
    fault: str = ""


def runs_to_forget(
    layout: Layout,
    store: Store,
    keys: Sequence[str] = (),
    *,
    methods: Collection[str] = (),
    datasets: Collection[str] = (),
) -> list[Forgotten]:
    """The stored runs with these keys, or of these methods on these datasets; an unknown name is refused."""
    if bool(keys) == bool(methods or datasets):
        raise UsageError(
            "name what to forget" if not keys else "keys and --method or --dataset exclude each other",
            where="harness forget",
            todo="give keys, or --method and --dataset",
        )
    if keys:
        return [
            _described(layout, store, key) for key in dict.fromkeys(_stored(layout, store, one) for one in keys)
        ]
    known = {key: _names(store, key) for key in store.finished()}
    refuse_unknown_names(
        "method of a stored run", methods, {name for name, _ in known.values() if name}, where=store.folder
    )
    refuse_unknown_names(
        "dataset of a stored run", datasets, {name for _, name in known.values() if name}, where=store.folder
    )
    chosen = [
        key
        for key, (method, dataset) in known.items()
        if (not methods or method in methods) and (not datasets or dataset in datasets)
    ]
    return [_described(layout, store, key) for key in chosen]


def forget(store: Store, runs: Iterable[Forgotten]) -> Iterator[Forgotten]:
    """Remove them, one by one; a run that some harness is making again right now stays, and says so."""
    for run in runs:
        with store.claim(run.key) as is_ours:
            if not is_ours:
                yield Forgotten(run.key, run.label, run.verdict, 0, "a harness is running it right now")
                continue
            store.remove(run.key)
            Obstacles(store.folder).clear("run", run.key)
        yield run


def _stored(layout: Layout, store: Store, beginning: str) -> str:
    text = key_text(store, beginning)
    # also a run whose record can't be read has a key, and may be forgotten
    if len(keys := [key for key in store.finished() if key.startswith(text)]) == 1:
        return keys[0]
    handle = find_handle(layout, store, beginning)
    if handle.folder is None:
        raise UsageError(
            f"{handle.key[:12]} is a reference result, and no run of this machine",
            where=handle.where,
            todo="reference results are files of the repository: `harness reference save` and git change them",
        )
    return handle.key


def _names(store: Store, key: str) -> tuple[str, str]:
    """Method and dataset; empty where the record can't be read: such a run goes by its key only."""
    try:
        job = store.record(key).planned.job
    except CorruptData:
        return "", ""
    return job.method, job.dataset


def _described(layout: Layout, store: Store, key: str) -> Forgotten:
    size = sum(_size(path) for path in (store.path(key), scores_path(layout, key)))
    try:
        run = stored_handle(store, key)
    except CorruptData as error:
        return Forgotten(key, f"unknown ({error.what})", "unknown", size)
    note = f" ({run.reason})" if run.damaged else ""
    return Forgotten(key, run.planned.job.label + note, str(run.verdict), size)


def _size(path: Path) -> int:
    """Bytes of a file, or of all files of a folder; 0 where there is none."""
    if path.is_file():
        return path.stat().st_size
    return sum((Path(folder) / name).lstat().st_size for folder, _, names in os.walk(path) for name in names)
