"""Every step of a proof in its own words: what was found, where it lies, and what a reader is to do."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness import __version__
from harness.base.errors import AuditError
from harness.base.files import sha256_of, write_atomic, write_json
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.proof import signature, verification
from harness.proof.attestation import attest
from harness.proof.digests import digests_of
from harness.proof.envelope import parse_envelope
from harness.proof.history import EarlierLog, memory_paths
from harness.proof.keys import Signer
from harness.proof.leaves import Event, Leaf, LoggedResult
from harness.proof.log import Log
from harness.proof.plans import LoggedCell, enter_plan
from harness.proof.results import ResultSet
from harness.proof.signature import envelope_path, write_signed
from harness.proof.statement import RESULTS_TYPE, ROOT_SUBJECT, STATEMENT_TYPE, statement_text
from harness.proof.text import proof_json, proof_text
from harness.proof.tree import consistency_proof
from harness.proof.verification import Held, Proof, ProofStep, verify
from tests.proof.conftest import make_key, vouch

AT = "2026-01-01T00:00:00Z"
ONE, TWO = "1" * 64, "2" * 64
RECORD = Leaf(Event.RECORD, AT, "first", key=ONE, record="r1", verdict="ok")
SCORE = Leaf(Event.SCORE, AT, "first", key=ONE, record="r1", score="s1")
FAILURE = Leaf(Event.FAILURE, AT, "second", key=TWO, record="r2", verdict="memory")
AGAIN = "look what was changed; if it is meant, make the statement again: harness attest --these"
RESTORE = "restore it from the repository: nothing is ever taken out of a log, or changed in it"


@dataclass(frozen=True)
class Small:
    """A set of one result, in a repository that holds nothing else."""

    layout: Layout
    results: ResultSet
    key: Path
    signer: Signer

    @property
    def statement(self) -> Path:
        return self.results.folder / "statement.json"

    def step(self, name: str, signers: Path | None = None) -> ProofStep:
        (step,) = (one for one in verify(self.layout, self.results, signers).steps if one.name == name)
        return step

    def forge(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the statement, and sign it again."""
        content = json.loads(self.statement.read_bytes())
        change(content["predicate"])
        signers = self.layout.root / "results" / "allowed_signers"
        write_signed(self.statement, statement_text(content), self.key, signers)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    layout = Layout(tmp_path / "root", tmp_path / "cache", tmp_path / "local")
    folder, key = tmp_path / "results", make_key(tmp_path / "key")
    folder.mkdir()
    layout.root.mkdir()
    vouch(layout, "author", key)
    (folder / "values.txt").write_text("0.5\n")
    results = {ONE: LoggedResult("r1", "ok", "s1", "first")}
    made = ResultSet("results of the test", folder, results, [folder / "values.txt"], "harness attest --these")
    enter_plan(made.log, "plan", [LoggedCell(ONE, "first"), LoggedCell(TWO, "second")])
    made.log.append([RECORD, SCORE])
    signer = attest(layout, made, key).signer
    assert signer is not None
    return Small(layout, made, key, signer)


def test_each_step_that_holds_says_what_was_seen(small: Small) -> None:
    proof = verify(small.layout, small.results)
    found = {
        "signature": f"signed by author ({small.signer.fingerprint}), as allowed_signers names this key;"
        " file and envelope",
        "log": f"the root of 3 leaves is {small.results.log.root()[:16]}",
        "history": "grown from all that is known: 1 earlier state",
        "results": "1 result: each is the newest leaf of its key, and none is gone",
        "summary": "ok 1; planned cells without a leaf: 1",
        "files": "2 files with the sha256 of the statement",
        "repository": f"all {len(digests_of(small.layout))} parts (scorers, claims, suites, cards, locks, ...)"
        " are as stated",
    }
    steps = [ProofStep(name, Held.OK, what) for name, what in found.items()]
    unknown = ProofStep("commit", Held.UNKNOWN, "git does not know one here")
    assert proof == Proof("results of the test", (*steps, unknown))
    assert proof.failed == 0


