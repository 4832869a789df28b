"""Drawings of the paper's figures: both sides in one picture, which differ in shape as well as in colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from harness.benchmarks.repurposing.study.figures import Correlogram, Figures, Pair, Panel
from harness.compare.comparison import ClaimVerdict
from harness.compare.statistics import Array
from harness.study.sheets import Picture
from harness.study.svg import Drawing, Scale, density, draw_box, histogram

# Figure 2b shows the regressions with a larger R².
_SHOWN_R2 = 0.25
_QUARTERS = (0.0, 0.25, 0.5, 0.75)
_SECONDS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
# Sizes in the units of the drawing: of box plots, then of correlograms.
_LABELS, _PLOT, _ROW, _HEAD, _BOX = 128, 430, 27, 24, 9
_CELL, _GAP, _BINS = 92.0, 5.0, 16


def correlograms(figures: Figures) -> list[Picture]:
    """Figure 2b, once for every set of runs."""
    pictures = []
    for one in figures.correlograms:
        heading = f"{one.title}: {one.runs:,} runs"
        pictures.append(
            Picture(heading, _correlogram(one, [figures.title(metric) for metric in one.metrics], heading))
        )
    return pictures


def panels(figures: Figures) -> list[Picture]:
    """Figure 3, one picture per metric and split."""
    return [
        Picture(f"{figures.title(panel.metric)}, {figures.title(panel.split)} splits", _panel(figures, panel))
        for panel in figures.panels
    ]


def times(figures: Figures) -> list[Picture]:
    """Figure 4."""
    groups = [
        BoxGroup(
            figures.title(one.dataset),
            "no data here" if one.why_without else "",
            _titled_boxes(figures, one.boxes),
        )
        for one in figures.times
    ]
    seconds = [value for one in figures.times for _, *sides in one.boxes for values in sides for value in values]
    if not seconds:
        return []
    # one power of ten at least, also of times that are all the same, or beyond the ticks
    low = max(tick for tick in _SECONDS[:-1] if tick <= max(min(seconds), _SECONDS[0]))
    high = min((tick for tick in _SECONDS if tick > low and tick >= max(seconds)), default=_SECONDS[-1])
    scale = partial(Scale, low, high, logarithmic=True)
    ticks = [(tick, f"{tick:g} s") for tick in _SECONDS if low <= tick <= high]
    about = "Training times of the fastest three methods of each dataset, logarithmic."
    return [Picture("seconds, logarithmic", _boxes(groups, scale, ticks, "Training times", about))]


@dataclass(frozen=True)
class BoxGroup:
    """A dataset in a picture: its methods with the values of both sides, and what the best control reaches."""

    title: str
    remark: str
    boxes: Sequence[tuple[str, Array, Array]]
    control: tuple[str, float] | None = None


def _titled_boxes(figures: Figures, boxes: Iterable[tuple[str, Array, Array]]) -> list[tuple[str, Array, Array]]:
    return [(figures.title(method), published, ours) for method, published, ours in boxes]


def _panel(figures: Figures, panel: Panel) -> str:
    groups = []
    for best in panel.datasets:
        remark = {
            ClaimVerdict.REPRODUCED: f"✓ same three, {best.n} seeds",
            ClaimVerdict.DEVIATES: f"✕ another three, {best.n} seeds",
            ClaimVerdict.NOT_COMPARABLE: f"undecided, {best.n} seeds" if best.n else "no data here",
            ClaimVerdict.PENDING: f"○ {best.reason}",
        }[best.verdict]
        groups.append(
            BoxGroup(figures.title(best.dataset), remark, _titled_boxes(figures, best.boxes), best.control)
        )
    title = f"{figures.title(panel.metric)} on {figures.title(panel.split)} splits"
    about = f"Box plots of {title}, for each dataset the three best methods: published, and ours below."
    low, ticks = _axis(groups)
    return _boxes(groups, partial(Scale, low, 1.0), ticks, title, about)


def _axis(groups: Sequence[BoxGroup]) -> tuple[float, list[tuple[float, str]]]:
    """The start of the axis, a quarter below all values, and its ticks up to 1."""
    values = [
        float(values.min()) for group in groups for _, *sides in group.boxes for values in sides if len(values)
    ]
    values += [group.control[1] for group in groups if group.control is not None]
    low = max((quarter for quarter in _QUARTERS if quarter <= min(values, default=0.0)), default=0.0)
    step = 0.25 if low < 0.5 else 0.1 if low < 0.75 else 0.05
    places = [low + step * number for number in range(round((1 - low) / step) + 1)]
    return low, [(place, f"{place:g}") for place in places]


def _boxes(
    groups: Sequence[BoxGroup],
    scale_of: partial[Scale],
    ticks: Sequence[tuple[float, str]],
    title: str,
    about: str,
) -> str:
    """A drawing of datasets below each other; for each method the published box is above ours."""
    height = sum(_HEAD + _ROW * len(group.boxes) + 8 for group in groups) + 26
    drawing = Drawing(_LABELS + _PLOT + 36, height, title, about)
    scale = scale_of(start=_LABELS, end=_LABELS + _PLOT)
    drawing.grid(scale, ticks)
    y = 0.0
    for group in groups:
        drawing.line(0, y + 2, drawing.width, y + 2, "rule")
        drawing.write(0, y + 18, group.title, "name")
        drawing.write(drawing.width - 4, y + 18, group.remark, "tick halo", "end")
        top, y = y + _HEAD, y + _HEAD
        for method, published, ours in group.boxes:
            drawing.write(_LABELS - 10, y + 16, method, "method", "end")
            _side(drawing, published, scale, y + 2, "published", f"{method}, published")
            _side(drawing, ours, scale, y + 2 + _BOX + 3, "ours", f"{method}, ours")
            y += _ROW
        if group.control is not None:
            name, mean = group.control
            with drawing.explained(f"control {name} on {group.title}: {mean:.3f}"):
                drawing.line(scale(mean), top, scale(mean), y, "control")
        y += 8
    return drawing.text


def _side(drawing: Drawing, values: Array, scale: Scale, y: float, style: str, about: str) -> None:
    if len(values):
        with drawing.explained(f"{about}: median of {len(values)} is {np.median(values):.4g}"):
            draw_box(drawing, values, scale, y, _BOX, style)


@dataclass(frozen=True)
class _Grid:
    """Draws the cells of a correlogram."""

    drawing: Drawing
    one: Correlogram
    names: Sequence[str]
    ranges: Sequence[tuple[float, float]]

    def distribution(self, place: int, x: float, y: float) -> None:
        """Draw a cell of the diagonal: the histogram of a metric."""
        self.drawing.rectangle(x, y, _CELL, _CELL, "frame")
        width = _CELL / _BINS
        for bin_, share in enumerate(histogram(self.one.values[:, place], *self.ranges[place], _BINS)):
            tall = share * (_CELL - 24)
            self.drawing.rectangle(x + bin_ * width, y + _CELL - tall, width - 0.6, tall, "ink")
        self.drawing.write(x + _CELL / 2, y + 14, self.names[place], "label", "middle")

    def correlation(self, pair: Pair, x: float, y: float) -> None:
        """Draw a cell above the diagonal: Spearman's correlation."""
        style = "plus" if pair.rho >= 0 else "minus"
        self.drawing.rectangle(x, y, _CELL, _CELL, f"shade {style}", 0.06 + 0.5 * abs(pair.rho))
        self.drawing.write(x + _CELL / 2, y + _CELL / 2 + 6, f"{pair.rho:+.2f}", "rho", "middle")

    def regression(self, pair: Pair, low: int, high: int, x: float, y: float) -> None:
        """Draw a cell below the diagonal: the density of the values, and a regression that explains enough."""
        self.drawing.rectangle(x, y, _CELL, _CELL, "frame")
        values, ranges, width = self.one.values, (self.ranges[low], self.ranges[high]), _CELL / _BINS
        shares = density(values[:, low], values[:, high], ranges, _BINS)
        for across, up in zip(*shares.nonzero(), strict=True):
            opacity = 0.15 + 0.75 * float(shares[across, up]) ** 0.5
            self.drawing.rectangle(x + across * width, y + _CELL - (up + 1) * width, width, width, "ink", opacity)
        if pair.r2 > _SHOWN_R2:
            to_x, to_y = Scale(*ranges[0], x, x + _CELL), Scale(*ranges[1], y + _CELL, y)
            (x1, y1), (x2, y2) = _within(pair, *ranges)
            self.drawing.line(to_x(x1), to_y(y1), to_x(x2), to_y(y2), "regression")
            self.drawing.write(x + 4, y + 13, f"R² {pair.r2:.2f}", "tick halo")


