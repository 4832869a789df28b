"""`harness parity`: golden cases through the methods' own containers, compared array by array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.base.errors import UsageError
from harness.base.layout import find_layout
from harness.base.plurals import counted
from harness.base.unknown_names import unknown_name
from harness.cli.names import METHOD
from harness.cli.options import OnceCommand, echo_json, install_option, json_option, mirror_option
from harness.methods.card import load_methods, method_names

if TYPE_CHECKING:
    from harness.parity import CaseFinding, GoldenCase


@click.command(cls=OnceCommand)
@click.argument("subjects", nargs=-1, type=METHOD, metavar="[METHOD|metrics|splits]...")
@click.option(
    "--golden",
    required=True,
    type=click.Path(path_type=Path),
    help="A benchmark's folder of golden cases, or the folder that holds such folders.",
)
@mirror_option
@install_option
@json_option
def command(
    subjects: tuple[str, ...], golden: Path, mirrors: tuple[Path, ...], install: bool, as_json: bool
) -> int:
    """Run every golden case in DIR inside the method's own container and say how far the answers are apart.

    \b
    harness parity --golden DIR                        every method, the metrics and the splits
    harness parity bnnr --golden DIR/repurposing       one method

    Splits need their dataset's originals (--mirror) unless they are in the cache. Exit code 0 when nothing is
    beyond its tolerance, 1 when something is or a run failed, 2 when there is no case.
    """
    from harness.execution.trials import on_demand
    from harness.parity import check_cases, find_cases
    from harness.parity.cases import METRICS, SPLITS
    from harness.parity.check import is_covered

    layout = find_layout()
    cases, cards = find_cases(golden), load_methods(layout)
    names = [*method_names(layout), METRICS, SPLITS]
    for subject in subjects:
        if subject not in names:
            raise unknown_name("method", subject, names, where=layout.methods)
        if not any(is_covered(case, cards, subject) for case in cases):
            why = next((card.without_golden for card in cards if card.name == subject), "")
            raise UsageError(
                f"no golden case covers '{subject}'",
                where=" ".join(why.split()) or str(golden),
                todo="name another folder or method",
            )
    findings = []
    with on_demand(layout, install=install, mirrors=mirrors) as run:
        for finding in check_cases(layout, cases, cards, run, mirrors=mirrors, only=subjects):
            findings.append(finding)
            if not as_json:
                click.echo("\n".join(_lines(finding)))
    if as_json:
        echo_json(_document(golden, cases, findings))
    else:
        click.echo(_summary(findings))
    return 1 if any(finding.worst.is_bad for finding in findings) else 0


def _lines(finding: CaseFinding) -> Iterator[str]:
    """Lines for a terminal: the case, then each of its arrays."""
    seconds = "" if finding.seconds is None else f", {finding.seconds:.1f} s"
    subject = f" ({finding.subject}{seconds})" if finding.subject else ""
    yield f"{finding.case}{subject}: {finding.worst}" + (f": {finding.note}" if finding.note else "")
    for array in finding.arrays:
        if array.error is None:
            yield f"    {array.array:24} {array.standing}: {array.note}"
            continue
        allowed = "equal" if array.allowed == 0 else f"tolerance {array.allowed:.1e}"
        note = f" ({array.note})" if array.note else ""
        yield f"    {array.array:24} {array.standing!s:8} largest error {array.error:.2e}, {allowed}{note}"


def _summary(findings: list[CaseFinding]) -> str:
    counts = Counter(str(finding.worst) for finding in findings)
    terms = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f"\n{counted(len(findings), 'comparison')}: {terms}"


def _document(golden: Path, cases: list[GoldenCase], findings: list[CaseFinding]) -> dict[str, Any]:
    return {
        "golden": str(golden),
        "cases": len(cases),
        "ok": not any(finding.worst.is_bad for finding in findings),
        "findings": [finding.as_json() for finding in findings],
    }
