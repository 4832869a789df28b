"""The share of notes whose subject is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.benchmarks.notes.answer import Asked, Subjects
from harness.benchmarks.notes.dataset import Notes
from harness.benchmarks.notes.splits.form import NotesSplit

from harness.benchmarks.measures import Scoring
from harness.benchmarks.metric import Metric

_NAME = "accuracy"


class NotesScoring(Scoring[Notes, NotesSplit, Subjects]):
    """One metric."""

    metrics = (Metric(_NAME, "share of test notes whose subject is right"),)
    predicting = "open_notes"

    def question(self, dataset: Notes, split: NotesSplit, options: Mapping[str, int]) -> Asked:
        """The notes of the test part."""
        known = (one for one, part in zip(dataset.subjects, split.parts, strict=True) if part == "train")
        return Asked(split.test, frozenset(known) - {""})

    def score(
        self, dataset: Notes, split: NotesSplit, answer: Subjects, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, float | None], dict[str, str]]:
        """Accuracy; None where nothing is asked."""
        truth = [one for one, part in zip(dataset.subjects, split.parts, strict=True) if part == "test"]
        if not truth:
            return {_NAME: None}, {_NAME: "there is no test note"}
        right = sum(subject == one for (subject, _), one in zip(answer, truth, strict=True))
        return {_NAME: right / len(truth)}, {}


SCORING = NotesScoring()
