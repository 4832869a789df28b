"""Killing anything at any time costs only the runs in flight: nothing is lost, nothing false is gained."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.base.ownership import LABEL_HARNESS, abandoned_folders
from harness.base.vocabulary import Verdict
from harness.engine import Engine, find_engine
from harness.engine.find import serve_docker
from harness.engine.orphans import remove_orphans
from harness.execution.campaign import Choices, left_to_run
from harness.execution.runs import watch
from harness.images import ensure_image
from harness.planning.obstacles import FOLDER as OBSTACLES
from harness.results.records import RECORD_FILE
from harness.results.store import Store, join
from tests.campaigns.conftest import probe_plan
from tests.fabricate import run_plan
from tests.private_engine import UNCLOSED, containerd_of, pid_of, private_cache, served, shims_of

__all__ = ["private_cache", "served"]
pytestmark = pytest.mark.engine

_KILLS = (8, pytest.param(100, marks=pytest.mark.thorough))
_KILLS_OF_ENGINES = (6, pytest.param(60, marks=pytest.mark.thorough))


def _campaign(layout: Layout, count: int, seconds: float) -> None:
    with find_engine(layout) as engine:
        run_plan(layout, probe_plan(layout, count, seconds=seconds), engine)


def _verdicts(layout: Layout, count: int, seconds: float = 0.0) -> list[Verdict]:
    return [cell.verdict for cell in join(probe_plan(layout, count, seconds=seconds), Store(layout.runs))]


def _predictions(layout: Layout, count: int, seconds: float = 0.0) -> list[bytes]:
    store = Store(layout.runs)
    keys = [cell.planned.key for cell in probe_plan(layout, count, seconds=seconds).cells if cell.planned]
    return [(store.path(key) / "predictions.npy").read_bytes() for key in keys]


@pytest.mark.parametrize("wanted_kills", _KILLS)
def test_a_harness_killed_many_times_loses_and_invents_nothing(
    probe_layout: Layout, engine: Engine, tmp_path: Path, wanted_kills: int
) -> None:
    """kill -9 at random moments, before, during and after runs; each store is finished afterwards.

    A moment is drawn in finished runs and fractions of one, so that kills fall into all phases on any machine.
    """
    count, moments = 8, random.Random(100)
    context = _context()
    undisturbed = replace(probe_layout, local=tmp_path / "undisturbed")
    began = time.monotonic()
    _campaign(undisturbed, count, 0.0)
    one_run = 2 * (time.monotonic() - began) / count
    expected = _predictions(undisturbed, count)
    kills = in_flight = stored = rounds = 0
    while kills < wanted_kills:
        layout = replace(probe_layout, local=tmp_path / f"round-{rounds}")
        store, seen = Store(layout.runs), set[str]()
        while len(seen) < count and kills < wanted_kills:
            process = context.Process(target=_campaign, args=(layout, count, 0.0))
            process.start()
            wanted = len(seen) + moments.choice((0, 1, 1))
            while process.is_alive() and len(list(store.finished())) < wanted:
                time.sleep(0.005)
            process.join(timeout=moments.uniform(0, one_run))
            if process.is_alive():
                assert process.pid is not None
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.join()
            in_flight += bool(_containers(engine, layout))
            finished = set(store.finished())
            assert seen <= finished, "a finished run was lost"
            for key in finished - seen:
                record = store.record(key)
                store.check(record)
                assert record.verdict is Verdict.OK
            stored += len(finished - seen)
            seen = finished
        _campaign(layout, count, 0.0)
        assert _verdicts(layout, count) == [Verdict.OK] * count
        assert _predictions(layout, count) == expected
        assert not [path for path in layout.runs.rglob(".*") if path.is_dir() and path.name != OBSTACLES]
        assert abandoned_folders(layout.local / "work") == [] == _containers(engine, layout)
        rounds += 1
    assert stored >= wanted_kills // 3, "too little was finished between the kills for anything to be lost"
    assert in_flight >= wanted_kills // 3, "too few kills fell into a run"


def _context() -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        [
            "harness.execution.campaign",
            "harness.benchmarks.repurposing.splits.folds",
            "docker",
            "sklearn.model_selection",
        ]
    )
    return context


def _campaign_on(cache: Path, layout: Layout, count: int, seconds: float) -> None:
    """A campaign on the engine of that cache; where even that cannot be found again, a person starts anew.

    In a process of its own, where no engine is waited for as long as a person would have to.
    """
    watch._PATIENCE = 4.0
    vars(import_module("harness.execution.runs.execute"))["_PAUSES_OF_ENGINES"] = (0.2, 2.0)
    try:
        engine = serve_docker(cache, {})
        assert engine is not None
        with engine:
            run_plan(layout, probe_plan(layout, count, seconds=seconds), engine)
    except EngineError as error:
        sys.exit(str(error))


def _victims(served: Engine, harness: int | None) -> dict[str, list[int]]:
    """What there is to kill; an engine that is being started again may not be there."""
    try:
        engine = pid_of(served)
        os.kill(engine, 0)
        containerd = containerd_of(served)
    except (OSError, ValueError):
        return {"harness": [harness] if harness else [], "engine": [], "containerd": [], "shim": []}
    return {
        "harness": [harness] if harness else [],
        "engine": [engine],
        "containerd": [containerd] if containerd else [],
        "shim": shims_of(served),
    }


@pytest.mark.alone
@UNCLOSED
@pytest.mark.parametrize("wanted_kills", _KILLS_OF_ENGINES)
def test_harness_and_engine_killed_many_times_lose_and_invent_nothing(
    probe_layout: Layout,
    docker_engine: Engine,
    served: Engine,
    private_cache: Path,
    tmp_path: Path,
    wanted_kills: int,
) -> None:
    """kill -9 of the harness, the engine, its containerd and a shim, at random moments and in random order.

    Between two kills there is hardly time for a run. Each store must be finished by campaigns nobody disturbs.
    """
    count, seconds, moments = 6, 0.3, random.Random(60)
    image = ensure_image(docker_engine, probe_layout, "probe")
    served.api.load_image(docker_engine.api.get_image(image.name))
    undisturbed = replace(probe_layout, local=tmp_path / "undisturbed")
    context, kills, rounds, kinds = _context(), Counter[str](), 0, list[str]()

    def campaign(layout: Layout) -> ForkServerProcess:
        process = context.Process(target=_campaign_on, args=(private_cache, layout, count, seconds))
        process.start()
        return process

    campaign(undisturbed).join()
    expected = _predictions(undisturbed, count, seconds)
    while kills.total() < wanted_kills:
        layout = replace(probe_layout, local=tmp_path / f"round-{rounds}")
        store = Store(layout.runs)
        began = kills.total()
        while kills.total() < wanted_kills and kills.total() < began + 20:
            process = campaign(layout)
            while process.is_alive() and kills.total() < wanted_kills:
                kinds = kinds or moments.sample(("harness", "engine", "containerd", "shim"), 4)
                process.join(timeout=moments.uniform(0.1, 0.9))
                if not process.is_alive():
                    break
                victims = _victims(served, process.pid)
                # while an engine starts again, there is only the harness to kill
                kind = next((one for one in kinds if victims[one]), "harness")
                with suppress(ProcessLookupError):
                    os.kill(moments.choice(victims[kind]), signal.SIGKILL)
                    kills[kind] += 1
                    kinds = [one for one in kinds if one != kind]
            process.kill()
            process.join()
            for key in store.finished():
                record = store.record(key)
                store.check(record)
                assert record.verdict is Verdict.OK or not record.verdict.is_final, record.reason
            if _verdicts(layout, count, seconds) == [Verdict.OK] * count:
                break
        for _ in range(3):
            if _verdicts(layout, count, seconds) != [Verdict.OK] * count:
                campaign(layout).join()
        assert _verdicts(layout, count, seconds) == [Verdict.OK] * count
        assert _predictions(layout, count, seconds) == expected
        served.renew()
        remove_orphans(served)
        assert _containers(served, layout) == []
        rounds += 1
    assert min(kills.values()) >= wanted_kills // 20, kills


def _containers(engine: Engine, layout: Layout) -> list[str]:
    """The containers of harnesses, dead or alive, that work in this layout."""
    found = engine.client.api.containers(all=True, filters={"label": LABEL_HARNESS})
    return [one["Id"] for one in found if one["Labels"][LABEL_HARNESS].startswith(f"{layout.local}/")]


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
    stopped = []

    def stop_after_one() -> None:
        while not list(store.finished()):
            time.sleep(0.1)
        stopped.append(time.monotonic())
        stop.set()

    threading.Thread(target=stop_after_one, daemon=True).start()
    run_plan(probe_layout, plan, engine, choices=Choices(workers=1), stop=stop)
    assert time.monotonic() - stopped[0] < 15
    verdicts = [cell.verdict for cell in join(plan, store)]
    assert verdicts.count(Verdict.INTERRUPTED) <= 1
    assert Verdict.PENDING in verdicts
    assert len(left_to_run(join(plan, store))) < 6, "what had finished before the stop is kept"
    run_plan(probe_layout, plan, engine)
    assert [cell.verdict for cell in join(plan, store)] == [Verdict.OK] * 6


def test_nothing_runs_twice(probe_layout: Layout, engine: Engine) -> None:
    plan = probe_plan(probe_layout, 2)
    store = Store(probe_layout.runs)
    run_plan(probe_layout, plan, engine)
    before = {key: (store.path(key) / RECORD_FILE).read_bytes() for key in store.finished()}
    assert left_to_run(join(plan, store)) == []
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
    assert len(left_to_run(join(plan, store))) == 1
    run_plan(probe_layout, plan, engine)
    store.check(store.record(key))
    assert store.standing(key).verdict is Verdict.OK