def test_a_statement_holds_what_others_look_for(small: Small) -> None:
    content = json.loads(small.statement.read_bytes())
    root, folder = small.results.log.root(), small.results.folder
    subjects = {
        ROOT_SUBJECT: root,
        "log.jsonl": sha256_of(folder / "log.jsonl"),
        "values.txt": sha256_of(folder / "values.txt"),
    }
    assert content.pop("subject") == [{"name": name, "digest": {"sha256": one}} for name, one in subjects.items()]
    predicate = content.pop("predicate")
    assert content == {"_type": STATEMENT_TYPE, "predicateType": RESULTS_TYPE}
    assert predicate["about"] == "results of the test" and predicate["harness"] == __version__
    assert predicate["git"] == {"commit": "", "tree": ""}
    assert predicate["log"] == {"root": root, "size": 3, "previous": None}
    assert predicate["digests"] == digests_of(small.layout)


def test_the_next_statement_names_the_last_one(small: Small) -> None:
    first = {"statement": sha256_of(small.statement), "size": 3, "root": small.results.log.root()}
    small.results.log.append([replaced("r3")])
    with pytest.raises(AuditError):
        attest(small.layout, small.results, small.key)
    newer = ResultSet("newer", small.results.folder, {ONE: LoggedResult("r3", "ok", "", "first")})
    made = attest(small.layout, newer, small.key)
    proof = [one.hex() for one in consistency_proof(newer.log.hashes(), 3)]
    assert made.statement.predicate["log"]["previous"] == {**first, "consistency": proof}
    assert made.path == small.statement
    what = "the last statement's log of 3 leaves, grown"
    assert small.step("previous statement") == ProofStep("previous statement", Held.OK, what)
    what = "the proof that the log is the last statement's, grown, does not hold"
    wanted = ProofStep("previous statement", Held.FAILED, what, str(small.statement), RESTORE)
    changes: list[dict[str, object]] = [{"consistency": []}, {"root": "0" * 64}]
    for change in changes:
        small.forge(lambda predicate, change=change: predicate["log"]["previous"].update(change))  # type: ignore[misc]
        assert small.step("previous statement") == wanted


def test_a_statement_made_again_names_the_one_before(small: Small) -> None:
    """Though nothing was added to the log."""
    first = {"statement": sha256_of(small.statement), "size": 3, "root": small.results.log.root()}
    made = attest(small.layout, small.results, small.key)
    assert made.statement.predicate["log"]["previous"] == {**first, "consistency": []}
    assert small.step("previous statement").state is Held.OK


def replaced(record: str) -> Leaf:
    return Leaf(Event.RECORD, AT, "first", key=ONE, record=record, verdict="ok")


def test_the_next_statement_after_one_of_nothing_has_no_last_log(small: Small) -> None:
    content = json.loads(small.statement.read_bytes())
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    content["predicate"]["log"] = {"size": 0, "root": empty, "previous": None}
    content["subject"] = [{"name": ROOT_SUBJECT, "digest": {"sha256": empty}}]
    write_signed(small.statement, statement_text(content), None, small.key)
    made = attest(small.layout, small.results)
    assert made.signer is None and made.statement.predicate["log"]["previous"] is None


