"""The store never shows a run that is not whole, and never loses one that is."""

from __future__ import annotations

import fcntl
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import benchmarks as benchmark
from harness.base.errors import CorruptData
from harness.base.files import digest_of, sha256_of, sync_folder
from harness.base.vocabulary import Verdict
from harness.results.records import RECORD_FILE, Record, StoredFile, parse_record
from harness.results.store import Store
from tests.core.factories import planned_job, put_run, record_of

# How a run can end, and those ends that a repetition would only repeat.
FINAL = (Verdict.OK, Verdict.ERROR, Verdict.MEMORY, Verdict.TIMEOUT, Verdict.INVALID, Verdict.UNSTABLE)
VERDICTS = (*FINAL, Verdict.INFRASTRUCTURE, Verdict.INTERRUPTED)


def test_a_stored_run_comes_back_whole(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    record = store.record(planned.key)
    store.check(record)
    assert record.planned == planned
    assert sorted(record.files) == ["log.txt", "predictions.npy"]
    assert store.standing(planned.key).verdict is Verdict.OK
    assert list(store.finished()) == [planned.key]


def test_a_standing_tells_what_the_record_says_of_the_run(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work", Verdict.TIMEOUT)
    standing = store.standing(planned.key)
    written = json.loads((store.path(planned.key) / RECORD_FILE).read_text())
    del written["digest"]
    assert (standing.verdict, standing.reason) == (Verdict.TIMEOUT, Verdict.TIMEOUT.meaning)
    assert standing.content == written == json.loads(store.record(planned.key).model_dump_json())


def test_a_key_without_a_run_is_pending(tmp_path: Path) -> None:
    assert Store(tmp_path).standing(planned_job().key).verdict is Verdict.PENDING


@pytest.mark.parametrize("keep", [0, 1, 40, -2])
def test_a_truncated_record_is_not_a_result(tmp_path: Path, keep: int) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / RECORD_FILE
    path.write_bytes(path.read_bytes()[:keep])
    standing = store.standing(planned.key)
    assert standing.verdict is Verdict.INFRASTRUCTURE
    assert str(path) in standing.reason
    with pytest.raises(CorruptData):
        store.record(planned.key)


@pytest.mark.parametrize("digest", ["", None, 0, False, "0" * 64, [], {}])
def test_a_record_is_vouched_for_by_its_own_digest_and_no_other(tmp_path: Path, digest: object) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / RECORD_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "digest": digest}))
    standing = store.standing(planned.key)
    assert standing.verdict is Verdict.INFRASTRUCTURE and "its own digest" in standing.reason
    with pytest.raises(CorruptData, match="its own digest"):
        store.record(planned.key)


def test_every_field_of_a_record_is_under_its_digest(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / RECORD_FILE
    honest = json.loads(path.read_text())
    for field in honest.keys() - {"digest"}:
        path.write_text(json.dumps({**honest, field: "another"}))
        assert "its own digest" in store.standing(planned.key).reason, field
        path.write_text(json.dumps({name: value for name, value in honest.items() if name != field}))
        assert "its own digest" in store.standing(planned.key).reason, field


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"/etc/passwd": {"sha256": "0" * 64, "bytes": 1}}},
        {"files": {"../other/log.txt": {"sha256": "0" * 64, "bytes": 1}}},
        {"files": {"trace/../../log.txt": {"sha256": "0" * 64, "bytes": 1}}},
        {"files": {"": {"sha256": "0" * 64, "bytes": 1}}},
        {"files": {"log.txt": {"sha256": "0" * 64, "bytes": 1, "owner": "me"}}},
        {"files": {"log.txt": {"sha256": "0" * 64}}},
        {"verdict": "splendid"},
        {"attempts": "many"},
        {"limits": {"seconds": "long"}},
        {"reason": "killed\x1b[2J"},
        {"reason": "killed\rok"},
        {"reason": "\u202eko"},
        {"planned": {}},
    ],
    ids=str,
)
def test_a_record_that_breaks_its_schema_is_refused_by_field(tmp_path: Path, change: dict[str, Any]) -> None:
    content = {**json.loads(record_of(planned_job()).model_dump_json()), **change}
    text = json.dumps({**content, "digest": digest_of(content)}).encode()
    with pytest.raises(CorruptData, match="breaks its schema") as refused:
        parse_record(text, tmp_path / "record.json")
    assert f"record.json: {next(iter(change))}" in refused.value.where and refused.value.todo


