"""The study of drug combinations must show what is printed, what our runs reached, and the tests of buckets."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.combos.answer import Combination, Predictions
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.documents import POS
from harness.benchmarks.combos.metrics.bootstrap import PairedDifference
from harness.benchmarks.combos.metrics.evaluation import MatchRule
from harness.benchmarks.combos.metrics.scored_rows import paired_buckets, published_test
from harness.benchmarks.combos.scoring import SCORING, scored_rows
from harness.benchmarks.combos.splits.form import DocumentSplit
from harness.benchmarks.combos.splits.strategies import released
from harness.benchmarks.combos.study import corpus as facts
from harness.benchmarks.combos.study.buckets import _texts, series_of
from harness.compare import Book, compare_claims
from harness.compare.comparison import ClaimVerdict
from harness.compare.names import Target
from harness.compare.runs import Obtained, Runs
from harness.data import load_dataset
from harness.results.scoring import Scores
from harness.results.store import Store
from harness.study import make_study
from harness.study.measurements import load_measured
from harness.study.sheets import Sheet
from tests.conftest import REPOSITORY

HERE = Target("pure_minilm", "combos", "released")
CONTROL = Target("all_drugs", "combos", "released")
RULES = ("exact positive", "partial positive", "exact any", "partial any")


@pytest.fixture(scope="module")
def corpus(repository: Layout) -> CombosDataset:
    """The embedded sentences, which stand in for the released ones where rows are made."""
    return load_dataset(repository, "combos_corpus", CombosDataset)


@pytest.fixture(scope="module")
def split(corpus: CombosDataset) -> DocumentSplit:
    """Its test part."""
    return released.make(corpus, 0, released.Parameters())


def answer_of(corpus: CombosDataset, split: DocumentSplit, seed: int) -> Predictions:
    """Pairs drawn at random, in some documents none."""
    generator = np.random.default_rng(seed)
    answers = []
    for count in corpus.span_counts[split.asked].tolist():
        sets = [
            tuple(sorted(generator.choice(count, size, replace=False).tolist())) for size in (2, min(3, count))
        ]
        labels = generator.choice(["POS", "COMB"], 2).tolist()
        own = {one: Combination(one, label, 0.5) for one, label in zip(sets, labels, strict=True)}
        answers.append(tuple(own.values())[: int(generator.integers(0, 3))] if count > 1 else ())
    return tuple(answers)


def truth_of(corpus: CombosDataset, split: DocumentSplit) -> Predictions:
    """Every relation, and no other."""
    return tuple(
        tuple(
            Combination(tuple(sorted(one.spans)), "POS" if one.label == POS else "COMB", 1.0)
            for one in corpus.documents[place].relations
        )
        for place in split.asked
    )


def run_of(corpus: CombosDataset, split: DocumentSplit, answer: Predictions) -> Obtained:
    """A run with this answer and its scores."""
    metrics, notes = SCORING.score(corpus, split, answer, {})
    series = SCORING.series(corpus, split, answer, {})
    scores = Scores("a" * 64, "", {}, metrics, notes, series)
    return Obtained("a" * 64, Verdict.OK, "", scores.every, notes)


def book_of(layout: Layout, runs: Runs) -> Book:
    """The claims beside these runs of the usual variant."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "harness.compare.book.obtain",
            lambda _layout, _store, names, *_: {**{variant: {} for variant in names.beside}, "published": runs},
        )
        return compare_claims(layout, Store(layout.root / "nowhere"), "combos")


def sheets_of(layout: Layout, runs: Runs) -> dict[str, Sheet]:
    """The study beside these runs, by `Table 2`."""
    study = make_study(layout, book_of(layout, runs))
    assert study is not None
    return {f"{one.kind.capitalize()} {one.number}": one for one in study.sheets}


def test_rows_come_back_from_scores(corpus: CombosDataset, split: DocumentSplit) -> None:
    for answer in (answer_of(corpus, split, 1), tuple(() for _ in split.asked)):
        kept = series_of(run_of(corpus, split, answer))
        assert kept == scored_rows(corpus, split, answer).to_series()


def test_every_printed_number_is_in_its_table(repository: Layout) -> None:
    sheets = sheets_of(repository, {})
    with (REPOSITORY / "results" / "published" / "combos" / "tables.csv").open() as file:
        printed = [row for row in csv.DictReader(file) if row["table"] in ("2", "3")]
    assert len(printed) == 48
    for row in printed:
        sheet = sheets[f"Table {row['table']}"]
        (line,) = (one for one in sheet.rows if row["method"] in one)
        entry = f"{100 * float(row['value']):.1f}±{100 * float(row['sd']):.1f} / "
        assert line[[*sheet.head].index(row["metric"])].startswith(entry)
    assert {sheets[name].tally.total() for name in ("Table 2", "Table 3")} == {32, 16}
    assert {sheets[name].tally[ClaimVerdict.NOT_COMPARABLE] for name in ("Figure 4", "Figure 5")} == {4}


