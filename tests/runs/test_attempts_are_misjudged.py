"""From the engine's answers to the outcome, without containers: no failure is hidden, or blamed on the method."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import ImageError, InvalidPredictions, UsageError
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.engine.cgroup import Shortage, Usage
from harness.execution.runs import Limits, Outcome, RunRequest, attempt, disk, execute, watch
from harness.execution.runs.attempt import stamped_seconds
from harness.execution.runs.log import BoundedLog
from harness.execution.runs.user import ContainerUser
from harness.execution.runs.workspace import Workspace
from tests.engine.children import NOBODY, become_nobody, in_child
from tests.runs.fake_engine import IMAGE, Behaviour, FakeEngine
from tests.runs.helpers import ANSWER

MIB = 1 << 20
LONG = 60.0


class Fake:
    """A request on a made-up engine, and what came of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server: FakeEngine | None = None
        (folder / "in").mkdir()

    def serve(self, *behaviours: Behaviour) -> Engine:
        self.server = FakeEngine(self.folder / "s", *behaviours)
        return Engine(self.folder / "s")

    def run(
        self,
        *behaviours: Behaviour,
        check: Callable[[Path], object] | None = None,
        stop: threading.Event | None = None,
        required: tuple[str, ...] = ANSWER["required"],
        traces: bool = False,
        **limits: Any,
    ) -> Outcome:
        bounds: dict[str, Any] = {"seconds": 30.0, "memory_bytes": 100 * MIB, "grace_seconds": 0.1, **limits}
        request = RunRequest(
            image="permafrost/x:1",
            image_id=IMAGE,
            in_folder=self.folder / "in",
            work=self.folder / "work",
            limits=Limits(**bounds),
            required=required,
            expected=ANSWER["expected"],
            traces=traces,
        )
        with self.serve(*behaviours) as engine:
            return execute(engine, request, check=check, stop=stop, patience=0.2)

    @property
    def engine(self) -> FakeEngine:
        assert self.server is not None
        return self.server


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    for name in ("_PAUSES", "_PAUSES_OF_ENGINES"):
        monkeypatch.setattr(import_module("harness.execution.runs.execute"), name, (0.0, 0.0))
    monkeypatch.setattr(watch, "_LOG_PATIENCE", 0.2)
    made = Fake(tmp_path)
    yield made
    if made.server is not None:
        made.server.close()
        assert not made.server.containers, "every container is removed"


def told(outcome: Outcome) -> tuple[Verdict, int]:
    return outcome.verdict, len(outcome.attempts)


def test_a_good_run(fake: Fake) -> None:
    outcome = fake.run(Behaviour(log=b"first\nlast\n", files={"predictions.npy": b"abc", "odd": b""}))
    assert told(outcome) == (Verdict.OK, 1) and outcome.ok
    assert (outcome.exit_code, outcome.log.read_bytes(), outcome.log_bytes) == (0, b"first\nlast\n", 11)
    assert (outcome.out_folder / "predictions.npy").read_bytes() == b"abc"
    assert outcome.ignored == ("odd",) and outcome.output_bytes == 3
    assert outcome.ran_s is not None and 0 < outcome.ran_s <= outcome.wall_s and outcome.paused_s == 0
    assert outcome.warnings == ("a warning",) and outcome.memory_limit_enforced is True
    assert sorted(path.name for path in outcome.folder.iterdir()) == ["collected", "log.txt"]
    assert "events" not in fake.engine.calls, "nobody is suspected without a reason"
    as_json = outcome.as_json()
    assert as_json["ran_s"] == outcome.ran_s and as_json["paused_s"] == 0 and as_json["verdict"] == "ok"
    outcome.discard()
    assert not outcome.folder.exists()


def test_the_container_is_attached_to_before_it_starts(fake: Fake) -> None:
    fake.run(Behaviour())
    order = [call for call in fake.engine.calls if call in ("create", "attach", "start", "wait", "remove")]
    assert order == ["create", "attach", "start", "wait", "remove"]


def test_an_error_is_not_repeated(fake: Fake) -> None:
    outcome = fake.run(Behaviour(exit_code=3, log=b"the last words\n"))
    assert told(outcome) == (Verdict.ERROR, 1) and outcome.reason == "exit code 3: the last words"