@pytest.mark.parametrize(
    "change",
    [
        {"files": []},
        {"files": {"log.txt": 5}},
        {"files": {"log.txt": {}}},
        {"files": "log.txt"},
        {"files": {"log.txt": {"bytes": 7}}},
        {"files": {"log.txt": {"bytes": 7, "sha256": 7}}},
        {"verdict": "splendid"},
        {"verdict": None},
        {"reason": {}},
        {"reason": 7},
        # what a terminal would obey is no reason that a harness wrote
        {"reason": "killed\x1b[2J"},
        {"reason": "killed\rok"},
        {"reason": "\u202eko"},
        {"resources": 1.5},
    ],
    ids=str,
)
def test_a_forged_record_without_sense_is_damaged_and_no_crash(tmp_path: Path, change: dict[str, Any]) -> None:
    """Its digest is right, and its fields are those of a record: what they hold is not."""
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / RECORD_FILE
    content = {**json.loads(path.read_text()), **change}
    del content["digest"]
    path.write_text(json.dumps({**content, "digest": digest_of(content)}))
    standing = store.standing(planned.key)
    assert standing.verdict is Verdict.INFRASTRUCTURE and standing.content == {}
    assert standing.reason == f"evidence is damaged: a record breaks its schema ({path})"


def test_a_run_is_on_the_disk_before_it_is_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut after `put` loses nothing: every file and every folder on the way was synced."""
    store, synced, folders = Store(tmp_path / "runs"), set[int](), set[str]()
    fsync = os.fsync

    def remembered(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        fsync(handle)

    def folder_too(folder: Path) -> None:
        folders.add(folder.name)
        sync_folder(folder)

    monkeypatch.setattr(os, "fsync", remembered)
    monkeypatch.setattr("harness.results.store.sync_folder", folder_too)
    record = put_files(store, tmp_path / "work")
    folder = store.path(record.key)
    assert {(folder / name).stat().st_ino for name in (*FILES, RECORD_FILE)} <= synced
    assert {"trace", folder.parent.name} <= folders and any(name.startswith("making-") for name in folders)


def test_files_of_folders_within_the_run_are_its_files(tmp_path: Path) -> None:
    files = {"trace/deep/W..npy": StoredFile(sha256="0" * 64, bytes=1)}
    record = record_of(planned_job()).model_copy(update={"files": files})
    text = json.dumps(record.to_json()).encode()
    assert parse_record(text, tmp_path / "record.json") == record


def test_a_record_whose_job_gives_another_key_is_refused(tmp_path: Path) -> None:
    """Its name and its digest are right: only the key that is computed from its job tells."""
    store, planned = Store(tmp_path / "runs"), planned_job()
    record = put_run(store, planned, tmp_path / "work")
    store.amend(record.model_copy(update={"planned": planned_job(2)}))
    with pytest.raises(CorruptData, match="another job's key"):
        store.record(planned.key)


@pytest.mark.parametrize("key", [planned_job(2).key, ""], ids=["another", "none"])
def test_a_record_that_names_another_key_is_no_standing(tmp_path: Path, key: str) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    record = put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / RECORD_FILE
    path.write_text(json.dumps(record.model_copy(update={"key": key}).to_json()))
    standing = store.standing(planned.key)
    assert standing.verdict is Verdict.INFRASTRUCTURE and "another job's key" in standing.reason
    with pytest.raises(CorruptData, match="another job's key"):
        store.record(planned.key)


def test_a_record_that_can_not_be_opened_is_not_called_pending(tmp_path: Path) -> None:
    """Pending would run the job again, and hide that something lies in its place."""
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / RECORD_FILE
    path.unlink()
    path.mkdir()
    standing = store.standing(planned.key)
    assert standing.verdict is Verdict.INFRASTRUCTURE and str(path) in standing.reason
    with pytest.raises(CorruptData, match="no record"):
        store.record(planned.key)


@pytest.mark.parametrize(
    ("field", "value"), [("verdict", "error"), ("reason", "?"), ("attempts", 2), ("key", "0" * 64)]
)
def test_a_changed_record_is_not_a_result(tmp_path: Path, field: str, value: object) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / RECORD_FILE
    content = json.loads(path.read_text())
    content[field] = value
    path.write_text(json.dumps(content))
    assert store.standing(planned.key).verdict is Verdict.INFRASTRUCTURE


def test_a_record_moved_to_another_key_is_not_its_result(tmp_path: Path) -> None:
    store, one, other = Store(tmp_path / "runs"), planned_job(1), planned_job(2)
    put_run(store, one, tmp_path / "work")
    store.path(other.key).parent.mkdir(parents=True, exist_ok=True)
    store.path(one.key).rename(store.path(other.key))
    assert store.standing(other.key).verdict is Verdict.INFRASTRUCTURE
    with pytest.raises(CorruptData, match="another job's key"):
        store.record(other.key)


def test_a_run_is_one_in_its_own_place_alone(tmp_path: Path) -> None:
    """A copy of it on another shelf is none, for who lists all runs as for who reads one."""
    store, planned = Store(tmp_path / "runs"), planned_job(1)
    put_run(store, planned, tmp_path / "work")
    other = "00" if planned.key[:2] != "00" else "11"
    shutil.copytree(store.path(planned.key), store.folder / other / planned.key)
    assert [*store.finished()] == [planned.key]


def test_a_truncated_or_missing_prediction_is_not_a_result(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    predictions = store.path(planned.key) / "predictions.npy"
    predictions.write_bytes(b"cut")
    assert "cut or has grown" in store.standing(planned.key).reason
    predictions.unlink()
    assert store.standing(planned.key).verdict is Verdict.INFRASTRUCTURE


@pytest.mark.parametrize("change", [-1, 1, 4096])
@pytest.mark.parametrize("name", ["log.txt", "predictions.npy"])
def test_a_file_that_was_cut_or_has_grown_is_not_a_result(tmp_path: Path, name: str, change: int) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / name
    content = path.read_bytes()
    path.write_bytes(content[:change] if change < 0 else content + bytes(change))
    standing = store.standing(planned.key)
    assert standing.verdict is Verdict.INFRASTRUCTURE and standing.content == {}
    assert "cut or has grown" in standing.reason and str(path) in standing.reason


FILES = ("job.json", "log.txt", "lowest.npy", "method.json", "predictions.npy", "trace/W.npy", "validation.npy")


def put_files(store: Store, folder: Path) -> Record:
    """A run with every file that a container may leave."""
    folder.mkdir()
    files = {}
    for name in FILES:
        files[name] = folder / name.replace("/", "-")
        files[name].write_text(f"what {name} says")
        files[name].chmod(0o600)
    return store.put(record_of(planned_job()), files)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_of_equal_size_is_found_when_hashed(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path / "runs")
    record = put_files(store, tmp_path / "work")
    store.check(record)
    path = store.path(record.key) / name
    path.write_text(path.read_text().replace("says", "Says"))
    with pytest.raises(CorruptData, match="differs from its record") as refused:
        store.check(record)
    assert refused.value.where == str(path)
    path.unlink()
    with pytest.raises(CorruptData, match="is missing") as refused:
        store.check(record)
    assert refused.value.where == str(path)


def test_a_record_names_every_file_by_its_content_and_anybody_may_read_them(tmp_path: Path) -> None:
    """The user of a container is not the one who reads its results."""
    store = Store(tmp_path / "runs")
    record = put_files(store, tmp_path / "work")
    assert store.record(record.key) == record
    folder = store.path(record.key)
    assert {name: (one.sha256, one.bytes) for name, one in record.files.items()} == {
        name: (hashlib.sha256(f"what {name} says".encode()).hexdigest(), len(f"what {name} says"))
        for name in FILES
    }
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == {
        *FILES,
        RECORD_FILE,
    }
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in FILES} == {0o644}


def test_only_the_store_itself_is_left_behind(tmp_path: Path) -> None:
    """Drafts, graves and runs that came second are gone."""
    store, planned = Store(tmp_path / "runs"), planned_job()
    record = put_run(store, planned, tmp_path / "one", Verdict.INTERRUPTED)
    put_run(store, planned, tmp_path / "two")
    put_run(store, planned, tmp_path / "three", Verdict.ERROR)
    store.amend(store.record(planned.key).model_copy(update={"verdict": Verdict.UNSTABLE}))
    store.remove(record.key)
    assert [path for path in (tmp_path / "work").glob("*/*") if path.name != "owner.lock"] == []


def test_what_is_no_run_is_not_taken_for_one(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    assert list(store.finished()) == []
    put_run(store, planned, tmp_path / "work")
    other = planned_job(2).key
    for name in (".obstacles/method", ".obstacles/x", "abc/abcdef", f"{planned.key[:2]}/.{other}"):
        (store.folder / name).mkdir(parents=True)
    (store.folder / "ab").write_text("a file")
    assert list(store.finished()) == [planned.key]


def test_finished_runs_come_in_the_order_of_their_keys(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    for seed in range(12):
        put_run(store, planned_job(seed), tmp_path / str(seed))
    assert list(store.finished()) == sorted(planned_job(seed).key for seed in range(12))
    standings = [store.standing(planned_job(seed).key) for seed in (3, 99)]
    assert [one.verdict for one in standings] == [Verdict.OK, Verdict.PENDING]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("stored", VERDICTS)
def test_what_is_stored_gives_way_to_what_counts_for_more(tmp_path: Path, stored: Verdict, again: bool) -> None:
    """Final: of the method's own doing, so that nothing is gained by repeating it."""
    for number, new in enumerate((Verdict.OK, Verdict.TIMEOUT, Verdict.INTERRUPTED)):
        store, planned = Store(tmp_path / str(number) / "runs"), planned_job()
        put_run(store, planned, tmp_path / str(number) / "one", stored)
        after = put_run(store, planned, tmp_path / str(number) / "two", new, again=again)
        gives_way = stored not in FINAL or (again and new in FINAL)
        assert after.verdict is store.standing(planned.key).verdict is (new if gives_way else stored), new


