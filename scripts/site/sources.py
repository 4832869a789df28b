"""The pages of the repository where they stand in the site, with links that fit there."""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from harness.base.errors import HarnessError

# The first page of docs/ is that of the site; pages that lie elsewhere, and their names among those of docs/.
INDEX = "docs/README.md"
_ELSEWHERE = {
    INDEX: "index.md",
    "README.md": "permafrost.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "speed.md",
}
# Where files lie that are no pages, and that a page links to.
_FILES = "files"

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
# `](address#place)` of a link or picture; addresses of other hosts are left alone
_LINK = re.compile(r"\]\((?P<address>[^)\s#:]+)(?P<place>#[^)\s]*)?\)")


class DeadLink(HarnessError):
    """A page links to something that is not in the repository."""


def pages(root: Path) -> Mapping[str, str]:
    """For each page of the repository its place in the site, both relative."""
    docs = sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))
    return {name: name.removeprefix("docs/") for name in docs if name != INDEX} | _ELSEWHERE


def write_pages(root: Path, folder: Path) -> None:
    """Write every page of the repository, and every file that one links to, into the folder."""
    places = pages(root)
    for name, place in places.items():

        def moved(address: str, name: str = name, place: str = place) -> str:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
            there = places.get(target) or _copied(root, target, folder, f"{name}: {address}")
            return posixpath.relpath(there, posixpath.dirname(place) or ".")

        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(relinked((root / name).read_text(encoding="utf-8"), moved), encoding="utf-8")


def relinked(text: str, moved: Callable[[str], str]) -> str:
    """The text of a page with other addresses in its links; what stands in blocks of code is left alone."""
    lines, fence = [], ""
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and line.strip() == match[1]:
            fence = ""
        elif not fence:
            line = _LINK.sub(lambda one: f"]({moved(one['address'])}{one['place'] or ''})", line)
        lines.append(line)
    return "".join(lines)


def _copied(root: Path, name: str, folder: Path, link: str) -> str:
    """The place of a file of the repository that is no page."""
    source = root / name
    if PurePosixPath(name).parts[0] == ".." or not source.is_file():
        raise DeadLink(
            "a link leads to nothing in the repository", where=link, todo="correct it, or add what it leads to"
        )
    place = f"{_FILES}/{name}"
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, folder / place)
    return place


def contents(root: Path) -> str:
    """The side bar: the headings of the first page with the pages that stand below each, every page once."""
    places, seen = pages(root), {INDEX}
    lines = []
    for part in re.split(r"^##+ ", (root / INDEX).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        names = [posixpath.normpath(posixpath.join("docs", link["address"])) for link in _LINK.finditer(part)]
        new = [name for name in dict.fromkeys(names) if name in places and name not in seen]
        seen.update(new)
        lines.append(branch(part.partition("\n")[0], [places[name] for name in new]))
    return "".join(lines)


def branch(caption: str, places: Sequence[str]) -> str:
    """A part of the side bar; nothing where no page belongs to it."""
    rows = [place.removesuffix(".md") for place in places]
    if not rows:
        return ""
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *rows, "```", ""])
