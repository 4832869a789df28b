"""Log and statement are links of an audit: whatever they tell otherwise is open, and a strict audit fails."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import api
from harness.audit import Lack, check_plans, check_statement
from harness.audit.steps import Checked, Step
from harness.base.errors import EngineError
from harness.base.few import few_in_line
from harness.base.git import commit_of
from harness.base.layout import Layout
from harness.planning.plan import Plan
from harness.proof.attestation import attest
from harness.proof.history import memory_paths
from harness.proof.log import LOG, NEXT, Log
from harness.proof.plans import LoggedCell, enter_plan, plan_path
from harness.proof.statement import STATEMENT, statement_text
from harness.results.reference import save_reference
from harness.results.scoring import scores_path
from harness.results.sets import reference_set, stored_set
from harness.results.store import Store
from tests.fabricate import planned_of
from tests.proof.conftest import make_key, vouch

NONE = Step("statement", Checked.NOT_CHECKED, "there is none about the {}: harness attest", lack=Lack.STATEMENT)
UNSIGNED = Step("signature", Checked.NOT_CHECKED, "unsigned: anybody can have written this statement")


def none_about(name: str) -> Step:
    command = " --reference" if name == "reference results" else ""
    return Step(NONE.name, NONE.checked, NONE.what.format(name) + command, lack=NONE.lack)


def open_of(steps: list[Step]) -> list[tuple[str, str]]:
    """The name of each step that a strict audit does not accept, and what is said."""
    unlike = [step for step in steps if step.lack is not None]
    assert {step.checked for step in unlike} <= {Checked.NOT_CHECKED}
    of_the_log = {step.name for step in unlike if step.lack is Lack.LOG}
    assert of_the_log == {step.name for step in unlike} & {"history", "results"}
    assert {step.lack for step in unlike} <= {Lack.STATEMENT, Lack.LOG}
    return [(step.name, step.what) for step in unlike]


@pytest.fixture
def stated(evidence: Layout) -> Layout:
    """Runs, the same as committed results, and an unsigned statement about each set."""
    save_reference(evidence, Store(evidence.runs))
    for results in (stored_set(evidence), reference_set(evidence)):
        attest(evidence, results, None)
    return evidence


def test_without_a_statement_that_is_told_of_the_set_that_is_asked_about(evidence: Layout) -> None:
    save_reference(evidence, Store(evidence.runs))
    assert check_statement(evidence) == [none_about("runs of this machine")]
    assert check_statement(evidence, reference=True) == [none_about("reference results")]


def test_without_a_statement_the_log_is_held_against_the_runs(evidence: Layout, made_up: Plan) -> None:
    planned = planned_of(made_up.cells[0])
    shutil.rmtree(Store(evidence.runs).path(planned.key))
    none, gone = check_statement(evidence)
    assert none == none_about("runs of this machine")
    assert (gone.name, gone.checked, gone.lack) == ("log", Checked.NOT_CHECKED, Lack.LOG)
    what, _, where = gone.what.partition(": ")
    assert what.startswith("the result of leaf ") and what.endswith(", 'ok', is gone")
    assert where.endswith(f"({planned.key[:12]})")


def test_every_result_that_is_gone_is_told_of(evidence: Layout, made_up: Plan) -> None:
    for cell in made_up.cells[:2]:
        shutil.rmtree(Store(evidence.runs).path(planned_of(cell).key))
    _, *gone = check_statement(evidence)
    assert [step.what.partition("(")[2] for step in gone] == [
        f"{planned_of(cell).key[:12]})" for cell in made_up.cells[:2]
    ]


def test_a_single_run_needs_a_log_too(evidence: Layout, made_up: Plan) -> None:
    (evidence.local / LOG).unlink()
    for cell in made_up.cells[1:4]:
        shutil.rmtree(Store(evidence.runs).path(planned_of(cell).key))
    _, no_log = check_statement(evidence)
    assert (no_log.name, no_log.lack) == ("log", Lack.LOG)


def test_a_log_that_was_another_one_is_no_matter_of_its_statement(evidence: Layout, tmp_path: Path) -> None:
    """Who waives that there is no good statement does not waive what this machine knows of the log."""
    key = make_key(tmp_path / "key")
    vouch(evidence, "author", key)
    attest(evidence, stored_set(evidence), key)
    path = evidence.local / LOG
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    (history,) = (step for step in check_statement(evidence) if step.name == "history")
    assert (history.checked, history.lack) == (Checked.NOT_CHECKED, Lack.LOG)
    assert history.what.startswith("the log is not the one that had ")


def test_runs_without_a_log_are_told_of_and_no_log_of_no_runs_is_not(evidence: Layout) -> None:
    (evidence.local / LOG).unlink()
    none, no_log = check_statement(evidence)
    assert none == none_about("runs of this machine")
    assert (no_log.name, no_log.lack) == ("log", Lack.LOG) and no_log.what.startswith(
        "there is none about the runs"
    )
    shutil.rmtree(evidence.runs)
    assert check_statement(evidence) == [none]


def test_a_line_of_the_log_that_is_no_leaf_is_told_of_without_a_statement(evidence: Layout) -> None:
    path = evidence.local / LOG
    path.write_bytes(path.read_bytes() + b"no leaf\n")
    _, told = check_statement(evidence)
    assert (told.name, told.lack) == ("log", Lack.LOG)
    assert told.what.startswith(f"no leaf of a log: {path}: line ")


@pytest.mark.parametrize("of", ["evidence", "stated"])
def test_a_log_that_is_a_folder_is_a_broken_link(of: str, request: pytest.FixtureRequest) -> None:
    layout: Layout = request.getfixturevalue(of)
    path = layout.local / LOG
    path.unlink()
    path.mkdir()
    (told,) = check_statement(layout)
    assert (told.name, told.checked, told.where) == ("log", Checked.FAILED, str(path))
    assert told.what == "can't be read: Is a directory"


def test_a_program_that_is_missing_is_no_lack_to_be_waived(
    evidence: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waives `engine` means containers: without ssh-keygen no signature is looked at."""
    attest(evidence, stored_set(evidence), make_key(tmp_path / "key"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineError, match="ssh-keygen"):
        check_statement(evidence)


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_plan_of_the_log_that_was_changed_is_told_of_without_a_statement(
    evidence: Layout, is_gone: bool
) -> None:
    log = Log(evidence.local)
    enter_plan(log, "two", [LoggedCell("0" * 64, "one"), LoggedCell("1" * 64, "other")])
    digest = log.leaves()[-1].plan
    said = f"cells without a result of plans that were begun: 2 of 2 of two ({digest[:12]}), "
    said += "the first: one (000000000000)"
    assert check_statement(evidence) == [none_about("runs of this machine")]
    assert check_plans(evidence) == [Step("plan", Checked.NOT_CHECKED, said, lack=Lack.MISSING)]
    path = plan_path(evidence.local, log.leaves()[-1].plan)
    if is_gone:
        path.unlink()
    else:
        content = json.loads(gzip.decompress(path.read_bytes()))
        path.write_bytes(gzip.compress(json.dumps({**content, "cells": content["cells"][:1]}).encode()))
    _, told = check_statement(evidence)
    assert (told.name, told.lack) == ("log", Lack.LOG)
    assert told.what.startswith("a plan ") and told.what.endswith(str(path))


def test_a_run_that_was_taken_away_with_its_leaves_is_missing_from_its_plan(
    evidence: Layout, made_up: Plan
) -> None:
    keys = [planned_of(cell).key for cell in made_up.cells[:4]]
    enter_plan(Log(evidence.local), "all", [LoggedCell(key, key[:4]) for key in keys])
    assert check_plans(evidence) == []
    shutil.rmtree(Store(evidence.runs).path(keys[1]))
    path = evidence.local / LOG
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if keys[1].encode() not in line))
    digest = Log(evidence.local).leaves()[-1].plan
    said = f"cells without a result of plans that were begun: 1 of 4 of all ({digest[:12]}), the first: "
    said += f"{keys[1][:4]} ({keys[1][:12]})"
    assert check_plans(evidence) == [Step("plan", Checked.NOT_CHECKED, said, lack=Lack.MISSING)]


