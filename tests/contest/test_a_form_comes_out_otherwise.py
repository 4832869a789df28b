"""Every form of three contests as it has to come out, in files that a person can open and look at."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import pytest

from harness.base.vocabulary import Verdict
from harness.contest import Contest, draw, hold_contest, to_csv, to_json, to_latex, to_markdown, to_text
from harness.contest.pdf import PdfDrawing, Style, text_width
from harness.contest.rows import notes, p_text
from harness.contest.text import latex
from harness.status import ScoredCell
from tests.contest.conftest import LOWER, contest_of
from tests.study.kept import by_mark, is_kept

_KEPT = Path(__file__).parent / "kept"
_LONG = "a_method_with_a_name_of_more_than_32_letters"
_ERROR, _PENDING = Verdict.ERROR, Verdict.PENDING


def _changed(contest: Contest, change: Callable[[ScoredCell], ScoredCell], **stand_ins: str) -> Contest:
    """The same contest after a change of every cell."""
    table = contest.table
    cells = tuple(change(one) for one in table.cells)
    return hold_contest(replace(table, cells=cells, stand_ins=stand_ins), contest.metric, contest.methods)


def _values() -> Contest:
    """Two settings, and a number of each kind that must not stand alone."""

    def told(one: ScoredCell) -> ScoredCell:
        return replace(
            one, control=one.row == "weak", reference=one.row == "weak", published_order=one.row == _LONG
        )

    values: dict[str, dict[str, list[float | Verdict | None]]] = {
        "mine": {"one": [0.5, 0.6, 0.7, 0.8, 0.9, 0.55, 0.65], "two": [3.0, 3.5]},
        _LONG: {"one": [0.49, 0.58, 0.71, 0.76, 0.85, _ERROR, _PENDING], "two": [_PENDING, 4.0]},
        "weak": {"one": [0.1, None, 0.2, 0.15, 0.2, 0.2, 0.3], "two": [2.0, _PENDING]},
        "gone": {"one": [_ERROR] * 7, "two": [Verdict.NOT_APPLICABLE] * 2},
    }
    return _changed(contest_of(values), told, two="its matrices are another dataset's")


def _ranks() -> Contest:
    """Four methods in seven settings of which two are of one dataset: a difference, and bars."""
    lifts = {"mine": 0.0, "second": 0.02, "third": 0.3, "fourth": 0.5}
    values = {
        name: {
            f"data{place}": [
                0.1 + lift + 0.011 * ((place * 3 + number) % 5) + 0.001 * (seed * number % 4) for seed in range(10)
            ]
            for place in range(7)
        }
        for number, (name, lift) in enumerate(lifts.items())
    }

    def told(one: ScoredCell) -> ScoredCell:
        job = one.cell.job
        if job.dataset != "data6":
            return one
        split = job.split.model_copy(update={"strategy": "random"})
        job = job.model_copy(update={"dataset": "data5", "split": split})
        return replace(one, cell=replace(one.cell, job=job), reference=one.row == "mine" and job.split.seed == 1)

    return _changed(contest_of(values), told)


def _level() -> Contest:
    """Three methods, lower is better, that are told apart by nothing: the difference is longer than the axis."""
    values = {
        name: {f"data{place}": [1.0 + ((place + number) % 3)] * 7 for place in range(3)}
        for number, name in enumerate(("mine", "second", "third"))
    }
    return contest_of(values, LOWER)


_CONTESTS = {"values": _values, "ranks": _ranks, "level": _level}
_FORMS: dict[str, Callable[[Contest], str]] = {
    "txt": to_text,
    "md": to_markdown,
    "tex": to_latex,
    "csv": to_csv,
    "json": lambda contest: json.dumps(_short(to_json(contest)), indent=1, ensure_ascii=False),
    "svg": lambda contest: by_mark(draw(contest, "svg").decode()),
    "pdf.txt": lambda contest: draw(contest, "pdf").decode("cp1252", errors="replace"),
}


def _short(value: object) -> object:
    """Numbers with as many digits as every machine computes alike."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {name: _short(member) for name, member in value.items()}
    return [_short(member) for member in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("name", _CONTESTS)
def test_a_form_is_kept(name: str, form: str) -> None:
    if form == "csv":
        # its numbers are in full, whose last digits a machine may compute otherwise
        lines = _FORMS[form](_CONTESTS[name]()).splitlines()
        text = "\n".join(",".join(_rounded(part) for part in line.split(",")) for line in lines)
        assert is_kept(f"{name}.{form}", text, _KEPT)
    else:
        assert is_kept(f"{name}.{form}", _FORMS[form](_CONTESTS[name]()), _KEPT)


def _rounded(text: str) -> str:
    try:
        return f"{float(text):.9g}" if "." in text else text
    except ValueError:
        return text


@pytest.mark.parametrize("values", [[1.0, 5.0], [-1.0, 1.0, 1.0], [0.5], [0.0, 0.0], [-3.0, -3.0]])
def test_a_deviation_is_drawn_as_long_as_it_is(values: list[float]) -> None:
    """Also where it reaches beyond every value, and where all values are one: then the axis has a length, too."""
    shown = draw(contest_of({"mine": {"one": values}}), "svg").decode()
    ticks = re.findall(r'<text x="([^"]+)" y="[^"]+" class="tick"[^>]*>([^<]+)<', shown)
    (first, low), *_, (last, high) = [(float(x), float(value)) for x, value in ticks]

    def at(value: float) -> float:
        return first + (value - low) / (high - low) * (last - first)

    def ends(style: str) -> list[float]:
        (line, *_) = re.findall(rf'<line x1="([^"]+)" y1="[^"]+" x2="([^"]+)" y2="[^"]+" class="{style}"', shown)
        return [float(x) for x in line]

    mean, sd = fmean(values), stdev(values) if len(values) > 1 else 0.0
    dots = [float(x) for x in re.findall(r'<circle cx="([^"]+)"', shown)]
    assert dots == pytest.approx([at(value) for value in values], abs=0.3)
    assert ends("spread") == pytest.approx([at(mean - sd), at(mean + sd)], abs=0.3)
    assert ends("mean") == pytest.approx([at(mean)] * 2, abs=0.3)
    (left, right), spread = ends("axis"), ends("spread")
    assert left < min(*spread, *dots) and max(*spread, *dots) < right


def test_splits_of_one_dataset_are_told_of_the_settings_that_are_ranked() -> None:
    """A dataset on which one method has nothing is no further one."""
    lacking: dict[str, dict[str, list[float | Verdict | None]]] = {
        name: {"one": [0.1, 0.2], "two": [0.3, 0.4], "three": [0.5, 0.5] if name != "third" else [_ERROR] * 2}
        for name in ("mine", "second", "third")
    }

    def as_splits_of_one(one: ScoredCell) -> ScoredCell:
        job = one.cell.job
        if job.dataset != "two":
            return one
        split = job.split.model_copy(update={"strategy": "random"})
        return replace(one, cell=replace(one.cell, job=job.model_copy(update={"dataset": "one", "split": split})))

    apart = contest_of(lacking)
    together = _changed(apart, as_splits_of_one)
    for contest, blocks, is_told in (
        (apart, {"one, cluster", "two, cluster"}, False),
        (together, {"one, cluster", "one, random"}, True),
    ):
        assert set(contest.blocks) == blocks
        assert (
            any(line.startswith("Some settings are splits of the same dataset") for line in notes(contest))
            == is_told
        )


def test_a_name_is_shortened_in_a_picture_where_it_is_longer_than_32_letters() -> None:
    fitting, wide = f"{'f' * 31}e", f"{'w' * 31}en"
    values = {name: {f"data{place}": [0.1, 0.2] for place in range(3)} for name in (fitting, wide, "other")}
    contest = contest_of(values)
    assert contest.rank_test
    for picture in (draw(contest, "svg").decode(), draw(contest, "pdf").decode("cp1252", errors="replace")):
        assert f"{wide[:31]}…" in picture and f"{fitting[:31]}…" not in picture and fitting in picture


def test_a_tenth_mean_rank_stands_behind_a_second() -> None:
    methods = [f"m{number}" for number in (11, 2, 10, 1, 9, 3, 8, 4, 7, 5, 6)]
    values = {name: {f"data{place}": [1 - int(name[1:]) / 100] * 2 for place in range(3)} for name in methods}
    rows = [line.split() for line in to_text(contest_of(values)).splitlines()]
    assert [row for row in rows if len(row) == 2 and row[0] in methods] == [
        [f"m{number}", f"{number}.00"] for number in range(1, 12)
    ]


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0312, "0.0312"), (0.0001, "0.0001"), (0.00009, "<0.0001"), (1.0, "1.0000"), (0.0, "<0.0001")],
)
def test_a_chance_is_written_with_four_digits(p: float, text: str) -> None:
    assert p_text(p) == text


