"""Golden cases of HAN that hold steps without dropout."""

from __future__ import annotations

from repurposing_sdk import Answer, Problem

from __main__ import fit_predict


def without_dropout(problem: Problem) -> Answer:
    """Steps that draw nothing after the starting weights."""
    return fit_predict(problem, dropout=False)
