"""A repetition that differs makes the stored run `unstable`; one that could not be made decides nothing."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from harness.audit import audit_runs
from harness.audit.replay import _compared, judge_replay, replay_sample, sample_of
from harness.audit.report import _replay
from harness.audit.steps import Checked, Lack, Step, failed, not_checked, ok
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.measures import Measurement
from harness.compare import compare_claims
from harness.engine import Engine
from harness.execution.campaign import mark_unstable
from harness.execution.runs import Outcome
from harness.execution.tasks import Task, perform
from harness.images import ensure_image
from harness.planning.plan import Plan
from harness.results.records import Record
from harness.results.reference import load_reference, save_reference
from harness.results.scoring import Scores
from harness.results.store import Store
from tests.audit.forging import forge_record
from tests.fabricate import SEEDS, copy_repository, plan_of, planned_of, put_run

MACHINE = {"architecture": "x86_64", "cpus": 2, "memory_bytes": 1 << 34}


def unasked(_: Outcome) -> Step:
    raise AssertionError("scores decide nothing here")


judged = partial(judge_replay, compare=unasked)


def repetition(
    layout: Layout, plan: Plan, folder: Path, verdict: Verdict = Verdict.OK, **machine: object
) -> Outcome:
    """An outcome whose files are those of the first stored run."""
    shutil.copytree(Store(layout.runs).path(planned_of(plan.cells[0]).key), folder)
    engine = SimpleNamespace(as_json=lambda: {**MACHINE, **machine})
    return cast(Outcome, SimpleNamespace(verdict=verdict, reason="for a reason", out_folder=folder, engine=engine))


def stored(layout: Layout, key: str, verdict: Verdict) -> Record:
    """The record of a stored run as if it had ended so, on the machine of the tests."""
    record = Store(layout.runs).record(key)
    return record.model_copy(update={"verdict": verdict, "engine": {**record.engine, **MACHINE}})


def test_equal_predictions_are_ok(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome = repetition(evidence, made_up, tmp_path / "out")
    step = judged(store, store.record(key), outcome, mark=mark_unstable)
    equal = "predictions.npy, validation.npy, lowest.npy equal bit for bit"
    assert step == ok("replay", f"run again in a fresh container: {equal}")
    assert store.standing(key).verdict is Verdict.OK


@pytest.mark.parametrize("digest", ["0" * 64, "f" * 64])
def test_another_file_is_told_with_both_digests(
    evidence: Layout, made_up: Plan, tmp_path: Path, digest: str
) -> None:
    """Whichever comes first in the alphabet; of several files the first of an answer."""
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome, record = repetition(evidence, made_up, tmp_path / "out"), store.record(key)
    other = {
        name: record.files[name].model_copy(update={"sha256": digest}) for name in ("lowest.npy", "validation.npy")
    }
    forged = record.model_copy(update={"files": {**record.files, **other}})
    marked: list[tuple[str, str]] = []

    def mark(_: Store, marked_record: Record, reason: str) -> Record:
        marked.append((marked_record.key, reason))
        return marked_record

    assert judged(store, forged, outcome, mark=mark) == failed(
        "replay", "another validation.npy", expected=digest, found=record.files["validation.npy"].sha256
    )
    assert marked == [(key, "a repetition gave another validation.npy")]


@pytest.mark.parametrize("name", ["predictions.npy", "validation.npy", "lowest.npy"])
def test_one_other_bit_is_unstable(evidence: Layout, made_up: Plan, tmp_path: Path, name: str) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome = repetition(evidence, made_up, tmp_path / "out")
    values = np.load(outcome.out_folder / name)
    values.flat[0] = np.nextafter(values.flat[0], 2.0)
    np.save(outcome.out_folder / name, values)
    step = judged(store, store.record(key), outcome, mark=mark_unstable)
    assert step.checked is Checked.FAILED and name in step.what
    standing = store.standing(key)
    assert standing.verdict is Verdict.UNSTABLE and name in standing.reason
    store.check(store.record(key))


@pytest.mark.parametrize("lost", ["record", "repetition"])
def test_a_file_on_one_side_alone_is_a_difference(
    evidence: Layout, made_up: Plan, tmp_path: Path, lost: str
) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome, record = repetition(evidence, made_up, tmp_path / "out"), store.record(key)
    if lost == "record":
        files = {name: file for name, file in record.files.items() if name != "validation.npy"}
        record = record.model_copy(update={"files": files})
    else:
        (outcome.out_folder / "validation.npy").unlink()
    step = judged(store, record, outcome, mark=lambda _, unmarked, __: unmarked)
    assert step.checked is Checked.FAILED and step.what == "another validation.npy"
    assert "-" in (step.expected, step.found) and step.expected != step.found


@pytest.mark.parametrize("made_by", [{"processor": "another"}, {"flags": ["avx512f"]}, None], ids=str)
@pytest.mark.parametrize("come_again", [True, False])
def test_on_another_processor_scores_decide_what_other_bits_mean(
    evidence: Layout, made_up: Plan, tmp_path: Path, made_by: dict[str, Any] | None, come_again: bool
) -> None:
    """Where they come again nothing was forged that a table shows, and nothing is proved bit for bit."""
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome, record = repetition(evidence, made_up, tmp_path / "out"), store.record(key)
    values = np.load(outcome.out_folder / "lowest.npy")
    np.save(outcome.out_folder / "lowest.npy", np.nextafter(values, 2.0))
    assert record.made_by is not None
    maker = record.made_by.model_copy(update=made_by) if made_by else None
    asked: list[Outcome] = []

    def compare(one: Outcome) -> Step:
        asked.append(one)
        return ok("scores", "the same") if come_again else failed("scores", "AUC is not what was kept")

    away = record.model_copy(update={"made_by": maker})
    step = judge_replay(store, away, outcome, mark=mark_unstable, compare=compare)
    assert asked == [outcome]
    if come_again:
        why = "every score came again: another processor than that of the run, or it is not known"
        assert step == not_checked("replay", f"another lowest.npy, and {why}", Lack.MACHINE)
    else:
        assert (step.checked, step.what) == (Checked.FAILED, "another lowest.npy")
    assert store.standing(key).verdict is (Verdict.OK if come_again else Verdict.UNSTABLE)


@pytest.mark.parametrize(
    ("metrics", "series", "fault"),
    [
        ({"AUC": 0.5}, {"per type": [0.25, None]}, ""),
        ({"AUC": 0.6}, {"per type": [0.25, None]}, "AUC is not what was kept"),
        ({"AUC": 0.5}, {"per type": [0.35, None]}, "per type 0 is not what was kept"),
        ({"AUC": 0.5}, {"per type": [0.25, 0.0]}, "per type 1 is not what was kept"),
        ({"AUC": 0.5}, {"per type": [0.25]}, "other metrics are kept than are computed"),
        ({"AUC": 0.5}, {}, "other metrics are kept than are computed"),
    ],
)
def test_every_score_of_a_repetition_is_held_against_that_of_the_run(
    metrics: dict[str, float | None],
    series: dict[str, list[float | None]],
    fault: str,
    evidence: Layout,
    made_up: Plan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of a series too, where the answer of another processor may differ in its last bits."""
    planned, mirrors = planned_of(made_up.cells[0]), (tmp_path / "mirror",)
    kept = Scores(planned.key, "s" * 64, {}, {"AUC": 0.5}, {}, {"per type": [0.25, None]})
    outcome = cast(Outcome, SimpleNamespace(out_folder=tmp_path / "out"))

    def truth(*given: object) -> object:
        assert given == (evidence, planned.job, mirrors)
        found = {outcome.out_folder: Measurement(metrics, {}, series)}
        return SimpleNamespace(read=lambda folder: folder, measure=found.__getitem__)

    monkeypatch.setattr("harness.audit.replay.truth_of", truth)
    task = cast(Task, SimpleNamespace(layout=evidence, planned=planned, mirrors=mirrors))
    step = _compared(task, outcome, kept, "here")
    assert step.checked is (Checked.FAILED if fault else Checked.OK)
    assert step.what == fault or not fault


