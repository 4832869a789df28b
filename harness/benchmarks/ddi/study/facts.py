"""What the paper says of its data, beside what the released files hold: Tables 6 and 9, the map of Figure 4."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.benchmarks.ddi.study.drawings import scatter
from harness.benchmarks.ddi.study.measured import Measured, Period, Sizes
from harness.benchmarks.ddi.study.shown import Shown
from harness.study.sheets import Picture, Sheet

_SIDE = 999.0
# Where Table 9 ends, and of what it is.
_LAST_YEAR, _DATED = 2025, "drugbank"


def facts(measured: Measured, shown: Shown) -> Iterator[Sheet]:
    """Tables before figures."""
    yield _sizes(measured, shown)
    yield _periods(measured, shown)
    yield _map(measured)


def _sizes(measured: Measured, shown: Shown) -> Sheet:
    head = ["dataset", "drugs", "types", "triplets", "ours: pairs with a type"]
    rows, notes = [], []
    for one in measured.sizes:
        name = one.dataset.partition("_")[0]
        drugs, types, triplets = (shown.number("6", name, "", what) for what in ("drugs", "types", "triplets"))
        # a stand-in has splits of its own
        parts = ("random", "cluster", "all") if name == one.dataset else ("all",)
        ours = ", ".join(f"{one.triplets[part]:,} {part}" for part in parts)
        rows.append(
            [
                name,
                f"{drugs:,.0f} / {one.drugs:,}",
                f"{types:.0f} / {one.types}",
                f"{triplets:,.0f} / {ours}",
                f"{one.pairs:,}",
            ]
        )
        notes.append(_why(name, one, triplets))
    title = "Statistics of the datasets"
    notes = ["Printed / in the released files: of the random split, of the cluster split, of both.", *notes]
    return Sheet("table", "6", title, head, rows, notes=notes, style="statuses")


def _why(name: str, one: Sizes, printed: float) -> str:
    random, cluster = one.triplets.get("random", 0), one.triplets.get("cluster", 0)
    if name == "drugbank":
        return (
            f"drugbank: a split leaves out the pairs of a validation and a test drug, so that the released splits "
            f"differ. The printed {printed:,.0f} is the number of the random split ({random:,}); the cluster "
            f"split has {cluster - printed:+,.0f}."
        )
    missing = (
        " Six of the files, with most interactions, are not here: the numbers are of the eight files that are."
        if name != one.dataset
        else ""
    )
    return (
        f"twosides: {one.triplets['all']:,} triplets of {one.pairs:,} pairs are more than the printed "
        f"{printed:,.0f}: those can't be triplets (drug, type, drug) of pairs that have many types each. They may "
        f"be lines of a split's files, positive and negative; nobody here can tell.{missing}"
    )


def _periods(measured: Measured, shown: Shown) -> Sheet:
    head = ["approved", "gap to new drugs", "drugs", "interactions"]
    rows = []
    # as printed: known drugs, the nearest period first, then the new ones
    for period in sorted(measured.periods, key=lambda one: (one.until is None, -one.after)):
        printed = partial(shown.number, "9", _DATED, f"{period.after}-{period.until or _LAST_YEAR}")
        gap = f"{printed('average gap in years'):.0f} years" if period.until else "new drugs"
        drugs, items = printed("drugs"), printed("interactions")
        rows.append([_named(period), gap, f"{drugs:.0f} / {period.drugs}", f"{items:,.0f} / {period.items:,}"])
    notes = [
        f"Printed / ours. Drugs: the {measured.dated} whose year of approval is in the released table. "
        "Interactions: those of both released splits between two drugs of a period. The authors' files of this "
        "experiment have as many lines as are printed, but which drugs their numbers mean is not documented, and "
        "the years do not fit: the experiment itself is not made again here. Suite ddi-periods asks the same of "
        "splits of our own."
    ]
    return Sheet(
        "table", "9", "Drugs and interactions by period of approval", head, rows, notes=notes, style="statuses"
    )


def _map(measured: Measured) -> Sheet:
    """Dated drugs where t-SNE puts them."""
    rows, pictures = [], []
    for period in sorted(measured.periods, key=lambda one: one.after):
        places: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
        for x, y, year in measured.drug_map:
            places[_holds(period, year)].append((float(x), float(y)))
        heading = f"approved {_named(period)}: {len(places[True])} of {len(measured.drug_map)} drugs"
        pictures.append(Picture(heading, scatter(heading, places[True], places[False], _SIDE)))
        rows.append([_named(period), str(len(places[True]))])
    notes = [
        "t-SNE of 1 less the similarity of equation (1) between count fingerprints; perplexity 30, seed 0. Near "
        "points are similar drugs; distances of far ones, and the axes, mean nothing."
    ]
    title = "Dated drugs in chemical space, by period of approval"
    return Sheet("figure", "4", title, ["approved", "drugs"], rows, notes=notes, pictures=pictures, style="two")


def _holds(period: Period, year: int) -> bool:
    return year > period.after and (period.until is None or year <= period.until)


def _named(period: Period) -> str:
    return f"{period.after + 1} to {period.until}" if period.until else f"from {period.after + 1} on"
