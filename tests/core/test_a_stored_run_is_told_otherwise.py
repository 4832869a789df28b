"""What is said of records, stores and arrivals that can't be read or believed, word for word."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness import benchmarks
from harness.base.errors import CorruptData
from harness.base.files import canonical_json, digest_of, read_json, sha256_of
from harness.base.vocabulary import Verdict
from harness.proof.leaves import Event, Leaf
from harness.proof.log import Log
from harness.results import arrivals, store
from harness.results.arrivals import are_waiting, arrive, settle
from harness.results.records import (
    RECORD_FILE,
    Maker,
    StoredFile,
    checked_content,
    is_fit_to_show,
    parse_record,
    record_digest,
)
from harness.results.store import Store
from tests.core.factories import planned_job, record_of
from tests.core.word_for_word import AGAIN, record_text, said


@pytest.mark.parametrize(
    ("text", "what", "field"),
    [
        (b"{", "a record is cut or not a record", ""),
        (b"{}", "a record is cut or not a record", ""),
        (b"[]", "a record is cut or not a record", ""),
        (b"1", "a record is cut or not a record", ""),
        # the first is what other programs read, and people
        (b'{"verdict":"timeout",' + record_text()[1:], "a record is cut or not a record", ""),
        (record_text().replace(b'"attempts":1', b'"attempts":2'), "a record differs from its own digest", ""),
        (
            record_text(reason=..., zoo=1, area=2),
            "a record has other fields than this version writes",
            ": area, reason, zoo",
        ),
        (record_text(made_by=None, odd=1), "a record has other fields than this version writes", ": odd"),
        (record_text(verdict="fine"), "a record breaks its schema", ": verdict"),
        (record_text(files={"a": {"bytes": 1}}), "a record breaks its schema", ": files.a.sha256"),
        (record_text(files={"../a": {"bytes": 1, "sha256": ""}}), "a record breaks its schema", ": files"),
    ],
)
def test_a_record_that_is_none_is_told_by_file_and_field(text: bytes, what: str, field: str) -> None:
    with pytest.raises(CorruptData) as found:
        parse_record(text, Path("some/record.json"))
    assert found.value.what.partition(": ")[0] == what
    assert said(found.value)[1:] == (f"some/record.json{field}", AGAIN)


def test_the_digest_of_checked_fields_is_that_which_they_were_checked_by(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = checked_content(record_text(), "here")
    assert record_digest(dict(fields)) == fields.digest == digest_of(dict(fields))
    monkeypatch.setattr("harness.results.records.digest_of", lambda _: "computed again")
    assert record_digest(fields) == fields.digest


def test_optional_fields_of_a_record_may_be_there_or_not() -> None:
    for changed in ({}, {"order": "a" * 64}):
        assert checked_content(record_text(**changed), "here")["key"] == planned_job().key


@pytest.mark.parametrize(
    ("name", "is_file"),
    [("a", True), ("a/b", True), ("/a", False), ("a/../b", False), ("..", False), ("", False), (".", False)],
)
def test_files_of_a_record_lie_within_its_run(name: str, is_file: bool) -> None:
    text = record_text(files={name: {"bytes": 1, "sha256": ""}})
    if is_file:
        assert [*parse_record(text, Path()).files] == [name]
        return
    with pytest.raises(CorruptData) as found:
        parse_record(text, Path())
    assert found.value.what == (
        f"a record breaks its schema: Value error, '{name}' is not a file of the run's folder"
    )


def test_a_maker_is_one_line() -> None:
    maker = Maker(
        harness="h" * 64,
        commit="c" * 40,
        scorer="s" * 64,
        processor="A CPU",
        flags=["avx2", "fma"],
        kernel="6.1",
        engine="docker 20",
    )
    line = f"harness {'h' * 12}, commit {'c' * 12}, scorer {'s' * 12}; A CPU (avx2 fma), Linux 6.1, docker 20"
    assert maker.text == line
    changed = maker.model_copy(update={"commit": "c" * 40 + "+"})
    assert changed.text == line.replace("c" * 12, "c" * 12 + "+")
    assert maker.model_copy(update={"commit": ""}).text == line.replace(f", commit {'c' * 12}", "")
    record = record_of(planned_job())
    # a name alone, as an earlier version wrote it, does not tell which processor it was
    assert record.hardware is None and record.model_copy(update={"engine": {"processor": "old"}}).hardware is None
    # the last of hundreds of abilities may be the one that another lacks
    for flags in (["avx2", "fma"], [f"ability {number}" for number in range(300)]):
        made_by = maker.model_copy(update={"flags": flags})
        assert record.model_copy(update={"made_by": made_by}).hardware == ("A CPU", flags)


def test_files_that_a_run_must_have_left_are_named_in_order() -> None:
    record = record_of(planned_job())
    required = [*benchmarks.get("repurposing").required_files]
    assert record.missing_files == ["job.json", "log.txt", "method.json", *required]
    some = {"log.txt": StoredFile(sha256="", bytes=1), required[0]: StoredFile(sha256="", bytes=1)}
    assert record.model_copy(update={"files": some}).missing_files == ["job.json", "method.json", *required[1:]]


@pytest.mark.parametrize("name", benchmarks.names())
def test_the_answer_of_a_run_is_every_file_that_must_come_again(name: str) -> None:
    planned = planned_job()
    planned = planned.model_copy(update={"job": planned.job.model_copy(update={"benchmark": name})})
    compared = benchmarks.get(name).compared_files
    digests = {file: f"{place}" * 64 for place, file in enumerate(compared)}
    beside = {file: "f" * 64 for file in ("job.json", "log.txt", "method.json") if file not in compared}
    stored = {file: StoredFile(sha256=sha256, bytes=1) for file, sha256 in {**beside, **digests}.items()}
    record = record_of(planned).model_copy(update={"files": stored})
    assert record.answer == digests
    # one that it did not leave is none of it
    del stored[compared[-1]], digests[compared[-1]]
    assert record.model_copy(update={"files": stored}).answer == digests


def test_a_reason_may_have_lines_and_nothing_that_a_terminal_obeys() -> None:
    record = record_of(planned_job(), reason="it failed:\nno memory")
    assert is_fit_to_show(record.reason)
    for sign in ("\r", "\t", "\x1b[2J", "\x07", "\u202e", "\x00"):
        assert not is_fit_to_show(f"it failed{sign}")
        with pytest.raises(ValidationError, match="can't be printed"):
            record_of(planned_job(), reason=f"it failed{sign}")


def test_a_run_that_is_not_itself_is_told_with_what_to_do(here: Store, tmp_path: Path) -> None:
    key, other = planned_job().key, planned_job(2).key
    with pytest.raises(CorruptData) as found:
        here.record(other)
    place = here.path(other) / RECORD_FILE
    assert said(found.value) == ("no record: No such file or directory", str(place), "run the job again")
    shutil.copytree(here.path(key), here.path(other))
    with pytest.raises(CorruptData) as found:
        here.record(other)
    moved = ("a record lies under another job's key", str(place), "remove that folder and run again")
    assert said(found.value) == moved
    standing = here.standing(other)
    assert (standing.verdict, standing.content) == (Verdict.INFRASTRUCTURE, {})
    assert standing.reason == f"evidence is damaged: a record lies under another job's key ({place})"
    # its key is right, and its job is another one
    content = {**record_of(planned_job(2)).to_json(), "key": key}
    del content["digest"]
    (here.path(key) / RECORD_FILE).write_bytes(canonical_json({**content, "digest": digest_of(content)}))
    with pytest.raises(CorruptData) as found:
        here.record(key)
    assert found.value.what == moved[0]


def test_files_of_a_run_are_checked_by_name(here: Store) -> None:
    record, path = here.record(planned_job().key), here.path(planned_job().key) / "predictions.npy"
    here.check(record)
    size = path.stat().st_size
    path.write_bytes(b"x" * size)
    with pytest.raises(CorruptData) as found:
        here.check(record)
    assert said(found.value) == (
        "a file of a run differs from its record",
        str(path),
        "remove the run and run again",
    )
    path.write_bytes(b"x" * (size + 1))
    assert here.standing(record.key).reason == (
        f"evidence is damaged: a file of the run was cut or has grown ({path})"
    )
    path.unlink()
    assert here.standing(record.key).reason == f"evidence is damaged: a file of the run is missing ({path})"
    with pytest.raises(CorruptData) as found:
        here.check(record)
    assert said(found.value) == ("a file of a run is missing", str(path), "run the job again")


def test_a_record_that_can_not_be_opened_or_makes_no_sense_is_damaged(here: Store) -> None:
    path = here.path(planned_job().key) / RECORD_FILE
    path.write_bytes(record_text(files=[]))
    broken = f"evidence is damaged: a record breaks its schema ({path})"
    assert here.standing(planned_job().key) == store.StoredRun(Verdict.INFRASTRUCTURE, broken, {})
    path.unlink()
    path.mkdir()
    told = f"evidence is damaged: Is a directory ({path})"
    assert here.standing(planned_job().key) == store.StoredRun(Verdict.INFRASTRUCTURE, told, {})


@pytest.mark.parametrize("planned", [{}, [], 1, {"job": {}}, {"job": 3}, {"job": {"split": {"parameters": []}}}])
def test_a_record_whose_plan_names_no_job_is_damaged(here: Store, planned: object) -> None:
    """No command that asks for verdicts has to ask whether there is a plan."""
    path = here.path(planned_job().key) / RECORD_FILE
    path.write_bytes(record_text(planned=planned))
    broken = f"evidence is damaged: a record breaks its schema ({path})"
    assert here.standing(planned_job().key) == store.StoredRun(Verdict.INFRASTRUCTURE, broken, {})


def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(here: Store) -> None:
    (key,) = here.finished()
    for path in (here.path(key) / RECORD_FILE, here.log.path):
        path.unlink()
        os.mkfifo(path)
    assert here.standing(key).verdict is Verdict.INFRASTRUCTURE
    with pytest.raises(CorruptData, match="a record is cut"):
        here.record(key)
    assert here.log.lines() == []
    claim = here.folder.parent / "work" / "claims" / key
    claim.parent.mkdir(parents=True)
    os.mkfifo(claim)
    with pytest.raises(OSError, match="No such device or address") as refused, here.claim(key):
        pass
    assert refused.value.filename == str(claim)


def test_nobody_waits_for_a_pipe_in_the_place_of_the_lock(here: Store) -> None:
    lock, (key,) = here.folder / ".lock", here.finished()
    lock.unlink(missing_ok=True)
    os.mkfifo(lock)
    with pytest.raises(CorruptData, match="the lock of the store is no file") as refused:
        here.remove(key)
    assert (refused.value.where, refused.value.todo) == (str(lock), "remove it, and try again")
    lock.unlink()
    here.remove(key)
    assert [*here.finished()] == []


@pytest.mark.parametrize("name", [b"\xff", b"\x1b[2J"])
def test_a_folder_that_no_key_can_name_is_no_run(here: Store, name: bytes) -> None:
    """Its name was hashed and printed as a key's, which ended commands with a fault of the harness itself."""
    keys = [*here.finished()]
    (here.folder / "ab" / os.fsdecode(b"ab" + name)).mkdir(parents=True)
    assert [*here.finished()] == keys


