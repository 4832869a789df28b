"""What all benchmarks share: how items and tables of one's own are named, answers read, rankings listed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness import benchmarks
from harness.base.errors import HarnessError, InvalidPredictions, UsageError
from harness.base.npy import npy_bytes
from harness.benchmarks import contract, new_item, own_data
from harness.benchmarks.answers import check_report, kind_of, read_numbers, refuse_where, regular_file
from harness.benchmarks.measures import Measurement, Scoring, measured, no_truth
from harness.benchmarks.method_report import own_measurements, read_report
from harness.benchmarks.metric import Metric
from harness.benchmarks.new_item import Kind, NewItem, check_name, items_again, kinds, not_readable, with_new
from harness.benchmarks.order import Arrangement
from harness.benchmarks.own_data import OwnTable, benchmark_of, table_words
from harness.benchmarks.ranking import Ranking
from harness.benchmarks.reading import Reading, reading_of
from harness.benchmarks.structures import is_structure
from tests.core.word_for_word import said


class Pretended:
    """Two benchmarks, `far` and `near`, with the parts that a test gives them."""

    def __init__(self) -> None:
        self.parts: dict[tuple[str, str], object] = {}

    def names(self) -> tuple[str, ...]:
        return ("far", "near")

    def get(self, name: str) -> object:
        return SimpleNamespace(place={"far": 9, "near": 1}[name])

    def part(self, name: str, below: str) -> object:
        return self.parts.get((name, below))


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    pretended = Pretended()
    for name in ("names", "get", "part"):
        monkeypatch.setattr(benchmarks, name, getattr(pretended, name))
    return pretended


KINDS = {"drug": Kind(holds="structure (SMILES)"), "text": Kind(holds="sentence", named=False), "disease": Kind()}


def extension(**more: object) -> SimpleNamespace:
    return SimpleNamespace(KINDS=KINDS, with_new=lambda dataset, items: [dataset, *items], **more)


def test_a_kind_says_what_to_write() -> None:
    assert [kind.usage for kind in KINDS.values()] == ["NAME=TEXT", "TEXT", "NAME"]


def test_kinds_are_listed_with_the_benchmarks_that_have_them(pretended: Pretended) -> None:
    assert kinds() == {}
    pretended.parts["far", "extension"] = extension()
    pretended.parts["near", "extension"] = SimpleNamespace(KINDS={"drug": Kind()})
    assert kinds() == {
        "drug": {"far": KINDS["drug"], "near": Kind()},
        "text": {"far": KINDS["text"]},
        "disease": {"far": KINDS["disease"]},
    }


def test_only_kinds_that_a_dataset_lists_can_be_looked_up_in_it(pretended: Pretended) -> None:
    assert new_item.listed_kinds("far") == {}
    listed = Kind(lists=("drug_ids",))
    pretended.parts["far", "extension"] = SimpleNamespace(KINDS={**KINDS, "protein": listed})
    assert new_item.listed_kinds("far") == {"protein": listed}


def test_items_are_added_by_the_benchmark(pretended: Pretended) -> None:
    pretended.parts["far", "extension"] = extension()
    items = [NewItem(kind="drug", name="a", text="CC"), NewItem(kind="disease", name="b")]
    extended: list[object] = with_new("far", ["a dataset"], items)
    assert extended == [["a dataset"], *items]


def test_a_benchmark_that_adds_nothing_says_what_to_do(pretended: Pretended) -> None:
    with pytest.raises(UsageError) as error:
        with_new("far", None, [NewItem(kind="drug", name="a")])
    assert (error.value.what, error.value.where) == (
        "benchmark far can't add items to a dataset",
        "harness predict",
    )
    todo = "list them in tables of your own, and name method and dataset (docs/predicting.md)"
    assert error.value.todo == todo


def test_a_kind_that_a_benchmark_lacks_is_refused_with_those_it_has(pretended: Pretended) -> None:
    pretended.parts["far", "extension"] = extension()
    todo = "it has --drug NAME=TEXT or --text TEXT or --disease NAME (docs/predicting.md)"
    for ask, where in (
        (lambda: new_item.kind_of("far", "target"), "--target"),
        (lambda: new_item.kind_of("far", "target", where="line 3"), "line 3"),
        (lambda: with_new("far", None, [NewItem(kind="target", name="a")]), "new target 'a'"),
    ):
        with pytest.raises(UsageError) as error:
            ask()
        assert error.value.what == "benchmark far has no items of the kind 'target'"
        assert (error.value.where, error.value.todo) == (where, todo)


@pytest.mark.parametrize("letter", ["\ud800", "\udcff", "\udfff"])
@pytest.mark.parametrize("field", ["name", "text"])
def test_half_a_character_is_refused(pretended: Pretended, letter: str, field: str) -> None:
    pretended.parts["far", "extension"] = extension()
    with pytest.raises(UsageError) as error:
        with_new("far", None, [NewItem(**{"kind": "drug", "name": "a", field: f"x{letter}"})])
    assert said(error.value) == ("the text is not UTF-8", "--drug", "write it in UTF-8")
    whole = [NewItem(kind="drug", name="\ud7ff\ue000", text="é")]
    assert with_new("far", [], whole) == [[], *whole]


def test_known_things_are_asked_again_where_a_benchmark_can(pretended: Pretended) -> None:
    assert items_again("far", None, ["a"], []) == {}
    pretended.parts["far", "extension"] = extension()
    assert items_again("far", None, ["a"], []) == {}

    def again(dataset: object, names: Sequence[str], pairs: object) -> Mapping[str, NewItem]:
        return {"asked": NewItem(kind="drug", name=f"{dataset} {names} {pairs}")}

    pretended.parts["far", "extension"] = extension(again=again)
    assert items_again("far", 1, ["a"], [("b", "c")])["asked"].name == "1 ['a'] [('b', 'c')]"


@pytest.mark.parametrize(
    ("name", "what"), [("", "the name is empty"), (" ", "the name is empty"), ("Ab", "there is a 'Ab' already")]
)
def test_a_name_is_new_whatever_its_letters(name: str, what: str) -> None:
    names = {"ab"}
    with pytest.raises(UsageError) as error:
        check_name(NewItem(kind="drug", name=name), names)
    assert (error.value.what, error.value.where) == (what, f"new drug '{name}'")
    assert error.value.todo == "give it another name" and names == {"ab"}
    check_name(NewItem(kind="drug", name="Cd"), names)
    assert names == {"ab", "cd"}


def test_a_text_that_can_not_be_read_is_shown_in_part() -> None:
    error = not_readable(NewItem(kind="drug", name="a", text="C" * 41), KINDS["drug"])
    assert error.what == f"'{'C' * 40}' is no structure (SMILES)"
    assert (error.where, error.todo) == (
        "new drug 'a'",
        "write --drug NAME=TEXT, where TEXT is a structure (SMILES)",
    )


PAIRS, NAMES = OwnTable("pairs", "pairs", required=True), OwnTable("names", "names")
OTHERS = OwnTable("pairs", "other pairs", required=True)


@pytest.fixture
def tables(pretended: Pretended) -> None:
    pretended.parts["far", "own_data"] = SimpleNamespace(TABLES={"names": NAMES, "pairs": PAIRS, "more": NAMES})
    pretended.parts["near", "own_data"] = SimpleNamespace(TABLES={"names": NAMES, "others": OTHERS})


@pytest.mark.usefixtures("tables")
def test_tables_are_listed_required_ones_first_in_the_order_of_benchmarks() -> None:
    words = table_words()
    assert list(words) == ["others", "pairs", "names", "more"]
    assert words["names"] == {"near": NAMES, "far": NAMES} and list(words["names"]) == ["near", "far"]


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("words", "benchmark"),
    [(("pairs",), "far"), (("names", "pairs"), "far"), (("names", "others"), "near"), (("others",), "near")],
)
def test_tables_tell_their_benchmark(words: tuple[str, ...], benchmark: str) -> None:
    assert benchmark_of(words) == benchmark


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("words", "what", "where", "todo"),
    [
        (
            ("names",),
            "a table is missing",
            "--names",
            "far: add --pairs FILE\n         near: add --others FILE",
        ),
        (("more", "names"), "a table is missing", "--more --names", "far: add --pairs FILE"),
        (
            ("pairs", "others"),
            "no benchmark makes a dataset of these tables",
            "--pairs --others",
            "far: --pairs FILE\n         near: --others FILE",
        ),
        (
            (),
            "no benchmark makes a dataset of these tables",
            "no table is named",
            "far: --pairs FILE\n         near: --others FILE",
        ),
    ],
)
def test_tables_of_no_benchmark_are_refused(words: tuple[str, ...], what: str, where: str, todo: str) -> None:
    with pytest.raises(UsageError) as error:
        benchmark_of(words)
    assert said(error.value) == (what, where, todo)


def test_tables_that_two_benchmarks_could_take_are_no_choice(pretended: Pretended) -> None:
    for name in pretended.names():
        pretended.parts[name, "own_data"] = SimpleNamespace(TABLES={"pairs": PAIRS})
    with pytest.raises(UsageError) as error:
        benchmark_of(("pairs",))
    assert error.value.where == "--pairs"


def test_a_benchmark_without_own_data_has_no_tables(pretended: Pretended) -> None:
    assert own_data.own_data_of("far") is None and table_words() == {}


def test_a_ranking_is_numbered_and_keeps_every_digit() -> None:
    ranking = Ranking(("drug", "score"), (("a, b", 0.1 + 0.2), ("c", 1e-300)))
    assert ranking.to_csv() == 'rank,drug,score\n1,"a, b",0.30000000000000004\n2,c,1e-300\n'


def test_a_benchmark_says_how_its_rows_are_read_or_that_they_have_an_order(pretended: Pretended) -> None:
    usual = Reading(("A score orders the rows of one answer. It is no probability.",))
    assert reading_of("far", None) == usual
    own = Reading(("own",), ("type",), ("a", "b"), ((("x",), "known"),))
    pretended.parts["far", "reading"] = SimpleNamespace(reading=lambda dataset: own if dataset == 1 else None)
    assert reading_of("far", 1) is own


@pytest.mark.parametrize(
    ("smiles", "is_one"),
    [
        *(("CCO", True), ("C", True), ("[Na+]", True), ("", False), ("C1CC", False), ("what", False)),
        *((text, False) for text in ("CCO ethanol", "CCO\tethanol", "CCO ", " CCO", "CCO\u00a0")),
    ],
)
def test_a_structure_has_an_atom_and_is_no_name_too(smiles: str, is_one: bool) -> None:
    assert is_structure(smiles) is is_one


def test_of_a_metric_more_is_better_and_a_share_unless_it_says_otherwise() -> None:
    assert (Metric("auc", "d").better, Metric("auc", "d").range) == ("higher", (0.0, 1.0))


def test_a_file_of_lines_is_put_in_order_by_its_lines_whatever_its_name(tmp_path: Path) -> None:
    for name in ("a.jsonl", "z.txt"):
        (tmp_path / name).write_text("one\ntwo\n")
        Arrangement(
            {}, {"gone.txt": lambda _: pytest.fail("none"), name: lambda lines: lines[::-1]}
        ).restore_files(tmp_path)
        assert (tmp_path / name).read_text() == "two\none\n"


class OneMetric(Scoring[str, str, str]):
    """Scores everything with what it is handed."""

    metrics = (Metric("auc", "d"), Metric("f1", "d"))
    predicting = "predict"

    def question(self, dataset: str, split: str, options: Mapping[str, int]) -> Any:
        raise NotImplementedError

    def score(self, dataset: str, split: str, answer: str, parameters: Mapping[str, Any]) -> Any:
        return {"auc": 0.5, "f1": None}, {"f1": f"{dataset} {split} {answer} {dict(parameters)}"}


class WithSeries(OneMetric):
    def series(self, dataset: str, split: str, answer: str, parameters: Mapping[str, Any]) -> Any:
        return {f"{dataset} {split} {answer} {dict(parameters)}": [1.0, None]}


def test_an_answer_is_measured_where_there_is_a_truth() -> None:
    found = measured(OneMetric(), "random", "d", "s", "a", {"p": 1})
    assert found == Measurement({"auc": 0.5, "f1": None}, {"f1": "d s a {'p': 1}"}, {})
    found = measured(WithSeries(), "random", "d", "s", "a", {"p": 1})
    assert found.series == {"d s a {'p': 1}": [1.0, None]}


def test_where_nobody_knows_the_truth_nothing_is_defined_and_that_is_said() -> None:
    reason = "split predict asks for what is not known: there is no truth to score by"
    assert measured(WithSeries(), "predict", "d", "s", "a", {}) == Measurement(
        {"auc": None, "f1": None}, {"auc": reason, "f1": reason}, {}
    )
    # one that is called nearly so is another one
    for other in ("random", "predicted", "predict again", "predic", ""):
        assert no_truth(OneMetric(), other) == ""


def test_a_benchmark_is_known_by_its_name_or_refused_with_all_of_them() -> None:
    assert set(benchmarks.names()) >= {"combos", "ddi", "dti", "repurposing"}
    assert benchmarks.default() == "repurposing" and benchmarks.get("ddi").name == "ddi"
    for ask in (benchmarks.get, benchmarks.folder, lambda name: benchmarks.part(name, "study")):
        with pytest.raises(HarnessError, match="no benchmark is called 'sports'"):
            ask("sports")
    assert benchmarks.folder("ddi") == Path(contract.__file__).parent / "ddi"


class Said(contract.Form[Any, Any]):
    """A form that says nothing of its own."""

    content = read = fits = broken_promises = describe = lambda *_: None  # type: ignore[assignment]


def test_what_a_benchmark_does_not_say_is_usual_or_told_to_who_writes_it() -> None:
    assert (Said().usual_seed, Said().suffix, Said().published_seeds()) == (None, ".npy", ())
    usual = contract.Benchmark[Any, Any, Any]
    assert (usual.place, usual.inputs_version, usual.order_free_metrics, usual.brought_tables) == (100, 1, (), ())
    assert usual.options is contract.Options and dict(usual.options_to_predict) == {}
    nothing = contract.Statistics()
    assert nothing.settings == {}
    for ask in (lambda: nothing.result_bytes({}), lambda: nothing.line):
        with pytest.raises(NotImplementedError):
            ask()


def test_a_part_of_a_benchmark_is_a_module_or_none() -> None:
    part = benchmarks.part("repurposing", "parity.answers")
    assert isinstance(part, ModuleType) and part.__name__ == "harness.benchmarks.repurposing.parity.answers"
    assert benchmarks.part("repurposing", "no_such.answers") is None
    assert benchmarks.part("repurposing", "parity.no_such") is None
    assert "random" in benchmarks.modules_in("repurposing", "splits.strategies")
    assert benchmarks.modules_in("repurposing", "no_such.place") == ()


def test_a_part_that_can_not_be_loaded_is_not_called_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who writes a benchmark is told which import fails, instead of having no such part."""
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n")
    package = import_module("harness.benchmarks.repurposing")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        benchmarks.part("repurposing", "broken")


