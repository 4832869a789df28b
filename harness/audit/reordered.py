"""Does a method learn, or does it read labels from the order of its items? It is run again in secret orders.

A method that learns scores in any order as it does in the published one, up to its own spread. One that traces a
stratified draw back to the labels, or keeps labels by the number of a row, scores so in the published order only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean, stdev

from harness import benchmark
from harness.audit.steps import Step, failed, not_checked, ok
from harness.data import load_dataset
from harness.engine import Engine
from harness.order import new_order
from harness.scoring import measure
from harness.splits import load_split
from harness.tasks import Run, Task, run_in_container
from harness.vocabulary import Verdict

Metrics = Mapping[str, float | None]

_NAME = "order"
# Runs in other orders, where the first is not close to the run that is audited.
_RUNS = 5
_CLOSE = 0.02
# Of so few values even a fair deviation is uncertain: an honest method with a deviation of 0.01 is blamed once in
# 5,000 audits, one with 0.1 once in 65; a score of 0.95 that is 0.5 in other orders is always found.
_DEVIATIONS = 4.0
# A method whose scores vary by more than this from order to order could hide anything in them.
_LARGEST_SPREAD = 0.2


def replay_reordered(task: Task, engine: Engine, metrics: Metrics) -> Step:
    """Run a task in other orders than the published one, in which it scored `metrics`."""
    known = known_metrics(task.planned.job.benchmark, metrics)
    if not known:
        return not_checked(_NAME, "the run has no score that could depend on the order of items")
    others: list[Metrics] = []
    while len(others) < _RUNS:
        with run_in_container(replace(task, order=new_order()), engine) as run:
            verdict = run.outcome.verdict
            if verdict in (Verdict.ERROR, Verdict.INVALID):
                return failed(_NAME, f"in another order it ended as '{verdict}': {run.outcome.reason}")
            if verdict is not Verdict.OK:
                return not_checked(_NAME, f"in another order it ended as '{verdict}': {run.outcome.reason}")
            others.append(_measured(task, run))
        if step := judge_order(known, others):
            return step
    raise AssertionError("so many runs decide")


def known_metrics(name: str, metrics: Metrics) -> dict[str, float]:
    """Those metrics of a run that must not depend on the order of items."""
    wanted = benchmark.get(name).ORDER_FREE_METRICS
    return {metric: value for metric in wanted if (value := metrics.get(metric)) is not None}


def judge_order(published: Mapping[str, float], others: Sequence[Metrics]) -> Step | None:
    """What the scores in other orders come to; None where more of them are needed."""
    undecided = ""
    for metric, value in published.items():
        values = [score for one in others if (score := one.get(metric)) is not None]
        if len(values) < len(others):
            return failed(_NAME, f"{metric} is {value:.4f} in the published order and undefined in another one")
        apart = abs(value - mean(values))
        if apart <= _CLOSE:
            continue
        if len(values) < _RUNS:
            return None
        spread = _DEVIATIONS * stdev(values)
        if spread > _LARGEST_SPREAD:
            undecided = f"{metric} varies by {spread:.2f} from order to order: nothing can be told from it"
        if apart > _CLOSE + spread:
            return failed(
                _NAME,
                f"{metric} depends on the order of items: it reads labels from their order",
                expected=f"{mean(values):.4f} ± {spread:.4f}, as in {len(values)} secret orders",
                found=f"{value:.4f} in the published order",
            )
    if undecided:
        return not_checked(_NAME, undecided)
    scores = ", ".join(f"{metric} {mean(one[metric] or 0.0 for one in others):.4f}" for metric in published)
    return ok(_NAME, "run again in a secret order, it scores as in the published one", scores)


def _measured(task: Task, run: Run) -> Metrics:
    job = task.planned.job
    dataset = load_dataset(task.layout, job.dataset, mirrors=task.mirrors)
    split = load_split(task.layout, job.dataset, job.split, task.mirrors)
    module = benchmark.get(job.benchmark)
    predictions = module.check_predictions(run.outcome.out_folder, module.asked(dataset, split), job.inner_folds)
    return measure(job, dataset, split, predictions).metrics
