"""Why should I believe this cell? From a number down to everything it rests on, recomputed link by link."""

from harness.audit.report import AuditReport, audit_runs, believed_reference, to_json, to_text
from harness.audit.selection import find_key, keys_of_jobs, reference_of_jobs

__all__ = [
    "AuditReport",
    "audit_runs",
    "believed_reference",
    "find_key",
    "keys_of_jobs",
    "reference_of_jobs",
    "to_json",
    "to_text",
]