def test_a_cell_without_a_result_writes_no_line_of_its_own(evidence: Layout) -> None:
    strange = LoggedCell("f" * 64, "a\n  ok  b")
    enter_plan(Log(evidence.local), "one", [LoggedCell("", "none", "not-applicable"), strange])
    (step,) = check_plans(evidence)
    assert step.what.endswith(", the first: a\\n  ok  b (ffffffffffff)")


def test_of_many_plans_as_many_are_told_as_a_person_reads(evidence: Layout, made_up: Plan) -> None:
    """And none of which all cells have a result."""
    log = Log(evidence.local)
    for number, name in enumerate("abcde"):
        key = planned_of(made_up.cells[0]).key if name == "b" else f"{number}" * 64
        enter_plan(log, name, [LoggedCell(key, name)])
    plans = {name: leaf.plan for name, leaf in zip("abcde", log.leaves()[-5:], strict=True)}
    (step,) = check_plans(evidence)
    firsts = {name: f"the first: {name} ({str(number) * 12})" for number, name in enumerate("abcde")}
    told = few_in_line([f"1 of 1 of {name} ({plans[name][:12]}), {firsts[name]}" for name in "acde"], 3, "; ")
    assert (
        step.what == f"cells without a result of plans that were begun: {told}" and step.what.count("1 of 1") == 3
    )


