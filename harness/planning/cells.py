"""Cells: what is planned, by the million, in few bytes each.

A cell as an object takes 3 kB, and a plan of many seeds repeats nearly all of it. So what cells share is kept
once, and a cell is made when it is looked at. What is asked of all cells of a kind is asked once: `of_each_kind`.
"""

from __future__ import annotations

import marshal
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.planning.jobs import Job, PlannedJob
from harness.splits.spec import SplitSpec

_KEY_BYTES = 32
_NO_RECORDS: Mapping[int, dict[str, Any]] = MappingProxyType({})
_Numbers = np.ndarray[Any, np.dtype[np.uint32]]

Value = TypeVar("Value")
# a verdict with its reason
Judgement = tuple[Verdict, str]


@dataclass(frozen=True)
class Cell:
    """One planned cell: a job, what pins it down when it can be run at all, and the fields of its record."""

    job: Job
    planned: PlannedJob | None
    verdict: Verdict = Verdict.PENDING
    reason: str = ""
    record: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def can_run(self) -> bool:
        """Whether a run is planned, or waits for its split only."""
        return self.planned is not None or self.verdict is Verdict.PENDING

    @cached_property
    def key(self) -> str | None:
        """The key of its run, or None where none can be planned."""
        return self.planned.key if self.planned else None

    def judged(self, verdict: Verdict, reason: str, record: dict[str, Any]) -> Cell:
        """The same cell with what is known of its run."""
        cell = Cell(self.job, self.planned, verdict, reason, record)
        return cell.with_key(self.key) if self.key else cell

    def with_key(self, key: str) -> Cell:
        """This cell, which remembers its key: it need not be computed again."""
        self.__dict__["key"] = key
        return self


@dataclass(frozen=True)
class _Columns:
    """What never changes of cells: of each its kind, seed, split and key."""

    # the cells of seed 0, of no split, that stand for all others of their kind
    kinds: list[Cell]
    splits: list[str]
    kind: _Numbers
    seed: np.ndarray[Any, np.dtype[np.int64]]
    split: _Numbers
    # of a cell without a key zeros
    keys: np.ndarray[Any, np.dtype[np.uint8]]


