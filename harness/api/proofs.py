"""Proofs: statements about results, signed with a person's own key, and whether they hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from harness.api.repository import Repository, opened
from harness.audit import AuditReport
from harness.audit.steps import Checked
from harness.base.errors import AuditError, CorruptData
from harness.base.few import few_in_line
from harness.base.plurals import counted
from harness.proof.attestation import Attestation
from harness.proof.attestation import attest as make_statement
from harness.proof.confirmation import Confirmation
from harness.proof.confirmation import confirm as sign_replay
from harness.proof.results import ResultSet
from harness.proof.statement import read
from harness.proof.verification import Held, Proof, ProofStep
from harness.proof.verification import verify as verify_results
from harness.results.sets import reference_set, stored_set

# Whoever signs the log that others' statement is about need not be known to the repository yet, and a file of
# theirs that a full disk cut short is written again.
_NOT_OF_THE_LOG = ("signature", "confirmations")
# as many keys as a person reads
_NAMED = 3


def attest(
    *, reference: bool = False, key: Path | str | None = None, repository: Repository | None = None
) -> Attestation:
    """The statement about all runs of this machine, or the reference results; signed where there is a key."""
    here = opened(repository)
    with _results(here, reference=reference) as (results, _):
        return make_statement(here.layout, results, Path(key) if key is not None else None)


def verify(
    *, reference: bool = False, signers: Path | str | None = None, repository: Repository | None = None
) -> Proof:
    """Whether results are those that were stated and signed, step by step.

    `signers` is a file of the keys that you believe, in place of the repository's `results/allowed_signers`.
    """
    here = opened(repository)
    with _results(here, reference=reference) as (results, notes):
        proof = verify_results(here.layout, results, Path(signers) if signers is not None else None)
    put_right = (ProofStep("log", Held.UNKNOWN, f"put right before it was read: {note}") for note in notes)
    return replace(proof, steps=(*put_right, *proof.steps))


def confirm(
    report: AuditReport, key: Path | str, *, reference: bool = False, repository: Repository | None = None
) -> Confirmation:
    """Sign the log of a statement with a key of one's own, after an audit whose replays all came out the same."""
    here = opened(repository)
    replays = [(audit, step) for audit in report.audits for step in audit.steps if step.name == "replay"]
    others = [(audit, step) for audit, step in replays if step.checked is not Checked.OK]
    if report.failed or others:
        replayed = f"not replayed, or with another outcome: {counted(len(others), 'run')}"
        what = f"{counted(report.failed, 'audit')} failed; {replayed}"
        raise AuditError(f"nothing is signed: {what}", where="the audit above", todo="look at its reasons")
    with _results(here, reference=reference) as (results, _):
        strange = [audit.key[:12] for audit, _ in replays if audit.key not in results.results]
    if strange:
        raise AuditError(
            f"nothing is signed: not among the {results.name}: {few_in_line(strange, _NAMED)}",
            where=str(results.log.path),
            todo="sign the log that tells of them: that of the committed results with --reference",
        )
    proof = verify(reference=reference, repository=here)
    for step in proof.steps:
        if step.state is Held.FAILED and step.name not in _NOT_OF_THE_LOG:
            raise AuditError(f"nothing is signed: {step.what}", where=step.where, todo=step.todo)
    folder = here.layout.reference if reference else here.layout.local
    statement = read(folder)
    assert statement is not None, "it was just verified"
    return sign_replay(here.layout, folder, statement, [audit.key for audit, _ in replays], Path(key))


@contextmanager
def _results(here: Repository, *, reference: bool) -> Iterator[tuple[ResultSet, list[str]]]:
    """The results, to which nobody adds anything until the block ends, and what was put right in their log."""
    with ExitStack() as stack:
        try:
            # the reference results are read where nothing may be written, too
            notes = [] if reference else stack.enter_context(here.store.open_log())[1]
            yield reference_set(here.layout) if reference else stored_set(here.layout), notes
        except CorruptData as error:
            raise AuditError(error.what, where=error.where, todo=error.todo) from None
