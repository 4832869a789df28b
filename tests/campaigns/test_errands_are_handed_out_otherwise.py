"""What is handed out to which worker, when, and what is made of what comes back, word for word.

The scheduler and the clock are made up: nothing here waits, and each test says in which order things happen.
"""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution import desk
from harness.execution.bulletins import Bulletin
from harness.execution.cluster import Cluster, Worker
from harness.execution.desk import hand_out
from harness.execution.errands import Course, Errand, Return, beginnings, enough_file
from harness.execution.line import Line
from harness.execution.parcels import carry_out_each
from harness.execution.turns import CampaignState
from harness.planning.budget import Budget, Share
from harness.planning.obstacles import Obstacles
from tests.campaigns.on_a_cluster import Notes
from tests.conftest import REPOSITORY
from tests.core.factories import planned_job

pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")

Act = Callable[[Errand, str], Return]
LARGE = Share(8, 64 << 30)


class Future:
    """A task of the scheduler's."""

    def __init__(self, work: Callable[[], list[Return]], meant_for: list[str], share: Share) -> None:
        self._work, self.meant_for, self.share = work, meant_for, share
        self._error: Exception | None = None
        self._backs: list[Return] = []
        self._told: Callable[[Any], None] = lambda _: None
        self.is_cancelled = False

    def add_done_callback(self, tell: Callable[[Any], None]) -> None:
        self._told = tell

    def finish(self) -> None:
        try:
            self._backs = self._work()
        # as Dask does: whatever a task raises is its result
        except Exception as error:  # noqa: BLE001
            self._error = error
        self._told(self)

    def result(self) -> list[Return]:
        if self._error is not None:
            raise self._error
        return self._backs

    def cancel(self) -> None:
        from distributed import CancelledError

        self.is_cancelled, self._error = True, CancelledError("cancelled")
        self._told(self)


class Made:
    """A scheduler with its workers, a clock, and all that was submitted."""

    def __init__(self, folder: Path, *workers: Worker) -> None:
        self.layout = Layout(root=REPOSITORY, cache=folder / "cache", local=folder / "local")
        self.wanted = self.layout.local / "work" / "wanted-1"
        self.wanted.parent.mkdir(parents=True)
        self.wanted.touch()
        self.address, self.client, self.status = "tcp://x:1", self, "running"
        self.most: int | None = None
        self.here = {one.address: one for one in workers or (Worker("a", 2, LARGE),)}
        self.act: Act = made
        self.now = 1000.0
        self.looks: list[tuple[float, set[str]]] = []
        self.open: list[Future] = []
        self.submitted: list[SimpleNamespace] = []
        self.most_open = 0
        # nothing that was submitted ends meanwhile
        self.is_busy = False
        self.ended: list[str] = []
        self.each: Callable[[], object] = lambda: None
        self.notes = Notes()
        self.state = CampaignState(Budget(LARGE), threading.Event(), self.notes)

    def workers(self) -> list[Worker]:
        self.looks.append((self.now, set(self.here)))
        return list(self.here.values())

    def patience_s(self, ill: int) -> float:
        return Cluster.patience_s(cast(Cluster, self), ill)

    def submit(self, function: Any, parcel: bytes, *, key: str, pure: bool, **more: Any) -> Future:
        assert function is carry_out_each and pure is False
        errands: tuple[Errand, ...] = pickle.loads(parcel)
        share = Share(more["resources"]["cpus"], int(more["resources"]["GiB"] * 2**30))
        future = Future(lambda: self._carried_out(errands, future), more["workers"] or [], share)
        seeds = [errand.planned.job.split.seed for errand in errands]
        self.submitted.append(SimpleNamespace(name=key, seeds=seeds, **more))
        self.open.append(future)
        self.most_open = max(self.most_open, len(self.open))
        return future

    def _takers(self, future: Future) -> list[str]:
        """The workers that may take a task and can hold it."""
        names = future.meant_for or list(self.here)
        return [name for name in names if name in self.here and self.here[name].share.fits(future.share)]

    def _carried_out(self, errands: Sequence[Errand], future: Future) -> list[Return]:
        address, backs = self._takers(future)[0], list[Return]()
        for errand in errands:
            backs.append(self.act(errand, address))
            if backs[-1].is_of_machine:
                break
        return backs

    # the queue of tasks that have ended: who looks into it, lets time pass

    def put(self, name: str) -> None:
        self.ended.append(name)

    def get(self, timeout: float) -> str:
        self.now += timeout
        self.each()
        if not self.ended and not self.is_busy and (future := next(filter(self._takers, self.open), None)):
            self.open.remove(future)
            future.finish()
        if not self.ended:
            raise queue.Empty
        return self.ended.pop(0)

    def errands(self, *seeds: int, method: str = "constant", seconds: float | None = None) -> list[Errand]:
        jobs = (planned_job(seed, method) for seed in seeds)
        return [Errand(self.layout, planned, self.wanted, "", expected_s=seconds) for planned in jobs]

    def run(self, errands: Sequence[Errand]) -> None:
        hand_out(cast(Cluster, self), errands, len(errands), self.state, self.wanted)

    @property
    def told(self) -> Bulletin:
        return self.state.tally.bulletin("x", "plan", "on", None)

    @property
    def summary(self) -> str:
        return self.notes.notes[-1]

    @property
    def handed(self) -> list[list[int]]:
        return [one.seeds for one in self.submitted]


