"""The four families of category tasks: what their parameters are, how a task is made, and what it folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from harness.base.errors import MissingData
from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.generator import folds
from harness.benchmarks.dti.splits.generator.bindings import Mask, bindings_of
from harness.benchmarks.dti.splits.generator.categories import first_negatives, spread_negatives
from harness.benchmarks.dti.splits.generator.folds import Halves, fold_of, parts_of, split_of
from harness.benchmarks.dti.splits.generator.groups import TaskGroup, group_of, published_negatives
from harness.benchmarks.dti.splits.generator.spaces import category_space, uniform_negatives
from harness.benchmarks.dti.splits.java import buckets_of, table_of
from harness.benchmarks.dti.splits.pairs import FORM, PairSplit

Reading = Literal["as-published", "as-defined", "corrected"]
# test or train nodes of the other kind, with nodes of the category only or with all but these
Space = Literal["TEO", "TRO", "TEE", "TRE"]

# how far from chance a ranking by occurrence may be where negatives are spread and are as many as bindings
_NEAR_CHANCE = 0.1


class CategoryParameters(Strict):
    """As published, negatives are the first drugs with all their targets; as defined, all pairs of a space are as
    likely; corrected, each drug has as many negatives as some drug has bindings, and the rest is as published."""

    reading: Reading = "as-published"
    group: str = Field(default="", description="its name or its scheme's; else the largest of the first scheme")
    rank: int = Field(default=0, ge=0, description="place among the groups with most bindings, without a name")
    space: Space = "TEO"


class FoldParameters(CategoryParameters):
    """Of tasks that ask a fold of a group's bindings."""

    fold: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _exists(self) -> FoldParameters:
        if self.fold >= self.folds:
            raise ValueError(f"as this reading has it there are {self.folds} folds")
        return self

    @property
    def folds(self) -> int:
        """How many folds the bindings of a group are dealt to."""
        return 3 if self.reading == "as-defined" else 10


@dataclass(frozen=True)
class Family:
    """A test: how many of its schemes, and of the groups of each, are tasks as published, and as defined."""

    test: int
    published: tuple[int, int]
    defined: tuple[int, int]

    def make(self, dataset: DtiDataset, seed: int, parameters: CategoryParameters) -> PairSplit:
        """The task with its negatives."""
        group, halves = self._group(dataset, parameters), self.positives(dataset, seed, parameters)
        known = self._known(halves)
        if parameters.reading == "as-defined":
            within = category_space(halves, parameters.space, group.category)
            return split_of(halves, uniform_negatives(within, known, len(halves.test), seed))
        if parameters.reading == "corrected":
            return split_of(halves, spread_negatives(halves, parameters.space, group.category, known, seed))
        # the order of a disease's targets, and some of these, are not public, and these tasks are whole
        negatives = published_negatives(dataset, self.test, parameters.space, group)
        if negatives is None or seed != FORM.usual_seed:
            negatives = first_negatives(halves, parameters.space, group.category, known, seed)
        if len(negatives) < len(halves.test) and len(group.category.leading) and parameters.space.endswith("O"):
            what = f"the drugs of '{group.name}' that nobody knows come before those that are known"
            where = f"dataset {dataset.name}: the drug classes of DrugBank and linkedSPL"
            raise MissingData(what, where=where, todo="not public: take another space, or reading=as-defined")
        return split_of(halves, negatives)

    def positives(self, dataset: DtiDataset, seed: int, parameters: CategoryParameters) -> Halves:
        """The bindings of the task."""
        bindings, group = bindings_of(dataset), self._group(dataset, parameters)
        if isinstance(parameters, FoldParameters):
            return fold_of(bindings, group.codes, parameters.fold, parameters.folds, seed)
        return Halves(bindings, bindings.lines(bindings.codes), bindings.lines(group.codes))

    def broken_promises(self, dataset: DtiDataset, split: PairSplit, parameters: CategoryParameters) -> list[str]:
        """All bindings are there, those that the task is about are asked, and negatives are of their space,
        bind nowhere and are as many if the space has them; corrected, how often a drug occurs tells nothing."""
        halves, negatives = parts_of(dataset, split)
        bindings, group = halves.bindings, self._group(dataset, parameters)
        number, codes = len(halves.test), np.unique(group.codes)
        if isinstance(parameters, FoldParameters):
            size, new = folds.fold_size(len(codes), parameters.fold, parameters.folds), codes[:0]
        else:
            size, new = len(codes), codes
        broken = folds.wrong_bindings(halves, bindings.mask(codes), size, new)
        if parameters.reading == "corrected" and len(negatives) < number:
            # a space may have enough pairs, and not enough of any drug
            number = len(negatives)
        within = category_space(halves, parameters.space, group.category)
        broken += folds.wrong_negatives(halves, negatives, within, number)
        if parameters.reading == "corrected" and len(negatives) == len(halves.test):
            auroc = folds.occurrence_auroc(halves, negatives)
            if abs(auroc - 0.5) > _NEAR_CHANCE:
                broken.append(f"ranking by how rarely a drug occurs has an AUROC of {auroc:.3f}")
        return broken

    def broken_draws(
        self, dataset: DtiDataset, split: PairSplit, seed: int, parameters: CategoryParameters
    ) -> list[str]:
        """The published negatives of a disease whose targets are all known are those that the generator draws, for
        some order of the targets that share a bucket of their table."""
        group = self._group(dataset, parameters)
        published = published_negatives(dataset, self.test, parameters.space, group)
        whole = len(group.category.members) == group.category.size
        if parameters.reading != "as-published" or published is None or seed != FORM.usual_seed or not whole:
            return []
        halves, members = parts_of(dataset, split)[0], group.category.members
        known = self._known(halves)
        buckets = buckets_of(halves.bindings.targets.hashes[members], table_of(len(members)))
        shares = np.split(members, np.flatnonzero(np.diff(buckets)) + 1)
        for order in product(*map(permutations, shares)):
            category = replace(group.category, members=np.concatenate([np.array(share) for share in order]))
            if np.array_equal(first_negatives(halves, parameters.space, category, known, seed), published):
                return []
        return ["the generator draws other negatives than the published ones"]

    def _known(self, halves: Halves) -> Mask:
        """Bindings that are known, or asked."""
        known = halves.bindings.known
        return known if known[halves.test].all() else halves.bindings.mask(halves.bindings.codes, halves.test)

    def _group(self, dataset: DtiDataset, parameters: CategoryParameters) -> TaskGroup:
        schemes, most = self.defined if parameters.reading == "as-defined" else self.published
        return group_of(dataset, self.test, parameters.group, parameters.rank, schemes, most)


DRUG_CLASSES = Family(2, published=(3, 5), defined=(2, 3))
TARGET_CLASSES = Family(3, published=(3, 5), defined=(2, 3))
NEW_PAIRS = Family(5, published=(1, 5), defined=(1, 10))
ANNOTATED_PAIRS = Family(6, published=(1, 10), defined=(1, 10))
