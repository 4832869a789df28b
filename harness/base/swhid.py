"""Software Heritage identifiers of the repository (ISO/IEC 18670), as git's own objects give them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import MissingData
from harness.base.git import git


@dataclass(frozen=True)
class RepositoryIdentity:
    """What the last commit is called everywhere, and whether the files are those of that commit."""

    # swh:1:dir:...: all files of the commit, wherever they came from
    directory: str
    # swh:1:rev:...: the commit with its history
    revision: str
    # tracked files that differ from it
    changed: int


def identify(root: Path) -> RepositoryIdentity:
    """The identifiers of the last commit; a folder that is no clone is refused."""
    directory, revision = (git(root, "rev-parse", name).strip() for name in ("HEAD^{tree}", "HEAD"))
    # a commit that was never fetched has a name, and no tree
    if not directory:
        raise MissingData(
            "the identifier of this tree is not known",
            where=f"{root}: no clone, or git is not installed",
            todo="clone the repository; `swh identify` computes the identifier of a copy without history",
        )
    changed = git(root, "status", "--porcelain", "--untracked-files=no").splitlines()
    return RepositoryIdentity(f"swh:1:dir:{directory}", f"swh:1:rev:{revision}", len(changed))