def made(errand: Errand, address: str) -> Return:
    return Return(Course.RUN, Verdict.OK, "", 2.5, host=f"host of {address}", worker=address)


def failed(errand: Errand, address: str, reason: str = "no disk") -> Return:
    return Return(Course.RUN, Verdict.INFRASTRUCTURE, reason, 1.0, host=f"host of {address}", worker=address)


def refused(errand: Errand, address: str) -> Return:
    return Return(Course.REFUSED, reason="another harness", host=f"host of {address}", worker=address)


def begin(errand: Errand) -> None:
    """As a worker does, before it makes a run."""
    with beginnings(errand).open("a") as file:
        file.write("node\n")


def two(folder: Path, *names: str, threads: int = 2, share: Share = LARGE) -> Made:
    return Made(folder, *(Worker(name, threads, share) for name in names or ("a", "b")))


@pytest.fixture(autouse=True)
def no_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[Made], Made]:
    """The clock and the queue of the desk become those of a made-up scheduler."""

    def use(one: Made) -> Made:
        monkeypatch.setattr(desk, "queue", SimpleNamespace(SimpleQueue=lambda: one, Empty=queue.Empty))
        monkeypatch.setattr(desk, "time", SimpleNamespace(monotonic=lambda: one.now))
        return one

    return use


@pytest.fixture
def one(tmp_path: Path, no_time: Callable[[Made], Made]) -> Made:
    """One worker of two threads."""
    return no_time(Made(tmp_path))


@pytest.fixture
def pair(tmp_path: Path, no_time: Callable[[Made], Made]) -> Made:
    return no_time(two(tmp_path))


def label(seed: int, method: str = "constant") -> str:
    return planned_job(seed, method).job.label


def line(runs: int = 0, found: int = 0, twice: int = 0, lost: int = 0) -> str:
    return (
        f"on tcp://x:1: {runs} runs, {found} found in the store when their turn came, "
        f"{twice} made twice, of which the first stays, {lost} lost with their worker"
    )


def test_every_run_is_handed_out_once_by_a_name_of_its_own(one: Made) -> None:
    began = list[Any]()
    one.notes.begin = lambda *words: began.append(words)  # type: ignore[method-assign]
    one.run(one.errands(5, 6, 7))
    key = planned_job(5).key
    assert one.handed == [[5], [6], [7]] and began == [("runs on tcp://x:1", 3)]
    assert one.submitted[0].name == f"permafrost-{key[:16]}-wanted-1-1"
    assert [task.name.rpartition("-")[2] for task in one.submitted] == ["1", "2", "3"]
    assert {(task.workers, *task.resources.items()) for task in one.submitted} == {
        (None, ("cpus", 1), ("GiB", 0.5))
    }
    assert one.notes.steps == [f"ok: {label(seed)} (2.5 s)" for seed in (5, 6, 7)]
    assert one.notes.notes == [line(runs=3)]
    assert (one.told.ended, one.told.nodes, one.told.lost) == ({"ok": 3}, {"host of a": 3}, 0)


def test_the_scheduler_holds_two_tasks_for_each_thread(one: Made) -> None:
    one.run(one.errands(*range(20)))
    assert one.most_open == 4 and [seeds for (seeds,) in one.handed] == list(range(20))


