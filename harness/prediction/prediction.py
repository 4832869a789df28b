"""Fit methods on all that is known, and lay what they say of the rest side by side. Runs are kept as evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import benchmarks
from harness.base.errors import DataError, HarnessError
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.base.progress import Progress
from harness.base.vocabulary import Verdict
from harness.benchmarks.new_item import extension_of, kind_of
from harness.benchmarks.reading import Reading, reading_of
from harness.data import load_dataset, load_manifest
from harness.engine import Engine
from harness.execution.campaign import Choices, run_cells
from harness.planning.cells import Cell
from harness.planning.jobs import Job
from harness.planning.plan import make_plan
from harness.prediction.participants import Participant, Participation
from harness.prediction.request import PredictionRequest
from harness.prediction.rows import Item, Opinion, RankedRows, Row, Shape, entries_of, rows_of, ties
from harness.results.store import Store, join
from harness.results.truth import Truth, truth_of
from harness.splits import load_split, split_digest

_READ = "see the reasons, and the logs where there are any; or name other methods"


@dataclass(frozen=True)
class PredictingMethod:
    """One method of a prediction: why it is in this variant, what speaks against believing it, its run."""

    method: str
    variant: str
    reason: str
    remarks: tuple[str, ...]
    key: str
    # when its run ended, and which version of the harness made it
    finished: str = ""
    harness: str = ""

    @property
    def name(self) -> str:
        """`bnnr/published`."""
        return f"{self.method}/{self.variant}"


@dataclass(frozen=True)
class Prediction:
    """Ranked rows, best first, and all that a person must know to read them."""

    benchmark: str
    request: PredictionRequest
    title: str
    # what the methods learned from, such as made-up drugs
    summary: str
    methods: tuple[PredictingMethod, ...]
    # what scores and columns say, and who does not take part
    meaning: tuple[str, ...]
    table: RankedRows
    # whether rows without a rank say what is known of things that were named
    has_known: bool = False
    # what became of methods that did not answer, in words
    failures: tuple[str, ...] = ()

    @property
    def dataset(self) -> str:
        """What was asked about, without what a person brought."""
        return self.request.dataset

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.table.columns

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows: ranked ones, then what is known."""
        return self.table.rows


def predict(
    layout: Layout,
    engine: Engine,
    request: PredictionRequest,
    participation: Participation,
    *,
    mirrors: Sequence[Path],
    progress: Progress,
) -> Prediction:
    """Run what was not run before, and rank what was asked for."""
    members = participation.members
    # what a plan would note as missing data is an error here
    split_digest(layout, members[0].job.dataset, members[0].job.split, mirrors)
    if not participation.selection.names_known_things:
        # of what was named it is told what is known
        refuse_nothing(layout, members[0].job, mirrors)
    plan = make_plan(layout, "predict", [member.job for member in members], mirrors=mirrors)
    store = Store(layout.runs)
    joined = join(plan, store, records=True)
    run_cells(layout, joined, engine, choices=Choices(mirrors=tuple(mirrors)), progress=progress, name=plan.name)
    finished, failures = _finished(members, join(plan, store, records=True))
    if not finished:
        raise HarnessError("\n       ".join(_failures(failures)), where="harness predict", todo=_READ)
    truth = truth_of(layout, members[0].job, mirrors)
    reading = reading_of(members[0].job.benchmark, truth.dataset)
    names = [member.name for member, _ in finished]
    with activity(f"ranking what {counted(len(names), 'method')} answered"):
        answers, shape = _answers(store, finished, truth, reading, participation, both_orders=request.both_orders)
        table = rows_of(names, answers, shape, participation.selection, request.top)
    manifest = load_manifest(layout, request.dataset)
    newcomers = _newcomers(truth, reading, answers)
    methods = [
        PredictingMethod(
            member.card.name,
            member.variant,
            member.reason,
            (*member.remarks, *_remarks(member, answer, newcomers, manifest.benchmark)),
            cell.key or "",
            str(cell.record.get("finished", "")),
            str(cell.record.get("harness_version", "")),
        )
        for (member, cell), answer in zip(finished, answers, strict=True)
    ]
    meaning = [*reading.meaning, *_rules(len(finished), table, shape, participation)]
    meaning += [*participation.left_out, *_failures(failures)]
    return Prediction(
        manifest.benchmark,
        request,
        manifest.title,
        manifest.summary,
        tuple(methods),
        tuple(meaning),
        table,
        participation.selection.names_known_things,
        tuple(_failures(failures)),
    )


