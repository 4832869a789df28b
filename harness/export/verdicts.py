"""A verification as text and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from harness.audit.steps import Audit, Checked, Step
from harness.base.plurals import counted
from harness.export.verify import Verification, outcome


def to_text(verification: Verification, *, everything: bool = False) -> str:
    """One line per run and what failed of it, why what was not checked, all faults again, and the sum."""
    lines = []
    for audit in verification.every:
        lines.append(f"{outcome(audit):11}  {_name(audit)}")
        lines += [line for step in audit.steps for line in _step_lines(step, everything=everything)]
    reasons = Counter(
        f"{step.name}: {step.what}"
        for audit in verification.every
        for step in audit.steps
        if step.checked is Checked.NOT_CHECKED
    )
    if reasons:
        lines += ["", "Not checked", *(f"  {reason} ({count}x)" for reason, count in reasons.items())]
    if failed := [audit for audit in verification.every if audit.failed]:
        # once more, below what may be thousands of lines
        lines += ["", str(Checked.FAILED)]
        for audit in failed:
            lines.append(f"  {_name(audit)}")
            lines += [f"    {one.name}: {one.what}" for one in audit.steps if one.checked is Checked.FAILED]
    counts = Counter(map(outcome, verification.runs))
    sums = ", ".join(f"{counts[one]} {one}" for one in Checked if counts[one])
    lines += [
        "",
        f"{counted(len(verification.runs), 'run')}: {sums or 'none'}; "
        f"the crate as a whole: {outcome(verification.crate)}",
    ]
    if verification.without_run:
        lines.append(f"planned, without a run in the crate: {counted(verification.without_run, 'cell')}")
    return "\n".join(lines) + "\n"


def to_json(verification: Verification) -> dict[str, Any]:
    """Every step."""
    counts = Counter(map(outcome, verification.runs))
    return {
        "failed": verification.failed,
        "runs": {str(one): counts[one] for one in Checked},
        "cells_without_run": verification.without_run,
        "crate": _audit(verification.crate),
        "audits": [_audit(one) for one in verification.runs],
    }


def _audit(audit: Audit) -> dict[str, Any]:
    steps = [{**asdict(step), "checked": str(step.checked)} for step in audit.steps]
    return {"key": audit.key, "label": audit.label, "outcome": str(outcome(audit)), "steps": steps}


def _name(audit: Audit) -> str:
    return f"{audit.key[:12]}  {audit.label}" if audit.key else audit.label


def _step_lines(step: Step, *, everything: bool) -> list[str]:
    if step.checked is not Checked.FAILED and not everything:
        return []
    first = f"    {step.checked}  {step.name}: {step.what}"
    if step.checked is not Checked.FAILED:
        return [first]
    details = (("expected", step.expected), ("found", step.found), ("where", step.where))
    return [first, *(f"      {name}: {text}" for name, text in details if text)]
