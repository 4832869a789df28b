"""What a method warned of, shown to a person: a SMILES it could not read, a sequence it cut off."""

from __future__ import annotations

import click

from harness.base.foreign_text import printable, shortened
from harness.base.plurals import counted
from harness.benchmarks.method_report import METHOD, read_report
from harness.results.store import Store

_MOST = 5
# Python's usual kind says nothing
_USUAL = "UserWarning: "


def echo_warnings(store: Store, key: str, *, indent: str = "", err: bool = False) -> None:
    """Print the warnings of a finished run, the first few of many; a run without a report has none."""
    path = store.path(key) / METHOD
    warnings = read_report(path).warnings if path.is_file() else []
    for text in warnings[:_MOST]:
        click.echo(f"{indent}warning of the method: {shortened(printable(text.removeprefix(_USUAL)))}", err=err)
    if len(warnings) > _MOST:
        click.echo(f"{indent}and {counted(len(warnings) - _MOST, 'more warning')}: {path}", err=err)
