"""How the process of a served engine is started, waited for, given up and ended, and what it leaves behind."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import EngineError
from harness.base.ownership import boot
from harness.engine import custody
from harness.engine import lease as lease_module
from harness.engine import service as serve
from harness.engine.lease import Lease
from harness.engine.service import Service, ensure_running, mounts_below, service_folder, socket_in, starting, stop
from tests.conftest import REPOSITORY
from tests.engine.children import in_child, leave_the_mounts, standard_input
from tests.engine.clock import Clock
from tests.engine.interrupted import ENGINE

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); time.sleep(100)"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A pretended engine that answers."""
    command = [sys.executable, "-IS", "-c", ENGINE, str(socket_in(tmp_path))]
    service = Service("pretended", command, tmp_path, {"OF_THE_SERVICE": "yes"})
    yield service
    stop(service)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(serve, "time", clock)
    return clock


def saying(folder: Path, *words: str) -> Service:
    """An engine that ends with words instead of serving."""
    return Service("speaker", ["/bin/sh", "-c", *words, str(socket_in(folder))], folder)


def pid_of(service: Service) -> int:
    return int((service.folder / "pid").read_text())


def begun(service: Service, *words: str) -> subprocess.Popen[bytes]:
    """A process that is noted as the service's, once it has said that it is ready."""
    process = subprocess.Popen([*words, str(service.socket)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline()
    (service.folder / "pid").write_text(f"{process.pid}\n")
    return process


def test_an_engine_lives_in_its_folder_and_in_a_session_of_its_own(service: Service) -> None:
    """With this process's variables and its own; a Ctrl-C at the terminal does not reach it."""
    lease = Lease(service)
    pid = pid_of(service)
    assert Path(f"/proc/{pid}/cwd").readlink() == service.folder
    assert os.getsid(pid) == pid
    variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert b"OF_THE_SERVICE=yes" in variables and f"PATH={os.environ['PATH']}".encode() in variables
    lease.release()
    with pytest.raises(ChildProcessError):
        # collected: no zombie is left while this process goes on
        os.waitpid(pid, 0)


def test_all_that_it_says_is_in_its_log_and_it_is_asked_nothing(tmp_path: Path) -> None:
    with standard_input(b"from the terminal\n"), pytest.raises(EngineError) as error:
        Lease(saying(tmp_path, "cat; echo beside; echo why >&2; exit 3"))
    assert error.value.where == f"{tmp_path / 'log.txt'}: why"
    assert error.value.what == "speaker ended with code 3 instead of serving"
    assert (tmp_path / "log.txt").read_text().splitlines() == ["beside", "why"] * 3


def test_what_a_dead_engine_left_is_cleared_away_before_the_start(service: Service) -> None:
    service.socket.touch()
    (service.folder / "engine.pid").write_text("1\n")
    lease = Lease(service)
    assert service.socket.is_socket() and not (service.folder / "engine.pid").exists()
    lease.release()


@pytest.mark.parametrize("ends", ["before", "meanwhile", "never", "it is another's"])
def test_the_next_engine_believes_only_in_a_helper_that_lives(service: Service, clock: Clock, ends: str) -> None:
    """A helper that nobody has collected yet has a number like any other; Docker would wait for its answer."""
    service = replace(service, helper=service.folder / "helper.pid")
    assert service.helper is not None
    place = "elsewhere" if ends == "it is another's" else str(service.folder / "helper.toml")
    with subprocess.Popen(["tail", "-f", "/dev/null", place], stderr=subprocess.DEVNULL) as helper:

        def end() -> None:
            helper.kill()
            os.waitid(os.P_PID, helper.pid, os.WEXITED | os.WNOWAIT)

        service.helper.write_text(f"{helper.pid}\n")
        if ends == "before":
            end()
        elif ends == "meanwhile":
            clock.events[7] = end
        ensure_running(service, threading.Event())
        assert service.helper.exists() == (ends == "never")
        assert sum(clock.waits) == pytest.approx({"meanwhile": 0.035, "never": 0.5}.get(ends, 0), abs=0.01)
        assert helper.poll() is None or ends in ("before", "meanwhile")
        helper.kill()


def silent(monkeypatch: pytest.MonkeyPatch, answers: Callable[[], bool] = lambda: False) -> None:
    monkeypatch.setattr(serve, "silence", lambda socket: "" if answers() else "nobody listens")


def test_an_answer_is_waited_for_a_minute_and_a_half(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent(monkeypatch)
    monkeypatch.setattr(serve, "_START_TRIES", 1)
    service = Service("sleeper", ["tail", "-f", "/dev/null", str(socket_in(tmp_path))], tmp_path)
    pids: list[int] = []
    clock.events[9] = lambda: pids.append(pid_of(service))
    with pytest.raises(EngineError, match="sleeper did not answer in time"):
        ensure_running(service, cast(threading.Event, clock))
    # and a moment for its end: it is not left running, whoever else uses the engine
    assert set(clock.waits) <= {0.05, 0.005} and 89.9 < sum(clock.waits) < 111
    assert pids and not Path(f"/proc/{pids[0]}").exists()


def test_one_that_lives_and_is_silent_is_given_a_moment_and_then_replaced(
    service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begun(service, sys.executable, "-IS", "-c", STUBBORN) as hanging:
        silent(monkeypatch, lambda: pid_of(service) != hanging.pid)
        ensure_running(service, cast(threading.Event, clock))
        asked, ended = ([wait for wait in clock.waits if wait == step] for step in (0.1, 0.05))
        # and a moment in which a process that ends has no command line any more
        assert set(clock.waits) <= {0.1, 0.05, 0.005}
        assert sum(asked) == pytest.approx(20, abs=0.15), "it may be starting"
        assert sum(ended) >= 19.9, "it is asked to end, and only then killed"
        # it ends for no polite word
        hanging.wait(20)
    monkeypatch.undo()


def test_one_that_answers_at_last_is_left_alone(
    service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent(monkeypatch, lambda: len(clock.waits) >= 7)
    with begun(service, sys.executable, "-IS", "-c", STUBBORN) as starting_one:
        ensure_running(service, cast(threading.Event, clock))
        assert clock.waits == [0.1] * 7 and starting_one.poll() is None
        starting_one.kill()


def test_one_that_ends_while_it_is_waited_for_is_replaced_at_once(
    service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begun(service, sys.executable, "-IS", "-c", STUBBORN) as dying:

        def die() -> None:
            dying.kill()
            dying.wait()

        clock.events[3] = die
        silent(monkeypatch, lambda: (service.folder / "pid").exists() and pid_of(service) != dying.pid)
        ensure_running(service, cast(threading.Event, clock))
        assert clock.waits == [0.1] * 3 and pid_of(service) != dying.pid
    monkeypatch.undo()


def test_nobody_waits_for_an_engine_that_nobody_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unwanted = threading.Event()
    serve._pause(0.0, unwanted)
    unwanted.set()
    service = Service("sleeper", ["tail", "-f", "/dev/null", str(socket_in(tmp_path))], tmp_path)
    with pytest.raises(KeyboardInterrupt):
        ensure_running(service, unwanted)
    stop(service)


def test_only_a_child_that_has_ended_has_a_code() -> None:
    with subprocess.Popen(["sleep", "100"]) as process:
        assert serve._exit_code(process.pid) is None and serve._exit_code(os.getppid()) is None
        process.terminate()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert serve._exit_code(process.pid) == -signal.SIGTERM


@pytest.mark.parametrize("appears", [4, None])
def test_a_command_line_that_is_not_there_yet_is_waited_for(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, appears: int | None
) -> None:
    """Half a second: a process that becomes another program has none for a moment."""
    service = Service("x", (), tmp_path)
    # brackets and blanks in its name are no trouble
    (tmp_path / "a) Z (b").symlink_to("/bin/sleep")
    with subprocess.Popen([str(tmp_path / "a) Z (b"), "100"]) as process:
        (tmp_path / "pid").write_text(f"{process.pid}\n")
        words = str(service.socket).encode()
        read = Path.read_bytes

        def read_bytes(path: Path) -> bytes:
            if path.name != "cmdline":
                return read(path)
            return words if appears is not None and len(clock.waits) >= appears else b""

        monkeypatch.setattr(Path, "read_bytes", read_bytes)
        if appears:
            # also one that a person looks at with a debugger lives
            state = {"pid": str(process.pid), "stat": "7 (a) Z (b) t 1"}
            monkeypatch.setattr(Path, "read_text", lambda path: state[path.name])
        assert serve._pid_of(service) == (None if appears is None else process.pid)
        assert set(clock.waits) == {0.005}
        assert len(clock.waits) == appears if appears else sum(clock.waits) == pytest.approx(0.5, abs=0.01)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        clock.waits.clear()
        if appears is None:
            assert serve._pid_of(service) is None and not clock.waits, "one that has ended never has"
            monkeypatch.setattr(Path, "read_text", lambda path: "" if path.name == "stat" else str(process.pid))
            assert serve._pid_of(service) is None, "it is gone by now"


@as_root
def test_what_an_engine_mounted_is_gone_with_it(
    service: Service, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In its folder and in its storage; also where a name is no text."""
    storage = tmp_path_factory.mktemp("storage")
    service = Service("x", (), service.folder, storage=storage)
    places = [service.folder / "exec", storage / os.fsdecode(b"layer \xff")]

    def work() -> object:
        for place in places:
            place.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
        before = [mounts_below(place) for place in (service.folder, storage)]
        stop(service)
        return before == [[place] for place in places], [
            mounts_below(place) for place in (service.folder, storage)
        ]

    assert in_child(leave_the_mounts, work) == "(True, [[], []])"


def test_a_machine_that_tells_no_mounts_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert mounts_below(tmp_path) == [] and serve.unmount_below(tmp_path) == []


def test_a_folder_is_made_with_those_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "services_folder", lambda *_: tmp_path / "not" / "yet")
    assert service_folder("x", tmp_path, {}).is_dir()


def is_free(path: Path) -> bool:
    with path.open("r+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_one_at_a_time_looks_starts_and_stops(tmp_path: Path) -> None:
    service = Service("x", (), tmp_path)
    with starting(service):
        assert not is_free(tmp_path / "start.lock")
    assert is_free(tmp_path / "start.lock")


NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Signals as a terminal leaves them, set back afterwards; no lease of other tests."""
    monkeypatch.setattr(lease_module, "_held", set())
    usual: list[Any] = [signal.default_int_handler, signal.SIG_DFL, signal.SIG_DFL]
    before = {number: signal.signal(number, handler) for number, handler in zip(NUMBERS, usual, strict=True)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_an_interrupt_ends_the_waiting_and_never_the_work(handlers: None) -> None:
    going_on, done = threading.Event(), threading.Event()

    main = threading.main_thread().ident
    assert main is not None

    def work() -> None:
        while "result" not in {
            frame.f_code.co_name for frame, _ in traceback.walk_stack(sys._current_frames()[main])
        }:
            time.sleep(0.001)
        signal.pthread_kill(main, signal.SIGINT)
        going_on.wait(5)
        done.set()

    with pytest.raises(KeyboardInterrupt):
        lease_module._undisturbed(work)
    assert not done.is_set(), "a person is not kept waiting"
    going_on.set()
    assert done.wait(20)


def test_a_release_that_overtakes_the_start_starts_nothing(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when an interrupt comes while another harness holds the start."""
    held = os.open(service.folder / "start.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)
    works: list[threading.Thread] = []

    def interrupted(work: Callable[[], None]) -> None:
        works.append(threading.Thread(target=work))
        works[-1].start()
        if len(works) == 1:
            raise KeyboardInterrupt
        os.close(held)
        for thread in works:
            thread.join()

    monkeypatch.setattr(lease_module, "_undisturbed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Lease(service)
    assert {path.name for path in service.folder.iterdir()} == {"start.lock"}


def test_a_use_that_ends_while_another_goes_on_is_noted(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = Lease(service), Lease(service)
    with caplog.at_level("DEBUG", logger="harness.engine.lease"):
        first.release()
    assert caplog.messages == [f"somebody else uses {service.socket}"]
    second.release()


def ignored() -> list[bool]:
    return [signal.getsignal(number) is signal.SIG_IGN for number in NUMBERS]


def test_the_end_of_a_process_is_disturbed_by_no_signal(service: Service, handlers: None) -> None:
    lease_module._release_all()
    assert not any(ignored()), "nothing is held: a signal may end it"
    Lease(service)
    pid = pid_of(service)
    beside = threading.Thread(target=lease_module._release_all)
    beside.start()
    beside.join()
    assert not lease_module._held and not any(ignored()), "only the main thread may set it"
    assert not Path(f"/proc/{pid}").exists()
    Lease(service)
    lease_module._release_all()
    assert all(ignored()) and not lease_module._held


LEAVING = """
import sys
from pathlib import Path
from harness.engine.lease import Lease
from harness.engine.service import Service
Lease(Service("x", sys.argv[2:], Path(sys.argv[1])))
print((Path(sys.argv[1]) / "pid").read_text())
"""


def test_a_process_that_forgets_its_engine_stops_it_at_its_end(service: Service) -> None:
    command: list[Any] = [sys.executable, "-c", LEAVING, service.folder, *service.command]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert not Path(f"/proc/{int(done.stdout)}").exists() and not (service.folder / "pid").exists()


def test_one_that_another_gave_up_at_the_same_moment_is_given_up(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    (service.folder / "users.lock").touch()
    service.kept.write_text(boot())

    def forget(one: Service) -> Any:
        one.kept.unlink()
        return nullcontext()

    monkeypatch.setattr(custody, "served_services", lambda *_: [service])
    monkeypatch.setattr(custody, "starting", forget)
    (stopped,) = custody.release(cast(Any, SimpleNamespace(cache=service.folder)), {})
    assert (stopped.socket, stopped.in_use) == (service.socket, False)
