"""What befalls a cluster from outside: a network that is cut, a disk that is full, a folder that goes away.

Scheduler and workers are real processes; the worker that is cut off is in a network namespace of its own. A run
sleeps where its container would be.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.plan import Plan
from harness.results.store import Store
from tests.campaigns.killing import besiege
from tests.campaigns.machines import Machines, until
from tests.campaigns.on_a_cluster import Notes, attempts, campaign, check, plan_with, verdicts
from tests.conftest import REPOSITORY

_HERE, _THERE = "10.213.77.1", "10.213.77.2"


class Cable:
    """A network of this machine and a namespace, which can be cut."""

    def __init__(self) -> None:
        number = os.getpid()
        self.name, self._ours, self._theirs = f"permafrost-{number}", f"pa{number}", f"pb{number}"
        self._ip("netns", "add", self.name)
        self._ip("link", "add", self._ours, "type", "veth", "peer", "name", self._theirs, "netns", self.name)
        self._ip("address", "add", f"{_HERE}/30", "dev", self._ours)
        self._ip("link", "set", self._ours, "up")
        self._ip("-n", self.name, "address", "add", f"{_THERE}/30", "dev", self._theirs)
        self._ip("-n", self.name, "link", "set", self._theirs, "up")
        self._ip("-n", self.name, "link", "set", "lo", "up")

    def cut(self) -> None:
        self._ip("link", "set", self._ours, "down")

    def heal(self) -> None:
        self._ip("link", "set", self._ours, "up")

    def remove(self) -> None:
        self._ip("link", "delete", self._ours)
        self._ip("netns", "delete", self.name)

    def _ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def cable() -> Iterator[Cable]:
    pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    if os.geteuid() or shutil.which("ip") is None:
        pytest.skip("needs root and the command ip (iproute2)")
    try:
        cable = Cable()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this machine makes no network namespace: {error.stderr.decode()}")
    try:
        yield cable
    finally:
        cable.remove()


def _begin(machines: Machines, layout: Layout, plan: Plan) -> tuple[threading.Thread, list[Notes]]:
    told = list[Notes]()
    thread = threading.Thread(target=lambda: told.append(campaign(machines, layout, plan)))
    thread.start()
    return thread, told


@pytest.mark.parametrize(
    ("cut_s", "patience"),
    # of the second cut the scheduler is less patient than it is long, as it would be with ten minutes
    [(10.0, "300s"), (15.0, "4s")],
)
@pytest.mark.thorough
def test_a_network_that_is_cut_loses_and_repeats_nothing(
    cable: Cable, here: Layout, tmp_path: Path, cut_s: float, patience: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", patience)
    machines, plan = Machines(tmp_path, host=_HERE), plan_with(24)
    try:
        machines.add(seconds=2.0)
        machines.add(seconds=2.0, before=("ip", "netns", "exec", cable.name), host=_THERE)
        thread, told = _begin(machines, here, plan)
        until(lambda: len(attempts(here)) >= 6)
        cable.cut()
        time.sleep(cut_s)
        known = machines.count()
        cable.heal()
        thread.join(timeout=90)
        assert not thread.is_alive(), "the campaign does not end"
    finally:
        machines.close()
    assert known == (2 if patience == "300s" else 1)
    check(here, plan)
    assert told
    # while its worker is cut off, what it had begun is made there: others see that in the store's claims
    assert set(attempts(here).values()) == {1}


@pytest.mark.thorough
def test_what_is_killed_again_and_again_loses_and_invents_nothing(tmp_path: Path) -> None:
    """The short one of `python -m benchmarks.kills`."""
    pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    plan = plan_with(60)
    killed = besiege(tmp_path, plan, kills=6, seed=6, seconds=1.0)
    assert killed == {"worker": 2, "scheduler": 2, "client": 2}
    check(Layout(root=REPOSITORY, cache=tmp_path / "cache", local=tmp_path / "local"), plan)


@pytest.mark.thorough
def test_a_shared_folder_that_goes_away_and_comes_back_loses_nothing(
    machines: Machines, here: Layout, tmp_path: Path
) -> None:
    disk, plan = tmp_path / "disk", plan_with(30)
    disk.mkdir()
    if subprocess.run(["mount", "--bind", disk, here.local], capture_output=True).returncode:
        pytest.skip("this machine mounts nothing")
    told = list[Exception]()

    def begin() -> None:
        try:
            campaign(machines, here, plan)
        except (OSError, EngineError) as error:
            told.append(error)

    try:
        machines.add(seconds=0.5, count=2)
        thread = threading.Thread(target=begin)
        thread.start()
        until(lambda: len(list(Store(here.runs).finished())) >= 4)
        subprocess.run(["umount", "-l", here.local], check=True)
        time.sleep(3)
        away = sorted(here.local.rglob("record.json"))
        subprocess.run(["mount", "--bind", disk, here.local], check=True)
        thread.join(timeout=60)
        assert not thread.is_alive(), "the campaign does not end"
        assert not away, "a run is stored where the folder is not"
        assert verdicts(here, plan)[Verdict.OK] >= 4
        campaign(machines, here, plan)
        check(here, plan)
    finally:
        while machines.workers:
            machines.kill(0)
        subprocess.run(["umount", "-l", here.local], check=True)


def test_a_plan_that_is_changed_while_it_runs_makes_each_run_once(machines: Machines, here: Layout) -> None:
    machines.add(seconds=0.3)
    thread, _ = _begin(machines, here, plan_with(16))
    until(lambda: len(attempts(here)) >= 4)
    campaign(machines, here, plan_with(24))
    thread.join(timeout=60)
    check(here, plan_with(24))
    assert set(attempts(here).values()) == {1}
