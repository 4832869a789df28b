"""A split of notes: a word per note, in a file of JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.benchmarks.notes.dataset import Notes

from harness.base.errors import CorruptData
from harness.base.manifests import Strict
from harness.benchmarks.contract import Form, Strategy

PARTS = ("train", "test", "outside")


@dataclass(frozen=True)
class NotesSplit:
    """The part of every note."""

    parts: tuple[str, ...]
    digest: str

    @property
    def training(self) -> int:
        """How many notes train."""
        return self.parts.count("train")

    @property
    def test(self) -> int:
        """How many are asked."""
        return self.parts.count("test")


def split_of(parts: Sequence[str]) -> NotesSplit:
    """A split with its digest."""
    return NotesSplit(tuple(parts), hashlib.sha256(_content(parts)).hexdigest())


class NotesForm(Form[Notes, NotesSplit]):
    """Strategies make splits whole."""

    usual_seed = 1
    suffix = ".json"

    def content(self, split: NotesSplit) -> bytes:
        """A list of words."""
        return _content(split.parts)

    def read(self, path: Path, load: Callable[[], Notes]) -> NotesSplit:
        """The list, if it is one."""
        try:
            return split_of([str(part) for part in json.loads(path.read_text(encoding="utf-8"))])
        except (OSError, ValueError, TypeError):
            raise CorruptData("not a split of notes", where=str(path)) from None

    def fits(self, split: NotesSplit, dataset: Notes) -> bool:
        """Whether there is a part for every note."""
        return len(split.parts) == len(dataset.texts)

    def broken_promises(self, split: NotesSplit, dataset: Notes) -> list[str]:
        """A known part for every note, training and test notes."""
        broken = [] if self.fits(split, dataset) else [f"{len(split.parts)} parts for {len(dataset.texts)} notes"]
        broken += [f"part {part} has no meaning" for part in sorted({*split.parts} - {*PARTS})]
        return broken + [f"there is no {part} note" for part in PARTS[:2] if part not in split.parts]

    def describe(
        self, split: NotesSplit, dataset: Notes, strategy: Strategy[Notes, NotesSplit], parameters: Strict
    ) -> dict[str, dict[str, Any]]:
        """Numbers of notes."""
        return {"notes": {part: split.parts.count(part) for part in PARTS}}


def _content(parts: Sequence[str]) -> bytes:
    return json.dumps(list(parts)).encode() + b"\n"


FORM = NotesForm()
