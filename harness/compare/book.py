"""All claims of one benchmark beside our numbers. Claims equal the sum of their verdicts, or no book is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.base.errors import DataError
from harness.base.layout import Layout
from harness.compare.claims import Claim, load_claims, load_external
from harness.compare.groups import STATISTICS, Several, judge_all
from harness.compare.judge import ClaimVerdict, Comparable, Comparison, Recomputed, judge
from harness.compare.names import PublishedNames, load_names, target_of
from harness.compare.paper import Place, has_study, load_paper
from harness.compare.runs import Runs, obtain
from harness.compare.values import our_side, published_side
from harness.data import dataset_digest, manifest_names
from harness.methods.card import method_names
from harness.results.store import Store
from harness.splits import strategy_names


@dataclass(frozen=True)
class Book:
    """Claims with their verdicts."""

    benchmark: str
    sources: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    # our side: what the claims were held against
    runs: Runs = field(default_factory=dict, compare=False, repr=False)
    # runs of other variants, which stand beside
    beside: Mapping[str, Runs] = field(default_factory=dict, compare=False, repr=False)
    # both sides, where the claims belong to a study of several methods
    several: Several | None = field(default=None, compare=False, repr=False)

    @cached_property
    def tally(self) -> Counter[ClaimVerdict]:
        """How many claims have which verdict."""
        counts = Counter(comparison.verdict for comparison in self.comparisons)
        assert sum(counts.values()) == len(self.comparisons), "claims were lost while comparing"
        return counts

    @property
    def groups(self) -> dict[tuple[str, str, str, str], list[Comparison]]:
        """Comparisons by kind of claim, method, dataset and split, in our names where we have them."""
        found: dict[tuple[str, str, str, str], list[Comparison]] = {}
        for comparison in self.comparisons:
            found.setdefault(group_of(comparison), []).append(comparison)
        return found

    def select(self, verdicts: Collection[ClaimVerdict]) -> Book:
        """Only claims with these verdicts; an empty choice keeps all."""
        kept = [one for one in self.comparisons if not verdicts or one.verdict in verdicts]
        return replace(self, comparisons=tuple(kept))


def compare_claims(
    layout: Layout,
    store: Store,
    benchmark: str,
    *,
    against: Path | None = None,
    methods: Collection[str] = (),
    datasets: Collection[str] = (),
    splits: Collection[str] = (),
    seeds: Collection[int] = (),
    mirrors: Sequence[Path] = (),
    read: Mapping[str, dict[str, Any]] = MappingProxyType({}),
) -> Book:
    """Hold the committed claims, or those of another file, against what the store has. `read`: see `obtain`."""
    names = load_names(layout, benchmark)
    claims = load_claims(layout, names) if against is None else load_external(names, against)
    wanted = [claim for claim in claims if _is_wanted(claim, names, methods, datasets, splits, seeds)]
    known = _known(layout)
    found = obtain(layout, store, names, mirrors, read)
    runs = found[names.variant]
    beside = {variant: found[variant] for variant in names.beside}
    sources = (names.sources.paper, names.sources.files) if against is None else (str(against),)
    several = _several(layout, names, known, runs) if against is None else None
    # all or none: an adjusted p-value rests on every test of its table
    needed = any(claim.statistic in STATISTICS for claim in wanted)
    judged = (
        judge_all(several, [one for one in claims if one.statistic in STATISTICS]) if several and needed else {}
    )
    comparisons = tuple(judged.get(claim) or _single(claim, names, known, runs, several) for claim in wanted)
    return Book(benchmark, sources, comparisons, runs, beside, several)


def _several(layout: Layout, names: PublishedNames, known: Comparable, runs: Runs) -> Several | None:
    if not has_study(layout, names.benchmark):
        return None
    paper = load_paper(layout, names.benchmark)
    return Several(names, paper, known, published_side(layout, names, paper), our_side(names, paper, runs))


def _single(
    claim: Claim, names: PublishedNames, known: Comparable, runs: Runs, several: Several | None
) -> Comparison:
    """A claim about one method; beside a printed mean stands what the authors' files give."""
    comparison = judge(claim, names, known, runs)
    if several is None or claim.statistic != "mean" or not claim.source.startswith("Table"):
        return comparison
    mean = several.published.means.get((Place(claim.dataset, claim.method, claim.split), claim.metric))
    if mean is None:
        return comparison
    agrees = abs(mean - claim.value) <= claim.rounding + 1e-9
    return replace(comparison, files=Recomputed(mean, names.seeds, agrees))


def _known(layout: Layout) -> Comparable:
    """What this artifact has, and which of its datasets are only described."""
    without: dict[str, str] = {}
    for name in manifest_names(layout):
        try:
            dataset_digest(layout, name)
        except DataError as error:
            without[name] = error.what
    return Comparable(
        methods=frozenset(method_names(layout)),
        datasets=frozenset(manifest_names(layout)),
        splits=frozenset(strategy_names()),
        without_data=without,
    )


def group_of(comparison: Comparison) -> tuple[str, str, str, str]:
    """Kind of claim, method, dataset, split."""
    claim, target = comparison.claim, comparison.target
    kind = {"value": "value per seed"}.get(claim.statistic) or claim.source.partition(",")[0]
    if claim.statistic == "mean" and not claim.source.startswith("Table"):
        kind = "mean over seeds"
    return kind, target.method or claim.method, target.dataset or claim.dataset, target.split or claim.split


def _is_wanted(
    claim: Claim,
    names: PublishedNames,
    methods: Collection[str],
    datasets: Collection[str],
    splits: Collection[str],
    seeds: Collection[int],
) -> bool:
    target = target_of(names, claim.method, claim.dataset, claim.split)
    return (
        (not methods or target.method in methods or claim.method in methods)
        and (not datasets or target.dataset in datasets or claim.dataset in datasets)
        and (not splits or target.split in splits or claim.split in splits)
        and (not seeds or claim.seed in seeds)
    )
