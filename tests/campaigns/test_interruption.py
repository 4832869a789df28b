"""Killing anything at any time costs only the runs in flight: nothing is lost, nothing false is gained."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from harness.campaign import Choices, left_to_run, run_plan
from harness.engine import Engine, find_engine
from harness.layout import Layout
from harness.obstacles import FOLDER as OBSTACLES
from harness.ownership import LABEL_HARNESS
from harness.plan import join
from harness.records import RECORD_FILE
from harness.store import Store
from harness.vocabulary import Verdict
from tests.campaigns.conftest import probe_plan

pytestmark = pytest.mark.engine

_KILLS = 100


def _campaign(layout: Layout, count: int, seconds: float) -> None:
    with find_engine(layout) as engine:
        run_plan(layout, probe_plan(layout, count, seconds=seconds), engine)


def _verdicts(layout: Layout, count: int, seconds: float = 0.0) -> list[Verdict]:
    return [cell.verdict for cell in join(probe_plan(layout, count, seconds=seconds), Store(layout.runs))]


def _predictions(layout: Layout, count: int) -> list[bytes]:
    store = Store(layout.runs)
    keys = [cell.planned.key for cell in probe_plan(layout, count).cells if cell.planned]
    return [(store.path(key) / "predictions.npy").read_bytes() for key in keys]


def test_a_harness_killed_a_hundred_times_loses_and_invents_nothing(
    probe_layout: Layout, engine: Engine, tmp_path: Path
) -> None:
    """kill -9 at a hundred random moments, then one run to the end: all there, all equal to an undisturbed run."""
    count = 40
    moments = random.Random(100)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["harness.campaign", "harness.splits.folds", "docker", "sklearn.model_selection"]
    )
    seen_finished: set[str] = set()
    store = Store(probe_layout.runs)
    for _ in range(_KILLS):
        process = context.Process(target=_campaign, args=(probe_layout, count, 0.0))
        process.start()
        process.join(timeout=moments.uniform(0.05, 0.9))
        if process.is_alive():
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        finished = set(store.finished())
        assert seen_finished <= finished, "a finished run was lost"
        for key in finished - seen_finished:
            record = store.record(key)
            store.check(record)
            assert record.verdict is Verdict.OK
        seen_finished = finished
    _campaign(probe_layout, count, 0.0)
    assert _verdicts(probe_layout, count) == [Verdict.OK] * count
    undisturbed = Layout(root=probe_layout.root, cache=probe_layout.cache, local=tmp_path / "undisturbed")
    _campaign(undisturbed, count, 0.0)
    assert _predictions(probe_layout, count) == _predictions(undisturbed, count)
    assert not [path for path in probe_layout.runs.rglob(".*") if path.is_dir() and path.name != OBSTACLES]
    mine = str(probe_layout.local)
    containers = engine.client.api.containers(all=True, filters={"label": LABEL_HARNESS})
    assert not [one for one in containers if mine in one["Labels"][LABEL_HARNESS]]


def test_two_harnesses_on_one_store_do_not_disturb_each_other(probe_layout: Layout, engine: Engine) -> None:
    count = 8
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_campaign, args=(probe_layout, count, 0.0)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert _verdicts(probe_layout, count) == [Verdict.OK] * count
    store = Store(probe_layout.runs)
    for key in store.finished():
        store.check(store.record(key))


def test_stopping_ends_the_containers_and_the_rest_resumes(probe_layout: Layout, engine: Engine) -> None:
    plan = probe_plan(probe_layout, 6, seconds=3.0)
    store = Store(probe_layout.runs)
    stop = threading.Event()
    threading.Timer(4.5, stop.set).start()
    began = time.monotonic()
    run_plan(probe_layout, plan, engine, choices=Choices(workers=1), stop=stop)
    assert time.monotonic() - began < 15
    verdicts = [cell.verdict for cell in join(plan, store)]
    assert verdicts.count(Verdict.INTERRUPTED) <= 1
    assert Verdict.PENDING in verdicts
    assert len(left_to_run(plan, store)) < 6, "what had finished before the stop is kept"
    run_plan(probe_layout, plan, engine)
    assert [cell.verdict for cell in join(plan, store)] == [Verdict.OK] * 6


def test_nothing_runs_twice(probe_layout: Layout, engine: Engine) -> None:
    plan = probe_plan(probe_layout, 2)
    store = Store(probe_layout.runs)
    run_plan(probe_layout, plan, engine)
    before = {key: (store.path(key) / RECORD_FILE).read_bytes() for key in store.finished()}
    assert left_to_run(plan, store) == []
    run_plan(probe_layout, plan, engine)
    assert {key: (store.path(key) / RECORD_FILE).read_bytes() for key in store.finished()} == before


def test_a_damaged_record_is_run_again(probe_layout: Layout, engine: Engine) -> None:
    plan = probe_plan(probe_layout, 1)
    store = Store(probe_layout.runs)
    run_plan(probe_layout, plan, engine)
    (key,) = store.finished()
    path = store.path(key) / RECORD_FILE
    content = json.loads(path.read_text())
    content["verdict"] = "error"
    path.write_text(json.dumps(content))
    assert len(left_to_run(plan, store)) == 1
    run_plan(probe_layout, plan, engine)
    store.check(store.record(key))
    assert store.standing(key).verdict is Verdict.OK
