"""The repository as a whole: what is here is what was committed, and the page is what was made of it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.audit.steps import Lack, Step, failed, not_checked, ok
from harness.base.files import read_json, sha256_of
from harness.base.git import LEFTOVERS, commit_of, committed_files, differences, name_in_line
from harness.base.layout import Layout
from harness.base.seal import is_sealed
from harness.data.own_tables import personal_names
from harness.proof.digests import imported_first

# What results and their tables are made of: all that lies here is committed.
_FOLDERS = (
    "harness",
    "methods",
    "containers",
    "datasets",
    "results/published",
    "results/reference",
    "requirements",
    "scripts",
)
# What Python would run in place of a source, which says something else.
_COMPILED = (".pyc", ".so")
_AGAIN = "make it again: harness report"


def check_page(layout: Layout) -> list[Step]:
    """The status page, where there is one: this user's harness wrote it, and nobody changed it since."""
    if not layout.page.is_file():
        return []
    note = read_json(layout.page_note)
    seal = note.pop("seal", "") if isinstance(note, dict) else ""
    if not is_sealed("page", note, seal):
        return [not_checked("page", f"no harness of this user vouches for {layout.page.name}; {_AGAIN}")]
    if note.get("page") != sha256_of(layout.page):
        return [failed("page", f"it was changed after it was made; {_AGAIN}", where=layout.page)]
    return [ok("page", "it is as the harness wrote it")]


def check_checkout(layout: Layout) -> list[Step]:
    """The working tree against the commit it is at, every file hashed here."""
    commit = commit_of(layout.root)
    if not commit:
        return [
            not_checked("commit", "this is not a git checkout: files can't be held against a commit", Lack.GIT)
        ]
    # no committed job is of what a person has for themselves
    left_out = (*LEFTOVERS, *personal_names(layout))
    committed = committed_files(layout.root)
    if compiled := [name for name in committed if name.endswith(_COMPILED)]:
        return [not_checked("commit", f"compiled code is committed: {_told(compiled)}", Lack.CHANGED)]
    if links := [name for name in committed if (layout.root / name).is_symlink()]:
        what = f"a link is committed, and what it leads to is not: {_told(links)}"
        return [not_checked("commit", what, Lack.CHANGED)]
    elsewhere = [name for name in committed if not name.startswith(tuple(f"{folder}/" for folder in _FOLDERS))]
    # at the root a person may keep what they like, but for these
    beside = [*imported_first(layout.root), *_beside_the_results(layout)]
    if found := differences(layout.root, (*_FOLDERS, *elsewhere, *beside), left_out):
        return [not_checked("commit", f"files differ from commit {commit[:12]}: {found}", Lack.CHANGED)]
    return [ok("commit", "every file is as it was committed", commit)]


def _beside_the_results(layout: Layout) -> list[str]:
    """The files beside the folders of results, as if they were tables of them. A folder may hold other runs."""
    beside = sorted(path for path in layout.reference.parent.glob("*") if not path.is_dir())
    return [path.relative_to(layout.root).as_posix() for path in beside]


def _told(names: Sequence[str]) -> str:
    return ", ".join(map(name_in_line, names))
