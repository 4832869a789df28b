"""Scores: recomputed from stored predictions at will, cached, and never needing a container."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from harness import benchmarks
from harness.base.errors import CorruptData, DataError, InvalidPredictions, UsageError
from harness.base.files import digest_of, write_json
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.plain_json import read_plain
from harness.base.vocabulary import Verdict
from harness.benchmarks.measures import no_truth
from harness.meaning.scorer import meaning_of_scorer
from harness.planning.cells import Cell
from harness.planning.jobs import Job, PlannedJob
from harness.proof.leaves import Event, Leaf, now, scope_of
from harness.results.canonical_text import digest_as_read
from harness.results.records import Record
from harness.results.store import Store
from harness.results.truth import Truth, truth_of

_FIELDS = ("key", "scorer", "evidence", "metrics", "notes")
# Left out where there are none.
_SERIES = "series"
# what JSON reads a metric as: a truth value is a whole number to Python
_VALUES = {int, float, type(None)}


@dataclass(frozen=True)
class Scores:
    """The metrics of one run. A metric that is undefined here is None, with the reason in `notes`.

    `series` are metrics of many values, such as one per type of interaction.
    """

    key: str
    scorer: str
    evidence: dict[str, str]
    metrics: dict[str, float | None]
    notes: dict[str, str]
    series: dict[str, list[float | None]] = field(default_factory=dict)

    @property
    def every(self) -> dict[str, float | None]:
        """Single metrics, and the values of a series by their place: `accuracy of type 48`."""
        members = {f"{name} {at}": one for name, values in self.series.items() for at, one in enumerate(values)}
        return {**self.metrics, **members}

    def to_json(self) -> dict[str, Any]:
        """Ready to be written, with a digest: scores that were changed are not shown."""
        content: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        if self.series:
            content[_SERIES] = self.series
        return {**content, "digest": digest_of(content)}


@cache
def scorer_digest(benchmark: str) -> str:
    """A digest of all that decides a benchmark's scores: where it changes, old scores are stale by themselves."""
    return meaning_of_scorer(Path(__file__).parents[1], benchmark)


def scores_path(layout: Layout, key: str) -> Path:
    """Where the scores of one run lie."""
    return layout.scores / key[:2] / f"{key}.json"


def read_scores(layout: Layout, key: str, benchmark: str, evidence: dict[str, str]) -> Scores | None:
    """The cached scores of one run, or None when there are none, they are stale, or not what was written.

    `evidence` maps the scored files to the sha256 that the run's record names.
    """
    scores = parse_scores(read_plain(scores_path(layout, key)))
    if scores is None:
        return None
    # of no file, nothing can be fresh
    matches = bool(evidence) and scores.evidence == evidence
    return scores if matches and scores.key == key and scores.scorer == scorer_digest(benchmark) else None


def parse_scores(content: Any, text: str = "") -> Scores | None:
    """Scores as they were written, or None. `text`: what they were read from, if that may be canonical."""
    if not is_whole(content, text):
        return None
    return Scores(**{name: content[name] for name in _FIELDS}, series=content.get(_SERIES, {}))


def is_whole(content: Any, text: str = "") -> bool:
    """Whether this is a scores file as it was written. `text`: what it was read from, if that may be canonical."""
    if not isinstance(content, dict) or content.keys() - {_SERIES} != {*_FIELDS, "digest"}:
        return False
    tables = [content[name] for name in ("evidence", "metrics", "notes")] + [content.get(_SERIES, {})]
    # its digest may be right all the same, where somebody made it so
    if (
        not all(isinstance(table, dict) for table in tables)
        or not {*map(type, content["metrics"].values())} <= _VALUES
    ):
        return False
    try:
        fields = {name: value for name, value in content.items() if name != "digest"}
        return bool(digest_as_read(fields, content["digest"], text) == content["digest"])
    except ValueError:
        return False


def compute_scores(layout: Layout, store: Store, planned: PlannedJob, mirrors: Sequence[Path] = ()) -> Scores:
    """Score one stored run from its predictions and the held-back truth; the stored files are hashed first."""
    record = store.record(planned.key)
    if record.verdict is not Verdict.OK:
        raise UsageError(
            f"a run that ended as '{record.verdict}' has no scores",
            where=f"{planned.job.label}: {record.reason}",
            todo="only a run that ended ok is a result",
        )
    if not (evidence := record.evidence):
        raise CorruptData(
            "the record names no file that scores are computed from",
            where=f"{planned.job.label} ({planned.key[:16]})",
            todo="run it again",
        )
    truth, answer = read_answer(layout, store, record, mirrors)
    return Scores(planned.key, scorer_digest(planned.job.benchmark), evidence, *truth.measure(answer))


