"""What a method for notes must do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.benchmarks.notes import BENCHMARK
from harness.benchmarks.notes.dataset import Notes
from harness.benchmarks.notes.splits.form import NotesSplit, split_of

from harness.base.input_files import Given
from harness.conformance.checks import (
    Check,
    heeds_the_seed,
    is_not_told_the_truth,
    repeats,
    solves,
    trial_of,
)
from harness.execution.trials import Trial
from harness.methods.card import MethodCard


@dataclass(frozen=True)
class Problem:
    """Made-up notes, and a split of them."""

    dataset: Notes
    split: NotesSplit

    def inputs(self, card: MethodCard, options: Mapping[str, int]) -> Mapping[str, Given]:
        """Made as for any run."""
        return BENCHMARK.inputs(self.dataset, self.split, card.inputs, {"longest_note": 0, **options})

    def with_other_test_labels(self) -> Problem:
        """The same notes; those that are asked are about something else."""
        pairs = zip(self.dataset.subjects, self.split.parts, strict=True)
        others = tuple({"a": "b", "b": "a"}[one] if part == "test" else one for one, part in pairs)
        return Problem(replace(self.dataset, subjects=others), self.split)


def _problem() -> Problem:
    subjects = ("a", "b") * 4
    texts = tuple(f"{'cat' if one == 'a' else 'dog'} number {number}" for number, one in enumerate(subjects))
    notes = Notes("made up", tuple(f"n{number}" for number in range(8)), texts, subjects)
    return Problem(notes, split_of(["train"] * 5 + ["test"] * 3))


def _trial(card: MethodCard) -> Trial:
    return trial_of(card, BENCHMARK.name, _problem())


CHECKS = (
    Check("notes", "answers a few notes", solves(_trial)),
    Check("repeats", "gives the same bytes for the same job", repeats(_trial)),
    Check("seed", "depends on the seed as its card says", heeds_the_seed(_trial)),
    Check("truth", "is not told the subjects of test notes", is_not_told_the_truth(_problem)),
)
