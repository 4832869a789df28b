"""Runs on workers that a real Slurm starts: what the queue ends is run again, and is never a method's time limit.

In these workers a run sleeps where its container would be; the last test has containers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness import api
from harness.base.errors import EngineError, ManifestError, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.campaign import run_cells_on
from harness.execution.cluster import open_cluster
from harness.execution.queues import logs_of
from harness.planning.cells import Cell
from harness.planning.plan import Plan
from harness.proof.leaves import Event
from harness.results.store import Store, join
from tests.campaigns.on_a_cluster import Notes, attempts, check, plan_with, verdicts
from tests.campaigns.sleeping import MEANING
from tests.campaigns.slurm import Slurm, missing_programs
from tests.conftest import REPOSITORY
from tests.fabricate import plan_of, planned_of, run_plan

_ASKED = {
    "queue": "slurm",
    "workers": 2,
    "cpus": 2,
    "GiB": 4,
    "walltime": "00:10:00",
    "partition": "all",
    "before": ["export DASK_DISTRIBUTED__WORKER__PRELOAD=tests.campaigns.sleeping PERMAFROST_TEST_SLEEP=0.3"],
}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue: requirements/cluster.lock")
    if missing := missing_programs():
        pytest.skip(f"needs Slurm, of which this machine lacks {', '.join(missing)}")
    slurm = Slurm(tmp_path_factory.mktemp("slurm"))
    try:
        yield slurm
    finally:
        slurm.close()
        assert not slurm.processes(), "a process of Slurm, or of a job, stays"


@pytest.fixture
def here(slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    for name, text in {**slurm.environment, "PYTHONPATH": str(REPOSITORY)}.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr("harness.execution.campaign.own_meaning", lambda: MEANING)
    monkeypatch.setattr("harness.execution.cluster.own_meaning", lambda: MEANING)
    (tmp_path / "local").mkdir()
    return Layout(root=REPOSITORY, cache=tmp_path / "cache", local=tmp_path / "local")


def asked(folder: Path, **changed: object) -> Path:
    """A file for `--on`; a value of None leaves the line out."""
    path = folder / "slurm.toml"
    fields = {**_ASKED, **changed}
    path.write_text("".join(f"{name} = {_toml(value)}\n" for name, value in fields.items() if value is not None))
    return path


def _toml(value: object) -> str:
    return str(value) if isinstance(value, int) else repr(value).replace("'", '"')


def campaign(file: Path, layout: Layout, plan: Plan, stop: threading.Event | None = None) -> Notes:
    notes = Notes()
    with open_cluster(str(file), logs=logs_of(layout), stop=stop) as cluster:
        run_cells_on(
            cluster,
            layout,
            join(plan, Store(layout.runs), records=True),
            progress=notes,
            stop=stop,
            name=plan.name,
        )
    return notes


def _jobs_end(slurm: Slurm) -> bool:
    deadline = time.monotonic() + 30
    while slurm.ask("squeue", "-h", "-o", "%i"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def test_every_run_is_made_once_and_no_job_stays(slurm: Slurm, here: Layout, tmp_path: Path) -> None:
    plan = plan_with(12)
    notes = campaign(asked(tmp_path), here, plan)
    check(here, plan)
    assert set(attempts(here).values()) == {1} and "12 runs" in notes.notes[-1]
    assert _jobs_end(slurm), "workers outlive the campaign"
    assert len(list(logs_of(here).glob("permafrost-*.err"))) == 2, "what workers print is lost"


@pytest.mark.thorough
def test_a_job_that_the_queue_ends_loses_nothing(slurm: Slurm, here: Layout, tmp_path: Path) -> None:
    """As at its walltime. Another worker is asked for, and no run is called `timeout`."""
    plan, told = plan_with(2), list[Notes]()
    slow = _ASKED["before"][0].replace("SLEEP=0.3", "SLEEP=8")  # type: ignore[index]
    thread = threading.Thread(
        target=lambda: told.append(campaign(asked(tmp_path, workers=1, before=[slow]), here, plan))
    )
    thread.start()
    while len(attempts(here)) < 2:
        assert thread.is_alive()
        time.sleep(0.1)
    (first,) = slurm.jobs()
    slurm.ask("scancel", first)
    thread.join(timeout=120)
    assert verdicts(here, plan) == {Verdict.OK: 2}
    check(here, plan)
    (notes,) = told
    lost = int(notes.notes[-1].partition(" lost with their worker")[0].rpartition(" ")[2])
    assert 0 < lost == sum(attempts(here).values()) - 2


@pytest.mark.thorough
def test_a_job_that_reaches_its_walltime_is_no_timeout_of_a_method(
    slurm: Slurm, here: Layout, tmp_path: Path
) -> None:
    """Slurm's own clock ends the job, in a minute at the least. What ran is lost, and made by the next worker."""
    slow = _ASKED["before"][0].replace("SLEEP=0.3", "SLEEP=20")  # type: ignore[index]
    file = asked(tmp_path, workers=1, walltime="00:01:00", before=[slow])
    lost, plan = 0, plan_with(0)
    # Slurm looks at its clock each half minute: twelve runs, two at a time, are not made before it does.
    # One that ends the job in the moment between two runs costs none: then it is tried with twelve more
    while not lost and len(plan.cells) < 3 * 12:
        plan = plan_with(len(plan.cells) + 12)
        lost = _lost_to_the_walltime(slurm, here, file, plan)
    assert 0 < lost == sum(attempts(here).values()) - len(plan.cells)
    check(here, plan)
    assert {leaf.verdict for leaf in Store(here.runs).log.leaves() if leaf.kind is Event.RECORD} == {Verdict.OK}
    assert _jobs_end(slurm)