def test_what_is_being_made_lies_in_the_folder_of_work(here: Store) -> None:
    assert here._own.is_relative_to(here.folder.parent / "work") and here._own.is_dir()


def test_nobody_changes_a_store_that_is_looked_at(here: Store, tmp_path: Path) -> None:
    lock = here.folder / ".lock"
    with here.undisturbed(), lock.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_UN)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with lock.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    nowhere = Store(tmp_path / "nowhere" / "runs")
    with nowhere.undisturbed():
        pass
    assert not (tmp_path / "nowhere").exists()


def test_a_log_is_open_to_one_alone(here: Store) -> None:
    lock = here.folder / ".lock"
    with here.open_log() as (log, notes), lock.open("rb") as other:
        assert log == here.log and notes == []
        for kind in (fcntl.LOCK_SH, fcntl.LOCK_EX):
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, kind | fcntl.LOCK_NB)


def test_runs_that_are_older_than_the_log_are_told_once(here: Store) -> None:
    path = here.log.path
    path.unlink()
    with here.open_log() as (_, notes):
        assert notes == [f"{path}: 1 run older than the log; it says so of each"]
    (leaf,) = here.log.leaves()
    assert (leaf.kind, leaf.key, leaf.note) == (
        Event.IMPORT,
        planned_job().key,
        "stored before there was a log",
    )
    with here.open_log() as (_, notes):
        assert notes == []


