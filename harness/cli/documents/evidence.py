"""What shows that a result is what it says: comparisons, audits, statements, as answers."""

from __future__ import annotations

from typing import Any

from harness.audit import Lack
from harness.audit.steps import Checked, Step
from harness.base.vocabulary import Verdict
from harness.cli.documents.forms import Answer, Counts, Fields
from harness.cli.documents.products import ExportAnswer, ReportAnswer
from harness.cli.documents.runs import JobFields
from harness.proof.leaves import Event
from harness.proof.verification import ProofStep


class ReferenceGroup(Fields):
    """The reference results of a method on a dataset and a split."""

    label: str
    verdicts: dict[Verdict, int]
    stale: int
    cpu_hours: float


class ReferenceKey(JobFields):
    """A reference result."""

    key: str
    verdict: Verdict
    label: str


class ReferenceListing(Answer):
    """`harness reference list`; with --keys each run."""

    rows: list[ReferenceGroup | ReferenceKey]


class SavedReference(Answer):
    """`harness reference save`."""

    runs: int
    files: int
    bytes: int
    folder: str


class StepRow(Fields):
    """A link of the chain from a number to what it rests on."""

    name: str
    checked: Checked
    what: str
    expected: str
    found: str
    where: str
    lack: str


class AuditedRun(Fields):
    """The chain of one run."""

    key: str
    label: str
    verdict: str
    # why it is no run of the present code, images or data; why it did not end by itself
    superseded: str
    unfinished: str
    steps: list[StepRow]


class GapRow(Fields):
    """How often something was lacking, and why."""

    count: int
    reasons: list[str]


class AuditAnswer(Answer):
    """`harness audit`."""

    audited: int
    not_audited: int
    passed: int
    failed: int
    superseded: int
    cells_without_run: int
    lacking: dict[Lack, GapRow]
    repository: list[StepRow]
    runs: list[AuditedRun]
    waived: list[Lack]


class ProofAnswer(Answer):
    """`harness audit --signed`."""

    about: str
    failed: int
    steps: list[ProofStep]


class SignerRow(Fields):
    """Who signed."""

    name: str
    key: str


class StatementAnswer(Answer):
    """`harness attest`: the file, who signed it, its digest, and what it says."""

    path: str
    signed_by: SignerRow | None
    sha256: str
    about: str
    made: str
    git: dict[str, Any]
    log: dict[str, Any]
    harness: str
    leaves: Counts
    results: int
    verdicts: dict[Verdict, int]
    removals: dict[str, Any]
    imported: int
    plans: list[dict[str, Any]]
    unplanned: int
    digests: dict[str, str]


class LeafRow(Fields):
    """A leaf of the log. Fields that are empty in it are left out."""

    leaf: int
    hash: str
    kind: Event
    at: str
    scope: str = ""
    key: str = ""
    record: str = ""
    verdict: str = ""
    score: str = ""
    plan: str = ""
    cells: int = 0
    note: str = ""
    proof: list[str] = []


class LogAnswer(Answer):
    """`harness log`."""

    size: int
    root: str
    leaves: list[LeafRow]


class ArrayRow(Fields):
    """An array of a golden case beside ours."""

    array: str
    verdict: str
    largest_error: float | str | None
    tolerance: float
    note: str


class CaseRow(Fields):
    """A golden case; its verdict is that of its worst array."""

    case: str
    kind: str
    subject: str
    verdict: str
    note: str
    seconds: float | None
    arrays: list[ArrayRow]


class ParityAnswer(Answer):
    """`harness parity`."""

    golden: str
    cases: int
    ok: bool
    findings: list[CaseRow]


class SelfTestRow(Fields):
    """A check of the self-test of a method."""

    method: str
    check: str
    passed: bool
    reason: str


class SelfTestAnswer(Answer):
    """`harness new check`."""

    rows: list[SelfTestRow]


class CrateRun(Fields):
    """A run of a crate, recomputed."""

    key: str
    label: str
    outcome: Checked
    steps: list[Step]


class CrateVerification(Answer):
    """`harness export --verify`; `failed`: whether anything does not hold."""

    failed: bool
    runs: dict[Checked, int]
    cells_without_run: int
    crate: CrateRun
    audits: list[CrateRun]


class PageDifference(Fields):
    """A file that is not what the results give: the first place that differs, there and here."""

    file: str
    what: str
    line: int | None
    found: str
    expected: str


class VerifiedReport(Answer):
    """`harness report --verify`: which files differ, and what page or site tell of audits, which nothing holds."""

    verified: str
    files: int
    differences: list[PageDifference]
    audits: dict[str, str]


ANSWERS: dict[str, tuple[type[Answer], ...]] = {
    "attest": (StatementAnswer,),
    "audit": (AuditAnswer, ProofAnswer),
    "export": (ExportAnswer, CrateVerification),
    "log": (LogAnswer,),
    "report": (ReportAnswer, VerifiedReport),
    "new check": (SelfTestAnswer,),
    "parity": (ParityAnswer,),
    "reference list": (ReferenceListing,),
    "reference save": (SavedReference,),
}
