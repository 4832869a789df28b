"""A node on which runs fail is given nothing more, others make its runs, and it is named. What fails everywhere is
no node's fault.

Scheduler and workers are real processes. A run sleeps where its container would be; a worker whose engine is sick
stores each run as failed by the machine.
"""

from __future__ import annotations

import math
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution.bulletins import bulletins
from harness.execution.cluster import Cluster
from harness.execution.errands import Course, Errand, Return
from harness.execution.health import Health
from harness.execution.line import Line, Turn
from harness.planning.budget import Share
from harness.planning.cells import Cell
from harness.planning.jobs import card_of
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan
from harness.results.store import Store
from tests.campaigns.machines import Machines, until
from tests.campaigns.on_a_cluster import Notes, attempts, campaign, check, plan_with, verdicts
from tests.campaigns.sleeping import HOLD
from tests.conftest import REPOSITORY
from tests.core.factories import planned_job

_SICK = ("env", "PERMAFROST_TEST_SICK=1")


def _clock(shift: str) -> tuple[str, ...]:
    """A command whose clock is wrong, and does not date files: that is the kernel's, as it would be a server's."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        pytest.skip("needs libfaketime")
    return (
        "env",
        f"LD_PRELOAD={library}",
        f"FAKETIME={shift}",
        "NO_FAKE_STAT=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
    )


def test_three_runs_in_a_row_that_others_make_show_a_worker_as_ill() -> None:
    health = Health()
    for key in "abc":
        assert health.can_work("w1")
        health.failed("w1", key, f"no {key}")
    assert not health.can_work("w1") and not health.ill, (
        "it is given more before anybody knows whose failures they are"
    )
    assert [health.went_well("w2", key) for key in "abc"] == [[], [], ["w1"]]
    assert health.ill == {"w1": "3 runs in a row failed there and were made by others: no c"}
    assert health.went_well("w1", "d") == [] and not health.can_work("w1"), "one that is ill is well again"
    assert health.can_work("w2")


def test_a_run_that_goes_well_ends_the_row() -> None:
    health = Health()
    for key in "abcdef":
        health.failed("w1", key, "x")
        health.went_well("w2", key)
        if key in "bd":
            health.went_well("w1", f"{key}2")
    assert not health.ill and health.can_work("w1")


def test_runs_that_fail_everywhere_are_no_workers_fault() -> None:
    health = Health()
    for key in "abcd":
        for worker in ("w1", "w2"):
            health.failed(worker, key, "x")
    assert not health.can_work("w1") and not health.can_work("w2")
    for key in "abcd":
        health.is_settled(key)
    assert health.can_work("w1") and health.can_work("w2") and not health.ill
    # what is known of a worker stays known when its run is settled
    for key in "efg":
        health.failed("w1", key, "x")
        health.went_well("w2", key)
        health.is_settled(key)
    assert set(health.ill) == {"w1"}


def test_a_refusal_shows_it_at_once() -> None:
    health = Health()
    assert health.refused("w1", "another harness") and not health.refused("w1", "still another")
    assert health.ill == {"w1": "another harness"} and not health.can_work("w1")


def _errands(*seconds: float | None, method: str = "constant") -> list[Errand]:
    return [
        Errand(SimpleNamespace(), planned_job(seed, method), Path("w"), "", expected_s=one)  # type: ignore[arg-type]
        for seed, one in enumerate(seconds)
    ]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The share that each method needs, by its name."""
    shares = {"constant": Share(1, 1), "bnnr": Share(4, 1)}
    monkeypatch.setattr(Turn, "share", property(lambda turn: shares[turn.errand.planned.job.method]))


def _taken(line: Line, most: int) -> list[list[float | None]]:
    taken = []
    while line:
        taken.append([turn.errand.expected_s for turn in line.take(most)])
    return taken


