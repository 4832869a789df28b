"""An honest run that is disturbed from outside ends well, or is the machine's failure; never the method's."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.engine.cgroup import mounts, own_group
from harness.engine.find import serve_docker
from harness.engine.programs import is_root
from harness.execution.runs import attempt, watch
from harness.execution.runs.container import container_configuration
from harness.execution.runs.outcome import Outcome
from tests.engines import make_probe_image
from tests.private_engine import (
    UNCLOSED,
    containerd_of,
    main_process,
    pid_of,
    private_cache,
    served,
    shims_of,
    when_running,
)
from tests.runs.helpers import GOOD, MIB, Bench

__all__ = ["private_cache", "served"]
pytestmark = [pytest.mark.engine, pytest.mark.alone, UNCLOSED]

HARNESS = """
import pickle, sys
from pathlib import Path
from harness.engine import Engine
from harness.execution.runs import execute
outcome = execute(Engine(Path(sys.argv[1])), pickle.loads(bytes.fromhex(sys.argv[2])))
print(outcome.verdict, len(outcome.attempts), outcome.ran_s, outcome.reason)
"""
SHORT = GOOD + "time.sleep(1.5)"
# the engine notes the start when the program has begun: a few milliseconds are not counted
SHORTEST = 1.4


@pytest.fixture(scope="module")
def a_user(private_cache: Path) -> Iterator[Engine]:
    """A user of the engine beside those of the tests, so that it need not start anew for each."""
    user = serve_docker(private_cache, {})
    assert user is not None
    with user:
        yield user


@pytest.fixture
def bench(a_user: Engine, served: Engine, tmp_path: Path) -> Bench:
    assert a_user.socket == served.socket
    return Bench(served, make_probe_image(served), tmp_path)


def disturbed(bench: Bench, act: Callable[[str], object], program: str = SHORT, **limits: Any) -> Outcome:
    """A run, and what is done to it once it has begun."""
    actor = when_running(bench.engine, act)
    outcome = bench.run(program, **limits)
    actor.join()
    return outcome


@contextmanager
def halted(pid: int, seconds: float) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def halt(pid: int, seconds: float) -> None:
    with halted(pid, seconds):
        pass


def told(outcome: Outcome) -> tuple[Verdict, list[Verdict]]:
    return outcome.verdict, [one.verdict for one in outcome.attempts]


def test_a_harness_that_is_halted_finds_no_run_late(bench: Bench) -> None:
    request = pickle.dumps(bench.request(SHORT, seconds=3.0)).hex()
    command = [sys.executable, "-c", HARNESS, str(bench.engine.socket), request]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as harness:
        when_running(bench.engine, lambda _: halt(harness.pid, 4.0)).join()
        assert harness.stdout is not None
        verdict, attempts, ran, reason = harness.stdout.read().split(maxsplit=3)
    assert (verdict, attempts) == ("ok", "1"), reason
    assert SHORTEST <= float(ran) < 3.0, "the container's own time, not ours"


def test_an_engine_that_hangs_makes_no_run_late(bench: Bench) -> None:
    outcome = disturbed(bench, lambda _: halt(pid_of(bench.engine), 4.0), seconds=3.0)
    assert told(outcome) == (Verdict.OK, [Verdict.OK]), outcome.reason
    assert outcome.ran_s is not None and SHORTEST <= outcome.ran_s < 3.0 < outcome.wall_s


def test_an_engine_that_says_nothing_of_the_end_is_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_PATIENCE", 1.0)
    outcome = disturbed(bench, lambda _: halt(pid_of(bench.engine), 5.0), seconds=30.0)
    assert told(outcome) == (Verdict.OK, [Verdict.INFRASTRUCTURE, Verdict.OK]), outcome.reason
    assert "does not say how" in outcome.attempts[0].reason


@pytest.mark.thorough
def test_a_containerd_that_is_killed_makes_no_run_late(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of the end may be lost for good."""
    monkeypatch.setattr(watch, "_PATIENCE", 6.0)

    def kill(_: str) -> None:
        pid = containerd_of(bench.engine)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    outcome = disturbed(bench, kill, seconds=4.0)
    assert outcome.verdict is Verdict.OK, outcome.reason
    assert {one.verdict for one in outcome.attempts} <= {Verdict.OK, Verdict.INFRASTRUCTURE}


