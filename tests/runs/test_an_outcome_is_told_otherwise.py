"""What is asked of an engine for one attempt, what is tried again, and what an outcome says, word for word."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from dataclasses import fields, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import requests

from harness.base.errors import EngineError, ImageError, UsageError
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.engine.cgroup import Usage
from harness.engine.confinement import Confinement
from harness.execution.runs import Limits, Outcome, RunRequest, attempt, execute, watch
from harness.execution.runs.attempt import Observed
from harness.execution.runs.classify import Signs, Stop
from harness.execution.runs.container import container_configuration
from harness.execution.runs.outcome import Attempt
from harness.execution.runs.watch import Running
from harness.execution.runs.workspace import Collection
from tests.core.word_for_word import said
from tests.runs.fake_engine import IMAGE, Behaviour
from tests.runs.helpers import ANSWER
from tests.runs.made_up import outcome_of
from tests.runs.test_attempts_are_misjudged import Fake, Kernel, Says, fake, kernel
from tests.runs.test_container import FACTS

__all__ = ["fake", "kernel"]
module = import_module("harness.execution.runs.execute")
REQUEST_LIMITS = Limits(seconds=9, memory_bytes=100 << 20)


class Engines:
    """In the place of an engine: which it is, and what is asked of it between attempts."""

    def __init__(self, images: dict[str, str] | None = None) -> None:
        self.facts = replace(FACTS, warnings=("slow",), memory_limit_enforced=True)
        self.images, self.renewed, self.failing = images or {}, list[float](), False

    def renew(self, *, patience: float) -> None:
        self.renewed.append(patience)
        if self.failing:
            raise EngineError("the engine went away", where="x")

    def image_id(self, name: str) -> str | None:
        return self.images.get(name)


class Attempts:
    """In the place of `run_once`: attempts end as was said, the last of them again and again."""

    def __init__(self, *ends: Signs | Exception, **more: Any) -> None:
        self.ends, self.more = list(ends), more
        self.workspaces: list[Any] = []
        self.stops: list[threading.Event] = []

    def __call__(self, engine: Any, request: RunRequest, workspace: Any, stop: threading.Event) -> Observed:
        assert all(not earlier.folder.exists() for earlier in self.workspaces), "each in a fresh workspace"
        self.workspaces.append(workspace)
        self.stops.append(stop)
        end = self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]
        if isinstance(end, BaseException):
            raise end
        workspace.log.touch()
        return Observed(end, workspace, "2026-01-01T00:00:00+00:00", wall_s=1.00004, **self.more)


@pytest.fixture
def request_(tmp_path: Path) -> RunRequest:
    (tmp_path / "in").mkdir()
    return RunRequest("permafrost/x:1", IMAGE, tmp_path / "in", tmp_path / "work", REQUEST_LIMITS, **ANSWER)


class Waits(threading.Event):
    """A person who never stops, and for how long was waited for them."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout)
        return False


def run(
    monkeypatch: pytest.MonkeyPatch,
    request: RunRequest,
    attempts: Attempts,
    engine: Engines | None = None,
    **more: Any,
) -> Outcome:
    discarded = more.pop("discarded", [])
    monkeypatch.setattr(module, "run_once", attempts)
    monkeypatch.setattr(module, "discard_run", lambda _, name: discarded.append(name))
    return execute(cast(Engine, engine or Engines()), request, **more)


LOST, HUNG = Signs(engine_fault="the engine was lost"), Signs(exit_code=137)
ABSENT = Signs(start_fault="exec: not found", exit_code=127)
GOOD = Signs(exit_code=0)


