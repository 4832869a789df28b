"""The status table as JSON values."""

from __future__ import annotations

from typing import Any

from harness.base.vocabulary import Verdict
from harness.status.table import Group, ScoredCell, Table


def to_json(table: Table) -> dict[str, Any]:
    """All that text and Markdown show, and every metric."""
    return {
        "plan": table.name,
        "planned": table.planned,
        "in_view": len(table.cells),
        "verdicts": {str(verdict): table.counts[verdict] for verdict in Verdict if table.counts[verdict]},
        "meanings": {str(verdict): verdict.meaning for verdict in Verdict if table.counts[verdict]},
        "runs_of_other_plans": table.others,
        "stand_ins": dict(table.stand_ins),
        "groups": [_group(group) for group in table.groups],
        "cells": [_cell(scored) for scored in table.cells],
    }


def _group(group: Group) -> dict[str, Any]:
    names = sorted({name for scored in group.cells for name in scored.metrics})
    return {
        "benchmark": group.benchmark,
        "row": group.row,
        "method": group.method,
        "control": group.control,
        "published_order": group.published_order,
        "dataset": group.dataset,
        "split": group.split,
        "planned": len(group.cells),
        "verdicts": {str(verdict): group.verdicts[verdict] for verdict in Verdict if group.verdicts[verdict]},
        "metrics": {
            name: {"mean": one.mean, "sd": one.sd, "n": one.n} for name in names if (one := group.summary(name))
        },
    }


def _cell(scored: ScoredCell) -> dict[str, Any]:
    cell = scored.cell
    return {
        "key": scored.key,
        **cell.job.model_dump(mode="json"),
        "control": scored.control,
        "published_order": scored.published_order,
        "reference": scored.reference,
        "verdict": str(cell.verdict),
        "reason": cell.reason,
        "metrics": scored.metrics,
        "notes": scored.notes,
        "scored": scored.scored,
    }