def test_a_second_harness_finishing_the_same_job_changes_nothing(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one")
    before = (store.path(planned.key) / RECORD_FILE).read_bytes()
    put_run(store, planned, tmp_path / "two", Verdict.ERROR)
    assert (store.path(planned.key) / RECORD_FILE).read_bytes() == before
    assert [path.name for path in store.path(planned.key).parent.iterdir()] == [planned.key]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\ud800", "digest": "x"}',
        '{"a": NaN, "digest": "x"}',
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + ', "digest": "x"}',
        '["digest"]',
        "\x00",
    ],
    ids=["half a sign", "not a number", "deep", "no record", "no text"],
)
def test_odd_json_is_a_damaged_record_and_no_crash(tmp_path: Path, text: str) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    (store.path(planned.key) / RECORD_FILE).write_text(text)
    assert store.standing(planned.key).verdict is Verdict.INFRASTRUCTURE
    with pytest.raises(CorruptData):
        store.record(planned.key)


def test_a_record_of_another_version_is_no_result_until_it_can_be_read(tmp_path: Path) -> None:
    """Whole and with a right digest, but with a field nobody here knows: what it means can't be told."""
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / RECORD_FILE
    content = {**json.loads(path.read_text()), "doubts": "many"}
    del content["digest"]
    path.write_text(json.dumps({**content, "digest": digest_of(content)}))
    standing = store.standing(planned.key)
    assert standing.verdict is Verdict.INFRASTRUCTURE and "doubts" in standing.reason
    with pytest.raises(CorruptData, match="other fields"):
        store.record(planned.key)


