"""Envelopes, signers, confirmations and what is known of earlier logs, each in its one form."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness import __version__
from harness.base.errors import AuditError, CorruptData, EngineError, UsageError
from harness.base.layout import Layout
from harness.base.machine import processor
from harness.proof import keys
from harness.proof.confirmation import REPLAY_TYPE, confirm, confirmations
from harness.proof.envelope import Envelope, parse_envelope, pre_authentication
from harness.proof.history import (
    EarlierLog,
    earlier_logs,
    first_after,
    first_other,
    git_state,
    is_cut,
    memory_paths,
    remember,
    was_signed,
)
from harness.proof.keys import Signer, allowed_signers, sign, signer_of
from harness.proof.signature import envelope_path, sig_path, signed_text, signer_of_file, write_signed
from harness.proof.statement import (
    RESULTS_TYPE,
    ROOT_SUBJECT,
    STATEMENT,
    STATEMENT_TYPE,
    Statement,
    parse,
    read,
    statement_text,
)
from harness.proof.tree import leaf_hash, roots_at
from tests.core.word_for_word import said
from tests.proof.conftest import make_key

ROOT = "ab" * 32


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("keys") / "key")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "root").mkdir()
    return Layout(tmp_path / "root", tmp_path / "cache", tmp_path / "local")


def content_of(**changed: Any) -> dict[str, Any]:
    """A statement about nothing much."""
    predicate = {
        "about": "nothing much",
        "harness": "0.1.0",
        "leaves": {},
        "made": "2026-01-01T00:00:00Z",
        "git": {},
        "log": {"root": ROOT, "size": 3},
        "results": 1,
        "verdicts": {"ok": 1},
        "removals": {},
        "imported": 0,
        "plans": [{"missing": 1}, {"missing": 2}],
        "unplanned": 0,
        "digests": {"a": "1"},
        **changed,
    }
    subject = [{"name": ROOT_SUBJECT, "digest": {"sha256": predicate["log"]["root"]}}]
    return {"_type": STATEMENT_TYPE, "predicateType": RESULTS_TYPE, "subject": subject, "predicate": predicate}


def made(**changed: Any) -> Statement:
    return parse(statement_text(content_of(**changed)), "here")


def test_a_statement_says_what_is_written_in_it(tmp_path: Path) -> None:
    statement = made(git={"commit": "c", "tree": "t"})
    assert (statement.commit, statement.tree, statement.root, statement.size) == ("c", "t", ROOT, 3)
    assert (statement.missing, statement.verdicts, statement.digests) == (3, {"ok": 1}, {"a": "1"})
    assert (statement.made, statement.sha256) == (
        "2026-01-01T00:00:00Z",
        hashlib.sha256(statement.text).hexdigest(),
    )
    assert statement.remarks == ["planned cells without a leaf: 3"]
    nothing = "no plan is in the log: nothing in it tells what was to be run"
    assert made(plans=[]).remarks == [nothing]
    assert made(plans=[{"missing": 0}]).remarks == ["planned cells without a leaf: 0"]
    older = "2 imports: results from before the log, or of which no other leaf tells"
    assert made(imported=2, plans=[]).remarks == [older, nothing]
    # who lets a failure go, or enters a plan when it is known what comes of it, is told of in every audit
    told = ["planned cells without a leaf: 3", "results that no plan had announced: 4", "removed: error 1, ok 2"]
    assert made(unplanned=4, removals={"error": 1, "ok": 2}).remarks == told
    # without any plan that says nothing
    assert made(plans=[], unplanned=4).remarks == [nothing]
    assert (made().commit, made().tree) == ("", "")
    assert read(tmp_path) is None
    (tmp_path / STATEMENT).write_bytes(statement.text)
    assert read(tmp_path) == statement


def test_a_statement_is_a_text_that_people_can_read() -> None:
    assert statement_text({"b": "ä", "a": [1]}) == '{\n  "a": [\n    1\n  ],\n  "b": "ä"\n}\n'.encode()
    with pytest.raises(ValueError, match="JSON"):
        statement_text({"a": float("nan")})


@pytest.mark.parametrize(
    "part",
    [
        *("about", "harness", "leaves", "made", "git", "log", "results"),
        *("verdicts", "removals", "imported", "plans", "unplanned", "digests"),
    ],
)
def test_a_statement_without_a_part_is_none(part: str) -> None:
    content = content_of()
    del content["predicate"][part]
    with pytest.raises(CorruptData) as refused:
        parse(statement_text(content), "there")
    assert said(refused.value) == ("no statement about results", "there", "restore the file")


def test_a_statement_is_read_from_its_file_which_is_named_where_it_is_broken(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    path = tmp_path / STATEMENT
    path.write_bytes(statement_text(content_of()))
    there = read(tmp_path)
    assert there is not None and there.text == path.read_bytes()
    path.write_bytes(b"{}")
    with pytest.raises(CorruptData) as refused:
        read(tmp_path)
    assert refused.value.where == str(path)
    # what is there and can't be read is not taken for none
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match=STATEMENT):
        read(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"_type": "zzz"},
        {"_type": ""},
        {"predicateType": "zzz"},
        {"predicateType": ""},
        {"subject": []},
        {"subject": [{"name": ROOT_SUBJECT, "digest": {"sha256": "cd" * 32}}]},
        {"predicate": content_of(log={"root": ROOT, "size": -1})["predicate"]},
        {"predicate": content_of(plans=[{"missing": -1}])["predicate"]},
        {"predicate": content_of(plans=[{}])["predicate"]},
        {"predicate": []},
    ],
    ids=str,
)
def test_a_statement_of_another_kind_is_none(changed: dict[str, Any]) -> None:
    assert parse(statement_text(content_of(log={"root": ROOT, "size": 0}, plans=[])), "").size == 0
    with pytest.raises(CorruptData, match="no statement about results"):
        parse(statement_text({**content_of(), **changed}), "there")


def test_a_statement_says_nothing_that_another_reader_may_read_otherwise() -> None:
    """Nobody vouches for a part that we do not write; of one that is there twice, we look at one."""
    more = content_of(reviewed="by nobody")
    text = statement_text(content_of())
    twice = text.replace(b'"verdicts": {', b'"verdicts": {"ok": 7},\n    "verdicts": {', 1)
    assert json.loads(twice) == json.loads(text)
    # beyond every number, so that nobody can count with it
    endless = [text.replace(part, part[:-1] + b"1e400", 1) for part in (b'"size": 3', b'"missing": 2')]
    assert text not in endless
    for forged in (statement_text(more), twice, text + b" ", text.replace(b"  ", b"\t", 1), *endless):
        with pytest.raises(CorruptData, match="no statement about results"):
            parse(forged, "there")
    assert parse(text, "there").text == text


def test_an_envelope_is_that_of_dsse() -> None:
    kind = "application/vnd.in-toto+json"
    assert pre_authentication(b"{}\n") == b"DSSEv1 28 " + kind.encode() + b" 3 {}\n"
    # bytes are counted, not letters
    assert pre_authentication("ä".encode()) == b"DSSEv1 28 " + kind.encode() + b" 2 \xc3\xa4"
    envelope = Envelope(b"{}\n", b"\xffsig", "SHA256:x")
    content: dict[str, Any] = {
        "payload": base64.b64encode(b"{}\n").decode(),
        "payloadType": kind,
        "signatures": [{"keyid": "SHA256:x", "sig": base64.b64encode(b"\xffsig").decode()}],
    }
    assert envelope.to_json() == content and envelope.message == pre_authentication(b"{}\n")
    assert parse_envelope(json.dumps(content).encode(), "") == envelope
    two = {**content, "signatures": content["signatures"] * 2}
    unclean = {**content, "payload": "e30K !"}
    nobody = {**content, "signatures": [{"sig": "AAAA"}]}
    untyped = {name: value for name, value in content.items() if name != "payloadType"}
    wrong: list[Any] = [two, unclean, nobody, untyped, {**content, "signatures": []}, []]
    for other in wrong:
        with pytest.raises(CorruptData) as refused:
            parse_envelope(json.dumps(other).encode(), "there")
        assert said(refused.value) == ("no envelope of a signed statement", "there", "sign again")


def test_a_signer_is_told_by_name_and_fingerprint() -> None:
    assert str(Signer("SHA256:x", "author")) == "author (SHA256:x)"
    assert str(Signer("SHA256:x")) == "somebody (SHA256:x)"


def test_a_key_has_the_name_that_the_list_gives_it(layout: Layout, key: Path) -> None:
    public = key.with_name("key.pub").read_text()
    signers = allowed_signers(layout)
    assert signers == layout.root / "results" / "allowed_signers"
    signers.parent.mkdir()
    signature = sign(b"text", key)
    lists = (
        ("first,second", "permafrost-results", "first"),
        ("!nobody,second", "permafrost-results", "second"),
        ("!eve@example.org,*@example.org", "permafrost-results", "*@example.org"),
        ("!eve@example.org", "permafrost-results", ""),
        ("first", "git", ""),
    )
    for names, namespace, name in lists:
        signers.write_text(f'{names} namespaces="{namespace}" {public}')
        signer = signer_of(b"text", signature, signers)
        assert signer is not None and signer.name == name and signer.fingerprint.startswith("SHA256:")
    assert signer_of(b"other", signature, signers) is None
    assert signer_of(b"text", b"no signature", signers) is None


@pytest.mark.parametrize(("when", "name"), [("valid-after", "author"), ("valid-before", "")])
def test_a_key_counts_on_the_day_on_which_it_is_asked_for(layout: Layout, key: Path, when: str, name: str) -> None:
    signers = allowed_signers(layout)
    signers.parent.mkdir()
    options = f'{when}="20210101",namespaces="permafrost-results"'
    signers.write_text(f"author {options} {key.with_name('key.pub').read_text()}")
    signer = signer_of(b"text", sign(b"text", key), signers)
    assert signer is not None and signer.name == name


def test_a_key_that_can_not_sign_is_named(tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError) as refused:
        sign(b"", tmp_path / "none")
    assert said(refused.value) == (
        "there is no such key",
        str(tmp_path / "none"),
        "name your SSH key's file with --key",
    )
    (tmp_path / "text").write_text("no key\n")
    with pytest.raises(UsageError) as refused:
        sign(b"", tmp_path / "text")
    assert refused.value.what.startswith("ssh-keygen did not sign: ") and str(tmp_path) in refused.value.what
    assert (refused.value.where, refused.value.todo) == (str(tmp_path / "text"), "try another key")
    loud = tmp_path / "loud"
    loud.write_text("#!/bin/sh\necho half a signature\necho a warning >&2\necho the reason >&2\nexit 1\n")
    loud.chmod(0o755)
    # nothing at all is no signature either, whatever a program ends with
    nothing = "no reason was given"
    for program, reason in (("false", nothing), ("true", nothing), (loud, "the reason")):
        monkeypatch.setattr(keys, "_PROGRAM", str(program))
        with pytest.raises(UsageError) as refused:
            sign(b"", key)
        assert refused.value.what == f"ssh-keygen did not sign: {reason}"
    monkeypatch.setattr(keys, "_PROGRAM", "no-such-program")
    with pytest.raises(EngineError) as missing:
        sign(b"", key)
    assert said(missing.value) == (
        "no-such-program is not here: nothing can be signed or checked",
        "the programs of this machine",
        "install it (Debian: apt-get install openssh-client)",
    )


def test_a_signed_file_has_two_neighbours(tmp_path: Path, layout: Layout, key: Path) -> None:
    path = tmp_path / "a.b.json"
    assert (sig_path(path).name, envelope_path(path).name) == ("a.b.json.sig", "a.b.dsse.json")
    signer = write_signed(path, b"{}\n", key, allowed_signers(layout))
    assert signer is not None
    envelope = parse_envelope(envelope_path(path).read_bytes(), "")
    assert (envelope.payload, envelope.key) == (b"{}\n", signer.fingerprint)
    # another key's name in the envelope: its signature is not of that one
    envelope_path(path).write_text(json.dumps(Envelope(b"{}\n", envelope.signature, "SHA256:y").to_json()))
    with pytest.raises(CorruptData) as refused:
        signer_of_file(path, allowed_signers(layout))
    assert said(refused.value) == (
        "the envelope's signature is not of this file, or by another key",
        str(envelope_path(path)),
        "restore the files, or make and sign the statement again",
    )
    sig_path(path).unlink()
    with pytest.raises(CorruptData) as refused:
        signer_of_file(path, allowed_signers(layout))
    assert refused.value.what == "a signature or an envelope is missing"
    assert refused.value.where == str(sig_path(path))


def test_what_was_signed_last_is_told_by_an_envelope_that_holds(tmp_path: Path, layout: Layout, key: Path) -> None:
    path, signers = tmp_path / "a.json", allowed_signers(layout)
    assert signed_text(path, signers) is None
    assert write_signed(path, b"{}\n", key, signers) is not None
    whole = envelope_path(path).read_bytes()
    path.write_bytes(b"another")
    assert signed_text(path, signers) == b"{}\n"
    envelope = parse_envelope(whole, "")
    for changed in ({"payload": b"[]\n"}, {"key": "SHA256:y"}):
        envelope_path(path).write_text(json.dumps(replace(envelope, **changed).to_json()))
        assert signed_text(path, signers) is None
    for torn in (b"", whole[:-9]):
        envelope_path(path).write_bytes(torn)
        assert signed_text(path, signers) is None


def test_a_confirmation_tells_who_ran_what_and_where(layout: Layout, tmp_path: Path, key: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    statement = made()
    with pytest.raises(AuditError) as refused:
        confirm(layout, folder, statement, [], key)
    assert said(refused.value) == ("nothing was run again", str(folder), "ask for a replay: --replay N")
    done = confirm(layout, folder, statement, ["b", "a"], key)
    name = hashlib.sha256(done.signer.fingerprint.encode()).hexdigest()[:16]
    assert done.path == folder / "attestations" / f"{name}.json"
    content = json.loads(done.path.read_bytes())
    moment = content["predicate"].pop("made")
    assert content == {
        "_type": STATEMENT_TYPE,
        "predicateType": "https://permafrost.invalid/replay/v1",
        "subject": [{"name": ROOT_SUBJECT, "digest": {"sha256": ROOT}}],
        "predicate": {
            "log": {"root": ROOT, "size": 3},
            "statement": statement.sha256,
            "replayed": ["a", "b"],
            "harness": __version__,
            "git": {"commit": "", "tree": ""},
            "processor": processor(),
        },
    }
    assert done.log == EarlierLog(3, ROOT, str(done.path))
    assert (done.replayed, done.made, done.signer.name) == (["a", "b"], moment, "")
    other = confirm(layout, folder, statement, ["c"], make_key(tmp_path / "other"))
    assert [*confirmations(folder, allowed_signers(layout))] == sorted([done, other], key=lambda one: one.path)
    assert [*confirmations(tmp_path, allowed_signers(layout))] == []


@pytest.mark.parametrize(
    ("part", "other"),
    [
        *((part, None) for part in ("log", "replayed", "made", "predicate")),
        *(("log", log) for log in ('{"size": 4}', '{"size": "x", "root": "0"}', '{"size": 1e400, "root": "0"}')),
        *(("log", log) for log in ("[4]", "4", '{"size": [], "root": "0"}')),
        *(("replayed", "1"), ("predicate", "[]"), ("predicate", "null"), ("", "[]"), ("", "4"), ("", "")),
    ],
)
def test_a_confirmation_without_a_part_or_with_another_in_its_place_is_to_be_removed(
    layout: Layout, tmp_path: Path, key: Path, part: str, other: str | None
) -> None:
    predicate: dict[str, Any] = {"log": {"size": 4, "root": "0"}, "replayed": ["1"], "made": "then"}
    content: dict[str, Any] = {"_type": STATEMENT_TYPE, "predicateType": REPLAY_TYPE, "predicate": predicate}
    path = tmp_path / "attestations" / "one.json"
    path.parent.mkdir()
    holder = content if part in content else predicate
    holder[part] = "HERE"
    if other is None:
        del holder[part]
    text = json.dumps(content).replace('"HERE"', str(other)) if part else str(other)
    write_signed(path, text.encode(), key, allowed_signers(layout))
    with pytest.raises(CorruptData) as refused:
        list(confirmations(tmp_path, allowed_signers(layout)))
    assert said(refused.value) == ("no confirmation of results", str(path), "remove it")


def test_the_largest_log_that_was_seen_is_remembered(layout: Layout, tmp_path: Path) -> None:
    folder, lines = tmp_path / "results", [b"first", b"second"]
    path, by_place = memory_paths(layout, folder, lines)
    assert path.parent.name == by_place.parent.name == "proof" and layout.cache not in path.parents
    assert (len(path.stem), path.suffix) == (len(by_place.stem), by_place.suffix) == (32, ".json")
    # a log is told by its folder's name and its first leaf, whatever follows, and by where it lies
    elsewhere = memory_paths(layout, tmp_path / "other" / "results", lines[:1])
    assert elsewhere[0] == path and elsewhere[1] != by_place
    for others in (lines[1:], []):
        first, second = memory_paths(layout, folder, others)
        assert first != path and second == by_place
    assert path != memory_paths(layout, tmp_path, lines)[0]
    assert path != memory_paths(replace(layout, cache=tmp_path), folder, lines)[0]
    assert [*earlier_logs(layout, folder, lines)] == []
    for size, kept in ((3, 3), (2, 3), (5, 5)):
        remember(layout, folder, lines, made(log={"root": f"{size:064}", "size": size}))
        where = f"verified here on 2026-01-01T00:00:00Z: {path}"
        assert [*earlier_logs(layout, folder, lines)] == [EarlierLog(kept, f"{kept:064}", where)]
    remember(layout, folder, lines, made(log={"root": ROOT, "size": 5}))
    assert json.loads(path.read_bytes())["root"] == f"{5:064}"
    # whoever took the first leaf away, or the whole log
    for others in (lines[1:], []):
        assert [one.where for one in earlier_logs(layout, folder, others)] == [
            where.replace(str(path), str(by_place))
        ]
        assert was_signed(layout, folder, others) == str(by_place)
    assert was_signed(layout, folder, lines) == str(path)
    assert was_signed(layout, tmp_path / "new", []) == ""


def test_a_statement_that_another_came_after_is_never_the_newest_again(layout: Layout, tmp_path: Path) -> None:
    folder, lines = tmp_path / "results", [b"first"]
    previous = {"size": 3, "root": ROOT, "consistency": []}
    first = made(log={"root": ROOT, "size": 3, "previous": None})
    second = made(log={"root": ROOT, "size": 3, "previous": {**previous, "statement": first.sha256}})
    third = made(log={"root": ROOT, "size": 3, "previous": {**previous, "statement": second.sha256}})
    remember(layout, folder, lines, first)
    for newest, older in ((second, [first]), (third, [first, second])):
        # the log is the same, and what came before is noted all the same
        remember(layout, folder, lines, newest)
        known = [*earlier_logs(layout, folder, lines)]
        assert [one.replaced for one in known] == [frozenset(one.sha256 for one in older)]
        assert first_after(known, newest) is None
        assert [first_after(known, one) for one in older] == known * len(older)
    # who verifies a shorter log later forgets neither the longer nor what it knew
    remember(layout, folder, lines, made(log={"root": "0" * 64, "size": 2, "previous": None}))
    (one,) = earlier_logs(layout, folder, lines)
    assert (one.size, one.root, len(one.replaced)) == (3, ROOT, 2)
    # each place tells what it knows, though both are about one log: with another cache one alone was told
    fourth = made(log={"root": ROOT, "size": 3, "previous": {**previous, "statement": third.sha256}})
    remember(replace(layout, cache=tmp_path / "other cache"), folder, lines, fourth)
    by_leaf, by_place = earlier_logs(layout, folder, lines)
    assert (by_leaf.replaced, by_place.replaced) == (one.replaced, one.replaced | {third.sha256})
    assert first_after([by_leaf, by_place], third) is by_place


@pytest.mark.parametrize(
    "note",
    [
        "{}",
        '{"size": "many", "root": "0", "at": ""}',
        '{"size": null, "root": "0", "at": ""}',
        '{"size": 1e400, "root": "0", "at": ""}',
        '{"size": 1, "root": "0", "at": "", "replaced": 1}',
    ],
)
def test_a_note_that_is_none_of_ours_is_named(layout: Layout, tmp_path: Path, note: str) -> None:
    """It is not the statement that is broken, and no fault of the harness."""
    lines = [b"first"]
    path, _ = memory_paths(layout, tmp_path, lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(note)
    for look in (
        lambda: [*earlier_logs(layout, tmp_path, lines)],
        lambda: remember(layout, tmp_path, lines, made(log={"root": ROOT, "size": 5})),
    ):
        with pytest.raises(CorruptData, match="the note of a log that was verified here") as told:
            look()
        assert told.value.where == str(path)
        assert told.value.todo == "look who changed it, then remove it: what it knew of this log is lost"


def test_where_no_note_can_be_kept_nothing_fails_and_it_is_said(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("harness.proof.history.state_folder", lambda: Path("/dev/null"))
    remember(layout, tmp_path, [b"first"], made(log={"root": ROOT, "size": 5}))
    assert [*earlier_logs(layout, tmp_path, [b"first"])] == []
    told = "this log can't be noted, so that an older one will not be told apart: "
    assert [text.startswith(told) for text in caplog.messages] == [True, True]


def git_in(root: Path, *words: str) -> str:
    """What git answers there."""
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(root), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_commits_tell_every_statement_that_there_was(layout: Layout) -> None:
    folder = layout.root / "results"
    folder.mkdir()

    git = partial(git_in, layout.root)
    assert git_state(layout) == {"commit": "", "tree": ""}
    git("init", "-q")
    commits = []
    for size in (1, 0, 2):
        text = statement_text(content_of(log={"root": ROOT, "size": size})) if size else b"nothing of ours"
        (folder / STATEMENT).write_bytes(text)
        git("add", "results")
        git("commit", "-qm", "one")
        commits.append(git("rev-parse", "HEAD"))
    assert [*earlier_logs(layout, folder, [])] == [
        EarlierLog(2, ROOT, f"commit {commits[2][:12]}"),
        EarlierLog(1, ROOT, f"commit {commits[0][:12]}"),
    ]
    assert git_state(layout) == {"commit": commits[2], "tree": git("rev-parse", "HEAD^{tree}")}
    # no commit knows a folder outside
    assert [*earlier_logs(layout, layout.root.parent, [])] == []


def test_the_commits_tell_of_a_folder_that_is_reached_by_a_link(layout: Layout) -> None:
    folder = layout.root / "results"
    folder.mkdir()
    (folder / STATEMENT).write_bytes(statement_text(content_of()))
    sig_path(folder / STATEMENT).write_text("signed\n")
    git = partial(git_in, layout.root)
    git("init", "-q")
    git("add", "results")
    git("commit", "-qm", "one")
    link = layout.root.parent / "link"
    link.symlink_to(folder)
    where = f"commit {git('rev-parse', 'HEAD')[:12]}"
    assert [*earlier_logs(layout, link, [])] == [EarlierLog(3, ROOT, where)]
    assert was_signed(layout, link, []) == where


def without_parents(root: Path, commit: str) -> None:
    """Let git's graph of commits, which is believed before the commits themselves, say that one is the first."""
    path = root / ".git" / "objects" / "info" / "commit-graph"
    graph = bytearray(path.read_bytes())
    places = {graph[at : at + 4].decode(): graph[at + 4 : at + 12] for at in range(8, 8 + 12 * graph[6], 12)}
    fan, names, facts = (int.from_bytes(places[name]) for name in ("OIDF", "OIDL", "CDAT"))
    count = int.from_bytes(graph[fan + 1020 : fan + 1024])
    number = [graph[names + 20 * one :][:20].hex() for one in range(count)].index(commit)
    graph[facts + 36 * number + 20 : facts + 36 * number + 28] = bytes.fromhex("70000000" * 2)
    graph[-20:] = hashlib.sha1(graph[:-20], usedforsecurity=False).digest()
    path.chmod(0o644)
    path.write_bytes(graph)


