"""Which runs an audit is about. A stored run whose record can't be read is never passed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.errors import HarnessError, UsageError, unknown
from harness.base.files import canonical_json
from harness.base.layout import Layout
from harness.planning.jobs import Job
from harness.planning.suites import jobs_of, load_suite
from harness.results.reference import Entry
from harness.results.store import Store

# How many known keys a person is shown who gave one that is not known.
_SHOWN = 10


def keys_of_suite(layout: Layout, store: Store, suite: str) -> tuple[list[str], int]:
    """The stored runs of a suite's jobs, whatever they rest on, and how many of its jobs have none.

    Jobs are compared, not keys: a lock that was tampered with must not make its runs disappear from their audit.
    """
    wanted = _jobs_of_suite(layout, suite)
    keys, seen = [], set()
    for key in store.finished():
        job = _job_of(store, key)
        if job is None or job in wanted:
            keys.append(key)
            seen.add(job)
    return keys, len(wanted - seen)


def reference_of_suite(layout: Layout, entries: Mapping[str, Entry], suite: str) -> tuple[dict[str, Entry], int]:
    """The reference results of a suite's jobs, and how many of its jobs have none."""
    wanted = _jobs_of_suite(layout, suite)
    jobs = {key: _text_of(entry.planned.job) for key, entry in entries.items()}
    return {key: entries[key] for key, job in jobs.items() if job in wanted}, len(wanted - set(jobs.values()))


def _jobs_of_suite(layout: Layout, suite: str) -> set[bytes]:
    return {_text_of(job) for job in jobs_of(layout, load_suite(suite))}


def _job_of(store: Store, key: str) -> bytes | None:
    """The job of a stored run as one text, or None where its record can't be read."""
    try:
        return _text_of(store.record(key).planned.job)
    except HarnessError:
        return None


def _text_of(job: Job) -> bytes:
    """Equal jobs have one text, in whatever order their parameters were written down."""
    return canonical_json(job.model_dump(mode="json"))


def find_key(known: Sequence[str], prefix: str, where: Path) -> str:
    """The one of the `known` keys that begins so; exactly one is expected of a person."""
    keys = [key for key in known if key.startswith(prefix.lower())]
    if not keys:
        raise unknown("run", prefix, [key[:12] for key in known[:_SHOWN]], where=where)
    if len(keys) > 1:
        raise UsageError(
            f"{len(keys)} keys begin with '{prefix}'",
            where=str(where),
            todo=f"give more of it: {', '.join(key[: len(prefix) + 4] for key in keys[:6])}",
        )
    return keys[0]