def test_a_variant_has_claims_of_its_own(repository: Layout) -> None:
    """Four runs of the further pretrained encoder decide about its rows, and about no others."""

    def run(value: float) -> Obtained:
        return Obtained("b" * 64, Verdict.OK, "", {f"{rule} F1/as-published": value for rule in RULES}, {})

    pretrained = Target("pure_pubmedbert", "combos", "released", "dapt")
    runs: Runs = {pretrained: {seed: run(value) for seed, value in enumerate((0.61, 0.62, 0.63, 0.60))}}
    claims = {one.claim: one for one in book_of(repository, runs).comparisons if one.claim.metric in RULES}
    decided = {one.claim.method: one.ours for one in claims.values() if one.n}
    assert {*decided} == {"PubmedBERT w/ DAPT", "PubmedBERT (DAPT) with context"}
    verdicts = {
        one.claim.metric: str(one.verdict) for one in claims.values() if one.claim.method == "PubmedBERT w/ DAPT"
    }
    assert verdicts == dict(zip(RULES, ("reproduced", "not-comparable", "deviates", "deviates"), strict=True))
    runs[pretrained].popitem()
    few = [one for one in book_of(repository, runs).comparisons if one.n]
    assert {(one.verdict, one.reason) for one in few} == {(ClaimVerdict.NOT_COMPARABLE, "3 of 4 runs")}


def test_own_methods_and_controls_stand_in_every_table(
    repository: Layout, corpus: CombosDataset, split: DocumentSplit
) -> None:
    runs: Runs = {
        HERE: {seed: run_of(corpus, split, answer_of(corpus, split, seed)) for seed in range(4)},
        CONTROL: {2021: replace(run_of(corpus, split, truth_of(corpus, split)), key="control")},
    }
    sheets = sheets_of(repository, runs)
    for name in ("Table 2", "Table 3", "Figure 4", "Figure 5"):
        assert {"pure_minilm", "all_drugs"} <= {text for row in sheets[name].rows for text in row}, name
    mean = np.mean([(run.metrics or {})["exact any F1/as-published"] or 0 for run in runs[HERE].values()])
    (line,) = (row for row in sheets["Table 2"].rows if row[1] == "pure_minilm")
    assert line[[*sheets["Table 2"].head].index("exact any")].startswith(f"{100 * mean:.1f}±")
    agreement = {row[0]: row for row in sheets["Table 1"].rows}
    assert agreement["exact any"][3] == f"{100 * mean:.1f} (pure_minilm)"
    assert [row[1] for row in sheets["Table 1"].rows] == ["79.6", "83.4", "86.1", "88.9"]
    assert [row[4] for row in sheets["Table 1"].rows] == ["100.0 (all_drugs)"] * 4
    # each number of ours leads to the runs that it rests on
    keys = [tuple(runs[HERE][seed].key for seed in range(4)), (runs[CONTROL][2021].key,)]
    assert [[*row] for row in sheets["Table 1"].runs] == [[(), (), (), *keys]] * 4


def test_the_best_of_several_stands_beside_the_annotators(
    repository: Layout, corpus: CombosDataset, split: DocumentSplit
) -> None:
    """Of what is printed, of our methods and of the controls the highest mean, by name where two are equal."""
    whole = run_of(corpus, split, truth_of(corpus, split))

    def run(value: float) -> Obtained:
        return replace(
            whole, metrics={**(whole.metrics or {}), **{f"{one} F1/as-published": value for one in RULES}}
        )

    values = {"pure_minilm": 0.25, "pure_pubmedbert": 0.5, "all_drugs": 0.125, "all_pairs": 0.375}
    values |= {"trigger_words": 0.375}
    runs: Runs = {Target(name, "combos", "released"): {2021: run(value)} for name, value in values.items()}
    sheet = sheets_of(repository, runs)["Table 1"]
    with (REPOSITORY / "results" / "published" / "combos" / "tables.csv").open() as file:
        printed = [row for row in csv.DictReader(file) if row["table"] in ("2", "3")]
    for metric, _, best, ours, control in sheet.rows:
        highest = max(float(row["value"]) for row in printed if row["metric"] == metric)
        assert best.startswith(f"{100 * highest:.1f} (") and control == "37.5 (trigger_words)"
        assert ours.startswith("50.0 (")


