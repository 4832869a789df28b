"""The code of the study of BETA, beside its `study.toml`: what its tasks are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from harness.base.layout import Layout
from harness.benchmarks.dti.study import tasks
from harness.study.extension import Maker, OwnSheets
from harness.study.measurements import load_measured, save_measured
from harness.study.sides import Sides


class _TaskStudy(OwnSheets):
    def makers(self, sides: Sides) -> Mapping[str, Maker]:
        """The maker of the table of tasks."""
        facts = load_measured(sides.layout, sides.names.benchmark, tasks.TaskFacts)
        return {"tasks": partial(tasks.sheet, sides, facts)}

    def measure(self, layout: Layout, benchmark: str, mirrors: Sequence[Path], say: Callable[[str], None]) -> None:
        """Make every task, count its pairs, and keep the means."""
        save_measured(layout, benchmark, tasks.measure(layout, mirrors, say))


STUDY = _TaskStudy()
