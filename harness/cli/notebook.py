"""`harness notebook`: a Jupyter kernel inside a method's frozen image, with a job loaded."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.base.errors import UsageError
from harness.base.heartbeat import silence
from harness.base.layout import Layout, find_layout
from harness.base.progress import progress_for
from harness.cli.names import DATASET, METHOD, SPLIT, VARIANT
from harness.cli.options import (
    FILE,
    SEED,
    OnceCommand,
    benchmark_options,
    echo_json,
    install_option,
    json_option,
    mirror_option,
    parse_settings,
)
from harness.data import DatasetManifest, load_manifest, manifest_names
from harness.engine import Engine, find_engine
from harness.images.fetch import Supply, few_notes
from harness.methods.card import MethodCard, load_method
from harness.planning.jobs import PlannedJob, make_job
from harness.splits.spec import parse_split

if TYPE_CHECKING:
    from harness.notebook import Connection, NotebookImage, Opened

_TRY = {
    "octave": "answer = fit_predict (problem);",
    "python": "answer = fit_predict(problem)",
    "r": "%R answer <- fit_predict(problem)",
}


@click.command(cls=OnceCommand)
@click.argument("method", type=METHOD)
@click.option("--dataset", type=DATASET, help="A dataset; without it, one that lies in the repository.")
@click.option("--split", type=SPLIT, default="random", show_default=True, help="A split strategy.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="A seed of the split.")
@click.option(
    "--variant", type=VARIANT, default="published", show_default=True, help="A named way to run the method."
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value for a parameter.")
@benchmark_options
@mirror_option
@click.option(
    "--register", "register_only", is_flag=True, help="Only tell JupyterLab and other clients here of this kernel."
)
@click.option(
    "--connection-file",
    type=FILE,
    help="One that a client has written; this is what a registered kernel is started with.",
)
@install_option
@json_option
def command(
    method: str,
    dataset: str | None,
    split: str,
    seed: int,
    variant: str,
    settings: tuple[str, ...],
    options: dict[str, int],
    mirrors: tuple[Path, ...],
    register_only: bool,
    connection_file: Path | None,
    install: bool,
    as_json: bool,
) -> int:
    """Open a Jupyter kernel inside a method's frozen image, with a job's inputs loaded as a run gets them.

    \b
    harness notebook bnnr                                   then: jupyter console --existing FILE
    harness notebook lrssl --dataset hdvd --seed 17263407 --mirror DIR
    harness notebook bnnr --register                        a kernel of JupyterLab, VS Code, ...

    What is computed in a notebook is never stored as a run. It lasts until Ctrl-C, or
    until a client shuts it down.
    """
    from harness.notebook import new_connection, pin, read_connection, register

    layout = find_layout()
    card = load_method(layout, method)
    if card.language not in _TRY:
        raise UsageError(
            f"there is no notebook for methods in {card.language}: Debian has no kernel for it",
            where=f"harness notebook {method}",
            todo="start its container by hand (docs/by-hand.md), or run it with `harness run`",
        )
    parameters = parse_settings(settings)
    manifest = load_manifest(layout, dataset) if dataset else _own_dataset(layout, card)
    job = make_job(card, manifest, parse_split(split, seed), variant=variant, chosen=parameters, options=options)
    planned = pin(layout, job, mirrors)
    if register_only:
        arguments = [method, f"--dataset={manifest.name}", f"--split={split}", f"--seed={seed}"]
        arguments += [f"--variant={variant}"]
        arguments += [f"--{name.replace('_', '-')}={value}" for name, value in job.options.items()]
        arguments += [f"--set={text}" for text in settings]
        arguments += [f"--mirror={folder.resolve()}" for folder in mirrors]
        folder = register(job, f"{card.title} on {manifest.name}", card.language, arguments)
        if as_json:
            echo_json({"registered": str(folder)})
        else:
            click.echo(f"registered: {folder}")
        return 0
    connection = read_connection(connection_file) if connection_file else new_connection()
    with find_engine(layout, install=install) as engine:
        image = _image(engine, layout, method, mirrors)
        # Ctrl-C is the ordinary way to end it
        with suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(_serve(engine, layout, planned, image, connection, mirrors, as_json=as_json))
    click.echo("the kernel has ended and its container is removed", err=as_json)
    return 0


def _own_dataset(layout: Layout, card: MethodCard) -> DatasetManifest:
    """A dataset of the method's benchmark whose files are all in the repository."""
    manifests = (load_manifest(layout, name) for name in manifest_names(layout))
    of_benchmark = (
        one for one in manifests if one.benchmark in card.benchmarks and not (one.bring or one.extends)
    )
    manifest = next((one for one in of_benchmark if one.files == one.own_files), None)
    if manifest is None:
        raise UsageError(
            f"no dataset of benchmark {' or '.join(card.benchmarks)} lies in the repository itself",
            where=f"harness notebook {card.name}",
            todo="name one with --dataset (harness list datasets)",
        )
    return manifest


def _image(engine: Engine, layout: Layout, method: str, mirrors: tuple[Path, ...]) -> NotebookImage:
    from harness.notebook import ensure_notebook_image

    with progress_for() as progress:
        supply = Supply(mirrors, progress=few_notes(progress))
        return ensure_notebook_image(engine, layout, method, supply=supply)


async def _serve(
    engine: Engine,
    layout: Layout,
    planned: PlannedJob,
    image: NotebookImage,
    connection: Connection,
    mirrors: tuple[Path, ...],
    *,
    as_json: bool,
) -> None:
    from harness.notebook import last_words, open_kernel

    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    began = time.monotonic()
    async with open_kernel(engine, layout, planned, image, connection, mirrors=mirrors) as kernel:
        if as_json:
            # while it listens, so that a program can connect
            echo_json({"key": planned.key, "label": planned.job.label, "connection_file": str(kernel.file)})
        else:
            click.echo(_instructions(planned, image, kernel, time.monotonic() - began))
        with silence():
            await asyncio.wait([kernel.ended])
        if words := last_words(kernel.log):
            click.echo(f"the kernel's last words:\n{words}", err=True)


def _instructions(planned: PlannedJob, image: NotebookImage, kernel: Opened, seconds: float) -> str:
    """What runs in the kernel, and how to connect to it."""
    job, below = planned.job, image.method
    return "\n".join(
        [
            f"{job.label}: the kernel listens after {seconds:.1f} s",
            f"  job key      {planned.key}",
            f"  image        {below.name}, environment tree {below.environment_tree[:16]}, "
            f"code tree {below.code_tree[:16]}",
            f"  on top of it {image.added}, in {image.name}",
            f"  loaded       problem (what the first model may know), fit_predict; try: {_TRY[image.language]}",
            "  network      none; nothing computed here is stored or counted as a run",
            f"  connect      jupyter console --existing {kernel.file}",
            "  end          Ctrl-C here, or shut the kernel down from the client",
        ]
    )
