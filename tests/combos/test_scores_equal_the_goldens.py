"""Golden scores and draws must come out as the original printed them, and one that differs must be told."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import MissingData
from harness.base.layout import Layout
from harness.benchmarks.combos.parity import metrics
from harness.execution.trials import on_demand
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing

FOLDERS = ("d_eval", "e_reference_points", "f_bootstrap")


def _findings(
    layout: Layout, golden: Path, mirrors: Sequence[Path], names: Sequence[str] = FOLDERS
) -> dict[str, CaseFinding]:
    cases = [case for case in find_cases(golden) if case.name in names]
    with on_demand(layout) as run:
        findings = check_cases(layout, cases, [], run, mirrors=mirrors, only=["metrics"])
        return {finding.case: finding for finding in findings}


def _standings(finding: CaseFinding) -> dict[str, Standing]:
    return {array.array: array.standing for array in finding.arrays if array.standing is not Standing.OK}


@pytest.fixture
def golden(shared: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    folder = tmp_path / "combos"
    for path in (shared / "golden" / "combos").rglob("*"):
        if path.is_file() and path.relative_to(shared / "golden" / "combos").as_posix().startswith(FOLDERS):
            copy = folder / path.relative_to(shared / "golden" / "combos")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def _case(file: str) -> str:
    return next(name for name in FOLDERS if file.startswith(name))


def _edit(path: Path, change: Callable[[Any], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_all_scores_and_draws_agree(layout: Layout, shared: Path) -> None:
    findings = _findings(layout, shared / "golden" / "combos", [shared / "mirror"])
    assert {name: finding.worst for name, finding in findings.items()} == dict.fromkeys(FOLDERS, Standing.OK)
    assert not any(_standings(finding) for finding in findings.values())
    counts = [len(findings[name].arrays) for name in FOLDERS]
    # ten files; nine points; three lists of buckets, and five of both sides of eight settings
    assert counts == [10, 9, 3 + 8 * 2 * 5]
    odd = {array.array: array.note for array in findings["d_eval"].arrays}["pred_10"]
    assert odd.startswith("1 of unknown documents count as wrong; 1 with drugs that the document does not have")


def test_without_the_originals_nothing_is_compared(
    layout: Layout, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise MissingData("final_test_set.jsonl is in none of its sources", where="there", todo="bring it")

    monkeypatch.setattr(metrics, "load_dataset", missing)
    findings = _findings(layout, shared / "golden" / "combos", [])
    assert {finding.standing for finding in findings.values()} == {Standing.MISSING_DATA}
    assert {finding.note.rpartition(";")[2] for finding in findings.values()} == {
        " give its originals with --mirror"
    }


def _raise_f(content: Any) -> None:
    content["pred_00"]["scores"]["exact_pos"]["f"] += 1e-11


def _no_crash(content: Any) -> None:
    content["all_label_0"]["exact_any"] = {"f": 0.0, "p": 0.0, "r": 0.0}


def _one_better(content: Any) -> None:
    side = "gold_side_recall_(original_prints_Precision)"
    content["settings"]["arity/exact/any"][side]["B_better_of_1000"] += 1


def _new_point(content: Any) -> None:
    """In front of all others, of which one is wrong."""
    _no_crash(content)
    points = {"another": content["answers_vs_answers"], **content}
    content.clear()
    content.update(points)


def _lost_scores(content: Any) -> None:
    """And further down one is wrong."""
    del content["pred_02"]
    content["pred_18"]["scores"]["exact_pos"]["f"] += 1e-11


@pytest.mark.parametrize(
    ("file", "change", "expected"),
    [
        ("d_eval/scores.json", _raise_f, {"pred_00": Standing.BEYOND}),
        ("d_eval/scores.json", _lost_scores, {"pred_02": Standing.ABSENT, "pred_18": Standing.BEYOND}),
        (
            "d_eval/scores.json",
            lambda content: content.update(pred_99=content["pred_02"]),
            {"pred_99": Standing.ABSENT},
        ),
        ("e_reference_points.json", _no_crash, {"all_label_0": Standing.BEYOND}),
        (
            "e_reference_points.json",
            _new_point,
            {"another": Standing.NOT_IMPLEMENTED, "all_label_0": Standing.BEYOND},
        ),
        ("f_bootstrap/results.json", _one_better, {"arity/exact/any/gold/better": Standing.BEYOND}),
    ],
)
def test_results_that_differ_are_told(
    layout: Layout, shared: Path, golden: Path, file: str, change: Callable[[Any], None], expected: object
) -> None:
    _edit(golden / file, change)
    (finding,) = _findings(layout, golden, [shared / "mirror"], [_case(file)]).values()
    assert _standings(finding) == expected


def test_one_draw_that_differs_is_told(layout: Layout, shared: Path, golden: Path) -> None:
    path = golden / "f_bootstrap" / "theta.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["arity__partial__any__predB"][999] += 1e-9
    np.savez(path, **arrays)
    (finding,) = _findings(layout, golden, [shared / "mirror"], ["f_bootstrap"]).values()
    assert _standings(finding) == {"arity/partial/any/pred/theta": Standing.BEYOND}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("d_eval/pred_04.jsonl.gz", gzip.compress(b'{"doc_id": "a", "drug_idxs": [0', mtime=0)),
        ("d_eval/pred_04.jsonl.gz", b"not compressed"),
        # cut, and with blocks of no kind
        ("d_eval/pred_04.jsonl.gz", gzip.compress(b"", mtime=0)[:-4]),
        ("d_eval/pred_04.jsonl.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20),
        ("d_eval/pred_04.jsonl.gz", gzip.compress(b'{"doc_id": "a"}', mtime=0)),
        (
            "d_eval/pred_04.jsonl.gz",
            gzip.compress(b'{"doc_id": "a", "drug_idxs": [0, 1], "relation_label": "MAYBE"}', mtime=0),
        ),
        ("e_reference_points.json", b"[]"),
        # nothing to compare is no success
        ("e_reference_points.json", b"{}"),
        ("f_bootstrap/theta.npz", b"not an archive"),
        ("f_bootstrap/results.json", b"{}"),
    ],
)
def test_files_that_cannot_be_read_are_failures(
    layout: Layout, shared: Path, golden: Path, file: str, content: bytes
) -> None:
    (golden / file).write_bytes(content)
    (finding,) = _findings(layout, golden, [shared / "mirror"], [_case(file)]).values()
    assert finding.worst is Standing.FAILED
    assert finding.note
