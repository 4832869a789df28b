"""What pages say, word for word, of made-up values: what a template is given must reach the reader, all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict
from harness.compare.book import keys_of
from harness.compare.text import comparison_json
from harness.methods.card import MethodCard
from harness.report.headlines import Headlines
from harness.report.html import CLAIM_SYMBOLS, SYMBOLS, page_environment
from harness.report.matrix import matrix_of, published_means
from harness.results.findings import Finding
from harness.status import Table
from harness.study.sheets import Picture, Sheet, Study
from tests.fabricate import drug_cell
from tests.report.made_up import DONE, OFF, OPEN, claim

_TEXTS = Path(__file__).with_name("pages.txt").read_text(encoding="utf-8").removeprefix("## ").split("\n## ")
_KEPT = {name: f"{text.strip()}\n" for name, _, text in (one.partition("\n") for one in _TEXTS)}
_LINES = {
    "p",
    "li",
    "tr",
    "dt",
    "dd",
    "h1",
    "h2",
    "h3",
    "h4",
    "summary",
    "pre",
    "figcaption",
    "footer",
    "nav",
    "label",
}


class _Reader(HTMLParser):
    """The text of a page, a line per paragraph or row: `name#` before what has a name, `<place>` behind links."""

    def __init__(self) -> None:
        super().__init__()
        self.lines, self._hidden, self._links = [""], 0, list[str]()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        own = dict(attributes)
        self._hidden += tag in ("style", "script", "title")
        if tag in _LINES or tag == "br":
            self.lines.append("")
        if tag in ("td", "th"):
            self.lines[-1] += "| "
        if own.get("id"):
            self.lines[-1] += f"{own['id']}# "
        if tag == "a":
            self._links.append(own.get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "script", "title")
        if tag in _LINES:
            self.lines.append("")
        if tag == "a":
            self.lines[-1] = f"{self.lines[-1].rstrip()} <{self._links.pop()}>"

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.lines[-1] += data


def text_of(page: str) -> str:
    """The text of a page or of a part of one."""
    reader = _Reader()
    reader.feed(page)
    lines = [" ".join(line.split()) for line in reader.lines]
    return "\n".join(line for line in lines if line) + "\n"


_CONTEXT: dict[str, Any] = {
    "table": SimpleNamespace(name="mine", cells=range(1234), planned=5000, others=1),
    "facts": Headlines(2000, 1100, 40, 1234, (("ok", 1200), ("error", 34)), (("Audit of it", "all passed."),)),
    "verdicts": [
        {"name": name, "count": count, "meaning": f"it is {name}", "symbol": "+"}
        for name, count in (("ok", 1200), ("error", 34))
    ],
    "symbols": {str(verdict): symbol for verdict, symbol in SYMBOLS.items()},
    "claim_symbols": {str(verdict): symbol for verdict, symbol in CLAIM_SYMBOLS.items()},
    "claim_meanings": [(str(one), one.meaning) for one in ClaimVerdict],
    "stand_ins": {"synthetic_ddi": "a stand-in"},
    "version": "9.9",
    "style": "",
    "matrix_script": "",
    "runs_of_methods": lambda methods: [(name, [f"{name}-{place}" for place in range(1200)]) for name in methods],
}


def _href(keys: Sequence[str]) -> str:
    return f"#{'+'.join(keys)}" if 0 < len(keys) < 9 else f"#{len(keys)}" if keys else ""


def _page(template: str, **values: Any) -> str:
    own = {"root": "../", "href": _href, "rests": list, **values}
    return text_of(page_environment().get_template(template).render(_CONTEXT, **own))


def _main(template: str, **values: Any) -> str:
    """The same without what all pages of the site have in common."""
    lines = _page(template, **values).splitlines(keepends=True)
    assert lines[0] == "Skip to the content <#main>\n" and lines[1] == "Permafrost\n"
    assert lines[-1].startswith("Made by Permafrost 9.9 with ")
    return "".join(line for line in lines[2:-2] if not line.startswith("Index <../index.html>"))


def _part(call: str, **values: Any) -> str:
    text = '{% import "parts.html" as parts with context %}{{ parts.' + call + " }}"
    return text_of(page_environment().from_string(text).render(_CONTEXT, href=_href, **values))


_CARD = MethodCard.model_validate(
    {
        "name": "mine",
        "title": "Mine",
        "language": "r",
        "benchmarks": ["ddi"],
        "category": "graphs",
        "summary": "It guesses.",
        "deterministic": False,
        "paper": {"title": "On guesses", "authors": "Ada", "year": 2020, "venue": "A 1(2)", "doi": "10.1000/x"},
        "origin": {"repository": "https://example.org/mine", "commit": "0123456789abcdef", "licence": "MIT"},
        "inputs": ["folds", "drugs"],
        "resources": {"cpus": 2, "memory": "3GiB", "seconds": 4000},
        "variants": {
            "published": {"summary": "As printed.", "parameters": {"k": 5, "c": 0}},
            "ours": {"summary": "O."},
        },
    }
)
_CONTROL = MethodCard.model_validate(
    {
        "name": "zero",
        "title": "Zero",
        "language": "python",
        "benchmarks": ["ddi"],
        "category": "control",
        "control": True,
        "summary": "It says 0.",
        "inputs": ["folds"],
        "variants": {"published": {"summary": "As printed."}},
    }
)


def test_a_card_is_told_with_its_paper_origin_and_variants() -> None:
    assert _part("card_facts(card)", card=_CARD) == _KEPT["a method"]
    assert _part("card_facts(card)", card=_CONTROL) == _KEPT["a control"]


_BOOK = Book("ddi", ("the paper",), ())


def _claims() -> list[Any]:
    """One of seed 0 that reproduces a mean of 0 with its deviation, one of the paper's own names, and a status."""
    claims = (
        claim(
            "mean",
            "0.00",
            seed=0,
            sd=0.0,
            ours=0.0,
            verdict=DONE,
            keys=("a", "b"),
            test="within 3 deviations",
        ),
        claim(
            published="0.5",
            method=None,
            dataset=None,
            split=None,
            ours=0.123456789012345,
            keys=("c",),
        ),
        claim("status", "ok", ours=None, verdict=OPEN, source="another file"),
    )
    return [comparison_json(one, keys_of(_BOOK, one)) for one in claims]


