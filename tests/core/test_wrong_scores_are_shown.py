"""Only what was computed from a run that ended ok is ever shown as its score; a damaged scores file is not one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.audit import audit_runs
from harness.campaign import left_to_run, mark_unstable
from harness.errors import UsageError
from harness.index import build_index
from harness.layout import Layout
from harness.plan import Plan
from harness.scoring import compute_scores, score_all, scores_path
from harness.status import build_table
from harness.store import Store
from harness.vocabulary import Verdict
from tests.fabricate import planned_of

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
    "another field": lambda scores: json.dumps({**scores, "more": 1}),
    "no digest": lambda scores: json.dumps({name: value for name, value in scores.items() if name != "digest"}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_scores_file_is_not_shown_and_made_again(evidence: Layout, made_up: Plan, damage: str) -> None:
    path = scores_path(evidence, planned_of(made_up.cells[0]).key)
    honest = path.read_bytes()
    path.write_text(DAMAGES[damage](json.loads(honest)))
    store = Store(evidence.runs)
    assert [cell.scored for cell in build_table(evidence, store, made_up).cells[:3]] == [False, True, True]
    assert score_all(evidence, store, made_up) == 1
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
    assert score_all(evidence, store, made_up) == 2
    cells = build_table(evidence, store, made_up).cells
    assert [one.scored for one in cells[:3]] == [False, True, True]
    assert cells[0].cell.verdict is Verdict.INFRASTRUCTURE and str(path) in cells[0].cell.reason
    assert planned in [cell.planned for cell in left_to_run(made_up, store)]
    assert audit_runs(evidence, [planned.key]).failed == 1


def test_a_run_that_is_no_result_has_no_scores(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    """Its predictions and its old scores may still be there: neither the table nor the index shows them."""
    import pyarrow.parquet as pq

    store, planned = Store(evidence.runs), planned_of(made_up.cells[0])
    shown = build_table(evidence, store, made_up).cells[0]
    assert shown.scored and shown.metrics
    mark_unstable(store, store.record(planned.key), "a repetition differed")
    hidden = build_table(evidence, store, made_up).cells[0]
    assert hidden.cell.verdict is Verdict.UNSTABLE and not hidden.scored and not hidden.metrics
    rows = pq.read_table(build_index(evidence, tmp_path / "index.parquet")).to_pylist()
    row = next(row for row in rows if row["key"] == planned.key)
    assert row["verdict"] == "unstable" and row["AUC/as-published"] is None
    with pytest.raises(UsageError, match="ended as 'unstable' has no scores"):
        compute_scores(evidence, store, planned)