Result = tuple[Participant, Cell]


def refuse_nothing(layout: Layout, job: Job, mirrors: Sequence[Path] = ()) -> None:
    """Refuse a job that asks nothing, before an image is built for it and a method learns for hours."""
    split = load_split(layout, job.dataset, job.split, mirrors)
    if split.test:
        return
    # a benchmark may ask about what is no item of the dataset
    form, dataset = benchmarks.get(job.benchmark).form, load_dataset(layout, job.dataset, mirrors=mirrors)
    if faults := form.broken_promises(split, dataset):
        raise DataError(
            f"{faults[0]}: all is known that could be asked",
            where=f"dataset {job.dataset}",
            todo="name what you ask about, something of your own or of the dataset: docs/predicting.md",
        )


def _finished(members: Sequence[Participant], cells: Sequence[Cell]) -> tuple[list[Result], list[Result]]:
    """Who answered, and who did not."""
    every = [*zip(members, cells, strict=True)]
    good = [one for one in every if one[1].verdict is Verdict.OK and one[1].planned is not None]
    return good, [one for one in every if one not in good]


def _failures(failures: Sequence[Result]) -> list[str]:
    """Who does not take part, why, and what shows more."""
    return [
        f"{member.name} does not take part: its run ended as '{cell.verdict}': {cell.reason}"
        + (f" (harness show {cell.key[:12]} --log)" if cell.key and cell.record else "")
        for member, cell in failures
    ]


def _answers(
    store: Store,
    finished: Sequence[Result],
    truth: Truth,
    reading: Reading,
    participation: Participation,
    *,
    both_orders: bool,
) -> tuple[list[dict[Item, Opinion]], Shape]:
    """What each method says of each item, and the shape of their rankings."""
    answers: list[dict[Item, Opinion]] = []
    for _, cell in finished:
        ranking = truth.ranking(truth.read(store.path(cell.key or "")), None)
        shape = Shape(ranking.columns, reading, both_orders)
        answers.append(entries_of(ranking, shape, participation.selection))
    return answers, shape


def _newcomers(truth: Truth, reading: Reading, answers: Sequence[dict[Item, Opinion]]) -> dict[str, int]:
    """Of each kind how many of the listed things occur in nothing that is known."""
    if not reading.known or benchmarks.part(truth.job.benchmark, "extension") is None:
        return {}
    known = {name for names, _ in reading.known for name in names}
    listed = {name for answer in answers for entry in answer.values() for name in entry.names}
    kinds = extension_of(truth.job.benchmark).KINDS
    names = {word: truth.dataset.names[kind.lists[0]] for word, kind in kinds.items() if kind.lists}
    counts = {word: len(listed & {*own} - known) for word, own in names.items()}
    return {word: count for word, count in counts.items() if count}


def _remarks(
    member: Participant, answer: Mapping[Item, Opinion], newcomers: Mapping[str, int], benchmark: str
) -> Iterator[str]:
    """What only the answers show."""
    for word, count in newcomers.items():
        inputs = {*kind_of(benchmark, word).inputs}
        if inputs and not inputs & {*member.card.inputs}:
            things = counted(count, word)
            yield f"reads nothing of a new {word}: its scores say nothing of {things} without anything known"
    if tied := ties(answer):
        yield f"{tied} of {len(answer)} rows share their score with another: the order among them says nothing"


def _rules(count: int, table: RankedRows, shape: Shape, participation: Participation) -> Iterator[str]:
    """What the columns say."""
    among = f"among all {counted(table.among, 'row')} that were asked"
    if count == 1 and participation.selection.names_known_things:
        yield f"overall rank: {among}; equal scores share the middle of their ranks."
    if count > 1:
        yield (
            f"consensus: the mean over {count} methods of the rank {among}, from 0 (first) to 1 (last). Equal "
            "scores share the middle of their ranks; rows that a method does not list share its last ones. "
            "disagreement: the largest of these ranks less the smallest."
        )
        if shape.reading.answers:
            names = " and ".join(shape.reading.answers)
            yield (
                f"{names}: what most methods answer; where as many answer otherwise, what the method named first "
                "answers. agreeing: how many methods answer so."
            )
    if participation.selection.names_known_things:
        yield "known: what the data say of the things that were named; such rows stand below, without a rank."
    for own, name in participation.selection.stands_for.items():
        yield (
            f"{name}: its unknown pairs can't be asked as they are, so '{own}' was asked: something new of which "
            f"all is known but its pairs. The known pairs of {name} were learned from under its own name."
        )
