"""Runs a method that sees nothing but labels on this machine and gives back all its scores: for small problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.execution.trials import Trial
from harness.methods.card import load_method, merged_parameters
from tests.methods.host import OnThisMachine
from tests.methods.trials import ONE_MODEL

Labels = npt.NDArray[np.int8]
Matrix = npt.NDArray[np.float64]
Plain = Callable[..., Matrix]


class NoAnswer(Exception):
    """The run left no valid answer; the text is why."""


@dataclass(frozen=True)
class Answered:
    """Scores, drugs x diseases, and what the method traced."""

    scores: Matrix
    trace: dict[str, Matrix]


@dataclass(frozen=True)
class OnLabels:
    """One method, called with drugs x diseases; every label is for training, and every pair is asked for."""

    layout: Layout
    work: Path
    method: str

    def __call__(self, labels: Labels, variant: str = "published", **changed: Any) -> Answered:
        card = load_method(self.layout, self.method)
        inputs = {"associations": labels, "folds": np.full(labels.shape, TEST, dtype=np.int8)}
        parameters = merged_parameters(card, variant, changed)
        trial = Trial(
            card, "repurposing", inputs, parameters, seed=1, variant=variant, options=ONE_MODEL, trace=True
        )
        with OnThisMachine(self.layout, self.work)(trial) as result:
            if result.verdict is not Verdict.OK:
                raise NoAnswer(f"{result.verdict}: {result.reason}")
            trace = {path.stem: np.load(path) for path in (result.out / "trace").iterdir()}
            return Answered(np.load(result.out / "predictions.npy").reshape(labels.shape), trace)

    def parameters(self, variant: str = "published") -> dict[str, Any]:
        """Those of a variant, for a peer."""
        return dict(load_method(self.layout, self.method).variant(variant).parameters)


def made_up(shape: tuple[int, int], *, negatives: bool = False) -> Labels:
    """Labels with what real ones have: a drug and a disease without any, a disease with one, others with many."""
    generator = np.random.default_rng(sum(shape))
    labels = (generator.random(shape) < generator.uniform(0.05, 0.6, size=shape[1])).astype(np.int8)
    if negatives:
        labels[(labels == 0) & (generator.random(shape) < 0.15)] = -1
    labels[:, :2] = 0
    labels[3, 1] = 1
    labels[1] = 0
    return labels