def test_a_file_too_few_is_no_matter_of_the_processor(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome, record = repetition(evidence, made_up, tmp_path / "out"), store.record(key)
    (outcome.out_folder / "validation.npy").unlink()
    step = judged(store, record.model_copy(update={"made_by": None}), outcome, mark=mark_unstable)
    assert (step.checked, step.what) == (Checked.FAILED, "another validation.npy")


def test_a_replay_that_compares_nothing_fails(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome, record = repetition(evidence, made_up, tmp_path / "out"), store.record(key)
    files = {name: file for name, file in record.files.items() if not name.endswith(".npy")}
    step = judged(store, record.model_copy(update={"files": files}), outcome, mark=mark_unstable)
    assert step == failed("replay", "the record names no file of an answer: nothing can be compared")
    assert store.standing(key).verdict is Verdict.OK


def test_a_repetition_that_fails_is_unstable(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome, record = repetition(evidence, made_up, tmp_path / "out", Verdict.ERROR), store.record(key)
    said = "a repetition ended as 'error': for a reason"
    assert judged(store, record, outcome, mark=mark_unstable) == failed(
        "replay", said, expected=f"ok: {record.reason}", found="error: for a reason"
    )
    standing = store.standing(key)
    assert (standing.verdict, standing.reason) == (Verdict.UNSTABLE, said)


FAILURES = (Verdict.ERROR, Verdict.MEMORY, Verdict.TIMEOUT, Verdict.INVALID)


def never(_: Store, record: Record, reason: str) -> Record:
    raise AssertionError(f"marked: {reason}")


@pytest.mark.parametrize("verdict", FAILURES)
def test_a_failure_that_comes_again_is_ok(
    evidence: Layout, made_up: Plan, tmp_path: Path, verdict: Verdict
) -> None:
    """What it wrote before it failed need not be the same."""
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome = repetition(evidence, made_up, tmp_path / "out", verdict)
    (outcome.out_folder / "predictions.npy").unlink()
    step = judged(store, stored(evidence, key, verdict), outcome, mark=never)
    again = f"run again in a fresh container: ended as '{verdict}' again"
    assert step == ok("replay", again, "for a reason")


@pytest.mark.parametrize("verdict", FAILURES)
def test_a_failure_that_does_not_come_again_fails_the_audit(
    evidence: Layout, made_up: Plan, tmp_path: Path, verdict: Verdict
) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    record = stored(evidence, key, verdict)
    step = judged(store, record, repetition(evidence, made_up, tmp_path / "out"), mark=never)
    said = "a repetition ended as 'ok': for a reason; ask for the run once more"
    assert step == failed(
        "replay",
        f"{said} (harness run --again {verdict})",
        expected=f"{verdict}: {record.reason}",
        found="ok: for a reason",
    )


@pytest.mark.parametrize(
    ("before", "after", "compared"),
    [
        (Verdict.OK, Verdict.TIMEOUT, Checked.NOT_CHECKED),
        (Verdict.OK, Verdict.MEMORY, Checked.NOT_CHECKED),
        (Verdict.TIMEOUT, Verdict.OK, Checked.NOT_CHECKED),
        (Verdict.MEMORY, Verdict.ERROR, Checked.NOT_CHECKED),
        (Verdict.ERROR, Verdict.OK, Checked.FAILED),
        (Verdict.OK, Verdict.INVALID, Checked.FAILED),
    ],
)
@pytest.mark.parametrize("other", [{"cpus": 4}, {"memory_bytes": 1 << 30}, {"architecture": "aarch64"}, {}])
def test_time_and_memory_are_judged_on_the_same_machine_only(
    evidence: Layout,
    made_up: Plan,
    tmp_path: Path,
    before: Verdict,
    after: Verdict,
    compared: Checked,
    other: dict[str, object],
) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome = repetition(evidence, made_up, tmp_path / "out", after, **other)
    marked: list[str] = []

    def mark(_: Store, record: Record, reason: str) -> Record:
        marked.append(reason)
        return record

    step = judged(store, stored(evidence, key, before), outcome, mark=mark)
    expected = compared if other else Checked.FAILED
    if expected is Checked.NOT_CHECKED:
        reason = f"a repetition ended as '{after}': for a reason"
        said = f"another machine than that of the run, and {reason}"
        assert step == not_checked("replay", said, Lack.MACHINE)
    assert step.checked is expected and f"a repetition ended as '{after}'" in step.what
    assert bool(marked) == (expected is Checked.FAILED and before is Verdict.OK)


def test_failed_runs_are_half_of_the_sample() -> None:
    verdicts = {f"{number:03d}": Verdict.OK for number in range(100)}
    failures = {f"{number}": FAILURES[number % 4] for number in range(900, 1000)}
    never_sampled = {"a": Verdict.UNSTABLE, "b": Verdict.INFRASTRUCTURE, "c": Verdict.PENDING}
    every = {**verdicts, **failures, **never_sampled}

    def counts(count: int, known: dict[str, Verdict]) -> tuple[int, int]:
        chosen = replay_sample(known, count, 1)
        assert len(set(chosen)) == len(chosen) and chosen == sorted(chosen)
        return sum(key in verdicts for key in chosen), sum(key in failures for key in chosen)

    assert counts(7, every) == (4, 3) and counts(1, every) == (1, 0) and counts(2, every) == (1, 1)
    assert counts(300, every) == (100, 100)
    assert counts(5, failures) == (0, 5) and counts(5, verdicts) == (5, 0)
    assert replay_sample(every, 6, 1) == replay_sample(every, 6, 1) != replay_sample(every, 6, 2)


def test_the_audit_samples_good_and_failed_runs_by_its_seed(evidence: Layout, made_up: Plan) -> None:
    keys = [planned_of(cell).key for cell in made_up.cells[:4]]
    good, bad = set(keys[:3]), keys[3]

    def replayed(seed: int) -> set[str]:
        audits = audit_runs(evidence, keys, replay=2, seed=seed).audits
        return {audit.key for audit in audits if audit.steps[-1].name == "replay"}

    samples = [replayed(seed) for seed in range(12)]
    assert all(bad in sample and len(sample & good) == 1 for sample in samples)
    assert set().union(*samples) == set(keys), "no run is out of reach of the sample"


@pytest.mark.parametrize("verdict", [Verdict.INFRASTRUCTURE, Verdict.INTERRUPTED])
def test_a_broken_machine_decides_nothing(
    evidence: Layout, made_up: Plan, tmp_path: Path, verdict: Verdict
) -> None:
    store, key = Store(evidence.runs), planned_of(made_up.cells[0]).key
    outcome = repetition(evidence, made_up, tmp_path / "out", verdict)
    assert judged(store, store.record(key), outcome, mark=mark_unstable) == not_checked(
        "replay", f"the repetition ended as '{verdict}': for a reason", Lack.ENGINE
    )
    assert store.standing(key).verdict is Verdict.OK


def test_a_replay_without_an_engine_is_not_called_ok(evidence: Layout, made_up: Plan) -> None:
    report = audit_runs(evidence, [planned_of(made_up.cells[0]).key], replay=1)
    assert report.audits[0].steps[-1] == not_checked("replay", "no engine", Lack.ENGINE)


def test_the_sample_is_random_but_repeatable() -> None:
    keys = [f"{number:064d}" for number in range(100)]
    assert sample_of(keys, 5, 1) == sample_of(reversed(keys), 5, 1) != sample_of(keys, 5, 2)
    assert sample_of(keys, 200, 0) == keys
    assert sample_of([], 3, 0) == []


@pytest.mark.engine
def test_a_forged_result_does_not_survive_its_replay(repository: Layout, engine: Engine, tmp_path: Path) -> None:
    # without committed results, which would tell of it before
    layout = replace(copy_repository(repository, tmp_path), cache=repository.cache)
    plan = plan_of(layout, methods=("constant",), seeds=(17263407,))
    planned, store = planned_of(plan.cells[0]), Store(layout.runs)
    image = ensure_image(engine, layout, "constant")
    assert perform(Task(layout, planned, image), engine).verdict is Verdict.OK
    honest = audit_runs(layout, [planned.key], engine=engine, replay=1)
    assert not honest.failed
    assert honest.audits[0].counts[Checked.NOT_CHECKED] == 0
    path = store.path(planned.key) / "predictions.npy"
    values = np.load(path)
    values[0, 0] += 1.0
    np.save(path, values)
    forge_record(layout, plan, lambda record: None)
    report = audit_runs(layout, [planned.key], engine=engine, replay=1)
    assert report.failed == 1 and report.audits[0].steps[-1].name == "replay"
    assert store.standing(planned.key).verdict is Verdict.UNSTABLE


@pytest.mark.engine
def test_a_forged_reference_result_does_not_survive_its_replay(
    repository: Layout, engine: Engine, tmp_path: Path
) -> None:
    layout = replace(copy_repository(repository, tmp_path), cache=repository.cache)
    plan = plan_of(layout, methods=("constant",), seeds=SEEDS)
    image = ensure_image(engine, layout, "constant")
    assert perform(Task(layout, planned_of(plan.cells[0]), image), engine).verdict is Verdict.OK
    # random numbers in place of what the second job would have given
    put_run(layout, planned_of(plan.cells[1]))
    save_reference(layout, Store(layout.runs))
    report = audit_runs(layout, load_reference(layout), engine=engine, replay=2)
    honest, forged = (audit for audit in sorted(report.audits, key=lambda audit: audit.failed))
    scores = load_reference(layout)[honest.key].scores
    assert scores is not None
    assert [step.what for step in honest.steps[-2:]] == [
        "run again in a fresh container: predictions.npy, validation.npy, lowest.npy equal bit for bit",
        f"all {len(scores.metrics)} metrics recomputed and equal to those kept",
    ]
    assert forged.key == planned_of(plan.cells[1]).key
    assert (forged.steps[-1].name, forged.steps[-1].checked) == ("replay", Checked.FAILED)


def test_a_run_of_a_persons_own_checkout_is_told_apart(evidence: Layout) -> None:
    cell = plan_of(evidence, methods=("als_wr",)).cells[0]
    planned = planned_of(cell)
    theirs = planned.model_copy(update={"job": planned.job.model_copy(update={"upstream": "a" * 64})})
    record = put_run(evidence, theirs)
    store = Store(evidence.runs)
    engine = cast(Engine, SimpleNamespace())
    steps = _replay(evidence, store, engine, record, ())
    said = "a person's own checkout ran in place of our code; it is not kept here"
    assert steps == [not_checked("replay", said, Lack.OTHER)]
    book = compare_claims(evidence, store, "repurposing", methods=["als_wr"], datasets=["synthetic"])
    assert record.key not in {key for one in book.comparisons for key in one.keys}
