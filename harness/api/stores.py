"""The store of this machine, and those of others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.api.repository import Repository, opened
from harness.base.errors import CorruptData
from harness.base.progress import ProgressChoice, progress_for
from harness.results.merge import Merged, MergedRun, check_source
from harness.results.merge import merge as merge_folder


def merge(
    folders: Path | str | Iterable[Path | str],
    *,
    progress: ProgressChoice = "auto",
    repository: Repository | None = None,
) -> tuple[Merged, ...]:
    """What came of taking the runs of other results folders into this machine's, each folder whole or not at all.

    A folder whose log can't be believed is refused, and the others go on. Called again, it takes what is new.
    """
    here = opened(repository)
    sources = [Path(folders)] if isinstance(folders, (str, Path)) else [Path(folder) for folder in folders]
    for folder in sources:
        check_source(here.layout, folder)
    every = []
    with progress_for(progress) as shown:
        for folder in sources:
            try:
                every.append(merge_folder(here.layout, folder, shown))
            except CorruptData as error:
                refusal = MergedRun("", "all of its runs", error.what, error.where)
                every.append(Merged(folder, refused=[refusal]))
    return tuple(every)
