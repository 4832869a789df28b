"""The paper's figures from our runs, with printed numbers where a table of the paper gives them."""

from __future__ import annotations

from harness.benchmarks.ddi.study.drawings import Bar, Curve, bars, heat, lines
from harness.splits.spec import parse_split
from harness.study.sheets import Picture, Sheet, percent, runs_at
from harness.study.sides import Sides
from harness.study.specs import Spec

# A random split does not bound the similarity of drugs.
_UNBOUNDED, _LARGEST = "random", 1.0
# The methods of a figure without splits of its own are those of the paper's tables.
_SPLITS = ("without", "with")


def comparison(sides: Sides, spec: Spec) -> Sheet:
    """A figure with a bar per split, printed beside ours."""
    splits = list(spec.splits.values())
    head = ["dataset", "metric", "setting", "method", *(f"{split}: printed / ours" for split in splits)]
    rows, pictures, keys = [], [], []
    for part in spec.parts:
        for setting in spec.settings:
            methods = []
            for row in sides.rows(part.dataset, splits):
                metric, values = sides.names.meaning(part.metric, row.method, part.dataset), []
                for split in splits:
                    claim = sides.claim(
                        f"Table {part.table}", row, part.dataset, split, f"{setting} {part.metric}"
                    )
                    ours = sides.ours(row, part.dataset, split, f"{setting} {metric}")
                    values.append((claim.claim.value if claim else None, ours.mean if ours else None))
                if any(value is not None for pair in values for value in pair):
                    methods.append(Bar(row.title, tuple(values)))
                    texts = [f"{percent(printed)} / {percent(ours)}" for printed, ours in values]
                    rows.append([part.dataset, metric, setting, row.title, *texts])
                    own = [sides.keys(row, part.dataset, split) for split in splits]
                    keys.append([(), (), (), (), *own])
            if methods:
                heading = f"{part.metric} on {part.dataset}, {setting}"
                pictures.append(Picture(heading, bars(heading, methods)))
    parts = {(part.dataset, part.metric) for part in spec.parts}
    notes = [
        f"Of {one.method} {one.ours} in place of {one.published}: {one.reason}."
        for one in sides.names.meanings
        if (one.dataset, one.published) in parts
    ]
    return spec.sheet(head, rows, notes=notes, pictures=pictures, runs=keys)


def of_gamma(sides: Sides, spec: Spec) -> Sheet:
    """The effect of gamma; the paper draws it without numbers."""
    here = {target.split for target in sides.book.runs if target.dataset == sides.names.datasets[spec.dataset]}
    gammas = {split: gamma for split in here if split and (gamma := _gamma(split)) is not None}
    splits = sorted(gammas, key=lambda split: gammas[split])
    at = [gammas[split] for split in splits]
    head = ["metric", "setting", "method", *(split.removeprefix("cluster:") for split in splits)]
    rows, pictures, keys = [], [], []
    for metric in spec.metrics.values():
        for setting in spec.settings:
            curves = []
            for row in sides.rows(spec.dataset, _SPLITS):
                means = [sides.ours(row, spec.dataset, split, f"{setting} {metric}") for split in splits]
                if any(means):
                    texts = (percent(one.mean if one else None) for one in means)
                    rows.append([metric, setting, row.title, *texts])
                    keys.append([(), (), (), *(sides.keys(row, spec.dataset, split) for split in splits)])
                    points = [(x, one.mean) for x, one in zip(at, means, strict=True) if one]
                    curves.append(Curve(row.title, points))
            if curves:
                heading = f"{metric} on {spec.dataset}, {setting}"
                pictures.append(Picture(heading, lines(heading, curves, "gamma", shares=True)))
    return spec.sheet(head, rows, pictures=pictures, runs=keys)


def _gamma(split: str) -> float | None:
    """Where a split stands on the axis; None for one that differs in more than gamma."""
    if split == _UNBOUNDED:
        return _LARGEST
    spec = parse_split(split, 0)
    is_of_gamma = spec.strategy == "cluster" and spec.parameters.keys() == {"gamma"}
    return float(spec.parameters["gamma"]) if is_of_gamma else None


def every_type(sides: Sides, spec: Spec) -> Sheet:
    """A row per method and split, a column per type: the mean over seeds."""
    rows, pictures, keys = [], [], []
    for setting in spec.settings:
        for split in spec.splits.values():
            shades = []
            for row in sides.rows(spec.dataset, _SPLITS):
                name = f"{setting} accuracy of type/as-published "
                runs = [run.metrics for run in sides.ended(row, spec.dataset, split) if run.metrics]
                names = {key for run in runs for key in run if key.startswith(name)}
                kinds = sorted(int(key.removeprefix(name)) for key in names)
                if not kinds:
                    continue
                means = [sides.ours(row, spec.dataset, split, f"{name}{kind}") for kind in kinds]
                shades.append((row.title, [one.mean if one else None for one in means]))
                shown = [
                    [setting, split, row.title, f"#{kind}", percent(one.mean), str(one.n)]
                    for kind, one in zip(kinds, means, strict=True)
                    if one
                ]
                own = sides.keys(row, spec.dataset, split)
                rows += shown
                keys += [runs_at((-2,), texts, own) for texts in shown]
            if shades:
                heading = f"{setting}, {split} distribution change"
                pictures.append(Picture(heading, heat(heading, shades)))
    head = ["setting", "distribution change", "method", "type", "accuracy", "seeds"]
    return spec.sheet(head, rows, pictures=pictures, runs=keys)
