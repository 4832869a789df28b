"""The status page as one HTML file: no network, no asset, no time stamp. All texts are escaped."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pydantic_core import to_json

from harness import __version__, benchmarks
from harness.base.layout import Layout
from harness.base.output_files import write_output
from harness.base.plurals import form_of
from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict, claimed_benchmarks, compare_claims
from harness.compare.book import keys_of
from harness.compare.text import comparison_json, counts_by_group
from harness.methods.card import load_method
from harness.planning.plan import Present
from harness.report.content import page_data
from harness.report.evidence import Evidence, gather
from harness.report.headlines import Headlines, make_headlines
from harness.report.matrix import matrix_of, published_means
from harness.results.findings import Finding, load_findings
from harness.results.store import Store
from harness.status import Group, Table, known_sets, metric_sets
from harness.study import make_study
from harness.study.sheets import Sheet, Study

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_PAGE = Path(__file__).parent / "page"
# Behind this the page holds its data.
DATA = b'<script type="application/json" id="data">'
# Behind these a name may be broken.
_SIGN = re.compile(r"(?<=[:,/_=])")
# Addresses, DOIs and code in texts.
_ADDRESS = re.compile(r"`(?P<code>[^`]+)`|(?P<web>https?://[^\s<>\"]+)|doi:10\.\d{4,}/[^\s<>\"]+")
_NUMBER = re.compile(r"[-+(]?[0-9]")
_NUMBER_OR_NONE = re.compile(r"[-+(]?[0-9]|[-\u2013]|$")
# At most so many decided claims are listed; every cell shows its own, and `harness compare --all` all of them.
_MOST_DECIDED = 400

# Each verdict has a sign and a word besides its colour, for readers who cannot distinguish red from green.
SYMBOLS = {
    Verdict.OK: "✓",
    Verdict.ERROR: "✕",
    Verdict.MEMORY: "▲",
    Verdict.TIMEOUT: "◷",
    Verdict.INVALID: "≠",
    Verdict.UNSTABLE: "≈",
    Verdict.MISSING_DATA: "∅",
    Verdict.NOT_APPLICABLE: "·",
    Verdict.INFRASTRUCTURE: "!",
    Verdict.INTERRUPTED: "‖",
    Verdict.PENDING: "○",
}
CLAIM_SYMBOLS = {
    ClaimVerdict.REPRODUCED: "✓",
    ClaimVerdict.DEVIATES: "≠",
    ClaimVerdict.NOT_COMPARABLE: "·",
    ClaimVerdict.PENDING: "○",
}


@dataclass(frozen=True)
class Report:
    """All that a page or a site is made from."""

    layout: Layout
    table: Table
    books: tuple[Book, ...]
    studies: tuple[Study, ...]
    evidence: Evidence
    headlines: Headlines

    @cached_property
    def benchmarks(self) -> list[str]:
        """The benchmarks of the table, in its order."""
        return list(dict.fromkeys(group.benchmark for group in self.table.groups))

    @cached_property
    def findings(self) -> list[tuple[str, list[Finding]]]:
        """The findings of each benchmark that has some."""
        return [(name, own) for name in self.benchmarks if (own := load_findings(self.layout, name))]

    def runs_of_methods(self, methods: Collection[str]) -> list[tuple[str, list[str]]]:
        """Methods that have runs here, with the keys of these."""
        return [(name, own) for name in methods if (own := self._runs_by_method.get(name))]

    @cached_property
    def _runs_by_method(self) -> dict[str, list[str]]:
        keys: dict[str, list[str]] = {}
        for key, scored in self.evidence.runs.items():
            keys.setdefault(scored.cell.job.method, []).append(key)
        return keys


def make_report(
    layout: Layout,
    table: Table,
    mirrors: Sequence[Path] = (),
    more: Collection[str] = (),
    audits: Mapping[str, str] | None = None,
) -> Report:
    """Everything that is computed before anything is written.

    `more` are keys of runs to show in any case, `audits` what another report told of audits.
    """
    books = _books_for(layout, table, mirrors)
    studies = tuple(study for book in books if (study := make_study(layout, book, mirrors)))
    evidence = gather(layout, table, books, more)
    headlines = make_headlines(layout, table, books, audits)
    return Report(layout, table, tuple(books), studies, evidence, headlines)


def write_report(
    layout: Layout, table: Table, output: Path | None = None, *, mirrors: Sequence[Path] = ()
) -> Path:
    """Write the page of one table, whole or not at all; the path is returned."""
    path = output or layout.local / "report.html"
    # a page within the repository leads to the code and the locks beside it
    tree, place = layout.root.resolve(), path.resolve()
    root = f"{os.path.relpath(tree, place.parent)}/" if place.is_relative_to(tree) else ""
    write_output(path, render(make_report(layout, table, mirrors), root))
    return path


def _books_for(layout: Layout, table: Table, mirrors: Sequence[Path]) -> list[Book]:
    """The books of claims of the benchmarks in the table."""
    names = {scored.cell.job.benchmark for scored in table.cells}
    read = {scored.key: scored.cell.record for scored in table.cells if scored.key and scored.cell.record}
    present = Present(layout)
    return [
        compare_claims(layout, Store(layout.runs), name, mirrors=mirrors, read=read, present=present)
        for name in claimed_benchmarks(layout)
        if name in names
    ]


def page_environment() -> Environment:
    """The environment of the page's templates; it escapes all values."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True}
    environment.filters["linked"] = linked
    environment.filters["breakable"] = breakable
    environment.filters["beyond"] = beyond
    environment.filters["numeric_columns"] = numeric_columns
    environment.filters["counted"] = counted_in_thousands
    return environment


