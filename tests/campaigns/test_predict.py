"""A ranking of unknown pairs: all of them, best first, none that is known, and the same again."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.data import load_dataset
from harness.engine import Engine
from harness.execution.predict import predict, prediction_job
from harness.results.store import Store

pytestmark = pytest.mark.engine


def test_a_ranking_holds_every_unknown_pair_once_best_first(probe_layout: Layout, engine: Engine) -> None:
    job = prediction_job(probe_layout, "probe", "synthetic", "published", 7)
    ranking = predict(probe_layout, engine, job, mirrors=(), progress=Silent()).ranking
    dataset = load_dataset(probe_layout, "synthetic", RepurposingDataset)
    place = (
        {name: row for row, name in enumerate(dataset.drug_ids)},
        {name: column for column, name in enumerate(dataset.disease_ids)},
    )
    pairs = {(place[0][drug], place[1][disease]) for drug, disease, _ in ranking.rows}
    assert len(pairs) == len(ranking.rows) == int((dataset.associations == 0).sum())
    assert all(dataset.associations[pair] == 0 for pair in pairs)
    scores = [score for _, _, score in ranking.rows]
    assert scores == sorted(scores, reverse=True)
    # the probe's scores are a generator's, so each pair can be checked against its definition
    expected = np.random.default_rng(job.fit_seed).random(dataset.associations.shape)
    assert all(expected[place[0][drug], place[1][disease]] == score for drug, disease, score in ranking.rows)


def test_the_file_keeps_every_digit_and_the_run_is_kept(probe_layout: Layout, engine: Engine) -> None:
    job = prediction_job(probe_layout, "probe", "synthetic", "published", 7)
    first = predict(probe_layout, engine, job, mirrors=(), progress=Silent(), top=3)
    again = predict(probe_layout, engine, job, mirrors=(), progress=Silent(), top=3)
    assert first == again
    assert list(Store(probe_layout.runs).finished()) == [first.key]
    rows = list(csv.DictReader(io.StringIO(first.ranking.to_csv())))
    assert [float(row["score"]) for row in rows] == [score for _, _, score in first.ranking.rows]
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
