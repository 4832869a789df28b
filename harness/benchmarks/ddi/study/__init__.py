"""The code of the study of DDI-Ben, beside its `study.toml`: ensembles, tuning, figures, and facts about data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.base.layout import Layout
from harness.benchmarks.ddi.study import facts, figures, realtime, tuning
from harness.benchmarks.ddi.study.data_facts import SplitFacts, outdated
from harness.benchmarks.ddi.study.ensemble import ENSEMBLE, RULE, ensembles
from harness.data.manifest import has_manifest
from harness.study.extension import Maker, OwnSheets
from harness.study.measurements import load_measured, save_measured
from harness.study.sheets import Sheet
from harness.study.sides import Derived, Sides
from harness.study.specs import Spec

__all__ = ["STUDY", "changes_since", "sheets_of_data"]

OfData = Callable[[Sides, Spec, SplitFacts], Sheet]
_OF_DATA: Mapping[str, OfData] = {
    "strategies": realtime.strategies,
    "sizes": facts.sizes,
    "periods": facts.periods,
    "map": facts.drug_map,
    "index": realtime.by_year,
    "differences": realtime.differences,
    "index of gamma": realtime.of_gamma,
}


class _PairStudy(OwnSheets):
    def derived(self, sides: Sides, mirrors: Sequence[Path]) -> tuple[Derived, ...]:
        """The ensembles of all runs."""
        return (Derived(ENSEMBLE, RULE, ensembles(sides.layout, sides.book.runs, sides.names.methods, mirrors)),)

    def makers(self, sides: Sides) -> Mapping[str, Maker]:
        """The makers of sheets of runs and of data."""
        return {
            "bars": partial(figures.comparison, sides),
            "gamma": partial(figures.of_gamma, sides),
            "types": partial(figures.every_type, sides),
            "tuning": partial(tuning.tuning, sides.layout),
            **sheets_of_data(sides, load_measured(sides.layout, sides.names.benchmark, SplitFacts)),
        }

    def measure(self, layout: Layout, benchmark: str, mirrors: Sequence[Path], say: Callable[[str], None]) -> None:
        """Measure the data again, and keep the result."""
        from harness.benchmarks.ddi.study.measurement import measure

        save_measured(layout, benchmark, measure(layout, "drugbank", mirrors, say))


def sheets_of_data(sides: Sides, split_facts: SplitFacts | None) -> Mapping[str, Maker]:
    """The makers of the sheets that need no run; their notes say what has changed since the measurement."""
    stale = changes_since(sides.layout, split_facts) if split_facts else []

    def make_sheet(make: OfData, spec: Spec) -> Sheet | None:
        if split_facts is None:
            return None
        sheet = make(sides, spec, split_facts)
        return replace(sheet, notes=[*sheet.notes, *(f"Outdated: {one}." for one in stale)])

    return {way: partial(make_sheet, make) for way, make in _OF_DATA.items()}


def changes_since(layout: Layout, split_facts: SplitFacts) -> list[str]:
    """A sentence for each thing that is another one than was measured, or is gone."""
    names = sorted({split_facts.dataset, *(one.dataset for one in split_facts.sizes)})
    if gone := [name for name in names if not has_manifest(layout, name)]:
        return [f"dataset {name}, which was measured, is here no more" for name in gone]
    return outdated(layout, split_facts)


STUDY = _PairStudy()