def test_what_a_method_writes_is_required_scored_and_compared_unless_said_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = benchmarks.get("ddi")
    files = (
        contract.AnswerFile("a"),
        contract.AnswerFile("b", required=False),
        contract.AnswerFile("c", scored=False),
        contract.AnswerFile("d", compared=False),
    )
    monkeypatch.setattr(one, "answer_files", files)
    assert one.required_files == ("a", "c", "d")
    assert one.scored_files == ("a", "b", "d")
    assert one.compared_files == ("a", "b", "c")


@pytest.mark.parametrize(
    ("write", "fault"),
    [
        (lambda path: None, "a.npy: is missing"),
        (lambda path: path.symlink_to("/etc/passwd"), "a.npy: is a symbolic link, not a file"),
        (lambda path: path.mkdir(), "a.npy: is not a plain file"),
        (lambda path: os.mkfifo(path), "a.npy: is not a plain file"),
        (lambda path: path.touch(), "a.npy: is empty"),
        (
            lambda path: path.write_bytes(b"x" * 4155),
            "a.npy: has 4155 bytes, more than the 4154 a valid file can have",
        ),
    ],
)
def test_what_is_no_plain_file_of_its_size_is_refused(tmp_path: Path, write: Any, fault: str) -> None:
    write(tmp_path / "a.npy")
    with pytest.raises(InvalidPredictions) as error:
        read_numbers(tmp_path, "a.npy", "<f8", (2, 3), ("model", "item"))
    assert str(error.value).startswith(fault)


