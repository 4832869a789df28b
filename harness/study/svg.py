"""Drawings as inline SVG: a few marks and scales, without a library. Text is escaped; the page has the colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape

import numpy as np

from harness.compare.statistics import Array

# A drawing grows with the place that it is given, up to this many times its size.
_LARGEST = 1.25


@dataclass
class Drawing:
    """Marks in the order in which they are painted; `text` is the whole element."""

    width: float
    height: float
    title: str
    description: str
    marks: list[str] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a straight line."""
        self.marks.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>')

    def rectangle(
        self, x: float, y: float, width: float, height: float, style: str, opacity: float | None = None
    ) -> None:
        """Draw a rectangle."""
        faint = "" if opacity is None else f' fill-opacity="{opacity:.2f}"'
        size = f'width="{max(width, 0.8):.1f}" height="{max(height, 0.0):.1f}"'
        self.marks.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} class="{style}"{faint}/>')

    def dot(self, x: float, y: float, style: str) -> None:
        """Draw a small circle."""
        self.marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6" class="{style}"/>')

    def dots(self, places: Iterable[tuple[float, float]], style: str) -> None:
        """Draw many dots as one mark: lines without length whose ends are round."""
        path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
        self.marks.append(f'<path d="{path}" class="{style}"/>')

    def write(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """Write text with its base line at y."""
        end = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.marks.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{style}"{end}>{escape(text)}</text>')

    @contextmanager
    def explained(self, text: str) -> Iterator[None]:
        """Give a tooltip to the marks drawn inside the block."""
        self.marks.append(f"<g><title>{escape(text)}</title>")
        yield
        self.marks.append("</g>")

    def grid(self, scale: Scale, ticks: Iterable[tuple[float, str]]) -> None:
        """Draw a vertical line at each tick, with its text at the lower end."""
        for value, text in ticks:
            self.line(scale(value), 4, scale(value), self.height - 22, "grid")
            self.write(scale(value), self.height - 6, text, "tick", "middle")

    @property
    def text(self) -> str:
        """The whole element."""
        return (
            f'<svg class="figure" role="img" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
            f'style="max-width:{_LARGEST * self.width:.0f}px" xmlns="http://www.w3.org/2000/svg">'
            f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>{''.join(self.marks)}</svg>"
        )


@dataclass(frozen=True)
class Scale:
    """Turns values into coordinates."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The coordinate of a value; a value outside the range lies on the edge."""
        # before its logarithm, which 0 has none of
        inside = min(max(value, self.low), self.high)
        low, high, at = (math.log10(one) if self.logarithmic else one for one in (self.low, self.high, inside))
        share = (at - low) / (high - low)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True)
class Box:
    """Tukey's five numbers: whiskers end at the farthest values within 1.5 lengths of the box."""

    low: float
    first: float
    middle: float
    third: float
    high: float
    outside: tuple[float, ...]

    @classmethod
    def of(cls, values: Array) -> Box:
        """The box of these values; there must be at least one."""
        first, middle, third = (float(one) for one in np.quantile(values, (0.25, 0.5, 0.75)))
        reach = 1.5 * (third - first)
        within = values[(values >= first - reach) & (values <= third + reach)]
        outside = values[(values < first - reach) | (values > third + reach)]
        # with few values, the farthest one within reach may lie inside the box
        low, high = min(float(within.min()), first), max(float(within.max()), third)
        return cls(low, first, middle, third, high, tuple(np.unique(outside).tolist()))


def draw_box(drawing: Drawing, values: Array, scale: Scale, y: float, height: float, style: str) -> None:
    """Draw a horizontal box plot below y; a single value becomes a line."""
    box = Box.of(values)
    middle = y + height / 2
    drawing.line(scale(box.low), middle, scale(box.first), middle, f"{style} whisker")
    drawing.line(scale(box.third), middle, scale(box.high), middle, f"{style} whisker")
    drawing.rectangle(scale(box.first), y, scale(box.third) - scale(box.first), height, f"{style} box")
    drawing.line(scale(box.middle), y, scale(box.middle), y + height, f"{style} middle")
    for value in box.outside:
        drawing.dot(scale(value), middle, f"{style} outside")


def histogram(values: Array, low: float, high: float, bins: int) -> list[float]:
    """The counts of the bins, as shares of the largest one."""
    counts, _ = np.histogram(np.clip(values, low, high), bins=bins, range=(low, high))
    return [float(count) / max(int(counts.max()), 1) for count in counts]


def density(first: Array, second: Array, ranges: Sequence[tuple[float, float]], bins: int) -> Array:
    """The counts of the cells of a grid, as shares of the largest one."""
    counts, _, _ = np.histogram2d(first, second, bins=bins, range=[list(one) for one in ranges])
    return np.asarray(counts / max(counts.max(), 1.0))
