"""The status page, and the site."""

from __future__ import annotations

import hashlib
import marshal
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from harness.api.plans import plan as plan_of
from harness.api.plans import status
from harness.api.repository import Repository, opened
from harness.base.errors import UsageError
from harness.base.files import read_json, sha256_of, write_json
from harness.base.layout import Layout
from harness.base.seal import seal_of
from harness.planning.needs import PART, REQUEST
from harness.planning.suites import named_plan
from harness.report import write_report
from harness.report.site import write_site
from harness.report.verification import ReportVerification, origin_of
from harness.report.verification import verify_report as compare_report
from harness.results.last_audit import REFERENCE, STORED, read_last_audit
from harness.status import ScoredCell, Table

_SOURCES = ("harness", "methods", "containers", "datasets", "results/published", "results/reference")
_CACHED = ("data", "datasets", "splits")
_SHOWN = tuple(field.name for field in fields(ScoredCell) if field.name != "cell")
# the version of `marshal` by which equal values have equal bytes
_EQUAL_BYTES = 2


def report(
    table: Table,
    output: Path | str | None = None,
    *,
    unless_current: bool = False,
    repository: Repository | None = None,
) -> Path:
    """Where the status page was written: one HTML file, by default results/local/report.html.

    `unless_current` keeps the one at its usual place if nothing it is made of has changed since.
    """
    here = opened(repository)
    page = Path(output) if output else here.layout.page
    if page.resolve() != here.layout.page.resolve():
        # of a copy elsewhere nothing is noted: nobody audits it
        write_report(here.layout, table, page, mirrors=here.mirrors)
        return page
    made_of = fingerprint(here.layout, table, here.mirrors)
    if not (unless_current and is_current(here.layout, made_of)):
        write_report(here.layout, table, page, mirrors=here.mirrors)
        remember(here.layout, made_of)
    return page


def site(table: Table, folder: Path | str, *, repository: Repository | None = None) -> Path:
    """The index of the static site that was written into a folder, which must be empty or hold such a site."""
    here = opened(repository)
    return write_site(here.layout, table, Path(folder), mirrors=here.mirrors)


def verify_report(
    path: Path | str, table: Table | None = None, *, repository: Repository | None = None
) -> ReportVerification:
    """Whether a page or a site is, byte for byte, what a table's results give; of audits it may tell its own.

    Without a `table` a page is held against the results of the suite that it says it is of.
    """
    here, path = opened(repository), Path(path)
    return compare_report(here.layout, table or _table_of(path, here), path, mirrors=here.mirrors)


def _table_of(path: Path, here: Repository) -> Table:
    """The table of the suite that a page says it is of."""
    if path.is_dir():
        raise UsageError("a site does not tell what it is of", where=str(path), todo="give the table of its suite")
    origin = origin_of(path)
    if origin.plan == REQUEST or PART in origin.plan:
        raise UsageError(
            "a page of a part of a suite, or of single runs, can't be made by what it tells of itself",
            where=f"{path}: {origin.plan}",
            todo="give a suite to hold it against, or make the page of a suite: harness report",
        )
    suite, published_seeds = named_plan(origin.plan)
    plan = plan_of(suite=suite, published_seeds=published_seeds, make_splits=False, repository=here)
    return status(plan, reference=origin.reference, repository=here)


def fingerprint(layout: Layout, table: Table, mirrors: Sequence[Path] = ()) -> str:
    """A digest of the table and of the state of every file that the page is made of."""
    digest = hashlib.sha256(repr((replace(table, cells=()), *map(str, mirrors))).encode())
    for one in table.cells:
        digest.update(marshal.dumps(_about(one), _EQUAL_BYTES))
    folders = [layout.root / name for name in _SOURCES]
    folders += [layout.runs, layout.scores, *(layout.cache / name for name in _CACHED)]
    for folder in folders:
        for line in _files(str(folder)):
            digest.update(line.encode(errors="surrogateescape"))
    digest.update(repr([read_last_audit(layout, of) for of in (STORED, REFERENCE)]).encode())
    return digest.hexdigest()


def _about(one: ScoredCell) -> list[Any]:
    """All that is shown of a cell. A key stands for the job; the record lies in a file that is looked at."""
    own = [getattr(one, name) for name in _SHOWN]
    return [one.key or repr(one.cell.job), str(one.cell.verdict), one.cell.reason, *own]


def is_current(layout: Layout, made_of: str) -> bool:
    """Whether the page of this fingerprint was written and lies there unchanged."""
    return layout.page.is_file() and read_json(layout.page_note) == _page_note(layout, made_of)


def remember(layout: Layout, made_of: str) -> None:
    """Note what the page that was just written is made of: its fingerprint before it was made."""
    write_json(layout.page_note, _page_note(layout, made_of))


def _page_note(layout: Layout, made_of: str) -> dict[str, str]:
    note = {"page": sha256_of(layout.page), "made_of": made_of}
    return {**note, "seal": seal_of("page", note)}


def _files(folder: str) -> Iterator[str]:
    """A line for every file below: whatever is written there changes one."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _files(entry.path)
            continue
        # a draft of another process may be gone by now
        with suppress(FileNotFoundError):
            state = entry.stat(follow_symlinks=False)
            yield f"{entry.path} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}\n"
