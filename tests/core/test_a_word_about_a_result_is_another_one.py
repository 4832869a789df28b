"""What is said of results that can't be read, believed or merged: what, where and what to do, word for word."""

from __future__ import annotations

import errno
import fcntl
import gzip
import json
import logging
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness import benchmarks
from harness.base.errors import CorruptData, HarnessError, InvalidPredictions, UsageError
from harness.base.files import canonical_json, digest_of, read_json, sha256_of, write_json
from harness.base.layout import Layout
from harness.base.progress import Progress
from harness.base.vocabulary import Verdict
from harness.meaning.scorer import meaning_of_scorer
from harness.planning.cells import Cell
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan
from harness.proof.leaves import Event, Leaf, LoggedResult
from harness.proof.log import Log
from harness.proof.plans import LoggedCell, enter_plan, plan_path
from harness.results import arrivals, digests, index, remainder, scoring, store, truth
from harness.results import merge as merging
from harness.results.arrivals import are_waiting, arrive, settle
from harness.results.merge import MergedRun, check_source, merge
from harness.results.records import RECORD_FILE, Maker, StoredFile, checked_content, parse_record
from harness.results.reference import (
    ReferenceResult,
    ReferenceRow,
    load_reference,
    overview,
    reference_file,
    reference_of,
    seconds_in_reference,
    verdict_counts,
)
from harness.results.remainder import what_is_told
from harness.results.scoring import Scores, read_scores, scored_files, scores_path
from harness.results.sets import reference_set, stored_set
from harness.results.store import Store
from harness.results.truth import Truth, truth_of
from tests.core.factories import planned_job, put_run, record_of

AGAIN = "remove that run's folder and run again; `harness audit` tells more"
RESTORE = "restore the file from the repository, or make it anew"


def recorded(calls: list[Any], answer: Any) -> Callable[..., Any]:
    """A function that notes what it is given."""

    def call(*given: Any, **named: Any) -> Any:
        calls.append((*given, *named.values()))
        return answer

    return call


def said(error: HarnessError) -> tuple[str, str, str]:
    return error.what, error.where, error.todo


def layout_of(folder: Path) -> Layout:
    return Layout(root=folder.parent, cache=folder.parent / "cache", local=folder)


def record_text(**changed: Any) -> bytes:
    """A record with other fields, and the digest that a forger would give it."""
    content = {name: one for name, one in record_of(planned_job()).to_json().items() if name != "digest"}
    content = {name: one for name, one in {**content, **changed}.items() if one is not ...}
    return canonical_json({**content, "digest": digest_of(content)})


# Records.


