"""What just fits passes, what just does not is refused: faults that are shown, cells, suites and scores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.audit.steps import failed, not_checked, ok
from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.export.contents import SuiteCell, SuiteFile, bill_path, crate_layout, read_suite
from harness.export.integrity import check_cells, check_plan, check_sums
from harness.export.scores import difference
from harness.planning.suites import jobs_of, load_suite
from harness.results.scoring import Scores
from tests.fabricate import job_of, plan_of, planned_of


@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 22])
def test_of_many_faults_twenty_are_shown(count: int, tmp_path: Path) -> None:
    lines = [f"{'0' * 64}  {number:02}\n" for number in range(count)]
    (tmp_path / "SHA256SUMS").write_text("".join(lines))
    where = str(tmp_path / "SHA256SUMS")
    steps = [failed("files", f"missing: {number:02}", where=where) for number in range(min(count, 20))]
    if count > 20:
        steps.append(failed("files", f"and {count - 20} more", where=where))
    assert check_sums(tmp_path) == (steps or [ok("files", "0 files against SHA256SUMS")])


def test_files_are_held_against_their_list(tmp_path: Path) -> None:
    sums = {"a": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}
    (tmp_path / "a").write_text("a")
    (tmp_path / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    assert check_sums(tmp_path) == [ok("files", "1 file against SHA256SUMS")]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "more").write_text("")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "folder").symlink_to("b")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_text("b")
    told = [step.what for step in check_sums(tmp_path)]
    assert told == [
        "no file or folder: folder",
        "no file or folder: link",
        "no file or folder: pipe",
        "its checksum differs: a",
        "not listed: b/more",
    ]
    (tmp_path / "SHA256SUMS").write_bytes(b"\xff\xfe")
    with pytest.raises(CorruptData, match="the list of checksums is no text") as refused:
        check_sums(tmp_path)
    assert refused.value.where == str(tmp_path / "SHA256SUMS")


@pytest.mark.parametrize("digest", ["", "ca978112ca1b", f"{'ca978112ca1bbdcafac231b39a23dc4d':0<64}"])
def test_a_part_of_a_checksum_vouches_for_nothing(digest: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "SHA256SUMS").write_text(f"{digest}  a\n")
    where = str(tmp_path / "SHA256SUMS")
    assert check_sums(tmp_path) == [failed("files", "its checksum differs: a", where=where)]


def test_a_cell_says_that_it_ended_only_where_its_run_is(repository: Layout) -> None:
    cells = plan_of(repository, ["constant", "als_wr"]).cells
    planned = [planned_of(cell) for cell in cells]

    def cell(number: int, verdict: Verdict, pinned: int | None = -1) -> SuiteCell:
        own = None if pinned is None else planned[number if pinned < 0 else pinned]
        return SuiteCell(job=cells[number].job, planned=own, verdict=verdict, reason="")

    keys = {planned[0].key}
    fine = [
        cell(0, Verdict.OK),
        cell(1, Verdict.PENDING),
        cell(2, Verdict.INFRASTRUCTURE),
        cell(3, Verdict.MISSING_DATA, None),
    ]
    assert check_cells(fine, keys) == [ok("suite", "4 planned cells")]
    wrong = [
        cell(1, Verdict.OK),
        cell(2, Verdict.TIMEOUT, None),
        cell(3, Verdict.PENDING, 0),
        # of another seed alone
        cell(3, Verdict.PENDING, 2),
        cell(3, Verdict.OK, 0),
    ]
    assert check_cells(wrong, keys) == [
        failed("suite", f"a run is planned twice: {planned[0].key}", where="suite.json"),
        *[failed("suite", f"a cell is pinned to another job: {cells[3].job.label}", where="suite.json")] * 3,
        failed("suite", f"'ok' without a run: {cells[1].job.label}", where="suite.json"),
        failed("suite", f"'timeout' without a run: {cells[2].job.label}", where="suite.json"),
    ]
    # of other parameters alone, which no name of a job tells
    job = cells[3].job.model_copy(update={"parameters": {"reg": 9.0}})
    other = SuiteCell(job=job, planned=planned[3], verdict=Verdict.PENDING, reason="")
    assert check_cells([other], keys) == [
        failed("suite", f"a cell is pinned to another job: {cells[3].job.label}", where="suite.json")
    ]


def test_a_suite_has_the_cells_that_the_repository_plans(repository: Layout) -> None:
    jobs = [*jobs_of(repository, load_suite("dti-smoke"))]
    stranger = job_of(repository, "constant", 1)

    def suite(name: str, *jobs: Any) -> SuiteFile:
        cells = [SuiteCell(job=job, planned=None, verdict=Verdict.PENDING, reason="") for job in jobs]
        return SuiteFile.model_validate(
            {"name": name, "extent": "records and scores of reference results", "profile": "process"}
            | {"describer": "", "cells": cells}
        )

    assert check_plan(repository, suite("dti-smoke", *jobs)) == [
        ok("plan", "the cells that suite 'dti-smoke' plans")
    ]
    assert check_plan(repository, suite("dti-smoke", *jobs[1:], stranger)) == [
        failed("plan", f"not in the crate: {jobs[0].label}", where="suite.json"),
        failed("plan", f"not in the suite: {stranger.label}", where="suite.json"),
    ]
    assert check_plan(repository, suite("mine", *jobs)) == [
        not_checked("plan", "'mine' is no suite of this repository: who packed it chose its runs")
    ]


def test_the_reason_why_a_suite_can_not_be_read_is_short(tmp_path: Path) -> None:
    with pytest.raises(CorruptData) as refused:
        read_suite(tmp_path)
    told = f"[Errno 2] No such file or directory: '{tmp_path}/suite.json'"
    assert refused.value.where == f"{tmp_path}/suite.json: {told[:200]}"
    assert refused.value.todo == "name the folder or the .zip that `harness export` wrote"
    (tmp_path / "suite.json").write_text('{"name": 1}')
    with pytest.raises(ValidationError) as whole:
        SuiteFile.model_validate({"name": 1})
    words = " ".join(str(whole.value).split())
    assert len(words) > 201
    with pytest.raises(CorruptData, match="this is no crate of Permafrost, or its suite can't be read") as refused:
        read_suite(tmp_path)
    assert refused.value.where == f"{tmp_path}/suite.json: {words[:200]}"


def _scores(metrics: dict[str, float | None], series: Any = None, notes: Any = None) -> Scores:
    return Scores("key", "scorer", {}, metrics, notes=notes or {}, series=series or {})


@pytest.mark.parametrize(
    ("computed", "kept", "told"),
    [
        ({"a": 0.5, "b": None}, {"a": 0.5, "b": None}, ""),
        ({"a": 0.5}, {"a": 0.5 + 9e-13}, ""),
        ({"a": 1000.0}, {"a": 1000.0 + 9e-10}, ""),
        ({"a": 0.5}, {"a": 0.5 + 1.2e-12}, "metric a is 0.5, kept is 0.5000000000012"),
        ({"a": 1000.0}, {"a": 1000.0 + 1.1e-9}, "metric a is 1000.0, kept is 1000.0000000011"),
        ({"a": 0.0}, {"a": 9e-13}, ""),
        ({"a": 0.0}, {"a": 2e-12}, "metric a is 0.0, kept is 2e-12"),
        ({"a": None}, {"a": 0.0}, "metric a is None, kept is 0.0"),
        ({"a": 0.0}, {"a": None}, "metric a is 0.0, kept is None"),
        ({"b": 1.0, "a": 2.0}, {"b": 2.0, "a": 1.0}, "metric a is 2.0, kept is 1.0"),
        ({"a": 1.0}, {"a": 1.0, "b": None}, "metric b stands on one side only"),
        ({"a": 1.0, "b": 1.0}, {"b": 1.0}, "metric a stands on one side only"),
    ],
)
def test_scores_differ_beyond_the_last_bits(computed: Any, kept: Any, told: str) -> None:
    assert difference(_scores(computed), _scores(kept)) == told


def test_series_and_notes_agree_to_the_last_digit() -> None:
    one = _scores({}, {"x": [0.5]}, {"a": "why"})
    assert difference(one, _scores({}, {"x": [0.5]}, {"a": "why"})) == ""
    assert difference(one, _scores({}, {"x": [0.5 + 1e-15]}, {"a": "why"})) == "a series of values differs"
    assert difference(one, _scores({}, {"x": [0.5]}, {"a": "why not"})) == "the notes differ"
    assert difference(one, _scores({"a": 1.0}, {}, {})) == "metric a stands on one side only"


def test_a_crate_is_laid_out_as_a_machine_is(tmp_path: Path) -> None:
    layout = crate_layout(tmp_path)
    places = (layout.root, layout.cache, layout.local, layout.benchmarks, layout.runs)
    names = ("repository", "data", "", "repository/harness/benchmarks", "runs")
    assert places == tuple(tmp_path / name for name in names)
    assert bill_path("bnnr", "cuda") == "materials/bnnr.cuda.cdx.json"
