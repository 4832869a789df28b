"""What a worker says when it refuses or returns, and what a campaign tells and hears, word for word."""

from __future__ import annotations

import os
import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import harness
from harness.base.errors import CorruptData, DataError, EngineError, UsageError
from harness.base.layout import Layout
from harness.base.ownership import own_folder
from harness.base.vocabulary import Verdict
from harness.execution import bulletins as told_module
from harness.execution import cluster, errands, parcels
from harness.execution.bulletins import Bulletin, Tally, Wish, ask_to_end, bulletins, telling
from harness.execution.cluster import Cluster, wanted_file
from harness.execution.errands import Course, Errand, Return, beginnings, carry_out, enough_file, hosts_of, refusal
from harness.execution.gpus import Gpu
from harness.execution.parcels import carry_out_each, pack
from harness.execution.tasks import Task
from harness.meaning.folders import meaning_of_folder
from harness.planning.budget import Budget, Share
from harness.planning.obstacles import Obstacles
from harness.results.store import Store
from tests.campaigns.test_a_campaign_is_not_told import BULLETIN
from tests.campaigns.test_an_errand_is_carried_out_wrongly import Act, errand, made, never, pretend
from tests.core.factories import planned_job, put_run
from tests.core.word_for_word import layout_of, said

__all__ = ["errand", "pretend"]
HOST = socket.gethostname()


def test_a_return_that_says_nothing_is_the_machines_failure() -> None:
    assert Return(Course.FAULT) == Return(
        Course.FAULT, Verdict.INFRASTRUCTURE, "", 0.0, is_of_data=False, lost=0, host="", worker=""
    )


@pytest.mark.parametrize(
    ("back", "of_machine"),
    [
        (Return(Course.FAULT), True),
        (Return(Course.REFUSED), True),
        (Return(Course.RUN), True),
        (Return(Course.FOUND), True),
        (Return(Course.STOPPED), False),
        (Return(Course.ELSEWHERE), False),
        (Return(Course.FAULT, is_of_data=True), False),
        (Return(Course.RUN, Verdict.OK), False),
        (Return(Course.RUN, Verdict.INTERRUPTED), False),
        (Return(Course.DUPLICATE, Verdict.MEMORY), False),
    ],
)
def test_what_another_machine_may_make_good(back: Return, of_machine: bool) -> None:
    assert back.is_of_machine is of_machine


def test_why_a_worker_refuses_is_told_word_for_word(errand: Errand, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, folder = own_folder(errand.layout.local / "work") / "wanted", Path(harness.__file__).parent
    wanted.write_text("7.0")
    assert refusal(wanted, "this harness") == ""
    for other in ("other", "this harness, and more", "this har", ""):
        assert refusal(wanted, other) == f"another harness than the client's runs there: {folder}"
    nowhere = errand.layout.local / "nowhere"
    assert refusal(nowhere / "w", "this harness") == f"the folder of results is not seen there: {nowhere}"
    unlocked = errand.layout.local / "work" / "harness-1-2"
    unlocked.mkdir()
    monkeypatch.setattr(errands, "is_owned", lambda path: path != unlocked / "owner.lock")
    words = f"locks of the folder of results are not seen there: {unlocked}"
    assert refusal(unlocked / "w", "this harness") == words

    def full(folder: Path) -> float:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(errands, "clock_beside", full)
    errands.clock_ahead.cache_clear()
    assert refusal(wanted, "this harness") == (
        f"nothing can be written into the folder of results there: Read-only file system: {wanted.parent}"
    )


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (600.0, ""),
        (-600.0, ""),
        (600.5, "its clock is 10 min ahead of the client's: its records would be of another time"),
        (-7200.0, "its clock is 2.0 h behind the client's: its records would be of another time"),
    ],
)
def test_how_wrong_a_clock_is_is_told(
    errand: Errand, monkeypatch: pytest.MonkeyPatch, ahead: float, words: str
) -> None:
    looked = list[Path]()

    def clock_beside(folder: Path) -> float:
        looked.append(folder)
        return 5000.0 + ahead

    errand.wanted.write_text("5000.0")
    monkeypatch.setattr(errands, "clock_beside", clock_beside)
    assert [refusal(errand.wanted, "this harness") for _ in range(2)] == [words, words]
    assert looked == [errand.wanted.parent], "it is looked at once"


def test_nobody_is_wrong_about_what_nobody_wants_any_more(errand: Errand) -> None:
    errand.wanted.unlink()
    assert refusal(errand.wanted, "this harness") == ""


