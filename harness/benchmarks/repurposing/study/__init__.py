"""The figures of the study of collaborative filters; its tables are described in `study.toml`."""

from __future__ import annotations

from collections.abc import Mapping

from harness.benchmarks.repurposing.study.figures import make_figures
from harness.benchmarks.repurposing.study.sheets import makers
from harness.study.extension import Maker, OwnSheets
from harness.study.sides import Sides

__all__ = ["STUDY"]


class _FilterStudy(OwnSheets):
    def makers(self, sides: Sides) -> Mapping[str, Maker]:
        """Figures 2b, 3 and 4."""
        return makers(sides, make_figures(sides))


STUDY = _FilterStudy()
