"""What every page of a report is given, value by value: templates only write it down."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import __version__
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks import get
from harness.compare import Book, ClaimVerdict
from harness.compare.book import keys_of
from harness.compare.text import comparison_json
from harness.methods.card import load_method
from harness.planning.plan import Plan
from harness.report import html
from harness.report.html import (
    CLAIM_SYMBOLS,
    DATA,
    SYMBOLS,
    Numbers,
    Report,
    beyond,
    breakable,
    context_of,
    harmless_json,
    linked,
    make_report,
    numeric_columns,
    page_environment,
    render,
    sets_by_dataset,
    write_report,
)
from harness.report.matrix import PublishedMean, matrix_of, published_means
from harness.results.store import Store
from harness.status import Table, metric_sets
from harness.study.sheets import Sheet
from tests.fabricate import drug_cell, planned_of
from tests.report.made_up import DONE, NOT, OFF, OPEN, claim, counts_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", "a &lt; b"),
        (
            "see https://x.org/a?b=1&c (or doi:10.1000/abc.1).",
            'see <a href="https://x.org/a?b=1&amp;c" rel="noreferrer">https://x.org/a?b=1&amp;c</a> (or '
            '<a href="https://doi.org/10.1000/abc.1" rel="noreferrer">doi:10.1000/abc.1</a>).',
        ),
        ("http://a.b,;:)", '<a href="http://a.b" rel="noreferrer">http://a.b</a>,;:)'),
        ("doi:10.100/x", "doi:10.100/x"),
        ("doi:11.1000/x and 10.1000/x", "doi:11.1000/x and 10.1000/x"),
        ('"http://a"', '&#34;<a href="http://a" rel="noreferrer">http://a</a>&#34;'),
        ("ftp://a", "ftp://a"),
        ("run `a <b> http://c` twice`", "run <code>a &lt;b&gt; http://c</code> twice`"),
    ],
)
def test_addresses_are_links_and_all_else_is_text(text: str, expected: str) -> None:
    assert str(linked(text)) == expected


def test_names_break_behind_signs() -> None:
    assert str(breakable("a_b/c:d,e=f g-h<")) == "a_<wbr>b/<wbr>c:<wbr>d,<wbr>e=<wbr>f g-h&lt;"
    assert str(breakable("plain")) == "plain"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("their files; iteration 1", "iteration 1"),
        ("the paper", "the paper"),
        ("their files, iteration 1", "their files, iteration 1"),
        ("", ""),
    ],
)
def test_a_source_that_stands_above_is_not_told_again(source: str, expected: str) -> None:
    assert beyond(source, ["the paper", "their files"]) == expected


def test_columns_of_numbers_are_known() -> None:
    def sheet(*rows: list[str]) -> Sheet:
        return Sheet("table", "1", "t", ["a", "b", "c", "d", "e"], rows)

    rows = (["1", "-", "x", "(3", "1"], ["+2.5", "", "1", "\u2013", "none"], ["-0.1", "-", "2", "4", "2"])
    assert numeric_columns(sheet(*rows)) == [True, False, False, True, False]
    assert numeric_columns(sheet()) == [False] * 5


def test_json_in_a_page_is_compact_and_harmless() -> None:
    told = harmless_json({"b": "<é>&", "a": [1, 2.5e-9]})
    assert told.decode() == '{"b":"\\u003cé\\u003e\\u0026","a":[1,2.5e-9]}'


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_json_in_a_page_holds_texts_but_no_numbers_that_are_none(number: str) -> None:
    assert json.loads(harmless_json({"NaN": "Infinity"})) == {"NaN": "Infinity"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        harmless_json({"NaN": [float(number)]})


def test_every_verdict_has_its_sign() -> None:
    signs = {
        "ok": "✓",
        "error": "✕",
        "memory": "▲",
        "timeout": "◷",
        "invalid": "≠",
        "unstable": "≈",
        "missing-data": "∅",
        "not-applicable": "·",
        "infrastructure": "!",
        "interrupted": "‖",
        "pending": "○",
    }
    assert {str(one): sign for one, sign in SYMBOLS.items()} == signs
    claims = {"reproduced": "✓", "deviates": "≠", "not-comparable": "·", "pending": "○"}
    assert {str(one): sign for one, sign in CLAIM_SYMBOLS.items()} == claims


def test_a_report_knows_its_benchmarks_and_the_runs_of_methods(report: Report, made_up: Plan) -> None:
    keys = [planned_of(cell).key for cell in made_up.cells]
    assert report.benchmarks == ["repurposing"]
    assert report.runs_of_methods(["lrssl", "nobody", "constant"]) == [
        ("lrssl", [keys[4]]),
        ("constant", keys[:2]),
    ]


def test_findings_are_those_of_the_benchmarks_in_view(facts: Layout, report: Report) -> None:
    plain = Report(facts, report.table, (), (), report.evidence, report.headlines)
    folder = facts.published / "repurposing" / "findings.toml"
    assert plain.findings == []
    folder.write_text(
        'benchmark = "repurposing"\n[[findings]]\ntitle = "T"\nabout = "A"\ntext = "t"\nshown_by = ["harness x"]\n'
    )
    again = Report(facts, report.table, (), (), report.evidence, report.headlines)
    try:
        assert [(name, [one.title for one in own]) for name, own in again.findings] == [("repurposing", ["T"])]
    finally:
        folder.unlink()


def test_every_page_is_told_the_same(report: Report) -> None:
    context = context_of(report)
    page = Path(html.__file__).parent / "page"
    assert context == {
        "table": report.table,
        "facts": report.headlines,
        "verdicts": [
            {"name": "ok", "count": 4, "meaning": Verdict.OK.meaning, "symbol": "✓"},
            {"name": "error", "count": 1, "meaning": Verdict.ERROR.meaning, "symbol": "✕"},
            {"name": "pending", "count": 1, "meaning": Verdict.PENDING.meaning, "symbol": "○"},
        ],
        "symbols": {str(one): sign for one, sign in SYMBOLS.items()},
        "claim_symbols": {str(one): sign for one, sign in CLAIM_SYMBOLS.items()},
        "claim_meanings": [(str(one), one.meaning) for one in ClaimVerdict],
        "stand_ins": {},
        "version": __version__,
        "style": (page / "page.css").read_text(),
        "matrix_script": (page / "matrix.js").read_text(),
        "runs_of_methods": report.runs_of_methods,
    }


def test_templates_write_no_markup_of_others() -> None:
    environment = html.page_environment()
    text = environment.from_string(
        "{% if true %}\n  {{ x }}\n  {% endif %}\n{{ y | tojson }}{{ 'a_b' | breakable }}"
    )
    assert text.render(x="<b>", y={"b": 1, "a": 2}) == '  &lt;b&gt;\n{"a": 2, "b": 1}a_<wbr>b'
    with pytest.raises(Exception, match="'z' is undefined"):
        environment.from_string("{{ z }}").render()
    assert {"linked", "breakable", "numeric_columns"} <= environment.filters.keys()


def _recorded(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[str, dict[str, Any]], str]
) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def template(name: str) -> Any:
        def written(*own: Any, **values: Any) -> str:
            calls.append((name, own, values))
            return write(name, values)

        return SimpleNamespace(render=written)

    monkeypatch.setattr(html, "page_environment", lambda: SimpleNamespace(get_template=template))
    return calls


def test_the_page_is_given_all_of_its_parts(
    facts: Layout, report: Report, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [planned_of(cell).key for cell in made_up.cells]
    asked: tuple[list[str], ...] = ([keys[1]], ["x"], [], [keys[0], keys[2]], [keys[1], "x"])

    def write(name: str, values: dict[str, Any]) -> str:
        return f"the {name} of {[values['href'](own) for own in asked]}" if "href" in values else "the end"

    calls = _recorded(monkeypatch, write)
    page = render(report, "../")
    ((name, (context,), values), (last, (same,), of_end)) = calls
    assert (name, last) == ("page.html", "page_end.html") and same == context == context_of(report)
    before, _, behind = page.partition(DATA)
    told, _, end = behind.partition(b"</script>\n")
    addresses = ["#runs=0", "", "", "#runs=1", "#runs=0"]
    assert (before.decode(), end) == (f"the page.html of {addresses}\n", b"the end")
    means = published_means(report.books)
    assert means
    assert values["matrices"] == [matrix_of("repurposing", report.table.groups, "matrix-repurposing", means)]
    group = SimpleNamespace(row="als_wr/v", dataset="a b", split="x:y=1")
    assert values["entry_href"](group) == "#method=als_wr%2Fv&dataset=a+b&split=x%3Ay%3D1"
    assert values["metrics"] == [
        (
            "repurposing",
            [{"name": one.name, "description": one.description} for one in get("repurposing").scoring.metrics],
        )
    ]
    assert values["cards"] == [load_method(facts, name) for name in ("als_wr", "lrssl", "constant")]
    assert values["findings"] == report.findings and values["studies"] == report.studies
    assert of_end["script"] == (Path(html.__file__).parent / "page" / "page.js").read_text()
    book = report.books[0]
    assert values["books"][1:] == [] and values["books"][0] == {
        "benchmark": "repurposing",
        "sources": ("the paper",),
        "total": 6,
        "tally": [(str(one), book.tally[one]) for one in ClaimVerdict],
        "groups": [
            (("value per seed", "constant", "synthetic", "random"), counts_of(OFF)),
            (("a file", "als_wr", "synthetic", "random"), counts_of(DONE)),
        ],
        "waiting": [(("the paper", "constant", "synthetic", "random"), 1)],
        "decided": [
            comparison_json(book.comparisons[1], keys_of(book, book.comparisons[1])),
            comparison_json(book.comparisons[0], keys_of(book, book.comparisons[0])),
        ],
        "more": 0,
    }
    data = json.loads(told)
    assert len(data["numbers"]) == 2 and data["root"] == "../" and data["symbols"] == context["symbols"]
    assert data["claim_symbols"] == context["claim_symbols"]
    first = sets_by_dataset(report.table)
    sets = [list(one) for one in metric_sets("repurposing")] + [list(one) for own in first.values() for one in own]
    assert data["metric_sets"] == sets and data["first_metrics"] == {"synthetic": first["synthetic"][0][0]}


@pytest.mark.parametrize("count", [399, 400, 401, 403])
def test_four_hundred_decided_claims_are_listed_what_says_most_first(count: int) -> None:
    """A thousand values of single seeds that deviate in their last digits would hide every mean."""
    claims = [
        claim(
            published=str(number),
            verdict=DONE if number % 3 else OFF,
            seed=None if number % 5 else number,
        )
        for number in range(count)
    ]
    told = html._book(Book("repurposing", (), (*claims, claim(verdict=OPEN))))
    order = sorted(range(count), key=lambda number: (number % 5 == 0, number % 3 > 0, number))
    assert [one["published"] for one in told["decided"]] == [str(number) for number in order[:400]]
    assert told["more"] == max(0, count - 400) and told["total"] == count + 1


def test_a_group_waits_only_where_all_of_its_claims_do() -> None:
    open_ = [claim("mean", verdict=OPEN, ours=None, dataset=name) for name in ("a", "b", "b")]
    told = html._book(Book("repurposing", (), (*open_, claim("mean", dataset="a"))))
    assert told["groups"] == [(("mean over seeds", "constant", "a", "random"), counts_of(OPEN, OFF))]
    assert told["waiting"] == [(("mean over seeds", "constant", "b", "random"), 2)]


def test_a_group_is_listed_where_any_of_its_claims_can_be_compared() -> None:
    none = claim("mean", verdict=NOT, ours=None, dataset="c")
    told = html._book(Book("repurposing", (), (none, claim("mean", dataset="a"), none)))
    mixed = html._book(Book("repurposing", (), (claim("mean"), claim("mean", verdict=NOT, ours=None))))
    assert told["groups"] == [(("mean over seeds", "constant", "a", "random"), counts_of(OFF))]
    assert mixed["groups"] == [(("mean over seeds", "constant", "synthetic", "random"), counts_of(NOT, OFF))]


def test_a_number_has_one_address(report: Report, made_up: Plan) -> None:
    numbers, keys = Numbers(report.evidence), [planned_of(cell).key for cell in made_up.cells]
    places = {key: place for place, key in enumerate(report.evidence.runs)}
    assert numbers.lists == []
    assert [numbers.href(own) for own in (keys[:2], keys[1:2], keys[:2])] == ["#runs=0", "#runs=1", "#runs=0"]
    assert numbers.lists == [[places[keys[0]], places[keys[1]]], [places[keys[1]]]]


def test_a_report_is_written_where_it_was_wanted(
    facts: Layout, report: Report, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    roots: list[str] = []

    def rendered(of: Any, root: str) -> str:
        assert of == (facts, report.table, ["m"])
        roots.append(root)
        return "text"

    monkeypatch.setattr(html, "render", rendered)
    monkeypatch.setattr(html, "make_report", lambda *own: own)
    within = facts.root / "a" / "b" / "page.html"
    within.parent.mkdir(parents=True)
    for output, path in ((None, facts.local / "report.html"), (within, within), (tmp_path / "x", tmp_path / "x")):
        mirrors: Any = ["m"]
        assert write_report(facts, report.table, output, mirrors=mirrors) == path and path.read_text() == "text"
        path.unlink()
    assert roots == ["", "../../", ""]
    # wherever it was called from, and through a link
    roots.clear()
    monkeypatch.chdir(facts.root)
    (tmp_path / "tree").symlink_to(facts.root)
    for output in (Path("page.html"), tmp_path / "tree" / "a" / "page.html", Path("..") / "page.html"):
        write_report(facts, report.table, output, mirrors=mirrors)
    assert roots == ["./", "../", ""]
    # into a pipe, whose reader waits there
    pipe = tmp_path / "x.html"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_report(facts, report.table, pipe, mirrors=mirrors)
        assert os.read(reader, 100) == b"text" and pipe.is_fifo()
    finally:
        os.close(reader)


def test_a_report_is_made_of_what_it_was_given(
    facts: Layout, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirrors: Any = ["m"]
    monkeypatch.setattr(html, "make_study", lambda *own: own if own[1].benchmark == "repurposing" else None)
    monkeypatch.setattr(html, "gather", lambda *own: ("evidence", *own))
    monkeypatch.setattr(html, "make_headlines", lambda *own: ("headlines", *own))
    books = [report.books[0], Book("ddi", (), ())]
    monkeypatch.setattr(html, "_books_for", lambda *own: books if own[-1] == mirrors else [])
    audits = {"Audit of x": "never"}
    found: Any = make_report(facts, report.table, mirrors, ["key"], audits)
    given = (facts, report.table, books)
    assert found.studies == ((facts, books[0], mirrors),) and found.books == tuple(books)
    assert found.evidence == ("evidence", *given, ["key"]) and found.headlines == ("headlines", *given, audits)
    assert (found.layout, found.table) == given[:2]


def test_books_are_those_of_the_benchmarks_in_view(
    facts: Layout, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    def compare(layout: Layout, store: Store, name: str, **own: Any) -> str:
        calls.append((layout, store, name, own.pop("mirrors"), own.pop("read"), own.pop("present")))
        return f"book of {name}" if not own else "?"

    monkeypatch.setattr(html, "compare_claims", compare)
    monkeypatch.setattr(html, "Present", lambda layout: ("present", layout))
    mirrors: Any = ["m"]
    found: Any = html._books_for(facts, report.table, mirrors)
    read = {one.key: one.cell.record for one in report.table.cells if one.cell.record}
    assert found == ["book of repurposing"] and len(read) == 5
    assert calls == [(facts, report.evidence.store, "repurposing", mirrors, read, ("present", facts))]


# -- the matrix


def _drugs(**more: Any) -> Any:
    f1, formula, kappa = "S1 F1/as-published", "S1 F1/as-defined", "S1 kappa/as-published"
    note = {"S1 items/as-published": "128 of 208"}
    cells = (
        replace(drug_cell("tiger", {f1: 0.25, formula: 0.75, kappa: 0.5}, note), published_order=True),
        drug_cell("mlp", {f1: 0.5, formula: 0.5}, {}, seed=2),
        replace(drug_cell("majority_type", {}, {}), control=True),
    )
    return matrix_of("ddi", Table("t", 3, cells, 0).groups, "m", {}, **more)


def test_a_matrix_names_its_columns_metrics_and_notes() -> None:
    matrix = _drugs()
    assert (matrix.title, matrix.id, matrix.has_one_dataset, matrix.has_both_kinds) == ("ddi", "m", False, True)
    assert matrix.columns == (("synthetic_ddi", "cluster"),)
    assert [*matrix.rows] == [(False, "mlp"), (False, "tiger"), (True, "majority_type")]
    assert matrix.published_order == frozenset({"tiger"}) and matrix.footnotes == ("S1 items: 128 of 208",)
    assert _drugs(has_one_dataset=True).has_one_dataset
    (tiger,), (mlp,), (control,) = (
        matrix.rows[row].values() for row in ((False, "tiger"), (False, "mlp"), (True, "majority_type"))
    )
    assert tiger.footnotes == (1,) and mlp.footnotes == control.footnotes == () and control.scores == ()
    assert (tiger.value, tiger.defined_value) == (0.25, 0.75) and (mlp.value, control.value) == (0.5, None)
    assert control.defined_value is None and tiger.verdicts == [("ok", 1)]
    assert [score.label for score in tiger.scores] == ["S1"]
    settings = [f"{setting} F1/as-published" for setting in ("S0", "S1", "S2")]
    assert matrix.metric == " and ".join(one for one in settings if one in {*get("ddi").key_metrics})


@pytest.mark.parametrize(("splits", "heads"), [(30, ["method", *["synthetic_ddi"] * 30]), (31, ["split", "mlp"])])
def test_many_splits_stand_below_each_other(splits: int, heads: list[str]) -> None:
    one = drug_cell("mlp", {"S1 F1/as-published": 0.5}, {})
    cells = []
    for at in range(splits):
        split = one.cell.job.split.model_copy(update={"parameters": {"fold": at}})
        job = one.cell.job.model_copy(update={"split": split})
        cells.append(replace(one, cell=replace(one.cell, job=job)))
    matrix = matrix_of("ddi", Table("t", splits, tuple(cells), 0).groups, "m", {})
    assert len(matrix.columns) == splits and matrix.is_turned == (splits > 30)
    template = '{% import "parts.html" as parts with context %}{{ parts.matrix_table(matrix, to) }}'
    text = (
        page_environment()
        .from_string(template)
        .render(matrix=matrix, to=lambda group: "#there", symbols={"ok": "+"}, stand_ins={})
    )
    told = re.findall(r'<th scope="col">(?:dataset and )?(\w+)', text.replace("<wbr>", ""))
    assert told == heads
    assert text.count('href="#there"') == splits and text.count("<tr>") == (splits + 1 if splits > 30 else 2)


def test_a_published_mean_has_as_many_decimals_as_were_printed() -> None:
    for published, sd, text in (
        ("0.5", None, "0.5"),
        ("0.51234", None, "0.5123"),
        ("1", 0.25, "1 ± 0"),
        ("0.8009", 0.01234, "0.8009 ± 0.0123"),
        ("0.80", 0.5, "0.80 ± 0.50"),
        # that it was printed as none at all is another thing than that none was printed
        ("0.800", 0.0, "0.800 ± 0.000"),
        ("0.80091234", 0.01239, "0.8009 ± 0.0124"),
    ):
        means = published_means([Book("b", (), (claim("band", published, sd=sd, variant="v"),))])
        place = ("b", "constant/v", "synthetic", "random", "NS-AUC/as-published")
        assert means == {place: PublishedMean(text, OFF, "published mean deviates: a reason")}
    for change in ({"dataset": None}, {"split": None}, {"method": None}, {"metric": None}):
        assert published_means([Book("b", (), (claim("mean", **change),))]) == {}  # type: ignore[arg-type]