def test_short_runs_go_together_so_many_that_all_end_at_about_the_same_time(one: Made) -> None:
    one.state.tally.expect([0.1] * 64)
    one.run(one.errands(*range(64), seconds=0.1))
    sizes = [len(seeds) for seeds in one.handed]
    # an eighth of what each of two threads has left
    assert sizes[:4] == [64 // 16] * 4 and sizes[4] == 60 // 16 and sizes[-1] == 1
    assert [seed for seeds in one.handed for seed in seeds] == list(range(64))
    assert one.notes.notes == [line(runs=64)]
    assert one.told.seconds_left == pytest.approx(0.0, abs=1e-9), "what was expected of each has been taken"


def test_only_runs_that_need_the_same_go_together(one: Made) -> None:
    methods = {seed: "nimcgcn" if 5 < seed < 12 else "constant" for seed in range(64)}
    one.run([errand for seed, name in methods.items() for errand in one.errands(seed, method=name, seconds=0.1)])
    assert one.handed[:4] == [[0, 1, 2, 3], [4, 5], [6, 7, 8, 9], [10, 11]]
    assert all(len({methods[seed] for seed in seeds}) == 1 for seeds in one.handed)


@pytest.mark.parametrize(("course", "counted"), [(Course.FOUND, line(found=1)), (Course.DUPLICATE, line(twice=1))])
def test_what_was_found_or_made_twice_is_counted_apart(one: Made, course: Course, counted: str) -> None:
    one.act = lambda errand, address: Return(course, Verdict.ERROR, "exit code 3", 2.0, host="h", worker=address)
    one.run(one.errands(5))
    assert one.notes.notes == [counted] and one.notes.steps == [f"error: {label(5)} (2.0 s): exit code 3"]
    assert (one.told.ended, one.told.nodes) == ({"error": 1}, {"h": 1})


def test_a_run_of_missing_data_is_no_failure_of_a_machine(pair: Made) -> None:
    pair.act = lambda errand, address: Return(
        Course.FAULT, reason="pairs.csv is missing", is_of_data=True, host="h", worker=address
    )
    pair.run(pair.errands(*range(5)))
    assert pair.notes.steps == [f"missing-data: {label(seed)}: pairs.csv is missing" for seed in range(5)]
    assert pair.told.ended == {"missing-data": 5} and not pair.state.given_up
    assert pair.notes.notes == [line()] and not pair.state.stop.is_set()


def test_a_run_that_a_machine_failed_is_tried_where_it_has_not_failed(pair: Made) -> None:
    pair.act = lambda errand, address: failed(errand, address) if address == "a" else made(errand, address)
    pair.run(pair.errands(5))
    assert [(task.seeds, task.workers) for task in pair.submitted] == [([5], None), ([5], ["b"])]
    assert pair.notes.notes == [
        f"{label(5)} failed on host of a, and is tried elsewhere: no disk",
        line(runs=1),
    ]
    assert pair.notes.steps == [f"ok: {label(5)} (2.5 s)"] and pair.told.nodes == {"host of b": 1}
    assert Obstacles(pair.layout.runs).all("run") == {}


def test_a_run_that_fails_wherever_it_can_be_tried_is_failed_by_the_last_of_them(pair: Made) -> None:
    pair.act = lambda errand, address: failed(errand, address, f"no disk at {address}")
    pair.run(pair.errands(5))
    assert [task.workers for task in pair.submitted] == [None, ["b"]]
    assert pair.notes.steps == [f"infrastructure: {label(5)} (1.0 s): no disk at b"]
    assert pair.told.ended == {"infrastructure": 1} and pair.state.failures == ("constant",)


def test_what_fails_everywhere_now_and_then_keeps_no_worker_from_work(pair: Made) -> None:
    """What goes well between is made by the first worker; nothing is held against the other."""
    tried = list[tuple[int, str]]()

    def act(errand: Errand, address: str) -> Return:
        seed = errand.planned.job.split.seed
        tried.append((seed, address))
        return failed(errand, address) if seed % 10 == 0 else made(errand, address)

    pair.act = act
    pair.run(pair.errands(*range(60)))
    assert sorted(one for one in tried if one[0] % 10 == 0) == [
        (seed, on) for seed in range(0, 60, 10) for on in "ab"
    ]
    assert pair.submitted[-1].workers is None and not pair.told.ill


def test_four_workers_are_asked_at_most(tmp_path: Path, no_time: Callable[[Made], Made]) -> None:
    five = no_time(two(tmp_path, *"abcde"))
    five.act = lambda errand, address: failed(errand, address, f"no disk at {address}")
    five.run(five.errands(5))
    assert [task.workers for task in five.submitted] == [
        None,
        ["b", "c", "d", "e"],
        ["c", "d", "e"],
        ["d", "e"],
    ]
    assert five.notes.steps == [f"infrastructure: {label(5)} (1.0 s): no disk at d"]


def test_what_does_not_begin_behind_a_failure_has_lost_no_turn(pair: Made) -> None:
    tried = list[tuple[int, str]]()

    def act(errand: Errand, address: str) -> Return:
        tried.append((errand.planned.job.split.seed, address))
        return failed(errand, address) if len(tried) == 1 else made(errand, address)

    pair.act = act
    pair.run(pair.errands(*range(128), seconds=0.1))
    assert pair.handed[0] == [0, 1, 2, 3] and tried[:1] == [(0, "a")]
    assert sorted(seed for seed, _ in tried) == [0, *range(128)], "each is made once, and one was tried twice"
    again = [(task.seeds, task.workers) for task in pair.submitted if min(task.seeds) < 4]
    # those that had not begun are short and untried still, and go together
    assert again == [([0, 1, 2, 3], None), ([0], ["b"]), ([3, 2, 1], None)]
    assert pair.notes.notes[-1] == line(runs=128)


def test_a_worker_that_refuses_is_named_and_given_nothing_more(pair: Made) -> None:
    pair.act = lambda errand, address: refused(errand, address) if address == "a" else made(errand, address)
    noted = list[Any]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Obstacles, "note", lambda _, *words: noted.append(words))
        pair.run(pair.errands(*range(6)))
    ill = "host of a: worker a is given nothing more: another harness"
    assert pair.notes.notes == [ill, f"{line(runs=6)}\n{ill}"]
    assert [task.workers for task in pair.submitted[6:]] == [["b"]] * len(pair.submitted[6:])
    assert noted[0] == ("run", planned_job(0).key, "worker a on host of a refused it: another harness")
    assert [(one.worker, one.host, one.reason) for one in pair.told.ill] == [("a", "host of a", "another harness")]
    assert len(pair.notes.steps) == 6 and pair.told.lost == 0 and not pair.told.underway