def test_a_log_that_grows_while_its_statement_is_made_is_stated_as_it_was(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A campaign writes when it likes: root, size and counts are those of one moment."""
    lines = Log.lines

    def lines_then_one_more(log: Log) -> list[bytes]:
        here = lines(log)
        log.append([FAILURE])
        return here

    monkeypatch.setattr(Log, "lines", lines_then_one_more)
    made = attest(small.layout, small.results, small.key).statement
    assert made.size == 3 == sum(made.predicate["leaves"].values())


def test_a_missing_or_broken_statement_is_the_only_step(small: Small) -> None:
    small.statement.write_text("{}")
    broken = ProofStep(
        "statement", Held.FAILED, "no statement about results", str(small.statement), "restore the file"
    )
    assert verify(small.layout, small.results) == Proof("results of the test", (broken,))
    small.statement.unlink()
    missing = ProofStep(
        "statement",
        Held.FAILED,
        "there is none",
        str(small.statement),
        "make one: harness attest --these --key FILE",
    )
    assert verify(small.layout, small.results) == Proof("results of the test", (missing,))


def test_whose_signature_counts_for_nothing_is_said(small: Small, tmp_path: Path) -> None:
    nobody = tmp_path / "nobody"
    nobody.write_text("")
    what = f"signed with a key that nobody vouches for: {small.signer.fingerprint}"
    todo = f"if you know this key, name it in {nobody}"
    wanted = ProofStep("signature", Held.FAILED, what, str(small.statement), todo)
    assert small.step("signature", nobody) == wanted
    attest(small.layout, small.results)
    known = memory_paths(small.layout, small.results.folder, small.results.log.lines())
    what = "unsigned, and one about these results was signed before"
    todo = "put back the one that was signed, and look what was changed since, before anybody signs again"
    assert small.step("signature") == ProofStep("signature", Held.FAILED, what, str(known[0]), todo)
    for path in known:
        path.unlink(missing_ok=True)
    what = "unsigned: anybody can have written this statement"
    todo = "whoever answers for these results signs them: harness attest --these --key FILE"
    assert small.step("signature") == ProofStep("signature", Held.FAILED, what, str(small.statement), todo)


def test_a_signature_that_is_damaged_is_a_fault_of_its_step(small: Small) -> None:
    """Of that alone: what the statement says of the results is looked at all the same."""
    envelope_path(small.statement).unlink()
    proof = verify(small.layout, small.results)
    (step,) = (one for one in proof.steps if one.state is Held.FAILED)
    what, todo = "a signature or an envelope is missing", "restore the files, or make and sign the statement again"
    assert step == ProofStep("signature", Held.FAILED, what, str(envelope_path(small.statement)), todo)
    assert len(proof.steps) > 5


def test_what_became_of_the_log_is_said(small: Small) -> None:
    log = small.results.log
    lines, where = log.lines(), str(log.path)
    log.append([FAILURE])
    what, todo = "1 leaf newer than the statement", "make the statement again: harness attest --these"
    assert small.step("log") == ProofStep("log", Held.FAILED, what, where, todo)
    # who hides what a newer leaf tells of is found by it
    assert small.step("results").what == "the result of leaf 4, 'memory', is gone"
    log.path.write_bytes(b"".join(line + b"\n" for line in lines[:2]))
    what = "2 leaves, of which the statement knows 3: some were taken out"
    assert small.step("log") == ProofStep("log", Held.FAILED, what, where, RESTORE)
    log.path.write_bytes(b"".join(line + b"\n" for line in (lines[0], lines[2], lines[1])))
    what = "not the statement's first 3 leaves: changed, removed or reordered"
    assert small.step("log") == ProofStep("log", Held.FAILED, what, where, RESTORE)


def test_what_is_known_of_an_earlier_log_is_held_against_this_one(small: Small) -> None:
    path, other = memory_paths(small.layout, small.results.folder, small.results.log.lines())
    known = json.loads(path.read_bytes())
    made = json.loads(small.statement.read_bytes())["predicate"]["made"]
    root = small.results.log.root()
    assert known == {"size": 3, "root": root, "at": made, "replaced": []} == json.loads(other.read_bytes())
    where = f"verified here on {AT}: {path}"
    path.write_text(json.dumps({**known, "size": 4, "at": AT}))
    what = "an older statement was put back: one about 4 leaves is known, this has 3"
    todo = "restore the newest; for an older checkout on purpose, move that note away"
    assert small.step("history") == ProofStep("history", Held.FAILED, what, where, todo)
    path.write_text(json.dumps({**known, "root": "0" * 64, "at": AT}))
    what = "the log is not the one that had 3 leaves before, grown"
    assert small.step("history") == ProofStep("history", Held.FAILED, what, where, RESTORE)
    # of two notes about one size both are asked
    path.write_text(json.dumps(known))
    other.write_text(json.dumps({**known, "root": "0" * 64, "at": AT}))
    where = f"verified here on {AT}: {other}"
    assert small.step("history") == ProofStep("history", Held.FAILED, what, where, RESTORE)
    path.unlink()
    other.unlink()
    what = "neither commits nor notes of this user know an earlier state"
    assert small.step("history") == ProofStep("history", Held.UNKNOWN, what)
    # all of it held, so that both know it again
    assert json.loads(path.read_bytes()) == json.loads(other.read_bytes()) == known


def test_a_name_of_a_file_or_part_is_told_in_its_line(small: Small) -> None:
    """Whatever a forger calls it, it neither begins a line, as if it were a step, nor moves what is shown."""
    write_atomic(small.layout.methods / "a\n  ok\x1b[2K" / "method.toml", 'name = "a"\n')
    strange = small.results.folder / "b\r  ok\u202e"
    strange.touch()
    results = replace(small.results, files=[*small.results.files, strange])
    told = {one.name: one.what for one in verify(small.layout, results).steps}
    assert told["repository"] == r"1 part of the repository not as it was: cards/a\n  ok\x1b[2K"
    assert told["files"] == r"1 file not as the statement has it: b\r  ok\u202e"


def test_an_older_statement_beside_the_newer_log_is_told(small: Small) -> None:
    before = {path: path.read_bytes() for path in small.results.folder.glob("statement*")}
    small.results.log.append([replaced("r3")])
    newer = replace(small.results, results={ONE: LoggedResult("r3", "ok", "", "first")})
    attest(small.layout, newer, small.key)
    for path, content in before.items():
        path.write_bytes(content)
    (step,) = (one for one in verify(small.layout, newer).steps if one.name == "history")
    what = "an older statement was put back: one about 4 leaves is known, this has 3"
    assert (step.state, step.what) == (Held.FAILED, what)


def test_every_state_that_is_known_is_asked(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who commits an older statement does not make this machine forget the newer one."""
    known = [EarlierLog(3, small.results.log.root(), "a commit"), EarlierLog(4, "0" * 64, "the cache")]
    monkeypatch.setattr(verification, "earlier_logs", lambda *_: iter(known))
    step = small.step("history")
    assert (step.state, step.where) == (Held.FAILED, "the cache")
    assert step.what.startswith("an older statement was put back: one about 4 leaves")
    known[1] = EarlierLog(2, "0" * 64, "the cache")
    what = "the log is not the one that had 2 leaves before, grown"
    assert small.step("history") == ProofStep("history", Held.FAILED, what, "the cache", RESTORE)


def test_a_clone_that_may_lack_earlier_states_is_not_called_grown(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Layout, Path]] = []

    def cut(layout: Layout, folder: Path) -> bool:
        asked.append((layout, folder))
        return True

    monkeypatch.setattr(verification, "is_cut", cut)
    what = "the clone is shallow, or objects of it are gone: earlier states may be known of that are not in it"
    todo = "git fetch --unshallow, or clone it again"
    assert small.step("history") == ProofStep("history", Held.UNKNOWN, what, todo=todo)
    assert asked == [(small.layout, small.results.folder)]
    # what is known all the same is worse
    known = [EarlierLog(4, "0" * 64, "the cache")]
    monkeypatch.setattr(verification, "earlier_logs", lambda *_: iter(known))
    assert small.step("history").state is Held.FAILED


