"""What is left of a large plan is told by the log; what it tells is tested, and no table rests on it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from harness.base.vocabulary import Verdict
from harness.execution.campaign import left_to_run
from harness.planning.cells import Cell
from harness.planning.obstacles import Obstacles
from harness.planning.plan import Plan
from harness.proof.leaves import Event, Leaf
from harness.results import remainder
from harness.results.records import RECORD_FILE
from harness.results.remainder import what_is_told
from harness.results.store import Store, join
from tests.core.factories import planned_job, put_run

SEEDS = range(1, 13)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every plan is a large one."""
    monkeypatch.setattr(remainder, "LOOKED_AT", 0)


@pytest.fixture
def plan() -> Plan:
    return Plan("some", tuple(Cell(one.job, one) for one in map(planned_job, SEEDS)))


@pytest.fixture
def store(tmp_path: Path, plan: Plan) -> Store:
    """Of twelve runs: six ok, a timeout, one interrupted, one removed, one run again after it was interrupted."""
    store = Store(tmp_path / "runs")
    verdicts = [*[Verdict.OK] * 6, Verdict.TIMEOUT, Verdict.INTERRUPTED, Verdict.OK, Verdict.INFRASTRUCTURE]
    for cell, verdict in zip(plan.cells, verdicts, strict=False):
        assert cell.planned is not None
        put_run(store, cell.planned, tmp_path / str(cell.job.split.seed), verdict)
    again = plan.cells[9].planned
    assert again is not None
    put_run(store, again, tmp_path / "again")
    store.remove(plan.cells[8].key or "")
    # of another plan
    put_run(store, planned_job(99), tmp_path / "other")
    return store


def verdicts(cells: Sequence[Cell]) -> list[Verdict]:
    return [cell.verdict for cell in cells]


def test_the_log_tells_what_the_records_would(plan: Plan, store: Store) -> None:
    there = what_is_told(plan, store)
    assert verdicts(there.cells) == verdicts(join(plan, store)) and not there.notes and not there.has_records
    assert Counter(verdicts(there.cells)) == {
        Verdict.OK: 7,
        Verdict.TIMEOUT: 1,
        Verdict.INTERRUPTED: 1,
        Verdict.PENDING: 3,
    }
    assert [cell.job.split.seed for cell in left_to_run(there.cells)] == [8, 9, 11, 12]


