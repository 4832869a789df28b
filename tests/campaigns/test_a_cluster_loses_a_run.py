"""Runs on a Dask cluster: killed workers and clients lose nothing and invent nothing, and what can't run is told.

Scheduler and workers are real processes. In these workers a run sleeps where its container would be; what a
container gives on a cluster is compared with what it gives without one in the last test.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from socket import gethostname

import pytest

from harness import api
from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.base.ownership import own_folder
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.engine import Engine
from harness.execution.bulletins import Wish, ask_to_end, bulletins
from harness.execution.cluster import open_cluster
from harness.execution.errands import own_meaning, refusal
from harness.methods.card import load_method
from harness.planning.cells import Cell
from harness.planning.jobs import make_job, on_accelerator
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan, make_plan
from harness.results.store import Store, join
from harness.splits.spec import parse_split
from tests.campaigns.machines import Machines, until
from tests.campaigns.on_a_cluster import Notes, attempts, campaign, check, plan_with, verdicts
from tests.campaigns.sleeping import HOLD
from tests.conftest import REPOSITORY
from tests.core.factories import planned_job
from tests.fabricate import plan_of, planned_of, run_plan


def test_workers_that_are_killed_lose_and_invent_nothing(machines: Machines, here: Layout) -> None:
    plan, moments, kills = plan_with(40), random.Random(15), 0
    machines.add(count=4, seconds=0.5)
    notes: list[Notes] = []
    thread = threading.Thread(target=lambda: notes.append(campaign(machines, here, plan)))
    thread.start()
    while thread.is_alive():
        wanted = len(attempts(here)) + moments.randint(5, 8)
        until(lambda wanted=wanted: len(attempts(here)) >= wanted or not thread.is_alive())  # type: ignore[misc]
        if kills < 3 and thread.is_alive():
            machines.kill(moments.randrange(len(machines.workers)))
            kills += 1
        thread.join(timeout=0.05)
    assert kills == 3
    (told,) = notes
    lost = int(told.notes[-1].partition(" lost with their worker")[0].rpartition(" ")[2])
    repeated = sum(attempts(here).values()) - 40
    # a worker may be killed after it said that it begins, and before it did
    assert 0 < repeated <= lost <= 2 * kills, "runs were repeated that nobody had lost"
    check(here, plan)


def test_a_campaign_that_is_drained_finishes_what_had_begun(machines: Machines, here: Layout) -> None:
    plan, hold = plan_with(30), here.local / HOLD
    machines.add(count=2)
    # nothing ends before it was asked to, however slow this machine is
    hold.touch()
    thread = threading.Thread(target=campaign, args=(machines, here, plan))
    thread.start()
    until(lambda: len(attempts(here)) == 4)
    until(lambda: any(one.underway for one in bulletins(here).values()))
    (told,) = bulletins(here).values()
    assert told.on == machines.address and {*told.nodes, *(one.host for one in told.underway)} == {gethostname()}
    ask_to_end(here, told.name, Wish.DRAIN)
    until(lambda: any((here.local / "work").glob("*/*-enough")))
    hold.unlink()
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert len(attempts(here)) == 4
    assert verdicts(here, plan) == {Verdict.OK: 4, Verdict.PENDING: 26}
    campaign(machines, here, plan)
    check(here, plan)
    assert set(attempts(here).values()) == {1}


@pytest.mark.thorough
def test_a_client_that_is_killed_comes_back_and_finds_what_was_made(machines: Machines, here: Layout) -> None:
    plan = plan_with(24)
    machines.add(seconds=0.3)
    words = [sys.executable, "-c", _CLIENT, machines.address, str(here.local)]
    client = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, cwd=REPOSITORY)
    until(lambda: len(list(Store(here.runs).finished())) >= 3)
    client.send_signal(signal.SIGKILL)
    client.wait()
    before = set(Store(here.runs).finished())
    assert 3 <= len(before) < 24
    campaign(machines, here, plan)
    check(here, plan)
    assert all(attempts(here)[key] == 1 for key in before), "what was made was made again"


_CLIENT = """
import sys
from dataclasses import replace
from pathlib import Path
from harness.base.layout import Layout
from harness.execution import campaign as module, cluster
from tests.campaigns.sleeping import MEANING
from tests.campaigns.on_a_cluster import campaign, plan_with
from tests.conftest import REPOSITORY

