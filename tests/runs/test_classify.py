"""No single sign decides: each combination that has fooled a harness before gets its right verdict."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from harness.base.vocabulary import Verdict
from harness.engine.cgroup import Shortage
from harness.execution.runs.classify import ATTEMPTS, Signs, Stop, classify, is_unexplained_kill

LIMIT = 1000 << 20
KILLED, TERMINATED = 137, 143
LAST = ATTEMPTS - 1


def signs(**known: object) -> Signs:
    return Signs(memory_bytes=LIMIT, **known)  # type: ignore[arg-type]


CASES = {
    "a good end": (signs(exit_code=0), Verdict.OK),
    "exit 3": (signs(exit_code=3), Verdict.ERROR),
    "segmentation fault": (signs(exit_code=128 + signal.SIGSEGV), Verdict.ERROR),
    "out of memory": (signs(exit_code=KILLED, shortage=Shortage.OWN), Verdict.MEMORY),
    "a child out of memory, exit 0": (signs(exit_code=0, shortage=Shortage.OWN), Verdict.MEMORY),
    "a child out of memory, exit 1": (signs(exit_code=1, shortage=Shortage.OWN), Verdict.MEMORY),
    "memory ran out further up": (signs(exit_code=KILLED, shortage=Shortage.ABOVE), Verdict.INFRASTRUCTURE),
    "memory ran out further up, at the last attempt": (
        signs(exit_code=KILLED, shortage=Shortage.ABOVE, oom_flag=True, peak_bytes=LIMIT, earlier_kills=LAST),
        Verdict.INFRASTRUCTURE,
    ),
    "a child was killed for others, exit 0": (
        signs(exit_code=0, shortage=Shortage.ABOVE, oom_flag=True),
        Verdict.INFRASTRUCTURE,
    ),
    "killed for others, then a hang": (
        signs(exit_code=KILLED, shortage=Shortage.ABOVE, stopped=Stop.TIMEOUT),
        Verdict.INFRASTRUCTURE,
    ),
    "the flag of an engine that saw a neighbour's kill": (
        signs(exit_code=0, shortage=Shortage.NONE, oom_flag=True),
        Verdict.OK,
    ),
    "the flag of an engine, and an error": (
        signs(exit_code=1, shortage=Shortage.NONE, oom_flag=True),
        Verdict.ERROR,
    ),
    "the flag where the kernel is not read": (signs(exit_code=KILLED, oom_flag=True), Verdict.MEMORY),
    "the flag where the kernel is not read, exit 0": (signs(exit_code=0, oom_flag=True), Verdict.MEMORY),
    "a peak tells of no kill": (signs(exit_code=KILLED, peak_bytes=LIMIT, earlier_kills=LAST), Verdict.ERROR),
    "a peak of cached files, then a kill": (
        signs(exit_code=KILLED, peak_bytes=LIMIT, shortage=Shortage.NONE, earlier_kills=LAST),
        Verdict.ERROR,
    ),
    "killed once": (signs(exit_code=KILLED, shortage=Shortage.NONE), Verdict.INFRASTRUCTURE),
    "terminated once": (signs(exit_code=TERMINATED, shortage=Shortage.NONE), Verdict.INFRASTRUCTURE),
    "killed before the last attempt": (signs(exit_code=KILLED, earlier_kills=LAST - 1), Verdict.INFRASTRUCTURE),
    "killed every time": (signs(exit_code=KILLED, earlier_kills=LAST), Verdict.ERROR),
    "terminated every time": (signs(exit_code=TERMINATED, earlier_kills=LAST), Verdict.ERROR),
    "an error after two kills": (signs(exit_code=1, earlier_kills=LAST), Verdict.ERROR),
    "well after two kills": (signs(exit_code=0, earlier_kills=LAST), Verdict.OK),
    "a high peak and a good end": (signs(exit_code=0, peak_bytes=LIMIT), Verdict.OK),
    "our kill at the time limit": (signs(exit_code=KILLED, stopped=Stop.TIMEOUT), Verdict.TIMEOUT),
    "a polite end at the time limit": (signs(exit_code=0, stopped=Stop.TIMEOUT), Verdict.TIMEOUT),
    "ran as long as it may": (
        signs(exit_code=0, stopped=Stop.TIMEOUT, ran_s=20.0, limit_s=20.0),
        Verdict.TIMEOUT,
    ),
    "had ended well before our clock was looked at": (
        signs(exit_code=0, stopped=Stop.TIMEOUT, ran_s=19.9, limit_s=20.0),
        Verdict.OK,
    ),
    "had failed before our clock was looked at": (
        signs(exit_code=3, stopped=Stop.TIMEOUT, ran_s=19.9, limit_s=20.0),
        Verdict.ERROR,
    ),
    "was killed, and our clock went on": (
        signs(exit_code=KILLED, stopped=Stop.TIMEOUT, ran_s=3.0, limit_s=20.0),
        Verdict.INFRASTRUCTURE,
    ),
    "was terminated, and our clock went on": (
        signs(exit_code=TERMINATED, stopped=Stop.TIMEOUT, ran_s=3.0, limit_s=20.0, earlier_kills=LAST),
        Verdict.INFRASTRUCTURE,
    ),
    "was paused for a while": (
        signs(exit_code=0, stopped=Stop.TIMEOUT, ran_s=25.0, paused_s=6.0, limit_s=20.0),
        Verdict.OK,
    ),
    "ran too long besides a pause": (
        signs(exit_code=KILLED, stopped=Stop.TIMEOUT, ran_s=26.0, paused_s=6.0, limit_s=20.0),
        Verdict.TIMEOUT,
    ),
    "was paused for too long": (signs(exit_code=KILLED, stopped=Stop.PAUSED), Verdict.INFRASTRUCTURE),
    "at the time limit near the memory limit": (
        signs(exit_code=KILLED, stopped=Stop.TIMEOUT, peak_bytes=LIMIT),
        Verdict.TIMEOUT,
    ),
    "a child out of memory, then a hang": (
        signs(exit_code=KILLED, stopped=Stop.TIMEOUT, shortage=Shortage.OWN),
        Verdict.MEMORY,
    ),
    "our kill over too much output": (signs(exit_code=KILLED, stopped=Stop.OUTPUT), Verdict.INVALID),
    "the code of a file over its limit": (signs(exit_code=128 + signal.SIGXFSZ), Verdict.ERROR),
    "an error on a full disk": (signs(exit_code=1, disk_fault="full"), Verdict.INFRASTRUCTURE),
    "no output on a full disk": (
        signs(exit_code=0, output_fault="empty", disk_fault="full"),
        Verdict.INFRASTRUCTURE,
    ),
    "too slow on a full disk": (signs(stopped=Stop.TIMEOUT, disk_fault="full"), Verdict.INFRASTRUCTURE),
    "a good end on a full disk": (signs(exit_code=0, disk_fault="full"), Verdict.OK),
    "out of memory on a full disk": (signs(shortage=Shortage.OWN, disk_fault="full"), Verdict.MEMORY),
    "filled the disk beyond its own limit": (signs(stopped=Stop.OUTPUT, disk_fault="full"), Verdict.INVALID),
    "no output": (signs(exit_code=0, output_fault="predictions.npy is missing"), Verdict.INVALID),
    "no output after an error": (signs(exit_code=1, output_fault="predictions.npy is missing"), Verdict.ERROR),
    "the engine went away": (signs(engine_fault="gone"), Verdict.INFRASTRUCTURE),
    "a recovered engine says 137": (signs(exit_code=KILLED, engine_fault="gone"), Verdict.INFRASTRUCTURE),
    "no exit code at all": (signs(), Verdict.INFRASTRUCTURE),
    "a full disk": (signs(exit_code=KILLED, stopped=Stop.DISK), Verdict.INFRASTRUCTURE),
    "no such program": (signs(start_fault="exec: not found", exit_code=127), Verdict.ERROR),
    "a person's wish": (signs(exit_code=KILLED, stopped=Stop.INTERRUPT), Verdict.INTERRUPTED),
    "a person's wish while the engine went away": (
        signs(stopped=Stop.INTERRUPT, engine_fault="gone"),
        Verdict.INTERRUPTED,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_signs_give_their_verdict(case: str) -> None:
    observed, verdict = CASES[case]
    assert classify(observed)[0] is verdict


any_signs = some.builds(
    Signs,
    exit_code=some.none() | some.integers(0, 255) | some.sampled_from([0, KILLED, TERMINATED]),
    shortage=some.sampled_from(Shortage),
    oom_flag=some.booleans(),
    peak_bytes=some.none() | some.integers(0, 2 * LIMIT),
    memory_bytes=some.just(LIMIT),
    ran_s=some.none() | some.integers(0, 40).map(float),
    paused_s=some.integers(0, 20).map(float),
    limit_s=some.just(20.0),
    stopped=some.none() | some.sampled_from(Stop),
    stop_detail=some.just("stopped"),
    engine_fault=some.sampled_from(["", "gone"]),
    start_fault=some.sampled_from(["", "exec"]),
    disk_fault=some.sampled_from(["", "full"]),
    output_fault=some.sampled_from(["", "missing"]),
    earlier_kills=some.integers(0, LAST),
    last_line=some.text(max_size=20),
)


def table(seen: Signs) -> str:
    """What the page on verdicts says, line by line; the first line that applies decides."""
    unread = seen.shortage is Shortage.UNREAD
    own = seen.shortage is Shortage.OWN or (unread and seen.oom_flag)
    late = seen.stopped is Stop.TIMEOUT
    up = seen.ran_s is None or seen.ran_s - seen.paused_s >= 20
    outside = seen.exit_code in (KILLED, TERMINATED)
    lines = [
        (seen.stopped is Stop.INTERRUPT, "interrupted"),
        (seen.start_fault != "" and seen.disk_fault != "" and seen.stopped is not Stop.OUTPUT, "infrastructure"),
        (seen.start_fault != "", "error"),
        (seen.engine_fault != "", "infrastructure"),
        (seen.stopped is Stop.DISK or seen.stopped is Stop.PAUSED, "infrastructure"),
        (seen.shortage is Shortage.ABOVE, "infrastructure"),
        (own, "memory"),
        (late and up and seen.disk_fault != "", "infrastructure"),
        (late and up, "timeout"),
        (seen.stopped is Stop.OUTPUT, "invalid"),
        (seen.exit_code is None, "infrastructure"),
        (late and outside, "infrastructure"),
        (outside and seen.earlier_kills < LAST, "infrastructure"),
        (seen.exit_code != 0 and seen.disk_fault != "", "infrastructure"),
        (seen.exit_code != 0, "error"),
        (seen.output_fault != "" and seen.disk_fault != "", "infrastructure"),
        (seen.output_fault != "", "invalid"),
        (True, "ok"),
    ]
    return next(verdict for applies, verdict in lines if applies)


@settings(max_examples=500)
@given(any_signs)
def test_any_signs_give_the_verdict_of_the_table(observed: Signs) -> None:
    assert classify(observed)[0].value == table(observed)


@given(any_signs)
def test_a_kill_nobody_explains_is_tried_again_and_ends_as_an_error(observed: Signs) -> None:
    kill = replace(observed, exit_code=KILLED, stopped=None, shortage=Shortage.NONE, start_fault="", disk_fault="")
    assert is_unexplained_kill(kill) == (not kill.engine_fault)
    verdict, reason = classify(replace(kill, engine_fault="", earlier_kills=LAST))
    assert (verdict, "3 times" in reason) == (Verdict.ERROR, True)
    assert not is_unexplained_kill(replace(kill, stopped=Stop.TIMEOUT))
    assert not is_unexplained_kill(replace(kill, shortage=Shortage.OWN))
    assert not is_unexplained_kill(replace(kill, shortage=Shortage.ABOVE))
    assert not is_unexplained_kill(replace(kill, exit_code=1))


REASONS = {
    "killed out of memory (limit 1000 MiB, peak 5 MiB)": signs(
        exit_code=KILLED, shortage=Shortage.OWN, peak_bytes=5 << 20
    ),
    "killed out of memory (limit 1000 MiB)": signs(exit_code=KILLED, shortage=Shortage.OWN),
    "a process of it was killed out of memory; the rest ended with code 0 (limit 1000 MiB)": signs(
        exit_code=0, shortage=Shortage.OWN
    ),
    "a process of it was killed out of memory; the rest ran into the time limit (limit 1000 MiB)": signs(
        exit_code=TERMINATED, shortage=Shortage.OWN, stopped=Stop.TIMEOUT
    ),
    "killed because memory ran out above its own limit (limit 1000 MiB)": signs(
        exit_code=KILLED, shortage=Shortage.ABOVE
    ),
    "exit code 3: the last words": signs(exit_code=3, last_line="the last words"),
    "exit code 128": signs(exit_code=128),
    "exit code 255": signs(exit_code=255),
    "ended by signal SIGSEGV": signs(exit_code=139),
    "ended by signal SIGHUP": signs(exit_code=129),
    "killed (SIGTERM), and neither the harness nor its memory limit is known to have done it": signs(
        exit_code=TERMINATED
    ),
    "killed (SIGKILL) 3 times in a row, not by the harness or its memory limit: bye": signs(
        exit_code=KILLED, earlier_kills=LAST, last_line="bye"
    ),
    "stopped at 20 s, but the container itself ran 3.5 s: harness or engine hung": signs(
        exit_code=KILLED, stopped=Stop.TIMEOUT, stop_detail="stopped at 20 s", ran_s=3.5, limit_s=20.0
    ),
    "full; the run ended so: exit code 1": signs(exit_code=1, disk_fault="full"),
    "a person stopped it": signs(stopped=Stop.INTERRUPT),
    "the image's program could not be started: no": signs(start_fault="no"),
    "the engine reported no exit code": signs(),
}


@pytest.mark.parametrize("reason", REASONS)
def test_the_reason_says_what_happened(reason: str) -> None:
    assert classify(REASONS[reason])[1] == reason


def time_was_up(observed: Signs) -> bool:
    return observed.ran_s is None or observed.ran_s - observed.paused_s >= observed.limit_s


@given(any_signs)
def test_ok_means_that_nothing_at_all_was_wrong(observed: Signs) -> None:
    verdict, reason = classify(observed)
    faultless = (
        observed.exit_code == 0
        and observed.shortage in (Shortage.NONE, Shortage.UNREAD)
        and not (observed.oom_flag and observed.shortage is Shortage.UNREAD)
        and (observed.stopped is None or (observed.stopped is Stop.TIMEOUT and not time_was_up(observed)))
        and not (observed.engine_fault or observed.start_fault or observed.output_fault)
    )
    assert (verdict is Verdict.OK) == faultless
    assert reason


@given(any_signs)
def test_only_verdicts_of_a_run_are_given(observed: Signs) -> None:
    of_a_run = {"ok", "error", "memory", "timeout", "invalid", "infrastructure", "interrupted"}
    assert classify(observed)[0].value in of_a_run


@given(any_signs)
def test_a_lost_engine_never_blames_the_method(observed: Signs) -> None:
    if observed.engine_fault and not observed.start_fault:
        assert classify(observed)[0] in (Verdict.INFRASTRUCTURE, Verdict.INTERRUPTED)