@pytest.mark.usefixtures("small")
def test_errands_are_taken_together_if_all_are_short() -> None:
    assert _taken(Line(_errands(20.0, 20.0, 20.0, 20.0)), 9) == [[20.0, 20.0, 20.0], [20.0]]
    assert _taken(Line(_errands(20.0, 20.0, 20.0)), 2) == [[20.0, 20.0], [20.0]]
    assert _taken(Line(_errands(20.0, 20.0)), 0) == [[20.0], [20.0]]
    assert _taken(Line(_errands(30.0, 30.5)), 9) == [[30.0], [30.5]], "more than a minute"
    assert _taken(Line(_errands(20.0, 900.0, 5.0, None, 5.0)), 9) == [[20.0], [900.0], [5.0], [None], [5.0]]
    mixed = [*_errands(1.0), *_errands(2.0, method="bnnr"), *_errands(3.0)]
    assert _taken(Line(mixed), 9) == [[1.0], [2.0], [3.0]], "one needs more than its worker was asked for"


@pytest.mark.usefixtures("small")
def test_an_errand_that_had_a_turn_is_first_and_alone() -> None:
    line = Line(_errands(1.0, 2.0, 3.0, 4.0))
    (lost,) = line.take()
    lost.times = 1
    line.again(lost)
    assert line.first() is lost and [turn.errand.expected_s for turn in line.take(9)] == [1.0]
    line.later(lost)
    assert _taken(line, 9) == [[2.0, 3.0, 4.0], [1.0]], "later is after all others"
    line = Line(_errands(1.0, 2.0))
    line.later(lost)
    line.close()
    assert not line
    line.again(lost)
    assert _taken(line, 9) == [[1.0]], "who comes back to a closed line brings nobody with them"


def test_a_turn_knows_what_it_needs_and_what_came_back_last() -> None:
    layout = Layout(root=REPOSITORY, cache=Path("none"), local=Path("none"))
    (errand,) = (replace(one, layout=layout) for one in _errands(1.0, method="nimcgcn"))
    turn = Turn(errand)
    assert turn.share == Share.of(card_of(layout, errand.planned.job).resources) != Share(1, 1)
    assert (turn.times, turn.begun, turn.tried, turn.back) == (0, 0, {}, None)
    for worker in "ab":
        turn.tried[worker] = Return(Course.RUN, worker=worker)
    assert turn.back == Return(Course.RUN, worker="b")


def _begin(machines: Machines, layout: Layout, plan: Plan) -> tuple[threading.Thread, list[Any]]:
    told = list[Any]()

    def begin() -> None:
        try:
            told.append(campaign(machines, layout, plan))
        except EngineError as error:
            told.append(error)

    thread = threading.Thread(target=begin)
    thread.start()
    return thread, told


