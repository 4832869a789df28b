"""`harness list`: what this artifact holds."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import find_layout
from harness.cli.names import METHOD, Word
from harness.cli.options import OnceCommand, echo_json, json_option
from harness.cli.output import echo_folded
from harness.data import dataset_names, load_manifest
from harness.methods import page as cards
from harness.methods.card import MethodCard, in_order, load_method, load_methods, method_names
from harness.planning.suites import load_suite, suite_names
from harness.results import findings

_KINDS = ["methods", "datasets", "suites", "metrics", "findings"]
_FAULT = "fault"


@click.command(cls=OnceCommand)
@click.argument("kind", type=Word(_KINDS), default="methods")
@click.argument("names", type=METHOD, nargs=-1, metavar="[METHOD]...")
@click.option("--markdown", is_flag=True, help="As a page: docs/methods.md, docs/findings.md.")
@json_option
def command(kind: str, names: tuple[str, ...], markdown: bool, as_json: bool) -> int:
    """List methods, datasets, suites, metrics or findings.

    \b
    harness list                 the methods
    harness list methods bnnr    the card of one, or of some
    harness list datasets
    """
    if names:
        return _cards_of(kind, names, as_json=as_json)
    if markdown:
        click.echo(_page(kind), nl=False)
        return 0
    rows = {
        "methods": _methods,
        "datasets": _datasets,
        "suites": _suites,
        "metrics": _metrics,
        "findings": _findings,
    }[kind]()
    code = UsageError.exit_code if any(_FAULT in row for row in rows) else 0
    if as_json:
        echo_json(rows)
        return code
    echo_folded((str(row["name"]), str(row["summary"])) for row in rows)
    return code


def _cards_of(kind: str, names: Sequence[str], *, as_json: bool) -> int:
    """Whole cards of methods that are named."""
    if kind != "methods":
        todo = f"harness {'data show ' + names[0] if kind == 'datasets' else 'list ' + kind}"
        raise UsageError(f"{kind} are listed whole", where=names[0], todo=todo)
    named = [load_method(find_layout(), name) for name in dict.fromkeys(names)]
    if as_json:
        echo_json([_of_card(card) for card in named])
    else:
        click.echo("\n".join(map(cards.card_text, named)), nl=False)
    return 0


def _page(kind: str) -> str:
    if kind == "methods":
        return cards.markdown(load_methods(find_layout()))
    if kind == "findings":
        return findings.markdown(findings.all_findings(find_layout()))
    raise UsageError(
        f"{kind} have no cards, and no page", where="--markdown", todo="list methods or findings with it"
    )


def _findings() -> list[dict[str, object]]:
    return [
        {"name": benchmark, "summary": one.line, **one.model_dump(mode="json")}
        for benchmark, members in findings.all_findings(find_layout()).items()
        for one in members
    ]


def _methods() -> list[dict[str, object]]:
    layout, cards, faulty = find_layout(), list[MethodCard](), list[dict[str, object]]()
    for name in method_names(layout):
        try:
            cards.append(load_method(layout, name))
        except UsageError as error:
            faulty.append(_faulty(name, error))
    return [*(_of_card(card) for card in in_order(cards)), *faulty]


def _of_card(card: MethodCard) -> dict[str, object]:
    return {
        "name": card.name,
        "summary": f"{card.title}: {card.category}, {card.language}" + (" (control)" if card.control else ""),
        **card.model_dump(mode="json", exclude={"name", "summary"}),
    }


def _datasets() -> list[dict[str, object]]:
    layout, rows = find_layout(), list[dict[str, object]]()
    for name in dataset_names(layout):
        try:
            rows.append({"name": name, "summary": load_manifest(layout, name).title})
        except UsageError as error:
            rows.append(_faulty(name, error))
    return rows


def _faulty(name: str, error: UsageError) -> dict[str, object]:
    """A row in place of one whose description can't be read, so that it hides none of the others."""
    return {"name": name, "summary": f"{error.what} ({error.where})", _FAULT: error.what}


def _suites() -> list[dict[str, object]]:
    suites = [load_suite(name) for name in suite_names()]
    return [{"name": suite.name, "summary": suite.summary} for suite in suites]


def _metrics() -> list[dict[str, object]]:
    return [
        {"name": metric.name, "summary": f"{name}: {metric.description}"}
        for name in benchmarks.names()
        for metric in benchmarks.get(name).scoring.metrics
    ]
