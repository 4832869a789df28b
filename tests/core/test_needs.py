"""A long run is told what it needs before it begins, and refused when the disk can't hold it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from harness.base.errors import CorruptData, EngineError
from harness.base.layout import Layout
from harness.base.machine import reserve_of
from harness.base.vocabulary import Verdict
from harness.cli import group
from harness.data import load_manifest
from harness.images import recorded_size
from harness.methods.card import load_method
from harness.planning import needs
from harness.planning.budget import this_machine
from harness.planning.cells import Cell
from harness.planning.jobs import PlannedJob
from harness.planning.needs import Needs, check_disk, needs_of, run_kind
from harness.planning.plan import make_plan
from harness.planning.suites import jobs_of, load_suite
from harness.results.durations import reference_seconds
from harness.results.reference import load_reference
from harness.results.store import Store, join
from tests.core.factories import record_of


def _cells(layout: Layout) -> Sequence[Cell]:
    plan = make_plan(layout, "smoke", jobs_of(layout, load_suite("smoke")))
    return join(plan, Store(layout.runs), records=True)


def test_what_is_left_is_counted(layout: Layout) -> None:
    told = needs_of(layout, "smoke", _cells(layout))
    assert told.planned == told.left == len(_cells(layout))
    # five models' scores of 18,000 test pairs and one of 72,000 training pairs, eight bytes each
    large = sum(1 for cell in _cells(layout) if cell.job.benchmark == "repurposing")
    assert large and told.result_bytes >= large * 8 * (5 * 18_000 + 72_000)
    assert told.image_bytes > 0
    assert "not measured here yet" in told.text()


def test_finished_runs_are_not_left_and_tell_the_time(layout: Layout, tmp_path: Path) -> None:
    store = Store(layout.runs)
    first = next(cell.planned for cell in _cells(layout) if cell.job.method == "constant")
    assert isinstance(first, PlannedJob)
    log = tmp_path / "log.txt"
    log.write_text("")
    store.put(record_of(first).model_copy(update={"resources": {"wall_s": 36.0}}), {"log.txt": log})
    told = needs_of(layout, "smoke", _cells(layout))
    assert told.left == told.planned - 1
    assert told.measured == 1
    assert told.cpu_hours == pytest.approx(0.01)


def test_cells_that_can_not_be_run_are_told_to_programs(layout: Layout) -> None:
    first, *others = _cells(layout)
    without = replace(first, planned=None, verdict=Verdict.MISSING_DATA)
    told = needs_of(layout, "smoke", [without, *others])
    assert json.loads(json.dumps(asdict(told)))["cannot_run"] == {"missing-data": 1}
    assert "1 missing-data" in told.text()


def on_one_disk(layout: Layout) -> Layout:
    return replace(layout, cache=layout.local / "cache")


def test_a_disk_that_is_too_small_is_said_before_the_run(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    told = needs_of(layout, "smoke", _cells(layout))
    monkeypatch.setattr(needs, "needs_of", lambda *_: replace(told, free_bytes=told.disk_bytes - 1))
    with pytest.raises(EngineError, match="of disk") as caught:
        check_disk(on_one_disk(layout), "smoke", _cells(layout))
    assert "--remove-images" in caught.value.todo


def test_a_disk_that_would_be_full_to_its_reserve_is_said_too(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = needs_of(layout, "smoke", _cells(layout))
    reserve = reserve_of(shutil.disk_usage(layout.local).total)
    # the data of this suite are embedded: they are here
    needed = told.disk_bytes - told.data_bytes + reserve
    for free, fits in ((needed - 1, False), (needed, True)):
        monkeypatch.setattr(needs, "needs_of", lambda *_, free=free: replace(told, free_bytes=free))
        with nullcontext() if fits else pytest.raises(EngineError, match="must stay free"):
            check_disk(on_one_disk(layout), "smoke", _cells(layout))


def ended(cell: Cell, verdict: Verdict, wall_s: float | None = None) -> Cell:
    resources = {} if wall_s is None else {"wall_s": wall_s}
    return replace(cell, verdict=verdict, record={"resources": resources})


def test_what_is_left_is_what_has_not_ended_for_good(layout: Layout) -> None:
    first, second, third, *others = _cells(layout)
    cells = [
        ended(first, Verdict.OK, 10.0),
        ended(second, Verdict.INTERRUPTED),
        ended(third, Verdict.TIMEOUT, 3600.0),
        *others,
    ]
    told = needs_of(layout, "smoke", cells)
    assert (told.planned, told.left) == (len(cells), len(cells) - 2)


def test_hours_are_the_median_of_runs_of_the_same_method_and_dataset(layout: Layout) -> None:
    first = _cells(layout)[0]
    waiting = [first] * 3
    made = [ended(first, Verdict.OK, seconds) for seconds in (1.0, 72.0, 9000.0)]
    failed = ended(first, Verdict.TIMEOUT, 99_999.0)
    job = first.job.model_copy(update={"method": "another"})
    elsewhere = ended(replace(first, job=job), Verdict.OK, 99_999.0)
    told = needs_of(layout, "smoke", [*made, failed, elsewhere, *waiting])
    assert (told.left, told.measured) == (3, 3)
    assert told.cpu_hours == pytest.approx(3 * 72 / 3600)
    card = load_method(layout, first.job.method)
    assert told.most_cpu_hours == pytest.approx(3 * card.resources.seconds * card.resources.cpus / 3600)


def test_disk_is_counted_of_what_is_left(layout: Layout) -> None:
    everything = _cells(layout)
    none = needs_of(layout, "smoke", [ended(cell, Verdict.OK) for cell in everything])
    assert (none.image_bytes, none.data_bytes, none.result_bytes, none.left) == (0, 0, 0, 0)
    told = needs_of(layout, "smoke", everything)
    datasets = {cell.job.dataset for cell in everything}
    files = [file.bytes for name in datasets for file in load_manifest(layout, name).files]
    assert told.data_bytes == sum(files)
    beside = 64 * 1024 * len(everything)
    results = sum(
        load_manifest(layout, cell.job.dataset).statistics.result_bytes(cell.job.options) for cell in everything
    )
    assert told.result_bytes == results + beside
    assert told.image_bytes == recorded_size(layout, {cell.job.method for cell in everything}, "cpu")
    assert told.disk_bytes == told.image_bytes + told.data_bytes + told.result_bytes
    assert told.free_bytes > 0 and told.cpus == this_machine().cpus


def needs_like(**changed: Any) -> Needs:
    fields: dict[str, Any] = {
        "plan": "smoke",
        "planned": 9,
        "left": 4,
        "cannot_run": {},
        "image_bytes": 2_000_000_000,
        "data_bytes": 50_000_000,
        "result_bytes": 99_999_999,
        "free_bytes": 3_000_000_000,
        "cpu_hours": 8.0,
        "measured": 4,
        "most_cpu_hours": 20.0,
        "cpus": 2,
    }
    return Needs(**{**fields, **changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "time: about 4.0 h on 2 CPUs for 4 of 4 runs\n"),
        ({"measured": 0}, "time: not measured here yet; at most 10 h by the limits of the method cards\n"),
        ({"measured": 3}, "for 3 of 4 runs, the other 1 not measured here yet; at most 10 h by"),
        (
            {"cannot_run": {"missing-data": 2, "infrastructure": 1}},
            "4 left, 1 infrastructure and 2 missing-data\n",
        ),
        ({}, "smoke: 9 cells planned, 4 left\n"),
        ({}, "disk: 2.1 GB (images 2.0 GB, data 50 MB, results 100 MB); free here: 3.0 GB\n"),
        ({"result_bytes": 100_000_000}, "results 0.1 GB"),
        ({"here_bytes": 1_900_000_000}, "results 100 MB), 1.9 GB of it here already; free here: 3.0 GB"),
        ({}, "start or resume it with: ./run_all.sh --suite smoke"),
    ],
)
def test_needs_are_told_in_words(changed: dict[str, Any], said: str) -> None:
    assert said in needs_like(**changed).text()


def test_nothing_left_needs_no_time() -> None:
    assert "time:" not in needs_like(left=0).text() and "start or resume" not in needs_like(left=0).text()


def _kinds(cell: Cell, count: int) -> list[Cell]:
    """As many cells of different kinds."""
    jobs = [
        cell.job.model_copy(update={"dataset": name}) for name in ("synthetic", "fdataset", "cdataset", "hdvd")
    ]
    return [replace(cell, job=job) for job in jobs[:count]]


def test_hours_that_nobody_measured_here_are_those_of_the_reference(layout: Layout) -> None:
    first = _cells(layout)[0]
    told = needs_of(layout, "smoke", [first, first], {run_kind(first.job): 90.0})
    assert (told.measured, told.estimated, told.scale) == (0, 2, None)
    assert told.estimated_cpu_hours == pytest.approx(2 * 90 / 3600)
    assert "2 estimated from the reference results, as if this machine were as fast" in told.time()
    # where it was measured here, that counts
    measured = needs_of(layout, "smoke", [first, ended(first, Verdict.OK, 36.0)], {run_kind(first.job): 90.0})
    assert (measured.measured, measured.estimated, measured.estimated_cpu_hours) == (1, 0, 0.0)


def test_hours_of_the_reference_are_scaled_to_this_machine(layout: Layout) -> None:
    first = _cells(layout)[0]
    kinds = _kinds(first, 4)
    reference = {run_kind(cell.job): 10.0 for cell in kinds}

    def needs_after(*seconds: float) -> Needs:
        done = [
            replace(ended(cell, Verdict.OK), record={"resources": {"cpu_s": one}})
            for cell, one in zip(kinds, seconds, strict=False)
        ]
        return needs_of(layout, "smoke", [*done, kinds[3]], reference)

    slow = needs_after(20.0, 30.0, 90.0)
    assert slow.scale == pytest.approx(3.0)
    assert slow.estimated_cpu_hours == pytest.approx(3 * 10 / 3600)
    assert "times 3" in slow.time()
    # two kinds are too few to tell
    assert needs_after(20.0, 30.0).scale is None


def test_a_gpu_takes_no_hours_from_the_cpu(layout: Layout) -> None:
    first = _cells(layout)[0]
    on_gpu = replace(first, job=first.job.model_copy(update={"accelerator": "cuda"}))
    told = needs_of(layout, "smoke", [on_gpu], {run_kind(first.job): 90.0})
    assert (told.estimated, told.estimated_cpu_hours) == (0, 0.0)


def test_one_run_takes_its_time_on_any_number_of_processors(layout: Layout) -> None:
    first = _cells(layout)[0]
    told = replace(needs_of(layout, "smoke", [first], {run_kind(first.job): 3600.0}), cpus=8)
    assert told.time().startswith("time: about 1.0 h on 8 CPUs")


def test_seconds_are_those_of_the_committed_runs(repository: Layout) -> None:
    job = next(cell.job for cell in _cells(repository) if cell.job.method == "als_wr")
    spent = [
        entry.content["resources"]["cpu_s"]
        for entry in load_reference(repository, "repurposing").values()
        if run_kind(entry.planned.job) == run_kind(job)
    ]
    seconds = reference_seconds(repository, [job, job.model_copy(update={"method": "nobody"})])
    assert seconds == {run_kind(job): pytest.approx(float(np.median(spent)))}
    assert reference_seconds(repository, [job.model_copy(update={"accelerator": "cuda"})]) == {}


def test_a_cut_file_of_reference_results_is_named(layout: Layout, tmp_path: Path) -> None:
    job = _cells(layout)[0].job
    copy = Layout(root=tmp_path, cache=layout.cache, local=layout.local)
    path = copy.reference / job.benchmark / job.method / "x.jsonl.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not gzipped")
    with pytest.raises(CorruptData) as refusal:
        reference_seconds(copy, [job])
    assert refusal.value.where == str(path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan"], "smoke: "),
        (["plan", "--method", "bnnr"], "full, only bnnr: "),
        (
            ["plan", "--method", "constant", "--dataset", "synthetic", "--seed", "5"],
            "request: 1 cell planned, 1 left",
        ),
        (["run", "--method", "constant", "--dataset", "synthetic", "--seed", "5", "--dry-run"], "request: 1 cell"),
        (["run", "--suite", "smoke", "--dry-run"], "smoke: "),
    ],
)
def test_a_plan_of_any_request_is_shown_and_nothing_runs(
    arguments: list[str], said: str, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(layout.local))
    monkeypatch.setattr("harness.api.runs.find_engine", None)
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0, done.output
    assert said in done.output
    assert "estimated from the reference results" in done.output
    as_json = json.loads(CliRunner().invoke(group, [*arguments, "--json"]).stdout)
    assert as_json["needs"]["planned"] == len(as_json["cells"])
    assert not list(Store(layout.runs).finished())
