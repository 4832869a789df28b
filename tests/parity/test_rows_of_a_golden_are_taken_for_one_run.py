"""Goldens that hold only answers, a run per row, find their split beside them and the parameter that changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.errors import ManifestError
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.base.vocabulary import Verdict
from harness.execution.trials import Result, Trial
from harness.methods.card import MethodCard, ParityTable, Tolerance
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing, compare
from tests.parity.conftest import save

Array = npt.NDArray[Any]
MASK = np.array([[1, 0, 0], [0, 1, 1]], dtype=np.int8)


@dataclass
class Counting:
    """Scores every asked pair with the parameter that counts."""

    folder: Path
    asked: list[Trial] = field(default_factory=list)

    @contextmanager
    def __call__(self, trial: Trial) -> Iterator[Result]:
        self.asked.append(trial)
        out = self.folder / f"out-{len(self.asked)}"
        out.mkdir(parents=True)
        scores = np.full((1, int((trial.inputs["folds"] == -1).sum())), float(trial.parameters["count"]))
        (out / "predictions.npy").write_bytes(npy_bytes(scores))
        yield Result(Verdict.OK, "", out, 2.0)


@pytest.fixture
def counting(card: MethodCard) -> MethodCard:
    """A card whose golden has a row per value of `count`, which starts at 7."""
    table = ParityTable(
        cases="rows_{dataset}_{seed}",
        rows="count",
        inputs={"associations": "split:A_train", "folds": "split:val_mask"},
        compare={"pred_val": Tolerance(of="pred")},
    )
    variant = card.variant("published").model_copy(update={"parameters": {"count": 7, "name": "x"}})
    changed = {"inputs": ["associations", "folds"], "parity": [table], "variants": {"published": variant}}
    return card.model_copy(update=changed)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Three rows, and beside them cases of the same and of another split."""
    folder = tmp_path / "rows"
    folder.mkdir()
    save(folder / "rows_Small_12.npz", {"pred_val": np.array([[7.0] * 3, [8.0] * 3, [9.0] * 3])})
    split = {"A_train": 1 - MASK, "val_mask": MASK, "train_mask": 1 - MASK}
    save(folder / "other_Small_12.npz", split)
    save(folder / "other_Small_13.npz", {**split, "val_mask": 1 - MASK})
    return folder


def check(layout: Layout, folder: Path, card: MethodCard, run: Counting) -> CaseFinding:
    cases = [case for case in find_cases(folder) if case.name.startswith("rows")]
    (finding,) = check_cases(layout, cases, [card], run)
    return finding


def test_each_row_is_a_run_of_its_own(layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path) -> None:
    run = Counting(tmp_path)
    finding = check(layout, rows, counting, run)
    assert finding.worst is Standing.OK
    assert finding.seconds == 6.0
    assert [trial.parameters["count"] for trial in run.asked] == [7, 8, 9]
    for trial in run.asked:
        np.testing.assert_array_equal(trial.inputs["folds"] == -1, MASK == 1)
        np.testing.assert_array_equal(trial.inputs["associations"], 1 - MASK)


def test_one_row_that_differs_is_found(layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path) -> None:
    save(rows / "rows_Small_12.npz", {"pred_val": np.array([[7.0] * 3, [8.0, 8.0, 8.1], [9.0] * 3])})
    assert check(layout, rows, counting, Counting(tmp_path)).worst is Standing.BEYOND


def test_rows_without_their_split_are_said(
    layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path
) -> None:
    (rows / "other_Small_12.npz").unlink()
    finding = check(layout, rows, counting, Counting(tmp_path))
    assert finding.worst is Standing.FAILED
    assert "A_train, train_mask, val_mask" in finding.note


def test_a_damaged_case_among_those_that_may_hold_the_split_is_named(
    layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path
) -> None:
    (rows / "other_Small_12.npz").write_bytes(b"PK")
    finding = check(layout, rows, counting, Counting(tmp_path))
    assert finding.worst is Standing.FAILED and finding.note.startswith("not a readable golden: ")
    assert finding.note.endswith(f" ({rows / 'other_Small_12.npz'})")


