"""What a method is handed of a golden of single steps, which tolerance counts, and what is said of the outcome."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.errors import CorruptData, ManifestError
from harness.base.layout import Layout
from harness.base.npy import MAGIC, npy_bytes
from harness.base.vocabulary import Verdict
from harness.methods.card import MethodCard, ParityTable, Tolerance, Variant
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.cases import METHOD, METRICS, SPLITS, GoldenCase, matches_of
from harness.parity.finding import Standing, compare
from harness.parity.goldens import arrays_in
from tests.parity.conftest import Answers, save

Arrays = dict[str, npt.NDArray[Any]]
ONE = np.arange(3.0)
CASE: Arrays = {"in/x": ONE, "in/kept": ONE, "out/a": ONE, "out/b": np.zeros((2, 4))}
TRACE: Arrays = {"out.a": ONE, "out.b": np.zeros((2, 4))}
TABLE = ParityTable(
    cases="toy_{dataset}_{seed}",
    task="step",
    variant="small",
    given=["in/*"],
    compare={"out/*": Tolerance()},
    absent={"in/kept": "a constant", "*/none": "nobody has it"},
    parameters={"rate": 0.5},
)


@pytest.fixture
def stepping(card: MethodCard) -> MethodCard:
    """A card with one table of steps."""
    variants = {**card.variants, "small": Variant(summary="s", parameters={"rate": 2.0, "epochs": 3})}
    return card.model_copy(update={"variants": variants, "parity": [TABLE]})


def check(
    layout: Layout,
    folder: Path,
    card: MethodCard,
    *,
    case: Arrays | None = None,
    mirrors: tuple[Path, ...] = (),
    verdict: Verdict = Verdict.OK,
    raw: dict[str, bytes] | None = None,
    **changes: Any,
) -> tuple[CaseFinding, Answers]:
    golden = folder / "golden"
    golden.mkdir()
    save(golden / "toy_Small_12.npz", CASE if case is None else case)
    (golden / "toy_Small_12.json").write_text('{"epochs": 3}')
    answers = Answers(folder, ONE, TRACE)
    answers.verdict, answers.raw = verdict, raw or {}
    cards = [card.model_copy(update={"parity": [TABLE.model_copy(update=changes)]})]
    (found,) = check_cases(layout, find_cases(golden), cards, answers, mirrors=mirrors)
    assert (found.case, found.kind, found.subject) == ("toy_Small_12", METHOD, "toy")
    return found, answers


def test_a_step_is_run_as_the_table_says(layout: Layout, tmp_path: Path, stepping: MethodCard) -> None:
    found, answers = check(layout, tmp_path, stepping)
    (trial,) = answers.asked
    assert (trial.card.name, trial.benchmark, trial.variant, trial.task) == ("toy", "repurposing", "small", "step")
    assert trial.parameters == {"rate": 0.5, "epochs": 3}
    assert (trial.seed, trial.trace, trial.answers) == (12, True, False)
    # of what is compared a method knows how much there is, and of what is not handed over, too
    shapes = {"in/kept": [3], "out/a": [3], "out/b": [2, 4]}
    assert json.loads(trial.inputs["about"][0]) == {"epochs": 3, "shapes": shapes}
    assert sorted(trial.inputs) == ["about", "in/x"]
    assert found.note == "variant small; task step; rate = 0.5; without in/kept (a constant)"
    assert [one.array for one in found.arrays] == ["out/a", "out/b"] and found.seconds == 1.5


def test_without_remarks_only_what_is_missing_is_told(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    plain: dict[str, Any] = {"variant": "published", "task": "predict", "parameters": {}}
    found, _ = check(layout, tmp_path, stepping, **plain)
    assert found.note == "without in/kept (a constant)"


@pytest.mark.parametrize(
    ("case", "changes", "note"),
    [
        ({**CASE, "c": ONE, "d": ONE}, {}, "nobody reads or computes c, d"),
        (
            CASE,
            {"compare": {"out/*": Tolerance(), "in/*": Tolerance()}},
            "handed over, and so not to compare: in/x",
        ),
        (
            {**CASE, "in/y": ONE},
            {"given": ["in/x", "in/y"], "compare": {"out/*": Tolerance(), "in/*": Tolerance()}},
            "handed over, and so not to compare: in/x, in/y",
        ),
    ],
)
def test_a_table_that_does_not_fit_names_the_arrays_and_nothing_is_run(
    layout: Layout, tmp_path: Path, stepping: MethodCard, case: Arrays, changes: dict[str, Any], note: str
) -> None:
    found, answers = check(layout, tmp_path, stepping, case=case, **changes)
    assert (found.standing, found.note, found.arrays, found.seconds) == (Standing.FAILED, note, (), None)
    assert not answers.asked


def test_a_case_with_nothing_to_compare_is_not_ok(layout: Layout, tmp_path: Path, stepping: MethodCard) -> None:
    found, _ = check(layout, tmp_path, stepping, case={"in/x": ONE})
    assert (found.standing, found.note) == (Standing.FAILED, "none of the arrays to compare is in the golden")


def test_what_the_card_compares_and_the_golden_lacks_is_told(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    """A golden that was cut down must not look like a whole one. It is no fault of the method."""
    compare = {"out/a": Tolerance(), "out/*": Tolerance(), "grad/*": Tolerance(), "loss": Tolerance()}
    found, _ = check(layout, tmp_path, stepping, case={**CASE, "loss": ONE}, compare=compare)
    assert [(one.array, one.standing) for one in found.arrays[2:]] == [
        ("loss", Standing.FAILED),
        ("grad/*", Standing.ABSENT),
    ]
    assert found.arrays[3].note == "not in the golden"
    (tmp_path / "whole").mkdir()
    found, _ = check(layout, tmp_path / "whole", stepping, compare=compare)
    assert found.worst is Standing.OK
    assert [one.array for one in found.arrays if one.standing is Standing.ABSENT] == ["grad/*", "loss"]


def test_a_step_that_fails_is_told_with_its_own_words(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    found, _ = check(layout, tmp_path, stepping, verdict=Verdict.ERROR)
    assert (found.standing, found.note) == (Standing.FAILED, "the run ended with error: made to fail")


_HEADER = b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }"


@pytest.mark.parametrize(
    "left",
    [
        None,
        b"",
        b"no array",
        npy_bytes(ONE)[:-8],
        MAGIC + len(_HEADER).to_bytes(2, "little") + _HEADER + bytes(24),
    ],
    ids=["nothing", "an empty file", "a text", "a part of it", "objects"],
)
def test_an_array_that_was_not_left_is_told_and_the_others_are_compared(
    layout: Layout, tmp_path: Path, stepping: MethodCard, left: bytes | None
) -> None:
    raw = {} if left is None else {"out.c": left}
    found, _ = check(layout, tmp_path, stepping, case={**CASE, "out/c": ONE}, raw=raw)
    standings = {one.array: one.standing for one in found.arrays}
    assert standings == {"out/a": Standing.OK, "out/b": Standing.OK, "out/c": Standing.FAILED}
    assert found.arrays[2].note.startswith("the run left no such array: ")


def test_an_array_of_a_group_in_a_group_is_found_by_its_whole_name(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    raw = {"out.layer.1.weights": npy_bytes(ONE)}
    found, _ = check(layout, tmp_path, stepping, case={**CASE, "out/layer/1/weights": ONE}, raw=raw)
    assert [(one.array, one.standing) for one in found.arrays] == [
        ("out/a", Standing.OK),
        ("out/b", Standing.OK),
        ("out/layer/1/weights", Standing.OK),
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_the_tolerance_of_the_longest_pattern_counts(
    layout: Layout, tmp_path: Path, stepping: MethodCard, order: int
) -> None:
    compare = {"out/*": Tolerance(), "out/a*": Tolerance(absolute=2.0), "o*": Tolerance(absolute=9.0)}
    case = {**CASE, "out/a": ONE + 1, "out/b": np.full((2, 4), 1.0)}
    found, _ = check(layout, tmp_path, stepping, case=case, compare=dict(list(compare.items())[::order]))
    assert {one.array: (one.standing, one.error, one.allowed) for one in found.arrays} == {
        "out/a": (Standing.OK, 1.0, 2.0),
        "out/b": (Standing.BEYOND, 1.0, 0.0),
    }


def test_a_pattern_is_longer_and_not_later_in_the_alphabet(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    found, _ = check(
        layout,
        tmp_path,
        stepping,
        case={**CASE, "out/a": ONE + 1},
        compare={"out/*": Tolerance(), "*out/a": Tolerance(absolute=2.0)},
    )
    assert {one.array: one.allowed for one in found.arrays} == {"out/a": 2.0, "out/b": 0.0}


def test_a_trace_is_measured_by_the_golden(layout: Layout, tmp_path: Path, stepping: MethodCard) -> None:
    """What is allowed follows from the golden, and a shape is told as the golden's."""
    case = {**CASE, "out/a": 4 * ONE, "out/b": np.zeros((4, 2))}
    found, _ = check(layout, tmp_path, stepping, case=case, compare={"out/*": Tolerance(relative=0.5)})
    assert [(one.allowed, one.note) for one in found.arrays] == [
        (4.0, ""),
        (None, "shape (2, 4) instead of (4, 2)"),
    ]


