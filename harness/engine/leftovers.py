"""Removing folders a container has filled, whatever it put there.

A container can nest folders deeper than any recursion or path length allows and take its own permissions
away. So folders are flattened first: what lies two levels down is renamed to the top, until nothing is left.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path


def remove_tree(path: Path) -> list[str]:
    """Remove `path` and all below it, following no link. Returns what could not be removed."""
    try:
        root = open_folder(path)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [f"{path}: {error.strerror}"]
    faults: dict[str, str] = {}
    serial = 0
    try:
        while names := [name for name in names_in(root) if name not in faults]:
            for name in names:
                try:
                    serial = _remove_one(root, name, serial)
                except OSError as error:
                    faults[name] = str(error.strerror)
    finally:
        os.close(root)
    if not faults:
        try:
            path.rmdir()
        except OSError as error:
            faults[""] = str(error.strerror)
    return [f"{path / name}: {reason}" for name, reason in faults.items()]


def remove_stubborn(path: Path) -> list[str]:
    """Remove a tree that may hold files of users only a rootless Podman can act for."""
    faults = remove_tree(path)
    podman = shutil.which("podman")
    if not faults or os.geteuid() == 0 or podman is None:
        return faults
    # in the user's own name space, the numbers its containers run under are its own
    command = [podman, "unshare", "rm", "-rf", "--", str(path.absolute())]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return remove_tree(path)


def open_folder(path: str | Path, *, beside: int | None = None) -> int:
    """Open a folder below `beside` and give its owner all rights again; no link is followed."""
    place = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=beside)
    try:
        state = os.fstat(place)
        if state.st_mode & stat.S_IRWXU != stat.S_IRWXU and os.geteuid() in (0, state.st_uid):
            # by what was opened, not by its name: that may mean something else by now
            Path(f"/proc/self/fd/{place}").chmod(stat.S_IRWXU)
        return os.open(".", os.O_RDONLY, dir_fd=place)
    finally:
        os.close(place)


def names_in(folder: int) -> list[str]:
    """The names in an open folder."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _remove_one(root: int, name: str, serial: int) -> int:
    """Remove a file, or empty a folder by one level and remove it; returns the next free serial number."""
    mode = os.stat(name, dir_fd=root, follow_symlinks=False).st_mode
    if not stat.S_ISDIR(mode):
        os.unlink(name, dir_fd=root)
        return serial
    folder = open_folder(name, beside=root)
    try:
        for child in names_in(folder):
            if stat.S_ISDIR(os.stat(child, dir_fd=folder, follow_symlinks=False).st_mode):
                serial += 1
                # moving a folder changes its link to its parent, which its owner must be allowed to write
                os.close(open_folder(child, beside=folder))
                os.rename(child, f".flattened-{os.getpid()}-{serial}", src_dir_fd=folder, dst_dir_fd=root)
            else:
                os.unlink(child, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=root)
    return serial
