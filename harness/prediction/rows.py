"""The rows that a person reads: of one method its scores, of several their consensus; below them what is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from harness.benchmarks import Ranking
from harness.benchmarks.reading import Names, Reading
from harness.prediction.consensus import Agreement, agreements, mid_ranks
from harness.prediction.names import Selection

Row = tuple[Any, ...]
# The names that were asked about, those of an exchangeable pair sorted; the number tells equal rows apart.
Item = tuple[Names, int]

_OTHER_ORDER = "(other order)"


@dataclass(frozen=True)
class RankedRows:
    """A table with its columns. `ranked` of its rows have a rank, of `asked` that were asked for, among more."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    ranked: int
    asked: int
    # how many count in overall ranks and in the consensus
    among: int


class Opinion(NamedTuple):
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

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The columns that name what was asked."""
        return tuple(one for one in self.columns[:-1] if one not in self.reading.answers)

    def places(self, columns: Sequence[str]) -> list[int]:
        """Where a ranking's row has some columns: looked up once, for there are millions of rows."""
        return [self.columns.index(column) for column in columns]

    @cached_property
    def _pair_places(self) -> list[int]:
        return sorted(self.asked.index(column) for column in self.reading.exchangeable)

    def is_itself(self, names: Names) -> bool:
        """Whether the two names that may change places are one."""
        return bool(self._pair_places) and len({names[place] for place in self._pair_places}) == 1

    def key(self, names: Names) -> Names:
        """The same for both orders of a pair, unless they are listed both."""
        if self.both_orders or not self._pair_places:
            return names
        key = [*names]
        for place, name in zip(self._pair_places, sorted(names[one] for one in self._pair_places), strict=True):
            key[place] = name
        return tuple(key)


def entries_of(ranking: Ranking, shape: Shape, selection: Selection) -> dict[Item, Opinion]:
    """What one method says of each item that counts in ranks, best first."""
    entries: dict[Item, Opinion] = {}
    times: dict[Names, int] = {}
    asked, answers = shape.places(shape.asked), shape.places(shape.reading.answers)
    for row in ranking.rows:
        names = tuple([row[place] for place in asked])
        if selection.stands_for:
            names = tuple(selection.stands_for.get(name, name) for name in names)
        if shape.is_itself(names) or not selection.ranks(names):
            continue
        # The other order of a pair that stands above is the same item. The same names once more are another one,
        # unless a drug is asked twice: once for itself, and once in the pair of another.
        before = 0 if selection.stands_for else times.get(names, 0)
        times[names] = before + 1
        item = shape.key(names), before
        entries.setdefault(item, Opinion(names, tuple([row[place] for place in answers]), float(row[-1])))
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
    # what was asked as if it were new may be known of what it stands for
    told = _known(shape, replace(selection, named={}, pairs=frozenset())) if selection.stands_for else {}
    unknown = [{item: one for item, one in answer.items() if item not in told} for answer in answers]
    several = len(answers) > 1
    every = [*(_several(unknown, shape) if several else _single(unknown[0], shape))]
    wanted = len(shape.asked)
    ranked = [row for row in every if selection.takes(shape.asked, row[:wanted])]
    columns = [*shape.asked, *(_columns_of_several(labels, shape) if several else _columns_of_single(shape))]
    rows: list[Row] = [(rank, *row) for rank, row in enumerate(ranked[:top], 1)]
    count = len(rows)
    if not selection.names_known_things and not several:
        # of all rows the overall rank is the rank
        columns.pop()
        rows = [row[:-1] for row in rows]
    if selection.names_known_things:
        columns.append("known")
        rows = [(*row, None) for row in rows]
        for item, (names, facts) in known.items():
            said = [answer.get(item) for answer in answers]
            row = _of_several(names, said, shape) if several else _of_single(names, said[0], shape, None)
            rows.append((None, *row, facts))
    return RankedRows(("rank", *columns), tuple(rows), count, len(ranked), len(every))


def ties(answers: Mapping[Item, Opinion]) -> int:
    """How many items have the same score as another one."""
    _, counts = np.unique([entry.score for entry in answers.values()], return_counts=True)
    return int(counts[counts > 1].sum())


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


def _columns_of_single(shape: Shape) -> list[str]:
    return [*shape.reading.answers, shape.columns[-1], "overall rank"]


def _single(answers: dict[Item, Opinion], shape: Shape) -> Iterator[Row]:
    ranks = mid_ranks([entry.score for entry in answers.values()]).tolist()
    for entry, rank in zip(answers.values(), ranks, strict=True):
        yield _of_single(entry.names, entry, shape, rank)


def _of_single(names: Names, entry: Opinion | None, shape: Shape, rank: float | None) -> Row:
    """Names, what the method answers, its score, and the rank among all rows."""
    answers = _answers(entry, names) or (None,) * len(shape.reading.answers)
    return (*names, *answers, entry.score if entry else None, rank)


def _columns_of_several(labels: Sequence[str], shape: Shape) -> list[str]:
    answers = shape.reading.answers
    own = [f"{label} {what}" for label in labels for what in ("rank", shape.columns[-1], *answers)]
    return [*answers, *(["agreeing"] if answers else []), "consensus", "disagreement", *own]


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
