"""Reference results: what this artifact itself got, committed as records and scores without the predictions.

One gzipped file per method, variant, dataset and split under results/reference/, one line per seed. A line
holds a run's whole record, whose digest names every file of the run, and its scores. So a reference result can
be shown where nothing was run, held against a claim, and above all proved: the same job, run again, must give
files with the same sha256 (`harness audit --reference --replay N`).
"""

from __future__ import annotations

import gzip
import json
import shlex
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from glob import escape
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from harness import benchmarks
from harness.base.errors import CorruptData, UsageError
from harness.base.file_state import FileState, state_of
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.plain_json import parse_plain
from harness.base.plurals import counted, form_of
from harness.base.settings import split_settings
from harness.base.vocabulary import Verdict
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import Present
from harness.proof.log import Log
from harness.results.digests import reference_results, take_over
from harness.results.records import Record, checked_fields
from harness.results.scoring import Scores, parse_scores, score_run, scorer_digest
from harness.results.store import Store
from harness.splits import recorded_split
from harness.splits.checksums import recorded_path

_SUFFIX = ".jsonl.gz"
# how a line begins, and what stands between its two parts
_RECORD, _SCORES = '{"record":', ',"scores":'


@dataclass(frozen=True)
class ReferenceResult:
    """One reference result: the fields of its record, and the scores of a run that ended ok."""

    content: dict[str, Any]
    scores: Scores | None
    where: str

    @property
    def planned(self) -> PlannedJob:
        """What was run."""
        return self.record.planned

    @cached_property
    def record(self) -> Record:
        """The record, validated."""
        return Record.model_validate(self.content)

    @property
    def fresh_scores(self) -> Scores | None:
        """The scores, or None if the code of the metrics has changed since."""
        scorer = scorer_digest(self.content["planned"]["job"]["benchmark"])
        return self.scores if self.scores and self.scores.scorer == scorer else None


def load_reference(layout: Layout, *benchmarks: str, methods: Collection[str] = ()) -> dict[str, ReferenceResult]:
    """All committed reference results by key, or those of some benchmarks and of some methods of them.

    A changed file is refused.
    """
    folders = [layout.reference / name for name in sorted(benchmarks)] or [layout.reference]
    paths = [path for folder in folders for path in sorted(folder.rglob(f"*{_SUFFIX}"))]
    if not methods:
        return _by_key(layout, paths)
    entries = _by_key(layout, (path for path in paths if _may_be_of(path, methods)))
    return {key: one for key, one in entries.items() if one.content["planned"]["job"]["method"] in methods}


def find_reference(layout: Layout, beginning: str) -> dict[str, ReferenceResult]:
    """The committed reference results whose keys begin so. Files in which no text does are not parsed."""
    text = f'"{beginning}'.encode()
    paths = [path for path, content in _files(layout) if text in content]
    return {key: entry for key, entry in _by_key(layout, paths).items() if key.startswith(beginning)}


def count_reference(layout: Layout) -> int:
    """How many committed reference results there are, by the lines of their files, which are not parsed."""
    return sum(len(content.splitlines()) for _, content in _files(layout))


def _files(layout: Layout) -> Iterator[tuple[Path, bytes]]:
    """The files of all committed reference results, with what they hold."""
    for path in sorted(layout.reference.rglob(f"*{_SUFFIX}")):
        yield path, _unpacked(path.relative_to(layout.root), path.read_bytes())


def _by_key(layout: Layout, paths: Iterable[Path]) -> dict[str, ReferenceResult]:
    entries: dict[str, ReferenceResult] = {}
    for path in paths:
        for entry in _read(layout, path):
            if known := entries.get(entry.content["key"]):
                raise _corrupt(f"a run stands here a second time, after {known.where}", entry.where)
            entries[entry.content["key"]] = entry
    return entries


def _may_be_of(path: Path, methods: Collection[str]) -> bool:
    """Whether a file is of one of these methods in some variant, as far as the name of its folder tells."""
    return any(path.parent.name == one or path.parent.name.startswith(f"{one}-") for one in methods)