class There:
    address = sys.argv[1]

module.own_meaning = cluster.own_meaning = lambda: MEANING
local = Path(sys.argv[2])
campaign(There, Layout(root=REPOSITORY, cache=local.parent / "cache", local=local), plan_with(24))
"""


def test_a_person_who_stops_waits_for_nothing_and_resumes(machines: Machines, here: Layout) -> None:
    plan, stop = plan_with(12), threading.Event()
    machines.add(seconds=5)

    def stop_early() -> None:
        until(lambda: len(attempts(here)) >= 2)
        stop.set()

    timer = threading.Thread(target=stop_early)
    timer.start()
    began = time.monotonic()
    campaign(machines, here, plan, stop)
    timer.join()
    assert time.monotonic() - began < 30
    assert verdicts(here, plan) == {Verdict.INTERRUPTED: 2, Verdict.PENDING: 10}
    machines.kill(0)
    machines.add(seconds=0.01)
    campaign(machines, here, plan)
    assert verdicts(here, plan) == {Verdict.OK: 12}


def test_two_clients_on_one_plan_make_each_run_once(machines: Machines, here: Layout) -> None:
    plan = plan_with(16)
    machines.add()
    other = threading.Thread(target=campaign, args=(machines, here, plan))
    other.start()
    campaign(machines, here, plan)
    other.join()
    check(here, plan)
    assert set(attempts(here).values()) == {1}


def test_a_fault_of_one_run_is_its_own_and_is_told(machines: Machines, here: Layout) -> None:
    jobs = [planned_job(seed) for seed in (12, 13, 14)]
    plan = Plan("made up", tuple(Cell(planned.job, planned) for planned in jobs))
    machines.add()
    campaign(machines, here, plan)
    assert [cell.verdict for cell in join(plan, Store(here.runs))] == ["ok", "infrastructure", "ok"]
    assert "ValueError: thirteen" in Obstacles(here.runs).all("run")[jobs[1].key]


@pytest.mark.parametrize(
    ("resources", "words"),
    [("", "no worker says how many cpus"), (None, "the cluster has no worker")],
)
def test_a_cluster_that_can_run_nothing_is_told_before_anything_starts(
    machines: Machines, here: Layout, resources: str | None, words: str
) -> None:
    if resources is not None:
        machines.add(resources)
    with pytest.raises(EngineError, match=words) as refused:
        campaign(machines, here, plan_with(1))
    assert f'dask worker {machines.address} --nthreads 8 --memory-limit 0 --resources "cpus=8 GiB=30"' in (
        refused.value.todo
    )
    assert not Store(here.runs).log.lines()


def test_a_run_that_fits_no_worker_is_told_before_anything_starts(machines: Machines, here: Layout) -> None:
    machines.add("cpus=2 GiB=0.01")
    notes = campaign(machines, here, plan_with(2))
    (note,) = (note for note in notes.notes if note.startswith("constant/published needs"))
    assert note.endswith("; the largest worker lends 2 CPUs, 0.0 GiB of memory and 0 GPUs")
    assert verdicts(here, plan_with(2)) == {Verdict.INFRASTRUCTURE: 2} and not attempts(here)


@pytest.mark.thorough
def test_a_scheduler_that_is_killed_ends_the_command_and_keeps_what_was_made(here: Layout, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    machines, plan = Machines(tmp_path), plan_with(40)
    try:
        machines.add(seconds=0.5)

        def kill_early() -> None:
            until(lambda: len(list(Store(here.runs).finished())) >= 2)
            machines.scheduler.kill()

        killer = threading.Thread(target=kill_early)
        killer.start()
        with pytest.raises(EngineError, match="the scheduler does not answer any more") as refused:
            campaign(machines, here, plan)
        killer.join()
    finally:
        machines.close()
    assert refused.value.exit_code == 3 and "the same command resumes" in refused.value.todo
    assert 2 <= verdicts(here, plan)[Verdict.OK] < 40


def on_gpu(layout: Layout, count: int) -> Plan:
    """Made-up runs of a method that computes on a GPU."""
    card, manifest = load_method(layout, "mlp"), load_manifest(layout, "synthetic_ddi")
    jobs = [make_job(card, manifest, parse_split("random", seed)) for seed in range(1, count + 1)]
    return make_plan(layout, "on a GPU", on_accelerator(layout, jobs, "cuda"), make_splits=True)


def test_a_run_that_needs_a_gpu_waits_for_a_worker_that_lends_one(machines: Machines, here: Layout) -> None:
    plan = on_gpu(here, 1)
    machines.add("cpus=4 GiB=60")
    notes = campaign(machines, here, plan)
    assert "mlp/published needs" in notes.notes[0] and "1 GPU; the largest worker lends" in notes.notes[0]
    assert not attempts(here)
    machines.add("cpus=4 GiB=60 GPU=1")
    assert "1 runs" in campaign(machines, here, plan).notes[-1]
    assert verdicts(here, plan) == {Verdict.OK: 1}


def test_a_gpu_is_lent_to_one_run_at_a_time(machines: Machines, here: Layout) -> None:
    machines.add("cpus=4 GiB=60 GPU=1", seconds=0.5)
    began = time.monotonic()
    campaign(machines, here, on_gpu(here, 4))
    assert time.monotonic() - began > 4 * 0.5


def test_nobody_at_an_address_is_an_error_of_the_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    monkeypatch.setattr("harness.execution.cluster._CONNECT_S", 1.0)
    address = "tcp://127.0.0.1:9"
    with pytest.raises(EngineError, match="no Dask scheduler answers"), open_cluster(address, logs=tmp_path):
        pass


def test_without_dask_the_lock_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EngineError) as refused, open_cluster("dask", logs=tmp_path):
        pass
    assert (
        "requirements/cluster.lock" in refused.value.todo and (REPOSITORY / "requirements/cluster.lock").is_file()
    )


def test_another_harness_or_another_folder_is_refused_by_a_worker(tmp_path: Path) -> None:
    wanted = own_folder(tmp_path) / "wanted"
    assert refusal(wanted, own_meaning()) == ""
    assert "another harness" in refusal(wanted, "0" * 64)
    assert "is not seen there" in refusal(tmp_path / "elsewhere" / "wanted", own_meaning())


@pytest.mark.engine
def test_a_record_of_a_cluster_is_that_of_this_machine(layout: Layout, engine: Engine, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    plan = plan_of(layout, ["constant", "popularity"], (1, 2))
    run_plan(layout, plan, engine)
    there = replace(layout, local=tmp_path / "there")
    assert api.run(plan, on="dask", progress=None, repository=api.Repository(there)).is_good
    local, remote = Store(layout.runs), Store(there.runs)
    for cell in plan.cells:
        ours, theirs = (store.record(planned_of(cell).key) for store in (local, remote))
        names = [name for name in ours.files if name.endswith(".npy")]
        assert names and {name: ours.files[name] for name in names} == {name: theirs.files[name] for name in names}
        fields = {"resources", "files", "started", "finished", "order"}
        assert ours.model_dump(exclude=fields) == theirs.model_dump(exclude=fields)
    assert sorted(remote.finished()) == sorted(local.finished())
    assert not list((there.local / "work").glob("*/wanted-*"))
