"""The paper's figures from our runs, with printed numbers where a table of the paper gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.benchmarks.ddi.study.drawings import Bar, Curve, bars, heat, lines
from harness.benchmarks.ddi.study.sides import Row, Sides
from harness.benchmarks.ddi.study.tables import SETTINGS, SPLITS, percent
from harness.study.sheets import Picture, Sheet

_BARS = {
    "6": (
        "Without and with distribution change: F1 and ROC-AUC",
        (("Drugbank", "F1", "10"), ("TWOSIDES", "ROC-AUC", "11")),
    ),
    "11": ("Accuracy and Cohen's kappa on Drugbank", (("Drugbank", "accuracy", ""), ("Drugbank", "kappa", ""))),
    "12": ("PR-AUC and accuracy on TWOSIDES", (("TWOSIDES", "PR-AUC", ""), ("TWOSIDES", "accuracy", ""))),
    "15": (
        "Drugs split by DataSAIL, beside drugs drawn at random: F1 and ROC-AUC",
        (("Drugbank", "F1", ""), ("TWOSIDES", "ROC-AUC", "")),
    ),
}
# Figure 15 is of splits that the paper has no name for in its tables.
_OTHER_SPLITS = {"15": ("random", "datasail")}
_SWEEPS = {"7": ("F1",), "14": ("accuracy", "kappa")}
# Which suite makes the runs of a figure.
_SUITES = {
    "6": "ddi-drugbank",
    "7": "ddi-gamma",
    "11": "ddi-drugbank",
    "12": "ddi-twosides",
    "13": "ddi-types",
    "14": "ddi-gamma",
    "15": "ddi-datasail",
}
_PREFIX = "cluster:gamma="
# Drugs drawn at random may be as similar as can be.
_UNBOUNDED, _LARGEST = "random", 1.0


def figures(sides: Sides) -> Iterator[Sheet]:
    """Figures 6, 7 and 11 to 15; one without a single value says which suite makes it."""
    for sheet in _drawn(sides):
        told = f"No run yet: `harness run --suite {_SUITES[sheet.number]}` makes them."
        yield sheet if sheet.rows else replace(sheet, legend="", notes=[told])


def _drawn(sides: Sides) -> Iterator[Sheet]:
    for number, (title, parts) in _BARS.items():
        yield _comparison(sides, number, title, parts)
    for number, metrics in _SWEEPS.items():
        yield _sweep(sides, number, metrics)
    yield _every_type(sides)


def _comparison(sides: Sides, number: str, title: str, parts: Sequence[tuple[str, str, str]]) -> Sheet:
    splits = _OTHER_SPLITS.get(number, SPLITS)
    head = ["dataset", "metric", "setting", "method", *(f"{split}: printed / ours" for split in splits)]
    rows, pictures = [], []
    for dataset, metric, table in parts:
        for setting in SETTINGS:
            shown = []
            for row in sides.rows(dataset, *splits):
                meant, values = sides.names.meant(metric, row.method, dataset), []
                for split in splits:
                    claim = sides.claim(table, row, split, f"{setting} {metric}") if table else None
                    ours = sides.ours(row, dataset, split, _ours(sides, setting, meant))
                    values.append((claim.claim.value if claim else None, ours.mean if ours else None))
                if any(value is not None for pair in values for value in pair):
                    shown.append(Bar(row.title, tuple(values)))
                    told = [f"{percent(printed)} / {percent(ours)}" for printed, ours in values]
                    rows.append([dataset, meant, setting, row.title, *told])
            if shown:
                heading = f"{metric} on {dataset}, {setting}"
                pictures.append(Picture(heading, bars(heading, shown)))
    what = " distribution change" if splits == SPLITS else ""
    legend = f"Of each method: {splits[0]}{what} above, {splits[1]} below; the paper's value as an outline."
    drawn = {(dataset, metric) for dataset, metric, _ in parts}
    notes = [
        f"Of {one.method} {one.ours} in place of {one.published}: {one.reason}."
        for one in sides.names.meanings
        if (one.dataset, one.published) in drawn
    ]
    return Sheet("figure", number, title, head, rows, notes=notes, legend=legend, pictures=pictures, style="two")


def _sweep(sides: Sides, number: str, metrics: Sequence[str]) -> Sheet:
    """What tuning gamma does; the paper draws it without numbers."""
    dataset = "Drugbank"
    found = {target.split for target in sides.book.runs if target.dataset == sides.names.datasets[dataset]}
    splits = sorted(split for split in found if split and split.startswith(_PREFIX))
    splits += [_UNBOUNDED] if _UNBOUNDED in found else []
    head = ["metric", "setting", "method", *(split.removeprefix("cluster:") for split in splits)]
    rows, pictures = [], []
    for metric in metrics:
        for setting in SETTINGS:
            curves = []
            for row in _own(sides, dataset):
                means = [sides.ours(row, dataset, split, _ours(sides, setting, metric)) for split in splits]
                if any(means):
                    rows.append(
                        [metric, setting, row.title, *(percent(one.mean if one else None) for one in means)]
                    )
                    places = [
                        _LARGEST if split == _UNBOUNDED else float(split.removeprefix(_PREFIX)) for split in splits
                    ]
                    points = [(at, one.mean) for at, one in zip(places, means, strict=True) if one]
                    curves.append(Curve(row.title, points))
            if curves:
                heading = f"{metric} on {dataset}, {setting}"
                pictures.append(Picture(heading, lines(heading, curves, "gamma", shares=True)))
    told = " and ".join(metrics)
    title = f"{told[0].upper()}{told[1:]} while gamma is tuned, on {dataset}"
    legend = (
        "Left: known and new drugs may be less similar, the change is greater; at 1 stand drugs drawn at random. "
        "The paper prints no numbers."
    )
    return Sheet("figure", number, title, head, rows, legend=legend, pictures=pictures, style="two")


def _every_type(sides: Sides) -> Sheet:
    """A row per method and split, a column per type: the mean over seeds."""
    dataset, rows, pictures = "Drugbank", [], []
    for setting in SETTINGS:
        for split in SPLITS:
            shown = []
            for row in _own(sides, dataset):
                name = f"{setting} accuracy of type/as-published "
                runs = [run.metrics for run in sides.runs(row, dataset, split) if run.metrics]
                kinds = sorted(
                    {int(key.removeprefix(name)) for run in runs for key in run if key.startswith(name)}
                )
                if not kinds:
                    continue
                means = [sides.ours(row, dataset, split, f"{name}{kind}") for kind in kinds]
                shown.append((row.title, [one.mean if one else None for one in means]))
                rows += [
                    [setting, split, row.title, f"#{kind}", percent(one.mean), str(one.n)]
                    for kind, one in zip(kinds, means, strict=True)
                    if one
                ]
            if shown:
                heading = f"{setting}, {split} distribution change"
                pictures.append(Picture(heading, heat(heading, shown)))
    head = ["setting", "distribution change", "method", "type", "accuracy", "seeds"]
    legend = "Dark is right more often; a cross marks a type without test items."
    title = "Accuracy of every type of interaction on Drugbank"
    return Sheet("figure", "13", title, head, rows, legend=legend, pictures=pictures, style="two")


def _own(sides: Sides, dataset: str) -> list[Row]:
    return sides.rows(dataset, *SPLITS)


def _ours(sides: Sides, setting: str, metric: str) -> str:
    """Metrics that no table prints have our name from the start."""
    found = sides.metric(f"{setting} {metric}")
    return found if "/" in found else f"{setting} {metric}/as-published"