def test_a_key_is_claimed_by_a_file_of_its_own(here: Store) -> None:
    claims = here.folder.parent / "work" / "claims"
    with here.claim("a") as first, here.claim("b") as other, here.claim("a") as second:
        assert (first, other, second) == (True, True, False)
        assert sorted(path.name for path in claims.iterdir()) == ["a", "b"]
    assert [*claims.iterdir()] == []


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EACCES])
def test_files_come_from_another_file_system_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A file can't be renamed across; every other error is one."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("content")
    target.mkdir()
    source.chmod(0o600)

    def fail(*_: object) -> None:
        raise OSError(code, "no")

    monkeypatch.setattr(store, "move", fail)
    if code != errno.EXDEV:
        with pytest.raises(OSError, match="no"):
            store._take({"sub/file": source}, target)
        return
    taken = store._take({"sub/file": source}, target)
    path = target / "sub" / "file"
    assert taken == {"sub/file": StoredFile(sha256=sha256_of(path), bytes=7)} and not source.exists()
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_removed_run_is_in_the_log_and_what_was_not_there_is_not(here: Store) -> None:
    size = here.log.size
    here.remove(planned_job(2).key)
    assert here.log.size == size
    path = here.path(planned_job().key)
    here.remove(path.name)
    leaf = here.log.leaves()[-1]
    assert (leaf.kind, leaf.key) == (Event.REMOVAL, path.name)
    assert leaf.scope == "repurposing: constant/published on synthetic, random-1" and not path.exists()
    # of a damaged one nobody knows what it was
    path.mkdir(parents=True)
    here.remove(path.name)
    assert not path.exists() and here.log.size == size + 1 + 1


