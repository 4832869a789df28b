"""Facts about the data of the study, which `harness.study.measurements` keeps.

They have the digests of what they were made from: data, splits, and the code of splits and measures. `outdated`
compares them.
"""

from __future__ import annotations

from pathlib import Path

import harness
from harness.base.errors import DataError
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.meaning.modules import meaning_of_modules
from harness.splits.spec import parse_split


class SplitMeasures(Strict):
    """The measures of one split: numbers of drugs, their similarity, and its consistency at every year.

    `differs`: p values of the difference from the split that its group is compared with.
    """

    group: str
    split: str
    seed: int
    sha256: str
    source: str
    known: int
    new: int
    discarded: int
    similarity: float
    penalty: list[int]
    index: list[float | None]
    chance_mean: list[float]
    chance_sd: list[float]
    better: list[float]
    worse: list[float]
    differs: list[float]


class Period(Strict):
    """The number of drugs approved after one year and until another, and of interactions between two of them."""

    after: int
    until: int | None
    drugs: int
    items: int


class Sizes(Strict):
    """The sizes of a dataset and of its released splits."""

    dataset: str
    digest: str
    drugs: int
    types: int
    triplets: dict[str, int]
    pairs: int


class SplitFacts(Strict):
    """All facts. A drug of the map: two coordinates from 0 to 999, and a year. `code`: see `measuring_code`."""

    dataset: str
    digest: str
    code: str
    years: list[int]
    splits: list[SplitMeasures]
    left_out: dict[str, str]
    sizes: list[Sizes]
    periods: list[Period]
    dated: int
    drug_map: list[tuple[int, int, int]]

    def group(self, name: str) -> dict[str, list[SplitMeasures]]:
        """The splits of one group by name, one per seed; those of a group were compared with each other."""
        found: dict[str, list[SplitMeasures]] = {}
        for one in self.splits:
            if one.group == name:
                found.setdefault(one.split, []).append(one)
        return found


def measuring_code() -> str:
    """The digest of the code that measures. What it uses of `ddi.splits.drugs` is a source of every split."""
    package = "harness.benchmarks.ddi"
    roots = [f"{package}.splits.consistency", f"{package}.study.measurement"]
    return meaning_of_modules(Path(harness.__file__).parent, roots, within=("harness.benchmarks",))


def outdated(layout: Layout, measured: SplitFacts) -> list[str]:
    """A sentence for each of data, splits and code that has changed since the measurement."""
    from harness.data import dataset_digest
    from harness.splits.splits import recorded_split
    from harness.splits.strategies import strategy_names, strategy_source

    told = []
    made_from = {(measured.dataset, measured.digest), *((one.dataset, one.digest) for one in measured.sizes)}
    for name, digest in sorted(made_from):
        try:
            present = dataset_digest(layout, name)
        except DataError:
            continue  # nobody here can tell
        if present != digest:
            told.append(f"dataset {name} is another one by now ({digest[:12]} was measured)")
    if measuring_code() != measured.code:
        told.append("the code that measures has changed since")
    changed, others = set(), set()
    for one in measured.splits:
        spec = parse_split(one.split, one.seed)
        if spec.strategy not in strategy_names("ddi") or strategy_source("ddi", spec.strategy) != one.source:
            changed.add(spec.strategy)
        elif (line := recorded_split(layout, measured.dataset, spec)) and line.sha256 != one.sha256:
            others.add(spec.label)
    if changed:
        told.append(f"the code of {', '.join(sorted(changed))} splits has changed since they were measured")
    if others:
        told.append(f"the published splits {', '.join(sorted(others))} are not those that were measured")
    return told
