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
from harness.prediction import Prediction, PredictionRequest, content_of, participants, predict
from harness.results.store import Store

pytestmark = pytest.mark.engine


def ask(layout: Layout, engine: Engine, top: int | None = None) -> Prediction:
    """What the probe says."""
    request = PredictionRequest(methods=("probe",), dataset="synthetic", seed=7, top=top)
    return predict(layout, engine, request, participants(layout, request), mirrors=(), progress=Silent())


def test_a_ranking_holds_every_unknown_pair_once_best_first(probe_layout: Layout, engine: Engine) -> None:
    prediction = ask(probe_layout, engine)
    (job,) = (one.planned.job for one in map(Store(probe_layout.runs).record, [prediction.methods[0].key]))
    dataset = load_dataset(probe_layout, "synthetic", RepurposingDataset)
    place = (
        {name: row for row, name in enumerate(dataset.drug_ids)},
        {name: column for column, name in enumerate(dataset.disease_ids)},
    )
    pairs = {(place[0][drug], place[1][disease]) for _, drug, disease, _ in prediction.rows}
    assert len(pairs) == len(prediction.rows) == int((dataset.associations == 0).sum())
    assert all(dataset.associations[pair] == 0 for pair in pairs)
    assert [row[0] for row in prediction.rows] == [*range(1, len(pairs) + 1)]
    scores = [row[-1] for row in prediction.rows]
    assert scores == sorted(scores, reverse=True)
    # the probe's scores are a generator's, so each pair can be checked against its definition
    expected = np.random.default_rng(job.fit_seed).random(dataset.associations.shape)
    assert all(expected[place[0][drug], place[1][disease]] == score for _, drug, disease, score in prediction.rows)


def test_the_file_keeps_every_digit_and_the_run_is_kept(probe_layout: Layout, engine: Engine) -> None:
    first, again = ask(probe_layout, engine, top=3), ask(probe_layout, engine, top=3)
    assert first == again
    assert list(Store(probe_layout.runs).finished()) == [first.methods[0].key]
    text = content_of(first, "csv")
    assert isinstance(text, str)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["score"]) for row in rows] == [row[-1] for row in first.rows]
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
