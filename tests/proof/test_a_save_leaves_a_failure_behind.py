"""What is taken into the reference results brings its whole story: plans, failures, what was removed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.proof.attestation import attest
from harness.proof.leaves import Event, account_of
from harness.proof.log import Log
from harness.proof.plans import LoggedCell, enter_plan, load_plan, plan_path, summary
from harness.proof.verification import verify
from harness.results.reference import load_reference, save_reference
from harness.results.sets import reference_set
from harness.results.store import Store
from tests.fabricate import plan_of, planned_of, put_run
from tests.proof.conftest import Command


def log_of(layout: Layout) -> Log:
    return Log(layout.reference)


def events(layout: Layout) -> list[tuple[str, str]]:
    return [(str(leaf.kind), leaf.verdict) for leaf in log_of(layout).leaves()]


def test_leaves_are_taken_as_they_are(made: Layout) -> None:
    assert log_of(made).lines() == Store(made.runs).log.lines()
    assert events(made) == [("plan", ""), ("record", "ok"), ("score", ""), ("failure", "memory")]


def test_saving_again_adds_nothing(made: Layout) -> None:
    before = log_of(made).lines()
    save_reference(made, Store(made.runs))
    assert log_of(made).lines() == before
    elsewhere = replace(made, local=made.local.parent / "elsewhere")
    save_reference(elsewhere, Store(elsewhere.runs))
    assert log_of(made).lines() == before


def test_tries_that_came_to_nothing_come_along(made: Layout) -> None:
    planned = planned_of(plan_of(made, ["als_wr"], [7]).cells[0])
    put_run(made, planned, verdict=Verdict.INFRASTRUCTURE)
    put_run(made, planned, verdict=Verdict.INTERRUPTED)
    save_reference(made, Store(made.runs))
    assert events(made)[4:] == [("failure", "infrastructure"), ("failure", "interrupted")]
    put_run(made, planned)
    save_reference(made, Store(made.runs))
    assert events(made)[6:] == [("record", "ok"), ("score", "")]


def test_a_failure_that_was_removed_before_saving_shows(made: Layout) -> None:
    """The way to select results: run, look, remove, save."""
    planned = planned_of(plan_of(made, ["als_wr"], [7]).cells[0])
    put_run(made, planned, verdict=Verdict.ERROR)
    Store(made.runs).remove(planned.key)
    save_reference(made, Store(made.runs))
    assert planned.key not in load_reference(made)
    assert events(made)[4:] == [("failure", "error"), ("removal", "")]
    assert account_of(log_of(made).leaves()).removals[planned.key].verdict == "error"


def test_results_without_leaves_are_imports(made: Layout) -> None:
    (made.reference / "log.jsonl").unlink()
    elsewhere = replace(made, local=made.local.parent / "elsewhere")
    save_reference(elsewhere, Store(elsewhere.runs))
    assert events(made) == [("import", "ok"), ("import", "memory")]
    leaves = log_of(made).leaves()
    assert leaves[0].score and not leaves[1].score
    assert {leaf.note for leaf in leaves} == {"no leaf of the store says how it came about"}
    remarks = attest(made, reference_set(made)).statement.remarks
    # that none is missing of no plan would say nothing
    assert [remark.partition(":")[0] for remark in remarks] == ["2 imports", "no plan is in the log"]
    (step,) = (one for one in verify(made, reference_set(made)).steps if one.name == "summary")
    assert all(remark in step.what for remark in remarks)


def test_what_is_known_is_not_imported_a_second_time(made: Layout) -> None:
    """The runs of a machine from before the log, whose results were imported already."""
    (made.runs.parent / "log.jsonl").unlink()
    before = log_of(made).lines()
    save_reference(made, Store(made.runs))
    assert [leaf.kind for leaf in Store(made.runs).log.leaves()] == [Event.IMPORT] * 2
    assert log_of(made).lines() == before


def test_what_is_outgrown_leaves_with_a_leaf(made: Layout) -> None:
    card = made.methods / "als_wr" / "als.py"
    card.write_text(card.read_text() + "\nMORE = 1\n")
    save_reference(made, Store(made.runs))
    assert load_reference(made) == {}
    leaves = log_of(made).leaves()[4:]
    assert [(leaf.kind, leaf.note[:8]) for leaf in leaves] == [(Event.REMOVAL, "outgrown")] * 2
    assert sorted(one.verdict for one in account_of(log_of(made).leaves()).removals.values()) == ["memory", "ok"]


def test_another_machine_adds_its_own_leaves(made: Layout) -> None:
    other = replace(made, local=made.local.parent / "other")
    cell = plan_of(made, ["als_wr"], [7]).cells[0]
    with Store(other.runs).open_log() as (log, _):
        enter_plan(log, "one", [LoggedCell(planned_of(cell).key, cell.job.label)])
        enter_plan(log, "another", [LoggedCell("0" * 64, "of something else")])
    put_run(other, planned_of(cell))
    save_reference(other, Store(other.runs))
    assert events(made)[4:] == [("plan", ""), ("record", "ok"), ("score", "")]
    plans, unplanned = summary(made.reference, log_of(made).leaves())
    assert [(plan["name"], plan["cells"], plan["missing"]) for plan in plans] == [("three", 3, 0), ("one", 1, 0)]
    assert unplanned == 0


def test_a_result_that_no_plan_announced_is_counted(made: Layout) -> None:
    leaves = log_of(made).leaves()
    assert summary(made.reference, leaves)[1] == 0
    assert summary(made.reference, [*leaves[1:], leaves[0]])[1] == 2
    assert summary(made.reference, leaves[1:])[1] == 2


def test_one_plan_enters_once(tmp_path: Path) -> None:
    log = Log(tmp_path)
    cells = [LoggedCell("a" * 64, "one"), LoggedCell("", "two", "not-applicable")]
    enter_plan(log, "name", cells)
    enter_plan(log, "name", cells)
    (leaf,) = log.leaves()
    assert (leaf.kind, leaf.scope, leaf.cells) == (Event.PLAN, "name", 2)
    assert load_plan(tmp_path, leaf.plan) == cells
    enter_plan(log, "name", cells[:1])
    assert log.size == 2


def test_a_plan_under_another_ones_digest_is_refused(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for cells in ([LoggedCell("a" * 64, "one")], [LoggedCell("b" * 64, "two")]):
        enter_plan(log, "name", cells)
    first, second = (plan_path(tmp_path, leaf.plan) for leaf in log.leaves())
    first.write_bytes(second.read_bytes())
    with pytest.raises(CorruptData, match="differs from the digest in the log"):
        summary(tmp_path, log.leaves())
    first.unlink()
    with pytest.raises(CorruptData, match="a plan is missing"):
        summary(tmp_path, log.leaves())


def test_the_commands_tell_the_story(made: Layout, harness: Command) -> None:
    key = next(iter(load_reference(made)))
    outcome = harness("log", key[:12], "--reference", "--proof")
    assert "random-5" in outcome.output and "random-6" not in outcome.output
    assert f"4 leaves, root {log_of(made).root()}" in outcome.output
    assert harness("log", "ffff").exit_code == 2
    attest = harness("attest", "--reference")
    assert "memory 1, ok 1" in attest.output and "unsigned" in attest.output
    assert "planned cells without a leaf: 1" in attest.output
