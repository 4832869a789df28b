"""The figures drawn: bars, curves and a map of shades. Values are shares from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.study.svg import Drawing, Scale

_LABELS, _PLOT, _BAR, _GAP = 128.0, 400.0, 9.0, 8.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_HEIGHT = 220.0
_CELL = 6.0


@dataclass(frozen=True)
class Bar:
    """A method: for each split the printed value and ours, where there are any."""

    title: str
    values: tuple[tuple[float | None, float | None], ...]


def bars(title: str, shown: Sequence[Bar]) -> str:
    """Methods below each other, a lying bar per split."""
    tall = max(len(bar.values) for bar in shown) * (_BAR + 2) + _GAP
    height = tall * len(shown) + 30
    drawing = Drawing(_LABELS + _PLOT + 20, height, title, f"Bars of {title}, ours filled, printed as outlines.")
    scale = Scale(0.0, 1.0, _LABELS, _LABELS + _PLOT)
    _grid(drawing, scale, 4, height - 22, height - 6)
    for number, bar in enumerate(shown):
        y = 6 + number * tall
        drawing.write(_LABELS - 10, y + 16, bar.title, "method", "end")
        for place, (printed, ours) in enumerate(bar.values):
            top = y + place * (_BAR + 2)
            drawing.explain(f"{bar.title}: printed {_told(printed)}, ours {_told(ours)}")
            if ours is not None:
                drawing.rectangle(_LABELS, top, scale(ours) - _LABELS, _BAR, "ours box", 0.9 - 0.45 * place)
            if printed is not None:
                drawing.rectangle(_LABELS, top, scale(printed) - _LABELS, _BAR, "frame")
            drawing.explained()
    return drawing.text


def lines(title: str, curves: Sequence[tuple[str, Sequence[tuple[float, float]]]], across: str) -> str:
    """A curve per method, named at its right end."""
    places = [x for _, points in curves for x, _ in points]
    low, high = min(places), max(places)
    drawing = Drawing(_PLOT + 150, _HEIGHT, title, f"Curves of {title} over {across}.")
    to_x = Scale(low, high if high > low else low + 1, 40, _PLOT)
    to_y = Scale(0.0, 1.0, _HEIGHT - 30, 10)
    for tick in _TICKS:
        drawing.line(40, to_y(tick), _PLOT, to_y(tick), "grid")
        drawing.write(34, to_y(tick) + 4, f"{tick:g}", "tick", "end")
    for x in sorted(set(places)):
        drawing.write(to_x(x), _HEIGHT - 12, f"{x:g}", "tick", "middle")
    for name, points in curves:
        drawing.explain(f"{name}: " + ", ".join(f"{x:g}: {_told(y)}" for x, y in points))
        for (x1, y1), (x2, y2) in pairwise(points):
            drawing.line(to_x(x1), to_y(y1), to_x(x2), to_y(y2), "regression")
        for x, y in points:
            drawing.dot(to_x(x), to_y(y), "ours outside")
        drawing.write(to_x(points[-1][0]) + 6, to_y(points[-1][1]) + 4, name, "tick")
        drawing.explained()
    return drawing.text


def heat(title: str, shown: Sequence[tuple[str, Sequence[float | None]]]) -> str:
    """A row of shades per method."""
    count = max(len(values) for _, values in shown)
    width = _LABELS + count * _CELL + 10
    drawing = Drawing(width, 24 * len(shown) + 26, title, f"Shades of {title}, a column per type.")
    for number, (name, values) in enumerate(shown):
        y = 6 + number * 24
        drawing.write(_LABELS - 10, y + 14, name, "method", "end")
        for kind, value in enumerate(values):
            x = _LABELS + kind * _CELL
            if value is None:
                drawing.line(x + 1, y + 9, x + _CELL - 2, y + 9, "grid")
                continue
            drawing.explain(f"{name}, type {kind}: {_told(value)}")
            drawing.rectangle(x, y, _CELL - 1, 18, "shade plus", 0.06 + 0.94 * value)
            drawing.explained()
    for kind in range(0, count, 10):
        drawing.write(_LABELS + kind * _CELL, 24 * len(shown) + 20, f"{kind}", "tick")
    return drawing.text


def _grid(drawing: Drawing, scale: Scale, top: float, bottom: float, labels: float) -> None:
    for tick in _TICKS:
        drawing.line(scale(tick), top, scale(tick), bottom, "grid")
        drawing.write(scale(tick), labels, f"{tick:g}", "tick", "middle")


def _told(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.1f} %"
