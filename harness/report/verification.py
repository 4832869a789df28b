"""Whether a page or a site is what the results give: it is made once more, and compared byte for byte.

Nothing that it says of itself is believed. A page tells the plan that it is of, and one of another plan is another
page. What it tells of audits is the one thing that depends on the machine: its words are put into what is made
here, and shown to whoever asks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.report.html import DATA, make_report, render
from harness.report.site import LISTING, listing_of, read_listing, site_files, site_report
from harness.status import Table

# Characters that are shown before and behind the first one that differs.
_BEFORE, _BEHIND = 60, 40
# a page leads to nothing but the repository that it lies in
_WAY_UP = re.compile(r"(\.\./)*|\./")


@dataclass(frozen=True)
class FileDifference:
    """A file that is not what the results give: the first place that differs, as it is and as it should be.

    A file that is only there, or only here, has no line.
    """

    file: str
    what: str
    line: int | None = None
    found: str = ""
    expected: str = ""


@dataclass(frozen=True)
class ReportVerification:
    """What came of comparing a page or a site with the results."""

    files: int
    differences: tuple[FileDifference, ...]
    # what it tells of audits, which nothing here can tell
    audits: Mapping[str, str]


@dataclass(frozen=True)
class PageOrigin:
    """What a page tells of how it was made."""

    # the way to the repository that it lies in
    root: str
    audits: Mapping[str, str]
    # what a person types after `--suite`, and whether reference results stand where nothing was run
    plan: str
    reference: bool


def verify_report(layout: Layout, table: Table, path: Path, *, mirrors: Sequence[Path] = ()) -> ReportVerification:
    """Make the page, or the site if it is a folder, once more and compare; `CorruptData` where it is neither."""
    return (_verify_site if path.is_dir() else _verify_page)(layout, table, path, mirrors)


def _verify_page(layout: Layout, table: Table, path: Path, mirrors: Sequence[Path]) -> ReportVerification:
    origin = origin_of(path)
    page = render(make_report(layout, table, mirrors, audits=origin.audits), origin.root)
    difference = _compared(path.name, path, page)
    return ReportVerification(1, (difference,) if difference else (), origin.audits)


def origin_of(path: Path) -> PageOrigin:
    """What a page tells of how it was made."""
    data = _data_of(path)
    root, audits, plan, reference = (data.get(name) for name in ("root", "audits", "plan", "reference"))
    if not (
        isinstance(root, str)
        and _WAY_UP.fullmatch(root)
        and isinstance(audits, dict)
        and isinstance(plan, str)
        and isinstance(reference, bool)
    ):
        raise CorruptData(
            "this is no page of `harness report`, or its data are damaged",
            where=str(path),
            todo="name a page, or the folder of a site",
        )
    return PageOrigin(root, {name: str(text) for name, text in audits.items()}, plan, reference)


def _data_of(path: Path) -> dict[str, Any]:
    """The data that a page's script reads; empty where there are none."""
    try:
        data = json.loads(path.read_bytes().rpartition(DATA)[2].partition(b"</script>")[0])
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _verify_site(layout: Layout, table: Table, folder: Path, mirrors: Sequence[Path]) -> ReportVerification:
    listing = read_listing(folder)
    if not listing:
        raise CorruptData(
            "this is no site of `harness report --site`, or its listing is damaged",
            where=str(folder / LISTING),
            todo="name the folder with its index.html",
        )
    report = site_report(layout, table, mirrors, {name: str(text) for name, text in listing["audits"].items()})
    here = dict(site_files(report))
    sha256 = {name: hashlib.sha256(content).hexdigest() for name, content in here.items()}
    here[LISTING] = listing_of(sha256, report.headlines.audits)
    there = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    }
    differences = [
        difference
        for name in sorted({*here, *there})
        if (difference := _compared(name, folder / name, here.get(name)))
    ]
    return ReportVerification(len(here), tuple(differences), report.headlines.audits)


def _compared(name: str, path: Path, expected: bytes | None) -> FileDifference | None:
    """How one file differs; None if it does not."""
    if expected is None:
        return FileDifference(name, "no page of these results")
    if path.is_symlink() or not path.is_file():
        return FileDifference(name, "missing, or no file")
    found = path.read_bytes()
    if found == expected:
        return None
    one, other = (content.decode(errors="backslashreplace") for content in (found, expected))
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(one.rfind("\n", 0, at) + 1, at - _BEFORE)
    line = one.count("\n", 0, at) + 1
    return FileDifference(
        name, "not what the results give", line, *(_piece(text, start, at) for text in (one, other))
    )


def _piece(text: str, start: int, at: int) -> str:
    """A piece of one line around a place."""
    return text[start : at + _BEHIND].partition("\n")[0].strip()
