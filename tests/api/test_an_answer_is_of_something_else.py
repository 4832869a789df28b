"""Each function answers about what was named: these runs, that machine or the committed results, and no other."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness import api
from harness.api.audits import _note
from harness.api.claims import _benchmark_of
from harness.api.repository import numbers, settings, several
from harness.audit import AuditReport
from harness.audit.steps import Checked, failed, not_checked, ok
from harness.base.errors import AuditError, EngineError, UsageError
from harness.base.heartbeat import PULSE
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.methods.card import load_method
from harness.planning.plan import Plan
from harness.results.last_audit import REFERENCE, STORED, digest_of_keys, read_last_audit
from harness.results.reference import save_reference
from harness.results.scoring import scores_path
from tests.fabricate import planned_of


@pytest.fixture
def here(evidence: Layout, monkeypatch: pytest.MonkeyPatch) -> api.Repository:
    """Four made-up runs, of which the last failed, on a machine without an engine."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/engine.sock")
    return api.Repository(evidence)


@pytest.fixture
def committed(here: api.Repository) -> api.Repository:
    """The same runs, committed too."""
    save_reference(here.layout, here.store)
    return here


@pytest.fixture
def keys(made_up: Plan) -> list[str]:
    return [planned_of(cell).key for cell in made_up.cells]


def audited(repository: api.Repository, *runs: Any, **named: Any) -> set[str]:
    report = api.audit(*runs, progress=None, repository=repository, **named)
    return {one.key for one in report.audits}


def test_an_audit_is_of_the_runs_that_were_named(here: api.Repository, keys: list[str]) -> None:
    assert audited(here, keys[0][:12].upper()) == {keys[0]}
    assert audited(here, [keys[0], keys[3][:10]]) == {keys[0], keys[3]}
    # two words for one run are one audit
    assert len(api.audit([keys[0], keys[0][:10]], progress=None, repository=here).audits) == 1
    assert read_last_audit(here.layout, STORED) is None, "only one of all is noted"
    assert audited(here) == {*keys[:4]}
    note = read_last_audit(here.layout, STORED)
    assert note is not None and read_last_audit(here.layout, REFERENCE) is None
    assert (note.results, note.replayed, note.digest) == (4, 0, digest_of_keys(here.store.finished()))
    assert note.passed + note.failed + note.superseded + note.unfinished == 4


def test_a_mistyped_key_is_told_with_the_nearest_of_all_runs(here: api.Repository, keys: list[str]) -> None:
    """Of those that were made here, and of the committed ones."""
    typo = keys[0][:11] + ("0" if keys[0][11] != "0" else "1")

    def told() -> str:
        with pytest.raises(UsageError, match=f"no run is called '{typo}'") as error:
            audited(here, typo)
        assert error.value.where == str(here.store.folder)
        return error.value.todo

    assert told().startswith(f"did you mean '{keys[0][:12]}'?")
    save_reference(here.layout, here.store)
    api.forget(keys[0], repository=here)
    assert told().startswith(f"did you mean '{keys[0][:12]}'?")


def test_only_runs_that_were_made_again_are_noted_so(here: api.Repository, keys: list[str]) -> None:
    """A run of a person's own checkout, or of a GPU, is drawn and not run; in other orders it is the same run."""
    report = api.audit(progress=None, repository=here)
    assert report.passed + report.failed == 4 and _note(here, report, keys).replayed == 0
    steps = (
        (ok("replay", "equal bit for bit"), ok("order", "as good")),
        (not_checked("replay", "a GPU computed it"),),
        (failed("replay", "another predictions.npy"),),
        (),
    )
    replayed = [replace(one, steps=(*one.steps, *more)) for one, more in zip(report.audits, steps, strict=True)]
    assert _note(here, replace(report, audits=tuple(replayed)), keys).replayed == 2


def test_an_audit_of_a_suite_is_of_its_present_cells(here: api.Repository, keys: list[str]) -> None:
    report = api.audit(suite="smoke", progress=None, repository=here)
    found = {one.key for one in report.audits}
    assert found and found <= {*keys} and report.without_run > 0
    assert read_last_audit(here.layout, STORED) is None