def test_what_does_not_hold_is_not_remembered(small: Small) -> None:
    paths = memory_paths(small.layout, small.results.folder, small.results.log.lines())
    for path in paths:
        path.unlink()
    attest(small.layout, small.results)
    assert verify(small.layout, small.results).failed == 1
    assert not any(path.exists() for path in paths)


def test_faults_of_results_and_of_counts_are_steps_of_their_own(small: Small) -> None:
    other = ResultSet("results of the test", small.results.folder, {}, small.results.files)
    steps = [one for one in verify(small.layout, other).steps if one.name in ("results", "summary")]
    again = "restore the files; if somebody removed the run by hand on purpose, run it again"
    what = "the result of leaf 3, 'ok', is gone"
    assert steps == [
        ProofStep("results", Held.FAILED, what, "first (111111111111)", again),
        ProofStep("summary", Held.OK, "ok 1; planned cells without a leaf: 1"),
    ]
    small.forge(lambda predicate: predicate.update(leaves={"plan": 2}))
    what = "the statement says otherwise than the log of: leaves"
    assert small.step("summary") == ProofStep("summary", Held.FAILED, what, str(small.statement), AGAIN)
    small.forge(lambda predicate: predicate.update(leaves={"plan": 1, "record": 1, "score": 1}))
    small.forge(lambda predicate: predicate.update(results=2, imported=1))
    what = "the statement says otherwise than the log of: results, imported"
    assert small.step("summary") == ProofStep("summary", Held.FAILED, what, str(small.statement), AGAIN)