def test_who_refuses_costs_a_run_none_of_its_turns(tmp_path: Path, no_time: Callable[[Made], Made]) -> None:
    """Three refuse it and one fails it: the fifth still makes it."""
    acts = dict(zip("abcde", (refused, refused, refused, failed, made), strict=True))
    five = no_time(two(tmp_path, *acts))
    five.act = lambda errand, address: acts[address](errand, address)
    five.run(five.errands(5))
    assert five.notes.steps == [f"ok: {label(5)} (2.5 s)"] and len(five.told.ill) == 3


@pytest.mark.parametrize("course", [Course.RUN, Course.DUPLICATE])
def test_three_failures_that_others_made_good_show_a_worker_as_ill(pair: Made, course: Course) -> None:
    pair.act = lambda errand, address: (
        failed(errand, address) if address == "a" else replace(made(errand, address), course=course)
    )
    pair.run(pair.errands(*range(30)))
    reason = "3 runs in a row failed there and were made by others: no disk"
    assert [(one.host, one.worker, one.reason) for one in pair.told.ill] == [("host of a", "a", reason)]
    counted = line(runs=30) if course is Course.RUN else line(twice=30)
    assert pair.summary == f"{counted}\nhost of a: worker a is given nothing more: {reason}"
    assert len(pair.notes.steps) == 30 and all(step.startswith("ok: ") for step in pair.notes.steps)
    assert pair.notes.notes.count(f"host of a: worker a is given nothing more: {reason}") == 1


def test_the_failures_of_a_method_that_is_given_up_keep_no_worker_from_others(
    tmp_path: Path, no_time: Callable[[Made], Made]
) -> None:
    """Its runs that wait to be tried elsewhere never will be: whose failures they were, nobody finds out."""
    pair = no_time(two(tmp_path, threads=4))
    pair.act = lambda errand, address: (
        failed(errand, address) if errand.planned.job.method == "constant" else made(errand, address)
    )
    others = pair.errands(*range(40), method="popularity")
    pair.run([*pair.errands(*range(16)), *others])
    assert pair.state.given_up == {"constant"} and not pair.told.ill
    assert sum(step.startswith("ok: ") for step in pair.notes.steps) == len(others)
    assert [task.workers for task in pair.submitted[-10:]] == [None] * 10, "either worker may take them"


def test_what_another_harness_took_over_keeps_no_worker_from_the_rest(pair: Made) -> None:
    """Three runs fail on one worker at last, and are another harness's by the time they reach the other."""
    asked = list[int]()
    elsewhere = {**dict.fromkeys(range(7), 1), **dict.fromkeys(range(17, 20), 2)}

    def act(errand: Errand, address: str) -> Return:
        seed = errand.planned.job.split.seed
        asked.append(seed)
        if asked.count(seed) == elsewhere.get(seed):
            return Return(Course.ELSEWHERE, host="h", worker=address)
        return failed(errand, address) if seed > 16 and asked.count(seed) == 1 else made(errand, address)

    pair.act = act
    pair.run(pair.errands(*range(20)))
    assert [task.workers for task in pair.submitted] == [None] * 20 + [["b"]] * 3 + [None] * 10
    assert not pair.told.ill and len(pair.notes.steps) == 20


def test_what_was_found_says_nothing_against_who_failed_it(pair: Made) -> None:
    """Nobody knows where it was made."""
    pair.act = lambda errand, address: (
        failed(errand, address) if address == "a" else replace(made(errand, address), course=Course.FOUND)
    )
    pair.run(pair.errands(*range(30)))
    assert not pair.told.ill and len(pair.notes.steps) == 30


@pytest.mark.parametrize("kind", ["killed", "cancelled"])
def test_a_run_whose_worker_is_lost_four_times_is_given_up(one: Made, kind: str) -> None:
    from distributed import CancelledError, KilledWorker

    def act(errand: Errand, address: str) -> Return:
        if errand.planned.job.split.seed == 5:
            begin(errand)
            raise KilledWorker("task", None, 1) if kind == "killed" else CancelledError("task")
        return made(errand, address)

    one.act = act
    one.run(one.errands(5, 6))
    assert one.handed.count([5]) == 4 and one.handed.count([6]) == 1
    assert one.handed[:2] == [[5], [6]]
    reason = "its worker was lost 4 times"
    assert f"infrastructure: {label(5)}: {reason}" in one.notes.steps
    assert Obstacles(one.layout.runs).all("run") == {planned_job(5).key: reason}
    assert one.summary == line(runs=1, lost=4) and one.told.lost == 4


@pytest.mark.parametrize("begun", [0, 1, 2])
def test_of_runs_that_go_together_the_one_at_work_is_lost(one: Made, begun: int) -> None:
    from distributed import KilledWorker

    lost = list[int]()

    def act(errand: Errand, address: str) -> Return:
        seed = errand.planned.job.split.seed
        if lost:
            return made(errand, address)
        for other in errands[:begun]:
            begin(other)
        lost.append(seed)
        raise KilledWorker("task", None, 1)

    errands, one.act = one.errands(*range(32), seconds=0.1), act
    one.run(errands)
    assert (one.handed[0], lost) == ([0, 1], [0])
    assert one.told.lost == min(begun, 1) and one.told.ended == {"ok": 32}


