"""`harness doctor --on`: every worker is asked where it is, and what is not well there decides the exit code."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from harness.base.layout import Layout
from harness.cli import group
from harness.execution.cluster import open_cluster
from harness.upkeep.doctor import Examination, State
from harness.upkeep.nodes import _clock, examine_nodes
from tests.campaigns.machines import Machines
from tests.campaigns.sleeping import MEANING


def examined(machines: Machines, layout: Layout) -> dict[str, list[Examination]]:
    with open_cluster(machines.address, logs=layout.local) as cluster:
        return dict(examine_nodes(cluster, layout))


def test_every_worker_answers_for_its_machine(
    machines: Machines, here: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.upkeep.nodes.own_meaning", lambda: MEANING)
    machines.add(count=3)
    found = examined(machines, here)
    assert len(found) == 3
    for checks in found.values():
        assert [(one.name, one.state) for one in checks] == [
            ("worker", State.OK),
            ("clock", State.OK),
            ("engine", State.FAIL),
        ]
        assert checks[-1].detail == f"none for {here.local}"
    assert not list((here.local / "work").glob("wanted-*"))


def test_a_worker_of_another_harness_is_asked_nothing_else(machines: Machines, here: Layout) -> None:
    machines.add()
    ((one,),) = examined(machines, here).values()
    assert (one.name, one.state) == ("worker", State.FAIL) and "another harness" in one.detail and one.todo


@pytest.mark.parametrize(
    ("ahead", "state", "text"), [(4.9, "ok", "5 s"), (61.4, "warn", "61 s ahead"), (-7.2, "warn", "7 s behind")]
)
def test_a_clock_that_is_wrong_is_told(ahead: float, state: str, text: str) -> None:
    check = _clock(ahead)
    assert (check.state, text in check.detail, bool(check.todo)) == (state, True, state == "warn")


def test_the_worst_worker_decides_the_exit_code(monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
    pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    well, ill = Examination("engine", State.OK, "docker"), Examination("engine", State.FAIL, "none", "start one")
    hot = Examination("disk", State.FAIL, "full", "free some")
    monkeypatch.setattr("harness.cli.doctor.find_layout", lambda: layout)
    for nodes, code in (
        ({"a": [well]}, 0),
        ({"a": [well], "b": [hot]}, 1),
        ({"a": [hot], "b": [ill], "c": [well]}, 3),
    ):
        monkeypatch.setattr("harness.cli.doctor.examine_nodes", lambda *_, **__: iter(nodes.items()))  # noqa: B023
        told = CliRunner().invoke(group, ["doctor", "--on", "dask", "--json"], standalone_mode=False)
        answer = json.loads(told.stdout)
        assert (told.return_value, answer["ready"]) == (code, code == 0)
        assert {name: [one["detail"] for one in checks] for name, checks in answer["nodes"].items()} == {
            name: [one.detail for one in checks] for name, checks in nodes.items()
        }
        shown = CliRunner().invoke(group, ["doctor", "--on", "dask"], standalone_mode=False)
        assert ("to do: free some" in shown.stdout) == ("b" in nodes) and "docker" not in shown.stdout