def test_numbers_are_read_as_they_are_and_all_must_be_finite(tmp_path: Path) -> None:
    numbers = np.arange(6.0).reshape(2, 3)
    path = tmp_path / "a.npy"
    path.write_bytes(npy_bytes(numbers))
    assert read_numbers(tmp_path, "a.npy", "<f8", (2, 3), ("model", "item")).tolist() == numbers.tolist()
    numbers[1, 2] = np.nan
    path.write_bytes(npy_bytes(numbers))
    with pytest.raises(InvalidPredictions) as error:
        read_numbers(tmp_path, "a.npy", "<f8", (2, 3), ("model", "item"))
    assert str(error.value) == "a.npy: 1 value is not finite, first at model 1, item 2: nan"
    with pytest.raises(InvalidPredictions, match=r"^a\.npy: "):
        read_numbers(tmp_path, "a.npy", "<f8", (3, 2), ("model", "item"))


def test_wrong_numbers_are_counted_and_the_first_is_shown() -> None:
    numbers = np.array([[1, -2], [3, -4]])
    refuse_where(numbers > 5, "too large", "a", numbers, ("row", "column"))
    with pytest.raises(InvalidPredictions) as error:
        refuse_where(numbers < 0, "below 0", "a", numbers, ("row", "column"))
    assert str(error.value) == "a: 2 values are below 0, first at row 0, column 1: -2"