def test_a_run_that_was_lost_before_it_was_made_is_counted_as_lost(one: Made) -> None:
    lost = {5: 2, 6: 0}
    one.act = lambda errand, address: Return(
        Course.RUN, Verdict.OK, "", 2.5, lost=lost[errand.planned.job.split.seed], host="h", worker=address
    )
    one.run(one.errands(5, 6))
    assert one.summary == line(runs=2, lost=2)


def test_a_failure_elsewhere_is_no_loss(pair: Made) -> None:
    """It was begun before, and came back: its worker was not lost."""
    pair.act = lambda errand, address: (
        failed(errand, address)
        if address == "a"
        else Return(Course.RUN, Verdict.OK, "", 1.0, lost=1, host="h", worker=address)
    )
    pair.run(pair.errands(5))
    assert pair.summary == line(runs=1)


def test_a_lost_run_is_first_again(one: Made) -> None:
    from distributed import CancelledError

    losses = [CancelledError("task")]

    def act(errand: Errand, address: str) -> Return:
        if losses:
            raise losses.pop()
        return made(errand, address)

    one.act = act
    one.run(one.errands(*range(8)))
    assert [seeds for (seeds,) in one.handed] == [0, 1, 2, 3, 0, 4, 5, 6, 7]


def test_what_goes_wrong_on_the_way_is_that_runs_own(one: Made) -> None:
    def act(errand: Errand, address: str) -> Return:
        if errand.planned.job.split.seed == 5:
            raise ValueError("can't be\n  pickled")
        return made(errand, address)

    one.act = act
    one.run(one.errands(5, 6))
    reason = "it could not be handed out: ValueError: can't be pickled"
    assert one.notes.steps == [f"infrastructure: {label(5)}: {reason}", f"ok: {label(6)} (2.5 s)"]
    assert Obstacles(one.layout.runs).all("run") == {planned_job(5).key: reason}


def test_what_another_harness_runs_is_asked_for_again_when_all_else_has_run(one: Made) -> None:
    asked = list[int]()

    def act(errand: Errand, address: str) -> Return:
        seed = errand.planned.job.split.seed
        asked.append(seed)
        if seed == 5 and asked.count(5) < 3:
            return Return(Course.ELSEWHERE, host="h", worker=address)
        return made(errand, address)

    one.act = act
    one.run(one.errands(5, 6, 7))
    assert asked == [5, 6, 7, 5, 5] and one.summary == line(runs=3)
    assert len(one.notes.steps) == 3 and one.told.ended == {"ok": 3}


def test_what_another_harness_goes_on_running_keeps_nothing_else_waiting(
    tmp_path: Path, no_time: Callable[[Made], Made]
) -> None:
    """More than the scheduler holds at a time: each is asked for once before any is asked for again."""
    small = no_time(Made(tmp_path, Worker("a", 1, LARGE)))
    asked = list[int]()

    def act(errand: Errand, address: str) -> Return:
        seed = errand.planned.job.split.seed
        asked.append(seed)
        if asked.count(seed) < 4:
            return Return(Course.ELSEWHERE, host="h", worker=address)
        return made(errand, address)

    small.act = act
    small.run(small.errands(*range(1, 8)))
    assert small.most_open == 2 and asked == [*range(1, 8)] * 4 and small.summary == line(runs=7)


def test_who_waits_for_another_harness_does_not_ask_it_without_pause(one: Made) -> None:
    pauses, asked = list[float | None](), list[str]()

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout)
            return self.is_set()

    def act(errand: Errand, address: str) -> Return:
        asked.append(address)
        if len(asked) < 4:
            return Return(Course.ELSEWHERE, host="h", worker=address)
        return made(errand, address)

    one.state.stop, one.act = Stop(), act
    one.run(one.errands(5))
    assert len(asked) == 4 and pauses == [0.5, 0.5], "the first time all else is looked at"


def test_an_errand_is_made_when_its_turn_comes(one: Made) -> None:
    """There may be a million."""
    begun, ahead = list[int](), list[int]()

    def several() -> Iterator[Errand]:
        for errand in one.errands(*range(50)):
            begun.append(errand.planned.job.split.seed)
            yield errand

    def act(errand: Errand, address: str) -> Return:
        ahead.append(len(begun) - errand.planned.job.split.seed)
        return made(errand, address)

    one.act = act
    hand_out(cast(Cluster, one), several(), 50, one.state, one.wanted)
    assert len(ahead) == 50 and max(ahead) == 5, "four tasks that the scheduler holds, and the next"


def test_nothing_more_is_handed_out_when_it_is_enough(one: Made) -> None:
    def act(errand: Errand, address: str) -> Return:
        one.state.enough.set()
        return made(errand, address) if len(one.notes.steps) < 1 else Return(Course.STOPPED, host="h", worker="a")

    one.act = act
    one.run(one.errands(*range(20)))
    assert len(one.submitted) <= 5 and one.wanted.exists() and enough_file(one.wanted).exists()
    assert one.notes.steps == [f"ok: {label(0)} (2.5 s)"] and one.summary == line(runs=1)
    assert one.told.ended == {"ok": 1} and not one.told.underway


