"""What findings say of the paper, its files and its code, computed from the released data and the goldens."""

from __future__ import annotations

import csv
import gzip
import json
import random
import statistics
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.combos.answer import Combination, Predictions
from harness.benchmarks.combos.dataset import TEST_FILE, CombosDataset
from harness.benchmarks.combos.documents import LABELS, Document
from harness.benchmarks.combos.metrics.evaluation import Evaluator, MatchRule
from harness.benchmarks.combos.metrics.rows import RelationRow
from harness.benchmarks.combos.metrics.scored_rows import paired_buckets
from harness.benchmarks.combos.scoring import SCORING, scored_rows
from harness.benchmarks.combos.splits.form import DocumentSplit
from harness.benchmarks.combos.splits.strategies import released
from harness.data import load_dataset
from harness.results.reference import load_reference
from tests.conftest import REPOSITORY

EXACT_POSITIVE = MatchRule(exact=True, positive=True)


@pytest.fixture(scope="module")
def corpus(repository: Layout, shared: Path) -> CombosDataset:
    """The released data."""
    return load_dataset(repository, "combos", CombosDataset, mirrors=[shared / "mirror"])


@pytest.fixture(scope="module")
def parts(corpus: CombosDataset) -> tuple[list[Document], list[Document]]:
    """Documents to train on, and those of the test file."""
    pairs = [*zip(corpus.documents, (corpus.released == TEST_FILE).tolist(), strict=True)]
    return [one for one, is_test in pairs if not is_test], [one for one, is_test in pairs if is_test]


def printed(sheet: str, column: str = "value") -> dict[str, dict[str, float]]:
    """The numbers of a table of the paper, or their deviations, by method and metric."""
    numbers: dict[str, dict[str, float]] = {}
    with (REPOSITORY / "results" / "published" / "combos" / "tables.csv").open() as file:
        for row in csv.DictReader(file):
            if row["table"] == sheet:
                numbers.setdefault(row["method"], {})[row["metric"]] = float(row[column])
    return numbers


def whole_sentences(corpus: CombosDataset) -> tuple[DocumentSplit, Predictions]:
    """All drugs of every asked sentence as one positive combination."""
    split = released.make(corpus, 2021, released.Parameters())
    counts = corpus.span_counts[split.asked].tolist()
    return split, tuple((Combination(tuple(range(count)), "POS", 1.0),) for count in counts)


def test_seen_combinations_are_easier_for_who_has_learned_nothing(corpus: CombosDataset) -> None:
    rows = scored_rows(corpus, *whole_sentences(corpus))
    rules = [MatchRule(exact=exact, positive=positive) for exact in (True, False) for positive in (True, False)]
    tests = [paired_buckets([rows], "seen", rule) for rule in rules]
    differences = [test[measure] for test in tests for measure in ("recall", "precision")]
    assert all(0.09 < one.difference < 0.30 for one in differences)
    assert sum(one.p < 0.05 for one in differences) == 7


def test_all_drugs_reach_the_printed_scibert(corpus: CombosDataset) -> None:
    split, answer = whole_sentences(corpus)
    scores, _ = SCORING.score(corpus, split, answer, {})
    rules = ("exact positive", "partial positive", "exact any", "partial any")
    ours = {rule: round(100 * (scores[f"{rule} F1/as-published"] or 0), 1) for rule in rules}
    assert ours == dict(zip(rules, (44.5, 56.5, 50.3, 66.3), strict=True))
    table = printed("2")
    assert ours["exact positive"] == pytest.approx(100 * table["SciBERT"]["exact positive"], abs=0.1001)
    assert all(value > 100 * table["SciBERT"][rule] for rule, value in ours.items() if rule != "exact positive")
    assert all(value > 100 * table["BlueBERT"][rule] for rule, value in ours.items())


def test_a_rule_on_words_is_above_three_of_four_printed_encoders(repository: Layout) -> None:
    rules = ("exact positive", "partial positive", "exact any", "partial any")
    every = [one.fresh_scores for one in load_reference(repository, "combos", methods=["trigger_words"]).values()]
    for scores in every:
        assert scores is not None
        ours = {rule: round(100 * (scores.every[f"{rule} F1/as-published"] or 0), 1) for rule in rules}
        assert ours == dict(zip(rules, (49.1, 60.2, 55.8, 66.5), strict=True))
        table = printed("2")
        for encoder in ("SciBERT", "BlueBERT", "BioBERT"):
            assert all(ours[rule] > 100 * table[encoder][rule] for rule in rules)
        above = [100 * table["PubmedBERT"][rule] - ours[rule] for rule in rules]
        assert sum(one > 0 for one in above) == 3 and max(above) == pytest.approx(1.6, abs=0.01)
        for encoder in ("SciBERT", "BlueBERT", "PubmedBERT", "BioBERT"):
            assert all(100 * table[f"{encoder} w/ DAPT"][rule] > ours[rule] for rule in rules)
    assert every
    deviations = printed("2", "sd")
    spread = [one for name in deviations if "DAPT" not in name for one in deviations[name].values()]
    assert (len(spread), min(spread), max(spread)) == (16, 0.019, 0.062)


