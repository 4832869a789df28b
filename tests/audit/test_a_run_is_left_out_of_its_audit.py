"""An audit of jobs is of every run of theirs, also one whose record can't be read, and says how many have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.audit import believed_reference, find_key, keys_of_jobs, reference_of_jobs
from harness.base.errors import AuditError, UsageError
from harness.base.layout import Layout
from harness.planning.plan import Plan
from harness.results.reference import load_reference, save_reference
from harness.results.store import Store
from tests.fabricate import planned_of


def test_the_runs_of_jobs_are_theirs_and_no_others(evidence: Layout, made_up: Plan) -> None:
    """Six cells, of which the last two have no run."""
    store, jobs = Store(evidence.runs), [cell.job for cell in made_up.cells]
    keys = [planned_of(cell).key for cell in made_up.cells]
    assert keys_of_jobs(store, jobs[:1]) == (keys[:1], 0)
    found, absent = keys_of_jobs(store, jobs[2:])
    assert (sorted(found), absent) == (sorted(keys[2:4]), 2)
    assert keys_of_jobs(store, jobs[4:]) == ([], 2)


def test_parameters_in_another_order_are_the_same_job(evidence: Layout, made_up: Plan) -> None:
    job = made_up.cells[2].job
    assert len(job.parameters) > 1
    turned = job.model_copy(update={"parameters": dict(reversed(job.parameters.items()))})
    assert keys_of_jobs(Store(evidence.runs), [turned]) == ([planned_of(made_up.cells[2]).key], 0)


def test_the_same_with_another_option_is_another_job(evidence: Layout, made_up: Plan) -> None:
    job = made_up.cells[0].job
    other = job.model_copy(update={"options": {**job.options, "inner_folds": job.options["inner_folds"] + 1}})
    assert keys_of_jobs(Store(evidence.runs), [other]) == ([], 1)


def test_every_committed_result_of_a_job_is_audited(evidence: Layout, made_up: Plan) -> None:
    """There may be two of one job: of the present code, and of what it was before."""
    save_reference(evidence, Store(evidence.runs))
    key = planned_of(made_up.cells[0]).key
    entry = load_reference(evidence)[key]
    both = {key: entry, "0" * 64: entry}
    assert reference_of_jobs(both, [made_up.cells[0].job]) == (both, 0)


def test_a_run_whose_record_can_not_be_read_is_of_every_job(evidence: Layout, made_up: Plan) -> None:
    """It may be one of those that are asked for. Which job it was of nobody knows: that one counts as without."""
    store, keys = Store(evidence.runs), [planned_of(cell).key for cell in made_up.cells[:2]]
    (store.path(keys[1]) / "record.json").write_text("{")
    found, absent = keys_of_jobs(store, [made_up.cells[0].job])
    assert (sorted(found), absent) == (sorted(keys), 0)
    assert keys_of_jobs(store, [made_up.cells[1].job]) == ([keys[1]], 1)


def test_the_committed_results_of_jobs_are_theirs_and_no_others(evidence: Layout, made_up: Plan) -> None:
    save_reference(evidence, Store(evidence.runs))
    entries, keys = load_reference(evidence), [planned_of(cell).key for cell in made_up.cells]
    chosen, absent = reference_of_jobs(entries, [cell.job for cell in made_up.cells[1:3]])
    assert (chosen, absent) == ({key: entries[key] for key in keys[1:3]}, 0)
    assert reference_of_jobs(entries, [cell.job for cell in made_up.cells[3:]]) == ({keys[3]: entries[keys[3]]}, 2)


def test_a_committed_result_that_was_changed_by_hand_ends_the_audit(evidence: Layout) -> None:
    save_reference(evidence, Store(evidence.runs))
    assert believed_reference(evidence) == load_reference(evidence)
    path = next(evidence.reference.rglob("*.gz"))
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(AuditError, match="not a gzipped file, or cut") as refused:
        believed_reference(evidence)
    assert refused.value.where == path.relative_to(evidence.root).as_posix()
    assert refused.value.todo == "restore the file from the repository, or make it anew"


def test_a_committed_file_that_can_not_be_read_ends_the_audit_too(evidence: Layout) -> None:
    save_reference(evidence, Store(evidence.runs))
    path = next(evidence.reference.rglob("*.gz"))
    path.unlink()
    path.mkdir()
    with pytest.raises(AuditError, match="a file can't be read: Is a directory") as refused:
        believed_reference(evidence)
    assert refused.value.where == str(path)


def test_a_key_that_is_mistyped_is_answered_with_the_nearest() -> None:
    """By as much of it as listings show."""
    keys = ["aa11" + "0" * 60, "bb11" + "0" * 60]
    with pytest.raises(UsageError) as refused:
        find_key(keys, "aa110000x000", Path("/there/runs"))
    assert str(refused.value.what) == "no run is called 'aa110000x000'"
    assert refused.value.where == "/there/runs"
    assert refused.value.todo == "did you mean 'aa1100000000'? known: aa1100000000, bb1100000000"
    with pytest.raises(UsageError) as refused:
        find_key([], "aa", Path("/there/runs"))
    assert refused.value.todo == "known: none"