def test_of_a_log_that_is_none_no_plan_is_told(evidence: Layout) -> None:
    path = evidence.local / LOG
    path.write_bytes(b"no leaf\n")
    assert check_plans(evidence) == []
    path.unlink()
    assert check_plans(evidence) == []
    path.mkdir()
    assert check_plans(evidence) == []


def test_plans_are_asked_of_all_that_is_stored_and_of_nothing_less(evidence: Layout, made_up: Plan) -> None:
    save_reference(evidence, Store(evidence.runs))
    for results in (evidence.local, evidence.reference):
        enter_plan(Log(results), "all", [LoggedCell("0" * 64, "none")])
    here = api.Repository(evidence)
    told = [
        Lack.MISSING in api.audit(**asked, repository=here).gaps
        for asked in ({}, {"runs": planned_of(made_up.cells[0]).key}, {"reference": True})
    ]
    assert told == [True, False, False]


@pytest.mark.parametrize("text", ["[1]", '{"leaf": 1}'])
def test_a_note_of_an_event_that_no_harness_wrote_is_told_of(evidence: Layout, text: str) -> None:
    (evidence.local / NEXT).write_text(text)
    _, told = check_statement(evidence)
    assert (told.name, told.checked, told.lack) == ("log", Checked.NOT_CHECKED, Lack.LOG)
    assert str(evidence.local / NEXT) in told.what


def test_a_statement_that_nobody_signed_is_held_against_all_the_same(stated: Layout) -> None:
    """That it is unsigned is said, and is nothing that a strict audit asks for."""
    for reference in (False, True):
        steps = check_statement(stated, reference=reference)
        assert open_of(steps) == []
        assert steps[0] == UNSIGNED
        checked = {step.name: step.checked for step in steps[1:]}
        assert {name for name, state in checked.items() if state is Checked.OK} == {
            "log",
            "results",
            "summary",
            "files",
            "repository",
        }
        # there is no git here, and no note of an earlier state
        assert {name for name, state in checked.items() if state is not Checked.OK} <= {"commit", "history"}


def test_each_set_is_held_against_its_own_statement(stated: Layout, made_up: Plan) -> None:
    shutil.rmtree(Store(stated.runs).path(planned_of(made_up.cells[0]).key))
    assert [name for name, _ in open_of(check_statement(stated))] == ["results"]
    assert open_of(check_statement(stated, reference=True)) == []


def test_what_a_log_lost_is_open_with_its_place(stated: Layout) -> None:
    path = stated.local / LOG
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    steps = check_statement(stated)
    assert steps[0] == UNSIGNED
    cut = dict(open_of(steps))["log"]
    assert cut.endswith(f"some were taken out: {path}")


def test_a_statement_that_counts_otherwise_is_open_though_nobody_signed_it(stated: Layout) -> None:
    path = stated.local / STATEMENT
    content = json.loads(path.read_text())
    content["predicate"]["results"] += 1
    path.write_bytes(statement_text(content))
    assert open_of(check_statement(stated)) == [
        ("summary", f"the statement says otherwise than the log of: results: {path}")
    ]


def test_a_git_that_does_not_know_the_statement_s_commit_is_a_lack(stated: Layout) -> None:
    """Its history may have been made anew. Where there is no git at all, the checkout is the lack."""
    assert open_of(check_statement(stated)) == []
    author = ("-c", "user.name=Tests", "-c", "user.email=tests@localhost")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "anew")):
        subprocess.run(["git", *author, *words], cwd=stated.root, check=True)
    (step,) = (one for one in check_statement(stated) if one.lack is Lack.GIT)
    assert (step.name, step.what) == ("commit", "git does not know one here")


