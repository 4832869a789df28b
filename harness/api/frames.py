"""Everything the other functions return, as pandas frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.api.plans import status
from harness.api.repository import Repository
from harness.api.runs import Campaign, ScoredRun
from harness.audit import AuditReport
from harness.audit import to_json as audit_json
from harness.compare import Accelerators, Book
from harness.compare.accelerators import pair_json
from harness.compare.text import comparison_json
from harness.contest import COLUMNS, Contest, rows_of
from harness.planning.plan import Plan
from harness.prediction import Prediction
from harness.status import ScoredCell, Table

if TYPE_CHECKING:
    import pandas

Results = Plan | Campaign | Table | Contest | ScoredRun | Book | Accelerators | AuditReport | Prediction
Row = dict[str, Any]

_OF_A_CLAIM = (
    *("source", "statistic", "method", "dataset", "split", "seed", "metric", "published", "ours", "n"),
    *("difference", "interval_low", "interval_high", "margin", "needed", "test", "verdict", "reason"),
)
_OF_A_PAIR = ("label", "metric", "cpu", "gpu", "difference", "allowed", "agrees")


def table(results: Results, *, repository: Repository | None = None) -> pandas.DataFrame:
    """A frame with a row per planned cell, contest entry, metric, claim, audit step, or ranked pair."""
    import pandas

    rows, columns = _rows(results, repository)
    return pandas.DataFrame(rows, columns=columns)


def _rows(results: Results, repository: Repository | None) -> tuple[list[Row], list[str]]:
    """Rows, and the columns that are there even where there is no row."""
    match results:
        case Plan():
            return _of_cells(status(results, repository=repository))
        case Campaign():
            return _of_cells(results.table)
        case Table():
            return _of_cells(results)
        case Contest():
            return rows_of(results), list(COLUMNS)
        case ScoredRun():
            return _of_metrics(results), ["metric", "value", "note"]
        case Book():
            claims = [comparison_json(one, one.keys) for one in results.comparisons]
            return [{name: claim[name] for name in _OF_A_CLAIM} for claim in claims], list(_OF_A_CLAIM)
        case Accelerators():
            pairs = map(pair_json, results.pairs)
            return [{name: pair[name] for name in _OF_A_PAIR} for pair in pairs], list(_OF_A_PAIR)
        case AuditReport():
            return _of_steps(results), ["key", "label", "step", "checked", "what", "expected", "found", "where"]
        case Prediction():
            columns = [*results.columns]
            return [dict(zip(columns, row, strict=True)) for row in results.rows], columns


def _of_cells(table: Table) -> tuple[list[Row], list[str]]:
    metrics = list(dict.fromkeys(name for scored in table.cells for name in scored.metrics))
    rows = [_cell(scored) for scored in table.cells]
    own = list(dict.fromkeys(name for row in rows for name in row if name not in metrics))
    return rows, [*own, *metrics]


def _cell(scored: ScoredCell) -> Row:
    cell, job = scored.cell, scored.cell.job
    used = cell.record.get("resources", {})
    return {
        "benchmark": job.benchmark,
        "method": job.method,
        "variant": job.variant,
        "dataset": job.dataset,
        "split": job.split.text,
        "seed": job.split.seed,
        "accelerator": job.accelerator,
        "control": scored.control,
        "reference": scored.reference,
        "verdict": str(cell.verdict),
        "reason": cell.reason,
        "key": scored.key,
        "wall_s": used.get("wall_s"),
        "peak_bytes": used.get("peak_bytes"),
        **scored.metrics,
    }


def _of_metrics(run: ScoredRun) -> list[Row]:
    scores = run.scores
    return [
        {"metric": name, "value": value, "note": scores.notes.get(name, "")}
        for name, value in scores.every.items()
    ]


def _of_steps(report: AuditReport) -> list[Row]:
    return [
        {"key": run["key"], "label": run["label"], "step": step.pop("name"), **step}
        for run in audit_json(report)["runs"]
        for step in run["steps"]
    ]
