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
from dataclasses import dataclass, field
from math import fsum

from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.compare.claims import FAILURES, RAN, STATISTICS, Claim
from harness.compare.comparison import ClaimVerdict, Comparable, Comparison
from harness.compare.means import FEWEST_SEEDS, RELATIVE, decide
from harness.compare.names import PublishedNames, Target, reason_in, target_of
from harness.compare.runs import Obtained, Runs


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
    fitted: str | None
    distribution_only: str | None
    explained: str | None


@dataclass(frozen=True)
class Single:
    """Judges claims about one method: by published names, what this artifact has, and our runs."""

    names: PublishedNames
    artifact: Comparable
    runs: Runs
    # methods that know nothing: where they are as near to a number, it does not tell a method from them
    controls: tuple[str, ...] = ()
    # a table has a claim for each of many seeds
    _places: dict[tuple[str, str, str, str], _Place] = field(default_factory=dict, compare=False, repr=False)

    def judge(self, claim: Claim) -> Comparison:
        """The comparison of one claim with our runs."""
        place = self._place(claim)
        target, metric = place.target, place.metric
        reason = place.missing
        if not reason and claim.statistic == "cost":
            reason = f"a cost {claim.note}"
        if not reason and claim.statistic in STATISTICS:
            reason = "a statistic over several methods, and no contrasts.toml says which"
        reason = reason or place.no_metric
        if not reason and not place.runs:
            reason = place.no_data
        if reason:
            return Comparison(claim, target, metric, ClaimVerdict.NOT_COMPARABLE, reason)
        if claim.statistic == "status":
            return _with_difference(_judge_status(claim, target, place.runs), place)
        assert metric is not None
        if claim.statistic in ("band", "mean"):
            comparison = _judge_mean(claim, target, metric, place.runs)
            comparison = self._with_controls(_with_difference(comparison, place))
        else:
            comparison = _judge_value(claim, place, metric)
        if place.other_data:
            return comparison._replace(verdict=ClaimVerdict.NOT_COMPARABLE, reason=place.other_data)
        if place.fitted and comparison.verdict is ClaimVerdict.REPRODUCED:
            return comparison._replace(verdict=ClaimVerdict.NOT_COMPARABLE, reason=place.fitted)
        return comparison

    def _with_controls(self, comparison: Comparison) -> Comparison:
        """A mean; where it is reproduced, with the controls whose mean is within the margin as well."""
        claim, target, margin = comparison.claim, comparison.target, comparison.margin
        if comparison.verdict is not ClaimVerdict.REPRODUCED or margin is None or comparison.metric is None:
            return comparison
        near = []
        for control in self.controls:
            runs = self.runs.get(Target(control, target.dataset, target.split), {}).values()
            values = [value for run in runs if (value := _value_of(run, comparison.metric)[0]) is not None]
            if values and abs(fsum(values) / len(values) - claim.value) <= margin:
                near.append(control)
        if not near:
            return comparison
        told = _before_note(comparison, f"a control is within the margin as well: {', '.join(near)}")
        return told._replace(controls=tuple(near))

    def _place(self, claim: Claim) -> _Place:
        about = (claim.method, claim.dataset, claim.split, claim.metric)
        if about not in self._places:
            names, target = self.names, target_of(self.names, *about[:3])
            metric = names.metric(claim.metric) if claim.metric else None
            self._places[about] = _Place(
                target,
                metric=metric.ours if metric else None,
                missing=_missing(claim, target, self.artifact),
                no_metric=metric.reason if metric and metric.ours is None else "",
                runs=self.runs.get(target, {}),
                no_data=reason_in(names.no_data, *about),
                other_data=reason_in(names.other_data, *about),
                fitted=reason_in(names.fitted, *about),
                distribution_only=reason_in(names.distribution_only, *about),
                explained=reason_in(names.explained, *about),
            )
        return self._places[about]


def _with_difference(comparison: Comparison, place: _Place) -> Comparison:
    """A mean or a status; where it deviates, with what is known to differ between the original and ours."""
    if comparison.verdict is not ClaimVerdict.DEVIATES or not place.distribution_only:
        return comparison
    return _before_note(comparison, place.distribution_only)