def test_who_stops_at_once_lets_go_of_what_runs(one: Made) -> None:
    def act(errand: Errand, address: str) -> Return:
        one.state.stop.set()
        return Return(Course.RUN, Verdict.INTERRUPTED, "a person stopped it", 1.0, host="h", worker="a")

    one.act = act
    one.run(one.errands(*range(20)))
    assert not one.wanted.exists() and len(one.submitted) <= 5
    assert one.notes.steps[0] == f"interrupted: {label(0)} (1.0 s): a person stopped it"


def test_a_lost_run_is_not_handed_out_again_when_nothing_more_begins(one: Made) -> None:
    from distributed import CancelledError

    def act(errand: Errand, address: str) -> Return:
        one.state.enough.set()
        raise CancelledError("task")

    one.act = act
    one.run(one.errands(5))
    assert one.handed == [[5]] and one.summary == line(lost=1)
    assert one.notes.steps == [f"infrastructure: {label(5)}: its worker was lost 1 times"]


def test_a_machine_that_fails_a_run_while_all_ends_is_not_asked_elsewhere(pair: Made) -> None:
    def act(errand: Errand, address: str) -> Return:
        pair.state.enough.set()
        return failed(errand, address)

    pair.act = act
    pair.run(pair.errands(5))
    assert pair.handed == [[5]] and pair.notes.steps == [f"infrastructure: {label(5)} (1.0 s): no disk"]


def test_a_method_with_three_failures_in_a_row_is_left(pair: Made) -> None:
    pair.act = lambda errand, address: failed(errand, address)
    pair.run(pair.errands(*range(12)))
    assert pair.state.given_up == {"constant"}
    assert "3 failures in a row with constant: its other runs are left for the next time" in pair.notes.notes
    assert 3 <= len(pair.notes.steps) < 12 and not pair.told.ill and not pair.told.underway


def test_a_method_that_is_left_goes_with_no_other(one: Made) -> None:
    """Though they need the same, and are short."""
    methods = ["constant", "popularity"] * 32
    errands = [errand for at, name in enumerate(methods) for errand in one.errands(at, method=name, seconds=0.1)]
    several = Line(errands)

    def taken(*given_up: str) -> list[str]:
        return [turn.errand.planned.job.method for turn in several.take(3, given_up)]

    assert taken() == ["constant", "popularity", "constant"]
    assert taken("constant") == ["popularity"] and taken("popularity") == ["constant"]
    # the first one is whoever's turn it is
    assert taken("popularity") == ["popularity", "constant"]
    one.state.given_up.add("popularity")
    one.run(errands)
    assert {seed % 2 for seeds in one.handed for seed in seeds} == {0} and one.summary == line(runs=32)


@pytest.mark.parametrize(("sick", "more"), [("abc", []), ("abcd", ["and 1 more"])])
def test_several_methods_that_fail_everywhere_end_it_and_name_three_ill_workers(
    tmp_path: Path, no_time: Callable[[Made], Made], sick: str, more: list[str]
) -> None:
    many = no_time(two(tmp_path, *"abcdef"))
    many.act = lambda errand, address: (refused if address in sick else failed)(errand, address)
    methods = ("constant", "popularity")
    errands = [one for seed in range(6) for name in methods for one in many.errands(seed, method=name)]
    with pytest.raises(EngineError) as ended:
        many.run(errands)
    ill = {f"host of {name}, worker {name}: another harness" for name in sick}
    named = ended.value.what.split("; ")
    assert named[0] == "runs of several methods failed in a row, wherever they were tried"
    assert len(set(named[1:4])) == 3 and set(named[1:4]) <= ill and named[4:] == more
    assert ended.value.where == "--on tcp://x:1"
    assert ended.value.todo == (
        "harness doctor --on examines each machine: mend these, or start workers on others; "
        "finished runs are kept, and the same command resumes"
    )
    assert many.state.stop.is_set()


def test_a_scheduler_that_is_gone_ends_it(one: Made) -> None:
    def vanish() -> None:
        one.status = "closed"

    one.each = vanish
    with pytest.raises(EngineError) as ended:
        one.run(one.errands(*range(60)))
    assert (ended.value.what, ended.value.where, ended.value.todo) == (
        "the scheduler does not answer any more",
        "--on tcp://x:1",
        "finished runs are kept, and the same command resumes",
    )
    assert all(future.is_cancelled for future in one.open), "nothing more is asked of it"
    assert one.summary.startswith("on tcp://x:1: ")


def test_without_a_worker_it_waits_a_minute(one: Made) -> None:
    began = one.now
    one.here.clear()
    with pytest.raises(EngineError) as ended:
        one.run(one.errands(5, 6))
    assert ended.value.what == "there has been no worker for 60 s"
    assert 60.0 < one.now - began <= 67.0
    assert len(one.submitted) == 1, "one task waits for a worker, so that a cluster that grows with its work grows"