def test_a_claim_is_told_with_its_seed_test_and_source() -> None:
    assert _part("claims_table(claims, 'x', ['a'])", claims=_claims()) == _KEPT["claims"]


def test_a_table_of_claims_has_no_column_for_what_none_of_them_has() -> None:
    head, row = _part("claims_table(claims, 'x', ['another'])", claims=_claims()[2:]).splitlines()[:2]
    assert head == "| verdict| method| dataset| split| metric| published| test"
    assert row == "| ○ pending| constant| synthetic| random| AUC| ok| a reason"


_FINDING = Finding(
    title="It peeks",
    about="Mine",
    methods=["mine", "zero"],
    text="It looks at the answer: https://example.org/a.",
    shown_by=["tests/test_x.py::test_one", "tests/test_y.py::test_two", "harness audit"],
    splits=["hdvd random:x=1", "hdvd random:x=2"],
    undone_in="the variant ours",
)


def test_a_finding_is_told_with_all_that_shows_it() -> None:
    assert _part("finding_part(one)", one=_FINDING) == _KEPT["a finding"]
    values = {
        "finding": _FINDING,
        "benchmark": "ddi",
        "tests": [("tests/test_x.py", "0f", "../files/x.txt"), ("tests/test_y.py", "1f", "../files/y.txt")],
        "splits": [(split, f"../datasets/hdvd.html#{number}") for number, split in enumerate(_FINDING.splits)],
    }
    assert _main("finding.html", **values) == _KEPT["finding.html"]


def _matrix() -> str:
    """Two methods, one of them in published order, and a control, on two datasets; the second stands in."""
    f1, formula = "S1 F1/as-published", "S1 F1/as-defined"
    note = {"S1 items/as-published": "128 of 208"}
    tiger = drug_cell("tiger", {f1: 0.25, formula: 0.75}, note)
    cells = [
        replace(tiger, published_order=True),
        drug_cell("mlp", {f1: 0.5, formula: 0.5}, {"S1 items/as-published": "64 of 208"}, seed=1),
        drug_cell("mlp", {f1: 0.25, formula: 0.5}, {}, seed=2),
        replace(drug_cell("majority_type", {f1: 0.125}, {}), control=True),
    ]
    failed = drug_cell("mlp", {}, {}, seed=3)
    cells.append(replace(failed, cell=replace(failed.cell, verdict=Verdict.ERROR)))
    job = tiger.cell.job.model_copy(update={"dataset": "drugbank"})
    cells.append(replace(tiger, cell=replace(tiger.cell, job=job)))
    target = {"dataset": "synthetic_ddi", "split": "cluster", "metric": f1}
    claims = (
        claim("mean", "0.5", method="mlp", sd=0.125, verdict=DONE, **target),  # type: ignore[arg-type]
        claim("mean", "0.75", method="majority_type", **target),  # type: ignore[arg-type]
    )
    groups = Table("drugs", len(cells), tuple(cells), 0).groups
    matrix = matrix_of("ddi", groups, "m", published_means([Book("ddi", (), claims)]))

    def to(group: Any) -> str:
        return f"{group.row}.html" if group.row != "majority_type" else ""

    return _part("matrix_hint(matrix, 'runs') }}{{ parts.matrix_table(matrix, to)", matrix=matrix, to=to)


