"""The rows that a person reads: of one method its scores, of several their consensus; below them what is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.benchmarks import Ranking
from harness.benchmarks.reading import Names, Reading
from harness.prediction.consensus import Agreement, agreements
from harness.prediction.names import Selection

Row = tuple[Any, ...]
# The names that were asked about, those of an exchangeable pair sorted; the number tells equal rows apart.
Item = tuple[Names, int]

_OTHER_ORDER = "(other order)"


@dataclass(frozen=True)
class RankedRows:
    """A table with its columns. `ranked` of its rows have a rank, of `asked` that were asked for."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    ranked: int
    asked: int


@dataclass(frozen=True)
class Opinion:
    """What a method says of an item."""

    names: Names
    answers: Names
    score: float


@dataclass(frozen=True)
class Shape:
    """Which columns of a ranking were asked, which are answers, and whether orders of a pair are merged."""

    columns: tuple[str, ...]
    reading: Reading
    both_orders: bool

    @property
    def asked(self) -> tuple[str, ...]:
        """The columns that name what was asked."""
        return tuple(one for one in self.columns[:-1] if one not in self.reading.answers)

    def of(self, row: Row, columns: tuple[str, ...]) -> Names:
        """The entries of some columns of a ranking's row."""
        return tuple(row[self.columns.index(column)] for column in columns)

    def pair(self, names: Names) -> Names:
        """The two names that may change places; none where there are no such columns."""
        return tuple(names[self.asked.index(column)] for column in self.reading.exchangeable)

    def key(self, names: Names) -> Names:
        """The same for both orders of a pair, unless they are listed both."""
        if self.both_orders:
            return names
        pair = iter(sorted(self.pair(names)))
        return tuple(
            next(pair) if column in self.reading.exchangeable else name
            for column, name in zip(self.asked, names, strict=True)
        )


def entries_of(ranking: Ranking, shape: Shape, selection: Selection) -> dict[Item, Opinion]:
    """What one method says of each item that was asked for, best first."""
    entries: dict[Item, Opinion] = {}
    times = Counter[Names]()
    for row in ranking.rows:
        names = tuple(selection.stands_for.get(name, name) for name in shape.of(row, shape.asked))
        pair = shape.pair(names)
        is_itself = bool(pair) and len({*pair}) == 1
        if is_itself or not selection.takes(shape.asked, names):
            continue
        # The other order of a pair that stands above is the same item. The same names once more are another one,
        # unless a drug is asked twice: once for itself, and once in the pair of another.
        item = shape.key(names), 0 if selection.stands_for else times[names]
        times[names] += 1
        entries.setdefault(item, Opinion(names, shape.of(row, shape.reading.answers), float(row[-1])))
    return entries


def rows_of(
    labels: Sequence[str],
    answers: Sequence[dict[Item, Opinion]],
    shape: Shape,
    selection: Selection,
    top: int | None,
) -> RankedRows:
    """Ranked rows, the first `top` of them; below them what is known of the things that were named."""
    known = _known(shape, selection) if selection.names_known_things else {}
    unknown = [{item: one for item, one in answer.items() if item not in known} for answer in answers]
    several = len(answers) > 1
    ranked = [*(_several(unknown, shape) if several else _single(unknown[0], shape))]
    columns = ["rank", *(_columns_of_several(labels, shape) if several else shape.columns)]
    rows = [(rank, *row) for rank, row in enumerate(ranked[:top], 1)]
    count, asked = len(rows), len(ranked)
    if selection.names_known_things:
        columns.append("known")
        rows = [(*row, None) for row in rows]
        for item, (names, facts) in known.items():
            said = [answer.get(item) for answer in answers]
            row = _of_several(names, said, shape) if several else _of_single(names, said[0], shape)
            rows.append((None, *row, facts))
    return RankedRows(tuple(columns), tuple(rows), count, asked)


def ties(answers: Mapping[Item, Opinion]) -> int:
    """How many items have the same score as another one."""
    counts = Counter(entry.score for entry in answers.values())
    return sum(count for count in counts.values() if count > 1)


def _known(shape: Shape, selection: Selection) -> dict[Item, tuple[Names, str]]:
    """What is known of the things that a person named: several facts of one item stand together."""
    known: dict[Item, tuple[Names, str]] = {}
    for names, fact in shape.reading.known:
        if selection.takes(shape.asked, names):
            item = shape.key(names), 0
            first, facts = known.get(item, (names, ""))
            turned = "" if first == names else f" {_OTHER_ORDER}"
            known[item] = first, f"{facts}{facts and '; '}{fact}{turned}"
    return known


def _single(answers: dict[Item, Opinion], shape: Shape) -> Iterator[Row]:
    return (_of_single(entry.names, entry, shape) for entry in answers.values())


def _of_single(names: Names, entry: Opinion | None, shape: Shape) -> Row:
    """A row in the order of the ranking's own columns."""
    entries = dict(zip(shape.asked, names, strict=True))
    entries |= dict(zip(shape.reading.answers, _answers(entry, names), strict=False))
    return (*(entries.get(column) for column in shape.columns[:-1]), entry.score if entry else None)


def _columns_of_several(labels: Sequence[str], shape: Shape) -> list[str]:
    answers = shape.reading.answers
    own = [f"{label} {what}" for label in labels for what in ("rank", shape.columns[-1], *answers)]
    return [*shape.asked, *answers, *(["agreeing"] if answers else []), "consensus", "disagreement", *own]


def _several(answers: Sequence[dict[Item, Opinion]], shape: Shape) -> Iterator[Row]:
    scores = [{item: entry.score for item, entry in answer.items()} for answer in answers]
    for one in agreements(scores):
        said = [answer.get(one.item) for answer in answers]
        names = next(entry.names for entry in said if entry)
        yield _of_several(names, said, shape, one)


def _of_several(
    names: Names, said: Sequence[Opinion | None], shape: Shape, agreement: Agreement[Item] | None = None
) -> Row:
    """Names, what most methods answer and how many do, the consensus, then each method's own."""
    answers = [_answers(entry, names) for entry in said]
    vote: Row = ()
    if shape.reading.answers:
        # of equally frequent answers the one of the method that was named first
        votes = Counter(one for one in answers if one).most_common(1)
        vote = (*votes[0][0], votes[0][1]) if votes else (None,) * (len(shape.reading.answers) + 1)
    ranks = agreement.ranks if agreement else (None,) * len(said)
    own: list[Any] = []
    for entry, rank, answer in zip(said, ranks, answers, strict=True):
        own += [rank if entry else None, entry.score if entry else None]
        own += answer or (None,) * len(shape.reading.answers)
    together = (agreement.consensus, agreement.disagreement) if agreement else (None, None)
    return (*names, *vote, *together, *own)


def _answers(entry: Opinion | None, names: Names) -> Names:
    if entry is None:
        return ()
    return entry.answers if entry.names == names else tuple(f"{one} {_OTHER_ORDER}" for one in entry.answers)