def test_files_that_are_others_are_named_the_first_eight(small: Small) -> None:
    folder = small.results.folder
    files = [folder / f"more{number}" for number in range(9)]
    for path in files:
        path.write_text("")
    for count, text in ((1, "more0"), (8, ", ".join(path.name for path in files[:8]))):
        named = replace(small.results, folder=folder, files=[*small.results.files, *files[:count]])
        (step,) = (one for one in verify(small.layout, named).steps if one.name == "files")
        what = f"{counted(count, 'file')} not as the statement has it: {text}"
        assert step == ProofStep("files", Held.FAILED, what, str(folder), AGAIN)
    every = replace(small.results, folder=folder, files=[*small.results.files, *files])
    (step,) = (one for one in verify(small.layout, every).steps if one.name == "files")
    assert step.what == f"9 files not as the statement has it: {text} and 1 more"
    gone = ResultSet("", folder, small.results.results)
    (step,) = (one for one in verify(small.layout, gone).steps if one.name == "files")
    assert step.what == "1 file not as the statement has it: values.txt"


def test_parts_of_the_repository_that_are_others_are_named(small: Small) -> None:
    (small.layout.root / "run_all.sh").write_text("more\n")
    small.forge(lambda predicate: predicate["digests"].update({"docs/gone.md": "1"}))
    what = "2 parts of the repository not as it was: commands, docs/gone.md"
    assert small.step("repository") == ProofStep("repository", Held.FAILED, what, str(small.layout.root), AGAIN)


def test_no_part_of_the_repository_hides_behind_many_others(small: Small) -> None:
    """Who changes a scorer can change the cards of all methods as well: each is named, and the scorer, too."""
    parts = [*(f"cards/{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"), "scorer/late"]
    small.forge(lambda predicate: predicate["digests"].update(dict.fromkeys(parts, "1")))
    what = f"27 parts of the repository not as it was: {', '.join(parts)}"
    assert small.step("repository") == ProofStep("repository", Held.FAILED, what, str(small.layout.root), AGAIN)


def test_a_commit_that_is_not_here_is_named(small: Small) -> None:
    small.forge(lambda predicate: predicate.update(git={"commit": "a" * 40, "tree": "b" * 40}))
    assert small.step("commit") == ProofStep("commit", Held.UNKNOWN, f"git does not know {'a' * 12} here")


def test_a_commit_has_the_tree_of_the_statement_to_the_last_digit(small: Small) -> None:
    def git(*words: str) -> str:
        command = [
            "git",
            "-c",
            "user.name=n",
            "-c",
            "user.email=n@example.org",
            "-C",
            str(small.layout.root),
            *words,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    commit, tree = git("rev-parse", "HEAD", "HEAD^{tree}").split()
    small.forge(lambda predicate: predicate.update(git={"commit": commit, "tree": tree}))
    assert small.step("commit").state is Held.OK
    other = tree[:-1] + ("0" if tree[-1] != "0" else "1")
    small.forge(lambda predicate: predicate.update(git={"commit": commit, "tree": other}))
    what = "its tree is not that of the statement"
    assert small.step("commit") == ProofStep("commit", Held.FAILED, what, f"commit {commit[:12]}", AGAIN)


@pytest.mark.parametrize(
    ("part", "value", "names"),
    [("git", 1, ["commit"]), ("digests", 1, ["repository"]), ("verdicts", 1, []), ("git", {}, [])],
)
def test_a_part_of_another_form_fails_its_step_alone(
    small: Small, part: str, value: object, names: list[str]
) -> None:
    small.forge(lambda predicate: predicate.update({part: value}))
    what = "the statement is not of the form that we write"
    steps = [one for one in verify(small.layout, small.results).steps if one.what == what]
    assert steps == [ProofStep(name, Held.FAILED, what, str(small.statement), AGAIN) for name in names]


def test_no_statement_is_made_without_a_log(small: Small, tmp_path: Path) -> None:
    nothing = ResultSet("nothing", tmp_path / "nothing", {})
    with pytest.raises(AuditError) as refused:
        attest(small.layout, nothing)
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        "there is no log of nothing",
        str(nothing.log.path),
        "run some first; those of the repository enter it by harness reference save",
    )


