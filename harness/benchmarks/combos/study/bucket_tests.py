"""Whether the two parts of a bucket differ, by the published test and by the paired one: seconds of arithmetic.

It stands alone, so that its results are kept until this code, or the metrics', changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.benchmarks.combos.metrics.evaluation import MatchRule
from harness.benchmarks.combos.metrics.scored_rows import ScoredRows, Series, paired_buckets, published_test
from harness.benchmarks.combos.names import RULES

MEASURES = ("precision", "recall")


def tests(series: Sequence[Series], bucket: str) -> dict[str, dict[str, tuple[int | None, list[float] | None]]]:
    """By rule and measure: rounds of the published test, which is over seeds that differ, and the paired test."""
    rows, results = [ScoredRows.from_series(one) for one in series], {}
    for rule, parts in RULES.items():
        own = MatchRule(*parts)
        # all seeds of a control give one answer
        draws = published_test(rows, bucket, own) if any(one != rows[0] for one in rows[1:]) else {}
        paired = paired_buckets(rows, bucket, own)
        results[rule] = {
            one: (draws[one].better if one in draws else None, [*paired[one]] if one in paired else None)
            for one in MEASURES
        }
    return results
