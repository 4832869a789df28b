"""Results are held against their leaves one by one: each kind of difference has its own words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.proof.leaves import Event, Leaf, LoggedResult, account_of
from harness.proof.log import Log
from harness.proof.plans import LoggedCell, enter_plan
from harness.proof.results import ProofFault, ResultSet, faults_of, shown, told_by

AT = "2026-01-01T00:00:00Z"
ONE, TWO = "1" * 64, "2" * 64
RECORD = Leaf(Event.RECORD, AT, "first", key=ONE, record="r1", verdict="ok")
SCORE = Leaf(Event.SCORE, AT, "first", key=ONE, record="r1", score="s1")
FAILURE = Leaf(Event.FAILURE, AT, "second", key=TWO, record="r2", verdict="memory")
LEAVES = [RECORD, SCORE, FAILURE]
RESULTS = {ONE: LoggedResult("r1", "ok", "s1", "first"), TWO: LoggedResult("r2", "memory", "", "second")}


def words(leaves: list[Leaf], results: dict[str, LoggedResult]) -> list[str]:
    return [fault.what for fault in faults_of(leaves, ResultSet("made up", Path("/nowhere"), results))]


def test_what_fits_has_no_fault() -> None:
    assert words(LEAVES, RESULTS) == []
    # scores can be made again at any time
    assert words(LEAVES, {**RESULTS, ONE: replace(RESULTS[ONE], score="")}) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"record": "x1"}, "the record is not the one of leaf 2: x1, not r1"),
        ({"verdict": "timeout"}, "leaf 2 says 'ok', the record says 'timeout'"),
        ({"score": "x1"}, "the scores are not those of leaf 2: x1, not s1"),
    ],
)
def test_what_differs_is_named_with_its_leaf(changed: dict[str, Any], fault: str) -> None:
    assert words(LEAVES, {**RESULTS, ONE: replace(RESULTS[ONE], **changed)}) == [fault]


def test_what_no_leaf_tells_of_and_what_is_gone_are_faults() -> None:
    assert words(LEAVES[:2], RESULTS) == ["no leaf of the log tells of this result"]
    assert words(LEAVES, {ONE: RESULTS[ONE]}) == ["the result of leaf 3, 'memory', is gone"]
    assert words([RECORD, FAILURE], RESULTS) == ["the scores are not those of leaf 1: s1, not none"]


def test_a_removal_lets_a_result_go_and_none_come_back() -> None:
    removal = Leaf(Event.REMOVAL, AT, "second", key=TWO)
    assert words([*LEAVES, removal], {ONE: RESULTS[ONE]}) == []
    assert words([*LEAVES, removal], RESULTS) == ["a result lies there that the log says was removed"]
    assert words([*LEAVES, removal, FAILURE], RESULTS) == []
    assert [{*account_of([*LEAVES, *more]).removals} for more in ([], [removal], [removal, FAILURE])] == [
        set(),
        {TWO},
        set(),
    ]


@pytest.mark.parametrize("verdict", ["interrupted", "infrastructure"])
def test_of_a_run_that_did_not_end_by_itself_nothing_need_be_there(verdict: str) -> None:
    leaf = replace(FAILURE, verdict=verdict)
    assert words([RECORD, SCORE, leaf], {ONE: RESULTS[ONE]}) == []


@pytest.mark.parametrize("verdict", ["interrupted", "infrastructure", ""])
@pytest.mark.parametrize("kind", [Event.AMENDMENT, Event.FAILURE, Event.IMPORT, Event.DUPLICATE])
def test_a_result_that_was_there_once_is_not_let_go_by_another_word_for_it(verdict: str, kind: Event) -> None:
    """Who calls a failure, or a bad value, a fault of the machine would have it vanish without a removal."""
    renamed = Leaf(kind, AT, "second", key=TWO, record="r2", verdict=verdict)
    assert words([*LEAVES, renamed], {ONE: RESULTS[ONE]}) == [f"the result of leaf 4, '{verdict}', is gone"]
    kept = LoggedResult("r2", verdict, "", "second")
    assert words([*LEAVES, renamed], {ONE: RESULTS[ONE], TWO: kept}) == []
    removal = Leaf(Event.REMOVAL, AT, "second", key=TWO)
    assert words([*LEAVES, renamed, removal], {ONE: RESULTS[ONE]}) == []
    # what comes after a removal is another run
    assert words([*LEAVES, removal, renamed], {ONE: RESULTS[ONE]}) == []


def test_the_newest_leaf_counts() -> None:
    again = replace(RECORD, record="r3")
    assert words([*LEAVES, again], RESULTS) == ["the record is not the one of leaf 4: r1, not r3"]
    # scores of an older record are none of the newer one
    assert words([*LEAVES, again], {**RESULTS, ONE: LoggedResult("r3", "ok", "s1", "first")}) == [
        "the scores are not those of leaf 4: s1, not none"
    ]
    late = replace(SCORE, record="r1", score="s9")
    assert words([*LEAVES, again, late], {**RESULTS, ONE: LoggedResult("r3", "ok", "", "first")}) == []
    assert words([*LEAVES, again, late], {**RESULTS, ONE: LoggedResult("r3", "ok", "s9", "first")}) == [
        "the scores are not those of leaf 4: s9, not none"
    ]
    amended = Leaf(Event.AMENDMENT, AT, "first", key=ONE, record="r4", verdict="unstable")
    assert words([*LEAVES, amended], {**RESULTS, ONE: LoggedResult("r4", "unstable", "", "first")}) == []


def test_every_fault_says_where_and_what_to_do() -> None:
    forged = {ONE: LoggedResult("x", "ok", "", "first"), "3" * 64: LoggedResult("r", "ok", "", "third")}
    faults = list(faults_of(LEAVES, ResultSet("made up", Path("/nowhere"), forged)))
    assert [fault.where for fault in faults] == [
        "first (111111111111)",
        "third (333333333333)",
        "second (222222222222)",
    ]
    assert all(fault.todo for fault in faults)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_leaf_that_gives_a_key_to_another_job_is_a_fault(number: int) -> None:
    """A key is of one job: whoever lets a failure's leaf name a competitor is found, in whichever leaf."""
    leaves = [replace(leaf, scope="a competitor") if at == number else leaf for at, leaf in enumerate(LEAVES, 1)]
    assert words(leaves, RESULTS) == [f"leaf {number} tells of another job under this key: a competitor"]
    # a removed run is known by its leaves alone, and where its record could not be read the removal names none
    removals = [Leaf(Event.REMOVAL, AT, "", key=TWO), Leaf(Event.REMOVAL, AT, "a competitor", key=TWO)]
    kept = {ONE: RESULTS[ONE]}
    told = [words([*LEAVES, removal], kept) for removal in removals]
    assert told == [[], ["leaf 4 tells of another job under this key: a competitor"]]
    # a result that can't be read has no name of its own
    damaged = {**RESULTS, TWO: LoggedResult("damaged", "", "", "")}
    assert words(LEAVES, damaged) == ["the record is not the one of leaf 3: damaged, not r2"]


