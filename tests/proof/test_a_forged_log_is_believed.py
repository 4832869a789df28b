"""Forgers who have everything but the key: whatever they change, a command that anybody can type finds it.

Each forgery is as good as it can be: digests are made again, the log is rewritten to agree, and where it helps the
statement too.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.api import verify
from harness.api.repository import Repository
from harness.base.files import canonical_json, digest_of, sha256_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.proof.log import Log
from harness.proof.signature import write_signed
from harness.proof.statement import statement_text
from harness.results.reference import load_reference, save_reference
from harness.results.store import Store
from tests.fabricate import plan_of, planned_of, put_run
from tests.proof.conftest import Command, forget_notes, make_key, vouch

Change = Callable[[dict[str, Any]], object]


def lines_of(layout: Layout) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (layout.reference / "log.jsonl").read_bytes().splitlines()]


def write_lines(layout: Layout, lines: list[dict[str, Any]]) -> None:
    text = b"".join(canonical_json(line) + b"\n" for line in lines)
    (layout.reference / "log.jsonl").write_bytes(text)


def change_results(layout: Layout, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the committed lines, with digests that agree."""
    (path,) = layout.reference.rglob("*.jsonl.gz")
    entries = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    change(entries)
    for part in (entry[name] for entry in entries for name in ("record", "scores") if entry[name]):
        del part["digest"]
        part["digest"] = digest_of(part)
    path.write_bytes(gzip.compress(b"".join(canonical_json(entry) + b"\n" for entry in entries), mtime=0))


def change_statement(layout: Layout, change: Change) -> None:
    path = layout.reference / "statement.json"
    content = json.loads(path.read_bytes())
    change(content["predicate"])
    path.write_bytes(statement_text(content))


def without(kind: str) -> Callable[[Layout], None]:
    def forge(layout: Layout) -> None:
        write_lines(layout, [line for line in lines_of(layout) if line["kind"] != kind])

    return forge


def reorder(layout: Layout) -> None:
    first, second, *others = lines_of(layout)
    write_lines(layout, [second, first, *others])


