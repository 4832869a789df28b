"""The kernel refuses what no method needs, and programs that do without go on: tried in a real container."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from harness.base.vocabulary import Verdict
from harness.engine import walls as walls_module
from harness.engine.walls import profile_digest
from tests.runs.conftest import bench
from tests.runs.helpers import GOOD, MIB, Bench

__all__ = ["bench"]

pytestmark = pytest.mark.engine

# name -> number on x86-64 and the first arguments; with these, an unfiltered kernel gives another answer than the
# filter, or would need rights that the container does not have
CALLS: dict[str, tuple[int, ...]] = {
    "io_uring_setup": (425, 1, 0),
    "io_uring_enter": (426, 0),
    "keyctl": (250, 0, -5),
    "add_key": (248, 0, 0),
    "request_key": (249, 0, 0),
    "userfaultfd": (323, 0),
    "unshare": (272, 0),
    "setns": (308, -1, 0),
    "clone of a user name space": (56, 0x10000011, 0),
    "clone3": (435, 0, 0),
    "mount": (165, 0, 0, 0, 0),
    "umount2": (166, 0),
    "fsopen": (430, 0),
    "open_tree": (428, -1, 0),
    "mount_setattr": (442, -1, 0),
    "chroot": (161, 0),
    "pivot_root": (155, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0),
    "ptrace": (101, 0x4206, 1),
    "process_vm_readv": (310, 1, 0, 0, 0, 0),
    "process_vm_writev": (311, 1, 0, 0, 0, 0),
    "pidfd_getfd": (438, -1, 0, 0),
    "name_to_handle_at": (303, -1, 0),
    "open_by_handle_at": (304, -1, 0),
    "personality": (135, 0x0040000),
    "modify_ldt": (154, 0, 0, 0),
    "memfd_secret": (447, 0),
    "quotactl": (179, 0, 0),
    "fanotify_init": (300, 0),
    "inotify_init1": (294, 0),
    "mq_open": (240, 0),
    "shmget": (29, 0, 4096, 0o1600),
    "semget": (64, 0, 1, 0o1600),
    "msgget": (68, 0, 0o1600),
    "mincore": (27, 0, 0),
    "kcmp": (312, 1, 1, 0, 0, 0),
    "sethostname": (170, 0),
    "settimeofday": (164, 0, 0),
    "AF_VSOCK": (41, 40, 1, 0),
    "NETLINK_KOBJECT_UEVENT": (41, 16, 3, 15),
    "AF_PACKET": (41, 17, 3, 0),
    "AF_ALG": (41, 38, 5, 0),
    "F_SETLEASE": (72, 0, 1024, 2),
    "F_NOTIFY": (72, 0, 1026, 0),
}
TRY = """
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
answers = {}
for name, arguments in CALLS.items():
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(one) for one in arguments])
    answers[name] = ctypes.get_errno() if result < 0 else 0
print(json.dumps(answers))
"""
HONEST = """
import ctypes, json, mmap, multiprocessing, os, select, signal, socket, subprocess, tempfile, threading, time
done = []
def work(value): done.append(value)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, b'child'); os._exit(0)
os.wait()
said = [os.read(reading, 5).decode()]
command = [EXECUTABLE, '-I', '-c', 'print(6 * 7)']
said.append(subprocess.run(command, capture_output=True, text=True).stdout.strip())
context = multiprocessing.get_context('fork')
queue = context.Queue()
child = context.Process(target=queue.put, args=('queue',)); child.start()
said.append(queue.get(timeout=20)); child.join()
shared = mmap.mmap(-1, 4096); shared[:2] = b'ok'
one, other = socket.socketpair(); one.send(b'x'); said.append(other.recv(1).decode())
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].send(b'y'); said.append(client.recv(1).decode())
server = socket.socket(socket.AF_UNIX); server.bind('/tmp/s'); server.listen()
said.append(str(select.epoll() is not None))
signal.setitimer(signal.ITIMER_REAL, 60)
with tempfile.NamedTemporaryFile() as file:
    file.write(b'z'); file.flush(); os.fsync(file.fileno())
