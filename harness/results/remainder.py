"""What is left of a plan, as the log tells it: to know it of a million cells, no million records are read.

The log names the verdict and the record of every run, in order, and is written with each: it is the index, and no
other is kept beside it. It is trusted for what to run next, and for nothing else: every table looks at records.
And it is tested: some runs that it calls finished are looked at, and where one is not what it says, all are.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from harness.base.vocabulary import Verdict
from harness.planning.cells import Cells, Judgement
from harness.planning.obstacles import ObstacleNotes
from harness.planning.plan import Plan
from harness.proof.leaves import Event, ends_result, makes_result
from harness.proof.log import Log
from harness.results.records import record_digest
from harness.results.store import Store, StoredRun, join, judged

# A plan of so many cells is looked at whole: that takes a second or two.
LOOKED_AT = 20_000
# Of a larger one so many finished runs: one damaged in 300 is found by 19 of 20 looks.
SAMPLE = 1_000
_BATCH = 1 << 13
_VERDICTS = tuple(Verdict)
_NOTHING = 255


@dataclass(frozen=True)
class Told:
    """The cells of a plan with verdicts to decide by what to run, and what a person should know of that.

    All have their records, or some of them as much as tells how long they took.
    """

    cells: Cells
    notes: list[str]
    has_records: bool = False


def what_is_told(plan: Plan, store: Store, *, verify: bool = False) -> Told:
    """What to decide by. With `verify` every record is looked at, however many there are."""
    with store.open_log() as (log, notes):
        pass
    every = Cells.of(plan.cells)
    if len(every) <= LOOKED_AT:
        return Told(Cells(join(plan, store, records=True)), notes, has_records=True)
    if not verify:
        newest = _Newest(every, log)
        try:
            newest.read()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            wrong = f"{log.path}: a line is no leaf of a log ({type(error).__name__})"
        else:
            looked_at, wrong = newest.sample(store)
            if not wrong:
                outcomes = newest.outcomes(ObstacleNotes.of(store.folder))
                # how long they took, and no more: a whole record takes 15 kB
                records = {place: {"resources": one.content["resources"]} for place, one in looked_at.items()}
                return Told(every.judged(outcomes, records), notes)
        notes = [*notes, f"{wrong}; so all records are looked at"]
    return Told(Cells.of(join(plan, store)), notes)


class _Newest:
    """The newest leaf of each planned key."""

    def __init__(self, cells: Cells, log: Log) -> None:
        self._cells, self._log = cells, log
        self._verdicts = np.full(len(cells), _NOTHING, np.uint8)
        # where in the log each verdict stands
        self._starts = np.zeros(len(cells), np.int64)

    def read(self) -> None:
        """Read the log from its beginning to its end."""
        # eight bytes of a key lead to its place, all of it tells whether it is the one
        heads = self._cells.key_heads
        order = np.argsort(heads)
        heads = heads[order]
        leaves = self._result_leaves()
        while batch := list(islice(leaves, _BATCH)):
            wanted = np.frombuffer(bytes.fromhex("".join(leaf["key"] for _, leaf in batch)), np.uint8)
            wanted = wanted.reshape(len(batch), -1)
            near = np.searchsorted(heads, wanted[:, :8].copy().view(np.uint64).reshape(-1))
            places = order[np.minimum(near, len(heads) - 1)]
            are_planned = self._cells.have_keys(places, wanted)
            for (start, leaf), place, is_planned in zip(batch, places.tolist(), are_planned, strict=True):
                if is_planned:
                    self._starts[place] = start
                    ends = ends_result(leaf["kind"])
                    self._verdicts[place] = _NOTHING if ends else _VERDICTS.index(leaf["verdict"])

    def _result_leaves(self) -> Iterator[tuple[int, dict[str, Any]]]:
        start = 0
        for line in self._log.each_line():
            # no text of a leaf holds quotes that are not escaped
            if b'"kind":"score"' not in line:
                leaf = json.loads(line)
                if makes_result(kind := Event(leaf["kind"])) or ends_result(kind):
                    yield start, leaf
            start += len(line) + 1

    def sample(self, store: Store) -> tuple[dict[int, StoredRun], str]:
        """Some finished runs as they are stored, by their places, and what is wrong with one of them."""
        final = np.array([verdict.is_final for verdict in _VERDICTS] + [False] * (256 - len(_VERDICTS)))
        finished = np.flatnonzero(final[self._verdicts])
        chosen = secrets.SystemRandom().sample(range(len(finished)), min(SAMPLE, len(finished)))
        looked_at = {}
        for place in finished[sorted(chosen)].tolist():
            cell = self._cells[place]
            leaf = json.loads(next(self._log.each_line(int(self._starts[place]))))
            standing = store.standing(cell.key or "")
            if standing.verdict != leaf["verdict"] or record_digest(standing.content) != leaf["record"]:
                stored = f"{standing.verdict}: {standing.reason}"
                return {}, f"{cell.job.label} is '{leaf['verdict']}' by the log, and stored as {stored}"
            looked_at[place] = standing
        return looked_at, ""

    def outcomes(self, notes: ObstacleNotes) -> Iterator[Judgement | None]:
        """For each cell its verdict and what the log knows of its reason; None for one without a key."""
        for (key, kind), verdict in zip(self._cells.keyed(), self._verdicts.data, strict=True):
            yield judged(notes, key, kind.job, _RUNS[verdict]) if key else None


_RUNS = {
    **{number: StoredRun(one, f"{one.meaning} (by the log)", {}) for number, one in enumerate(_VERDICTS)},
    _NOTHING: StoredRun(Verdict.PENDING, Verdict.PENDING.meaning, {}),
}
