"""`harness attest`: say what the results are, in one file that can be signed."""

from __future__ import annotations

from pathlib import Path

import click

from harness import api
from harness.base.plurals import counted
from harness.cli.options import FILE, OnceCommand, echo_json, json_option


@click.command(cls=OnceCommand)
@click.option("--reference", is_flag=True, help="The committed reference results in place of runs made here.")
@click.option(
    "--key", type=FILE, help="Your own SSH key to sign with; a public one if an agent holds the private one."
)
@json_option
def command(reference: bool, key: Path | None, as_json: bool) -> int:
    """Make the statement about all results: root of their log, verdicts, plans, and digests of what judges them.

    \b
    harness attest --reference --key ~/.ssh/id_ed25519    signed: FILE.sig and an envelope lie beside it
    harness attest                                        of the runs of this machine, unsigned
    harness audit --reference --signed                    what a reader does with it

    It is refused, with exit code 5, where the log is not the last statement's log, grown, or where the results are
    not those that the log tells of. Keys are yours: none is made here (ssh-keygen -t ed25519).
    """
    made = api.attest(reference=reference, key=key)
    statement = made.statement
    if as_json:
        signer = {"name": made.signer.name, "key": made.signer.fingerprint} if made.signer else None
        echo_json({"path": str(made.path), "signed_by": signer, "sha256": statement.sha256, **statement.predicate})
        return 0
    counts = ", ".join(f"{verdict} {count}" for verdict, count in statement.verdicts.items())
    click.echo(f"{statement.predicate['about']}: {counts or 'none'}")
    click.echo(f"log: {counted(statement.size, 'leaf', 'leaves')}, root {statement.root}")
    for remark in statement.remarks:
        click.echo(remark)
    click.echo(f"statement: {made.path}")
    if made.signer is None:
        click.echo("unsigned: anybody could have written it. Sign it with your own key: --key FILE")
    else:
        click.echo(f"signed by {made.signer}: {made.path.name}.sig, {made.path.stem}.dsse.json")
        if not made.signer.name:
            click.echo("results/allowed_signers does not name this key yet; readers will believe no other")
    return 0
