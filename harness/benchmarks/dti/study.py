"""The study of BETA: what the 344 tasks of Table 1 are made of, in both readings, beside what is printed.

A reading needs files that may not be public: a task that can't be made is counted, with what it lacks. Each is
also scored by what bioLNE's published network gives away: nearly every binding of BETA is an edge of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import cast, get_args

import numpy as np
import numpy.typing as npt

from harness.base.errors import HarnessError, MissingData, UsageError
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.benchmarks.dti.converters.beta.network import ARCHIVE, binding_edges
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.bindings import area_under_roc, threshold_counts
from harness.benchmarks.dti.splits.pairs import PairSplit
from harness.compare.claims import SHOWN, TABLES, load_printed
from harness.data import load_dataset
from harness.data.datasets import fetch_dataset
from harness.planning.suites import expansions
from harness.splits.spec import SplitSpec, parse_split
from harness.splits.splits import make_split
from harness.splits.strategies import get_strategy
from harness.study.extension import Maker, OwnSheets
from harness.study.measurements import load_measured, notes_on_data, save_measured
from harness.study.sheets import Sheet
from harness.study.sides import Sides
from harness.study.specs import Spec

DATASET, _NETWORK, SEED = "beta", "beta_network", 1024
# of tests that are about classes, which a person has to bring
_WITH_CLASSES = {"drug_classes": "beta_classes", "target_classes": "beta_classes"}
READINGS = ("as-published", "as-defined")
_NO_CODE = "no code of the authors makes them, so that they are made as their text says alone"
_OF_TRAINING = ("training pairs", "drugs in training", "targets in training")
_SPACES = "space={TEO,TRO,TEE,TRE}"
# the rows of the table, and the splits of their tasks without a reading
TASKS = {
    "Test 0": "general:fold={0..9}",
    "Test 1": "connectivity:fold={0..9},space={TT,TC,TA,CC,CA,AA,SS,SU,DI}",
    "Test 2, DrugBank category": f"drug_classes:fold={{0..2}},group=drugbankCategory,rank={{0..2}},{_SPACES}",
    "Test 2, linkedSPL class": f"drug_classes:fold={{0..2}},group=linkplClass,rank={{0..2}},{_SPACES}",
    "Test 3, family": f"target_classes:fold={{0..2}},group=family,rank={{0..2}},{_SPACES}",
    "Test 3, protein class": f"target_classes:fold={{0..2}},group=proteinClass,rank={{0..2}},{_SPACES}",
    "Test 4, drugs": "single_nodes:kind=drug,rank={0..9}",
    "Test 4, targets": "single_nodes:kind=target,rank={0..9}",
    "Test 5": f"new_pairs:rank={{0..9}},{_SPACES}",
    "Test 6": f"annotated_pairs:rank={{0..9}},{_SPACES}",
}
QUANTITIES = (*_OF_TRAINING, "test pairs", "test positives", "test negatives", "drugs in test", "targets in test")


class TaskMeans(Strict):
    """The tasks of one row in one reading: how many were made, means with the AUROC of edges, what others lack."""

    row: str
    reading: str
    made: int
    means: list[float]
    lacking: dict[str, int]


class TaskFacts(Strict):
    """All rows, and how many of the known bindings the network as published joins."""

    dataset: str
    digest: str
    bindings: int
    edges: int
    rows: list[TaskMeans]


def measure(layout: Layout, mirrors: Sequence[Path], say: Callable[[str], None]) -> TaskFacts:
    """Every task made now, in both readings."""
    known = load_dataset(layout, DATASET, DtiDataset, mirrors=mirrors)
    joined = cache(partial(binding_edges, fetch_dataset(layout, _NETWORK, mirrors=mirrors)[ARCHIVE]))
    rows = []
    for reading in READINGS:
        say(f"tasks {reading}")
        for row, pattern in TASKS.items():
            numbers, lacking = [], Counter[str]()
            for text in expansions(pattern):
                strategy = text.partition(":")[0]
                if reading not in _readings(strategy):
                    lacking[_NO_CODE] += 1
                    continue
                name, spec = _WITH_CLASSES.get(strategy, DATASET), parse_split(f"{text},reading={reading}", SEED)
                try:
                    dataset = load_dataset(layout, name, DtiDataset, mirrors=mirrors)
                    split = make_split(layout, name, spec, mirrors)
                except (MissingData, UsageError) as error:
                    lacking[_shared_reason(error, spec)] += 1
                else:
                    numbers.append(_numbers(cast(PairSplit, split), dataset, joined(dataset)))
            means = np.mean(numbers, axis=0).round(4).tolist() if numbers else []
            rows.append(TaskMeans(row=row, reading=reading, made=len(numbers), means=means, lacking=dict(lacking)))
    edges = int(joined(known)[tuple(known.pairs.T)].sum())
    return TaskFacts(dataset=DATASET, digest=known.digest, bindings=len(known.pairs), edges=edges, rows=rows)


def _shared_reason(error: HarnessError, spec: SplitSpec) -> str:
    """What a task lacks, without what is of this task alone: its split, and the number that it asked for."""
    return error.what.removeprefix(f"split {spec.text}: ").partition(", not ")[0]


def _readings(strategy: str) -> tuple[str, ...]:
    """The readings in which a strategy makes its tasks."""
    return get_args(get_strategy("dti", strategy).Parameters.model_fields["reading"].annotation)


def sheet(sides: Sides, facts: TaskFacts | None, spec: Spec) -> Sheet | None:
    """The table: a row per kind of tasks, entries printed / as published / as defined."""
    if facts is None:
        return None
    measured = {(one.row, one.reading): one for one in facts.rows}
    numbers: dict[str, dict[str, str]] = {}
    for line in load_printed(sides.layout.published / sides.names.benchmark / TABLES):
        if line["statistic"] == SHOWN:
            numbers.setdefault(line["split"], {})[line["metric"]] = line["value"]
    rows = []
    for name, printed in numbers.items():
        both = [measured[name, reading] for reading in READINGS]
        texts = [[printed["tasks"], *(str(one.made) for one in both)]]
        for place, quantity in enumerate(QUANTITIES):
            texts.append([printed[quantity], *(f"{one.means[place]:.0f}" if one.means else "-" for one in both)])
        texts.append([f"{one.means[-1]:.3f}" if one.means else "-" for one in both])
        rows.append([name, *map(" / ".join, texts)])
    notes = [f"{facts.edges} of {facts.bindings} bindings are edges of the published network: these rank so."]
    for what in dict.fromkeys(what for one in facts.rows for what in one.lacking):
        own = {(one.row, one.reading): one.lacking[what] for one in facts.rows if what in one.lacking}
        notes.append(f"{sum(own.values())} tasks of {'; '.join(dict.fromkeys(row for row, _ in own))}: {what}.")
    notes += notes_on_data(sides.layout, facts.dataset, facts.digest)
    return spec.sheet(["", "tasks", *QUANTITIES, "AUROC of edges"], rows, notes=notes)


def _numbers(split: PairSplit, dataset: DtiDataset, joined: npt.NDArray[np.bool_]) -> list[float]:
    """The quantities of a task, and the AUROC of edges."""
    truth = split.values_on(dataset)[~split.is_train] > 0
    nodes = [len(np.unique(column)) for pairs in (split.train_pairs, split.test_pairs) for column in pairs.T]
    counts = [split.training, *nodes[:2], split.test, int(truth.sum()), int((~truth).sum()), *nodes[2:]]
    return [*counts, edge_auroc(split, dataset, joined)]


def edge_auroc(split: PairSplit, dataset: DtiDataset, joined: npt.NDArray[np.bool_]) -> float:
    """The AUROC of a task where the score of a pair is whether the published network joins it."""
    _, drugs, targets, _ = split.rows[~split.is_train].T
    truth = split.values_on(dataset)[~split.is_train] > 0
    return area_under_roc(threshold_counts(truth, joined[drugs, targets].astype(np.float64)))


class _TaskStudy(OwnSheets):
    def makers(self, sides: Sides) -> Mapping[str, Maker]:
        """The maker of the table of tasks."""
        return {"tasks": partial(sheet, sides, load_measured(sides.layout, sides.names.benchmark, TaskFacts))}

    def measure(self, layout: Layout, benchmark: str, mirrors: Sequence[Path], say: Callable[[str], None]) -> None:
        """Make every task, count its pairs, and keep the means."""
        save_measured(layout, benchmark, measure(layout, mirrors, say))


STUDY = _TaskStudy()
