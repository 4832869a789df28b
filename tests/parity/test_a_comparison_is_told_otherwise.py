"""What a line of `harness parity` says of how a case was run, and which cases count as a subject's own."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.methods.card import MethodCard
from harness.parity import find_cases
from harness.parity.cases import METHOD, METRICS, SPLITS, GoldenCase, Match, how, matches_of
from harness.parity.check import is_covered
from harness.parity.finding import ArrayFinding, CaseFinding, Standing
from harness.parity.goldens import arrays_in, golden_in


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ""),
        ({"reason": "one\n  reason"}, "one reason"),
        ({"variant": "corrected"}, "variant corrected"),
        ({"task": "step"}, "task step"),
        ({"parameters": {"epoch": 2, "rate": 0.5}}, "epoch = 2; rate = 0.5"),
        (
            {"variant": "corrected", "task": "step", "parameters": {"epoch": 2}, "reason": "it is short"},
            "variant corrected; task step; epoch = 2 (it is short)",
        ),
    ],
)
def test_what_differs_from_a_plain_run_is_told_with_the_reason(
    card: MethodCard, golden: Path, changes: dict[str, Any], told: str
) -> None:
    (case,) = find_cases(golden)
    plain = {"variant": "published", "task": "predict", "parameters": {}, "reason": "", **changes}
    assert how(Match(case, card, card.parity[0].model_copy(update=plain), "Small", 12)) == told


@pytest.mark.parametrize(
    ("benchmark", "of", "taken"),
    [(None, "repurposing", "repurposing"), ("ddi", "ddi", "ddi"), ("ddi", "repurposing", None)],
)
def test_a_case_belongs_to_the_benchmark_of_its_folder_or_its_method(
    card: MethodCard, golden: Path, benchmark: str | None, of: str, taken: str | None
) -> None:
    case = GoldenCase("toy_Small_12", golden / "toy_Small_12.npz", benchmark, METHOD)
    matches = matches_of(case, [card.model_copy(update={"benchmarks": [of]})])
    assert [match.benchmark for match in matches] == ([taken] if taken else [])


def test_the_longest_pattern_of_a_card_counts(card: MethodCard, golden: Path) -> None:
    (case,) = find_cases(golden)
    tables = [
        card.parity[0].model_copy(update={"cases": one}) for one in ("{dataset}_{seed}", "toy_{dataset}_{seed}")
    ]
    for order in (tables, tables[::-1]):
        (match,) = matches_of(case, [card.model_copy(update={"parity": order})])
        assert match.table.cases == "toy_{dataset}_{seed}"
    # by its letters: a wildcard's own name makes no pattern longer
    tables = [
        card.parity[0].model_copy(update={"cases": one}) for one in ("toy_{dataset}_{seed}", "toy_Small_{seed}")
    ]
    for order in (tables, tables[::-1]):
        (match,) = matches_of(case, [card.model_copy(update={"parity": order})])
        assert match.table.cases == "toy_Small_{seed}"


def test_a_subject_has_its_own_cases(card: MethodCard, golden: Path) -> None:
    for name in ("metrics", "split_random_Small_12"):
        np.savez(golden / f"{name}.npz", x=np.zeros(1))
    subjects = {case.name: case.subject for case in find_cases(golden)}
    assert subjects == {
        "toy_Small_12": METHOD, "metrics": METRICS, "split_random_Small_12": SPLITS,
    }  # fmt: skip
    covered = {
        subject: {case.name for case in find_cases(golden) if is_covered(case, [card], subject)}
        for subject in ("toy", "other", METRICS, SPLITS)
    }
    assert covered == {
        "toy": {"toy_Small_12"}, "other": set(), METRICS: {"metrics"}, SPLITS: {"split_random_Small_12"},
    }  # fmt: skip


def test_a_case_may_be_of_several_methods(card: MethodCard, golden: Path) -> None:
    (case,) = find_cases(golden)
    cards = [card.model_copy(update={"name": name}) for name in ("first", "toy", "last")]
    assert [match.card.name for match in matches_of(case, cards)] == ["first", "toy", "last"]
    assert [is_covered(case, cards, name) for name in ("first", "toy", "last", "other")] == [True] * 3 + [False]


def test_a_folder_of_a_benchmark_that_is_not_here_covers_no_method(card: MethodCard, golden: Path) -> None:
    folder = golden / "toy_Small_12"
    folder.mkdir()
    assert not is_covered(GoldenCase("toy_Small_12", folder, None, METHOD), [card], "toy")


@pytest.mark.parametrize("damage", ["empty", "other", "cut", "flipped", "start", "header", "kind", "folder"])
def test_a_damaged_golden_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "case.npz"
    np.savez_compressed(path, x=np.random.default_rng(1).normal(size=1000))
    whole = path.read_bytes()
    middle, listed = len(whole) // 2, whole.rindex(b"PK\x01\x02")
    start = whole.index(b"x.npy") + 30
    unclosed = io.BytesIO()
    np.save(unclosed, np.ones(2))
    with zipfile.ZipFile(tmp_path / "header.npz", "w") as archive:
        archive.writestr("x.npy", unclosed.getvalue().replace(b"(2,)", b"(2,("))
    damaged = {
        "empty": b"",
        "other": b"no archive",
        "cut": whole[:middle],
        "start": whole[:start] + bytes(255 - one for one in whole[start : start + 40]) + whole[start + 40 :],
        "header": (tmp_path / "header.npz").read_bytes(),
        # a way of packing that nobody knows
        "kind": whole[: listed + 10] + b"\x63" + whole[listed + 11 :],
        "flipped": whole[:middle] + bytes(255 - one for one in whole[middle : middle + 40]) + whole[middle + 40 :],
    }
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(damaged[damage])
    with pytest.raises(CorruptData, match="not a readable golden: ") as refused:
        arrays_in(path)
    assert (refused.value.where, refused.value.todo) == (str(path), "get this file again")


def test_notes_beside_a_golden_belong_to_it_and_a_changed_golden_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "case_0.5_1.npz"
    np.savez(path, x=np.asfortranarray(np.arange(6).reshape(2, 3)))
    # notes of a case whose name begins alike
    for other in ("case_0.json", "case.json"):
        (tmp_path / other).write_text('{"epochs": 99}')
    assert golden_in(path).about == {} and golden_in(path).arrays["x"].flags.c_contiguous
    path.with_suffix(".json").write_text('{"epochs": 3}')
    assert golden_in(path).about == {"epochs": 3}
    np.savez(path, x=np.ones(1))
    np.testing.assert_array_equal(golden_in(path).arrays["x"], [1])
    for notes in ('{"epochs": ', "[3]"):
        path.with_suffix(".json").write_text(notes)
        with pytest.raises(CorruptData):
            golden_in(path)


@pytest.mark.parametrize("standing", Standing)
def test_a_case_is_as_bad_as_its_worst_array(standing: Standing) -> None:
    arrays = (ArrayFinding("one", Standing.OK), ArrayFinding("two", standing, float("inf"), 0.5, "why"))
    found = CaseFinding("case", METHOD, "toy", arrays, note="how", seconds=1.5)
    bad = standing in (Standing.BEYOND, Standing.FAILED)
    assert found.worst is (standing if bad else Standing.OK)
    assert found.as_json() == {
        "case": "case",
        "kind": "method",
        "subject": "toy",
        "verdict": str(found.worst),
        "note": "how",
        "seconds": 1.5,
        "arrays": [
            {"array": "one", "verdict": "ok", "largest_error": None, "tolerance": None, "note": ""},
            # JSON has no word for it
            {"array": "two", "verdict": str(standing), "largest_error": "inf", "tolerance": 0.5, "note": "why"},
        ],
    }