def test_a_missing_output_is_invalid(fake: Fake) -> None:
    outcome = fake.run(Behaviour(files={}))
    assert told(outcome) == (Verdict.INVALID, 1) and outcome.reason == "predictions.npy is missing"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_output_that_a_method_closed_to_an_ordinary_user_is_no_fault_of_the_engine() -> None:
    with tempfile.TemporaryDirectory() as name:
        request = RunRequest("permafrost/x:1", IMAGE, Path(name), Path(name), Limits(30.0, MIB), **ANSWER)
        workspace = Workspace(Path(name), ContainerUser(NOBODY, NOBODY, own=False))
        workspace.folder.chmod(0o755)
        workspace.out.mkdir(0)
        os.chown(workspace.out, NOBODY, NOBODY)
        ending = watch.Watched(exit_code=0)
        looks_stopped = in_child(become_nobody, lambda: attempt._looks_stopped(ending, request, workspace))
        assert looks_stopped == "True", "the engine is asked, and not blamed"


def test_an_answer_that_leads_to_what_can_not_be_is_no_fault_of_the_engine(tmp_path: Path) -> None:
    request = RunRequest("permafrost/x:1", IMAGE, tmp_path, tmp_path, Limits(30.0, MIB), **ANSWER)
    workspace = Workspace(tmp_path, ContainerUser(NOBODY, NOBODY, own=False))
    workspace.out.mkdir()
    (workspace.out / "predictions.npy").symlink_to("x" * 300)
    assert attempt._looks_stopped(watch.Watched(exit_code=0), request, workspace)


def test_the_check_of_a_benchmark_decides_last(fake: Fake) -> None:
    def refuse(folder: Path) -> None:
        assert (folder / "predictions.npy").exists()
        raise InvalidPredictions("not \x1b finite")

    outcome = fake.run(Behaviour(), check=refuse)
    assert told(outcome) == (Verdict.INVALID, 1) and outcome.reason == "not \\x1b finite"


def test_the_check_is_not_asked_about_a_failure(fake: Fake) -> None:
    assert fake.run(Behaviour(exit_code=1), check=lambda folder: 1 / 0).verdict is Verdict.ERROR


def test_the_time_limit_ends_it_politely(fake: Fake) -> None:
    outcome = fake.run(Behaviour(seconds=LONG), seconds=0.3)
    assert told(outcome) == (Verdict.TIMEOUT, 1) and "time limit of 0.3 s" in outcome.reason
    assert fake.engine.signals == ["SIGTERM"]
    assert outcome.ran_s is not None and outcome.ran_s >= 0.3


def test_what_ignores_the_polite_signal_is_killed_after_its_grace(fake: Fake) -> None:
    outcome = fake.run(Behaviour(seconds=LONG, signals={"SIGKILL": 137}), seconds=0.1, grace_seconds=0.4)
    assert told(outcome) == (Verdict.TIMEOUT, 1) and fake.engine.signals == ["SIGTERM", "SIGKILL"]
    assert outcome.ran_s is not None and 0.5 <= outcome.ran_s < 5


@pytest.mark.parametrize(
    ("exit_code", "verdict", "attempts"),
    [
        (0, Verdict.OK, 1),
        (3, Verdict.ERROR, 1),
        (143, Verdict.INFRASTRUCTURE, 3),
        (137, Verdict.INFRASTRUCTURE, 3),
    ],
)
def test_a_run_that_had_ended_in_time_is_not_late(
    fake: Fake, exit_code: int, verdict: Verdict, attempts: int
) -> None:
    """As after a halt of the harness: its clock is past the limit, the container's own stamps are not."""
    late = Behaviour(seconds=LONG, ran_s=0.05, signals={"SIGTERM": exit_code})
    outcome = fake.run(late, seconds=0.2)
    assert told(outcome) == (verdict, attempts), outcome.reason
    assert outcome.ran_s == pytest.approx(0.05)