@pytest.mark.parametrize(("figure", "bucket"), [("Figure 4", "arity"), ("Figure 5", "seen")])
def test_a_figure_shows_both_tests(
    repository: Layout, corpus: CombosDataset, split: DocumentSplit, figure: str, bucket: str
) -> None:
    answers = [answer_of(corpus, split, seed) for seed in range(3)]
    sheet = sheets_of(repository, {HERE: {n: run_of(corpus, split, one) for n, one in enumerate(answers)}})[figure]
    rows, rule = [scored_rows(corpus, split, one) for one in answers], MatchRule(exact=False, positive=False)
    better = published_test(rows, bucket, rule)["recall"].better
    paired = paired_buckets(rows, bucket, rule)["recall"]
    (line,) = (row for row in sheet.rows if [*row[:3]] == ["pure_minilm", "partial any", "recall"])
    assert line[5] == f"{min(better, 1000 - better) / 1000:.3f}"
    assert line[6].startswith(f"{100 * paired.difference:+.1f} (") and line[7:] == [f"{paired.p:.3f}", "3"]
    printed = "0.456, 0.149, 0.240, 0.276" if figure == "Figure 4" else "0.262, 0.025, 0.103, 0.009"
    assert any(printed in note for note in sheet.notes)
    chances = [float(row[7]) for row in sheet.rows if row[7] != "-"]
    below = sum(p < 0.05 for p in chances)
    assert f"Paired, {below} of {len(chances)} differences are significant at 5%." in sheet.notes
    assert [one.heading for one in sheet.pictures] == [*RULES]
    drawn = "".join(one.svg for one in sheet.pictures)
    tooltips = re.findall(r"<title>(pure_minilm[^<]*)</title>", drawn)
    assert len(tooltips) == 16 and f"pure_minilm, recall, {sheet.head[4]}: {line[4]}" in tooltips


@pytest.mark.parametrize(
    ("better", "told"), [(None, "-"), (0, "0.000"), (250, "0.250"), (750, "0.250"), (1000, "0.000")]
)
def test_a_chance_is_the_smaller_share_of_rounds_whichever_bucket_is_better(better: int | None, told: str) -> None:
    """Also where one of the two is better in no round."""
    assert _texts(better, None) == [told, "-", "-"]
    paired = PairedDifference(0.0, -0.021, 0.013, 0.0, 1000)
    assert _texts(better, paired) == [told, "+0.0 (-2.1 to +1.3)", "0.000"]


def test_seeds_with_one_answer_are_not_tested_as_seeds(
    repository: Layout, corpus: CombosDataset, split: DocumentSplit
) -> None:
    run = run_of(corpus, split, answer_of(corpus, split, 0))
    for row in sheets_of(repository, {HERE: dict.fromkeys(range(3), run)})["Figure 4"].rows:
        if row[0] == "pure_minilm":
            assert (row[5], row[8]) == ("-", "3")


def test_every_count_of_the_data_is_a_row_beside_what_is_printed(repository: Layout) -> None:
    """Those that the paper prints come first; of the others there is a row of ours all the same."""
    kept, printed = load_measured(repository, "combos", facts.CorpusFacts), dict[str, dict[str, str]]()
    with (REPOSITORY / "results" / "published" / "combos" / "tables.csv").open() as file:
        for row in csv.DictReader(file):
            if row["table"] == "2.7":
                printed.setdefault(row["metric"], {})[row["split"]] = row["value"]
    assert kept is not None and printed.keys() < kept.counts.keys()
    expected = []
    for name in [*printed, *(name for name in kept.counts if name not in printed)]:
        ours, sides = [*map(str, kept.counts[name])], []
        for part, own in zip(facts.PARTS, ours, strict=True):
            value = printed.get(name, {}).get(part, "-")
            sides.append(value if value in ("-", own) else f"{value} ≠")
        expected.append([name, " / ".join(sides) if name in printed else "-", *ours])
    sheet = sheets_of(repository, {})["Table 2.7"]
    assert sheet.rows == expected
    assert sheet.head == ["", "printed: train / test / all", "train", "test", "all"]


def test_what_the_data_hold(repository: Layout, shared: Path) -> None:
    dataset = load_dataset(repository, "combos", CombosDataset, mirrors=[shared / "mirror"])
    kept = load_measured(repository, "combos", facts.CorpusFacts)
    assert kept == facts.CorpusFacts(dataset="combos", digest=dataset.digest, counts=facts.counts_of(dataset))
    # held against another script's counts
    known = {
        "POS": [688, 150, 838],
        "OTHER": [351, 59, 410],
        "relations that need context": [702, 133, 835],
        "two or more relations": [137, 29, 166],
        "5 drugs or more": [46, 7, 53],
        "abstracts with a positive combination": [603, 132, 735],
        "test relations that training does not have": [0, 169, 169],
        "candidates, as the script of the published numbers makes them": [77_418, 10_285, 87_703],
        "candidates, as training makes them": [69_881, 9_793, 79_674],
        "instances whose spans are not in the order of the text": [55, 10, 65],
        "relations that list their drugs in no order": [5, 1, 6],
        "instances with overlapping relations: disjoint decoding can't find all": [90, 16, 106],
        "abstracts of both files": [2, 2, 2],
    }
    assert kept is not None and {name: kept.counts[name] for name in known} == known
    differing = [row[0] for row in sheets_of(repository, {})["Table 2.7"].rows if "≠" in row[1]]
    assert differing == ["POS", "OTHER", "abstracts with a positive combination"]
