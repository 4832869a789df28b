"""The log and the statement about a set of results, as links of an audit: what `--signed` asks but a signature.

Only a signature makes a statement more than its author's word. Here it is a list of what was so when it was made:
scorers, claims, suites, cards, locks, names, findings and docs, and every result, failures included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from harness.audit.steps import Checked, Lack, Step, failed, not_checked
from harness.base.errors import CorruptData
from harness.base.few import few_in_line
from harness.base.git import commit_of, name_in_line
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.proof.history import earlier_logs, first_other, is_cut
from harness.proof.leaves import account_of
from harness.proof.plans import LoggedCell, load_plan, summary
from harness.proof.results import ResultSet, faults_of, shown
from harness.proof.statement import STATEMENT
from harness.proof.verification import UNSIGNED, Held, verify
from harness.results.sets import reference_set, stored_set

_STATES = {Held.OK: Checked.OK, Held.FAILED: Checked.NOT_CHECKED, Held.UNKNOWN: Checked.NOT_CHECKED}
# Steps about the log and what it tells of: they need no statement, and who waives one does not waive them.
_OF_THE_LOG = ("history", "results")
# as many plans as a person reads
_PLANS = 3


def check_statement(layout: Layout, *, reference: bool = False) -> list[Step]:
    """Where log and statement tell of something else than what is here; strict audits accept none of it."""
    try:
        return _steps(layout, reference=reference)
    except OSError as error:
        return [failed("log", f"can't be read: {error.strerror}", where=error.filename or "")]


def check_plans(layout: Layout) -> list[Step]:
    """That plans which were begun here have cells of which the log tells nothing.

    A run that was taken away with all that the log told of it is one of them. For audits of all that is stored: a
    single number does not depend on what else was to be run.
    """
    results = stored_set(layout)
    try:
        leaves = results.log.leaves()
        plans, _ = summary(results.folder, leaves)
        known = {leaf.key for leaf in leaves if leaf.record}
        cells = [
            f"{plan['missing']} of {plan['cells']} of {plan['name']} ({plan['plan'][:12]}), the first: "
            + _first_without(load_plan(results.folder, plan["plan"]), known)
            for plan in plans
            if plan["missing"]
        ]
    except (CorruptData, OSError):
        return []  # no log, or no plan; that is told of by `check_statement`
    what = f"cells without a result of plans that were begun: {few_in_line(cells, _PLANS, '; ')}"
    return [not_checked("plan", what, Lack.MISSING)] if cells else []


def _first_without(cells: Iterable[LoggedCell], known: Collection[str]) -> str:
    """The first planned cell of which no leaf tells a result: what to run, or to ask for."""
    return next(name_in_line(f"{one.label} ({one.key[:12]})") for one in cells if one.key and one.key not in known)


def _steps(layout: Layout, *, reference: bool) -> list[Step]:
    results = reference_set(layout) if reference else stored_set(layout)
    path = results.folder / STATEMENT
    others = [*_lost_scores(results), *_strange_notes(results)]
    if not path.is_file():
        what = f"there is none about the {results.name}: {results.stated_by}"
        none = not_checked("statement", what, Lack.STATEMENT)
        faults = [not_checked("log", what, Lack.LOG) for what in _log_faults(layout, results)]
        return [none, *faults, *others]
    steps = others
    for one in verify(layout, results).steps:
        # whoever wrote it, it is held against; that nobody signed it is said, and asked for by --signed
        is_open = one.state is Held.FAILED and one.what != UNSIGNED
        what = f"{one.what}: {one.where}" if is_open and one.where else one.what
        lack = Lack.LOG if one.name in _OF_THE_LOG else Lack.STATEMENT
        if one.state is Held.UNKNOWN and (
            # a history that does not know its own commit may have been made anew, and one may have been cut
            (one.name == "commit" and commit_of(layout.root))
            or (one.name == "history" and is_cut(layout, results.folder))
        ):
            lack, is_open = Lack.GIT, True
        steps.append(Step(one.name, _STATES[one.state], what, lack=lack if is_open else None))
    return steps


def _lost_scores(results: ResultSet) -> Iterator[Step]:
    """That there are scores no more of which the log tells: who takes them away hides what they say."""
    try:
        logged = account_of(results.log.leaves()).results
    except (CorruptData, TypeError):
        return  # no log; that is told of by itself
    there = results.results
    if lost := [key for key, one in logged.items() if one.score and key in there and not there[key].score]:
        first = f"{there[lost[0]].scope} ({lost[0][:12]})"
        what = f"the log tells of scores that are gone ({len(lost)}); harness score makes them again: {first}"
        yield not_checked("results", what, Lack.LOG)


def _strange_notes(results: ResultSet) -> Iterator[Step]:
    """That the note of an event which had begun is none of the harness's."""
    try:
        results.log.unfinished()
    except CorruptData as error:
        yield not_checked("log", f"{error.what}: {error.where}", Lack.LOG)


def _log_faults(layout: Layout, results: ResultSet) -> Iterator[str]:
    """Where a log that no statement is about is not what it was, tells of other results, or is none."""
    try:
        leaves = results.log.leaves()
        known = earlier_logs(layout, results.folder, results.log.lines())
        if other := first_other(known, results.log.hashes()):
            size = counted(other.size, "leaf", "leaves")
            yield f"it is not the one that had {size} before, grown: {other.where}"
        if leaves:
            yield from (f"{one.what}: {one.where}" for one in shown(faults_of(leaves, results)))
            summary(results.folder, leaves)
        elif results.results:
            yield f"there is none about the {results.name}: nothing tells whether these are all"
    except CorruptData as error:
        yield f"{error.what}: {error.where}"