said.append(socket.getaddrinfo('localhost', 80)[0][4][0] in ('127.0.0.1', '::1'))
said.append(os.sysconf('SC_PHYS_PAGES') > 0 and os.cpu_count() > 0)
said.append(os.getpid() > 1 and [name for _, name in socket.if_nameindex()] == ['lo'])
import getpass
said.append(getpass.getuser())
memory = dict(line.split(':') for line in open('/proc/meminfo'))
said.append(memory['MemTotal'].strip())
print(json.dumps(said))
"""


def test_every_forbidden_call_is_refused(bench: Bench) -> None:
    outcome = bench.run(GOOD + TRY.replace("CALLS", repr(CALLS)), log_bytes=MIB)
    assert outcome.verdict is Verdict.OK, (outcome.reason, outcome.log.read_text())
    answers = json.loads(outcome.log.read_text())
    let_through = {name: error for name, error in answers.items() if error not in (1, 38)}
    assert not let_through and answers.keys() == CALLS.keys()


def test_honest_programs_go_on(bench: Bench) -> None:
    program = bench.image.entrypoint[-3]
    outcome = bench.run(GOOD + HONEST.replace("EXECUTABLE", repr(program)), log_bytes=MIB)
    assert outcome.verdict is Verdict.OK, (outcome.reason, outcome.log.read_text())
    said = json.loads(outcome.log.read_text())
    assert said == ["child", "42", "queue", "x", "y", "True", True, True, True, "permafrost", "262144 kB"]


def test_the_record_says_what_the_kernel_enforced(bench: Bench) -> None:
    outcome = bench.run(GOOD + "time.sleep(0.5)")
    seen = outcome.as_json()["confinement"]
    if seen is None:
        pytest.skip("the processes of this engine cannot be seen here")
    assert seen["no_new_privileges"] and seen["system_calls_filtered"] and seen["capabilities"] == 0
    assert seen["system_call_profile"] == profile_digest() and seen["user"] > 1000


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again without a pause."""
    monkeypatch.setattr(import_module("harness.execution.runs.execute"), "_PAUSES_OF_ENGINES", (0.0, 0.0))


@pytest.mark.usefixtures("at_once")
def test_a_run_without_its_filter_is_never_believed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls_module, "_filter", lambda facts: ["seccomp=unconfined"])
    outcome = bench.run(GOOD + "time.sleep(20)")
    assert outcome.verdict is Verdict.INFRASTRUCTURE and "system calls are not filtered" in outcome.reason


@pytest.mark.usefixtures("at_once")
@pytest.mark.thorough
def test_a_run_that_could_gain_rights_is_never_believed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = walls_module.walls

    def without_options(*arguments: object, **options: object) -> dict[str, object]:
        described = whole(*arguments, **options)  # type: ignore[arg-type]
        return {**described, "SecurityOpt": ["seccomp=unconfined"]}

    monkeypatch.setattr("harness.execution.runs.container.walls", without_options)
    outcome = bench.run(GOOD + "time.sleep(20)")
    assert outcome.verdict is Verdict.INFRASTRUCTURE and "new privileges" in outcome.reason


def test_an_orphan_is_reaped_by_the_images_init_program(bench: Bench) -> None:
    program = GOOD + (
        "if os.fork() == 0:\n"
        "    if os.fork() == 0: time.sleep(0.2); os._exit(0)\n"
        "    os._exit(0)\n"
        "os.wait(); time.sleep(0.6)\n"
        "print(open('/proc/1/comm').read().strip(), len([p for p in os.listdir('/proc') if p.isdigit()]))\n"
    )
    outcome = bench.run(program)
    assert outcome.verdict is Verdict.OK and outcome.log.read_text() == "tini-static 2\n"


def test_the_polite_signal_reaches_the_method(bench: Bench) -> None:
    outcome = bench.run(GOOD + "time.sleep(600)", seconds=3.0, grace_seconds=60.0)
    assert outcome.verdict is Verdict.TIMEOUT and outcome.wall_s < 30
