"""What people and programs read of a proof."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from harness.proof.verification import Proof


def proof_text(proof: Proof) -> str:
    """One line for each step; of what does not hold also where, and what to do."""
    width = max(len(step.name) for step in proof.steps)
    lines = [proof.about]
    for step in proof.steps:
        lines.append(f"  {step.state:11}  {step.name:{width}}  {step.what}")
        details = (("where", step.where), ("to do", step.todo))
        lines += [f"  {'':11}  {'':{width}}  {name}: {text}" for name, text in details if text]
    verb = "does" if proof.failed == 1 else "do"
    verdict = (
        f"{proof.failed} of {len(proof.steps)} steps {verb} not hold"
        if proof.failed
        else "signed, and all of it holds"
    )
    return "\n".join([*lines, "", verdict]) + "\n"


def proof_json(proof: Proof) -> dict[str, Any]:
    """Every step."""
    steps = [{**asdict(step), "state": str(step.state)} for step in proof.steps]
    return {"about": proof.about, "failed": proof.failed, "steps": steps}
