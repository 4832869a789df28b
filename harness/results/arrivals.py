"""Arrivals: runs of another store, with their scores and events, that come in together or not at all.

They are made ready in a folder of the process. One rename puts that folder beside the store. From then on they
have arrived: whoever opens the log next puts each of them in its place, also where the harness that brought them
was killed.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import CorruptData
from harness.base.files import read_json, sync_folder, write_json
from harness.base.network_files import move
from harness.proof.log import Log

RUNS, SCORES = "runs", "scores"
_ARRIVED, _EVENTS, _REPLACED = "arrived", "events.json", "replaced"


def arrive(ready: Path, log: Log, lines: Sequence[bytes]) -> None:
    """Let the runs and scores in a folder arrive, with the events that the log is to take in.

    Call it, as `settle`, with the lock of the results held. Both folders are of one file system.
    """
    write_json(ready / _EVENTS, {"size": log.size, "lines": [line.decode() for line in lines]})
    move(ready, log.folder / _ARRIVED)
    sync_folder(log.folder)


def are_waiting(log: Log) -> bool:
    """Whether something has arrived that is not in its place yet."""
    return (log.folder / _ARRIVED).is_dir()


def settle(log: Log) -> str:
    """Put what has arrived in its place; in words what, empty where there is nothing."""
    if not are_waiting(log):
        return ""
    folder = log.folder / _ARRIVED
    events = read_json(folder / _EVENTS, most_bytes=1 << 32)
    if events is not None:
        _enter(folder, log, events["size"], [line.encode() for line in events["lines"]])
    shutil.rmtree(folder)
    return f"{log.path}: a merge was killed before all that had arrived was in its place; it is now"


def _enter(folder: Path, log: Log, size: int, lines: list[bytes]) -> None:
    there = log.lines()[size:]
    if there != lines[: len(there)]:
        raise CorruptData(
            "the log has grown since the runs arrived that a merge brought",
            where=f"{log.path}: line {size + 1}; {folder}",
            todo="two harnesses that don't see each other's locks used this folder: restore the log, or move "
            "that folder away and merge again",
        )
    for run in sorted((folder / RUNS).glob("*/*")):
        place = log.folder / RUNS / run.relative_to(folder / RUNS)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            # one that ended for no reason of its own, or was damaged: scores of that one are none of this one's
            (log.folder / SCORES / run.parent.name / f"{run.name}.json").unlink(missing_ok=True)
            (folder / _REPLACED).mkdir(exist_ok=True)
            move(place, folder / _REPLACED / run.name)
        move(run, place)
        sync_folder(place.parent)
    for scores in sorted((folder / SCORES).glob("*/*.json")):
        place = log.folder / SCORES / scores.relative_to(folder / SCORES)
        place.parent.mkdir(parents=True, exist_ok=True)
        move(scores, place)
        sync_folder(place.parent)
    log.append_lines(lines[len(there) :])
    # nothing is left to be done when this is gone
    (folder / _EVENTS).unlink(missing_ok=True)
    sync_folder(folder)
