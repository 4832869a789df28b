"""A crate of a few runs that a person names holds these and no others, as they were asked for."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.export import Extent, export
from harness.export.contents import read_suite
from harness.export.selection import plan_of_keys
from harness.export.verify import verify
from harness.planning.jobs import Job
from harness.planning.plan import Plan, make_plan
from harness.results.reference import save_reference
from harness.results.store import Store
from tests.export.crates import reference_plan


def test_a_crate_of_one_run_holds_it_alone_and_is_verified(
    evidence: Layout, keys: list[str], tmp_path: Path
) -> None:
    plan = plan_of_keys(evidence, [keys[1][:9].upper(), keys[1]], reference=False)
    assert (plan.name, [cell.key for cell in plan.cells]) == (keys[1][:12], [keys[1]])
    assert export(evidence, plan, tmp_path / "crate").runs == 1
    assert [cell.planned and cell.planned.key for cell in read_suite(tmp_path / "crate").cells] == [keys[1]]
    verification = verify(evidence, tmp_path / "crate")
    assert not verification.failed and [run.key for run in verification.runs] == [keys[1]]


def test_several_are_packed_in_their_order_and_named(evidence: Layout, keys: list[str]) -> None:
    plan = plan_of_keys(evidence, [keys[2], keys[0], keys[3], keys[1]], reference=False)
    assert [cell.key for cell in plan.cells] == [keys[2], keys[0], keys[3], keys[1]]
    assert plan.name == f"{keys[2][:12]}, {keys[0][:12]}, {keys[3][:12]} and 1 more"


def test_a_committed_result_is_packed_as_it_is_committed(
    layout: Layout, evidence: Layout, keys: list[str], tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as refused:
        plan_of_keys(evidence, [keys[0]], reference=True)
    assert (refused.value.what, refused.value.todo) == (
        f"{keys[0][:12]} is no committed result",
        "leave --reference out",
    )
    key = next(cell.key for cell in reference_plan(layout).cells if cell.key)
    with pytest.raises(UsageError) as refused:
        plan_of_keys(layout, [key], reference=False)
    assert (refused.value.what, refused.value.todo) == (
        f"{key[:12]} was not run on this machine",
        "add --reference: as it is committed, without predictions",
    )
    plan = plan_of_keys(layout, [key], reference=True)
    assert export(layout, plan, tmp_path / "crate", extent=Extent.REFERENCE).runs == 1
    # of a run that is both, either is packed
    save_reference(evidence, Store(evidence.runs))
    assert [plan_of_keys(evidence, [keys[0]], reference=one).cells[0].key for one in (False, True)] == [
        keys[0]
    ] * 2


def test_a_run_of_code_that_has_changed_since_is_refused_by_its_name(
    evidence: Layout, made_up: Plan, keys: list[str]
) -> None:
    method = made_up.cells[0].job.method
    main = evidence.methods / method / "main.py"
    main.write_text(main.read_text() + "MORE = 1\n")
    with pytest.raises(UsageError) as refused:
        plan_of_keys(evidence, [keys[0]], reference=False)
    assert refused.value.what == f"{keys[0][:12]} is of code, an environment or data that has changed since"
    assert refused.value.todo.startswith(f"run it again: harness run --method {method} ")


def test_a_run_is_packed_also_when_the_cache_with_its_split_was_removed(evidence: Layout, keys: list[str]) -> None:
    """It is made again, as for a suite: a cache is safe to remove."""
    (evidence.datasets / "synthetic" / "splits.csv").unlink()
    shutil.rmtree(evidence.cache / "splits")
    assert [cell.key for cell in plan_of_keys(evidence, [keys[0]], reference=False).cells] == [keys[0]]


def test_splits_are_made_of_the_data_in_the_mirrors_that_were_named(
    evidence: Layout, keys: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Sequence[Path], bool]] = []

    def plan(
        layout: Layout, name: str, jobs: Iterable[Job], *, mirrors: Sequence[Path] = (), make_splits: bool = True
    ) -> Plan:
        asked.append((mirrors, make_splits))
        return make_plan(layout, name, jobs, mirrors=mirrors, make_splits=make_splits)

    monkeypatch.setattr("harness.export.selection.make_plan", plan)
    plan_of_keys(evidence, [keys[0]], reference=False, mirrors=(tmp_path,))
    assert asked == [((tmp_path,), True)]


def test_a_run_that_can_not_be_planned_any_more_is_refused_with_the_reason(
    evidence: Layout, made_up: Plan, keys: list[str]
) -> None:
    card = evidence.methods / made_up.cells[0].job.method / "method.toml"
    card.write_text(re.sub(r"(?m)^benchmarks = .*$", 'benchmarks = ["ddi"]', card.read_text()))
    with pytest.raises(UsageError) as refused:
        plan_of_keys(evidence, [keys[0]], reference=False)
    assert refused.value.what.startswith(f"{keys[0][:12]} can't be planned today: not-applicable: ")
    assert refused.value.what.endswith(" does not belong to benchmark repurposing")
    assert refused.value.todo
