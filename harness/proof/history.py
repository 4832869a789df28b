"""What is known of a log from before: it may have grown since, and nothing else. Nor does a statement that another
came after come back: it may be about the same log, with other claims, cards or code.

Three places know: the commits of this repository, other parties' signatures beside the statement, and the notes of
this user, which keep the largest signed log that was verified here. They lie beside the secret of seals: who puts
back results, log and cache together can't put back these.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import CorruptData
from harness.base.files import read_json, write_json
from harness.base.git import git, versions
from harness.base.layout import Layout
from harness.base.seal import state_folder
from harness.proof.signature import sig_path
from harness.proof.statement import STATEMENT, Statement, parse
from harness.proof.tree import roots_at

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EarlierLog:
    """A log as it was once, and who says so."""

    size: int
    root: str
    where: str
    # the digests of statements that are known to have one after them
    replaced: frozenset[str] = frozenset()


def earlier_logs(layout: Layout, folder: Path, lines: list[bytes]) -> Iterator[EarlierLog]:
    """What the commits and this user's notes know of the log with these lines, or of one that lay there before."""
    place = _place_of(layout, folder / STATEMENT)
    for commit, text in versions(layout.root, place) if place else ():
        where = f"commit {commit[:12]}"
        try:
            statement = parse((text or "").encode(), where)
        except CorruptData:
            continue  # one that was never a statement of ours, or that git can't read: then it is cut
        yield EarlierLog(statement.size, statement.root, where, _replaced_by(statement))
    # one log may be noted at both places
    noted: dict[tuple[int, str, frozenset[str]], EarlierLog] = {}
    for path in memory_paths(layout, folder, lines):
        if one := _noted(path):
            noted.setdefault((one.size, one.root, one.replaced), one)
    yield from noted.values()


def _replaced_by(statement: Statement) -> frozenset[str]:
    """The digest of the statement before this one, if there was one."""
    try:
        return frozenset({str(statement.predicate["log"]["previous"]["statement"])})
    except (KeyError, TypeError):
        return frozenset()


def _noted(path: Path) -> EarlierLog | None:
    """The log that a note of this user is about; `CorruptData` where it is no note of ours."""
    if not isinstance(content := read_json(path), dict):
        return None
    try:
        where = f"verified here on {content['at']}: {path}"
        replaced = frozenset(map(str, content.get("replaced", [])))
        return EarlierLog(int(content["size"]), str(content["root"]), where, replaced)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise CorruptData(
            "the note of a log that was verified here is not of the form that the harness writes",
            where=str(path),
            todo="look who changed it, then remove it: what it knew of this log is lost",
        ) from None


def was_signed(layout: Layout, folder: Path, lines: list[bytes]) -> str:
    """Where it is known that somebody signed a statement about this log once; empty where nothing tells of it."""
    place = _place_of(layout, sig_path(folder / STATEMENT))
    for commit, _ in versions(layout.root, place) if place else ():
        if commit:
            return f"commit {commit[:12]}"
    return next((str(path) for path in memory_paths(layout, folder, lines) if read_json(path)), "")


def once_committed(layout: Layout, folder: Path) -> dict[str, str]:
    """The names of all files that some commit has in a folder, each with the newest that does."""
    names: dict[str, str] = {}
    place = _place_of(layout, folder)
    for commit in git(layout.root, "rev-list", "--full-history", "HEAD", "--", place).split() if place else ():
        for name in git(layout.root, "ls-tree", "-z", "--name-only", f"{commit}:{place}").split("\0"):
            names.setdefault(name, commit)
    names.pop("", None)
    return names


def is_cut(layout: Layout, folder: Path) -> bool:
    """Whether the repository lacks what may know of earlier statements: it is shallow, or objects are gone."""
    place = _place_of(layout, folder / STATEMENT)
    if not (place and git(layout.root, "ls-tree", "HEAD", "--", place)):
        return False
    is_shallow = git(layout.root, "rev-parse", "--is-shallow-repository").strip() == "true"
    return is_shallow or any(text is None for _, text in versions(layout.root, place))


def _place_of(layout: Layout, path: Path) -> str:
    """The name of a file in the repository; empty where it lies outside, so that no commit knows it."""
    try:
        return path.resolve().relative_to(layout.root.resolve()).as_posix()
    except ValueError:
        return ""


def first_other(earlier: Iterable[EarlierLog], hashes: Sequence[bytes]) -> EarlierLog | None:
    """The first log that one with these leaves is not, grown or as it was; None where it is all of them."""
    known = list(earlier)
    roots = roots_at(hashes, {one.size for one in known})
    return next((one for one in known if one.size not in roots or roots[one.size].hex() != one.root), None)


def first_after(earlier: Iterable[EarlierLog], statement: Statement) -> EarlierLog | None:
    """Who knows of a statement after this one; None where nobody does, so that it may be the newest."""
    return next((one for one in earlier if statement.sha256 in one.replaced), None)


def remember(layout: Layout, folder: Path, lines: list[bytes], statement: Statement) -> None:
    """Let this user's notes know a signed log, and which statements are not the newest any more."""
    known = _replaced_by(statement).union(*(one.replaced for one in earlier_logs(layout, folder, lines)))
    for path in memory_paths(layout, folder, lines):
        before = _noted(path)
        if before is None or before.size < statement.size or known - before.replaced:
            # an older log that is verified after a newer one tells nothing new of the log
            newest = before if before and before.size >= statement.size else None
            size, root = (newest.size, newest.root) if newest else (statement.size, statement.root)
            note = {"size": size, "root": root, "at": statement.made, "replaced": sorted(known)}
            try:
                write_json(path, note)
            except OSError as error:
                # results are read where nothing may be written, too
                log.warning("this log can't be noted, so that an older one will not be told apart: %s", error)


def memory_paths(layout: Layout, folder: Path, lines: list[bytes]) -> tuple[Path, Path]:
    """Where it is noted what was known of a log.

    By its first leaf and the name of its folder, wherever it lies among the results of one cache; and by where it
    lies, whatever its first leaf is.
    """
    names = (
        b"\n".join([str(layout.cache).encode(), folder.name.encode(), *lines[:1]]),
        str(folder.absolute()).encode(),
    )
    first, second = (notes_folder() / f"{hashlib.sha256(name).hexdigest()[:32]}.json" for name in names)
    return first, second


def notes_folder() -> Path:
    """The folder of this user's notes."""
    return state_folder() / "proof"


def git_state(layout: Layout) -> dict[str, str]:
    """The commit and the tree that the repository is at; empty where git tells nothing."""
    commit, tree = git(layout.root, "rev-parse", "HEAD", "HEAD^{tree}").split() or ("", "")
    return {"commit": commit, "tree": tree}
