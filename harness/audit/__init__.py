"""Why should I believe this cell? From a number down to everything it rests on, recomputed link by link."""

from harness.audit.chain import Auditor
from harness.audit.report import AuditReport, audit_reference, audit_runs, believed_reference, to_json, to_text
from harness.audit.selection import find_key, keys_of_jobs, reference_of_jobs
from harness.audit.steps import Audit, Checked, Step

__all__ = [
    "Audit",
    "AuditReport",
    "Auditor",
    "Checked",
    "Step",
    "audit_reference",
    "audit_runs",
    "believed_reference",
    "find_key",
    "keys_of_jobs",
    "reference_of_jobs",
    "to_json",
    "to_text",
]
