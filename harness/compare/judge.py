"""The verdict of one claim: which test was used, within which margin, and why.

value   a per-seed value: |difference| <= 1e-9 max(1, |published|), and half a unit of the last stored digit
mean    equal within the printed precision when all seeds are there; else two intervals of the difference by Welch:
        where the 99 % one excludes 0 the mean deviates; else the 90 % one must lie within one published deviation
band    a mean printed with its deviation but not with its number of runs: the 90 % interval of our mean over three
        runs at least must lie within one printed deviation (where none is printed, five hundredths stand for it);
        wholly beyond it the mean deviates
        An interval that does neither decides nothing, and the number of runs that would is told. Why these units
        and levels: docs/decisions/power.md
cost    seconds and memory of other hardware: shown, never judged
status  our runs ended as the paper's did: ten that ended ok at least, or every one that was made failed likewise
others  statistics over several methods: see `several`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import fsum
from typing import NamedTuple

from harness.base.vocabulary import Verdict
from harness.compare.claims import Claim
from harness.compare.names import PublishedNames, Target, reason_in, target_of
from harness.compare.runs import Obtained, Runs
from harness.compare.statistics import CONFIDENCE, EQUIVALENCE, half_width, runs_needed, welch_half_width
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


class Comparison(NamedTuple):
    """A claim beside our number; a tuple for the reason that a claim is one.

    `interval`: of the difference, 90 %. `margin`: how far a number may lie from the published one and still be the
    same; an interval must lie within it. `needed`: how many runs would decide, if mean and deviation stay.
    """

    claim: Claim
    target: Target
    metric: str | None
    verdict: ClaimVerdict
    reason: str
    test: str = ""
    ours: float | None = None
    n: int = 0
    margin: float | None = None
    keys: tuple[str, ...] = ()
    files: Recomputed | None = None
    interval: tuple[float, float] | None = None
    needed: int | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus published."""
        return None if self.ours is None else self.ours - self.claim.value

    @property
    def lacking(self) -> str:
        """`; 11 more would decide`, if mean and deviation stay; empty where that is not known."""
        return "" if self.needed is None else f"; {self.needed - self.n} more would decide"

    @property
    def why(self) -> str:
        """The reason, with the number of runs that are missing."""
        return self.reason + self.lacking


@dataclass(frozen=True)
class Comparable:
    """The methods, datasets and splits of this artifact: claims about others can't be compared."""

    methods: frozenset[str]
    datasets: frozenset[str]
    splits: frozenset[str]
    # datasets whose data are not here, with the reason
    without_data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Decision:
    """The verdict on a mean. `half`: of its 90 % interval, if there is one."""

    verdict: ClaimVerdict
    reason: str
    test: str = ""
    margin: float | None = None
    half: float | None = None
    needed: int | None = None


@dataclass(frozen=True)
class _Place:
    """What is the same for all claims about one method, dataset, split and metric."""

    target: Target
    metric: str | None
    # why no run of this artifact can decide
    missing: str | None
    # why the metric is not computed here
    no_metric: str
    runs: Mapping[int, Obtained]
    no_data: str | None
    other_data: str | None
    distribution_only: str | None
    explained: str | None


@dataclass(frozen=True)
class Single:
    """Judges claims about one method: by published names, what this artifact has, and our runs."""

    names: PublishedNames
    artifact: Comparable
    runs: Runs
    # a table has a claim for each of many seeds
    _places: dict[tuple[str, str, str, str], _Place] = field(default_factory=dict, compare=False, repr=False)

    def judge(self, claim: Claim) -> Comparison:
        """The comparison of one claim with our runs."""
        place = self._place(claim)
        target, metric = place.target, place.metric
        reason = place.missing
        if not reason and claim.statistic == "cost":
            reason = f"a cost {claim.note}"
        reason = reason or place.no_metric
        if not reason and not place.runs:
            reason = place.no_data
        if reason:
            return Comparison(claim, target, metric, ClaimVerdict.NOT_COMPARABLE, reason)
        if claim.statistic == "status":
            return _judge_status(claim, target, place.runs)
        assert metric is not None
        if claim.statistic in ("band", "mean"):
            comparison = _judge_mean(claim, target, metric, place.runs)
        else:
            comparison = _judge_value(claim, place, metric)
        if place.other_data:
            return comparison._replace(verdict=ClaimVerdict.NOT_COMPARABLE, reason=place.other_data)
        return comparison

    def _place(self, claim: Claim) -> _Place:
        about = (claim.method, claim.dataset, claim.split, claim.metric)
        if about not in self._places:
            names, target = self.names, target_of(self.names, *about[:3])
            metric = names.metric(claim.metric) if claim.metric else None
            self._places[about] = _Place(
                target,
                metric=metric.ours if metric else None,
                missing=_missing(claim, target, self.artifact),
                no_metric=f"{claim.metric}: {metric.reason}" if metric and metric.ours is None else "",
                runs=self.runs.get(target, {}),
                no_data=reason_in(names.no_data, *about),
                other_data=reason_in(names.other_data, *about),
                distribution_only=reason_in(names.distribution_only, *about[:3]),
                explained=reason_in(names.explained, *about[:3]),
            )
        return self._places[about]


