"""Two containers at once: one does all it can to be heard, the other hears exactly what it hears alone.

Each known channel of the kernel is tried in real containers: locks, queues, shared memory, sockets, keys, and
what is counted per user or for the whole machine.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.runs import Outcome, execute
from tests.engines import ProbeImage
from tests.runs.helpers import GOOD, Bench

pytestmark = [pytest.mark.engine, pytest.mark.alone]

_READY_S = 60.0
_PROCESSES = 64
# Where a lock is taken that the other looks for, and a name that both know.
COMMON = """
import ctypes, ctypes.util, fcntl, json, os, resource, signal, socket, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
PLACE, NAME = 424242, 'permafrost-channel'
def lock(kind):
    return struct.pack('hhqqi4x', kind, os.SEEK_SET, PLACE, 1, 0)
def files():
    yield from ('/proc/1/exe', '/proc/self/exe', '/proc/version', '/proc/meminfo', '/proc/stat')
    yield from ('/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty', '/dev/ptmx')
    yield from ('/sbin/docker-init', '/dev/init', '/run/podman-init', '/usr/bin/tini-static', '/sys', '/proc', '/')
    yield from ('/sys/devices/system/cpu/online', '/sys/fs/cgroup', '/in', '/out', '/tmp', '/dev/shm', '/etc')
    yield from sorted('/in/' + name for name in os.listdir('/in'))
    yield from sorted('/etc/' + name for name in os.listdir('/etc'))
def each():
    for path in files():
        try:
            yield path, os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            continue
def timer():
    made = ctypes.c_void_p()
    return libc.timer_create(0, None, ctypes.byref(made))
"""
SPEAKER = (
    GOOD
    + COMMON
    + """
held = []
for path, handle in each():
    held.append(handle)
    for take in (lambda: fcntl.fcntl(handle, 37, lock(fcntl.F_RDLCK)), lambda: fcntl.flock(handle, fcntl.LOCK_SH),
                 lambda: fcntl.fcntl(handle, 1024, fcntl.F_RDLCK)):
        try: take()
        except OSError: pass
for kind, address in ((socket.AF_UNIX, chr(0) + NAME), (socket.AF_INET, ('127.0.0.1', 40404)),
                      (socket.AF_INET6, ('::1', 40404)), (40, (0xffffffff, 40404))):
    try:
        one = socket.socket(kind, socket.SOCK_STREAM); one.bind(address); one.listen(); held.append(one)
    except OSError: pass
