"""The picture of a contest, as SVG or PDF: mean ranks with critical difference, or all values of every setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

import numpy as np

from harness.base.tables import wrapped
from harness.contest.contest import Contest, Entry
from harness.contest.pdf import PdfDrawing, Style, text_width
from harness.contest.statistics import SIGNIFICANCE
from harness.study.svg import Drawing, Scale

_STYLES = {
    "axis": Style(1.0),
    "lead": Style(0.7, 0.35),
    "link": Style(3.5),
    "spread": Style(1.0, 0.35),
    "seed": Style(3.2, 0.6),
    "mean": Style(2.0),
    "name": Style(10.0),
    "first": Style(10.0, bold=True),
    "tick": Style(9.0, 0.25),
    "note": Style(8.0, 0.25),
}
_TEXTS = frozenset({"name", "first", "tick", "note"})
_WIDTH = 540.0
_MARGIN, _ROW, _GAP = 10.0, 16.0, 8.0
_MOST_LETTERS = 110
# how much wider than Helvetica the fonts are that stand in for it
_WIDER = 1.25


class Canvas(Protocol):
    """What SVG and PDF can both draw."""

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a straight line."""

    def dot(self, x: float, y: float, style: str) -> None:
        """Draw a small circle."""

    def write(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """Write text with its base line at y."""


def draw(contest: Contest, kind: Literal["svg", "pdf"]) -> bytes:
    """The file: critical differences where there is a rank test, else the values of every setting."""
    height = _ranks_height(contest) if contest.rank_test else _values_height(contest)
    lines = _remarks(contest)
    whole = height + len(lines) * 11 + _MARGIN
    title = f"{contest.metric.name}: {', '.join(contest.methods)}"
    canvas: Drawing | PdfDrawing
    if kind == "pdf":
        canvas = PdfDrawing(_WIDTH, whole, title, _STYLES)
    else:
        canvas = Drawing(_WIDTH, whole, title, " ".join(lines) or title, [f"<style>{_sheet()}</style>"])
    if contest.rank_test:
        _draw_ranks(canvas, contest)
    else:
        _draw_values(canvas, contest)
    for place, text in enumerate(lines):
        canvas.write(_MARGIN, height + 11 * place, text, "note")
    return canvas.content if isinstance(canvas, PdfDrawing) else f"{canvas.text}\n".encode()


def groups_of(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """The longest stretches of ascending ranks that lie within the difference, by first and last place."""
    stretches: list[tuple[int, int]] = []
    for start, low in enumerate(ranks):
        end = max(place for place, rank in enumerate(ranks) if rank - low <= difference)
        if end > start and (not stretches or end > stretches[-1][1]):
            stretches.append((start, end))
    return stretches


def _remarks(contest: Contest) -> list[str]:
    """What has to stand in the picture: what its numbers are, and each one that must not stand alone."""
    if test := contest.rank_test:
        about = (
            f"Mean ranks by {contest.metric.name} over {test.blocks} settings; bars join what Nemenyi's test "
            "can't tell apart."
        )
        undecided = ["Friedman's test finds no difference between the methods."] if test.p > SIGNIFICANCE else []
    else:
        about, undecided = f"{contest.metric.name}: every seed, mean and sample standard deviation.", []
    every = [about, *undecided, *contest.seeds_note, *contest.order_note, *contest.legend, *contest.problems]
    return [line for text in every for line in wrapped(text, "", _MOST_LETTERS)]


def _ranked(contest: Contest) -> list[tuple[str, float]]:
    return sorted(contest.mean_ranks.items(), key=lambda one: one[1])


def _ranks_height(contest: Contest) -> float:
    return _first_row(contest) + math.ceil(len(contest.methods) / 2) * _ROW + 2 * _GAP


def _first_row(contest: Contest) -> float:
    assert contest.rank_test
    bars = groups_of([rank for _, rank in _ranked(contest)], contest.rank_test.critical_difference)
    return 62 + 7 * len(bars) + _ROW


def _draw_ranks(canvas: Canvas, contest: Contest) -> None:
    assert contest.rank_test
    ranked, difference = _ranked(contest), contest.rank_test.critical_difference
    half, axis = math.ceil(len(ranked) / 2), 52.0
    side = _room(_name(row) for row, _ in ranked) + 3 * _MARGIN
    scale = Scale(1, len(ranked), side, _WIDTH - side)
    canvas.line(scale(1), axis, scale(len(ranked)), axis, "axis")
    for number in range(1, len(ranked) + 1):
        canvas.line(scale(number), axis - 5, scale(number), axis, "axis")
        canvas.write(scale(number), axis - 9, str(number), "tick", "middle")
    length = (scale(2) - scale(1)) * difference
    # a difference beyond all ranks is drawn as long as the axis, with its number
    end = min(scale(1) + length, scale(len(ranked)))
    for x in (scale(1), end):
        canvas.line(x, 16, x, 24, "axis")
    canvas.line(scale(1), 20, end, 20, "axis")
    canvas.write((scale(1) + end) / 2, 13, f"CD = {difference:.2f}", "tick", "middle")
    for place, (start, stop) in enumerate(groups_of([rank for _, rank in ranked], difference)):
        y = axis + 8 + 7 * place
        canvas.line(scale(ranked[start][1]) - 3, y, scale(ranked[stop][1]) + 3, y, "link")
    top = _first_row(contest)
    for place, (row, rank) in enumerate(ranked):
        is_left = place < half
        y = top + _ROW * (place if is_left else len(ranked) - 1 - place)
        canvas.line(scale(rank), axis, scale(rank), y - 3, "lead")
        edge = side - _MARGIN if is_left else _WIDTH - side + _MARGIN
        canvas.line(scale(rank), y - 3, edge, y - 3, "lead")
        style = "first" if row == contest.first else "name"
        canvas.write(edge + (-4 if is_left else 4), y, _name(row), style, "end" if is_left else "start")


def _values_height(contest: Contest) -> float:
    return sum(_block_height(members) for members in contest.settings.values()) + 2 * _GAP


def _block_height(members: Sequence[Entry]) -> float:
    return 2 * _GAP + len(members) * _ROW + 32


def _draw_values(canvas: Canvas, contest: Contest) -> None:
    y = 2.0 * _GAP
    names = [_marked(entry) for entry in contest.entries]
    side = _room(names) + 2 * _MARGIN
    for setting, members in contest.settings.items():
        canvas.write(side, y, setting, "name")
        bottom = y + _GAP + len(members) * _ROW
        scale = _value_scale(members, side)
        _draw_axis(canvas, scale, bottom)
        for place, entry in enumerate(members):
            line = y + _GAP + _ROW * (place + 0.5)
            style = "first" if entry.row == contest.first else "name"
            canvas.write(side - _MARGIN, line + 3, _marked(entry), style, "end")
            if entry.summary:
                _draw_entry(canvas, entry, scale, line)
            else:
                canvas.write(side, line + 3, "no value", "note")
        y += _block_height(members)


def _draw_entry(canvas: Canvas, entry: Entry, scale: Scale, y: float) -> None:
    assert entry.summary
    spread = entry.summary.sd or 0.0
    for value in entry.values.values():
        canvas.dot(scale(value), y, "seed")
    canvas.line(scale(entry.summary.mean - spread), y, scale(entry.summary.mean + spread), y, "spread")
    canvas.line(scale(entry.summary.mean), y - 5, scale(entry.summary.mean), y + 5, "mean")


def _draw_axis(canvas: Canvas, scale: Scale, y: float) -> None:
    canvas.line(scale(scale.low), y, scale(scale.high), y, "axis")
    for value in _ticks(scale.low, scale.high):
        canvas.line(scale(value), y, scale(value), y + 4, "axis")
        canvas.write(scale(value), y + 14, f"{value:g}", "tick", "middle")


def _value_scale(members: Sequence[Entry], side: float) -> Scale:
    """From a little below the lowest value or deviation to a little above the highest."""
    values = [value for entry in members for value in entry.values.values()]
    for one in (entry.summary for entry in members):
        values += [one.mean - (one.sd or 0.0), one.mean + (one.sd or 0.0)] if one else []
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = (high - low) * 0.05 or max(abs(high), 1.0) * 0.05
    return Scale(low - room, high + room, side, _WIDTH - 2 * _MARGIN)


def _ticks(low: float, high: float) -> list[float]:
    """Four to nine round numbers between two others."""
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    step: float = next(power * one for one in (5, 2, 1) if (high - low) / (power * one) >= 4)
    return [float(round(step * one, 12)) for one in np.arange(math.ceil(low / step), math.floor(high / step) + 1)]


def _room(names: Iterable[str]) -> float:
    """As wide as the widest name, also where a viewer has no such font, and takes a wider one, or a bold one."""
    return _WIDER * max(text_width(name, _STYLES["name"].size) for name in names)


def _marked(entry: Entry) -> str:
    return _name(entry.group.title) + "".join(mark.value for mark in entry.marks)


def _name(row: str) -> str:
    return row if len(row) <= 32 else f"{row[:31]}…"


def _sheet() -> str:
    """The style sheet of the SVG: the same looks as in the PDF."""
    rules = ["svg{background:#fff}"]
    for name, look in _STYLES.items():
        colour = "#" + f"{round(look.grey * 255):02x}" * 3
        if name in _TEXTS:
            weight = "bold " if look.bold else ""
            rules.append(f".{name}{{font:{weight}{look.size:g}px Helvetica,Arial,sans-serif;fill:{colour}}}")
        elif name == "seed":
            rules.append(f".{name}{{fill:{colour}}}")
        else:
            rules.append(f".{name}{{stroke:{colour};stroke-width:{look.size:g}}}")
    return "".join(rules)
