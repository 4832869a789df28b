"""What a worker does with a run that it is asked for. A made-up run stands where a container would be."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from socket import gethostname
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import EngineError, MissingData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution import errands, parcels
from harness.execution.cluster import wanted_file
from harness.execution.errands import Course, Errand, beginnings, carry_out, enough_file, hosts_of
from harness.execution.gpus import Gpu
from harness.execution.tasks import Task
from harness.planning.budget import Budget, Share
from harness.planning.obstacles import Kind, Obstacles
from harness.results.records import Record
from harness.results.store import Store
from tests.conftest import REPOSITORY
from tests.core.factories import planned_job, put_run, record_of

Act = Callable[[Errand, threading.Event], tuple[Record, bool]]


@pytest.fixture
def errand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Errand:
    """One that is wanted."""
    monkeypatch.setattr(errands, "own_meaning", lambda: "this harness")
    layout = Layout(root=REPOSITORY, cache=tmp_path / "cache", local=tmp_path / "local")
    (layout.local / "work").mkdir(parents=True)
    wanted = layout.local / "work" / "wanted-1"
    wanted.write_text("0.0")
    return Errand(layout, planned_job(), wanted, "this harness")


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Callable[[Act], None]:
    """An act in place of the container."""
    return lambda act: monkeypatch.setattr(errands, "attempt_here", act)


def made(errand: Errand, verdict: Verdict = Verdict.OK) -> Record:
    return record_of(errand.planned, verdict).model_copy(update={"resources": {"wall_s": 7.5}})


def never(errand: Errand, stop: threading.Event) -> Any:
    raise AssertionError("it was run")


@pytest.mark.parametrize(("is_ours", "course"), [(True, Course.RUN), (False, Course.DUPLICATE)])
def test_a_run_comes_back_in_few_words(
    errand: Errand, pretend: Callable[[Act], None], is_ours: bool, course: Course
) -> None:
    beginnings(errand).write_text("lost-1\nlost-2\n")
    pretend(lambda errand, stop: (made(errand, Verdict.TIMEOUT), is_ours))
    back = carry_out(errand)
    assert (back.course, back.verdict, back.reason) == (course, Verdict.TIMEOUT, Verdict.TIMEOUT.meaning)
    assert (back.seconds, back.lost, back.host, back.is_of_data) == (7.5, 2, gethostname(), False)
    assert hosts_of(errand) == ["lost-1", "lost-2", gethostname()]


def test_what_is_stored_is_found_and_run_again_only_where_that_is_asked(
    errand: Errand, pretend: Callable[[Act], None]
) -> None:
    put_run(Store(errand.layout.runs), errand.planned, errand.layout.local / "made up")
    pretend(never)
    back = carry_out(errand)
    assert (back.course, back.verdict, back.lost) == (Course.FOUND, Verdict.OK, 0) and hosts_of(errand) == []
    # the last beginning stored it, and was lost before it could say so; those before were lost with their run
    beginnings(errand).write_text("lost-1\nlost-2\nlost-3\n")
    back = carry_out(errand)
    assert (back.course, back.lost) == (Course.FOUND, 2) and len(hosts_of(errand)) == 3
    pretend(lambda errand, stop: (made(errand), True))
    assert carry_out(Errand(**{**vars(errand), "again": True})).course is Course.RUN


def test_what_another_process_runs_is_left_to_it(errand: Errand, pretend: Callable[[Act], None]) -> None:
    pretend(never)
    with Store(errand.layout.runs).claim(errand.planned.key) as mine:
        assert mine
        assert carry_out(errand).course is Course.ELSEWHERE


def test_what_is_not_wanted_any_more_is_not_begun(errand: Errand, pretend: Callable[[Act], None]) -> None:
    pretend(never)
    enough_file(errand.wanted).touch()
    assert carry_out(errand).course is Course.STOPPED
    enough_file(errand.wanted).unlink()
    errand.wanted.unlink()
    assert carry_out(errand).course is Course.STOPPED


def test_a_run_that_is_not_wanted_any_more_is_stopped(errand: Errand, pretend: Callable[[Act], None]) -> None:
    def until_stopped(errand: Errand, stop: threading.Event) -> tuple[Record, bool]:
        errand.wanted.unlink()
        return made(errand, Verdict.INTERRUPTED if stop.wait(20) else Verdict.OK), True

    pretend(until_stopped)
    assert carry_out(errand).verdict is Verdict.INTERRUPTED


def test_a_run_that_has_begun_is_finished_when_it_is_enough(
    errand: Errand, pretend: Callable[[Act], None]
) -> None:
    def through_the_end(errand: Errand, stop: threading.Event) -> tuple[Record, bool]:
        enough_file(errand.wanted).touch()
        time.sleep(3 * errands._LOOK_S)
        return made(errand, Verdict.INTERRUPTED if stop.is_set() else Verdict.OK), True

    pretend(through_the_end)
    assert carry_out(errand).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("error", "is_of_data", "obstacle", "reason"),
    [
        (MissingData("pairs.csv is missing", where="x"), True, "dataset", "pairs.csv is missing"),
        (ValueError("thirteen"), False, "run", "the harness failed on this run: ValueError: thirteen"),
    ],
)
def test_a_fault_is_that_runs_alone(
    errand: Errand, pretend: Callable[[Act], None], error: Exception, is_of_data: bool, obstacle: Kind, reason: str
) -> None:
    def fail(errand: Errand, stop: threading.Event) -> Any:
        raise error

    pretend(fail)
    back = carry_out(errand)
    assert (back.course, back.verdict, back.is_of_data) == (Course.FAULT, Verdict.INFRASTRUCTURE, is_of_data)
    assert back.reason == reason
    name = errand.planned.job.dataset if is_of_data else errand.planned.key
    assert reason in Obstacles(errand.layout.runs).all(obstacle)[name]


def test_another_harness_does_nothing(errand: Errand, pretend: Callable[[Act], None]) -> None:
    pretend(never)
    back = carry_out(Errand(**{**vars(errand), "harness": "another"}))
    assert back.course is Course.REFUSED and "another harness" in back.reason and back.host == gethostname()


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (601.0, "its clock is 10 min ahead of the client's"),
        (-86400.0, "its clock is 24.0 h behind the client's"),
        (590.0, ""),
        (-590.0, ""),
    ],
)
def test_a_machine_whose_clock_is_wrong_does_nothing(
    errand: Errand, pretend: Callable[[Act], None], monkeypatch: pytest.MonkeyPatch, ahead: float, words: str
) -> None:
    """Whatever the clock is of the machine that dates the files."""
    errand.wanted.write_text("5000.0")
    monkeypatch.setattr(errands, "clock_beside", lambda folder: 5000.0 + ahead)
    pretend(lambda errand, stop: (made(errand), True))
    back = carry_out(errand)
    assert back.course is (Course.REFUSED if words else Course.RUN) and words in back.reason


def test_a_machine_that_can_write_nothing_does_nothing(
    errand: Errand, pretend: Callable[[Act], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path) -> float:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(errands, "clock_beside", full)
    pretend(never)
    back = carry_out(errand)
    assert back.course is Course.REFUSED and "Read-only file system" in back.reason


def test_a_worker_runs_what_it_was_asked_for(errand: Errand, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Errand(**{**vars(errand), "mirrors": (Path("/m"),), "upstream": Path("/u"), "again": True})
    engine, image = SimpleNamespace(name="an engine"), SimpleNamespace(name="an image")
    heard: list[Any] = []

    def take_image(*words: Any, **more: Any) -> Any:
        heard.append((words, more))
        return image

    monkeypatch.setattr(errands, "_engine", lambda layout, runtime: engine)
    monkeypatch.setattr(errands, "take_image", take_image)
    held: list[Any] = []

    def attempt(*words: Any) -> Any:
        held.append(+errands._in_use)
        return words

    monkeypatch.setattr(errands, "attempt", attempt)
    obstacles = Obstacles(asked.layout.runs)
    obstacles.note("method", "constant", "no image")
    obstacles.note("method", "als_wr", "no image")
    task, given, stop = cast(Any, errands.attempt_here(asked, cast(Any, "stop")))
    assert set(obstacles.all("method")) == {"als_wr"}, "there is an image of this one"
    ((words, more),) = heard
    assert held == [{"constant": 1}] and not +errands._in_use, "its image stays as long as it runs, and no longer"
    assert words == (engine, asked.layout, "constant", "cpu") and more["supply"].mirrors == (Path("/m"),)
    assert (given, stop, task.image, task.planned) == (engine, "stop", image, asked.planned)
    assert (task.mirrors, task.upstream, task.again) == ((Path("/m"),), Path("/u"), True)


def test_an_image_is_in_use_as_long_as_a_run_of_its_method_is_at_work(
    errand: Errand, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, never = list[dict[str, int]](), threading.Event()

    def take_image(*_: Any, in_use: Any, **__: Any) -> None:
        told.append(dict(in_use))

    def attempt(task: Task, *_: Any) -> None:
        # another run begins on the same worker meanwhile
        if task.planned.job.method == "constant":
            errands.attempt_here(replace(errand, planned=planned_job(1, "als_wr")), never)

    monkeypatch.setattr(errands, "_engine", lambda layout, runtime: None)
    monkeypatch.setattr(errands, "take_image", take_image)
    monkeypatch.setattr(errands, "attempt", attempt)
    for _ in range(2):
        errands.attempt_here(errand, never)
    assert told == [{}, {"constant": 1}] * 2


def test_an_image_is_in_use_until_the_last_run_of_its_method_has_ended(
    errand: Errand, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, never = list[tuple[str, dict[str, int]]](), threading.Event()

    def take_image(*words: Any, in_use: Any, **_: Any) -> None:
        told.append((words[2], dict(in_use)))

    def attempt(task: Task, *_: Any) -> None:
        # meanwhile a second run of the method comes and goes, and one of another begins
        if task.planned.key == errand.planned.key:
            for other in (planned_job(2, "constant"), planned_job(1, "als_wr")):
                errands.attempt_here(replace(errand, planned=other), never)

    monkeypatch.setattr(errands, "_engine", lambda layout, runtime: None)
    monkeypatch.setattr(errands, "take_image", take_image)
    monkeypatch.setattr(errands, "attempt", attempt)
    errands.attempt_here(errand, never)
    assert told == [("constant", {}), ("constant", {"constant": 1}), ("als_wr", {"constant": 1})]


def test_a_worker_lends_a_gpu_to_one_run_and_tries_each_once(
    errand: Errand, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = errand.planned.job.model_copy(update={"accelerator": "cuda"})
    asked = Errand(**{**vars(errand), "planned": errand.planned.model_copy(update={"job": job})})
    here = [Gpu("H100", "9.0", number) for number in ("4", "6")]
    tried, lent, taken = list[str](), list[tuple[str, ...]](), list[str]()
    meet = threading.Barrier(2)

    def take_image(*words: Any, **_: Any) -> Any:
        taken.append(words[3])
        return SimpleNamespace(name="an image", image_id="sha256:1")

    def confirm_gpu(*words: Any) -> None:
        tried.extend(words[3].gpus)

    def attempt(task: Any, *_: Any) -> Any:
        lent.append(task.gpus)
        meet.wait(10)
        return "record", True

    monkeypatch.setattr(errands, "_engine", lambda layout, runtime: SimpleNamespace(facts=None))
    monkeypatch.setattr(errands, "_confirmed", set())
    two = Budget(Share(0, 0, 2), gpus=("4", "6"))
    monkeypatch.setattr(errands, "_gpus", lambda: two)
    monkeypatch.setattr(errands, "usable_gpus", lambda *_: here)
    monkeypatch.setattr(errands, "take_image", take_image)
    monkeypatch.setattr(errands, "confirm_gpu", confirm_gpu)
    monkeypatch.setattr(errands, "attempt", attempt)
    with_a_gpu = SimpleNamespace(resources=SimpleNamespace(gpus=1, cpus=1))
    monkeypatch.setattr(Task, "card", with_a_gpu)
    monkeypatch.setattr(errands, "limits_of", lambda card, gpus: SimpleNamespace(gpus=gpus))
    never = threading.Event()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: errands.attempt_here(asked, never), range(4)))
    assert sorted(lent) == [("4",), ("4",), ("6",), ("6",)] and sorted(tried) == ["4", "6"]
    assert set(taken) == {"cuda"}
    # one that can't compute there is refused before it is tried
    monkeypatch.setattr(errands, "usable_gpus", lambda *_: here[1:])
    monkeypatch.setattr(errands, "_gpus", lambda: Budget(Share(0, 0, 1), gpus=("4",)))
    with pytest.raises(EngineError, match="can't be run on GPU 4"):
        errands.attempt_here(asked, never)
    # all are lent, and a person stops
    never.set()
    monkeypatch.setattr(errands, "_gpus", lambda: Budget(Share(0, 0, 0)))
    with pytest.raises(EngineError, match="stopped while it waited for a GPU"):
        errands.attempt_here(asked, never)


def test_all_that_a_campaign_leaves_beside_its_file_goes_with_it(errand: Errand) -> None:
    with wanted_file(errand.layout) as wanted:
        enough_file(wanted).touch()
        wanted.with_name(f"{wanted.name}-key").touch()
        assert wanted.exists() and wanted.parent.parent == errand.layout.local / "work"
    assert not list(wanted.parent.glob("wanted-*"))


def test_a_scheduler_need_not_read_what_it_passes_on(errand: Errand) -> None:
    """Nor import the harness, which takes it longer than a hundred runs."""
    program = """
import pickle, sys
from harness.execution import parcels
pickle.loads(pickle.dumps(parcels.carry_out_each))
print(sorted(name for name in sys.modules if name.startswith("harness")))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.stdout == "['harness', 'harness.execution', 'harness.execution.parcels']\n", done.stderr
    assert isinstance(parcels.pack([errand]), bytes)


def test_a_worker_that_ends_says_nothing_of_its_engine(tmp_path: Path) -> None:
    """A process that ends starts no thread: an engine is let go by its lease."""
    program = """
from types import SimpleNamespace
from harness.engine.lease import _undisturbed
from harness.execution import errands, parcels

engine = SimpleNamespace(close=lambda: _undisturbed(lambda: None))
errands.find_engine = lambda layout, runtime: engine
assert errands._engine(None, None) is engine
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
