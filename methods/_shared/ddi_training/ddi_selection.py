"""Which epoch's model answers a setting: the first with the highest accuracy on that setting's valid items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from ddi_items import types_of_pairs
from ddi_sdk import Array, Problem
from ddi_steps import state_of
from torch import Tensor, nn

Scores = Callable[[Tensor], Tensor]
SETTINGS = (0, 1, 2)


@dataclass(frozen=True)
class Validation:
    """The valid rows that count, each as its pair's place among the distinct pairs, with truth and setting."""

    pairs: Tensor
    places: Array
    truth: Array
    setting: Array

    @classmethod
    def of(cls, problem: Problem) -> Validation:
        """All valid rows but those of each setting's incomplete last batch, where the original drops it.

        A setting without any complete batch keeps its rows.
        """
        size, given = int(problem.parameters["evaluation_batch"]), problem.valid
        kept = []
        for setting in SETTINGS:
            rows = np.flatnonzero(given.setting == setting)
            dropped = len(rows) % size if size and len(rows) >= size else 0
            kept.append(rows[: len(rows) - dropped])
        rows = np.concatenate(kept)
        pairs, places = np.unique(given.pairs[rows], axis=0, return_inverse=True)
        truth = given.labels if problem.multilabel else _lowest_types(problem)
        return cls(torch.from_numpy(pairs.astype(np.int64)), places.reshape(-1), truth[rows], given.setting[rows])

    def accuracies(self, logits: Array) -> dict[int, float]:
        """Per setting that has rows: the share of rows whose highest type is right, or the mean over types of the
        share of lines on the right side of a half; a type without lines counts 0.
        """
        rows = {one: self.setting == one for one in np.unique(self.setting).tolist()}
        if self.truth.ndim == 1:
            right = logits.argmax(axis=1)[self.places] == self.truth
            return {one: float(right[some].mean()) for one, some in rows.items()}
        said = self.truth != 0
        right = ((logits > 0)[self.places] == (self.truth > 0)) & said
        shares = {
            one: right[some].sum(axis=0) / np.maximum(said[some].sum(axis=0), 1) for one, some in rows.items()
        }
        return {one: float(share.mean()) for one, share in shares.items()}


def _lowest_types(problem: Problem) -> Array:
    """The lowest type of each valid row's ordered pair in training and valid: the only one the original counts."""
    pairs = np.concatenate([problem.valid.pairs, problem.train.pairs])
    labels = np.concatenate([problem.valid.labels, problem.train.labels])
    distinct, types = types_of_pairs(pairs, labels, problem.types)
    keys, wanted = (
        one[:, 0].astype(np.int64) * problem.drugs + one[:, 1] for one in (distinct, problem.valid.pairs)
    )
    lowest: Array = types[np.searchsorted(keys, wanted), 0]
    return lowest


class Selection:
    """The best accuracy of every setting, the epoch it came from, and the state of those that will be asked."""

    def __init__(self, problem: Problem) -> None:
        self._asked = set(np.unique(problem.test_setting).tolist())
        self._states: dict[int, dict[str, Tensor]] = {}
        self.best: dict[int, float] = {}
        self.chosen: dict[int, int] = {}
        self.waited: dict[int, int] = {}

    def see(self, epoch: int, accuracies: dict[int, float], model: nn.Module) -> None:
        """Only a strictly higher accuracy replaces a state."""
        better = [one for one, value in accuracies.items() if value > self.best.get(one, -1.0)]
        state = state_of(model) if self._asked & set(better) else {}
        for one in accuracies:
            self.waited[one] = 0 if one in better else self.waited[one] + 1
        for one in better:
            self.best[one], self.chosen[one] = accuracies[one], epoch
            if one in self._asked:
                self._states[one] = state

    def exhausted(self, patience: int) -> bool:
        """Every setting has waited longer than that for something better."""
        return bool(self.waited) and min(self.waited.values()) > patience

    def state(self, setting: int) -> dict[str, Tensor] | None:
        """What answers a setting; nothing where no valid item could choose, and the last epoch's model answers."""
        return self._states.get(setting)
