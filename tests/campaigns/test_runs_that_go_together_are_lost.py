"""Short runs go to a worker several at a time: a worker that is lost with them loses and invents nothing.

Scheduler and workers are real processes. A run sleeps where its container would be.
"""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution.bulletins import Wish, ask_to_end, bulletins
from harness.execution.desk import _Desk
from harness.execution.line import Turn
from tests.campaigns.machines import Machines, until
from tests.campaigns.on_a_cluster import Notes, attempts, campaign, check, plan_with, verdicts

_RUNS = 120


@pytest.fixture(autouse=True)
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs went together, each time."""
    sizes, hand_out = list[int](), _Desk._hand_out

    def note(self: _Desk, turns: list[Turn], meant_for: list[str]) -> None:
        sizes.append(len(turns))
        hand_out(self, turns, meant_for)

    monkeypatch.setattr(_Desk, "_hand_out", note)
    return sizes


def test_they_are_made_once_each_and_fewer_go_together_towards_the_end(
    machines: Machines, here: Layout, sizes: list[int]
) -> None:
    plan = plan_with(_RUNS)
    machines.add(seconds=0.01)
    notes = campaign(machines, here, plan)
    check(here, plan)
    assert set(attempts(here).values()) == {1} and f"{_RUNS} runs" in notes.notes[-1]
    assert sum(sizes) == _RUNS and sizes[0] == _RUNS // 16 and sizes[-1] == 1 and len(sizes) < _RUNS / 2


def test_a_worker_that_is_lost_with_several_loses_and_invents_nothing(machines: Machines, here: Layout) -> None:
    plan, told = plan_with(_RUNS), list[Notes]()
    machines.add(seconds=0.3)
    thread = threading.Thread(target=lambda: told.append(campaign(machines, here, plan)))
    thread.start()
    # in the middle of what was handed out first
    until(lambda: len(attempts(here)) >= 5)
    machines.kill(0)
    machines.add(seconds=0.01, count=2)
    thread.join(timeout=120)
    assert not thread.is_alive(), "the campaign does not end"
    check(here, plan)
    (notes,) = told
    lost = int(notes.notes[-1].partition(" lost with their worker")[0].rpartition(" ")[2])
    # only the two that were at work were begun and lost; what was made before is found
    assert sum(attempts(here).values()) - _RUNS <= lost <= 2
    assert max(Counter(attempts(here)).values()) <= 2 and " 0 found in the store" not in notes.notes[-1]


@pytest.mark.thorough
def test_a_sick_node_fails_one_of_each_and_leaves_the_others(
    machines: Machines, here: Layout, sizes: list[int]
) -> None:
    plan = plan_with(_RUNS)
    machines.add(seconds=0.05)
    machines.add(seconds=0.01, before=("env", "PERMAFROST_TEST_SICK=1"))
    notes = campaign(machines, here, plan)
    check(here, plan)
    failed = sum(attempts(here).values()) - _RUNS
    # two at a time, and two that wait there
    assert 1 <= failed <= 8 and max(sizes) >= 3
    assert all(step.startswith("ok: ") for step in notes.steps) and len(notes.steps) == _RUNS


@pytest.mark.thorough
def test_those_that_have_not_begun_do_not_begin_when_it_is_enough(machines: Machines, here: Layout) -> None:
    plan = plan_with(_RUNS)
    machines.add(seconds=1.0)
    thread = threading.Thread(target=campaign, args=(machines, here, plan))
    thread.start()
    until(lambda: len(attempts(here)) >= 4 and any(one.underway for one in bulletins(here).values()))
    (told,) = bulletins(here).values()
    assert len(told.underway) <= 2, "one that waits for those before it is called at work"
    ask_to_end(here, told.name, Wish.DRAIN)
    thread.join(timeout=60)
    assert not thread.is_alive()
    begun = len(attempts(here))
    assert 4 <= begun < 12
    assert verdicts(here, plan) == {Verdict.OK: begun, Verdict.PENDING: _RUNS - begun}
