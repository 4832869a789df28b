"""What is no answer must be refused with line, combination and value, and never crash the harness."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import InvalidPredictions
from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.answer import Combination, CombinationQuestion, combinations_in
from harness.benchmarks.combos.conformance.problems import sentences
from harness.benchmarks.combos.dataset import TEST_FILE, dataset_of
from harness.benchmarks.combos.documents import Document, MarkedDrug
from harness.benchmarks.combos.names import ANSWER
from harness.benchmarks.combos.splits.form import split_of

QUESTION = CombinationQuestion((3, 0, 2))
EMPTY = b'{"combinations": []}\n'


def _write(folder: Path, content: bytes) -> Path:
    (folder / ANSWER).write_bytes(content)
    (folder / "method.json").write_text('{"protocol": 1}')
    return folder


def _line(*rows: dict[str, object]) -> bytes:
    return json.dumps({"combinations": rows}).encode() + b"\n"


def _row(**changes: object) -> dict[str, object]:
    return {"spans": [0, 2], "label": "POS", "score": 0.5, **changes}


def test_an_answer_is_read(tmp_path: Path) -> None:
    content = (
        _line(_row(), _row(spans=[0, 1, 2], label="NO_COMB", score=1)) + EMPTY + _line(_row(spans=[0, 1], score=0))
    )
    for end in (content, content.rstrip(), content.replace(b"\n", b"\r\n")):
        assert QUESTION.read(_write(tmp_path, end)) == (
            (Combination((0, 2), "POS", 0.5), Combination((0, 1, 2), "NO_COMB", 1.0)),
            (),
            (Combination((0, 1), "POS", 0.0),),
        )


FAULTS = [
    (_row(spans=[2, 0]), "spans [2, 0] are not two or more drugs in ascending order"),
    (_row(spans=[0, 0]), "spans [0, 0] are not two or more"),
    (_row(spans=[1]), "spans [1] are not two or more"),
    (_row(spans=[]), "spans [] are not two or more"),
    (_row(spans=[0, 3]), "drug 3 is none of the 3 of the document"),
    (_row(spans=[-1, 0]), "drug -1 is none of the 3"),
    (_row(spans=[0, True]), "is not a list of whole numbers"),
    (_row(spans=[0.0, 1.0]), "is not a list of whole numbers"),
    (_row(spans="01"), "is not a list of whole numbers"),
    (_row(label="NEG"), "label 'NEG' is not POS, COMB, NO_COMB"),
    (_row(label=2), "label 2 is not"),
    (_row(label=["POS"]), "label ['POS'] is not"),
    (_row(score=float("nan")), "score nan is not a number from 0 to 1"),
    (_row(score=float("inf")), "score inf is not"),
    (_row(score=1.0000001), "score 1.0000001 is not"),
    (_row(score=-0.1), "score -0.1 is not"),
    (_row(score="0.5"), "score '0.5' is not"),
    (_row(score=True), "score True is not"),
    (_row(score=None), "score None is not"),
    (_row(why="because"), "has not exactly the fields label, score, spans"),
    ({"spans": [0, 1], "label": "POS"}, "has not exactly the fields"),
]


@pytest.mark.parametrize(("row", "what"), FAULTS)
def test_a_fault_of_a_combination_is_told(tmp_path: Path, row: dict[str, object], what: str) -> None:
    folder = _write(tmp_path, _line(_row(spans=[1, 2]), row) + EMPTY + EMPTY)
    with pytest.raises(InvalidPredictions, match=re.escape(what)) as error:
        QUESTION.read(folder)
    assert str(error.value).startswith(f"{ANSWER}: line 1: combination 1: ")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (EMPTY * 2, "2 lines for 3 documents"),
        (EMPTY * 4, "4 lines for 3 documents"),
        (b"", "is empty"),
        ((EMPTY * 3)[:-4], "line 3: is not JSON, or is cut short"),
        (EMPTY * 2 + b"\xff\n", "line 3: is not JSON"),
        (EMPTY * 2 + b"[" * 100_000, "line 3: is not JSON"),
        (EMPTY * 2 + b"1" * 5000, "line 3: is not"),
        (EMPTY * 2 + b"[]\n", 'line 3: is not {"combinations": [...]}'),
        (EMPTY * 2 + b'{"combinations": {}}\n', "line 3: is not"),
        (EMPTY * 2 + b'{"combinations": [], "more": 1}\n', "line 3: is not"),
        (EMPTY * 2 + b'{"combinations": [7]}\n', "line 3: combination 0: has not exactly the fields"),
        (
            _line(_row(), _row(label="COMB")) + EMPTY * 2,
            "combination 1: drugs [0, 2] are also those of combination 0",
        ),
        (EMPTY + _line(_row(spans=[0, 1])) + EMPTY, "line 2: combination 0: drug 0 is none of the 0"),
    ],
)
def test_a_fault_of_a_line_is_told(tmp_path: Path, content: bytes, what: str) -> None:
    with pytest.raises(InvalidPredictions, match=re.escape(what)):
        QUESTION.read(_write(tmp_path, content))


def test_an_answer_that_was_not_finished_is_none(tmp_path: Path) -> None:
    (tmp_path / ANSWER).write_bytes(EMPTY * 3)
    with pytest.raises(InvalidPredictions, match=r"method\.json: is missing"):
        QUESTION.read(tmp_path)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60), place=st.integers(0, 200))
def test_damaged_bytes_are_refused_or_read(content: bytes, place: int) -> None:
    whole = _line(_row(), _row(spans=[0, 1])) + EMPTY + _line(_row(spans=[0, 1]))
    damaged = whole[:place] + content + whole[place + len(content) :]
    try:
        answer = combinations_in(damaged.splitlines(), QUESTION.drug_counts)
    except InvalidPredictions as error:
        assert str(error).startswith(ANSWER)
    else:
        assert all(0 <= one.score <= 1 and len(one.spans) > 1 for own in answer for one in own)


def test_combinations_are_ranked_and_none_is_no_combination() -> None:
    document = Document(
        "first", "a b c", "a b c", "", (MarkedDrug(4, 5, "C"), MarkedDrug(0, 1, "A"), MarkedDrug(2, 3, "B")), ()
    )
    dataset = dataset_of("made", [document], [TEST_FILE])
    answer = (
        (
            Combination((0, 1), "COMB", 0.25),
            Combination((1, 2), "NO_COMB", 0.99),
            Combination((0, 1, 2), "POS", 0.75),
        ),
    )
    ranking = BENCHMARK.ranking(dataset, split_of([1]), answer, None)
    assert ranking.columns == ("document", "drugs", "label", "score")
    assert ranking.rows == (("first", "C + A + B", "POS", 0.75), ("first", "C + A", "COMB", 0.25))
    assert BENCHMARK.ranking(dataset, split_of([1]), answer, 1).rows == ranking.rows[:1]


def test_equal_scores_keep_the_order_of_the_asked_documents() -> None:
    drugs = (MarkedDrug(0, 1, "A"), MarkedDrug(2, 3, "B"))
    documents = [Document(name, "A B", "A B", "", drugs, ()) for name in ("learned", "first", "second")]
    scores = (0.25, 0.5), (0.5,)
    answer = tuple(
        tuple(Combination((0, 1), label, score) for label, score in zip(("COMB", "POS"), own, strict=False))
        for own in scores
    )
    ranking = BENCHMARK.ranking(dataset_of("made", documents, [0, 1, 1]), split_of([0, 1, 1]), answer, 2)
    assert ranking.rows == (("first", "A + B", "POS", 0.5), ("second", "A + B", "COMB", 0.5))
    with pytest.raises(ValueError, match="zip"):
        BENCHMARK.ranking(dataset_of("made", documents, [0, 1, 1]), split_of([0, 1, 1]), answer[:1], None)


def test_every_answer_that_is_one_is_scored() -> None:
    problem = sentences()
    counts = BENCHMARK.scoring.question(problem.dataset, problem.split, {}).drug_counts
    truth = [problem.dataset.documents[place].relations for place in problem.split.asked]
    right = tuple(
        tuple(Combination(tuple(sorted(one.spans)), "POS" if one.label == 2 else "COMB", 1.0) for one in relations)
        for relations in truth
    )
    nothing: tuple[tuple[Combination, ...], ...] = tuple(() for _ in counts)
    for answer, value in ((right, 1.0), (nothing, 0.0)):
        metrics, notes = BENCHMARK.scoring.score(problem.dataset, problem.split, answer, {})
        assert {metrics[name] for name in BENCHMARK.key_metrics} == {value}
        assert set(metrics) == {metric.name for metric in BENCHMARK.scoring.metrics}
        assert {name for name, own in metrics.items() if own is None} <= set(notes)
