"""Statements: what a set of results is, in one file that can be signed (in-toto Statement, version 1).

Its subjects are the root of the log and the files of the results. What it says of them is its predicate: the git
commit, the size and root of the log, how many results have which verdict, which plans there were and what of them
has no result, and digests of all that results are judged by.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import CorruptData
from harness.base.plurals import counted

STATEMENT = "statement.json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
RESULTS_TYPE = "https://permafrost.invalid/results/v1"
ROOT_SUBJECT = "log.jsonl: root of the tree (RFC 6962)"
_PARTS = {
    *("about", "made", "harness", "git", "log", "leaves", "results", "verdicts", "removals", "imported"),
    *("plans", "unplanned", "digests"),
}


@dataclass(frozen=True)
class Statement:
    """A statement as it was written. Whether it is signed, `harness.proof.signature` tells."""

    text: bytes
    predicate: dict[str, Any]
    subjects: dict[str, str]

    @property
    def sha256(self) -> str:
        """The digest of the file."""
        return hashlib.sha256(self.text).hexdigest()

    @property
    def made(self) -> str:
        """When it was made."""
        return str(self.predicate["made"])

    @property
    def commit(self) -> str:
        """The git commit of the repository then; empty where there was none."""
        return str(self.predicate["git"].get("commit", ""))

    @property
    def tree(self) -> str:
        """The git tree of that commit."""
        return str(self.predicate["git"].get("tree", ""))

    @property
    def root(self) -> str:
        """The root of the log."""
        return str(self.predicate["log"]["root"])

    @property
    def size(self) -> int:
        """The number of leaves of the log."""
        return int(self.predicate["log"]["size"])

    @property
    def verdicts(self) -> dict[str, int]:
        """How many results have which verdict."""
        return dict(self.predicate["verdicts"])

    @property
    def plans(self) -> list[dict[str, Any]]:
        """Every plan: its digest, name and number of cells, and how many of them have no leaf."""
        return list(self.predicate["plans"])

    @property
    def missing(self) -> int:
        """Planned cells without a leaf."""
        return sum(int(plan["missing"]) for plan in self.plans)

    @property
    def remarks(self) -> list[str]:
        """What a reader must know of the counts: what nobody watched, planned, made or kept."""
        told = []
        if imported := int(self.predicate["imported"]):
            told.append(
                f"{counted(imported, 'import')}: results from before the log, or of which no other leaf tells"
            )
        if not self.plans:
            told.append("no plan is in the log: nothing in it tells what was to be run")
        else:
            told.append(f"planned cells without a leaf: {self.missing}")
            if unplanned := int(self.predicate["unplanned"]):
                told.append(f"results that no plan had announced: {unplanned}")
        if removals := dict(self.predicate["removals"]):
            told.append(f"removed: {', '.join(f'{verdict} {count}' for verdict, count in removals.items())}")
        return told

    @property
    def digests(self) -> dict[str, str]:
        """`digests_of` the repository then."""
        return dict(self.predicate["digests"])


def read(folder: Path) -> Statement | None:
    """The statement about the results of a folder; None where there is none, `CorruptData` where it is broken."""
    path = folder / STATEMENT
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    return parse(text, str(path))


def parse(text: bytes, where: str) -> Statement:
    """A statement about results; `CorruptData` for anything else."""
    try:
        content = json.loads(text)
        predicate = content["predicate"]
        subjects = {str(one["name"]): str(one["digest"]["sha256"]) for one in content["subject"]}
        is_ours = (content["_type"], content["predicateType"]) == (STATEMENT_TYPE, RESULTS_TYPE)
        statement = Statement(text, predicate, subjects)
        is_whole = set(predicate) == _PARTS and statement.size >= 0 and statement.missing >= 0
        # nothing but what is written: of a name that stands there twice another reader takes the other value
        is_plain = statement_text(content) == text
        if not is_ours or not is_whole or not is_plain or subjects[ROOT_SUBJECT] != statement.root:
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise CorruptData("no statement about results", where=where, todo="restore the file") from None
    return statement


def statement_text(content: dict[str, Any]) -> bytes:
    """The text of a statement's file."""
    return (json.dumps(content, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