def test_the_meaning_is_that_of_the_harness_that_runs() -> None:
    assert errands.own_meaning() == meaning_of_folder(Path(harness.__file__).parent)


def test_what_begins_leaves_a_line_before_it_begins(errand: Errand, pretend: Callable[[Act], None]) -> None:
    seen = list[Any]()

    def act(errand: Errand, stop: threading.Event) -> Any:
        seen.append((hosts_of(errand), stop.is_set()))
        return made(errand), True

    pretend(act)
    first = carry_out(errand)
    assert seen == [([HOST], False)] and (first.lost, first.host, first.worker) == (0, HOST, "")
    assert beginnings(errand) == errand.wanted.parent / f"wanted-1-{errand.planned.key}"
    assert beginnings(errand).read_text() == f"{HOST}\n"
    assert enough_file(errand.wanted) == errand.wanted.parent / "wanted-1-enough"


def test_a_found_run_comes_back_as_it_was_stored(errand: Errand, pretend: Callable[[Act], None]) -> None:
    pretend(never)
    store = Store(errand.layout.runs)
    record = put_run(store, errand.planned, errand.layout.local / "files", Verdict.ERROR)
    store.amend(record.model_copy(update={"reason": "exit code 3", "resources": {"wall_s": 3}}))
    assert carry_out(errand) == Return(Course.FOUND, Verdict.ERROR, "exit code 3", 3.0, host=HOST)
    store.amend(record.model_copy(update={"resources": {}}))
    assert carry_out(errand).seconds == 0.0
    store.amend(record.model_copy(update={"verdict": Verdict.INTERRUPTED}))
    pretend(lambda errand, stop: (made(errand), True))
    assert carry_out(errand).course is Course.RUN, "it was not final"


def test_data_at_fault_are_told_in_their_own_words(errand: Errand, pretend: Callable[[Act], None]) -> None:
    def act(errand: Errand, stop: threading.Event) -> Any:
        raise CorruptData("pairs.csv differs", where="there", todo="get it again")

    pretend(act)
    back = carry_out(errand)
    assert back == Return(Course.FAULT, reason="pairs.csv differs", is_of_data=True, host=HOST)
    assert Obstacles(errand.layout.runs).all("dataset")["synthetic"].startswith("pairs.csv differs\n")


class Lends:
    """Which image is taken and what is tried, for a run on a GPU."""

    def __init__(self, errand: Errand, monkeypatch: pytest.MonkeyPatch) -> None:
        job = errand.planned.job.model_copy(update={"accelerator": "cuda", "method": "mlp"})
        self.errand = replace(errand, planned=errand.planned.model_copy(update={"job": job}))
        self.tried, self.held, self.asked = list[Any](), list[Any](), list[Any]()
        self.engine = SimpleNamespace(facts="facts")
        self.image = SimpleNamespace(name="permafrost/mlp:1", image_id="sha256:1")
        monkeypatch.setattr(errands, "_engine", lambda *words: self.note(words, self.engine))
        monkeypatch.setattr(errands, "take_image", lambda *words, **more: self.image)
        monkeypatch.setattr(errands, "_confirmed", set())
        monkeypatch.setattr(errands, "usable_gpus", lambda *words: self.note(words, [Gpu("H100", "9.0", "4")]))
        monkeypatch.setattr(errands, "confirm_gpu", lambda *words: self.tried.append(words))
        monkeypatch.setattr(errands, "attempt", self.attempt)
        monkeypatch.setattr(errands, "limits_of", lambda card, gpus: (card.name, gpus))

    def attempt(self, *words: Any) -> Any:
        self.held.append(words)
        return "record", True

    def note(self, words: Any, answer: Any) -> Any:
        self.asked.append(words)
        return answer


def test_a_gpu_is_tried_in_the_image_with_the_limits_of_a_run(
    errand: Errand, monkeypatch: pytest.MonkeyPatch
) -> None:
    lends, stop = Lends(errand, monkeypatch), threading.Event()
    monkeypatch.setattr(errands, "_gpus", lambda: Budget(Share(0, 0, 1), gpus=("4",)))
    errands.attempt_here(replace(lends.errand, runtime="podman"), stop)
    layout = errand.layout
    assert lends.asked == [(layout, "podman"), (layout, "facts", ["mlp"])]
    assert lends.tried == [(lends.engine, layout, lends.image, ("mlp", ("4",)))]
    ((task, engine, given),) = lends.held
    assert task == Task(layout, lends.errand.planned, cast(Any, lends.image), gpus=("4",))
    assert (engine, given) == (lends.engine, stop) and not +errands._in_use
    lends.image.image_id = "sha256:2"
    errands.attempt_here(lends.errand, stop)
    assert len(lends.tried) == 2, "another image is tried, too"