def test_no_record_is_read_but_those_of_the_sample(
    plan: Plan, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, really = list[str](), Store.standing
    monkeypatch.setattr(remainder, "SAMPLE", 3)
    monkeypatch.setattr(Store, "standing", lambda self, key: read.append(key) or really(self, key))  # type: ignore[func-returns-value]
    there = what_is_told(plan, store)
    assert len(read) == len(set(read)) == 3
    # of these it is known how long they took
    assert {cell.key for cell in there.cells if cell.record} == set(read)


def test_each_look_is_at_other_runs_until_all_were_seen(
    plan: Plan, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it always at the first ones, damage of the others would never be found."""
    monkeypatch.setattr(remainder, "SAMPLE", 3)
    finished = {cell.key for cell in join(plan, store) if cell.verdict.is_final}
    seen = set[str | None]()
    for seed in range(20):
        monkeypatch.setattr(remainder, "secrets", SimpleNamespace(SystemRandom=lambda seed=seed: Random(seed)))
        seen |= {cell.key for cell in what_is_told(plan, store).cells if cell.record}
    assert len(finished) == 8 and seen == finished


def test_a_log_that_is_wrong_of_a_run_of_the_sample_is_not_believed(plan: Plan, store: Store) -> None:
    gone = store.path(plan.cells[2].key or "")
    (gone / RECORD_FILE).unlink()
    there = what_is_told(plan, store)
    assert verdicts(there.cells) == verdicts(join(plan, store)) and there.cells[2].verdict is Verdict.PENDING
    assert "by the log, and stored as pending" in there.notes[0] and "all records are looked at" in there.notes[0]


def test_a_record_that_is_another_than_the_logs_is_not_believed(plan: Plan, store: Store, tmp_path: Path) -> None:
    """Of the same verdict, whole, and never told: it was put there by hand."""
    key = plan.cells[2].key or ""
    record = store.record(key).model_copy(update={"finished": "2020-01-01T00:00:00Z"})
    (store.path(key) / RECORD_FILE).write_text(json.dumps(record.to_json()))
    assert store.standing(key).verdict is Verdict.OK
    assert "all records are looked at" in what_is_told(plan, store).notes[0]


def test_a_leaf_that_says_another_verdict_than_its_record_is_not_believed(plan: Plan, store: Store) -> None:
    key = plan.cells[2].key or ""
    digest = store.record(key).to_json()["digest"]
    forged = {"key": key, "record": digest, "verdict": Verdict.TIMEOUT}
    store.log.append([Leaf(Event.FAILURE, "2026-01-01T00:00:00Z", "x", **forged)])
    there = what_is_told(plan, store)
    assert "is 'timeout' by the log, and stored as ok" in there.notes[0] and there.cells[2].verdict is Verdict.OK


def test_what_the_sample_misses_is_seen_with_verify(
    plan: Plan, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remainder, "SAMPLE", 0)
    (store.path(plan.cells[2].key or "") / RECORD_FILE).unlink()
    assert what_is_told(plan, store).cells[2].verdict is Verdict.OK, "or nothing is tested here"
    assert what_is_told(plan, store, verify=True).cells[2].verdict is Verdict.PENDING
    # and in a table anyway
    assert join(plan, store)[2].verdict is Verdict.PENDING
    monkeypatch.setattr(remainder, "LOOKED_AT", len(plan.cells))
    whole = what_is_told(plan, store)
    assert whole.cells[2].verdict is Verdict.PENDING and whole.has_records


def test_a_log_that_can_not_be_read_is_not_believed(plan: Plan, store: Store) -> None:
    with store.log.path.open("ab") as file:
        file.write(b'{"kind":"record"}\n')
    there = what_is_told(plan, store)
    assert verdicts(there.cells) == verdicts(join(plan, store))
    assert "no leaf of a log" in there.notes[0]


def test_runs_from_before_there_was_a_log_are_told(plan: Plan, store: Store) -> None:
    store.log.path.unlink()
    there = what_is_told(plan, store)
    assert verdicts(there.cells) == verdicts(join(plan, store))
    assert "older than the log" in there.notes[0] and len(there.notes) == 1


def test_what_stands_in_the_way_is_told_too(plan: Plan, store: Store) -> None:
    Obstacles(store.folder).note("dataset", "synthetic", "in none of its sources")
    Obstacles(store.folder).note("run", plan.cells[10].key or "", "a fault of ours")
    there = what_is_told(plan, store)
    assert verdicts(there.cells) == verdicts(join(plan, store))
    assert [cell.reason for cell in there.cells[-2:]] == [cell.reason for cell in join(plan, store)[-2:]]


def test_scores_and_notes_change_no_verdict(plan: Plan, store: Store) -> None:
    key = plan.cells[0].key or ""
    digest = store.record(key).to_json()["digest"]
    store.log.append([Leaf(Event.SCORE, "2026-01-01T00:00:00Z", "x", key=key, record=digest, score="0" * 64)])
    store.log.append(
        [Leaf(Event.REMOVAL, "2026-01-01T00:00:00Z", "x", key="0" * 64, note='"kind":"score" of another')]
    )
    assert verdicts(what_is_told(plan, store).cells) == verdicts(join(plan, store))


def test_a_note_that_looks_like_another_kind_is_read(plan: Plan, store: Store) -> None:
    key = plan.cells[0].key or ""
    store.log.append([Leaf(Event.REMOVAL, "2026-01-01T00:00:00Z", "x", key=key, note='said "kind":"score" of it')])
    assert what_is_told(plan, store).cells[0].verdict is Verdict.PENDING


def test_a_plan_of_nothing_and_a_store_of_nothing_are_told(tmp_path: Path, plan: Plan, store: Store) -> None:
    assert len(what_is_told(Plan("none", ()), store).cells) == 0
    empty = what_is_told(plan, Store(tmp_path / "elsewhere" / "runs"))
    assert set(verdicts(empty.cells)) == {Verdict.PENDING} and not empty.notes
