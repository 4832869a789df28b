"""Each check fails the method that breaks just its rule, so that passing means something."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.input_files import Given
from harness.base.layout import Layout
from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.conformance.problems import Problem, sentences
from harness.benchmarks.combos.names import ANSWER
from harness.conformance import checks_of, self_test
from harness.execution.trials import Trial
from harness.methods.card import MethodCard, load_method
from tests.methods.in_process import InProcess, failed

# of each asked document its combinations
Rows = list[list[dict[str, Any]]]
Method = Callable[[Trial], Rows]
NAMES = ["sentences", "repeats", "seed", "order", "learns", "truth"]


def _drugs(trial: Trial) -> list[list[int]]:
    """Of each asked document its drugs, as they stand in the text."""
    spans = np.asarray(trial.inputs["spans"])
    own = [spans[spans[:, 0] == place, 1] for place in np.asarray(trial.inputs["asked"]).tolist()]
    return [np.argsort(starts).tolist() for starts in own]


def honest(trial: Trial) -> Rows:
    """The first two drugs of a sentence are combined if it says plus."""
    sentences = [trial.inputs["sentences"][place] for place in np.asarray(trial.inputs["asked"]).tolist()]
    return [
        [{"spans": sorted(drugs[:2]), "label": "POS", "score": 0.5}] if " plus " in text and len(drugs) > 1 else []
        for text, drugs in zip(sentences, _drugs(trial), strict=True)
    ]


def running(folder: Path, method: Method, extra: str = "") -> InProcess:
    def answer(trial: Trial) -> dict[str, bytes]:
        lines = (json.dumps({"combinations": rows}) for rows in method(trial))
        return {ANSWER: "".join(f"{line}\n" for line in lines).encode()}

    return InProcess(folder, answer, extra)


@pytest.fixture
def card(layout: Layout) -> MethodCard:
    return load_method(layout, "degree_product").model_copy(update={"benchmarks": ["combos"], "inputs": []})


def test_an_honest_method_passes_in_five_runs(card: MethodCard, tmp_path: Path) -> None:
    """Starting a deep learning library takes seconds, so that runs are counted."""
    runner = running(tmp_path, honest)
    assert failed(card, runner) == set()
    assert runner.runs == 5
    assert [check.name for check in checks_of(card)] == NAMES


def test_unseeded_randomness_is_found(card: MethodCard, tmp_path: Path) -> None:
    draw = random.Random()

    def noisy(trial: Trial) -> Rows:
        return [[{**row, "score": draw.random()} for row in rows] for rows in honest(trial)]

    assert failed(card, running(tmp_path, noisy)) == {"repeats", "seed", "order"}


def test_a_seed_that_counts_must_be_declared(card: MethodCard, tmp_path: Path) -> None:
    def seeded(trial: Trial) -> Rows:
        return [[{**row, "score": trial.seed % 1000 / 1000} for row in rows] for rows in honest(trial)]

    runner = running(tmp_path, seeded)
    assert failed(card, runner) == {"seed"}
    assert failed(card.model_copy(update={"deterministic": False}), runner) == set()


def test_a_declared_seed_must_count(card: MethodCard, tmp_path: Path) -> None:
    assert failed(card.model_copy(update={"deterministic": False}), running(tmp_path, honest)) == {"seed"}


def test_lines_in_another_order_are_found(card: MethodCard, tmp_path: Path) -> None:
    """Lines of documents with two drugs fit each other's documents: only who is asked for fewer sees it."""

    def turned(trial: Trial) -> Rows:
        rows, drugs = honest(trial), _drugs(trial)
        pairs = [place for place, own in enumerate(drugs) if len(own) > 1]
        for place, other in zip(pairs, reversed(pairs), strict=True):
            if place < other:
                rows[place], rows[other] = rows[other], rows[place]
        return rows

    assert "order" in failed(card, running(tmp_path, turned))


def test_labels_brought_along_are_found(card: MethodCard, tmp_path: Path) -> None:
    """Whoever knows the published relations by their numbers knows nothing of those of a secret order."""
    problem = sentences()
    asked = problem.split.asked.tolist()
    truth = {place: problem.dataset.documents[place].relations for place in asked}

    def reading(trial: Trial) -> Rows:
        counts = [len(drugs) for drugs in _drugs(trial)]
        places = np.asarray(trial.inputs["asked"]).tolist()
        return [
            [
                {"spans": list(one.spans), "label": "POS" if one.label == 2 else "COMB", "score": 1}
                for one in truth.get(place, ())
                if max(one.spans) < count
            ]
            for place, count in zip(places, counts, strict=True)
        ]

    assert failed(card, running(tmp_path, reading)) == {"learns"}


