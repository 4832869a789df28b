"""`harness compare --gpu`: each run on a GPU stands beside the same on the CPU, and what is too far apart is told.

No GPU is needed: what ran on one is a stored run whose job says so.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.base.files import read_json, write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import main
from harness.compare import accelerators
from harness.compare.accelerators import Accelerators, MetricPair, compare_accelerators
from harness.methods.card import MethodCard, load_method
from harness.planning.jobs import PlannedJob
from harness.planning.plan import make_plan
from harness.results.reference import save_reference
from harness.results.scoring import Scores, parse_scores, score_run, scores_path
from harness.results.store import Store
from tests.audit.forging import forge_plan
from tests.evidence import go_to
from tests.fabricate import job_of, plan_of, planned_of, put_run, record_seeds

METHOD = "nimcgcn"


def planned_on(layout: Layout, accelerator: str, *, seed: int = 1, method: str = METHOD) -> PlannedJob:
    """The same job on either."""
    job = job_of(layout, method, seed).model_copy(update={"accelerator": accelerator})
    (cell,) = make_plan(layout, "one", [job]).cells
    return planned_of(cell)


@pytest.fixture
def both(evidence: Layout) -> tuple[str, str]:
    """The keys of one run on the CPU and one on a GPU, whose predictions have nothing in common."""
    cpu, gpu = (put_run(evidence, planned_on(evidence, name)).key for name in ("cpu", "cuda"))
    return cpu, gpu


def found_in(layout: Layout, **chosen: Any) -> Accelerators:
    return compare_accelerators(layout, Store(layout.runs), "repurposing", **chosen)


def allow(monkeypatch: pytest.MonkeyPatch, part: float) -> None:
    """As if each card said so."""

    def card_of(layout: Layout, method: str) -> MethodCard:
        return load_method(layout, method).model_copy(update={"gpu_tolerance": part})

    monkeypatch.setattr(accelerators, "load_method", card_of)


def test_each_metric_stands_beside_that_of_the_cpu(
    evidence: Layout, both: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(monkeypatch, 0.001)
    cpu, gpu = (read_json(scores_path(evidence, key))["metrics"] for key in both)
    found = found_in(evidence)
    assert {one.metric: (one.cpu, one.gpu) for one in found.pairs} == {
        name: (cpu[name], gpu[name]) for name in cpu
    }
    assert {one.keys for one in found.pairs} == {both} and not found.alone
    assert found.differing == [
        one for one in found.pairs if one.cpu != one.gpu and abs(gpu[one.metric] - cpu[one.metric]) > one.allowed
    ]
    assert len(found.differing) > 10
    frame = api.table(found).set_index("metric")
    assert [*frame.agrees] == [one.agrees for one in found.pairs]
    assert dict(frame.gpu.dropna()) == {name: value for name, value in gpu.items() if value is not None}
    assert [*api.table(Accelerators([], [])).columns] == [*api.table(found).columns]


def test_the_card_says_how_far_apart_they_may_be(
    evidence: Layout, both: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert both and all(one.allowed == 0.01 * max(1, abs(one.cpu or 0)) for one in found_in(evidence).pairs)
    allow(monkeypatch, 0.5)
    assert all(one.allowed == 0.5 * max(1, abs(one.cpu or 0)) for one in found_in(evidence).pairs)


def test_of_a_large_metric_a_part_of_what_the_cpu_gives_is_allowed(
    evidence: Layout, both: tuple[str, str]
) -> None:
    path, metric = scores_path(evidence, both[0]), "AUC/as-published"
    scores = parse_scores(read_json(path))
    assert scores is not None
    write_json(path, replace(scores, metrics={**scores.metrics, metric: -400.0}).to_json())
    allowed = {one.metric: one.allowed for one in found_in(evidence).pairs}
    assert (allowed[metric], allowed["NS-AUC/as-published"]) == (4.0, 0.01)


@pytest.mark.parametrize("side", [0, 1])
def test_a_metric_of_one_side_alone_is_told(evidence: Layout, both: tuple[str, str], side: int) -> None:
    path, metric = scores_path(evidence, both[side]), "AUC/as-published"
    scores = parse_scores(read_json(path))
    assert scores is not None and scores.metrics[metric] is not None
    others = {name: value for name, value in scores.metrics.items() if name != metric}
    write_json(path, replace(scores, metrics=others).to_json())
    (pair,) = (one for one in found_in(evidence).differing if one.metric == metric)
    assert [value is None for value in (pair.cpu, pair.gpu)] == [side == 0, side == 1]


@pytest.mark.parametrize(
    ("cpu", "gpu", "allowed", "agrees"),
    [
        (0.8, 0.81, 0.011, True),
        (0.8, 0.82, 0.011, False),
        (0.82, 0.8, 0.011, False),
        (None, None, 0.011, True),
        (None, 0.0, 0.011, False),
        (0.0, None, 0.011, False),
        # a metric of 0 is a value as any other
        (0.0, 0.01, 0.011, True),
        (0.01, 0.0, 0.011, True),
        (0.0, 0.0, 0.011, True),
        (0.8, float("nan"), 0.011, False),
    ],
)
def test_what_agrees(cpu: float | None, gpu: float | None, allowed: float, *, agrees: bool) -> None:
    pair = MetricPair("a run", "AUROC", cpu, gpu, allowed, ("a", "b"))
    assert pair.agrees is agrees
    assert Accelerators([pair], []).differing == ([] if agrees else [pair])
    defined = [value for value in (cpu, gpu) if value is not None]
    assert pair.difference == (pytest.approx(defined[1] - defined[0], nan_ok=True) if len(defined) == 2 else None)
    numbers = ["-" if value is None else f"{value:.6f}" for value in (cpu, gpu, pair.difference)]
    row = ["AUROC", *numbers, f"{allowed:.6f}", *["differs"] * (not agrees)]
    assert accelerators.to_text(Accelerators([pair], [])).splitlines()[2].split() == row


def test_a_reference_result_stands_for_a_run_on_the_cpu(
    evidence: Layout, both: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = found_in(evidence).pairs
    store = Store(evidence.runs)
    record_seeds(evidence, [1])
    save_reference(evidence, store)
    shutil.rmtree(store.path(both[0]))
    assert found_in(evidence) == Accelerators(before, [])
    here = replace(evidence, local=evidence.local.parent / "elsewhere")
    assert found_in(here) == Accelerators([], [])
    # scores of metrics that were changed since are nothing to compare with
    monkeypatch.setattr("harness.results.reference.scorer_digest", lambda _: "0" * 64)
    assert found_in(evidence) == Accelerators([], [planned_on(evidence, "cuda").job])


def test_a_run_on_a_gpu_alone_is_listed(evidence: Layout, both: tuple[str, str]) -> None:
    shutil.rmtree(Store(evidence.runs).path(both[0]))
    found = found_in(evidence)
    assert not found.pairs and found.alone == [planned_on(evidence, "cuda").job]


def test_what_did_not_end_ok_is_compared_with_nothing(evidence: Layout) -> None:
    put_run(evidence, planned_on(evidence, "cpu"))
    put_run(evidence, planned_on(evidence, "cuda"), verdict=Verdict.MEMORY)
    assert found_in(evidence) == Accelerators([], [])
    # nor is a failed run on the CPU one to compare with
    put_run(evidence, planned_on(evidence, "cpu", seed=2), verdict=Verdict.MEMORY)
    put_run(evidence, planned_on(evidence, "cuda", seed=2))
    found = found_in(evidence)
    assert not found.pairs and found.alone == [planned_on(evidence, "cuda", seed=2).job]


@pytest.mark.parametrize("field", ["image_tree", "dataset_digest", "split_digest"])
def test_what_code_or_data_of_old_computed_is_left_out(evidence: Layout, field: str) -> None:
    plan = plan_of(evidence, [METHOD], [1])
    put_run(evidence, planned_of(plan.cells[0]))
    job = planned_of(plan.cells[0]).job.model_copy(update={"accelerator": "cuda"})
    forge_plan(evidence, plan, 0, job=job, **{field: "0" * 64})
    assert found_in(evidence) == Accelerators([], [])


def test_what_was_asked_for_in_another_way_is_left_out(
    evidence: Layout, both: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its key is that of an older protocol, and all else of it is as it is today."""
    assert found_in(evidence).pairs
    monkeypatch.setattr("harness.planning.jobs.PROTOCOL_VERSION", 99)
    assert found_in(evidence) == Accelerators([], [])