def test_no_statement_is_made_of_a_log_that_was_changed(small: Small) -> None:
    log = small.results.log
    log.path.write_bytes(log.lines()[0] + b"\n")
    with pytest.raises(AuditError) as refused:
        attest(small.layout, small.results, small.key)
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        "the log is not the one that had 3 leaves before, grown: it was changed",
        f"{log.path}; {small.statement}",
        "restore the log; nothing is ever taken out of it, or changed",
    )


@pytest.mark.parametrize("known_by", ["an unsigned statement", "a note"])
def test_no_statement_is_made_of_a_log_that_was_another_one(small: Small, known_by: str) -> None:
    """A leaf is changed and the results with it; all that was not signed can be removed."""
    log, where = small.results.log, str(small.statement)
    if known_by == "a note":
        where = f"verified here on {json.loads(small.statement.read_bytes())['predicate']['made']}: "
        where += str(memory_paths(small.layout, small.results.folder, log.lines())[0])
        for path in small.results.folder.glob("statement*"):
            path.unlink()
    else:
        attest(small.layout, small.results)
        for path in memory_paths(small.layout, small.results.folder, log.lines()):
            path.unlink()
    plan, record, score = log.leaves()
    better = replace(record, record="r9"), replace(score, record="r9")
    log.path.write_bytes(b"".join(leaf.line + b"\n" for leaf in (plan, *better)))
    results = replace(small.results, results={ONE: LoggedResult("r9", "ok", "s1", "first")})
    with pytest.raises(AuditError) as refused:
        attest(small.layout, results, small.key)
    what = "the log is not the one that had 3 leaves before, grown: it was changed"
    assert (refused.value.what, refused.value.where) == (what, f"{log.path}; {where}")


@pytest.mark.parametrize(
    ("results", "more"),
    [({}, ""), ({TWO: LoggedResult("r2", "ok", "", "second")}, "; 1 more fault")],
)
def test_no_statement_is_made_of_results_that_do_not_fit(
    small: Small, results: dict[str, LoggedResult], more: str
) -> None:
    what = "no leaf of the log tells of this result" if results else "the result of leaf 3, 'ok', is gone"
    with pytest.raises(AuditError) as refused:
        attest(small.layout, ResultSet("other", small.results.folder, results))
    assert refused.value.what == what + more
    assert refused.value.where == ("second (222222222222)" if results else "first (111111111111)")
    assert refused.value.todo.startswith("restore the files; if somebody removed the run by hand")


