"""All claims of one benchmark beside our numbers. No book is made unless the verdicts add up to the claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.base.errors import DataError
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.compare.claims import STATISTICS, Claim, load_claims, load_external
from harness.compare.comparison import ClaimVerdict, Comparable, Comparison, Recomputed
from harness.compare.groups import Several, judge_all
from harness.compare.judge import Single
from harness.compare.names import PublishedNames, is_of_split, load_names, target_of
from harness.compare.paper import Place, has_study, load_paper
from harness.compare.runs import Obtained, Runs, obtain
from harness.compare.values import our_side, published_side
from harness.data import dataset_digest, manifest_names
from harness.methods.card import load_methods, method_names
from harness.planning.plan import Present
from harness.results.store import Store
from harness.splits import strategy_names


@dataclass(frozen=True)
class Book:
    """The claims of one benchmark with their verdicts."""

    benchmark: str
    sources: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    # the runs that the claims were compared with
    runs: Runs = field(default_factory=dict, compare=False, repr=False)
    # runs of other variants, shown beside the claims
    beside: Mapping[str, Runs] = field(default_factory=dict, compare=False, repr=False)
    # both sides, if the claims belong to a study of several methods
    several: Several | None = field(default=None, compare=False, repr=False)

    @cached_property
    def tally(self) -> Counter[ClaimVerdict]:
        """The number of claims by verdict."""
        return Counter(comparison.verdict for comparison in self.comparisons)

    @property
    def obtained(self) -> Iterator[Obtained]:
        """Every run that the claims were compared with, and those that are shown beside them."""
        for runs in (self.runs, *self.beside.values()):
            for by_seed in runs.values():
                yield from by_seed.values()

    @property
    def groups(self) -> dict[tuple[str, str, str, str], list[Comparison]]:
        """Comparisons by kind of claim, method, dataset and split, in our names where we have them."""
        members: dict[tuple[str, str, str, str], list[Comparison]] = {}
        for comparison in self.comparisons:
            members.setdefault(group_of(comparison), []).append(comparison)
        return members


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
    present: Present | None = None,
) -> Book:
    """The committed claims, or those of another file, compared with the stored runs.

    `read` and `present`: see `obtain`.
    """
    names = load_names(layout, benchmark)
    claims = load_claims(layout, names) if against is None else load_external(names, against)
    chosen = (methods, datasets, splits, seeds)
    selection = [claim for claim in claims if _is_about(claim, names, *chosen)] if any(chosen) else claims
    sources = (names.sources.paper, names.sources.files) if against is None else (str(against),)
    if claims and not selection:
        # nothing is published of what was asked for: no run needs to be read, and no split made, to say so
        return Book(benchmark, sources, (), {})
    # all of them or none: an adjusted p-value depends on every test of its table
    statistics = [claim for claim in claims if claim.statistic in STATISTICS]
    is_concerned = any(claim.statistic in STATISTICS for claim in selection)
    # what is about one method needs no run of another; beside a mean stand controls
    needed: Collection[str] = ()
    controls = tuple(card.name for card in load_methods(layout, benchmark) if card.control)
    if any(chosen) and not is_concerned:
        needed = {target_of(names, claim.method, claim.dataset, claim.split).method or "" for claim in selection}
        if any(claim.statistic in ("band", "mean") for claim in selection):
            needed |= {*controls}
    artifact = _artifact(layout)
    with activity(f"runs that are held against {benchmark}'s paper"):
        runs_by_variant = obtain(layout, store, names, mirrors, read, present, needed)
    runs = runs_by_variant[names.variant]
    beside = {variant: runs_by_variant[variant] for variant in names.beside}
    several = _several(layout, names, artifact, runs) if against is None else None
    of_groups = judge_all(several, statistics) if several and is_concerned else {}
    single = Single(names, artifact, runs, controls)
    comparisons = tuple(of_groups.get(claim) or _judge_single(claim, single, several) for claim in selection)
    return Book(benchmark, sources, comparisons, runs, beside, several)


def _several(layout: Layout, names: PublishedNames, artifact: Comparable, runs: Runs) -> Several | None:
    if not has_study(layout, names.benchmark):
        return None
    paper = load_paper(layout, names.benchmark)
    return Several(names, paper, artifact, published_side(layout, names, paper), our_side(names, paper, runs))


def _judge_single(claim: Claim, single: Single, several: Several | None) -> Comparison:
    """The comparison of a claim about one method; a printed mean is also compared with the authors' files."""
    comparison = single.judge(claim)
    if several is None or claim.statistic != "mean" or not claim.sheet:
        return comparison
    mean = several.published.means.get((Place(claim.dataset, claim.method, claim.split), claim.metric))
    if mean is None:
        return comparison
    agrees = abs(mean - claim.value) <= claim.rounding + 1e-9
    return comparison._replace(files=Recomputed(mean, single.names.seeds, agrees))


def _artifact(layout: Layout) -> Comparable:
    """The methods, datasets and splits of this artifact, and the datasets that have a manifest but no data."""
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


def keys_of(book: Book, one: Comparison, datasets: Sequence[str] = ()) -> tuple[str, ...]:
    """The keys of the runs that our number of a claim rests on: of one over several methods, the runs of all."""
    if one.keys or one.ours is None or book.several is None or one.claim.statistic not in STATISTICS:
        return one.keys
    places = [place for group in book.several.groups(one.claim, datasets) for place in group]
    targets = [target_of(book.several.names, place.method, place.dataset, place.split) for place in places]
    seeds = book.several.seeds_of(one.claim, places)
    runs = [
        run
        for target in targets
        for seed, run in sorted(book.runs.get(target, {}).items())
        if seeds is None or seed in seeds
    ]
    return tuple(dict.fromkeys(run.key for run in runs if run.metrics is not None))


def group_of(comparison: Comparison) -> tuple[str, str, str, str]:
    """Kind of claim, method, dataset, split."""
    claim, target = comparison.claim, comparison.target
    kind = {"value": "value per seed"}.get(claim.statistic) or claim.source.partition(",")[0]
    if claim.statistic == "mean" and not claim.sheet:
        kind = "mean over seeds"
    return kind, target.row or claim.method, target.dataset or claim.dataset, target.split or claim.split


def _is_about(
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
        and (not splits or claim.split in splits or is_of_split(target.split or "", splits))
        and (not seeds or claim.seed in seeds)
    )