def test_a_shim_that_is_killed_costs_an_attempt(bench: Bench) -> None:
    def kill(_: str) -> None:
        for shim in shims_of(bench.engine):
            os.kill(shim, signal.SIGKILL)

    outcome = disturbed(bench, kill)
    assert told(outcome) == (Verdict.OK, [Verdict.INFRASTRUCTURE, Verdict.OK]), outcome.reason
    assert "the engine watches the container was killed" in outcome.attempts[0].reason


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_container_that_is_killed_from_outside_costs_an_attempt(bench: Bench, number: signal.Signals) -> None:
    outcome = disturbed(bench, lambda one: os.kill(main_process(bench.engine, one), number))
    assert told(outcome) == (Verdict.OK, [Verdict.INFRASTRUCTURE, Verdict.OK]), outcome.reason
    assert f"killed ({number.name})" in outcome.attempts[0].reason


@pytest.mark.parametrize("code", [137, 143])
def test_what_is_killed_every_time_is_not_tried_for_ever(bench: Bench, code: int) -> None:
    outcome = bench.run(GOOD + f"print('bye'); sys.exit({code})")
    assert told(outcome) == (Verdict.ERROR, [Verdict.INFRASTRUCTURE] * 2 + [Verdict.ERROR])
    assert "3 times in a row" in outcome.reason and outcome.reason.endswith(": bye")


def pause(engine: Engine, seconds: float) -> Callable[[str], None]:
    def act(container: str) -> None:
        engine.client.api.pause(container)
        time.sleep(seconds)
        engine.client.api.unpause(container)

    return act


def freeze(engine: Engine, seconds: float) -> Callable[[str], None]:
    """As a scheduler suspends a job: past the engine."""

    def act(container: str) -> None:
        text = Path(f"/proc/{main_process(engine, container)}/cgroup").read_text()
        lines = [line.split(":", 2) for line in text.splitlines()]
        first = next((path for _, names, path in lines if names == "freezer"), None)
        place = mounts()["freezer" if first else ""]
        group = place / str(own_group(first or lines[-1][2], container))
        name, on, off = ("freezer.state", "FROZEN", "THAWED") if first else ("cgroup.freeze", "1", "0")
        (group / name).write_text(on)
        time.sleep(seconds)
        (group / name).write_text(off)

    return act


@pytest.mark.parametrize("hold", [pause, freeze])
def test_time_in_which_it_was_paused_does_not_count(
    bench: Bench, hold: Callable[[Engine, float], Callable[[str], None]]
) -> None:
    outcome = disturbed(bench, hold(bench.engine, 3.0), seconds=3.0)
    assert told(outcome) == (Verdict.OK, [Verdict.OK]), outcome.reason
    assert 2.0 < outcome.paused_s < 4.0
    assert outcome.ran_s is not None and outcome.ran_s > 3.0


def test_a_pause_saves_nobody_from_his_limit(bench: Bench) -> None:
    outcome = disturbed(bench, pause(bench.engine, 1.0), GOOD + "time.sleep(60)", seconds=2.0)
    assert told(outcome) == (Verdict.TIMEOUT, [Verdict.TIMEOUT]), outcome.reason
    assert outcome.ran_s is not None and outcome.ran_s - outcome.paused_s >= 2.0


