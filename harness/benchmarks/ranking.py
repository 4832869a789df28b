"""The predictions of a method as a list: names and scores, best first."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ranking:
    """Rows of names that end with a score."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def to_csv(self) -> str:
        """One line a row, with its rank; the score with every digit."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["rank", *self.columns])
        writer.writerows((rank, *names, repr(score)) for rank, (*names, score) in enumerate(self.rows, 1))
        return text.getvalue()
