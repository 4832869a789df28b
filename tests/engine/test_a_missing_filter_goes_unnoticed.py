"""What the kernel does not enforce although the engine says so is found before a method computes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.engine import Engine, confinement
from harness.engine import walls as walls_module
from harness.engine.confinement import Confinement, broken_walls, confinement_in, read_confinement
from harness.engine.facts import read_facts
from harness.engine.probe import control_run
from harness.upkeep import doctor
from harness.upkeep.doctor import State
from tests.engine.clock import Clock

FACTS = read_facts(
    {}, {"SecurityOptions": ["name=seccomp"], "DefaultRuntime": "runc"}, api_version="1.41", socket="/s"
)
GOOD = Confinement(no_new_privileges=True, system_calls_filtered=True, capabilities=0, user=1_900_000_000)
STATUS = """Name:\tpython3
State:\tS (sleeping)
Uid:\t{user}\t1900000000\t1900000000\t1900000000
CapEff:\t{rights}
NoNewPrivs:\t{new}
Seccomp:\t{filter}
"""


def status(user: int = 1_900_000_000, rights: str = "0000000000000000", new: int = 1, filter: int = 2) -> str:
    return STATUS.format(user=user, rights=rights, new=new, filter=filter)


def test_a_status_is_read_as_the_kernel_writes_it() -> None:
    assert confinement_in(status()) == GOOD
    assert confinement_in(status(new=0)) == replace(GOOD, no_new_privileges=False)
    for mode in (0, 1):
        assert confinement_in(status(filter=mode)) == replace(GOOD, system_calls_filtered=False)
    assert confinement_in(status(rights="00000000a80425fb")) == replace(GOOD, capabilities=0xA80425FB)


def test_what_cannot_be_seen_claims_nothing() -> None:
    assert confinement_in("") is None and confinement_in("Name:\tx\n") is None
    assert confinement_in(status().replace("S (sleeping)", "Z (zombie)")) is None
    assert read_confinement(0) is None and read_confinement(2**22 + 1) is None
    assert broken_walls(None, FACTS) == []


def test_this_process_is_not_taken_for_a_confined_one() -> None:
    seen = read_confinement(os.getpid(), patience=0.0)
    assert seen is not None and seen.user == os.geteuid()


@pytest.mark.parametrize("name", ["a:b", "kworker/0:1: x"])
def test_what_stands_between_colons_or_is_cut_does_no_harm(name: str) -> None:
    assert confinement_in(status().replace("python3", name) + "a line that is cut") == GOOD


def test_a_name_that_is_no_text_does_no_harm() -> None:
    name = Path("/proc/self/comm")
    before = name.read_bytes()
    name.write_bytes(b"\xff")
    try:
        assert read_confinement(os.getpid(), patience=0.0) is not None
    finally:
        name.write_bytes(before)


@pytest.mark.parametrize(("patience", "waited"), [({}, 1.0), ({"patience": 3.0}, 3.0), ({"patience": 0.0}, 0.0)])
def test_a_process_without_a_filter_is_believed_after_a_while(
    monkeypatch: pytest.MonkeyPatch, patience: dict[str, float], waited: float
) -> None:
    """In steps that delay no container noticeably."""
    clock = Clock()
    monkeypatch.setattr(confinement, "time", clock)
    monkeypatch.setattr(confinement, "_status", lambda pid: status(filter=0))
    assert read_confinement(7, **patience) == replace(GOOD, system_calls_filtered=False)
    assert sum(clock.waits) == pytest.approx(waited, abs=0.006) and set(clock.waits) <= {0.005}
    monkeypatch.setattr(confinement, "_status", lambda pid: status(filter=2 * (len(clock.waits) > 9)))
    clock.waits.clear()
    seen = read_confinement(7, **patience)
    assert seen is not None and seen.system_calls_filtered == bool(waited)
    assert len(clock.waits) == (10 if waited else 0)


def test_each_broken_wall_is_named() -> None:
    assert broken_walls(GOOD, FACTS) == []
    assert broken_walls(replace(GOOD, no_new_privileges=False), FACTS) == ["new privileges can be gained"]
    assert broken_walls(replace(GOOD, system_calls_filtered=False), FACTS) == ["system calls are not filtered"]
    assert broken_walls(replace(GOOD, capabilities=1), FACTS) == ["capabilities 0x1 are held"]


def test_what_an_engine_never_claimed_is_no_broken_promise() -> None:
    bare = replace(FACTS, system_call_filter=False)
    assert broken_walls(replace(GOOD, system_calls_filtered=False), bare) == []


def test_a_runtimes_own_first_process_is_not_judged_as_the_methods() -> None:
    loose = Confinement(no_new_privileges=False, system_calls_filtered=False, capabilities=1, user=0)
    assert broken_walls(loose, replace(FACTS, runtime="runsc")) == []


@pytest.mark.parametrize("runtime", ["", "runc", "crun", "nvidia", "io.containerd.runc.v2"])
def test_the_first_process_of_a_plain_runtime_is_judged(runtime: str) -> None:
    loose = Confinement(no_new_privileges=False, system_calls_filtered=False, capabilities=1, user=0)
    assert len(broken_walls(loose, replace(FACTS, runtime=runtime))) == 3


# a filter that allows everything, set after a moment, as a runtime does it last
_FILTERED_LATER = """
import ctypes, sys, time
library = ctypes.CDLL(None)
time.sleep(0.2)
instruction = ctypes.create_string_buffer(bytes([6, 0, 0, 0, 0, 0, 255, 127]))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(1, ctypes.cast(instruction, ctypes.c_void_p))
assert not library.prctl(38, 1, 0, 0, 0) and not library.prctl(22, 2, ctypes.byref(program))
time.sleep(60)
"""


def test_the_filter_that_comes_last_is_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-IS", "-c", _FILTERED_LATER]) as process:
        at_once = read_confinement(process.pid, patience=0.0)
        waited = read_confinement(process.pid, patience=20.0)
        process.kill()
    assert at_once is not None and not at_once.system_calls_filtered
    assert waited is not None and waited.system_calls_filtered and waited.no_new_privileges


def test_a_record_says_which_profile_was_enforced() -> None:
    assert GOOD.as_json() == {
        "no_new_privileges": True,
        "system_calls_filtered": True,
        "capabilities": 0,
        "user": 1_900_000_000,
        "system_call_profile": walls_module.profile_digest(),
    }
    assert replace(GOOD, system_calls_filtered=False).as_json()["system_call_profile"] == ""


@pytest.mark.engine
@pytest.mark.alone
def test_the_control_run_sees_the_kernel_enforce_everything(any_engine: Engine) -> None:
    control = control_run(any_engine)
    assert control.ok and not control.broken and not control.let_through, control
    if control.confinement is not None:
        assert control.confinement.system_calls_filtered and control.confinement.no_new_privileges


@pytest.mark.engine
@pytest.mark.alone
def test_the_control_run_names_what_an_allowing_profile_lets_through(
    any_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walls_module, "_filter", lambda facts: ["seccomp=unconfined"])
    control = control_run(any_engine)
    assert control.ok and control.let_through == "the system call unshare"


@pytest.mark.engine
@pytest.mark.alone
def test_the_control_run_names_a_file_that_is_not_hidden(
    docker_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    visible = tuple(path for path in walls_module.HIDDEN if path != "/proc/vmstat")
    monkeypatch.setattr(walls_module, "HIDDEN", visible)
    assert control_run(docker_engine).let_through == "reading /proc/vmstat"
    check = doctor._control(docker_engine)
    assert check.state is State.WARN and "/proc/vmstat" in check.detail and check.todo


@pytest.mark.engine
@pytest.mark.alone
def test_the_doctor_fails_an_engine_whose_filter_does_not_work(
    docker_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "control_run", lambda engine: replace(control_run(engine), broken=("x is held",)))
    check = doctor._control(docker_engine)
    assert check.state is State.FAIL and "x is held" in check.detail and check.of_engine


@pytest.mark.engine
@pytest.mark.alone
def test_a_runtime_the_engine_does_not_have_is_refused(any_engine: Engine) -> None:
    with pytest.raises(UsageError, match="starts no containers with the runtime 'no-such'"):
        any_engine.use_runtime("no-such")
    any_engine.use_runtime(any_engine.facts.runtime)
    assert control_run(any_engine).ok