def _lost_to_the_walltime(slurm: Slurm, here: Layout, file: Path, plan: Plan) -> int:
    """How many runs of a campaign were lost with a job that reached its walltime."""
    before, told = set(slurm.jobs()), list[Notes]()
    thread = threading.Thread(target=lambda: told.append(campaign(file, here, plan)))
    thread.start()
    first, states = "", set[str]()
    while thread.is_alive():
        first = first or next((job for job in slurm.jobs() if job not in before), "")
        if first:
            states.update(slurm.ask("squeue", "-h", "-t", "all", "-j", first, "-o", "%T"))
        time.sleep(0.5)
    (notes,) = told
    assert "TIMEOUT" in states, "it was not the queue that ended it"
    return int(notes.notes[-1].partition(" lost with their worker")[0].rpartition(" ")[2])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"partition": "nowhere"}, "invalid partition|Invalid partition"),
        ({"directives": ["--nonsense"]}, "sbatch|nonsense"),
    ],
)
def test_what_the_queue_refuses_is_told_in_its_own_words(
    here: Layout, tmp_path: Path, changed: dict[str, object], reason: str
) -> None:
    with pytest.raises(EngineError, match=reason) as refused:
        campaign(asked(tmp_path, **changed), here, plan_with(1))
    assert refused.value.where == str(tmp_path / "slurm.toml")


def test_without_slurm_its_missing_command_is_named(
    here: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="the command sbatch is not on this machine"):
        campaign(asked(tmp_path), here, plan_with(1))


def test_a_person_need_not_wait_for_the_queue(slurm: Slurm, here: Layout, tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(1.0, stop.set).start()
    with pytest.raises(KeyboardInterrupt):
        # no node has so many processors free: the job waits for ever
        campaign(asked(tmp_path, directives=["--begin=now+1hour"]), here, plan_with(1), stop)
    assert _jobs_end(slurm), "a job stays in the queue"


def test_a_run_that_fits_no_job_is_told_before_anything_starts(here: Layout, tmp_path: Path) -> None:
    planned = planned_of(plan_with(1).cells[0])
    large = planned.model_copy(update={"job": planned.job.model_copy(update={"method": "nimcgcn"})})
    notes = campaign(asked(tmp_path, GiB=2), here, Plan("made up", (Cell(large.job, large),)))
    assert not attempts(here) and any("the largest worker lends 2 CPUs, 1.0 GiB" in note for note in notes.notes)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"queue": "cron"}, "queue"),
        ({"workers": 0}, "workers"),
        ({"GiB": 1}, "GiB"),
        ({"walltime": "a day"}, "walltime"),
        ({"cpus": None}, "cpus"),
        ({"cores": 4}, "cores"),
    ],
)
def test_a_wrong_line_is_refused_by_file_and_field(tmp_path: Path, changed: dict[str, object], field: str) -> None:
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue: requirements/cluster.lock")
    file = asked(tmp_path, **changed)
    with pytest.raises(ManifestError) as refused, open_cluster(str(file), logs=tmp_path):
        pass
    assert f"{file}: {field}: " in refused.value.where


def test_no_file_is_no_address(tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue: requirements/cluster.lock")
    with pytest.raises(UsageError, match="there is no such file"), open_cluster("none.toml", logs=tmp_path):
        pass


@pytest.mark.engine
@pytest.mark.thorough
def test_a_record_of_a_queue_is_that_of_this_machine(
    slurm: Slurm, layout: Layout, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {**slurm.environment, "PYTHONPATH": str(REPOSITORY)}.items():
        monkeypatch.setenv(name, text)
    plan = plan_of(layout, ["constant", "popularity"], (1, 2))
    run_plan(layout, plan, engine)
    there = replace(layout, local=tmp_path / "there")
    file = asked(tmp_path, workers=1, before=None)
    assert api.run(plan, on=str(file), progress=None, repository=api.Repository(there)).is_good
    assert answers(there, plan) == answers(layout, plan)


def answers(layout: Layout, plan: Plan) -> list[dict[str, str]]:
    """The checksums of each run's answer."""
    records = (Store(layout.runs).record(planned_of(cell).key) for cell in plan.cells)
    return [{name: file.sha256 for name, file in one.files.items() if name.endswith(".npy")} for one in records]
