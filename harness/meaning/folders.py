"""What a folder of code means: one digest over the meaning of each of its files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.base.files import digest_of
from harness.meaning import meaning_of

# what Python and editors leave beside code
_NOT_CODE = ("__pycache__", ".pyc", ".pyo", "~", ".swp", ".orig", ".rej")


def is_code(name: str) -> bool:
    """Whether a path inside a folder of code belongs to it; hidden files and left-overs do not."""
    parts = name.split("/")
    return not any(part.startswith(".") or part.endswith(_NOT_CODE) for part in parts)


@cache
def meaning_of_folder(folder: Path) -> str:
    """A digest of all files of a folder, the same wherever it lies; read once in a process."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return digest_of([[name, meaning_of(name, (folder / name).read_bytes())] for name in names if is_code(name)])
