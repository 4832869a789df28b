"""A report as a static site: an index with a search, and a page per method, dataset, table of claims and finding.

It works from a folder as from a server, without network. It is written beside its place and put there whole; equal
results give equal bytes. A folder that holds anything but such a site is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.files import folder_in_the_making, read_json
from harness.base.layout import Layout
from harness.report.html import books_for, make_report
from harness.report.site_map import SiteMap
from harness.report.site_pages import SitePages
from harness.results.reference import load_reference
from harness.results.store import Store
from harness.status import Table

_LISTING = "site.json"


def write_site(layout: Layout, table: Table, folder: Path, *, mirrors: Sequence[Path] = ()) -> Path:
    """Write the site of one table, whole or not at all; the path of its index is returned."""
    # where a link leads: the link itself stays
    folder = folder.resolve()
    refuse_other_content(folder)
    store = Store(layout.runs)
    books = books_for(layout, store, table, mirrors)
    # where reference results are shown, all of them are
    more = load_reference(layout) if any(scored.reference for scored in table.cells) else ()
    report = make_report(layout, store, table, books, mirrors, more)
    earlier = folder.with_name(f".{folder.name}.earlier")
    try:
        with folder_in_the_making(folder) as making:
            _fill(making, SitePages(SiteMap(report)).files())
            if folder.exists():
                shutil.rmtree(earlier, ignore_errors=True)
                folder.rename(earlier)
    except OSError:
        if earlier.exists() and not folder.exists():
            earlier.rename(folder)
        raise
    shutil.rmtree(earlier, ignore_errors=True)
    return folder / "index.html"


def refuse_other_content(folder: Path) -> None:
    """Raise `UsageError` where the folder holds anything that `write_site` has not written."""
    if not folder.exists():
        return
    listing = read_json(folder / _LISTING)
    files = listing.get("files") if isinstance(listing, dict) else None
    own = {_LISTING, *files} if isinstance(files, dict) else set()
    paths = [path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir()]
    other = [path for path in paths if path.relative_to(folder).as_posix() not in own]
    if not folder.is_dir() or other:
        raise UsageError(
            "this is not a site of an earlier `harness report --site`, and is left as it is",
            where=str(other[0] if other else folder),
            todo="name another folder, or empty this one",
        )


def _fill(folder: Path, files: Iterator[tuple[str, bytes]]) -> None:
    """Write the files, and the list of them with their sha256."""
    listing = {}
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        listing[name] = hashlib.sha256(content).hexdigest()
    text = json.dumps({"files": dict(sorted(listing.items()))}, indent=1)
    (folder / _LISTING).write_text(text + "\n", encoding="utf-8")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
