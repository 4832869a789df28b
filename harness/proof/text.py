"""What people and programs read of a proof."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from harness.base.plurals import counted, form_of
from harness.proof.verification import Held, Proof


def proof_text(proof: Proof) -> str:
    """One line for each step; of what does not hold also where, and what to do."""
    width = max(len(step.name) for step in proof.steps)
    lines = [proof.about]
    for step in proof.steps:
        lines.append(f"  {step.state:11}  {step.name:{width}}  {step.what}")
        details = (("where", step.where), ("to do", step.todo))
        lines += [f"  {'':11}  {'':{width}}  {name}: {text}" for name, text in details if text]
    unknown = sum(1 for step in proof.steps if step.state is Held.UNKNOWN)
    verdict = "signed, and all of it holds"
    if proof.failed:
        verdict = f"{proof.failed} of {len(proof.steps)} steps {form_of('does', proof.failed, 'do')} not hold"
    elif unknown:
        verdict += f"; {counted(unknown, 'step')} {form_of('was', unknown, 'were')} not checked"
    return "\n".join([*lines, "", verdict]) + "\n"


def proof_json(proof: Proof) -> dict[str, Any]:
    """Every step."""
    steps = [{**asdict(step), "state": str(step.state)} for step in proof.steps]
    return {"about": proof.about, "failed": proof.failed, "steps": steps}