@pytest.mark.parametrize(("noise", "told"), [(1e-6, set()), (-1e-6, set()), (1e-4, {"order"}), (-1e-4, {"order"})])
def test_rounding_by_the_batch_is_no_other_order(
    card: MethodCard, tmp_path: Path, noise: float, told: set[str]
) -> None:
    """Asked are 18 documents, and then 9 of them."""

    def rounded(trial: Trial) -> Rows:
        rows = honest(trial)
        return [[{**row, "score": 0.5 + noise * (len(rows) % 2)} for row in own] for own in rows]

    assert failed(card, running(tmp_path, rounded)) == told


def test_the_right_combinations_of_other_documents_where_fewer_are_asked_are_found(
    card: MethodCard, tmp_path: Path
) -> None:
    def exchanged(trial: Trial) -> Rows:
        rows, drugs = honest(trial), _drugs(trial)
        if len(rows) < 18:
            without = next(place for place, own in enumerate(rows) if not own and len(drugs[place]) > 1)
            having = next(
                place for place, own in enumerate(rows) if own and own[0]["spans"][-1] < len(drugs[without])
            )
            rows[without], rows[having] = rows[having], rows[without]
        return rows

    assert failed(card, running(tmp_path, exchanged)) == {"order"}


def test_what_depends_on_what_is_asked_must_be_declared(card: MethodCard, tmp_path: Path) -> None:
    def shared(trial: Trial) -> Rows:
        rows = honest(trial)
        return [[{**row, "score": 1 / len(rows)} for row in own] for own in rows]

    declared = card.model_copy(update={"asked_together": "it counts"})
    assert failed(card, running(tmp_path / "one", shared)) == {"order"}
    assert failed(declared, running(tmp_path / "other", shared)) == set()
    assert failed(declared, running(tmp_path / "honest", honest)) == {"order"}


@pytest.mark.parametrize("change", [{}, {"spans": [0, 1]}, {"label": "COMB"}, {"score": 0.50002}])
def test_any_field_that_depends_on_what_is_asked_is_found(
    card: MethodCard, tmp_path: Path, change: dict[str, Any]
) -> None:
    """Of fewer documents another combination, class or score is told, as many as before."""

    def other(trial: Trial) -> Rows:
        # whoever is asked for all names the last two drugs
        rows = honest(trial)
        for own, drugs in zip(rows, _drugs(trial), strict=True):
            for row in own:
                row["spans"] = [len(drugs) - 2, len(drugs) - 1]
        fewer = len(rows) < len(sentences().split.asked)
        return [[{**row, **(change if fewer else {})} for row in own] for own in rows]

    assert ("order" in failed(card, running(tmp_path, other))) == bool(change)


def test_fewer_combinations_where_fewer_documents_are_asked_are_found(card: MethodCard, tmp_path: Path) -> None:
    def fewer(trial: Trial) -> Rows:
        rows = honest(trial)
        return rows if len(rows) == len(sentences().split.asked) else [[] for _ in rows]

    assert "order" in failed(card, running(tmp_path, fewer))


@pytest.mark.parametrize("count", [0, 1])
def test_a_method_that_counts_on_two_drugs_is_found(card: MethodCard, tmp_path: Path, count: int) -> None:
    def needing(trial: Trial) -> Rows:
        return [
            [{"spans": [0, 1], "label": "POS", "score": 1}] if len(drugs) <= count or rows else []
            for rows, drugs in zip(honest(trial), _drugs(trial), strict=True)
        ]

    assert "sentences" in failed(card, running(tmp_path, needing))


def test_more_than_the_answer_is_found(card: MethodCard, tmp_path: Path) -> None:
    assert "sentences" in failed(card, running(tmp_path, honest, extra="notes.txt"))


def test_inputs_that_tell_the_truth_are_found(
    card: MethodCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Problem.inputs

    def leaking(self: Problem, of: MethodCard, options: Mapping[str, int]) -> dict[str, Given]:
        return {**real(self, of, options), "known": self.dataset.relations}

    monkeypatch.setattr(Problem, "inputs", leaking)
    results = {result.check: result for result in self_test(card, running(tmp_path, honest))}
    assert results["truth"].reason == "labels of test items change known"


def test_the_problem_is_what_a_run_may_be() -> None:
    for problem in (sentences(), sentences().with_other_test_labels()):
        assert BENCHMARK.form.broken_promises(problem.split, problem.dataset) == []
        BENCHMARK.remarks(problem.dataset)
    counts = sentences().dataset.span_counts[sentences().split.asked]
    assert {0, 1, 2, 3, 16} == set(counts.tolist())
