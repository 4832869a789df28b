"""`harness new`: the skeleton of a method, and the self-test every method must pass."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import click

from harness.base.layout import find_layout
from harness.cli.names import METHOD, Word
from harness.cli.options import OnceGroup, benchmark_option, echo_json, install_option, json_option, mirror_option
from harness.images import code_fault
from harness.methods import scaffold
from harness.methods.card import load_method

# the check of the folders themselves, before anything is built
_SOURCE = "source"
_LANGUAGES = ("python", "octave", "r", "java")


@click.group(cls=OnceGroup)
def command() -> None:
    """Make a new method, and check that it keeps the protocol.

    \b
    harness new method my_method --language octave
    harness new check my_method
    harness run --method my_method --dataset synthetic --seed 17263407
    """


@command.command("method", short_help="Write the skeleton of a method.")
@click.argument("name")
@click.option(
    "--language",
    required=True,
    type=Word(_LANGUAGES),
    help="The method's own language.",
)
@benchmark_option("What it predicts.")
@click.option("--title", default="", help="What people call it, on its card and on pages; tables say NAME.")
@json_option
def new_method(name: str, language: str, benchmark: str, title: str, as_json: bool) -> None:
    """Write the skeleton of a method: it builds, passes its self-test and appears in the table at once."""
    layout = find_layout()
    files = [
        str(path.relative_to(layout.root))
        for path in scaffold.new_method(layout, name, language, benchmark, title)
    ]
    if as_json:
        echo_json({"method": name, "files": files})
        return
    click.echo("\n".join(files))
    click.echo(
        f"next: harness new check {name}   (builds its image and runs the self-test; docs/adding-a-method.md)"
    )


def _ending(rows: list[dict[str, Any]]) -> str:
    """How the last check ended; a reason that an earlier check of the method has told is not told again."""
    last = rows[-1]
    if last["passed"]:
        return "passed"
    told = any(row["reason"] == last["reason"] and row["method"] == last["method"] for row in rows[:-1])
    return "FAILED: as above" if told else f"FAILED: {last['reason']}"


@command.command("check", short_help="Run the self-test of methods in their containers.")
@click.argument("names", nargs=-1, required=True, type=METHOD, metavar="METHOD...")
@mirror_option
@install_option
@json_option
def check(names: tuple[str, ...], mirrors: tuple[Path, ...], install: bool, as_json: bool) -> int:
    """Run the self-test of methods in their own containers; exit code 1 if one does not pass."""
    from harness.conformance import CheckResult, checks_of, self_test
    from harness.execution.trials import on_demand

    layout = find_layout()
    cards = [load_method(layout, name) for name in names]
    promises = {one.name: one.promise for card in cards for one in checks_of(card)}
    promises[_SOURCE] = "its folders hold source text, and no links or data"
    rows: list[dict[str, Any]] = []
    with on_demand(layout, install=install, mirrors=mirrors) as run:
        for card in cards:
            fault = code_fault(layout, card.name)
            results = [CheckResult(_SOURCE, passed=not fault, reason=fault)]
            for result in chain(results, () if fault else self_test(card, run)):
                rows.append(
                    {"method": card.name, "check": result.check, "passed": result.passed, "reason": result.reason}
                )
                if not as_json:
                    click.echo(f"{card.name}: {promises[result.check]}: {_ending(rows)}")
    if as_json:
        echo_json(rows)
    return 0 if all(row["passed"] for row in rows) else 1
