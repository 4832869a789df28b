"""The 344 tasks of the paper's Table 1: what ours are made of, in both readings, beside what is printed.

Each task is made as published, by what the code of the authors does, and as defined, by what their text says. A
reading needs files that may not be public: a task that can't be made is counted, with what it lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np

from harness.base.errors import MissingData, UsageError
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.pairs import PairSplit
from harness.compare.claims import SHOWN, TABLES, load_printed
from harness.data import load_dataset
from harness.splits.spec import parse_split
from harness.splits.splits import make_split
from harness.study.sheets import Sheet
from harness.study.sides import Sides
from harness.study.specs import Spec

DATASET, SEED = "beta", 1024
# of tests that are about classes, which a person has to bring
_WITH_CLASSES = {"drug_classes": "beta_classes", "target_classes": "beta_classes"}
READINGS = ("as-published", "as-defined")
QUANTITIES = (
    "training pairs",
    "drugs in training",
    "targets in training",
    "test pairs",
    "test positives",
    "test negatives",
    "drugs in test",
    "targets in test",
)
_CATEGORIES = ("TEO", "TRO", "TEE", "TRE")
_CONNECTED = ("TT", "TC", "TA", "CC", "CA", "AA", "SS", "SU", "DI")


class TaskMeans(Strict):
    """The tasks of one row in one reading: how many were made, their means, and what the others lack."""

    row: str
    reading: str
    made: int
    means: list[float]
    lacking: dict[str, int]


class TaskFacts(Strict):
    """All rows."""

    dataset: str
    digest: str
    rows: list[TaskMeans]


def tasks() -> Iterator[tuple[str, str]]:
    """The row of the table and the split of each of the 344 tasks, without its reading."""
    for fold in range(10):
        yield "Test 0", f"general:fold={fold}"
    for space, fold in product(_CONNECTED, range(10)):
        yield "Test 1", f"connectivity:fold={fold},space={space}"
    for row, strategy, scheme in (
        ("Test 2, DrugBank category", "drug_classes", "drugbankCategory"),
        ("Test 2, linkedSPL class", "drug_classes", "linkplClass"),
        ("Test 3, family", "target_classes", "family"),
        ("Test 3, protein class", "target_classes", "proteinClass"),
    ):
        for rank, fold, space in product(range(3), range(3), _CATEGORIES):
            yield row, f"{strategy}:fold={fold},group={scheme},rank={rank},space={space}"
    for kind, rank in product(("drug", "target"), range(10)):
        yield f"Test 4, {kind}s", f"single_nodes:kind={kind},rank={rank}"
    for row, strategy in (("Test 5", "new_pairs"), ("Test 6", "annotated_pairs")):
        for rank, space in product(range(10), _CATEGORIES):
            yield row, f"{strategy}:rank={rank},space={space}"


def measure(layout: Layout, mirrors: Sequence[Path], say: Callable[[str], None]) -> TaskFacts:
    """Every task made now, in both readings."""
    digest = load_dataset(layout, DATASET, DtiDataset, mirrors=mirrors).digest
    counts: dict[tuple[str, str], list[list[int]]] = {}
    lacking: dict[tuple[str, str], Counter[str]] = {}
    for reading in READINGS:
        say(f"tasks {reading}")
        for row, text in tasks():
            place = (row, reading)
            counts.setdefault(place, []), lacking.setdefault(place, Counter())
            name = _WITH_CLASSES.get(text.partition(":")[0], DATASET)
            try:
                dataset = load_dataset(layout, name, DtiDataset, mirrors=mirrors)
                split = make_split(layout, name, parse_split(f"{text},reading={reading}", SEED), mirrors)
            except (MissingData, UsageError) as error:
                lacking[place][error.what] += 1
            else:
                counts[place].append(_counts(cast(PairSplit, split), dataset))
    rows = [
        TaskMeans(
            row=row,
            reading=reading,
            made=len(own),
            means=np.mean(own, axis=0).round(1).tolist() if own else [],
            lacking=dict(lacking[row, reading]),
        )
        for (row, reading), own in counts.items()
    ]
    return TaskFacts(dataset=DATASET, digest=digest, rows=rows)


def sheet(sides: Sides, facts: TaskFacts | None, spec: Spec) -> Sheet | None:
    """The table: a row per kind of tasks, entries printed / as published / as defined."""
    if facts is None:
        return None
    measured = {(one.row, one.reading): one for one in facts.rows}
    rows, notes = [], []
    for name, printed in _printed(sides).items():
        both = [measured[name, reading] for reading in READINGS]
        made = " / ".join([printed["tasks"], *(str(one.made) for one in both)])
        texts = [
            " / ".join([printed[quantity], *(f"{one.means[place]:.0f}" if one.means else "-" for one in both)])
            for place, quantity in enumerate(QUANTITIES)
        ]
        rows.append([name, made, *texts])
        for one in both:
            notes += [f"{name}, {one.reading}: {count} tasks: {what}." for what, count in one.lacking.items()]
    return spec.sheet(["", "tasks", *QUANTITIES], rows, notes=list(dict.fromkeys(notes)))


def _counts(split: PairSplit, dataset: DtiDataset) -> list[int]:
    truth = split.values_on(dataset)[~split.is_train] > 0
    nodes = [len(np.unique(column)) for pairs in (split.train_pairs, split.test_pairs) for column in pairs.T]
    return [split.training, *nodes[:2], split.test, int(truth.sum()), int((~truth).sum()), *nodes[2:]]


def _printed(sides: Sides) -> Mapping[str, Mapping[str, str]]:
    """The printed numbers by row and quantity."""
    rows: dict[str, dict[str, str]] = {}
    for line in load_printed(sides.layout.published / sides.names.benchmark / TABLES):
        if line["statistic"] == SHOWN:
            rows.setdefault(line["split"], {})[line["metric"]] = line["value"]
    return rows