def test_a_lost_wait_is_the_engines_failure(fake: Fake) -> None:
    outcome = fake.run(Behaviour(cut=True), Behaviour(cut=True), Behaviour())
    assert told(outcome) == (Verdict.OK, 3)
    assert [one.verdict for one in outcome.attempts] == [Verdict.INFRASTRUCTURE] * 2 + [Verdict.OK]
    assert "the engine was lost during the run" in outcome.attempts[0].reason
    assert outcome.attempts[0].wall_s > 0


def test_attempts_are_bounded(fake: Fake) -> None:
    outcome = fake.run(Behaviour(cut=True))
    assert told(outcome) == (Verdict.INFRASTRUCTURE, 3)
    assert len(list((fake.folder / "work").glob("harness-*/run-*"))) == 1, "only the last attempt is kept"


@pytest.mark.parametrize("code", [137, 143])
def test_a_kill_costs_an_attempt_and_three_are_an_error(fake: Fake, code: int) -> None:
    kill = Behaviour(exit_code=code)
    assert told(fake.run(kill, kill, Behaviour())) == (Verdict.OK, 3)


def test_a_method_that_is_always_killed_ends_as_an_error(fake: Fake) -> None:
    assert told(fake.run(Behaviour(exit_code=137))) == (Verdict.ERROR, 3)


def test_kills_and_lost_engines_together_are_no_error(fake: Fake) -> None:
    outcome = fake.run(Behaviour(exit_code=137), Behaviour(cut=True), Behaviour(exit_code=137))
    assert told(outcome) == (Verdict.INFRASTRUCTURE, 3)


@pytest.mark.parametrize("action", ["kill", "stop"])
def test_a_container_ended_through_the_engine_is_not_the_methods_failure(fake: Fake, action: str) -> None:
    outcome = fake.run(Behaviour(exit_code=1, events=["start", action]), Behaviour())
    assert told(outcome) == (Verdict.OK, 2)
    assert outcome.attempts[0].reason == "the container was stopped through the engine, not by the harness"


def test_an_odd_end_without_an_exit_code_is_looked_into_as_well(fake: Fake) -> None:
    outcome = fake.run(Behaviour(files={}, events=["stop"]), Behaviour())
    assert told(outcome) == (Verdict.OK, 2)


def test_what_the_engine_does_after_the_end_is_no_excuse(fake: Fake) -> None:
    """The made-up engine tells of a kill behind every end."""
    assert told(fake.run(Behaviour(exit_code=1, events=["exec_start"]))) == (Verdict.ERROR, 1)


def test_our_own_kill_is_not_taken_for_somebody_elses(fake: Fake) -> None:
    outcome = fake.run(Behaviour(seconds=LONG, events=["kill"]), seconds=0.1)
    assert told(outcome) == (Verdict.TIMEOUT, 1)


def test_another_image_than_the_planned_one_is_refused(fake: Fake) -> None:
    with pytest.raises(ImageError, match="another image"):
        fake.run(Behaviour(image="sha256:" + "b" * 64))
    assert not list((fake.folder / "work").glob("harness-*/run-*"))


def test_an_image_that_is_gone_is_looked_for_again(fake: Fake) -> None:
    gone = Behaviour(refusals={"create": (404, "No such image: x")})
    outcome = fake.run(gone, Behaviour())
    assert told(outcome) == (Verdict.OK, 2) and "the image was gone" in outcome.attempts[0].reason


def test_an_image_that_stays_away_is_told(fake: Fake) -> None:
    gone = Behaviour(refusals={"create": (404, "No such image: x")})
    with pytest.raises(ImageError, match="does not have the image"):
        fake.run(gone)
    assert not list((fake.folder / "work").glob("harness-*/run-*"))


def test_a_refusal_to_create_is_the_engines_failure(fake: Fake) -> None:
    outcome = fake.run(Behaviour(refusals={"create": (500, "no space in the pool")}), Behaviour())
    assert told(outcome) == (Verdict.OK, 2)
    assert outcome.attempts[0].reason == "the engine failed: no space in the pool"


def test_a_program_that_is_not_there_is_the_images_fault(fake: Fake) -> None:
    words = 'exec: "/no/program": stat /no/program: no such file or directory: unknown'
    outcome = fake.run(Behaviour(refusals={"start": (400, words)}))
    assert told(outcome) == (Verdict.ERROR, 2) and words in outcome.reason and outcome.exit_code == 127