def context_of(report: Report) -> dict[str, Any]:
    """What every page is told."""
    table = report.table
    return {
        "table": table,
        "facts": report.headlines,
        "verdicts": [
            {"name": str(one), "count": count, "meaning": one.meaning, "symbol": SYMBOLS[one]}
            for one in Verdict
            if (count := table.counts[one])
        ],
        "symbols": {str(verdict): symbol for verdict, symbol in SYMBOLS.items()},
        "claim_symbols": {str(verdict): symbol for verdict, symbol in CLAIM_SYMBOLS.items()},
        "claim_meanings": [(str(one), one.meaning) for one in ClaimVerdict],
        "stand_ins": table.stand_ins,
        "version": __version__,
        "style": (_PAGE / "page.css").read_text(encoding="utf-8"),
        "matrix_script": (_PAGE / "matrix.js").read_text(encoding="utf-8"),
        "runs_of_methods": report.runs_of_methods,
    }


def render(report: Report, root: str = "") -> bytes:
    """The page as it is written. `root` leads from its place to the repository, if it lies there."""
    table, numbers, means = report.table, Numbers(report.evidence), published_means(report.books)
    names, environment, context = report.benchmarks, page_environment(), context_of(report)
    text = environment.get_template("page.html").render(
        context,
        matrices=[
            matrix_of(name, [one for one in table.groups if one.benchmark == name], f"matrix-{name}", means)
            for name in names
        ],
        entry_href=lambda one: "#" + urlencode({"method": one.row, "dataset": one.dataset, "split": one.split}),
        href=numbers.href,
        metrics=[(name, _metrics(name)) for name in names],
        cards=[load_method(report.layout, name) for name in dict.fromkeys(group.method for group in table.groups)],
        books=[_book(book) for book in report.books],
        findings=report.findings,
        studies=report.studies,
    )
    script = (_PAGE / "page.js").read_text(encoding="utf-8")
    end = environment.get_template("page_end.html").render(context, script=script)
    # last of all, when every number of the page has named its runs
    data = harmless_json(_data(report, root, numbers.lists, context))
    return b"".join([text.encode(), b"\n", DATA, data, b"</script>\n", end.encode()])


def _data(
    report: Report, root: str, numbers: Sequence[Sequence[int]], context: Mapping[str, Any]
) -> dict[str, Any]:
    """What the page's script reads."""
    known = sets_by_dataset(report.table)
    sets = [members for own in (*map(metric_sets, report.benchmarks), *known.values()) for members in own]
    return {
        **page_data(report.evidence, report.books, numbers),
        "symbols": context["symbols"],
        "claim_symbols": context["claim_symbols"],
        "metric_sets": sets,
        "first_metrics": {dataset: own[0][0] for dataset, own in known.items()},
        # of the place, of the machine and of what was asked for, for whoever makes the page once more
        "root": root,
        "audits": report.headlines.audits,
        "plan": report.table.name,
        "reference": any(one.reference for one in report.table.cells),
    }


