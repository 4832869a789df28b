"""The verdict on a published mean: whether ours agrees with it, and if that can't be told, how many runs would.

Two intervals decide: one that lies wholly beyond a margin, one that lies wholly within it. The margins stand in
`harness.compare.judge`, their reasons in docs/decisions/power.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum

from harness.base.plurals import counted
from harness.compare.claims import Claim
from harness.compare.comparison import ClaimVerdict
from harness.compare.runs import Obtained
from harness.compare.statistics import CONFIDENCE, EQUIVALENCE, half_width, runs_needed, welch_half_width
from harness.status.table import Summary, summarise

RELATIVE = 1e-9
# Fewer seeds than this never decide about a hundred.
FEWEST_SEEDS = 10
_FEWEST_OF_A_BAND = 3
# Where a paper prints no deviation.
_USUAL_BAND = 0.05


@dataclass(frozen=True)
class Decision:
    """The verdict on a mean. `half`: of its 90 % interval, if there is one."""

    verdict: ClaimVerdict
    reason: str
    test: str = ""
    margin: float | None = None
    half: float | None = None
    needed: int | None = None


def decide(claim: Claim, pairs: Sequence[tuple[Obtained, float]]) -> tuple[Summary, Decision]:
    """Our mean over runs with their values, and the decision on a claim about it."""
    if tasks := {run.task[0] for run, _ in pairs if run.task}:
        return _decide_tasks(claim, pairs, tasks)
    ours = _summary([value for _, value in pairs])
    return ours, _decide_band(claim, ours) if claim.statistic == "band" else _decide_mean(claim, ours)


def _decide_mean(claim: Claim, ours: Summary) -> Decision:
    difference = abs(ours.mean - claim.value)
    precision = claim.rounding + RELATIVE
    if ours.n >= claim.n and difference <= precision:
        reason = "equal as printed, all seeds"
        return Decision(ClaimVerdict.REPRODUCED, reason, "printed precision", precision)
    sd_ours, sd_theirs, fewest = ours.sd or 0.0, claim.sd or 0.0, min(FEWEST_SEEDS, claim.n)
    margin = sd_theirs + precision

    def half(n: int, confidence: float, theirs: int = claim.n) -> float:
        return welch_half_width(sd_ours, n, sd_theirs, theirs, confidence)

    def is_apart(n: int, theirs: int = claim.n) -> bool:
        return difference > half(n, CONFIDENCE, theirs) + precision

    def fits(n: int, theirs: int = claim.n) -> bool:
        return difference + half(n, EQUIVALENCE, theirs) <= margin

    def needed(*, of_both: bool = False) -> int | None:
        """How many runs of ours would decide, or of both sides."""

        def decides(n: int) -> bool:
            theirs = n if of_both else claim.n
            return is_apart(n, theirs) or fits(n, theirs)

        return None if ours.sd is None else runs_needed(decides, max(ours.n, claim.n if of_both else fewest))

    if ours.n < fewest:
        return Decision(ClaimVerdict.NOT_COMPARABLE, f"{ours.n} of {claim.n} seeds", needed=needed())
    test = (
        f"Welch, n = {ours.n} and {claim.n}: {CONFIDENCE:.0%} interval around 0, "
        f"{EQUIVALENCE:.0%} interval within ± {margin:.2g}"
    )
    more = None
    if is_apart(ours.n):
        verdict, reason = ClaimVerdict.DEVIATES, "the interval of the difference excludes 0"
    elif fits(ours.n):
        verdict, reason = ClaimVerdict.REPRODUCED, "the interval lies within one published standard deviation"
    else:
        verdict, more = ClaimVerdict.NOT_COMPARABLE, needed()
        reason = _undecided("one published standard deviation", more)
        if more is None and needed(of_both=True):
            reason = f"no number of our runs decides: the published mean is of {counted(claim.n, 'run')} alone"
    return Decision(verdict, reason, test, margin, half(ours.n, EQUIVALENCE), more)


def _decide_band(claim: Claim, ours: Summary, fewest: int = _FEWEST_OF_A_BAND) -> Decision:
    width, name = (_USUAL_BAND, f"{_USUAL_BAND}; no deviation is printed")
    if claim.sd is not None:
        width, name = claim.sd, "the printed deviation"
    band, difference = width + claim.rounding + RELATIVE, abs(ours.mean - claim.value)
    fewest = max(fewest, claim.n)
    test = f"{EQUIVALENCE:.0%} t interval, n = {ours.n}, within ± {band:.2g}"
    needed = None
    if (sd := ours.sd) is not None:
        needed = runs_needed(lambda n: abs(difference - band) >= half_width(sd, n), max(ours.n, fewest))
    if ours.n < fewest or sd is None:
        is_short = ours.n < claim.n
        what = f"{ours.n} of {claim.n} runs" if is_short else f"{ours.n} of at least {fewest} seeds"
        return Decision(ClaimVerdict.NOT_COMPARABLE, what, test, band, needed=needed)
    half = half_width(sd, ours.n)
    equal = "" if sd > RELATIVE else f"; all {ours.n} values are equal"
    if difference + half <= band:
        return Decision(ClaimVerdict.REPRODUCED, f"within {name}{equal}", test, band, half)
    if difference - half > band:
        return Decision(ClaimVerdict.DEVIATES, f"beyond {name}{equal}", test, band, half)
    return Decision(ClaimVerdict.NOT_COMPARABLE, _undecided(name, needed), test, band, half, needed)


def _decide_tasks(
    claim: Claim, pairs: Sequence[tuple[Obtained, float]], tasks: set[str]
) -> tuple[Summary, Decision]:
    """The decision on a mean over tasks. All of them were run, so that chance is in the seeds alone.

    With three seeds of all tasks the mean over tasks is a value per seed. With fewer, the interval is over tasks:
    they also differ for other reasons than chance, so that it is wider than it had to be.
    """
    values: dict[int, dict[str, float]] = {}
    for run, value in pairs:
        assert run.task is not None
        values.setdefault(run.task[1], {})[run.task[0]] = value
    whole = [own for own in values.values() if len(own) == len(tasks)]
    of_seeds = _summary([fsum(own.values()) / len(own) for own in whole or values.values()])
    if len(tasks) < claim.n or not whole:
        reason = f"{len(tasks) if whole else min(map(len, values.values()))} of {max(claim.n, len(tasks))} tasks"
        return of_seeds, Decision(ClaimVerdict.NOT_COMPARABLE, reason)
    no_number = claim._replace(n=0)
    if len(whole) >= _FEWEST_OF_A_BAND:
        return of_seeds, _decide_band(no_number, of_seeds)
    of_tasks = _summary([fsum(own[task] for own in whole) / len(whole) for task in sorted(tasks)])
    decision = _decide_band(no_number, of_tasks, fewest=2)
    if decision.verdict is ClaimVerdict.NOT_COMPARABLE:
        reason = f"{len(whole)} of at least {_FEWEST_OF_A_BAND} seeds of all {len(tasks)} tasks"
        decision = replace(decision, reason=reason, needed=None)
    return of_tasks, decision


def _summary(values: Sequence[float]) -> Summary:
    summary = summarise(values)
    assert summary is not None, "a mean of no value"
    return summary


def _undecided(margin: str, needed: int | None) -> str:
    if needed is None:
        return f"no number of runs decides: the difference is at the edge of {margin}"
    return f"too few runs: the interval does not fit into {margin}"