def test_a_start_that_fails_otherwise_is_the_engines_failure(fake: Fake) -> None:
    outcome = fake.run(Behaviour(refusals={"start": (500, "cgroup: cannot allocate")}), Behaviour())
    assert told(outcome) == (Verdict.OK, 2)


def test_an_engine_that_fails_after_the_start_is_no_fault_of_the_image(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its words: the program was there, and ran."""
    words = "exec of the runtime failed: no such file or directory"

    def fail(*_: object) -> str:
        raise OSError(words)

    monkeypatch.setattr(attempt, "_stopped_through_engine", fail)
    outcome = fake.run(Behaviour(exit_code=1))
    assert told(outcome) == (Verdict.INFRASTRUCTURE, 3) and outcome.reason == f"the engine failed: {words}"


@pytest.mark.parametrize("code", [137, 0])
def test_the_engines_flag_decides_where_the_kernel_is_not_read(fake: Fake, code: int) -> None:
    outcome = fake.run(Behaviour(exit_code=code, oom_flag=True))
    assert told(outcome) == (Verdict.MEMORY, 1) and outcome.oom_flag


def test_the_users_wish(fake: Fake) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    outcome = fake.run(Behaviour(seconds=LONG), stop=stop)
    assert told(outcome) == (Verdict.INTERRUPTED, 1) and fake.engine.signals == ["SIGTERM"]


def test_an_engine_that_does_not_stop_a_container_is_given_up(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_PATIENCE", 0.3)
    outcome = fake.run(Behaviour(seconds=LONG, signals={}), Behaviour(), seconds=0.2)
    assert told(outcome) == (Verdict.OK, 2)
    assert outcome.attempts[0].reason == "the engine did not stop the container"
    assert fake.engine.signals == ["SIGTERM", "SIGKILL"]


def test_too_much_output_is_stopped_at_once(fake: Fake) -> None:
    outcome = fake.run(Behaviour(seconds=LONG, files={"a": bytes(700), "b": bytes(700)}), output_bytes=8192)
    assert told(outcome) == (Verdict.INVALID, 1) and "bytes to /out; the limit is 8192" in outcome.reason
    assert fake.engine.signals == ["SIGKILL"], "who is over his limit is not asked politely"


def test_too_much_output_is_found_after_the_end(fake: Fake) -> None:
    outcome = fake.run(
        Behaviour(seconds=0.0, exit_code=1, files={"predictions.npy": bytes(9000)}), output_bytes=9000
    )
    assert told(outcome) == (Verdict.INVALID, 1), outcome.reason


@pytest.mark.parametrize("code", [0, 1, 137])
def test_what_was_too_fast_to_be_stopped_is_too_much_all_the_same(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(attempt, "output_fault", lambda workspace, limits, ended: "too much")
    outcome = fake.run(Behaviour(exit_code=code))
    assert told(outcome) == (Verdict.INVALID, 1) and outcome.reason == "too much"


def test_what_was_stopped_before_was_stopped_for_that(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it writes while it is asked to end is no other verdict."""
    monkeypatch.setattr(attempt, "output_fault", lambda workspace, limits, ended: "too much")
    outcome = fake.run(Behaviour(seconds=LONG), seconds=0.1)
    assert told(outcome) == (Verdict.TIMEOUT, 1) and "time limit of 0.1 s" in outcome.reason


def test_too_many_files_are_stopped(fake: Fake) -> None:
    files = {str(number): b"" for number in range(6)}
    outcome = fake.run(Behaviour(seconds=LONG, files=files), output_files=5)
    assert told(outcome) == (Verdict.INVALID, 1) and "more than 5 files" in outcome.reason
    assert disk.output_fault(SimpleNamespace(out=fake.folder / "in"), Limits(1, 1, output_files=0)) == ""  # type: ignore[arg-type]


# of a disk of 1 TiB with a million files
_RESERVE, _FILES = 4 << 30, 20_000


def full(monkeypatch: pytest.MonkeyPatch, **changed: int) -> None:
    state = {"f_blocks": 1 << 40, "f_bavail": 1 << 40, "f_frsize": 1, "f_files": 1 << 20, "f_favail": 1 << 20}
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(**{**state, **changed}))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"f_bavail": 0}, "is full"),
        ({"f_bavail": _RESERVE - 1}, "is full"),
        ({"f_favail": _FILES - 1}, "no room for more files"),
        ({"f_bavail": _RESERVE, "f_favail": _FILES}, ""),
        ({"f_files": 0, "f_favail": 0}, ""),
        ({"f_bavail": _RESERVE // 4096 + 1, "f_frsize": 4096, "f_blocks": 1 << 28}, ""),
    ],
)
@pytest.mark.parametrize("failed", [True, False])
def test_a_full_disk_is_the_machines_failure(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, changed: dict[str, int], words: str, failed: bool
) -> None:
    full(monkeypatch, **changed)
    outcome = fake.run(Behaviour(seconds=0.0, exit_code=int(failed)))
    if words and failed:
        assert told(outcome) == (Verdict.INFRASTRUCTURE, 1) and words in outcome.reason, "not tried again at once"
    elif not words:
        assert told(outcome) == (Verdict.ERROR if failed else Verdict.OK, 1)


