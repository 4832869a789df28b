"""What a table must know of a metric: its name, what it says, which direction is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """One flat name, such as `NS-AUC/as-published`."""

    name: str
    description: str
    better: Literal["higher", "lower", "neither"] = "higher"
    range: tuple[float, float] | None = (0.0, 1.0)