def test_a_matrix_marks_controls_stand_ins_and_the_best() -> None:
    assert _matrix() == _KEPT["a matrix"]


def _sheet(kind: Literal["table", "figure"], **more: Any) -> Sheet:
    rows = [["mlp", "0.5", "0.25"], ["tiger", "-", "0.75"]]
    return Sheet(kind, "3", "Means", ["", "theirs", "ours"], rows, **more)


def test_a_sheet_is_told_with_its_sum_runs_and_notes() -> None:
    tally = Counter({DONE: 1, OFF: 2})
    runs = [[(), (), ("a", "b")], [(), (), ()]]
    chips = [["", "", "reproduced"], ["", "", "deviates"]]
    notes = ["of 5 seeds", "of 7 types"]
    whole = _sheet("table", tally=tally, runs=runs, chips=chips, notes=notes)
    assert _part("sheet_part(sheet, 2, 'ddi')", sheet=whole) == _KEPT["a table"]
    bare = _sheet("figure", notes=notes, legend="a box", pictures=[Picture("Left", "<svg></svg>")], style="boxes")
    assert _part("sheet_part(sheet, 2, 'ddi')", sheet=bare) == _KEPT["a figure"]


def test_a_page_of_claims_is_told_with_its_papers_and_reasons() -> None:
    values = {
        "heading": "Table 3. Means",
        "benchmark": "ddi",
        "sources": ["the paper, doi:10.1000/x", "its files"],
        "columns": "what columns say",
        "sheet": _sheet("table"),
        "tally": [("deviates", 1000), ("pending", 2)],
        "claims": _claims()[:1],
        "reasons": [("pending", "no run", 1500), ("not-comparable", "no such data", 1)],
    }
    assert _main("claims.html", **values) == _KEPT["claims.html"]


def test_a_dataset_is_told_with_its_licence_and_files() -> None:
    files = [
        SimpleNamespace(name="a.csv", urls=["https://example.org/a"], sha256="0f", bytes=1234),
        SimpleNamespace(name="b.csv", urls=[], sha256="", bytes=0),
    ]
    manifest = SimpleNamespace(
        name="mine",
        benchmark="ddi",
        title="Mine",
        summary="Some data.",
        citation="Ada, 2020",
        licence="MIT",
        stand_in="generated as the original is not free",
        files=files,
    )
    splits = [
        ("split-0123456789ab", "random", 0, "0123456789abcdef", "splits.csv"),
        ("", "random", 7, "1123456789abcdef", "its records"),
    ]
    values = {
        "manifest": manifest,
        "digests": ["0a", "0b"],
        "splits": splits,
        "without": 1200,
        "matrix": matrix_of("mine", Table("t", 1, (drug_cell("mlp", {}, {}),), 0).groups, "m", {}),
        "entry_href": lambda group: f"{group.row}.html",
    }
    assert _main("dataset.html", **values) == _KEPT["dataset.html"]
    manifest.stand_in, manifest.files = "", []
    bare = {**values, "digests": [], "splits": [], "matrix": None}
    assert _main("dataset.html", **bare) == _KEPT["dataset.html of no run"]


def test_a_method_is_told_with_its_runs_code_and_locks() -> None:
    run = {"log": "1f", "log_bytes": "1,234", "split": "2123456789abcdef", "record": "3f", "seed": 0}
    runs = [
        {
            **run,
            "key": "0123456789abcdef",
            "verdict": "ok",
            "reason": "fine",
            "scores": [0.0, None],
            "log_text": "its end",
            "again": "harness audit 0123",
        },
        {
            **run,
            "key": "1123456789abcdef",
            "verdict": "error",
            "reason": "exit code 3",
            "scores": [None, 0.5],
            "log_text": "",
            "again": "harness audit 1123",
        },
    ]
    summaries = [("AUC", SimpleNamespace(text="0.5 ± 0.1", n=2)), ("F1", SimpleNamespace(text="0.25", n=1))]
    locks = [("containers/_base/debian.lock", "4" * 64, "../l"), ("containers/_r/debian.lock", "5" * 64, "../m")]
    group = {
        "id": "g1",
        "title": "mine on D, random",
        "dataset": "D",
        "verdicts": [("ok", 1), ("error", 1)],
        "scores": summaries,
        "locks": locks[:1],
        "earlier": 0,
        "runs": runs,
    }
    values: dict[str, Any] = {
        "card": _CONTROL,
        "made": SimpleNamespace(code="c" * 64, image="d" * 64),
        "groups": [group, {**group, "id": "g2", "locks": locks, "earlier": 3, "runs": []}],
        "concerning": [("../findings/ddi-1.html", "It peeks"), ("../claims/ddi-table-3.html", "ddi: Table 3")],
        "waiting": [("pending", "D", "not run yet", 1000), ("missing-data", "E", "no data", 1)],
        "files": [("methods/zero/main.py", "6f", "../f"), ("methods/_sdk/python/sdk.py", "7f", "../g")],
        "texts": [("methods/zero/main.py", "print(0)\n")],
        "locks": locks,
    }
    assert _main("method.html", **values) == _KEPT["method.html"]
    nothing: dict[str, Any] = {name: [] for name in ("groups", "concerning", "waiting", "files", "texts", "locks")}
    assert (
        _main("method.html", card=_CARD, made=None, **nothing).partition("Runs\n")[2]
        == "No run of it is known here.\n"
    )
    lost = _main("method.html", **{**values, "made": None, "locks": [], "files": [], "texts": []})
    assert "Its code or its locks are not whole here. Dataset: D <../datasets/D.html>." in lost.splitlines()