@pytest.mark.parametrize("field", ["method", "variant", "dataset"])
def test_what_there_is_no_more_is_left_out(evidence: Layout, both: tuple[str, str], field: str) -> None:
    """A method that was removed since keeps nobody from comparing the others."""
    before = found_in(evidence)
    plan = plan_of(evidence, [METHOD], [2])
    put_run(evidence, planned_of(plan.cells[0]))
    job = planned_of(plan.cells[0]).job.model_copy(update={"accelerator": "cuda", field: "of_old"})
    forge_plan(evidence, plan, 0, job=job)
    assert found_in(evidence) == before and before.pairs


def test_both_runs_are_scored_with_the_files_that_were_handed_over(
    evidence: Layout, both: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either may be of a dataset whose originals lie nowhere else."""
    told: list[tuple[str, Sequence[Path]]] = []

    def scored(layout: Layout, store: Store, planned: PlannedJob, mirrors: Sequence[Path] = ()) -> Scores:
        told.append((planned.key, mirrors))
        return score_run(layout, store, planned, mirrors)

    monkeypatch.setattr(accelerators, "score_run", scored)
    assert found_in(evidence, mirrors=(tmp_path,)).pairs
    assert told == [(key, (tmp_path,)) for key in both]


def test_runs_are_chosen(evidence: Layout, both: tuple[str, str]) -> None:
    others = tuple(put_run(evidence, planned_on(evidence, name, seed=2)).key for name in ("cpu", "cuda"))
    assert {one.keys for one in found_in(evidence).pairs} == {both, others}
    split = planned_on(evidence, "cuda", seed=2).job.split
    assert {one.keys for one in found_in(evidence, seeds=[split.seed]).pairs} == {others}
    whole: dict[str, Any] = {"methods": [METHOD], "datasets": ["synthetic"], "splits": [split.text]}
    assert {one.keys for one in found_in(evidence, **whole).pairs} == {both, others}
    for nothing in ({"methods": ["han"]}, {"datasets": ["fdataset"]}, {"splits": ["weak"]}, {"seeds": [9]}):
        assert found_in(evidence, **nothing) == Accelerators([], []), nothing
    assert compare_accelerators(evidence, Store(evidence.runs), "ddi") == Accelerators([], [])
    # a strategy is asked for by name, whatever its parameters
    spec = split.model_copy(update={"parameters": {"test_share": 0.3}})
    job = planned_on(evidence, "cuda").job.model_copy(update={"split": spec})
    put_run(evidence, planned_of(make_plan(evidence, "one", [job]).cells[0]))
    assert spec.text != split.text and found_in(evidence, splits=[spec.strategy]).alone == [job]
    asked = api.compare_accelerators("repurposing", splits=spec.strategy, repository=api.Repository(evidence))
    assert asked.alone == [job]
    assert found_in(evidence, splits=[spec.text]).alone == [job]
    for text in ("random:test_share=0.4", "random:test_share=0.3,inner_folds=5"):
        assert found_in(evidence, splits=[text]) == Accelerators([], [])


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """What a person who types this gets."""
    with pytest.raises(SystemExit) as ended:
        main(["compare", "--gpu", *arguments])
    shown = capsys.readouterr()
    return int(str(ended.value.code)), shown.out, shown.err


@pytest.fixture
def at_home(evidence: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """Where the command is typed."""
    go_to(evidence, monkeypatch)
    return evidence


def test_the_exit_code_and_the_lines_tell(
    at_home: Layout,
    both: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = found_in(at_home)
    code, shown, _ = told(capsys)
    label = planned_on(at_home, "cuda").job.label
    assert code == 1 and shown.startswith(f"{label}\n  metric")
    assert shown.count("differs\n") == len(found.differing)
    count = f"{len(found.differing)} of {len(found.pairs)} metrics"
    assert shown.endswith(f"1 run on a GPU beside the CPU: {count} further apart than allowed\n")
    code, shown, _ = told(capsys, "--json")
    document = json.loads(shown)
    assert code == 1 and document["differing"] == len(found.differing) and not document["alone"]
    assert [(one["metric"], one["difference"], one["agrees"], one["keys"]) for one in document["pairs"]] == [
        (one.metric, one.difference, one.agrees, [*both]) for one in found.pairs
    ]
    code, shown, _ = told(capsys, "--markdown")
    assert code == 1 and shown.startswith(f"## {label}\n\n| metric ")
    assert shown.count("\n| ") == len(found.pairs) + len(("head", "ruler"))
    allow(monkeypatch, 9.0)
    code, shown, _ = told(capsys)
    assert code == 0 and "differs" not in shown and ": 0 of " in shown


def test_runs_that_differ_in_a_parameter_have_a_table_each(
    at_home: Layout, both: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A parameter that a person chose is no part of what a run is called."""
    for name in ("cpu", "cuda"):
        job = planned_on(at_home, name).job
        job = job.model_copy(update={"parameters": {**job.parameters, "epoch": 1}})
        put_run(at_home, planned_of(make_plan(at_home, "one", [job]).cells[0]))
    label = planned_on(at_home, "cuda").job.label
    for form, title in (((), f"{label}\n"), (("--markdown",), f"## {label}\n")):
        _, shown, _ = told(capsys, *form)
        assert shown.count(title) == 2 and "2 runs on a GPU beside the CPU" in shown


def test_nothing_to_compare_is_said(at_home: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown, _ = told(capsys)
    assert code == 0 and shown.startswith("No such run was made on a GPU here")
    put_run(at_home, planned_on(at_home, "cuda"))
    code, shown, _ = told(capsys)
    assert code == 0
    assert f"nothing on the CPU to compare with: {planned_on(at_home, 'cuda').job.label}\n" in shown
    assert shown.startswith("0 runs on a GPU beside the CPU")


def test_what_has_no_meaning_together_is_refused(at_home: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, said = told(capsys, "--against", __file__)
    assert code == 2 and "--gpu compares no claims" in said
    code, _, said = told(capsys, "--method", "nimcgnc")
    assert code == 2 and "no method is called 'nimcgnc'" in said
    code, _, said = told(capsys, "--all")
    assert code == 2 and "--all" in said
