"""What the code means that turns an answer of a benchmark into scores."""

from __future__ import annotations

from pathlib import Path

from harness.meaning.modules import meaning_of_modules


def scorer_roots(benchmark: str) -> list[str]:
    """The modules that decide a benchmark's scores, with all that they import."""
    return [f"harness.benchmarks.{benchmark}.scoring", "harness.benchmarks.measures"]


def meaning_of_scorer(package: Path, benchmark: str) -> str:
    """A digest of all that decides a benchmark's scores, in the package of the harness."""
    return meaning_of_modules(package, scorer_roots(benchmark))
