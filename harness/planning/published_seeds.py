"""The seeds that a paper published, counted from the first: asked for by requests and by suites."""

from __future__ import annotations

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.plurals import counted


def first_published(benchmark: str, count: int) -> tuple[int, ...]:
    """So many of a benchmark's published seeds, in their order; `UsageError` where it has not as many."""
    seeds = benchmarks.get(benchmark).form.published_seeds()
    if not seeds:
        raise UsageError(
            f"benchmark {benchmark} has no published seeds", where="--published-seeds", todo="give --seed N"
        )
    if not 1 <= count <= len(seeds):
        raise UsageError(
            f"benchmark {benchmark} has {counted(len(seeds), 'published seed')}",
            where=f"--published-seeds {count}",
            todo=f"give 1 to {len(seeds)}",
        )
    return seeds[:count]
