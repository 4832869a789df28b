"""The command line. Each command has a module of its own, which is imported only when it is used."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn

import click

from harness import __version__
from harness.base.errors import EngineError, HarnessError

_TRACEBACK = "PERMAFROST_TRACEBACK"

# In the order in which a person needs them. The text is repeated here so that --help imports nothing.
_COMMANDS = {
    "doctor": "Check engine, disk, memory, GPU, data and a tiny control run.",
    "list": "List methods, datasets, suites and metrics.",
    "data": "List, get and verify datasets.",
    "weights": "List, get and verify pretrained models.",
    "split": "List, make and verify standard split files.",
    "image": "Lock, fetch, build and verify frozen images.",
    "plan": "Show the cells of a suite and what they would need.",
    "run": "Run a suite, or one method on one split.",
    "store": "Merge the runs of other machines into those of this one.",
    "score": "Compute scores from stored predictions.",
    "show": "Show all that is known of one run, by its key.",
    "diff": "Show what differs between two runs.",
    "forget": "Remove runs of this machine.",
    "status": "Show the planned matrix, a verdict in every cell.",
    "table": "Put methods beside each other, with tests, as a paper prints them.",
    "compare": "Put published numbers beside ours, each with a verdict.",
    "study": "Make the tables and figures of a paper again.",
    "reference": "List the committed reference results, or add to them.",
    "parity": "Run golden cases through a method's own container.",
    "audit": "Answer: why should I believe this cell?",
    "attest": "Say what the results are, in a statement that you can sign.",
    "log": "Show what happened to results, in order.",
    "report": "Write the status page as one self-contained HTML file.",
    "export": "Export results with their evidence as a Workflow Run RO-Crate.",
    "predict": "Run one method on your own data.",
    "notebook": "Open a Jupyter kernel inside a method's frozen image, a job loaded.",
    "new": "Make the skeleton of a new method.",
    "clean": "Remove orphaned containers, temporary folders, caches.",
}


class LazyGroup(click.Group):
    """Finds a command's module by its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"harness.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches

        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], _COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"There is no command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 all planned cells ok or not-applicable; 1 some are not, for whatever reason; 2 usage; "
    "3 engine; 4 data that the command itself needs are missing or corrupt; 5 audit failed; 130 interrupted. The "
    "pages under docs/ tell the rest, README.md which one.",
)
@click.version_option(__version__, prog_name="harness")
def group() -> None:
    """Re-run, compare and audit published predictors in frozen containers."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: the one place where errors become messages and exit codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # a terminal without Unicode shows "?" for a character that it lacks, and nothing fails
            stream.reconfigure(errors="replace")
    try:
        colour = False if os.environ.get("NO_COLOR") else None
        code = group.main(args=arguments, prog_name="harness", standalone_mode=False, color=colour)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except HarnessError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted: finished runs are kept; the same command resumes", err=True)
        sys.exit(130)
    except OSError as error:
        _fail(
            f"this machine refused: {error.strerror or error}",
            where=", ".join(str(name) for name in (error.filename, error.filename2) if name) or _innermost(error),
            todo="look at rights and free space there; `harness doctor` examines the machine",
        )
    except Exception as error:  # noqa: BLE001 the top-level boundary, the only one
        _fail(
            f"a fault of the harness itself: {type(error).__name__}: {error}",
            where=_innermost(error),
            todo=f"report it with what ${_TRACEBACK}=1 shows; finished runs are kept",
        )
    sys.exit(code if isinstance(code, int) else 0)


def _fail(what: str, *, where: str, todo: str) -> NoReturn:
    """Exit with the message of an unexpected error, of the machine or of the harness."""
    if os.environ.get(_TRACEBACK):
        raise
    click.echo(f"error: {EngineError(what, where=where, todo=todo)}", err=True)
    sys.exit(EngineError.exit_code)


def _innermost(error: BaseException) -> str:
    """Module and line of the harness in which the error was raised."""
    place, trace = "", error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == "harness":
            place = f"{module}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
