"""However a harness ends, and however many write at once: what happened is in the log once, and no more is."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import CorruptData
from harness.base.files import digest_of, write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.proof.leaves import Event, Leaf, account_of, parse_leaf, scope_of
from harness.proof.log import LOG, NEXT, Log
from harness.proof.results import ResultSet, faults_of
from harness.results.digests import stored_results
from harness.results.records import Record
from harness.results.scoring import Scores
from harness.results.store import Store
from tests.core.factories import planned_job, put_run, record_of


def leaf(number: int, writer: str = "one") -> Leaf:
    return Leaf(Event.RECORD, "2026-01-01T00:00:00Z", writer, key=f"{number:064x}", record="r", verdict="ok")


def _append_forever(folder: Path, writer: str, count: int) -> None:
    log = Log(folder)
    for number in range(count):
        log.append([leaf(number, writer)])


def test_an_append_that_is_killed_loses_nothing_that_was_whole(tmp_path: Path) -> None:
    moments, context = random.Random(6), multiprocessing.get_context("spawn")
    size, whole = 0, list[Leaf]()
    for attempt in range(6):
        process = context.Process(target=_append_forever, args=(tmp_path, str(attempt), 1_000_000))
        process.start()
        deadline = time.monotonic() + 20
        while Log(tmp_path).size <= size and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.1))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        leaves = Log(tmp_path).leaves()
        assert len(leaves) > size, "it was killed before it wrote anything"
        assert leaves[:size] == whole, "what was whole is lost"
        size, whole = len(leaves), leaves
    # a kill may come between two pages of one write: what was not finished is no leaf, is cut, and is told
    assert all("was never finished, and was cut" in note for note in Log(tmp_path).repair())
    assert Log(tmp_path).leaves() == whole and Log(tmp_path).repair() == []


def test_two_processes_append_whole_lines(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_forever, args=(tmp_path, name, 200)) for name in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    leaves = Log(tmp_path).leaves()
    for name in ("one", "two"):
        assert [one for one in leaves if one.scope == name] == [leaf(number, name) for number in range(200)]
    assert len(leaves) == 400


@pytest.mark.parametrize("torn", [b"{", b'{"at":"2026', leaf(9).line])
def test_a_torn_last_line_is_no_leaf_and_is_cut_with_a_message(tmp_path: Path, torn: bytes) -> None:
    log = Log(tmp_path)
    log.append([leaf(1), leaf(2)])
    root = log.root()
    with log.path.open("ab") as file:
        file.write(torn)
    assert log.leaves() == [leaf(1), leaf(2)] and log.root() == root
    (note,) = log.repair()
    assert f"a last line of {len(torn)} bytes was never finished" in note and str(log.path) in note
    assert log.repair() == []
    log.append([leaf(3)])
    assert log.leaves() == [leaf(1), leaf(2), leaf(3)]


def test_a_torn_line_is_cut_before_the_next_event_too(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.append([leaf(1)])
    with log.path.open("ab") as file:
        file.write(b"x" * 200_000)
    log.append([leaf(2)])
    assert log.leaves() == [leaf(1), leaf(2)]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b"not json",
        b'{"kind":"wish","at":"a","scope":"s"}',
        leaf(1).line.replace(b",", b", "),
        leaf(1).line.replace(b'"scope"', b'"more":1,"scope"'),
        leaf(1).line.replace(b'"verdict":"ok"', b'"verdict":""'),
    ],
)
def test_a_line_that_we_did_not_write_is_refused_by_its_number(tmp_path: Path, line: bytes) -> None:
    log = Log(tmp_path)
    log.append_lines([leaf(1).line, line])
    with pytest.raises(CorruptData) as refused:
        log.leaves()
    assert refused.value.where == f"{log.path}: line 2" and refused.value.todo


def test_a_leaf_has_one_text() -> None:
    line = leaf(1).line
    assert parse_leaf(line, "") == leaf(1)
    assert json.loads(line) == {
        "at": "2026-01-01T00:00:00Z",
        "key": f"{1:064x}",
        "kind": "record",
        "record": "r",
        "scope": "one",
        "verdict": "ok",
    }


@given(
    st.builds(
        Leaf,
        kind=st.sampled_from(Event),
        at=st.just("2026-01-01T00:00:00Z"),
        **dict.fromkeys(("scope", "key", "record", "score", "plan", "note"), st.text()),
        verdict=st.sampled_from(["", *map(str, Verdict)]),
        cells=st.integers(min_value=0),
    )
)
def test_every_leaf_can_be_read_again_whatever_it_lacks(written: Leaf) -> None:
    assert parse_leaf(written.line, "") == written


def test_every_event_of_a_run_is_a_leaf(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one", Verdict.INTERRUPTED)
    record = put_run(store, planned, tmp_path / "two")
    store.amend(record.model_copy(update={"verdict": Verdict.UNSTABLE, "reason": "a repeat differed"}))
    store.remove(planned.key)
    leaves = store.log.leaves()
    assert [(one.kind, one.verdict) for one in leaves] == [
        (Event.FAILURE, "interrupted"),
        (Event.RECORD, "ok"),
        (Event.AMENDMENT, "unstable"),
        (Event.REMOVAL, ""),
    ]
    assert {one.scope for one in leaves} == {"repurposing: constant/published on synthetic, random-1"}
    assert account_of(leaves).results == {} and account_of(leaves).removals[planned.key].verdict == "unstable"


def test_a_run_that_is_kept_out_by_another_enters_nothing(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one")
    put_run(store, planned, tmp_path / "two", Verdict.ERROR)
    assert store.log.size == 1


def _score(store: Store, record: Record) -> None:
    """Keep made-up scores of a run, as scoring does."""
    evidence = {"predictions.npy": record.files["predictions.npy"].sha256}
    content = Scores(record.key, "s", evidence, {"AUC": 0.5}, {}).to_json()
    path = store.folder.parent / "scores" / record.key[:2] / f"{record.key}.json"
    digests = {"record": record.to_json()["digest"], "score": content["digest"]}
    scope = scope_of(record.planned.job.model_dump(mode="json"))
    leaf = Leaf(Event.SCORE, "2026-01-01T00:00:00Z", scope, key=record.key, **digests)
    with store.open_log() as (log, _), log.event(leaf, path):
        write_json(path, content)


@pytest.mark.parametrize("killed", [True, False])
def test_a_run_made_again_with_the_same_answer_has_no_scores_that_no_leaf_tells_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """They would be as right as before. But the log would not tell of them, and an audit would accuse them."""
    store, planned = Store(tmp_path / "runs"), planned_job()
    _score(store, put_run(store, planned, tmp_path / "one"))
    (before,) = stored_results(store, tmp_path / "scores").values()
    with monkeypatch.context() as patched, pytest.raises(Killed) if killed else nullcontext():
        if killed:
            patched.setattr(Log, "append", die)
        put_run(store, planned, tmp_path / "two", again=True)
    with store.open_log() as (log, _):
        leaves = log.leaves()
    results = stored_results(store, tmp_path / "scores")
    assert before.score and [one.score for one in results.values()] == [""]
    assert list(faults_of(leaves, ResultSet("runs", tmp_path, results))) == []
    assert not list((tmp_path / "scores").glob("*/*"))


class Killed(Exception):
    """Stands for the end of a process: nothing after it happens."""


def die(*_: object) -> None:
    raise Killed


def intended(folder: Path) -> bool:
    return (folder / NEXT).exists()


def test_a_run_that_was_put_before_the_kill_is_in_the_log_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    with monkeypatch.context() as killed, pytest.raises(Killed):
        killed.setattr(Log, "append", die)
        put_run(store, planned, tmp_path / "work")
    assert store.log.leaves() == [] and intended(tmp_path)
    with store.open_log() as (log, notes):
        (one,) = log.leaves()
    assert (one.key, one.kind) == (planned.key, Event.RECORD)
    assert any("it is now" in note for note in notes) and not intended(tmp_path)


def test_a_run_that_was_not_put_before_the_kill_is_not_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    with monkeypatch.context() as killed, pytest.raises(Killed):
        killed.setattr(Store, "_discard", die)
        put_run(store, planned, tmp_path / "work")
    assert intended(tmp_path)
    with store.open_log() as (log, notes):
        assert log.leaves() == [] == notes
    assert not intended(tmp_path)


def test_a_kill_between_log_and_note_enters_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    (line,) = store.log.lines()
    (tmp_path / NEXT).write_text(
        json.dumps(
            {"leaf": json.loads(line), "file": os.path.relpath(store.path(planned.key) / "record.json", tmp_path)}
        )
    )
    with store.open_log() as (log, notes):
        assert log.size == 1 and notes == []
    assert not intended(tmp_path)


@pytest.mark.parametrize("kind", ["record", "removal"])
def test_a_note_that_a_run_is_gone_enters_nothing_while_it_is_there(tmp_path: Path, kind: str) -> None:
    """Whoever plants it would have the next harness write that the run was removed."""
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    lines = store.log.lines()
    leaf = {**json.loads(lines[0]), "kind": kind}
    if kind == "removal":
        leaf = {name: value for name, value in leaf.items() if name not in ("record", "verdict")}
    note = tmp_path / NEXT
    note.write_text(json.dumps({"leaf": leaf, "file": "nowhere.json"}))
    for use in (store.open_log, lambda: nullcontext(store.unfinished())):
        with (
            pytest.raises(CorruptData, match="is gone, and the run is there") as refused,
            use(),
        ):
            pass
        assert refused.value.where == f"{note}; {store.path(planned.key)}"
    assert store.log.lines() == lines and note.exists()


def test_a_run_that_was_gone_when_its_replacement_was_killed_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one", Verdict.TIMEOUT)
    rename = Path.rename

    def die_at_the_second(path: Path, target: Path) -> Path:
        if path.name.startswith("making-"):
            raise Killed
        return rename(path, target)

    with monkeypatch.context() as killed, pytest.raises(Killed):
        killed.setattr(Path, "rename", die_at_the_second)
        put_run(store, planned, tmp_path / "two", again=True)
    assert list(store.finished()) == []
    with store.open_log() as (log, notes):
        assert [one.kind for one in log.leaves()] == [Event.FAILURE, Event.REMOVAL]
    assert log.leaves()[-1].note == "a harness was killed while it replaced the run"
    assert any("it is to be run again" in note for note in notes)


@pytest.mark.parametrize("before", [True, False])
def test_a_removal_is_in_the_log_if_it_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one")
    with monkeypatch.context() as killed, pytest.raises(Killed):
        killed.setattr(*((Store, "_discard", die) if before else (Log, "append", die)))
        store.remove(planned.key)
    with store.open_log() as (log, _):
        kinds = [one.kind for one in log.leaves()]
    assert kinds == ([Event.RECORD] if before else [Event.RECORD, Event.REMOVAL])
    assert bool(list(store.finished())) == before


def test_runs_from_before_the_log_are_imported_once_and_said_so(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    for seed in (1, 2):
        put_run(store, planned_job(seed), tmp_path / f"work{seed}")
    (tmp_path / LOG).unlink()
    with store.open_log() as (log, notes):
        (note,) = notes
    assert "2 runs older than the log" in note
    assert {one.kind for one in log.leaves()} == {Event.IMPORT}
    assert {one.note for one in log.leaves()} == {"stored before there was a log"}
    put_run(store, planned_job(3), tmp_path / "work3")
    with store.open_log() as (log, notes):
        assert [one.kind for one in log.leaves()][2:] == [Event.RECORD] and notes == []
    results = stored_results(store, tmp_path / "scores")
    account = account_of(log.leaves())
    assert {*results} == {*account.results} and all(account.results[key].agrees(results[key]) for key in results)


def test_scores_of_another_run_under_the_same_key_do_not_count(tmp_path: Path) -> None:
    """A run that was made again leaves the old scores for a moment: nobody reads them, so nobody misses a leaf."""
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = tmp_path / "scores" / planned.key[:2] / f"{planned.key}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"evidence": {"predictions.npy": "0" * 64}, "digest": "d"}))
    assert stored_results(store, tmp_path / "scores")[planned.key].score == ""
    sha256 = store.record(planned.key).files["predictions.npy"].sha256
    path.write_text(json.dumps({"evidence": {"predictions.npy": sha256}, "digest": "d"}))
    assert stored_results(store, tmp_path / "scores")[planned.key].score == "damaged"


def test_a_damaged_record_is_no_result_of_the_log(layout: Layout, tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    path = store.path(planned.key) / "record.json"
    path.write_text(path.read_text().replace('"ok"', '"error"'))
    result = stored_results(store, tmp_path / "scores")[planned.key]
    assert not account_of(store.log.leaves()).results[planned.key].agrees(result)
    assert record_of(planned).verdict is Verdict.OK
    # with a right digest, and without what every record has
    content = {**record_of(planned).to_json(), "planned": {}}
    del content["digest"]
    path.write_text(json.dumps({**content, "digest": digest_of(content)}))
    assert stored_results(store, tmp_path / "scores")[planned.key].record == "damaged"
