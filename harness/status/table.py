"""Joins plan, store and scores into one table. The verdicts add up to the planned cells, or no table is made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import Any

from harness import benchmarks
from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.methods.card import MethodCard, load_method
from harness.planning.cells import Cell, kind_of
from harness.planning.commands import unusual_parameters
from harness.planning.jobs import Job, unusual_options
from harness.planning.plan import Plan, Present
from harness.planning.published_seeds import first_published
from harness.planning.suites import jobs_of, load_suite
from harness.results.publications import published_datasets
from harness.results.reference import ReferenceResult
from harness.results.scoring import Scores, read_scores, scored_files
from harness.results.store import Store, check_sum

# Not a suite of the repository: every job that was ever run here, in its present form.
STORED = "stored"
# The mark of rows whose runs found their items in the published order.
PUBLISHED_ORDER = "°"


@dataclass(frozen=True)
class Summary:
    """A metric over the seeds of one group: mean, sample standard deviation, number of seeds."""

    mean: float
    sd: float | None
    n: int

    @property
    def text(self) -> str:
        """`0.8009 ± 0.0123`."""
        return f"{self.mean:.4f}" + ("" if self.sd is None else f" ± {self.sd:.4f}")


@dataclass(frozen=True)
class ScoredCell:
    """A planned cell, with its scores if they are not stale."""

    cell: Cell
    row: str
    choices: dict[str, Any]
    control: bool
    metrics: dict[str, float | None]
    notes: dict[str, str]
    scored: bool
    # whether this is a committed reference result, not a run of this machine
    reference: bool = False
    # whether its items are in the published order, not in a secret one
    published_order: bool = False

    @property
    def key(self) -> str | None:
        """The job key, or None where the cell can't be pinned down."""
        return self.cell.key

    @property
    def split(self) -> str:
        """The split without its seed, and every option that is not the usual one."""
        job = self.cell.job
        unusual = "".join(f", {value} {name.replace('_', ' ')}" for name, value in unusual_options(job).items())
        return job.split.text + unusual

    def remarks(self, metric: str) -> list[str]:
        """The notes of the scores about a metric: why it has no value, and which items it leaves out.

        A note that has no metric's name is about all metrics of its setting and kind (`S1 items/as-published`).
        """
        return [
            f"{name.partition('/')[0]}: {text}"
            for name, text in self.notes.items()
            if name == metric or (name not in self.metrics and _place(name) == _place(metric))
        ]


@dataclass(frozen=True, eq=False)
class Group:
    """One method, variant, dataset and kind of split: the cells that differ in their seed only."""

    benchmark: str
    row: str
    method: str
    control: bool
    dataset: str
    split: str
    cells: tuple[ScoredCell, ...]
    # whether nothing is published of the dataset, so that no value as published is of use
    unpublished: bool = False

    @property
    def published_order(self) -> bool:
        """Whether any of its runs has its items in the published order."""
        return any(scored.published_order for scored in self.cells)

    @property
    def title(self) -> str:
        """The name of the row in a table without markup."""
        return f"{self.row} {PUBLISHED_ORDER}" if self.published_order else self.row

    @property
    def column(self) -> str:
        """`fdataset, random`."""
        return f"{self.dataset}, {self.split}"

    @cached_property
    def verdicts(self) -> Counter[Verdict]:
        """The number of cells by verdict."""
        return Counter(scored.cell.verdict for scored in self.cells)

    @property
    def verdict_text(self) -> str:
        """`ok 2/2`, or `ok 1/2, timeout 1`."""
        planned = len(self.cells)
        parts = [f"{verdict} {self.verdicts[verdict]}" for verdict in Verdict if self.verdicts[verdict]]
        return ", ".join([f"{parts[0]}/{planned}", *parts[1:]])

    def summary(self, metric: str) -> Summary | None:
        """The metric over the seeds that ended ok; None if no seed has it."""
        if metric not in self._summaries:
            values = [scored.metrics.get(metric) for scored in self._ended]
            self._summaries[metric] = summarise(value for value in values if value is not None)
        return self._summaries[metric]

    def remarks(self, metric: str) -> list[str]:
        """The remarks about the metric in the scores of the seeds that ended ok, each text once."""
        return list(dict.fromkeys(text for scored in self._ended for text in scored.remarks(metric)))

    @cached_property
    def _ended(self) -> list[ScoredCell]:
        return [scored for scored in self.cells if scored.cell.verdict is Verdict.OK]

    @cached_property
    def _summaries(self) -> dict[str, Summary | None]:
        """Those that were asked for already: a matrix asks for its metrics several times."""
        return {}


