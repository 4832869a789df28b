"""Only what was computed from a run that ended ok is ever shown as its score; a damaged scores file is not one."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import benchmarks
from harness.audit import audit_runs
from harness.audit.results import compare_metrics
from harness.audit.steps import Checked
from harness.base.errors import CorruptData, UsageError
from harness.base.files import digest_of, sha256_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.repurposing.answer import Predictions
from harness.data import load_dataset
from harness.execution.campaign import left_to_run, mark_unstable
from harness.planning.plan import Plan
from harness.proof.leaves import Event
from harness.results import scoring
from harness.results.digests import stored_results
from harness.results.index import build_index
from harness.results.records import Record
from harness.results.scoring import (
    Scores,
    compute_scores,
    is_whole,
    parse_scores,
    read_answer,
    read_scores,
    score_all,
    score_run,
    scored_files,
    scorer_digest,
    scores_path,
    without_truth,
)
from harness.results.store import Store, join
from harness.results.truth import Truth, truth_of
from harness.splits import load_split
from tests.fabricate import planned_of, table_of
from tests.meaning.languages import documented


def forged(scores: dict[str, Any], **changed: object) -> str:
    """Scores with other fields, and the digest that a forger would give them."""
    content = {name: value for name, value in {**scores, **changed}.items() if name != "digest"}
    return json.dumps({**content, "digest": digest_of(content)})


DAMAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "empty": lambda scores: "",
    "cut": lambda scores: json.dumps(scores)[:-40],
    "a list": lambda scores: "[]",
    "nothing": lambda scores: "null",
    "deep": lambda scores: "[" * 100_000,
    "another number": lambda scores: json.dumps({**scores, "metrics": {"AUC/as-published": 0.99}}),
    "not a number": lambda scores: json.dumps({**scores, "metrics": {"AUC/as-published": float("nan")}}),
    "no metrics": lambda scores: json.dumps({**scores, "metrics": None}),
    "half a sign": lambda scores: json.dumps({**scores, "notes": {"a": "\ud800"}}),
    "forged metrics": lambda scores: forged(scores, metrics=1.5),
    "a forged metric": lambda scores: forged(scores, metrics={"AUC/as-published": "0.99"}),
    "forged notes": lambda scores: forged(scores, notes=[]),
    "a forged series": lambda scores: forged(scores, series=0),
    "another field": lambda scores: json.dumps({**scores, "more": 1}),
    "no digest": lambda scores: json.dumps({name: value for name, value in scores.items() if name != "digest"}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_scores_file_is_not_shown_and_made_again(evidence: Layout, made_up: Plan, damage: str) -> None:
    path = scores_path(evidence, planned_of(made_up.cells[0]).key)
    honest = path.read_bytes()
    path.write_text(DAMAGES[damage](json.loads(honest)))
    store = Store(evidence.runs)
    assert [cell.scored for cell in table_of(evidence, made_up).cells[:3]] == [False, True, True]
    assert score_all(evidence, store, join(made_up, store, records=True)).computed == 1
    assert path.read_bytes() == honest


def test_predictions_that_were_changed_cost_their_own_cell_and_no_other(evidence: Layout, made_up: Plan) -> None:
    """The size is the same, so only hashing tells; the run is to be made again, and its damage stays visible."""
    store, planned = Store(evidence.runs), planned_of(made_up.cells[0])
    path = store.path(planned.key) / "predictions.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    for cell in made_up.cells[:3]:
        scores_path(evidence, planned_of(cell).key).unlink()
    assert score_all(evidence, store, join(made_up, store, records=True)).computed == 2
    cells = table_of(evidence, made_up).cells
    assert [one.scored for one in cells[:3]] == [False, True, True]
    where = f"RESULTS/{path.relative_to(evidence.local)}"
    assert cells[0].cell.verdict is Verdict.INFRASTRUCTURE and where in cells[0].cell.reason
    assert planned in [cell.planned for cell in left_to_run(join(made_up, store))]
    assert audit_runs(evidence, [planned.key]).failed == 1


def test_a_run_that_is_no_result_has_no_scores(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    """Its predictions and its old scores may still be there: neither the table nor the index shows them."""
    import pyarrow.parquet as pq

    store, planned = Store(evidence.runs), planned_of(made_up.cells[0])
    shown = table_of(evidence, made_up).cells[0]
    assert shown.scored and shown.metrics
    mark_unstable(store, store.record(planned.key), "a repetition differed")
    hidden = table_of(evidence, made_up).cells[0]
    assert hidden.cell.verdict is Verdict.UNSTABLE and not hidden.scored and not hidden.metrics
    rows = pq.read_table(build_index(evidence, tmp_path / "index.parquet").path).to_pylist()
    row = next(row for row in rows if row["key"] == planned.key)
    assert row["verdict"] == "unstable" and row["AUC/as-published"] is None
    with pytest.raises(UsageError, match="ended as 'unstable' has no scores"):
        compute_scores(evidence, store, planned)


def record_of(layout: Layout, plan: Plan, cell: int = 0) -> Record:
    return Store(layout.runs).record(planned_of(plan.cells[cell]).key)


def flip(path: Path) -> None:
    """Change the last bit; the size stays."""
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    "name", ["predictions.npy", "validation.npy", "lowest.npy", "log.txt", "job.json", "method.json"]
)
def test_nothing_is_scored_beside_a_file_that_is_not_the_records(
    evidence: Layout, made_up: Plan, name: str
) -> None:
    """Validation scores choose the inner model, the lowest scores stand in for zeros."""
    store, planned = Store(evidence.runs), planned_of(made_up.cells[0])
    flip(store.path(planned.key) / name)
    for attempt in (
        lambda: compute_scores(evidence, store, planned),
        lambda: read_answer(evidence, store, store.record(planned.key)),
    ):
        with pytest.raises(CorruptData, match="differs from its record"):
            attempt()


def test_scores_are_of_the_runs_own_predictions(evidence: Layout, made_up: Plan) -> None:
    """Computed here from the arrays, the dataset and the split, by the benchmark's own scorer."""
    store, planned = Store(evidence.runs), planned_of(made_up.cells[2])
    folder, record = store.path(planned.key), record_of(evidence, made_up, 2)
    dataset = load_dataset(evidence, planned.job.dataset)
    split = load_split(evidence, planned.job.dataset, planned.job.split)
    arrays = [np.load(folder / f"{name}.npy") for name in ("predictions", "validation", "lowest")]
    metrics, notes = benchmarks.get("repurposing").scoring.score(dataset, split, Predictions(*arrays), {})
    scores = compute_scores(evidence, store, planned)
    assert (scores.key, scores.metrics, scores.notes) == (planned.key, metrics, notes)
    assert scores.scorer == scorer_digest("repurposing") and scores.series == {}
    assert scores.evidence == {
        name: sha256_of(folder / name) for name in ("predictions.npy", "validation.npy", "lowest.npy")
    }
    truth, answer = read_answer(evidence, store, record)
    assert (truth.dataset.digest, truth.split.digest) == (planned.dataset_digest, planned.split_digest)
    assert truth.job == planned.job and truth.measure(answer).metrics == metrics


