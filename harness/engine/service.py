"""An engine served by the harness: started when nobody serves it, shared meanwhile, stopped by its last user.

Three files in the service's folder carry this, and none of them can get in the way after a `kill -9`:
`start.lock` (held only while looking or starting), `users.lock` (held shared by every user; the kernel
releases it when a process dies, so the last user is whoever can take it alone), and `pid` (believed only
while that process lives and names our socket on its command line).
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import EngineError
from harness.base.files import digest_of, write_atomic
from harness.base.logs import last_line
from harness.base.ownership import boot
from harness.engine.sockets import silence

_START_SECONDS = 90.0
_START_TRIES = 3
_ENV = "/usr/bin/env"
_STOP_SECONDS = 20.0
_LONGEST_SOCKET_PATH = 100
_EXEC_SECONDS = 0.5
# of umount2: also what is in use
_DETACH = 2


@dataclass(frozen=True)
class Service:
    """What to run, and where it listens."""

    name: str
    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    # where the engine mounts things, which a crash leaves mounted
    storage: Path | None = None
    # where the engine notes the process that it starts and that ends with it
    helper: Path | None = None

    @property
    def socket(self) -> Path:
        """Where the engine listens; the command must agree."""
        return socket_in(self.folder)

    @property
    def kept(self) -> Path:
        """A note that the engine shall run on when its last user has gone; good until the machine restarts."""
        return self.folder / "kept"

    @property
    def is_kept(self) -> bool:
        """Whether a person wants this engine to run on."""
        try:
            return self.kept.read_text(encoding="ascii") == boot()
        except FileNotFoundError:
            return False

    @property
    def log(self) -> Path:
        """The engine's log."""
        return self.folder / "log.txt"


def socket_in(folder: Path) -> Path:
    """The socket's place in a service's folder."""
    return folder / "engine.sock"