class Cells(Sequence[Cell]):
    """Cells in their order. Equal to any other sequence of equal cells."""

    def __init__(self, cells: Iterable[Cell] = ()) -> None:
        kinds, splits, outcomes = _Table[Cell](), _Table[str](), _Table[Judgement]()
        kind, seed, split, outcome, keys = array("I"), array("q"), array("I"), array("I"), bytearray()
        self._records: dict[int, dict[str, Any]] = {}
        for place, cell in enumerate(cells):
            if (number := kinds.find(name := _name_of_kind(cell))) is None:
                number = kinds.add(name, _stand_in(cell))
            kind.append(number)
            seed.append(cell.job.split.seed)
            split.append(splits.of(cell.planned.split_digest if cell.planned else ""))
            outcome.append(outcomes.of((cell.verdict, cell.reason)))
            keys += bytes.fromhex(cell.key) if cell.key else bytes(_KEY_BYTES)
            if cell.record:
                self._records[place] = cell.record
        self._columns = _Columns(
            kinds.values,
            splits.values,
            _column(kind, np.uint32),
            _column(seed, np.int64),
            _column(split, np.uint32),
            _column(keys, np.uint8).reshape(-1, _KEY_BYTES),
        )
        self._outcomes, self._outcome = outcomes.values, _column(outcome, np.uint32)
        # where these cells stand in the columns
        self._places: _Numbers = np.arange(len(kind), dtype=np.uint32)

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> Cells:
        """The cells as such a sequence, which they may be already."""
        return cells if isinstance(cells, Cells) else Cells(cells)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'cell')}>"

    @overload
    def __getitem__(self, place: int) -> Cell: ...
    @overload
    def __getitem__(self, place: slice) -> Cells: ...
    def __getitem__(self, place: int | slice) -> Cell | Cells:
        """One cell, made now; or some, as such a sequence."""
        if isinstance(place, slice):
            return self._at(self._places[place])
        return self._cell(int(self._places[place]))

    def __iter__(self) -> Iterator[Cell]:
        for place in _numbers(self._places):
            yield self._cell(place)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(one == there for one, there in zip(self, other, strict=True))

    def of_each_kind(self) -> list[Cell]:
        """One cell of each kind that is here: others of its kind differ in seed, split and outcome only."""
        return [self[place] for place in sorted(self._first_of_kinds().values())]

    def by_kind(self, value: Callable[[Cell], float]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """For each cell a number that is one for all of its kind."""
        values = np.zeros(len(self._columns.kinds))
        for kind, place in self._first_of_kinds().items():
            values[kind] = value(self[place])
        every: np.ndarray[Any, np.dtype[np.float64]] = values[self._columns.kind[self._places]]
        return every

    def _first_of_kinds(self) -> dict[int, int]:
        """The first place of each kind that is here."""
        first = np.full(len(self._columns.kinds), -1)
        # written backwards, so that the first one stays
        first[self._columns.kind[self._places][::-1]] = np.arange(len(self) - 1, -1, -1, dtype=np.int32)
        return {kind: place for kind, place in enumerate(first.tolist()) if place >= 0}

    def chosen(self, places: ArrayLike) -> Cells:
        """The cells at these places, in this order; or where a mask is true."""
        return self._at(self._places[np.asarray(places)])

    def having(self, holds: Callable[[Verdict], bool]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each cell whether this holds of its verdict."""
        every = np.array([holds(verdict) for verdict, _ in self._outcomes], np.bool_)
        held: np.ndarray[Any, np.dtype[np.bool_]] = every[self._outcome[self._places]]
        return held

    def where(self, holds: Callable[[Cell], bool]) -> Cells:
        """The cells of those kinds of which this holds."""
        return self.chosen(self.by_kind(holds) > 0)

    def waiting(self) -> Cells:
        """The cells that can't be run before their splits are made."""
        pending = self.having(lambda verdict: verdict is Verdict.PENDING)
        return self.chosen(pending & (self.by_kind(lambda cell: cell.planned is None) > 0))

    def recorded(self) -> Cells:
        """The cells that carry their records."""
        return self.chosen(np.isin(self._places, np.fromiter(self._records, np.uint32, len(self._records))))

    @property
    def counts(self) -> Counter[Verdict]:
        """How many cells have each verdict."""
        numbers, counts = np.unique(self._outcome[self._places], return_counts=True)
        every: Counter[Verdict] = Counter()
        for number, count in zip(numbers, counts, strict=True):
            every[self._outcomes[number][0]] += int(count)
        return every

    def keyed(self) -> Iterator[tuple[str, Cell]]:
        """The key of each cell, empty where it has none, and a cell of its kind, of another seed and outcome."""
        kinds, keys = self._columns.kinds, self._columns.keys.reshape(-1).data
        for place, kind in zip(_numbers(self._places), _numbers(self._columns.kind[self._places]), strict=True):
            has_key = kinds[kind].planned is not None
            yield keys[place * _KEY_BYTES : (place + 1) * _KEY_BYTES].hex() if has_key else "", kinds[kind]

    @property
    def key_heads(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """The first eight bytes of each key, as a number to sort and to search by; 0 where there is none."""
        return np.ascontiguousarray(self._columns.keys[self._places, :8]).view(np.uint64).reshape(-1)

    def have_keys(self, places: ArrayLike, keys: np.ndarray[Any, np.dtype[np.uint8]]) -> list[bool]:
        """Whether the cells at these places have these keys, each a row of bytes."""
        return [bool(one) for one in (self._columns.keys[self._places[np.asarray(places)]] == keys).all(axis=1)]

    def judged(
        self, outcomes: Iterable[Judgement | None], records: Mapping[int, dict[str, Any]] = _NO_RECORDS
    ) -> Cells:
        """The same cells with these verdicts and reasons; None leaves a cell its own. Records by their places."""
        table, numbers = _Table[Judgement](), array("I")
        for place, outcome in zip(_numbers(self._places), outcomes, strict=True):
            numbers.append(table.of(outcome or self._outcomes[self._outcome[place]]))
        some = self._at(np.arange(len(self), dtype=np.uint32), columns=self._columns_here())
        some._outcomes, some._outcome, some._records = table.values, _column(numbers, np.uint32), dict(records)
        return some

    def twice(self) -> tuple[Cell, Cell] | None:
        """Two cells of one key, if there are any."""
        # keys that begin alike are few, and looked at whole; 0 is the beginning of none
        heads = self.key_heads
        order = np.argsort(heads, kind="stable")
        heads.sort()
        for near in np.flatnonzero((heads[1:] == heads[:-1]) & (heads[1:] != 0)):
            one, other = (self[int(place)] for place in order[near : near + 2])
            if one.key == other.key:
                return one, other
        return None

    def _columns_here(self) -> _Columns:
        """The columns of these cells alone."""
        mine, places = self._columns, self._places
        if len(places) == len(mine.kind) and (places == np.arange(len(places))).all():
            return mine
        return replace(
            mine, kind=mine.kind[places], seed=mine.seed[places], split=mine.split[places], keys=mine.keys[places]
        )

    def _at(self, places: _Numbers, columns: _Columns | None = None) -> Cells:
        some = Cells.__new__(Cells)
        some._columns, some._places = columns or self._columns, places
        some._outcomes, some._outcome, some._records = self._outcomes, self._outcome, self._records
        return some

    def _cell(self, place: int) -> Cell:
        columns = self._columns
        kind = columns.kinds[columns.kind[place]]
        # made anew where that is faster than a copy
        alike = kind.job.split
        split = SplitSpec(strategy=alike.strategy, seed=int(columns.seed[place]), parameters=alike.parameters)
        job, planned = kind.job.model_copy(update={"split": split}), kind.planned
        verdict, reason = self._outcomes[self._outcome[place]]
        if planned is None:
            return Cell(job, None, verdict, reason, self._records.get(place, {}))
        planned = PlannedJob(
            job=job,
            image_tree=planned.image_tree,
            dataset_digest=planned.dataset_digest,
            split_digest=columns.splits[columns.split[place]],
            weights_digest=planned.weights_digest,
        )
        cell = Cell(job, planned, verdict, reason, self._records.get(place, {}))
        return cell.with_key(columns.keys[place].tobytes().hex())


def wanted_again(cells: Sequence[Cell], verdicts: Collection[str]) -> Sequence[Cell]:
    """The cells with their records; those that can be run and have one of these verdicts are left to run again."""
    if not verdicts:
        return cells
    return Cells(
        cell.judged(Verdict.PENDING, f"ended as '{cell.verdict}'; run again", cell.record)
        if cell.verdict in verdicts and cell.planned is not None
        else cell
        for cell in cells
    )


class _Table(Generic[Value]):
    """Different values by number, each kept once."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers: dict[object, int] = {}

    def find(self, name: object) -> int | None:
        return self._numbers.get(name)

    def add(self, name: object, value: Value) -> int:
        self._numbers[name] = len(self.values)
        self.values.append(value)
        return len(self.values) - 1

    def of(self, value: Value) -> int:
        number = self._numbers.get(value)
        return self.add(value, value) if number is None else number


def _column(values: array[int] | bytearray, kind: type[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    return np.frombuffer(values, kind) if len(values) else np.zeros(0, kind)


def _numbers(column: _Numbers) -> memoryview:
    """Its numbers as Python's own, one after the other: as a list they would take seven times the room."""
    return np.ascontiguousarray(column).data


def kind_of(job: Job) -> Hashable:
    """Equal for jobs that differ in their seed at most."""
    # a third of the time of their reprs; of this version equal values have equal bytes, and 1 has others than 1.0
    settings = marshal.dumps((job.parameters, job.options, job.split.parameters), 2)
    data = (job.benchmark, job.dataset, job.split.strategy)
    return *data, job.method, job.variant, job.upstream, job.accelerator, settings


def _name_of_kind(cell: Cell) -> Hashable:
    """Equal for cells that differ in seed, split digest and outcome at most."""
    planned = cell.planned
    return kind_of(cell.job), planned and (planned.image_tree, planned.dataset_digest, planned.weights_digest)


def _stand_in(cell: Cell) -> Cell:
    split = cell.job.split.model_copy(update={"seed": 0})
    job = cell.job.model_copy(update={"split": split})
    return Cell(job, cell.planned and cell.planned.model_copy(update={"job": job, "split_digest": ""}))
