"""The results that there are, by the digests that a log names them by; and those that are older than the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.files import digest_of, write_atomic
from harness.base.plain_json import read_plain
from harness.base.vocabulary import Verdict
from harness.proof.leaves import Event, Leaf, LoggedResult, account_of, now, scope_of
from harness.proof.log import Log
from harness.proof.plans import load_plan, plan_path
from harness.results.records import record_digest

if TYPE_CHECKING:
    from harness.results.reference import ReferenceResult
    from harness.results.store import Store

# Stands for the digest of what can't be read.
_DAMAGED = "damaged"


def stored_results(store: Store, scores: Path) -> dict[str, LoggedResult]:
    """Every run of the store with its verdict and the digests of its record and of the scores that count."""
    results = {}
    for key in store.finished():
        standing = store.standing(key)
        try:
            results[key] = _stored_result(key, standing.content, scores)
        except (AttributeError, KeyError, TypeError):
            # nothing is there, or what no harness writes
            results[key] = LoggedResult(_DAMAGED, str(standing.verdict), "", "")
    return results


def _stored_result(key: str, content: dict[str, Any], scores: Path) -> LoggedResult:
    is_ok = content["verdict"] == Verdict.OK
    return LoggedResult(
        record_digest(content),
        str(content["verdict"]),
        _score_digest(scores / key[:2] / f"{key}.json", content["files"]) if is_ok else "",
        scope_of(content["planned"]["job"]),
    )


def _score_digest(path: Path, files: Mapping[str, Mapping[str, Any]]) -> str:
    """The digest of kept scores, recomputed; empty where there are none of these files."""
    if not path.is_file():
        return ""
    content = read_plain(path)
    try:
        digest, evidence = content.pop("digest"), content["evidence"]
        if any(files[name]["sha256"] != sha256 for name, sha256 in evidence.items()):
            return ""  # of another run under this key: nobody reads them
        return str(digest) if digest == digest_of(content) else _DAMAGED
    except (AttributeError, KeyError, TypeError):
        return _DAMAGED


def reference_results(entries: Mapping[str, ReferenceResult]) -> dict[str, LoggedResult]:
    """The same of committed results."""
    return {
        key: LoggedResult(
            record_digest(entry.content),
            str(entry.content["verdict"]),
            entry.scores.to_json()["digest"] if entry.scores else "",
            scope_of(entry.content["planned"]["job"]),
        )
        for key, entry in entries.items()
    }


def take_over(source: Log, target: Log, jobs: Set[str], results: Mapping[str, LoggedResult]) -> None:
    """Let a log grow by what another says of these jobs, until it agrees with the results beside it.

    Leaves are taken as they are: of the jobs, of runs that were removed, and of every plan that a job is part of.
    What no leaf says of the results follows: what is gone was removed, what is there was imported.
    """
    held, known = set(target.lines()), account_of(target.leaves()).results
    leaves = source.leaves()
    wanted = {*jobs, *results, *account_of(leaves).removals}
    lines = []
    for leaf in leaves:
        if leaf.kind is Event.PLAN:
            is_part = leaf.line not in held and any(
                cell.key in wanted for cell in load_plan(source.folder, leaf.plan)
            )
            if is_part:
                path = plan_path(target.folder, leaf.plan)
                write_atomic(path, plan_path(source.folder, leaf.plan).read_bytes())
                lines.append(leaf.line)
        elif leaf.kind is Event.IMPORT and leaf.key in known and known[leaf.key].record == leaf.record:
            # that it was there says nothing new
            continue
        elif leaf.key in wanted and leaf.line not in held:
            lines.append(leaf.line)
    target.append_lines(lines)
    account = account_of(target.leaves())
    target.append(
        [
            Leaf(Event.REMOVAL, now(), result.scope, key=key, note="outgrown: code, images or data changed since")
            for key, result in account.results.items()
            if key not in results and Verdict(result.verdict).is_final
        ]
    )
    others = {
        key: result
        for key, result in results.items()
        if key not in account.results or not account.results[key].agrees(result)
    }
    note = "no leaf of the store says how it came about"
    target.append([*import_leaves(others, note)])


def import_leaves(results: Mapping[str, LoggedResult], note: str) -> Iterable[Leaf]:
    """A leaf for each result whose events were never logged."""
    for key, result in results.items():
        score = result.score if result.verdict == Verdict.OK else ""
        yield Leaf(Event.IMPORT, now(), result.scope, key, result.record, result.verdict, score, note=note)