def test_each_gpu_of_a_run_that_takes_several_is_tried(errand: Errand, monkeypatch: pytest.MonkeyPatch) -> None:
    lends = Lends(errand, monkeypatch)
    card = SimpleNamespace(name="mlp", resources=SimpleNamespace(gpus=2))
    monkeypatch.setattr(Task, "card", card)
    monkeypatch.setattr(errands, "_gpus", lambda: Budget(Share(0, 0, 2), gpus=("4", "6")))
    monkeypatch.setattr(errands, "usable_gpus", lambda *_: [Gpu("H100", "9.0", name) for name in ("4", "6")])
    errands.attempt_here(lends.errand, threading.Event())
    assert [words[-1] for words in lends.tried] == [("mlp", ("4",)), ("mlp", ("6",))]
    ((task, *_),) = lends.held
    assert task.gpus == ("4", "6")


def test_a_gpu_that_can_not_be_had_is_told_in_three_parts(errand: Errand, monkeypatch: pytest.MonkeyPatch) -> None:
    lends, stop = Lends(errand, monkeypatch), threading.Event()
    monkeypatch.setattr(errands, "_gpus", lambda: Budget(Share(0, 0, 1), gpus=("7",)))
    with pytest.raises(EngineError) as refused:
        errands.attempt_here(lends.errand, stop)
    assert said(refused.value) == (
        "the CUDA image of permafrost/mlp:1 can't be run on GPU 7",
        "",
        "lend only such as can ($CUDA_VISIBLE_DEVICES), or run on the CPU (--accelerator cpu)",
    )
    stop.set()
    monkeypatch.setattr(errands, "_gpus", lambda: Budget(Share(0, 0, 0)))
    with pytest.raises(EngineError) as stopped:
        errands.attempt_here(lends.errand, stop)
    assert said(stopped.value) == (
        "it was stopped while it waited for a GPU",
        "",
        "the same command resumes",
    )
    assert not lends.held and not lends.tried and not +errands._in_use


def test_the_gpus_of_a_process_are_those_that_it_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errands, "find_gpus", lambda: [Gpu("H100", "9.0", number) for number in ("4", "6")])
    errands._gpus.cache_clear()
    budget = errands._gpus()
    assert budget.total == Share(0, 0, 2) and budget.gpus == ("4", "6") and errands._gpus() is budget
    errands._gpus.cache_clear()


def test_an_engine_of_the_wanted_kind_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = list[Any]()

    def find_engine(*words: Any, **named: Any) -> Any:
        looked.append((words, named))
        return SimpleNamespace()

    monkeypatch.setattr(errands, "find_engine", find_engine)
    layout = cast(Layout, "a layout")
    errands._engine.cache_clear()
    assert errands._engine(layout, "podman") is errands._engine(layout, "podman")
    assert looked == [(("a layout",), {"runtime": "podman"})]
    errands._engine.cache_clear()


def test_a_parcel_ends_with_the_first_that_the_machine_failed(
    errand: Errand, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    ends = {1: Verdict.OK, 2: Verdict.ERROR, 3: Verdict.INFRASTRUCTURE, 4: Verdict.OK}
    several = [replace(errand, planned=planned_job(seed)) for seed in ends]
    carried = list[Errand]()

    def carry_out(errand: Errand) -> Return:
        carried.append(errand)
        return Return(Course.RUN, ends[errand.planned.job.split.seed], host="h")

    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="tcp://w:1"))
    monkeypatch.setattr(errands, "carry_out", carry_out)
    assert pickle.loads(pack(several)) == tuple(several)
    assert carry_out_each(pack(several)) == [
        Return(Course.RUN, verdict, host="h", worker="tcp://w:1") for verdict in list(ends.values())[:3]
    ]
    assert carried == several[:3] and parcels.pack([]) == pack(())