@pytest.mark.parametrize("verdict", [Verdict.INFRASTRUCTURE, Verdict.INTERRUPTED])
def test_a_run_wanted_again_is_kept_until_there_is_another(tmp_path: Path, verdict: Verdict) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one")
    stored = put_run(store, planned, tmp_path / "two", verdict, again=True)
    assert stored.verdict is store.standing(planned.key).verdict is Verdict.OK
    stored = put_run(store, planned, tmp_path / "three", Verdict.TIMEOUT, again=True)
    assert stored.verdict is store.standing(planned.key).verdict is Verdict.TIMEOUT
    store.check(store.record(planned.key))


def _put_many(folder: Path, work: Path, verdict: Verdict, rounds: int) -> None:
    store = Store(folder)
    for number in range(rounds):
        for seed in range(20):
            put_run(store, planned_job(seed), work / f"{number}-{seed}", verdict)


def test_a_failure_of_one_harness_never_replaces_the_result_of_another(tmp_path: Path) -> None:
    """Both find an interrupted run in the way; whoever is slower must not take the other's result for it."""
    context = multiprocessing.get_context("spawn")
    runs = tmp_path / "runs"
    _put_many(runs, tmp_path / "before", Verdict.INTERRUPTED, 1)
    many = [(Verdict.INTERRUPTED, 20), (Verdict.INFRASTRUCTURE, 20), (Verdict.OK, 1)]
    harnesses = [
        context.Process(target=_put_many, args=(runs, tmp_path / str(verdict), verdict, rounds))
        for verdict, rounds in many
    ]
    for one in harnesses:
        one.start()
    for one in harnesses:
        one.join()
    assert [one.exitcode for one in harnesses] == [0, 0, 0]
    store = Store(runs)
    assert [store.standing(planned_job(seed).key).verdict for seed in range(20)] == [Verdict.OK] * 20


