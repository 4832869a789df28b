"""Merging: the runs of another results folder, verified and taken into the store with all that its log says.

Nothing in the other folder is changed. Each of its records must be the newest leaf of its log, and each file must
have the recorded sha256: what is damaged is refused by name, and the others go on. Where both stores have a run,
ours stays, and whether theirs agrees bit for bit is told and logged.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import CorruptData, UsageError
from harness.base.files import sha256_of, write_atomic, write_json
from harness.base.layout import Layout
from harness.base.ownership import own_folder
from harness.base.plain_json import read_plain
from harness.base.progress import Progress, Silent
from harness.base.vocabulary import Verdict
from harness.planning.obstacles import Obstacles
from harness.proof.leaves import Account, Event, Leaf, LoggedResult, account_of, now, parse_leaf, scope_of
from harness.proof.log import Log
from harness.proof.merges import broken_merges, merged_lines
from harness.proof.plans import load_plan, plan_path
from harness.results.arrivals import RUNS, SCORES, are_waiting, arrive, settle
from harness.results.records import RECORD_FILE, Record, record_digest
from harness.results.scoring import is_whole
from harness.results.store import Store

_CHUNK = 1 << 20
# Such a failure depends on how fast and how large a machine is, too.
_OF_THE_MACHINE = (Verdict.MEMORY, Verdict.TIMEOUT)


@dataclass(frozen=True)
class MergedRun:
    """A run of the other folder of which something is to be told; `unstable`: ours is no result any more."""

    key: str
    label: str
    what: str
    where: str = ""
    unstable: bool = False


@dataclass
class Merged:
    """What came of a folder: runs that were taken, by verdict; `known` ones had nothing to be taken.

    Of runs that are here too `equal` ones have equal answers. Those `in_other_order` found their items in another
    order than ours and gave other bits, as methods may that depend on it: that says nothing against either.
    """

    folder: Path
    taken: Counter[str] = field(default_factory=Counter)
    known: int = 0
    equal: int = 0
    in_other_order: int = 0
    refused: list[MergedRun] = field(default_factory=list)
    disagreements: list[MergedRun] = field(default_factory=list)
    # digests of the plans that its log tells of
    plans: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Run:
    """A whole run of the other folder, by what it is compared with and logged as."""

    verdict: Verdict
    reason: str
    label: str
    files: Mapping[str, str]
    order: str
    logged: LoggedResult


@dataclass(frozen=True)
class _Other:
    """Another results folder as it was at one moment."""

    folder: Path
    keys: tuple[str, ...]
    leaves: tuple[Leaf, ...]
    account: Account

    @property
    def store(self) -> Store:
        return Store(self.folder / RUNS)

    def name(self, key: str) -> str:
        """A run in words, also where its record can't be read."""
        logged = self.account.results.get(key)
        return logged.scope if logged and logged.scope.isprintable() else f"run {key[:12]}"


def check_source(layout: Layout, folder: Path) -> None:
    """Raise unless a folder is a results folder, and another one than ours."""
    if not (folder / RUNS).is_dir():
        raise UsageError(
            "there are no runs to merge",
            where=str(folder),
            todo="name the results folder of another machine, or a copy of it: results/local of its tree, "
            "or what $PERMAFROST_RESULTS named there",
        )
    if layout.local.is_dir() and folder.samefile(layout.local):
        raise UsageError("a store can't be merged with itself", where=str(folder), todo="name another folder")


def merge(layout: Layout, folder: Path, progress: Progress | None = None) -> Merged:
    """Take the runs of another results folder into the store: every whole one, or none where the merge is killed.

    `CorruptData` where what its log says can't be believed; nothing of it is taken then.
    """
    progress = progress or Silent()
    with _can_be_read(folder):
        other, store = _read(folder), Store(layout.runs)
    merged = Merged(folder, plans=[leaf.plan for leaf in other.leaves if leaf.kind is Event.PLAN])
    for digest in merged.plans:
        write_atomic(plan_path(layout.local, digest), plan_path(folder, digest).read_bytes())
    ready = Path(tempfile.mkdtemp(dir=own_folder(layout.local / "work"), prefix="merging-"))
    try:
        progress.begin(f"merging {folder}", len(other.keys))
        runs = dict(_verified(other, store, ready, merged, progress))
        merged.refused += _gone(other)
        with store.open_log() as (log, notes):
            for note in notes:
                progress.note(note)
            _decide(store, runs, ready, merged)
            lines = _events(other, log, runs, ready, merged)
            if lines or merged.taken:
                arrive(ready, log, lines)
                settle(log)
    finally:
        shutil.rmtree(ready, ignore_errors=True)
    for key in runs:
        Obstacles(layout.runs).clear("run", key)
    for run in merged.disagreements:
        if run.unstable:
            reason = f"on another machine {run.what}"
            store.amend(store.record(run.key).model_copy(update={"verdict": Verdict.UNSTABLE, "reason": reason}))
    return merged