open('/dev/shm/' + NAME, 'w').write('x')
libc.mq_open(('/' + NAME).encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
libc.shmget(424242, 4096, 0o1666); libc.semget(424242, 1, 0o1666); libc.msgget(424242, 0o1666)
libc.syscall(248, b'user', NAME.encode(), b'x', 1, -4); libc.syscall(248, b'user', NAME.encode(), b'x', 1, -5)
while libc.inotify_init() >= 0: pass
while timer() == 0: pass
threads = [threading.Thread(target=time.sleep, args=(600,), daemon=True) for _ in range(40)]
for thread in threads: thread.start()
try:
    while True: held += os.pipe()
except OSError: pass
os.close(held.pop())
open('/out/ready', 'w').close()
time.sleep(600)
"""
)
LISTENER = (
    GOOD
    + COMMON
    + """
heard = {}
for path, handle in each():
    for name, command in (('OFD', 36), ('POSIX', fcntl.F_GETLK)):
        try:
            answer = fcntl.fcntl(handle, command, lock(fcntl.F_WRLCK))
            heard[f'{name} lock on {path}'] = struct.unpack('hhqqi4x', answer)[0] != fcntl.F_UNLCK
        except OSError as error:
            heard[f'{name} lock on {path}'] = error.strerror
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        heard['flock on ' + path] = False
        fcntl.flock(handle, fcntl.LOCK_UN)
    except OSError as error:
        heard['flock on ' + path] = error.strerror
    os.close(handle)
for place in ('/proc/locks', '/proc/key-users', '/proc/keys', '/proc/loadavg', '/proc/meminfo', '/proc/stat',
              '/proc/uptime', '/proc/vmstat', '/proc/diskstats', '/proc/sys/fs/file-nr', '/proc/sys/kernel/pty/nr',
              '/proc/sysvipc/shm', '/proc/sysvipc/sem', '/proc/sysvipc/msg', '/proc/net/unix', '/proc/cgroups',
              '/proc/softirqs', '/proc/interrupts', '/proc/schedstat', '/proc/slabinfo', '/proc/pressure/cpu'):
    try: heard[place] = open(place).read()
    except OSError as error: heard[place] = error.strerror
for kind, address in ((socket.AF_UNIX, chr(0) + NAME), (socket.AF_INET, ('127.0.0.1', 40404)),
                      (socket.AF_INET6, ('::1', 40404)), (40, (2, 40404)), (40, (1, 40404))):
    try:
        socket.socket(kind, socket.SOCK_STREAM).connect(address); heard[f'socket {kind} {address}'] = True
    except OSError as error: heard[f'socket {kind} {address}'] = error.strerror
heard['shared memory'] = os.listdir('/dev/shm')
heard['queues'] = os.listdir('/dev/mqueue') if os.path.isdir('/dev/mqueue') else []
heard['queue'] = libc.mq_open(('/' + NAME).encode(), os.O_RDWR)
heard['System V'] = [libc.shmget(424242, 0, 0), libc.semget(424242, 0, 0), libc.msgget(424242, 0)]
heard['key'] = libc.syscall(249, b'user', NAME.encode(), None, 0)
heard['processes'] = sum(name.isdigit() for name in os.listdir('/proc'))
count = 0
while count < 500 and libc.inotify_init() >= 0: count += 1
heard['inotify instances'] = count
heard['size of a pipe'] = fcntl.fcntl(os.pipe()[1], 1032)
count = 0
while count < 100_000 and timer() == 0: count += 1
heard['timers'] = count
heard['room for locked memory'] = resource.getrlimit(resource.RLIMIT_MEMLOCK)
started = []
try:
    while len(started) < 200:
        started.append(threading.Thread(target=time.sleep, args=(600,), daemon=True)); started[-1].start()
except RuntimeError: started.pop()
heard['threads'] = len(started)
print(json.dumps(heard), flush=True)
os._exit(0)
"""
)


@pytest.fixture(scope="module")
def heard(
    any_engine: Engine, probe_image: ProbeImage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What the listener hears alone, and beside the speaker."""
    folder = tmp_path_factory.mktemp("neighbours")
    # as in a campaign, each run has an input folder of its own
    speaker, listener = (Bench(any_engine, probe_image, folder / name) for name in ("speaker", "listener"))
    for bench in (speaker, listener):
        bench.folder.mkdir()
    alone = _hear(listener)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        request = speaker.request(SPEAKER, seconds=300.0, processes=_PROCESSES)
        speaking = pool.submit(execute, any_engine, request, stop=stop)
        try:
            _wait_for(speaker.folder, speaking.done)
            beside = _hear(listener)
            assert not speaking.done(), "the speaker was to speak all the time"
        finally:
            stop.set()
            ended = speaking.result()
    ended.discard()
    yield alone, beside


def _wait_for(folder: Path, done: Any) -> None:
    deadline = time.monotonic() + _READY_S
    while not list(folder.glob("work/harness-*/run-*/out/ready")):
        assert not done() and time.monotonic() < deadline, "the speaker never spoke"
        time.sleep(0.05)


def _hear(bench: Bench) -> dict[str, Any]:
    outcome: Outcome = bench.run(LISTENER, processes=_PROCESSES, log_bytes=1 << 20)
    assert outcome.verdict is Verdict.OK, (outcome.reason, outcome.log.read_text())
    told: dict[str, Any] = json.loads(outcome.log.read_text().splitlines()[-1])
    outcome.discard()
    return told


def test_the_neighbour_makes_no_difference(heard: tuple[dict[str, Any], dict[str, Any]]) -> None:
    alone, beside = heard
    assert alone.keys() == beside.keys()
    different = {name: (alone[name], beside[name]) for name in alone if alone[name] != beside[name]}
    assert not different


def test_no_lock_of_another_is_seen(heard: tuple[dict[str, Any], dict[str, Any]]) -> None:
    for told in heard:
        locks = {name: seen for name, seen in told.items() if "lock on " in name}
        assert len(locks) > 30 and not [name for name, seen in locks.items() if seen is True]
        assert "424242" not in told["/proc/locks"]


def test_nothing_is_used_up_by_another(heard: tuple[dict[str, Any], dict[str, Any]]) -> None:
    _, beside = heard
    assert beside["size of a pipe"] == 65536
    assert beside["timers"] > 1000 and beside["threads"] >= _PROCESSES - 4


def test_both_are_other_users(any_engine: Engine, probe_image: ProbeImage, tmp_path: Path) -> None:
    bench = Bench(any_engine, probe_image, tmp_path)
    # the container says it itself: one that ends at once may be gone before the harness looks at it
    outcomes = [bench.run(GOOD + "import os; print(os.getuid())") for _ in range(2)]
    users = {int(outcome.log.read_text().splitlines()[-1]) for outcome in outcomes}
    assert len(users) == 2 and 0 not in users, "one number for two runs"
