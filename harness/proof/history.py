"""What is known of a log from before: it may have grown since, and nothing else.

Three places know: the commits of this repository, other parties' signatures beside the statement, and the cache of
this machine, which keeps the largest signed log that was verified here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import CorruptData
from harness.base.files import read_json, write_json
from harness.base.git import git
from harness.base.layout import Layout
from harness.proof.statement import STATEMENT, Statement, parse
from harness.proof.tree import roots_at


@dataclass(frozen=True)
class EarlierLog:
    """A log as it was once, and who says so."""

    size: int
    root: str
    where: str


def earlier_logs(layout: Layout, folder: Path, lines: list[bytes]) -> Iterator[EarlierLog]:
    """What the commits and the cache know of the log with these lines."""
    try:
        place = (folder / STATEMENT).resolve().relative_to(layout.root.resolve()).as_posix()
    except ValueError:
        place = ""  # outside the repository: no commit knows it
    for commit in git(layout.root, "log", "--format=%H", "--", place).split() if place else ():
        text = git(layout.root, "show", f"{commit}:{place}")
        where = f"commit {commit[:12]}"
        try:
            statement = parse(text.encode(), where)
        except CorruptData:
            continue  # a commit that removed it, or one that was never a statement of ours
        yield EarlierLog(statement.size, statement.root, where)
    memory = memory_path(layout, folder, lines)
    if isinstance(content := read_json(memory), dict):
        where = f"verified here on {content['at']}: {memory}"
        yield EarlierLog(int(content["size"]), str(content["root"]), where)


def first_other(earlier: Iterable[EarlierLog], hashes: Sequence[bytes]) -> EarlierLog | None:
    """The first log that one with these leaves is not, grown or as it was; None where it is all of them."""
    known = list(earlier)
    roots = roots_at(hashes, {one.size for one in known})
    return next((one for one in known if one.size not in roots or roots[one.size].hex() != one.root), None)


def remember(layout: Layout, folder: Path, lines: list[bytes], statement: Statement) -> None:
    """Let the cache know a signed log, so that an older one is never taken for it."""
    path = memory_path(layout, folder, lines)
    before = read_json(path)
    if not isinstance(before, dict) or int(before["size"]) < statement.size:
        write_json(path, {"size": statement.size, "root": statement.root, "at": statement.made})


def memory_path(layout: Layout, folder: Path, lines: list[bytes]) -> Path:
    """Where the cache keeps what it knows of a log: its folder and its first leaf tell it from others."""
    name = hashlib.sha256(b"\n".join([folder.name.encode(), *lines[:1]])).hexdigest()[:32]
    return layout.cache / "proof" / f"{name}.json"


def git_state(layout: Layout) -> dict[str, str]:
    """The commit and the tree that the repository is at; empty where git tells nothing."""
    commit, tree = git(layout.root, "rev-parse", "HEAD", "HEAD^{tree}").split() or ("", "")
    return {"commit": commit, "tree": tree}
