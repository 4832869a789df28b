"""What is signed but not of the form that we write counts as a fault, and never as nothing."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import api
from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.proof.confirmation import REPLAY_TYPE, confirmations, file_of
from harness.proof.envelope import Envelope, parse_envelope
from harness.proof.keys import allowed_signers, sign, signer_of
from harness.proof.leaves import Event, Leaf, account_of, parse_leaf
from harness.proof.merges import broken_merges
from harness.proof.plans import load_plan, plan_path
from harness.proof.signature import write_signed
from harness.proof.statement import STATEMENT_TYPE, parse, statement_text
from harness.proof.verification import Held, ProofStep
from harness.results.reference import load_reference
from tests.proof.conftest import Command, make_key

AT = "2026-01-01T00:00:00Z"


def place_of(layout: Layout, key: Path) -> Path:
    """Where the confirmation of a key lies, in a folder that is there."""
    signer = signer_of(b"", sign(b"", key), signers(layout))
    assert signer is not None
    path = layout.reference / "attestations" / file_of(signer)
    path.parent.mkdir(exist_ok=True)
    return path


def signers(layout: Layout) -> Path:
    return layout.root / "results" / "allowed_signers"


def test_a_signed_statement_without_the_last_log_fails(made: Layout, harness: Command, key: Path) -> None:
    """Its author signed it: no other step has a reason to fail."""
    assert harness("attest", "--reference", "--key", key).exit_code == 0
    path = made.reference / "statement.json"
    content = json.loads(path.read_bytes())
    del content["predicate"]["log"]["previous"]
    write_signed(path, statement_text(content), key, signers(made))
    outcome = harness("audit", "--reference", "--signed", "--json")
    assert outcome.exit_code == 5
    answer = json.loads(outcome.output)
    failed = [step for step in answer["steps"] if step["state"] == "FAILED"]
    assert answer["failed"] == len(failed) == 1
    assert failed[0]["name"] == "history"
    assert "not of the form that we write" in failed[0]["what"]


def test_what_is_nested_too_deeply_to_be_read_is_a_fault(made: Layout, key: Path) -> None:
    deep = b"[" * 200_000
    for read in (parse_leaf, parse, parse_envelope):
        with pytest.raises(CorruptData):
            read(deep, "here")
    path = plan_path(made.reference, "1" * 64)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(deep))
    with pytest.raises(CorruptData, match="a plan is missing, or can't be read"):
        load_plan(made.reference, "1" * 64)
    path = place_of(made, key)
    write_signed(path, deep, key, signers(made))
    with pytest.raises(CorruptData, match="no confirmation"):
        list(confirmations(made.reference, allowed_signers(made)))


@pytest.mark.parametrize("kind", ["", "application/a", "application/zzz"])
def test_an_envelope_of_another_kind_is_none(kind: str) -> None:
    content = Envelope(b"{}", b"sig", "key").to_json()
    assert parse_envelope(json.dumps(content).encode(), "here").payload == b"{}"
    with pytest.raises(CorruptData, match="no envelope"):
        parse_envelope(json.dumps({**content, "payloadType": kind}).encode(), "here")


@pytest.mark.parametrize("field", ["_type", "predicateType"])
@pytest.mark.parametrize("value", ["", "zzz"])
def test_a_signed_file_of_another_kind_confirms_nothing(made: Layout, key: Path, field: str, value: str) -> None:
    predicate = {"log": {"size": 4, "root": "0"}, "replayed": ["1"], "made": AT}
    content = {"_type": STATEMENT_TYPE, "predicateType": REPLAY_TYPE, "predicate": predicate}
    path = place_of(made, key)
    write_signed(path, statement_text(content), key, signers(made))
    assert [one.log.size for one in confirmations(made.reference, allowed_signers(made))] == [4]
    write_signed(path, statement_text({**content, field: value}), key, signers(made))
    with pytest.raises(CorruptData, match="no confirmation"):
        list(confirmations(made.reference, allowed_signers(made)))


def test_a_statement_names_the_commit_that_git_is_at(made: Layout, key: Path) -> None:
    def git(*words: str) -> str:
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(["git", *author, *words], cwd=made.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    git("add", "results/allowed_signers")
    git("commit", "-q", "-m", "first")
    repository = api.Repository(made)
    statement = api.attest(reference=True, key=key, repository=repository).statement
    assert (statement.commit, statement.tree) == (git("rev-parse", "HEAD"), git("rev-parse", "HEAD^{tree}"))

    def commit_step() -> ProofStep:
        steps = api.verify(reference=True, repository=repository).steps
        (step,) = (one for one in steps if one.name == "commit")
        return step

    text = f"{statement.commit[:12]} has the tree {statement.tree[:12]}"
    assert commit_step() == ProofStep("commit", Held.OK, text)
    path = made.reference / "statement.json"
    content = json.loads(path.read_bytes())
    for other in ("0" * 40, "", statement.tree[:12]):
        content["predicate"]["git"]["tree"] = other
        write_signed(path, statement_text(content), key, signers(made))
        assert commit_step().state is Held.FAILED
    shutil.rmtree(made.root / ".git")
    assert commit_step().state is Held.UNKNOWN


def test_a_confirmation_of_another_log_fails(made: Layout, harness: Command, key: Path) -> None:
    """Its author signed it, and it has as many leaves."""
    assert harness("attest", "--reference", "--key", key).exit_code == 0
    predicate = {"log": {"size": 4, "root": "0" * 64}, "replayed": ["1"], "made": AT}
    content = {"_type": STATEMENT_TYPE, "predicateType": REPLAY_TYPE, "predicate": predicate}
    path = place_of(made, key)
    signer = write_signed(path, statement_text(content), key, signers(made))
    steps = api.verify(reference=True, repository=api.Repository(made)).steps
    (step,) = (one for one in steps if one.name == "confirmation")
    what = f"{signer} signed another log than this one, of 4 leaves"
    assert (step.state, step.what, step.where) == (Held.FAILED, what, str(path))
    # of this log, with a result of which it does not tell
    root = json.loads((made.reference / "statement.json").read_bytes())["predicate"]["log"]["root"]
    for keys, told in (("1", "1"), ("123456789", "1, 2, 3, 4, 5, 6, 7, 8 and 1 more")):
        content["predicate"] = {**predicate, "log": {"size": 4, "root": root}, "replayed": [*keys]}
        write_signed(path, statement_text(content), key, signers(made))
        steps = api.verify(reference=True, repository=api.Repository(made)).steps
        (step,) = (one for one in steps if one.name == "confirmation")
        what = f"{signer} names results of which this log does not tell: {told}"
        assert (step.state, step.what, step.where) == (Held.FAILED, what, str(path)) and step.todo
    # by a key that nobody knows
    content["predicate"] = {**predicate, "log": {"size": 4, "root": root}, "replayed": [*load_reference(made)]}
    shutil.rmtree(path.parent)
    path = place_of(made, make_key(made.local / "other"))
    signer = write_signed(path, statement_text(content), made.local / "other", signers(made))
    assert signer is not None
    steps = api.verify(reference=True, repository=api.Repository(made)).steps
    (step,) = (one for one in steps if one.name == "confirmation")
    what = f"of a key that nobody vouches for, {signer.fingerprint}: it counts for nothing"
    assert (step.state, step.what, step.where) == (Held.UNKNOWN, what, str(path))


def test_a_removal_of_what_was_never_there_is_no_result() -> None:
    account = account_of([Leaf(Event.REMOVAL, AT, "x", key="1", note="by hand")])
    assert not account.results and not account.removals


@pytest.mark.parametrize("parts", ["1" * 5000, f"1-{'9' * 5000}", "1-99", "2", "1-9", "0", "2-1", "x", "²"])
def test_a_merge_that_names_impossible_places_is_broken(parts: str) -> None:
    leaves = [
        Leaf(Event.FAILURE, AT, "one", key="1", record="r", verdict="error"),
        Leaf(Event.MERGE, AT, "another machine", root="0" * 64, parts=parts),
    ]
    assert [leaf.kind for leaf in broken_merges(leaves)] == [Event.MERGE]
