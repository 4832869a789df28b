"""Why should I believe this cell? From a number down to everything it rests on, recomputed link by link."""

from harness.audit.checkout import check_checkout, check_page
from harness.audit.report import AuditReport, audit_runs, believed_reference, to_json, to_text
from harness.audit.selection import find_key, keys_of_jobs, reference_of_jobs
from harness.audit.statement import check_plans, check_statement
from harness.audit.steps import Believed, Lack
from harness.audit.strictness import strict_lines

__all__ = [
    "AuditReport",
    "Believed",
    "Lack",
    "audit_runs",
    "believed_reference",
    "check_checkout",
    "check_page",
    "check_plans",
    "check_statement",
    "find_key",
    "keys_of_jobs",
    "reference_of_jobs",
    "strict_lines",
    "to_json",
    "to_text",
]