@pytest.mark.parametrize(
    ("text", "what", "field"),
    [
        (b"{", "a record is cut or not a record", ""),
        (b"{}", "a record is cut or not a record", ""),
        (b"[]", "a record is cut or not a record", ""),
        (b"1", "a record is cut or not a record", ""),
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
    assert record.processor == ""
    assert record.model_copy(update={"engine": {"processor": "old"}}).processor == "old"
    assert record.model_copy(update={"made_by": maker, "engine": {"processor": "old"}}).processor == "A CPU"


def test_files_that_a_run_must_have_left_are_named_in_order() -> None:
    record = record_of(planned_job())
    required = [*benchmarks.get("repurposing").required_files]
    assert record.missing_files == ["job.json", "log.txt", "method.json", *required]
    some = {"log.txt": StoredFile(sha256="", bytes=1), required[0]: StoredFile(sha256="", bytes=1)}
    assert record.model_copy(update={"files": some}).missing_files == ["job.json", "method.json", *required[1:]]


# The store.


@pytest.fixture
def here(tmp_path: Path) -> Store:
    """A store with one run, of seed 1."""
    made = Store(tmp_path / "local" / "runs")
    put_run(made, planned_job(), tmp_path / "made")
    return made


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
        assert notes == [f"{path}: 1 runs are older than the log; it says so of each"]
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


# Arrivals.


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


# Digests of what is there.


def scores_of(key: str, evidence: dict[str, str], **changed: Any) -> dict[str, Any]:
    return {**Scores(key, "s" * 64, evidence, {"AUC": 0.5}, {}).to_json(), **changed}


def test_stored_results_are_records_verdicts_and_scores_that_count(tmp_path: Path) -> None:
    made, scores = Store(tmp_path / "local" / "runs"), tmp_path / "local" / "scores"
    logged: dict[str, LoggedResult] = {}
    for seed, change in enumerate(
        ["whole", "none", "failed", "damaged", "of another run", "edited", "no scores", "list", "odd"], start=1
    ):
        planned = planned_job(seed)
        verdict = Verdict.MEMORY if change == "failed" else Verdict.OK
        record = put_run(made, planned, tmp_path / change, verdict)
        key, path = planned.key, scores / planned.key[:2] / f"{planned.key}.json"
        evidence = {"predictions.npy": record.files["predictions.npy"].sha256}
        content: Any = {
            "none": None,
            "of another run": scores_of(key, {"predictions.npy": "0" * 64}),
            "edited": scores_of(key, evidence, metrics={"AUC": 0.9}),
            "no scores": {"digest": "1" * 64},
            "list": [1],
            "odd": scores_of(key, {"another.npy": "0" * 64}),
        }.get(change, scores_of(key, evidence))
        if content is not None:
            write_json(path, content)
        if change == "damaged":
            (made.path(key) / "log.txt").unlink()
            logged[key] = LoggedResult("damaged", "infrastructure", "", "")
            continue
        whole = content["digest"] if change == "whole" else ""
        score = "damaged" if change in ("edited", "no scores", "list", "odd") else whole
        scope = f"repurposing: constant/published on synthetic, random-{seed}"
        logged[key] = LoggedResult(digest_of(made.standing(key).content), str(verdict), score, scope)
    assert digests.stored_results(made, scores) == logged
    layout = layout_of(tmp_path / "local")
    assert stored_set(layout).results == logged
    assert (stored_set(layout).name, stored_set(layout).folder) == ("runs of this machine", layout.local)


def committed(path: Path, seeds: range, **resources: float) -> dict[str, ReferenceResult]:
    """Committed runs of these seeds in one file; those with an even seed failed."""
    lines, entries = [], {}
    for seed in seeds:
        planned, ok = planned_job(seed), bool(seed % 2)
        required = ("job.json", "log.txt", "method.json", *benchmarks.get("repurposing").required_files)
        files = {name: StoredFile(sha256=f"{seed}" * 8, bytes=1) for name in required}
        record = record_of(planned, Verdict.OK if ok else Verdict.TIMEOUT)
        record = record.model_copy(update={"files": files, "resources": {"wall_s": 10.0 * seed, **resources}})
        content = record.to_json()
        scores = None
        if ok:
            evidence = scored_files("repurposing", content["files"])
            scores = Scores(planned.key, "s" * 64, evidence, {"AUC": 0.5}, {})
        lines.append({"record": content, "scores": scores.to_json() if scores else None})
        entries[planned.key] = ReferenceResult(content, scores, f"line {seed}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(json.dumps(line) for line in lines).encode()))
    return entries


def test_committed_results_are_found_by_job_and_by_file(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    committed(path, range(1, 4), cpu_s=1800.0)
    found = load_reference(layout)
    assert [entry.where for entry in found.values()] == [
        f"results/reference/repurposing/constant/synthetic-random.jsonl.gz: line {number}" for number in (1, 2, 3)
    ]
    for seed in (1, 2, 3):
        planned = planned_job(seed)
        one = reference_of(layout, planned)
        assert one == found[planned.key] and one is not None and one.record.key == planned.key
        assert one.planned == planned
    assert reference_of(layout, planned_job(4)) is None
    assert reference_of(layout, planned_job(1, "another")) is None
    assert seconds_in_reference(layout, planned_job(9)) == [10.0, 20.0, 30.0]
    assert seconds_in_reference(layout, planned_job(1, "another")) == []
    results = digests.reference_results(found)
    assert [(one.verdict, bool(one.score)) for one in results.values()] == [
        ("ok", True),
        ("timeout", False),
        ("ok", True),
    ]
    for key, logged in results.items():
        kept = found[key].scores
        assert logged.record == digest_of(found[key].content)
        assert logged.score == (kept.to_json()["digest"] if kept else "")
        assert logged.scope.startswith("repurposing: constant/published on synthetic, random-")
    (layout.reference / "log.jsonl").write_text("")
    (layout.reference / "log.next").write_text("")
    (layout.reference / "statement.json").write_text("")
    (layout.reference / "statement.json.sig").write_text("")
    (layout.reference / "ddi").mkdir()
    (layout.reference / "ddi" / "statement.json").write_text("")
    (layout.reference / "attestations").mkdir()
    (layout.reference / "attestations" / "one.json").write_text("")
    shown = reference_set(layout)
    assert (shown.name, shown.folder) == ("reference results", layout.reference) and shown.results == results
    assert {one.relative_to(layout.reference).as_posix() for one in shown.files or ()} == {
        "ddi/statement.json",
        "repurposing/constant/synthetic-random.jsonl.gz",
    }


def test_a_row_of_reference_results_counts_its_verdicts() -> None:
    counts = Counter({Verdict.TIMEOUT: 1, Verdict.OK: 9, Verdict.ERROR: 0})
    row = ReferenceRow("a/b", planned_job().job, counts, stale=2, cpu_hours=0.5)
    assert (row.method, row.seeds, row.verdicts) == ("constant", 10, "ok 9, timeout 1")
    other = ReferenceRow("a/b", planned_job().job.model_copy(update={"variant": "fast"}), counts, 0, 0.0)
    assert other.method == "constant/fast" and verdict_counts(Counter()) == ""
    assert row.to_json() == {
        "label": "a/b",
        "verdicts": {"ok": 9, "timeout": 1},
        "stale": 2,
        "cpu_hours": 0.5,
    }


def test_an_overview_tells_hours_and_what_is_outgrown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    committed(reference_file(layout, planned_job()), range(1, 4), cpu_s=1800.0)
    other = planned_job(5, "another")
    committed(reference_file(layout, planned_job()).with_name("zzz.jsonl.gz"), range(4, 6))

    class Present:
        def __init__(self, given: Layout) -> None:
            assert given is layout

        def holds_as_usual(self, planned: Any) -> bool:
            return bool(planned.job.split.seed == 1)

    monkeypatch.setattr("harness.results.reference.Present", Present)
    (row,) = overview(layout)
    assert row.label == "repurposing/constant/synthetic-random" and other.job.method == "another"
    assert row.counts == {Verdict.OK: 3, Verdict.TIMEOUT: 2} and row.stale == 4
    assert row.cpu_hours == 3 * 0.5


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda line: line.pop("scores"), "not a reference result"),
        (lambda line: line["scores"].update(metrics={"AUC": 1.0}), "scores differ from their own digest"),
        (lambda line: line.update(scores=None), "a run that ended ok has scores, and no other has"),
        (lambda line: line.update(scores=0), "scores differ from their own digest"),
    ],
)
def test_a_committed_line_that_is_not_believed_is_told(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], what: str
) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    committed(path, range(1, 3))
    first, second = (json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines())
    change(first)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, (second, first))).encode()))
    place = "results/reference/repurposing/constant/synthetic-random.jsonl.gz"
    for read in (lambda: load_reference(layout), lambda: reference_of(layout, planned_job())):
        with pytest.raises(CorruptData) as found:
            read()
        assert said(found.value) == (what, f"{place}: line 2", RESTORE)
    path.write_bytes(b"no gzip")
    with pytest.raises(CorruptData) as found:
        load_reference(layout)
    assert said(found.value) == ("not a gzipped file, or cut", place, RESTORE)