def test_a_result_that_comes_while_another_is_stored_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "before", Verdict.INTERRUPTED)
    log = tmp_path / "log.txt"
    log.write_text("late\n")

    def meanwhile(path: Path) -> str:
        monkeypatch.undo()
        put_run(store, planned, tmp_path / "other")
        return sha256_of(path)

    monkeypatch.setattr("harness.results.store.sha256_of", meanwhile)
    stored = store.put(record_of(planned, Verdict.INFRASTRUCTURE), {"log.txt": log})
    assert stored.verdict is store.standing(planned.key).verdict is Verdict.OK


@pytest.mark.parametrize("verdict", [Verdict.INFRASTRUCTURE, Verdict.INTERRUPTED])
def test_a_run_that_was_not_the_methods_fault_is_replaced(tmp_path: Path, verdict: Verdict) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one", verdict)
    put_run(store, planned, tmp_path / "two", Verdict.OK)
    assert store.standing(planned.key).verdict is Verdict.OK


def scores_beside(store: Store, key: str) -> Path:
    """Scores that were kept of a run."""
    path = store.folder.parent / "scores" / key[:2] / f"{key}.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    return path


def test_a_run_that_replaces_another_has_none_of_its_scores(tmp_path: Path) -> None:
    store, planned, other = Store(tmp_path / "runs"), planned_job(), planned_job(2)
    put_run(store, planned, tmp_path / "one")
    put_run(store, other, tmp_path / "other")
    kept, others = (scores_beside(store, one.key) for one in (planned, other))
    put_run(store, planned, tmp_path / "two")
    assert kept.exists(), "what stays keeps its own"
    put_run(store, planned, tmp_path / "three", Verdict.ERROR, again=True)
    assert not kept.exists() and others.exists()


def test_removing_a_run_leaves_nothing(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    scores = scores_beside(store, planned.key)
    store.remove(planned.key)
    store.remove(planned.key)
    assert not scores.exists(), "another run with the same answer would get them"
    assert store.standing(planned.key).verdict is Verdict.PENDING
    assert list(store.finished()) == []


def test_an_amended_verdict_keeps_its_evidence(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    record = put_run(store, planned, tmp_path / "work")
    store.amend(record.model_copy(update={"verdict": Verdict.UNSTABLE, "reason": "a repeat differed"}))
    assert store.standing(planned.key).verdict is Verdict.UNSTABLE
    store.check(store.record(planned.key))


def _store_forever(folder: Path, work: Path) -> None:
    store = Store(folder)
    for seed in range(10_000):
        put_run(store, planned_job(seed), work / str(seed))


def test_killing_the_writer_at_any_moment_leaves_only_whole_runs(tmp_path: Path) -> None:
    """Kill -9 at twenty random moments; whatever is visible is whole, and its log tells of it and nothing else."""
    moments, whole = random.Random(20), 0
    # one process imports everything, once, and each writer is a copy of it
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    for attempt in range(20):
        folder = tmp_path / str(attempt)
        process = context.Process(target=_store_forever, args=(folder / "runs", folder / "work"))
        process.start()
        deadline = time.monotonic() + 10
        while not (folder / "runs").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.3))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        store = Store(folder / "runs")
        for key in store.finished():
            store.check(store.record(key))
            assert store.standing(key).verdict is Verdict.OK
        with store.open_log() as (log, _):
            assert {leaf.key for leaf in log.leaves()} == {*store.finished()}
            assert log.size == len({*store.finished()})
        whole += len(list(store.finished()))
    assert whole > 20, "the writer was killed before it had written anything to lose"


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harness.results.store.write_json", full)
    with pytest.raises(OSError, match="No space"):
        put_run(store, planned, tmp_path / "work")
    assert store.standing(planned.key).verdict is Verdict.PENDING
    assert [path.name for path in (tmp_path / "runs").rglob("*") if path.is_file()] == [".lock"]
    assert [path for path in (tmp_path / "work").rglob("*") if path.name in ("log.txt", "predictions.npy")] == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("free", [0, 4096, 8192, 16384, 65536])
