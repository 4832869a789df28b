"""What `harness predict` is asked with reaches the methods as it was meant, and what they say is told whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout, find_layout
from harness.benchmarks.new_item import kinds
from harness.cli.predict import _counts, _items, _text
from harness.data import load_dataset, load_manifest
from harness.data.manifest import DatasetManifest
from harness.prediction import Prediction, about_lines, content_of, to_json, usual_choice
from harness.prediction.prediction import PredictingMethod
from harness.prediction.request import PredictionRequest
from harness.prediction.rows import RankedRows
from harness.results.store import Store
from tests.cli.calls import document, harness_of
from tests.core.word_for_word import said

KEY = "ab" * 32
TABLE = RankedRows(("rank", "drug", "known"), ((1, "a", ""), (2, "b", ""), (None, "c", "yes")), 2, 5, 9)
ANSWER = Prediction(
    "repurposing",
    PredictionRequest(methods=("constant",), dataset="synthetic"),
    "Synthetic",
    "Made up.",
    (PredictingMethod("constant", "published", "it was named", ("a remark",), KEY),),
    ("higher is better",),
    TABLE,
)


pytestmark = pytest.mark.usefixtures("repository_here")


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Prediction], list[dict[str, Any]]]:
    """All questions that are asked from here on, each with this answer."""

    def answers(prediction: Prediction) -> list[dict[str, Any]]:
        asked: list[dict[str, Any]] = []

        def predict(methods: tuple[str, ...], dataset: str, **others: Any) -> Prediction:
            asked.append({"methods": methods, "dataset": dataset, **others})
            return prediction

        monkeypatch.setattr("harness.api.predict", predict, raising=False)
        return asked

    return answers


Answering = Callable[[Prediction], list[dict[str, Any]]]
WHO = ("--method", "constant", "--dataset", "synthetic")


def test_what_is_typed_is_what_is_asked(answering: Answering, tmp_path: Path) -> None:
    asked = answering(ANSWER)
    harness_of("predict", *WHO)
    plain = asked[0]
    assert plain.pop("repository").install is False
    assert plain == {
        "methods": ("constant",),
        "dataset": "synthetic",
        "variant": None,
        "parameters": {},
        "seed": 0,
        "top": None,
        "new": [],
        "only": [],
        "pairs": (),
        "both_orders": False,
    }
    words = [*WHO, "--method", "als_wr/corrected", "--variant", "published", "--set", "alpha=2", "--set", "beta=x"]
    words += ["--seed", "7", "--top", "3", "--pair", "a", "b", "--pair", "c", "d", "--both-orders", "--install"]
    words += ["--drug", "mine=f=1", "--drug", "known", "--disease", "ill=g=2", "--new", "drug", "n=m", "text"]
    words += ["--new", "disease", "o", "more"]
    harness_of("predict", "repurposing", *words, "--mirror", str(tmp_path))
    whole = asked[1]
    repository = whole.pop("repository")
    assert (repository.install, repository.mirrors) == (True, (tmp_path,))
    assert whole == {
        "methods": ("constant", "als_wr/corrected"),
        "dataset": "synthetic",
        "variant": "published",
        "parameters": {"alpha": 2, "beta": "x"},
        "seed": 7,
        "top": 3,
        "new": [
            ("drug", "n=m", "text"),
            ("disease", "o", "more"),
            ("drug", "mine", "f=1"),
            ("disease", "ill", "g=2"),
        ],
        "only": [("drug", "known")],
        "pairs": (("a", "b"), ("c", "d")),
        "both_orders": True,
    }


@pytest.mark.parametrize(
    "words", [("repurposing",), ("--dataset", "synthetic"), ("repurposing", "--method", "pmf")]
)
def test_what_is_not_named_is_the_usual_and_is_said(words: tuple[str, ...], answering: Answering) -> None:
    asked = answering(ANSWER)
    result = harness_of("predict", *words)
    repository = asked[0]["repository"]
    method, dataset = usual_choice(repository.layout, "repurposing", ())
    expected = ("pmf" if "pmf" in words else method, "synthetic" if "synthetic" in words else dataset)
    assert (asked[0]["methods"], asked[0]["dataset"]) == ((expected[0],), expected[1])
    manifest = load_manifest(repository.layout, expected[1])
    told = f"{manifest.title}: {manifest.summary.rstrip('.')}"
    first, second, *_ = result.stderr.splitlines()
    assert (
        first == f"method {expected[0]}, learning from {expected[1]} ({told}); --method and --dataset name others"
    )
    is_lacking = expected[1] != "fdataset" and "synthetic" not in words
    missing = "the usual dataset, fdataset, is not here: `harness data get fdataset` brings it"
    assert (second == missing) == is_lacking


def test_of_data_of_which_nothing_else_is_said_the_title_is_told(
    answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(ANSWER)
    title = load_manifest(find_layout(), "synthetic").title

    def untold(layout: Layout, name: str) -> DatasetManifest:
        return load_manifest(layout, name).model_copy(update={"summary": ""})

    monkeypatch.setattr("harness.cli.predict.load_manifest", untold)
    first, *_ = harness_of("predict", "repurposing", "--dataset", "synthetic").stderr.splitlines()
    assert f", learning from synthetic ({title}); --method" in first


def test_who_learns_from_made_up_data_is_told_so(answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the usual dataset is not here, what stands in for it may be of drugs that do not exist."""
    answering(ANSWER)
    for chosen, lines in (("synthetic_ddi", 1), ("drugbank", 0)):
        monkeypatch.setattr("harness.cli.predict.usual_choice", lambda *_, chosen=chosen: ("mlp", chosen))
        first, *others = harness_of("predict", "ddi").stderr.splitlines()
        missing = "the usual dataset, drugbank, is not here: `harness data get drugbank` brings it"
        assert others.count(missing) == lines and ("made-up drugs" in first) == bool(lines)