def _ended(thread: threading.Thread) -> None:
    thread.join(timeout=120)
    assert not thread.is_alive(), "the campaign does not end"


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, on which there is no room."""
    folder = tmp_path / "full"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        with suppress(OSError), (folder / "rest").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1024))
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def _with_an_ill_node(machines: Machines, layout: Layout, before: tuple[str, ...], words: str) -> Notes:
    """A second node joins, on which every run fails: the campaign goes on to its end, and names it."""
    plan, hold = plan_with(48), layout.local / HOLD
    machines.add(seconds=0.5)
    # the first node waits until the second has failed, however long it takes to join
    hold.touch()
    thread, told = _begin(machines, layout, plan)
    until(lambda: len(attempts(layout)) == 2)
    (healthy,) = machines.addresses()
    machines.add(seconds=0.01, before=before)
    (worker,) = machines.addresses() - {healthy}

    def is_known() -> bool:
        return any(one.ill for one in bulletins(layout).values())

    until(lambda: sum(attempts(layout).values()) >= 2 + 3 or is_known())
    hold.unlink()
    until(lambda: is_known() or not thread.is_alive())
    shown = [one.text() for one in bulletins(layout).values()]
    _ended(thread)
    (notes,) = told
    assert isinstance(notes, Notes), notes
    check(layout, plan)
    assert all(step.startswith("ok: ") for step in notes.steps) and len(notes.steps) == 48
    assert f"worker {worker} is given nothing more: " in shown[0] and words in shown[0]
    last = notes.notes[-1]
    assert "48 runs" in last and " 0 lost with their worker" in last
    assert f"worker {worker} is given nothing more" in last and words in last and last.count("nothing more") == 1
    return notes


@pytest.mark.thorough
def test_a_node_whose_engine_is_sick_is_left_out_and_named(machines: Machines, here: Layout) -> None:
    notes = _with_an_ill_node(machines, here, _SICK, "3 runs in a row failed there and were made by others")
    failed = sum(attempts(here).values()) - 48
    # three, and as many as the scheduler holds for two workers of two threads
    assert 3 <= failed <= 3 + 8, "it is given more than it had when it was known"
    assert sum("failed on" in note and "is tried elsewhere" in note for note in notes.notes) == failed


def test_a_node_whose_disk_is_full_is_left_out_and_named(
    machines: Machines, here: Layout, full_disk: Path
) -> None:
    _with_an_ill_node(machines, here, ("env", f"PERMAFROST_TEST_DISK={full_disk}"), "No space left on device")


@pytest.mark.thorough
def test_a_node_of_an_older_harness_that_joins_late_runs_nothing(machines: Machines, here: Layout) -> None:
    _with_an_ill_node(machines, here, ("env", "PERMAFROST_TEST_OLD=1"), "another harness than the client's")
    assert set(attempts(here).values()) == {1}


@pytest.mark.parametrize(
    ("shift", "words"),
    [("+2d", "48.0 h ahead of"), ("-400d", "9600.0 h behind")],
)
@pytest.mark.thorough
def test_a_node_with_a_wrong_clock_runs_nothing(machines: Machines, here: Layout, shift: str, words: str) -> None:
    """An audit would find its records in the future, and for ever after in a wrong order."""
    _with_an_ill_node(machines, here, _clock(shift), f"its clock is {words} the client's")
    assert set(attempts(here).values()) == {1}


def test_a_wrong_clock_is_told_before_anything_starts(machines: Machines, here: Layout) -> None:
    machines.add(before=_clock("+2d"))
    with pytest.raises(EngineError, match=r"its clock is 48\.0 h ahead of the client's") as refused:
        campaign(machines, here, plan_with(2))
    assert refused.value.where.startswith("worker tcp://") and "keep their time" in refused.value.todo
    assert not Store(here.runs).log.lines()


def test_a_clock_that_is_minutes_off_disturbs_nothing(machines: Machines, here: Layout) -> None:
    plan = plan_with(16)
    machines.add(seconds=0.1)
    for shift in ("-5m", "+5m"):
        machines.add(seconds=0.1, before=_clock(shift))
    notes = campaign(machines, here, plan)
    check(here, plan)
    assert set(attempts(here).values()) == {1} and "nothing more" not in notes.notes[-1]
    times = {leaf.at[:16] for leaf in Store(here.runs).log.leaves()}
    assert len(times) >= 2, "no other clock was there"


@pytest.mark.thorough
def test_why_a_node_refused_a_run_is_kept_until_another_makes_it(
    machines: Machines, here: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only node that is left is of an older harness: the command ends, and says so."""
    monkeypatch.setattr("harness.execution.cluster._WORKERLESS_S", 2.0)
    plan = plan_with(60)
    machines.add(seconds=1.0)
    thread, told = _begin(machines, here, plan)
    until(lambda: len(attempts(here)) >= 2)
    (healthy,) = machines.addresses()
    machines.add(before=("env", "PERMAFROST_TEST_OLD=1"))
    (worker,) = machines.addresses() - {healthy}
    until(lambda: any(one.ill for one in bulletins(here).values()))
    machines.kill(0)
    _ended(thread)
    (error,) = told
    assert isinstance(error, EngineError) and error.exit_code == 3
    assert (
        "no worker is left that can run anything" in error.what
        and f"worker {worker}: another harness" in error.what
    )
    assert error.where == f"--on {machines.address}" and "harness doctor --on" in error.todo
    counts = verdicts(here, plan)
    refused = Obstacles(here.runs).all("run")
    assert counts[Verdict.OK] >= 2 and counts.keys() <= {Verdict.OK, Verdict.INFRASTRUCTURE, Verdict.PENDING}
    assert refused and all(
        f"worker {worker} on " in reason and "another harness" in reason for reason in refused.values()
    )
    assert counts[Verdict.INFRASTRUCTURE] == len(refused.keys() - set(Store(here.runs).finished()))
    machines.kill(0)
    machines.add()
    campaign(machines, here, plan)
    check(here, plan)


