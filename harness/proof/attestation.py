"""Making statements: about a set of results, and by a second party that it ran some of them again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import __version__
from harness.base.errors import AuditError, CorruptData
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.proof.digests import digests_of
from harness.proof.history import EarlierLog, earlier_logs, first_other, git_state, remember
from harness.proof.keys import Signer, allowed_signers
from harness.proof.leaves import now
from harness.proof.results import ResultSet, faults_of, shown, told_by
from harness.proof.signature import envelope_path, is_signed, signed_text, signer_of_file, write_signed
from harness.proof.statement import (
    RESULTS_TYPE,
    STATEMENT,
    STATEMENT_TYPE,
    Statement,
    parse,
    read,
    statement_text,
)
from harness.proof.tree import consistency_proof, leaf_hash, root_of

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attestation:
    """A statement that was made, and whose key signed it; None: nobody's."""

    statement: Statement
    signer: Signer | None
    path: Path


def attest(layout: Layout, results: ResultSet, key: Path | None = None) -> Attestation:
    """Make the statement about a set of results, signed if there is a key.

    `AuditError` where the log is not the last statement's one, grown, and where it does not tell of these results.
    """
    log, path = results.log, results.folder / STATEMENT
    # read once: a campaign may write into it meanwhile
    lines = log.lines()
    hashes, leaves = [leaf_hash(line) for line in lines], log.leaves(lines)
    if not leaves:
        raise AuditError(
            f"there is no log of {results.name}",
            where=str(log.path),
            todo="run some first; those of the repository enter it by harness reference save",
        )
    root = root_of(hashes).hex()
    last = _last_statement(path, layout)
    before = [EarlierLog(last.size, last.root, str(path))] if last else []
    if earlier := first_other([*before, *earlier_logs(layout, results.folder, lines)], hashes):
        size = counted(earlier.size, "leaf", "leaves")
        raise AuditError(
            f"the log is not the one that had {size} before, grown: it was changed",
            where=f"{log.path}; {earlier.where}",
            todo="restore the log; nothing is ever taken out of it, or changed",
        )
    if faults := shown(faults_of(leaves, results)):
        others = f"; {counted(len(faults) - 1, 'more fault')}" if len(faults) > 1 else ""
        raise AuditError(faults[0].what + others, where=faults[0].where, todo=faults[0].todo)
    content = {
        "_type": STATEMENT_TYPE,
        "predicateType": RESULTS_TYPE,
        "subject": [
            {"name": name, "digest": {"sha256": sha256}} for name, sha256 in results.subjects(root).items()
        ],
        "predicate": {
            "about": results.name,
            "made": now(),
            "harness": __version__,
            "git": git_state(layout),
            "log": {"root": root, "size": len(hashes), "previous": _previous(last, hashes)},
            **told_by(results.folder, leaves),
            "digests": digests_of(layout),
        },
    }
    text = statement_text(content)
    signer = write_signed(path, text, key, allowed_signers(layout))
    statement = parse(text, str(path))
    if signer is not None:
        remember(layout, results.folder, lines, statement)
    return Attestation(statement, signer, path)


def _last_statement(path: Path, layout: Layout) -> Statement | None:
    """The statement that lies there; of a signed one what its envelope holds, whatever became of the file."""
    try:
        if (text := signed_text(path, allowed_signers(layout))) is not None:
            if not path.is_file() or path.read_bytes() != text:
                # a write that was cut short, or somebody changed it: from here on the signed text counts
                log.warning("not the statement that was signed last, which its envelope holds: %s", path)
            return parse(text, str(envelope_path(path)))
        last = read(path.parent)
        if is_signed(path):
            if last is None:
                raise CorruptData("the statement that was signed last is lost", where=str(path))
            signer_of_file(path, allowed_signers(layout))
    except CorruptData as error:
        todo = "restore the files; if they are lost, remove the statement, its signature and its envelope"
        raise AuditError(error.what, where=error.where, todo=todo) from None
    return last


def _previous(last: Statement | None, hashes: Sequence[bytes]) -> dict[str, Any] | None:
    """The last statement, and the proof that this log is that one's, grown."""
    if last is None or last.size == 0:
        return None
    proof = [one.hex() for one in consistency_proof(hashes, last.size)]
    return {"statement": last.sha256, "size": last.size, "root": last.root, "consistency": proof}