def test_many_faults_are_counted() -> None:
    faults = [ProofFault(str(number), "there", "do") for number in range(25)]
    assert [one.what for one in shown(faults)] == [*map(str, range(20)), "and 5 more"]
    assert shown(faults[:20]) == faults[:20]


def test_a_statement_counts_what_the_log_tells(tmp_path: Path) -> None:
    log = Log(tmp_path)
    cells = [
        LoggedCell(ONE, "first"),
        LoggedCell("4" * 64, "never run"),
        LoggedCell("", "third", "not-applicable"),
    ]
    enter_plan(log, "plan", cells)
    older = Leaf(Event.IMPORT, AT, "old", key="5" * 64, record="r5", verdict="ok", score="s5")
    log.append([*LEAVES, older, replace(older, key="6" * 64), Leaf(Event.REMOVAL, AT, "second", key=TWO)])
    told = told_by(tmp_path, log.leaves())
    (plan,) = told.pop("plans")
    assert (plan["name"], plan["cells"], plan["without_key"], plan["missing"]) == ("plan", 3, 1, 1)
    assert told == {
        "leaves": {"failure": 1, "import": 2, "plan": 1, "record": 1, "removal": 1, "score": 1},
        "results": 3,
        "verdicts": {"ok": 3},
        "removals": {"memory": 1},
        "imported": 2,
        # the failure: no plan had announced it
        "unplanned": 1,
    }