def test_a_queue_may_take_its_time_to_start_a_worker(one: Made) -> None:
    late = one.here.pop("a")
    one.most, began = 1, one.now

    def come() -> None:
        if one.now - began > 5000:
            one.here["a"] = late

    one.each = come
    one.run(one.errands(5))
    assert one.summary == line(runs=1) and one.now - began > 5000


@pytest.mark.parametrize("most", [None, 1])
def test_where_all_workers_are_ill_it_ends_and_says_of_what(one: Made, most: int | None) -> None:
    """Also of a queue, which has no other to give."""
    one.act, one.most, began = refused, most, one.now
    # were there no end to it, the clock would say so
    one.each = lambda: one.state.stop.set() if one.now > began + 1000 else None
    with pytest.raises(EngineError) as ended:
        one.run(one.errands(5))
    assert ended.value.what == ("no worker is left that can run anything; host of a, worker a: another harness")
    assert 60.0 < one.now - began < 75.0


def test_a_run_that_no_worker_can_hold_is_told_and_counts_against_nobody(
    tmp_path: Path, no_time: Callable[[Made], Made]
) -> None:
    small = no_time(Made(tmp_path, Worker("a", 2, Share(1, 1 << 30)), Worker("b", 2, LARGE)))
    small.act = lambda errand, address: refused(errand, address) if address == "b" else made(errand, address)
    large = small.errands(1, 2, 3, 4, method="nimcgcn")
    small.run([*large, *small.errands(5)])
    reason = "no worker that is left lends what it needs"
    steps = [step for step in small.notes.steps if "nimcgcn" in step]
    assert steps == [f"infrastructure: {label(seed, 'nimcgcn')}: {reason}" for seed in (1, 2, 3, 4)]
    assert not small.state.given_up and not small.state.failures


def test_a_worker_that_was_lost_a_moment_ago_may_come_back_for_what_failed_elsewhere(pair: Made) -> None:
    """What failed on one waits a minute for another in the place of the lost one."""
    states = list[str]()

    def each() -> None:
        if pair.here.pop("b", None):
            states.append("lost")
        if len(states) == 1 and pair.now > 1020:
            pair.here["c"] = Worker("c", 2, LARGE)
            states.append("another")

    pair.each = each
    pair.act = lambda errand, address: failed(errand, address) if address == "a" else made(errand, address)
    pair.run(pair.errands(*range(3)))
    assert states == ["lost", "another"] and {step.partition(":")[0] for step in pair.notes.steps} == {"ok"}
    assert pair.told.nodes == {"host of c": 3}


def test_a_run_that_nobody_is_left_to_try_again_failed_and_counts(pair: Made) -> None:
    """Its other worker was lost, and none came in its place."""
    began = pair.now
    pair.each = lambda: pair.here.pop("b", None)
    pair.act = lambda errand, address: failed(errand, address, f"no disk at {address}")
    pair.run(pair.errands(5))
    assert [task.workers for task in pair.submitted] == [None, ["b"]] and 60 < pair.now - began < 75
    assert pair.notes.steps == [f"infrastructure: {label(5)} (1.0 s): no disk at a"]
    assert pair.told.ended == {"infrastructure": 1} and pair.state.failures == ("constant",)


def test_for_a_worker_that_has_joined_nobody_waits(pair: Made) -> None:
    """Too small for what failed on all others, it came in nobody's place."""
    began = pair.now

    def each() -> None:
        pair.here.setdefault("c", Worker("c", 2, Share(1, 1 << 20)))
        pair.is_busy = "c" not in pair.looks[-1][1]

    pair.each, pair.act = each, failed
    pair.run(pair.errands(5))
    assert pair.notes.steps == [f"infrastructure: {label(5)} (1.0 s): no disk"] and pair.now - began < 20


def test_nobody_waits_for_longer_than_a_minute_for_another_worker(pair: Made) -> None:
    def each() -> None:
        pair.here.pop("b", None)

    pair.each = each
    pair.act = failed
    pair.run(pair.errands(5))
    assert pair.notes.steps == [f"infrastructure: {label(5)} (1.0 s): no disk"]
    missed = next(now for now, names in pair.looks if "b" not in names)
    assert 60.0 <= pair.now - missed <= 60.5
    looks = [now for now, _ in pair.looks[1:]]
    assert {later - now for now, later in pairwise(looks)} == {5.5}, "more often would cost a scheduler"


def test_who_waited_in_vain_for_another_worker_is_failed_by_the_last(
    tmp_path: Path, no_time: Callable[[Made], Made]
) -> None:
    three = no_time(two(tmp_path, *"abc"))
    three.each = lambda: three.here.pop("c", None)
    three.act = lambda errand, address: failed(errand, address, f"no disk at {address}")
    three.run(three.errands(5))
    assert three.notes.steps == [f"infrastructure: {label(5)} (1.0 s): no disk at b"]


