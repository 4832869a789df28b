"""Notes: which subject a short text is about. Texts go in, JSON Lines come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from harness.benchmarks.contract import AnswerFile, Benchmark, Options, Statistics

if TYPE_CHECKING:
    from harness.benchmarks.notes.answer import Asked, Subjects
    from harness.benchmarks.notes.dataset import Notes
    from harness.benchmarks.notes.scoring import NotesScoring
    from harness.benchmarks.notes.splits.form import NotesForm, NotesSplit

    from harness.base.input_files import Given
    from harness.benchmarks.order import Arrangement
    from harness.benchmarks.ranking import Ranking

ANSWER = "answers.jsonl"


class NotesStatistics(Statistics):
    """Counts of a dataset of notes."""

    notes: int = Field(ge=1)
    subjects: int = Field(ge=2)

    def result_bytes(self, options: Mapping[str, int]) -> int:
        """A line per note."""
        return 64 * self.notes

    @property
    def line(self) -> str:
        """Notes and subjects."""
        return f"{self.notes:>5} notes {self.subjects:>5} subjects"


class NotesOptions(Options):
    """How long a text may be."""

    longest_note: int = Field(default=0, ge=0, description="Words of each note that are handed over; 0 for all.")


class NotesBenchmark(Benchmark["Notes", "NotesSplit", "Subjects"]):
    """What is asked are the subjects of some notes."""

    input_names = ("documents", "subjects", "asked")
    answer_files = (AnswerFile(ANSWER), AnswerFile("remarks.txt", required=False, scored=False, compared=False))
    key_metrics = ("accuracy",)
    order_free_metrics = ("accuracy",)
    statistics = NotesStatistics
    options = NotesOptions

    @property
    def dataset(self) -> type[Notes]:
        """Texts and their subjects."""
        from harness.benchmarks.notes.dataset import Notes

        return Notes

    @property
    def form(self) -> NotesForm:
        """A part per note."""
        from harness.benchmarks.notes.splits.form import FORM

        return FORM

    @property
    def scoring(self) -> NotesScoring:
        """The share of right answers."""
        from harness.benchmarks.notes.scoring import SCORING

        return SCORING

    def remarks(self, dataset: Notes) -> tuple[str, ...]:
        """How many notes have no subject."""
        open_notes = dataset.subjects.count("")
        return (f"{open_notes} notes have no subject",) if open_notes else ()

    def inputs(
        self, dataset: Notes, split: NotesSplit, names: Sequence[str], options: Mapping[str, int]
    ) -> Mapping[str, Given]:
        """Every text, the subjects of training notes alone, and the places of those that are asked."""
        import numpy as np

        longest = options["longest_note"] or None
        return {
            "documents": [" ".join(text.split()[:longest]) for text in dataset.texts],
            "subjects": [
                subject if part == "train" else ""
                for subject, part in zip(dataset.subjects, split.parts, strict=True)
            ],
            "asked": np.array([place for place, part in enumerate(split.parts) if part == "test"], dtype=np.int32),
        }

    def reorder(self, inputs: Mapping[str, Given], order: str) -> Arrangement:
        """The notes in another order."""
        from harness.benchmarks.notes.order import in_order

        return in_order(inputs, order)

    def asked_in(self, inputs: Mapping[str, Given], options: Mapping[str, int]) -> Asked:
        """As many lines as notes are asked, each with a subject that occurs."""
        from harness.benchmarks.notes.answer import Asked

        return Asked(len(inputs["asked"]), frozenset(map(str, inputs["subjects"])) - {""})

    def ranking(self, dataset: Notes, split: NotesSplit, answer: Subjects, top: int | None) -> Ranking:
        """Notes and their subjects, the most certain first."""
        from harness.benchmarks.ranking import Ranking

        asked = [name for name, part in zip(dataset.note_ids, split.parts, strict=True) if part == "test"]
        rows = sorted(
            ((name, *one) for name, one in zip(asked, answer, strict=True)), key=lambda row: (-row[2], row[0])
        )
        return Ranking(("note", "subject", "certainty"), tuple(rows[:top]))


BENCHMARK = NotesBenchmark()