def test_the_first_case_that_holds_the_split_is_taken(
    layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path
) -> None:
    """Whatever the order in which the files were written, and whatever else it holds."""
    for name in ("z", "b", "y", "c"):
        save(rows / f"{name}_Small_12.npz", {"A_train": MASK, "val_mask": 1 - MASK, "train_mask": MASK})
    first = {"A_train": 1 - MASK, "val_mask": MASK, "train_mask": 1 - MASK, "pred": MASK}
    save(rows / "a_Small_12.npz", first)
    assert check(layout, rows, counting, Counting(tmp_path)).worst is Standing.OK


def test_rows_of_which_the_golden_holds_none_are_told(
    layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path
) -> None:
    save(rows / "rows_Small_12.npz", {"other": np.zeros((3, 3))})
    finding = check(layout, rows, counting, Counting(tmp_path))
    assert finding.worst is Standing.FAILED
    assert finding.note == "none of the arrays to compare is in the golden"
    save(rows / "rows_Small_12.npz", {"pred_val": np.zeros((0, 3))})
    assert check(layout, rows, counting, Counting(tmp_path / "other")).worst is Standing.BEYOND


@pytest.mark.parametrize("shorter", ["pred", "pred_val"])
def test_arrays_of_unequal_rows_have_the_runs_of_the_shortest_and_are_no_match(
    layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path, shorter: str
) -> None:
    """A run costs hours: none is made that an array has no row for. What has more rows says so."""
    longer = {"pred": "pred_val", "pred_val": "pred"}[shorter]
    compared = {"pred_val": Tolerance(of="pred"), "pred": Tolerance(), "absent": Tolerance()}
    table = counting.parity[0].model_copy(update={"compare": compared})
    golden = {name: np.array([[7.0] * 3, [8.0] * 3, [9.0] * 3]) for name in (shorter, longer)}
    save(rows / "rows_Small_12.npz", {**golden, shorter: golden[shorter][:2], "other": np.zeros((1, 3))})
    run = Counting(tmp_path)
    finding = check(layout, rows, counting.model_copy(update={"parity": [table]}), run)
    assert [trial.parameters["count"] for trial in run.asked] == [7, 8]
    found = {one.array: (one.standing, one.note) for one in finding.arrays}
    assert found[shorter] == (Standing.OK, "")
    assert found[longer] == (Standing.BEYOND, "shape (2, 3) instead of (3, 3)")
    assert found["absent"] == (Standing.ABSENT, "not in the golden")
    assert (finding.worst, finding.seconds) == (Standing.BEYOND, 4.0)


def test_a_single_number_is_a_golden_of_one_row(
    layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path
) -> None:
    save(rows / "rows_Small_12.npz", {"pred_val": np.array(7.0)})
    run = Counting(tmp_path)
    finding = check(layout, rows, counting, run)
    assert [trial.parameters["count"] for trial in run.asked] == [7]
    assert [one.note for one in finding.arrays] == ["shape (3,) instead of ()"]


def test_rows_of_a_parameter_that_does_not_count_are_refused(
    layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path
) -> None:
    table = counting.parity[0].model_copy(update={"rows": "name"})
    with pytest.raises(ManifestError, match="'name' is no parameter that counts"):
        check(layout, rows, counting.model_copy(update={"parity": [table]}), Counting(tmp_path))


def test_a_golden_of_all_pairs_is_compared_where_it_was_asked(
    layout: Layout, rows: Path, counting: MethodCard, tmp_path: Path
) -> None:
    table = counting.parity[0].model_copy(update={"rows": "", "compare": {"pred": Tolerance()}})
    # the original left zeros where nothing was asked
    save(rows / "rows_Small_12.npz", {"pred": MASK * 7.0})
    card = counting.model_copy(update={"parity": [table]})
    assert check(layout, rows, card, Counting(tmp_path)).worst is Standing.OK


def test_a_mean_tolerance_allows_one_large_difference_and_not_many() -> None:
    golden, ours = np.zeros(10), np.zeros(10)
    ours[3] = 0.5
    found = compare("pred", ours, golden, Tolerance(absolute=0.1, mean=True))
    assert (found.standing, found.error) == (Standing.OK, 0.05)
    assert "mean" in found.note
    assert compare("pred", ours + 0.1, golden, Tolerance(absolute=0.1, mean=True)).standing is Standing.BEYOND
