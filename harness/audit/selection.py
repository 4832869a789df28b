"""Which runs an audit is about. A stored run whose record can't be read is never passed over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.base.errors import HarnessError, UsageError
from harness.base.few import few_in_line, length_apart
from harness.base.files import canonical_json
from harness.base.unknown_names import unknown_name
from harness.planning.jobs import Job
from harness.results.reference import ReferenceResult
from harness.results.store import Store


def keys_of_jobs(store: Store, jobs: Iterable[Job]) -> tuple[list[str], int]:
    """The stored runs of these jobs, whatever they rest on, and how many of the jobs have none.

    Jobs are compared, not keys: a lock that was tampered with must not make its runs disappear from their audit.
    """
    requests = set(map(_text_of, jobs))
    keys, stored_jobs = [], set()
    for key in store.finished():
        job = _job_of(store, key)
        if job is None or job in requests:
            keys.append(key)
            stored_jobs.add(job)
    return keys, len(requests - stored_jobs)


def reference_of_jobs(
    entries: Mapping[str, ReferenceResult], jobs: Iterable[Job]
) -> tuple[dict[str, ReferenceResult], int]:
    """The reference results of these jobs, and how many of the jobs have none."""
    requests = set(map(_text_of, jobs))
    texts = {key: _text_of(entry.planned.job) for key, entry in entries.items()}
    absent = requests.difference(texts.values())
    return {key: entries[key] for key, text in texts.items() if text in requests}, len(absent)


def _job_of(store: Store, key: str) -> bytes | None:
    """The job of a stored run as one text, or None where its record can't be read."""
    try:
        return _text_of(store.record(key).planned.job)
    except HarnessError:
        return None


def _text_of(job: Job) -> bytes:
    """Equal jobs have one text, in whatever order their parameters were written down."""
    return canonical_json(job.model_dump(mode="json"))


def find_key(all_keys: Sequence[str], prefix: str, where: Path) -> str:
    """The one key that begins with `prefix`; `UsageError` if none does, or several do."""
    beginning = prefix.strip().lower()
    keys = [key for key in all_keys if key.startswith(beginning)]
    if not keys:
        raise unknown_name("run", prefix, [key[:12] for key in all_keys], where=where)
    if len(keys) > 1:
        length = length_apart(keys)
        raise UsageError(
            f"{len(keys)} keys begin with '{prefix}'",
            where=str(where),
            todo=f"give {length} characters of it: {few_in_line([key[:length] for key in keys], 6)}",
        )
    return keys[0]
