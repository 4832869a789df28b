"""Whether a set of results is the one that was stated and signed (`harness audit --signed`), without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.base.errors import CorruptData
from harness.base.few import few_in_line
from harness.base.git import git, name_in_line
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.proof.confirmation import FOLDER, confirmations
from harness.proof.digests import digests_of
from harness.proof.history import (
    earlier_logs,
    first_after,
    first_other,
    is_cut,
    once_committed,
    remember,
    was_signed,
)
from harness.proof.keys import allowed_signers
from harness.proof.leaves import Leaf
from harness.proof.results import ResultSet, faults_of, shown, told_by
from harness.proof.signature import is_signed, signer_of_file
from harness.proof.statement import STATEMENT, Statement, read
from harness.proof.tree import is_extended, leaf_hash, root_of

_NAMED = 8
# What nobody signed yet, where nothing tells that somebody had.
UNSIGNED = "unsigned: anybody can have written this statement"
_RESTORE = "restore it from the repository: nothing is ever taken out of a log, or changed in it"


class Held(StrEnum):
    """What a step came to."""

    OK = "ok"
    FAILED = "FAILED"
    UNKNOWN = "not checked"


@dataclass(frozen=True)
class ProofStep:
    """One thing that must hold: what was found, and where it does not hold where and what to do."""

    name: str
    state: Held
    what: str
    where: str = ""
    todo: str = ""


@dataclass(frozen=True)
class Proof:
    """All steps about one set of results."""

    about: str
    steps: tuple[ProofStep, ...]

    @property
    def failed(self) -> int:
        """How many do not hold."""
        return sum(1 for step in self.steps if step.state is Held.FAILED)


def verify(layout: Layout, results: ResultSet, signers: Path | None = None) -> Proof:
    """Every step from the signature to the results. `signers`: a file of keys to believe, not the repository's."""
    path = results.folder / STATEMENT
    try:
        statement = read(results.folder)
    except CorruptData as error:
        return Proof(results.name, (_failed("statement", error),))
    if statement is None:
        todo = f"make one: {results.stated_by} --key FILE"
        step = ProofStep("statement", Held.FAILED, "there is none", str(path), todo)
        return Proof(results.name, (step,))
    believed = signers or allowed_signers(layout)
    lines = results.log.lines()
    hashes = [leaf_hash(line) for line in lines]
    checks: Mapping[str, Callable[[], Iterator[ProofStep]]] = {
        "signature": lambda: _signature(layout, results, path, believed, lines),
        "log": lambda: _log(results, statement, hashes),
        "history": lambda: _history(layout, results, statement, lines, hashes),
        "results": lambda: _results(results, statement, results.log.leaves(lines)),
        "files": lambda: _files(results, statement),
        "repository": lambda: _repository(layout, results, statement),
        "commit": lambda: _commit(layout, results, statement),
        "confirmations": lambda: _confirmations(layout, results, lines, hashes, believed),
    }
    steps: list[ProofStep] = []
    for name, check in checks.items():
        try:
            steps += check()
        except CorruptData as error:
            steps.append(_failed(name, error))
        except (KeyError, TypeError, ValueError, AttributeError):
            # its outer form is ours: somebody made it so
            what = "the statement is not of the form that we write"
            steps.append(ProofStep(name, Held.FAILED, what, str(path), _again(results)))
    proof = Proof(results.name, tuple(steps))
    if not proof.failed:
        remember(layout, results.folder, lines, statement)
    return proof


def _again(results: ResultSet) -> str:
    return f"look what was changed; if it is meant, make the statement again: {results.stated_by}"


def _failed(name: str, error: CorruptData) -> ProofStep:
    return ProofStep(name, Held.FAILED, error.what, error.where, error.todo)


def _signature(
    layout: Layout, results: ResultSet, path: Path, signers: Path, lines: list[bytes]
) -> Iterator[ProofStep]:
    if not is_signed(path):
        what, where = UNSIGNED, str(path)
        todo = f"whoever answers for these results signs them: {results.stated_by} --key FILE"
        if before := was_signed(layout, results.folder, lines):
            what, where = "unsigned, and one about these results was signed before", before
            todo = "put back the one that was signed, and look what was changed since, before anybody signs again"
        yield ProofStep("signature", Held.FAILED, what, where, todo)
        return
    signer = signer_of_file(path, signers)
    if signer.name:
        what = f"signed by {signer}, as {signers.name} names this key; file and envelope"
        yield ProofStep("signature", Held.OK, what)
    else:
        todo = f"if you know this key, name it in {signers}"
        what = f"signed with a key that nobody vouches for: {signer.fingerprint}"
        yield ProofStep("signature", Held.FAILED, what, str(path), todo)


