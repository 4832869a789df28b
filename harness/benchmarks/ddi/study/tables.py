"""The paper's tables of methods: printed and ours in one entry, with the verdict of each claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.benchmarks.ddi.study.ensemble import ENSEMBLE
from harness.benchmarks.ddi.study.sides import CONTROL, Row, Sides
from harness.compare.judge import ClaimVerdict, Comparison
from harness.status.table import Summary
from harness.study.sheets import Sheet

SPLITS = ("without", "with")
SETTINGS = ("S1", "S2")
# The paper does not say of which split its costs are; claims and runs are of this one.
_COSTED = "with"
TYPES = (48, 46, 72, 29, 71, 57, 24, 1, 18)
_NONE = "-"
# What the paper sorts its methods by.
_CATEGORIES = {
    "MLP": "feature",
    "MSTE": "embedding",
    "Decagon": "graph network",
    "SSI-DDI": "graph network",
    "MRCGNN": "graph network",
    "EmerGNN": "graph network",
    "SAGAN": "graph network",
    "TIGER": "graph transformer",
    "TextDDI": "language model",
    "DDI-GPT": "language model",
}
_MISPRINTED = (
    "Two averages without distribution change do not follow from the printed means: MSTE's is printed 71.4, "
    "SAGAN's 69.2. No rank depends on it."
)
_KINDS = (CONTROL, ENSEMBLE)
_REPRESENTATIVES = ("MLP", "MSTE", "EmerGNN", "TIGER", "DDI-GPT")


def tables(sides: Sides) -> Iterator[Sheet]:
    """Tables 4 and 10 to 13."""
    yield _by_type(sides, "4", "S1")
    yield _comparison(sides, "10", "Drugbank", "F1")
    yield _comparison(sides, "11", "TWOSIDES", "ROC-AUC")
    yield _by_type(sides, "12", "S2")
    yield _costs(sides)


def percent(value: float | None) -> str:
    """As the paper prints shares."""
    return _NONE if value is None else f"{100 * value:.1f}"


def _comparison(sides: Sides, number: str, dataset: str, metric: str) -> Sheet:
    """Both settings without and with distribution change; averages and ranks are made from the entries."""
    head = ["category", "method"]
    for split in SPLITS:
        head += [f"{split}, {setting}" for setting in SETTINGS] + [f"{split}, average", f"{split}, rank"]
    rows, chips, claims = [], [], []
    listed = sides.rows(dataset, *SPLITS)
    ranks = {split: _ranks(sides, listed, number, dataset, split, metric) for split in SPLITS}
    for row in listed:
        entries, shown = (
            [_CATEGORIES.get(row.title, row.variant if row.variant in _KINDS else "beside"), row.title],
            ["", ""],
        )
        for split in SPLITS:
            for setting in SETTINGS:
                claim = sides.claim(number, row, split, f"{setting} {metric}")
                claims += [claim] if claim else []
                ours = sides.ours(row, dataset, split, sides.metric(f"{setting} {metric}"))
                entries.append(_entry(claim, ours))
                shown.append(str(claim.verdict) if claim and ours else "")
            entries += ranks[split][row]
            shown += ["", ""]
        rows.append(entries)
        chips.append(shown)
    title = f"{metric} on {dataset}, without and with distribution change, in percent"
    notes = [
        "Printed mean ± deviation / ours ± deviation (seeds). "
        "Average and rank: from the printed means / from ours.",
        *([_MISPRINTED] if dataset == "TWOSIDES" else []),
        *_joined(sides, dataset),
    ]
    return _sheet(number, title, head, rows, chips, claims, notes)


def _joined(sides: Sides, dataset: str) -> Iterator[str]:
    """Of which methods the ensembles are, and why some have no value."""
    row = Row(ENSEMBLE, ENSEMBLE, ENSEMBLE)
    counts = Counter((run.reason, run.unscored) for split in SPLITS for run in sides.runs(row, dataset, split))
    if counts:
        yield "An ensemble is the mean probability of the methods that have a run of every seed that two have."
    for (members, lacking), count in counts.items():
        what = f"{count} ensemble{'' if count == 1 else 's'} of {members}"
        yield f"{what}, without value: {lacking}." if lacking else f"{what}."


def _ranks(
    sides: Sides, rows: Sequence[Row], number: str, dataset: str, split: str, metric: str
) -> dict[Row, tuple[str, str]]:
    """The average over both settings and the place it gives, printed / ours; rows of ours have no place."""
    printed, ours = {}, {}
    for row in rows:
        claims = [sides.claim(number, row, split, f"{setting} {metric}") for setting in SETTINGS]
        if all(claims):
            printed[row] = _rounded([one.claim.value for one in claims if one])
        means = [sides.ours(row, dataset, split, sides.metric(f"{setting} {metric}")) for setting in SETTINGS]
        if all(means):
            ours[row] = _rounded([one.mean for one in means if one])
    ranked = {row: average for row, average in ours.items() if row.printed}
    return {
        row: (
            f"{percent(printed.get(row))} / {percent(ours.get(row))}",
            f"{_place(row, printed)} / {_place(row, ranked)}",
        )
        for row in rows
    }


def _rounded(shares: Sequence[float]) -> float:
    """An average as it is shown, halves up: what is shown as equal has the same rank."""
    return round(sum(shares) / len(shares) + 1e-9, 3)


def _place(row: Row, averages: dict[Row, float]) -> str:
    if row not in averages:
        return _NONE
    place = 1 + sum(1 for value in averages.values() if value > averages[row])
    return f"{place} of {len(averages)}" if len(averages) < len(_CATEGORIES) else str(place)


def _by_type(sides: Sides, number: str, setting: str) -> Sheet:
    """Accuracy of nine types for a method of each category."""
    head = ["method", "distribution change", *(f"#{number}" for number in TYPES)]
    rows, chips, claims = [], [], []
    wanted = [row for row in sides.rows("Drugbank", *SPLITS) if row.title in _REPRESENTATIVES or not row.printed]
    for row in wanted:
        for split in SPLITS:
            entries, shown = [row.title, split], ["", ""]
            for kind in TYPES:
                name = f"{setting} accuracy of type {kind}"
                claim = sides.claim(number, row, split, name)
                claims += [claim] if claim else []
                ours = sides.ours(row, "Drugbank", split, sides.metric(name))
                entries.append(_entry(claim, ours))
                shown.append(str(claim.verdict) if claim and ours else "")
            rows.append(entries)
            chips.append(shown)
    title = f"Accuracy by type of interaction on Drugbank, {setting}, in percent"
    notes = [
        "Printed / ours (seeds). #1 is type 1 of the files, of anticholinergic activities; the sentence that the "
        "paper explains it with, of photosensitizing activities, is type 0's.",
        *_joined(sides, "Drugbank"),
    ]
    return _sheet(number, title, head, rows, chips, claims, notes)


def _costs(sides: Sides) -> Sheet:
    """Minutes and memory, which depend on the hardware: beside each other, never judged."""
    head = ["method", "printed minutes", "our CPU minutes", "printed MB", "our peak MB", "runs"]
    rows, claims = [], []
    for row in sides.rows("Drugbank", _COSTED):
        if row.variant == ENSEMBLE:
            continue
        found = [sides.claim("13", row, _COSTED, metric) for metric in ("minutes", "megabytes")]
        claims += [claim for claim in found if claim]
        printed = [claim.claim.published if claim else _NONE for claim in found]
        ours = sides.cost(row, "Drugbank", _COSTED)
        told = (_NONE, _NONE, "0") if ours is None else (f"{ours[0]:.1f}", f"{ours[1]:.0f}", str(ours[2]))
        rows.append([row.title, printed[0], told[0], printed[1], told[1], told[2]])
    notes = [
        "Theirs: on a graphics card; of which split is not printed. Ours: medians over runs with distribution "
        "change, on one thread of a CPU, other code."
    ]
    return _sheet("13", "Time and memory on Drugbank", head, rows, [], claims, notes)


def _entry(claim: Comparison | None, ours: Summary | None) -> str:
    """`12.5±2.3 / 12.1±0.4 (3)`."""
    told = _NONE
    if ours is not None:
        told = percent(ours.mean) + ("" if ours.sd is None else f"±{100 * ours.sd:.1f}") + f" ({ours.n})"
    if claim is None:
        return told
    sd = "" if claim.claim.sd is None else f"±{100 * claim.claim.sd:.1f}"
    return f"{percent(claim.claim.value)}{sd} / {told}"


def _sheet(
    number: str,
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    chips: Sequence[Sequence[str]],
    claims: Sequence[Comparison],
    notes: Sequence[str],
) -> Sheet:
    reasons = Counter(
        f"{one.verdict}: {one.reason}" for one in claims if one.verdict is not ClaimVerdict.REPRODUCED
    )
    told = [f"{count} number{'' if count == 1 else 's'}: {reason}" for reason, count in reasons.most_common()]
    return Sheet(
        "table",
        number,
        title,
        head,
        rows,
        tally=Counter(one.verdict for one in claims),
        notes=[*notes, *told],
        chips=chips,
        style="statuses",
    )
