"""Runs of methods that find their items in the published order are made again in secret ones: do they learn?"""

from __future__ import annotations

from dataclasses import replace

from harness.audit.steps import Step, failed, not_checked, ok
from harness.base.vocabulary import Verdict
from harness.benchmarks.order import new_order
from harness.engine import Engine
from harness.execution.tasks import Task, run_in_container
from harness.results.learning import RUNS, Likeness, Metrics, compare_orders, order_free
from harness.results.truth import truth_of

_NAME = "order"


def replay_reordered(task: Task, engine: Engine, metrics: Metrics) -> Step:
    """Run a task in other orders than the published one, in which it scored `metrics`."""
    published = order_free(task.planned.job.benchmark, metrics)
    if not published:
        return not_checked(_NAME, "the run has no score that could depend on the order of items")
    others: list[Metrics] = []
    while len(others) < RUNS:
        with run_in_container(replace(task, order=new_order()), engine) as run:
            verdict = run.outcome.verdict
            if verdict in (Verdict.ERROR, Verdict.INVALID):
                return failed(_NAME, f"in another order it ended as '{verdict}': {run.outcome.reason}")
            if verdict is not Verdict.OK:
                return not_checked(_NAME, f"in another order it ended as '{verdict}': {run.outcome.reason}")
            truth = truth_of(task.layout, task.planned.job, task.mirrors)
            others.append(truth.measure(truth.read(run.outcome.out_folder)).metrics)
        if likeness := compare_orders(published, others):
            return _step(likeness)
    raise AssertionError("so many runs decide")


def _step(likeness: Likeness) -> Step:
    if likeness.alike is None:
        return not_checked(_NAME, likeness.what)
    if likeness.alike:
        return ok(_NAME, likeness.what, likeness.found)
    return failed(_NAME, likeness.what, expected=likeness.expected, found=likeness.found)
