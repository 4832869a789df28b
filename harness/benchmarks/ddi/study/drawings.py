"""Drawings of the figures: bars, curves, shades, maps of points. Bars and shades are shares from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.study.svg import Drawing, Scale

_LABELS, _PLOT, _BAR, _GAP = 128.0, 400.0, 9.0, 8.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_HEIGHT = 220.0
_CELL = 6.0
# The number of colours of curves, and the least distance between their names.
_HUES, _APART = 10, 11.0
# From the end of a curve to its name.
_LEAD = 16.0


Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Bar:
    """A method with its printed value and ours for each split."""

    title: str
    values: tuple[tuple[float | None, float | None], ...]


@dataclass(frozen=True)
class Curve:
    """Named points, from left to right; at least one. `hue`: its colour; by default it follows from its place."""

    name: str
    points: Points
    hue: int | None = None


def bars(title: str, methods: Sequence[Bar]) -> str:
    """A drawing of methods below each other, with a horizontal bar per split, as far as the longest bar needs."""
    tall = max(len(bar.values) for bar in methods) * (_BAR + 2) + _GAP
    height = tall * len(methods) + 30
    drawing = Drawing(_LABELS + _PLOT + 20, height, title, f"Bars of {title}, ours filled, printed as outlines.")
    values = [value for bar in methods for pair in bar.values for value in pair if value is not None]
    # a measure of agreement may be below 0: such a bar has no length
    ticks = _ticks([0.0, max(0.0, max(values, default=1.0))])
    scale = Scale(0.0, ticks[-1], _LABELS, _LABELS + _PLOT)
    drawing.grid(scale, ((tick, f"{tick:g}") for tick in ticks))
    for number, bar in enumerate(methods):
        y = 6 + number * tall
        drawing.write(_LABELS - 10, y + 16, bar.title, "method", "end")
        for place, (printed, ours) in enumerate(bar.values):
            top = y + place * (_BAR + 2)
            with drawing.explained(f"{bar.title}: printed {_percent(printed)}, ours {_percent(ours)}"):
                if ours is not None:
                    drawing.rectangle(_LABELS, top, scale(ours) - _LABELS, _BAR, "filled", 0.9 - 0.45 * place)
                if printed is not None:
                    drawing.rectangle(_LABELS, top, scale(printed) - _LABELS, _BAR, "outline")
    return drawing.text


def lines(title: str, curves: Sequence[Curve], across: str, *, form: str = ".2f", shares: bool = False) -> str:
    """A drawing of curves, with the name of each at its right end. Shares are drawn from 0 to 1."""
    drawing = Drawing(_PLOT + 150, _HEIGHT, title, f"Curves of {title} over {across}.")
    places = sorted({x for curve in curves for x, _ in curve.points})
    ticks = list(_TICKS) if shares else _ticks([y for curve in curves for _, y in curve.points])
    to_x = Scale(places[0], places[-1] if len(places) > 1 else places[0] + 1, 44, _PLOT)
    to_y = Scale(ticks[0], ticks[-1], _HEIGHT - 30, 10)
    for tick in ticks:
        drawing.line(44, to_y(tick), _PLOT, to_y(tick), "grid")
        drawing.write(38, to_y(tick) + 4, f"{tick:g}", "tick", "end")
    for x in places:
        drawing.write(to_x(x), _HEIGHT - 12, f"{x:g}", "tick", "middle")
    ends = _apart([to_y(curve.points[-1][1]) for curve in curves])
    for number, (curve, end) in enumerate(zip(curves, ends, strict=True)):
        values = (f"{x:g}: {_percent(y) if shares else format(y, form)}" for x, y in curve.points)
        style = f"hue-{(number if curve.hue is None else curve.hue) % _HUES}"
        with drawing.explained(f"{curve.name}: {', '.join(values)}"):
            for (x1, y1), (x2, y2) in pairwise(curve.points):
                drawing.line(to_x(x1), to_y(y1), to_x(x2), to_y(y2), f"curve {style}")
            for x, y in curve.points:
                drawing.dot(to_x(x), to_y(y), f"point {style}")
            last_x, last_y = curve.points[-1]
            # a line to the name, which is moved if other names are near
            drawing.line(to_x(last_x) + 3, to_y(last_y), to_x(last_x) + _LEAD, end, "grid")
            drawing.write(to_x(last_x) + _LEAD + 4, end + 4, curve.name, f"tick {style}")
    return drawing.text


def scatter(title: str, points: Points, others: Points, side: float) -> str:
    """A drawing of some points of a square map, above all others."""
    drawing = Drawing(
        _PLOT, _PLOT, title, f"A map: {title}, {len(points)} points; {len(others)} others below them."
    )
    scale = Scale(0, side, 6, _PLOT - 6)
    for places, style in ((others, "dots"), (points, "dots chosen")):
        drawing.dots(((scale(x), scale(y)) for x, y in places), style)
    return drawing.text


def heat(title: str, rows: Sequence[tuple[str, Sequence[float | None]]]) -> str:
    """A drawing with a row of shades per method."""
    count = max(len(values) for _, values in rows)
    width = _LABELS + count * _CELL + 10
    drawing = Drawing(width, 24 * len(rows) + 26, title, f"Shades of {title}, a column per type.")
    for number, (name, values) in enumerate(rows):
        y = 6 + number * 24
        drawing.write(_LABELS - 10, y + 14, name, "method", "end")
        for kind, value in enumerate(values):
            x = _LABELS + kind * _CELL
            if value is None:
                drawing.line(x + 1, y + 7, x + _CELL - 2, y + 11, "curve")
                drawing.line(x + 1, y + 11, x + _CELL - 2, y + 7, "curve")
                continue
            with drawing.explained(f"{name}, type {kind}: {_percent(value)}"):
                drawing.rectangle(x, y, _CELL - 1, 18, "shade plus", 0.06 + 0.94 * value)
    for kind in range(0, count, 10):
        drawing.write(_LABELS + kind * _CELL, 24 * len(rows) + 20, f"{kind}", "tick")
    return drawing.text


def _ticks(values: Sequence[float]) -> list[float]:
    """At most seven round numbers; all values lie between the first and the last."""
    low, high = min(values), max(values)
    room = (high - low) or abs(high) or 1.0
    size = 10.0 ** math.floor(math.log10(room / 3))
    step = next(size * factor for factor in (1, 2, 5, 10) if room / (size * factor) <= 5)
    # a value on a tick is no less and no more than it, however its quotient is rounded
    first, last = math.floor(round(low / step, 6)), math.ceil(round(high / step, 6))
    return [round(step * number, 10) for number in range(first, max(last, first + 1) + 1)]


def _apart(places: Sequence[float]) -> list[float]:
    """The heights of texts, moved down until none overlaps, and up again from the lower end."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    heights = list(places)
    for before, after in pairwise(order):
        heights[after] = max(heights[after], heights[before] + _APART)
    lowest = _HEIGHT - 30
    for number in reversed(order):
        heights[number] = min(heights[number], lowest)
        lowest = heights[number] - _APART
    return heights


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.1f} %"
