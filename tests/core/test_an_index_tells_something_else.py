"""Each row of the index is one readable run, field by field as its record and its fresh scores have it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.jobs import Job
from harness.planning.plan import Plan
from harness.results.index import build_index, index_path
from harness.results.scoring import scores_path
from harness.results.store import Store
from tests.audit.forging import forge_plan
from tests.fabricate import planned_of


def rows_of(path: Path) -> dict[str, dict[str, object]]:
    import pyarrow.parquet as pq

    return {row["key"]: row for row in pq.read_table(path).to_pylist()}


def test_a_row_says_what_the_record_says(evidence: Layout, made_up: Plan) -> None:
    job = planned_of(made_up.cells[2]).job
    changed = job.model_copy(update={"upstream": "a" * 64, "accelerator": "cuda", "options": {"inner_folds": 3}})
    split = job.split.model_copy(update={"parameters": {"share": 0.5}})
    moved = forge_plan(evidence, made_up, 2, job=changed.model_copy(update={"split": split}))
    store, path = Store(evidence.runs), build_index(evidence).path
    assert path == index_path(evidence) == evidence.local / "index.parquet"
    rows = rows_of(path)
    assert list(rows) == list(store.finished()) and moved in rows
    for key, row in rows.items():
        record = store.record(key)
        one: Job = record.planned.job
        expected = {
            "key": key,
            "benchmark": one.benchmark,
            "method": one.method,
            "variant": one.variant,
            "parameters": json.dumps(one.parameters, sort_keys=True),
            "dataset": one.dataset,
            "split": one.split.text,
            "seed": one.split.seed,
            "options": json.dumps(one.options, sort_keys=True),
            "verdict": str(record.verdict),
            "reason": record.reason,
            "upstream": one.upstream,
            "accelerator": one.accelerator,
            "image_tree": record.planned.image_tree,
            "dataset_digest": record.planned.dataset_digest,
            "split_digest": record.planned.split_digest,
            "started": record.started,
            "finished": record.finished,
            "wall_s": record.resources["wall_s"],
            "cpu_s": record.resources["cpu_s"],
            "peak_bytes": record.resources["peak_bytes"],
        }
        assert {name: row[name] for name in expected} == expected
        kept = scores_path(evidence, key)
        scores = json.loads(kept.read_text())["metrics"] if kept.is_file() else {}
        assert {name: row[name] for name in row.keys() - expected} == {
            name: scores.get(name) for name in row.keys() - expected
        }
        assert bool(scores) == (record.verdict is Verdict.OK and key != moved)
    assert rows[moved]["split"] == "random:share=0.5" and rows[moved]["accelerator"] == "cuda"


def test_a_damaged_run_is_left_out_and_stale_scores_are_not_told(evidence: Layout, made_up: Plan) -> None:
    damaged, stale, whole = (planned_of(cell).key for cell in made_up.cells[:3])
    (Store(evidence.runs).path(damaged) / "log.txt").unlink()
    path = scores_path(evidence, stale)
    path.write_text(path.read_text().replace('"scorer"', '"scorers"'))
    bare = planned_of(made_up.cells[3]).key
    (Store(evidence.runs).path(bare) / "record.json").unlink()
    index = build_index(evidence)
    rows = rows_of(index.path)
    assert rows.keys() == {stale, whole} and index.runs == 2
    log = Store(evidence.runs).path(damaged) / "log.txt"
    assert index.left_out == {
        damaged: f"evidence is damaged: a file of the run is missing ({log})",
        bare: "it has no record",
    }
    assert rows[stale]["AUC/as-published"] is None and rows[whole]["AUC/as-published"] is not None


def test_an_index_goes_into_a_pipe(evidence: Layout, tmp_path: Path) -> None:
    pipe = tmp_path / "index.parquet"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        build_index(evidence, pipe)
        assert os.read(reader, 1 << 16) == build_index(evidence).path.read_bytes() and pipe.is_fifo()
    finally:
        os.close(reader)


@pytest.mark.parametrize("name", ["wall_s", "cpu_s", "peak_bytes"])
def test_what_was_not_measured_is_empty(evidence: Layout, made_up: Plan, name: str) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    record = store.record(key)
    store.amend(
        record.model_copy(
            update={"resources": {kept: one for kept, one in record.resources.items() if kept != name}}
        )
    )
    assert rows_of(build_index(evidence).path)[key][name] is None


def test_an_empty_store_is_an_empty_index(evidence: Layout, tmp_path: Path) -> None:
    nowhere = Layout(evidence.root, evidence.cache, tmp_path / "nowhere")
    index = build_index(nowhere)
    assert rows_of(index.path) == {} and (index.runs, index.left_out) == (0, {})
