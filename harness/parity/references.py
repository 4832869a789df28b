"""Goldens of the harness itself: metrics and splits, by the functions that score and split real runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from harness import benchmarks
from harness.base.layout import Layout
from harness.parity.cases import METHOD, SPLITS, GoldenCase
from harness.parity.finding import ArrayFinding, CaseFinding, Standing
from harness.parity.goldens import Array, arrays_in


def covers(case: GoldenCase) -> bool:
    """Whether a case is one of metrics or splits."""
    return case.subject != METHOD


class Files(Protocol):
    """What `parity/metrics.py` or `parity/splits.py` offers where `parity/cases.py` names such cases."""

    def check_file(self, layout: Layout, case: str, path: Path, mirrors: Sequence[Path]) -> CaseFinding:
        """Compute again what a file holds that is no archive of arrays, and compare."""
        ...


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


def check(layout: Layout, case: GoldenCase, mirrors: Sequence[Path]) -> CaseFinding:
    """Compute again what the golden holds."""
    subject, benchmark = case.subject, case.benchmark or benchmarks.default()
    part = benchmarks.part(benchmark, f"parity.{subject}")
    is_archive = case.path.suffix == ".npz"
    check = "check_file" if not is_archive else "check_split" if subject == SPLITS else "check_metrics"
    if not hasattr(part, check):
        files = "" if is_archive or part is None else " of this form"
        note = f"benchmark {benchmark} compares no golden {subject}{files}"
        return CaseFinding(case.name, subject, subject, standing=Standing.NOT_IMPLEMENTED, note=note)
    if not is_archive:
        return cast(Files, part).check_file(layout, case.name, case.path, mirrors)
    if subject == SPLITS:
        return cast(Splits, part).check_split(layout, case.name, arrays_in(case.path), mirrors)
    findings = tuple(cast(Metrics, part).check_metrics(arrays_in(case.path)))
    standing = Standing.OK if findings else Standing.FAILED
    return CaseFinding(case.name, subject, subject, arrays=findings, standing=standing)
