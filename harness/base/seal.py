"""Notes of this user's harness to itself: believed only where they carry its seal.

What takes minutes to recompute is noted once per machine. Such notes lie in the cache, which others may be able to
write to. Their seal is made with a secret that lies elsewhere; a note without it is as if it were not there.
Who doubts that the secret still is one believes `only_new_notes`.
"""

from __future__ import annotations

import hmac
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from harness.base.files import canonical_json, digest_of, read_json, write_json

_SECRET, _BYTES = "seal", 32

# The seals that this process made while only new notes are believed; None while this user's are.
_new: set[str] | None = None


@contextmanager
def only_new_notes() -> Iterator[None]:
    """In here a note counts only if it was written in here, whoever sealed others: all is found out anew, once."""
    global _new
    earlier, _new = _new, set[str]()
    try:
        yield
    finally:
        _new = earlier


def read_note(folder: Path, about: Any) -> Any:
    """What was noted about something, or None: nothing, or nothing that this user's harness wrote."""
    note = read_json(_path(folder, about))
    if not isinstance(note, dict) or note.get("about") != about:
        return None
    content = note.get("content")
    return content if is_sealed(about, content, note.get("seal")) else None


def write_note(folder: Path, about: Any, content: Any) -> None:
    """Note something for the next time."""
    write_json(_path(folder, about), {"about": about, "content": content, "seal": seal_of(about, content)})


def _path(folder: Path, about: Any) -> Path:
    return folder / f"{digest_of(about)[:32]}.json"


def seal_of(about: Any, content: Any) -> str:
    """What only this user's harness can say of something: it vouches for what it has just found out."""
    seal = _seal(about, content)
    if _new is not None:
        _new.add(seal)
    return seal


def is_sealed(about: Any, content: Any, seal: object) -> bool:
    """Whether this is the seal of this user's harness for something, and one that is believed now."""
    genuine = hmac.compare_digest(str(seal).encode(), _seal(about, content).encode())
    return genuine and (_new is None or seal in _new)


def _seal(about: Any, content: Any) -> str:
    return hmac.digest(_secret(state_folder() / _SECRET), canonical_json([about, content]), "sha256").hex()


def state_folder() -> Path:
    """Where the harness keeps what only this user may write: who can write to the cache can't write here."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "permafrost"


@cache
def _secret(path: Path) -> bytes:
    """The secret of this user, made at its first use; one for this process alone where none can be kept."""
    new = secrets.token_bytes(_BYTES)
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _put_where_none_is(path, new)
        kept = path.read_bytes()
    except OSError:
        return new
    return kept if len(kept) == _BYTES else new


def _put_where_none_is(path: Path, content: bytes) -> None:
    """Whole or not at all, and readable by nobody else; of two processes at once, the first one's stays."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as file:
        file.write(content)
        file.flush()
        with suppress(FileExistsError):
            path.hardlink_to(file.name)
