"""A person's own checkout of the authors' code: refused where it replaces nothing, since ours would run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.images import folder_tree
from harness.images.identity import code_folders, sdk_folders
from harness.images.sources import SUFFIXES, code_files
from harness.methods.card import load_method


def upstream_tree(layout: Layout, folder: Path, methods: Iterable[str]) -> str:
    """The tree hash of a checkout that replaces at least one file of each of these methods."""
    for method in methods:
        names = replaceable(layout, method)
        if not any(_replaces(folder, name) for name in names):
            todo = f"give the folder that itself holds one of these files: {', '.join(names)}"
            raise UsageError(
                f"the checkout replaces nothing of '{method}', so that our own code would run",
                where=f"--upstream {folder}",
                todo=todo if names else "leave --upstream out: this method has no file beside its main one",
            )
    return folder_tree(folder)


def replaceable(layout: Layout, method: str) -> list[str]:
    """The files of a method that a checkout can replace: all but its main file, which is always ours."""
    card = load_method(layout, method)
    suffixes, sdk = SUFFIXES[card.language], sdk_folders(layout, card)
    folders = [folder for folder in code_folders(layout, method) if folder not in sdk]
    files = [PurePosixPath(name) for folder in folders for name in code_files(folder)]
    return [str(file) for file in files if file.suffix in suffixes and file.stem != "main"]


def _replaces(folder: Path, name: str) -> bool:
    """Whether a checkout has a file of this name, or Python's package of it. Links are never taken along."""
    candidates = [folder / name]
    if name.endswith(".py"):
        candidates.append(folder / PurePosixPath(name).with_suffix("") / "__init__.py")
    return any(path.is_file() and not path.is_symlink() for path in candidates)
