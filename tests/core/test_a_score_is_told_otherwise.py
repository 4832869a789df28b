"""What is said of scores, of the truth and of the index: what, where and what to do, word for word."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness import benchmarks
from harness.base.errors import CorruptData, InvalidPredictions, MissingData, UsageError
from harness.base.files import write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.meaning.scorer import meaning_of_scorer
from harness.planning.cells import Cell
from harness.planning.plan import Plan
from harness.proof.leaves import Event
from harness.results import index, scoring, store, truth
from harness.results.scoring import Scores, read_scores, scored_files, scores_path
from harness.results.store import Store, StoredRun
from harness.results.truth import Truth, truth_of
from tests.core.factories import planned_job, put_run, record_of
from tests.core.word_for_word import layout_of, recorded, said


def test_a_run_that_can_not_be_scored_is_told(
    here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, label = layout_of(here.folder.parent), planned_job().job.label
    put_run(here, planned_job(2), tmp_path / "second", Verdict.TIMEOUT)
    with pytest.raises(UsageError) as usage:
        scoring.compute_scores(layout, here, planned_job(2))
    assert said(usage.value) == (
        "a run that ended as 'timeout' has no scores",
        f"{planned_job(2).job.label}: {Verdict.TIMEOUT.meaning}",
        "only a run that ended ok is a result",
    )
    log = tmp_path / "log"
    log.write_text("")
    here.put(record_of(planned_job(3)), {"log.txt": log})
    with pytest.raises(CorruptData) as found:
        scoring.compute_scores(layout, here, planned_job(3))
    assert said(found.value) == (
        "the record names no file that scores are computed from",
        f"{planned_job(3).job.label} ({planned_job(3).key[:16]})",
        "run it again",
    )
    asked = SimpleNamespace(
        dataset=SimpleNamespace(digest="2" * 64), split=SimpleNamespace(digest="3" * 64), read=None
    )
    given: list[object] = []
    monkeypatch.setattr(scoring, "truth_of", recorded(given, asked))

    def refuse(folder: Path) -> object:
        assert folder == here.path(planned_job().key)
        raise InvalidPredictions("predictions.npy: no array")

    asked.read = refuse
    with pytest.raises(CorruptData) as found:
        scoring.read_answer(layout, here, here.record(planned_job().key), [tmp_path])
    assert given == [(layout, planned_job().job, [tmp_path])]
    assert said(found.value) == (
        "a stored answer is not what the protocol asks for today: predictions.npy: no array",
        f"{label} ({planned_job().key[:16]})",
        "run it again",
    )
    for part in ("dataset", "split"):
        monkeypatch.setattr(getattr(asked, part), "digest", "0" * 64)
        with pytest.raises(CorruptData) as found:
            scoring.read_answer(layout, here, here.record(planned_job().key))
        assert said(found.value) == (
            "the dataset or the split is not the one of the run",
            label,
            "run `harness data verify` and `harness split verify`",
        )
        monkeypatch.setattr(getattr(asked, part), "digest", {"dataset": "2", "split": "3"}[part] * 64)
    asked.read, asked.measure = str, lambda answer: ({"AUC": len(answer)}, {}, {})
    answer = str(here.path(planned_job().key))
    assert scoring.compute_scores(layout, here, planned_job(), [tmp_path]).metrics == {"AUC": len(answer)}
    assert given[-1] == (layout, planned_job().job, [tmp_path])


def test_scores_lie_by_key_and_are_read_of_their_own_run(tmp_path: Path) -> None:
    layout, key = layout_of(tmp_path / "local"), planned_job().key
    assert scores_path(layout, key) == tmp_path / "local" / "scores" / key[:2] / f"{key}.json"
    evidence = {"predictions.npy": "1" * 64}
    scorer = scoring.scorer_digest("repurposing")
    assert scorer == meaning_of_scorer(Path(scoring.__file__).parents[1], "repurposing")
    whole = Scores(key, scorer, evidence, {"AUC": 0.5}, {"F1": "why"}, {"of type": [0.25, None]})
    write_json(scores_path(layout, key), whole.to_json())
    assert read_scores(layout, key, "repurposing", evidence) == whole
    assert whole.every == {"AUC": 0.5, "of type 0": 0.25, "of type 1": None}
    assert read_scores(layout, planned_job(2).key, "repurposing", evidence) is None
    for other in ({}, {"predictions.npy": "2" * 64}, {**evidence, "more": "1"}):
        assert read_scores(layout, key, "repurposing", other) is None
    for changed in (Scores("0" * 64, scorer, evidence, {}, {}), Scores(key, "0" * 64, evidence, {}, {})):
        write_json(scores_path(layout, key), changed.to_json())
        assert read_scores(layout, key, "repurposing", evidence) is None
    write_json(scores_path(layout, key), Scores(key, scorer, {}, {}, {}).to_json())
    assert read_scores(layout, key, "repurposing", {}) is None, "of no file, nothing is fresh"
    assert "series" not in Scores(key, scorer, evidence, {}, {}).to_json()


@pytest.fixture
def made_scores(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Scores are made up here; what they were asked for is noted."""
    asked: list[tuple[Any, ...]] = []

    def compute(layout: Layout, made: Store, planned: Any, mirrors: Any = ()) -> Scores:
        asked.append((planned.job.split.seed, mirrors))
        evidence = scored_files("repurposing", made.record(planned.key).to_json()["files"])
        return Scores(planned.key, scoring.scorer_digest("repurposing"), evidence, {"AUC": 0.5}, {})

    monkeypatch.setattr(scoring, "compute_scores", compute)
    return asked


