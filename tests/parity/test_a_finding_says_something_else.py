"""A finding names its case, who is checked and why nothing was compared, and a program reads the same."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from errno import ENOSPC
from gzip import BadGzipFile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness import benchmarks
from harness.base.errors import CorruptData, MissingData, UsageError
from harness.base.layout import Layout
from harness.methods.card import MethodCard, Tolerance
from harness.parity import check_cases, find_cases
from harness.parity.cases import METHOD, METRICS, SPLITS, GoldenCase
from harness.parity.check import is_covered
from harness.parity.finding import ArrayFinding, CaseFinding, Standing, compare
from harness.parity.goldens import Golden
from harness.parity.references import check, covers
from tests.parity.conftest import Answers, save

Check = tuple[Layout, MethodCard, Answers]


@pytest.fixture
def checking(layout: Layout, card: MethodCard, answers: Answers) -> Check:
    """With what cases are checked."""
    return layout, card, answers


def found_of(checking: Check, cases: Sequence[GoldenCase], only: Sequence[str] = ()) -> list[CaseFinding]:
    layout, card, answers = checking
    return list(check_cases(layout, cases, [card], answers, only=only))


def told(finding: CaseFinding) -> tuple[str, str, str, Standing, str]:
    return finding.case, finding.kind, finding.subject, finding.standing, finding.note


def test_a_case_that_nobody_covers_is_told_unless_others_were_asked_for(checking: Check, golden: Path) -> None:
    np.savez(golden / "unknown_Small_12.npz", x=np.zeros(1))
    _, unknown = found_of(checking, find_cases(golden))
    assert told(unknown) == ("unknown_Small_12", "method", "", Standing.NOT_IMPLEMENTED, "no card covers it")
    assert [one.case for one in found_of(checking, find_cases(golden), ["toy"])] == ["toy_Small_12"]
    assert found_of(checking, find_cases(golden), ["other"]) == []


def test_a_folder_of_a_benchmark_that_is_not_here_is_not_opened(checking: Check, golden: Path) -> None:
    """Not even where a card's pattern fits its name."""
    (golden / "toy_Small_13").mkdir()
    case = GoldenCase("toy_Small_13", golden / "toy_Small_13", None)
    (finding,) = found_of(checking, [case])
    assert told(finding) == ("toy_Small_13", "method", "", Standing.NOT_IMPLEMENTED, "no card covers it")
    assert not is_covered(case, [checking[1]], "toy")


def _fault_of_each_kind() -> list[Exception]:
    with pytest.raises(zlib.error) as compressed:
        zlib.decompress(b"x")
    faults = [AttributeError("a"), EOFError("b"), IndexError("c"), KeyError("d"), TypeError("e"), ValueError("f")]
    return [*faults, ZeroDivisionError("g"), BadGzipFile("h"), FileNotFoundError(2, "i", "j"), compressed.value]


@pytest.mark.parametrize("fault", _fault_of_each_kind(), ids=lambda fault: type(fault).__name__)
def test_a_case_that_is_written_otherwise_is_a_finding_and_the_next_is_compared(
    checking: Check, golden: Path, fault: Exception
) -> None:
    def read(_layout: Layout, _mirrors: Sequence[Path]) -> Golden:
        raise fault

    (case,) = find_cases(golden)
    odd, whole = found_of(checking, [replace(case, read=read), case])
    note = f"not as this golden is written: {type(fault).__name__}: {fault}"
    assert told(odd) == ("toy_Small_12", "method", "toy", Standing.FAILED, note)
    assert whole.case == "toy_Small_12" and whole.arrays
    assert odd.worst.is_bad, "nobody takes it for a success"


def test_golden_metrics_that_lack_an_array_are_a_finding(checking: Check, golden: Path) -> None:
    save(golden / "metrics.npz", {"c00/A": np.eye(2), "c00/acc": np.array(1.0)})
    case = GoldenCase("metrics", golden / "metrics.npz", "repurposing", METRICS)
    (finding,) = found_of(checking, [case])
    assert told(finding) == (
        "metrics",
        METRICS,
        METRICS,
        Standing.FAILED,
        "not as this golden is written: KeyError: 'F'",
    )