@dataclass(frozen=True)
class Table:
    """The cells of one plan that are in view, and the number of stored runs that belong to no cell of the plan."""

    name: str
    planned: int
    cells: tuple[ScoredCell, ...]
    others: int
    # datasets that stand in for others, with the reason why no claim may rest on them
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    # datasets of which nothing is published, such as a person's own
    unpublished: frozenset[str] = frozenset()

    @cached_property
    def counts(self) -> Counter[Verdict]:
        """Verdicts of the cells in view."""
        return Counter(scored.cell.verdict for scored in self.cells)

    @property
    def is_good(self) -> bool:
        """Whether the verdicts of all cells in view are good."""
        return all(verdict.is_good for verdict in self.counts)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The cells in view by row and column: benchmarks in order, datasets as planned, controls last."""
        members: dict[tuple[str, ...], list[ScoredCell]] = {}
        groups_of: dict[Hashable, list[ScoredCell]] = {}
        for scored in self.cells:
            if (kind := kind_of(scored.cell.job)) not in groups_of:
                groups_of[kind] = members.setdefault(_group_of(scored), [])
            groups_of[kind].append(scored)
        groups = [
            Group(
                benchmark=cells[0].cell.job.benchmark,
                row=key[1],
                method=cells[0].cell.job.method,
                control=cells[0].control,
                dataset=cells[0].cell.job.dataset,
                split=key[3],
                cells=tuple(cells),
                unpublished=cells[0].cell.job.dataset in self.unpublished,
            )
            for key, cells in members.items()
        ]
        columns = {column: place for place, column in enumerate(dict.fromkeys(group.column for group in groups))}
        assert sum(len(group.cells) for group in groups) == len(self.cells), "cells were lost while grouping"
        places = benchmarks.in_order({group.benchmark for group in groups})
        return tuple(
            sorted(
                groups,
                key=lambda one: (places.index(one.benchmark), columns[one.column], one.control, one.row),
            )
        )

    def select(
        self,
        *,
        benchmarks: Collection[str] = (),
        methods: Collection[str] = (),
        datasets: Collection[str] = (),
        verdicts: Collection[Verdict] = (),
    ) -> Table:
        """The same plan with fewer cells in view; an empty choice keeps all."""
        cells = [
            scored
            for scored in self.cells
            if (not benchmarks or scored.cell.job.benchmark in benchmarks)
            and (not methods or scored.cell.job.method in methods)
            and (not datasets or scored.cell.job.dataset in datasets)
            and (not verdicts or scored.cell.verdict in verdicts)
        ]
        return replace(self, cells=tuple(cells))


def suite_jobs(layout: Layout, store: Store, suite: str, published_seeds: int | None = None) -> list[Job]:
    """The jobs of a suite, or of everything that was ever run here (`stored`).

    A number of published seeds that would be ignored, or that a benchmark has not, is refused.
    """
    chosen = None if suite == STORED else load_suite(suite)
    if published_seeds is not None:
        taking = [block.benchmark for block in chosen.blocks if block.published_seeds] if chosen else []
        if not taking:
            raise UsageError(
                f"the suite '{suite}' takes no published seeds",
                where=f"--suite {suite} --published-seeds {published_seeds}",
                todo="leave the number out",
            )
        for benchmark in taking:
            first_published(benchmark, published_seeds)
    return _stored_jobs(layout, store) if chosen is None else jobs_of(layout, chosen, published_seeds)


def build_table(
    layout: Layout,
    store: Store,
    plan: Plan,
    cells: Sequence[Cell],
    reference: Mapping[str, ReferenceResult] = MappingProxyType({}),
) -> Table:
    """The table of a plan. Its `cells` are joined with their records. Scores are read, predictions are not.

    A `reference` result takes the place of a cell that was not run on this machine, and is marked.
    """
    check_sum(plan, cells)
    card_of = cache(partial(load_method, layout))
    scored = [_scored(layout, cell, card_of(cell.job.method), reference) for cell in cells]
    keys = {one.key for one in scored}
    # what else was run here is no matter of the committed results
    others = 0 if reference else sum(1 for key in store.finished() if key not in keys)
    manifests = [load_manifest(layout, name) for name in dict.fromkeys(cell.job.dataset for cell in cells)]
    stand_ins = {manifest.name: manifest.stand_in for manifest in manifests if manifest.stand_in}
    published = published_datasets(layout)
    unpublished = frozenset(one.name for one in manifests if (one.extends or one.name) not in published)
    return Table(plan.name, len(plan.cells), tuple(scored), others, stand_ins, unpublished)


def key_metrics(name: str) -> tuple[str, ...]:
    """The metrics of a benchmark that its tables show."""
    return benchmarks.get(name).key_metrics


def metric_sets(name: str) -> list[tuple[str, ...]]:
    """The key metrics in sets: the same metric in all its settings."""
    sets: dict[str, list[str]] = {}
    for metric in key_metrics(name):
        sets.setdefault(metric.split()[-1], []).append(metric)
    return [tuple(members) for members in sets.values()]


def known_sets(groups: Sequence[Group]) -> list[tuple[str, ...]]:
    """The sets of which these groups of one benchmark have a value; all sets if there is no value yet.

    Some metrics exist for one kind of data only. Of data of which nothing is published they are as defined.
    """
    sets = metric_sets(groups[0].benchmark)
    if all(group.unpublished for group in groups):
        defined = {metric.name for metric in benchmarks.get(groups[0].benchmark).scoring.metrics}
        sets = [tuple(as_defined(metric, defined) for metric in members) for members in sets]
    return [one for one in sets if any(group.summary(metric) for metric in one for group in groups)] or sets


def as_defined(metric: str, names: Collection[str]) -> str:
    """The metric as its formula says, where it is computed so too."""
    name = metric.replace("/as-published", "/as-defined")
    return name if name in names else metric


def summarise(values: Iterable[float]) -> Summary | None:
    """Mean and sample standard deviation; None without values, and no deviation of a single one."""
    numbers = list(values)
    if not numbers:
        return None
    mean = math.fsum(numbers) / len(numbers)
    if len(numbers) == 1:
        return Summary(mean, None, 1)
    squares = math.fsum((value - mean) ** 2 for value in numbers)
    return Summary(mean, math.sqrt(squares / (len(numbers) - 1)), len(numbers))


def row_name(job: Job, choices: dict[str, Any]) -> str:
    """The method, its variant unless `published`, and the parameters that differ from the card's."""
    text = ", ".join(
        f"without {parameter}" if value is None else f"{parameter}={value}" for parameter, value in choices.items()
    )
    return f"{job.row}{job.marks} ({text})" if text else f"{job.row}{job.marks}"