def without_truth(job: Job) -> str:
    """Why nothing can be scored; empty where there is a truth."""
    return no_truth(benchmarks.get(job.benchmark).scoring, job.split.strategy)


def read_answer(
    layout: Layout, store: Store, record: Record, mirrors: Sequence[Path] = ()
) -> tuple[Truth, object]:
    """The truth of one stored run, and its answer, all checked."""
    store.check(record)
    planned = record.planned
    truth = truth_of(layout, planned.job, mirrors)
    if (truth.dataset.digest, truth.split.digest) != (planned.dataset_digest, planned.split_digest):
        raise CorruptData(
            "the dataset or the split is not the one of the run",
            where=planned.job.label,
            todo="run `harness data verify` and `harness split verify`",
        )
    try:
        return truth, truth.read(store.path(planned.key))
    except InvalidPredictions as error:
        raise CorruptData(
            f"a stored answer is not what the protocol asks for today: {error}",
            where=f"{planned.job.label} ({planned.key[:16]})",
            todo="run it again",
        ) from None


def scored_files(benchmark: str, files: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The sha256 of the files that scores are computed from, out of a record's list."""
    names = benchmarks.get(benchmark).scored_files
    return {name: files[name]["sha256"] for name in sorted(names) if name in files}


def score_run(
    layout: Layout, store: Store, planned: PlannedJob, mirrors: Sequence[Path] = (), *, again: bool = False
) -> Scores:
    """The scores of one run: cached where fresh, else computed and kept; `again` computes them in any case."""
    standing = store.standing(planned.key)
    scores = read_scores(
        layout,
        planned.key,
        planned.job.benchmark,
        scored_files(planned.job.benchmark, standing.content.get("files", {})),
    )
    if again or scores is None or standing.verdict is not Verdict.OK:
        with activity(f"scores of {planned.job.label}"):
            scores = compute_scores(layout, store, planned, mirrors)
        content, path = scores.to_json(), scores_path(layout, planned.key)
        leaf = Leaf(
            Event.SCORE,
            now(),
            scope_of(standing.content["planned"]["job"]),
            key=planned.key,
            record=digest_of(standing.content),
            score=content["digest"],
        )
        with store.open_log() as (log, _):
            # another process may have put another run in its place meanwhile: no leaf would tell of its scores
            if stays := store.standing(planned.key).content == standing.content:
                with log.event(leaf, path):
                    write_json(path, content)
        if not stays:
            return score_run(layout, store, planned, mirrors, again=again)
    return scores


class Scored(NamedTuple):
    """Cells whose runs were scored: as they stand afterwards, and how many scores were computed.

    `obstacles` are what some could not be scored for, such as a data file that is not here: each once.
    """

    cells: tuple[Cell, ...]
    computed: int
    obstacles: tuple[DataError, ...] = ()


def score_all(layout: Layout, store: Store, cells: Iterable[Cell], mirrors: Sequence[Path] = ()) -> Scored:
    """Score every `ok` cell, joined with its record, that has no fresh scores.

    A run whose files are not those of its record any more is no result: it is marked, and run again next time.
    One whose data can't be had stays without scores, and all others are scored.
    """
    after, count, obstacles = list[Cell](), 0, dict[str, DataError]()
    for cell in cells:
        if cell.planned is None or cell.verdict is not Verdict.OK or _has_scores(layout, cell):
            after.append(cell)
            continue
        record = store.record(cell.planned.key)
        try:
            store.check(record)
        except CorruptData as error:
            reason = layout.without_folders(f"evidence is damaged: {error.what} ({error.where})")
            store.amend(record.model_copy(update={"verdict": Verdict.INFRASTRUCTURE, "reason": reason}))
            after.append(replace(cell, verdict=Verdict.INFRASTRUCTURE, reason=reason))
            continue
        after.append(cell)
        try:
            score_run(layout, store, cell.planned, mirrors)
        except DataError as error:
            obstacles.setdefault(str(error), error)
        else:
            count += 1
    return Scored(tuple(after), count, tuple(obstacles.values()))


def _has_scores(layout: Layout, cell: Cell) -> bool:
    """Whether fresh scores of a run that ended ok are kept."""
    evidence = scored_files(cell.job.benchmark, cell.record.get("files", {}))
    return cell.key is not None and read_scores(layout, cell.key, cell.job.benchmark, evidence) is not None