def test_a_pause_without_end_is_the_machines_failure(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_LONGEST_PAUSE", 1.0)
    outcome = disturbed(bench, bench.engine.client.api.pause, seconds=3.0)
    assert told(outcome) == (Verdict.OK, [Verdict.INFRASTRUCTURE, Verdict.OK]), outcome.reason
    assert "somebody has paused the container" in outcome.attempts[0].reason


@pytest.fixture
def parent_group(served: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A group with 120 MiB, as of a cluster's job; the containers of the test are put into it."""
    version = 1 if "memory" in mounts() else 2
    place = mounts().get("memory" if version == 1 else "")
    if place is None or served.facts.cgroup_driver != "cgroupfs":
        pytest.skip("needs control groups with memory, which the engine makes itself")
    group = place / f"permafrost-test-{os.getpid()}"
    group.mkdir()
    if version == 2:
        (place / "cgroup.subtree_control").write_text("+memory")
        (group / "memory.swap.max").write_text("0")
    limit = group / ("memory.limit_in_bytes" if version == 1 else "memory.max")
    limit.write_text(str(120 * MIB))
    described = container_configuration

    def within(*arguments: Any, **named: Any) -> dict[str, Any]:
        configuration: dict[str, Any] = described(*arguments, **named)
        configuration["HostConfig"]["CgroupParent"] = f"/{group.name}"
        return configuration

    monkeypatch.setattr(attempt, "container_configuration", within)
    yield group
    for path in place.parent.glob(f"*/{group.name}"):
        path.rmdir()


def test_memory_that_ran_out_further_up_is_not_the_methods_failure(bench: Bench, parent_group: Path) -> None:
    outcome = bench.run(GOOD + "b = bytearray(180 << 20)", memory_bytes=256 * MIB)
    assert told(outcome) == (Verdict.INFRASTRUCTURE, [Verdict.INFRASTRUCTURE] * 3), outcome.reason
    assert "memory ran out above its own limit" in outcome.reason


def test_its_own_limit_within_a_larger_group_is_the_methods_failure(bench: Bench, parent_group: Path) -> None:
    outcome = bench.run(GOOD + "b = bytearray(180 << 20)", memory_bytes=64 * MIB)
    assert told(outcome) == (Verdict.MEMORY, [Verdict.MEMORY]), outcome.reason


def test_a_neighbour_killed_for_want_of_memory_is_not_this_run(bench: Bench, parent_group: Path) -> None:
    """The kernel signals the whole subtree, and the engine believes the signal; only one was killed."""
    hog = Bench(bench.engine, bench.image, bench.folder / "hog")
    hog.folder.mkdir()
    begin = threading.Timer(1.0, lambda: hog.run(GOOD + "b = bytearray(180 << 20)", memory_bytes=256 * MIB))
    begin.start()
    outcome = bench.run(GOOD + "b = bytearray(20 << 20); time.sleep(3)", memory_bytes=256 * MIB)
    begin.join()
    assert told(outcome) == (Verdict.OK, [Verdict.OK]), outcome.reason
    assert outcome.oom_kills == 0


def test_a_limit_full_of_cached_files_is_no_kill(bench: Bench) -> None:
    program = GOOD + "open('/out/trace', 'wb').write(bytes(1)); f = open('/out/method.json', 'wb')\n"
    program += "for _ in range(100): f.write(bytes(1 << 20))\nf.close(); sys.exit(137)"
    # on a disk: the kernel can't give back what lies in memory, where tests may write
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        outcome = replace(bench, folder=Path(folder)).run(program, memory_bytes=64 * MIB)
    assert outcome.peak_bytes is not None and outcome.peak_bytes > 60 * MIB
    assert outcome.verdict is Verdict.ERROR, outcome.reason


def test_a_method_cannot_choose_its_verdict(bench: Bench) -> None:
    lie = "open('/out/method.json', 'w').write('{\"peak_memory_bytes\": 268435456, \"cpu_seconds\": 9e17}')"
    # it lives until the harness has looked at it
    killed = bench.run(f"{GOOD}{lie}; import time; time.sleep(0.5); sys.exit(137)", memory_bytes=256 * MIB)
    assert killed.verdict is Verdict.ERROR, killed.reason
    assert killed.peak_bytes is not None and killed.peak_bytes < 128 * MIB, "the kernel's word, not the method's"
    assert killed.cpu_s is not None and killed.cpu_s < 60
    too_large = bench.run(GOOD + "sys.exit(153)")
    assert told(too_large) == (Verdict.ERROR, [Verdict.ERROR]) and "SIGXFSZ" in too_large.reason


@pytest.fixture
def few_files(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a hundred files."""
    if not is_root():
        pytest.skip("needs root, to mount a file system")
    folder = tmp_path / "few"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=100", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_without_room_for_files_is_the_machines_failure(bench: Bench, few_files: Path) -> None:
    program = GOOD + "for n in range(200): open(f'/out/{n}', 'w').close()"
    outcome = Bench(bench.engine, bench.image, few_files).run(program)
    assert told(outcome) == (Verdict.INFRASTRUCTURE, [Verdict.INFRASTRUCTURE]), outcome.reason
    assert "no room for more files" in outcome.reason
    outcome.discard()
