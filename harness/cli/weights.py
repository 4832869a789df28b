"""`harness weights`: list pretrained models, bring them, and prove that they are unchanged."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from harness.base.errors import UsageError
from harness.base.layout import find_layout
from harness.base.vocabulary import Accelerator
from harness.cli.names import WEIGHTS
from harness.cli.options import (
    FILE,
    FOLDER,
    OnceGroup,
    accelerator_option,
    echo_json,
    install_option,
    json_option,
    mirror_option,
    parse_settings,
)
from harness.cli.output import echo_folded
from harness.engine import find_engine
from harness.execution.adaptation import adapt_weights
from harness.methods.weights import KeptWeights, are_here, bring_weights, kept_weights, load_weights, weights_names


@click.group(cls=OnceGroup)
def command() -> None:
    """List, get and verify the weights of pretrained models."""


@command.command("list", short_help="List what there is, and what is here.")
@json_option
def list_weights(as_json: bool) -> None:
    """List the methods that read a pretrained model, and whether it is here."""
    layout = find_layout()
    rows = []
    for name in weights_names(layout):
        manifest = load_weights(layout, name)
        how = "to be made: `harness weights adapt" if manifest.program else "to be brought: `harness weights get"
        state = f"{how} {name}`"
        if are_here(layout, name):
            state = f"here, {kept_weights(layout, name).digest[:16]}"
        rows.append({"method": name, "state": state, **manifest.model_dump()})
    if as_json:
        echo_json(rows)
        return
    echo_folded([row[name] for name in ("method", "title", "size", "licence", "state")] for row in rows)


@command.command("get", short_help="Find or download, and record.")
@click.argument("method", type=WEIGHTS)
@click.option("--from", "folder", type=FOLDER, help="A folder that holds the files.")
@mirror_option
@json_option
def get_weights(method: str, folder: Path | None, mirrors: tuple[Path, ...], as_json: bool) -> None:
    """Bring the weights of METHOD. Checksums that its weights.toml does not give are recorded now."""
    weights = bring_weights(
        find_layout(), method, given=folder, mirrors=mirrors, say=partial(click.echo, err=as_json)
    )
    _show(method, weights, as_json=as_json)


@command.command("adapt", short_help="Pretrain further, on your own texts.")
@click.argument("name", type=WEIGHTS, metavar="METHOD:NAME")
@click.option("--corpus", required=True, type=FILE, help="UTF-8, one text per line.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the program.")
@accelerator_option("What it computes on.")
@mirror_option
@install_option
@json_option
def adapt(
    name: str,
    corpus: Path,
    settings: tuple[str, ...],
    accelerator: Accelerator,
    mirrors: tuple[Path, ...],
    install: bool,
    as_json: bool,
) -> None:
    """Make the model METHOD:NAME of METHOD's own and a corpus, in the method's image. Settings: docs/combos.md.

    \b
    harness weights adapt pure_scibert:dapt --corpus abstracts.txt --accelerator cuda
    """
    layout = find_layout()
    values = {name: _number(name, value) for name, value in parse_settings(settings).items()}
    with find_engine(layout, install=install) as engine:
        say = partial(click.echo, err=as_json)
        weights = adapt_weights(
            engine, layout, name, corpus, values, accelerator=accelerator, mirrors=mirrors, say=say
        )
    _show(name, weights, as_json=as_json)


def _show(name: str, weights: KeptWeights, *, as_json: bool) -> None:
    """Print the digest of weights that are here now."""
    if as_json:
        echo_json({"method": name, "title": weights.manifest.title, "digest": weights.digest})
    else:
        click.echo(f"{weights.manifest.title}: {weights.digest}")


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(
            f"the value of {name} is no number", where="--set", todo="write for example --set epochs=3"
        )
    return float(value)


@command.command("verify", short_help="Check what is here.")
@json_option
def verify_weights(as_json: bool) -> None:
    """Read all weights that are here, and compare them with what was recorded."""
    layout = find_layout()
    rows = []
    for name in weights_names(layout):
        here = are_here(layout, name)
        if here:
            kept_weights(layout, name).verify()
        rows.append({"method": name, "verdict": "ok" if here else "not here"})
        if not as_json:
            click.echo(f"{name}: {rows[-1]['verdict']}")
    if as_json:
        echo_json(rows)
