"""Every array of a golden of single steps is handed over, compared or named in the card; nothing is both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError

from harness.base.layout import Layout
from harness.benchmarks.repurposing.parity.answers import _check_array
from harness.methods.card import MethodCard, ParityTable, Tolerance
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing
from tests.parity.conftest import Answers, save

Arrays = dict[str, npt.NDArray[Any]]
ONE = np.arange(3.0)
CASE: Arrays = {
    "in/pairs": ONE,
    "param/weight": ONE,
    "param/fixed": ONE,
    "after3/weight": ONE,
    "after3/fixed": ONE,
}
TRACE: Arrays = {"after3.weight": ONE}


@pytest.fixture
def stepping(card: MethodCard) -> MethodCard:
    """A card over single steps, whose original keeps one parameter more."""
    table = ParityTable(
        cases="toy_{dataset}_{seed}",
        task="parity",
        given=["in/*", "param/*"],
        compare={"after3/*": Tolerance()},
        absent={"*/fixed": "a constant of the original"},
    )
    return card.model_copy(update={"parity": [table]})


def check(
    layout: Layout, folder: Path, card: MethodCard, case: Arrays, trace: Arrays, **changes: Any
) -> tuple[CaseFinding, Answers]:
    golden = folder / "golden"
    golden.mkdir()
    save(golden / "toy_Small_12.npz", case)
    table = card.parity[0].model_copy(update=changes)
    answers = Answers(folder, ONE, trace)
    (found,) = check_cases(layout, find_cases(golden), [card.model_copy(update={"parity": [table]})], answers)
    return found, answers


@pytest.mark.parametrize("without", [0, 1, 2])
def test_of_several_runs_each_must_have_left_its_row(without: int) -> None:
    outputs: list[npt.NDArray[Any] | str] = [ONE, ONE, ONE]
    mask, arrays = np.ones((3, 1), dtype=bool), {"rows": np.stack([ONE, ONE, ONE])}
    assert _check_array("rows", Tolerance(), arrays, outputs, mask).standing is Standing.OK
    outputs[without] = "array: there is none"
    found = _check_array("rows", Tolerance(), arrays, outputs, mask)
    assert (found.standing, found.note) == (Standing.FAILED, "the run left no such array: there is none")


def test_what_a_golden_repeats_is_held_against_one_row_and_not_against_nothing() -> None:
    mask, arrays = np.ones((3, 1), dtype=bool), {"rows": np.stack([ONE, ONE, ONE])}
    repeated = Tolerance(repeated=True)
    assert _check_array("rows", repeated, arrays, [ONE], mask).standing is Standing.OK
    for other in (ONE + 1, np.empty(0)):
        assert _check_array("rows", repeated, arrays, [other], mask).standing.is_bad


def test_what_the_card_names_is_neither_handed_over_nor_compared(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    found, answers = check(layout, tmp_path, stepping, CASE, TRACE)
    assert found.worst is Standing.OK and "a constant of the original" in found.note
    assert [one.array for one in found.arrays] == ["after3/weight"]
    (trial,) = answers.asked
    assert set(trial.inputs) == {"in/pairs", "param/weight", "about"}


def test_a_lone_text_is_handed_over_as_a_list_of_one(layout: Layout, tmp_path: Path, stepping: MethodCard) -> None:
    _, answers = check(layout, tmp_path, stepping, {**CASE, "in/kind": np.array("CNN")}, TRACE)
    (trial,) = answers.asked
    assert trial.inputs["in/kind"] == ["CNN"]


def test_a_reason_is_told_only_of_what_the_case_holds(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    case = {name: one for name, one in CASE.items() if "fixed" not in name}
    found, _ = check(layout, tmp_path, stepping, case, TRACE)
    assert found.worst is Standing.OK and "constant" not in found.note


@pytest.mark.parametrize("name", ["beside/another", "check/sums", "weight"])
def test_an_array_that_nobody_reads_fails_the_case(
    layout: Layout, tmp_path: Path, stepping: MethodCard, name: str
) -> None:
    found, answers = check(layout, tmp_path, stepping, {**CASE, name: ONE}, TRACE)
    assert found.standing is Standing.FAILED and name in found.note
    assert not answers.asked


def test_a_layer_that_the_method_lacks_fails_the_case(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    more = {**CASE, "param/second.weight": ONE, "after3/second.weight": ONE}
    found, _ = check(layout, tmp_path, stepping, more, TRACE)
    assert found.worst is Standing.FAILED
    standings = {one.array: one.standing for one in found.arrays}
    assert standings == {"after3/weight": Standing.OK, "after3/second.weight": Standing.FAILED}


def test_what_is_handed_over_is_not_compared(layout: Layout, tmp_path: Path, stepping: MethodCard) -> None:
    given = [*stepping.parity[0].given, "after3/*"]
    found, answers = check(layout, tmp_path, stepping, CASE, TRACE, given=given)
    assert found.standing is Standing.FAILED and "after3/weight" in found.note
    assert not answers.asked


def test_an_array_is_named_with_a_reason() -> None:
    with pytest.raises(ValidationError):
        ParityTable(cases="toy_{dataset}_{seed}", compare={}, absent={"param/fixed": ""})


@pytest.mark.parametrize("suffix", ["npy", "txt"])
def test_an_input_may_be_a_file_of_a_mirror(
    layout: Layout, tmp_path: Path, stepping: MethodCard, suffix: str
) -> None:
    golden, mirror = tmp_path / "golden", tmp_path / "mirror"
    (mirror / "host").mkdir(parents=True)
    golden.mkdir()
    save(golden / "toy_Small_12.npz", CASE | {"in/few": np.arange(3, dtype=np.int16)})
    (np.save if suffix == "npy" else np.savetxt)(mirror / "host" / f"features.{suffix}", ONE)
    table = stepping.parity[0].model_copy(update={"mirrored": {"features": f"host/features.{suffix}"}})
    cards, answers = [stepping.model_copy(update={"parity": [table]})], Answers(tmp_path, ONE, TRACE)
    (absent,) = check_cases(layout, find_cases(golden), cards, answers)
    assert absent.worst is Standing.MISSING_DATA and f"host/features.{suffix}" in absent.note and not answers.asked
    (found,) = check_cases(layout, find_cases(golden), cards, answers, mirrors=[mirror])
    assert found.worst is Standing.OK, found
    (trial,) = answers.asked
    np.testing.assert_array_equal(trial.inputs["features"], ONE)
    # the protocol has no integers of two bytes
    assert trial.inputs["in/few"].dtype == np.int32
