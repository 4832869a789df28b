"""The study of DDI-Ben made again: its tables and figures from our runs beside the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.base.layout import Layout
from harness.benchmarks.ddi.study.whole import PairStudy, make_study

__all__ = ["PairStudy", "make_study", "measure_anew"]


def measure_anew(layout: Layout, mirrors: Sequence[Path], say: Callable[[str], None]) -> None:
    """Measure and keep what the study says of data alone."""
    from harness.benchmarks.ddi.study.measured import save_measured
    from harness.benchmarks.ddi.study.measuring import measure

    save_measured(layout, "ddi", measure(layout, "drugbank", mirrors, say))