def save_reference(layout: Layout, store: Store, mirrors: Iterable[Path] = ()) -> tuple[int, list[Path]]:
    """The number of finished runs of the present repository, now written to the reference results, and all files.

    Results of other seeds stay; those of other code, images or data than today's are removed. The log beside them
    takes over what the log of the store says of their jobs, failures included. Nothing is written if a run is on a
    split that is not recorded.
    """
    present = Present(layout)
    lines: dict[Path, dict[str, str]] = {}
    for entry in load_reference(layout).values():
        if present.holds_as_usual(entry.planned):
            _put(layout, lines, entry.planned, _line(entry.content, entry.scores))
    taken, jobs = list[tuple[PlannedJob, dict[str, Any], Verdict]](), set[str]()
    for key in store.finished():
        standing = store.standing(key)
        try:
            planned = store.record(key).planned
        except CorruptData:
            # damaged, or of another version of the harness: it made other keys, or knew other benchmarks
            continue
        if not standing.content or not present.holds_as_usual(planned):
            continue
        jobs.add(key)
        if standing.verdict.is_final:
            taken.append((planned, standing.content, standing.verdict))
    _refuse_unrecorded(layout, [planned for planned, _, _ in taken])
    for planned, content, verdict in taken:
        scores = score_run(layout, store, planned, tuple(mirrors)) if verdict is Verdict.OK else None
        _put(layout, lines, planned, _line(content, scores))
    for path in set(layout.reference.rglob(f"*{_SUFFIX}")) - lines.keys():
        path.unlink()
    for path, lines_of_file in sorted(lines.items()):
        text = "".join(f"{lines_of_file[job]}\n" for job in sorted(lines_of_file))
        # no time stamp: equal results are equal files
        write_atomic(path, gzip.compress(text.encode(), mtime=0))
    with store.open_log() as (log, _):
        take_over(log, Log(layout.reference), jobs, reference_results(load_reference(layout)))
    return len(taken), sorted(lines)


def _refuse_unrecorded(layout: Layout, results: Iterable[PlannedJob]) -> None:
    """Raise `UsageError` for results on splits whose checksums are not recorded: a strict audit fails on them."""
    seeds: dict[tuple[str, str], set[int]] = {}
    for job in (planned.job for planned in results):
        if recorded_split(layout, job.dataset, job.split) is None:
            seeds.setdefault((job.dataset, job.split.text), set()).add(job.split.seed)
    if not seeds:
        return
    commands = [
        _recording(dataset, split, sorted(of_split)) for (dataset, split), of_split in sorted(seeds.items())
    ]
    count = sum(map(len, seeds.values()))
    verb = form_of("is", count, "are")
    raise UsageError(
        f"{counted(count, 'split')} of finished runs {verb} not recorded; nothing was saved",
        where="\n         ".join(sorted({str(recorded_path(layout, dataset)) for dataset, _ in seeds})),
        todo="\n         ".join([*commands, "or remove these runs: `harness forget --help`"]),
    )


def _recording(dataset: str, split: str, seeds: Iterable[int]) -> str:
    """The command that records the checksums of splits."""
    strategy, _, settings = split.partition(":")
    parameters = [word for setting in filter(None, split_settings(settings)) for word in ("--set", setting)]
    of_seeds = [word for seed in seeds for word in ("--seed", str(seed))]
    return shlex.join(["harness", "split", "make", dataset, strategy, *parameters, *of_seeds, "--record"])


def verdict_counts(counts: Counter[Verdict]) -> str:
    """`ok 9, timeout 1`."""
    return ", ".join(f"{verdict} {counts[verdict]}" for verdict in Verdict if counts[verdict])


@dataclass(frozen=True)
class ReferenceRow:
    """The reference results of one method, variant, dataset and split."""

    label: str
    job: Job
    counts: Counter[Verdict]
    stale: int
    cpu_hours: float

    @property
    def seeds(self) -> int:
        """How many runs."""
        return self.counts.total()

    @property
    def verdicts(self) -> str:
        """`ok 9, timeout 1`."""
        return verdict_counts(self.counts)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        counts = {str(verdict): self.counts[verdict] for verdict in Verdict if self.counts[verdict]}
        return {"label": self.label, "verdicts": counts, "stale": self.stale, "cpu_hours": self.cpu_hours}


def overview(layout: Layout) -> list[ReferenceRow]:
    """One row per file of reference results."""
    present, files = Present(layout), dict[Path, list[ReferenceResult]]()
    for entry in load_reference(layout).values():
        files.setdefault(reference_file(layout, entry.planned), []).append(entry)
    return [
        ReferenceRow(
            label=path.relative_to(layout.reference).as_posix().removesuffix(_SUFFIX),
            job=entries[0].planned.job,
            counts=Counter(Verdict(entry.content["verdict"]) for entry in entries),
            stale=sum(1 for entry in entries if not present.holds_as_usual(entry.planned)),
            cpu_hours=sum(one for entry in entries if (one := _seconds(entry, "cpu_s")) is not None) / 3600,
        )
        for path, entries in sorted(files.items())
    ]


def reference_file(layout: Layout, planned: PlannedJob) -> Path:
    """Where a result belongs: results/reference/BENCHMARK/METHOD[-VARIANT]/DATASET-SPLIT.jsonl.gz."""
    job = planned.job
    split = job.split.label.removesuffix(f"-{job.split.seed}")
    return reference_folder(layout, job) / f"{job.dataset}-{split}{_SUFFIX}"


