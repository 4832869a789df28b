"""The verdict of one claim: which test was used, within which tolerance, and why.

value   a per-seed value: |difference| <= 1e-9 max(1, |published|), and half a unit of the last stored digit
mean    equal within the printed precision when all seeds are there; else the 99 % Welch interval of the
        difference, which must contain 0 and be narrower than one published standard deviation: a test that
        could not have seen a difference decides nothing
band    a mean printed with its deviation but not with its number of runs: our mean over three seeds at least must
        lie within one printed deviation (for a type of interaction none is printed: five hundredths stand for it)
cost    seconds and memory of other hardware: shown, never judged
status  our runs ended as the paper's did: ten that ended ok at least, or every one that was made failed likewise
others  statistics over several methods: see `several`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from harness.base.vocabulary import Verdict
from harness.compare.claims import Claim
from harness.compare.names import PublishedNames, Target, reason_in, target_of
from harness.compare.runs import Obtained, Runs
from harness.compare.statistics import CONFIDENCE, welch_half_width
from harness.status.table import Summary, summarise

_RELATIVE = 1e-9
# Fewer seeds than this never decide about a hundred.
FEWEST_SEEDS = 10
_FEWEST_OF_A_BAND = 3
# Where a paper prints no deviation.
_USUAL_BAND = 0.05
_FAILURES = {"memory error": Verdict.MEMORY, "runtime error": Verdict.ERROR}


class ClaimVerdict(StrEnum):
    """The verdict on a published number."""

    REPRODUCED = "reproduced"
    DEVIATES = "deviates"
    NOT_COMPARABLE = "not-comparable"
    PENDING = "pending"

    @property
    def meaning(self) -> str:
        """One sentence for legends."""
        return {
            ClaimVerdict.REPRODUCED: "our number agrees with the published one by the stated test",
            ClaimVerdict.DEVIATES: "our number differs from the published one by the stated test",
            ClaimVerdict.NOT_COMPARABLE: "no run, or too few, can decide; the reason says why",
            ClaimVerdict.PENDING: "a run would decide; it has not been made or scored yet",
        }[self]


@dataclass(frozen=True)
class Recomputed:
    """A printed number computed again from the authors' own files: over `n` seeds; whether it agrees."""

    value: float
    n: int
    agrees: bool


@dataclass(frozen=True)
class Comparison:
    """A claim beside our number."""

    claim: Claim
    target: Target
    metric: str | None
    verdict: ClaimVerdict
    reason: str
    test: str = ""
    ours: float | None = None
    n: int = 0
    tolerance: float | None = None
    keys: tuple[str, ...] = ()
    files: Recomputed | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus published."""
        return None if self.ours is None else self.ours - self.claim.value


@dataclass(frozen=True)
class Comparable:
    """The methods, datasets and splits of this artifact: claims about others can't be compared."""

    methods: frozenset[str]
    datasets: frozenset[str]
    splits: frozenset[str]
    # datasets whose data are not here, with the reason
    without_data: Mapping[str, str] = field(default_factory=dict)


# verdict, reason, test, tolerance
_Decision = tuple[ClaimVerdict, str, str, float | None]


def judge(claim: Claim, names: PublishedNames, artifact: Comparable, runs: Runs) -> Comparison:
    """The comparison of one claim with our runs."""
    target = target_of(names, claim.method, claim.dataset, claim.split)
    metric = names.metric(claim.metric) if claim.metric else None
    ours = metric.ours if metric else None

    reason = _missing(claim, target, artifact)
    if not reason and claim.statistic == "cost":
        reason = f"a cost {claim.note}"
    elif not reason and metric is not None and metric.ours is None:
        reason = f"{claim.metric}: {metric.reason}"
    runs_by_seed = runs.get(target, {})
    if not reason and not runs_by_seed:
        reason = reason_in(names.no_data, claim.method, claim.dataset, claim.split, claim.metric)
    if reason:
        return Comparison(claim, target, ours, ClaimVerdict.NOT_COMPARABLE, reason)
    if claim.statistic == "status":
        return _judge_status(claim, target, runs_by_seed)
    assert ours is not None
    if claim.statistic in ("band", "mean"):
        comparison = _judge_mean(claim, target, ours, runs_by_seed)
    else:
        comparison = _judge_value(claim, names, target, ours, runs_by_seed)
    if why := reason_in(names.other_data, claim.method, claim.dataset, claim.split, claim.metric):
        return replace(comparison, verdict=ClaimVerdict.NOT_COMPARABLE, reason=why)
    return comparison


