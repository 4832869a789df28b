"""The converted form: texts, and of some the subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.benchmarks.notes import NotesStatistics

from harness.base.input_files import Array


@dataclass(frozen=True)
class Notes:
    """Notes by their names; a subject that nobody knows is empty."""

    name: str
    note_ids: tuple[str, ...]
    texts: tuple[str, ...]
    subjects: tuple[str, ...]
    digest: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def arrays(self) -> Mapping[str, Array]:
        """There are none."""
        return {}

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Every list of texts."""
        return {"note_ids": self.note_ids, "texts": self.texts, "subjects": self.subjects}

    def statistics(self) -> NotesStatistics:
        """What the texts show."""
        return NotesStatistics(notes=len(self.texts), subjects=len(set(self.subjects) - {""}))