def test_what_was_meant_for_a_worker_that_is_gone_is_handed_to_another(pair: Made) -> None:
    seen = list[Any]()

    def each() -> None:
        meant = [one for one in pair.open if one.meant_for == ["b"]]
        if meant and "b" in pair.here:
            del pair.here["b"]
            pair.here["c"] = Worker("c", 2, LARGE)
            seen.extend(meant)

    pair.each = each
    pair.act = lambda errand, address: failed(errand, address) if address == "a" else made(errand, address)
    pair.run(pair.errands(5))
    assert [task.workers for task in pair.submitted] == [None, ["b"], ["c"]]
    assert [future.is_cancelled for future in seen] == [True] and pair.told.nodes == {"host of c": 1}


def test_what_several_workers_may_take_waits_as_long_as_one_of_them_is_there(
    tmp_path: Path, no_time: Callable[[Made], Made]
) -> None:
    three = no_time(two(tmp_path, *"abc"))
    waiting = list[Future]()

    def each() -> None:
        waiting.extend(one for one in three.open if one.meant_for and one not in waiting)
        if waiting:
            three.here.pop("b", None)
            # the other is busy until the desk has looked around
            three.is_busy = three.now < three.looks[-1][0] or "b" in three.looks[-1][1]

    three.each = each
    three.act = lambda errand, address: failed(errand, address) if address == "a" else made(errand, address)
    three.run(three.errands(5))
    assert [(task.seeds, task.workers) for task in three.submitted] == [([5], None), ([5], ["b", "c"])]
    assert [one.is_cancelled for one in waiting] == [False] and three.told.nodes == {"host of c": 1}


def test_without_a_worker_all_short_runs_wait_together(one: Made) -> None:
    late, began = one.here.pop("a"), one.now

    def come() -> None:
        if one.now - began > 20:
            one.here["a"] = late

    one.each = come
    one.run(one.errands(*range(6), seconds=0.1))
    assert one.handed == [list(range(6))] and one.summary == line(runs=6)


def test_a_run_that_was_lost_is_at_work_when_it_begins_again(one: Made) -> None:
    from distributed import CancelledError

    (errand,), shown, ends = one.errands(5), list[list[str]](), [CancelledError("task")]

    def each() -> None:
        shown.append([run.host for run in one.told.underway])
        one.is_busy = len(shown) < 12
        if len(shown) == 1:
            beginnings(errand).write_text("node-1\n")
        if len(shown) == 4:
            one.is_busy = False
        if len(shown) == 9:
            beginnings(errand).write_text("node-1\nnode-2\n")

    def act(errand: Errand, address: str) -> Return:
        if ends:
            raise ends.pop()
        return made(errand, address)

    one.each, one.act = each, act
    one.run([errand])
    assert shown[3] == ["node-1"] and shown[5] == shown[8] == [], "it has not begun a second time"
    assert shown[11] == ["node-2"] and one.summary == line(runs=1)


def test_a_run_that_comes_back_is_at_work_nowhere_until_it_begins_elsewhere(pair: Made) -> None:
    (errand,), shown = pair.errands(5), list[list[str]]()

    def each() -> None:
        shown.append([run.host for run in pair.told.underway])
        pair.is_busy = len(shown) not in (5, 15)
        if len(shown) == 1:
            beginnings(errand).write_text("node-a\n")

    pair.each = each
    pair.act = lambda errand, address: failed(errand, address) if address == "a" else made(errand, address)
    pair.run([errand])
    assert shown[4] == ["node-a"] and shown[6] == shown[13] == []
    assert pair.told.nodes == {"host of b": 1} and len(shown) == 15


def test_reading_what_has_begun_takes_a_twentieth_of_the_time(one: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    read, began = list[float](), one.now

    def hosts_of(errand: Errand) -> list[str]:
        read.append(one.now)
        one.now += 2.0
        return []

    def each() -> None:
        one.is_busy = one.now - began < 300

    one.each = each
    monkeypatch.setattr(desk, "hosts_of", hosts_of)
    one.run(one.errands(5))
    assert len(read) > 3
    assert all(40.0 <= later - earlier - 2.0 <= 41.0 for earlier, later in pairwise(read))


def test_what_has_begun_is_told_with_its_machine_and_one_at_a_time(one: Made) -> None:
    shown = list[list[tuple[str, str]]]()

    def each() -> None:
        if len(shown) < 3:
            began = [errands[0]] if len(shown) == 1 else errands[:2] if len(shown) == 2 else []
            for errand in began:
                if not beginnings(errand).exists():
                    beginnings(errand).write_text("other\nnode-7\n")
        one.now += 2.0

    # the task itself does not end before all was seen
    def get(timeout: float) -> str:
        one.now += timeout
        each()
        shown.append([(run.label, run.host) for run in one.told.underway])
        if len(shown) < 5:
            raise queue.Empty
        return usual(timeout)

    usual = one.get
    one.get = get  # type: ignore[method-assign]
    one.act = made
    errands = one.errands(*range(32), seconds=0.1)
    one.run(errands)
    assert one.handed[0] == [0, 1]
    assert shown[:2] == [[], []]
    assert shown[2] == [(label(0), "node-7")]
    assert shown[3] == shown[4] == [(label(1), "node-7")]
