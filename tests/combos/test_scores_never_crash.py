"""Every valid answer has every metric, or the reason why not; and what is kept is enough to score it again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.combos.answer import Combination, Predictions
from harness.benchmarks.combos.conformance.problems import sentences
from harness.benchmarks.combos.dataset import CombosDataset, dataset_of
from harness.benchmarks.combos.documents import (
    COMB,
    LABELS,
    NEG,
    NO_COMB,
    POS,
    Document,
    DrugRelation,
    MarkedDrug,
)
from harness.benchmarks.combos.metrics.evaluation import MatchRule
from harness.benchmarks.combos.metrics.scored_rows import ScoredRows, halves
from harness.benchmarks.combos.names import (
    BUCKETS,
    DEFINED,
    KEY_METRICS,
    METRICS,
    ORDER_FREE_METRICS,
    PUBLISHED,
    RULES,
    flat_name,
)
from harness.benchmarks.combos.scoring import SCORING, shares_of
from harness.benchmarks.combos.splits.form import DocumentSplit, split_of
from harness.splits import strategy_names
from tests.combos.made_documents import datasets

Values = dict[str, float | None]
BY_ZERO = "0, where the published code divides by zero: "


def test_what_predicts_is_a_strategy() -> None:
    """Of its splits nobody knows the truth, so that nothing is scored."""
    assert SCORING.predicting == "unannotated" and SCORING.predicting in strategy_names("combos")


@st.composite
def answers(draw: st.DrawFn, dataset: CombosDataset, split: DocumentSplit) -> Predictions:
    """Of every asked document any sets of its drugs."""
    labels = st.sampled_from([LABELS[number] for number in (NO_COMB, COMB, POS)])
    answer = []
    for drugs in dataset.span_counts[split.asked].tolist():
        spans = st.lists(st.integers(0, max(0, drugs - 1)), min_size=2, max_size=4, unique=True)
        sets = draw(st.lists(spans, max_size=4, unique_by=frozenset)) if drugs > 1 else []
        answer.append(tuple(Combination(tuple(sorted(own)), draw(labels), 0.5) for own in sets))
    return tuple(answer)


def _scored(dataset: CombosDataset, split: DocumentSplit, answer: Predictions) -> tuple[Values, dict[str, str]]:
    values, notes = SCORING.score(dataset, split, answer, {})
    assert [*values] == [metric.name for metric in METRICS]
    assert {name for name, value in values.items() if value is None} <= {*notes} <= {*values}
    assert all(value is None or 0 <= value <= 1 + 1e-12 for value in values.values())
    # a note that is no reason for None stands at a 0 that the original does not reach
    assert all(
        values[name] == 0 and note.startswith(BY_ZERO) for name, note in notes.items() if values[name] is not None
    )
    assert not any(name.endswith(DEFINED) and note.startswith(BY_ZERO) for name, note in notes.items())
    return values, notes


@settings(max_examples=80, deadline=None)
@given(data=st.data(), dataset=datasets())
def test_any_answer_is_scored_and_what_is_kept_scores_it_again(
    data: st.DataObject, dataset: CombosDataset
) -> None:
    split = split_of(dataset.released)
    answer = data.draw(answers(dataset, split))
    values, _ = _scored(dataset, split, answer)
    rows = ScoredRows.from_series(SCORING.series(dataset, split, answer, {}))
    for name, rule in ((name, MatchRule(*own)) for name, own in RULES.items()):
        credits = {PUBLISHED: rows.evaluator.as_published(rule), DEFINED: rows.evaluator.as_defined(rule)}
        for kind, own in credits.items():
            for measure, value in shares_of(own).items():
                assert values[flat_name(name, measure, kind)] == (value or (0.0 if kind == PUBLISHED else value))
        for bucket, parts in BUCKETS.items():
            for part, own in zip(
                parts, halves(credits[PUBLISHED], rows.buckets(bucket, published=True)), strict=True
            ):
                for measure, items in zip(("recall", "precision"), own, strict=True):
                    assert values[flat_name(name, measure, PUBLISHED, part)] == items.mean


def test_the_truth_is_worth_one_everywhere() -> None:
    problem = sentences()
    documents = [problem.dataset.documents[place] for place in problem.split.asked]
    labels = {POS: "POS", COMB: "COMB", NEG: "COMB"}
    answer = tuple(
        tuple(Combination(tuple(sorted(one.spans)), labels[one.label], 1.0) for one in document.relations)
        for document in documents
    )
    values, notes = _scored(problem.dataset, problem.split, answer)
    assert {value for name, value in values.items() if name not in notes} == {1.0}
    # of no context is spoken there
    assert {*notes} == {name for name in values if " of contexts/" in name}
    for name, note in notes.items():
        assert note == f"nothing is {'predicted' if 'precision' in name else 'true'} of this kind"


def test_where_nothing_is_predicted_the_published_scores_are_zeros_with_a_reason() -> None:
    problem = sentences()
    for label in (None, "NO_COMB"):
        own = () if label is None else (Combination((0, 1), label, 0.9),)
        counts = problem.dataset.span_counts[problem.split.asked]
        answer = tuple(own if count > 1 else () for count in counts.tolist())
        values, notes = _scored(problem.dataset, problem.split, answer)
        for rule in RULES:
            published, defined = (
                [values[flat_name(rule, measure, kind)] for measure in ("precision", "recall", "F1")]
                for kind in (PUBLISHED, DEFINED)
            )
            assert (published, defined) == ([0, 0, 0], [None, 0, 0])
            assert notes[flat_name(rule, "precision", PUBLISHED)] == f"{BY_ZERO}nothing is predicted"
            assert notes[flat_name(rule, "F1", PUBLISHED)] == f"{BY_ZERO}nothing is right"
            assert notes[flat_name(rule, "precision", DEFINED)] == "nothing is predicted"
            assert flat_name(rule, "recall", PUBLISHED) not in notes


def test_where_nothing_is_true_recall_is_undefined() -> None:
    problem = sentences()
    nothing = replace(
        problem.dataset, relations=problem.dataset.relations[:0], relation_spans=problem.dataset.relation_spans[:0]
    )
    values, notes = _scored(nothing, problem.split, ((),) * problem.split.test)
    assert values[flat_name("exact any", "recall", DEFINED)] is None
    assert notes[flat_name("exact any", "F1", DEFINED)] == "nothing is predicted or true"
    assert notes[flat_name("exact any", "recall", PUBLISHED)] == f"{BY_ZERO}nothing is true"


def test_buckets_know_names_in_training_and_contexts() -> None:
    problem = sentences()
    documents = [*problem.dataset.documents]
    train, test = np.flatnonzero(problem.split.parts == 0)[0], problem.split.asked[0]
    names = [drug.text.upper() for drug in documents[train].drugs]
    documents[test] = replace(
        documents[train],
        drugs=tuple(replace(drug, text=text) for drug, text in zip(documents[train].drugs, names, strict=True)),
        relations=tuple(replace(one, context_needed=True) for one in documents[train].relations),
    )
    dataset = dataset_of("made-up", documents, problem.dataset.released.tolist())
    series = SCORING.series(dataset, problem.split, ((),) * problem.split.test, {})
    assert series["asked/context"][0] == 1
    assert series["relations/seen"][0] == 1
    # what only some relations need puts a document in no bucket
    mixed = DrugRelation(NEG, (1, 2), context_needed=False), DrugRelation(POS, (0, 1), context_needed=True)
    place = next(place for place in problem.split.asked if len(documents[place].drugs) > 2)
    documents[place] = replace(documents[place], relations=mixed)
    again = dataset_of("made-up", documents, problem.dataset.released.tolist())
    series = SCORING.series(again, problem.split, ((),) * problem.split.test, {})
    assert series["asked/context"][problem.split.asked.tolist().index(place)] == -1
    # where a split learns from nothing, and has seen nothing
    parts = np.where(problem.split.parts == 0, -1, problem.split.parts)
    unseen = SCORING.series(dataset, split_of(parts), ((),) * problem.split.test, {})
    assert {*unseen["relations/seen"]} == {0}


@pytest.mark.parametrize("label", [COMB, POS, NEG])
def test_a_combination_is_seen_whatever_training_says_of_it(label: int) -> None:
    drugs = (MarkedDrug(0, 1, "A"), MarkedDrug(2, 3, "B"), MarkedDrug(4, 5, "C"))
    told = ((DrugRelation(label, (0, 1)),), (DrugRelation(POS, (1, 0)), DrugRelation(COMB, (0, 2))))
    documents = [Document(f"{place}", "A B C", "A B C", "", drugs, own) for place, own in enumerate(told)]
    answer = ((Combination((1, 2), "POS", 1.0), Combination((0, 1), "COMB", 1.0)),)
    series = SCORING.series(dataset_of("made", documents, [0, 1]), split_of([0, 1]), answer, {})
    assert (series["relations/seen"], series["predictions/seen"]) == ([1, 0], [0, 1])


def test_tables_show_the_paper_s_four_first() -> None:
    assert (
        tuple(
            f"{rule} F1/as-published"
            for rule in ("exact positive", "partial positive", "exact any", "partial any")
        )
        == KEY_METRICS
    )
    names = [metric.name for metric in METRICS]
    assert {*KEY_METRICS, *ORDER_FREE_METRICS} < {*names}
    assert len({*names}) == len(names) == 72


@pytest.mark.parametrize("order", range(3))
def test_scores_do_not_depend_on_the_order_of_documents(order: int) -> None:
    problem = sentences()
    generator = np.random.default_rng(order)
    documents = problem.dataset.documents
    answer = tuple(
        tuple(Combination(one.spans, "POS", 1.0) for one in documents[place].relations[:1])
        for place in problem.split.asked
    )
    places = generator.permutation(len(documents))
    mixed = dataset_of(
        "made-up", [documents[place] for place in places], problem.dataset.released[places].tolist()
    )
    split = split_of(problem.split.parts[places])
    by_document = dict(zip(problem.split.asked.tolist(), answer, strict=True))
    other = tuple(by_document[int(places[place])] for place in split.asked)
    assert SCORING.score(mixed, split, other, {}) == SCORING.score(problem.dataset, problem.split, answer, {})