def test_a_parcel_goes_on_behind_what_no_machine_failed(errand: Errand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing final came of it: data that are missing, a run that is elsewhere, or that was stopped."""
    distributed = pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    ends = [
        Return(Course.FAULT, is_of_data=True),
        Return(Course.ELSEWHERE),
        Return(Course.STOPPED),
        Return(Course.RUN, Verdict.INTERRUPTED),
        Return(Course.RUN, Verdict.OK),
    ]
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="tcp://w:1"))
    monkeypatch.setattr(errands, "carry_out", lambda errand: ends[errand.planned.job.split.seed])
    several = [replace(errand, planned=planned_job(seed)) for seed in range(len(ends))]
    assert carry_out_each(pack(several)) == [replace(back, worker="tcp://w:1") for back in ends]


def test_each_worker_is_asked_by_itself_and_answers_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lost has no answer: before it is done, or in the end."""
    import distributed

    asked, cancelled, there = list[Any](), list[str](), ["a", "b", "dropped", "gone", "killed"]
    looks = dict.fromkeys(there, 0)

    class Future:
        def __init__(self, name: str) -> None:
            self.name = name

        def done(self) -> bool:
            looks[self.name] += 1
            if self.name == "gone" and self.name in there:
                there.remove(self.name)
            return self.name in ("b", "dropped", "killed") or (self.name == "a" and looks["a"] > 1)

        def result(self) -> str:
            if self.name == "killed":
                raise distributed.KilledWorker("task", None, None)
            if self.name == "dropped":
                raise distributed.CancelledError("task")
            return f"of {self.name}"

        def cancel(self) -> None:
            cancelled.append(self.name)

    class Client:
        def scheduler_info(self, n_workers: int) -> Any:
            return {"workers": {name: {"nthreads": "3", "resources": {}} for name in there}}

        def submit(self, *words: Any, **named: Any) -> Future:
            asked.append((words, named))
            return Future(named["workers"][0])

        def run(self, *words: Any) -> Any:
            asked.append(words)
            return {"a": 1}.items()

    monkeypatch.setattr("harness.execution.cluster._LOOK_S", 0.0)
    one = Cluster(cast(Any, Client()), "tcp://s:1")
    answers = list(one.ask_each(len, "x"))
    assert answers[:3] == [("b", "of b"), ("dropped", None), ("killed", None)]
    assert sorted(answers[3:]) == [("a", "of a"), ("gone", None)] and cancelled == ["gone"]
    assert asked == [((len, "x"), {"workers": [name], "pure": False}) for name in looks]
    assert one.ask_all(len, "y") == {"a": 1} and asked[-1] == (len, "y")
    there.remove("killed")
    assert [worker.threads for worker in one.workers()] == [3, 3, 3]


def test_what_is_wanted_tells_how_our_clock_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Path]()

    def clock_beside(folder: Path) -> float:
        asked.append(folder)
        return 0.1 + 0.2

    monkeypatch.setattr(cluster, "clock_beside", clock_beside)
    layout = layout_of(tmp_path / "local")
    beside = own_folder(layout.local / "work") / "other"
    beside.touch()
    with wanted_file(layout) as wanted:
        assert wanted.parent == own_folder(layout.local / "work") and wanted.name.startswith("wanted-")
        assert float(wanted.read_text()) == 0.1 + 0.2 and asked == [wanted.parent]
        enough_file(wanted).touch()
    assert list(wanted.parent.glob("*wanted*")) == [] and beside.exists()
    with pytest.raises(ZeroDivisionError), wanted_file(layout) as wanted:
        raise ZeroDivisionError
    assert not wanted.exists()


def test_a_bulletin_that_can_not_be_written_stops_nothing_and_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = threading.Event()

    def full(*_: Any) -> None:
        tried.set()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(told_module, "write_atomic", full)
    layout, never = layout_of(tmp_path / "local"), threading.Event()
    with telling(layout, Tally(), plan="p", on="local", enough=never, stop=never):
        assert tried.wait(20)
    words = "this campaign can't tell of itself: [Errno 28] No space left on device"
    assert {(record.levelname, record.getMessage()) for record in caplog.records} == {("WARNING", words)}


def test_a_campaign_tells_of_its_own_process_by_a_name_of_its_own(tmp_path: Path) -> None:
    tally = Tally()
    tally.begun("a", "run a")
    tally.ended("b", Verdict.OK)
    told = tally.bulletin("x", "plan", "dask", Wish.STOP)
    assert (told.name, told.plan, told.on, told.wish) == ("x", "plan", "dask", Wish.STOP)
    assert (told.host, told.process) == (HOST, os.getpid())
    assert [one.host for one in told.underway] == [HOST] and told.nodes == {HOST: 1}
    assert (told.runs, told.lost, told.seconds_left) == (0, 0, None) and 0 <= told.seconds < 600