def test_damaged_data_are_told_in_their_own_words_and_a_full_disk_is_no_finding(
    checking: Check, golden: Path
) -> None:
    def raising(error: Exception) -> list[GoldenCase]:
        def read(_layout: Layout, _mirrors: Sequence[Path]) -> Golden:
            raise error

        return [replace(case, read=read) for case in find_cases(golden)]

    (finding,) = found_of(checking, raising(CorruptData("no golden", where="x", todo="y")))
    assert told(finding) == ("toy_Small_12", "method", "toy", Standing.FAILED, "no golden (x)")
    with pytest.raises(OSError, match="No space"):
        found_of(checking, raising(OSError(ENOSPC, "No space left")))


def test_a_case_whose_originals_are_not_here_says_what_to_give(checking: Check, golden: Path) -> None:
    mirrors: list[Sequence[Path]] = []

    def read(_layout: Layout, given: Sequence[Path]) -> Golden:
        mirrors.append(given)
        raise MissingData("the dataset is not here", where="x", todo="y")

    (case,) = find_cases(golden)
    layout, card, answers = checking
    cases = [replace(case, read=read)]
    (finding,) = check_cases(layout, cases, [card], answers, mirrors=[golden])
    note = "the dataset is not here; give its originals with --mirror"
    assert told(finding) == ("toy_Small_12", "method", "toy", Standing.MISSING_DATA, note)
    assert mirrors == [[golden]] and not answers.asked


def test_a_case_that_no_table_applies_to_is_told(
    checking: Check, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = SimpleNamespace(check_answers=lambda match, arrays, run: None)
    monkeypatch.setattr(benchmarks, "part", lambda benchmark, name: part if name == "parity.answers" else None)
    (finding,) = found_of(checking, [GoldenCase("toy_Small_12", golden / "toy_Small_12.npz", None)])
    note = "no table of toy's card applies to its labels"
    assert told(finding) == ("toy_Small_12", "method", "toy", Standing.NOT_IMPLEMENTED, note)


def test_a_case_of_a_benchmark_without_answers_needs_what_is_given(
    checking: Check, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmarks, "part", lambda benchmark, name: None)
    (finding,) = found_of(checking, [GoldenCase("toy_Small_12", golden / "toy_Small_12.npz", None)])
    note = "benchmark repurposing has traces alone: the card's table must say what is given"
    assert told(finding) == ("toy_Small_12", "method", "toy", Standing.FAILED, note)


def test_a_case_that_lacks_what_lies_beside_it_is_told(checking: Check, golden: Path) -> None:
    (golden / "_features_Small.npz").unlink()
    (finding,) = found_of(checking, find_cases(golden))
    assert told(finding)[:4] == ("toy_Small_12", "method", "toy", Standing.FAILED)
    assert finding.note.startswith("the case ")


def test_a_golden_of_another_processor_says_of_which(
    checking: Check, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.parity.check.processor_flags", lambda: ["avx"])
    layout, card, answers = checking
    one = card.model_copy(update={"parity": [card.parity[0].model_copy(update={"processor": ["sve", "neon"]})]})
    (finding,) = check_cases(layout, find_cases(golden), [one], answers)
    assert finding.note == "not run: the golden needs a processor with neon, sve"


class Part:
    """The golden metrics and splits of a benchmark, which write down what they are given."""

    def __init__(self, findings: tuple[ArrayFinding, ...]) -> None:
        self.findings = findings
        self.given: list[tuple[Any, ...]] = []

    def check_metrics(self, arrays: Mapping[str, Any]) -> Iterator[ArrayFinding]:
        self.given.append((sorted(arrays),))
        yield from self.findings

    def check_split(self, layout: Layout, case: str, arrays: Mapping[str, Any], mirrors: object) -> CaseFinding:
        self.given.append((layout, case, sorted(arrays), mirrors))
        return CaseFinding(case, SPLITS, SPLITS)

    def check_file(self, layout: Layout, case: str, path: Path, mirrors: object) -> CaseFinding:
        self.given.append((layout, case, path, mirrors))
        return CaseFinding(case, SPLITS, SPLITS)


GOOD = ArrayFinding("auc", Standing.OK, 0.0, 1e-9)
BAD = ArrayFinding("aupr", Standing.BEYOND, 1.0, 1e-9)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], object]:
    """What benchmarks offer, by benchmark and name of the part; nothing else is there."""
    parts: dict[tuple[str, str], object] = {}
    monkeypatch.setattr(benchmarks, "part", lambda benchmark, name: parts.get((benchmark, name)))
    monkeypatch.setattr(benchmarks, "default", lambda: "first")
    return parts


