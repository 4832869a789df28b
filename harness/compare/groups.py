"""Claims over several methods: medians of the three best, rank tests, differences of group means.

A printed number is compared with two others, which one function computes: from the authors' files, which hold half
of the seeds, and from our runs. H = (N - 1) eta^2, and eta^2 does not depend on the number of runs N, so an H of
fewer runs is scaled to the paper's N first.

Our number may differ from the authors' runs as much as chance allows: it must lie in the 99 % range of the
statistic over draws of as many published seeds as we have. The range is widened for the published seeds that are
not known here. A range that also contains "no effect" decides nothing.

Ours is the same number only where the 90 % range of the difference lies within a margin: for H and differences of
means the distance of the authors' runs from "no effect", for medians the standard deviation of the values that
the median is of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import CorruptData
from harness.compare.adjustment import judge_adjusted
from harness.compare.claims import ADJUSTED_P, DIFFERENCE, MEDIAN, Claim, H
from harness.compare.comparison import ClaimVerdict, Comparable, Comparison, Recomputed
from harness.compare.means import FEWEST_SEEDS
from harness.compare.names import PublishedNames, reason_in, target_of
from harness.compare.paper import PaperStatistics, Place
from harness.compare.statistics import (
    CONFIDENCE,
    EQUIVALENCE,
    SIGNIFICANCE,
    Array,
    h_at,
    kruskal_wallis,
    places_among,
    runs_needed,
)
from harness.compare.values import Side

# Of the others a median is over the best methods, which all runs decide, and an adjusted p over all tests.
_OF_SHARED_SEEDS = frozenset({H, DIFFERENCE})

_BEST = 3
_DRAWS = 200
# Two-sided 99 % of a normal distribution, which the statistic over many draws nearly follows.
DEVIATIONS = 2.5758
# The same of 90 %.
EQUIVALENCE_DEVIATIONS = 1.6449
# Means of the summary file have five decimals.
_ROUNDED_MEANS = 1e-5

Groups = list[list[Place]]
Seeds = NDArray[np.int64]


@dataclass(frozen=True)
class Several:
    """Judges claims over several methods: the published runs and ours, and the names that connect them."""

    names: PublishedNames
    paper: PaperStatistics
    artifact: Comparable
    published: Side
    ours: Side
    # what was drawn already, as the same groups are asked for again: by statistic, groups and number of seeds
    _drawn: dict[tuple[str, tuple[tuple[Place, ...], ...], int], tuple[float, float]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def judge(self, claim: Claim, datasets: Sequence[str] = ()) -> Comparison:
        """The comparison of one claim with our runs, on its own datasets or on some of them."""
        groups = self.groups(claim, datasets)
        places = [place for group in groups for place in group]
        files = self._of_files(claim, groups)
        comparison = Comparison(
            claim=claim,
            target=target_of(self.names, claim.method, claim.dataset, claim.split),
            metric=self.names.metric(claim.metric).ours,
            verdict=ClaimVerdict.PENDING,
            reason="",
            files=files,
        )
        if without := self._without_data(places):
            return comparison._replace(verdict=ClaimVerdict.NOT_COMPARABLE, reason=without)
        if failures := [place for place in places if place in self.ours.failures]:
            reason = f"our runs of {_text_of(failures)} ended as {self.ours.failures[failures[0]]}"
            return comparison._replace(verdict=ClaimVerdict.NOT_COMPARABLE, reason=reason)
        if absent := [place for place in places if not self.ours.has(place)]:
            return comparison._replace(reason=f"not run yet: {_text_of(absent)}")
        seeds = self.ours.seeds(places, self.paper.metric)
        if not seeds:
            return comparison._replace(reason="no seed was run with all methods")
        value = float(self._statistic(claim.statistic, self.ours, groups, seeds))
        comparison = comparison._replace(ours=value, n=len(seeds))
        if len(seeds) < FEWEST_SEEDS:
            reason = f"{len(seeds)} of {self.names.seeds} seeds"
            return comparison._replace(verdict=ClaimVerdict.NOT_COMPARABLE, reason=_noted(reason, claim))
        return self._decision(comparison, groups)

    def on_part(self, claim: Claim) -> Comparison | None:
        """The comparison of our runs with the authors' on those datasets of the claim that are here.

        None if all of its datasets are here or none is.
        """
        every = self.paper.datasets_of(claim.dataset)
        here = [name for name in every if not self.why_without(name)]
        if len(here) in (0, len(every)) or claim.statistic not in _OF_SHARED_SEEDS:
            return None
        files = self._of_files(claim, self.groups(claim, here))
        part = Claim(
            source=f"{claim.source}; on {', '.join(here)}",
            statistic=claim.statistic,
            method=claim.method,
            dataset=f"{len(here)} of {len(every)} datasets",
            split=claim.split,
            metric=claim.metric,
            published=repr(files.value),
            rounding=1e-9,
            n=files.n,
            note=f"on those with data here: {', '.join(here)}",
        )
        return self.judge(part, here)

    def why_without(self, dataset: str) -> str:
        """Why there can be no run on a published dataset here; empty if there can."""
        ours = self.names.datasets.get(dataset)
        if ours is None or ours not in self.artifact.datasets:
            return "not part of this artifact"
        return self.artifact.without_data.get(ours, "")

    def best(self, side: Side, places: Sequence[Place], metric: str) -> list[Place]:
        """The three places with the highest mean, the highest first."""
        ranked = [(mean, place) for place in places if (mean := side.mean(place, metric)) is not None]
        return [place for _, place in sorted(ranked, key=lambda one: -one[0])[:_BEST]]

    def told_of_fits(self, places: Iterable[Place], metric: str) -> str:
        """What is told where numbers of ours rest on parameters fitted to published ones; empty where none do."""

        def is_fitted(place: Place) -> bool:
            about = (place.method, place.dataset, place.split, metric)
            return reason_in(self.names.fitted, *about) is not None

        methods = ", ".join(dict.fromkeys(place.method for place in places if is_fitted(place)))
        return f"; parameters of our {methods} were fitted to values that are published for it" if methods else ""

    def seeds_of(self, claim: Claim, places: Iterable[Place]) -> list[int] | None:
        """The seeds of ours that a claim's number is over; None where runs of any seed have a part in it."""
        return self.ours.seeds(places, self.paper.metric) if claim.statistic in _OF_SHARED_SEEDS else None

    def groups(self, claim: Claim, datasets: Sequence[str] = ()) -> Groups:
        """The groups of places that a claim is about: places without runs of the authors are left out."""
        datasets = datasets or self.paper.datasets_of(claim.dataset)
        if claim.statistic == MEDIAN:
            methods = self.paper.methods
            groups = [[Place(dataset, method, claim.split) for dataset in datasets for method in methods]]
        else:
            groups = self.paper.contrast(claim.method).groups(list(datasets))
        return [[place for place in group if self.published.has(place)] for group in groups]

    def _statistic(self, statistic: str, side: Side, groups: Groups, seeds: Sequence[int] | Seeds) -> Array:
        """The statistic over these seeds: one value per row of seeds."""
        metric = self.paper.metric
        if statistic == MEDIAN:
            groups = [self.best(side, groups[0], metric)]
        seed_array = np.asarray(seeds)
        distinct = sorted(set(seed_array.ravel().tolist()))
        at = np.searchsorted(distinct, seed_array)
        tables = [side.table(group, distinct, metric) for group in groups]

        def drawn(table: NDArray[Any]) -> NDArray[Any]:
            return np.moveaxis(table[:, at], 0, -2).reshape(*seed_array.shape[:-1], -1)

        if statistic == MEDIAN:
            return np.asarray(np.median(drawn(tables[0]), axis=-1))
        if statistic == DIFFERENCE:
            return np.asarray(drawn(tables[0]).mean(axis=-1) - drawn(tables[1]).mean(axis=-1))
        # only ranks count: places have the same, and are not sorted again for every draw
        first, second = map(drawn, places_among(tables))
        full = self.names.seeds * sum(len(group) for group in groups)
        h = kruskal_wallis(first, second)
        return np.asarray(h * (full - 1) / (first.shape[-1] + second.shape[-1] - 1))

    def _published_seeds(self, groups: Groups) -> list[int]:
        """The seeds with which the authors ran all places of the groups; `CorruptData` where there is none."""
        places = [place for group in groups for place in group]
        if seeds := self.published.seeds(places, self.paper.metric):
            return seeds
        what = f"no seed has published runs of {_text_of(places)}"
        raise CorruptData(what, where="per_seed.csv", todo="restore the file")

    def _range(self, statistic: str, groups: Groups, count: int) -> tuple[float, float]:
        """Mean and standard deviation of the statistic over draws of so many published seeds."""
        drawn = (statistic, tuple(map(tuple, groups)), count)
        if drawn not in self._drawn:
            draws = np.random.default_rng(0).choice(self._published_seeds(groups), size=(_DRAWS, count))
            values = self._statistic(statistic, self.published, groups, draws)
            self._drawn[drawn] = float(values.mean()), float(values.std())
        return self._drawn[drawn]

    def _of_files(self, claim: Claim, groups: Groups) -> Recomputed:
        """The statistic from the authors' own files, and whether the printed number agrees with it."""
        if not all(groups):
            what = (
                f"no published run of a whole group of methods: {claim.method} on {claim.dataset} ({claim.split})"
            )
            raise CorruptData(what, where="per_seed.csv", todo="restore the file")
        if claim.statistic == DIFFERENCE:
            metric, places = self.paper.metric, [place for group in groups for place in group]
            if absent := [place for place in places if (place, metric) not in self.published.means]:
                raise CorruptData(
                    f"no published mean of {_text_of(absent)}", where="summary.csv", todo="restore the file"
                )
            means = [np.mean([self.published.means[place, metric] for place in group]) for group in groups]
            value = float(means[0] - means[1])
            return Recomputed(value, self.names.seeds, abs(value - claim.value) <= claim.rounding + _ROUNDED_MEANS)
        seeds = self._published_seeds(groups)
        value = float(self._statistic(claim.statistic, self.published, groups, seeds))
        centre, sd = self._range(claim.statistic, groups, len(seeds))
        return Recomputed(value, len(seeds), abs(claim.value - centre) <= DEVIATIONS * sd + claim.rounding)

    def _decision(self, comparison: Comparison, groups: Groups) -> Comparison:
        claim, ours = comparison.claim, comparison.ours
        assert ours is not None and comparison.files is not None
        seeds = self._published_seeds(groups)
        centre, sd = self._range(claim.statistic, groups, comparison.n)
        margin, difference = self._margin(claim.statistic, groups, centre) + claim.rounding, ours - centre

        def half(n: int, deviations: float) -> float:
            """Of the range of the difference, if ours were over n seeds."""
            return deviations * sd * float(np.sqrt(comparison.n * (1 / n + 1 / len(seeds))))

        def fits(n: int) -> bool:
            return abs(difference) + half(n, EQUIVALENCE_DEVIATIONS) <= margin

        wide, narrow = half(comparison.n, DEVIATIONS), half(comparison.n, EQUIVALENCE_DEVIATIONS)
        low, high = centre - wide - claim.rounding, centre + wide + claim.rounding
        test = (
            f"{CONFIDENCE:.0%} range of {comparison.n} published seeds: {low:.3g} to {high:.3g}; "
            f"{EQUIVALENCE:.0%} range of the difference from its middle, {centre:.3g}, within ± {margin:.2g}"
        )

        def decision(verdict: ClaimVerdict, reason: str, needed: int | None = None) -> Comparison:
            return comparison._replace(
                verdict=verdict,
                reason=_noted(reason, claim),
                test=test,
                margin=margin,
                interval=(difference - narrow, difference + narrow),
                needed=needed,
            )

        if not low <= ours <= high:
            return decision(ClaimVerdict.DEVIATES, "outside the range of the authors' own runs")
        if not comparison.files.agrees:
            return decision(ClaimVerdict.DEVIATES, "as the authors' runs, which do not give the printed number")
        holds_no_effect = {H: low <= h_at(SIGNIFICANCE), DIFFERENCE: low <= 0 <= high}
        if holds_no_effect.get(claim.statistic):
            reason = "so few seeds of the authors' runs need not show an effect"
            return decision(ClaimVerdict.NOT_COMPARABLE, reason)
        if not fits(comparison.n):
            needed = runs_needed(lambda n: abs(difference) > half(n, DEVIATIONS) or fits(n), comparison.n)
            what = "no number of runs decides" if needed is None else "too few runs"
            return decision(ClaimVerdict.NOT_COMPARABLE, f"{what}: the range does not fit into the margin", needed)
        every = [place for group in groups for place in group]
        metric = self.paper.metric
        rests_on = self.best(self.ours, every, metric) if claim.statistic == MEDIAN else every
        told = self.told_of_fits(rests_on, metric)
        return decision(ClaimVerdict.REPRODUCED, f"within the range of the authors' own runs{told}")

    def _margin(self, statistic: str, groups: Groups, centre: float) -> float:
        """How far a number may lie from that of the authors' runs and still be the same."""
        if statistic != MEDIAN:
            return abs(centre - (h_at(SIGNIFICANCE) if statistic == H else 0.0))
        metric, best = self.paper.metric, self.best(self.published, groups[0], self.paper.metric)
        return float(self.published.table(best, self.published.seeds(best, metric), metric).std(ddof=1))

    def _without_data(self, places: Sequence[Place]) -> str:
        every = list(dict.fromkeys(place.dataset for place in places))
        without = [dataset for dataset in every if self.why_without(dataset)]
        if not without:
            return ""
        if len(every) == 1:
            return f"no data here: {self.why_without(every[0])}"
        return f"no data here of {', '.join(without)}"


def judge_all(several: Several, claims: Sequence[Claim]) -> Mapping[Claim, Comparison]:
    """The comparison of every claim; adjusted p-values last, as they depend on all tests of their table."""
    comparisons = {claim: several.judge(claim) for claim in claims if claim.statistic != ADJUSTED_P}
    return {**comparisons, **judge_adjusted(claims, comparisons)}


def _noted(reason: str, claim: Claim) -> str:
    return f"{reason}; {claim.note}" if claim.note else reason


def _text_of(places: Sequence[Place]) -> str:
    first = f"{places[0].method} on {places[0].dataset} ({places[0].split})"
    return first if len(places) == 1 else f"{first} and {len(places) - 1} more"
