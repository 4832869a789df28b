"""Containers whose harness has ended: found by their label and removed, never those of a living one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from harness.base.ownership import LABEL_HARNESS, LABEL_RUN, is_owned
from harness.engine.engine import Engine

# Containers that only examine an engine or an image: of the control run, of an image that is read back or checked.
_OF_A_MOMENT = ("permafrost.control=yes", "permafrost=export", "permafrost=check")
_MOMENT_S = 3600.0


@dataclass(frozen=True)
class Orphan:
    """A container nobody waits for."""

    container: str
    run: str
    state: str


def find_orphans(engine: Engine) -> list[Orphan]:
    """Our containers whose owner's lock is free, and those of a moment that are there for an hour."""
    orphans = [
        Orphan(entry["Id"], "", str(entry.get("State", "")))
        for label in _OF_A_MOMENT
        for entry in engine.api.containers(all=True, filters={"label": label})
        if int(entry.get("Created") or 0) < time.time() - _MOMENT_S
    ]
    for entry in engine.api.containers(all=True, filters={"label": LABEL_HARNESS}):
        labels = entry.get("Labels") or {}
        if not is_owned(Path(labels.get(LABEL_HARNESS, ""))):
            orphans.append(
                Orphan(container=entry["Id"], run=labels.get(LABEL_RUN, ""), state=str(entry.get("State", "")))
            )
    return orphans


def remove_orphans(engine: Engine) -> list[Orphan]:
    """The orphans, all removed, running or not; another clean-up at the same time does no harm."""
    orphans = find_orphans(engine)
    for orphan in orphans:
        discard_container(engine, orphan.container)
    return orphans


def discard_run(engine: Engine, run: str) -> None:
    """Remove whatever is left of one run, for example after its engine was lost and came back."""
    for entry in engine.api.containers(all=True, filters={"label": f"{LABEL_RUN}={run}"}):
        discard_container(engine, entry["Id"])


def discard_container(engine: Engine, container: str) -> None:
    """Remove one container by force; it is no fault if it is gone already or being removed."""
    import docker.errors

    try:
        engine.api.remove_container(container, force=True, v=True)
    except docker.errors.APIError as error:
        if error.status_code not in (404, 409):
            raise
