"""Replay: run a random sample of stored runs again, in fresh containers: the same verdict, the same bits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness import benchmarks
from harness.audit.results import OF_THE_MACHINE, compare_metrics
from harness.audit.steps import Checked, Lack, Step, failed, not_checked, ok
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.base.machine import hardware
from harness.base.vocabulary import Verdict
from harness.benchmarks.measures import Measurement
from harness.benchmarks.order import PUBLISHED, new_order
from harness.engine import Engine
from harness.execution.campaign import mark_unstable
from harness.execution.runs import Outcome
from harness.execution.tasks import Task, run_in_container
from harness.images import Supply, ensure_image
from harness.images.export import held_trees
from harness.images.identity import combined
from harness.results.learning import RUNS, Likeness, Metrics, compare_orders, order_free
from harness.results.records import Record
from harness.results.reference import ReferenceResult
from harness.results.scoring import Scores, compute_scores
from harness.results.store import Store
from harness.results.truth import truth_of

# A failure of the method's own comes again, like its predictions.
_FAILURES = (Verdict.ERROR, Verdict.MEMORY, Verdict.TIMEOUT, Verdict.INVALID)
_MACHINE = ("architecture", "cpus", "memory_bytes")
_ORDER = "order"
# What a chain tells of a run that was made again, in its own order and in others.
REPLAY_STEPS = frozenset({"replay", _ORDER})


def sample_of(keys: Iterable[str], count: int, seed: int) -> list[str]:
    """`count` of the keys, the same ones for the same seed."""
    every = sorted(keys)
    return sorted(random.Random(seed).sample(every, min(count, len(every))))


def replay_sample(verdicts: Mapping[str, Verdict], count: int, seed: int) -> list[str]:
    """`count` of the runs: half of them failed ones, as far as there are so many of each."""
    well = [key for key, verdict in verdicts.items() if verdict is Verdict.OK]
    badly = [key for key, verdict in verdicts.items() if verdict in _FAILURES]
    failures = sample_of(badly, max(count // 2, count - len(well)), seed)
    return sorted([*failures, *sample_of(well, count - len(failures), seed)])


def replay_run(
    layout: Layout, store: Store, engine: Engine, record: Record, mirrors: Sequence[Path]
) -> list[Step]:
    """Run one stored job again: in its own order, and if that is the published one, in others.

    Other predictions in its own order make the stored run `unstable`.
    """
    task = _task_of(layout, engine, record, mirrors)
    if isinstance(task, Step):
        return [task]

    def compare(outcome: Outcome) -> Step:
        return _compared(task, outcome, compute_scores(layout, store, record.planned, mirrors), "")

    with run_in_container(task, engine) as run:
        steps = [judge_replay(store, record, run.outcome, mark=mark_unstable, compare=compare)]
    if steps[0].checked is Checked.OK and record.verdict is Verdict.OK and record.order == PUBLISHED:
        steps.append(
            replay_reordered(task, engine, compute_scores(layout, store, record.planned, mirrors).metrics)
        )
    return steps


def replay_entry(
    layout: Layout, store: Store, engine: Engine, entry: ReferenceResult, mirrors: Sequence[Path] = ()
) -> list[Step]:
    """Run the job of a reference result here: the same files must come out, and the same scores from them."""
    record = entry.record
    task = _task_of(layout, engine, record, mirrors)
    if isinstance(task, Step):
        return [task]

    def compare(outcome: Outcome) -> Step:
        if entry.scores is None:
            return failed("scores", "the reference result has none to compare", where=entry.where)
        return _compared(task, outcome, entry.scores, entry.where)

    with run_in_container(task, engine) as run:
        steps = [judge_replay(store, record, run.outcome, mark=lambda _, same, __: same, compare=compare)]
        if steps[0].checked is Checked.OK and entry.scores is not None:
            steps.append(compare(run.outcome))
    if all(step.checked is Checked.OK for step in steps) and entry.scores and record.order == PUBLISHED:
        steps.append(replay_reordered(task, engine, entry.scores.metrics))
    return steps


def _compared(task: Task, outcome: Outcome, kept: Scores, where: str) -> Step:
    """The scores of a repetition's answer beside those of the run."""
    measurement = _measured(task, outcome)
    scores = replace(kept, metrics=measurement.metrics, series=measurement.series)
    return compare_metrics(scores.every, kept.every, where)


def _measured(task: Task, outcome: Outcome) -> Measurement:
    truth = truth_of(task.layout, task.planned.job, task.mirrors)
    return truth.measure(truth.read(outcome.out_folder))


