"""A share of the notes, drawn at random, is asked."""

from __future__ import annotations

import numpy as np
from harness.benchmarks.notes.dataset import Notes
from harness.benchmarks.notes.splits.form import NotesSplit, split_of
from pydantic import Field

from harness.base.manifests import Strict

SUMMARY = "a share of the notes, drawn at random, is asked"


class Parameters(Strict):
    """How many."""

    test_share: float = Field(default=0.25, gt=0, lt=1)


def make(dataset: Notes, seed: int, parameters: Parameters) -> NotesSplit:
    """Draw."""
    count = round(parameters.test_share * len(dataset.texts))
    chosen = set(np.random.RandomState(seed).permutation(len(dataset.texts))[:count].tolist())
    return split_of(["test" if place in chosen else "train" for place in range(len(dataset.texts))])


def broken_promises(dataset: Notes, made: NotesSplit, parameters: Parameters) -> list[str]:
    """As many test notes as the share says."""
    wanted = round(parameters.test_share * len(dataset.texts))
    return [] if made.test == wanted else [f"{made.test} test notes, not {wanted}"]
