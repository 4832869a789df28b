"""The study of DDI-Ben made again: its tables and figures from our runs beside the printed ones."""

from __future__ import annotations

from harness.study.ddi.whole import PairStudy, make_pair_study

__all__ = ["PairStudy", "make_pair_study"]