def test_each_axis_of_a_place_has_a_name() -> None:
    with pytest.raises(ValueError, match="zip"):
        refuse_where(np.array([[True]]), "wrong", "a", np.array([[1]]), ("row",))


def test_a_file_that_can_not_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("harness.benchmarks.answers.read_npy", broken)
    (tmp_path / "a.npy").write_text("x")
    with pytest.raises(InvalidPredictions) as error:
        read_numbers(tmp_path, "a.npy", "<f8", (1,), ("item",))
    assert str(error.value) == "a.npy: can't be read: Input/output error"


def test_a_name_behind_a_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert kind_of(tmp_path / "file", "a") is None and kind_of(tmp_path, "a") is None
    (tmp_path / "full").write_text("x")
    assert regular_file(tmp_path, "full") == tmp_path / "full"


def report(folder: Path, text: str) -> Path:
    path = folder / "method.json"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[]", "is not a JSON object"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("{}", "speaks protocol None, the job 1"),
        ('{"protocol": true}', "speaks protocol True, the job 1"),
        ('{"protocol": 2}', "speaks protocol 2, the job 1"),
        ('{"protocol": 1, "protocol": 1}', "protocol: is there twice"),
        ('{"protocol": 1, "a": {"c": 1, "b": 2, "b": 3}}', "b: is there twice"),
        ('{"protocol": 1, "a": NaN}', "NaN is not JSON; write null"),
        ('{"protocol": 1, "a": -Infinity}', "-Infinity is not JSON; write null"),
        ('{"protocol": 1, "a": 1e999}', "1e999 is beyond all numbers"),
        ('{"protocol": 1, "a": 12345678901234567890}', "a number has 20 digits, 19 can be read"),
        ('{"protocol": 1, "cpu_seconds": -1}', "cpu_seconds: "),
        ('{"protocol": 1, "peak_memory_bytes": "many"}', "peak_memory_bytes."),
        ('{"protocol": 1, "seconds": {"fit": ["x"]}}', "seconds.fit.0."),
        ('{"protocol": 1, "warnings": [1]}', "warnings.0: "),
        (f'{{"protocol": 1, "a": "{"x" * (1 << 20)}"}}', f"has more than {1 << 20} bytes"),
    ],
)
def test_a_report_that_is_none_names_what_is_wrong(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(InvalidPredictions) as error:
        read_report(report(tmp_path, text))
    assert str(error.value).startswith(f"method.json: {fault}")
    with pytest.raises(InvalidPredictions):
        check_report(tmp_path)


def test_a_report_may_be_short_or_tell_more(tmp_path: Path) -> None:
    longest = 9_999_999_999_999_999_999
    least = read_report(report(tmp_path, json.dumps({"protocol": 1, "own": longest})))
    assert (least.cpu_seconds, least.peak_memory_bytes, least.iterations) == (None, None, None)
    assert (least.warnings, least.versions, least.seconds.fit, least.seconds.predict) == ([], {}, [], [])
    check_report(tmp_path)


@pytest.mark.parametrize(
    ("told", "peak", "seconds", "warnings"),
    [
        ({}, None, None, ()),
        ({"peak_memory_bytes": 5.5, "cpu_seconds": 21}, 5, 21.0, ()),
        (
            {"peak_memory_bytes": 1e20, "cpu_seconds": 21.5},
            None,
            None,
            (
                "method.json: peak_memory_bytes 1e+20 is more than this machine has, and was dropped",
                "method.json: cpu_seconds 21.5 is more than 21.0 s can be, and was dropped",
            ),
        ),
    ],
)
def test_what_a_method_measured_of_itself_is_taken_where_it_can_be(
    tmp_path: Path, told: dict[str, float], peak: int | None, seconds: float | None, warnings: tuple[str, ...]
) -> None:
    path = report(tmp_path, json.dumps({"protocol": 1, **told}))
    assert own_measurements(path, wall_s=10.0, cpus=2) == (peak, seconds, warnings)
    path.write_text("{")
    assert own_measurements(path, wall_s=10.0, cpus=2) == (None, None, ())
    path.unlink()
    assert own_measurements(path, wall_s=10.0, cpus=2) == (None, None, ())