def relabel(layout: Layout) -> None:
    """A run out of memory becomes one that took too long, in the record and in the log."""

    def change(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            if entry["record"]["verdict"] == "memory":
                entry["record"].update(verdict="timeout", reason="stopped after 600 s")

    change_results(layout, change)
    digests = {key: digest_of(entry.content) for key, entry in load_reference(layout).items()}
    lines = lines_of(layout)
    for line in lines:
        if line["kind"] == "failure":
            line.update(verdict="timeout", record=digests[line["key"]])
    write_lines(layout, lines)


def relabel_record_only(layout: Layout) -> None:
    change_results(layout, lambda entries: entries[1]["record"].update(verdict="timeout"))


def drop_failure(layout: Layout) -> None:
    change_results(layout, lambda entries: entries.pop(1))
    without("failure")(layout)


def drop_failure_without_its_leaf(layout: Layout) -> None:
    change_results(layout, lambda entries: entries.pop(1))


def drop_failure_as_a_fault_of_the_machine(layout: Layout) -> None:
    """Of a run that never ended by itself nothing need be kept; this one had ended."""
    key = lines_of(layout)[-1]["key"]
    change_results(layout, lambda entries: entries.pop(1))
    leaf = {"kind": "amendment", "at": "2026-01-01T00:00:00Z", "scope": "x", "key": key, "record": "1" * 64}
    write_lines(layout, [*lines_of(layout), {**leaf, "verdict": "infrastructure"}])


def move_results(layout: Layout) -> None:
    """They are found by their keys, and held against no run of their jobs."""
    (path,) = layout.reference.rglob("*.jsonl.gz")
    astray = layout.reference / "zz" / "a.jsonl.gz"
    astray.parent.mkdir()
    path.rename(astray)


def remove_with_a_leaf(layout: Layout) -> None:
    """The harness itself writes such a leaf: it shows, because nobody signed it."""
    last = lines_of(layout)[-1]
    change_results(layout, lambda entries: entries.pop(1))
    told = {name: last[name] for name in ("scope", "key")}
    leaf = {"kind": "removal", "at": "2026-01-01T00:00:00Z", **told, "note": "outgrown"}
    write_lines(layout, [*lines_of(layout), leaf])


def change_score(layout: Layout) -> None:
    """One metric better, its leaf rewritten."""

    def change(entries: list[dict[str, Any]]) -> None:
        metrics = entries[0]["scores"]["metrics"]
        name = next(name for name, value in metrics.items() if value is not None)
        metrics[name] = 0.999

    change_results(layout, change)
    (scores,) = (entry.scores for entry in load_reference(layout).values() if entry.scores)
    lines = lines_of(layout)
    for line in lines:
        if line["kind"] == "score":
            line["score"] = scores.to_json()["digest"]
    write_lines(layout, lines)


def change_score_only(layout: Layout) -> None:
    change_results(layout, lambda entries: entries[0]["scores"]["notes"].update(more="words"))


def change_plan(layout: Layout) -> None:
    """The cell that was never run was never planned."""
    (path,) = (layout.reference / "plans").iterdir()
    content = json.loads(gzip.decompress(path.read_bytes()))
    content["cells"].pop()
    path.unlink()
    digest = digest_of(content)
    path.with_name(f"{digest}.json.gz").write_bytes(gzip.compress(canonical_json(content), mtime=0))
    lines = lines_of(layout)
    lines[0].update(plan=digest, cells=2)
    write_lines(layout, lines)


def remove_plan_file(layout: Layout) -> None:
    (path,) = (layout.reference / "plans").iterdir()
    path.unlink()


def add_result(layout: Layout) -> None:
    """The best of several: a run that was made elsewhere, put in the place of the signed one."""
    change_results(layout, lambda entries: entries[0]["record"].update(started="2026-02-02T00:00:00Z"))
    content = next(iter(load_reference(layout).values())).content
    lines = lines_of(layout)
    leaf = {**lines[1], "record": digest_of(content)}
    write_lines(layout, [*lines, leaf, {**lines[2], "record": leaf["record"]}])


def change_claims(layout: Layout) -> None:
    path = layout.published / "repurposing" / "tables.csv"
    path.write_text(path.read_text().replace("0.9", "0.8", 1))


def change_card(layout: Layout) -> None:
    path = layout.methods / "bnnr" / "method.toml"
    path.write_text(path.read_text() + "\n# a comment changes nothing\n")
    path = layout.methods / "als_wr" / "method.toml"
    path.write_text(path.read_text().replace("alpha = ", "alpha = 1", 1))


def hide_verdict(layout: Layout) -> None:
    change_statement(layout, lambda predicate: predicate.update(verdicts={"ok": 2}))


def extra_file(layout: Layout) -> None:
    (layout.reference / "repurposing" / "measured.json").write_text("{}\n")


def extra_summary(layout: Layout) -> None:
    """A file that is called as those are which a statement can't name."""
    (layout.reference / "statement-summary.csv").write_text("method,mean\nmine,1.0\n")


def more_in_the_envelope(layout: Layout) -> None:
    path = layout.reference / "statement.dsse.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "verifiedBy": "a higher authority"}))


def remove_log(layout: Layout) -> None:
    (layout.reference / "log.jsonl").unlink()


def extra_note(layout: Layout) -> None:
    """The next harness would let this event enter the log."""
    (layout.reference / "log.next").write_text("{}\n")


FORGERIES: dict[str, Callable[[Layout], None]] = {
    "a leaf is removed": without("score"),
    "a failure's leaf is removed": without("failure"),
    "a plan's leaf is removed": without("plan"),
    "leaves are reordered": reorder,
    "a verdict is relabelled, with its leaf": relabel,
    "a verdict is relabelled": relabel_record_only,
    "a failure is dropped, with its leaf": drop_failure,
    "a failure is dropped": drop_failure_without_its_leaf,
    "a failure is dropped, with a leaf that calls it the machine's": drop_failure_as_a_fault_of_the_machine,
    "a file of results lies astray": move_results,
    "a failure is dropped, with a leaf that says so": remove_with_a_leaf,
    "a score is changed, with its leaf": change_score,
    "a score is changed": change_score_only,
    "a plan is changed, with its leaf": change_plan,
    "a plan is lost": remove_plan_file,
    "a better run is put in its place, with leaves": add_result,
    "a claim is changed": change_claims,
    "a card is changed": change_card,
    "a statement is rewritten": hide_verdict,
    "a file is added": extra_file,
    "a file of the log is added": extra_note,
    "a file is added that is called as a statement": extra_summary,
    "a file of the statement holds more": more_in_the_envelope,
    "the log is removed": remove_log,
}


@pytest.fixture
def signed(made: Layout, harness: Command, key: Path) -> Layout:
    """Reference results that their author signed."""
    assert harness("attest", "--reference", "--key", key).exit_code == 0
    assert harness("audit", "--reference", "--signed").exit_code == 0
    return made


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forgery_is_found_and_named(signed: Layout, harness: Command, forge: Callable[[Layout], None]) -> None:
    forge(signed)
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5
    text = outcome.output or str(outcome.exception)
    assert "where:" in text and "to do:" in text


@pytest.mark.parametrize(
    "forge",
    [one for name, one in FORGERIES.items() if "claim" not in name and "card" not in name and "file" not in name],
    ids=[name for name in FORGERIES if "claim" not in name and "card" not in name and "file" not in name],
)
def test_no_new_statement_is_made_of_it_unless_the_log_tells(
    signed: Layout, harness: Command, key: Path, forge: Callable[[Layout], None]
) -> None:
    """The author signs again without looking: what the log does not tell is refused."""
    forge(signed)
    outcome = harness("attest", "--reference", "--key", key)
    # two only add leaves: the next statement says of them what they are; one has the envelope against it
    tells = forge in (remove_with_a_leaf, add_result)
    assert outcome.exit_code == (0 if tells or forge is hide_verdict else 5)
    predicate = json.loads((signed.reference / "statement.json").read_bytes())["predicate"]
    if forge is hide_verdict:
        assert predicate["verdicts"] == {"memory": 1, "ok": 1}
    if tells:
        removals = {"memory": 1} if forge is remove_with_a_leaf else {}
        assert predicate["removals"] == removals and predicate["leaves"]["record"] == 2 - len(removals)


def test_a_comment_in_a_card_is_no_forgery(signed: Layout, harness: Command) -> None:
    path = signed.methods / "als_wr" / "method.toml"
    path.write_text(path.read_text() + "\n# a comment\n")
    assert harness("audit", "--reference", "--signed").exit_code == 0


def everything_again(layout: Layout, key: Path | None) -> None:
    """The whole set is made anew by a forger: no trace of the failure, a log and a statement of their own."""
    from harness.api import attest

    for name in ("log.jsonl", "statement.json", "statement.json.sig", "statement.dsse.json"):
        (layout.reference / name).unlink()
    shutil.rmtree(layout.reference / "plans")
    forget_notes()
    change_results(layout, lambda entries: entries.pop(1))
    shutil.rmtree(layout.local)
    save_reference(layout, Store(layout.runs))
    attest(reference=True, key=key, repository=Repository(layout))


def test_a_statement_made_anew_without_a_key_is_unsigned(signed: Layout, harness: Command) -> None:
    everything_again(signed, None)
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "unsigned" in outcome.output


def test_another_key_is_not_believed(signed: Layout, harness: Command, tmp_path: Path) -> None:
    everything_again(signed, make_key(tmp_path / "forger"))
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "a key that nobody vouches for" in outcome.output


def test_a_key_that_the_forger_vouches_for_is_not_believed_by_who_keeps_a_list(
    signed: Layout, harness: Command, tmp_path: Path
) -> None:
    mine = tmp_path / "my_signers"
    shutil.copyfile(signed.root / "results" / "allowed_signers", mine)
    forger = make_key(tmp_path / "forger")
    vouch(signed, "author", forger)
    everything_again(signed, forger)
    # who believes the repository's own list is deceived
    assert harness("audit", "--reference", "--signed").exit_code == 0
    assert harness("audit", "--reference", "--signed", "--signers", mine).exit_code == 5


def test_who_verified_the_results_once_is_not_deceived(
    signed: Layout, harness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The forger can write to the repository and to the cache, and has notes of their own."""
    assert harness("audit", "--reference", "--signed").exit_code == 0
    forger = make_key(tmp_path / "forger")
    vouch(signed, "author", forger)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("harness.proof.history.state_folder", lambda: tmp_path / "forger's")
        everything_again(signed, forger)
    shutil.rmtree(signed.cache, ignore_errors=True)
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "verified here on" in outcome.output


@pytest.mark.parametrize(
    ("changed", "name"),
    [({"verdicts": {"ok": 2}}, "verdicts"), ({"removals": {"ok": 9}}, "removals"), ({"plans": []}, "plans")],
)
def test_who_signs_other_counts_than_the_log_gives_is_found(
    signed: Layout, harness: Command, key: Path, changed: dict[str, Any], name: str
) -> None:
    """An author who corrects the statement by hand, and signs it."""
    change_statement(signed, lambda predicate: predicate.update(changed))
    path = signed.reference / "statement.json"
    write_signed(path, path.read_bytes(), key, signed.root / "results" / "allowed_signers")
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5
    assert f"the statement says otherwise than the log of: {name}" in outcome.output


@pytest.mark.parametrize("name", ["statement.json.sig", "statement.dsse.json"])
def test_half_a_signature_is_none(signed: Layout, harness: Command, name: str) -> None:
    (signed.reference / name).unlink()
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and name in outcome.output


def grown(layout: Layout, harness: Command, key: Path) -> Path:
    """The folder as it was; here one more run, a failure, is in a newer statement."""
    before = layout.root.parent / "before"
    shutil.copytree(layout.reference, before)
    put_run(layout, planned_of(plan_of(layout, ["als_wr"], [7]).cells[0]), verdict=Verdict.TIMEOUT)
    save_reference(layout, Store(layout.runs))
    assert harness("attest", "--reference", "--key", key).exit_code == 0
    return before


def git_of(root: Path, *words: str) -> None:
    """Have git do something in a folder."""
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    subprocess.run(["git", *who, "-C", str(root), *words], check=True, capture_output=True)


def put_back(layout: Layout, before: Path) -> None:
    shutil.rmtree(layout.reference)
    shutil.copytree(before, layout.reference)


def test_an_old_statement_is_no_new_one(signed: Layout, harness: Command, key: Path) -> None:
    before = grown(signed, harness, key)
    assert harness("audit", "--reference", "--signed").exit_code == 0
    put_back(signed, before)
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "an older statement was put back" in outcome.output
    assert harness("attest", "--reference", "--key", key).exit_code == 5


@pytest.mark.parametrize("knows", ["notes", "commits"])
def test_an_old_statement_about_the_same_log_is_no_new_one(
    signed: Layout, harness: Command, key: Path, knows: str
) -> None:
    """A claim was corrected, and nothing was run: who puts back both undoes the correction."""
    names = signed.published / "repurposing" / "names.toml"
    claim, before = names.read_bytes(), signed.root.parent / "before"
    if knows == "commits":
        git_of(signed.root, "init", "-q")
        git_of(signed.root, "add", "results")
        git_of(signed.root, "commit", "-qm", "first")
    shutil.copytree(signed.reference, before)
    names.write_bytes(claim + b"# corrected\n[more]\n")
    assert harness("attest", "--reference", "--key", key).exit_code == 0
    assert harness("audit", "--reference", "--signed").exit_code == 0
    if knows == "commits":
        git_of(signed.root, "add", "results")
        git_of(signed.root, "commit", "-qm", "corrected")
        forget_notes()
    put_back(signed, before)
    names.write_bytes(claim)
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5
    assert "an older statement was put back: one is known that came after it" in outcome.output
    assert ("where: commit " in outcome.output) == (knows == "commits")
    assert "an older statement was put back" in harness("audit", "--reference", "--strict").output


def test_an_old_statement_beside_the_new_log_is_found(signed: Layout, harness: Command, key: Path) -> None:
    before = grown(signed, harness, key)
    for path in before.glob("statement*"):
        shutil.copyfile(path, signed.reference / path.name)
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "1 leaf newer than the statement" in outcome.output


def test_commits_remember_where_no_note_does(signed: Layout, harness: Command, key: Path) -> None:
    git_of(signed.root, "init", "-q")
    before = grown(signed, harness, key)
    git_of(signed.root, "add", "results")
    git_of(signed.root, "commit", "-qm", "newer")
    put_back(signed, before)
    forget_notes()
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "an older statement was put back" in outcome.output
    assert "where: commit " in outcome.output


def test_the_results_grow_and_every_statement_proves_it(signed: Layout, harness: Command, key: Path) -> None:
    grown(signed, harness, key)
    proof = verify(reference=True, repository=Repository(signed))
    (step,) = (step for step in proof.steps if step.name == "previous statement")
    assert step.state == "ok" and not proof.failed
    change_statement(signed, lambda predicate: predicate["log"]["previous"].update(size=3))
    (step,) = (
        step
        for step in verify(reference=True, repository=Repository(signed)).steps
        if step.name == "previous statement"
    )
    assert step.state == "FAILED"


def test_a_signed_statement_that_was_changed_is_no_ground_for_the_next(
    signed: Layout, harness: Command, key: Path
) -> None:
    first = sha256_of(signed.reference / "statement.json")
    change_statement(signed, lambda predicate: predicate["log"].update(size=1))
    assert harness("audit", "--reference", "--signed").exit_code == 5
    assert harness("attest", "--reference", "--key", key).exit_code == 0
    predicate = json.loads((signed.reference / "statement.json").read_bytes())["predicate"]
    assert (predicate["log"]["previous"]["statement"], predicate["log"]["previous"]["size"]) == (first, 4)
    assert harness("audit", "--reference", "--signed").exit_code == 0


def test_a_signed_statement_that_was_changed_hides_no_change_of_the_log(
    signed: Layout, harness: Command, key: Path
) -> None:
    """The file tells of the forged log, the envelope of the honest one, and no note or commit does."""
    log = signed.reference / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"memory"', b'"ok"'))
    root = Log(signed.reference).root()
    change_statement(signed, lambda predicate: predicate["log"].update(root=root))
    forget_notes()
    outcome = harness("attest", "--reference", "--key", key)
    assert outcome.exit_code == 5 and "the log is not the one that had 4 leaves before" in str(outcome.exception)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"predicate": {"log": {}}}', "not json"])
def test_what_is_no_statement_is_named(signed: Layout, harness: Command, text: str) -> None:
    (signed.reference / "statement.json").write_text(text)
    outcome = harness("audit", "--reference", "--signed")
    assert outcome.exit_code == 5 and "no statement about results" in outcome.output


def test_the_runs_of_a_machine_are_held_to_their_log(made: Layout, harness: Command, key: Path) -> None:
    """The same for the store, where a leaf names every record."""
    assert harness("attest", "--key", key).exit_code == 0
    assert harness("audit", "--signed").exit_code == 0
    store = Store(made.runs)
    for number, run in enumerate(sorted(store.finished())):
        copy = made.local.parent / f"copy{number}"
        shutil.move(store.path(run), copy)
        outcome = harness("audit", "--signed")
        assert outcome.exit_code == 5 and "is gone" in outcome.output
        shutil.move(copy, store.path(run))
    assert harness("audit", "--signed").exit_code == 0
    shutil.copytree(store.path(run), store.folder / "ff" / ("f" * 64))
    outcome = harness("audit", "--signed")
    assert outcome.exit_code == 5 and "no leaf of the log tells of this result" in outcome.output