@pytest.mark.parametrize(
    ("code", "verdict"), [(1, Verdict.INFRASTRUCTURE), (0, Verdict.OK), (137, Verdict.INFRASTRUCTURE)]
)
def test_the_disk_is_looked_at_once_more_after_the_end(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, code: int, verdict: Verdict
) -> None:
    monkeypatch.setattr(attempt, "disk_fault", lambda workspace: "the disk is full")
    assert told(fake.run(Behaviour(exit_code=code))) == (verdict, 1), "not tried again at once"


def test_a_disk_that_gets_full_ends_a_run(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    full(monkeypatch, f_favail=0)
    outcome = fake.run(Behaviour(seconds=LONG))
    assert told(outcome) == (Verdict.INFRASTRUCTURE, 1) and fake.engine.signals == ["SIGKILL"]


def test_output_that_cannot_be_taken_is_the_machines_failure(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(attempt, "collect", refuse)
    outcome = fake.run(Behaviour())
    assert told(outcome) == (Verdict.INFRASTRUCTURE, 3)
    assert outcome.reason == "the output could not be taken: No space left on device"


def test_a_log_that_cannot_be_written_is_the_machines_failure(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    close = BoundedLog.close

    def refuse(self: BoundedLog) -> None:
        close(self)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BoundedLog, "close", refuse)
    outcome = fake.run(Behaviour())
    assert told(outcome) == (Verdict.INFRASTRUCTURE, 3)
    assert outcome.reason == "the log could not be written: No space left on device"


def report_of(fake: Fake, text: bytes) -> tuple[int | None, float | None]:
    outcome = fake.run(Behaviour(files={"predictions.npy": b"x", "method.json": text}))
    assert outcome.verdict is Verdict.OK
    return outcome.peak_bytes, outcome.cpu_s


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (b'{"protocol": 1, "peak_memory_bytes": 5.0, "cpu_seconds": 0.5}', (5, 0.5)),
        (b'{"protocol": 1, "peak_memory_bytes": 0, "cpu_seconds": 0}', (0, 0.0)),
        (b'{"protocol": 1, "peak_memory_bytes": true, "cpu_seconds": "7"}', (None, None)),
        (b'{"protocol": 1, "peak_memory_bytes": -1, "cpu_seconds": 1e18}', (None, None)),
        (b'{"protocol": 1, "peak_memory_bytes": 1e400, "cpu_seconds": NaN}', (None, None)),
        (b"[1]", (None, None)),
        (b'{"peak', (None, None)),
        (b"[" * 100_000, (None, None)),
        (b'{"protocol": 1, "cpu_seconds": 1, "x": "' + bytes(1 << 20) + b'"}', (None, None)),
    ],
)
def test_the_methods_own_report_fills_what_the_kernel_did_not_tell(
    fake: Fake, text: bytes, read: tuple[int | None, float | None]
) -> None:
    assert report_of(fake, text) == read


