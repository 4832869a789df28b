"""A fresh folder per attempt: what the container may write, and what the harness takes out of it afterwards.

A container may leave anything in `/out`: links that point elsewhere, pipes that block a reader, folders of
a million files. Nothing is followed and only regular files with expected names are copied.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base.few import few
from harness.base.foreign_text import printable
from harness.base.ownership import own_folder
from harness.engine.leftovers import names_in, open_folder, remove_stubborn
from harness.execution.runs.request import Limits
from harness.execution.runs.user import ContainerUser

_TRACE = "trace"
# Names that every file system and every record can hold.
_TRACED = re.compile(r"\w[\w.-]{0,100}\.npy", re.ASCII)
_MOST_REMARKS = 20
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Workspace:
    """The folders of one attempt."""

    folder: Path
    user: ContainerUser

    @property
    def out(self) -> Path:
        """Mounted at /out."""
        return self.folder / "out"

    @property
    def shown(self) -> Path:
        """What stands in for the kernel's files about the machine."""
        return self.folder / "shown"

    @property
    def collected(self) -> Path:
        """The files that were copied out of /out."""
        return self.folder / "collected"

    @property
    def log(self) -> Path:
        """The container's log."""
        return self.folder / "log.txt"

    @property
    def name(self) -> str:
        """Unique among all attempts."""
        return f"{self.folder.parent.name}-{self.folder.name}"

    def discard(self) -> list[str]:
        """Remove everything; what could not be removed is named."""
        return remove_stubborn(self.folder)


def new_workspace(work: Path, user: ContainerUser) -> Workspace:
    """Empty folders below this process's own; the one to write to belongs to the container's user."""
    folder = Path(tempfile.mkdtemp(dir=own_folder(work), prefix="run-"))
    workspace = Workspace(folder, user)
    workspace.collected.mkdir()
    make_out(workspace)
    return workspace


def make_out(workspace: Workspace) -> None:
    """The folder that the container's user may write to."""
    workspace.out.mkdir()
    # the parent is private, so that nobody else reaches a folder all may write to
    workspace.out.chmod(0o777)
    if os.geteuid() == 0:
        os.chown(workspace.out, workspace.user.uid, workspace.user.gid)


@contextmanager
def temporary_folders(work: Path, *kinds: str) -> Iterator[list[Path]]:
    """Empty folders below this process's own, which are gone when the block ends."""
    folders = [Path(tempfile.mkdtemp(dir=own_folder(work), prefix=f"{kind}-")) for kind in kinds]
    try:
        yield folders
    finally:
        for folder in folders:
            remove_stubborn(folder)


def make_readable(folder: Path) -> None:
    """Let the container's user read the inputs; writing is prevented by the mount."""
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        new_mode = mode | (0o555 if path.is_dir() else 0o444)
        if new_mode != mode:
            path.chmod(stat.S_IMODE(new_mode))


def size_of(folder: Path, *, most_files: int, ended: bool = False) -> tuple[int, int]:
    """(bytes, entries) below a folder, links not followed; stops counting at the bound.

    Only when nobody writes to it any more are folders opened that were closed to their owner.
    """
    total = entries = 0
    folders = [str(folder)]
    while folders:
        path = folders.pop()
        try:
            if ended:
                os.close(open_folder(path))
            listing = os.scandir(path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                # deeper than a path can say: nothing honest is that deep
                return total, most_files + 1
            continue
        with listing:
            for entry in listing:
                entries += 1
                if entries > most_files:
                    return total, entries
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        state = entry.stat(follow_symlinks=False)
                        total += max(state.st_size, state.st_blocks * 512)
    return total, entries


@dataclass(frozen=True)
class Collection:
    """What came out of `/out`."""

    fault: str
    ignored: tuple[str, ...]
    bytes: int


def collect(
    workspace: Workspace,
    limits: Limits,
    required: tuple[str, ...],
    expected: tuple[str, ...],
    *,
    traces: bool = False,
) -> Collection:
    """Copy the expected regular files; name what was refused. Called after the container's end only."""
    total, problems, ignored = 0, {}, []
    try:
        root = open_folder(workspace.out)
    except OSError as error:
        return Collection(fault=f"/out cannot be read: {error.strerror}", ignored=(), bytes=0)
    try:
        for name in sorted(names_in(root))[: limits.output_files]:
            if name == _TRACE and traces:
                size, remarks = _collect_trace(root, workspace.collected / _TRACE, limits.output_bytes - total)
                total += size
                ignored += remarks
                continue
            if name not in expected and name not in required:
                ignored.append(name)
                continue
            problem, size = _copy(root, name, workspace.collected / name, limits.output_bytes - total)
            total += size
            if problem:
                problems[name] = problem
    finally:
        os.close(root)
    fault = "; ".join(f"{name} {problem}" for name, problem in sorted(problems.items()))
    for name in required:
        path = workspace.collected / name
        if name not in problems and not path.exists():
            fault = fault or f"{name} is missing"
        elif path.exists() and path.stat().st_size == 0:
            fault = fault or f"{name} is empty"
    names = few([printable(name)[:_LONGEST_NAME] for name in ignored], _MOST_REMARKS)
    return Collection(fault=fault, ignored=tuple(names), bytes=total)


def _collect_trace(root: int, target: Path, room: int) -> tuple[int, list[str]]:
    try:
        folder = open_folder(_TRACE, beside=root)
    except OSError:
        return 0, [_TRACE]
    total, ignored = 0, []
    try:
        target.mkdir()
        for name in sorted(names_in(folder)):
            if not _TRACED.fullmatch(name):
                ignored.append(f"{_TRACE}/{name}")
                continue
            problem, size = _copy(folder, name, target / name, room - total)
            total += size
            if problem:
                ignored.append(f"{_TRACE}/{name} ({problem})")
    finally:
        os.close(folder)
    return total, ignored


def _copy(folder: int, name: str, target: Path, room: int) -> tuple[str, int]:
    """Copy one regular file: the problem (empty if it was copied), and how many bytes."""
    try:
        source = _open_file(folder, name)
    except OSError as error:
        kind = "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
        return kind, 0
    state = os.fstat(source)
    if not stat.S_ISREG(state.st_mode):
        os.close(source)
        return "is not a regular file", 0
    with os.fdopen(source, "rb") as stream:
        if state.st_size > room:
            return "is larger than the output limit", 0
        with target.open("wb") as copy:
            shutil.copyfileobj(stream, copy, 1 << 20)
    return "", state.st_size


def _open_file(folder: int, name: str) -> int:
    """Open a file to read, though its owner took the right away: the same answer for root and for anybody else."""
    # a pipe would block an ordinary open for ever
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        place = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            Path(f"/proc/self/fd/{place}").chmod(stat.S_IRUSR | stat.S_IWUSR)
        finally:
            os.close(place)
        return os.open(name, flags, dir_fd=folder)