@pytest.mark.parametrize(
    ("findings", "standing", "worst"),
    [
        ((GOOD,), Standing.OK, Standing.OK),
        ((GOOD, BAD), Standing.OK, Standing.BEYOND),
        ((), Standing.FAILED, Standing.FAILED),
    ],
)
def test_golden_metrics_are_as_bad_as_one_of_them(
    layout: Layout,
    golden: Path,
    asked: dict[tuple[str, str], object],
    findings: tuple[ArrayFinding, ...],
    standing: Standing,
    worst: Standing,
) -> None:
    part = asked["ddi", "parity.metrics"] = Part(findings)
    case = GoldenCase("metrics", golden / "toy_Small_12.npz", "ddi", METRICS)
    finding = check(layout, case, [golden])
    assert told(finding) == ("metrics", METRICS, METRICS, standing, "") and finding.arrays == findings
    assert finding.worst is worst and part.given == [(["A_train", "factors", "iterations", "pred"],)]


def test_a_golden_split_is_made_by_the_benchmark_of_its_folder_or_the_first(
    layout: Layout, golden: Path, asked: dict[tuple[str, str], object]
) -> None:
    part = asked["first", "parity.splits"] = Part(())
    path = golden / "toy_Small_12.npz"
    assert check(layout, GoldenCase("split_a", path, None, SPLITS), [golden]).kind == SPLITS
    text = golden / "a.json"
    assert check(layout, GoldenCase("split_b", text, "first", SPLITS), [golden]).case == "split_b"
    assert part.given == [
        (layout, "split_a", ["A_train", "factors", "iterations", "pred"], [golden]),
        (layout, "split_b", text, [golden]),
    ]


@pytest.mark.parametrize(
    ("name", "subject", "part", "files"),
    [
        ("a.npz", METRICS, None, "metrics"),
        ("a.json", METRICS, None, "metrics"),
        ("a.json", METRICS, SimpleNamespace(check_metrics=1), "metrics of this form"),
        ("a.npz", SPLITS, SimpleNamespace(check_file=1), "splits"),
    ],
)
def test_a_golden_that_its_benchmark_does_not_compare_is_told(
    layout: Layout,
    tmp_path: Path,
    asked: dict[tuple[str, str], object],
    name: str,
    subject: str,
    part: object,
    files: str,
) -> None:
    asked["ddi", f"parity.{subject}"] = part
    finding = check(layout, GoldenCase("a", tmp_path / name, "ddi", subject), [])
    note = f"benchmark ddi compares no golden {files}"
    assert told(finding) == ("a", subject, subject, Standing.NOT_IMPLEMENTED, note)


def test_cases_of_the_harness_itself_are_asked_for_by_their_subject(
    checking: Check, golden: Path, asked: dict[tuple[str, str], object]
) -> None:
    asked["ddi", "parity.metrics"] = Part((GOOD,))
    case = GoldenCase("metrics", golden / "toy_Small_12.npz", "ddi", METRICS)
    assert covers(case) and not covers(replace(case, subject=METHOD))
    assert [one.case for one in found_of(checking, [case], [METRICS])] == ["metrics"]
    assert [one.case for one in found_of(checking, [case])] == ["metrics"]
    assert found_of(checking, [case], [SPLITS, "toy"]) == []
    assert is_covered(case, [checking[1]], METRICS) and not is_covered(case, [checking[1]], SPLITS)