class Kernel:
    """What the kernel says: stands in for the control group and the processes of a container."""

    main = monitor = None
    handles = ()

    def __init__(self, said: dict[str, Any]) -> None:
        self.usage: Usage = said.get("usage", Usage())
        self.said = said
        # a handle that becomes readable when the kernel tells of a lack of memory
        self.events: int | None = said.get("events")
        self.began = time.monotonic()

    def _now(self, name: str) -> bool:
        first, last = self.said.get(name, (float("inf"), 0.0))
        return bool(first <= time.monotonic() - self.began < last)

    def read(self) -> Usage:
        return self.usage

    def read_at_end(self) -> None:
        self.said["read_at_end"] = True

    def take_signal(self) -> None:
        self.said["signals"] = self.said.get("signals", 0) + 1
        if self.events is not None:
            with suppress(BlockingIOError):
                os.eventfd_read(self.events)

    def is_frozen(self) -> bool:
        return self._now("frozen")

    def processes(self) -> list[int]:
        return []

    def shortage(self) -> Shortage:
        return Shortage(self.said.get("shortage", Shortage.UNREAD))

    def ended(self) -> bool:
        return self._now("ended")

    def monitor_lost(self) -> bool:
        return self._now("lost")

    def close(self) -> None:
        self.said["closed"] = self.said.get("closed", 0) + 1


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    def say(**said: Any) -> dict[str, Any]:
        """Both the control group and the processes say this; times are (from, until) since the start."""
        monkeypatch.setattr(attempt, "ControlGroup", lambda pid, container: Kernel(said))
        monkeypatch.setattr(attempt, "ContainerProcesses", lambda pid, container: Kernel(said))
        return said

    return say


Says = Callable[..., dict[str, Any]]
FOREVER = 1e9


def test_the_kernels_end_comes_before_our_clock(fake: Fake, kernel: Says) -> None:
    """The engine tells of the end long after the limit; the kernel told it at once."""
    kernel(ended=(0.1, FOREVER))
    outcome = fake.run(Behaviour(seconds=1.0), seconds=0.4)
    assert told(outcome) == (Verdict.OK, 1), outcome.reason
    assert fake.engine.signals == [] and outcome.ran_s is not None and outcome.ran_s < 0.4