@pytest.mark.parametrize(
    ("dtype", "given"),
    [("<f8", "<f8"), ("<f4", "<f4"), ("|i1", "|i1"), ("|b1", "|b1"), ("<i8", "<i8"), ("<i2", "<i4")],
)
def test_numbers_are_handed_over_in_the_type_they_are_stored_in(
    layout: Layout, tmp_path: Path, stepping: MethodCard, dtype: str, given: str
) -> None:
    stored = np.array([0, 0.5, 1]).astype(dtype)
    _, answers = check(layout, tmp_path, stepping, case={**CASE, "in/x": stored})
    handed = answers.asked[0].inputs["in/x"]
    assert handed.dtype.str == given
    np.testing.assert_array_equal(handed, stored)


class Sprung:
    """Leaves a file behind where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.mark,))


def test_nothing_of_a_golden_or_a_mirror_is_unpickled(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    mark = tmp_path / "sprung"
    trap = np.array([Sprung(mark)], dtype=object)
    np.save(tmp_path / "x.npy", trap, allow_pickle=True)
    found, _ = check(layout, tmp_path, stepping, mirrors=(tmp_path,), mirrored={"features": "x.npy"})
    assert found.worst.is_bad and re.match(r"not an array: .*allow_pickle", found.note)
    np.savez(tmp_path / "case.npz", x=trap)
    with pytest.raises(CorruptData, match=r"not a readable golden: .*allow_pickle"):
        arrays_in(tmp_path / "case.npz")
    assert not mark.exists()


@pytest.mark.parametrize("cut", [0, 60, 130])
def test_a_damaged_array_of_a_mirror_is_named(
    layout: Layout, tmp_path: Path, stepping: MethodCard, cut: int
) -> None:
    """Nothing at all, a header whose brackets do not close, and numbers of which some are missing."""
    np.save(tmp_path / "x.npy", np.ones(2))
    content = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(content.replace(b"(2,)", b"(2,(") if cut == 60 else content[:cut])
    found, _ = check(layout, tmp_path, stepping, mirrors=(tmp_path,), mirrored={"features": "x.npy"})
    assert found.worst.is_bad and found.note.startswith("not an array: ")
    assert found.note.endswith(f" ({tmp_path / 'x.npy'})")


def test_the_first_mirror_that_has_a_file_counts(layout: Layout, tmp_path: Path, stepping: MethodCard) -> None:
    mirrors = tuple(tmp_path / name for name in ("none", "first", "second"))
    for number, mirror in enumerate(mirrors):
        mirror.mkdir()
        if number:
            np.save(mirror / "x.npy", np.asfortranarray(np.full((2, 3), number, dtype=float)))
    found, answers = check(layout, tmp_path, stepping, mirrors=mirrors, mirrored={"features": "x.npy"})
    features = answers.asked[0].inputs["features"]
    assert found.worst is Standing.OK and features.flags.c_contiguous
    np.testing.assert_array_equal(features, np.ones((2, 3)))


def test_a_file_that_no_mirror_has_is_named_with_what_to_do(
    layout: Layout, tmp_path: Path, stepping: MethodCard
) -> None:
    found, answers = check(layout, tmp_path, stepping, mirrored={"features": "host/x.npy"})
    assert found.standing is Standing.MISSING_DATA and not answers.asked
    for part in ("an input of this case is not here", "host/x.npy", "name a mirror that has it (--mirror)"):
        assert part in found.note


def test_in_a_folder_of_a_benchmark_methods_have_folders_of_their_own(tmp_path: Path) -> None:
    own, elsewhere = tmp_path / "ddi", tmp_path / "elsewhere"
    for folder in (own, elsewhere):
        for name in ("b", "a", "_inputs", "metrics", "split_x", "Toy/case", "Toy/_shared", "metrics/one"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            save(folder / f"{name}.npz", {"x": ONE})
    found = [(case.name, case.benchmark, case.subject) for case in find_cases(own)]
    assert found[:6] == [
        ("a", "ddi", METHOD),
        ("b", "ddi", METHOD),
        ("metrics", "ddi", METRICS),
        ("split_x", "ddi", SPLITS),
        ("Toy/case", "ddi", METHOD),
        ("metrics/one", "ddi", METRICS),
    ]
    assert len(found) == 6, "a folder that was looked into is not named once more"
    found = [(case.name, case.benchmark, case.subject) for case in find_cases(elsewhere)]
    assert found == [
        ("a", None, METHOD),
        ("b", None, METHOD),
        ("metrics", None, METRICS),
        ("split_x", None, SPLITS),
        ("Toy/", "Toy", METHOD),
        ("metrics/", "metrics", METHOD),
    ]


def test_features_lie_beside_the_cases_of_their_dataset(tmp_path: Path) -> None:
    case = GoldenCase("toy", tmp_path / "toy.npz", None)
    assert case.features_of("Small") == tmp_path / "_features_Small.npz"


@pytest.mark.parametrize("word", ["dataset", "seed"])
def test_a_pattern_that_can_not_be_read_says_how_to_write_it(card: MethodCard, tmp_path: Path, word: str) -> None:
    pattern = f"toy_{{{word}}}_{{{word}}}"
    one = card.model_copy(update={"parity": [TABLE.model_copy(update={"cases": pattern})]})
    with pytest.raises(ManifestError) as error:
        matches_of(GoldenCase("toy", tmp_path / "toy.npz", None), [one])
    assert error.value.what == f"'{pattern}' names {{{word}}} more than once"
    assert error.value.where == "method.toml: parity.cases"
    assert error.value.todo == "write for example bnnr_{dataset}_raw_{seed}"


def test_a_seed_is_a_number_and_a_dot_is_a_dot(card: MethodCard, tmp_path: Path) -> None:
    one = card.model_copy(update={"parity": [TABLE.model_copy(update={"cases": "toy.{dataset}_{seed}"})]})
    names = ("toy.a_b_12", "toy.a_b", "toyxa_12", "toy._12")
    matched = {
        name: [(match.dataset, match.seed) for match in matches_of(GoldenCase(name, tmp_path, None), [one])]
        for name in names
    }
    assert matched == {"toy.a_b_12": [("a_b", 12)], "toy.a_b": [], "toyxa_12": [], "toy._12": []}


def test_each_standing_has_its_own_word() -> None:
    """Programs read them; only two of them fail a command."""
    words = "ok beyond absent failed missing-data"
    assert [str(one) for one in Standing] == [*words.split(), "other processor", "not implemented yet"]
    assert [str(one) for one in Standing if one.is_bad] == ["beyond", "failed"]


@pytest.mark.parametrize(
    ("ours", "tolerance", "standing"),
    [
        # with no bound at all only equality is within it
        (0.0, Tolerance(each=True), Standing.OK),
        (1e-300, Tolerance(each=True), Standing.BEYOND),
        (1e-300, Tolerance(each=True, relative=0.5), Standing.BEYOND),
        (1e-9, Tolerance(each=True, absolute=1e-8), Standing.OK),
        (np.nan, Tolerance(absolute=9.0), Standing.BEYOND),
        (np.nan, Tolerance(absolute=9.0, mean=True), Standing.BEYOND),
        (np.nan, Tolerance(absolute=9.0, each=True), Standing.BEYOND),
        (np.inf, Tolerance(absolute=9.0), Standing.BEYOND),
    ],
)
def test_a_zero_is_met_by_what_is_allowed_of_it(ours: float, tolerance: Tolerance, standing: Standing) -> None:
    assert compare("x", np.array([ours, 1.0]), np.array([0.0, 1.0]), tolerance).standing is standing


def test_what_is_not_finite_must_be_the_same() -> None:
    golden = np.array([np.nan, np.inf, -np.inf, 1.0])
    for other, standing in (
        (golden, Standing.OK),
        (np.array([np.nan, -np.inf, np.inf, 1.0]), Standing.BEYOND),
        (np.array([np.nan, np.inf, -np.inf, 2.0]), Standing.BEYOND),
    ):
        assert compare("x", other, golden, Tolerance(absolute=0.5)).standing is standing
