"""`harness image sbom`, `provenance` and `outdated`: what images are made of, for others' tools."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from harness.base.errors import UsageError
from harness.base.few import few_in_line
from harness.base.files import write_atomic
from harness.base.layout import Layout, find_layout
from harness.base.plurals import counted
from harness.base.vocabulary import Accelerator
from harness.cli.names import IMAGE, Word
from harness.cli.options import NEW_FOLDER, OnceCommand, accelerator_option, echo_json, json_option
from harness.images.cards import environment_chain
from harness.materials.notices import record_notices
from harness.materials.provenance import provenance_of
from harness.materials.sbom import ENDINGS, Format, bill_of_materials
from harness.materials.updates import compare_with_archives
from harness.methods.card import method_names

_SECURITY_UPDATES = 1
# As many images as one line names.
_FEW = 6
_accelerator = accelerator_option("Which variant.")
_names = click.argument("names", type=IMAGE, nargs=-1)
_everything = click.option("--all", "everything", is_flag=True, help="Every method.")
_output = click.option("--output", type=NEW_FOLDER, help="A folder: a file for each NAME.")


@click.command("sbom", cls=OnceCommand, short_help="Write the bill of materials, as CycloneDX or SPDX.")
@_names
@_everything
@_accelerator
@click.option(
    "--format", "form", type=Word(["cyclonedx", "spdx"]), default="cyclonedx", show_default=True,
    help="CycloneDX 1.6 or SPDX 2.3, as JSON.",
)  # fmt: skip
@_output
@click.option("--record", is_flag=True, help="Record beside the locks what the fetched parts say of themselves.")
def sbom(
    names: tuple[str, ...],
    everything: bool,
    accelerator: Accelerator,
    form: Format,
    output: Path | None,
    record: bool,
) -> None:
    """Write the bill of materials of images: every package with version, sha256, purl and licence.

    It is made from the committed locks and notices: no engine, no network, the same bytes on every machine.
    """
    layout = find_layout()
    selection = _selection(layout, names, everything)
    if record and (output is not None or form != "cyclonedx" or accelerator != "cpu"):
        raise UsageError(
            "--record writes no bill, but notices of all parts beside the locks",
            todo="leave --output, --format and --accelerator out, or --record",
        )
    if record:
        for name in selection:
            path, count = record_notices(layout, name)
            click.echo(f"{name}: wrote {path}, notices of {counted(count, 'part')}")
        return
    _refuse_heap(selection, output)
    _tell_of_others(layout, selection, accelerator, "bill")
    for name in selection:
        text, components = bill_of_materials(layout, name, accelerator, form=form)
        unknown = sum(not component.licence for component in components)
        note = f"{name}: {counted(len(components), 'component')}, the licences of {unknown} are not known"
        _deliver(text, output, f"{name}{ENDINGS[form]}", note)


@click.command("provenance", cls=OnceCommand, short_help="Write SLSA provenance, as an in-toto statement.")
@_names
@_everything
@_accelerator
@_output
def provenance(names: tuple[str, ...], everything: bool, accelerator: Accelerator, output: Path | None) -> None:
    """Write the SLSA provenance of images: recipe, environments, locks and every part with its sha256."""
    layout = find_layout()
    selection = _selection(layout, names, everything)
    _refuse_heap(selection, output)
    _tell_of_others(layout, selection, accelerator, "statement")
    for name in selection:
        statement = provenance_of(layout, name, accelerator)
        text = json.dumps(statement, indent=1, sort_keys=True) + "\n"
        count = len(statement["predicate"]["buildDefinition"]["resolvedDependencies"])
        _deliver(text, output, f"{name}.intoto.json", f"{name}: {counted(count, 'dependency', 'dependencies')}")


@click.command("outdated", cls=OnceCommand, short_help="List locked Debian packages that an archive has newer.")
@_names
@_everything
@click.option(
    "--archive", "archives", multiple=True, required=True, metavar="URL-or-DIR",
    help="A Debian archive, the place that dists/ lies in; may be repeated, for security updates.",
)  # fmt: skip
@json_option
def outdated(names: tuple[str, ...], everything: bool, archives: tuple[str, ...], as_json: bool) -> int:
    """Compare locked Debian packages with the indices of an archive, and name those it has in a newer version.

    Exit code 0 when there is no security update among them, 1 when there is one, 4 when the archive can't be read.
    """
    layout = find_layout()
    comparison = compare_with_archives(layout, _selection(layout, names, everything), archives)
    if as_json:
        echo_json(asdict(comparison))
    else:
        for package in comparison.newer:
            mark = f"security {package.security}" if package.security else "newer"
            where = ", ".join(package.environments)
            click.echo(f"{package.name} {package.version} -> {package.newest}  {mark}  ({where})")
        for name in comparison.absent:
            click.echo(f"{name}  is in none of these suites")
        secure = sum(bool(package.security) for package in comparison.newer)
        click.echo(
            f"{counted(comparison.packages, 'locked package')} beside {', '.join(comparison.suites)}: "
            f"{len(comparison.newer)} are newer there, {secure} of them in a security suite; "
            f"{len(comparison.absent)} are not there"
        )
    return _SECURITY_UPDATES if any(package.security for package in comparison.newer) else 0


def _selection(layout: Layout, names: tuple[str, ...], everything: bool) -> list[str]:
    if bool(names) == everything:
        raise UsageError(
            "names are given beside --all" if names else "no image is named",
            todo="name methods or environments (`harness image list`), or give --all",
        )
    return method_names(layout) if everything else list(dict.fromkeys(names))


def _refuse_heap(selection: list[str], output: Path | None) -> None:
    if output is None and len(selection) > 1:
        raise UsageError(
            "several documents don't fit into one output", todo="name a folder for them: --output DIR"
        )


def _tell_of_others(layout: Layout, names: list[str], accelerator: Accelerator, document: str) -> None:
    """Say which images have no such variant: their documents are of the CPU's."""
    others = [
        name for name in names if not any(one.supports(accelerator) for one in environment_chain(layout, name))
    ]
    if accelerator == "cpu" or not others:
        return
    verb, rest = "has", f"the {document} is of the CPU image"
    if len(others) > 1:
        verb, rest = "have", f"the {document}s are of their CPU images"
    lack = f"no {accelerator.upper()} variant"
    click.echo(f"{few_in_line(others, _FEW)} {verb} {lack}: {rest}", err=True)


def _deliver(text: str, output: Path | None, file: str, note: str) -> None:
    """The text as a file, or alone on the standard output with the note beside it."""
    if output is None:
        # as bytes: UTF-8 whatever a terminal shows
        click.echo(text.encode(), nl=False)
        click.echo(note, err=True)
    else:
        write_atomic(output / file, text)
        click.echo(f"{note}: {output / file}")