def _log(results: ResultSet, statement: Statement, hashes: Sequence[bytes]) -> Iterator[ProofStep]:
    where = str(results.log.path)
    if len(hashes) < statement.size:
        what = f"{_leaves(len(hashes))}, of which the statement knows {statement.size}: some were taken out"
        yield ProofStep("log", Held.FAILED, what, where, _RESTORE)
    elif root_of(hashes[: statement.size]).hex() != statement.root:
        what = f"not the statement's first {_leaves(statement.size)}: changed, removed or reordered"
        yield ProofStep("log", Held.FAILED, what, where, _RESTORE)
    elif len(hashes) > statement.size:
        what = f"{_leaves(len(hashes) - statement.size)} newer than the statement"
        yield ProofStep("log", Held.FAILED, what, where, f"make the statement again: {results.stated_by}")
    else:
        yield ProofStep("log", Held.OK, f"the root of {_leaves(len(hashes))} is {statement.root[:16]}")


def _history(
    layout: Layout, results: ResultSet, statement: Statement, lines: list[bytes], hashes: Sequence[bytes]
) -> Iterator[ProofStep]:
    previous = statement.predicate["log"]["previous"]
    if previous is not None:
        proof = [bytes.fromhex(one) for one in previous["consistency"]]
        before, after = bytes.fromhex(previous["root"]), bytes.fromhex(statement.root)
        if is_extended(previous["size"], before, statement.size, after, proof):
            what = f"the last statement's log of {_leaves(previous['size'])}, grown"
            yield ProofStep("previous statement", Held.OK, what)
        else:
            what = "the proof that the log is the last statement's, grown, does not hold"
            yield ProofStep("previous statement", Held.FAILED, what, str(results.folder / STATEMENT), _RESTORE)
    known = list(earlier_logs(layout, results.folder, lines))
    for one in known:
        if one.size > statement.size:
            known_size = _leaves(one.size)
            what = f"an older statement was put back: one about {known_size} is known, this has {statement.size}"
            todo = "restore the newest; for an older checkout on purpose, move that note away"
            yield ProofStep("history", Held.FAILED, what, one.where, todo)
            return
    if newer := first_after(known, statement):
        what = "an older statement was put back: one is known that came after it"
        todo = "restore the newest; for an older checkout on purpose, move the note away that knows of a newer"
        yield ProofStep("history", Held.FAILED, what, newer.where, todo)
        return
    if other := first_other(known, hashes):
        what = f"the log is not the one that had {_leaves(other.size)} before, grown"
        yield ProofStep("history", Held.FAILED, what, other.where, _RESTORE)
    elif is_cut(layout, results.folder):
        what = "the clone is shallow, or objects of it are gone: earlier states may be known of that are not in it"
        yield ProofStep("history", Held.UNKNOWN, what, todo="git fetch --unshallow, or clone it again")
    elif known:
        what = f"grown from all that is known: {counted(len(known), 'earlier state')}"
        yield ProofStep("history", Held.OK, what)
    else:
        yield ProofStep("history", Held.UNKNOWN, "neither commits nor notes of this user know an earlier state")


def _results(results: ResultSet, statement: Statement, leaves: Sequence[Leaf]) -> Iterator[ProofStep]:
    faults = shown(faults_of(leaves, results))
    yield from (ProofStep("results", Held.FAILED, one.what, one.where, one.todo) for one in faults)
    if not faults:
        count = counted(len(results.results), "result")
        what = f"{count}: each is the newest leaf of its key, and none is gone"
        yield ProofStep("results", Held.OK, what)
    told = told_by(results.folder, leaves)
    others = [name for name, value in told.items() if statement.predicate.get(name) != value]
    if others:
        what = f"the statement says otherwise than the log of: {', '.join(others)}"
        yield ProofStep("summary", Held.FAILED, what, str(results.folder / STATEMENT), _again(results))
        return
    counts = ", ".join(f"{verdict} {count}" for verdict, count in statement.verdicts.items())
    yield ProofStep("summary", Held.OK, "; ".join([counts, *statement.remarks]))


