"""The two sets of results that a statement can be about: the runs of this machine, and the committed ones."""

from __future__ import annotations

from harness.base.layout import Layout
from harness.proof.confirmation import FOLDER
from harness.proof.log import LOG
from harness.proof.results import ResultSet
from harness.proof.signature import envelope_path, sig_path
from harness.proof.statement import STATEMENT
from harness.results.digests import reference_results, stored_results
from harness.results.reference import load_reference
from harness.results.store import Store


def stored_set(layout: Layout) -> ResultSet:
    """The runs of this machine, which their leaves name one by one."""
    return ResultSet("runs of this machine", layout.local, stored_results(Store(layout.runs), layout.scores))


def reference_set(layout: Layout) -> ResultSet:
    """The committed results, with all files that hold them."""
    folder = layout.reference
    statement = folder / STATEMENT
    by_themselves = (folder / LOG, statement, sig_path(statement), envelope_path(statement))
    files = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] != FOLDER and path not in by_themselves
    ]
    results = reference_results(load_reference(layout))
    return ResultSet("reference results", folder, results, files, "harness attest --reference")