def test_scores_are_made_once_kept_and_logged(here: Store, made_scores: list[tuple[Any, ...]]) -> None:
    layout, planned = layout_of(here.folder.parent), planned_job()
    for _ in range(2):
        scores = scoring.score_run(layout, here, planned, [Path("m")])
        assert scores.metrics == {"AUC": 0.5} and made_scores == [(1, [Path("m")])]
    kept = json.loads(scores_path(layout, planned.key).read_text())
    assert kept == scores.to_json()
    leaf = here.log.leaves()[-1]
    assert (leaf.kind, leaf.key, leaf.score) == (Event.SCORE, planned.key, kept["digest"])
    assert leaf.record == here.record(planned.key).to_json()["digest"] and leaf.verdict == ""
    assert leaf.scope == "repurposing: constant/published on synthetic, random-1"
    assert leaf.at.endswith("Z") and here.log.size == 2
    # who wants them computed again gets no kept ones
    assert scoring.score_run(layout, here, planned, again=True).metrics == {"AUC": 0.5}
    assert made_scores == [(1, [Path("m")]), (1, ())] and here.log.size == 3


def test_a_run_that_another_took_the_place_of_is_scored_anew(
    here: Store, made_scores: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, planned, made = layout_of(here.folder.parent), planned_job(), scoring.compute_scores

    def compute(layout: Layout, store: Store, planned: Any, mirrors: Any = ()) -> Scores:
        scores = made(layout, store, planned, mirrors)
        if len(made_scores) == 1:
            store.amend(store.record(planned.key).model_copy(update={"attempts": 2}))
        return scores

    monkeypatch.setattr(scoring, "compute_scores", compute)
    scoring.score_run(layout, here, planned, [Path("m")])
    assert made_scores == [(1, [Path("m")])] * 2
    leaves = [one for one in here.log.leaves() if one.kind is Event.SCORE]
    assert [one.record for one in leaves] == [here.record(planned.key).to_json()["digest"]]


def test_all_that_ended_ok_is_scored_and_what_was_changed_is_no_result(
    here: Store, tmp_path: Path, made_scores: list[tuple[Any, ...]]
) -> None:
    layout = layout_of(here.folder.parent)
    for seed, verdict in ((2, Verdict.OK), (3, Verdict.OK), (4, Verdict.TIMEOUT)):
        put_run(here, planned_job(seed), tmp_path / str(seed), verdict)
    scoring.score_run(layout, here, planned_job(2))
    path = here.path(planned_job(3).key) / "log.txt"
    path.write_bytes(path.read_bytes()[::-1])
    plan = Plan("some", tuple(Cell(one.job, one) for one in map(planned_job, range(1, 6))))
    cells = [*store.join(plan, here, records=True), Cell(planned_job(6).job, None, Verdict.OK)]
    made_scores.clear()
    found = scoring.score_all(layout, here, cells, [Path("m")])
    assert made_scores == [(1, [Path("m")])] and found.computed == 1
    place = f"RESULTS/{path.relative_to(layout.local)}"
    reason = f"evidence is damaged: a file of a run differs from its record ({place})"
    assert [(cell.verdict, cell.reason) for cell in found.cells] == [
        (Verdict.OK, Verdict.OK.meaning),
        (Verdict.OK, Verdict.OK.meaning),
        (Verdict.INFRASTRUCTURE, reason),
        (Verdict.TIMEOUT, Verdict.TIMEOUT.meaning),
        (Verdict.PENDING, Verdict.PENDING.meaning),
        (Verdict.OK, ""),
    ]
    standing = here.standing(planned_job(3).key)
    assert (standing.verdict, standing.reason) == (Verdict.INFRASTRUCTURE, reason)
    assert [one.kind for one in here.log.leaves() if one.key == planned_job(3).key] == [
        Event.RECORD,
        Event.AMENDMENT,
    ]
    assert scoring.score_all(layout, here, found.cells).computed == 0
    assert scoring.score_all(layout, here, []) == scoring.Scored((), 0)


def test_data_that_are_not_here_cost_the_scores_of_their_own_runs_alone(
    here: Store, tmp_path: Path, made_scores: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, computed = layout_of(here.folder.parent), scoring.compute_scores
    for seed in (2, 3, 4):
        put_run(here, planned_job(seed), tmp_path / str(seed), Verdict.OK)

    def compute(layout: Layout, made: Store, planned: Any, mirrors: Any = ()) -> Scores:
        if planned.job.split.seed in (1, 3):
            raise MissingData("no file", where="the matrix")
        if planned.job.split.seed == 2:
            raise CorruptData("another file", where="the matrix")
        return computed(layout, made, planned, mirrors)

    monkeypatch.setattr(scoring, "compute_scores", compute)
    plan = Plan("some", tuple(Cell(one.job, one) for one in map(planned_job, range(1, 5))))
    cells = [*store.join(plan, here, records=True)]
    found = scoring.score_all(layout, here, cells)
    assert (found.cells, found.computed, made_scores) == (tuple(cells), 1, [(4, ())])
    assert [(type(one), one.what) for one in found.obstacles] == [
        (MissingData, "no file"),
        (CorruptData, "another file"),
    ]


def test_an_answer_is_asked_and_measured_as_its_job_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = planned_job().job.model_copy(update={"options": {"inner_folds": 3}, "parameters": {"rank": 7}})
    calls: list[tuple[object, ...]] = []

    def question(*given: object) -> SimpleNamespace:
        calls.append(given)
        return SimpleNamespace(read=lambda folder: f"answer in {folder}")

    own = SimpleNamespace(scoring=SimpleNamespace(question=question), ranking=recorded(calls, "ranking"))
    monkeypatch.setattr(benchmarks, "get", lambda name: own if name == job.benchmark else None)
    monkeypatch.setattr(truth, "measured", recorded(calls, "measurement"))
    one: Any = Truth(job, cast(Any, "dataset"), cast(Any, "split"))
    assert one.read(Path("here")) == "answer in here" and one.measure("answer") == "measurement"
    assert one.ranking("answer", 9) == "ranking"
    assert calls == [
        ("dataset", "split", {"inner_folds": 3}),
        (own.scoring, "random", "dataset", "split", "answer", {"rank": 7}),
        ("dataset", "split", "answer", 9),
    ]
    found: list[tuple[object, ...]] = []
    monkeypatch.setattr(truth, "load_dataset", recorded(found, "d"))
    monkeypatch.setattr(truth, "load_split", recorded(found, "s"))
    layout = layout_of(tmp_path)
    assert truth_of(layout, job, [tmp_path]) == Truth(job, cast(Any, "d"), cast(Any, "s"))
    assert found == [(layout, "synthetic", [tmp_path]), (layout, "synthetic", job.split, [tmp_path])]


def test_a_record_of_any_other_form_hides_no_other_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wrote it: its digest may be right."""
    job = {"benchmark": "repurposing", "method": "m", "dataset": "d", "split": {"strategy": "random", "seed": 1}}
    contents: dict[str, Any] = {
        "a list": {"planned": ["job"], "resources": {}},
        "a text": {"planned": "job", "resources": {}},
        "a number": {"planned": 3, "resources": {}},
        "no job": {"planned": {}, "resources": {}},
        "no resources": {"planned": {"job": job}},
        "another job": {"planned": {"job": {**job, "split": 1}}, "resources": {}},
        "no benchmark": {"planned": {"job": {**job, "benchmark": "none"}}, "resources": {}, "files": {}},
        "files": {"planned": {"job": job}, "resources": {}, "files": 1},
        "a list of resources": {"planned": {"job": job, **dict.fromkeys(index._MORE_TEXTS, "")}, "resources": []},
        "no digests": {"planned": {"job": job}, "resources": {}, "files": {}},
    }

    def standing(_: Store, key: str) -> StoredRun:
        verdict = Verdict.OK if "files" in contents[key] else Verdict.ERROR
        return StoredRun(verdict, "", {"started": "", "finished": "", **contents[key]})

    monkeypatch.setattr(Store, "standing", standing)
    monkeypatch.setattr(Store, "finished", lambda self: iter(contents))
    left_out = index.build_index(layout_of(tmp_path / "local"), tmp_path / "own.parquet").left_out
    assert left_out.keys() == contents.keys()
    assert all(reason.startswith("its record can't be read: ") for reason in left_out.values())


def test_what_fits_no_column_is_left_empty_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import pyarrow.parquet as pq

    layout = layout_of(tmp_path / "local")
    rows: dict[str, dict[str, Any] | str] = {
        "a" * 4: {"wall_s": 1.5, "seed": 1, "metrics": {"B": 0.5, "C": None}},
        "b" * 4: {"wall_s": "long", "seed": 1 << 70, "metrics": {"A": 0.25, "B": None}},
        "c" * 4: "evidence is damaged",
    }
    names = (*index._TEXTS, *index._MORE_TEXTS, *index._NUMBERS)

    def row(_: object, __: object, key: str) -> dict[str, Any] | str:
        if key == "dddd":
            raise ValueError("no  such\nfield")
        own = rows[key]
        return own if isinstance(own, str) else {**dict.fromkeys(names), "key": key, **own}

    monkeypatch.setattr(index, "_row", row)
    monkeypatch.setattr(Store, "finished", lambda self: iter([*rows, "dddd", "eeee"]))
    with caplog.at_level(logging.WARNING):
        written = index.build_index(layout, tmp_path / "own.parquet", keys=[*rows, "dddd"])
    path = tmp_path / "own.parquet"
    assert (written.path, written.runs) == (path, 2)
    assert written.left_out == {
        "cccc": "evidence is damaged",
        "dddd": "its record can't be read: no such field",
    }
    table = pq.read_table(path)
    assert table.column_names == [*index._TEXTS, *index._MORE_TEXTS, "seed", *index._NUMBERS, "A", "B", "C"]
    assert {str(table.schema.field(name).type) for name in (*index._TEXTS, *index._MORE_TEXTS)} == {"string"}
    assert str(table.schema.field("seed").type) == "int64"
    assert {str(table.schema.field(name).type) for name in (*index._NUMBERS, "A", "B", "C")} == {"double"}
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"
    shown = [{name: one[name] for name in ("key", "wall_s", "seed", "A", "B")} for one in table.to_pylist()]
    assert shown == [
        {"key": "aaaa", "wall_s": 1.5, "seed": 1, "A": None, "B": 0.5},
        {"key": "bbbb", "wall_s": None, "seed": None, "A": 0.25, "B": None},
    ]
    told = [record.getMessage() for record in caplog.records]
    assert sorted(text.partition(" is left empty in the index: ")[0] for text in told) == [
        "bbbb: seed",
        "bbbb: wall_s",
    ]
