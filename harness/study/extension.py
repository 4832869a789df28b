"""What a benchmark's package `study` may add to its `study.toml`: sheets that need arithmetic of their own."""

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
    """Nothing is added. A package `study` has an instance, or one of a subclass, as `STUDY`."""

    def derived(self, sides: Sides, mirrors: Sequence[Path]) -> tuple[Derived, ...]:
        """Rows that are made of several runs each."""
        return ()

    def makers(self, sides: Sides) -> Mapping[str, Maker]:
        """How its own sheets are made, by what `made` says in study.toml."""
        return {}

    def measure(self, layout: Layout, benchmark: str, mirrors: Sequence[Path], say: Callable[[str], None]) -> None:
        """Measure anew what is said of data alone, and keep it."""
        raise UsageError(
            f"nothing is measured of the data of benchmark '{benchmark}'",
            where="--measure",
            todo="leave it out; its study rests on runs alone",
        )


def own_sheets(benchmark: str) -> OwnSheets:
    """What the package of a benchmark adds."""
    package = benchmarks.part(benchmark, "study")
    own: OwnSheets = OwnSheets() if package is None else package.STUDY
    return own
