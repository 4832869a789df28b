"""`harness show`: all that is known of one run, or what its container printed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness import api
from harness.base.errors import CorruptData
from harness.cli.names import KEY
from harness.cli.options import OnceCommand, echo_json, json_option, mirror_option


@click.command(cls=OnceCommand)
@click.argument("key", type=KEY)
@click.option("--log", "with_log", is_flag=True, help="What its container printed, in place of all else.")
@click.option("--lines", type=click.IntRange(min=1), help="With --log: only so many lines of its end.")
@mirror_option
@json_option
def command(key: str, with_log: bool, lines: int | None, mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Show a run: job, verdict, image, inputs, scores beside published numbers, files.

    \b
    harness show 3d02f8dae5f6
    harness show 3d02f8dae5f6 --log --lines 20

    KEY is a job key or its beginning, of a run of this machine or of a reference result. Reference results keep no
    log: exit code 4, as where a log is not the one that was recorded.
    """
    repository = api.open_repository(mirrors=mirrors)
    if lines is not None and not with_log:
        raise click.UsageError("--lines needs --log")
    if with_log:
        return _show_log(repository, key, lines, as_json=as_json)
    page = api.show(key, repository=repository)
    if as_json:
        echo_json(page)
        return 0
    from harness.handles import page_text

    click.echo(page_text(page), nl=False)
    return 0


def _show_log(repository: api.Repository, key: str, lines: int | None, *, as_json: bool) -> int:
    from harness.handles import find_handle
    from harness.results.records import LOG_FILE

    handle = find_handle(repository.layout, repository.store, key)
    content = handle.log(repository.layout)
    shown = content if lines is None else b"".join(content.splitlines(keepends=True)[-lines:])
    recorded = handle.has_recorded(content)
    if as_json:
        text = shown.decode(errors="replace")
        echo_json({"key": handle.key, "bytes": len(content), "log": text, "recorded": recorded})
        return 0 if recorded else CorruptData.exit_code
    # the very bytes for a file or a pipe; what would control a terminal is spelt out on one
    click.echo(_harmless(shown) if sys.stdout.isatty() else shown, nl=False)
    if not content:
        click.echo("the log is empty", err=True)
    if not recorded:
        raise CorruptData(
            "this log is not the one that was recorded",
            where=f"{handle.where}/{LOG_FILE}",
            todo=f"harness audit {handle.key[:12]} tells more",
        )
    return 0


def _harmless(content: bytes) -> str:
    from harness.base.foreign_text import printable

    return "".join(f"{printable(line)}\n" for line in content.decode(errors="replace").splitlines())