def _judge_value(
    claim: Claim, names: PublishedNames, target: Target, metric: str, runs: dict[int, Obtained]
) -> Comparison:
    without = reason_in(names.distribution_only, claim.method, claim.dataset, claim.split)
    run = runs.get(claim.seed) if claim.seed is not None else None
    value, why_not = _value_of(run, metric)
    if without:
        reason = f"{without}; only its distribution can be compared"
        return Comparison(claim, target, metric, ClaimVerdict.NOT_COMPARABLE, reason, ours=value)
    if run is None or value is None:
        waiting = run is None or (run.verdict is Verdict.OK and run.metrics is None)
        verdict = ClaimVerdict.PENDING if waiting else ClaimVerdict.NOT_COMPARABLE
        return Comparison(claim, target, metric, verdict, why_not)
    tolerance = _RELATIVE * max(1.0, abs(claim.value)) + claim.rounding
    if abs(value - claim.value) <= tolerance:
        verdict, reason = ClaimVerdict.REPRODUCED, "equal within the tolerance"
    else:
        verdict, reason = ClaimVerdict.DEVIATES, "differs by more than the tolerance"
        if why := reason_in(names.explained, claim.method, claim.dataset, claim.split):
            reason += f"; {why}"
    test = f"|difference| <= {tolerance:.2g}"
    return Comparison(claim, target, metric, verdict, reason, test, value, 1, tolerance, (run.key,))


def _judge_mean(claim: Claim, target: Target, metric: str, runs: dict[int, Obtained]) -> Comparison:
    pairs = [(run, value) for _, run in sorted(runs.items()) if (value := _value_of(run, metric)[0]) is not None]
    ours = summarise(value for _, value in pairs)
    if ours is None:
        reason = "not run yet" if not runs else f"none of our {len(runs)} runs has the metric"
        return Comparison(claim, target, metric, ClaimVerdict.PENDING, reason)
    decide = _decide_band if claim.statistic == "band" else _decide_mean
    verdict, reason, test, tolerance = decide(claim, ours)
    reason += _beside(claim, ours.n, runs)
    keys = tuple(run.key for run, _ in pairs)
    return Comparison(claim, target, metric, verdict, reason, test, ours.mean, ours.n, tolerance, keys)


def _decide_mean(claim: Claim, ours: Summary) -> _Decision:
    difference = abs(ours.mean - claim.value)
    precision = claim.rounding + _RELATIVE
    if ours.n >= claim.n and difference <= precision:
        return ClaimVerdict.REPRODUCED, "equal as printed, all seeds", "printed precision", precision
    if ours.n < min(FEWEST_SEEDS, claim.n):
        return ClaimVerdict.NOT_COMPARABLE, f"{ours.n} of {claim.n} seeds", "", None
    test = f"{CONFIDENCE:.0%} Welch interval, n = {ours.n} and {claim.n}"
    sd = claim.sd or 0.0
    half = welch_half_width(ours.sd or 0.0, ours.n, sd, claim.n)
    if difference > half + precision:
        return ClaimVerdict.DEVIATES, "the interval of the difference excludes 0", test, half + precision
    if half > sd + precision:
        reason = f"{ours.n} of {claim.n} seeds: the interval is wider than one published standard deviation"
        return ClaimVerdict.NOT_COMPARABLE, reason, test, half + precision
    return ClaimVerdict.REPRODUCED, "the interval of the difference contains 0", test, half + precision


