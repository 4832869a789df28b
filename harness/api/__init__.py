"""What the command line and a notebook call: plan, run, see, compare, audit and predict. docs/api.md shows each.

Functions take names or lists of names, and return dataclasses; `table` turns any of these into a pandas frame.
Every error is a `HarnessError`: what happened, where, and what to do. Where `repository` is left out, it is the
one around the current folder.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.api.audits import audit
    from harness.api.claims import compare
    from harness.api.contests import contest
    from harness.api.frames import table
    from harness.api.handles import container_log, diff, forget, show
    from harness.api.pages import report, site
    from harness.api.plans import cells, needs, plan, status
    from harness.api.proofs import attest, confirm, verify
    from harness.api.repository import Repository, open_repository
    from harness.api.runs import Campaign, ScoredRun, predict, run, scores
    from harness.api.stores import merge

__all__ = [
    "Campaign",
    "Repository",
    "ScoredRun",
    "attest",
    "audit",
    "cells",
    "compare",
    "confirm",
    "container_log",
    "contest",
    "diff",
    "forget",
    "merge",
    "needs",
    "open_repository",
    "plan",
    "predict",
    "report",
    "run",
    "scores",
    "show",
    "site",
    "status",
    "table",
    "verify",
]

# Imported when it is first asked for, so that a command waits for no more than it uses.
_MODULES = {
    "audits": ("audit",),
    "claims": ("compare",),
    "contests": ("contest",),
    "frames": ("table",),
    "handles": ("container_log", "diff", "forget", "show"),
    "pages": ("report", "site"),
    "plans": ("cells", "needs", "plan", "status"),
    "proofs": ("attest", "confirm", "verify"),
    "repository": ("Repository", "open_repository"),
    "stores": ("merge",),
    "runs": ("Campaign", "ScoredRun", "predict", "run", "scores"),
}


if not TYPE_CHECKING:  # or any name would do

    def __getattr__(name: str) -> object:
        for module, members in _MODULES.items():
            if name in members:
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module '{__name__}' has no member '{name}'")


def __dir__() -> list[str]:
    return __all__
