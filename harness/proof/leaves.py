"""Leaves: one line of canonical JSON for each thing that happened to a result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from harness.base.errors import CorruptData
from harness.base.files import canonical_json
from harness.base.vocabulary import Verdict


class Event(StrEnum):
    """What happened."""

    PLAN = "plan"
    RECORD = "record"
    FAILURE = "failure"
    AMENDMENT = "amendment"
    SCORE = "score"
    REMOVAL = "removal"
    IMPORT = "import"
    MERGE = "merge"
    DUPLICATE = "duplicate"


# These say what the result of a key is from then on.
_RESULTS = frozenset({Event.RECORD, Event.FAILURE, Event.AMENDMENT, Event.IMPORT, Event.DUPLICATE})


def makes_result(kind: str) -> bool:
    """Whether such a leaf says what the result of its key is from then on."""
    return kind in _RESULTS


def ends_result(kind: str) -> bool:
    """Whether there is no result of its key any more after such a leaf."""
    return kind == Event.REMOVAL


@dataclass(frozen=True)
class Leaf:
    """One event. `record` and `score` are digests; `plan` is that of a plan, `cells` the number of its cells.

    `root` is that of another log, `parts` are the places of its leaves in this one.
    """

    kind: Event
    at: str
    scope: str = ""  # a plan need have no name
    key: str = ""
    record: str = ""
    verdict: str = ""
    score: str = ""
    plan: str = ""
    cells: int = 0
    note: str = ""
    root: str = ""
    parts: str = ""

    @property
    def contents(self) -> str:
        """The digest of the file that the event wrote."""
        return self.score if self.kind is Event.SCORE else self.record

    @property
    def line(self) -> bytes:
        """Its one text. What is empty is left out."""
        values = {name: value for name in _NAMES if (value := getattr(self, name))}
        return canonical_json(values)


_NAMES = tuple(one.name for one in fields(Leaf))


def now() -> str:
    """The time that a leaf says."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_leaf(line: bytes, where: str) -> Leaf:
    """The leaf of a line; `CorruptData` where it is none, or not written as we write."""
    try:
        values = json.loads(line)
        leaf = Leaf(**{**values, "kind": Event(values["kind"])})
        is_typed = all(isinstance(value, int if name == "cells" else str) for name, value in values.items())
        if leaf.line != line or not is_typed:
            raise ValueError
        if leaf.verdict:
            Verdict(leaf.verdict)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise CorruptData("no leaf of a log", where=where, todo="restore the file; nobody edits a log") from None
    return leaf


def result_leaf(content: Mapping[str, Any], kind: Event | None = None) -> Leaf:
    """The leaf of a record: of a failure where it did not end ok, unless it is of another kind."""
    verdict = str(content["verdict"])
    kind = kind or (Event.RECORD if verdict == Verdict.OK else Event.FAILURE)
    scope = scope_of(content["planned"]["job"])
    return Leaf(kind, now(), scope, key=content["key"], record=content["digest"], verdict=verdict)


def scope_of(job: Mapping[str, Any]) -> str:
    """What a job's leaf is about, for people: `repurposing: bnnr/published on fdataset, random-17263407`."""
    split = job["split"]
    choices = "".join(f"-{name}={value}" for name, value in sorted(split["parameters"].items()))
    row, data = (
        f"{job['method']}/{job['variant']}",
        f"{job['dataset']}, {split['strategy']}{choices}-{split['seed']}",
    )
    return f"{job['benchmark']}: {row} on {data}"


@dataclass(frozen=True)
class LoggedResult:
    """A result by its digests: of its record and, where there are any, of its scores; and by which leaf."""

    record: str
    verdict: str
    score: str
    scope: str
    leaf: int = 0

    def agrees(self, there: LoggedResult) -> bool:
        """Whether a result that lies there is the one of the log. Its scores may be missing: they can be made."""
        same = (self.record, self.verdict) == (there.record, there.verdict)
        return same and there.score in ("", self.score)


@dataclass(frozen=True)
class Account:
    """What all leaves together say: which results there are, and which were removed."""

    results: dict[str, LoggedResult] = field(default_factory=dict)
    removals: dict[str, LoggedResult] = field(default_factory=dict)


def account_of(leaves: Iterable[Leaf]) -> Account:
    """The newest leaf of each key counts."""
    account = Account()
    for number, leaf in enumerate(leaves, start=1):
        if makes_result(leaf.kind):
            account.results[leaf.key] = LoggedResult(leaf.record, leaf.verdict, leaf.score, leaf.scope, number)
            account.removals.pop(leaf.key, None)
        elif leaf.kind is Event.SCORE:
            before = account.results.get(leaf.key)
            if before is not None and before.record == leaf.record:
                account.results[leaf.key] = LoggedResult(
                    before.record, before.verdict, leaf.score, before.scope, number
                )
        elif ends_result(leaf.kind) and leaf.key in account.results:
            account.removals[leaf.key] = account.results.pop(leaf.key)
    return account
