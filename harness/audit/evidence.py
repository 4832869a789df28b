"""The run itself: record, files, job document, and the seed the container was told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.audit.steps import Step, equal, failed, not_checked, ok
from harness.base.errors import HarnessError
from harness.base.files import read_json, sha256_of
from harness.base.vocabulary import PROTOCOL_VERSION, Verdict
from harness.results.records import RECORD_FILE, Record
from harness.results.reference import ReferenceResult
from harness.results.store import Store

JOB_FILE = "job.json"


def check_record(store: Store, key: str) -> tuple[Record | None, list[Step]]:
    """The record's own digest, its schema, and its key recomputed from its parts."""
    try:
        record = store.record(key)
    except HarnessError as error:
        return None, [failed("record", error.what, where=error.where)]
    return record, [ok("record", "digest, schema, and key recomputed from its parts", key)]


def check_entry(entry: ReferenceResult) -> list[Step]:
    """The steps that reading a committed reference result has already checked."""
    steps = [ok("record", "digest, schema, and key recomputed from its parts", entry.content["key"])]
    if entry.scores is not None:
        steps.append(ok("scores", "digest, and made from the files that the record names"))
    return steps


def check_files(store: Store, record: Record) -> list[Step]:
    """Every file against the record, and nothing beside them."""
    folder = store.path(record.key)
    steps = []
    for name, file in sorted(record.files.items()):
        path = folder / name
        if not path.is_file() or path.is_symlink():
            steps.append(failed(name, "the file is missing", expected=file.sha256, found="-", where=path))
        else:
            steps.append(equal(name, f"sha256 of {file.bytes:,} bytes", file.sha256, sha256_of(path), path))
    names = {*record.files, RECORD_FILE}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        if path.relative_to(folder).as_posix() not in names:
            steps.append(failed("files", "a file that the record does not name", found=path.name, where=path))
    if record.verdict is Verdict.OK:
        steps += [
            failed("files", f"a run that ended ok has no {name}", where=folder) for name in record.missing_files
        ]
    return steps


def read_job(store: Store, record: Record) -> dict[str, Any] | None:
    """The job document the container was given, where it was kept."""
    document = read_json(store.path(record.key) / JOB_FILE)
    return document if isinstance(document, dict) else None


def check_job(document: dict[str, Any] | None, record: Record, where: Path) -> list[Step]:
    """What the container was told is what the key says: method, variant, hyper-parameters, folds, seed."""
    if document is None and JOB_FILE in record.files:
        return [failed("job", "the job document can't be read", where=where)]
    if document is None:
        return [not_checked("job", "the run kept no job document"), not_checked("seed", "no job document")]
    job = record.planned.job
    expected: dict[str, Any] = {
        "protocol": PROTOCOL_VERSION,
        "benchmark": job.benchmark,
        "method": job.method,
        "variant": job.variant,
        "parameters": job.parameters,
        **job.options,
    }
    found = {name: document.get(name) for name in expected}
    return [
        equal("job", "what the container was told is what the key says", _text(expected), _text(found), where),
        equal("seed", "the seed the container was told", str(job.fit_seed), str(document.get("seed")), where),
    ]


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True)
