"""What the last audit of a whole set of results said: a small file beside the store, which the report shows.

It is a note for readers and proves nothing: `harness audit` does, when it is run again. It counts with the seal of
this user's harness (`harness.base.seal`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.base.errors import MissingData
from harness.base.files import digest_of, read_json, write_json
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.base.seal import is_sealed, seal_of
from harness.base.swhid import identify

_NOTE = "audit.json"
STORED, REFERENCE = "stored", "reference"


class LastAudit(Strict):
    """When a whole set of results was audited, by which code, and what came of it."""

    at: str
    # git's name of the tree that was audited with, with `+` where files differed from it; empty without git
    tree: str
    results: int
    passed: int
    failed: int
    superseded: int
    unfinished: int
    replayed: int
    # of the keys that were audited: where it differs results have come or gone since
    digest: str


def digest_of_keys(keys: Iterable[str]) -> str:
    """One digest of a set of results."""
    return digest_of(sorted(keys))


def write_last_audit(layout: Layout, of: str, audit: LastAudit) -> None:
    """Keep what an audit of all stored runs, or of all reference results, said."""
    path = layout.local / _NOTE
    content = read_json(path)
    notes: dict[str, Any] = content if isinstance(content, dict) else {}
    note = audit.model_dump(mode="json")
    write_json(path, {**notes, of: {**note, "seal": seal_of(_about(of), note)}})


def read_last_audit(layout: Layout, of: str) -> LastAudit | None:
    """What the last audit of all stored runs, or of all reference results, said; None if this user's made none."""
    content = read_json(layout.local / _NOTE)
    note = content.get(of) if isinstance(content, dict) else None
    if not isinstance(note, dict):
        return None
    seal = note.pop("seal", "")
    try:
        audit = LastAudit.model_validate(note)
    except ValidationError:
        return None
    return audit if is_sealed(_about(of), note, seal) else None


def _about(of: str) -> list[str]:
    return ["last audit", of]


def now() -> str:
    """The time in UTC, to the minute."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def git_tree(root: Path) -> str:
    """Git's name of the committed tree, with `+` where files differ from it; empty where git can't tell."""
    try:
        identity = identify(root)
    except MissingData:
        return ""
    return identity.directory.rpartition(":")[2] + ("+" if identity.changed else "")
