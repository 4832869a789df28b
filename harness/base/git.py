"""The commit of a repository, and what its folders hold beside what was committed.

Files are hashed here: what git itself says of a working tree can be switched off file by file.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from harness.base.foreign_text import printable

# What Python and editors leave beside files: nothing of it was ever meant to be committed. Other files in the
# folders where they leave it are none of it: they would be read, or imported, like those that lie elsewhere.
LEFTOVERS = (
    "*/__pycache__/*.*.pyc",
    # at the root, of a script that a person once had there
    "__pycache__/*.*.pyc",
    # while it is being written
    "*/__pycache__/*.*.pyc.[0-9]*",
    "*/.ipynb_checkpoints/*-checkpoint.*",
    "*/.*.swp",
)
_LINK = "120000"
_SECONDS = 60
# `git rev-parse --local-env-vars`, but for its settings
_ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE"),
)


def commit_of(root: Path) -> str:
    """The commit that a folder is at; empty where it is no git repository of its own, or git is not here."""
    return git(root, "rev-parse", "HEAD").strip()


def committed_files(root: Path) -> list[str]:
    """The paths of all files of the commit that a folder is at, as Python has them: of any bytes."""
    return [name for name in git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0") if name]


@dataclass(frozen=True)
class Differences:
    """The files that are not as they were committed, by path."""

    changed: tuple[str, ...]
    missing: tuple[str, ...]
    untracked: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.untracked)

    def __str__(self) -> str:
        return "; ".join(
            f"{len(names)} {kind}: {', '.join(map(name_in_line, names[:_MOST]))}{', ...' * (len(names) > _MOST)}"
            for kind, names in (
                ("changed", self.changed),
                ("missing", self.missing),
                ("untracked", self.untracked),
            )
            if names
        )


_MOST = 6


def differences(root: Path, folders: Sequence[str], left_out: Sequence[str] = ()) -> Differences:
    """How files, and those below folders, differ from the commit.

    What is in `left_out` may be there uncommitted: names of files and folders anywhere, or patterns of paths.
    """
    committed = {}
    for line in git(root, "ls-tree", "-r", "-z", "HEAD", "--", *folders).split("\0"):
        if line:
            facts, _, name = line.partition("\t")
            mode, kind, digest = facts.split()
            if kind == "blob":
                committed[name] = (mode, digest)
    here = {
        path.relative_to(root).as_posix(): path
        for folder in folders
        for path in ((root / folder), *sorted((root / folder).rglob("*")))
        if path.is_symlink() or path.is_file()
    }
    return Differences(
        tuple(name for name, path in here.items() if name in committed and _blob(path) != committed[name]),
        tuple(name for name in committed if name not in here),
        tuple(name for name in here if name not in committed and not _is_left_out(name, left_out)),
    )


def is_leftover(name: str) -> bool:
    """Whether a path is that of a file which Python or an editor left."""
    return any(fnmatchcase(name, one) for one in LEFTOVERS)


def _is_left_out(name: str, left_out: Sequence[str]) -> bool:
    if any(fnmatchcase(name, one) for one in left_out if "/" in one):
        return True
    return any(
        part == one or (one.startswith(".") and part.endswith(one)) for part in name.split("/") for one in left_out
    )


def _blob(path: Path) -> tuple[str, str]:
    """The mode and the id that git gives to what lies at a path."""
    if path.is_symlink():
        mode, content = _LINK, os.fsencode(path.readlink())
    else:
        mode, content = "100755" if path.stat().st_mode & 0o100 else "100644", path.read_bytes()
    return mode, hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def text_of_name(name: str) -> str:
    """A path that can be printed and hashed: what is no UTF-8 in it as `\\xff`, and any other as it is."""
    return os.fsencode(name).decode(errors="backslashreplace")


def name_in_line(name: str) -> str:
    """A path as a message tells it: what would begin a line, or control a terminal, is spelt out."""
    return printable(text_of_name(name))


def git(root: Path, *words: str) -> str:
    """What git answers about a repository; empty where the folder is none of its own, or git is not here."""
    return _answer(root, *words) or ""


def versions(root: Path, place: str) -> Iterator[tuple[str, str | None]]:
    """The commits that gave a file another text, newest first, with that text, of every parent of a merge.

    The text is None where git can't read it any more, and the commit empty where it can't read its own history.
    """
    # no `git log`: settings of the repository decide what that shows
    commits = _answer(root, "rev-list", "--full-history", "HEAD", "--", place)
    if commits is None:
        yield "", None
        return
    for commit in commits.split():
        text = _answer(root, "cat-file", "blob", f"{commit}:{place}")
        # a commit that removed it has none
        if text is not None or git(root, "ls-tree", commit, "--", place):
            yield commit, text


def _answer(root: Path, *words: str) -> str | None:
    if not (root / ".git").exists():
        return None
    # in a hook of git's they name another repository
    environment = {name: text for name, text in os.environ.items() if name not in _ELSEWHERE}
    # a replaced object would stand for what was committed, and a graft would hide the commits before another
    environment |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull, "GIT_OPTIONAL_LOCKS": "0"}
    # so would a commit graph, which is believed of parents, and a setting that says that files lie elsewhere
    environment["GIT_WORK_TREE"] = str(root)
    # a clone that left objects out asks for them where it came from: nothing is downloaded here
    environment["GIT_ALLOW_PROTOCOL"] = "none"
    # and a name that looks like a pattern is a name
    options = ["-c", f"safe.directory={root}", "-c", "core.commitGraph=false", "--literal-pathspecs"]
    command = ["git", *options, "-C", str(root), *words]
    try:
        answer = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    # names as they come from a folder, too, in whatever encoding
    return os.fsdecode(answer.stdout)
