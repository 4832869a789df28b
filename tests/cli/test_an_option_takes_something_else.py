"""Every option takes what it took, with the same default and the same words; a change of one is meant."""

from __future__ import annotations

import click
import pytest

from harness.cli import (
    attest,
    audit,
    clean,
    compare,
    data,
    diff,
    doctor,
    engine,
    export,
    forget,
    group,
    image,
    job,
    log,
    new,
    notebook,
    parity,
    plan,
    predict,
    reference,
    report,
    run,
    score,
    show,
    split,
    status,
    stop,
    store,
    study,
    table,
    weights,
)
from harness.cli import list as lists
from tests.cli.command_lines import AGAIN, KEPT, current
from tests.cli.test_an_option_is_dropped import COMMANDS

# in the order of the help, which is that in which a person needs them
_MODULES = (
    *(doctor, lists, data, weights, split, image, engine, plan, run, stop, store, score, show, diff, forget),
    *(status, table, compare, study, reference, parity, audit, attest, log, report, export, predict, notebook),
    *(job, new, clean),
)


def test_a_word_leads_to_its_command() -> None:
    context = click.Context(group)
    words = group.list_commands(context)
    assert [group.get_command(context, word) for word in words] == [one.command for one in _MODULES]


def test_what_can_be_typed_is_what_is_kept() -> None:
    kept = KEPT.read_text(encoding="utf-8").split("\n\n")
    now = current().split("\n\n")
    assert [block for block in now if block not in kept] == [], AGAIN
    assert now == kept, AGAIN


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_what_is_kept_is_what_help_shows(path: tuple[str, ...]) -> None:
    """A name that an option lost is not in its help either."""
    context = click.Context(COMMANDS[path], parent=click.Context(group), info_name=path[-1])
    shown = COMMANDS[path].get_help(context)
    block = next(one for one in KEPT.read_text().split("\n\n") if one.startswith(f"{' '.join(path)}: "))
    names = [
        word for line in block.splitlines() if line.startswith("  --") for word in line.split(" [")[0].split()
    ]
    assert [name for name in names if name not in shown] == []
