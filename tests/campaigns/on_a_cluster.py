"""A campaign of made-up runs on workers that sleep where a container would be, and what came of it."""

from __future__ import annotations

import threading
from collections import Counter

from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.base.vocabulary import Verdict
from harness.execution.campaign import run_cells_on
from harness.execution.cluster import open_cluster
from harness.planning.cells import Cell
from harness.planning.plan import Plan
from harness.proof.leaves import Event
from harness.proof.results import ResultSet, faults_of
from harness.results.digests import stored_results
from harness.results.store import Store, join
from tests.campaigns.machines import Machines
from tests.campaigns.sleeping import ATTEMPTS
from tests.core.factories import planned_job


class Notes(Silent):
    def __init__(self) -> None:
        self.notes, self.steps = list[str](), list[str]()

    def note(self, text: str) -> None:
        self.notes.append(text)

    def step(self, text: str) -> None:
        self.steps.append(text)


def plan_with(count: int) -> Plan:
    jobs = [planned_job(seed) for seed in range(100, 100 + count)]
    return Plan("made up", tuple(Cell(planned.job, planned) for planned in jobs))


def campaign(machines: Machines, layout: Layout, plan: Plan, stop: threading.Event | None = None) -> Notes:
    notes = Notes()
    with open_cluster(machines.address, logs=layout.local) as cluster:
        joined = join(plan, Store(layout.runs), records=True)
        run_cells_on(cluster, layout, joined, progress=notes, stop=stop, name=plan.name)
    return notes


def verdicts(layout: Layout, plan: Plan) -> Counter[Verdict]:
    return Counter(cell.verdict for cell in join(plan, Store(layout.runs)))


def attempts(layout: Layout) -> Counter[str]:
    path = layout.local / ATTEMPTS
    return Counter(path.read_text().split()) if path.is_file() else Counter()


def check(layout: Layout, plan: Plan) -> None:
    """All is stored once, whole, and as the log says."""
    store = Store(layout.runs)
    assert verdicts(layout, plan) == {Verdict.OK: len(plan.cells)}
    for key in store.finished():
        store.check(store.record(key))
    records = Counter(leaf.key for leaf in store.log.leaves() if leaf.kind is Event.RECORD)
    assert records == dict.fromkeys((cell.key for cell in plan.cells), 1)
    assert not list(
        faults_of(store.log.leaves(), ResultSet("", layout.local, stored_results(store, layout.scores)))
    )
