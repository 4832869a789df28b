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
    from harness.api.claims import compare, compare_accelerators
    from harness.api.contests import contest
    from harness.api.datasets import AcceptedData, accept_data, new_data
    from harness.api.frames import table
    from harness.api.handles import container_log, diff, forget, show
    from harness.api.jobs import CheckedByHand, check_job, write_job
    from harness.api.pages import report, site, verify_report
    from harness.api.plans import cells, needs, plan, status
    from harness.api.predictions import predict
    from harness.api.proofs import attest, confirm, verify
    from harness.api.repository import Repository, open_repository
    from harness.api.runs import Campaign, ScoredRun, campaigns, run, scores, stop
    from harness.api.stores import merge

__all__ = [
    "AcceptedData",
    "Campaign",
    "CheckedByHand",
    "Repository",
    "ScoredRun",
    "accept_data",
    "attest",
    "audit",
    "campaigns",
    "cells",
    "check_job",
    "compare",
    "compare_accelerators",
    "confirm",
    "container_log",
    "contest",
    "diff",
    "forget",
    "merge",
    "needs",
    "new_data",
    "open_repository",
    "plan",
    "predict",
    "report",
    "run",
    "scores",
    "show",
    "site",
    "status",
    "stop",
    "table",
    "verify",
    "verify_report",
    "write_job",
]

# Imported when it is first asked for, so that a command waits for no more than it uses.
_MODULES = {
    "audits": ("audit",),
    "claims": ("compare", "compare_accelerators"),
    "contests": ("contest",),
    "datasets": ("AcceptedData", "accept_data", "new_data"),
    "frames": ("table",),
    "handles": ("container_log", "diff", "forget", "show"),
    "jobs": ("CheckedByHand", "check_job", "write_job"),
    "pages": ("report", "site", "verify_report"),
    "plans": ("cells", "needs", "plan", "status"),
    "predictions": ("predict",),
    "proofs": ("attest", "confirm", "verify"),
    "repository": ("Repository", "open_repository"),
    "runs": ("Campaign", "ScoredRun", "campaigns", "run", "scores", "stop"),
    "stores": ("merge",),
}


if not TYPE_CHECKING:  # or any name would do

    def __getattr__(name: str) -> object:
        for module, members in _MODULES.items():
            if name in members:
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module '{__name__}' has no member '{name}'")


def __dir__() -> list[str]:
    return __all__