def test_a_run_that_moves_to_another_host_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 5.0, 6.0, 10.0])
    monkeypatch.setattr("harness.execution.bulletins.time.monotonic", lambda: next(clock))
    tally = Tally()
    tally.begun("a", "run a", "n1")
    tally.begun("a", "run a", "n2")
    (one,) = tally.bulletin("x", "plan", "local", None).underway
    assert (one.host, one.seconds) == ("n2", 4.0)


def test_what_is_left_is_never_less_than_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.execution.bulletins.time.monotonic", lambda: 0.0)
    tally = Tally()
    tally.expect([10.0])
    tally.ended("a", Verdict.OK, expected=20.0)
    monkeypatch.setattr("harness.execution.bulletins.time.monotonic", lambda: 60.0)
    assert tally.bulletin("x", "plan", "local", None).seconds_left == 0.0


def test_hosts_and_verdicts_stand_in_their_order() -> None:
    told = BULLETIN.model_copy(update={"ended": {"timeout": 1, "ok": 2}, "nodes": {"n9": 1, "n1": 2}, "lost": 0})
    lines = told.text().splitlines()
    assert lines[1] == "  2 ok, 1 timeout"
    assert [line.split(":")[0].strip() for line in lines[2:] if " at work" in line] == ["n1", "n2", "n3", "n9"]
    assert told.text().splitlines()[0].endswith(": 3 of 400 runs in 2.0 h, about 2.0 h left")


@contextmanager
def written(layout: Layout, *several: Bulletin) -> Iterator[list[Path]]:
    """Campaigns of this process, as their files tell."""
    folder = own_folder(layout.local / "work")
    paths = [folder / f"campaign-{one.name}.json" for one in several]
    for path, one in zip(paths, several, strict=True):
        path.write_text(one.model_dump_json())
    yield paths


def test_who_is_asked_to_end_is_told_word_for_word(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "local")
    layout.local.mkdir()
    with pytest.raises(UsageError) as nobody:
        ask_to_end(layout, "x", Wish.STOP)
    assert said(nobody.value) == (
        "no campaign is called x",
        str(layout.local),
        "nothing is to be stopped: harness status --watch shows what runs",
    )
    with pytest.raises(UsageError) as none:
        ask_to_end(layout, "", Wish.STOP)
    assert none.value.what == "no campaign is at work here"
    other = BULLETIN.model_copy(update={"name": "b", "plan": "smoke"})
    with written(layout, BULLETIN) as (path,):
        assert ask_to_end(layout, "", Wish.STOP) == BULLETIN
        assert path.with_suffix(".wish").read_text() == "stop"
    with written(layout, BULLETIN, other) as paths:
        with pytest.raises(UsageError) as several:
            ask_to_end(layout, "", Wish.DRAIN)
        assert said(several.value) == (
            "2 campaigns are at work here",
            str(layout.local),
            "name one: 3fa91c (full), b (smoke)",
        )
        with pytest.raises(UsageError) as unknown:
            ask_to_end(layout, "c", Wish.DRAIN)
        assert said(unknown.value)[0] == "no campaign is called c"
        assert ask_to_end(layout, "b", Wish.DRAIN) == other
        assert paths[1].with_suffix(".wish").read_text() == "drain" and list(bulletins(layout)) == paths


def test_what_is_no_bulletin_is_told_in_three_parts(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "local")
    path = own_folder(layout.local / "work") / "campaign-x.json"
    path.write_text('{"name": "x"}')
    with pytest.raises(CorruptData) as refused:
        bulletins(layout, "x")
    assert said(refused.value) == (
        "this is not what a campaign tells: Field required",
        str(path),
        "it may be of another version of the harness, which can stop it",
    )
    path.write_text("{")
    with pytest.raises(CorruptData):
        bulletins(layout, "x")
    assert isinstance(refused.value, DataError)


def test_a_bulletin_that_goes_while_it_is_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of(tmp_path / "local")
    with written(layout, BULLETIN) as (path,):

        def gone(path: Path) -> None:
            path.unlink()

        monkeypatch.setattr(told_module, "read_json", gone)
        assert bulletins(layout) == {} and not path.exists()


def test_a_wish_that_is_none_is_not_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wish = tmp_path / "x.wish"
    assert told_module._asked(wish) is None
    wish.write_text("stopp")
    assert told_module._asked(wish) is None
    wish.write_text("stop")
    assert told_module._asked(wish) is Wish.STOP

    def gone(*_: Any, **__: Any) -> str:
        raise OSError(116, "Stale file handle")

    monkeypatch.setattr(Path, "read_text", gone)
    assert told_module._asked(wish) is None, "who tells goes on"
