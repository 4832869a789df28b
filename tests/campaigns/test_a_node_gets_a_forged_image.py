"""The mirror that all nodes see holds a forged image: a node refuses it, says so, and runs nothing.

Scheduler and workers are real processes, and each worker has a real engine: one of the test's own, which is empty,
and the one of this machine, which has the image.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.campaign import Choices, run_cells_on
from harness.execution.cluster import open_cluster
from harness.images.handover import hand_over
from harness.images.identity import image_name
from harness.planning.plan import Plan
from harness.results.store import Store, join
from tests.campaigns.machines import Machines
from tests.campaigns.on_a_cluster import Notes
from tests.fabricate import plan_of
from tests.images.test_a_loaded_image_is_another import METHOD, forge, ids
from tests.private_engine import UNCLOSED, private_cache, served

__all__ = ["private_cache", "served"]


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    machines = Machines(tmp_path)
    try:
        yield machines
    finally:
        machines.close()


def _campaign(machines: Machines, layout: Layout, plan: Plan, mirror: Path) -> Notes:
    notes = Notes()
    with open_cluster(machines.address, logs=layout.local) as cluster:
        joined = join(plan, Store(layout.runs), records=True)
        run_cells_on(cluster, layout, joined, choices=Choices(mirrors=(mirror,)), progress=notes, name=plan.name)
    return notes


def _verdicts(layout: Layout, plan: Plan) -> list[tuple[Verdict, str]]:
    return [(cell.verdict, cell.reason) for cell in join(plan, Store(layout.runs))]


@pytest.mark.thorough
@pytest.mark.engine
@UNCLOSED
def test_a_node_runs_nothing_of_a_forged_image(
    served: Engine, engine: Engine, repository: Layout, tmp_path: Path, machines: Machines
) -> None:
    mirror, plan = tmp_path / "mirror", plan_of(repository, [METHOD], (1, 2))
    elsewhere = replace(repository, cache=tmp_path / "cache", local=tmp_path / "local")
    (file,) = hand_over(engine, repository, [METHOD], mirror)
    forge(served, elsewhere, file, tmp_path / "evil.tar")
    (tmp_path / "evil.tar").replace(file)
    before, began = ids(served), int(time.time())
    machines.add(sleeping=False, before=("env", f"DOCKER_HOST=unix://{served.socket}"))
    notes = _campaign(machines, elsewhere, plan, mirror)
    for verdict, reason in _verdicts(elsewhere, plan):
        assert verdict is Verdict.INFRASTRUCTURE
        assert "images were refused, and none is left of them" in reason
        assert "does not hold what its name says" in reason
    assert len(notes.steps) == 2 and all(step.startswith("infrastructure: ") for step in notes.steps)
    started = served.api.events(since=began, until=int(time.time()) + 1, filters={"event": "start"}, decode=True)
    assert list(started) == [] and not list(Store(elsewhere.runs).finished()), "something was run"
    assert ids(served) == before and served.image_id(image_name(elsewhere, METHOD)) is None
    # a second node has the image: it makes what the first can not
    machines.add(sleeping=False, before=("env", f"DOCKER_HOST=unix://{engine.socket}"))
    _campaign(machines, elsewhere, plan, mirror)
    assert [verdict for verdict, _ in _verdicts(elsewhere, plan)] == [Verdict.OK] * 2
    assert served.image_id(image_name(elsewhere, METHOD)) is None
