"""Confirmations: a second party ran some of the results again, and signs the same log with a key of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import __version__
from harness.base.errors import AuditError, CorruptData
from harness.base.layout import Layout
from harness.base.machine import processor
from harness.proof.history import EarlierLog, git_state
from harness.proof.keys import Signer, allowed_signers, sign, signer_of
from harness.proof.leaves import now
from harness.proof.signature import envelope_path, sig_path, signer_of_file, write_signed
from harness.proof.statement import ROOT_SUBJECT, STATEMENT_TYPE, Statement, statement_text

FOLDER = "attestations"
REPLAY_TYPE = "https://permafrost.invalid/replay/v1"


@dataclass(frozen=True)
class Confirmation:
    """What a second party says: of which log, and which results came again bit for bit; and whose key it is."""

    path: Path
    log: EarlierLog
    replayed: Sequence[str]
    made: str
    signer: Signer


def confirm(
    layout: Layout, folder: Path, statement: Statement, replayed: Sequence[str], key: Path
) -> Confirmation:
    """Sign the log of a statement, after these results came again on this machine."""
    if not replayed:
        raise AuditError("nothing was run again", where=str(folder), todo="ask for a replay: --replay N")
    content = {
        "_type": STATEMENT_TYPE,
        "predicateType": REPLAY_TYPE,
        "subject": [{"name": ROOT_SUBJECT, "digest": {"sha256": statement.root}}],
        "predicate": {
            "log": {"root": statement.root, "size": statement.size},
            "statement": statement.sha256,
            "replayed": sorted(replayed),
            "made": now(),
            "harness": __version__,
            "git": git_state(layout),
            "processor": processor(),
        },
    }
    signers = allowed_signers(layout)
    # the file is named by the key, which only a signature tells
    probe = signer_of(b"", sign(b"", key), signers)
    assert probe is not None, "ssh-keygen does not believe its own signature"
    path = folder / FOLDER / file_of(probe)
    write_signed(path, statement_text(content), key, signers)
    return _read(path, signers)


def confirmations(folder: Path, signers: Path) -> Iterator[Confirmation]:
    """Every confirmation beside a statement; `CorruptData` where one is not what was signed, or a file is none."""
    paths = sorted((folder / FOLDER).glob("*"))
    files = [path for path in paths if path.suffix == ".json" and not path.name.endswith(".dsse.json")]
    written = {one for path in files for one in (path, sig_path(path), envelope_path(path))}
    if others := [path for path in paths if path not in written]:
        raise CorruptData(f"{others[0].name} is no confirmation", where=str(others[0]), todo="remove it")
    for path in files:
        yield _read(path, signers)


def file_of(signer: Signer) -> str:
    """The name of the file of a key's confirmation: of each key there is one."""
    return f"{hashlib.sha256(signer.fingerprint.encode()).hexdigest()[:16]}.json"


def _read(path: Path, signers: Path) -> Confirmation:
    signer = signer_of_file(path, signers)
    try:
        content = json.loads(path.read_bytes())
        predicate = content["predicate"]
        log = EarlierLog(int(predicate["log"]["size"]), str(predicate["log"]["root"]), str(path))
        if (content["_type"], content["predicateType"]) != (STATEMENT_TYPE, REPLAY_TYPE):
            raise ValueError
        one = Confirmation(path, log, list(map(str, predicate["replayed"])), str(predicate["made"]), signer)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise CorruptData("no confirmation of results", where=str(path), todo="remove it") from None
    if path.name != file_of(signer):
        what = f"a confirmation by {signer} under another name than its key's: it would count again"
        raise CorruptData(what, where=str(path), todo="remove it")
    return one
