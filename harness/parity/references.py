"""Goldens of the harness itself: metrics and splits, by the functions that score and split real runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from harness import benchmarks
from harness.base.layout import Layout
from harness.parity.cases import GoldenCase
from harness.parity.finding import ArrayFinding, CaseFinding, Standing
from harness.parity.goldens import Array, arrays_in

METRICS, SPLITS = "metrics", "splits"
# a benchmark has one file of golden metrics or a folder of them
_METRICS_PREFIX, _SPLIT_PREFIX = "metrics/", "split_"

__all__ = ["METRICS", "SPLITS", "check", "covers", "subject_of"]


def covers(case: GoldenCase) -> bool:
    """Whether a case is one of metrics or splits."""
    return case.path.is_file() and (
        _is_of_metrics(case) or case.name.startswith(_SPLIT_PREFIX) or not _holds_arrays(case)
    )


def subject_of(case: GoldenCase) -> str:
    """`metrics` or `splits`: what a person may name instead of a method."""
    return METRICS if _is_of_metrics(case) else SPLITS


class Metrics(Protocol):
    """What `parity/metrics.py` of a benchmark offers."""

    def check_metrics(self, arrays: Mapping[str, Array]) -> Iterator[ArrayFinding]:
        """One finding per metric of a golden case."""
        ...


class Splits(Protocol):
    """What `parity/splits.py` of a benchmark offers."""

    def check_split(
        self, layout: Layout, case: str, arrays: Mapping[str, Array], mirrors: Sequence[Path]
    ) -> CaseFinding:
        """Make the split that a golden holds, and compare."""
        ...

    def check_file(self, layout: Layout, case: str, path: Path, mirrors: Sequence[Path]) -> CaseFinding:
        """The same of a file that is no archive of arrays; only asked of a part that has `split_files(folder)`."""
        ...


def check(layout: Layout, case: GoldenCase, mirrors: Sequence[Path]) -> CaseFinding:
    """Compute again what the golden holds."""
    subject, benchmark = subject_of(case), case.benchmark or benchmarks.default()
    part = benchmarks.part(benchmark, f"parity.{subject}")
    if part is None:
        note = f"benchmark {benchmark} compares no golden {subject}"
        return CaseFinding(case.name, subject, subject, standing=Standing.NOT_IMPLEMENTED, note=note)
    if not _holds_arrays(case):
        return cast(Splits, part).check_file(layout, case.name, case.path, mirrors)
    if subject == SPLITS:
        return cast(Splits, part).check_split(layout, case.name, arrays_in(case.path), mirrors)
    findings = tuple(cast(Metrics, part).check_metrics(arrays_in(case.path)))
    standing = Standing.OK if findings else Standing.FAILED
    return CaseFinding(case.name, METRICS, METRICS, arrays=findings, standing=standing)


def _is_of_metrics(case: GoldenCase) -> bool:
    return case.name == METRICS or case.name.startswith(_METRICS_PREFIX)


def _holds_arrays(case: GoldenCase) -> bool:
    return case.path.suffix == ".npz"
