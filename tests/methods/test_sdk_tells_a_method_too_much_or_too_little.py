"""The SDKs hide what a model must not see, and keep every score with its item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.methods.probes import LANGUAGES, Probe, make_probe

LABELS = np.array([[1, 0, -1], [0, 1, 1], [1, 1, 0], [0, -1, 1]], dtype=np.int8)
FOLDS = np.array([[-1, 0, 1], [1, -1, 0], [0, 1, -1], [-2, 0, 1]], dtype=np.int8)
SEEN = np.where(FOLDS >= 0, LABELS, 0).astype(np.int8)


@pytest.fixture(params=LANGUAGES)
def probe(request: pytest.FixtureRequest, tmp_path: Path) -> Probe:
    return make_probe(request, request.param, tmp_path)


def given() -> dict[str, Any]:
    return {"associations": SEEN, "folds": FOLDS}


def told(label: int, model: int, drug: int, disease: int) -> float:
    return label * 1000 + (model + 1) * 100 + drug * 10 + disease


def test_each_score_lies_where_its_item_is(probe: Probe) -> None:
    assert probe.run(given(), inner_folds=2).returncode == 0
    test = [tuple(place) for place in np.argwhere(FOLDS == -1)]
    training = [tuple(place) for place in np.argwhere(FOLDS >= 0)]
    expected = [[told(0, model, *place) for place in test] for model in range(2)]
    np.testing.assert_array_equal(probe.read("predictions"), expected)
    # each training item by the model that did not see it: its label is 0 there
    np.testing.assert_array_equal(
        probe.read("validation"), [told(0, int(FOLDS[place]), *place) for place in training]
    )


def test_without_inner_models_one_model_sees_all_training_items(probe: Probe) -> None:
    folds = np.minimum(FOLDS, 0)
    assert probe.run({"associations": SEEN, "folds": folds}, inner_folds=0, trace=True).returncode == 0
    np.testing.assert_array_equal(probe.read("trace/seen"), SEEN)
    assert probe.read("predictions").shape == (1, 3)
    assert not (probe.outward / "validation.npy").exists()


def test_the_lowest_score_is_taken_over_all_pairs(probe: Probe) -> None:
    assert probe.run(given(), inner_folds=2).returncode == 0
    # the -1 of the last row is seen by model 1 only
    np.testing.assert_array_equal(probe.read("lowest"), [-898, -1000 + 200 + 31])


def test_lowest_is_zero_where_all_scores_are(probe: Probe) -> None:
    assert probe.run(given(), inner_folds=2, parameters={"zeros": True}).returncode == 0
    np.testing.assert_array_equal(probe.read("lowest"), [0, 0])


def test_the_trace_is_of_the_first_model_and_only_when_asked(probe: Probe) -> None:
    assert probe.run(given(), inner_folds=2).returncode == 0
    assert not (probe.outward / "trace").exists()
    assert probe.run(given(), inner_folds=2, trace=True).returncode == 0
    np.testing.assert_array_equal(probe.read("trace/seen"), np.where(FOLDS == 0, 0, SEEN))


def test_generators_start_anew_for_every_job_from_its_seed(probe: Probe) -> None:
    draws = []
    for job in ({"seed": 5}, {"seed": 6}, {"seed": 5}, {"seed": 6, "parameters": {"fit_seed": 5}}):
        assert probe.run(given(), inner_folds=0, trace=True, **job).returncode == 0
        draws.append(tuple(probe.read("trace/draw")))
    assert draws[0] == draws[2] == draws[3] != draws[1]


def test_the_report_says_what_was_measured(probe: Probe) -> None:
    assert probe.run(given(), inner_folds=2, parameters={"warn": True}).returncode == 0
    report: Any = probe.report
    assert report["protocol"] == 1
    assert report["iterations"] == [7, 8]
    assert [len(report["seconds"][part]) for part in ("fit", "predict")] == [2, 2]
    assert report["cpu_seconds"] > 0
    assert 5e6 < report["peak_memory_bytes"] < 2e9
    assert len(report["warnings"]) == 1
    assert "divide by zero" in report["warnings"][0]


def test_one_inner_model_still_makes_lists(probe: Probe) -> None:
    assert probe.run(given(), inner_folds=0).returncode == 0
    report: Any = probe.report
    assert report["iterations"] == [7]
    assert len(report["seconds"]["fit"]) == 1
    assert report["warnings"] == []


def test_another_task_is_a_golden_case(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    probe = make_probe(request, "python", tmp_path)
    inputs = {**given(), "given": np.arange(6.0).reshape(2, 3)}
    assert probe.run(inputs, inner_folds=0, task="other", trace=True).returncode == 0
    np.testing.assert_array_equal(probe.read("trace/given"), inputs["given"])
    assert (probe.read("predictions") == 5).all()
    report: Any = probe.report
    assert report["iterations"] is None


@pytest.mark.parametrize("job", [{"task": "dance"}, {"protocol": 2}, {"parameters": {"cut": True}}], ids=str)
def test_what_it_cannot_do_fails_and_leaves_no_report(probe: Probe, job: dict[str, Any]) -> None:
    done = probe.run(given(), inner_folds=2, **job)
    assert done.returncode != 0
    assert not (probe.outward / "method.json").exists()
    assert done.stderr
