"""The status page."""

from __future__ import annotations

from pathlib import Path

from harness.api.currency import fingerprint, is_current, remember
from harness.api.repository import Repository, opened
from harness.status import Table


def report(
    table: Table,
    output: Path | str | None = None,
    *,
    unless_current: bool = False,
    repository: Repository | None = None,
) -> Path:
    """Where the status page was written: one HTML file, by default results/local/report.html.

    `unless_current` keeps a page that lies there if nothing it is made of has changed since.
    """
    here = opened(repository)
    page = Path(output) if output else here.layout.local / "report.html"
    made_of = fingerprint(here.layout, table, here.mirrors)
    if not (unless_current and is_current(here.layout, page, made_of)):
        from harness.report import write_report

        write_report(here.layout, table, page, mirrors=here.mirrors)
        remember(here.layout, page, made_of)
    return page
