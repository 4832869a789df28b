"""`harness predict`: rank the unknown pairs of a dataset with one method."""

from __future__ import annotations

from pathlib import Path

import click

from harness import api
from harness.base.errors import UsageError
from harness.base.files import write_atomic
from harness.cli.options import SEED, OnceCommand, OutputFile, install_option, mirror_option
from harness.cli.warnings import echo_warnings


@click.command(cls=OnceCommand)
@click.option("--method", required=True, help="A method (harness list).")
@click.option("--dataset", required=True, help="A dataset; docs/data.md tells how to bring your own.")
@click.option("--variant", default="published", show_default=True, help="A named way to run it.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="For methods that draw random numbers.")
@click.option("--top", type=click.IntRange(min=1), help="Only so many pairs.")
@click.option("--output", type=OutputFile(".csv"), help="A .csv file; else the terminal.")
@click.option(
    "--new",
    "items",
    type=(str, str, str),
    multiple=True,
    metavar="KIND NAME TEXT",
    help="A drug of your own and its SMILES, a target and its sequence; @FILE reads the text. May be repeated.",
)
@mirror_option
@install_option
def command(
    method: str,
    dataset: str,
    variant: str,
    seed: int,
    top: int | None,
    output: Path | None,
    items: tuple[tuple[str, str, str], ...],
    mirrors: tuple[Path, ...],
    install: bool,
) -> None:
    """Fit a method on all known pairs of a dataset and rank the unknown ones, best first.

    \b
    harness predict --method bnnr --dataset mine --top 100 --output ranking.csv
    harness predict --method deeppurpose --dataset davis --new drug mine "CC(=O)Oc1ccccc1C(=O)O"
    """
    repository = api.open_repository(mirrors=mirrors, install=install)
    new = [(kind, name, _text(text)) for kind, name, text in items]
    prediction = api.predict(method, dataset, variant=variant, seed=seed, top=top, new=new, repository=repository)
    echo_warnings(repository.store, prediction.key, err=True)
    if output is None:
        click.echo(prediction.ranking.to_csv(), nl=False)
    else:
        write_atomic(output, prediction.ranking.to_csv())
        rows = len(prediction.ranking.rows)
        click.echo(f"written: {output} ({rows} rows); evidence: harness audit {prediction.key[:12]}")


def _text(text: str) -> str:
    """The text itself, or that of a file: lines put together, without headers of FASTA."""
    if not text.startswith("@"):
        return text
    path = Path(text[1:])
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the file can't be read: {error}", where=f"--new: {path}", todo="name a text file"
        ) from None
    return "".join(line.strip() for line in lines if not line.startswith(">"))