def _before_note(comparison: Comparison, remark: str) -> Comparison:
    """The comparison with a remark in its reason; the note of the claim stays the last."""
    reason = comparison.reason.removesuffix(f"; {comparison.claim.note}")
    note = comparison.reason[len(reason) :]
    return comparison._replace(reason=f"{reason}; {remark}{note}")


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
    tolerance = RELATIVE * max(1.0, abs(claim.value)) + claim.rounding
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
        return _without_value(claim, target, metric, [run for _, run in sorted(runs.items())])
    ours, decision = decide(claim, pairs)
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


def _without_value(claim: Claim, target: Target, metric: str, runs: Sequence[Obtained]) -> Comparison:
    """The comparison of a mean of which no run has a value: it waits only for what could still give one."""
    if not runs:
        return Comparison(claim, target, metric, ClaimVerdict.PENDING, "not run yet")
    waiting = [run for run in runs if run.unscored or not run.verdict.is_final]
    verdict = ClaimVerdict.PENDING if waiting else ClaimVerdict.NOT_COMPARABLE
    why = _value_of((waiting or runs)[0], metric)[1]
    reason = f"no value of the metric in our {counted(len(runs), 'run')}: {why}"
    return Comparison(claim, target, metric, verdict, reason)


def _beside(claim: Claim, count: int, runs: Mapping[int, Obtained]) -> str:
    """The end of a reason: how many finished runs have no value, so that nobody takes the mean for one of all."""
    finished = [run for run in runs.values() if run.verdict.is_final and not run.unscored]
    ours = counted(len(finished), "run")
    gap = f"; {len(finished) - count} of our {ours} without a value" if len(finished) > count else ""
    return gap + (f"; {claim.note}" if claim.note else "")


def _judge_status(claim: Claim, target: Target, runs: Mapping[int, Obtained]) -> Comparison:
    finished = [run for _, run in sorted(runs.items()) if run.verdict.is_final]
    keys = tuple(run.key for run in finished)

    def decided(verdict: ClaimVerdict, reason: str) -> Comparison:
        return Comparison(claim, target, None, verdict, reason, "verdicts of our runs", n=len(finished), keys=keys)

    if not finished:
        return decided(ClaimVerdict.PENDING, "not run yet")
    if claim.published not in (RAN, *FAILURES):
        known = ", ".join((RAN, *FAILURES))
        reason = f"'{claim.published}' is no status that runs here are held against: {known}"
        return decided(ClaimVerdict.NOT_COMPARABLE, reason)
    failures = [run for run in finished if run.verdict is not Verdict.OK]
    if claim.published == RAN:
        if failures:
            reason = f"{len(failures)} of our {counted(len(finished), 'run')}: {failures[0].verdict}"
            return decided(ClaimVerdict.DEVIATES, reason)
        is_enough = len(finished) >= min(FEWEST_SEEDS, claim.n)
        verdict = ClaimVerdict.REPRODUCED if is_enough else ClaimVerdict.NOT_COMPARABLE
        return decided(verdict, f"{len(finished)} of {claim.n} seeds, all ok")
    if len(failures) < len(finished):
        return decided(ClaimVerdict.DEVIATES, f"runs here: {len(finished) - len(failures)} of {len(finished)} ok")
    if other := [run for run in failures if run.verdict is not FAILURES[claim.published]]:
        return decided(ClaimVerdict.NOT_COMPARABLE, f"fails here in another way: {other[0].verdict}")
    return decided(ClaimVerdict.REPRODUCED, f"our {counted(len(finished), 'run')} failed likewise")


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
        if ours is None and name.partition(":")[0] in having:
            return f"{kind} '{name}' is a name of this artifact; claims give the one that was published"
        if ours is None or ours.partition(":")[0] not in having:
            return f"{kind} '{name}' is not part of this artifact"
    return artifact.without_data.get(target.dataset or "")