def _read(folder: Path) -> _Other:
    """The runs that lie in a folder, and what its log says of them."""
    store, log = Store(folder / RUNS), Log(folder)
    with store.undisturbed():
        if are_waiting(log):
            todo = "let it come to an end: harness store merge, with the same folders as there"
            raise CorruptData("a merge into this folder was killed", where=str(folder), todo=todo)
        keys, lines = tuple(store.finished()), log.lines()
        last = store.unfinished()
    if last is not None:
        lines.append(last.line)
    leaves = tuple(parse_leaf(line, f"{log.path}: line {number}") for number, line in enumerate(lines, start=1))
    for leaf in leaves:
        if leaf.kind is Event.PLAN:
            load_plan(folder, leaf.plan)
    if broken := next(broken_merges(leaves), None):
        todo = "restore the log: nothing is ever taken out of it, or changed"
        raise CorruptData(
            f"{broken.scope} that was merged is not among the leaves", where=str(log.path), todo=todo
        )
    return _Other(folder, keys, leaves, account_of(leaves))


def _verified(
    other: _Other, store: Store, ready: Path, merged: Merged, progress: Progress
) -> Iterator[tuple[str, _Run]]:
    """Every run that is whole. Those that may be taken are copied, and the copies are what is verified."""
    for key in other.keys:
        try:
            record = _record(other, key)
            standing = store.standing(key)
            if not standing.verdict.is_final:
                _copy(other, record, ready / RUNS / key[:2] / key)
            elif record_digest(standing.content) != _digest(record):
                with _can_be_read(other.store.path(key)):
                    other.store.check(record)
        except CorruptData as error:
            merged.refused.append(MergedRun(key, other.name(key), error.what, error.where))
            progress.step(f"refused: {other.name(key)}: {error.what}")
            continue
        job = record.planned.job
        score = _copy_scores(other, record, ready / SCORES / key[:2] / f"{key}.json")
        logged = LoggedResult(_digest(record), str(record.verdict), score, scope_of(job.model_dump(mode="json")))
        yield key, _Run(record.verdict, record.reason, job.label, record.answer, record.order, logged)
        progress.step(f"{record.verdict}: {job.label}")


def _record(other: _Other, key: str) -> Record:
    """A record, if it is the one that the log of its store tells of."""
    record, logged = other.store.record(key), other.account.results.get(key)
    if not record.planned.job.label.isprintable():
        raise CorruptData("its job has a name that can't be printed", where=str(other.store.path(key)))
    if other.leaves:
        where = str(other.store.path(key))
        if logged is None:
            raise CorruptData("no leaf of its log tells of this run", where=where)
        if (logged.record, logged.verdict) != (_digest(record), record.verdict):
            raise CorruptData(f"the record is not the one of leaf {logged.leaf} of its log", where=where)
    return record


def _copy(other: _Other, record: Record, target: Path) -> None:
    """Copy a run, and compare what was copied with the record."""
    source = other.store.path(record.key)
    target.mkdir(parents=True, exist_ok=True)
    try:
        for name, file in record.files.items():
            if not (source / name).is_file():
                raise CorruptData("a file of a run is missing", where=str(source / name))
            write_atomic(target / name, _pieces(source / name))
            if sha256_of(target / name) != file.sha256:
                raise CorruptData("a file of a run differs from its record", where=str(source / name))
    except CorruptData:
        shutil.rmtree(target)
        raise
    write_json(target / RECORD_FILE, record.to_json())


def _pieces(path: Path) -> Iterator[bytes]:
    """The content of a file of the other folder."""
    with _can_be_read(path), path.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            yield piece


@contextmanager
def _can_be_read(place: Path) -> Iterator[None]:
    """A block that reads the other folder and writes nothing: what the system refuses is that folder's fault."""
    try:
        yield
    except OSError as error:
        raise CorruptData(f"it can't be read: {error.strerror}", where=str(error.filename or place)) from None


def _copy_scores(other: _Other, record: Record, target: Path) -> str:
    """The digest of a run's scores, which are copied; empty where its log tells of no such scores.

    They are not missed: whoever asks for them computes them again.
    """
    if record.verdict is not Verdict.OK:
        return ""
    content = read_plain(other.folder / SCORES / record.key[:2] / f"{record.key}.json")
    if not is_whole(content) or (content["key"], content["evidence"]) != (record.key, record.evidence):
        return ""
    logged = other.account.results.get(record.key)
    if other.leaves and (logged is None or logged.score != content["digest"]):
        return ""
    write_json(target, content)
    return str(content["digest"])