def test_an_audit_of_reference_results_is_of_what_is_committed(committed: api.Repository, keys: list[str]) -> None:
    assert audited(committed, reference=True) == {*keys[:4]}
    assert read_last_audit(committed.layout, REFERENCE) is not None
    assert read_last_audit(committed.layout, STORED) is None
    api.forget(keys[1], repository=committed)
    assert audited(committed, keys[1]) == {keys[1]}, "of what is not here, what is committed"
    with pytest.raises(UsageError, match="some of these runs were made here, others are reference") as error:
        audited(committed, [keys[0], keys[1]])
    assert error.value.where == f"{keys[0][:12]}, {keys[1][:12]}"
    assert audited(committed, [keys[0], keys[1]], reference=True) == {keys[0], keys[1]}


def test_cells_of_a_plan_are_audited_in_either_set_and_those_without_a_run_are_counted(
    committed: api.Repository, made_up: Plan, keys: list[str]
) -> None:
    api.forget([keys[0], keys[1]], repository=committed)
    for reference, present, missing in ((False, keys[2:4], 4), (True, keys[:4], 2)):
        report = api.audit(made_up, reference=reference, progress=None, repository=committed)
        assert ({one.key for one in report.audits}, report.without_run) == ({*present}, missing)
    assert read_last_audit(committed.layout, REFERENCE) is read_last_audit(committed.layout, STORED) is None
    assert api.audit(keys[2], progress=None, repository=committed).without_run == 0


def test_nothing_to_audit_is_no_audit(here: api.Repository, keys: list[str]) -> None:
    with pytest.raises(AuditError, match="no reference results to audit") as error:
        api.audit(reference=True, progress=None, repository=here)
    assert error.value.where == str(here.layout.reference)
    with pytest.raises(EngineError):
        api.audit(keys[0], replay=1, progress=None, repository=here)


@pytest.mark.parametrize(
    ("methods", "datasets", "benchmark"),
    [
        ((), (), "repurposing"),
        (("bnnr",), (), "repurposing"),
        ((), ("synthetic_ddi",), "ddi"),
        (("mlp",), ("synthetic_ddi",), "ddi"),
        # published names tell nothing
        (("BNNR of the paper",), ("Fdataset of the paper",), "repurposing"),
    ],
)
def test_claims_are_those_of_what_was_named(
    repository: Layout, methods: tuple[str, ...], datasets: tuple[str, ...], benchmark: str
) -> None:
    assert _benchmark_of(repository, methods, datasets) == benchmark


def test_what_belongs_to_several_benchmarks_is_asked_of_none(repository: Layout) -> None:
    with pytest.raises(UsageError, match="belongs to several benchmarks") as told:
        _benchmark_of(repository, ("bnnr", "not ours"), ("synthetic_ddi",))
    assert told.value.where == "bnnr: repurposing, synthetic_ddi: ddi"
    # of many the first six
    methods = ("als_wr", "bnnr", "drrs", "lrssl", "han", "libmf")
    with pytest.raises(UsageError, match="belongs to several benchmarks") as told:
        _benchmark_of(repository, methods, ("synthetic_ddi",))
    named = ", ".join(f"{name}: {' or '.join(load_method(repository, name).benchmarks)}" for name in methods)
    assert told.value.where == f"{named} and 1 more"