def test_the_index_is_told_row_by_row() -> None:
    tables = [
        (
            "methods",
            "Methods",
            "a hint",
            ["method", "kind", "deviates", "reproduced", "cells"],
            [
                ("methods/mine.html", "Mine", "ddi: graphs", [0, 1500], [("ok", 3), ("error", 1)]),
                ("methods/none.html", "None", "ddi: graphs", [2, 0], []),
            ],
        ),
        (
            "findings",
            "Findings",
            "another hint",
            ["finding", "about"],
            [
                ("findings/ddi-1.html", "It peeks", "ddi: Mine", [], None),
            ],
        ),
    ]
    text = _page("index.html", root="", tables=tables, name="smoke")
    assert text == _KEPT["index.html"]
    document = (
        page_environment()
        .get_template("index.html")
        .render(_CONTEXT, root="", href=_href, rests=list, tables=tables, name="smoke")
    )
    # a row of no cells has as many columns as the others
    assert [row.count("<td") for row in document.split("<tr>")[2:4]] == [4, 4]


def test_what_numbers_rest_on_is_listed() -> None:
    lists = [
        (
            "rests-1",
            [("mlp on D, random", "../methods/mlp.html#g1", 1), ("tiger on D", "../methods/tiger.html#g2", 2)],
        )
    ]
    values = {"finding": _FINDING, "benchmark": "ddi", "tests": [], "splits": [], "rests": lambda: lists}
    text = _main("finding.html", **values).partition("What the numbers rest on\n")[2]
    assert text == _KEPT["what numbers rest on"]


def test_the_page_says_what_is_in_view_and_what_is_not() -> None:
    book = {
        "benchmark": "ddi",
        "sources": ["the paper"],
        "total": 2000,
        "tally": [("reproduced", 1100), ("deviates", 0), ("pending", 900)],
        "groups": [(("Table 3", "mlp", "D", "random"), [1100, 0, 0, 2])],
        "waiting": [(("Table 4", "tiger", "D", "random"), 898)],
        "decided": _claims()[:1],
        "more": 1,
    }
    values: dict[str, Any] = {
        "matrices": [],
        "entry_href": None,
        "metrics": [("ddi", [{"name": "F1", "description": "a mean"}])],
        "cards": [_CONTROL],
        "books": [book],
        "findings": [("ddi", [_FINDING])],
        "studies": [Study("ddi", ("the paper",), (_sheet("figure"), _sheet("table", columns="what columns say")))],
    }
    page = _page("page.html", **values)
    assert page == _KEPT["page.html"]
    # all that is planned is in view, no claim is left out, and every stored run is of a cell
    table = SimpleNamespace(name="mine", cells=[1], planned=1, others=0)
    less = {"table": table, "books": [{**book, "more": 0}], "findings": [], "studies": []}
    usual = page.splitlines()
    assert [line for line in _page("page.html", **{**values, **less}).splitlines() if line not in usual] == [
        "1 cell planned = 1,200 ok + 34 error",
        "Matrix <#matrix>Cells <#cells>Claims <#claims>Methods <#methods>How to read this <#reading>",
        "cell-notes# claims#",
        "The 1 decided claim",
    ]


def test_counts_have_separators_in_every_chip() -> None:
    rows: list[tuple[str, str, str, list[int], list[tuple[str, int]]]] = [
        ("a.html", "A", "about", [], [("ok", 1000)])
    ]
    tables = [("datasets", "Datasets", "a hint", ["dataset", "about", "cells"], rows)]
    told = _main("index.html", root="", tables=tables, name="full")
    assert "ok 1,000" in told and "ok 1000" not in told
