"""Results that are nearly others: a log that begins alike, a split of a longer name, scores of half the files."""

from __future__ import annotations

import fcntl
import shutil
import threading
from pathlib import Path

import pytest

from harness.base.errors import CorruptData
from harness.base.files import write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.plan import Plan
from harness.proof.leaves import Event, Leaf
from harness.proof.log import Log
from harness.results.arrivals import arrive, settle
from harness.results.digests import stored_results
from harness.results.findings import findings_on
from harness.results.index import build_index
from harness.results.merge import merge
from harness.results.scoring import Scores
from harness.results.store import Store
from tests.core.factories import planned_job, put_run, record_of
from tests.core.word_for_word import layout_of
from tests.fabricate import planned_of

FINDINGS = """
benchmark = "toy"
[[findings]]
title = "Pairs stand twice"
about = "the paper"
text = "They do."
shown_by = ["harness split verify"]
splits = ["cdataset random:share=0.5"]
"""


def line_of(note: str) -> bytes:
    return Leaf(Event.PLAN, "2026-01-01T00:00:00Z", note).line


def test_events_that_begin_as_those_of_an_arrival_are_not_its_own(tmp_path: Path) -> None:
    ready, log = tmp_path / "ready", Log(tmp_path / "local")
    for folder in (ready, log.folder):
        folder.mkdir()
    arrive(ready, log, [line_of("one"), line_of("two")])
    log.append_lines([line_of("one"), line_of("another")])
    with pytest.raises(CorruptData, match="the log has grown since"):
        settle(log)
    assert log.lines() == [line_of("one"), line_of("another")]


def test_a_split_of_a_longer_name_is_another_one(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    (layout.published / "toy").mkdir(parents=True)
    (layout.published / "toy" / "findings.toml").write_text(FINDINGS)
    names = ("cdataset random:share=0.5", "cdataset random:share=0.55", "cdataset random:share=0.", "random")
    assert [len(findings_on(layout, "toy", name)) for name in names] == [1, 0, 0, 0]


@pytest.mark.parametrize("other", ["predictions.npy", "log.txt"])
def test_scores_of_which_one_file_is_another_are_not_the_runs(here: Store, other: str) -> None:
    record, scores = here.record(planned_job().key), here.folder.parent / "scores"
    evidence = {name: file.sha256 for name, file in record.files.items()}
    path = scores / record.key[:2] / f"{record.key}.json"
    for changed, counts in (({}, True), ({other: "0" * 64}, False)):
        kept = Scores(record.key, "s" * 64, {**evidence, **changed}, {"AUC": 0.5}, {}).to_json()
        write_json(path, kept)
        assert stored_results(here, scores)[record.key].score == (kept["digest"] if counts else "")


def test_an_index_is_of_the_runs_that_were_asked_for(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    first, second = (planned_of(cell).key for cell in made_up.cells[:2])
    for keys in ([], [second], [first, second]):
        table = pq.read_table(build_index(evidence, tmp_path / "index.parquet", keys).path)
        assert sorted(table["key"].to_pylist()) == sorted(keys)


def test_who_looks_at_a_store_waits_until_a_run_is_in_its_place(here: Store) -> None:
    looked = threading.Event()

    def look() -> None:
        with here.undisturbed():
            looked.set()

    reader = threading.Thread(target=look)
    with (here.folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        reader.start()
        assert not looked.wait(0.2)
    reader.join()
    assert looked.is_set()


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict.is_final])
def test_no_end_of_a_run_is_lost_in_a_merge_without_a_word(here: Store, tmp_path: Path, verdict: Verdict) -> None:
    """A failure that somebody removed by hand is told as a result is."""
    other = Store(tmp_path / "other" / "runs")
    planned = planned_job(2)
    put_run(other, planned, tmp_path / "made", verdict)
    shutil.rmtree(other.path(planned.key))
    outcome = merge(layout_of(here.folder.parent), other.folder.parent)
    assert [run.what for run in outcome.refused] == [
        f"leaf 1 of its log tells of '{verdict}', and the run is not there"
    ]


@pytest.mark.parametrize("verdict", [Verdict.TIMEOUT, Verdict.ERROR])
def test_of_two_failures_the_ends_are_compared_and_no_bits(here: Store, tmp_path: Path, verdict: Verdict) -> None:
    """A run that was ended may have written anything by then."""
    planned, other = planned_job(2), Store(tmp_path / "other" / "runs")
    for store in (here, other):
        answer = tmp_path / "predictions.npy"
        answer.write_text(str(store.folder))
        store.put(record_of(planned, verdict), {"predictions.npy": answer})
    outcome = merge(layout_of(here.folder.parent), other.folder.parent)
    assert (outcome.equal, outcome.disagreements, here.standing(planned.key).verdict) == (1, [], verdict)