def test_a_committed_run_that_stands_twice_is_told_where(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    committed(path, range(1, 2))
    shutil.copyfile(path, path.with_name("synthetic-zzz.jsonl.gz"))
    with pytest.raises(CorruptData) as found:
        load_reference(layout)
    where = "results/reference/repurposing/constant/synthetic-zzz.jsonl.gz: line 1"
    assert said(found.value) == ("a run stands here a second time", where, RESTORE)


# A log that takes over what another says.


def test_a_log_takes_over_what_is_of_its_jobs_and_no_more(tmp_path: Path) -> None:
    source, target = Log(tmp_path / "source"), Log(tmp_path / "target")
    for log in (source, target):
        log.folder.mkdir()
    ours, gone, outgrown, other = (planned_job(seed).key for seed in (1, 2, 3, 4))
    enter_plan(source, "with one of ours", [LoggedCell(ours, "ours"), LoggedCell(other, "other")])
    enter_plan(source, "of others", [LoggedCell(other, "other")])

    def leaf(kind: Event, key: str, record: str = "", verdict: str = "", score: str = "") -> Leaf:
        return Leaf(kind, "2026-01-01T00:00:00Z", f"of {key[:4]}", key, record, verdict, score)

    source.append(
        [
            leaf(Event.FAILURE, ours, "1" * 64, "timeout"),
            leaf(Event.RECORD, ours, "2" * 64, "ok"),
            leaf(Event.SCORE, ours, "2" * 64, score="3" * 64),
            leaf(Event.RECORD, gone, "4" * 64, "ok"),
            leaf(Event.REMOVAL, gone),
            leaf(Event.RECORD, other, "5" * 64, "ok"),
        ]
    )
    target.append(
        [
            leaf(Event.RECORD, outgrown, "6" * 64, "ok"),
            leaf(Event.FAILURE, other, "7" * 64, "interrupted"),
        ]
    )
    results = {
        ours: LoggedResult("2" * 64, "ok", "3" * 64, "of ours"),
        planned_job(5).key: LoggedResult("8" * 64, "ok", "9" * 64, "of nobody"),
        planned_job(6).key: LoggedResult("a" * 64, "memory", "", "failed"),
    }
    digests.take_over(source, target, {ours}, results)
    new = target.leaves()[2:]
    assert [(one.kind, one.key) for one in new] == [
        (Event.PLAN, ""),
        (Event.FAILURE, ours),
        (Event.RECORD, ours),
        (Event.SCORE, ours),
        (Event.RECORD, gone),
        (Event.REMOVAL, gone),
        (Event.REMOVAL, outgrown),
        (Event.IMPORT, planned_job(5).key),
        (Event.IMPORT, planned_job(6).key),
    ]
    assert [one.line for one in new[:6]] == [line for at, line in enumerate(source.lines()) if at not in (1, 7)]
    assert plan_path(target.folder, new[0].plan).read_bytes() == plan_path(source.folder, new[0].plan).read_bytes()
    assert (new[6].note, new[6].scope) == (
        "outgrown: code, images or data changed since",
        f"of {outgrown[:4]}",
    )
    note = "no leaf of the store says how it came about"
    assert [(one.record, one.verdict, one.score, one.scope, one.note) for one in new[7:]] == [
        ("8" * 64, "ok", "9" * 64, "of nobody", note),
        ("a" * 64, "memory", "", "failed", note),
    ]
    size = target.size
    digests.take_over(source, target, {ours}, results)
    assert target.size == size, "what was taken over is taken over once"
    # that one of ours was imported elsewhere says nothing new; that it is another one does
    known = results[planned_job(5).key]
    source.append([leaf(Event.IMPORT, planned_job(5).key, known.record, "ok")])
    digests.take_over(source, target, {ours}, results)
    assert target.size == size
    changed = {**results, planned_job(5).key: LoggedResult("c" * 64, "ok", "", "of nobody")}
    source.append([leaf(Event.IMPORT, planned_job(5).key, "c" * 64, "ok")])
    digests.take_over(source, target, set(), changed)
    assert [one.record for one in target.leaves()[size:]] == ["c" * 64]


def test_a_failure_is_imported_without_scores() -> None:
    results = {
        "1": LoggedResult("a" * 64, "memory", "b" * 64, "failed"),
        "2": LoggedResult("c", "ok", "d", "s", 7),
    }
    first, second = digests.import_leaves(results, "why")
    assert (first.kind, first.scope, first.key, first.record) == (Event.IMPORT, "failed", "1", "a" * 64)
    assert (first.verdict, first.score, first.note) == ("memory", "", "why")
    assert (second.verdict, second.score, second.record) == ("ok", "d", "c")
    assert second.at.endswith("Z") and second.at[:2] == "20"


# Merges.


def test_a_folder_that_can_not_be_merged_is_told(here: Store, tmp_path: Path) -> None:
    layout = layout_of(here.folder.parent)
    with pytest.raises(UsageError) as found:
        check_source(layout, tmp_path / "made")
    assert said(found.value) == (
        "there are no runs to merge",
        str(tmp_path / "made"),
        "name the results folder of another machine, or a copy of it: results/local of its tree, or what "
        "$PERMAFROST_RESULTS named there",
    )
    with pytest.raises(UsageError) as found:
        check_source(layout, layout.local)
    assert said(found.value) == (
        "a store can't be merged with itself",
        str(layout.local),
        "name another folder",
    )
    check_source(layout_of(tmp_path / "nothing here yet"), layout.local)


@pytest.mark.parametrize(
    ("damage", "what", "where", "todo"),
    [
        (
            "arrived",
            "a merge into this folder was killed",
            "",
            "let it come to an end: harness store merge, with the same folders as there",
        ),
        (
            "merged",
            "a log of 3 leaves that was merged is not among the leaves",
            "log.jsonl",
            "restore the log: nothing is ever taken out of it, or changed",
        ),
    ],
)
def test_a_log_that_can_not_be_believed_is_told(
    here: Store, tmp_path: Path, damage: str, what: str, where: str, todo: str
) -> None:
    if damage == "arrived":
        (here.log.folder / "arrived").mkdir()
    else:
        scope = "a log of 3 leaves"
        here.log.append([Leaf(Event.MERGE, "2026-01-01T00:00:00Z", scope, cells=3, root="0" * 64, parts="0-2")])
    with pytest.raises(CorruptData) as found:
        merge(layout_of(tmp_path / "target"), here.log.folder)
    assert said(found.value) == (what, str(here.log.folder / where if where else here.log.folder), todo)


def other_machine(tmp_path: Path, name: str, **verdicts: Verdict) -> Store:
    made = Store(tmp_path / name / "runs")
    for seed, verdict in verdicts.items():
        put_run(made, planned_job(int(seed[1:])), tmp_path / f"{name} {seed}", verdict)
    return made


def test_what_was_refused_is_told_by_run_file_and_leaf(here: Store, tmp_path: Path) -> None:
    ok = Verdict.OK
    other = other_machine(tmp_path, "other", s2=ok, s3=ok, s4=ok, s5=ok, s6=Verdict.INTERRUPTED)
    keys = {seed: planned_job(seed).key for seed in range(2, 8)}
    (other.path(keys[2]) / "log.txt").unlink()
    (other.path(keys[3]) / "predictions.npy").write_text("x")
    shutil.rmtree(other.path(keys[4]))
    shutil.rmtree(other.path(keys[6]))
    outside = other_machine(tmp_path, "outside", s7=ok)
    shutil.copytree(outside.path(keys[7]), other.path(keys[7]))
    outcome = merge(layout_of(here.folder.parent), other.folder.parent)
    label = "repurposing: constant/published on synthetic, random-{}"
    assert {run.key: run for run in outcome.refused} == {
        keys[2]: MergedRun(
            keys[2], label.format(2), "a file of a run is missing", str(other.path(keys[2]) / "log.txt")
        ),
        keys[3]: MergedRun(
            keys[3],
            label.format(3),
            "a file of a run differs from its record",
            str(other.path(keys[3]) / "predictions.npy"),
        ),
        keys[4]: MergedRun(keys[4], label.format(4), "leaf 3 of its log tells of 'ok', and the run is not there"),
        keys[7]: MergedRun(
            keys[7],
            f"run {keys[7][:12]}",
            "no leaf of its log tells of this run",
            str(other.path(keys[7])),
        ),
    }
    assert outcome.taken == {"ok": 1} and not outcome.plans and outcome.folder == other.folder.parent
    notes = {leaf.key: leaf.note for leaf in here.log.leaves() if leaf.kind is Event.REMOVAL}
    assert notes == {
        run.key: f"refused when it was merged: {run.what}" for run in outcome.refused if run.key != keys[7]
    }


def test_how_two_runs_of_a_job_differ_is_told_and_logged(here: Store, tmp_path: Path) -> None:
    ok, memory, error = Verdict.OK, Verdict.MEMORY, Verdict.ERROR
    for seed in (2, 3, 4):
        put_run(here, planned_job(seed), tmp_path / f"ours {seed}", ok)
    other = other_machine(tmp_path, "other", s1=ok, s2=error, s3=memory)
    planned = planned_job(4)
    files = {"log.txt": tmp_path / "log", "predictions.npy": tmp_path / "answer"}
    for path in files.values():
        path.write_text("others")
    other.put(record_of(planned, ok), files)
    outcome = merge(layout_of(here.folder.parent), other.folder.parent)
    records = {seed: other.record(planned_job(seed).key).to_json()["digest"][:12] for seed in (2, 3, 4)}
    label = "repurposing: constant/published on synthetic, random-{}"
    error_meaning, memory_meaning = error.meaning, memory.meaning
    told = {
        2: (f"it ended as 'error' (record {records[2]}): {error_meaning}", True),
        3: (f"it ended as 'memory' (record {records[3]}): {memory_meaning}", False),
        4: (f"it gave another predictions.npy (record {records[4]})", True),
    }
    assert sorted((run.key, run.what, run.unstable) for run in outcome.disagreements) == sorted(
        (planned_job(seed).key, *what) for seed, what in told.items()
    )
    assert {run.label.rpartition("-")[2] for run in outcome.disagreements} == {"2", "3", "4"}
    assert label.format(2).startswith("repurposing")
    assert (outcome.known, outcome.equal, outcome.taken.total()) == (1, 0, 0)
    for seed, (what, is_shaken) in told.items():
        standing = here.standing(planned_job(seed).key)
        assert standing.verdict is (Verdict.UNSTABLE if is_shaken else ok)
        assert standing.reason == (f"on another machine {what}" if is_shaken else ok.meaning)
    notes = {leaf.key: leaf.note for leaf in here.log.leaves() if leaf.kind is Event.DUPLICATE}
    assert notes == {
        planned_job(seed).key: f"not that of the other log: {what}" for seed, (what, _) in told.items()
    }


def test_runs_without_a_log_say_so_when_they_are_merged(here: Store, tmp_path: Path) -> None:
    other = other_machine(tmp_path, "other", s2=Verdict.OK, s1=Verdict.OK)
    here.remove(planned_job(1).key)
    other.log.path.unlink()
    merge(layout_of(here.folder.parent), other.folder.parent)
    leaves = [leaf for leaf in here.log.leaves() if leaf.kind is Event.IMPORT]
    assert {leaf.key: leaf.note for leaf in leaves} == {
        planned_job(seed).key: "merged from a store whose log does not tell of it" for seed in (1, 2)
    }
    assert all(leaf.verdict == "ok" and leaf.record and leaf.scope for leaf in leaves)


def test_a_run_that_was_lost_here_is_merged_again_and_an_equal_one_is_told(here: Store, tmp_path: Path) -> None:
    other = other_machine(tmp_path, "other", s2=Verdict.OK)
    layout = layout_of(here.folder.parent)
    merge(layout, other.folder.parent)
    shutil.rmtree(here.path(planned_job(2).key))
    here.log.append([Leaf(Event.REMOVAL, "2026-01-01T00:00:00Z", "x", key=planned_job(2).key)])
    merge(layout, other.folder.parent)
    leaf = here.log.leaves()[-1]
    assert (leaf.kind, leaf.note) == (Event.IMPORT, "merged again")
    third = other_machine(tmp_path, "third")
    record = record_of(planned_job(2), Verdict.OK).model_copy(update={"finished": "2027-01-01T00:00:00Z"})
    files = {name: tmp_path / "other s2" / name for name in ("log.txt", "predictions.npy")}
    files["log.txt"].parent.mkdir(exist_ok=True)
    files["log.txt"].write_text("a line\n")
    files["predictions.npy"].write_bytes(b"not really an array")
    third.put(record, files)
    assert merge(layout, third.folder.parent).equal == 1
    leaf = here.log.leaves()[-1]
    assert (leaf.kind, leaf.note) == (
        Event.DUPLICATE,
        "not that of the other log, which is equal, of another order or no result",
    )


class _Told:
    """A progress that writes down what it is told."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def begin(self, what: str, total: int) -> None:
        self.words.append(f"begin {what}, {total}")

    def step(self, what: str) -> None:
        self.words.append(f"step {what}")

    def note(self, what: str) -> None:
        self.words.append(f"note {what}")


def test_a_merge_tells_of_each_run_and_takes_its_obstacle_away(here: Store, tmp_path: Path) -> None:
    other = other_machine(tmp_path, "other", s2=Verdict.OK, s3=Verdict.TIMEOUT)
    (other.path(planned_job(3).key) / "log.txt").unlink()
    here.log.path.unlink()
    obstacles, told = Obstacles(here.folder), _Told()
    for seed in (2, 3, 4):
        obstacles.note("run", planned_job(seed).key, "a fault")
    merge(layout_of(here.folder.parent), other.folder.parent, cast(Progress, told))
    label = "{}/published on synthetic, random-{}"
    assert told.words[0] == f"begin merging {other.folder.parent}, 2"
    steps = {
        planned_job(2).key: f"step ok: {label.format('constant', 2)}",
        planned_job(3).key: "step refused: repurposing: "
        f"{label.format('constant', 3)}: a file of a run is missing",
    }
    assert told.words[1:3] == [steps[key] for key in sorted(steps)]
    assert told.words[3:] == [f"note {here.log.path}: 1 runs are older than the log; it says so of each"]
    assert {*obstacles.all("run")} == {planned_job(3).key, planned_job(4).key}
    assert not any(path.name.startswith("merging-") for path in (here.folder.parent / "work").rglob("*"))


def test_a_run_of_ours_that_went_away_meanwhile_is_no_other_ones(here: Store, tmp_path: Path) -> None:
    """It was here when theirs was looked at, so that theirs was not copied."""
    key, logged = planned_job(2).key, LoggedResult("1" * 64, "ok", "", "scope")
    run = merging._Run(Verdict.OK, "fine", "the label", {}, "", logged)
    runs, outcome = {key: run}, merging.Merged(tmp_path)
    merging._decide(here, runs, tmp_path / "ready", outcome)
    assert not runs and not outcome.taken
    assert outcome.refused == [MergedRun(key, "the label", "ours was removed during the merge: merge again")]


# What is left of a plan.


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_a_log_is_read_whole_in_pieces_of_any_size(
    here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(remainder, "LOOKED_AT", 0)
    monkeypatch.setattr(remainder, "_BATCH", batch)
    for seed, verdict in ((2, Verdict.INTERRUPTED), (3, Verdict.ERROR), (2, Verdict.OK), (9, Verdict.OK)):
        put_run(here, planned_job(seed), tmp_path / f"{seed} {verdict}", verdict)
    here.remove(planned_job(3).key)
    plan = Plan("some", tuple(Cell(one.job, one) for one in map(planned_job, range(1, 6))))
    told = what_is_told(plan, here)
    assert told.notes == [] and not told.has_records
    assert [cell.verdict for cell in told.cells] == [cell.verdict for cell in store.join(plan, here)]
    assert [str(cell.verdict) for cell in told.cells] == ["ok", "ok", "pending", "pending", "pending"]


def test_bounds_of_what_is_looked_at_are_those_that_are_documented() -> None:
    assert (remainder.LOOKED_AT, remainder.SAMPLE) == (20_000, 1_000)


@pytest.mark.parametrize(("cells", "is_whole"), [(3, True), (4, False)])
def test_a_plan_of_so_many_cells_is_looked_at_whole(
    here: Store, monkeypatch: pytest.MonkeyPatch, cells: int, is_whole: bool
) -> None:
    monkeypatch.setattr(remainder, "LOOKED_AT", 3)
    plan = Plan("some", tuple(Cell(one.job, one) for one in map(planned_job, range(1, cells + 1))))
    told = what_is_told(plan, here)
    assert told.has_records is is_whole and told.notes == []
    assert [cell.verdict for cell in told.cells] == [Verdict.OK, *[Verdict.PENDING] * (cells - 1)]
    first, second, *_ = told.cells
    assert first.reason == Verdict.OK.meaning + ("" if is_whole else " (by the log)")
    assert second.reason == Verdict.PENDING.meaning
    assert first.record == (
        here.standing(planned_job().key).content
        if is_whole
        else {"resources": here.record(planned_job().key).resources}
    )


def test_a_log_that_is_not_believed_is_told(here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remainder, "LOOKED_AT", 0)
    plan = Plan("some", (Cell(planned_job().job, planned_job()),))
    path = here.path(planned_job().key) / RECORD_FILE
    content = path.read_bytes()
    path.unlink()
    label = planned_job().job.label
    assert what_is_told(plan, here).notes == [
        f"{label} is 'ok' by the log, and stored as pending: {Verdict.PENDING.meaning}; "
        "so all records are looked at"
    ]
    path.write_bytes(content)
    with here.log.path.open("ab") as stream:
        stream.write(b'{"kind":"record"}\n')
    assert what_is_told(plan, here).notes == [
        f"{here.log.path}: a line is no leaf of a log (KeyError); so all records are looked at"
    ]
    assert what_is_told(plan, here, verify=True).notes == []


# Scores.


def test_a_run_that_can_not_be_scored_is_told(
    here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, label = layout_of(here.folder.parent), planned_job().job.label
    put_run(here, planned_job(2), tmp_path / "second", Verdict.TIMEOUT)
    with pytest.raises(UsageError) as usage:
        scoring.compute_scores(layout, here, planned_job(2))
    assert said(usage.value) == (
        "a run that ended as 'timeout' has no scores",
        f"{planned_job(2).job.label}: {Verdict.TIMEOUT.meaning}",
        "only a run that ended ok is a result",
    )
    log = tmp_path / "log"
    log.write_text("")
    here.put(record_of(planned_job(3)), {"log.txt": log})
    with pytest.raises(CorruptData) as found:
        scoring.compute_scores(layout, here, planned_job(3))
    assert said(found.value) == (
        "the record names no file that scores are computed from",
        f"{planned_job(3).job.label} ({planned_job(3).key[:16]})",
        "run it again",
    )
    asked = SimpleNamespace(
        dataset=SimpleNamespace(digest="2" * 64), split=SimpleNamespace(digest="3" * 64), read=None
    )
    given: list[object] = []
    monkeypatch.setattr(scoring, "truth_of", recorded(given, asked))

    def refuse(folder: Path) -> object:
        assert folder == here.path(planned_job().key)
        raise InvalidPredictions("predictions.npy: no array")

    asked.read = refuse
    with pytest.raises(CorruptData) as found:
        scoring.read_answer(layout, here, here.record(planned_job().key), [tmp_path])
    assert given == [(layout, planned_job().job, [tmp_path])]
    assert said(found.value) == (
        "a stored answer is not what the protocol asks for today: predictions.npy: no array",
        f"{label} ({planned_job().key[:16]})",
        "run it again",
    )
    for part in ("dataset", "split"):
        monkeypatch.setattr(getattr(asked, part), "digest", "0" * 64)
        with pytest.raises(CorruptData) as found:
            scoring.read_answer(layout, here, here.record(planned_job().key))
        assert said(found.value) == (
            "the dataset or the split is not the one of the run",
            label,
            "run `harness data verify` and `harness split verify`",
        )
        monkeypatch.setattr(getattr(asked, part), "digest", {"dataset": "2", "split": "3"}[part] * 64)


def test_scores_lie_by_key_and_are_read_of_their_own_run(tmp_path: Path) -> None:
    layout, key = layout_of(tmp_path / "local"), planned_job().key
    assert scores_path(layout, key) == tmp_path / "local" / "scores" / key[:2] / f"{key}.json"
    evidence = {"predictions.npy": "1" * 64}
    scorer = scoring.scorer_digest("repurposing")
    assert scorer == meaning_of_scorer(Path(scoring.__file__).parents[1], "repurposing")
    whole = Scores(key, scorer, evidence, {"AUC": 0.5}, {"F1": "why"}, {"of type": [0.25, None]})
    write_json(scores_path(layout, key), whole.to_json())
    assert read_scores(layout, key, "repurposing", evidence) == whole
    assert whole.every == {"AUC": 0.5, "of type 0": 0.25, "of type 1": None}
    assert read_scores(layout, planned_job(2).key, "repurposing", evidence) is None
    for other in ({}, {"predictions.npy": "2" * 64}, {**evidence, "more": "1"}):
        assert read_scores(layout, key, "repurposing", other) is None
    for changed in (Scores("0" * 64, scorer, evidence, {}, {}), Scores(key, "0" * 64, evidence, {}, {})):
        write_json(scores_path(layout, key), changed.to_json())
        assert read_scores(layout, key, "repurposing", evidence) is None
    write_json(scores_path(layout, key), Scores(key, scorer, {}, {}, {}).to_json())
    assert read_scores(layout, key, "repurposing", {}) is None, "of no file, nothing is fresh"
    assert "series" not in Scores(key, scorer, evidence, {}, {}).to_json()


@pytest.fixture
def made_scores(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Scores are made up here; what they were asked for is noted."""
    asked: list[tuple[Any, ...]] = []

    def compute(layout: Layout, made: Store, planned: Any, mirrors: Any = ()) -> Scores:
        asked.append((planned.job.split.seed, mirrors))
        evidence = scored_files("repurposing", made.record(planned.key).to_json()["files"])
        return Scores(planned.key, scoring.scorer_digest("repurposing"), evidence, {"AUC": 0.5}, {})

    monkeypatch.setattr(scoring, "compute_scores", compute)
    return asked


def test_scores_are_made_once_kept_and_logged(here: Store, made_scores: list[tuple[Any, ...]]) -> None:
    layout, planned = layout_of(here.folder.parent), planned_job()
    for _ in range(2):
        scores = scoring.score_run(layout, here, planned, [Path("m")])
        assert scores.metrics == {"AUC": 0.5} and made_scores == [(1, [Path("m")])]
    kept = json.loads(scores_path(layout, planned.key).read_text())
    assert kept == scores.to_json()
    leaf = here.log.leaves()[-1]
    assert (leaf.kind, leaf.key, leaf.score) == (Event.SCORE, planned.key, kept["digest"])
    assert leaf.record == here.record(planned.key).to_json()["digest"] and leaf.verdict == ""
    assert leaf.scope == "repurposing: constant/published on synthetic, random-1"
    assert leaf.at.endswith("Z") and here.log.size == 2


def test_all_that_ended_ok_is_scored_and_what_was_changed_is_no_result(
    here: Store, tmp_path: Path, made_scores: list[tuple[Any, ...]]
) -> None:
    layout = layout_of(here.folder.parent)
    for seed, verdict in ((2, Verdict.OK), (3, Verdict.OK), (4, Verdict.TIMEOUT)):
        put_run(here, planned_job(seed), tmp_path / str(seed), verdict)
    scoring.score_run(layout, here, planned_job(2))
    path = here.path(planned_job(3).key) / "log.txt"
    path.write_bytes(path.read_bytes()[::-1])
    plan = Plan("some", tuple(Cell(one.job, one) for one in map(planned_job, range(1, 6))))
    cells = [*store.join(plan, here, records=True), Cell(planned_job(6).job, None, Verdict.OK)]
    made_scores.clear()
    found = scoring.score_all(layout, here, cells, [Path("m")])
    assert made_scores == [(1, [Path("m")])] and found.computed == 1
    place = f"RESULTS/{path.relative_to(layout.local)}"
    reason = f"evidence is damaged: a file of a run differs from its record ({place})"
    assert [(cell.verdict, cell.reason) for cell in found.cells] == [
        (Verdict.OK, Verdict.OK.meaning),
        (Verdict.OK, Verdict.OK.meaning),
        (Verdict.INFRASTRUCTURE, reason),
        (Verdict.TIMEOUT, Verdict.TIMEOUT.meaning),
        (Verdict.PENDING, Verdict.PENDING.meaning),
        (Verdict.OK, ""),
    ]
    standing = here.standing(planned_job(3).key)
    assert (standing.verdict, standing.reason) == (Verdict.INFRASTRUCTURE, reason)
    assert [one.kind for one in here.log.leaves() if one.key == planned_job(3).key] == [
        Event.RECORD,
        Event.AMENDMENT,
    ]
    assert scoring.score_all(layout, here, found.cells).computed == 0
    assert scoring.score_all(layout, here, []) == scoring.Scored((), 0)


# The truth.


def test_an_answer_is_asked_and_measured_as_its_job_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = planned_job().job.model_copy(update={"options": {"inner_folds": 3}, "parameters": {"rank": 7}})
    calls: list[tuple[object, ...]] = []

    def question(*given: object) -> SimpleNamespace:
        calls.append(given)
        return SimpleNamespace(read=lambda folder: f"answer in {folder}")

    own = SimpleNamespace(scoring=SimpleNamespace(question=question), ranking=recorded(calls, "ranking"))
    monkeypatch.setattr(benchmarks, "get", lambda name: own if name == job.benchmark else None)
    monkeypatch.setattr(truth, "measured", recorded(calls, "measurement"))
    one: Any = Truth(job, cast(Any, "dataset"), cast(Any, "split"))
    assert one.read(Path("here")) == "answer in here" and one.measure("answer") == "measurement"
    assert one.ranking("answer", 9) == "ranking"
    assert calls == [
        ("dataset", "split", {"inner_folds": 3}),
        (own.scoring, "random", "dataset", "split", "answer", {"rank": 7}),
        ("dataset", "split", "answer", 9),
    ]
    found: list[tuple[object, ...]] = []
    monkeypatch.setattr(truth, "load_dataset", recorded(found, "d"))
    monkeypatch.setattr(truth, "load_split", recorded(found, "s"))
    layout = layout_of(tmp_path)
    assert truth_of(layout, job, [tmp_path]) == Truth(job, cast(Any, "d"), cast(Any, "s"))
    assert found == [(layout, "synthetic", [tmp_path]), (layout, "synthetic", job.split, [tmp_path])]


# The index.


def test_what_fits_no_column_is_left_empty_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import pyarrow.parquet as pq

    layout = layout_of(tmp_path / "local")
    rows = {
        "a" * 4: {"wall_s": 1.5, "seed": 1, "metrics": {"B": 0.5, "C": None}},
        "b" * 4: {"wall_s": "long", "seed": 1 << 70, "metrics": {"A": 0.25, "B": None}},
        "c" * 4: None,
    }
    names = (*index._TEXTS, *index._MORE_TEXTS, *index._NUMBERS)

    def row(_: object, __: object, key: str) -> dict[str, Any] | None:
        if key == "dddd":
            raise ValueError("no  such\nfield")
        own = rows[key]
        return None if own is None else {**dict.fromkeys(names), "key": key, **own}

    monkeypatch.setattr(index, "_row", row)
    monkeypatch.setattr(Store, "finished", lambda self: iter([*rows, "dddd", "eeee"]))
    with caplog.at_level(logging.WARNING):
        path = index.build_index(layout, tmp_path / "own.parquet", keys=[*rows, "dddd"])
    assert path == tmp_path / "own.parquet"
    table = pq.read_table(path)
    assert table.column_names == [*index._TEXTS, *index._MORE_TEXTS, "seed", *index._NUMBERS, "A", "B", "C"]
    assert {str(table.schema.field(name).type) for name in (*index._TEXTS, *index._MORE_TEXTS)} == {"string"}
    assert str(table.schema.field("seed").type) == "int64"
    assert {str(table.schema.field(name).type) for name in (*index._NUMBERS, "A", "B", "C")} == {"double"}
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"
    shown = [{name: one[name] for name in ("key", "wall_s", "seed", "A", "B")} for one in table.to_pylist()]
    assert shown == [
        {"key": "aaaa", "wall_s": 1.5, "seed": 1, "A": None, "B": 0.5},
        {"key": "bbbb", "wall_s": None, "seed": None, "A": 0.25, "B": None},
    ]
    told = [record.getMessage() for record in caplog.records]
    assert told[0] == "dddd: left out of the index, its record can't be read: no such field"
    assert sorted(text.partition(" is left empty in the index: ")[0] for text in told[1:]) == [
        "bbbb: seed",
        "bbbb: wall_s",
    ]