def ready_in(tmp_path: Path) -> tuple[Path, Log]:
    ready, log = tmp_path / "ready", Log(tmp_path / "local")
    ready.mkdir()
    log.folder.mkdir(exist_ok=True)
    return ready, log


def leaf_of(note: str) -> bytes:
    return Leaf(Event.PLAN, "2026-01-01T00:00:00Z", note).line


def test_what_arrives_waits_until_it_is_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready, log = ready_in(tmp_path)
    log.append_lines([leaf_of("before")])
    assert not are_waiting(log) and settle(log) == ""
    (ready / "runs" / "aa" / "aab").mkdir(parents=True)
    (ready / "runs" / "aa" / "aab" / "file").write_text("new")
    (ready / "scores" / "aa").mkdir(parents=True)
    (ready / "scores" / "aa" / "aab.json").write_text("{}")
    (log.folder / "runs" / "aa" / "aab").mkdir(parents=True)
    (log.folder / "runs" / "aa" / "aab" / "file").write_text("old")
    arrive(ready, log, [leaf_of("one"), leaf_of("two")])
    assert are_waiting(log) and not ready.exists()
    events = json.loads((log.folder / "arrived" / "events.json").read_text())
    assert events == {"size": 1, "lines": [leaf_of("one").decode(), leaf_of("two").decode()]}
    limits: list[int] = []
    really = read_json

    def read(path: Path, *, most_bytes: int = 0) -> Any:
        limits.append(most_bytes)
        return really(path)

    monkeypatch.setattr(arrivals, "read_json", read)
    assert settle(log) == (
        f"{log.path}: a merge was killed before all that had arrived was in its place; it is now"
    )
    assert limits == [1 << 32], "a million leaves are larger than any other file"
    assert log.lines() == [leaf_of("before"), leaf_of("one"), leaf_of("two")] and not are_waiting(log)
    assert (log.folder / "runs" / "aa" / "aab" / "file").read_text() == "new"
    assert (log.folder / "scores" / "aa" / "aab.json").read_text() == "{}"
    assert sorted(path.name for path in log.folder.iterdir()) == ["log.jsonl", "runs", "scores"]


def test_each_step_of_an_arrival_is_on_the_disk_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a power cut leaves all of it or none, as a kill does."""
    ready, log = ready_in(tmp_path)
    for place in ("runs/aa/aab", "runs/bb/bbc", "scores/aa"):
        (ready / place).mkdir(parents=True)
    (ready / "scores" / "aa" / "aab.json").write_text("{}")
    synced: list[Any] = []
    monkeypatch.setattr(arrivals, "sync_folder", synced.append)
    arrive(ready, log, [leaf_of("one")])
    assert synced == [log.folder] and are_waiting(log)
    synced.clear()
    monkeypatch.setattr(Log, "append_lines", lambda _, lines: synced.append(lines))
    settle(log)
    folders = [log.folder / place for place in ("runs/aa", "runs/bb", "scores/aa")]
    assert synced == [*folders, [leaf_of("one")], log.folder / "arrived"]


def test_events_enter_once_however_many_had_entered(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        ready, log = ready_in(tmp_path / str(number))
        arrive(ready, log, [leaf_of("one"), leaf_of("two")])
        log.append_lines([leaf_of("one"), leaf_of("two")][:number])
        settle(log)
        assert log.lines() == [leaf_of("one"), leaf_of("two")]


def test_an_arrival_beside_other_events_is_refused(tmp_path: Path) -> None:
    ready, log = ready_in(tmp_path)
    log.append_lines([leaf_of("before")])
    arrive(ready, log, [leaf_of("one")])
    log.append_lines([leaf_of("another")])
    with pytest.raises(CorruptData) as found:
        settle(log)
    assert said(found.value) == (
        "the log has grown since the runs arrived that a merge brought",
        f"{log.path}: line 2; {log.folder / 'arrived'}",
        "two harnesses that don't see each other's locks used this folder: restore the log, or move that folder "
        "away and merge again",
    )


def test_arrivals_whose_events_are_in_the_log_need_only_be_cleared(tmp_path: Path) -> None:
    _, log = ready_in(tmp_path)
    (log.folder / "arrived").mkdir()
    assert "it is now" in settle(log) and not are_waiting(log) and log.lines() == []
