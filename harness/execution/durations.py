"""How long runs are expected to take, and the order of starting that follows: nothing long is left for the end.

An order of starting changes no answer and no table; it only keeps all processors busy until the last run ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.progress import Progress
from harness.base.vocabulary import Verdict
from harness.planning.jobs import card_of
from harness.planning.needs import kind_of, measured_seconds
from harness.planning.plan import Cell
from harness.results.reference import seconds_in_reference

# A run is started early once all that is left takes less than this many times its own time: enough for estimates
# that are wrong by half.
_AHEAD = 2.0


class Expected:
    """Expected wall seconds of runs.

    From runs of the same method on the same dataset: those of this machine, else the committed reference results;
    else the limit of the method's card.
    """

    def __init__(self, layout: Layout, joined: Iterable[Cell], progress: Progress) -> None:
        self._layout = layout
        self._progress = progress
        self._seconds = measured_seconds(joined)

    def seconds(self, cell: Cell) -> float:
        """Expected wall seconds of the run of a cell."""
        kind = kind_of(cell.job)
        if kind not in self._seconds:
            self._seconds[kind] = self._elsewhere(cell)
        return self._seconds[kind]

    def _elsewhere(self, cell: Cell) -> float:
        limit = float(card_of(self._layout, cell.job).resources.seconds)
        if cell.planned is None:
            return limit
        try:
            seconds = seconds_in_reference(self._layout, cell.planned)
        except CorruptData as error:
            # reading it is the audit's and the comparison's business; here only an order rests on it
            self._progress.note(f"order of starting: {error.what} ({error.where})")
            return limit
        return median(seconds) if seconds else limit


def starting_order(cells: Sequence[Cell], seconds: Callable[[Cell], float], processors: int) -> list[Cell]:
    """The cells in the order in which they should be started on so many processors.

    The order of the plan, so that a campaign which is stopped has about as many seeds of everything; but a run
    starts before its turn as soon as it would otherwise be the last to end. What the machine failed stays last.
    """
    failures = [cell for cell in cells if cell.verdict is Verdict.INFRASTRUCTURE]
    others = [cell for cell in cells if cell.verdict is not Verdict.INFRASTRUCTURE]
    return [*_in_time(others, seconds, processors), *_in_time(failures, seconds, processors)]


def _in_time(cells: Sequence[Cell], seconds: Callable[[Cell], float], processors: int) -> Iterator[Cell]:
    lengths = [seconds(cell) for cell in cells]
    by_length = sorted(range(len(cells)), key=lambda place: -lengths[place])
    in_turn, longest = iter(range(len(cells))), iter(by_length)
    started: set[int] = set()
    turn, long = next(in_turn, None), next(longest, None)
    left = sum(lengths)
    while turn is not None and long is not None:
        place = long if lengths[long] * processors * _AHEAD >= left else turn
        yield cells[place]
        started.add(place)
        left -= lengths[place]
        while turn in started:
            turn = next(in_turn, None)
        while long in started:
            long = next(longest, None)
