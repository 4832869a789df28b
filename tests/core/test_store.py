"""The store never shows a run that is not whole, and never loses one that is."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest

from harness.errors import CorruptData
from harness.records import RECORD_FILE
from harness.store import Store
from harness.vocabulary import Verdict
from tests.core.factories import planned_job, put_run, record_of


def test_a_stored_run_comes_back_whole(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    record = store.record(planned.key)
    store.check(record)
    assert record.planned == planned
    assert sorted(record.files) == ["log.txt", "predictions.npy"]
    assert store.standing(planned.key).verdict is Verdict.OK
    assert list(store.finished()) == [planned.key]


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


def test_a_truncated_or_missing_prediction_is_not_a_result(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    predictions = store.path(planned.key) / "predictions.npy"
    predictions.write_bytes(b"cut")
    assert "cut or has grown" in store.standing(planned.key).reason
    predictions.unlink()
    assert store.standing(planned.key).verdict is Verdict.INFRASTRUCTURE


def test_a_flipped_byte_of_equal_size_is_found_when_hashed(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    record = put_run(store, planned, tmp_path / "work")
    log = store.path(planned.key) / "log.txt"
    log.write_text("A line\n")
    with pytest.raises(CorruptData, match="differs from its record"):
        store.check(record)


def test_a_second_harness_finishing_the_same_job_changes_nothing(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one")
    before = (store.path(planned.key) / RECORD_FILE).read_bytes()
    put_run(store, planned, tmp_path / "two", Verdict.ERROR)
    assert (store.path(planned.key) / RECORD_FILE).read_bytes() == before
    assert [path.name for path in store.path(planned.key).parent.iterdir()] == [planned.key]


@pytest.mark.parametrize("verdict", [Verdict.INFRASTRUCTURE, Verdict.INTERRUPTED])
def test_a_run_that_was_not_the_methods_fault_is_replaced(tmp_path: Path, verdict: Verdict) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "one", verdict)
    put_run(store, planned, tmp_path / "two", Verdict.OK)
    assert store.standing(planned.key).verdict is Verdict.OK


def test_removing_a_run_leaves_nothing(tmp_path: Path) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()
    put_run(store, planned, tmp_path / "work")
    store.remove(planned.key)
    store.remove(planned.key)
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
    """Kill -9 at twenty random moments; whatever is visible is whole."""
    moments = random.Random(20)
    context = multiprocessing.get_context("spawn")
    for attempt in range(20):
        folder = tmp_path / str(attempt)
        process = context.Process(target=_store_forever, args=(folder / "runs", folder / "work"))
        process.start()
        deadline = time.monotonic() + 10
        while not (folder / "runs").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.1))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        store = Store(folder / "runs")
        for key in store.finished():
            store.check(store.record(key))
            assert store.standing(key).verdict is Verdict.OK


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, planned = Store(tmp_path / "runs"), planned_job()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harness.store.write_json", full)
    with pytest.raises(OSError, match="No space"):
        put_run(store, planned, tmp_path / "work")
    assert store.standing(planned.key).verdict is Verdict.PENDING
    assert [path for path in (tmp_path / "runs").rglob("*") if path.is_file()] == []


def test_keys_change_with_everything_that_can_change_an_answer() -> None:
    base = planned_job()
    others = [
        base.model_copy(update={"image_tree": "5" * 64}),
        base.model_copy(update={"dataset_digest": "5" * 64}),
        base.model_copy(update={"split_digest": "5" * 64}),
        *(
            base.model_copy(update={"job": base.job.model_copy(update=change)})
            for change in (
                {"method": "bnnr"},
                {"variant": "corrected"},
                {"parameters": {"alpha": 1.0}},
                {"split": base.job.split.model_copy(update={"seed": 2})},
                {"inner_folds": 0},
            )
        ),
    ]
    assert len({base.key, *(other.key for other in others)}) == len(others) + 1
    assert record_of(base).key == base.key