def test_a_method_of_several_benchmarks_chooses_none_of_them(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = load_method(repository, "mlp").model_copy(update={"benchmarks": ["ddi", "dti"]})
    monkeypatch.setattr("harness.api.claims.load_method", lambda *_: card)
    assert _benchmark_of(repository, ("mlp",), ()) == "repurposing"
    assert _benchmark_of(repository, ("mlp",), ("synthetic_ddi",)) == "ddi"


@pytest.mark.parametrize("kind", ["method", "dataset", "split"])
def test_a_misspelt_name_is_no_empty_comparison(layout: Layout, kind: str) -> None:
    asked: dict[str, Any] = {f"{kind}s": "nobody", "repository": api.Repository(layout)}
    for compare, what in ((api.compare, f"{kind} of ours or of claims"), (api.compare_accelerators, kind)):
        with pytest.raises(UsageError, match=f"no {what} is called 'nobody'"):
            compare("repurposing", **asked)


def test_claims_are_of_the_seeds_and_splits_that_were_named(layout: Layout) -> None:
    named: dict[str, Any] = {"methods": "als_wr", "datasets": "fdataset", "repository": api.Repository(layout)}
    every = api.compare("repurposing", **named).comparisons
    seeds = sorted({one.claim.seed for one in every if one.claim.seed is not None})
    assert len(seeds) > 1
    some = api.compare("repurposing", seeds=seeds[0], **named).comparisons
    assert {one.claim.seed for one in some} == {seeds[0]} and len(some) < len(every)
    # whatever gives names one after the other, once
    once: dict[str, Any] = {**named, "methods": iter(["als_wr"]), "datasets": (name for name in ["fdataset"])}
    assert len(api.compare(seeds=seeds[0], **once).comparisons) == len(some)
    splits = {one.claim.split for one in every}
    split = sorted(splits)[0]
    some = api.compare("repurposing", splits=[split], **named).comparisons
    assert {one.claim.split for one in some} == {split}


def test_a_contest_of_a_suite_has_no_seeds_of_its_own(here: api.Repository) -> None:
    with pytest.raises(UsageError, match="a suite names its own seeds"):
        api.contest("constant", suite="smoke", seeds=0, repository=here)
    assert api.contest(["constant", "als_wr"], repository=here).metric.name == "NS-AUC/as-defined"


def test_a_contest_is_of_runs_made_here_unless_committed_ones_are_asked_for(
    committed: api.Repository, keys: list[str]
) -> None:
    api.forget(keys[:4], repository=committed)
    frame = api.table(api.contest("constant", reference=True, repository=committed), repository=committed)
    assert not frame.empty
    with pytest.raises(UsageError):
        api.contest("constant", repository=committed)


def test_scores_of_a_committed_run_are_the_committed_ones(committed: api.Repository, keys: list[str]) -> None:
    mine = api.scores(keys[0], repository=committed)
    api.forget([keys[0], keys[3]], repository=committed)
    theirs = api.scores(keys[0][:12], repository=committed)
    assert theirs.job == mine.job and theirs.scores.metrics == mine.scores.metrics
    with pytest.raises(UsageError, match="predictions of reference results are not kept") as error:
        api.scores(keys[0], again=True, repository=committed)
    assert error.value.todo.startswith("run it here: harness run ")
    with pytest.raises(UsageError, match=f"run {keys[3][:16]} has nothing to score: error"):
        api.scores(keys[3], repository=committed)


def test_scores_are_computed_anew_where_that_is_asked_for(here: api.Repository, keys: list[str]) -> None:
    path = scores_path(here.layout, keys[0])
    before = path.stat().st_ino, path.stat().st_mtime_ns
    api.scores(keys[0], repository=here)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == before
    api.scores(keys[0], again=True, repository=here)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) != before


def test_committed_results_stand_in_a_table_where_that_is_asked_for(
    committed: api.Repository, made_up: Plan, keys: list[str]
) -> None:
    api.forget(keys[0], repository=committed)
    alone = api.status(made_up, repository=committed).cells[0]
    beside = api.status(made_up, reference=True, repository=committed).cells[:2]
    assert (alone.cell.verdict, alone.reference) == (Verdict.PENDING, False)
    assert [(one.cell.verdict, one.reference) for one in beside] == [(Verdict.OK, True), (Verdict.OK, False)]


