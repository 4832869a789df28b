"""A report as a static site: an index with a search, and a page per method, dataset, table of claims and finding.

It works from a folder as from a server, without network. It is written beside its place and put there whole; equal
results give equal bytes. A folder that holds anything but such a site is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.base.errors import UsageError
from harness.base.files import folder_in_the_making, read_json
from harness.base.layout import Layout
from harness.report.html import Report, make_report
from harness.report.site_map import SiteMap
from harness.report.site_pages import SitePages
from harness.results.reference import load_reference
from harness.status import Table

LISTING = "site.json"


def write_site(layout: Layout, table: Table, folder: Path, *, mirrors: Sequence[Path] = ()) -> Path:
    """Write the site of one table, whole or not at all; the path of its index is returned."""
    # where a link leads: the link itself stays
    folder = folder.resolve()
    earlier = folder.with_name(f".{folder.name}.earlier")
    if earlier.exists() and not folder.exists():
        # a call that was killed between its two renames
        earlier.rename(folder)
    refuse_other_content(folder)
    report = site_report(layout, table, mirrors)
    try:
        with folder_in_the_making(folder) as making:
            _fill(making, site_files(report), report.headlines.audits)
            if folder.exists():
                shutil.rmtree(earlier, ignore_errors=True)
                folder.rename(earlier)
    # an interrupt must not take the earlier site away either
    except BaseException:
        if earlier.exists() and not folder.exists():
            earlier.rename(folder)
        raise
    shutil.rmtree(earlier, ignore_errors=True)
    return folder / "index.html"


def site_report(
    layout: Layout, table: Table, mirrors: Sequence[Path], audits: Mapping[str, str] | None = None
) -> Report:
    """All that a site is made from; of audits it tells what another site told, if that is given."""
    # where reference results are shown, all of them are
    more = load_reference(layout) if any(scored.reference for scored in table.cells) else ()
    return make_report(layout, table, mirrors, more, audits)


def site_files(report: Report) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file of a site but its listing."""
    return SitePages(SiteMap(report)).files()


def read_listing(folder: Path) -> dict[str, Any]:
    """The listing of a site: `files` with their sha256, and what it tells of `audits`; empty if there is none."""
    listing = read_json(folder / LISTING)
    listing = {"audits": {}, **listing} if isinstance(listing, dict) else {}
    whole = all(isinstance(listing.get(part), dict) for part in ("files", "audits"))
    return listing if whole else {}


def listing_of(sha256: Mapping[str, str], audits: Mapping[str, str]) -> bytes:
    """The listing as it is written."""
    return json.dumps({"audits": audits, "files": dict(sorted(sha256.items()))}, indent=1).encode() + b"\n"


def refuse_other_content(folder: Path) -> None:
    """Raise `UsageError` where the folder holds anything that `write_site` has not written."""
    if not folder.exists():
        return
    listing = read_listing(folder)
    own = {LISTING, *listing["files"]} if listing else set()
    paths = [path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir()]
    other = [path for path in paths if path.relative_to(folder).as_posix() not in own]
    if not folder.is_dir() or other:
        raise UsageError(
            "this is not a site of an earlier `harness report --site`, and is left as it is",
            where=str(other[0] if other else folder),
            todo="name another folder, or empty this one",
        )


def _fill(folder: Path, files: Iterator[tuple[str, bytes]], audits: Mapping[str, str]) -> None:
    """Write the files, and the listing."""
    listing = {}
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        listing[name] = hashlib.sha256(content).hexdigest()
    (folder / LISTING).write_bytes(listing_of(listing, audits))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