def _within(pair: Pair, across: tuple[float, float], up: tuple[float, float]) -> list[tuple[float, float]]:
    """The ends of the visible part of a regression line; it is never level, as R² would be 0."""
    ends = sorted((value - pair.intercept) / pair.slope for value in up)
    return [(x, pair.intercept + pair.slope * x) for x in (max(across[0], ends[0]), min(across[1], ends[1]))]


def _correlogram(one: Correlogram, names: Sequence[str], heading: str) -> str:
    count = len(one.metrics)
    size = count * (_CELL + _GAP) - _GAP
    about = "; ".join(
        f"{pair.first} and {pair.second}: rho {pair.rho:+.2f}, R squared {pair.r2:.2f}" for pair in one.pairs
    )
    ranges = [(min(0.0, float(column.min())), max(1.0, float(column.max()))) for column in one.values.T]
    grid = _Grid(Drawing(size, size, f"Correlogram, {heading}", about), one, names, ranges)
    pairs = {(pair.first, pair.second): pair for pair in one.pairs}
    for row, column in product(range(count), repeat=2):
        x, y = column * (_CELL + _GAP), row * (_CELL + _GAP)
        low, high = min(row, column), max(row, column)
        if row == column:
            grid.distribution(row, x, y)
        elif row < column:
            grid.correlation(pairs[one.metrics[low], one.metrics[high]], x, y)
        else:
            grid.regression(pairs[one.metrics[low], one.metrics[high]], low, high, x, y)
    return grid.drawing.text
