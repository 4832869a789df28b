"""Whether a site is what the results give: every page is made once more, and compared byte for byte.

Nothing that the site says of itself is believed. What it tells of audits is the one thing that depends on the
machine: its words are put into the pages that are made here, and shown to whoever asks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.report.site import LISTING, listing_of, read_listing, site_files, site_report
from harness.status import Table

# Characters that are shown before and behind the first one that differs.
_BEFORE, _BEHIND = 60, 40


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
class SiteVerification:
    """What came of comparing a site with the results."""

    files: int
    differences: tuple[FileDifference, ...]
    # what it tells of audits, which nothing here can tell
    audits: Mapping[str, str]


def verify_site(layout: Layout, table: Table, folder: Path, *, mirrors: Sequence[Path] = ()) -> SiteVerification:
    """Make the site of the table once more and compare; `CorruptData` where the folder holds no site."""
    listing = read_listing(folder)
    if not listing:
        raise CorruptData(
            "this is no site of `harness report --site`, or its listing is damaged",
            where=str(folder / LISTING),
            todo="name the folder with its index.html",
        )
    audits = {name: str(text) for name, text in listing["audits"].items()}
    report = site_report(layout, table, mirrors, audits)
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
    return SiteVerification(len(here), tuple(differences), report.headlines.audits)


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