def _files(results: ResultSet, statement: Statement) -> Iterator[ProofStep]:
    here = results.subjects(statement.root)
    others = sorted(
        name for name in {*here, *statement.subjects} if here.get(name) != statement.subjects.get(name)
    )
    if others:
        what = f"{counted(len(others), 'file')} not as the statement has it: {_named(others)}"
        yield ProofStep("files", Held.FAILED, what, str(results.folder), _again(results))
    else:
        yield ProofStep("files", Held.OK, f"{counted(len(here) - 1, 'file')} with the sha256 of the statement")


def changed_digests(layout: Layout, statement: Statement) -> list[str]:
    """The parts of the repository that are not what they were when a statement was made, by name."""
    here = digests_of(layout)
    return sorted(name for name in {*here, *statement.digests} if here.get(name) != statement.digests.get(name))


def _repository(layout: Layout, results: ResultSet, statement: Statement) -> Iterator[ProofStep]:
    if others := changed_digests(layout, statement):
        # each of them: where only some are told, one hides behind others that were changed beside it
        named = ", ".join(map(name_in_line, others))
        what = f"{counted(len(others), 'part')} of the repository not as it was: {named}"
        yield ProofStep("repository", Held.FAILED, what, str(layout.root), _again(results))
    else:
        what = f"all {len(statement.digests)} parts (scorers, claims, suites, cards, locks, ...) are as stated"
        yield ProofStep("repository", Held.OK, what)


def _commit(layout: Layout, results: ResultSet, statement: Statement) -> Iterator[ProofStep]:
    tree = git(layout.root, "rev-parse", f"{statement.commit}^{{tree}}").strip() if statement.commit else ""
    if not tree:
        yield ProofStep("commit", Held.UNKNOWN, f"git does not know {statement.commit[:12] or 'one'} here")
    elif tree != statement.tree:
        where = f"commit {statement.commit[:12]}"
        yield ProofStep("commit", Held.FAILED, "its tree is not that of the statement", where, _again(results))
    else:
        yield ProofStep("commit", Held.OK, f"{statement.commit[:12]} has the tree {tree[:12]}")


def _confirmations(
    layout: Layout, results: ResultSet, lines: list[bytes], hashes: Sequence[bytes], signers: Path
) -> Iterator[ProofStep]:
    folder, leaves = results.folder / FOLDER, list[Leaf]()
    for name, commit in once_committed(layout, folder).items():
        if name.endswith(".json") and not (folder / name).is_file():
            what = f"what a second party signed is gone: {name}"
            yield ProofStep("confirmation", Held.FAILED, what, f"commit {commit[:12]}", _RESTORE)
    for one in confirmations(results.folder, signers):
        leaves = leaves or results.log.leaves(lines)
        known = {leaf.key for leaf in leaves[: one.log.size]}
        if first_other([one.log], hashes):
            what = f"{one.signer} signed another log than this one, of {_leaves(one.log.size)}"
            yield ProofStep("confirmation", Held.FAILED, what, str(one.path), _RESTORE)
        elif strange := [key[:12] for key in one.replayed if key not in known]:
            what = f"{one.signer} names results of which this log does not tell: {few_in_line(strange, _NAMED)}"
            yield ProofStep("confirmation", Held.FAILED, what, str(one.path), "have it signed again, or remove it")
        elif one.signer.name:
            again = counted(len(one.replayed), "result")
            # nothing but the key's own word tells that these replays were made
            who = f"{one.signer}, as {signers.name} names this key,"
            what = f"{who} says to have run {again} again, of the first {_leaves(one.log.size)}"
            yield ProofStep("confirmation", Held.OK, what)
        else:
            what = f"of a key that nobody vouches for, {one.signer.fingerprint}: it counts for nothing"
            yield ProofStep("confirmation", Held.UNKNOWN, what, str(one.path))


def _named(files: Sequence[str]) -> str:
    return few_in_line([name_in_line(name) for name in files], _NAMED)


def _leaves(count: int) -> str:
    return counted(count, "leaf", "leaves")
