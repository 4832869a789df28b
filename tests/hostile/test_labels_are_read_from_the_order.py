"""Mask, training labels, seed and order tell the test labels: no container knows the seed, nor the order."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.audit import audit_runs, to_text
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.repurposing.splits.seeds import published_seeds
from harness.conformance import self_test
from harness.engine import Engine
from harness.execution.tasks import Task, perform
from harness.execution.trials import InContainers
from harness.images import ensure_image
from harness.methods.card import load_method
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import make_plan
from harness.results.records import Record
from harness.results.scoring import score_run
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.fabricate import table_of

pytestmark = pytest.mark.engine
SEED = published_seeds()[0]
AUC = "AUC/as-defined"
KEEPS_ORDER = 'published_order = "It says so."\n'


def _planned(layout: Layout, dataset: str) -> PlannedJob:
    job = Job(
        benchmark="repurposing",
        method="order_reader",
        dataset=dataset,
        split=SplitSpec(strategy="random", seed=SEED),
        options={"inner_folds": 0},
    )
    planned = make_plan(layout, "hostile", [job]).cells[0].planned
    assert planned is not None
    return planned


def _run(layout: Layout, engine: Engine, dataset: str) -> tuple[Record, float]:
    planned = _planned(layout, dataset)
    record = perform(Task(layout, planned, ensure_image(engine, layout, "order_reader")), engine)
    assert record.verdict is Verdict.OK, record.reason
    score = score_run(layout, Store(layout.runs), planned).metrics[AUC]
    assert score is not None
    return record, score


def test_in_a_secret_order_nothing_is_read(
    probe_layout: Layout, engine: Engine, order_reader: Callable[..., None], two_classes: str
) -> None:
    order_reader()
    record, score = _run(probe_layout, engine, two_classes)
    assert score < 0.65
    assert len(record.order) == 32
    document = json.loads((Store(probe_layout.runs).path(record.key) / "job.json").read_text())
    assert document["seed"] == record.planned.job.fit_seed
    assert document["seed"] not in published_seeds()
    assert str(SEED) not in json.dumps(document)
    report = audit_runs(probe_layout, [record.key], engine=engine, replay=1)
    assert (report.passed, report.failed) == (1, 0), to_text(report)


def test_a_method_that_keeps_its_order_is_marked_and_found(
    probe_layout: Layout, engine: Engine, order_reader: Callable[..., None], two_classes: str
) -> None:
    order_reader(card=KEEPS_ORDER)
    record, score = _run(probe_layout, engine, two_classes)
    assert score > 0.9
    assert record.order == ""
    plan = make_plan(probe_layout, "hostile", [record.planned.job])
    (group,) = table_of(probe_layout, plan).groups
    assert group.title == "order_reader °"
    report = audit_runs(probe_layout, [record.key], engine=engine, replay=1)
    (audit,) = report.audits
    assert [step.name for step in audit.steps if step.checked == "FAILED"] == ["order"]
    assert "labels are read from it" in to_text(report)


@pytest.mark.thorough
def test_the_self_test_finds_it(probe_layout: Layout, engine: Engine, order_reader: Callable[..., None]) -> None:
    order_reader()
    card = load_method(probe_layout, "order_reader")
    failed = {one.check for one in self_test(card, InContainers(probe_layout, engine)) if not one.passed}
    assert "learns" in failed
    honest = load_method(probe_layout, "popularity")
    assert all(one.passed for one in self_test(honest, InContainers(probe_layout, engine)))
