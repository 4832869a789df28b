"""`harness log`: what happened to results, in order."""

from __future__ import annotations

from dataclasses import asdict

import click

from harness import api
from harness.base.errors import UsageError
from harness.base.plurals import counted
from harness.base.unknown_names import unknown_name
from harness.cli.names import KEY
from harness.cli.options import OnceCommand, echo_json, json_option
from harness.cli.output import echo_folded
from harness.proof.leaves import Leaf
from harness.proof.log import Log
from harness.proof.tree import inclusion_proof, leaf_hash, root_of

_LAST = 20


@click.command(cls=OnceCommand)
@click.argument("key", type=KEY, required=False)
@click.option("--reference", is_flag=True, help="Of the committed reference results in place of runs made here.")
@click.option("--proof", is_flag=True, help="With KEY: the hashes that show each leaf to be part of the log.")
@json_option
def command(key: str | None, reference: bool, proof: bool, as_json: bool) -> None:
    """Show the log of results: every event of the runs whose keys begin with KEY; else the last twenty.

    \b
    harness log
    harness log 3d02f8dae5f6 --proof
    harness log --reference --json

    What the container of a run printed shows `harness show KEY --log`.
    """
    if proof and key is None:
        raise click.UsageError("--proof needs a KEY")
    layout = api.open_repository().layout
    log = Log(layout.reference if reference else layout.local)
    if key is not None and not key.strip():
        todo = "give a key or its beginning; without one the last events are shown"
        raise UsageError("the key is empty", where=str(log.path), todo=todo)
    leaves = log.leaves()
    rows = [(number, leaf) for number, leaf in enumerate(leaves, start=1) if key is None or _is_of(leaf, key)]
    if key is not None and not rows:
        if not reference and any(_is_of(leaf, key) for leaf in Log(layout.reference).leaves()):
            todo = "ask for the log of the committed results: --reference"
            raise UsageError(f"no run of this machine's log is called '{key}'", where=str(log.path), todo=todo)
        kind = "run of the committed log" if reference else "run of the log"
        raise unknown_name(kind, key, {leaf.key[:12] for leaf in leaves if leaf.key}, where=log.path)
    hashes = [leaf_hash(leaf.line) for leaf in leaves]
    paths = {number: [one.hex() for one in inclusion_proof(hashes, number - 1)] for number, _ in rows if proof}
    if as_json:
        shown = [_row(number, leaf, hashes, paths) for number, leaf in rows]
        echo_json({"size": len(leaves), "root": root_of(hashes).hex(), "leaves": shown})
        return
    shown_rows = rows if key is not None else rows[-_LAST:]
    echo_folded(
        [
            str(number),
            leaf.at,
            str(leaf.kind),
            leaf.verdict,
            leaf.key[:12] or leaf.plan[:12],
            leaf.scope,
            leaf.note,
        ]
        for number, leaf in shown_rows
    )
    for number, path in paths.items():
        click.echo(f"leaf {number}: {hashes[number - 1].hex()}")
        click.echo("".join(f"  {one}\n" for one in path), nl=False)
    click.echo(f"{counted(len(leaves), 'leaf', 'leaves')}, root {root_of(hashes).hex()}")


def _is_of(leaf: Leaf, key: str) -> bool:
    return leaf.key.startswith(key.lower())


def _row(number: int, leaf: Leaf, hashes: list[bytes], paths: dict[int, list[str]]) -> dict[str, object]:
    row: dict[str, object] = {name: value for name, value in asdict(leaf).items() if value}
    row |= {"leaf": number, "hash": hashes[number - 1].hex()}
    return row | ({"proof": paths[number]} if number in paths else {})
