"""The status page as one HTML file: no network, no asset, no time stamp. All texts are escaped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import __version__, benchmarks
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict, claimed_benchmarks, compare_claims
from harness.compare.text import comparison_json, counts_by_group
from harness.methods.card import load_method
from harness.report.content import page_data
from harness.results.findings import load_findings
from harness.results.store import Store
from harness.status import Footnotes, Group, Table, known_sets, metric_sets
from harness.study import make_study

if TYPE_CHECKING:
    from jinja2 import Environment

_PAGE = Path(__file__).parent / "page"
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


def write_report(
    layout: Layout, table: Table, output: Path | None = None, *, mirrors: Sequence[Path] = ()
) -> Path:
    """Write the page of one table, whole or not at all; the path is returned."""
    store = Store(layout.runs)
    path = output or layout.local / "report.html"
    write_atomic(path, render(layout, store, table, books_for(layout, store, table, mirrors), mirrors))
    return path


def books_for(layout: Layout, store: Store, table: Table, mirrors: Sequence[Path] = ()) -> list[Book]:
    """The books of claims of the benchmarks in the table."""
    names = {scored.cell.job.benchmark for scored in table.cells}
    read = {scored.key: scored.cell.record for scored in table.cells if scored.key and scored.cell.record}
    return [
        compare_claims(layout, store, name, mirrors=mirrors, read=read)
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
    return environment


def render(layout: Layout, store: Store, table: Table, books: Sequence[Book], mirrors: Sequence[Path] = ()) -> str:
    """The page as text."""
    benchmarks = list(dict.fromkeys(group.benchmark for group in table.groups))
    return (
        page_environment()
        .get_template("page.html")
        .render(
            table=table,
            verdicts=[
                {"name": str(one), "count": count, "meaning": one.meaning, "symbol": SYMBOLS[one]}
                for one in Verdict
                if (count := table.counts[one])
            ],
            symbols={str(verdict): symbol for verdict, symbol in SYMBOLS.items()},
            matrices=[
                _matrix(name, [one for one in table.groups if one.benchmark == name]) for name in benchmarks
            ],
            stand_ins=table.stand_ins,
            metrics=[(name, _metrics(name)) for name in benchmarks],
            cards=[
                load_method(layout, name) for name in sorted({scored.cell.job.method for scored in table.cells})
            ],
            books=[_book(book) for book in books],
            findings=[(name, findings) for name in benchmarks if (findings := load_findings(layout, name))],
            studies=[study for book in books if (study := make_study(layout, book, mirrors))],
            claim_meanings=[(str(one), one.meaning) for one in ClaimVerdict],
            version=__version__,
            style=(_PAGE / "page.css").read_text(encoding="utf-8"),
            script=(_PAGE / "page.js").read_text(encoding="utf-8"),
            data=harmless_json(
                {
                    **page_data(layout, store, table, books),
                    "metric_sets": [members for name in benchmarks for members in metric_sets(name)],
                    "symbols": {str(verdict): symbol for verdict, symbol in SYMBOLS.items()},
                }
            ),
        )
    )


def harmless_json(value: Any) -> str:
    """JSON for a script element: `<`, `>` and `&` are escaped, so that no text can end the element."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for dangerous in "<>&":
        text = text.replace(dangerous, f"\\u{ord(dangerous):04x}")
    return text


def _matrix(name: str, groups: Sequence[Group]) -> dict[str, Any]:
    columns: dict[tuple[str, str], list[Group]] = {}
    for group in groups:
        columns.setdefault((group.dataset, group.split), []).append(group)
    metrics = {column: known_sets(members)[0] for column, members in columns.items()}
    footnotes = Footnotes()
    rows: dict[tuple[bool, str], dict[tuple[str, str], dict[str, Any]]] = {}
    for group in sorted(groups, key=lambda one: (one.control, one.row)):
        column = (group.dataset, group.split)
        entry = _matrix_cell(group, metrics[column], footnotes)
        rows.setdefault((group.control, group.row), {})[column] = entry
    metric_text = " or ".join(dict.fromkeys(" and ".join(members) for members in metrics.values()))
    return {
        "benchmark": name,
        "metric": metric_text,
        "columns": list(columns),
        "rows": list(rows.items()),
        "published_order": {group.row for group in groups if group.published_order},
        "footnotes": footnotes.texts,
    }


def _matrix_cell(group: Group, metrics: Sequence[str], footnotes: Footnotes) -> dict[str, Any]:
    summaries = [(metric, group.summary(metric), footnotes.number(group, metric)) for metric in metrics]
    return {
        "verdicts": [(str(verdict), group.verdicts[verdict]) for verdict in Verdict if group.verdicts[verdict]],
        "planned": len(group.cells),
        "scores": [
            (metric.rpartition(" ")[0] if len(metrics) > 1 else "", summary, footnote)
            for metric, summary, footnote in summaries
            if summary or footnote
        ],
        "method": group.row,
        "dataset": group.dataset,
        "split": group.split,
    }


def _metrics(name: str) -> list[dict[str, str]]:
    return [
        {"name": metric.name, "description": metric.description} for metric in benchmarks.get(name).scoring.metrics
    ]


def _book(book: Book) -> dict[str, Any]:
    """Counts for every group, and a list of decided claims: those that deviate first."""
    decided = [one for one in book.comparisons if one.verdict in (ClaimVerdict.DEVIATES, ClaimVerdict.REPRODUCED)]
    decided.sort(key=lambda one: one.verdict is not ClaimVerdict.DEVIATES)
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
        "decided": [comparison_json(one) for one in decided[:_MOST_DECIDED]],
        "more": max(0, len(decided) - _MOST_DECIDED),
    }
