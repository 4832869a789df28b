"""The matrix of a benchmark: methods against datasets and splits, both kinds of metric, and the published mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness import benchmarks
from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict, Comparison
from harness.status import Footnotes, Group, known_sets
from harness.status.table import Summary

_PUBLISHED, _DEFINED = "/as-published", "/as-defined"
_OF_MEANS = ("mean", "band")
# A mean that the authors' files hold in full is shown with as many decimals as ours.
_DECIMALS = 4
# With more, methods head the columns: no screen shows so many, and a page is scrolled downwards.
_MOST_COLUMNS = 30

# Benchmark, row, dataset, split and metric of a mean.
PlaceOfMean = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class PublishedMean:
    """A published mean as text, the verdict on it, and its reason where the verdict alone says too little."""

    text: str
    verdict: ClaimVerdict
    note: str = ""


@dataclass(frozen=True)
class MatrixScore:
    """One metric of one entry, computed in both ways, and what was published of it."""

    label: str
    ours: Summary | None
    defined: Summary | None
    is_best: bool
    is_best_defined: bool
    published: PublishedMean | None


@dataclass(frozen=True)
class MatrixEntry:
    """The cells of one row in one column."""

    group: Group
    scores: tuple[MatrixScore, ...]
    footnotes: tuple[int, ...]

    @property
    def verdicts(self) -> list[tuple[str, int]]:
        """The cells by verdict."""
        return [(str(one), count) for one in Verdict if (count := self.group.verdicts.get(one))]

    @property
    def value(self) -> float | None:
        """What the entry is sorted by: its first metric that has a value."""
        return next((score.ours.mean for score in self.scores if score.ours), None)

    @property
    def defined_value(self) -> float | None:
        """The same as defined."""
        return next((score.defined.mean for score in self.scores if score.defined), None)


@dataclass(frozen=True)
class StatusMatrix:
    """All groups of one benchmark; `has_one_dataset`: the head leaves it out."""

    title: str
    id: str
    metric: str
    has_one_dataset: bool
    has_both_kinds: bool
    columns: tuple[tuple[str, str], ...]
    # by row and whether it is a control, in the order of names
    rows: Mapping[tuple[bool, str], Mapping[tuple[str, str], MatrixEntry]]
    published_order: frozenset[str]
    footnotes: tuple[str, ...]

    @property
    def is_turned(self) -> bool:
        """Methods head the columns where there are many more datasets and splits than a screen has room for."""
        return len(self.columns) > _MOST_COLUMNS


def matrix_of(
    title: str,
    groups: Sequence[Group],
    notes: str,
    published: Mapping[PlaceOfMean, PublishedMean],
    *,
    has_one_dataset: bool = False,
) -> StatusMatrix:
    """The matrix of these groups. `notes` names its footnotes within a page."""
    columns: dict[tuple[str, str], list[Group]] = {}
    for group in groups:
        columns.setdefault((group.dataset, group.split), []).append(group)
    metrics = {column: known_sets(members)[0] for column, members in columns.items()}
    best = {column: _best_of(members, metrics[column]) for column, members in columns.items()}
    footnotes = Footnotes()
    rows: dict[tuple[bool, str], dict[tuple[str, str], MatrixEntry]] = {}
    for group in sorted(groups, key=lambda one: (one.control, one.row)):
        column = (group.dataset, group.split)
        entry = _entry(group, metrics[column], best[column], footnotes, published)
        rows.setdefault((group.control, group.row), {})[column] = entry
    entries = [entry for row in rows.values() for entry in row.values()]
    return StatusMatrix(
        title=title,
        id=notes,
        metric=" or ".join(dict.fromkeys(" and ".join(members) for members in metrics.values())),
        has_one_dataset=has_one_dataset,
        has_both_kinds=any(score.defined for entry in entries for score in entry.scores),
        columns=tuple(columns),
        rows=rows,
        published_order=frozenset(group.row for group in groups if group.published_order),
        footnotes=tuple(footnotes.texts),
    )


def published_means(books: Iterable[Book]) -> dict[PlaceOfMean, PublishedMean]:
    """The published means that belong to an entry; of several, that of the authors' files, which stand first."""
    means: dict[PlaceOfMean, PublishedMean] = {}
    for book in books:
        for one in book.comparisons:
            row, dataset, split = one.target.row, one.target.dataset, one.target.split
            if one.claim.statistic in _OF_MEANS and one.metric and row and dataset and split:
                place = (book.benchmark, row, dataset, split, one.metric)
                means.setdefault(place, PublishedMean(_text_of(one), one.verdict, _note_on(one)))
    return means


def _text_of(comparison: Comparison) -> str:
    """`0.8009 ± 0.0123`, or as few decimals as are printed."""
    claim = comparison.claim
    decimals = min(len(claim.published.partition(".")[2]), _DECIMALS)
    deviation = "" if claim.sd is None else f" ± {claim.sd:.{decimals}f}"
    return f"{claim.value:.{decimals}f}{deviation}"


def _note_on(comparison: Comparison) -> str:
    """Why a mean is not reproduced, or what else reproduces it; nothing where the sign says it all."""
    if comparison.verdict is ClaimVerdict.PENDING:
        return ""
    told = comparison.verdict is not ClaimVerdict.REPRODUCED or comparison.controls
    return f"published mean {comparison.verdict}: {comparison.reason}" if told else ""


def _defined(metric: str) -> str:
    """The same metric as its formula says; the metric itself where there is one way only."""
    return metric.replace(_PUBLISHED, _DEFINED)


def _best_of(groups: Sequence[Group], metrics: Sequence[str]) -> dict[str, float]:
    """The best mean of each metric in one column, of both kinds; none where nothing can be better."""
    directions = {one.name: one.better for one in benchmarks.get(groups[0].benchmark).scoring.metrics}
    best = {}
    for metric in {name for one in metrics for name in (one, _defined(one))}:
        means = [summary.mean for group in groups if (summary := group.summary(metric))]
        direction = directions.get(metric, "neither")
        if len(means) > 1 and direction != "neither":
            best[metric] = max(means) if direction == "higher" else min(means)
    return best


def _entry(
    group: Group,
    metrics: Sequence[str],
    best: Mapping[str, float],
    footnotes: Footnotes,
    published: Mapping[PlaceOfMean, PublishedMean],
) -> MatrixEntry:
    scores, numbers = [], []
    for metric in metrics:
        ours, number = group.summary(metric), footnotes.number(group, metric)
        name = _defined(metric)
        defined = group.summary(name) if name != metric else None
        theirs = published.get((group.benchmark, group.row, group.dataset, group.split, metric))
        if ours or number or theirs:
            scores.append(
                MatrixScore(
                    label=metric.rpartition(" ")[0] if len(metrics) > 1 else "",
                    ours=ours,
                    defined=defined,
                    is_best=ours is not None and ours.mean == best.get(metric),
                    is_best_defined=defined is not None and defined.mean == best.get(name),
                    published=theirs,
                )
            )
        numbers += [number] if number else []
        numbers += [footnotes.number_of(theirs.note)] if theirs and theirs.note else []
    return MatrixEntry(group, tuple(scores), tuple(dict.fromkeys(numbers)))