@pytest.mark.parametrize("field", ["dataset_digest", "split_digest"])
def test_a_run_is_not_scored_by_the_truth_of_other_data(evidence: Layout, made_up: Plan, field: str) -> None:
    record = record_of(evidence, made_up)
    other = record.model_copy(update={"planned": record.planned.model_copy(update={field: "0" * 64})})
    with pytest.raises(CorruptData, match="not the one of the run"):
        read_answer(evidence, Store(evidence.runs), other)


def test_an_answer_that_breaks_the_protocol_is_named(evidence: Layout, made_up: Plan) -> None:
    store, record = Store(evidence.runs), record_of(evidence, made_up)
    path = store.path(record.key) / "predictions.npy"
    np.save(path, np.load(path)[:, :-1])
    stored = record.files["predictions.npy"].model_copy(
        update={"sha256": sha256_of(path), "bytes": path.stat().st_size}
    )
    vouched = record.model_copy(update={"files": {**record.files, "predictions.npy": stored}})
    with pytest.raises(CorruptData, match="not what the protocol asks for") as refused:
        read_answer(evidence, store, vouched)
    assert record.key[:16] in refused.value.where


def test_a_run_without_a_scored_file_has_no_scores(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores of no file would be fresh for ever."""
    store, planned = Store(evidence.runs), planned_of(made_up.cells[0])
    own = benchmarks.get("repurposing")
    monkeypatch.setattr(own, "answer_files", tuple(replace(file, scored=False) for file in own.answer_files))
    with pytest.raises(CorruptData, match="no file that scores are computed from"):
        compute_scores(evidence, store, planned)
    kept = parse_scores(json.loads(scores_path(evidence, planned.key).read_text()))
    assert kept is not None
    scores_path(evidence, planned.key).write_text(json.dumps(replace(kept, evidence={}).to_json()))
    assert read_scores(evidence, planned.key, "repurposing", {}) is None
    with pytest.raises(CorruptData, match="no file that scores are computed from"):
        score_run(evidence, store, planned)


def test_metrics_are_not_equal_where_there_is_none() -> None:
    assert compare_metrics({"AUC": 0.5}, {"AUC": 0.5}, "here").checked is Checked.OK
    for kept in ({}, None, {"AUC": 0.5}):
        assert compare_metrics({}, kept, "here").checked is Checked.FAILED


def test_scores_are_shown_of_their_own_run_scorer_and_files_alone(evidence: Layout, made_up: Plan) -> None:
    one, other = (planned_of(cell).key for cell in made_up.cells[:2])
    files = scored_files("repurposing", record_of(evidence, made_up).to_json()["files"])
    honest = read_scores(evidence, one, "repurposing", files)
    assert honest is not None and honest.key == one and honest.metrics
    # another run's file, with its digest and its files as they were
    scores_path(evidence, other).write_bytes(scores_path(evidence, one).read_bytes())
    assert read_scores(evidence, other, "repurposing", files) is None
    assert read_scores(evidence, one, "ddi", files) is None
    for name in files:
        assert read_scores(evidence, one, "repurposing", {**files, name: "0" * 64}) is None
        fewer = {kept: digest for kept, digest in files.items() if kept != name}
        assert read_scores(evidence, one, "repurposing", fewer) is None
    assert read_scores(evidence, "0" * 64, "repurposing", files) is None


def test_files_of_an_answer_are_scored_and_nothing_else() -> None:
    names = ("predictions.npy", "lowest.npy", "trace/predictions.npy", "other.npy", "log.txt", "job.json")
    files = {name: {"sha256": name, "bytes": 1} for name in names}
    scored = {name: name for name in ("predictions.npy", "lowest.npy")}
    assert scored_files("repurposing", files) == scored
    assert scored_files("ddi", files) == {"predictions.npy": "predictions.npy"}
    more = {**files, "validation.npy": {"sha256": "v", "bytes": 1}}
    assert scored_files("repurposing", more) == {**scored, "validation.npy": "v"}


@pytest.fixture
def scorer(repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the harness, to be changed; digests are computed anew, as another process would."""
    copy = tmp_path / "harness"
    shutil.copytree(repository.root / "harness", copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(scoring, "__file__", str(copy / "results" / "scoring.py"))
    return copy


def digests() -> dict[str, str]:
    return {name: scorer_digest.__wrapped__(name) for name in benchmarks.names()}


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


ALL = set(benchmarks.names())

# What is changed of which module, and the benchmarks whose scores depend on it.
CHANGES = {
    "a metric": ("benchmarks/ddi/metrics/multilabel.py", "_CUT = 0.5", "_CUT = 0.6", {"ddi"}),
    "another metric": ("benchmarks/repurposing/metrics/as_published.py", "1e-31", "1e-30", {"repurposing"}),
    "a name of a metric": ("benchmarks/ddi/names.py", '"kappa"', '"Kappa"', {"ddi"}),
    "how a metric is called": (
        "benchmarks/repurposing/scoring.py",
        "split.folds, answer)",
        "split.folds.T, answer)",
        {"repurposing"},
    ),
    "what an answer may hold": ("benchmarks/ddi/answer.py", "scores > 1", "scores > 2", {"ddi"}),
    "how an answer is read": ("benchmarks/answers.py", "np.isfinite", "np.isnan", ALL),
    "how an array is read": ("base/npy.py", "import math", "import math, time", ALL),
    "the order of a part's items": (
        "benchmarks/ddi/splits/parts.py",
        'found[np.argsort(self.places[found], kind="stable")]',
        "found",
        {"ddi"},
    ),
    "which pairs are tested": (
        "benchmarks/repurposing/splits/folds.py",
        "OUTSIDE, TEST = -2, -1",
        "OUTSIDE, TEST = -1, -2",
        {"repurposing"},
    ),
    "the items of a dataset": (
        "benchmarks/ddi/dataset.py",
        "class DdiDataset",
        "class DdiDataset(object)",
        {"ddi"},
    ),
    "where there is no truth": (
        "benchmarks/measures.py",
        "strategy != scoring",
        "strategy == scoring",
        ALL,
    ),
    "which splits have no truth": (
        "benchmarks/ddi/scoring.py",
        'predicting = "new_drugs"',
        'predicting = ""',
        {"ddi"},
    ),
    "what `harness predict` lists": ("benchmarks/ddi/ranking.py", "-scores", "scores", set()),
    "what a method is given": (
        "benchmarks/repurposing/input_arrays.py",
        "import",
        "import os, time\nimport",
        set(),
    ),
    "a command": ("cli/run.py", "import", "import os, time\nimport", set()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_scores_depend_on_makes_them_stale(scorer: Path, change: str) -> None:
    name, old, new, stale = CHANGES[change]
    before = digests()
    replace_in(scorer / name, old, new)
    assert {one for one, digest in digests().items() if digest != before[one]} == stale


def test_no_comment_docstring_or_blank_line_makes_scores_stale(scorer: Path) -> None:
    before = digests()
    for path in scorer.rglob("*.py"):
        tree = documented(ast.parse(path.read_bytes()), "Another summary.")
        path.write_text(f"# a comment\n\n{ast.unparse(tree)}\n# another\n")
        os.utime(path, (1, 1))
    (scorer / "benchmarks" / "ddi" / "notes.txt").write_text("not read")
    assert digests() == before


def test_a_digest_is_over_every_field_of_scores() -> None:
    scores = Scores("k", "s", {"predictions.npy": "0"}, {"AUC": 0.5, "F": None}, {"F": "why"}, {"per type": [1.0]})
    content = scores.to_json()
    assert parse_scores(json.loads(json.dumps(content))) == scores and is_whole(content)
    for name in content:
        assert not is_whole({**content, name: "another"}), name
        assert not is_whole({kept: value for kept, value in content.items() if kept != name}), name
    # a truth value is a whole number to Python, and no metric
    for value, is_one in [(1, True), (0.5, True), (None, True), (True, False), ("0.5", False), ([0.5], False)]:
        metrics: dict[str, Any] = {"F": 0.5, "AUC": value}
        assert is_whole(Scores("k", "s", {}, metrics, {}).to_json()) is is_one, value
    bare = Scores("k", "s", {}, {}, {})
    assert "series" not in bare.to_json() and parse_scores(bare.to_json()) == bare


def test_values_of_a_series_have_names_of_their_own() -> None:
    scores = Scores("k", "s", {}, {"AUC": 0.5}, {}, {"accuracy of type": [0.25, None]})
    assert scores.every == {"AUC": 0.5, "accuracy of type 0": 0.25, "accuracy of type 1": None}


def test_a_run_is_scored_once_and_again_when_its_scores_are_gone(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, planned = Store(evidence.runs), planned_of(made_up.cells[0])
    computed = []

    def counted(*given: Any) -> Scores:
        computed.append(given[2].key)
        return compute_scores(*given)

    monkeypatch.setattr(scoring, "compute_scores", counted)
    cached = score_run(evidence, store, planned)
    assert computed == [] and score_all(evidence, store, join(made_up, store, records=True)).computed == 0
    path = scores_path(evidence, planned.key)
    assert path == evidence.scores / planned.key[:2] / f"{planned.key}.json"
    path.unlink()
    assert score_run(evidence, store, planned) == cached and computed == [planned.key]
    assert parse_scores(json.loads(path.read_text())) == cached


# a repetition with the same answer, as of any method that draws nothing
_REPLACED = """
import shutil, sys
from pathlib import Path
from harness.results.store import Store

store, key, work = Store(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3])
record = store.record(key)
shutil.copytree(store.path(key), work)
later = record.model_copy(update={"finished": "2030-01-01T00:00:00.000000Z"})
store.put(later, {name: work / name for name in record.files}, again=True)
"""


def test_scores_of_a_run_that_another_process_replaces_meanwhile_are_logged_as_those_of_the_new_one(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its files are the same, so the scores count for it, and the log told of the old record alone."""
    store, planned, computed = Store(evidence.runs), planned_of(made_up.cells[0]), list[Scores]()
    before, mirrors = store.record(planned.key), [tmp_path / "mirror"]

    def slow(*given: Any) -> Scores:
        assert given[-1] == mirrors
        scores = compute_scores(*given)
        if not computed:
            words = str(evidence.runs), planned.key, str(tmp_path / "again")
            subprocess.run([sys.executable, "-c", _REPLACED, *words], check=True)
        computed.append(scores)
        return scores

    monkeypatch.setattr(scoring, "compute_scores", slow)
    kept = score_run(evidence, store, planned, mirrors, again=True)
    assert store.record(planned.key) != before and store.record(planned.key).files == before.files
    leaf = store.log.leaves()[-1]
    assert (leaf.kind, leaf.key, leaf.score) == (Event.SCORE, planned.key, kept.to_json()["digest"])
    assert leaf.record == store.record(planned.key).to_json()["digest"]
    assert len(computed) == 2 and stored_results(store, evidence.scores)[planned.key].score == leaf.score


def test_the_truth_is_looked_for_in_the_mirrors_too(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the data lie in a mirror alone, nothing could be scored without them."""
    store, mirrors, asked = Store(evidence.runs), [tmp_path / "mirror"], list[object]()

    def noticed(layout: Layout, job: Any, places: Any) -> Truth:
        asked.append(places)
        return truth_of(layout, job, places)

    monkeypatch.setattr(scoring, "truth_of", noticed)
    planned = planned_of(made_up.cells[0])
    score_run(evidence, store, planned, mirrors, again=True)
    scores_path(evidence, planned.key).unlink()
    assert score_all(evidence, store, join(made_up, store, records=True), mirrors).computed == 1
    assert asked == [mirrors, mirrors]


def test_every_obstacle_is_told_once(evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(evidence.runs)
    cells = [cell for cell in join(made_up, store, records=True) if cell.verdict is Verdict.OK]
    for cell in cells:
        scores_path(evidence, planned_of(cell).key).unlink()
    seeds = {cell.job.split.seed for cell in cells}

    def in_vain(layout: Layout, store: Store, planned: Any, mirrors: object) -> Scores:
        raise CorruptData(f"no truth of seed {planned.job.split.seed}")

    monkeypatch.setattr(scoring, "score_run", in_vain)
    found = score_all(evidence, store, cells)
    assert len(found.cells) == len(cells) > len(seeds) > 1 and found.computed == 0
    assert [error.what for error in found.obstacles] == [
        f"no truth of seed {seed}" for seed in dict.fromkeys(cell.job.split.seed for cell in cells)
    ]


def test_kept_scores_are_no_answer_for_a_run_that_is_no_result(evidence: Layout, made_up: Plan) -> None:
    """Its scores are as fresh as ever: the same files, the same scorer."""
    store, planned = Store(evidence.runs), planned_of(made_up.cells[0])
    mark_unstable(store, store.record(planned.key), "a repetition differed")
    with pytest.raises(UsageError, match="has no scores"):
        score_run(evidence, store, planned)
    assert score_all(evidence, store, join(made_up, store, records=True)).computed == 0


def test_where_there_is_no_truth_no_metric_is_defined(evidence: Layout, made_up: Plan) -> None:
    planned = planned_of(made_up.cells[0])
    assert without_truth(planned.job) == ""
    asking = benchmarks.get("repurposing").scoring.predicting
    split = planned.job.split.model_copy(update={"strategy": asking})
    job = planned.job.model_copy(update={"split": split})
    reason = without_truth(job)
    assert asking in reason
    real = truth_of(evidence, planned.job)
    measured = Truth(job, real.dataset, real.split).measure(None)
    names = {metric.name for metric in benchmarks.get("repurposing").scoring.metrics}
    assert measured.metrics == dict.fromkeys(names) and measured.notes == dict.fromkeys(names, reason)
    assert measured.series == {}
