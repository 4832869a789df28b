"""The published numbers that are about a run: values of its seed, and means that its seed is part of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.base.layout import Layout
from harness.base.tables import wrapped
from harness.compare import ClaimVerdict, Comparison, claimed_benchmarks, compare_claims, load_names
from harness.compare.runs import is_like
from harness.compare.text import comparison_json
from harness.planning.jobs import PlannedJob
from harness.planning.plan import Present
from harness.results.store import Store

_VALUE = "value"
# A claim with its verdict, as JSON values.
Row = Mapping[str, Any]
# Statistics that are a number of one metric: of a seed, or a mean.
_SHOWN = (_VALUE, "mean", "band")


def published_beside(
    layout: Layout, store: Store, runs: Iterable[PlannedJob], mirrors: Sequence[Path] = ()
) -> dict[str, list[Row]]:
    """By key the claims about method, data and seed with their verdicts, of runs of our code in its usual form."""
    present, claimed = Present(layout), claimed_benchmarks(layout)
    usual = [one for one in runs if one.job.benchmark in claimed and present.holds_as_usual(one)]
    beside: dict[str, list[Row]] = {}
    for benchmark in sorted({one.job.benchmark for one in usual}):
        names = load_names(layout, benchmark)
        members = [one for one in usual if one.job.benchmark == benchmark and one.job.options == names.options]
        methods, datasets = {one.job.method for one in members}, {one.job.dataset for one in members}
        if not members:
            continue
        book = compare_claims(layout, store, benchmark, methods=methods, datasets=datasets, mirrors=mirrors)
        for one in members:
            about = [claim for claim in book.comparisons if _is_about(claim, one, names.variant)]
            beside[one.key] = [comparison_json(claim, claim.keys) for claim in about]
    return beside


def _is_about(one: Comparison, planned: PlannedJob, usual_variant: str) -> bool:
    job, target = planned.job, one.target
    variant = target.variant or usual_variant
    is_same = (target.method, target.dataset, variant) == (job.method, job.dataset, job.variant)
    return (
        is_same
        and one.metric is not None
        and one.claim.statistic in _SHOWN
        and one.claim.seed in (None, job.split.seed)
        and target.split is not None
        and is_like(job.split.text, target.split)
    )


class PublishedLines:
    """Published numbers as lines below ours. A reason that many share is said once, at the end."""

    def __init__(self, claims: Sequence[Row]) -> None:
        self._claims = claims
        self._reasons: dict[str, int] = {}

    def about(self, metric: str) -> list[str]:
        """The lines below a metric: `published 0.8009: reproduced`."""
        return [self._line(one) for one in self._claims if one["metric"] == metric]

    @property
    def reasons(self) -> list[str]:
        """`[1] 1 of 100 seeds`: why some of the lines so far decide nothing."""
        return [f"[{number}] {reason}" for reason, number in self._reasons.items()]

    def _line(self, claim: Row) -> str:
        verdict = str(claim["verdict"])
        if verdict in (ClaimVerdict.NOT_COMPARABLE, ClaimVerdict.DEVIATES):
            verdict += f" [{self._reasons.setdefault(claim['reason'], len(self._reasons) + 1)}]"
        if claim["statistic"] == _VALUE:
            return f"published {claim['published']}: {verdict}"
        deviation = "" if claim["published_sd"] is None else f" ± {claim['published_sd']:g}"
        ours = "" if claim["ours"] is None else f"; our mean {claim['ours']:.4g} over {claim['n']}"
        source = claim["source"].rpartition("; ")[2]
        return f"published mean {claim['published']}{deviation} ({source}){ours}: {verdict}"


def metric_lines(
    metrics: Sequence[tuple[str, float | None]], notes: Mapping[str, str], published: PublishedLines
) -> Iterator[str]:
    """A line per metric, published numbers below it. Undefined ones follow, those of one reason together."""
    width = max((len(name) for name, _ in metrics), default=0)
    undefined: dict[str, list[str]] = {}
    for name, value in metrics:
        below, note = published.about(name), notes.get(name, "")
        if value is None and not below:
            undefined.setdefault(note, []).append(name)
            continue
        yield f"  {name:{width}}  {f'undefined: {note}' if value is None else repr(value)}"
        yield from (f"  {'':{width}}  {line}" for line in below)
    for reason, names in undefined.items():
        yield from wrapped(f"undefined, {reason}: {', '.join(names)}", "  ", 100)
