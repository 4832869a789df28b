"""How the authors scored a method, as its parameters say: `as-published` metrics follow it, others do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.base.errors import UsageError

_CHOICES = {"evaluation_type": ("lowest", "own"), "evaluation_empty": ("zero", "skip")}


@dataclass(frozen=True)
class Evaluation:
    """The published evaluation; the defaults are those of the benchmark's common trainer."""

    # rows per batch where the last incomplete one is dropped, 0 where none is
    batch: int = 0
    # whether an item of a pair with several types counts by the lowest of them, or by its own
    lowest_type: bool = True
    # whether a type without a pair counts 0, or is left out of the mean
    empty_is_zero: bool = True

    def rows(self, count: int) -> int:
        """How many of so many rows are scored."""
        return count - count % self.batch if self.batch else count


def evaluation_of(parameters: Mapping[str, Any]) -> Evaluation:
    """The evaluation that a run's parameters name; what they do not name is the common trainer's."""
    chosen = {name: parameters.get(name, choices[0]) for name, choices in _CHOICES.items()}
    for name, value in chosen.items():
        if value not in _CHOICES[name]:
            raise UsageError(
                f"'{value}' is no value for '{name}'",
                where="parameters",
                todo=f"choose one of: {', '.join(_CHOICES[name])}",
            )
    batch = parameters.get("evaluation_batch", 0)
    if not isinstance(batch, int) or batch < 0:
        raise UsageError(
            f"'{batch}' is no number of rows",
            where="parameters: evaluation_batch",
            todo="give the rows of a batch where the last incomplete one is dropped, else 0",
        )
    return Evaluation(batch, chosen["evaluation_type"] == "lowest", chosen["evaluation_empty"] == "zero")
