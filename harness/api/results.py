"""The scores of one stored run."""

from __future__ import annotations

from dataclasses import dataclass

from harness.api.repository import Repository, opened
from harness.audit.selection import find_key
from harness.base.errors import UsageError
from harness.base.vocabulary import Verdict
from harness.planning.jobs import Job, PlannedJob
from harness.results.scoring import Scores, score_run, scores_path


@dataclass(frozen=True)
class ScoredRun:
    """A stored run and its scores."""

    job: Job
    scores: Scores


def scores(key: str, *, again: bool = False, repository: Repository | None = None) -> ScoredRun:
    """The scores of the stored run whose key begins so; computed anew where none are fresh, or `again`."""
    here = opened(repository)
    store, layout = here.store, here.layout
    if not store.path(key).is_dir():
        key = find_key(list(store.finished()), key, store.folder)
    standing = store.standing(key)
    if standing.verdict is not Verdict.OK:
        raise UsageError(f"run {key[:16]} has nothing to score: {standing.verdict}", where=standing.reason)
    planned = PlannedJob.model_validate(standing.content["planned"])
    if again:
        scores_path(layout, key).unlink(missing_ok=True)
    return ScoredRun(planned.job, score_run(layout, store, planned, here.mirrors))
