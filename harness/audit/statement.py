"""The log and the statement about a set of results, as links of an audit: what `--signed` asks but a signature.

Only a signature makes a statement more than its author's word. Here it is a list of what was so when it was made:
scorers, claims, suites, cards, locks, names, findings and docs, and every result, failures included.
"""

from __future__ import annotations

from harness.audit.steps import Checked, Lack, Step, not_checked
from harness.base.layout import Layout
from harness.proof.results import faults_of, shown
from harness.proof.signature import is_signed
from harness.proof.statement import STATEMENT
from harness.proof.verification import Held, verify
from harness.results.sets import reference_set, stored_set

_STATES = {Held.OK: Checked.OK, Held.FAILED: Checked.NOT_CHECKED, Held.UNKNOWN: Checked.NOT_CHECKED}


def check_statement(layout: Layout, *, reference: bool = False) -> list[Step]:
    """Where log and statement tell of something else than what is here; strict audits accept none of it."""
    results = reference_set(layout) if reference else stored_set(layout)
    path = results.folder / STATEMENT
    if not path.is_file():
        leaves = results.log.leaves()
        none = not_checked("statement", f"there is none about the {results.name}: harness attest", Lack.STATEMENT)
        faults = shown(faults_of(leaves, results)) if leaves else []
        return [none, *(not_checked("log", f"{one.what}: {one.where}", Lack.STATEMENT) for one in faults)]
    steps = []
    for one in verify(layout, results).steps:
        # whoever wrote it, it is held against; that nobody signed it is said, and asked for by --signed
        unsigned = one.name == "signature" and not is_signed(path)
        is_open = one.state is Held.FAILED and not unsigned
        what = f"{one.what}: {one.where}" if is_open and one.where else one.what
        steps.append(Step(one.name, _STATES[one.state], what, lack=Lack.STATEMENT if is_open else None))
    return steps
