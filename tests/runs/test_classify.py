"""No single sign decides: each combination that has fooled a harness before gets its right verdict."""

from __future__ import annotations

import signal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from harness.runs import Signs, Stop, classify
from harness.vocabulary import Verdict

LIMIT = 1000 << 20
KILLED = 137


def signs(**known: object) -> Signs:
    return Signs(memory_bytes=LIMIT, **known)  # type: ignore[arg-type]


CASES = {
    "a good end": (signs(exit_code=0), Verdict.OK),
    "exit 3": (signs(exit_code=3), Verdict.ERROR),
    "segmentation fault": (signs(exit_code=128 + signal.SIGSEGV), Verdict.ERROR),
    "out of memory, as Docker tells it": (signs(exit_code=KILLED, oom_flag=True), Verdict.MEMORY),
    "a child out of memory, exit 0": (signs(exit_code=0, oom_flag=True), Verdict.MEMORY),
    "a child out of memory, exit 1": (signs(exit_code=1, oom_flag=True), Verdict.MEMORY),
    "out of memory, flag missing, kernel counted": (signs(exit_code=KILLED, oom_kills=1), Verdict.MEMORY),
    "out of memory, only the peak tells": (signs(exit_code=KILLED, peak_bytes=980 << 20), Verdict.MEMORY),
    "killed from outside": (signs(exit_code=KILLED, peak_bytes=100 << 20), Verdict.ERROR),
    "killed, nothing known": (signs(exit_code=KILLED), Verdict.ERROR),
    "a high peak and a good end": (signs(exit_code=0, peak_bytes=LIMIT), Verdict.OK),
    "our kill at the time limit": (signs(exit_code=KILLED, stopped=Stop.TIMEOUT), Verdict.TIMEOUT),
    "a polite end at the time limit": (signs(exit_code=0, stopped=Stop.TIMEOUT), Verdict.TIMEOUT),
    "at the time limit near the memory limit": (
        signs(exit_code=KILLED, stopped=Stop.TIMEOUT, peak_bytes=LIMIT),
        Verdict.TIMEOUT,
    ),
    "a child out of memory, then a hang": (
        signs(exit_code=KILLED, stopped=Stop.TIMEOUT, oom_kills=1),
        Verdict.MEMORY,
    ),
    "our kill over too much output": (signs(exit_code=KILLED, stopped=Stop.OUTPUT), Verdict.INVALID),
    "a file over its limit": (signs(exit_code=128 + signal.SIGXFSZ), Verdict.INVALID),
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
    exit_code=some.none() | some.integers(0, 255),
    oom_flag=some.booleans(),
    oom_kills=some.none() | some.integers(0, 3),
    peak_bytes=some.none() | some.integers(0, 2 * LIMIT),
    memory_bytes=some.just(LIMIT),
    stopped=some.none() | some.sampled_from(Stop),
    stop_detail=some.just("stopped"),
    engine_fault=some.sampled_from(["", "gone"]),
    start_fault=some.sampled_from(["", "exec"]),
    output_fault=some.sampled_from(["", "missing"]),
    last_line=some.text(max_size=20),
)


@given(any_signs)
def test_ok_means_that_nothing_at_all_was_wrong(observed: Signs) -> None:
    verdict, reason = classify(observed)
    faultless = (
        observed.exit_code == 0
        and not observed.oom_flag
        and not observed.oom_kills
        and observed.stopped is None
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
