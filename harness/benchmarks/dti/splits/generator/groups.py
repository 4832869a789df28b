"""Groups of a dataset as tasks take them: by name, or by their place among those with most bindings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from harness.base.errors import MissingData, unknown
from harness.benchmarks.dti.dataset import LEADING, MEMBER, DtiDataset
from harness.benchmarks.dti.splits.generator.bindings import bindings_of
from harness.benchmarks.dti.splits.generator.categories import Category
from harness.benchmarks.dti.splits.java import Integers

# what groups of a test are made from, and cannot be published with them
_SOURCES = {
    2: "the drug classes of DrugBank and linkedSPL",
    3: "PTHR15.0_human of PANTHER",
    5: "the DrugBank release of 2020-11 and the genes of diseasome",
    6: "the annotated trials of BETA (clinicalCT)",
}
_LEAST_DRUGS, _LEAST_PAIRS = 2, 13


@dataclass(frozen=True, eq=False)
class TaskGroup:
    """A category and its bindings, in the order in which they are added to their set."""

    name: str
    category: Category
    codes: Integers


def group_of(dataset: DtiDataset, test: int, name: str, rank: int, schemes: int, most: int) -> TaskGroup:
    """A group by its name, or by its rank in a scheme (the first one, where none is named)."""
    names, where = ranked(dataset, test, schemes, most), f"dataset {dataset.name}: {_SOURCES[test]}"
    own = [one for one in names if one == name] or [one for one in names if not name or _scheme(one) == name]
    if rank >= most:
        what = f"this reading has {most} groups of each kind, not {rank + 1}"
        raise MissingData(what, where=where, todo="take a lower rank, or reading=as-defined")
    if names and not own:
        raise unknown("group of this reading", name, names, where=f"dataset {dataset.name}, Test {test}")
    # without a scheme's name that of the first counts
    own = [one for one in own if _scheme(one) == _scheme(own[0])]
    if name in own:
        rank = 0
    if rank >= len(own):
        todo = "these are not public: bring tables of them (docs/dti.md), or take another task"
        raise MissingData(f"Test {test} has {len(own)} groups here, not {rank + 1}", where=where, todo=todo)
    group = _group(dataset, test, own[rank])
    if not group.category.size:
        what = f"'{group.name}' has more bindings than are public"
        raise MissingData(what, where=where, todo="take another task")
    return group


def published_negatives(dataset: DtiDataset, test: int, space: str, group: TaskGroup) -> Integers | None:
    """The negatives of a task as the authors published them; None where they are not in the dataset."""
    name = f"test{test}-{space}/{group.name}"
    return _codes(dataset, dataset.group_names.index(name)) if name in dataset.group_names else None


@lru_cache(maxsize=16)
def ranked(dataset: DtiDataset, test: int, schemes: int, most: int) -> tuple[str, ...]:
    """The groups that are tasks, scheme by scheme, those with most bindings first."""
    by_scheme: dict[str, list[TaskGroup]] = {}
    for prefix, _, name in (name.partition("/") for name in dataset.group_names):
        if prefix == f"test{test}":
            group = _group(dataset, test, name)
            drugs = len(np.unique(bindings_of(dataset).drugs_of(group.codes)))
            if test != 6 or (drugs >= _LEAST_DRUGS and drugs * group.category.size >= _LEAST_PAIRS):
                by_scheme.setdefault(_scheme(name), []).append(group)
    return tuple(
        group.name
        for scheme in list(by_scheme)[:schemes]
        for group in sorted(by_scheme[scheme], key=lambda one: -len(one.codes))[:most]
    )


def _scheme(name: str) -> str:
    return name.partition(":")[0] if ":" in name else ""


def _group(dataset: DtiDataset, test: int, name: str) -> TaskGroup:
    number = dataset.group_names.index(f"test{test}/{name}")
    # nodes are numbered drugs first
    first = 0 if test == 2 else dataset.drugs
    nodes, leading = (dataset.members_of(f"test{test}/{name}", role) - first for role in (MEMBER, LEADING))
    # of drugs the dataset has the order in a table of all, known or not
    nodes = nodes if test == 2 else bindings_of(dataset).targets.set(nodes)
    category = Category(test == 2, nodes, int(dataset.group_sizes[number]), leading)
    return TaskGroup(name, category, _codes(dataset, number))


def _codes(dataset: DtiDataset, group: int) -> Integers:
    pairs = dataset.group_pairs[dataset.group_pairs[:, 0] == group]
    return bindings_of(dataset).code(pairs[:, 1], pairs[:, 2])
