"""What is mounted at /in is what was prepared for this job: a damaged or tampered folder is refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import CorruptData
from harness.inputs import job_folder, prepare_inputs
from harness.layout import Layout
from harness.methods import load_method
from harness.plan import Plan
from tests.fabricate import planned_of


def lead_elsewhere(prepared: Path) -> None:
    """The list names a file outside: it would be mounted with whatever it holds."""
    path = prepared / "inputs.json"
    described = json.loads(path.read_text())
    described["folds"]["file"] = "../../../secret.npy"
    path.write_text(json.dumps(described))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no list": lambda prepared: (prepared / "inputs.json").unlink(),
    "a cut list": lambda prepared: (prepared / "inputs.json").write_text("{"),
    "another list": lambda prepared: (prepared / "inputs.json").write_text('{"folds": 1}'),
    "an empty list": lambda prepared: (prepared / "inputs.json").write_text("{}"),
    "no array": lambda prepared: (prepared / "folds.npy").unlink(),
    "a changed array": lambda prepared: (prepared / "associations.npy").write_bytes(b"labels"),
    "a file elsewhere": lead_elsewhere,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_inputs_are_refused_and_made_again(
    evidence: Layout, made_up: Plan, tmp_path: Path, damage: str
) -> None:
    planned = planned_of(made_up.cells[0])
    card = load_method(evidence, planned.job.method)
    prepared = prepare_inputs(evidence, planned, card, ())
    DAMAGES[damage](prepared)
    (tmp_path / "in").mkdir()
    with pytest.raises(CorruptData) as refused:
        job_folder(prepared, tmp_path / "in", planned, card)
    assert str(prepared) in refused.value.todo
    assert not (tmp_path / "in" / "job.json").exists()
    shutil.rmtree(prepared)
    again = tmp_path / "again"
    again.mkdir()
    job_folder(prepare_inputs(evidence, planned, card, ()), again, planned, card)
    assert sorted(path.name for path in again.iterdir()) == ["associations.npy", "folds.npy", "job.json"]
