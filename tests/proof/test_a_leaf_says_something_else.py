"""A leaf tells one event, and all leaves together which results there are; a plan tells every cell."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import CorruptData
from harness.base.files import canonical_json, digest_of
from harness.base.vocabulary import Verdict
from harness.proof.leaves import (
    Event,
    Leaf,
    LoggedResult,
    account_of,
    ends_result,
    makes_result,
    now,
    parse_leaf,
    result_leaf,
    scope_of,
)
from harness.proof.log import Log
from harness.proof.merges import merged_lines
from harness.proof.plans import (
    LoggedCell,
    PlanProgress,
    enter_plan,
    load_plan,
    plan_path,
    progress_of,
    summary,
)
from harness.proof.results import ProofFault, ResultSet, faults_of, shown
from harness.proof.tree import leaf_hash, roots_at
from tests.core.word_for_word import said

AT = "2026-01-01T00:00:00Z"
ONE, TWO, THREE = "1" * 64, "2" * 64, "3" * 64
JOB = {
    "benchmark": "repurposing",
    "method": "bnnr",
    "variant": "published",
    "dataset": "fdataset",
    "split": {"strategy": "cold", "parameters": {"share": 0.1, "by": "drug"}, "seed": 7},
}


def test_the_kinds_of_leaves_that_make_and_end_a_result() -> None:
    made = {"record", "failure", "amendment", "import", "duplicate"}
    assert {str(kind) for kind in Event if makes_result(kind)} == made
    assert {str(kind) for kind in Event if ends_result(kind)} == {"removal"}
    assert {str(kind) for kind in Event} == made | {"plan", "score", "removal", "merge"}


@pytest.mark.parametrize("kind", [kind for kind in Event if makes_result(kind)])
def test_each_such_leaf_is_the_result_of_its_key(kind: Event) -> None:
    leaf = Leaf(kind, AT, "first", key=ONE, record="r1", verdict="ok", score="s1")
    other = Leaf(Event.PLAN, AT, "plan", plan="p", cells=1)
    assert account_of([other, leaf]).results == {ONE: LoggedResult("r1", "ok", "s1", "first", 2)}


def test_scores_belong_to_the_record_that_they_were_made_of() -> None:
    record = Leaf(Event.RECORD, AT, "first", key=ONE, record="r1", verdict="ok")
    score = Leaf(Event.SCORE, AT, "other words", key=ONE, record="r1", score="s1")
    assert account_of([record, score]).results == {ONE: LoggedResult("r1", "ok", "s1", "first", 2)}
    assert account_of([record, replace(score, record="r2")]).results == {
        ONE: LoggedResult("r1", "ok", "", "first", 1)
    }
    assert account_of([score]).results == {}


def test_a_removal_keeps_what_it_removed() -> None:
    record = Leaf(Event.FAILURE, AT, "first", key=ONE, record="r1", verdict="error")
    removal = Leaf(Event.REMOVAL, AT, "first", key=ONE)
    assert account_of([record, removal]).removals == {ONE: LoggedResult("r1", "error", "", "first", 1)}
    assert account_of([record, removal, replace(removal, key=TWO)]).removals.keys() == {ONE}
    both = [record, removal, replace(record, key=TWO), replace(removal, key=TWO)]
    assert account_of(both).removals.keys() == {ONE, TWO} and account_of(both).results == {}


@pytest.mark.parametrize(
    ("there", "agrees"),
    [
        (LoggedResult("r", "ok", "s", "x"), True),
        (LoggedResult("r", "ok", "", ""), True),
        (LoggedResult("r", "ok", "t", "x"), False),
        (LoggedResult("q", "ok", "s", "x"), False),
        (LoggedResult("r", "error", "s", "x"), False),
    ],
)
def test_a_result_agrees_with_its_leaf(there: LoggedResult, agrees: bool) -> None:
    assert LoggedResult("r", "ok", "s", "x").agrees(there) is agrees


def test_a_record_has_a_leaf_by_its_verdict() -> None:
    content: dict[str, Any] = {"key": ONE, "verdict": "ok", "planned": {"job": JOB}, "digest": "r1"}
    scope = "repurposing: bnnr/published on fdataset, cold-by=drug-share=0.1-7"
    assert scope_of(JOB) == scope
    leaf = result_leaf(content)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", leaf.at) and re.fullmatch(r"20.*Z", now())
    assert replace(leaf, at=AT) == Leaf(Event.RECORD, AT, scope, key=ONE, record="r1", verdict="ok")
    for verdict in Verdict:
        other = result_leaf({**content, "verdict": str(verdict)})
        kind = Event.RECORD if verdict is Verdict.OK else Event.FAILURE
        assert (other.kind, other.verdict) == (kind, str(verdict))
    assert result_leaf(content, Event.IMPORT).kind is Event.IMPORT
    assert (leaf.contents, replace(leaf, kind=Event.SCORE, score="s1").contents) == ("r1", "s1")


def test_a_line_that_is_no_leaf_says_so_and_what_to_do() -> None:
    line = Leaf(Event.PLAN, AT, "one", plan="p", cells=1).line
    for padded in (line + b" ", b" " + line, line + b"\r"):
        with pytest.raises(CorruptData, match="no leaf of a log"):
            parse_leaf(padded, "there")
    with pytest.raises(CorruptData) as refused:
        parse_leaf(b"[1]", "there")
    assert said(refused.value) == ("no leaf of a log", "there", "restore the file; nobody edits a log")


@pytest.mark.parametrize(
    "changed", [{"record": 5}, {"scope": ["a"]}, {"cells": "4"}, {"verdict": "excellent"}], ids=str
)
def test_a_leaf_whose_fields_are_of_another_kind_is_none(changed: dict[str, Any]) -> None:
    """Else whoever reads it further on would end with a fault of the harness."""
    values = {"kind": "record", "at": "now", "key": "1" * 64, "record": "r", "scope": "one", "verdict": "ok"}
    assert parse_leaf(canonical_json(values), "here").verdict == "ok"
    with pytest.raises(CorruptData, match="no leaf of a log"):
        parse_leaf(canonical_json(values | changed), "here")


def test_a_log_is_read_from_a_place_and_begun_as_a_whole(tmp_path: Path) -> None:
    log = Log(tmp_path / "new")
    assert (log.lines(), [*log.each_line()], log.size) == ([], [], 0)
    log.append([])
    assert not log.folder.exists()
    one, two = (Leaf(Event.PLAN, AT, name, plan=name, cells=1) for name in ("one", "two"))
    log.folder.mkdir()
    log.begin([one, two])
    assert log.path.read_bytes() == one.line + b"\n" + two.line + b"\n"
    assert log.hashes() == [leaf_hash(one.line), leaf_hash(two.line)] and log.size == 2
    assert [*log.each_line()] == [one.line, two.line]
    assert [*log.each_line(len(one.line) + 1)] == [two.line]
    with log.path.open("ab") as file:
        file.write(b"torn")
    assert [*log.each_line()] == log.lines() == [one.line, two.line]


def test_nobody_writes_while_another_process_looks_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, leaf = Log(tmp_path), Leaf(Event.PLAN, AT, "one", plan="one", cells=1)
    log.append([leaf])
    lock = fcntl.flock
    # in place of waiting for ever
    monkeypatch.setattr(fcntl, "flock", lambda file, how: lock(file, how | fcntl.LOCK_NB))
    with log.path.open("rb") as other:
        lock(other, fcntl.LOCK_SH)
        with pytest.raises(BlockingIOError):
            log.append([leaf])
    assert log.leaves() == [leaf]
    log.append([leaf])
    assert log.size == 2


def test_an_event_is_written_down_before_it_and_enters_after_it(tmp_path: Path) -> None:
    log, leaf = Log(tmp_path), Leaf(Event.RECORD, AT, "first", key=ONE, record="r1", verdict="ok")
    with log.event(leaf, tmp_path / "runs" / "record.json"):
        intent = json.loads((tmp_path / "log.next").read_bytes())
        assert intent == {"leaf": json.loads(leaf.line), "file": "runs/record.json"}
        assert log.size == 0
    assert log.leaves() == [leaf] and not (tmp_path / "log.next").exists()


def _begun(log: Log, leaf: Leaf, content: dict[str, str] | None) -> None:
    """What a killed harness left: its intention, and perhaps the file that it wrote."""
    (log.folder / "log.next").write_text(json.dumps({"leaf": json.loads(leaf.line), "file": "record.json"}))
    (log.folder / "record.json").unlink(missing_ok=True)
    if content is not None:
        (log.folder / "record.json").write_text(json.dumps(content))


def test_what_a_killed_harness_had_begun_is_told_by_the_file(tmp_path: Path) -> None:
    log = Log(tmp_path)
    record = Leaf(Event.RECORD, AT, "first", key=ONE, record="r1", verdict="ok")
    score = Leaf(Event.SCORE, AT, "first", key=ONE, record="r1", score="s1")
    assert log.unfinished() == (None, "") and log.repair() == []
    now_in = "a harness was killed before its last event was in the log; it is now"
    _begun(log, record, {"digest": "r1"})
    assert log.unfinished() == (record, now_in)
    assert log.repair() == [f"{tmp_path / 'log.jsonl'}: {now_in}"] and log.leaves() == [record]
    # in the log already, or another file than the leaf tells of: nothing happened
    for leaf, content in ((record, {"digest": "r1"}), (score, {"digest": "s0"}), (score, None)):
        _begun(log, leaf, content)
        assert log.unfinished() == (None, "")
    _begun(log, score, {"digest": "s1"})
    assert log.unfinished() == (score, now_in)
    again = replace(record, record="r2")
    _begun(log, again, {"digest": "r1"})
    assert log.unfinished() == (None, "")
    _begun(log, again, None)
    removal, note = log.unfinished()
    why = "a harness was killed while it replaced the run"
    assert removal is not None and note == f"{why} of first; it is to be run again"
    assert replace(removal, at=AT) == Leaf(Event.REMOVAL, AT, "first", key=ONE, note=why)
    _begun(log, replace(again, key=TWO), None)
    assert log.unfinished() == (None, "")
    assert log.repair() == [] and not (tmp_path / "log.next").exists()


@pytest.mark.parametrize(
    "note", [{"leaf": {}}, {"leaf": {"kind": "other"}, "file": "x"}, {"file": "x"}, ["leaf"], {"leaf": "x"}]
)
def test_a_note_of_an_event_that_no_harness_wrote_is_told_and_ends_nothing(tmp_path: Path, note: object) -> None:
    (tmp_path / "log.next").write_text(json.dumps(note))
    with pytest.raises(CorruptData, match="not of the form that the harness writes") as told:
        Log(tmp_path).repair()
    assert told.value.where == str(tmp_path / "log.next") and "remove it" in told.value.todo


def test_a_log_of_one_leaf_is_told_so_and_one_of_none_not_at_all() -> None:
    one = Leaf(Event.PLAN, AT, "one", plan="p", cells=1).line
    assert merged_lines([one], []) == []
    (line,) = merged_lines([one], [one])
    assert (parse_leaf(line, "").scope, parse_leaf(line, "").parts) == ("a log of 1 leaf", "1")
    assert merged_lines([one, line], [one]) == []


def test_the_roots_of_all_sizes_that_are_asked_for() -> None:
    leaves = [leaf_hash(bytes([number])) for number in range(9)]
    every = roots_at(leaves, set(range(10)))
    assert every == {size: roots_at(leaves[:size], {size})[size] for size in range(10)}
    assert roots_at(leaves, {10}) == {}


def test_a_fault_of_a_merge_says_where_and_what_to_do() -> None:
    merge = Leaf(Event.MERGE, AT, "a log of 2 leaves", root="ab" * 32, parts="1")
    assert [*faults_of([merge], ResultSet("", Path("/nowhere"), {}))] == [
        ProofFault(
            "a log of 2 leaves that was merged is not among the leaves any more",
            f"log.jsonl: root {'ab' * 8}",
            "restore the log: nothing is ever taken out of it, or changed",
        )
    ]


def test_a_fault_of_scores_and_of_a_nameless_result_says_what_to_do() -> None:
    record = Leaf(Event.RECORD, AT, "", key=ONE, record="r" * 20, verdict="ok", score="s" * 20)
    again = "restore the files; if somebody removed the run by hand on purpose, run it again"
    for result, what, todo in (
        (
            LoggedResult("r" * 20, "ok", "t" * 20, ""),
            f"the scores are not those of leaf 1: {'t' * 12}, not {'s' * 12}",
            "remove the scores and run `harness score` again",
        ),
        (
            LoggedResult("q" * 20, "ok", "", ""),
            f"the record is not the one of leaf 1: {'q' * 12}, not {'r' * 12}",
            again,
        ),
        (LoggedResult("r" * 20, "error", "", ""), "leaf 1 says 'ok', the record says 'error'", again),
    ):
        faults = [*faults_of([record], ResultSet("", Path("/nowhere"), {ONE: result}))]
        assert faults == [ProofFault(what, "run (111111111111)", todo)]
    many = [ProofFault("", "", "")] * 21
    assert shown(many)[-1] == ProofFault("and 1 more", "log.jsonl", "see above")


CELLS = [LoggedCell(ONE, "first"), LoggedCell(TWO, "second"), LoggedCell("", "third", "not-applicable")]


def test_a_plan_lies_beside_the_log_as_its_digest_says(tmp_path: Path) -> None:
    log = Log(tmp_path)
    enter_plan(log, "näme", CELLS)
    (leaf,) = log.leaves()
    cells = [[ONE, "first", ""], [TWO, "second", ""], ["", "third", "not-applicable"]]
    content = {"cells": cells, "name": "näme"}
    assert (leaf.kind, leaf.scope, leaf.cells, leaf.plan) == (Event.PLAN, "näme", 3, digest_of(content))
    path = tmp_path / "plans" / f"{leaf.plan}.json.gz"
    assert plan_path(tmp_path, leaf.plan) == path
    assert gzip.decompress(path.read_bytes()) == canonical_json(content)
    # equal plans are equal files: their header tells no time
    assert path.read_bytes()[4:8] == bytes(4)
    enter_plan(log, "none", [])
    assert log.leaves()[1].cells == 0 and load_plan(tmp_path, log.leaves()[1].plan) == []


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "a plan is missing, or can't be read"),
        (b"no gzip", "a plan is missing, or can't be read"),
        (gzip.compress(b"[]", mtime=0), "a plan is missing, or can't be read"),
        (gzip.compress(b"{}", mtime=0), "a plan is missing, or can't be read"),
        (gzip.compress(b'{"cells": [[1, 2, 3, 4]]}', mtime=0), "a plan is missing, or can't be read"),
        (gzip.compress(b'{"cells": [[]], "cells": []}', mtime=0), "a plan is missing, or can't be read"),
        (gzip.compress(b'{"cells": [], "more": NaN}', mtime=0), "a plan is missing, or can't be read"),
        (gzip.compress(b'{"cells": []}', mtime=0)[:-9], "a plan is missing, or can't be read"),
        (gzip.compress(b'{"cells": []}', mtime=0)[:10] + b"\xff" * 20, "a plan is missing, or can't be read"),
        (gzip.compress(b'{"cells": []}', mtime=0), "a plan differs from the digest in the log"),
    ],
)
def test_a_plan_that_is_not_there_is_to_be_restored(tmp_path: Path, content: bytes | None, what: str) -> None:
    path = plan_path(tmp_path, ONE)
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CorruptData) as refused:
        load_plan(tmp_path, ONE)
    assert said(refused.value) == (what, str(path), "restore it")


def test_nobody_waits_for_a_pipe_in_the_place_of_a_log_or_a_plan(tmp_path: Path) -> None:
    """Who would write into it may never come; it reads as empty."""
    log, plan = Log(tmp_path), plan_path(tmp_path, ONE)
    plan.parent.mkdir()
    for path in (log.path, plan):
        os.mkfifo(path)
    assert (log.lines(), log.leaves(), log.size) == ([], [], 0)
    with pytest.raises(CorruptData, match="a plan is missing, or can't be read"):
        load_plan(tmp_path, ONE)


def test_how_far_plans_have_come(tmp_path: Path) -> None:
    log = Log(tmp_path)
    enter_plan(log, "all", CELLS)
    enter_plan(log, "one", CELLS[:1])
    first, second = (leaf.plan for leaf in log.leaves())
    log.append(
        [
            Leaf(Event.RECORD, AT, "first", key=ONE, record="r1", verdict="ok"),
            Leaf(Event.FAILURE, AT, "second", key=TWO, record="r2", verdict="interrupted"),
            Leaf(Event.RECORD, AT, "other", key=THREE, record="r3", verdict="ok"),
            Leaf(Event.IMPORT, AT, "older", key="4" * 64, record="r4", verdict="ok"),
        ]
    )
    assert progress_of(tmp_path, log.leaves(), [second, first, second]) == [
        PlanProgress("one", 1, 0, 0),
        PlanProgress("all", 3, 1, 1),
    ]
    told, unplanned = summary(tmp_path, log.leaves())
    # an import was never announced, and is counted by itself
    assert unplanned == 1
    assert told == [
        {"name": "all", "plan": first, "cells": 3, "without_key": 1, "missing": 0, "missing_keys": digest_of([])},
        {"name": "one", "plan": second, "cells": 1, "without_key": 0, "missing": 0, "missing_keys": digest_of([])},
    ]
    # a plan that several machines tell of counts once; of its cells those without any leaf are missing
    plan = log.leaves()[0]
    (once,), unplanned = summary(tmp_path, [plan, plan])
    assert (once["missing"], once["missing_keys"], unplanned) == (2, digest_of([ONE, TWO]), 0)


def test_a_failure_leaves_nothing_to_be_run(tmp_path: Path) -> None:
    log = Log(tmp_path)
    enter_plan(log, "all", CELLS)
    log.append([Leaf(Event.FAILURE, AT, "second", key=TWO, record="r2", verdict="memory")])
    assert progress_of(tmp_path, log.leaves(), [log.leaves()[0].plan]) == [PlanProgress("all", 3, 1, 1)]


def test_a_removal_alone_is_no_result_of_a_planned_cell(tmp_path: Path) -> None:
    """Nobody hides a cell that was never run by saying that its run was removed."""
    log = Log(tmp_path)
    enter_plan(log, "all", CELLS)
    log.append([Leaf(Event.REMOVAL, AT, "second", key=TWO, note="by hand")])
    ((plan,), _) = summary(tmp_path, log.leaves())
    assert (plan["missing"], plan["missing_keys"]) == (2, digest_of([ONE, TWO]))


def test_what_was_run_before_its_plan_was_not_announced(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.append([Leaf(Event.RECORD, AT, "first", key=ONE, record="r1", verdict="ok")])
    log.append([Leaf(Event.FAILURE, AT, "third", key=THREE, record="r3", verdict="error")])
    enter_plan(log, "all", CELLS)
    log.append([Leaf(Event.FAILURE, AT, "second", key=TWO, record="r2", verdict="memory")])
    assert summary(tmp_path, log.leaves())[1] == 2


def test_planned_cells_without_a_run_are_told_in_one_order(tmp_path: Path) -> None:
    keys = [f"{number:064x}" for number in range(40)]
    log = Log(tmp_path)
    enter_plan(log, "many", [*(LoggedCell(key, key) for key in reversed(keys)), LoggedCell("", "no key")])
    ((plan,), _) = summary(tmp_path, log.leaves())
    assert (plan["without_key"], plan["missing"], plan["missing_keys"]) == (1, 40, digest_of(keys))


@pytest.mark.parametrize(
    ("cells", "changed", "what"),
    [
        (
            [LoggedCell(ONE, "first"), LoggedCell(TWO, "second")],
            {"cells": 1},
            "a plan has 2 cells, of which its leaf says 1",
        ),
        ([LoggedCell(ONE, "first"), LoggedCell(ONE, "first")], {"cells": 2}, "a plan names a cell twice"),
        ([LoggedCell(ONE, "first")], {"scope": "other"}, "a plan is called 'all', and 'other' by its leaf"),
    ],
)
def test_a_plan_has_the_name_and_the_cells_that_its_leaf_tells(
    tmp_path: Path, cells: list[LoggedCell], changed: dict[str, Any], what: str
) -> None:
    """Whoever makes a plan shorter than its leaf, or fills it up with a cell that went well, is refused."""
    log = Log(tmp_path)
    enter_plan(log, "all", cells)
    (plan,) = log.leaves()
    with pytest.raises(CorruptData) as refused:
        summary(tmp_path, [replace(plan, **changed)])
    where, todo = str(plan_path(tmp_path, plan.plan)), "restore plan and log"
    assert said(refused.value) == (what, where, todo)
