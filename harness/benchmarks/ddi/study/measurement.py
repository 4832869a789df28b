"""Measures the data of the study: consistency of splits, the map of drugs, sizes and periods.

It needs the datasets, but no run. Splits of every strategy are made with three seeds, and compared by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from harness.base.errors import DataError, EngineError
from harness.base.layout import Layout
from harness.benchmarks.ddi.study.data_facts import Period, Sizes, SplitFacts, SplitMeasures, measuring_code
from harness.splits.spec import parse_split

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

STRATEGIES = ("random", "frequency", "usage", "scaffold", "lohi", "spectra", "datasail", "cluster")
GAMMAS = ("0.55", "0.6", "0.65", "0.7")
SEEDS = (1, 2, 3)
# Groups of splits that are compared: the eight strategies, values of gamma, what the authors released.
OF_STRATEGIES, OF_GAMMA, RELEASED = "strategies", "gamma", "released"
_COMPARED_WITH = {
    OF_STRATEGIES: "cluster",
    OF_GAMMA: f"cluster:gamma={GAMMAS[0]}",
    RELEASED: "released:which=cluster",
}
# Table 9: a period lasts from after its first year until its last.
_PERIODS: tuple[tuple[int, int | None], ...] = ((1980, 1990), (1990, 2000), (2000, 2010), (2010, None))
# What is public of TWOSIDES stands in where its other files are not here.
_SIZED = (("drugbank",), ("twosides", "twosides_standin"))
_SIDE = 999
_MAP_SEED, _PERPLEXITY = 0, 30

Say = Callable[[str], None]


def measure(layout: Layout, dataset: str, mirrors: Sequence[Path], say: Say) -> SplitFacts:
    """All facts, measured now."""
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.consistency import YEARS
    from harness.data import load_dataset

    data = load_dataset(layout, dataset, DdiDataset, mirrors=mirrors)
    made: list[SplitMeasures] = []
    left_out: dict[str, str] = {}
    texts = {
        OF_STRATEGIES: STRATEGIES,
        OF_GAMMA: [f"cluster:gamma={gamma}" for gamma in GAMMAS],
        RELEASED: [f"released:which={name}" for name in data.released_names],
    }
    for group, names in texts.items():
        for seed in SEEDS[:1] if group == RELEASED else SEEDS:
            say(f"splits: {group}, seed {seed}")
            found = _Group(layout, data, group, seed, tuple(mirrors))
            made += found.measures(names, left_out)
    say("map of drugs")
    return SplitFacts(
        dataset=dataset,
        digest=data.digest,
        code=measuring_code(),
        years=list(YEARS),
        splits=made,
        left_out=left_out,
        sizes=[_sizes(layout, names, mirrors) for names in _SIZED],
        periods=[_period(data, *period) for period in _PERIODS],
        dated=int((data.years > 0).sum()),
        drug_map=_map(data),
    )


@dataclass(frozen=True)
class _Group:
    """Splits of one seed that are compared with each other."""

    layout: Layout
    data: DdiDataset
    name: str
    seed: int
    mirrors: tuple[Path, ...]

    def measures(self, texts: Sequence[str], left_out: dict[str, str]) -> list[SplitMeasures]:
        """The measures of all splits that can be made here; the others are put in `left_out` with the reason."""
        from harness.benchmarks.ddi.splits.consistency import consistency
        from harness.benchmarks.ddi.splits.drugs.similarity import largest_similarity
        from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN
        from harness.splits import load_split
        from harness.splits.strategies import strategy_source

        splits = {}
        for text in texts:
            try:
                splits[text] = cast(
                    "PartSplit",
                    load_split(self.layout, self.data.name, parse_split(text, self.seed), self.mirrors),
                )
            except EngineError as error:
                left_out[text] = error.what
        if not splits:
            return []
        roles = {text: split.drugs for text, split in splits.items()}
        rows = consistency(roles, self.data.years, against=_COMPARED_WITH[self.name], seed=self.seed)
        found = []
        for text, split in splits.items():
            own = [row for row in rows if row.split == text]
            new = np.flatnonzero(split.drugs > KNOWN)
            near = largest_similarity(self.data.fingerprints, split.drugs_in(KNOWN), new)
            found.append(
                SplitMeasures(
                    group=self.name,
                    split=text,
                    seed=self.seed,
                    sha256=split.digest,
                    source=strategy_source("ddi", text.partition(":")[0]),
                    known=len(split.drugs_in(KNOWN)),
                    new=len(new),
                    discarded=len(split.drugs_in(DISCARDED)),
                    similarity=round(near, 5),
                    penalty=[row.penalty for row in own],
                    index=[None if row.index is None else round(row.index, 5) for row in own],
                    chance_mean=[round(row.control_mean, 1) for row in own],
                    chance_sd=[round(row.control_sd, 1) for row in own],
                    better=[round(row.better, 5) for row in own],
                    worse=[round(row.worse, 5) for row in own],
                    differs=[round(row.differs, 5) for row in own],
                )
            )
        return found


def _sizes(layout: Layout, names: Sequence[str], mirrors: Sequence[Path]) -> Sizes:
    """The sizes of the first dataset whose files are here."""
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.data import load_dataset

    *others, last = names
    for name in others:
        try:
            return _sized(load_dataset(layout, name, DdiDataset, mirrors=mirrors))
        except DataError:
            continue
    return _sized(load_dataset(layout, last, DdiDataset, mirrors=mirrors))


def _sized(data: DdiDataset) -> Sizes:
    types = (data.labels > 0).sum(axis=1) if data.multilabel else np.ones(len(data.pairs), dtype=np.int64)
    # of each released split the first column is the part; what is outside has a negative one
    parts = data.released[data.drugs :, ::2]
    inside = {name: int(types[part >= 0].sum()) for name, part in zip(data.released_names, parts.T, strict=True)}
    return Sizes(
        dataset=data.name,
        digest=data.digest,
        drugs=data.drugs,
        types=data.types,
        triplets={**inside, "all": int(types.sum())},
        pairs=len(np.unique(data.pairs[types > 0], axis=0)),
    )


def _period(data: DdiDataset, after: int, until: int | None) -> Period:
    chosen = data.years > after
    if until is not None:
        chosen &= data.years <= until
    items = int(chosen[data.pairs].all(axis=1).sum())
    return Period(after=after, until=until, drugs=int(chosen.sum()), items=items)


def _map(data: DdiDataset) -> list[tuple[int, int, int]]:
    """Dated drugs in two dimensions: t-SNE of their distances, which are 1 less the similarity of equation (1)."""
    from sklearn.manifold import TSNE

    dated = np.flatnonzero(data.years > 0)
    near = min(_PERPLEXITY, len(dated) // 4)
    # the exact method: it repeats whatever the number of threads
    model = TSNE(metric="precomputed", init="random", method="exact", perplexity=near, random_state=_MAP_SEED)
    places = model.fit_transform(_distances(data.fingerprints[dated].astype(np.float64)))
    low, high = places.min(axis=0), places.max(axis=0)
    scaled = np.round((places - low) / (high - low) * _SIDE).astype(int)
    return [(x, y, year) for (x, y), year in zip(scaled.tolist(), data.years[dated].tolist(), strict=True)]


def _distances(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    dots = counts @ counts.T
    norms = np.diag(dots)
    distances = 1 - dots / np.maximum(norms[:, None] + norms[None, :] - dots, 1)
    np.fill_diagonal(distances, 0)
    return np.maximum(distances, 0)
