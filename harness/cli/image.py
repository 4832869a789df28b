"""`harness image`: environments locked, fetched, built with the network off, verified, kept for later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness.base.errors import EngineError, UsageError
from harness.base.layout import Layout, find_layout
from harness.base.plurals import counted
from harness.base.progress import Progress, progress_for
from harness.base.tables import aligned
from harness.base.vocabulary import Accelerator
from harness.cli.materials import outdated, provenance, sbom
from harness.cli.names import IMAGE
from harness.cli.options import FILE, FOLDER, NEW_FOLDER, OnceGroup, accelerator_option, echo_json, json_option
from harness.cli.output import echo_folded
from harness.engine import find_engine
from harness.images.build import ensure_environment, ensure_image, record_environment
from harness.images.cards import environment_chain, load_environment
from harness.images.fetch import Progress as PartProgress
from harness.images.fetch import Supply, export_parts
from harness.images.handover import hand_over
from harness.images.identity import is_method
from harness.images.lock import lock_environment
from harness.images.locks import Part
from harness.images.parts import missing_parts
from harness.images.preparation import needed_parts, overview
from harness.images.transport import load_images, save_images
from harness.images.verify import verify_images
from harness.methods.card import method_names


def _names(command: Callable[..., Any]) -> Callable[..., Any]:
    """NAMES of methods or environments; none, or --all, means every method."""
    command = click.option("--all", "everything", is_flag=True, help="Every method (the default).")(command)
    return click.argument("names", type=IMAGE, nargs=-1)(command)


_accelerator = accelerator_option("Which variant.")
_mirrors = click.option(
    "--mirror",
    "mirrors",
    multiple=True,
    type=FOLDER,
    help="A folder with parts (made by `harness image export`, or an archive's own layout); may be repeated.",
)


@click.group(cls=OnceGroup)
def command() -> None:
    """Lock, fetch, build and verify frozen images.

    A NAME is a method (its environment with its code) or an environment under containers/.
    """


@command.command("list", short_help="List what is recorded, and what was built here.")
@json_option
def list_images(as_json: bool) -> None:
    """What is recorded of every environment and method, and what was built here."""
    rows = overview(find_layout())
    if as_json:
        echo_json(rows)
        return
    lines = [["name", "kind", "for", "on top of", "tree", "MB", "own MB", "built here"]]
    for row in rows:
        builds = "; ".join(
            f"{b['engine']} {b['size_bytes'] / 1e6:.0f} MB"
            + (f" in {b['built_seconds']:.1f} s" if b["built_seconds"] else "")
            for b in row["built"]
        )
        sizes = [f"{row[name] / 1e6:6.0f}" for name in ("bytes", "added_bytes")]
        tree, parent = row["tree"][:16] or "-", row["extends"] or "-"
        lines.append([row["name"], row["kind"], row["variant"], parent, tree, *sizes, builds or row["why"] or "-"])
    echo_folded(lines)


@command.command(short_help="Lock what was asked for: exact versions and sha256.")
@click.argument("names", type=IMAGE, nargs=-1, required=True)
@_mirrors
@json_option
def lock(names: tuple[str, ...], mirrors: tuple[Path, ...], as_json: bool) -> None:
    """Turn what was asked for into exact versions and sha256; fetches what parents hold."""
    layout, rows = find_layout(), list[dict[str, Any]]()
    for name in names:
        parent = environment_chain(layout, name)[-1].card.extends
        if parent is not None:
            Supply(mirrors).fetch(layout, needed_parts(layout, [parent]))
        paths = lock_environment(
            layout,
            name,
            say=lambda line, name=name: click.echo(f"{name}: {line}", err=as_json),  # type: ignore[misc]
        )
        rows.append({"name": name, "locks": [str(path) for path in paths]})
        if not as_json:
            for path in paths:
                click.echo(f"{name}: wrote {path}")
            done = f"now run `harness image build {name} --record`" if paths else "nothing in it is locked"
            click.echo(f"{name}: {done}")
    if as_json:
        echo_json(rows)


@command.command(short_help="Fill the cache; the only step that needs a network.")
@_names
@_accelerator
@_mirrors
@click.option("--dry-run", is_flag=True, help="Fetch nothing: list what is not here, to look for it elsewhere.")
@json_option
def fetch(
    names: tuple[str, ...],
    everything: bool,
    accelerator: Accelerator,
    mirrors: tuple[Path, ...],
    dry_run: bool,
    as_json: bool,
) -> None:
    """Fill the cache with every file the images are built from, each checked against its lock."""
    if dry_run and mirrors:
        raise click.UsageError("--dry-run looks into no mirror, only into what was fetched: leave --mirror out")
    layout = find_layout()
    parts = needed_parts(layout, _selection(layout, names, everything), accelerator)
    if dry_run:
        _show_missing(layout, len(parts), missing_parts(layout, parts), as_json=as_json)
        return
    with _fetch_progress(as_json) as (_, report):
        count = Supply(mirrors, progress=report).fetch(layout, parts)
    if as_json:
        echo_json({"folder": str(layout.parts), "parts": len(parts), "new": count})
        return
    click.echo(f"parts that are here, as locked: {len(parts)}, of them fetched now: {count}; {layout.parts}")


def _show_missing(layout: Layout, needed: int, missing: Sequence[Part], *, as_json: bool) -> None:
    """Each file that is not here, with all by which it can be found and known."""
    if as_json:
        rows = [asdict(part) for part in missing]
        echo_json({"folder": str(layout.parts), "parts": needed, "new": 0, "missing": rows})
        return
    if missing:
        lines = [["kind", "bytes", "sha256", "where an archive keeps it"]]
        # only the last column is of any length
        lines += [[part.kind, f"{part.size or '?':>10}", part.sha256, part.path] for part in missing]
        click.echo("\n".join(aligned(lines)))
    click.echo(f"not here: {len(missing)} of {counted(needed, 'part')}; {layout.parts}")


@command.command(short_help="Build what is missing, with the network off.")
@_names
@_accelerator
@_mirrors
@click.option("--offline", is_flag=True, help="Use only what is here and --mirror.")
@click.option("--record", is_flag=True, help="Write down what the locks give now, instead of comparing with it.")
@json_option
def build(
    names: tuple[str, ...],
    everything: bool,
    accelerator: Accelerator,
    mirrors: tuple[Path, ...],
    offline: bool,
    record: bool,
    as_json: bool,
) -> None:
    """Build what is missing, with the network off, and compare it with the recorded trees."""
    layout, rows = find_layout(), list[dict[str, Any]]()
    # before an engine is started, and before other builds are waited for
    selection = _selection(layout, names, everything)
    with find_engine(layout) as engine, _fetch_progress(as_json) as (_, report):
        supply = Supply(
            mirrors=mirrors,
            network=not offline,
            progress=report,
            announce=lambda what: click.echo(what, err=True),
        )
        for name in selection:
            if record:
                environment = record_environment(engine, layout, name, accelerator, supply=supply)
                recorded = f"{name}: recorded tree {environment.tree[:16]}, {environment.bytes / 1e6:.0f} MB"
                click.echo(recorded, err=as_json)
            ensure = ensure_image if is_method(layout, name) else ensure_environment
            image = ensure(engine, layout, name, accelerator, supply=supply)
            size, seconds = f"{image.size_bytes / 1e6:.0f} MB", f"built in {image.built_seconds:.1f} s"
            rows.append(image.model_dump(mode="json"))
            if not as_json:
                click.echo(f"{image.name}  {size}  {seconds}  {image.image_id}")
    if as_json:
        echo_json(rows)


@command.command(short_help="Prove that images are what the repository says.")
@_names
@_accelerator
@_mirrors
@click.option("--rebuild", is_flag=True, help="Also build everything a second time and compare.")
@json_option
def verify(
    names: tuple[str, ...],
    everything: bool,
    accelerator: Accelerator,
    mirrors: tuple[Path, ...],
    rebuild: bool,
    as_json: bool,
) -> int:
    """Prove that images are what the repository says; exit code 3 if one is not."""
    layout = find_layout()
    findings, selection = [], _selection(layout, names, everything)
    with find_engine(layout) as engine:
        supply = Supply(mirrors=mirrors)
        for finding in verify_images(engine, layout, selection, accelerator, rebuild=rebuild, supply=supply):
            findings.append(finding)
            if not as_json:
                mark = "FAULT" if finding.fault else "ok"
                text = finding.fault or finding.detail
                click.echo(f"{mark:5}  {finding.image:12} {finding.check:17} {finding.seconds:5.1f} s  {text}")
    if as_json:
        echo_json([finding.as_json() for finding in findings])
    return EngineError.exit_code if any(finding.fault for finding in findings) else 0


@command.command(short_help="Keep every part, for use as --mirror.")
@click.argument("folder", type=NEW_FOLDER)
@click.argument("names", type=IMAGE, nargs=-1)
@_accelerator
@click.option(
    "--images", "with_images", is_flag=True, help="Also the images of methods, for machines that build none."
)
@json_option
def export(
    folder: Path, names: tuple[str, ...], accelerator: Accelerator, with_images: bool, as_json: bool
) -> None:
    """Copy every part into FOLDER, which then serves as --mirror when no archive has them any more.

    Whoever is given that mirror takes images from it too, each verified by its tree, before building any.
    """
    layout = find_layout()
    selection = _selection(layout, names, everything=not names)
    parts = needed_parts(layout, selection, accelerator)
    count = export_parts(layout, parts, folder)
    images = list[Path]()
    if with_images:
        methods = [name for name in selection if is_method(layout, name)]
        with find_engine(layout) as engine:
            images = hand_over(engine, layout, methods, folder, accelerator)
    if as_json:
        answer = {"folder": str(folder), "parts": len(parts), "new": count, "images": [str(one) for one in images]}
        echo_json(answer)
        return
    click.echo(f"parts in {folder}: {len(parts)}, of them new: {count}")
    for image in images:
        click.echo(f"{image}  {image.stat().st_size / 1e6:.0f} MB")


@command.command(short_help="Write images into one file.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("names", nargs=-1, type=IMAGE, required=True)
@_accelerator
@_mirrors
@json_option
def save(
    file: Path, names: tuple[str, ...], accelerator: Accelerator, mirrors: tuple[Path, ...], as_json: bool
) -> None:
    """Write the images of NAMES into one new FILE for `harness image load`; `docker load` takes it too."""
    layout = find_layout()
    selection = _selection(layout, names, everything=False)
    with find_engine(layout) as engine:
        saved = save_images(engine, layout, selection, file, accelerator, supply=Supply(mirrors))
    if as_json:
        echo_json({"file": str(file), "bytes": file.stat().st_size, **saved.model_dump(mode="json")})
        return
    for one in saved.images:
        click.echo(
            f"{one.image}  environment tree {one.environment_tree[:16]}, code tree {one.code_tree[:16] or '-'}"
        )
    click.echo(f"{file}: {file.stat().st_size / 1e6:.0f} MB")


@command.command(short_help="Take images from a file, each verified by its tree.")
@click.argument("file", type=FILE)
@json_option
def load(file: Path, as_json: bool) -> None:
    """Load the images of FILE, and read each back whole: its tree must be the one that this repository asks for.

    Else all of them are refused, and nothing of the file stays (exit code 3). No network is needed.
    """
    layout = find_layout()
    with find_engine(layout) as engine:
        images = load_images(engine, layout, file)
    if as_json:
        echo_json([image.model_dump(mode="json") for image in images])
        return
    for image in images:
        click.echo(f"{image.name}  verified  {image.image_id}")


for part in (sbom, provenance, outdated):
    command.add_command(part)


def _selection(layout: Layout, names: tuple[str, ...], everything: bool) -> list[str]:
    """The names, each of an image that there is; all methods where none is named."""
    if names and everything:
        raise UsageError("images are named beside --all", where=", ".join(names), todo="give one of the two")
    for name in names:
        load_environment(layout, name)
    return list(names) or method_names(layout)


@contextmanager
def _fetch_progress(as_json: bool) -> Iterator[tuple[Progress, PartProgress]]:
    """The progress of fetching, and the function that reports one file."""
    with progress_for(None if as_json else "auto") as progress:

        def report(done: int, total: int, part: Any) -> None:
            if done == 1:
                progress.begin("fetching parts", total)
            progress.step(part.file)

        yield progress, report
