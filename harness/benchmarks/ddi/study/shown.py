"""What the paper prints of its data, Tables 6 and 9: numbers that stand beside ours; no run decides them.

They stand in `results/published/ddi/tables.csv` as the claims do; one that is missing there is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.compare.claims import SHOWN, TABLES, load_printed
from harness.compare.names import Names


@dataclass(frozen=True)
class Shown:
    """Printed numbers by table, dataset (in our words), period (none in Table 6) and quantity."""

    numbers: Mapping[tuple[str, str, str, str], float]
    where: str

    def number(self, table: str, dataset: str, period: str, quantity: str) -> float:
        """One of them."""
        found = self.numbers.get((table, dataset, period, quantity))
        if found is None:
            raise CorruptData(
                f"Table {table} has no number '{quantity}' of {dataset} {period}".strip(),
                where=self.where,
                todo="restore the file from the repository",
            )
        return found


def load_shown(layout: Layout, names: Names) -> Shown:
    """All of a benchmark."""
    path = layout.published / names.benchmark / TABLES
    numbers = {
        (row["table"], names.datasets.get(row["dataset"], ""), row["split"], row["metric"]): float(row["value"])
        for row in load_printed(path)
        if row["statistic"] == SHOWN and row["value"]
    }
    return Shown(numbers, str(path))