def _decide_band(claim: Claim, ours: Summary) -> _Decision:
    width, name = (_USUAL_BAND, f"{_USUAL_BAND}; no deviation is printed")
    if claim.sd is not None:
        width, name = claim.sd, "the printed deviation"
    band = width + claim.rounding + _RELATIVE
    test = f"|difference| <= {band:.2g}"
    # a mean over tasks is one over all of them: some are easier than others
    if claim.n and ours.n < claim.n:
        return ClaimVerdict.NOT_COMPARABLE, f"{ours.n} of {claim.n} runs", test, band
    if ours.n < _FEWEST_OF_A_BAND:
        return ClaimVerdict.NOT_COMPARABLE, f"{ours.n} of at least {_FEWEST_OF_A_BAND} seeds", test, band
    if abs(ours.mean - claim.value) <= band:
        return ClaimVerdict.REPRODUCED, f"within {name}", test, band
    return ClaimVerdict.DEVIATES, f"beyond {name}", test, band


def _beside(claim: Claim, count: int, runs: dict[int, Obtained]) -> str:
    """The end of a reason: how many finished runs have no value, so that nobody takes the mean for one of all."""
    finished = [run for run in runs.values() if run.verdict.is_final and not run.unscored]
    gap = f"; {len(finished) - count} of our {len(finished)} runs have no value" if len(finished) > count else ""
    return gap + (f"; {claim.note}" if claim.note else "")


def _judge_status(claim: Claim, target: Target, runs: dict[int, Obtained]) -> Comparison:
    finished = {seed: run for seed, run in runs.items() if run.verdict.is_final}
    keys = tuple(run.key for run in finished.values())

    def decided(verdict: ClaimVerdict, reason: str) -> Comparison:
        return Comparison(claim, target, None, verdict, reason, "verdicts of our runs", n=len(finished), keys=keys)

    if not finished:
        return decided(ClaimVerdict.PENDING, "not run yet")
    failures = [run for run in finished.values() if run.verdict is not Verdict.OK]
    if claim.published == "ran":
        if failures:
            reason = f"{len(failures)} of our {len(finished)} runs: {failures[0].verdict}"
            return decided(ClaimVerdict.DEVIATES, reason)
        is_enough = len(finished) >= min(FEWEST_SEEDS, claim.n)
        verdict = ClaimVerdict.REPRODUCED if is_enough else ClaimVerdict.NOT_COMPARABLE
        return decided(verdict, f"{len(finished)} of {claim.n} seeds, all ok")
    if len(failures) < len(finished):
        return decided(ClaimVerdict.DEVIATES, f"runs here: {len(finished) - len(failures)} of {len(finished)} ok")
    if other := [run for run in failures if run.verdict is not _FAILURES[claim.published]]:
        return decided(ClaimVerdict.NOT_COMPARABLE, f"fails here in another way: {other[0].verdict}")
    return decided(ClaimVerdict.REPRODUCED, f"all our {len(finished)} runs failed likewise")


def _value_of(run: Obtained | None, metric: str) -> tuple[float | None, str]:
    """Our value, or why there is none."""
    if run is None:
        return None, "not run yet"
    if run.verdict is not Verdict.OK:
        return None, f"our run is '{run.verdict}': {run.reason}"
    if run.metrics is None:
        return None, f"not scored: {run.unscored}"
    value = run.metrics.get(metric)
    if value is None:
        return None, f"undefined here: {run.notes.get(metric, 'the scorer gives no such metric')}"
    return value, ""


def _missing(claim: Claim, target: Target, artifact: Comparable) -> str | None:
    for kind, name, ours, having in (
        ("method", claim.method, target.method, artifact.methods),
        ("dataset", claim.dataset, target.dataset, artifact.datasets),
        ("split", claim.split, target.split, artifact.splits),
    ):
        if ours is None or ours.partition(":")[0] not in having:
            return f"{kind} '{name}' is not part of this artifact"
    return artifact.without_data.get(target.dataset or "")
