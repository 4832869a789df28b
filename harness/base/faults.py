"""All that is wrong with a person's file, told at once: nobody corrects a table one cell at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.base.errors import CorruptData

# How many faults are written out.
_SHOWN = 20
_NUMBER = re.compile(r"\d+")


class SeveralFaults(CorruptData):
    """More than one fault, in the order of their places."""

    def __init__(self, errors: Sequence[CorruptData]) -> None:
        self.errors = sorted(errors, key=_place)
        shown, others = self.errors[:_SHOWN], len(errors) - _SHOWN
        lines = [f"{error.where}: {error.what}" for error in shown] + [f"and {others} more"] * (others > 0)
        todo = dict.fromkeys(error.todo for error in shown if error.todo)
        super().__init__(f"{len(errors)} faults", where="\n         ".join(lines), todo="\n         ".join(todo))


class Faults:
    """What was found wrong so far."""

    def __init__(self) -> None:
        self._errors: list[CorruptData] = []

    def add(self, error: CorruptData) -> None:
        """Note a fault, and go on."""
        self._errors += error.errors if isinstance(error, SeveralFaults) else [error]

    @contextmanager
    def noted(self) -> Iterator[None]:
        """A block whose fault is noted; what follows the block is examined all the same."""
        try:
            yield
        except CorruptData as error:
            self.add(error)

    def check(self) -> None:
        """Raise `CorruptData` if there is a fault: the only one as it is, several as a list."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise SeveralFaults(self._errors)


@contextmanager
def all_faults() -> Iterator[Faults]:
    """A block that notes faults, which are raised together at its end."""
    faults = Faults()
    yield faults
    faults.check()


def _place(error: CorruptData) -> list[int]:
    """Line 10 comes after line 9; what is of one line stays in its order."""
    return [*map(int, _NUMBER.findall(error.where))]