def test_runs_that_fail_on_every_node_are_their_methods(machines: Machines, here: Layout) -> None:
    plan = plan_with(40)
    machines.add(seconds=0.05, before=_SICK, count=3)
    notes = campaign(machines, here, plan)
    assert any("3 failures in a row with constant" in note for note in notes.notes)
    assert "nothing more" not in notes.notes[-1], "a node is called ill for what a method does"
    assert 2 <= max(attempts(here).values()) <= 3, "each is tried elsewhere, and nowhere twice"
    assert verdicts(here, plan).keys() == {Verdict.INFRASTRUCTURE, Verdict.PENDING}


def test_several_methods_that_fail_on_every_node_end_the_command(machines: Machines, here: Layout) -> None:
    jobs = [planned_job(seed, method) for seed in (1, 2) for method in ("constant", "popularity")]
    machines.add(before=_SICK, count=2)
    with pytest.raises(EngineError, match="several methods failed in a row, wherever they were tried") as refused:
        campaign(machines, here, Plan("made up", tuple(Cell(planned.job, planned) for planned in jobs)))
    assert refused.value.exit_code == 3 and "harness doctor --on" in refused.value.todo


@pytest.mark.thorough
def test_a_run_whose_other_node_is_lost_is_tried_on_the_next(machines: Machines, here: Layout) -> None:
    """It was meant for that node alone, and the scheduler would keep it for ever."""
    plan = plan_with(4)
    machines.add(seconds=0.05, before=_SICK)
    (sick,) = machines.addresses()
    machines.add(seconds=60.0)
    thread, told = _begin(machines, here, plan)
    until(lambda: len(attempts(here)) == 4)
    # two are made by the second node, and those that failed on the first wait there
    time.sleep(3)
    machines.kill(1)
    machines.add(seconds=0.05)
    _ended(thread)
    (notes,) = told
    assert isinstance(notes, Notes), notes
    check(here, plan)
    assert sick in machines.addresses()


def test_a_queue_has_time_as_long_as_one_of_its_workers_may_be_well() -> None:
    queue, other = (Cluster(SimpleNamespace(), "x", most) for most in (2, None))
    assert [queue.patience_s(ill) for ill in (0, 1, 2)] == [math.inf, math.inf, 60.0]
    assert [other.patience_s(ill) for ill in (0, 1)] == [60.0, 60.0]


def test_a_run_that_only_an_ill_node_could_make_keeps_nobody_waiting(machines: Machines, here: Layout) -> None:
    small = plan_with(12)
    planned = planned_job(99)
    large = planned.model_copy(update={"job": planned.job.model_copy(update={"method": "nimcgcn"})})
    plan = replace(small, cells=(*small.cells, Cell(large.job, large)))
    machines.add("cpus=2 GiB=2", seconds=0.3)
    machines.add("cpus=2 GiB=60", seconds=0.01, before=_SICK)
    campaign(machines, here, plan)
    counts = verdicts(here, plan)
    assert counts[Verdict.OK] == 12 and counts[Verdict.INFRASTRUCTURE] == 1
