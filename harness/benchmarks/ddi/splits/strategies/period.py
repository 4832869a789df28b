"""Drugs approved in one period are known, those approved later are new: real time in place of a simulation of it.

After the paper's Table 9, which trains on drugs of 2000 to 2010, of 1990 to 2000 and of 1980 to 1990, and asks
about drugs approved after 2010. How the authors chose a model is not documented: here a tenth of the drugs of the
known period, drawn by the seed, is new to validation. Drugs of other years or without a year are discarded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from harness.base.errors import DataError
from harness.base.manifests import Strict
from harness.benchmarks.ddi.splits.drugs.deal import split_items, wrong_items
from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN, ROLES, TEST_NEW, VALID_NEW

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "drugs approved in one period are known, later ones are new (ours, after Table 9)"

_FEWEST = 2

Mask = npt.NDArray[np.bool_]


class Parameters(Strict):
    """A period lasts from after its first year until its last. The default is the nearest of Table 9."""

    after: int = Field(default=2000, ge=0)
    until: int = Field(default=2010, ge=1)
    new_after: int = Field(default=2010, ge=1)
    valid_share: float = Field(default=0.1, gt=0, lt=0.5)

    @model_validator(mode="after")
    def _in_order(self) -> Parameters:
        if not self.after < self.until <= self.new_after:
            raise ValueError("a period ends after it begins, and before new drugs are approved")
        return self


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """The years decide; chance only chooses the drugs that are new to validation."""
    old, new = _periods(dataset, parameters)
    if old.sum() < _FEWEST or not new.any():
        raise DataError(
            f"{int(old.sum())} drugs were approved in the known period and {int(new.sum())} later",
            where=f"dataset {dataset.name}, after {parameters.after} until {parameters.until}, new after "
            f"{parameters.new_after}",
            todo="choose other years, or a dataset that tells more of them",
        )
    roles = np.where(new, TEST_NEW, np.where(old, KNOWN, DISCARDED)).astype(np.int32)
    drawn = np.random.RandomState([seed, 1]).permutation(np.flatnonzero(old))
    roles[drawn[: _validating(old, parameters)]] = VALID_NEW
    return split_items(dataset, roles, seed)


def _periods(dataset: DdiDataset, parameters: Parameters) -> tuple[Mask, Mask]:
    """The drugs of the known period, and the new ones."""
    return (
        (dataset.years > parameters.after) & (dataset.years <= parameters.until),
        dataset.years > parameters.new_after,
    )


def _validating(old: Mask, parameters: Parameters) -> int:
    """How many drugs of the known period are new to validation."""
    return max(1, int(parameters.valid_share * old.sum()))


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """Every drug has a role of its period, validation has its share of the known one, and S0 has its shares."""
    old, new = _periods(dataset, parameters)
    broken = []
    for period, belong, name in (
        (old, (KNOWN, VALID_NEW), "of the known period"),
        (new, (TEST_NEW,), f"approved after {parameters.new_after}"),
        (~old & ~new, (DISCARDED,), "of other years, or of none,"),
    ):
        wrong = np.flatnonzero(period & ~np.isin(made.drugs, belong))
        if len(wrong):
            role = ROLES[int(made.drugs[wrong[0]])]
            broken.append(f"{len(wrong)} drugs {name} have another role, for one drug {wrong[0]}: {role}")
    wanted, found = _validating(old, parameters), int((made.drugs == VALID_NEW).sum())
    if found != wanted:
        broken.append(f"{found} drugs are {ROLES[VALID_NEW]}, not {wanted}")
    return [*broken, *wrong_items(dataset, made)]