def test_a_check_that_fails_itself_leaves_nothing_behind(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(folder: Path) -> object:
        (folder / "predictions.npy").write_bytes(b"what was answered")
        raise KeyError(folder.name)

    attempts = Attempts(GOOD)
    with pytest.raises(KeyError):
        run(monkeypatch, request_, attempts, check=check)
    (workspace,) = attempts.workspaces
    assert not workspace.folder.exists()


def test_an_outcome_says_all_that_was_observed(request_: RunRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    confinement = Confinement(True, True, 0, 7)
    signs = Signs(exit_code=0, oom_flag=False, ran_s=0.75, paused_s=0.123456)
    attempts = Attempts(
        signs,
        cpu_s=0.5,
        peak_bytes=77,
        oom_kills=0,
        log_bytes=5,
        log_cut_bytes=2,
        collection=Collection("", ("odd",), 9),
        memory_limit_kept=None,
        confinement=confinement,
        warnings=("a warning", "slow"),
    )
    engine, checked = Engines(), list[Path]()
    outcome = run(monkeypatch, request_, attempts, engine, check=checked.append)
    (workspace,) = attempts.workspaces
    assert checked == [outcome.out_folder], "what is checked is what is kept"
    assert outcome == Outcome(
        verdict=Verdict.OK,
        reason="finished with valid predictions",
        exit_code=0,
        oom_flag=False,
        oom_kills=0,
        wall_s=1.0,
        ran_s=0.75,
        paused_s=0.1235,
        cpu_s=0.5,
        peak_bytes=77,
        memory_limit_enforced=True,
        confinement=confinement,
        started="2026-01-01T00:00:00+00:00",
        log=workspace.log,
        log_bytes=5,
        log_cut_bytes=2,
        out_folder=workspace.collected,
        output_bytes=9,
        ignored=("odd",),
        engine=engine.facts,
        image_id=IMAGE,
        attempts=(Attempt(Verdict.OK, "finished with valid predictions", 1.00004),),
        warnings=("slow", "a warning"),
        folder=workspace.folder,
    )
    assert not workspace.out.exists() and not workspace.shown.exists() and workspace.collected.is_dir()
    assert not engine.renewed


def test_an_outcome_is_plain_values_without_paths(tmp_path: Path) -> None:
    confinement = Confinement(True, False, 3, 7)
    attempts = (Attempt(Verdict.INFRASTRUCTURE, "lost", 1.5), Attempt(Verdict.OK, "well", 2.5))
    outcome = outcome_of(
        tmp_path / "run", ignored=("a",), warnings=("w",), attempts=attempts, confinement=confinement, exit_code=3
    )
    told = outcome.as_json()
    assert told.keys() == {one.name for one in fields(Outcome)} - {"log", "out_folder", "folder"}
    assert (told["verdict"], told["reason"], told["exit_code"], told["wall_s"]) == ("ok", "made up", 3, 2.5)
    assert type(told["verdict"]) is str and (told["ignored"], told["warnings"]) == (["a"], ["w"])
    assert told["engine"] == FACTS.as_json() and told["confinement"] == confinement.as_json()
    assert told["attempts"] == [
        {"verdict": "infrastructure", "reason": "lost", "wall_s": 1.5},
        {"verdict": "ok", "reason": "well", "wall_s": 2.5},
    ]
    assert type(told["attempts"][0]["verdict"]) is str
    assert replace(outcome, confinement=None).as_json()["confinement"] is None
    assert outcome.ok and not replace(outcome, verdict=Verdict.ERROR).ok
    outcome.discard()
    assert not outcome.folder.exists()


@pytest.mark.parametrize(("kept", "enforced"), [(True, True), (False, False), (None, False)])
def test_the_kernel_says_whether_memory_was_limited_and_else_the_engine(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch, kept: bool | None, enforced: bool
) -> None:
    engine = Engines()
    engine.facts = replace(engine.facts, memory_limit_enforced=False)
    outcome = run(monkeypatch, request_, Attempts(GOOD, memory_limit_kept=kept), engine)
    assert outcome.memory_limit_enforced is enforced
    remark = ("the kernel held no memory limit for this run",) if kept is False else ()
    assert outcome.warnings == ("slow", *remark)


@pytest.mark.parametrize(
    ("ends", "pauses"),
    [
        ((LOST,), [1.0, 10.0]),
        ((HUNG, GOOD), [0.5]),
        ((HUNG, HUNG, GOOD), [0.5, 2.0]),
        ((HUNG, LOST, GOOD), [0.5, 10.0]),
        ((ABSENT, GOOD), [0.5]),
        ((ABSENT, ABSENT), [0.5]),
        ((ABSENT, LOST, ABSENT), [0.5, 10.0]),
        ((LOST, ABSENT, GOOD), [1.0, 2.0]),
        ((GOOD,), []),
    ],
)
def test_an_engine_is_given_time_and_looked_for_before_another_attempt(
    request_: RunRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    ends: tuple[Signs, ...],
    pauses: list[float],
) -> None:
    stop, engine, attempts, discarded = Waits(), Engines(), Attempts(*ends), list[str]()
    outcome = run(monkeypatch, request_, attempts, engine, stop=stop, patience=7.0, discarded=discarded)
    assert stop.seconds == pauses and engine.renewed == [7.0] * len(pauses)
    assert discarded == [one.name for one in attempts.workspaces[: len(pauses)]]
    assert attempts.stops == [stop] * (len(pauses) + 1) and len(outcome.attempts) == len(pauses) + 1
    assert [record.getMessage() for record in caplog.records] == [
        f"attempt {number} of 3 failed: {one.reason}"
        for number, one in enumerate(outcome.attempts[: len(pauses)], 1)
    ]
    assert [one.folder.exists() for one in attempts.workspaces] == [False] * len(pauses) + [True]


def test_a_program_that_can_not_be_started_twice_is_not_there(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once is an engine's: of a verified image it started one container without its files."""
    again = run(monkeypatch, request_, Attempts(ABSENT), stop=Waits())
    assert again.reason == "the image's program could not be started: exec: not found"
    assert [one.verdict for one in again.attempts] == [again.verdict] * 2 == [Verdict.ERROR] * 2
    once = run(monkeypatch, request_, Attempts(ABSENT, GOOD), stop=Waits())
    assert (once.verdict, once.attempts[0].verdict) == (Verdict.OK, Verdict.ERROR)


def test_an_engine_that_stays_away_ends_it_and_says_so(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, attempts = Engines(), Attempts(LOST)
    engine.failing = True
    outcome = run(monkeypatch, request_, attempts, engine, stop=Waits())
    assert (outcome.verdict, len(outcome.attempts)) == (Verdict.INFRASTRUCTURE, 1) and engine.renewed == [60.0]
    assert outcome.reason == "the engine was lost; the engine went away"
    assert outcome.attempts[0].reason == "the engine was lost" and outcome.folder.is_dir()


def test_an_engine_that_comes_back_and_is_gone_again_is_no_fault_of_the_harness(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any) -> None:
        raise requests.ConnectionError("gone again")

    monkeypatch.setattr(module, "discard_run", gone)
    outcome = fake.run(Behaviour(cut=True))
    assert (outcome.verdict, len(outcome.attempts)) == (Verdict.INFRASTRUCTURE, 1)
    assert outcome.reason.startswith("the engine was lost during the run: ")
    assert outcome.reason.endswith("; gone again") and outcome.folder.is_dir()


@pytest.mark.parametrize(
    "signs",
    [Signs(stopped=Stop.DISK, stop_detail="full"), Signs(exit_code=1, disk_fault="full")],
)
def test_a_full_disk_is_not_tried_again(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch, signs: Signs
) -> None:
    engine = Engines()
    outcome = run(monkeypatch, request_, Attempts(signs), engine)
    assert (outcome.verdict, len(outcome.attempts), engine.renewed) == (Verdict.INFRASTRUCTURE, 1, [])


@pytest.mark.parametrize(
    ("images", "state"),
    [({}, "nor any image of its name"), ({"permafrost/x:1": "sha256:b"}, "its name now stands for sha256:b")],
)
def test_an_image_that_is_gone_is_told_in_three_parts(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch, images: dict[str, str], state: str
) -> None:
    engine, attempts = Engines(images), Attempts(attempt.ImageGone("No such image"))
    with pytest.raises(ImageError) as refused:
        run(monkeypatch, request_, attempts, engine, patience=3.0)
    assert said(refused.value) == (
        f"the engine does not have the image that was planned ({state})",
        f"permafrost/x:1 {IMAGE}",
        "build it again (harness image build); if it then differs, its environment or code has changed",
    )
    assert engine.renewed == [3.0] and len(attempts.workspaces) == 1
    assert not any(one.folder.exists() for one in attempts.workspaces)


def test_an_image_that_comes_and_goes_is_tried_three_times(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = attempt.ImageGone("No such image")
    attempts = Attempts(gone)
    with pytest.raises(ImageError):
        run(monkeypatch, request_, attempts, Engines({IMAGE: IMAGE}))
    assert len(attempts.workspaces) == 3
    outcome = run(monkeypatch, request_, Attempts(gone, gone, GOOD), Engines({IMAGE: IMAGE}))
    assert outcome.attempts[:2] == (Attempt(Verdict.INFRASTRUCTURE, "the image was gone: No such image", 0.0),) * 2
    assert outcome.verdict is Verdict.OK and len(outcome.attempts) == 3


def test_what_is_raised_leaves_no_workspace(request_: RunRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts(cast(Any, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, request_, attempts)
    assert not attempts.workspaces[0].folder.exists()


def test_a_request_that_can_not_be_is_told_in_three_parts(request_: RunRequest) -> None:
    with pytest.raises(ImageError) as name:
        execute(cast(Engine, Engines()), replace(request_, image_id="permafrost/x:1"))
    assert said(name.value) == (
        "an image is run by its id, not by a name: 'permafrost/x:1'",
        "permafrost/x:1",
        "give the id that the build recorded",
    )
    nowhere = request_.in_folder / "nowhere"
    with pytest.raises(UsageError) as missing:
        execute(cast(Engine, Engines()), replace(request_, in_folder=nowhere))
    assert said(missing.value) == ("the folder of inputs is missing", str(nowhere), "make it first")


def test_inputs_can_be_read_before_anything_runs(request_: RunRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    file = request_.in_folder / "job.json"
    file.touch(mode=0o600)
    request_.in_folder.chmod(0o700)
    run(monkeypatch, request_, Attempts(GOOD))
    assert file.stat().st_mode & 0o777 == 0o644 and request_.in_folder.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_stays_is_told(
    request_: RunRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "remove_stubborn", lambda place: [f"{place.name}: busy"])
    with caplog.at_level(logging.WARNING):
        run(monkeypatch, request_, Attempts(GOOD))
    assert [record.getMessage() for record in caplog.records] == [
        "could not be removed: out: busy",
        "could not be removed: shown: busy",
    ]


@pytest.mark.parametrize("other", ["b" * 64, "a" * 63 + "b", "a" * 12])
def test_another_image_is_told_with_both_ids(fake: Fake, other: str) -> None:
    """Also where it begins alike."""
    other = f"sha256:{other}"
    with pytest.raises(ImageError) as refused:
        fake.run(Behaviour(image=other))
    assert said(refused.value) == (
        "the engine ran another image than the one that was asked for",
        f"permafrost/x:1: asked for {IMAGE}, ran {other}",
        "build the image again (harness image build)",
    )


def test_an_id_may_be_told_without_its_kind(fake: Fake) -> None:
    assert fake.run(Behaviour(image="a" * 64)).verdict is Verdict.OK


def test_a_container_is_the_harness_s_own_and_its_folders_are_the_attempt_s(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = list[dict[str, Any]]()

    def note(*words: Any, **named: Any) -> dict[str, Any]:
        described.append(named)
        return container_configuration(*words, **named)

    monkeypatch.setattr(attempt, "container_configuration", note)
    outcome = fake.run(Behaviour())
    (named,) = described
    folder = outcome.folder
    assert (named["out"], named["shown"]) == (folder / "out", folder / "shown")
    assert named["run"] == f"{folder.parent.name}-{folder.name}"
    assert named["owner"] == str(folder.parent / "owner.lock")
    assert named["user"].own or named["user"].uid


def test_walls_that_the_kernel_does_not_keep_end_the_run_at_once(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak = Confinement(False, False, 1, 0)
    monkeypatch.setattr(attempt, "read_confinement", lambda pid: weak)
    monkeypatch.setattr(attempt, "broken_walls", lambda confinement, facts: ["capabilities", "no filter"])
    outcome = fake.run(Behaviour(seconds=60.0))
    assert (outcome.verdict, len(outcome.attempts)) == (Verdict.INFRASTRUCTURE, 3)
    assert outcome.reason == (
        "the kernel does not enforce what the engine was asked for: capabilities, no filter (see harness doctor)"
    )
    assert outcome.confinement == weak and "wait" not in fake.engine.calls


def test_a_container_ran_as_long_as_the_shorter_of_both_clocks(fake: Fake) -> None:
    outcome = fake.run(Behaviour(seconds=0.3, ran_s=1000.0))
    assert outcome.ran_s == pytest.approx(1000.0), "without a word of the kernel the engine's stamps tell"
    assert outcome.wall_s >= 0.3


def test_the_kernels_word_on_memory_is_held_against_the_limit_that_was_asked_for(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Any]()

    def limit_is_kept(usage: Usage, limit: int) -> bool:
        asked.append((usage, limit))
        return True

    monkeypatch.setattr(attempt, "limit_is_kept", limit_is_kept)
    fake.run(Behaviour())
    assert asked == [(Usage(), 100 << 20)]


def test_all_output_is_asked_for_from_the_start_and_events_of_this_container_alone(fake: Fake) -> None:
    outcome = fake.run(Behaviour(exit_code=1))
    (container,) = fake.engine.removed
    assert fake.engine.queries["attach"] == {"stream": "1", "stdout": "1", "stderr": "1", "logs": "0"}
    asked = fake.engine.queries["events"]
    assert json.loads(asked["filters"]) == {"container": [container], "type": ["container"]}
    since, until = int(asked["since"]), int(asked["until"])
    began = int(datetime.fromisoformat(outcome.started).timestamp())
    assert (since, began < until <= int(time.time()) + 2) == (began - 1, True), "clocks differ by a second"


class Api:
    """An engine's client that is told how a container ended."""

    base_url = "http+docker://x"

    def __init__(self, fault: Exception | None = None) -> None:
        self.asked, self.fault = list[Any](), fault

    def wait(self, *words: Any, **named: Any) -> dict[str, Any]:
        self.asked.append((words, named))
        if self.fault is not None:
            raise self.fault
        return {"StatusCode": "3"}

    def post(self, *words: Any, **named: Any) -> Api:
        self.asked.append((words, named))
        return self

    def raise_for_status(self) -> None:
        self.asked.append("checked")

    def json(self) -> str:
        return "7"


def waited(api: Api, engine: str, *, is_closed: bool = False) -> tuple[Any, bool]:
    """A waiter that has ended, and whether it woke the loop."""
    wake = os.eventfd(0, os.EFD_NONBLOCK)
    try:
        nothing: Any = None
        running = Running(api, engine, "abcdefghijklmnop", nothing, nothing, nothing, 0.0)
        waiter = watch._Waiter(running, wake)
        assert (waiter.name, waiter.daemon) == ("wait-abcdefghijkl", True)
        if is_closed:
            waiter.abandon()
        waiter.start()
        waiter.join()
        try:
            return waiter, os.eventfd_read(wake) == 1
        except BlockingIOError:
            return waiter, False
    finally:
        os.close(wake)


def test_each_engine_is_waited_for_without_a_limit_of_time() -> None:
    docker, podman = Api(), Api()
    waiter, woke = waited(docker, "docker")
    assert (waiter.exit_code, waiter.fault, woke) == (3, "", True)
    assert docker.asked == [(("abcdefghijklmnop",), {"timeout": None})]
    waiter, woke = waited(podman, "podman")
    assert (waiter.exit_code, waiter.fault, woke) == (7, "", True)
    url = "http+docker://x/v4.0.0/libpod/containers/abcdefghijklmnop/wait"
    asked = {"params": {"condition": "exited", "interval": "50ms"}, "timeout": None}
    assert podman.asked == [((url,), asked), "checked"]


def test_an_engine_that_goes_away_wakes_who_listens() -> None:
    waiter, woke = waited(Api(OSError("gone")), "docker")
    assert (waiter.exit_code, waiter.fault, woke) == (None, "gone", True)
    waiter, woke = waited(Api(), "docker", is_closed=True)
    assert (waiter.exit_code, woke) == (3, False), "nobody listens any more"


def test_a_lack_of_memory_is_noticed_when_the_kernel_tells_of_it(fake: Fake, kernel: Says) -> None:
    events = os.eventfd(1, os.EFD_NONBLOCK)
    try:
        said = kernel(events=events)
        assert fake.run(Behaviour(seconds=0.3)).verdict is Verdict.OK
    finally:
        os.close(events)
    assert said["signals"] == 2, "once when it told, and once at the end"


def test_the_process_that_is_watched_is_the_container_s(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()
    confined = Confinement(True, True, 0, 7)

    def read_confinement(pid: int) -> Confinement:
        asked.append(pid)
        return confined

    def watched(pid: int, container: str) -> Kernel:
        asked.append((pid, container))
        # it has no process any more once it has ended, and a slow machine may ask late
        if asked.count((pid, container)) == 2:
            fake.engine.containers[container].end(0)
        return Kernel({})

    monkeypatch.setattr(attempt, "read_confinement", read_confinement)
    monkeypatch.setattr(attempt, "broken_walls", lambda *words: asked.append(words))
    monkeypatch.setattr(attempt, "ControlGroup", watched)
    monkeypatch.setattr(attempt, "ContainerProcesses", watched)
    outcome = fake.run(Behaviour(pid=4321, seconds=60))
    (container,) = fake.engine.removed
    assert asked == [4321, (confined, outcome.engine), (4321, container), (4321, container)]
    assert outcome.confinement == confined


def test_a_limit_of_memory_is_told_with_its_size(fake: Fake) -> None:
    outcome = fake.run(Behaviour(exit_code=137, oom_flag=True))
    assert outcome.reason == "killed out of memory (limit 100 MiB)"


def test_traces_are_taken_where_they_are_asked_for(fake: Fake) -> None:
    files = {"predictions.npy": b"x", "trace/a.npy": b"t"}
    outcome = fake.run(Behaviour(files=files), traces=True)
    assert (outcome.out_folder / "trace" / "a.npy").read_bytes() == b"t" and outcome.ignored == ()


@pytest.mark.parametrize("end", ["die", "died"])
def test_what_engines_tell_behind_the_end_is_no_excuse(fake: Fake, end: str) -> None:
    outcome = fake.run(Behaviour(exit_code=1, events=["start", end, "kill"]))
    assert (outcome.verdict, len(outcome.attempts)) == (Verdict.ERROR, 1)


@pytest.mark.parametrize(("status", "words"), [(404, "no such network"), (500, "the image is locked")])
def test_only_an_image_that_is_not_there_is_an_image_that_is_gone(fake: Fake, status: int, words: str) -> None:
    outcome = fake.run(Behaviour(refusals={"create": (status, words)}), Behaviour())
    assert (outcome.verdict, len(outcome.attempts)) == (Verdict.OK, 2)
    assert outcome.attempts[0].reason == f"the engine failed: {words}"


def test_a_connection_is_closed_at_all_its_layers() -> None:
    closed = list[str]()

    def layer(name: str, **more: Any) -> Any:
        return SimpleNamespace(close=lambda: closed.append(name), **more)

    attempt.close_attachment(layer("connection", _response=layer("response")), layer("stream"))
    attempt.close_attachment(layer("bare"), layer("stream"))
    assert closed == ["response", "connection", "stream", "bare", "stream"]


@pytest.mark.parametrize(
    ("fault", "disk", "behaviour", "words"),
    [
        (OSError(28, "No space left"), "", Behaviour(), "the output could not be taken: No space left"),
        (OSError("odd"), "", Behaviour(), "the output could not be taken: odd"),
        (OSError("odd"), "the disk is full", Behaviour(), "the disk is full"),
        (OSError("odd"), "", Behaviour(refusals={"start": (500, "no cgroup")}), "the engine failed: no cgroup"),
    ],
    ids=["no space", "odd", "full before", "lost before"],
)
def test_what_came_first_explains_what_could_not_be_taken(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, fault: OSError, disk: str, behaviour: Behaviour, words: str
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise fault

    monkeypatch.setattr(attempt, "collect", refuse)
    monkeypatch.setattr(attempt, "disk_fault", lambda workspace: disk)
    assert fake.run(behaviour).reason == words
