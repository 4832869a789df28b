"""Learn from every note with a subject, ask for the others."""

from __future__ import annotations

from harness.benchmarks.notes.dataset import Notes
from harness.benchmarks.notes.splits.form import NotesSplit, split_of

from harness.base.manifests import Strict

SUMMARY = "learn from every note with a subject, ask for the others"


class Parameters(Strict):
    """There are none."""


def make(dataset: Notes, seed: int, parameters: Parameters) -> NotesSplit:
    """By what is known."""
    return split_of(["train" if subject else "test" for subject in dataset.subjects])


def broken_promises(dataset: Notes, made: NotesSplit, parameters: Parameters) -> list[str]:
    """Notes without a subject are asked, and no others."""
    right = all((part == "test") == (not one) for part, one in zip(made.parts, dataset.subjects, strict=True))
    return [] if right else ["a note with a subject is asked, or one without trains"]