def test_a_shallow_clone_is_a_lack(stated: Layout) -> None:
    """The commits that are not in it may know of a later statement than the one that lies there."""
    author = ("-c", "user.name=Tests", "-c", "user.email=tests@localhost")
    for words in (("init", "-q"), ("add", "results/reference"), ("commit", "-q", "-m", "stated")):
        subprocess.run(["git", *author, *words], cwd=stated.root, check=True)
    (whole,) = (one for one in check_statement(stated, reference=True) if one.name == "history")
    assert (whole.checked, whole.lack) == (Checked.OK, None)
    (stated.root / ".git" / "shallow").write_text(f"{commit_of(stated.root)}\n")
    (cut,) = (one for one in check_statement(stated, reference=True) if one.name == "history")
    what = "the clone is shallow, or objects of it are gone: earlier states may be known of that are not in it"
    assert cut == Step("history", Checked.NOT_CHECKED, what, lack=Lack.GIT)
    # a log that no commit knows of can't be cut with them
    (other,) = (one for one in check_statement(stated) if one.name == "history")
    assert other.lack is None


def test_a_signature_is_asked_about_its_key(evidence: Layout, tmp_path: Path) -> None:
    """Who knows nobody who vouches for a key believes no more than without one."""
    key = make_key(tmp_path / "key")
    attest(evidence, stored_set(evidence), key)
    ((name, what),) = open_of(check_statement(evidence))
    assert name == "signature" and what.startswith("signed with a key that nobody vouches for: ")
    assert what.endswith(f": {evidence.local / STATEMENT}")
    vouch(evidence, "author", key)
    steps = check_statement(evidence)
    assert open_of(steps) == [] and (steps[0].name, steps[0].checked) == ("signature", Checked.OK)
    assert steps[0].what.startswith("signed by author")


@pytest.mark.parametrize("known_by", ["a note", "a commit"])
def test_a_signature_that_was_taken_away_is_open(evidence: Layout, tmp_path: Path, known_by: str) -> None:
    """Whoever changes something and has no key makes the statement anew, unsigned."""
    key = make_key(tmp_path / "key")
    vouch(evidence, "author", key)
    save_reference(evidence, Store(evidence.runs))
    results = reference_set(evidence)
    attest(evidence, results, None)
    assert open_of(check_statement(evidence, reference=True)) == []
    attest(evidence, results, key)
    where = str(memory_paths(evidence, results.folder, results.log.lines())[0])
    if known_by == "a commit":
        author = ("-c", "user.name=Tests", "-c", "user.email=tests@localhost")
        for words in (("init", "-q"), ("add", "results/reference"), ("commit", "-q", "-m", "signed")):
            subprocess.run(["git", *author, *words], cwd=evidence.root, check=True)
        where = f"commit {commit_of(evidence.root)[:12]}"
    attest(evidence, results, None)
    told = dict(open_of([one for one in check_statement(evidence, reference=True) if one.lack is not Lack.GIT]))
    assert told == {"signature": f"unsigned, and one about these results was signed before: {where}"}


@pytest.mark.parametrize("lines", [slice(1, None), slice(0, 0)])
def test_a_log_that_was_another_one_is_told_of_without_a_statement(
    evidence: Layout, tmp_path: Path, lines: slice
) -> None:
    """Results, log and cache are put back or begun anew; what this user's notes know is not."""
    key = make_key(tmp_path / "key")
    vouch(evidence, "author", key)
    size = attest(evidence, stored_set(evidence), key).statement.size
    for path in evidence.local.glob("statement*"):
        path.unlink()
    shutil.rmtree(evidence.cache / "proof", ignore_errors=True)
    assert check_statement(evidence) == [none_about("runs of this machine")]
    path = evidence.local / LOG
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[lines]))
    _, told, *_ = check_statement(evidence)
    assert (told.name, told.lack) == ("log", Lack.LOG)
    assert told.what.startswith(f"it is not the one that had {size} leaves before, grown: verified here on ")


@pytest.mark.parametrize("of", ["evidence", "stated"])
def test_scores_that_are_gone_are_told_of(of: str, made_up: Plan, request: pytest.FixtureRequest) -> None:
    """Without the scores of a bad seed the mean of the others is better."""
    layout: Layout = request.getfixturevalue(of)
    scored = [key for key, one in stored_set(layout).results.items() if one.score]
    assert len(scored) > 1
    assert "results" not in dict(open_of(check_statement(layout)))
    for key in scored[:2]:
        scores_path(layout, key).unlink()
    told = dict(open_of(check_statement(layout)))["results"]
    assert told.startswith("the log tells of scores that are gone (2); harness score makes them again: ")
    assert any(key[:12] in told for key in scored[:2])
