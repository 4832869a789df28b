"""What nobody's harness writes is a broken link of its own run: the audit goes on, and no text is taken for 0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.audit.chain import Auditor
from harness.audit.plausibility import check_kept, check_plausibility
from harness.audit.results import kept_scores
from harness.audit.steps import Checked, failed, guarded
from harness.base.files import write_json
from harness.base.layout import Layout
from harness.planning.plan import Plan
from harness.results.records import Record
from harness.results.store import Store
from tests.audit.forging import forge_job, forge_record, refresh
from tests.fabricate import plan_of, planned_of

HUGE = 10**400


@pytest.fixture(scope="module")
def sound(fabricated: Layout) -> Record:
    """A run that ended ok."""
    return Store(fabricated.runs).record(planned_of(plan_of(fabricated).cells[0]).key)


@pytest.mark.parametrize(
    ("resources", "name", "found"),
    [
        *(
            ({name: value}, name, str(value)[:40])
            for name in ("wall_s", "ran_s", "cpu_s", "peak_bytes", "exit_code", "oom_kills", "log_bytes")
            for value in ("a text", HUGE, -HUGE, float("nan"))
        ),
        *(({name: False}, name, "False") for name in ("output_bytes", "paused_s", "log_cut_bytes")),
        ({"not_kept": 5}, "not_kept", "-"),
        ({"not_kept": {"trace.npy": 5}}, "trace.npy", "-"),
        ({"not_kept": {"trace.npy": {"bytes": "5"}}}, "trace.npy", "5"),
    ],
)
def test_a_measurement_that_is_no_number_is_told(
    sound: Record, resources: dict[str, Any], name: str, found: str
) -> None:
    changed = sound.model_copy(update={"resources": {**sound.resources, **resources}})
    (step,) = check_plausibility(changed)
    assert (step.checked, step.what) == (Checked.FAILED, f"{name} is no number")
    assert (step.expected, step.found) == ("a number", found)


def test_a_limit_that_no_machine_has_is_told(sound: Record) -> None:
    (step,) = check_plausibility(sound.model_copy(update={"limits": {**sound.limits, "cpus": HUGE}}))
    assert (step.checked, step.what) == (Checked.FAILED, "the limit of cpus is no number")


def test_what_was_not_seen_is_no_oddity(sound: Record) -> None:
    unseen = dict.fromkeys(("ran_s", "cpu_s", "peak_bytes", "oom_kills"))
    (step,) = check_plausibility(sound.model_copy(update={"resources": {**sound.resources, **unseen}}))
    assert step.checked is Checked.OK


@pytest.mark.parametrize("limits", [[1], "none", 5])
def test_limits_that_are_none_are_told(fabricated: Layout, sound: Record, tmp_path: Path, limits: object) -> None:
    (step,) = check_kept(fabricated, sound, tmp_path, {"limits": limits})
    told = (Checked.FAILED, "the container was told no limits", str(limits))
    assert (step.checked, step.what, step.found) == told


def test_a_method_may_write_any_number_into_its_report(fabricated: Layout, sound: Record, tmp_path: Path) -> None:
    write_json(tmp_path / "method.json", {"seconds": {"fit": [HUGE, True, 0.5]}})
    (step,) = check_kept(fabricated, sound, tmp_path, None)
    assert step.checked is Checked.OK


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError])
def test_what_makes_no_sense_is_a_broken_link(error: type[Exception]) -> None:
    def check() -> list[Any]:
        raise error("x")

    what = f"what is kept is not of the form that we write ({error.__name__}: {error('x')})"
    assert guarded("files", check) == [failed("files", what)]


def test_the_other_runs_of_an_audit_are_audited_all_the_same(evidence: Layout, made_up: Plan) -> None:
    forge_record(evidence, made_up, lambda record: record["resources"].update(not_kept=[1]))
    forge_job(evidence, made_up, lambda job: job.update(limits=[1]), cell=1)
    refresh()
    auditor = Auditor(evidence, Store(evidence.runs))
    audits = [auditor.audit(planned_of(cell).key) for cell in made_up.cells[:3]]
    assert [audit.failed for audit in audits] == [True, True, False]


def test_a_score_that_is_a_text_is_a_broken_link(fabricated: Layout, sound: Record) -> None:
    scores = kept_scores(fabricated, sound)
    assert scores is not None
    texts: dict[str, Any] = dict.fromkeys(scores.metrics, "high")
    auditor = Auditor(fabricated, Store(fabricated.runs))
    superseded = auditor._find_superseded(sound)
    names = [
        (step.name, step.checked) for step in auditor._plausible(sound, superseded, replace(scores, metrics=texts))
    ]
    assert ("plausibility", Checked.FAILED) in names
