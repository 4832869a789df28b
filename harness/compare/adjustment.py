"""Verdicts on the adjusted p-values of a table's rank tests. They judge the conclusion; H is judged elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.base.errors import CorruptData
from harness.compare.claims import ADJUSTED_P, Claim, H
from harness.compare.comparison import ClaimVerdict, Comparison, Recomputed
from harness.compare.statistics import SIGNIFICANCE, benjamini_hochberg, p_of_h

_TEST = f"both below {SIGNIFICANCE:.2f}, or both above (Benjamini and Hochberg)"


def judge_adjusted(claims: Sequence[Claim], tests: Mapping[Claim, Comparison]) -> dict[Claim, Comparison]:
    """The comparison of every printed p-value with that of our H: both must be on the same side of the level."""
    comparisons: dict[Claim, Comparison] = {}
    for table in dict.fromkeys(_table(claim) for claim in claims if claim.statistic == ADJUSTED_P):
        family = [claim for claim in claims if claim.statistic == ADJUSTED_P and _table(claim) == table]
        h_tests = [tests[_h_of(claim, tests)] for claim in family]
        ours = _adjusted([one.ours for one in h_tests])
        files = _adjusted([one.files.value if one.files else None for one in h_tests])
        for claim, test, mine, theirs in zip(family, h_tests, ours, files, strict=True):
            comparisons[claim] = _comparison(claim, test, mine, theirs)
    return comparisons


def _comparison(claim: Claim, test: Comparison, ours: float | None, files: float | None) -> Comparison:
    agrees = files is not None and _side(files) == _side(claim.value)
    recomputed = None if files is None else Recomputed(files, test.files.n if test.files else 0, agrees)
    comparison = test._replace(
        claim=claim, ours=ours, files=recomputed, margin=None, interval=None, needed=None, test=_TEST
    )
    if test.verdict in (ClaimVerdict.PENDING, ClaimVerdict.NOT_COMPARABLE) or ours is None:
        return comparison._replace(test="", needed=test.needed)
    same = _side(ours) == _side(claim.value)
    verdict = ClaimVerdict.REPRODUCED if same else ClaimVerdict.DEVIATES
    reason = "on the same side of the level" if same else "on the other side of the level"
    return comparison._replace(verdict=verdict, reason=f"{reason}; {claim.note}" if claim.note else reason)


def _adjusted(values: Sequence[float | None]) -> list[float | None]:
    """The adjusted p-values of these H, in their order; None where there is no H."""
    places = [place for place, value in enumerate(values) if value is not None]
    adjusted = benjamini_hochberg([p_of_h(value) for value in values if value is not None])
    values_in_order: list[float | None] = [None] * len(values)
    for place, chance in zip(places, adjusted, strict=True):
        values_in_order[place] = chance
    return values_in_order


def _h_of(claim: Claim, among: Mapping[Claim, Comparison]) -> Claim:
    """The claim of an H that the p-value belongs to."""

    def about(one: Claim) -> tuple[str, ...]:
        return _table(one), one.method, one.dataset, one.split

    for one in among:
        if one.statistic == H and about(one) == about(claim):
            return one
    raise CorruptData(
        f"no {H} stands beside the {ADJUSTED_P} of '{claim.method}' on {claim.dataset}",
        where=f"tables.csv: {_table(claim)}",
        todo=f"add the row of the {H} that it is of",
    )


def _side(chance: float) -> bool:
    return chance < SIGNIFICANCE


def _table(claim: Claim) -> str:
    return claim.source.partition(",")[0]