def reference_folder(layout: Layout, job: Job) -> Path:
    """Where the results of a job's method and variant belong."""
    return layout.reference / job.benchmark / job.row.replace("/", "-")


def seconds_in_reference(layout: Layout, job: Job) -> list[float]:
    """The wall seconds of the committed runs of a job's method, variant and dataset, on whatever split."""
    paths = sorted(reference_folder(layout, job).glob(f"{escape(job.dataset)}-*{_SUFFIX}"))
    entries = (entry for path in paths for entry in _read(layout, path))
    # names of other datasets may begin with this one
    own = (entry for entry in entries if entry.content["planned"]["job"]["dataset"] == job.dataset)
    return [one for entry in own if (one := _seconds(entry, "wall_s")) is not None]


def _seconds(entry: ReferenceResult, name: str) -> float | None:
    """A measured time of a run; None where it was not measured, or is no number."""
    value = entry.content["resources"].get(name)
    return value if isinstance(value, int | float) else None


def reference_of(layout: Layout, planned: PlannedJob) -> ReferenceResult | None:
    """The committed result of one job, or None."""
    path = reference_file(layout, planned)
    entries = _read(layout, path) if path.is_file() else ()
    return next((entry for entry in entries if entry.content["key"] == planned.key), None)


def _put(layout: Layout, lines: dict[Path, dict[str, str]], planned: PlannedJob, line: str) -> None:
    order = f"{planned.job.split.seed:010d} {planned.key}"
    lines.setdefault(reference_file(layout, planned), {})[order] = line


def _line(content: dict[str, Any], scores: Scores | None) -> str:
    record = Record.model_validate(content).to_json()
    value = {"record": record, "scores": scores.to_json() if scores else None}
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _read(layout: Layout, path: Path) -> tuple[ReferenceResult, ...]:
    return _parsed(path, path.relative_to(layout.root), state_of(path))


# A status, its claims and its page read the same files; nobody changes what is read.
@lru_cache(maxsize=4096)
def _parsed(path: Path, place: Path, _state: FileState) -> tuple[ReferenceResult, ...]:
    return tuple(_entries(place, path.read_bytes()))


def _unpacked(place: Path, packed: bytes) -> bytes:
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        raise _corrupt("not a gzipped file, or cut", str(place)) from None


def _entries(place: Path, packed: bytes) -> Iterator[ReferenceResult]:
    for number, line in enumerate(_unpacked(place, packed).splitlines(), start=1):
        where = f"{place}: line {number}"
        try:
            (record, of_record), (fields, of_scores) = _parts(line.decode())
        except (ValueError, KeyError, TypeError):
            raise _corrupt("not a reference result", where) from None
        content = checked_fields(record, where, of_record)
        scores = parse_scores(fields, of_scores) if fields is not None else None
        if fields is not None and scores is None:
            raise _corrupt("scores differ from their own digest", where)
        entry = ReferenceResult(content, scores, where)
        _check(entry)
        yield entry


def _parts(line: str) -> tuple[tuple[Any, str], tuple[Any, str]]:
    """The record and the scores of a line, each with the text that it was parsed from, where it has one."""
    if line.startswith(_RECORD) and line.endswith("}"):
        of_record, _, of_scores = line[len(_RECORD) : -1].partition(_SCORES)
        with suppress(ValueError):
            return (_parse(of_record), of_record), (_parse(of_scores), of_scores)
    value = parse_plain(line)
    if len(value) != 2:
        raise ValueError("other fields than the two")
    return (value["record"], ""), (value["scores"], "")


def _parse(text: str) -> Any:
    # in a third of the time of the standard library's
    return from_json(text, allow_inf_nan=False, cache_strings="keys")


def _check(entry: ReferenceResult) -> None:
    """A line must be about one run: the key is recomputed, and the scores are those of the record's files."""
    try:
        record = entry.record
    except ValidationError as error:
        raise _corrupt(f"a record breaks its schema: {error.errors()[0]['msg']}", entry.where) from None
    if record.planned.job.benchmark not in benchmarks.names():
        raise _corrupt(f"a record is of no benchmark that is here: {record.planned.job.benchmark!r}", entry.where)
    key = record.key
    if record.planned.key != key:
        raise _corrupt("a record carries another job's key", entry.where)
    if (entry.scores is None) == (record.verdict is Verdict.OK):
        raise _corrupt("a run that ended ok has scores, and no other has", entry.where)
    if entry.scores is not None:
        if absent := record.missing_files:
            raise _corrupt(f"a run that ended ok has no {absent[0]}", entry.where)
        if (entry.scores.key, entry.scores.evidence) != (key, record.evidence):
            raise _corrupt("the scores are of other predictions than the record", entry.where)


def _corrupt(what: str, where: str) -> CorruptData:
    return CorruptData(what, where=where, todo="restore the file from the repository, or make it anew")
