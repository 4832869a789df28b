"""The matrix must say which number is best, by which kind of metric, and what was published beside it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from harness.base.layout import Layout
from harness.compare import Book, ClaimVerdict, Comparison
from harness.compare.claims import Claim
from harness.compare.names import Target
from harness.report.html import make_report, render
from harness.report.matrix import MatrixScore, PublishedMean, StatusMatrix, matrix_of, published_means
from harness.status import ScoredCell, Table
from tests.fabricate import drug_cell
from tests.report.devtools import Tab

_F1, _FORMULA = "S1 F1/as-published", "S1 F1/as-defined"


def _cells() -> list[ScoredCell]:
    """Three methods: the best as published is the worst as defined; the control has no value as defined."""
    return [
        drug_cell("mlp", {_F1: 0.5, _FORMULA: 0.4}, {}),
        drug_cell("tiger", {_F1: 0.25, _FORMULA: 0.75}, {}),
        replace(drug_cell("majority_type", {_F1: 0.375}, {}), control=True),
    ]


def _claim(published: str, verdict: ClaimVerdict, *, sd: float | None, method: str = "mlp") -> Comparison:
    claim = Claim("a file", "mean", "MLP", "D", "without", "F1", published, sd=sd)
    return Comparison(claim, Target(method, "synthetic_ddi", "cluster"), _F1, verdict, "a reason")


def _matrix(*claims: Comparison) -> StatusMatrix:
    groups = Table("drugs", 3, tuple(_cells()), 0).groups
    return matrix_of("ddi", groups, "matrix-ddi", published_means([Book("ddi", (), claims)]))


def _scores(matrix: StatusMatrix) -> dict[str, MatrixScore]:
    return {row: entry.scores[0] for (_, row), found in matrix.rows.items() for entry in found.values()}


def test_the_best_of_each_kind_is_marked() -> None:
    scores = _scores(_matrix())
    assert [name for name, one in scores.items() if one.is_best] == ["mlp"]
    assert [name for name, one in scores.items() if one.is_best_defined] == ["tiger"]
    assert scores["majority_type"].defined is None


def test_a_mean_that_reads_like_the_best_is_not_the_best() -> None:
    cells = tuple(drug_cell(name, {_F1: value}, {}) for name, value in (("mlp", 0.50001), ("tiger", 0.50004)))
    scores = _scores(matrix_of("ddi", Table("drugs", 2, cells, 0).groups, "matrix-ddi", {}))
    told = {name: (one.ours.text, one.is_best) for name, one in scores.items() if one.ours}
    assert told == {"mlp": ("0.5000", False), "tiger": ("0.5000", True)}


@pytest.mark.parametrize(("better", "best"), [("higher", "0.5000"), ("lower", "0.2500"), ("neither", "")])
def test_the_direction_of_a_metric_decides(
    better: Literal["higher", "lower", "neither"], best: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness import benchmarks

    scoring = type(benchmarks.get("ddi").scoring)
    turned = [replace(one, better=better) for one in benchmarks.get("ddi").scoring.metrics]
    monkeypatch.setattr(scoring, "metrics", turned)
    marked = [one.ours.text for one in _scores(_matrix()).values() if one.is_best and one.ours]
    assert marked == ([best] if best else [])


def test_one_value_alone_is_not_the_best() -> None:
    groups = Table("drugs", 1, (_cells()[0],), 0).groups
    (score,) = _scores(matrix_of("ddi", groups, "matrix-ddi", {})).values()
    assert score.ours and not score.is_best and not score.is_best_defined


def test_a_published_mean_stands_at_its_own_entry_alone() -> None:
    first = _claim("0.51234567", ClaimVerdict.DEVIATES, sd=0.0125)
    later = _claim("0.9", ClaimVerdict.REPRODUCED, sd=None)
    scores = _scores(_matrix(first, later, _claim("0.125", ClaimVerdict.PENDING, sd=None, method="tiger")))
    assert scores["mlp"].published == PublishedMean(
        "0.5123 ± 0.0125", ClaimVerdict.DEVIATES, "published mean deviates: a reason"
    )
    assert scores["tiger"].published == PublishedMean("0.125", ClaimVerdict.PENDING)
    assert scores["majority_type"].published is None


def test_a_published_mean_that_is_not_simply_reproduced_has_its_reason_below() -> None:
    """One note for each reason, at every entry that has it; none where the sign says it all."""
    plain = _claim("0.5", ClaimVerdict.REPRODUCED, sd=None)
    beside = plain._replace(controls=("majority_type",))
    too_few = _claim("0.5", ClaimVerdict.NOT_COMPARABLE, sd=None)
    pending = _claim("0.5", ClaimVerdict.PENDING, sd=None, method="tiger")
    of_control = _claim("0.5", ClaimVerdict.NOT_COMPARABLE, sd=None, method="majority_type")

    def notes(*claims: Comparison) -> tuple[tuple[str, ...], dict[str, tuple[int, ...]]]:
        matrix = _matrix(*claims)
        entries = {row: entry for (_, row), found in matrix.rows.items() for entry in found.values()}
        return matrix.footnotes, {row: entry.footnotes for row, entry in entries.items()}

    nobody = {"mlp": (), "tiger": (), "majority_type": ()}
    assert notes(plain, pending) == ((), nobody)
    assert notes(beside) == (("published mean reproduced: a reason",), nobody | {"mlp": (1,)})
    told = ("published mean not-comparable: a reason",)
    assert notes(too_few, pending, of_control) == (told, nobody | {"mlp": (1,), "majority_type": (1,)})


def test_an_entry_without_a_value_keeps_its_note_and_what_was_published() -> None:
    cells = (
        drug_cell("mlp", {_F1: 0.5}, {}),
        drug_cell("tiger", {_F1: None}, {_F1: "no positives"}),
        drug_cell("ssi_ddi", {}, {}),
        drug_cell("emergnn", {}, {}),
    )
    groups = Table("drugs", 4, cells, 0).groups
    means = published_means([Book("ddi", (), (_claim("0.5", ClaimVerdict.PENDING, sd=None, method="ssi_ddi"),))])
    matrix = matrix_of("ddi", groups, "matrix-ddi", means)
    entries = {row: entry for (_, row), found in matrix.rows.items() for entry in found.values()}
    assert entries["emergnn"].scores == () and len(matrix.footnotes) == 1 and "no positives" in matrix.footnotes[0]
    (noted,), (published,) = entries["tiger"].scores, entries["ssi_ddi"].scores
    assert (noted.ours, noted.published, entries["tiger"].footnotes) == (None, None, (1,))
    assert (published.ours, published.published) == (None, PublishedMean("0.5", ClaimVerdict.PENDING))
    assert entries["ssi_ddi"].footnotes == () and not (noted.is_best or published.is_best)


@pytest.mark.parametrize("change", [{"metric": None}, {"target": Target(None, "synthetic_ddi", "cluster")}])
def test_a_claim_without_a_place_stands_nowhere(change: dict[str, object]) -> None:
    one = _claim("0.5", ClaimVerdict.PENDING, sd=None)._replace(**change)  # type: ignore[arg-type]
    assert published_means([Book("ddi", (), (one,))]) == {}
    value = one._replace(claim=one.claim._replace(statistic="value"), metric=_F1, target=Target("mlp", "d", "s"))
    assert published_means([Book("ddi", (), (value,))]) == {}


@pytest.fixture
def drugs(shown: Layout, tmp_path: Path) -> Path:
    page = tmp_path / "drugs.html"
    claims = (_claim("0.5", ClaimVerdict.REPRODUCED, sd=None),)
    table = Table("drugs", 3, tuple(_cells()), 0)
    page.write_bytes(render(replace(make_report(shown, table), books=(Book("ddi", (), claims),))))
    return page


_ROWS = "[...document.querySelectorAll('.matrix tbody tr')].map(row => row.cells[0].firstChild.textContent)"
_SHOWN = """[...document.querySelectorAll('.matrix tbody tr:first-child .score > span')]
  .filter(one => one.getClientRects().length).map(one => one.className)"""


def test_a_head_sorts_by_the_chosen_kind(drugs: Path, tab: Tab) -> None:
    tab.look()
    tab.go(drugs.as_uri())
    assert tab.evaluate(_ROWS) == ["mlp", "tiger", "majority_"], "methods by name, then controls"
    column = ".matrix th:nth-child(2) button"
    tab.click(column)
    assert tab.evaluate(_ROWS) == ["mlp", "majority_", "tiger"]
    tab.click(column)
    assert tab.evaluate(_ROWS) == ["tiger", "majority_", "mlp"]
    assert tab.evaluate("document.querySelector('.matrix th:nth-child(2)').ariaSort") == "ascending"
    tab.evaluate(
        "(one => { one.value = 'defined'; one.dispatchEvent(new Event('change')); })"
        "(document.querySelector('.matrix-kinds select'))"
    )
    assert tab.evaluate(_ROWS) == ["mlp", "tiger", "majority_"], "what has no value comes last"
    assert tab.evaluate(_SHOWN) == ["as-defined"]
    tab.click(".matrix th:nth-child(1) button")
    assert tab.evaluate(_ROWS) == ["mlp", "tiger", "majority_"]


def test_both_kinds_and_the_published_value_are_on_the_screen(drugs: Path, tab: Tab) -> None:
    tab.look()
    tab.go(drugs.as_uri())
    assert tab.evaluate(_SHOWN) == ["as-published", "as-defined", "theirs"]
    text = tab.evaluate("document.querySelector('.matrix tbody tr .theirs').textContent")
    assert text.split() == ["published", "0.5", "✓", "reproduced"]


@pytest.mark.parametrize("width", [1280, 400])
def test_a_name_breaks_behind_a_sign_alone(shown: Layout, tmp_path: Path, tab: Tab, width: int) -> None:
    name = "pure_pubmedbert/corrected_without_context (alpha=3)"
    table = Table("drugs", 1, (drug_cell("mlp", {_F1: 0.5}, {}, row=name),), 0)
    page = tmp_path / "long.html"
    page.write_bytes(render(make_report(shown, table)))
    tab.look(width=width)
    tab.go(page.as_uri())
    pieces = """[...document.querySelector('.matrix tbody th').childNodes].filter(one => one.nodeType === 3)
      .map(one => { const range = document.createRange(); range.selectNode(one);
        return [one.textContent, new Set([...range.getClientRects()].map(box => Math.round(box.top))).size]; })"""
    found = tab.evaluate(pieces)
    assert "".join(text for text, _ in found).strip() == name
    # a space is a place to break, too
    assert all(lines <= 1 + text.strip().count(" ") for text, lines in found), found


def test_a_narrow_screen_shows_a_cell_whole(drugs: Path, tab: Tab) -> None:
    tab.look(width=400)
    tab.go(drugs.as_uri())
    edges = "[...document.querySelectorAll('#rows td')].map(one => Math.round(one.getBoundingClientRect().right))"
    assert max(tab.evaluate(edges)) <= 400
    assert "0.5000" in tab.evaluate("document.querySelector('#rows tr').innerText")
    tab.look()


def test_the_view_as_csv_is_what_the_table_shows(drugs: Path, tab: Tab) -> None:
    tab.look()
    tab.go(f"{drugs.as_uri()}#sort=score&order=desc&q=m")
    shown = tab.evaluate("[...document.querySelectorAll('#rows tr')].map(row => row.cells[1].textContent.trim())")
    rows = list(csv.DictReader(io.StringIO(tab.evaluate("csv()"))))
    assert [row["method"] for row in rows] == [name.replace("control", "").strip() for name in shown]
    assert [(row[_F1], row[_FORMULA]) for row in rows] == [("0.5", "0.4"), ("0.375", "")]
    tab.evaluate("cells[0].reason = 'a, \"b\"\\nc'")
    again = list(csv.DictReader(io.StringIO(tab.evaluate("csv()"), newline="")))
    assert 'a, "b"\nc' in [row["reason"] for row in again]


def test_commands_can_be_copied_and_moments_read(page: Path, tab: Tab) -> None:
    tab.look()
    tab.go(f"{page.as_uri()}#sort=verdict")
    tab.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: words => { "
        "window.copied = words; return Promise.resolve(); } } })"
    )
    tab.click("#rows tr .open")
    commands = tab.evaluate("[...document.querySelectorAll('.command pre')].map(one => one.textContent)")
    assert [one.split()[1] for one in commands] == ["run", "audit", "audit"]
    tab.click(".command:nth-of-type(2) .copy")
    assert tab.evaluate(
        "[window.copied, document.querySelector('.command:nth-of-type(2) .copy').textContent]"
    ) == [
        commands[1],
        "Copied",
    ]
    moments = ["2026-01-02T03:04:05.738870+00:00", "2026-01-02T05:04:05+02:00", "2026-01-02T03:04:05Z"]
    assert {tab.evaluate(f"moment({one!r})") for one in moments} == {"2026-01-02 03:04:05 UTC"}
    panel = tab.evaluate("document.getElementById('panel').innerText")
    assert "[]" not in panel and "{}" not in panel


def test_few_columns_use_the_room_that_they_have(drugs: Path, tab: Tab) -> None:
    """What stands beside each other on a wide screen stands below each other on a narrow one."""
    lines = """new Set([...document.querySelector('.matrix tbody tr')
      .querySelectorAll('.chip, .as-published, .as-defined, .theirs')]
      .map(one => Math.round(one.getBoundingClientRect().bottom / 8))).size"""
    tab.look(width=1280)
    tab.go(drugs.as_uri())
    assert tab.evaluate(lines) == 1
    tab.look(width=400)
    assert tab.evaluate(lines) == 4
    tab.look(width=1280)
    # what is not chosen is not shown
    tab.evaluate("document.querySelector('.matrix').dataset.kind = 'defined'")
    shown = """[...document.querySelectorAll('.matrix tbody tr:first-child .score > *')]
      .filter(one => one.offsetParent).map(one => one.className)"""
    assert tab.evaluate(shown) == ["as-defined"]