def _scored(layout: Layout, cell: Cell, card: MethodCard, reference: Mapping[str, ReferenceResult]) -> ScoredCell:
    choices = unusual_parameters(card, cell.job)
    entry = reference.get(cell.key) if cell.key and cell.verdict is Verdict.PENDING else None
    scores: Scores | None = None
    if entry is not None:
        reason = f"reference result: {entry.content['reason']}"
        cell = cell.judged(Verdict(entry.content["verdict"]), reason, entry.content)
        scores = entry.fresh_scores
    elif cell.key is not None and cell.verdict is Verdict.OK:
        evidence = scored_files(cell.job.benchmark, cell.record["files"])
        scores = read_scores(layout, cell.key, cell.job.benchmark, evidence)
    return ScoredCell(
        cell,
        row_name(cell.job, choices),
        choices,
        card.control,
        scores.metrics if scores else {},
        scores.notes if scores else {},
        scored=scores is not None,
        reference=entry is not None,
        published_order=not cell.record.get("order") if cell.record else bool(card.published_order),
    )


def _place(name: str) -> tuple[str, str]:
    """Setting and kind of a metric or note: `S1`, `as-published`."""
    return name.split()[0], name.partition("/")[2]


def _group_of(scored: ScoredCell) -> tuple[str, str, str, str]:
    return scored.cell.job.benchmark, scored.row, scored.cell.job.dataset, scored.split


def _stored_jobs(layout: Layout, store: Store) -> list[Job]:
    present = Present(layout)
    jobs: dict[str, tuple[Job, list[str]]] = {}
    for key in store.finished():
        if content := store.standing(key).content:
            job = Job.model_validate(content["planned"]["job"])
        else:
            # of a damaged run too, as long as its record tells what it is of
            try:
                job = store.record(key).planned.job
            except CorruptData:
                continue
        jobs.setdefault(job.model_dump_json(), (job, []))[1].append(key)
    current: dict[str, Job] = {}
    for text, (job, keys) in jobs.items():
        if cell := present.cell(job):
            run = cell.key or text
            # two names of what are the same data by now are one run: it goes by the name that it has
            if run in keys or run not in current:
                current[run] = job
    return sorted(
        current.values(),
        key=lambda job: (job.benchmark, job.dataset, job.split.label, job.method, job.variant),
    )
