"""Which stored runs an audit is about. A run whose record can't be read is never passed over."""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import HarnessError, UsageError
from harness.files import canonical_json
from harness.jobs import Job
from harness.layout import Layout
from harness.methods import unknown
from harness.store import Store
from harness.suites import jobs_of, load_suite


def keys_of_suite(layout: Layout, store: Store, suite: str) -> tuple[list[str], int]:
    """The stored runs of a suite's jobs, whatever they rest on, and how many of its jobs have none.

    Jobs are compared, not keys: a lock that was tampered with must not make its runs disappear from their audit.
    """
    wanted = {_text_of(job) for job in jobs_of(layout, load_suite(suite))}
    keys, seen = [], set()
    for key in store.finished():
        job = _job_of(store, key)
        if job is None or job in wanted:
            keys.append(key)
            seen.add(job)
    return keys, len(wanted - seen)


def _job_of(store: Store, key: str) -> bytes | None:
    """The job of a stored run as one text, or None where its record can't be read."""
    try:
        return _text_of(store.record(key).planned.job)
    except HarnessError:
        return None


def _text_of(job: Job) -> bytes:
    """Equal jobs have one text, in whatever order their parameters were written down."""
    return canonical_json(job.model_dump(mode="json"))


def find_keys(store: Store, prefix: str) -> list[str]:
    """The stored runs whose key begins so; exactly one is expected of a person."""
    keys = [key for key in store.finished() if key.startswith(prefix.lower())]
    if not keys:
        raise unknown("stored run", prefix, [key[:12] for key in _first(store.finished())], where=store.folder)
    if len(keys) > 1:
        raise UsageError(
            f"{len(keys)} stored runs have a key that begins with '{prefix}'",
            where=str(store.folder),
            todo=f"give more of it: {', '.join(key[: len(prefix) + 4] for key in keys[:6])}",
        )
    return keys


def _first(keys: Iterable[str], count: int = 10) -> list[str]:
    return [key for _, key in zip(range(count), keys, strict=False)]
