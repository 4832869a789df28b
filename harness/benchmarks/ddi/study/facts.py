"""The paper's numbers about its data beside those of the released files: Tables 6 and 9, the map of Figure 4.

The printed numbers are in `results/published/ddi/tables.csv` like the claims, but they do not depend on runs.
"""

from __future__ import annotations

from functools import partial

from harness.base.errors import CorruptData
from harness.benchmarks.ddi.study.data_facts import Period, Sizes, SplitFacts
from harness.benchmarks.ddi.study.drawings import scatter
from harness.compare.claims import SHOWN, TABLES, load_printed
from harness.study.sheets import Picture, Sheet
from harness.study.sides import Sides
from harness.study.specs import Spec

_SIDE = 999.0
# The last year of Table 9, and its dataset.
_LAST_YEAR, _DATED = 2025, "drugbank"


def printed(sides: Sides, table: str, dataset: str, period: str, quantity: str) -> float:
    """A printed number by table, dataset (our name), period (empty in Table 6) and quantity."""
    path, names = sides.layout.published / sides.names.benchmark / TABLES, sides.names.datasets
    for row in load_printed(path):
        place = (row["table"], names.get(row["dataset"]), row["split"], row["metric"])
        if row["statistic"] == SHOWN and row["value"] and place == (table, dataset, period, quantity):
            return float(row["value"])
    raise CorruptData(
        f"Table {table} has no number '{quantity}' of {dataset} {period}".strip(),
        where=str(path),
        todo="restore the file from the repository",
    )


def sizes(sides: Sides, spec: Spec, split_facts: SplitFacts) -> Sheet:
    """Table 6."""
    head = ["dataset", "drugs", "types", "triplets", "ours: pairs with a type"]
    rows, notes = [], []
    for one in split_facts.sizes:
        name = one.dataset.partition("_")[0]
        drugs, types, triplets = (
            printed(sides, spec.number, name, "", what) for what in ("drugs", "types", "triplets")
        )
        # a stand-in has splits of its own
        parts = ("random", "cluster", "all") if name == one.dataset else ("all",)
        ours = ", ".join(f"{one.triplets[part]:,} {part}" for part in parts)
        texts = [f"{drugs:,.0f} / {one.drugs:,}", f"{types:.0f} / {one.types}", f"{triplets:,.0f} / {ours}"]
        rows.append([name, *texts, f"{one.pairs:,}"])
        notes.append(_why(name, one, triplets))
    return spec.sheet(head, rows, notes=notes)


def _why(name: str, one: Sizes, triplets: float) -> str:
    random, cluster = one.triplets.get("random", 0), one.triplets.get("cluster", 0)
    if name == "drugbank":
        return (
            f"drugbank: a split leaves out the pairs of a validation and a test drug, so that the released splits "
            f"differ. The printed {triplets:,.0f} is the number of the random split ({random:,}); the cluster "
            f"split has {cluster - triplets:+,.0f}."
        )
    missing = (
        " Six of the files, with most interactions, are not here: the numbers are of the eight files that are."
        if name != one.dataset
        else ""
    )
    return (
        f"twosides: {one.triplets['all']:,} triplets of {one.pairs:,} pairs are more than the printed "
        f"{triplets:,.0f}: those can't be triplets (drug, type, drug) of pairs that have many types each. They "
        f"may be lines of a split's files, positive and negative; nobody here can tell.{missing}"
    )


def periods(sides: Sides, spec: Spec, split_facts: SplitFacts) -> Sheet:
    """Table 9."""
    head = ["approved", "gap to new drugs", "drugs", "interactions"]
    rows = []
    # as printed: known drugs, the nearest period first, then the new ones
    for period in sorted(split_facts.periods, key=lambda one: (one.until is None, -one.after)):
        number = partial(printed, sides, spec.number, _DATED, f"{period.after}-{period.until or _LAST_YEAR}")
        gap = f"{number('average gap in years'):.0f} years" if period.until else "new drugs"
        drugs, items = number("drugs"), number("interactions")
        rows.append([_years_of(period), gap, f"{drugs:.0f} / {period.drugs}", f"{items:,.0f} / {period.items:,}"])
    notes = [
        f"Printed / ours. Drugs: the {split_facts.dated} whose year of approval is in the released table. "
        "Interactions: those of both released splits between two drugs of a period. The authors' files of this "
        "experiment have as many lines as are printed, but which drugs their numbers mean is not documented, and "
        "the years do not fit: the experiment itself is not made again here. Suite ddi-periods asks the same of "
        "splits of our own."
    ]
    return spec.sheet(head, rows, notes=notes)


def drug_map(sides: Sides, spec: Spec, split_facts: SplitFacts) -> Sheet:
    """Figure 4: drugs with a year on a map that t-SNE gives."""
    rows, pictures = [], []
    for period in sorted(split_facts.periods, key=lambda one: one.after):
        places: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
        for x, y, year in split_facts.drug_map:
            places[_holds(period, year)].append((float(x), float(y)))
        heading = f"approved {_years_of(period)}: {len(places[True])} of {len(split_facts.drug_map)} drugs"
        pictures.append(Picture(heading, scatter(heading, places[True], places[False], _SIDE)))
        rows.append([_years_of(period), str(len(places[True]))])
    return spec.sheet(["approved", "drugs"], rows, pictures=pictures)


def _holds(period: Period, year: int) -> bool:
    return year > period.after and (period.until is None or year <= period.until)


def _years_of(period: Period) -> str:
    return f"{period.after + 1} to {period.until}" if period.until else f"from {period.after + 1} on"