def test_the_best_printed_model_reads_no_abstract_and_is_not_pretrained_further() -> None:
    models = {**printed("2"), **printed("3")}
    for rule in ("exact positive", "partial positive", "exact any", "partial any"):
        best = max(models, key=lambda name: models[name][rule])
        assert best == "PubmedBERT (no DAPT) without context"
    beside = [
        models[name] for name in (best, "PubmedBERT (DAPT) with context", "PubmedBERT (DAPT) without context")
    ]
    assert [[round(100 * value, 1) for value in one.values()] for one in beside] == [
        [64.9, 70.2, 70.8, 78.7],
        [61.8, 67.7, 69.4, 77.5],
        [63.4, 68.5, 69.7, 76.8],
    ]
    deviations = printed("3", "sd")
    spread = [
        value
        for name, one in deviations.items()
        if name != "PubmedBERT (no DAPT) with context"
        for value in one.values()
    ]
    assert (min(spread), max(spread)) == (0.006, 0.051)


def golden(shared: Path, name: str) -> Any:
    """A golden file of JSON, packed or not."""
    data = (shared / "golden" / "combos" / name).read_bytes()
    return json.loads(gzip.decompress(data) if name.endswith(".gz") else data)


def test_word_embeddings_learn_since_they_are_resized(shared: Path) -> None:
    info = golden(shared, "b_train_final_layer/info.json")
    words = "bert.embeddings.word_embeddings.weight"
    before, after = info["trainable_before_resize"], info["trainable_after_resize"]
    assert {*after} - {*before} == {words} and words not in before
    folder = shared / "golden" / "combos" / "b_train_final_layer"
    with np.load(folder / "init.npz") as start, np.load(folder / "final.npz") as end:
        changed = {name for name in end.files if not np.array_equal(start[name], end[name])}
        assert words in changed
        assert not {name for name in changed - {words} if "layer.11." not in name and name.startswith("bert.")}


def test_no_published_step_warms_up(shared: Path) -> None:
    info = golden(shared, "b_train_final_layer/info.json")
    assert info["optimizer"] == "simple_adamw" and {*info["lr_per_step"]} == {info["lr"]}
    stepped = golden(shared, "b_train_bitfit_warmup/info.json")
    assert len({*stepped["lr_per_step"]}) > 1


def test_ties_go_to_the_last_in_the_order_of_texts(texts: SimpleNamespace) -> None:
    greedy = texts.decoding.greedy
    # by place in the sentence (0, 2) comes first, by number (0, 2) and (0, 10) come before (1, 2)
    for others in ([(0, 2)], [(0, 10), (0, 2)]):
        sets = [*others, (1, 2)]
        kept = [sets[place] for place in greedy(sets, [2] * len(sets))]
        assert (1, 2) in kept and (0, 2) not in kept
    assert greedy([(0, 10), (0, 2)], [2, 2]) == [1], "'[0, 2]' comes behind '[0, 10]' as a text"


def test_the_sampler_knows_two_of_three_labels(shared: Path, texts: SimpleNamespace) -> None:
    cases = golden(shared, "g_balanced_sampler.json")
    assert {label for case in cases for label in case["labels"]} == {0, 1}
    with pytest.raises(ValueError, match="label 2"):
        texts.orders.BalancedBatches([0, 1, 2], 2)


def candidates_of(texts: SimpleNamespace, document: Document, *, training: bool) -> list[Any]:
    """The candidates of a document as the authors' code makes them."""
    relations = [texts.sdk.Relation(one.spans, LABELS[one.label]) for one in document.relations]
    make = texts.candidates.training_candidates if training else texts.candidates.asked_candidates
    return [*make(texts.candidates.all_sets(len(document.drugs)), relations)]


def test_validation_candidates_are_of_sentences_that_train(
    parts: tuple[list[Document], list[Document]], texts: SimpleNamespace
) -> None:
    items = [number for number, one in enumerate(parts[0]) for _ in candidates_of(texts, one, training=True)]
    for seed in range(2021, 2025):
        train, valid = texts.orders.split(texts.orders.shuffled(items, random.Random(seed)), seed)
        assert (len(items), len(valid)) == (69_881, 6_988)
        assert len({*valid} & {*train}) / len({*valid}) > 0.7
        assert np.isin(valid, train).mean() > 0.98