@pytest.mark.parametrize("change", ["more", "nothing", "gone"])
def test_a_statement_that_was_changed_after_it_was_signed_is_taken_from_its_envelope(
    small: Small, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    first = sha256_of(small.statement)
    texts = {"more": small.statement.read_bytes() + b"\n", "nothing": b""}
    small.statement.unlink() if change == "gone" else small.statement.write_bytes(texts[change])
    made = attest(small.layout, small.results, small.key)
    assert made.statement.predicate["log"]["previous"]["statement"] == first
    told = f"not the statement that was signed last, which its envelope holds: {small.statement}"
    assert caplog.messages == [told]
    assert verify(small.layout, small.results).failed == 0
    attest(small.layout, small.results, small.key)
    assert caplog.messages == [told], "nothing is told of one that is as it was signed"


@pytest.mark.parametrize("left", ["more", "another", "nothing"])
@pytest.mark.parametrize("change", ["the payload", "the signature", "another key", "no envelope"])
def test_no_statement_follows_one_that_was_changed_with_its_envelope(small: Small, change: str, left: str) -> None:
    """Neither is what somebody signed: nothing tells what the last statement was."""
    text = small.statement.read_bytes()
    # a statement in itself, of another moment
    texts = {"more": text + b"\n", "another": text.replace(b'"made": "20', b'"made": "19', 1)}
    small.statement.write_bytes(texts[left]) if left in texts else small.statement.unlink()
    envelope = parse_envelope(envelope_path(small.statement).read_bytes(), "")
    changed = {
        "the payload": replace(envelope, payload=text + b"\n"),
        "the signature": replace(envelope, signature=b"none"),
        "another key": replace(envelope, key="SHA256:another"),
    }
    if change in changed:
        write_json(envelope_path(small.statement), changed[change].to_json())
    else:
        envelope_path(small.statement).unlink()
    with pytest.raises(AuditError) as refused:
        attest(small.layout, small.results, small.key)
    todo = "restore the files; if they are lost, remove the statement, its signature and its envelope"
    assert refused.value.what and str(small.statement.parent) in refused.value.where
    assert refused.value.todo == todo
    for path in small.results.folder.glob("statement*"):
        path.unlink()
    assert attest(small.layout, small.results, small.key).signer == small.signer


@pytest.mark.parametrize("was_there", [True, False])
@pytest.mark.parametrize("has_key", [True, False])
@pytest.mark.parametrize("done", range(3))
def test_a_statement_that_a_full_disk_cut_short_is_made_again(
    small: Small, monkeypatch: pytest.MonkeyPatch, done: int, has_key: bool, was_there: bool
) -> None:
    """With a key three files are written, without one a file is written and two removed; `done` of them."""
    if not was_there:
        for path in small.results.folder.glob("statement*"):
            path.unlink()
    left = done

    def until_full(real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **named: Any) -> Any:
            nonlocal left
            if not left:
                raise OSError(28, "No space left on device")
            left -= 1
            return real(*args, **named)

        return act

    with monkeypatch.context() as patch:
        patch.setattr(signature, "write_atomic", until_full(write_atomic))
        patch.setattr(signature, "write_json", until_full(write_json))
        patch.setattr(Path, "unlink", until_full(Path.unlink))
        with pytest.raises(OSError, match="No space left"):
            attest(small.layout, small.results, small.key if has_key else None)
    path, sealed = small.statement, envelope_path(small.statement)
    if sealed.is_file():
        last = parse_envelope(sealed.read_bytes(), "").payload
    else:
        last = path.read_bytes() if path.is_file() else b""
    previous = attest(small.layout, small.results, small.key).statement.predicate["log"]["previous"]
    assert (previous["statement"] if previous else "") == (hashlib.sha256(last).hexdigest() if last else "")
    assert bool(last) == (was_there or done > 0)
    assert verify(small.layout, small.results).failed == 0


def test_a_proof_is_read_by_people_and_by_programs() -> None:
    good = ProofStep("log", Held.OK, "3 leaves")
    bad = ProofStep("signature", Held.FAILED, "unsigned", "/here", "sign it")
    unknown = ProofStep("commit", Held.UNKNOWN, "git knows none", "", "look")
    proof = Proof("some results", (good, bad, unknown))
    assert proof_text(proof).splitlines() == [
        "some results",
        "  ok           log        3 leaves",
        "  FAILED       signature  unsigned",
        "                          where: /here",
        "                          to do: sign it",
        "  not checked  commit     git knows none",
        "                          to do: look",
        "",
        "1 of 3 steps does not hold",
    ]
    assert proof_text(Proof("fine", (good,))) == (
        "fine\n  ok           log  3 leaves\n\nsigned, and all of it holds\n"
    )
    for steps, told in (((good, unknown), "1 step was"), ((unknown, good, unknown), "2 steps were")):
        assert proof_text(Proof("", steps)).endswith(f"\n\nsigned, and all of it holds; {told} not checked\n")
    assert proof_text(Proof("two", (bad, good, bad))).endswith("\n\n2 of 3 steps do not hold\n")
    assert proof_json(Proof("", (bad, good, bad)))["failed"] == 2
    assert proof_json(proof) == {
        "about": "some results",
        "failed": 1,
        "steps": [
            {"name": "log", "state": "ok", "what": "3 leaves", "where": "", "todo": ""},
            {"name": "signature", "state": "FAILED", "what": "unsigned", "where": "/here", "todo": "sign it"},
            {"name": "commit", "state": "not checked", "what": "git knows none", "where": "", "todo": "look"},
        ],
    }