def _task_of(layout: Layout, engine: Engine, record: Record, mirrors: Sequence[Path]) -> Task | Step:
    """The task of a run once more, or a broken link where its image does not hold the trees of the run.

    No receipt is believed: the image is read back.
    """
    image = ensure_image(engine, layout, record.planned.job.method, supply=Supply(mirrors))
    trees = held_trees(engine, layout, image.image_id)
    if (found := combined(trees.environment_tree, trees.code_tree)) != record.planned.image_tree:
        return failed(
            "replay",
            f"{image.name} does not hold the trees of the run: read back whole, it is another image",
            expected=record.planned.image_tree,
            found=found,
            where=image.image_id,
        )
    before = record.resources.get("wall_s")
    return Task(layout, record.planned, image, tuple(mirrors), order=record.order, expected_s=before)


def judge_replay(
    store: Store,
    record: Record,
    outcome: Outcome,
    *,
    mark: Callable[[Store, Record, str], Record],
    compare: Callable[[Outcome], Step],
) -> Step:
    """Compare a repetition with the stored run. Where a good run does not come again, that is recorded beside it.

    On another processor last bits may differ: then `compare`, of the scores of both, decides.
    A failed run that does not come again was perhaps never the method's failure; it is left as it is, so that a
    person who asks for it again gets an answer.
    """
    if outcome.verdict in (Verdict.INFRASTRUCTURE, Verdict.INTERRUPTED):
        return not_checked("replay", f"the repetition ended as '{outcome.verdict}': {outcome.reason}", Lack.ENGINE)
    if outcome.verdict is not record.verdict:
        reason = f"a repetition ended as '{outcome.verdict}': {outcome.reason}"
        if {outcome.verdict, record.verdict} & OF_THE_MACHINE and not _same_machine(record, outcome):
            return not_checked("replay", f"another machine than that of the run, and {reason}", Lack.MACHINE)
        expected, found = f"{record.verdict}: {record.reason}", f"{outcome.verdict}: {outcome.reason}"
        if record.verdict is Verdict.OK:
            mark(store, record, reason)
        else:
            reason += f"; ask for the run once more (harness run --again {record.verdict})"
        return failed("replay", reason, expected=expected, found=found)
    if record.verdict is not Verdict.OK:
        return ok("replay", f"run again in a fresh container: ended as '{record.verdict}' again", outcome.reason)
    # bit for bit; times and memory in method.json may differ
    names = benchmarks.get(record.planned.job.benchmark).compared_files
    digests = record.answer
    if not digests:
        return failed("replay", "the record names no file of an answer: nothing can be compared")
    paths = [path for name in names if (path := outcome.out_folder / name).is_file()]
    repeat = {path.name: sha256_of(path) for path in paths}
    for name in names:
        if digests.get(name) != repeat.get(name):
            may_differ = record.hardware != hardware() and digests.keys() == repeat.keys()
            if may_differ and compare(outcome).checked is Checked.OK:
                why = "another processor than that of the run, or it is not known"
                return not_checked("replay", f"another {name}, and every score came again: {why}", Lack.MACHINE)
            mark(store, record, f"a repetition gave another {name}")
            return failed(
                "replay", f"another {name}", expected=digests.get(name, "-"), found=repeat.get(name, "-")
            )
    return ok("replay", f"run again in a fresh container: {', '.join(digests)} equal bit for bit")


def _same_machine(record: Record, outcome: Outcome) -> bool:
    """Whether the stored run and its repetition had the same kind of machine, as far as their engines tell."""
    here = outcome.engine.as_json()
    return all(record.engine.get(name) == here[name] for name in _MACHINE)


def replay_reordered(task: Task, engine: Engine, metrics: Metrics) -> Step:
    """Run a task in other orders than the published one, in which it scored `metrics`."""
    published = order_free(task.planned.job.benchmark, metrics)
    if not published:
        return not_checked(_ORDER, "the run has no score that could depend on the order of items", lack=None)
    others: list[Metrics] = []
    while len(others) < RUNS:
        with run_in_container(replace(task, order=new_order()), engine) as run:
            verdict = run.outcome.verdict
            if verdict in (Verdict.ERROR, Verdict.INVALID):
                return failed(_ORDER, f"in another order it ended as '{verdict}': {run.outcome.reason}")
            if verdict is not Verdict.OK:
                return not_checked(_ORDER, f"in another order it ended as '{verdict}': {run.outcome.reason}")
            others.append(_measured(task, run.outcome).metrics)
        if likeness := compare_orders(published, others):
            return _step(likeness)
    raise AssertionError("so many runs decide")


def _step(likeness: Likeness) -> Step:
    if likeness.alike is None:
        return not_checked(_ORDER, likeness.what)
    if likeness.alike:
        return ok(_ORDER, likeness.what, likeness.found)
    return failed(_ORDER, likeness.what, expected=likeness.expected, found=likeness.found)
