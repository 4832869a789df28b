"""`harness job`: the folder of one job, for a container that you start yourself."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from harness import api
from harness.base.errors import UsageError
from harness.cli.options import (
    OnceGroup,
    PlanArguments,
    echo_json,
    install_option,
    json_option,
    mirror_option,
    request_options,
    runtime_option,
)

_FOLDER = click.Path(path_type=Path)
_WIDTH = 100


@click.group(cls=OnceGroup)
def command() -> None:
    """Hold a container by hand: write what a job's container reads, start it yourself, check what it wrote."""


@command.command(short_help="Write the /in of a job, and print the command that runs it.")
@click.argument("names", nargs=-1, required=True, metavar="[KEY] DIR")
@request_options
@mirror_option
@install_option
@runtime_option
@json_option
def write(
    names: tuple[str, ...],
    request: PlanArguments,
    mirrors: tuple[Path, ...],
    install: bool,
    runtime: str | None,
    as_json: bool,
) -> None:
    """Write all that the container of one job needs into the new folder DIR, and print the command that starts it.

    \b
    harness job write 1503cd5e297e try                        the job of a run, made here or a reference result
    harness job write try --method bnnr --dataset hdvd --seed 1 --mirror DIR
    eval "$(harness job write 1503cd5e297e try)" && harness job check try

    The image is built first where it is not here. DIR/in is what a run of the job is given, in the same order: no
    test label is in it. The command alone is printed to standard output, its lines joined by backslashes.
    """
    if len(names) > 2:
        raise UsageError(f"{len(names)} names were given", where=" ".join(names), todo="give [KEY] DIR")
    key, folder = names if len(names) == 2 else (None, names[0])
    named = {name for name, value in request.items() if value}
    if request["accelerator"] == "cpu":
        named.discard("accelerator")
    if key is not None and named - {"upstream"}:
        raise UsageError(
            "a key says which job it is",
            where=f"harness job write {key}",
            todo="leave the key out, or the options",
        )
    if key is None and not (request["suite"] or request["methods"]):
        raise UsageError(
            "no job was named",
            where=f"harness job write {folder}",
            todo="name one by its KEY, or by --method and so on",
        )
    repository = api.open_repository(mirrors=mirrors, install=install, runtime=runtime)
    job = key if key is not None else api.plan(**request, repository=repository)
    written = api.write_job(job, folder, upstream=request["upstream"], repository=repository)
    if as_json:
        echo_json(
            {
                "key": written.note.planned.key,
                "folder": str(written.folder),
                "image": written.note.image.name,
                "image_id": written.note.image.image_id,
                "line": list(written.command),
                "remarks": list(written.remarks),
            }
        )
        return
    click.echo(f"{written.note.planned.job.label}: {written.folder}; this runs it:", err=True)
    click.echo(shell_text(written.command))
    for remark in written.remarks:
        click.echo(f"note: {remark}", err=True)
    click.echo(f"then: harness job check {shlex.quote(folder)}", err=True)


def shell_text(words: Sequence[str]) -> str:
    """The command as a shell reads it, in lines that fit a screen, joined by backslashes."""
    lines: list[str] = []
    for word in map(shlex.quote, words):
        if lines and len(lines[-1]) + len(word) < _WIDTH - 2:
            lines[-1] += f" {word}"
        else:
            lines.append(f"  {word}" if lines else word)
    return " \\\n".join(lines)


@command.command(short_help="Check what a container that you started wrote.")
@click.argument("folder", type=_FOLDER, metavar="DIR")
@mirror_option
@json_option
def check(folder: Path, mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Check the answer in DIR/out as that of a run is checked, and compare it with the run of the same key.

    Nothing is stored: an answer made by hand is never a result. Exit code 0 where it is an answer, and the same
    one bit for bit where there is such a run; else 1.
    """
    checked = api.check_job(folder, repository=api.open_repository(mirrors=mirrors))
    job = checked.answer.note.planned.job
    if as_json:
        answer = checked.answer
        echo_json({"key": checked.key, "fault": answer.fault, "files": dict(answer.files), "equal": checked.equal})
    elif checked.answer.fault:
        click.echo(f"{job.label}: no answer: {checked.answer.fault}")
    else:
        word = {
            None: f"no good run has its key: {checked.key[:12]}",
            True: f"equal bit for bit to run {checked.key[:12]}",
            False: f"another answer than that of run {checked.key[:12]}",
        }
        click.echo(f"{job.label}: a valid answer; {word[checked.equal]}")
        for name, digest in checked.answer.files.items():
            click.echo(f"  {name}  sha256 {digest}")
    return 0 if checked.is_good else 1
