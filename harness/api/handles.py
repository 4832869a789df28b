"""Runs by their keys: everything known of one, how two differ, and forgetting them."""

from __future__ import annotations

from typing import Any

from harness.api.repository import Names, Repository, opened, several
from harness.handles import (
    Difference,
    Forgotten,
    differences_of,
    find_handle,
    page_of,
    runs_to_forget,
)
from harness.handles import forget as forget_runs


def show(key: str, *, repository: Repository | None = None) -> dict[str, Any]:
    """All that is known of the run whose key begins so, made here or committed, published numbers beside ours."""
    here = opened(repository)
    return page_of(here.layout, here.store, find_handle(here.layout, here.store, key), here.mirrors)


def container_log(key: str, *, repository: Repository | None = None) -> str:
    """What the container of a run of this machine printed."""
    here = opened(repository)
    return find_handle(here.layout, here.store, key).log(here.layout).decode(errors="replace")


def diff(first: str, second: str, *, repository: Repository | None = None) -> list[Difference]:
    """What differs between two runs, by the beginnings of their keys."""
    here = opened(repository)
    one, other = (find_handle(here.layout, here.store, key) for key in (first, second))
    return differences_of(here.layout, one, other)


def forget(
    keys: Names = (),
    *,
    methods: Names = (),
    datasets: Names = (),
    dry_run: bool = False,
    repository: Repository | None = None,
) -> list[Forgotten]:
    """The runs of this machine that were removed, with their scores: by key, or of methods on datasets.

    Nobody is asked. With `dry_run` nothing is removed. Reference results are refused.
    """
    here = opened(repository)
    runs = runs_to_forget(
        here.layout, here.store, several(keys), methods=several(methods), datasets=several(datasets)
    )
    return runs if dry_run else list(forget_runs(here.store, runs))
