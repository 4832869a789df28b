"""A second party signs only what came again for it, and its signature is of this log or fails."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harness import api
from harness.audit import AuditReport, audit_runs, believed_reference
from harness.audit.steps import Step, failed, not_checked, ok
from harness.base.errors import AuditError
from harness.base.layout import Layout
from harness.proof.confirmation import Confirmation
from tests.proof.conftest import Command, make_key, vouch


def replayed(made: Layout, *steps: Step) -> AuditReport:
    """The audit of the reference results, with what their replays would have said."""
    audits = audit_runs(made, believed_reference(made)).audits
    return AuditReport(
        tuple(replace(one, steps=(*one.steps, step)) for one, step in zip(audits, steps, strict=False))
    )


def confirmed(made: Layout, harness: Command, key: Path, second: Path | None = None) -> Confirmation:
    """What a second party signed, after the first one."""
    assert harness("attest", "--reference", "--key", key).exit_code == 0
    repository = api.Repository(made)
    report = replayed(made, ok("replay", "equal bit for bit"))
    return api.confirm(report, second or make_key(made.local / "other"), reference=True, repository=repository)


def test_a_confirmation_counts_when_its_key_is_known(made: Layout, harness: Command, key: Path) -> None:
    confirmation = confirmed(made, harness, key)
    assert not confirmation.signer.name
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 0 and "it counts for nothing" in outcome.output
    vouch(made, "reader", made.local / "other")
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 0
    who = f"reader ({confirmation.signer.fingerprint}), as allowed_signers names this key,"
    assert f"{who} says to have run 1 result again, of the first 4 leaves" in outcome.output
    # a reader's own list names confirmations, too
    mine = made.local / "mine"
    mine.write_text(f'author namespaces="permafrost-results" {key.with_suffix(".pub").read_text()}')
    outcome = harness("audit", "--reference", "--signed", "--signers", mine)
    assert outcome.exit_code == 0 and "as mine names this key" in outcome.output
    assert "it counts for nothing" in outcome.output


def test_one_party_is_one_and_nothing_else_lies_there(made: Layout, harness: Command, key: Path) -> None:
    confirmation = confirmed(made, harness, key)
    copied = [path for path in confirmation.path.parent.iterdir() if path.name.startswith(confirmation.path.stem)]
    assert len(copied) == 3
    for path in copied:
        shutil.copyfile(path, path.with_name(f"again{path.name.removeprefix(confirmation.path.stem)}"))
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "under another name than its key's" in outcome.output
    for path in copied:
        path.with_name(f"again{path.name.removeprefix(confirmation.path.stem)}").unlink()
    assert harness("audit", "--reference", "--signed").exit_code == 0
    (confirmation.path.parent / "audited by experts.html").write_text("<p>all is well</p>")
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "audited by experts.html is no confirmation" in outcome.output


def test_what_was_confirmed_once_is_missed(made: Layout, harness: Command, key: Path) -> None:
    confirmation = confirmed(made, harness, key)
    for words in (["init", "-q"], ["add", "results"], ["commit", "-qm", "confirmed"]):
        who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
        subprocess.run(["git", *who, "-C", made.root, *words], check=True, capture_output=True)
    assert harness("audit", "--reference", "--signed").exit_code == 0
    shutil.rmtree(confirmation.path.parent)
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5
    assert f"what a second party signed is gone: {confirmation.path.name}" in outcome.output


@pytest.mark.parametrize(
    "step", [failed("replay", "another predictions.npy"), not_checked("replay", "no engine")], ids=str
)
def test_nothing_is_signed_when_a_replay_was_not_the_same(
    made: Layout, harness: Command, key: Path, step: Step
) -> None:
    harness("attest", "--reference", "--key", key)
    report = replayed(made, ok("replay", "equal bit for bit"), step)
    with pytest.raises(AuditError, match="nothing is signed"):
        api.confirm(report, key, reference=True, repository=api.Repository(made))
    assert not (made.reference / "attestations").exists()


def test_nothing_is_signed_when_nothing_was_run(made: Layout, harness: Command, key: Path) -> None:
    harness("attest", "--reference", "--key", key)
    with pytest.raises(AuditError, match="nothing was run again"):
        api.confirm(replayed(made), key, reference=True, repository=api.Repository(made))


def test_nothing_is_signed_about_a_log_that_is_not_the_statements(
    made: Layout, harness: Command, key: Path
) -> None:
    harness("attest", "--reference", "--key", key)
    log = made.reference / "log.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(AuditError, match="some were taken out"):
        api.confirm(replayed(made, ok("replay", "")), key, reference=True, repository=api.Repository(made))


def test_a_changed_confirmation_fails(made: Layout, harness: Command, key: Path) -> None:
    path = confirmed(made, harness, key).path
    path.write_text(path.read_text().replace('"size": 4', '"size": 3'))
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and str(path.parent) in outcome.output


def test_the_command_asks_for_a_replay_and_a_key(made: Layout, harness: Command, key: Path) -> None:
    for words in (["--attest"], ["--attest", "--key", key], ["--replay", "1", "--attest"], ["--key", key]):
        with pytest.raises(Exception, match="needs"):
            harness("audit", "--reference", *words)


@pytest.mark.parametrize("lost", [(".json.sig",), (".json.sig", ".json"), (".dsse.json",)], ids=str)
def test_a_confirmation_that_a_full_disk_cut_short_is_signed_again(
    made: Layout, harness: Command, key: Path, lost: tuple[str, ...]
) -> None:
    path = confirmed(made, harness, key).path
    for ending in lost:
        path.with_name(f"{path.stem}{ending}").unlink()
    assert harness("audit", "--reference", "--signed").exit_code == 5
    report = replayed(made, ok("replay", "equal bit for bit"))
    again = api.confirm(report, made.local / "other", reference=True, repository=api.Repository(made))
    assert again.path == path and harness("audit", "--reference", "--signed").exit_code == 0