def _judge_value(claim: Claim, place: _Place, metric: str) -> Comparison:
    target = place.target
    run = place.runs.get(claim.seed) if claim.seed is not None else None
    value, why_not = _value_of(run, metric)
    if place.distribution_only:
        reason = f"{place.distribution_only}; only its distribution can be compared"
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
        if place.explained:
            reason += f"; {place.explained}"
    test = f"|difference| <= {tolerance:.2g}"
    return Comparison(claim, target, metric, verdict, reason, test, value, 1, tolerance, (run.key,))


def _judge_mean(claim: Claim, target: Target, metric: str, runs: Mapping[int, Obtained]) -> Comparison:
    pairs = [(run, value) for _, run in sorted(runs.items()) if (value := _value_of(run, metric)[0]) is not None]
    if not pairs:
        reason = "not run yet" if not runs else f"none of our {len(runs)} runs has the metric"
        return Comparison(claim, target, metric, ClaimVerdict.PENDING, reason)
    if tasks := {run.task[0] for run, _ in pairs if run.task}:
        ours, decision = _decide_tasks(claim, pairs, tasks)
    else:
        ours = _summary([value for _, value in pairs])
        decision = _decide_band(claim, ours) if claim.statistic == "band" else _decide_mean(claim, ours)
    reason = decision.reason + _beside(claim, len(pairs), runs)
    difference, half = ours.mean - claim.value, decision.half
    return Comparison(
        claim,
        target,
        metric,
        decision.verdict,
        reason,
        decision.test,
        ours.mean,
        ours.n,
        decision.margin,
        tuple(run.key for run, _ in pairs),
        interval=None if half is None else (difference - half, difference + half),
        needed=decision.needed,
    )


def _decide_mean(claim: Claim, ours: Summary) -> _Decision:
    difference = abs(ours.mean - claim.value)
    precision = claim.rounding + _RELATIVE
    if ours.n >= claim.n and difference <= precision:
        reason = "equal as printed, all seeds"
        return _Decision(ClaimVerdict.REPRODUCED, reason, "printed precision", precision)
    sd_ours, sd_theirs, fewest = ours.sd or 0.0, claim.sd or 0.0, min(FEWEST_SEEDS, claim.n)
    margin = sd_theirs + precision

    def half(n: int, confidence: float) -> float:
        return welch_half_width(sd_ours, n, sd_theirs, claim.n, confidence)

    def is_apart(n: int) -> bool:
        return difference > half(n, CONFIDENCE) + precision

    def fits(n: int) -> bool:
        return difference + half(n, EQUIVALENCE) <= margin

    def needed() -> int | None:
        return None if ours.sd is None else runs_needed(lambda n: is_apart(n) or fits(n), max(ours.n, fewest))

    if ours.n < fewest:
        return _Decision(ClaimVerdict.NOT_COMPARABLE, f"{ours.n} of {claim.n} seeds", needed=needed())
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
    return _Decision(verdict, reason, test, margin, half(ours.n, EQUIVALENCE), more)


def _decide_band(claim: Claim, ours: Summary, fewest: int = _FEWEST_OF_A_BAND) -> _Decision:
    width, name = (_USUAL_BAND, f"{_USUAL_BAND}; no deviation is printed")
    if claim.sd is not None:
        width, name = claim.sd, "the printed deviation"
    band, difference = width + claim.rounding + _RELATIVE, abs(ours.mean - claim.value)
    fewest = max(fewest, claim.n)
    test = f"{EQUIVALENCE:.0%} t interval, n = {ours.n}, within ± {band:.2g}"
    needed = None
    if (sd := ours.sd) is not None:
        needed = runs_needed(lambda n: abs(difference - band) >= half_width(sd, n), max(ours.n, fewest))
    if ours.n < fewest or sd is None:
        is_short = ours.n < claim.n
        what = f"{ours.n} of {claim.n} runs" if is_short else f"{ours.n} of at least {fewest} seeds"
        return _Decision(ClaimVerdict.NOT_COMPARABLE, what, test, band, needed=needed)
    half = half_width(sd, ours.n)
    equal = "" if sd > _RELATIVE else f"; all {ours.n} values are equal"
    if difference + half <= band:
        return _Decision(ClaimVerdict.REPRODUCED, f"within {name}{equal}", test, band, half)
    if difference - half > band:
        return _Decision(ClaimVerdict.DEVIATES, f"beyond {name}{equal}", test, band, half)
    return _Decision(ClaimVerdict.NOT_COMPARABLE, _undecided(name, needed), test, band, half, needed)


def _decide_tasks(
    claim: Claim, pairs: Sequence[tuple[Obtained, float]], tasks: set[str]
) -> tuple[Summary, _Decision]:
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
        return of_seeds, _Decision(ClaimVerdict.NOT_COMPARABLE, reason)
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


def _beside(claim: Claim, count: int, runs: Mapping[int, Obtained]) -> str:
    """The end of a reason: how many finished runs have no value, so that nobody takes the mean for one of all."""
    finished = [run for run in runs.values() if run.verdict.is_final and not run.unscored]
    gap = f"; {len(finished) - count} of our {len(finished)} runs have no value" if len(finished) > count else ""
    return gap + (f"; {claim.note}" if claim.note else "")


def _judge_status(claim: Claim, target: Target, runs: Mapping[int, Obtained]) -> Comparison:
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
