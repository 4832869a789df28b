"""The result of the artifact in a few facts: claims and cells by verdict, the last audit, and who signed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.layout import Layout
from harness.base.plurals import form_of
from harness.compare import Book, ClaimVerdict
from harness.proof.keys import allowed_signers
from harness.proof.log import Log
from harness.proof.signature import is_signed, signer_of_file
from harness.proof.statement import STATEMENT, read
from harness.proof.tree import root_of
from harness.results.last_audit import REFERENCE, STORED, digest_of_keys, read_last_audit
from harness.results.reference import load_reference
from harness.results.store import Store
from harness.status import Table

_COMMANDS = {STORED: "harness audit --all", REFERENCE: "harness audit --reference"}
_STATEMENTS = {STORED: "harness attest", REFERENCE: "harness attest --reference"}
_NAMES = {STORED: "the runs made here", REFERENCE: "the reference results"}
_AUDITS = {of: f"Audit of {name}" for of, name in _NAMES.items()}


@dataclass(frozen=True)
class Headlines:
    """What a reader should know first. `lines` are further facts, each with its name."""

    claims: int
    reproduced: int
    deviating: int
    planned: int
    cells: tuple[tuple[str, int], ...]
    lines: tuple[tuple[str, str], ...]

    @property
    def undecided(self) -> int:
        """Claims that no run decided, or none can."""
        return self.claims - self.reproduced - self.deviating

    @property
    def audits(self) -> dict[str, str]:
        """What is told of audits, by name: of all that a report tells, this alone depends on the machine."""
        return {name: text for name, text in self.lines if name in _AUDITS.values()}


def make_headlines(
    layout: Layout,
    table: Table,
    books: Sequence[Book],
    audits: Mapping[str, str] | None = None,
) -> Headlines:
    """The facts of a table and of the claims beside it; of audits what another report told, if that is given."""
    tally = {one: sum(book.tally[one] for book in books) for one in ClaimVerdict}
    runs = {run.key: run.reference for book in books for run in book.obtained}
    references = {scored.reference for scored in table.cells if scored.cell.record} or {False}
    references |= {*runs.values()}
    sets: list[tuple[str, Path, Callable[[], Iterable[str]]]] = [
        (STORED, layout.local, Store(layout.runs).finished),
        (REFERENCE, layout.reference, partial(load_reference, layout)),
    ]
    lines = [("Claims rest on", _basis([*runs.values()]))] if runs else []
    for of, folder, keys in sets:
        if (of == REFERENCE) in references:
            name = _AUDITS[of]
            told = _audit(layout, of, list(keys())) if audits is None else audits.get(name, "")
            lines.append((name, told))
            lines.append((f"Signature of {_NAMES[of]}", _signature(layout, of, folder)))
    return Headlines(
        claims=sum(tally.values()),
        reproduced=tally[ClaimVerdict.REPRODUCED],
        deviating=tally[ClaimVerdict.DEVIATES],
        planned=len(table.cells),
        cells=tuple(
            (str(verdict), count) for verdict, count in sorted(table.counts.items(), key=lambda one: -one[1])
        ),
        lines=tuple(lines),
    )


def _basis(references: Sequence[bool]) -> str:
    """`3 runs made here and 7,225 committed reference results`."""
    committed = sum(references)
    made = len(references) - committed
    parts = [f"{made:,} {form_of('run', made)} made here"] if made else []
    parts += [f"{committed:,} committed reference {form_of('result', committed)}"] if committed else []
    return " and ".join(parts)


def _signature(layout: Layout, of: str, folder: Path) -> str:
    """`by ada@example.org (SHA256:...); statement of 2026-11-23T02:10:00Z: 2,486 leaves, root 1f2e...`."""
    path = folder / STATEMENT
    try:
        statement = read(folder)
        if statement is None:
            return f"not signed: there is no statement; {_STATEMENTS[of]} makes one"
        signed = is_signed(path)
        signer = f"by {signer_of_file(path, allowed_signers(layout))}" if signed else "not signed"
    except HarnessError as error:
        return f"does not hold: {error.what} ({path.name})"
    log = Log(folder)
    hashes = log.hashes()
    if root_of(hashes[: statement.size]).hex() != statement.root:
        # cut, changed or in another order; what only grew is told below
        what = f"the log is not the one that was {'signed' if signed else 'stated'}"
        return f"does not hold: {what} ({log.path.name})"
    since = "" if len(hashes) == statement.size else f"; the log has {len(hashes):,} now"
    made = f"{statement.made}, commit {statement.commit[:12]}" if statement.commit else statement.made
    return f"{signer}; statement of {made}: {statement.size:,} leaves, root {statement.root[:16]}{since}"


def _audit(layout: Layout, of: str, keys: Sequence[str]) -> str:
    """`2026-11-23 02:10 UTC: 38 of 38 passed, 3 of them run again; by tree 1f2e3d4c5b6a`."""
    audit = read_last_audit(layout, of)
    if audit is None:
        return f"not made on this machine yet; `{_COMMANDS[of]}` looks at all {len(keys):,}"
    counts = {"failed": audit.failed, "superseded": audit.superseded, "unfinished": audit.unfinished}
    parts = [
        f"{audit.passed:,} of {audit.results:,} passed",
        *(f"{n:,} {name}" for name, n in counts.items() if n),
    ]
    parts += [f"{audit.replayed:,} of them run again"] if audit.replayed else []
    text = f"{audit.at}: {', '.join(parts)}; by tree {audit.tree[:12] or 'unknown to git'}"
    text += " with changes" if audit.tree.endswith("+") else ""
    since = digest_of_keys(keys) != audit.digest
    return f"{text}; results have come or gone since" if since else text
