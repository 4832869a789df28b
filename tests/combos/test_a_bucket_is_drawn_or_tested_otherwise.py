"""Tests of buckets must be of the runs they say, bars as long as their means, and facts those of the dataset."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.combos.answer import Combination, Predictions
from harness.benchmarks.combos.dataset import TEST_FILE, TRAINING_FILE, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import COMB, POS, Document, DrugRelation, MarkedDrug
from harness.benchmarks.combos.metrics.evaluation import MatchRule
from harness.benchmarks.combos.metrics.rows import RelationRow
from harness.benchmarks.combos.metrics.scored_rows import (
    NEITHER,
    AskedDocument,
    RelationTruth,
    ScoredRows,
    Series,
    paired_buckets,
    published_test,
)
from harness.benchmarks.combos.names import RULES
from harness.benchmarks.combos.scoring import scored_rows
from harness.benchmarks.combos.splits.form import split_of
from harness.benchmarks.combos.study import STUDY, bucket_tests
from harness.benchmarks.combos.study.bucket_tests import MEASURES
from harness.benchmarks.combos.study.buckets import _share, series_of
from harness.benchmarks.combos.study.corpus import CorpusFacts, counts_of
from harness.compare.runs import Obtained
from harness.data import load_dataset
from harness.status.table import summarise
from harness.study.measurements import load_measured
from tests.combos.made_documents import line, write_files
from tests.combos.test_the_study_shows_something_else import HERE, sheets_of
from tests.combos.test_the_study_shows_something_else import RULES as SHOWN_RULES

DRUGS = (MarkedDrug(0, 1, "A"), MarkedDrug(2, 3, "B"), MarkedDrug(4, 5, "C"))
RELATIONS = ((DrugRelation(POS, (0, 1)),), (DrugRelation(COMB, (0, 1, 2)),), (DrugRelation(POS, (1, 2)),))


def _made() -> CombosDataset:
    documents = [
        Document(f"{number}", f"A B C {number}", f"A B C {number}", "", DRUGS, relations)
        for number, relations in enumerate((RELATIONS[0], *RELATIONS, *RELATIONS))
    ]
    return dataset_of("made", documents, [TRAINING_FILE] + [TEST_FILE] * 6)


def _series(*spans: tuple[int, ...]) -> Series:
    """The rows of a run that names the same combinations in every document."""
    dataset = _made()
    own = tuple(Combination(one, "POS", 0.5) for one in spans)
    answer: Predictions = (own,) * 6
    return scored_rows(dataset, split_of(dataset.released), answer).to_series()


def test_runs_that_differ_are_tested_both_ways() -> None:
    series = [_series((0, 1), (0, 1, 2)), _series((0, 1)), _series((1, 2), (0, 1, 2))]
    rows = [ScoredRows.from_series(one) for one in series]
    for bucket in ("arity", "seen"):
        results = bucket_tests.tests(series, bucket)
        assert [*results] == [*RULES]
        for rule, own in results.items():
            draws = published_test(rows, bucket, MatchRule(*RULES[rule]))
            paired = paired_buckets(rows, bucket, MatchRule(*RULES[rule]))
            assert own == {one: (draws[one].better, [*paired[one]] if one in paired else None) for one in MEASURES}
    better, values = bucket_tests.tests(series, "arity")["partial any"]["recall"]
    assert better is not None and 0 < better < 1000 and values is not None and len(values) == 5


@pytest.mark.parametrize("count", [1, 3])
def test_runs_with_one_answer_have_no_published_test(count: int) -> None:
    results = bucket_tests.tests([_series((0, 1), (0, 1, 2))] * count, "arity")
    assert {better for own in results.values() for better, _ in own.values()} == {None}
    assert results["exact any"]["recall"][1] is not None


def test_a_difference_that_is_undefined_is_none() -> None:
    """Nothing of three drugs is predicted: of these there is no precision."""
    results = bucket_tests.tests([_series((0, 1))], "arity")
    assert [results["exact any"][one][1] is None for one in MEASURES] == [True, False]


@pytest.mark.parametrize("name", ["asked/drugs", "asked/context", "relations/class", "predictions/size"])
def test_kept_rows_that_lack_a_number_are_not_read_as_fewer(name: str) -> None:
    series = _series((0, 1))
    assert ScoredRows.from_series(series) == ScoredRows.from_series(dict(series))
    with pytest.raises(ValueError, match="zip"):
        ScoredRows.from_series({**series, name: series[name][:-1]})


def test_of_a_run_without_scores_no_row_is_shown() -> None:
    run = Obtained("0" * 64, Verdict.OK, "", None, {}, unscored="its predictions are not here")
    assert set(map(tuple, series_of(run).values())) == {()}


def test_a_span_that_no_drug_has_is_of_neither_bucket() -> None:
    """Counted from the end it would be another drug."""
    truth = RelationTruth({"one": AskedDocument(3, 0)}, [], {"one": ("A", "B", "C")}, {("a", "b")})
    rows = [RelationRow("one", spans, 2) for spans in ((0, 1), (0, 2), (0, -1), (0, 3))]
    assert truth.beside(rows).predicted.seen == (1, 0, NEITHER, NEITHER)


def _metrics(value: float) -> dict[str, float | None]:
    dataset = _made()
    series = scored_rows(
        dataset, split_of(dataset.released), ((Combination((0, 1), "POS", 0.5),),) * 6
    ).to_series()
    kept = {f"{name} {place}": one for name, own in series.items() for place, one in enumerate(own)}
    parts = {
        f"{rule} {measure} of {part}/as-published": value + (0.1 if part == "more drugs" else 0.0)
        for rule in RULES
        for measure in MEASURES
        for part in ("two drugs", "more drugs")
    }
    return {**kept, **parts}


def test_bars_are_as_long_as_their_means(repository: Layout) -> None:
    """From 0 to 1 are 400 units: means of 0.3 and 0.4 are 120 and 160, whatever their runs vary."""
    own = {seed: Obtained("a" * 64, Verdict.OK, "", _metrics(value), {}) for seed, value in enumerate((0.2, 0.4))}
    sheet = sheets_of(repository, {HERE: own})["Figure 4"]
    (row,) = (one for one in sheet.rows if [*one[:3]] == ["pure_minilm", "exact any", "recall"])
    assert (row[3], row[4], row[8]) == ("30.0±14.1", "40.0±14.1", "2")
    assert [one.heading for one in sheet.pictures] == [*SHOWN_RULES]
    drawn = sheet.pictures[0].svg
    ticks = re.findall(r'<text x="([\d.]+)"[^>]*>(\d+)</text>', drawn)
    assert [(float(x), tick) for x, tick in ticks] == [(150 + 4 * tick, str(tick)) for tick in range(0, 101, 20)]
    bars = re.findall(r"<title>pure_minilm, (\w+), ([\w ]+): ([^<]*)</title><rect ([^>]*)>", drawn)
    assert [bar[:3] for bar in bars] == [
        (measure, part, shown)
        for measure in MEASURES
        for part, shown in (("two drugs", "30.0±14.1"), ("more drugs", "40.0±14.1"))
    ]
    places = [dict(re.findall(r'(\w[\w-]*)="([^"]*)"', bar[3])) for bar in bars]
    assert [float(place["width"]) for place in places] == pytest.approx([120, 160, 120, 160])
    assert {float(place["x"]) for place in places} == {150.0} and {place["height"] for place in places} == {"9.0"}
    # the second part is the lighter one, and a gap parts precision from recall
    heights = [float(place["y"]) for place in places]
    assert [after - before for before, after in pairwise(heights)] == [11, 14, 11]
    shades = [float(place["fill-opacity"]) for place in places]
    assert shades == pytest.approx([0.9, 0.45, 0.9, 0.45])


def test_a_run_that_is_right_nowhere_counts_in_the_mean(repository: Layout) -> None:
    own = {seed: Obtained("a" * 64, Verdict.OK, "", _metrics(value), {}) for seed, value in enumerate((0.0, 0.4))}
    rows = sheets_of(repository, {HERE: own})["Figure 4"].rows
    assert {(row[3], row[4]) for row in rows if row[0] == "pure_minilm"} == {("20.0±28.3", "30.0±28.3")}


def test_a_part_without_a_number_has_no_bar(repository: Layout) -> None:
    metrics = _metrics(0.2)
    metrics["exact any recall of more drugs/as-published"] = None
    run = Obtained("a" * 64, Verdict.OK, "", metrics, {})
    sheet = sheets_of(repository, {HERE: {0: run, 1: replace(run, metrics=None)}})["Figure 4"]
    (row,) = (one for one in sheet.rows if [*one[:3]] == ["pure_minilm", "exact any", "recall"])
    assert (row[3], row[4], row[5], row[8]) == ("20.0", "-", "-", "1")
    picture = next(one.svg for one in sheet.pictures if one.heading == "exact any")
    assert "<title>pure_minilm, recall, more drugs: -</title>" in picture


def test_what_is_measured_is_kept_with_its_dataset(tmp_path: Path) -> None:
    house = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    rows = [line(doc_id="two")]
    folder = write_files(house, 2, train=[line()], test=rows)
    folder.rename(house.datasets / "combos")
    manifest = house.datasets / "combos" / "dataset.toml"
    manifest.write_text(manifest.read_text().replace('"mine"', '"combos"', 1))
    said: list[str] = []
    STUDY.measure(house, "combos", [], said.append)
    dataset = load_dataset(house, "combos", CombosDataset)
    assert said == ["dataset combos"]
    assert load_measured(house, "combos", CorpusFacts) == CorpusFacts(
        dataset="combos", digest=dataset.digest, counts=counts_of(dataset)
    )
    assert counts_of(dataset)["instances"] == [1, 1, 2]


def test_runs_that_agree_deviate_by_zero_and_one_run_by_nothing() -> None:
    shares = [_share(summarise(values)) for values in ([0.0, 0.0], [0.5, 0.5], [0.25, 0.75], [0.5], [])]
    assert shares == ["0.0±0.0", "50.0±0.0", "50.0±35.4", "50.0", "-"]