def _gone(other: _Other) -> Iterator[MergedRun]:
    """Results that the other log tells of, and that are not there."""
    there = set(other.keys)
    for key, logged in other.account.results.items():
        # of a run that did not end by itself nothing need be kept
        if key not in there and Verdict(logged.verdict).is_final:
            what = f"leaf {logged.leaf} of its log tells of '{logged.verdict}', and the run is not there"
            yield MergedRun(key, other.name(key), what)


def _decide(store: Store, runs: dict[str, _Run], ready: Path, merged: Merged) -> None:
    """Leave those runs ready that the store lacks, and tell of each other one how it stands to ours.

    Looked at with the lock held: a harness may have finished the same job meanwhile.
    """
    for key, run in list(runs.items()):
        copy, standing = ready / RUNS / key[:2] / key, store.standing(key)
        is_wanted = not standing.verdict.is_final and (run.verdict.is_final or not standing.content)
        if is_wanted and copy.is_dir():
            merged.taken[str(run.verdict)] += 1
            continue
        shutil.rmtree(copy, ignore_errors=True)
        (ready / SCORES / key[:2] / f"{key}.json").unlink(missing_ok=True)
        if is_wanted:
            merged.refused.append(MergedRun(key, run.label, "ours was removed during the merge: merge again"))
            del runs[key]
        elif not run.verdict.is_final or record_digest(standing.content) == run.logged.record:
            merged.known += 1
        elif _differ_by_order(ours := store.record(key), run):
            merged.in_other_order += 1
        elif difference := _difference(ours, run):
            merged.disagreements.append(difference)
        else:
            merged.equal += 1


def _differ_by_order(ours: Record, theirs: _Run) -> bool:
    """Whether two answers differ that were given to items in different orders: only a replay tells more."""
    both_ok = ours.verdict is Verdict.OK and theirs.verdict is Verdict.OK
    return both_ok and ours.order != theirs.order and ours.answer != theirs.files


def _difference(ours: Record, theirs: _Run) -> MergedRun | None:
    """How a finished run of ours and theirs differ, which should be the same; None where they are."""
    which = f"(record {theirs.logged.record[:12]})"
    if ours.verdict is not theirs.verdict:
        what = f"it ended as '{theirs.verdict}' {which}: {theirs.reason}"
        is_shaken = ours.verdict is Verdict.OK and theirs.verdict not in _OF_THE_MACHINE
        return MergedRun(ours.key, theirs.label, what, unstable=is_shaken)
    answer = ours.answer
    others = [name for name in {**answer, **theirs.files} if answer.get(name) != theirs.files.get(name)]
    # of failures nothing but the verdict must come again
    if not others or ours.verdict is not Verdict.OK:
        return None
    what = f"it gave another {', '.join(others)} {which}"
    return MergedRun(ours.key, theirs.label, what, unstable=ours.verdict is Verdict.OK)


def _events(other: _Other, log: Log, runs: Mapping[str, _Run], ready: Path, merged: Merged) -> list[bytes]:
    """What our log is to take in: the other one as it is, and then what is true of the runs here all the same."""
    held, ours = log.lines(), account_of(log.leaves())
    lines = merged_lines(held, [leaf.line for leaf in other.leaves])
    new = [parse_leaf(line, "") for line in lines]
    said = account_of([*log.leaves(), *new]).results
    refused = {run.key: run.what for run in merged.refused}
    notes = {run.key: f"not that of the other log: {run.what}" for run in merged.disagreements}
    for key in dict.fromkeys([*(leaf.key for leaf in other.leaves if leaf.key), *runs]):
        before, now_said = ours.results.get(key), said.get(key)
        if (ready / RUNS / key[:2] / key).is_dir():
            run = runs[key].logged
            if now_said is None or not now_said.agrees(run):
                note = "merged from a store whose log does not tell of it" if not other.leaves else "merged again"
                lines.append(_leaf(Event.IMPORT, key, run, note))
        elif before is not None:
            if now_said is None or not now_said.agrees(before):
                note = notes.get(key, "not that of the other log, which is equal, of another order or no result")
                lines.append(_leaf(Event.DUPLICATE, key, before, note))
        elif now_said is not None and Verdict(now_said.verdict).is_final:
            # two logs that removed it at the same moment share that leaf, which stands before the other's record
            why = refused.get(key)
            note = f"refused when it was merged: {why}" if why else "removed where it was made"
            lines.append(Leaf(Event.REMOVAL, now(), now_said.scope, key=key, note=note).line)
    return lines


def _leaf(kind: Event, key: str, result: LoggedResult, note: str) -> bytes:
    return Leaf(kind, now(), result.scope, key, result.record, result.verdict, result.score, note=note).line


def _digest(record: Record) -> str:
    return str(record.to_json()["digest"])
