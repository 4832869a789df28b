"""Adjusted p-values of a table's rank tests: the conclusion is judged here, the size of the effect with H."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.compare.claims import Claim
from harness.compare.judge import ClaimVerdict, Comparison, Recomputed
from harness.compare.statistics import SIGNIFICANCE, benjamini_hochberg, p_of_h

H, ADJUSTED_P = "Kruskal-Wallis H", "adjusted p"

_TEST = f"both below {SIGNIFICANCE:.2f}, or both above (Benjamini and Hochberg)"


def judge_adjusted(claims: Sequence[Claim], tests: Mapping[Claim, Comparison]) -> dict[Claim, Comparison]:
    """A verdict for every printed p-value: what its own H gives, and which side of the level ours is on."""
    found: dict[Claim, Comparison] = {}
    for table in dict.fromkeys(_table(claim) for claim in claims if claim.statistic == ADJUSTED_P):
        family = [claim for claim in claims if claim.statistic == ADJUSTED_P and _table(claim) == table]
        rests_on = [tests[_of(claim, H, tests)] for claim in family]
        ours = _adjusted([one.ours for one in rests_on])
        files = _adjusted([one.files.value if one.files else None for one in rests_on])
        for claim, test, mine, theirs in zip(family, rests_on, ours, files, strict=True):
            found[claim] = _judged(claim, test, mine, theirs)
    return found


def _judged(claim: Claim, test: Comparison, ours: float | None, files: float | None) -> Comparison:
    agrees = files is not None and _side(files) == _side(claim.value)
    recomputed = None if files is None else Recomputed(files, test.files.n if test.files else 0, agrees)
    told = replace(test, claim=claim, ours=ours, files=recomputed, tolerance=None, test=_TEST)
    if test.verdict in (ClaimVerdict.PENDING, ClaimVerdict.NOT_COMPARABLE) or ours is None:
        return replace(told, test="")
    same = _side(ours) == _side(claim.value)
    verdict = ClaimVerdict.REPRODUCED if same else ClaimVerdict.DEVIATES
    reason = "on the same side of the level" if same else "on the other side of the level"
    return replace(told, verdict=verdict, reason=f"{reason}; {claim.note}" if claim.note else reason)


def _adjusted(values: Sequence[float | None]) -> list[float | None]:
    """Over the tests that could be made."""
    having = [place for place, value in enumerate(values) if value is not None]
    adjusted = benjamini_hochberg([p_of_h(value) for value in values if value is not None])
    found: list[float | None] = [None] * len(values)
    for place, chance in zip(having, adjusted, strict=True):
        found[place] = chance
    return found


def _of(claim: Claim, statistic: str, among: Mapping[Claim, Comparison]) -> Claim:
    """The test a p-value belongs to."""

    def about(one: Claim) -> tuple[str, ...]:
        return _table(one), one.method, one.dataset, one.split

    return next(one for one in among if one.statistic == statistic and about(one) == about(claim))


def _side(chance: float) -> bool:
    return chance < SIGNIFICANCE


def _table(claim: Claim) -> str:
    return claim.source.partition(",")[0]
