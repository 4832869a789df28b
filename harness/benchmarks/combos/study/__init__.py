"""The code of the study of drug combinations, beside its `study.toml`: agreement, what the data hold, buckets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from harness.base.layout import Layout
from harness.benchmarks.combos.study import agreement, buckets, corpus
from harness.study.extension import Maker, OwnSheets
from harness.study.measurements import load_measured, save_measured
from harness.study.sides import Sides


class _CombinationStudy(OwnSheets):
    def makers(self, sides: Sides) -> Mapping[str, Maker]:
        """The makers of the tables that are no grid, and of the figures."""
        facts = load_measured(sides.layout, sides.names.benchmark, corpus.CorpusFacts)
        return {
            "agreement": partial(agreement.sheet, sides),
            "corpus": partial(corpus.sheet, sides, facts),
            "buckets": partial(buckets.sheet, sides),
        }

    def measure(self, layout: Layout, benchmark: str, mirrors: Sequence[Path], say: Callable[[str], None]) -> None:
        """Count what the data hold, and keep it."""
        say(f"dataset {corpus.DATASET}")
        save_measured(layout, benchmark, corpus.measure(layout, mirrors))


STUDY = _CombinationStudy()
