"""Figures 4 and 5: precision and recall in two parts of the test file, and whether they differ.

A system's parts are compared as the paper does, which draws the items of each part apart, and paired: on the same
documents and seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from harness.benchmarks.combos.metrics.bootstrap import ROUNDS, PairedDifference
from harness.benchmarks.combos.metrics.scored_rows import RowSide, ScoredRows, Series
from harness.benchmarks.combos.names import BUCKETS, PUBLISHED, RULES, flat_name
from harness.benchmarks.combos.study import bucket_tests
from harness.benchmarks.combos.study.bucket_tests import MEASURES
from harness.compare.runs import Obtained
from harness.status.table import Summary, summarise
from harness.study.cache import cached
from harness.study.sheets import NONE, Picture, Sheet, percent, runs_at, tally_of
from harness.study.sides import Sides
from harness.study.specs import Spec
from harness.study.svg import Drawing, Scale

# the paper's level
_LEVEL = 0.05
_NO_ROWS = ScoredRows({}, RowSide((), ()), RowSide((), ())).to_series()


def sheet(sides: Sides, spec: Spec) -> Sheet:
    """A row per system, metric and measure; the bucket is the only setting of the figure."""
    (split,), (bucket,) = spec.splits.values(), spec.settings
    rows, keys, differences, bars = [], [], list[PairedDifference](), dict[str, dict[str, list[Summary | None]]]()
    for row in sides.rows(spec.dataset, [split]):
        runs = [run for run in sides.ended(row, spec.dataset, split) if run.metrics is not None]
        series = [series_of(run) for run in runs]
        compute = partial(bucket_tests.tests, series, bucket)
        tests = cached(sides.layout, [series, bucket], bucket_tests.__name__, compute) if runs else {}
        for rule in RULES if tests else ():
            for measure in MEASURES:
                better, values = tests[rule][measure]
                paired = None if values is None else PairedDifference(*values)
                means = [_mean(runs, flat_name(rule, measure, PUBLISHED, part)) for part in BUCKETS[bucket]]
                bars.setdefault(rule, {}).setdefault(row.title, []).extend(means)
                texts = _texts(better, paired)
                rows.append([row.title, rule, measure, *map(_share, means), *texts, str(len(runs))])
                keys.append(runs_at(range(3, len(rows[-1])), rows[-1], [run.key for run in runs]))
                differences += [paired] if paired else []
    claims = sides.claims(spec.label)
    notes = [f"Printed, in the order of the text: p = {', '.join(one.claim.published for one in claims)}."]
    notes += [f"{len(claims)} numbers {claims[0].verdict}: {claims[0].reason}."] if claims else []
    if differences:
        significant = sum(one.p < _LEVEL for one in differences)
        notes.append(f"Paired, {significant} of {len(differences)} differences are significant at {_LEVEL:.0%}.")
    head = (
        "method",
        "counted",
        "measure",
        *BUCKETS[bucket],
        "p as published",
        "difference (95 %)",
        "paired p",
        "runs",
    )
    pictures = [Picture(rule, _drawing(rule, own, BUCKETS[bucket])) for rule, own in bars.items()]
    return spec.sheet(head, rows, tally=tally_of(claims), notes=notes, pictures=pictures, runs=keys)


def _drawing(rule: str, bars: Mapping[str, Sequence[Summary | None]], parts: tuple[str, str]) -> str:
    """Four bars for each method: precision in both parts, then recall; the second part is the lighter one."""
    left, right, tall = 150.0, 550.0, 56.0
    drawing = Drawing(
        right + 20, tall * len(bars) + 30, rule, f"Precision and recall of {parts[0]} and {parts[1]}."
    )
    scale = Scale(0.0, 1.0, left, right)
    drawing.grid(scale, ((tick / 100, str(tick)) for tick in range(0, 101, 20)))
    for number, (title, means) in enumerate(bars.items()):
        drawing.write(left - 10, 6 + number * tall + 24, title, "method", "end")
        for place, mean in enumerate(means):
            y = 6 + number * tall + 11 * place + 3 * (place > 1)
            with drawing.explained(f"{title}, {MEASURES[place // 2]}, {parts[place % 2]}: {_share(mean)}"):
                if mean is not None:
                    drawing.rectangle(left, y, scale(mean.mean) - left, 9, "filled", 0.9 - 0.45 * (place % 2))
    return drawing.text


def _texts(better: int | None, paired: PairedDifference | None) -> list[str]:
    """The smaller share of rounds, as the paper reads its p off them; the paired difference and its p."""
    texts = [NONE] * 3
    if better is not None:
        share = better / ROUNDS
        texts[0] = f"{min(share, 1 - share):.3f}"
    if paired is not None:
        low, high = (f"{100 * end:+.1f}" for end in (paired.low, paired.high))
        texts[1:] = [f"{100 * paired.difference:+.1f} ({low} to {high})", f"{paired.p:.3f}"]
    return texts


def series_of(run: Obtained) -> Series:
    """The rows that were kept with the scores of a run."""
    series: Series = {name: [] for name in _NO_ROWS}
    for name, value in (run.metrics or {}).items():
        if (own := name.rpartition(" ")[0]) in series:
            series[own].append(value)
    return series


def _mean(runs: Sequence[Obtained], metric: str) -> Summary | None:
    values = ((run.metrics or {}).get(metric) for run in runs)
    return summarise(value for value in values if value is not None)


def _share(mean: Summary | None) -> str:
    if mean is None:
        return NONE
    return percent(mean.mean) + ("" if mean.sd is None else f"±{100 * mean.sd:.1f}")
