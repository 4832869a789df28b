"""What the paper says of its data, beside what the released files hold: Tables 6 and 9, the map of Figure 4."""

from __future__ import annotations

from collections.abc import Iterator

from harness.study.ddi.drawings import scatter
from harness.study.ddi.measured import Measured, Period, Sizes
from harness.study.sheets import Picture, Sheet

_SIDE = 999.0
# As Table 6 has them: drugs, types, triplets.
_PRINTED_SIZES = {"drugbank": (1710, 86, 188_509), "twosides": (645, 209, 116_650)}
# As Table 9 has them, by the year after which a period begins: drugs, interactions.
_PRINTED_PERIODS = {2000: (189, 12_786), 1990: (267, 16_049), 1980: (253, 12_855), 2010: (177, 2_520)}


def facts(measured: Measured) -> Iterator[Sheet]:
    """Tables before figures."""
    yield _sizes(measured)
    yield _periods(measured)
    yield _map(measured)


def _sizes(measured: Measured) -> Sheet:
    head = ["dataset", "drugs", "types", "triplets", "ours: pairs with a type"]
    rows, notes = [], []
    for one in measured.sizes:
        name = one.dataset.partition("_")[0]
        drugs, types, triplets = _PRINTED_SIZES[name]
        # a stand-in has splits of its own
        parts = ("random", "cluster", "all") if name == one.dataset else ("all",)
        ours = ", ".join(f"{one.triplets[part]:,} {part}" for part in parts)
        rows.append(
            [
                name,
                f"{drugs:,} / {one.drugs:,}",
                f"{types} / {one.types}",
                f"{triplets:,} / {ours}",
                f"{one.pairs:,}",
            ]
        )
        notes.append(_why(name, one, triplets))
    title = "Statistics of the datasets"
    notes = ["Printed / in the released files: of the random split, of the cluster split, of both.", *notes]
    return Sheet("table", "6", title, head, rows, notes=notes, style="statuses")


def _why(name: str, one: Sizes, printed: int) -> str:
    random, cluster = one.triplets.get("random", 0), one.triplets.get("cluster", 0)
    if name == "drugbank":
        return (
            f"drugbank: a split leaves out the pairs of a validation and a test drug, so that the released splits "
            f"differ. The printed {printed:,} is the number of the random split ({random:,}); the cluster split "
            f"has {cluster - printed:+,}."
        )
    missing = (
        " Six of the files, with most interactions, are not here: the numbers are of the eight files that are."
        if name != one.dataset
        else ""
    )
    return (
        f"twosides: {one.triplets['all']:,} triplets of {one.pairs:,} pairs are more than the printed "
        f"{printed:,}: those can't be triplets (drug, type, drug) of pairs that have many types each. They may be "
        f"lines of a split's files, positive and negative; nobody here can tell.{missing}"
    )


def _periods(measured: Measured) -> Sheet:
    head = ["approved", "gap to new drugs", "drugs", "interactions"]
    known = {period.after: period for period in measured.periods}
    gaps = {2000: "10 years", 1990: "20 years", 1980: "30 years", 2010: "new drugs"}
    rows = []
    for after, (drugs, items) in _PRINTED_PERIODS.items():
        period = known[after]
        rows.append([_named(period), gaps[after], f"{drugs} / {period.drugs}", f"{items:,} / {period.items:,}"])
    notes = [
        f"Printed / ours. Drugs: the {measured.dated} whose year of approval is in the released table. "
        "Interactions: those of both released splits between two drugs of a period. The authors' files of this "
        "experiment have as many lines as are printed, but which drugs their numbers mean is not documented, and "
        "the years do not fit: the experiment itself is not made again here."
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
