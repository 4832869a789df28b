"""Each worker of a cluster is examined where it is: one that can do nothing for us is asked no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from harness.base.layout import Layout
from harness.execution import cluster, errands
from harness.execution.cluster import Cluster
from harness.upkeep import Examination, State, nodes
from harness.upkeep.nodes import examine_nodes


class OneWorker:
    """A cluster whose only worker is this process."""

    def ask_each(self, question: Any, *arguments: Any) -> Iterator[tuple[str, Any]]:
        yield "tcp://worker", question(*arguments)


MACHINE = Examination("memory", State.OK, "enough")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the worker's machine was examined with."""
    calls: list[Any] = []

    def examine(_layout: Layout, mirrors: tuple[Path, ...], *, runtime: str | None) -> Iterator[Examination]:
        calls.append((mirrors, runtime))
        yield MACHINE

    monkeypatch.setattr(nodes, "examine", examine)
    return calls


def examined(layout: Layout, **named: Any) -> list[Examination]:
    ((address, checks),) = examine_nodes(cast(Cluster, OneWorker()), layout, (Path("/m"),), **named)
    assert address == "tcp://worker"
    return checks


def test_a_worker_that_sees_the_same_is_examined_as_this_machine_is(layout: Layout, asked: list[Any]) -> None:
    worker, clock, machine = examined(layout, runtime="runsc")
    assert worker == Examination("worker", State.OK, "the same harness, and it sees the folder of results")
    assert clock == Examination("clock", State.OK, "no more than 5 s from that of this command")
    assert machine == MACHINE and asked == [((Path("/m"),), "runsc")]
    assert examined(layout)[2] == MACHINE and asked[1][1] is None


def test_a_worker_that_was_lost_meanwhile_is_told(layout: Layout) -> None:
    class Lost:
        def ask_each(self, *_: object) -> Iterator[tuple[str, Any]]:
            yield "tcp://gone", None

    ((address, (check,)),) = examine_nodes(cast(Cluster, Lost()), layout)
    assert (address, check.state) == ("tcp://gone", State.FAIL) and "lost while it was examined" in check.detail


@pytest.mark.parametrize(("ahead", "detail"), [(60.0, "60 s ahead"), (-60.0, "60 s behind")])
def test_a_clock_that_leads_astray_is_warned_of(
    layout: Layout, asked: list[Any], ahead: float, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # beside what dates files, a client and its worker here have one clock
    times = iter((0.0, ahead))
    monkeypatch.setattr(cluster, "clock_beside", lambda _: next(times))
    monkeypatch.setattr(errands, "clock_beside", lambda _: next(times))
    clock = examined(layout)[1]
    assert (clock.name, clock.state, clock.detail) == ("clock", State.WARN, detail)
    assert "let both machines keep their time" in clock.todo and asked


@pytest.mark.parametrize(
    ("ahead", "state"), [(5.0, State.OK), (-5.0, State.OK), (5.5, State.WARN), (-5.5, State.WARN)]
)
def test_a_clock_is_judged_at_its_bounds(ahead: float, state: State) -> None:
    assert nodes._clock(ahead).state is state


def test_a_worker_of_another_harness_is_asked_no_more(
    layout: Layout, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    meanings = iter(("ours", "theirs"))
    monkeypatch.setattr(nodes, "own_meaning", lambda: next(meanings))
    (check,) = examined(layout)
    assert (check.name, check.state) == ("worker", State.FAIL) and check.detail
    assert "start it in the same tree" in check.todo and asked == []


def test_a_worker_that_does_not_see_the_results_is_asked_no_more(
    layout: Layout, asked: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def elsewhere(_layout: Layout) -> Iterator[Path]:
        yield tmp_path / "not" / "there"

    monkeypatch.setattr(nodes, "wanted_file", elsewhere)
    (check,) = examined(layout)
    assert check.state is State.FAIL and str(tmp_path) in check.detail and asked == []
