"""What counts as a method's code: source text in its own folders, and nothing that leads out of them.

A link would carry any file of this machine into an image, and a file of data would carry an answer past the list
of declared inputs. Both are refused, by name, before anything is hashed or copied.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from harness.base.errors import ImageError
from harness.base.file_state import FileState, state_of

# Where the code lies that replays golden cases, beside the code that they are cases of.
PARITY = "parity"
# What can't change an answer, or what git would not hold.
_NOT_CODE = ("__pycache__", ".ipynb_checkpoints", "method.toml", "tests", PARITY)
# pretrained models that its variants read: weights.toml, weights.NAME.toml
_WEIGHTS = re.compile(r"weights(\.\w+)?\.toml")
_NOT_CODE_SUFFIXES = (".pyc", ".pyo", ".md", ".swp", "~", ".orig", ".rej", ".RData", ".Rhistory")
SUFFIXES = {"python": (".py",), "octave": (".m",), "r": (".R", ".r"), "java": (".java",)}
_SOURCE = tuple(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
MOST_BYTES = 256 << 10


def code_files(folder: Path) -> list[str]:
    """The files of a code folder that go into the image, sorted.

    Cards, notes, tests and the replays of golden cases stay outside.
    """
    _refuse_link(folder)
    return sorted(_code_below(str(folder), "")) if folder.is_dir() else []


def _code_below(folder: str, place: str) -> Iterator[str]:
    """The files of code in a folder at this place, itself empty or with a stroke behind it."""
    # asked for every method by all that computes keys: entries, not Path objects, are a quarter of its time
    with os.scandir(folder) as entries:
        here = [entry for entry in entries if not _is_not_code(entry.name)]
    for entry in here:
        if not entry.name.isprintable():
            # it would be hashed as part of a text, and stand in messages
            raise _refusal(Path(entry.path), "has a name that can't be shown, or is not UTF-8", "rename it")
        if entry.is_symlink():
            _refuse_link(Path(entry.path))
        if entry.is_dir():
            yield from _code_below(entry.path, f"{place}{entry.name}/")
        else:
            _check_source(Path(entry.path))
            yield f"{place}{entry.name}"


def refuse_links(folder: Path) -> None:
    """Raise if a folder is a link, or anything in it."""
    for path in (folder, *sorted(folder.rglob("*"))):
        _refuse_link(path)


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise _refusal(path, "is a link", "put the file itself there: links are not followed into an image")


def _check_source(path: Path) -> None:
    """Refuse what is no source text."""
    if not path.is_file():
        raise _refusal(path, "is no regular file", "remove it")
    _check_text(path, state_of(path))


# Many methods share their files, which are read once until they change.
@cache
def _check_text(path: Path, state: FileState) -> None:
    declare = "declare it as an input of the card, or as weights (weights.toml), so that audits can see it"
    if not path.name.endswith(_SOURCE):
        raise _refusal(path, f"is no source file ({', '.join(_SOURCE)})", f"if the method needs it, {declare}")
    if (size := state[0]) > MOST_BYTES:
        raise _refusal(path, f"has {size} bytes, more than {MOST_BYTES}", f"if it holds data, {declare}")
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise _refusal(path, "is not UTF-8 text", f"save it as UTF-8; if it holds data, {declare}") from None
    if "\0" in text:
        raise _refusal(path, "holds a zero byte, so it is no text", declare)


def _refusal(path: Path, why: str, todo: str) -> ImageError:
    # a name may be what no text can hold, or what a terminal obeys
    where = str(path) if str(path).isprintable() else ascii(str(path))
    return ImageError(f"what an image would be made of {why}", where=where, todo=todo)


def _is_not_code(part: str) -> bool:
    other = part in _NOT_CODE or _WEIGHTS.fullmatch(part) is not None
    return other or part.startswith(".") or part.endswith(_NOT_CODE_SUFFIXES)
