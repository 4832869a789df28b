"""Digests of what a file means to the program that reads it: comments and formatting do not change them.

Two files with one digest do the same. Two that do the same may have different digests: whatever a rule is not sure
of counts byte by byte. `docs/decisions/digests-of-meaning.md` tells what is covered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import PurePath

from harness.meaning.java import java_meaning
from harness.meaning.octave import octave_meaning
from harness.meaning.python import python_meaning
from harness.meaning.r import r_meaning
from harness.meaning.scripts import Unsure
from harness.meaning.toml import toml_meaning

__all__ = ["meaning_of"]

_RULES: dict[str, Callable[[bytes], str]] = {
    ".py": python_meaning,
    ".m": octave_meaning,
    ".R": r_meaning,
    ".r": r_meaning,
    ".java": java_meaning,
    ".toml": toml_meaning,
}
# Of a program that is not known, which may go by the order of a table's names.
_ORDERED: dict[str, Callable[[bytes], str]] = {**_RULES, ".toml": partial(toml_meaning, ordered=True)}


def meaning_of(name: str, content: bytes, *, ordered: bool = False) -> str:
    """sha256 of what a file means, by the rule for its name; of its bytes where no rule is sure.

    `ordered`: the order of names in a table of TOML counts as well.
    """
    return _digest(PurePath(name).suffix, content, ordered)


# Many methods share their files, and digests of the whole repository ask for each of its thousand.
@lru_cache(maxsize=4096)
def _digest(suffix: str, content: bytes, ordered: bool) -> str:
    rule = (_ORDERED if ordered else _RULES).get(suffix)
    if rule is None:
        return hashlib.sha256(content).hexdigest()
    try:
        meaning = rule(content)
    except Unsure:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha256(f"{suffix}\n{_interpreter(content)}\n{meaning}".encode()).hexdigest()


def _interpreter(content: bytes) -> str:
    """The first line where it names an interpreter: a comment to that one, but not to the kernel."""
    return ascii(content.partition(b"\n")[0]) if content.startswith(b"#!") else ""