class Numbers:
    """The numbers of a page that rest on runs: each list of runs has a number of its own."""

    def __init__(self, evidence: Evidence) -> None:
        self._places = {key: place for place, key in enumerate(evidence.runs)}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._addresses: dict[tuple[str, ...], str] = {}

    def href(self, keys: Sequence[str]) -> str:
        """The address of the runs within the page; empty for none that is known here."""
        # all numbers of a row rest on the same runs
        if (known := tuple(keys)) not in self._addresses:
            own = tuple(self._places[key] for key in keys if key in self._places)
            number = self._numbers.setdefault(own, len(self._numbers)) if own else None
            self._addresses[known] = "" if number is None else f"#runs={number}"
        return self._addresses[known]

    @property
    def lists(self) -> list[list[int]]:
        """The places of the runs of each number, in the order of `Evidence.runs`."""
        return [list(own) for own in self._numbers]


def linked(text: str) -> Markup:
    """The text, escaped, with links where it names an address or a DOI, and code where it quotes some."""
    from markupsafe import Markup, escape

    parts, end = [], 0
    for match in _ADDRESS.finditer(text):
        if match["code"]:
            parts += [escape(text[end : match.start()]), Markup("<code>{}</code>").format(match["code"])]
            end = match.end()
            continue
        name = match[0].rstrip(".,;:)")
        address = name if match["web"] else f"https://doi.org/{name.removeprefix('doi:')}"
        parts += [
            escape(text[end : match.start()]),
            Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, name),
        ]
        end = match.start() + len(name)
    return Markup("").join([*parts, escape(text[end:])])


def sets_by_dataset(table: Table) -> dict[str, list[tuple[str, ...]]]:
    """The sets of metrics that are shown of each dataset: as defined where nothing is published of it."""
    members: dict[str, list[Group]] = {}
    for group in table.groups:
        members.setdefault(group.dataset, []).append(group)
    return {dataset: known_sets(groups) for dataset, groups in members.items()}


def breakable(name: str) -> Markup:
    """The name, escaped; a long one breaks behind a sign, not within a word."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in _SIGN.split(name))


def beyond(source: str, sources: Iterable[str]) -> str:
    """What the source of a claim says beyond the sources that stand above all of them."""
    return next((source.removeprefix(f"{one}; ") for one in sources if source.startswith(f"{one}; ")), source)


def numeric_columns(sheet: Sheet) -> list[bool]:
    """Whether each column holds numbers, so that it is aligned to the right, head and entries alike."""
    columns = list(zip(*sheet.rows, strict=True)) or [()] * len(sheet.head)
    return [any(map(_NUMBER.match, own)) and all(map(_NUMBER_OR_NONE.match, own)) for own in columns]


def counted_in_thousands(count: int, noun: str) -> str:
    """`1 run`, `2,000 runs`."""
    return f"{count:,} {form_of(noun, count)}"


def harmless_json(value: Any) -> bytes:
    """JSON for a script element: `<`, `>` and `&` are escaped, so that no text can end the element."""
    # in a quarter of the time of the standard library's
    text = to_json(value, inf_nan_mode="constants")
    if b"NaN" in text or b"Infinity" in text:
        # texts may hold these words; numbers that are none are refused
        json.dumps(value, allow_nan=False)
    for dangerous in (b"<", b">", b"&"):
        text = text.replace(dangerous, b"\\u%04x" % ord(dangerous))
    return text


def _metrics(name: str) -> list[dict[str, str]]:
    return [
        {"name": metric.name, "description": metric.description} for metric in benchmarks.get(name).scoring.metrics
    ]


def _book(book: Book) -> dict[str, Any]:
    """Counts by group, and a list of decided claims: means before single seeds, those that deviate first."""
    decided = [one for one in book.comparisons if one.verdict in (ClaimVerdict.DEVIATES, ClaimVerdict.REPRODUCED)]
    decided.sort(key=lambda one: (one.claim.seed is not None, one.verdict is not ClaimVerdict.DEVIATES))
    groups, waiting = [], []
    for group, counts in counts_by_group(book).items():
        if counts[ClaimVerdict.PENDING] == counts.total():
            waiting.append((group, counts.total()))
        elif counts[ClaimVerdict.NOT_COMPARABLE] < counts.total():
            groups.append((group, [counts[verdict] for verdict in ClaimVerdict]))
    return {
        "benchmark": book.benchmark,
        "sources": book.sources,
        "total": len(book.comparisons),
        "tally": [(str(verdict), book.tally[verdict]) for verdict in ClaimVerdict],
        "groups": groups,
        "waiting": waiting,
        "decided": [comparison_json(one, keys_of(book, one)) for one in decided[:_MOST_DECIDED]],
        "more": max(0, len(decided) - _MOST_DECIDED),
    }
