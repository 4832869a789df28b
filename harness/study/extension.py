"""The interface of a benchmark's package `study`: it adds sheets that need arithmetic of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.study.sheets import Sheet
from harness.study.sides import Derived, Sides
from harness.study.specs import Spec

Maker = Callable[[Spec], Sheet | None]


class OwnSheets:
    """Adds nothing. A package `study` has an instance of a subclass as `STUDY`."""

    def derived(self, sides: Sides, mirrors: Sequence[Path]) -> tuple[Derived, ...]:
        """Rows that combine several runs each."""
        return ()

    def makers(self, sides: Sides) -> Mapping[str, Maker]:
        """The functions that make its own sheets, by the word `made` in study.toml."""
        return {}

    def measure(self, layout: Layout, benchmark: str, mirrors: Sequence[Path], say: Callable[[str], None]) -> None:
        """Measure the data again, and keep the result."""
        raise UsageError(
            f"nothing is measured of the data of benchmark '{benchmark}'",
            where="--measure",
            todo="leave it out; its study rests on runs alone",
        )


def own_sheets(benchmark: str) -> OwnSheets:
    """The `STUDY` of a benchmark's package `study`; without such a package, one that adds nothing."""
    package = benchmarks.part(benchmark, "study")
    own: OwnSheets = OwnSheets() if package is None else package.STUDY
    return own