def test_an_engine_silent_about_an_end_is_given_up(
    fake: Fake, kernel: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_PATIENCE", 0.5)
    kernel(ended=(0.1, FOREVER))
    outcome = fake.run(Behaviour(seconds=LONG), Behaviour(seconds=0.2))
    assert told(outcome) == (Verdict.OK, 2)
    assert outcome.attempts[0].reason == "the container has ended, but the engine does not say how"
    assert 0.5 <= outcome.attempts[0].wall_s < 20


def test_a_wish_does_not_wait_for_a_silent_engine(fake: Fake, kernel: Says) -> None:
    kernel(ended=(0.0, FOREVER))
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    outcome = fake.run(Behaviour(seconds=LONG), stop=stop)
    assert told(outcome) == (Verdict.INTERRUPTED, 1) and time.monotonic() - began < 10


def test_a_lost_monitor_is_the_engines_failure_whatever_the_code(fake: Fake, kernel: Says) -> None:
    kernel(lost=(0.0, FOREVER))
    outcome = fake.run(Behaviour(seconds=0.3, exit_code=0))
    assert told(outcome) == (Verdict.INFRASTRUCTURE, 3)
    assert outcome.reason == "the process by which the engine watches the container was killed"


def test_a_pause_moves_the_limit(fake: Fake, kernel: Says) -> None:
    kernel(frozen=(0.0, 1.0))
    outcome = fake.run(Behaviour(seconds=1.2), seconds=0.8)
    assert told(outcome) == (Verdict.OK, 1), outcome.reason
    assert outcome.paused_s >= 0.5


def test_a_long_pause_is_given_up(fake: Fake, kernel: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_LONGEST_PAUSE", 0.3)
    kernel(frozen=(0.0, FOREVER))
    outcome = fake.run(Behaviour(seconds=LONG), seconds=0.2)
    assert told(outcome) == (Verdict.INFRASTRUCTURE, 3)
    assert "somebody has paused the container" in outcome.reason and fake.engine.signals == ["SIGKILL"] * 3


@pytest.mark.parametrize(
    ("shortage", "code", "verdict", "attempts"),
    [
        (Shortage.OWN, 137, Verdict.MEMORY, 1),
        (Shortage.OWN, 0, Verdict.MEMORY, 1),
        (Shortage.ABOVE, 137, Verdict.INFRASTRUCTURE, 3),
        (Shortage.NONE, 0, Verdict.OK, 1),
        (Shortage.NONE, 137, Verdict.ERROR, 3),
    ],
)
def test_the_kernel_decides_on_memory_whatever_the_engine_says(
    fake: Fake, kernel: Says, shortage: Shortage, code: int, verdict: Verdict, attempts: int
) -> None:
    usage = Usage(peak_bytes=7, cpu_seconds=0.5, kills=3, limit_bytes=200 * MIB)
    said = kernel(shortage=shortage, usage=usage)
    report = {
        "predictions.npy": b"x",
        "method.json": b'{"protocol": 1, "peak_memory_bytes": 99, "cpu_seconds": 99}',
    }
    outcome = fake.run(Behaviour(exit_code=code, oom_flag=shortage is Shortage.NONE, files=report))
    assert told(outcome) == (verdict, attempts), outcome.reason
    assert (outcome.peak_bytes, outcome.cpu_s, outcome.oom_kills) == (7, 0.5, 3), (
        "the kernel's word, not the method's"
    )
    assert outcome.memory_limit_enforced is False
    assert "the kernel held no memory limit for this run" in outcome.warnings
    assert said["closed"] == 2 * attempts, "handles are let go"


def test_where_the_kernel_counted_nothing_the_methods_report_fills_nothing_in(fake: Fake, kernel: Says) -> None:
    kernel(shortage=Shortage.NONE, usage=Usage(peak_bytes=0, cpu_seconds=0.0, limit_bytes=100 * MIB))
    assert report_of(fake, b'{"protocol": 1, "peak_memory_bytes": 99, "cpu_seconds": 0.001}') == (0, 0.0)


def test_a_limit_that_the_kernel_keeps_is_enforced(fake: Fake, kernel: Says) -> None:
    kernel(shortage=Shortage.NONE, usage=Usage(limit_bytes=100 * MIB))
    outcome = fake.run(Behaviour())
    assert outcome.memory_limit_enforced is True and outcome.warnings == ("a warning",)


def test_a_log_is_cut_and_counted(fake: Fake) -> None:
    outcome = fake.run(Behaviour(log=b"x" * 5000), log_bytes=1000)
    assert (outcome.log_bytes, outcome.log_cut_bytes) == (5000, 4000)
    assert len(outcome.log.read_bytes()) < 1100


def test_a_reason_is_bounded(fake: Fake) -> None:
    def refuse(folder: Path) -> None:
        raise InvalidPredictions("x" * 5000)

    assert len(fake.run(Behaviour(), check=refuse).reason) == 1004


def test_a_request_that_cannot_be_is_refused(fake: Fake) -> None:
    request = RunRequest("x", IMAGE, fake.folder / "nowhere", fake.folder / "work", Limits(1, 1), **ANSWER)
    with pytest.raises(UsageError, match="inputs is missing"):
        execute(None, request)  # type: ignore[arg-type]
    with pytest.raises(ImageError, match="by its id"):
        execute(None, replace(request, image_id="permafrost/x:1"))  # type: ignore[arg-type]
    assert not os.path.lexists(fake.folder / "work")


@pytest.mark.parametrize(
    ("began", "ended", "seconds"),
    [
        ("2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:02.500000001Z", 2.5),
        ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:03Z", 3.0),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 0.0),
        ("2026-01-01T00:00:05Z", "2026-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00Z", "2026-01-01T00:00:00Z", None),
        ("2026-01-01T00:00:00Z", "0001-01-01T00:00:00Z", None),
        ("soon", "2026-01-01T00:00:00Z", None),
        (None, "2026-01-01T00:00:00Z", None),
    ],
)
def test_the_engines_stamps_are_read(began: str | None, ended: str, seconds: float | None) -> None:
    assert stamped_seconds({"StartedAt": began, "FinishedAt": ended}) == seconds
    assert stamped_seconds({}) is None