def test_a_program_reads_all_of_a_finding() -> None:
    arrays = (GOOD, replace(BAD, error=float("inf"), note="far"), ArrayFinding("lost", Standing.ABSENT))
    finding = CaseFinding("a", METHOD, "toy", arrays, Standing.OK, "a note", 1.5)
    assert json.loads(json.dumps(finding.as_json())) == {
        "case": "a",
        "kind": "method",
        "subject": "toy",
        "verdict": "beyond",
        "note": "a note",
        "seconds": 1.5,
        "arrays": [
            {"array": "auc", "verdict": "ok", "largest_error": 0.0, "tolerance": 1e-9, "note": ""},
            {"array": "aupr", "verdict": "beyond", "largest_error": "inf", "tolerance": 1e-9, "note": "far"},
            {"array": "lost", "verdict": "absent", "largest_error": None, "tolerance": None, "note": ""},
        ],
    }


@pytest.mark.parametrize(
    ("tolerance", "ours", "error", "allowed", "note"),
    [
        (Tolerance(absolute=0.5), [3.0, 4.25], 0.25, 0.5, ""),
        (Tolerance(relative=0.5), [3.0, 4.25], 0.25, 2.0, ""),
        (Tolerance(relative=0.5, absolute=3.0), [3.0, 4.25], 0.25, 3.0, ""),
        (Tolerance(absolute=0.5, mean=True), [3.0, 4.25], 0.125, 0.5, "the mean error, not the largest"),
        (
            Tolerance(relative=0.25, absolute=0.5, each=True),
            [3.75, 4.5],
            1.0,
            1.0,
            "in units of what is allowed of each element",
        ),
    ],
)
def test_what_was_allowed_and_how_far_it_is_stand_beside_each_other(
    tolerance: Tolerance, ours: list[float], error: float, allowed: float, note: str
) -> None:
    found = compare("x", np.array(ours), np.array([3.0, 4.0]), tolerance)
    assert (found.array, found.standing, found.allowed, found.note) == ("x", Standing.OK, allowed, note)
    assert found.error == pytest.approx(error, rel=1e-12)


def test_an_array_that_does_not_fit_says_how() -> None:
    assert compare("x", np.zeros((2, 3)), np.zeros((3, 2)), Tolerance()).note == "shape (2, 3) instead of (3, 2)"
    found = compare("x", np.array([1.0, 2.0]), np.array([np.nan, 2.0]), Tolerance(absolute=0.5))
    assert (found.note, found.allowed, found.error) == ("other places are not finite", 0.5, None)
    # an axis of one is no difference, and an empty array is equal to another
    assert compare("x", np.zeros((1, 3)), np.zeros(3), Tolerance()).standing is Standing.OK
    for mean in (False, True):
        assert compare("x", np.zeros(0), np.zeros(0), Tolerance(mean=mean)).error == 0.0
    found = compare("x", np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]), Tolerance(correlation=0.9))
    assert found.note == "1 - correlation" and found.allowed == pytest.approx(0.1)
    assert found.error == pytest.approx(1 - np.corrcoef([1, 2, 3], [1, 2, 4])[0, 1])


def test_what_is_just_allowed_is_allowed() -> None:
    # of these the correlation with themselves is 1, rounding and all
    whole = np.array([-1.0, 0.0, 1.0])
    assert compare("x", whole, whole, Tolerance(correlation=1.0)) == ArrayFinding(
        "x", Standing.OK, 0.0, 0.0, "1 - correlation"
    )
    for tolerance in (Tolerance(absolute=0.5), Tolerance(relative=0.5), Tolerance(relative=0.5, each=True)):
        assert compare("x", np.array([1.5]), np.array([1.0]), tolerance).standing is Standing.OK
    # a product of nothing is no other sign
    both = np.array([[0.0], [2.0]])
    assert compare("x", np.array([[2.0], [0.0]]), both, Tolerance(either_sign=True)).error == 2.0


def test_a_folder_without_cases_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        find_cases(tmp_path)
    assert (error.value.what, error.value.where) == ("no golden case lies here", str(tmp_path))
    assert error.value.todo.startswith("give the folder of one benchmark's goldens (*.npz), or the folder")
    with pytest.raises(UsageError) as error:
        find_cases(tmp_path / "none")
    assert (error.value.what, error.value.where, error.value.todo) == (
        "there is no such folder",
        str(tmp_path / "none"),
        "give --golden a folder of golden cases",
    )
