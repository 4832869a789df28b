"""An answer: a line of JSON for each note that is asked, with its subject and how certain it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from harness.benchmarks.notes import ANSWER

from harness.base.errors import InvalidPredictions
from harness.benchmarks.answers import check_report, regular_file

Subjects = list[tuple[str, float]]


@dataclass(frozen=True)
class Asked:
    """How many lines, and which subjects there are."""

    notes: int
    subjects: frozenset[str]

    def read(self, folder: Path) -> Subjects:
        """Subject and certainty of every note."""
        check_report(folder)
        lines = regular_file(folder, ANSWER).read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) != self.notes:
            raise InvalidPredictions(f"{ANSWER}: {len(lines)} lines for {self.notes} notes")
        return [self._answer(number, line) for number, line in enumerate(lines, 1)]

    def _answer(self, number: int, line: str) -> tuple[str, float]:
        try:
            value = json.loads(line)
            subject, certainty = value["subject"], float(value["certainty"])
        except (ValueError, KeyError, TypeError):
            raise InvalidPredictions(f"{ANSWER}: line {number} is no subject with a certainty") from None
        if subject not in self.subjects or not 0 <= certainty <= 1:
            raise InvalidPredictions(
                f"{ANSWER}: line {number}: {subject!r} is no subject, or {certainty} no share"
            )
        return subject, certainty