def test_a_disk_that_is_full_for_real_leaves_nothing_half_written(
    tmp_path: Path, small_disk: Path, free: int
) -> None:
    """The same store goes on once there is room."""
    store, planned = Store(small_disk / "runs"), planned_job()
    put_run(store, planned_job(2), tmp_path / "before")
    (tmp_path / "trace.npy").write_bytes(bytes(100_000))
    (small_disk / "filler").write_bytes(b"")
    room = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    (small_disk / "filler").write_bytes(bytes(max(0, room - free)))
    with pytest.raises(OSError, match="No space"):
        store.put(record_of(planned), {"trace.npy": tmp_path / "trace.npy"})
    assert store.standing(planned.key).verdict is Verdict.PENDING
    assert list(store.finished()) == [planned_job(2).key]
    assert [path for path in (small_disk / "work").rglob("*") if path.suffix in (".npy", ".json")] == []
    (small_disk / "filler").unlink()
    put_run(store, planned, tmp_path / "after")
    for key in store.finished():
        store.check(store.record(key))


def test_verdicts_mean_what_resuming_and_exit_codes_take_them_for() -> None:
    assert {verdict for verdict in Verdict if verdict.is_final} == set(FINAL)
    assert {verdict for verdict in Verdict if verdict.is_good} == {Verdict.OK, Verdict.NOT_APPLICABLE}
    assert len({verdict.meaning for verdict in Verdict}) == len(Verdict) == 11


def test_a_key_changes_with_the_way_inputs_are_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    before = planned_job().key
    monkeypatch.setattr(benchmark.get("repurposing"), "inputs_version", 2)
    assert planned_job().key != before


def test_keys_change_with_everything_that_can_change_an_answer() -> None:
    base = planned_job()
    others = [
        base.model_copy(update={"image_tree": "5" * 64}),
        base.model_copy(update={"dataset_digest": "5" * 64}),
        base.model_copy(update={"split_digest": "5" * 64}),
        base.model_copy(update={"weights_digest": "5" * 64}),
        *(
            base.model_copy(update={"job": base.job.model_copy(update=change)})
            for change in (
                {"method": "bnnr"},
                {"variant": "corrected"},
                {"parameters": {"alpha": 1.0}},
                {"split": base.job.split.model_copy(update={"seed": 2})},
                {"options": {"inner_folds": 0}},
                {"benchmark": "ddi"},
                {"upstream": "a" * 64},
                {"accelerator": "cuda"},
            )
        ),
    ]
    assert len({base.key, *(other.key for other in others)}) == len(others) + 1
    assert record_of(base).key == base.key
    # names of the same data and the same split are no other answer
    split = base.job.split.model_copy(update={"strategy": "released", "parameters": {"which": "random"}})
    names = base.job.model_copy(update={"dataset": "my_copy", "split": split})
    assert base.model_copy(update={"job": names}).key == base.key


def test_a_key_is_claimed_by_one_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    with store.claim("a") as first, store.claim("a") as second, store.claim("b") as other:
        assert (first, second, other) == (True, False, True)
    with store.claim("a") as again:
        assert again


def test_a_claim_on_what_its_last_owner_removed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening the file and locking it, the owner leaves and a third one claims."""
    store = Store(tmp_path / "runs")
    lock = fcntl.flock

    def late(stream: object, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        path = tmp_path / "work" / "claims" / "a"
        path.unlink()
        path.touch()
        lock(stream, how)  # type: ignore[arg-type]

    monkeypatch.setattr(fcntl, "flock", late)
    with store.claim("a") as mine:
        assert not mine
    with store.claim("a") as mine:
        assert mine


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    child = os.fork()
    if child == 0:
        with store.claim("a"):
            (tmp_path / "claimed").touch()
            time.sleep(60)
        os._exit(1)
    while not (tmp_path / "claimed").exists():
        time.sleep(0.01)
    with store.claim("a") as mine:
        assert not mine
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with store.claim("a") as mine:
        assert mine
