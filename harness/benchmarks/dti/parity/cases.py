"""Golden cases of other forms: tables of tasks, and what Java itself does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.benchmarks.dti.parity.splits import INPUTS, JAVA
from harness.parity.cases import SPLITS, GoldenCase


def cases_in(folder: Path) -> Iterator[GoldenCase]:
    """The tables of a golden folder that are compared, each a case."""
    beside = sorted((folder / "beta").glob("*.csv*"))
    inputs = tuple(path for path in beside if path.name in INPUTS)
    for path in [folder / f"{JAVA}.csv", *(path for path in beside if path not in inputs)]:
        if path.is_file():
            name = path.relative_to(folder).as_posix().removesuffix("".join(path.suffixes[-2:]))
            yield GoldenCase(name, path, "dti", SPLITS, inputs)