def test_what_was_named_is_not_said_again(answering: Answering) -> None:
    answering(ANSWER)
    result = harness_of("predict", "repurposing", *WHO)
    assert result.return_value == 0
    assert result.stdout == content_of(ANSWER, "csv")
    assert result.stderr.splitlines() == [*about_lines(ANSWER), "2 of 5 rows"]
    words = ("repurposing", "--method", "pmf", "--method", "als_wr")
    assert harness_of("predict", *words).stderr.startswith("methods pmf, als_wr, learning from ")


def test_a_dataset_that_is_called_as_a_benchmark_does_not_hide_it(
    answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(ANSWER)
    monkeypatch.setattr("harness.cli.predict.DATASET", SimpleNamespace(knows=lambda name: name != "synthetic_x"))
    assert harness_of("predict", "repurposing", *WHO).return_value == 0 and asked[0]["dataset"] == "synthetic"
    with pytest.raises(UsageError, match="'hdvd' is a dataset, and no benchmark") as error:
        harness_of("predict", "hdvd")
    assert error.value.todo == "name it by its option: --dataset hdvd"


@pytest.mark.parametrize(
    ("words", "what", "where", "todo"),
    [
        ((), "nothing says what to learn from", "harness predict", "name a benchmark or --dataset"),
        (
            ("ddi", "--dataset", "synthetic"),
            "dataset synthetic is one of benchmark repurposing",
            "harness predict ddi",
            "name one of them",
        ),
    ],
)
def test_a_question_about_nothing_is_refused(words: tuple[str, ...], what: str, where: str, todo: str) -> None:
    with pytest.raises(UsageError) as error:
        harness_of("predict", *words)
    assert said(error.value) == (what, where, todo)


def test_the_kind_of_the_file_is_what_is_written(answering: Answering, tmp_path: Path) -> None:
    answering(ANSWER)
    told = document(harness_of("predict", *WHO, "--json"))
    expected = json.loads(json.dumps(to_json(ANSWER)))
    assert told.items() >= expected.items() and told["command"] == "predict"
    result = harness_of("predict", *WHO, "--output", str(tmp_path / "a.json"))
    assert result.stdout == f"written: {tmp_path / 'a.json'} (2 of 5 rows)\n"
    assert json.loads((tmp_path / "a.json").read_text()) == told and (tmp_path / "a.json").read_text()[-1] == "\n"
    assert result.stderr.splitlines() == about_lines(ANSWER)
    harness_of("predict", *WHO, "--output", str(tmp_path / "a.csv"))
    assert (tmp_path / "a.csv").read_text("utf-8-sig") == content_of(ANSWER, "csv")
    harness_of("predict", *WHO, "--output", str(tmp_path / "a.xlsx"))
    assert (tmp_path / "a.xlsx").read_bytes().startswith(b"PK")


def test_a_warning_of_a_method_stands_beside_the_rows(answering: Answering, repository_here: Path) -> None:
    others = ANSWER.methods[0], PredictingMethod("als_wr", "published", "it was named", (), "cd" * 32)
    answering(replace(ANSWER, methods=others))
    for key, text in ((KEY, "a SMILES is odd"), ("cd" * 32, "a drug is unknown")):
        folder = Store(repository_here / "runs").path(key)
        folder.mkdir(parents=True)
        (folder / "method.json").write_text(json.dumps({"protocol": 1, "warnings": [text]}))
    result = harness_of("predict", *WHO)
    warned = [f"warning of the method: {text}" for text in ("a SMILES is odd", "a drug is unknown")]
    assert result.stderr.splitlines()[-3:] == [*warned, "2 of 5 rows"]
    assert "odd" not in result.stdout


@pytest.mark.parametrize(
    ("words", "code"),
    [(WHO, 1), (("--method", "all", "--dataset", "synthetic"), 0), ((*WHO, "--method", "all"), 1)],
)
def test_a_method_that_was_named_and_did_not_answer_is_in_the_exit_code(
    words: tuple[str, ...], code: int, answering: Answering
) -> None:
    answering(replace(ANSWER, failures=("pmf/published does not take part: why", "als_wr too")))
    result = harness_of("predict", *words)
    assert result.return_value == code and result.stdout == content_of(ANSWER, "csv")
    assert result.stderr.splitlines()[-2:] == ["error: pmf/published does not take part: why", "error: als_wr too"]
    answering(ANSWER)
    assert harness_of("predict", *words).return_value == 0


@pytest.mark.parametrize(
    ("ranked", "asked", "known", "text"),
    [
        (2, 5, False, "2 of 5 rows"),
        (5, 5, False, "5 rows"),
        (1, 1, False, "1 row"),
        (0, 0, False, "nothing to rank"),
        (0, 1, False, "0 of 1 row"),
        (2, 2, True, "2 rows, 1 known"),
        (0, 0, True, "nothing to rank, 3 known"),
        (3, 3, True, "3 rows, 0 known"),
    ],
)
def test_rows_are_counted(ranked: int, asked: int, known: bool, text: str) -> None:
    table = RankedRows(TABLE.columns, TABLE.rows, ranked, asked, asked)
    assert _counts(replace(ANSWER, table=table, has_known=known)) == text


def _nothing_is_listed(word: str, name: str) -> bool:
    return False


def test_a_name_of_the_dataset_may_hold_a_sign_of_equality() -> None:
    """Also one that reads like a new item with its text."""
    values = [("drug", "a=C=O"), ("drug", "a=C"), ("disease", "a=C=O")]
    new, only = _items("repurposing", values, [], lambda word, name: (word, name) == ("drug", "a=C=O"))
    assert new == [("drug", "a", "C"), ("disease", "a", "C=O")] and only == [("drug", "a=C=O")]


def test_a_drug_of_such_a_name_is_asked_about(answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = replace(load_dataset(find_layout(), "synthetic"), drug_ids=("x=1", *map(str, range(1, 60))))
    monkeypatch.setattr("harness.cli.predict.load_dataset", lambda *_, **__: dataset)
    asked = answering(ANSWER)
    harness_of("predict", *WHO, "--drug", "x=1", "--drug", "y=1")
    assert asked[0]["only"] == [("drug", "x=1")] and asked[0]["new"] == [("drug", "y", "1")]


def test_items_are_new_where_they_have_a_text_and_those_of_the_dataset_where_not() -> None:
    """A name ends at the first sign of equality; sentences are numbered, each kind of its own."""
    drugs = [("drug", "a=C=O"), ("drug", "b"), ("drug", "c=")]
    assert _items("ddi", drugs, [("drug", "d=e", "CC")], _nothing_is_listed) == (
        [("drug", "d=e", "CC"), ("drug", "a", "C=O"), ("drug", "c", "")],
        [("drug", "b")],
    )
    values = [("text", "One."), ("drug", "aspirin"), ("text", "Two = 2.")]
    assert _items("combos", values, [], _nothing_is_listed) == (
        [("text", "text 1", "One."), ("drug", "aspirin", ""), ("text", "text 2", "Two = 2.")],
        [],
    )


def test_a_text_may_lie_in_a_file(tmp_path: Path) -> None:
    """Lines are put together as the kind wants it; what is no content of them does not count."""
    path = tmp_path / "p.fasta"
    path.write_bytes(b"\xef\xbb\xbf>P1 a kinase\n MKV \n\n\t\nLAA\nQ")
    assert _text("dti", "target", f"@{path}") == "MKVLAAQ"
    path.write_text("One plus two\nhelped.\n")
    assert _text("combos", "text", f"@{path}") == "One plus two helped."
    assert _text("dti", "target", "MKV") == "MKV" and _text("dti", "drug", "C@H") == "C@H"
    values = [("target", f"kin=@{path}")]
    assert _items("dti", values, [("target", "two", f"@{path}")], _nothing_is_listed)[0] == [
        ("target", "two", "One plus twohelped."),
        ("target", "kin", "One plus twohelped."),
    ]


@pytest.mark.parametrize(
    ("benchmark", "kind", "text", "count"),
    [
        ("dti", "drug", "CCO\nCCN\n", "2 drugs"),
        ("ddi", "drug", "\nCCO\n\nCCN\nC", "3 drugs"),
        ("dti", "target", ">a\nMKT\n>b\nWWW\n", "2 targets"),
        ("dti", "target", "MKT\n>b\n>c", "2 targets"),
    ],
)
def test_several_in_a_file_are_not_made_one(
    tmp_path: Path, benchmark: str, kind: str, text: str, count: str
) -> None:
    """What two molecules or proteins are together is another one, and no less a whole one."""
    path = tmp_path / "several"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        _text(benchmark, kind, f"@{path}")
    assert said(refused.value) == (f"the file holds {count}", f"--{kind}: {path}", "name a file for each")
    path.write_text(">one\nCCO\n")
    assert _text(benchmark, kind, f"@{path}") == "CCO"


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_without_text_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "p"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match="the file can't be read: ") as error:
        _text("dti", "target", f"@{path}")
    assert (error.value.where, error.value.todo) == (f"--target: {path}", "name a text file, in UTF-8")


def test_every_kind_of_item_has_an_option_that_says_what_to_write() -> None:
    shown = " ".join(harness_of("predict", "--help").stdout.split())
    places = [shown.index(f"--{word} ITEM Of your own: ") for word in kinds()]
    assert places == sorted(places)
    for own in kinds().values():
        for benchmark, kind in own.items():
            holds = f": {kind.holds}" if kind.holds else ""
            assert f"{kind.usage} ({benchmark}{holds})" in shown


def test_a_kind_that_the_benchmark_does_not_have_is_refused_first(answering: Answering) -> None:
    asked = answering(ANSWER)
    with pytest.raises(UsageError, match="benchmark repurposing has no items of the kind 'target'"):
        harness_of("predict", *WHO, "--target", "x=MKV")
    assert asked == []