@pytest.mark.parametrize(
    ("way", "is_hidden"),
    [
        ("a merge that keeps the old", False),
        ("a merge that brings it", False),
        ("a merge, and a setting", False),
        ("a graft", False),
        ("a graph of commits", False),
        ("files that lie elsewhere", False),
        ("a cut", True),
        ("a commit that is gone", True),
        ("a text that is gone", True),
    ],
)
def test_a_history_that_hides_a_statement_is_seen_through_or_known_to_be_cut(
    layout: Layout, way: str, is_hidden: bool
) -> None:
    """By itself git follows the parent of a merge that has the file as it is, and believes what lies beside it."""
    folder = layout.root / "results"
    folder.mkdir()

    git = partial(git_in, layout.root)

    def commit(size: int) -> str:
        (folder / STATEMENT).write_bytes(statement_text(content_of(log={"root": ROOT, "size": size})))
        signature = sig_path(folder / STATEMENT)
        signature.unlink(missing_ok=True)
        if size == 2:
            signature.write_text("signed\n")
        git("add", "results")
        git("commit", "-qm", "one", "--allow-empty")
        return git("rev-parse", "HEAD")

    git("init", "-q", "-b", "main")
    old = commit(1)
    if way == "a merge that brings it":
        git("checkout", "-q", "-b", "other")
        git("commit", "-qm", "elsewhere", "--allow-empty")
        git("checkout", "-q", "main")
        git("merge", "-q", "--no-ff", "--no-commit", "other")
    new = commit(2)
    if way in ("a merge that keeps the old", "a merge, and a setting"):
        git("checkout", "-q", "-b", "other", old)
        git("commit", "-qm", "elsewhere", "--allow-empty")
        git("merge", "-q", "-s", "ours", "-m", "merged", new)
        if way == "a merge, and a setting":
            git("config", "log.diffMerges", "off")
    elif way == "a merge that brings it":
        commit(1)
    else:
        last = commit(1)
        (layout.root / ".git" / "info").mkdir(exist_ok=True)
        if way in ("a cut", "a graft"):
            (layout.root / ".git" / ("shallow" if way == "a cut" else "info/grafts")).write_text(f"{last}\n")
        elif way == "a graph of commits":
            git("commit-graph", "write", "--reachable")
            without_parents(layout.root, last)
            assert git("log", "--format=%H") == last
        elif way == "files that lie elsewhere":
            git("config", "core.worktree", str(layout.root.parent))
        else:
            name = new if way == "a commit that is gone" else git("rev-parse", f"{new}:results/{STATEMENT}")
            (layout.root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    assert is_cut(layout, folder) is is_hidden
    known = {one.size for one in earlier_logs(layout, folder, [])}
    assert (known == {1, 2}) is not is_hidden
    is_left = way == "a text that is gone"
    assert bool(was_signed(layout, folder, [])) is (is_left or not is_hidden)
    # what no commit has is not cut
    assert not is_cut(layout, layout.root / "elsewhere") and not is_cut(layout, layout.root.parent)


def test_the_first_log_that_this_one_is_not_is_found() -> None:
    hashes = [leaf_hash(bytes([number])) for number in range(3)]
    roots = {size: root.hex() for size, root in roots_at(hashes, {1, 2, 3}).items()}
    known = [EarlierLog(size, roots[size], "") for size in (1, 2, 3)]
    assert first_other(known, hashes) is None and first_other([], hashes) is None
    other, longer = EarlierLog(2, roots[1], "other"), EarlierLog(4, roots[3], "longer")
    assert first_other([*known, other, longer], hashes) is other
    assert first_other([*known, longer, other], hashes) is longer