def test_signs_of_our_own_have_words_in_tex() -> None:
    assert latex("a±†‡§°<>") == (
        r"a$\pm$\textsuperscript{\dag}\textsuperscript{\ddag}\textsuperscript{\S}\textsuperscript{$\circ$}"
        r"\textless{}\textgreater{}"
    )


def test_a_text_is_as_wide_as_in_helvetica() -> None:
    widths = {" ": 278, "!": 278, "A": 667, "W": 944, "i": 222, "m": 833, "~": 584, "@": 1015, "0": 556, "…": 556}
    for sign, width in widths.items():
        assert text_width(sign, 10) == pytest.approx(width / 100)
    assert text_width("Ai", 20) == pytest.approx(17.78)
    assert text_width("", 10) == text_width("A", 0) == 0


def test_a_page_of_pdf_has_its_marks_where_they_were_drawn() -> None:
    styles = {"thin": Style(0.5, 0.25), "bold": Style(10.0, bold=True), "plain": Style(10.0)}
    page = PdfDrawing(100, 50, "a title", styles)
    page.line(1.234, 2, 3, 4.567, "thin")
    page.dot(10, 20, "thin")
    page.write(50, 40, "AA", "plain", "middle")
    page.write(50, 40, "AA", "bold", "end")
    page.write(50, 40, "→", "plain")
    text = page.content.decode("cp1252", errors="replace")
    assert is_kept("page.pdf.txt", text, _KEPT)