def services_folder(cache: Path, environment: Mapping[str, str]) -> Path:
    """The folder of a cache's services: one each, so that two caches never share an image store by accident."""
    if os.geteuid() == 0:
        base = Path("/run") if os.access("/run", os.W_OK) else Path(tempfile.gettempdir())
    else:
        base = Path(environment.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    return base / f"permafrost-{os.geteuid()}-{digest_of(str(cache))[:8]}"


def service_folder(name: str, cache: Path, environment: Mapping[str, str]) -> Path:
    """A private folder for sockets and locks; short, because a socket's path may have 107 bytes at most."""
    folder = services_folder(cache, environment) / name
    if len(str(socket_in(folder))) > _LONGEST_SOCKET_PATH:
        raise EngineError(
            "the folder for the engine's socket has too long a name",
            where=str(folder),
            todo="set XDG_RUNTIME_DIR or TMPDIR to a shorter path",
        )
    for path in (folder.parent, folder):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = path.lstat()
        if state.st_uid != os.geteuid() or state.st_mode & 0o022 or path.is_symlink():
            raise EngineError(
                "the folder for the engine's socket is not private to this user",
                where=str(path),
                todo="remove it, or set XDG_RUNTIME_DIR to a folder of your own",
            )
    return folder


@contextmanager
def starting(service: Service) -> Iterator[None]:
    """Only one process at a time looks, starts or stops."""
    handle = os.open(service.folder / "start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def alone(service: Service) -> Iterator[bool]:
    """Whether nobody uses a service; nobody begins to, either, while this process holds its start."""
    with (service.folder / "users.lock").open("a") as users:
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def ensure_running(service: Service, unwanted: threading.Event) -> None:
    """Start an engine where none answers; `unwanted` ends that with a `KeyboardInterrupt`."""
    if not silence(service.socket):
        return
    # a live process that does not answer is starting or dying: give it a moment, then end it
    pid = _pid_of(service)
    deadline = time.monotonic() + _STOP_SECONDS
    while pid is not None and time.monotonic() < deadline:
        if not silence(service.socket):
            return
        _pause(0.1, unwanted)
        pid = _pid_of(service)
    # after a crash the first start may fail over what the dead engine left running; the next finds it gone
    for chance in range(_START_TRIES, 0, -1):
        stop(service)
        for leftover in (service.socket, service.folder / "engine.pid", *_notes_of_the_dead(service)):
            leftover.unlink(missing_ok=True)
        try:
            _start(service, unwanted)
        except EngineError:
            if chance == 1:
                raise
        else:
            break


def _start(service: Service, unwanted: threading.Event) -> None:
    null, log = os.devnull, str(service.log)
    files = [
        (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    # in a session of its own: it may outlive this process, and a Ctrl-C here is not meant for it; in a folder of
    # its own: Podman's monitor leaves a file called `oom` where it was started
    pid = os.posix_spawn(
        _ENV,
        [_ENV, f"--chdir={service.folder}", *service.command],
        {**os.environ, **service.environment},
        file_actions=files,
        setsid=True,
    )
    write_atomic(service.folder / "pid", f"{pid}\n")
    deadline = time.monotonic() + _START_SECONDS
    while silence(service.socket):
        code = _exit_code(pid)
        if code is None and time.monotonic() < deadline:
            _pause(0.05, unwanted)
            continue
        stop(service)
        raise EngineError(
            f"{service.name} "
            + ("did not answer in time" if code is None else f"ended with code {code} instead of serving"),
            where=f"{service.log}: {_last_line(service.log)}",
            todo=f"correct what the log names, or start an engine yourself; ran: {' '.join(service.command)}",
        )


def _pause(seconds: float, unwanted: threading.Event) -> None:
    """Wait a moment, if anybody still wants the engine."""
    if unwanted.wait(seconds):
        raise KeyboardInterrupt


def _exit_code(pid: int) -> int | None:
    """The exit code of a child that has ended; None for one that lives or is not ours to collect."""
    try:
        child, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return os.waitstatus_to_exitcode(status) if child else None


def _notes_of_the_dead(service: Service) -> list[Path]:
    """The note of a helper that died with its engine.

    Until somebody collects that process, the next engine takes it for one that lives, and waits for it in vain.
    """
    note, deadline = service.helper, time.monotonic() + _EXEC_SECONDS
    if note is None:
        return []
    while _believed(note, service.folder) is not None:
        if time.monotonic() > deadline:
            return []
        time.sleep(0.005)
    return [note]


def _pid_of(service: Service) -> int | None:
    """The engine's process, believed only if it lives and its command line names our socket."""
    return _believed(service.folder / "pid", service.socket)


def _believed(note: Path, place: Path) -> int | None:
    """The process whose number was noted, if it lives and its command line names the place."""
    deadline = time.monotonic() + _EXEC_SECONDS
    try:
        pid = int(note.read_text())
        # a process that becomes another program has no command line for a moment; one that has ended never has
        while not (words := Path(f"/proc/{pid}/cmdline").read_bytes()):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state == "Z" or time.monotonic() > deadline:
                return None
            time.sleep(0.005)
    except (OSError, ValueError, IndexError):
        return None
    return pid if str(place).encode() in words else None


def stop(service: Service) -> None:
    """End our engine, first politely; nothing else is ever signalled."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + _STOP_SECONDS
        pid = _pid_of(service)
        if pid is None:
            break
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        while _pid_of(service) is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        # a child that nobody asks about stays as a zombie
        _exit_code(pid)
    (service.folder / "pid").unlink(missing_ok=True)
    for place in (service.storage, service.folder):
        if place is not None:
            unmount_below(place)


def _last_line(log: Path) -> str:
    return last_line(log.read_text(errors="replace"), "(the log is empty)")[-400:]


def unmount_below(place: Path) -> list[Path]:
    """Detach every mount at or below `place`, the deepest first; returns what was detached.

    An engine that crashed leaves mounts behind, and its folders could never be removed.
    """
    points = sorted(mounts_below(place), key=lambda point: len(point.parts), reverse=True)
    library = ctypes.CDLL(None)
    return [point for point in points if library.umount2(os.fsencode(point), _DETACH) == 0]


def mounts_below(place: Path) -> list[Path]:
    """Mount points at or below a folder."""
    real = place.resolve()
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    points = [Path(_plain(line.split()[4])) for line in lines]
    return [point for point in points if point == real or real in point.parents]


def _plain(text: str) -> str:
    """The kernel writes spaces and the like as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
