"""From predictions to scores: the protocol checked again, the scores recomputed and compared with those kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.audit.steps import Checked, Lack, Step, failed, not_checked, ok
from harness.base.layout import Layout
from harness.base.plain_json import read_plain
from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.planning.jobs import PlannedJob
from harness.results.records import Record
from harness.results.reference import ReferenceResult, reference_of
from harness.results.scoring import Scores, compute_scores, is_whole, read_scores, scores_path, without_truth
from harness.results.store import Store
from harness.results.truth import truth_of
from harness.status.table import key_metrics

# These ends depend on how fast and how large a machine is, too.
OF_THE_MACHINE = frozenset({Verdict.MEMORY, Verdict.TIMEOUT})
_OF_ANOTHER = "the scores of the committed reference result are of another scorer than the present one"
# Recomputed on another CPU, a sum may differ in its last bits.
_RELATIVE = 1e-12


def check_predictions(layout: Layout, store: Store, record: Record, mirrors: Sequence[Path]) -> list[Step]:
    """Keys, shapes, order, finiteness and range, as when they were stored."""
    job = record.planned.job
    if record.verdict is not Verdict.OK:
        why = f"the verdict is '{record.verdict}': there is no result to believe"
        return [not_checked("predictions", why, lack=None)]
    truth_of(layout, job, mirrors).read(store.path(record.key))
    return [ok("predictions", "protocol: kind, shape, and every value finite")]


def check_scores(layout: Layout, store: Store, record: Record, mirrors: Sequence[Path]) -> list[Step]:
    """Scores from the predictions and the held-back truth, beside the scores that tables show."""
    planned = record.planned
    path = scores_path(layout, planned.key)
    if record.verdict is not Verdict.OK:
        # one that came out otherwise in a replay keeps those it had
        if path.is_file() and not _are_of(record, read_plain(path)):
            what = f"the verdict is '{record.verdict}', and scores are kept that are not of its files"
            return [failed("scores", what, where=path)]
        return [not_checked("scores", f"the verdict is '{record.verdict}': nothing is scored", lack=None)]
    scores = compute_scores(layout, store, planned, mirrors)
    values = ", ".join(
        f"{name} {scores.metrics[name]:.12g}"
        for name in key_metrics(planned.job.benchmark)
        if scores.metrics.get(name) is not None
    )
    step = ok("scores", "recomputed; none are kept", values)
    if path.is_file():
        step = _compare(scores, read_plain(path), path, values, planned)
    if step.checked is Checked.OK and (reason := without_truth(planned.job)):
        return [not_checked("scores", reason, lack=None)]
    return [step]


def _are_of(record: Record, content: object) -> bool:
    """Whether kept scores are of the files that a record names."""
    return isinstance(content, dict) and bool(record.evidence) and content.get("evidence") == record.evidence


def kept_scores(layout: Layout, record: Record) -> Scores | None:
    """The scores that tables show of a run, whole and fresh; None where there are none."""
    return read_scores(layout, record.key, record.planned.job.benchmark, record.evidence)


def check_against_reference(layout: Layout, record: Record) -> list[Step]:
    """The same job among the committed reference results, which must have ended the same, with the same bits.

    On another processor last bits may differ; then the step says what scores make of it. Other scores, and an end
    that no machine explains, are another lack than other bits: who expects the one does not accept the other.
    Committed scores of another scorer are held against nothing, which a further step says.
    """
    entry = reference_of(layout, record.planned)
    if entry is None:
        return []
    other, what = entry.record, "the committed reference result of this job differs: "
    difference, scores = _difference(record, other), None
    is_stale = False
    if record.verdict is other.verdict is Verdict.OK:
        is_stale = entry.scores is not None and entry.fresh_scores is None
        scores = _compared_scores(kept_scores(layout, record), entry)
    if not difference:
        same = "the committed reference result of this job has the same answer"
        if is_stale:
            return [not_checked("reference", f"{same}; {_OF_ANOTHER}", Lack.STALE)]
        if scores is None or scores.checked is Checked.OK:
            return [ok("reference", same)]
        return [failed("reference", what + _told(scores), where=entry.where)]
    what += difference
    if not record.verdict.is_final:
        return [not_checked("reference", f"{what}; this run was stopped", Lack.MACHINE)]
    if record.hardware and record.hardware == other.hardware:
        return [failed("reference", what, where=entry.where)]
    is_told = record.hardware and other.hardware
    why = "it was made on another processor" if is_told else "not both tell on which processor they were made"
    if record.verdict is other.verdict is Verdict.OK:
        why += f", and {_told(scores) if scores else 'not both have scores of one scorer to compare'}"
    ends = {record.verdict, other.verdict}
    ended_otherwise = len(ends) > 1 and not ends & OF_THE_MACHINE
    scored_otherwise = scores is not None and scores.checked is not Checked.OK
    lack = Lack.SCORES if ended_otherwise or scored_otherwise else Lack.MACHINE
    steps = [not_checked("reference", f"{what}; {why}", lack)]
    return [*steps, not_checked("reference", _OF_ANOTHER, Lack.STALE)] if is_stale else steps


def _difference(record: Record, other: Record) -> str:
    """How the end or the answer of a run is another; empty where both are the same."""
    if record.verdict is not other.verdict:
        return f"it ended as '{record.verdict}', there as '{other.verdict}'"
    files, others = record.answer, other.answer
    return next(
        (
            f"{name} is {files.get(name, '-')}, there {others.get(name, '-')}"
            for name in sorted({*files, *others})
            if files.get(name) != others.get(name)
        ),
        "",
    )


def _compared_scores(scores: Scores | None, entry: ReferenceResult) -> Step | None:
    """The scores of both beside each other; None where not both have them from one scorer."""
    others = entry.fresh_scores
    if scores is None or others is None:
        return None
    return compare_metrics(scores.every, others.every, entry.where)


def _told(scores: Step) -> str:
    """What a comparison of scores came to, with the values where one differs."""
    if scores.checked is Checked.OK:
        return "every score is the same"
    return f"{scores.what}: {scores.expected}, there {scores.found}" if scores.expected else scores.what


def _compare(scores: Scores, content: object, path: Path, values: str, planned: PlannedJob) -> Step:
    if not isinstance(content, dict):
        return failed("scores", "the kept scores can't be read", where=path)
    if content.get("key") != planned.key:
        return failed("scores", "the kept scores are of another run", expected=planned.key, where=path)
    if content.get("scorer") != scores.scorer:
        step = ok("scores", "recomputed; those kept are of another scorer and unused", values)
        return replace(step, lack=Lack.STALE)
    if content.get("evidence") != scores.evidence:
        return failed("scores", "the kept scores are of other predictions", where=path)
    step = compare_metrics(scores.metrics, content.get("metrics"), path, values)
    if step.checked is Checked.OK and content.get("series", {}) != scores.series:
        # shares of counts, so that no digit may differ
        return failed("scores", "a series of values is not what was kept", where=path)
    if step.checked is Checked.OK and is_whole(content) and content["notes"] != scores.notes:
        return failed("scores", "the reasons beside the kept scores are not what was computed", where=path)
    if step.checked is Checked.OK and not is_whole(content):
        return failed("scores", "the kept scores differ from their own digest", where=path)
    return step


def compare_metrics(metrics: dict[str, float | None], kept: object, where: Path | str, values: str = "") -> Step:
    """Metrics that were computed anew beside those that were kept."""
    others = kept if isinstance(kept, dict) else {}
    if not metrics:
        return failed("scores", "no metric was computed: nothing can be compared", where=where)
    for name, value in metrics.items():
        other = others.get(name, "-")
        if not agree(value, other):
            return failed(
                "scores", f"{name} is not what was kept", expected=str(value), found=str(other), where=where
            )
    if set(metrics) != set(others):
        return failed("scores", "other metrics are kept than are computed", where=where)
    return ok("scores", f"all {counted(len(metrics), 'metric')} recomputed and equal to those kept", values)


def agree(value: float | None, other: object) -> bool:
    """Whether two values of a metric are the same, but for what another CPU may add up to."""
    if value is None or not isinstance(other, (int, float)):
        return value is other
    return math.isclose(value, other, rel_tol=_RELATIVE, abs_tol=_RELATIVE)
