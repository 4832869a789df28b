"""Scores that are kept beside a run are believed only where its answer gives the very same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import benchmarks
from harness.audit.results import check_scores, compare_metrics
from harness.audit.steps import Checked, Lack, Step, failed, not_checked, ok
from harness.base.layout import Layout
from harness.planning.plan import Plan
from harness.results.scoring import Scores, compute_scores, read_scores, scored_files, scores_path
from harness.results.store import Store
from tests.audit.forging import broken, forge_record, forge_scores
from tests.audit.test_one_forged_link_is_hidden_by_the_others import first
from tests.fabricate import planned_of

METRIC = "NS-AUC/as-published"


def shifted(value: float, by: float) -> float:
    return value * (1 + by)


@pytest.mark.parametrize("by", [1e-2, 1e-6, -1e-9, 1e-10])
def test_kept_scores_that_are_better_than_the_predictions(evidence: Layout, made_up: Plan, by: float) -> None:
    def better(scores: dict[str, Any]) -> None:
        scores["metrics"][METRIC] = shifted(scores["metrics"][METRIC], by)

    path = forge_scores(evidence, made_up, better)
    audit = first(evidence, made_up)
    assert broken(audit) == ["scores"]
    step = next(one for one in audit.steps if one.name == "scores")
    assert METRIC in step.what and step.where == str(path)
    assert float(step.found) == pytest.approx(shifted(float(step.expected), by), rel=1e-13)


def test_every_kept_metric_is_compared(evidence: Layout, made_up: Plan) -> None:
    honest = json.loads(scores_path(evidence, planned_of(made_up.cells[0]).key).read_text())["metrics"]
    for name, value in honest.items():
        forged = {**honest, name: 0.123456 if value is None else None}
        assert compare_metrics(honest, forged, "there").checked is Checked.FAILED, name
        without = {kept: one for kept, one in honest.items() if kept != name}
        assert compare_metrics(honest, without, "there").checked is Checked.FAILED, name
        assert compare_metrics(without, honest, "there").checked is Checked.FAILED, name
    assert compare_metrics(honest, honest, "there", "AUC 0.5") == ok(
        "scores", f"all {len(honest)} metrics recomputed and equal to those kept", "AUC 0.5"
    )
    others: tuple[object, ...] = (None, [], {name: str(value) for name, value in honest.items()})
    for other in others:
        assert compare_metrics(honest, other, "there").checked is Checked.FAILED


def test_a_metric_that_differs_is_told_with_both_values() -> None:
    assert compare_metrics({"AUC": 0.5, "F": 1.0}, {"AUC": 0.5}, Path("/there")) == failed(
        "scores", "F is not what was kept", expected="1.0", found="-", where="/there"
    )
    assert compare_metrics({"AUC": None}, {"AUC": 0.5}, "there") == failed(
        "scores", "AUC is not what was kept", expected="None", found="0.5", where="there"
    )
    assert compare_metrics({"AUC": 1.0}, {"AUC": 1, "F": None}, "there") == failed(
        "scores", "other metrics are kept than are computed", where="there"
    )
    # of nothing, nothing is equal
    assert compare_metrics({}, {}, "there") == failed(
        "scores", "no metric was computed: nothing can be compared", where="there"
    )


@pytest.mark.parametrize("value", [0.0, 1e-9, 0.5, 1.0, 1234.5])
def test_a_last_bit_is_forgiven_and_no_more(value: float) -> None:
    """Sums over a million pairs differ by some units in the last place, 2.2e-16 each: a part in 10^12 at most."""
    # a sum that should be 0 has no digits of its own: there it is a part of 1
    last_bits = value + (8 * float(np.spacing(value)) or 5e-13)
    assert compare_metrics({"AUC": value}, {"AUC": last_bits}, "there").checked is Checked.OK
    large = max(value, 1.0)
    for wrong in (value + 1e-10 * large, value - 1e-10 * large, value + 1.5e-12 * large):
        assert compare_metrics({"AUC": value}, {"AUC": wrong}, "there").checked is Checked.FAILED


SCORES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another run's": (lambda scores: scores.update(key="0" * 64), "of another run"),
    "a later run's": (lambda scores: scores.update(key="f" * 64), "of another run"),
    "with other notes": (
        lambda scores: scores.update(notes={METRIC: "excellent"}),
        "the reasons beside the kept scores are not what was computed",
    ),
    "with notes and another metric": (
        lambda scores: scores.update(notes={METRIC: "excellent"}, metrics={**scores["metrics"], METRIC: 0.99}),
        METRIC,
    ),
    "with a series and another metric": (
        lambda scores: scores.update(series={"one": [1.0]}, metrics={**scores["metrics"], METRIC: 0.99}),
        METRIC,
    ),
    "of other predictions": (
        lambda scores: scores["evidence"].update({"predictions.npy": "0" * 64}),
        "of other predictions",
    ),
    "of fewer files": (lambda scores: scores["evidence"].pop("lowest.npy"), "of other predictions"),
    "of no files": (lambda scores: scores.pop("evidence"), "of other predictions"),
    "with a series": (lambda scores: scores.update(series={"accuracy of type": [1.0]}), "a series"),
    "with another metric": (lambda scores: scores["metrics"].update(more=1.0), "other metrics"),
    "without a metric": (lambda scores: scores["metrics"].pop(METRIC), METRIC),
}


@pytest.mark.parametrize("kind", SCORES)
def test_kept_scores_of_something_else(evidence: Layout, made_up: Plan, kind: str) -> None:
    change, said = SCORES[kind]
    path = forge_scores(evidence, made_up, change)
    audit = first(evidence, made_up)
    assert broken(audit) == [*["plausibility"] * (kind in ("with another metric", "without a metric")), "scores"]
    step = next(step for step in audit.steps if step.name == "scores")
    assert said in step.what and step.where == str(path)
    if "run's" in kind:
        assert step.expected == planned_of(made_up.cells[0]).key


def test_scores_of_a_run_that_has_none_are_no_scores(evidence: Layout, made_up: Plan) -> None:
    """One that a replay found to be unstable keeps the scores of its files, and no failure has any others."""

    def unstable(record: dict[str, Any]) -> None:
        record["verdict"] = "unstable"

    forge_record(evidence, made_up, unstable)
    assert "scores" not in broken(first(evidence, made_up))
    path = forge_scores(evidence, made_up, lambda scores: scores["evidence"].update({"predictions.npy": "0" * 64}))
    step = next(one for one in first(evidence, made_up).steps if one.name == "scores")
    assert step == failed(
        "scores", "the verdict is 'unstable', and scores are kept that are not of its files", where=path
    )

    def without_answer(record: dict[str, Any]) -> None:
        record["files"] = {name: record["files"][name] for name in ("job.json", "log.txt")}

    forge_record(evidence, made_up, without_answer)
    forge_scores(evidence, made_up, lambda scores: scores.update(evidence={}))
    assert "scores" in broken(first(evidence, made_up))
    path.write_text("[]")
    assert "scores" in broken(first(evidence, made_up))
    path.unlink()
    assert "scores" not in broken(first(evidence, made_up))


def test_scores_from_before_there_were_series_are_whole(evidence: Layout, made_up: Plan) -> None:
    forge_scores(evidence, made_up, lambda scores: scores.pop("series", None))
    assert broken(first(evidence, made_up)) == []


def test_scores_without_the_series_that_the_answer_gives_are_not_whole(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_series(*about: Any) -> Scores:
        return replace(compute_scores(*about), series={"accuracy of type": [1.0]})

    monkeypatch.setattr("harness.audit.results.compute_scores", with_series)
    path = forge_scores(evidence, made_up, lambda scores: scores.pop("series", None))
    (step,) = (step for step in first(evidence, made_up).steps if step.name == "scores")
    assert step == failed("scores", "a series of values is not what was kept", where=path)


@pytest.mark.parametrize("change", [{"notes": {}}, {"notes": {METRIC: "excellent"}}, {"more": 1}, {"digest": ""}])
def test_kept_scores_whose_words_were_changed(evidence: Layout, made_up: Plan, change: dict[str, Any]) -> None:
    """Every number is right: only their own digest tells."""
    path = scores_path(evidence, planned_of(made_up.cells[0]).key)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    audit = first(evidence, made_up)
    assert broken(audit) == ["scores"]
    step = next(step for step in audit.steps if step.name == "scores")
    assert step == failed("scores", "the kept scores differ from their own digest", where=path)


def test_where_nothing_can_be_scored_kept_scores_are_compared_all_the_same(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.audit.results.without_truth", lambda job: f"nobody knows of {job.method}")

    def step() -> Step:
        return next(one for one in first(evidence, made_up).steps if one.name == "scores")

    planned = planned_of(made_up.cells[0])
    unknown = not_checked("scores", f"nobody knows of {planned.job.method}", lack=None)
    assert step() == unknown
    path = forge_scores(evidence, made_up, lambda scores: scores["metrics"].update({METRIC: 0.99}))
    assert step().checked is Checked.FAILED and METRIC in step().what
    path.write_text("[]")
    assert step() == failed("scores", "the kept scores can't be read", where=path)
    path.unlink()
    assert step() == unknown


def test_kept_scores_that_say_two_things_can_not_be_read(evidence: Layout, made_up: Plan) -> None:
    """The last of two is what we would read, the first what a person does."""
    path = scores_path(evidence, planned_of(made_up.cells[0]).key)
    text = path.read_text()
    path.write_text(text.replace('"metrics": {', f'"metrics": {{"{METRIC}": 0.99, ', 1))
    assert path.read_text() != text and json.loads(path.read_text()) == json.loads(text)
    (step,) = (step for step in first(evidence, made_up).steps if step.name == "scores")
    assert step == failed("scores", "the kept scores can't be read", where=path)
    files = Store(evidence.runs).record(path.stem).to_json()["files"]
    assert read_scores(evidence, path.stem, "repurposing", scored_files("repurposing", files)) is None


@pytest.mark.parametrize("text", ["[]", '"a"', "3", "null", "{"])
def test_kept_scores_that_are_none_can_not_be_read(evidence: Layout, made_up: Plan, text: str) -> None:
    path = scores_path(evidence, planned_of(made_up.cells[0]).key)
    path.write_text(text)
    (step,) = (step for step in first(evidence, made_up).steps if step.name == "scores")
    assert step == failed("scores", "the kept scores can't be read", where=path)


def test_the_words_of_a_reason_are_compared(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only which metric has one."""

    def undefined(*about: Any) -> Scores:
        return replace(compute_scores(*about), notes={METRIC: "one class only"})

    monkeypatch.setattr("harness.audit.results.compute_scores", undefined)
    for said, names in (("one class only", []), ("excellent", ["scores"])):
        forge_scores(evidence, made_up, lambda scores, said=said: scores.update(notes={METRIC: said}))  # type: ignore[misc]
        assert broken(first(evidence, made_up)) == names


