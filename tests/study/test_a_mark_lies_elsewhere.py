"""Each mark of a drawing lies where plain arithmetic puts it, and says what it stands for, word for word."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.benchmarks.ddi.study.drawings import Bar, Curve, _apart, _percent, _ticks, bars, heat, lines, scatter
from harness.benchmarks.repurposing.study import drawings
from harness.benchmarks.repurposing.study.figures import Best, Correlogram, Figures, Pair, Panel, Times
from harness.compare.comparison import ClaimVerdict
from harness.study.svg import Box, Drawing, Scale, density, draw_box
from tests.study.kept import by_mark, is_kept


def test_marks_are_written_as_they_are_drawn() -> None:
    drawing = Drawing(100, 50.4, 'a <title> & "more"', "what it <shows>")
    drawing.line(1, 2.25, 3, 4.04, "rule")
    drawing.rectangle(1, 2, 3, 4, "box")
    drawing.rectangle(1.26, 2, 0.1, -4, "thin", 0.456)
    drawing.rectangle(1, 2, 3, 4, "unseen", 0.0)
    drawing.dot(5, 6, "point")
    drawing.dots([(1, 2), (3.33, 4)], "dots")
    drawing.write(1, 2, "a < b")
    drawing.write(1, 2, "text", "tick", "end")
    with drawing.explained("<why>"):
        drawing.dot(7, 8, "inside")
    assert drawing.marks == [
        '<line x1="1.0" y1="2.2" x2="3.0" y2="4.0" class="rule"/>',
        '<rect x="1.0" y="2.0" width="3.0" height="4.0" class="box"/>',
        '<rect x="1.3" y="2.0" width="0.8" height="0.0" class="thin" fill-opacity="0.46"/>',
        '<rect x="1.0" y="2.0" width="3.0" height="4.0" class="unseen" fill-opacity="0.00"/>',
        '<circle cx="5.0" cy="6.0" r="1.6" class="point"/>',
        '<path d="M1.0 2.0h0M3.3 4.0h0" class="dots"/>',
        '<text x="1.0" y="2.0" class="">a &lt; b</text>',
        '<text x="1.0" y="2.0" class="tick" text-anchor="end">text</text>',
        "<g><title>&lt;why&gt;</title>",
        '<circle cx="7.0" cy="8.0" r="1.6" class="inside"/>',
        "</g>",
    ]
    assert drawing.text == (
        '<svg class="figure" role="img" viewBox="0 0 100 50" style="max-width:125px" '
        'xmlns="http://www.w3.org/2000/svg"><title>a &lt;title&gt; &amp; &quot;more&quot;</title>'
        "<desc>what it &lt;shows&gt;</desc>" + "".join(drawing.marks) + "</svg>"
    )
    assert Drawing(8, 8, "", "").marks == []


def test_a_grid_ends_above_its_texts() -> None:
    drawing = Drawing(100, 60, "", "")
    drawing.grid(Scale(0, 10, 20, 40), [(0, "none"), (5, "half")])
    assert drawing.marks == [
        '<line x1="20.0" y1="4.0" x2="20.0" y2="38.0" class="grid"/>',
        '<text x="20.0" y="54.0" class="tick" text-anchor="middle">none</text>',
        '<line x1="30.0" y1="4.0" x2="30.0" y2="38.0" class="grid"/>',
        '<text x="30.0" y="54.0" class="tick" text-anchor="middle">half</text>',
    ]


def test_a_box_plot_is_two_whiskers_a_box_its_middle_and_what_lies_outside() -> None:
    drawing = Drawing(100, 60, "", "")
    draw_box(drawing, np.array([-1.0, 2, 2, 3, 4, 4, 9, 9]), Scale(-10, 10, 0, 200), 10, 8, "ours")
    box = Box.of(np.array([-1.0, 2, 2, 3, 4, 4, 9, 9]))
    assert (box.low, box.first, box.middle, box.third, box.high) == (-1.0, 2.0, 3.5, 5.25, 9.0)
    assert drawing.marks == [
        '<line x1="90.0" y1="14.0" x2="120.0" y2="14.0" class="ours whisker"/>',
        '<line x1="152.5" y1="14.0" x2="190.0" y2="14.0" class="ours whisker"/>',
        '<rect x="120.0" y="10.0" width="32.5" height="8.0" class="ours box"/>',
        '<line x1="135.0" y1="10.0" x2="135.0" y2="18.0" class="ours middle"/>',
    ]
    drawing.marks.clear()
    draw_box(drawing, np.array([-9.0, 1, 1, 1, 1, 1, 8, 8]), Scale(-10, 10, 0, 200), 0, 2, "a")
    assert drawing.marks[-2:] == [
        '<circle cx="10.0" cy="1.0" r="1.6" class="a outside"/>',
        '<circle cx="180.0" cy="1.0" r="1.6" class="a outside"/>',
    ]


def test_a_whisker_ends_at_the_last_value_within_three_halves_of_the_box() -> None:
    """Quarters at 0, 1 and 2: -3 and 5 are just within reach, and what lies a little farther is not."""
    middle = [0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0]
    box = Box.of(np.array([-3.0, *middle, 5.0]))
    assert box == Box(-3.0, 0.0, 1.0, 2.0, 5.0, ())
    assert Box.of(np.array([-3.01, *middle, 5.01])) == Box(0.0, 0.0, 1.0, 2.0, 2.0, (-3.01, 5.01))


@given(
    st.floats(-50, 50), st.floats(0.5, 50), st.floats(-99, 99), st.floats(0, 500), st.floats(0, 500), st.booleans()
)
def test_a_scale_is_a_straight_line_cut_off_at_its_ends(
    low: float, width: float, value: float, start: float, end: float, upwards: bool
) -> None:
    scale = Scale(low, low + width, start, end)
    share = min(1.0, max(0.0, (value - low) / width))
    assert scale(value) == pytest.approx(start * (1 - share) + end * share, abs=1e-6)
    logarithmic = Scale(10.0**-2, 10.0**3, start, end, logarithmic=True)
    share = min(1.0, max(0.0, (value / 20 + 2) / 5))
    assert logarithmic(10.0 ** (value / 20)) == pytest.approx(start * (1 - share) + end * share, abs=1e-6)


def test_a_density_is_a_share_of_its_fullest_cell() -> None:
    assert not density(np.array([]), np.array([]), [(0.0, 1.0), (0.0, 1.0)], 3).any()
    first, second = np.array([0.1, 0.1, 0.1, 0.6, 0.6, 0.9]), np.array([10.0, 10.0, 10.0, 25.0, 25.0, 39.0])
    found = density(first, second, [(0.0, 1.0), (0.0, 40.0)], 4)
    expected = np.zeros((4, 4))
    expected[0, 1], expected[2, 2], expected[3, 3] = 1.0, 2 / 3, 1 / 3
    assert found == pytest.approx(expected)


@given(st.lists(st.integers(-(10**6), 10**6).map(lambda value: value / 100), min_size=1, max_size=8))
@example([-4.1, -4.11])
def test_ticks_are_few_round_numbers_around_all_values(values: list[float]) -> None:
    ticks = _ticks(values)
    low, high = min(values), max(values)
    assert ticks[0] <= low and high <= ticks[-1] and 2 <= len(ticks) <= 7
    steps = {round(after - before, 9) for before, after in itertools.pairwise(ticks)}
    assert len(steps) == 1
    step = steps.pop()
    assert f"{step:.6e}".split("e")[0] in ("1.000000", "2.000000", "5.000000")
    if high > low:
        # no tick too many at either end, and no finer step would do
        assert low < ticks[1] and high > ticks[-2]
        assert (high - low) / step <= 5 < (high - low) / (step / 2.5) + 2.5


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.0, 1.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ([0.0, 0.3], [0.0, 0.1, 0.2, 0.3]),
        ([0.0, 0.06], [0.0, 0.02, 0.04, 0.06]),
        ([0.0, 5.0], [0, 1, 2, 3, 4, 5]),
        ([0.0, 5.01], [0, 2, 4, 6]),
        ([0.0, 26.0], [0, 10, 20, 30]),
        ([0.0, 29.9], [0, 10, 20, 30]),
        ([0.0, 30.0], [0, 10, 20, 30]),
        ([-3.0, 8.0], [-5, 0, 5, 10]),
        ([7000.0, 7000.0], [6000, 8000]),
        ([6999.0, 6999.0], [6000, 8000]),
        ([-3.0, -3.0], [-3, -2]),
        ([0.0, 0.0], [0.0, 0.2]),
        ([1.0, 2.0], [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]),
    ],
)
def test_ticks_of_some_values(values: list[float], ticks: list[float]) -> None:
    assert _ticks(values) == pytest.approx(ticks)


@given(st.lists(st.floats(10, 190), min_size=1, max_size=12))
def test_names_are_moved_apart_and_no_farther_than_needed(places: list[float]) -> None:
    heights = _apart(places)
    order = sorted(range(len(places)), key=lambda number: places[number])
    in_order = [heights[number] for number in order]
    gaps = [after - before for before, after in itertools.pairwise(in_order)]
    assert all(gap >= 11 - 1e-9 for gap in gaps) and max(in_order) <= 190 + 1e-9
    wanted = sorted(places)
    if all(after - before >= 11 for before, after in itertools.pairwise(wanted)):
        assert heights == places, "none overlaps, so that none is moved"


def test_names_are_moved_down_and_from_the_lower_end_up() -> None:
    assert _apart([50.0, 50.0, 55.0]) == [50.0, 61.0, 72.0]
    assert _apart([55.0, 50.0]) == [61.0, 50.0]
    assert _apart([100.0, 188.0, 189.0]) == [100.0, 179.0, 190.0]
    assert _apart([10.0, 21.0]) == [10.0, 21.0]


def test_a_bar_is_as_long_as_its_share() -> None:
    two = [Bar("<one>", ((0.25, 0.5), (None, 0.125))), Bar("two", ((0.375, None), (None, None)))]
    assert is_kept("bars.svg", by_mark(bars("F1 & more", two)))
    # nothing known: up to 1
    assert 'text-anchor="middle">1</text>' in bars("none", [Bar("one", ((None, None),))])


@pytest.mark.parametrize("style", ["filled", "outline"])
def test_a_bar_of_zero_is_drawn_and_has_an_axis_of_its_own(style: str) -> None:
    """A score of 0 is a score: the bar is as thin as can be seen. One that is unknown is not drawn."""
    drawn = bars("F1", [Bar("one", ((0.0, None) if style == "outline" else (None, 0.0),))])
    assert drawn.count("<rect ") == 1
    assert re.search(rf'<rect x="128.0" y="6.0" width="0.8" height="9.0" class="{style}"', drawn)
    assert re.findall(r'text-anchor="middle">([^<]+)</text>', drawn) == ["0", "0.2"]


@pytest.mark.parametrize(
    ("printed", "ours", "width"), [(None, -0.1, "0.8"), (-0.2, -0.1, "0.8"), (-0.1, 0.2, "400.0")]
)
def test_a_bar_below_zero_has_no_length(printed: float | None, ours: float, width: str) -> None:
    """Kappa may be below 0; also where nothing else is above."""
    drawn = bars("kappa", [Bar("one", ((printed, ours),))])
    assert f"printed {_percent(printed)}, ours {_percent(ours)}" in drawn
    widths = re.findall(r'x="128.0" y="6.0" width="([\d.]+)" height="9.0"', drawn)
    assert widths == [width] + ["0.8"] * (printed is not None)


def test_the_longest_bar_and_the_most_bars_have_room() -> None:
    """Also where the longest is a printed one, and where a method has fewer bars than another."""
    many, few = Bar("many", ((0.9, 0.1), (0.2, 0.3))), Bar("few", ((0.5, 0.5),))
    for methods, expected in (
        ([many, few], [(6, 40), (6, 360), (17, 120), (17, 80), (36, 200), (36, 200)]),
        ([few, many], [(6, 200), (6, 200), (36, 40), (36, 360), (47, 120), (47, 80)]),
    ):
        drawn = re.findall(r'x="128.0" y="([\d.]+)" width="([\d.]+)" height="9.0"', bars("t", methods))
        assert [(float(y), float(width)) for y, width in drawn] == expected


def test_a_curve_goes_through_its_points() -> None:
    curves = [
        Curve("falls", [(1990.0, 1500.0), (2000.0, 700.0), (2010.0, -250.5)]),
        Curve("<flat>", [(2000.0, 700.0), (2010.0, 700.0)], 13),
        Curve("near", [(1990.0, 710.0)]),
    ]
    assert is_kept("curves.svg", by_mark(lines("penalty", curves, "threshold year", form=",.1f")))
    shares = [Curve("rises", [(0.55, 0.1), (0.7, 0.85)], 0), Curve("eleventh", [(0.55, 0.5)], None)]
    assert is_kept("shares.svg", by_mark(lines("accuracy", shares, "gamma", shares=True)))
    assert is_kept("point.svg", by_mark(lines("one", [Curve("alone", [(3.0, 0.25)])], "year")))
    coloured = [Curve("first", [(1.0, 0.5)], 3), Curve("second", [(1.0, 0.1)], 0), Curve("third", [(1.0, 0.9)])]
    hues = re.findall(r'class="tick hue-(\d)">(\w+)<', lines("one", coloured, "year"))
    assert hues == [("3", "first"), ("0", "second"), ("2", "third")]


def test_a_point_of_a_map_lies_in_its_square() -> None:
    chosen, others = [(0.0, 0.0), (999.0, 499.5)], [(250.0, 999.0)]
    assert is_kept("map.svg", by_mark(scatter("a part", chosen, others, 999.0)))


def test_a_shade_is_as_dark_as_its_share() -> None:
    rows: list[tuple[str, list[float | None]]] = [("mlp", [0.0, None, 1.0]), ("<b>", [0.5] * 11)]
    assert is_kept("shades.svg", by_mark(heat("types", rows)))


@dataclass(frozen=True)
class _Figures:
    """The three figures of two metrics, two datasets and three methods, with every verdict."""

    values = np.array([[0.1, 0.2, 0.5], [0.4, 0.45, 0.5], [0.9, 0.8, 0.5], [1.5, 0.95, 0.5], [0.4, 0.45, 0.5]])
    metrics = ("AUC", "F_1", "MRR")

    def correlogram(self, title: str) -> Correlogram:
        pairs = (
            Pair("AUC", "F_1", 0.975, 0.94, 0.55, 0.2),
            Pair("AUC", "MRR", -0.5, 0.25, 0.3, 0.1),
            Pair("F_1", "MRR", 0.0, 0.26, -2.0, 1.5),
        )
        return Correlogram(title, 1234, self.metrics, self.values, pairs)

    def panel(self) -> Panel:
        values = np.array([0.61, 0.7, 0.75, 0.8, 0.99])
        none = np.array([])
        verdicts = [
            (ClaimVerdict.REPRODUCED, 10, ("a_control", 0.654321)),
            (ClaimVerdict.DEVIATES, 11, None),
            (ClaimVerdict.NOT_COMPARABLE, 9, None),
            (ClaimVerdict.NOT_COMPARABLE, 0, None),
            (ClaimVerdict.PENDING, 3, None),
        ]
        boxes = (("als", values, values[:3]), ("b_nnr", values[1:], none))
        return Panel(
            "AUC",
            "weakly_correlated",
            tuple(
                Best(f"set_{n}", ("als", "b_nnr"), ("als",), n, verdict, "2 of 3 methods run", control, boxes)
                for verdict, n, control in verdicts
            ),
        )

    def times(self) -> tuple[Times, ...]:
        seconds = np.array([0.2, 0.3, 3.0])
        return (
            Times("set_1", (("als", seconds, 100 * seconds), ("b_nnr", seconds[:1], np.array([]))), ""),
            Times("set_2", (), "nobody has it"),
        )

    def whole(self) -> Figures:
        titles = {"set_1": "Set <1>", "b_nnr": "BNNR", "F_1": "F1"}
        ones = (self.correlogram("published, all"), self.correlogram("ours"))
        return Figures(ones, (self.panel(),), self.times(), titles, ())


def test_a_correlogram_has_histograms_correlations_and_regressions() -> None:
    first, second = drawings.correlograms(_Figures().whole())
    assert (first.heading, second.heading) == ("published, all: 1,234 runs", "ours: 1,234 runs")
    assert is_kept("correlogram.svg", by_mark(first.svg))
    assert second.svg == first.svg.replace("published, all: 1,234", "ours: 1,234")
    # from -1 to 1: 0 begins the ninth bin of sixteen
    below = Correlogram("", 3, ("AUC",), np.array([[-1.0], [0.0], [1.0]]), ())
    (only,) = drawings.correlograms(Figures((below,), (), (), {}, ()))
    tall = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="5.2" height="68.0"', only.svg)
    assert [float(x) / (92 / 16) for x in tall] == pytest.approx([0, 8, 15], abs=0.01)


def test_a_panel_has_both_sides_and_the_control() -> None:
    (one,) = drawings.panels(_Figures().whole())
    assert one.heading == "AUC, weakly correlated splits"
    assert is_kept("panel.svg", by_mark(one.svg))
    whole = _Figures().whole()
    best = replace(whole.panels[0].datasets[0], control=("zeros", 0.0))
    (lowest,) = drawings.panels(replace(whole, panels=(replace(whole.panels[0], datasets=(best,)),)))
    assert "<title>control zeros on set 10: 0.000<" in lowest.svg, "a control of 0 is one"


def test_times_lie_on_a_logarithmic_axis() -> None:
    (one,) = drawings.times(_Figures().whole())
    assert one.heading == "seconds, logarithmic"
    assert is_kept("times.svg", by_mark(one.svg))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ([0.01, 0.1], ["0.01 s", "0.1 s"]),
        ([0.001, 0.02], ["0.01 s", "0.1 s"]),
        ([0.099, 0.11], ["0.01 s", "0.1 s", "1 s"]),
        ([0.1, 1.0], ["0.1 s", "1 s"]),
        ([2000.0, 9000.0], ["1000 s", "10000 s"]),
        ([2000.0, 90000.0], ["1000 s", "10000 s"]),
        # times that are all the same, or beyond the ticks, have an axis, too
        ([0.0], ["0.01 s", "0.1 s"]),
        ([0.01, 0.01], ["0.01 s", "0.1 s"]),
        ([1.0], ["1 s", "10 s"]),
        ([10_000.0], ["1000 s", "10000 s"]),
        ([20_000.0, 90_000.0], ["1000 s", "10000 s"]),
    ],
)
def test_the_axis_of_times_begins_and_ends_at_powers_of_ten(seconds: list[float], shown: list[str]) -> None:
    one = Times("set", (("als", np.array(seconds[:1]), np.array(seconds[1:])),), "")
    (picture,) = drawings.times(Figures((), (), (one,), {}, ()))
    assert [text for text in by_mark(picture.svg).splitlines() if " s</text>" in text] == [
        text for text in by_mark(picture.svg).splitlines() if any(f">{own}</text>" in text for own in shown)
    ]
    assert picture.svg.count(" s</text>") == len(shown)
    assert drawings.times(Figures((), (), (Times("set", (), ""),), {}, ())) == []
    # of the authors' times alone it is told why
    for why in ("", "nobody has it"):
        theirs = Times("set", (("als", np.array(seconds), np.array([])),), why)
        (alone,) = drawings.times(Figures((), (), (theirs,), {}, ()))
        assert (">no data here</text>" in alone.svg) is bool(why)


@pytest.mark.parametrize(
    ("least", "control", "low", "ticks"),
    [
        (0.0, None, 0.0, "0 0.25 0.5 0.75 1"),
        (0.249, None, 0.0, "0 0.25 0.5 0.75 1"),
        (0.25, None, 0.25, "0.25 0.5 0.75 1"),
        (0.499, None, 0.25, "0.25 0.5 0.75 1"),
        (0.5, None, 0.5, "0.5 0.6 0.7 0.8 0.9 1"),
        (0.749, None, 0.5, "0.5 0.6 0.7 0.8 0.9 1"),
        (0.75, None, 0.75, "0.75 0.8 0.85 0.9 0.95 1"),
        (0.99, None, 0.75, "0.75 0.8 0.85 0.9 0.95 1"),
        (0.99, 0.3, 0.25, "0.25 0.5 0.75 1"),
        (0.99, 0.0, 0.0, "0 0.25 0.5 0.75 1"),
        (-0.2, None, 0.0, "0 0.25 0.5 0.75 1"),
        (None, None, 0.0, "0 0.25 0.5 0.75 1"),
    ],
)
def test_an_axis_begins_a_quarter_below_all_values(
    least: float | None, control: float | None, low: float, ticks: str
) -> None:
    none = np.array([])
    values = none if least is None else np.array([1.0, least])
    # whichever side they are of
    for boxes in ((none, values), (values, none)):
        group = drawings.BoxGroup("set", "", [("als", *boxes)], None if control is None else ("constant", control))
        found, places = drawings._axis([group])
        assert found == low and " ".join(text for _, text in places) == ticks
        assert [f"{place:g}" for place, _ in places] == ticks.split()


@pytest.mark.parametrize(
    ("slope", "intercept", "ends"),
    [
        (1.0, 0.0, [(0.0, 0.0), (1.0, 1.0)]),
        (2.0, 0.0, [(0.0, 0.0), (0.5, 1.0)]),
        (-2.0, 1.5, [(0.25, 1.0), (0.75, 0.0)]),
        (0.5, 0.25, [(0.0, 0.25), (1.0, 0.75)]),
        (2.0, -0.5, [(0.25, 0.0), (0.75, 1.0)]),
    ],
)
def test_a_regression_line_is_cut_off_at_its_cell(
    slope: float, intercept: float, ends: list[tuple[float, float]]
) -> None:
    pair = Pair("one", "other", 1.0, 1.0, slope, intercept)
    found = drawings._within(pair, (0.0, 1.0), (0.0, 1.0))
    assert [*found[0], *found[1]] == pytest.approx([*ends[0], *ends[1]])
