"""Audits: why results may be believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from harness.api.pages import verify_report
from harness.api.repository import Names, Repository, opened, several
from harness.audit import (
    AuditReport,
    Believed,
    audit_runs,
    believed_reference,
    check_checkout,
    check_page,
    check_plans,
    check_statement,
    find_key,
    keys_of_jobs,
    reference_of_jobs,
)
from harness.audit.steps import Audit, Checked, Step, failed, guarded, not_checked, ok
from harness.base.errors import AuditError, EngineError, UsageError
from harness.base.foreign_text import printable
from harness.base.progress import ProgressChoice, progress_for
from harness.base.seal import only_new_notes
from harness.engine import Engine, find_engine
from harness.planning.jobs import Job
from harness.planning.plan import Plan
from harness.planning.suites import jobs_of, load_suite
from harness.results.last_audit import (
    REFERENCE,
    STORED,
    LastAudit,
    digest_of_keys,
    git_tree,
    now,
    write_last_audit,
)
from harness.results.reference import ReferenceResult

# So few are audited before a bar could be read.
_FEW = 20


# Keys of stored runs, or reference results by key; and how many planned cells have none.
_Choice = tuple[list[str] | dict[str, ReferenceResult], int]


def audit(
    runs: Names | Plan = (),
    *,
    suite: str | None = None,
    reference: bool = False,
    replay: int = 0,
    seed: int = 0,
    believing: Believed = "notes",
    progress: ProgressChoice = "auto",
    repository: Repository | None = None,
) -> AuditReport:
    """The walk from stored results down to everything they rest on, hashes and scores recomputed.

    `runs` are keys or their beginnings, or a plan, whose cells are meant; without it and without `suite`,
    everything that is stored. `reference` means the committed results in place of runs made here. So many as
    `replay` says, drawn by `seed`, are run again and compared bit for bit. Believing `nothing` that was noted, it
    makes every split and dataset and the status page, and reads every image, once more.
    """
    here = opened(repository)
    runs = runs if isinstance(runs, Plan) else several(runs)
    chosen, without_run = _chosen(here, runs, suite, reference=reference)
    is_all = not runs and suite is None
    # the note about a page is an earlier one always
    page = check_page(here.layout)
    quiet = progress == "auto" and len(chosen) < _FEW and not replay
    with (
        only_new_notes() if believing == "nothing" else nullcontext(),
        progress_for(None if quiet else progress) as shown,
        _engine(here, needed=bool(replay)) as engine,
    ):
        report = audit_runs(
            here.layout,
            chosen,
            engine=engine,
            mirrors=here.mirrors,
            replay=replay,
            seed=seed,
            without_run=without_run,
            repository=[
                *check_checkout(here.layout),
                *check_statement(here.layout, reference=reference or isinstance(chosen, Mapping)),
                *(check_plans(here.layout) if is_all and not reference else ()),
                *page,
                *(_page_anew(here) if believing == "nothing" and page else ()),
            ],
            progress=shown,
        )
    if is_all:
        write_last_audit(here.layout, REFERENCE if reference else STORED, _note(here, report, chosen))
    return report


def _page_anew(here: Repository) -> list[Step]:
    """The status page against what the results give, whoever wrote it and whatever vouches for it."""

    def compared() -> list[Step]:
        try:
            differences = verify_report(here.layout.page, repository=here).differences
        except UsageError as error:
            # the suite of an audit chooses runs; none can be given to hold a page against
            return [not_checked(name, printable(f"{error.what}; make the page of a suite: harness report"))]
        if not differences:
            return [ok(name, "it is what the results give")]
        what = "it is not what the results give, or these have changed since; make it again: harness report"
        (one, *_) = differences
        place = f"{here.layout.page}:{one.line}" if one.line else str(here.layout.page)
        return [failed(name, what, expected=printable(one.expected), found=printable(one.found), where=place)]

    name = "page anew"
    return guarded(name, compared)


def _note(here: Repository, report: AuditReport, keys: Iterable[str]) -> LastAudit:
    return LastAudit(
        at=now(),
        tree=git_tree(here.layout.root),
        results=len(report.audits),
        passed=report.passed,
        failed=report.failed,
        superseded=report.superseded,
        unfinished=report.not_audited,
        replayed=sum(map(_was_replayed, report.audits)),
        digest=digest_of_keys(keys),
    )


def _was_replayed(audit: Audit) -> bool:
    """Whether a replay of the run came to something: one that was drawn need not be one that can be made here."""
    return any(step.name == "replay" and step.checked is not Checked.NOT_CHECKED for step in audit.steps)


def _chosen(here: Repository, runs: Sequence[str] | Plan, suite: str | None, *, reference: bool) -> _Choice:
    if isinstance(runs, Plan):
        return _of_jobs(here, [cell.job for cell in runs.cells], reference=reference)
    if suite is not None:
        return _of_jobs(here, jobs_of(here.layout, load_suite(suite)), reference=reference)
    if runs:
        return _of_keys(here, runs, reference=reference)
    return _reference(here) if reference else list(here.store.finished()), 0


def _of_jobs(here: Repository, jobs: Sequence[Job], *, reference: bool) -> _Choice:
    return reference_of_jobs(_reference(here), jobs) if reference else keys_of_jobs(here.store, jobs)


def _of_keys(here: Repository, beginnings: Iterable[str], *, reference: bool) -> _Choice:
    """Stored runs by the beginnings of their keys, else reference results."""
    stored = [] if reference else list(here.store.finished())
    own, entries, others = list[str](), dict[str, ReferenceResult](), dict[str, ReferenceResult]()
    for start in map(str.strip, beginnings):
        if not start:
            # every key begins so, be there a single one or many
            todo = "give a key or its beginning; without one every run is audited"
            raise UsageError("the key is empty", where=str(here.store.folder), todo=todo)
        if any(key.startswith(start.lower()) for key in stored):
            own.append(find_key(stored, start, here.store.folder))
            continue
        entries = entries or believed_reference(here.layout)
        key = find_key([*stored, *entries], start, here.store.folder)
        others[key] = entries[key]
    if own and others:
        raise UsageError(
            "some of these runs were made here, others are reference results",
            where=", ".join((own[0][:12], next(iter(others))[:12])),
            todo="audit them one after the other",
        )
    # two beginnings may be of one key
    return others or list(dict.fromkeys(own)), 0


def _reference(here: Repository) -> dict[str, ReferenceResult]:
    if not (entries := believed_reference(here.layout)):
        raise AuditError(
            "there are no reference results to audit", where=str(here.layout.reference), todo="restore the folder"
        )
    return entries


def _engine(here: Repository, *, needed: bool) -> AbstractContextManager[Engine | None]:
    """An engine, or None: everything but the image id can be audited without. A replay can't."""
    try:
        return find_engine(here.layout, install=here.install, runtime=here.runtime)
    except EngineError:
        if needed:
            raise
        return nullcontext()
