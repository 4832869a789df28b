"""The log and the statement about a set of results, as links of an audit: what `--signed` asks but a signature.

Only a signature makes a statement more than its author's word. Here it is a list of what was so when it was made:
scorers, claims, suites, cards, locks, names, findings and docs, and every result, failures included.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.audit.steps import Checked, Lack, Step, failed, not_checked
from harness.base.errors import CorruptData
from harness.base.git import commit_of
from harness.base.layout import Layout
from harness.proof.plans import summary
from harness.proof.results import ResultSet, faults_of, shown
from harness.proof.signature import is_signed
from harness.proof.statement import STATEMENT
from harness.proof.verification import Held, verify
from harness.results.sets import reference_set, stored_set

_STATES = {Held.OK: Checked.OK, Held.FAILED: Checked.NOT_CHECKED, Held.UNKNOWN: Checked.NOT_CHECKED}
# Steps about the log and what it tells of: they need no statement, and who waives one does not waive them.
_OF_THE_LOG = ("history", "results")


def check_statement(layout: Layout, *, reference: bool = False) -> list[Step]:
    """Where log and statement tell of something else than what is here; strict audits accept none of it."""
    try:
        return _steps(layout, reference=reference)
    except OSError as error:
        return [failed("log", f"can't be read: {error.strerror}", where=error.filename or "")]


def _steps(layout: Layout, *, reference: bool) -> list[Step]:
    results = reference_set(layout) if reference else stored_set(layout)
    path = results.folder / STATEMENT
    if not path.is_file():
        none = not_checked("statement", f"there is none about the {results.name}: harness attest", Lack.STATEMENT)
        return [none, *(not_checked("log", what, Lack.LOG) for what in _log_faults(results))]
    steps = []
    for one in verify(layout, results).steps:
        # whoever wrote it, it is held against; that nobody signed it is said, and asked for by --signed
        unsigned = one.name == "signature" and not is_signed(path)
        is_open = one.state is Held.FAILED and not unsigned
        what = f"{one.what}: {one.where}" if is_open and one.where else one.what
        lack = Lack.LOG if one.name in _OF_THE_LOG else Lack.STATEMENT
        if one.name == "commit" and one.state is Held.UNKNOWN and commit_of(layout.root):
            # a history that does not know its own commit may have been made anew
            lack, is_open = Lack.GIT, True
        steps.append(Step(one.name, _STATES[one.state], what, lack=lack if is_open else None))
    return steps


def _log_faults(results: ResultSet) -> Iterator[str]:
    """Where a log that no statement is about tells otherwise than the results beside it, or there is none."""
    try:
        leaves = results.log.leaves()
        if leaves:
            yield from (f"{one.what}: {one.where}" for one in shown(faults_of(leaves, results)))
            summary(results.folder, leaves)
        elif results.results:
            yield f"there is none about the {results.name}: nothing tells whether these are all"
    except CorruptData as error:
        yield f"{error.what}: {error.where}"