def test_the_test_pass_of_training_leaves_out_parts_of_relations(
    parts: tuple[list[Document], list[Document]], texts: SimpleNamespace
) -> None:
    counts = [
        sum(len(candidates_of(texts, one, training=training)) for one in parts[1]) for training in (True, False)
    ]
    assert counts == [9_793, 10_285]
    for document in parts[1]:
        left = {one.drugs for one in candidates_of(texts, document, training=True)}
        gone = {one.drugs for one in candidates_of(texts, document, training=False)} - left
        gold = [{*relation.spans} for relation in document.relations]
        assert all(any({*drugs} < one for one in gold) for drugs in gone)


def test_one_sentence_is_nearly_half_of_all_candidates(
    parts: tuple[list[Document], list[Document]], texts: SimpleNamespace
) -> None:
    """Of those that training makes, which leaves out parts of relations; asked is every set."""
    for part, training, most, every, drugs in (
        (parts[0], True, 32_661, 69_881, 15),
        (parts[1], False, 8_178, 10_285, 13),
    ):
        counts = [len(candidates_of(texts, one, training=training)) for one in part]
        assert (max(counts), sum(counts)) == (most, every)
        assert len(part[counts.index(most)].drugs) == drugs


def test_disjoint_decoding_cannot_find_every_relation(parts: tuple[list[Document], list[Document]]) -> None:
    def most(sets: Sequence[set[int]]) -> int:
        """How many of them can be taken without sharing a drug."""
        fits = [
            size
            for size in range(len(sets) + 1)
            for chosen in combinations(sets, size)
            if sum(map(len, chosen)) == len(set().union(*chosen))
        ]
        return max(fits)

    found = [sum(most([{*relation.spans} for relation in one.relations]) for one in part) for part in parts]
    assert [sum(len(one.relations) for one in part) for part in parts] == [1_039, 209]
    assert found == [925, 190]


def test_several_predictions_take_credit_for_one_relation() -> None:
    gold = [RelationRow("d", (0, 1, 2), 2)]
    partial = MatchRule(exact=False, positive=True)
    predictions = [RelationRow("d", spans, 2) for spans in ((0, 1), (0, 2), (1, 2))]
    assert Evaluator(gold, predictions).as_published(partial).predicted.mean == pytest.approx(2 / 3)
    assert Evaluator(gold, predictions).as_defined(partial).predicted.mean == pytest.approx(2 / 9)
    # the same drugs once more, in another order
    twice = [RelationRow("d", (0, 1, 2), 2), RelationRow("d", (2, 1, 0), 2)]
    assert len(Evaluator(gold, twice).as_published(EXACT_POSITIVE).predicted.rows) == 2
    assert Evaluator(gold, twice).as_defined(EXACT_POSITIVE).predicted.mean == 1.0


def test_the_evaluator_divides_by_zero_where_nothing_is_right(shared: Path) -> None:
    """What it made of no answer, of answers that are all no combination, and of answers about another document."""
    made = golden(shared, "e_reference_points.json")
    ended = {name for name, one in made.items() if {"ZeroDivisionError"} == {*map(str, one.values())}}
    assert ended == {"empty_prediction_file", "all_label_0", "only_wrong_doc"}


def test_what_the_bootstrap_prints_as_precision_is_recall(shared: Path) -> None:
    """Its first side holds as many items of bucket A and B as there are relations, whatever is predicted."""
    settings = golden(shared, "f_bootstrap/results.json")["settings"]
    for name, setting in settings.items():
        sides = {key.partition("_")[0]: value for key, value in setting.items() if "original_prints" in key}
        assert "gold_side_recall_(original_prints_Precision)" in setting
        for side, own in sides.items():
            means = [statistics.fmean(setting["per_seed"][f"{side}_{bucket}"]) for bucket in "AB"]
            assert means == pytest.approx([own["A_mean"], own["B_mean"]], abs=0.02), name
        if name.startswith("arity"):
            assert [sum(setting["sizes"][f"gold_{bucket}"]) for bucket in "AB"] == [4 * 155, 4 * 54]


def test_lists_of_many_drugs_fall_out_of_the_buckets(parts: tuple[list[Document], list[Document]]) -> None:
    lists = [
        (len(one.drugs), list(drugs))
        for one in parts[1]
        for size in range(2, len(one.drugs) + 1)
        for drugs in combinations(range(len(one.drugs)), size)
    ]
    dropped = [count for count, drugs in lists if [*{*drugs}] != drugs]
    assert (len(dropped), {*dropped}, len(lists)) == (799, {13}, 10_285)
