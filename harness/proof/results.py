"""A set of results that a statement is about, held against its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.files import sha256_of
from harness.base.vocabulary import Verdict
from harness.proof.leaves import Event, Leaf, LoggedResult, account_of, ends_result, makes_result
from harness.proof.log import LOG, Log
from harness.proof.merges import broken_merges
from harness.proof.plans import summary
from harness.proof.statement import ROOT_SUBJECT

_MOST = 20


@dataclass(frozen=True)
class ResultSet:
    """Results by key, the folder of their log, and the files that hold them where these are few."""

    name: str
    folder: Path
    results: Mapping[str, LoggedResult]
    files: Sequence[Path] = ()
    # the command that makes a statement about them
    stated_by: str = "harness attest"

    @property
    def log(self) -> Log:
        """Their log."""
        return Log(self.folder)

    def subjects(self, root: str) -> dict[str, str]:
        """What a statement is about: the root of the log, and files with their sha256."""
        # without a log a statement is about more than there is
        files = [path for path in (self.log.path, *self.files) if path.is_file()]
        return {ROOT_SUBJECT: root, **{self._name(path): sha256_of(path) for path in sorted(files)}}

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


@dataclass(frozen=True)
class ProofFault:
    """Something that should not be: what, where, and what to do."""

    what: str
    where: str
    todo: str


def faults_of(leaves: Sequence[Leaf], results: ResultSet) -> Iterator[ProofFault]:
    """Where the results are not those that their log tells of."""
    for merge in broken_merges(leaves):
        what = f"{merge.scope} that was merged is not among the leaves any more"
        todo = "restore the log: nothing is ever taken out of it, or changed"
        yield ProofFault(what, f"{LOG}: root {merge.root[:16]}", todo)
    yield from _other_names(leaves, results)
    account = account_of(leaves)
    again = "restore the files; if somebody removed the run by hand on purpose, run it again"
    for key, result in results.results.items():
        logged = account.results.get(key)
        where = f"{result.scope or 'run'} ({key[:12]})"
        if logged is None and key in account.removals:
            yield ProofFault("a result lies there that the log says was removed", where, again)
        elif logged is None:
            yield ProofFault("no leaf of the log tells of this result", where, again)
        elif logged.record != result.record:
            what = (
                f"the record is not the one of leaf {logged.leaf}: {result.record[:12]}, not {logged.record[:12]}"
            )
            yield ProofFault(what, where, again)
        elif logged.verdict != result.verdict:
            what = f"leaf {logged.leaf} says '{logged.verdict}', the record says '{result.verdict}'"
            yield ProofFault(what, where, again)
        elif not logged.agrees(result):
            stated = logged.score[:12] or "none"
            what = f"the scores are not those of leaf {logged.leaf}: {result.score[:12]}, not {stated}"
            yield ProofFault(what, where, "remove the scores and run `harness score` again")
    ended = _ended(leaves)
    for key, logged in account.results.items():
        # of a run that never ended by itself nothing need be kept
        if key not in results.results and key in ended:
            where = f"{logged.scope} ({key[:12]})"
            yield ProofFault(f"the result of leaf {logged.leaf}, '{logged.verdict}', is gone", where, again)


def _other_names(leaves: Iterable[Leaf], results: ResultSet) -> Iterator[ProofFault]:
    """Where a leaf calls a key otherwise than the record does, or than an earlier leaf: a key is of one job."""
    names = {key: result.scope for key, result in results.results.items() if result.scope}
    for number, leaf in enumerate(leaves, start=1):
        # of a run whose record could not be read its removal knows no name
        if leaf.key and leaf.scope and leaf.scope != names.setdefault(leaf.key, leaf.scope):
            what = f"leaf {number} tells of another job under this key: {leaf.scope}"
            todo = "restore the log: nothing is ever taken out of it, or changed"
            yield ProofFault(what, f"{names[leaf.key]} ({leaf.key[:12]})", todo)


def _ended(leaves: Iterable[Leaf]) -> set[str]:
    """The keys whose runs ended by themselves once and were not removed since, whatever was said of them later."""
    ended = set[str]()
    for leaf in leaves:
        # a leaf that somebody wrote by hand may say none
        if makes_result(leaf.kind) and leaf.verdict and Verdict(leaf.verdict).is_final:
            ended.add(leaf.key)
        elif ends_result(leaf.kind):
            ended.discard(leaf.key)
    return ended


def told_by(folder: Path, leaves: Sequence[Leaf]) -> dict[str, Any]:
    """What a statement says that follows from the log and its plans."""
    account = account_of(leaves)
    plans, unplanned = summary(folder, leaves)

    def counts(values: Iterator[str]) -> dict[str, int]:
        return dict(sorted(Counter(values).items()))

    return {
        "leaves": counts(str(leaf.kind) for leaf in leaves),
        "results": len(account.results),
        "verdicts": counts(one.verdict for one in account.results.values()),
        "removals": counts(one.verdict for one in account.removals.values()),
        "imported": sum(1 for leaf in leaves if leaf.kind is Event.IMPORT),
        "plans": plans,
        "unplanned": unplanned,
    }


def shown(faults: Iterable[ProofFault]) -> list[ProofFault]:
    """The first faults, and how many more there are."""
    every = list(faults)
    if len(every) <= _MOST:
        return every
    return [*every[:_MOST], ProofFault(f"and {len(every) - _MOST} more", LOG, "see above")]