def test_how_large_a_table_is_that_is_made_is_told(
    here: api.Repository, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("harness.api.plans.build_table", lambda *_: PULSE.beat(0))
    with PULSE.speaker(said.append):
        api.status(made_up, repository=here)
    assert [line.partition(" (")[0] for line in said] == ["table of 6 cells"]


def test_a_log_and_a_difference_are_of_the_keys_that_were_named(here: api.Repository, keys: list[str]) -> None:
    assert api.container_log(keys[3][:12], repository=here) == "no such matrix\n"
    assert api.diff(keys[0], keys[0], repository=here) == []
    sections = {one.section for one in api.diff(keys[0], keys[2], repository=here)}
    assert "job" in sections
    one, other = (next(d for d in api.diff(*pair, repository=here) if d.name == "method") for pair in _pairs(keys))
    assert (one.first, one.second) == (other.second, other.first) == ("constant", "als_wr")


def _pairs(keys: list[str]) -> tuple[tuple[str, str], tuple[str, str]]:
    return (keys[0], keys[2]), (keys[2], keys[0])


def test_a_run_is_forgotten_and_not_one_that_is_only_shown(here: api.Repository, keys: list[str]) -> None:
    shown = api.forget(methods="als_wr", datasets="synthetic", dry_run=True, repository=here)
    assert {run.key for run in shown} == {*keys[2:4]} and len(list(here.store.finished())) == 4
    assert api.forget(keys[2], repository=here)[0].key == keys[2]
    assert {*here.store.finished()} == {keys[0], keys[1], keys[3]}


def test_a_statement_is_of_these_results_and_no_audit_that_failed_signs_it(
    here: api.Repository, keys: list[str], tmp_path: Path
) -> None:
    made = api.attest(repository=here)
    assert made.signer is None and made.path.parent == here.layout.local
    assert dict(made.statement.verdicts) == {"ok": 3, "error": 1}
    assert api.verify(repository=here).steps
    report = api.audit(keys[0], progress=None, repository=here)
    with pytest.raises(AuditError, match="nothing is signed: 1 audit failed; not replayed") as error:
        api.confirm(with_a_failure(report), tmp_path / "key", repository=here)
    assert error.value.where == "the audit above" and error.value.todo == "look at its reasons"


def with_a_failure(report: AuditReport) -> AuditReport:
    """The same report after its first run failed."""
    step = replace(report.audits[0].steps[0], checked=Checked.FAILED)
    return replace(report, audits=(replace(report.audits[0], steps=(step, *report.audits[0].steps[1:])),))


def test_what_others_ran_is_merged_folder_by_folder(here: api.Repository, keys: list[str], tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    here.layout.local.rename(theirs)
    (merged,) = api.merge(theirs, progress=None, repository=here)
    assert merged.folder == theirs and dict(merged.taken) == {"ok": 3, "error": 1}
    assert {*here.store.finished()} == {*keys[:4]}
    one, other = api.merge([str(theirs), theirs], progress=None, repository=here)
    assert one.taken.total() == other.taken.total() == 0
    log = theirs / "log.jsonl"
    log.write_text(f"no leaf\n{log.read_text()}")
    broken, *_ = api.merge(theirs, progress=None, repository=here)
    (refused,) = broken.refused
    assert (refused.key, refused.label, broken.folder) == ("", "all of its runs", theirs)
    assert refused.what and refused.where


def test_a_folder_holds_one_job_of_todays_code(
    here: api.Repository, made_up: Plan, keys: list[str], tmp_path: Path
) -> None:
    for plan, count in ((Plan("x", made_up.cells[:2]), "2 cells"), (Plan("x", ()), "0 cells")):
        with pytest.raises(UsageError, match=f"asked for: {count}, and a folder holds one job"):
            api.write_job(plan, tmp_path / "kit", repository=here)
    with (here.layout.methods / "constant" / "method.py").open("a") as file:
        file.write("\nx = 1\n")
    with pytest.raises(UsageError, match=f"run {keys[0][:12]} is of other code than this tree holds") as error:
        api.write_job(keys[0][:12], tmp_path / "kit", repository=here)
    assert f"harness job write {tmp_path / 'kit'} " in error.value.todo
    assert not (tmp_path / "kit").exists()


@pytest.mark.parametrize("ours", ["timeout", "damaged", "without a record", "gone"])
def test_an_answer_by_hand_is_held_against_the_committed_one_where_ours_is_no_good(
    ours: str, committed: api.Repository, keys: list[str], made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, key = committed.store, keys[0]
    record = store.record(key)
    if ours == "timeout":
        store.amend(record.model_copy(update={"verdict": Verdict.TIMEOUT}))
    elif ours == "damaged":
        (store.path(key) / "predictions.npy").write_bytes(b"")
    elif ours == "without a record":
        (store.path(key) / "record.json").unlink()
    else:
        store.remove(key)
    answer = SimpleNamespace(
        note=SimpleNamespace(planned=planned_of(made_up.cells[0])), fault="", files=dict(record.answer)
    )
    monkeypatch.setattr("harness.api.jobs.judge_by_hand", lambda *_: answer)
    assert api.check_job("folder", repository=committed).equal is True
    answer.files["predictions.npy"] = "0" * 64
    assert api.check_job("folder", repository=committed).equal is False


def test_nobody_waits_for_an_image_whose_folder_is_taken(
    here: api.Repository, made_up: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.api.jobs.find_engine", lambda *_, **__: pytest.fail("an engine is looked for"))
    for make in (Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")):
        make(taken := tmp_path / f"taken{len([*tmp_path.iterdir()])}")
        with pytest.raises(UsageError) as error:
            api.write_job(replace(made_up, cells=made_up.cells[:1]), taken, repository=here)
        assert (error.value.what, error.value.where) == ("there is something of that name", str(taken))


def test_a_repository_is_opened_with_what_was_named(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    monkeypatch.setenv("PERMAFROST_MIRROR", f"{one}{os.pathsep}{os.pathsep}{other}")
    told = api.open_repository(layout.root, data=tmp_path / "data", install=True, runtime="runsc")
    assert (told.mirrors, told.install, told.runtime) == ((one, other), True, "runsc")
    assert told.layout.root == layout.root and tmp_path / "data" in told.layout.dataset_places
    assert api.open_repository(layout.root, mirrors=[]).mirrors == ()
    monkeypatch.delenv("PERMAFROST_MIRROR")
    usual = api.open_repository(layout.root)
    assert (usual.mirrors, usual.install, usual.runtime) == ((), False, None)
    assert (several("ab"), several(["a", "b"]), numbers(7), numbers([7, 8])) == (("ab",), ("a", "b"), (7,), (7, 8))
    assert api.open_repository(layout.root, mirrors=str(one)).mirrors == (one,)
    assert api.open_repository(layout.root, mirrors=one).mirrors == (one,)


def test_a_folder_that_is_no_repository_does_not_stand_for_another_one(tmp_path: Path) -> None:
    """Who mistypes it would forget runs of the tree that the code lies in."""
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError) as error:
            api.open_repository(folder)
        assert (error.value.what, error.value.where, error.value.todo) == (
            "this is not a Permafrost repository",
            str(folder),
            "name the folder that holds run_all.sh",
        )


def test_seeds_are_taken_as_a_notebook_has_them_and_nothing_else_is_one() -> None:
    good: list[tuple[Any, tuple[int, ...]]] = [
        (np.int64(7), (7,)),
        (np.array([7, 8]), (7, 8)),
        (range(2), (0, 1)),
        ((2**32 - 1,), (2**32 - 1,)),
    ]
    for seeds, expected in good:
        told = numbers(seeds)
        assert told == expected and {type(one) for one in told} == {int}
    bad: list[Any] = ["12", ["12"], 1.5, [-1], [2**32]]
    for seeds in bad:
        with pytest.raises(UsageError, match=r" is no seed\n.*--seed\n.*give whole numbers from 0 to 4294967295"):
            numbers(seeds)


def test_a_parameter_of_numpy_is_a_plain_one() -> None:
    told = settings({"alpha": np.float64(2), "rank": np.int64(3), "loss": "log", "own": 4})
    assert told == {"alpha": 2.0, "rank": 3, "loss": "log", "own": 4}
    assert [type(value) for value in told.values()] == [float, int, str, int]
    # several numbers are no parameter: they are refused by name, as a list of them is
    one, two = np.array([2.0]), np.array([1, 2])
    told = settings({"alpha": one, "rank": two})
    assert told["alpha"] is one and told["rank"] is two


@pytest.mark.parametrize("number", [*map(float, ("nan", "inf", "-inf")), np.float64("inf"), np.float32("nan")])
def test_a_parameter_that_is_no_finite_number_is_refused(number: float) -> None:
    with pytest.raises(UsageError) as error:
        settings({"rank": 3, "alpha": number})
    told = (error.value.what, error.value.where, error.value.todo)
    assert told == (f"'{number}' is no finite number", f"--set alpha={number}", "give one")


def test_what_a_command_refuses_a_function_refuses_too(here: api.Repository, made_up: Plan) -> None:
    nan = {"score": float("nan")}
    asked: list[tuple[str, Callable[[], object]]] = [
        ("no verdict is called 'late'", lambda: api.run(made_up, again="late", repository=here)),
        ("no method is named", lambda: api.predict([], "synthetic", repository=here)),
        ("-1 is no seed", lambda: api.predict("constant", "synthetic", seed=-1, repository=here)),
        ("1.5 is no seed", lambda: api.predict("constant", "synthetic", seed=1.5, repository=here)),  # type: ignore[arg-type]
        ("0 rows are none", lambda: api.predict("constant", "synthetic", top=0, repository=here)),
        (
            "'nan' is no finite number",
            lambda: api.predict("constant", "synthetic", parameters=nan, repository=here),
        ),
        (
            "'nan' is no finite number",
            lambda: api.plan(methods="constant", datasets="synthetic", seeds=1, parameters=nan, repository=here),
        ),
    ]
    for said, call in asked:
        with pytest.raises(UsageError) as error:
            call()
        assert error.value.what == said and error.value.where.startswith("--")


def test_a_run_takes_what_it_is_told_to_run_again_and_refuses_what_nobody_does(
    here: api.Repository, made_up: Plan
) -> None:
    failed = Plan("failed", made_up.cells[3:4])
    assert api.run(failed, progress=None, repository=here).left == 0
    with pytest.raises(EngineError):
        api.run(failed, progress=None, again=["error"], stop=threading.Event(), repository=here)
    with pytest.raises(UsageError, match="workers keep their images") as error:
        api.run(failed, progress=None, again=["error"], on="dask", remove_images=True, repository=here)
    assert (error.value.where, error.value.todo) == ("--on dask", "leave --remove-images out")
    with pytest.raises(UsageError, match="no verdict is called 'lost'"):
        api.run(failed, progress=None, again=["lost"], repository=here)
    assert api.campaigns(repository=here) == []
    with pytest.raises(UsageError, match="no campaign"):
        api.stop(repository=here)


def test_a_campaign_is_good_where_its_table_is(here: api.Repository, made_up: Plan) -> None:
    good = api.run(Plan("good", made_up.cells[:3]), progress=None, repository=here)
    bad = api.run(Plan("bad", made_up.cells[2:4]), progress=None, repository=here)
    assert (good.is_good, bad.is_good) == (True, False)


def test_parts_of_a_plan_are_the_plan(here: api.Repository) -> None:
    named: dict[str, Any] = {"methods": "constant", "datasets": "synthetic", "seeds": range(1, 6)}
    whole = api.plan(**named, make_splits=False, repository=here)
    parts = [api.plan(**named, shard=f"{n}/2", make_splits=False, repository=here) for n in (1, 2)]
    assert sorted(cell.job.label for part in parts for cell in part.cells) == sorted(
        cell.job.label for cell in whole.cells
    )
    assert len(whole.cells) == 5 and all(part.cells for part in parts)
    with pytest.raises(UsageError):
        api.plan(**named, shard="3/2", repository=here)
    smoke = api.plan(suite="smoke", published_seeds=1, make_splits=False, repository=here)
    assert len({cell.job.split.seed for cell in smoke.cells if cell.job.benchmark == "repurposing"}) == 1
    with pytest.raises(UsageError, match="constant: no method of these computes on a GPU"):
        api.plan(**named, accelerator="cuda", make_splits=False, repository=here)


def test_the_frame_of_a_plan_tells_of_its_cells_and_of_a_claim_every_column(
    here: api.Repository, made_up: Plan
) -> None:
    frame = api.table(api.run(Plan("good", made_up.cells[:3]), progress=None, repository=here))
    assert list(frame.columns[:14]) == [
        *("benchmark", "method", "variant", "dataset", "split", "seed", "accelerator"),
        *("control", "reference", "verdict", "reason", "key", "wall_s", "peak_bytes"),
    ]
    assert set(frame["wall_s"]) == {1.5} and set(frame["peak_bytes"]) == {52_428_800}
    assert set(frame["benchmark"]) == {"repurposing"} and set(frame["split"]) == {"random"}
    assert dict(zip(frame["method"], frame["control"], strict=True)) == {"constant": True, "als_wr": False}
    book = api.compare("repurposing", methods="als_wr", datasets="fdataset", seeds=424242, repository=here)
    assert list(api.table(book).columns) == [
        *("source", "statistic", "method", "dataset", "split", "seed", "metric", "published", "ours", "n"),
        *("difference", "interval_low", "interval_high", "margin", "needed", "test", "verdict", "reason"),
    ]
    pairs = api.compare_accelerators("repurposing", repository=here)
    assert list(api.table(pairs).columns) == [
        *("label", "metric", "cpu", "gpu", "difference", "allowed", "agrees"),
    ]