@pytest.mark.parametrize("scorer", ["0" * 64, "f" * 64])
def test_scores_that_no_table_shows_are_no_forgery(evidence: Layout, made_up: Plan, scorer: str) -> None:
    """They are computed from the answer all the same, and told."""
    path = scores_path(evidence, planned_of(made_up.cells[0]).key)
    metrics = json.loads(path.read_text())["metrics"]
    names = benchmarks.get("repurposing").key_metrics
    values = ", ".join(f"{name} {metrics[name]:.12g}" for name in names)
    forge_scores(evidence, made_up, lambda scores: scores.update(scorer=scorer, metrics={METRIC: 0.99}))
    audit = first(evidence, made_up)
    assert broken(audit) == []
    stale = ok("scores", "recomputed; those kept are of another scorer and unused", values)
    assert [step for step in audit.steps if step.name == "scores"] == [replace(stale, lack=Lack.STALE)]
    path.unlink()
    assert ok("scores", "recomputed; none are kept", values) in first(evidence, made_up).steps


def test_a_metric_without_a_value_is_not_told(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A score of 0 is, which is a value like any other."""
    planned, store = planned_of(made_up.cells[0]), Store(evidence.runs)
    scores_path(evidence, planned.key).unlink()
    scores = compute_scores(evidence, store, planned)
    none, zero, *others = benchmarks.get("repurposing").key_metrics
    odd = replace(scores, metrics={**scores.metrics, none: None, zero: 0.0})
    monkeypatch.setattr("harness.audit.results.compute_scores", lambda *_: odd)
    values = ", ".join([f"{zero} 0", *(f"{name} {scores.metrics[name]:.12g}" for name in others)])
    assert check_scores(evidence, store, store.record(planned.key), ()) == [
        ok("scores", "recomputed; none are kept", values)
    ]
