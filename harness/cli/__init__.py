"""The command line. Each command has a module of its own, which is imported only when it is used."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


def _say_interrupted(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What Python shows of an error that nobody took; of a Ctrl-C while modules load, that it was one."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("interrupted\n")
    else:
        sys.__excepthook__(kind, error, trace)


# Until `main` begins, nothing else can take a Ctrl-C: so this stands before imports that take a while.
sys.excepthook = _say_interrupted

# ruff: noqa: E402
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from harness import __version__
from harness.base.errors import EngineError, HarnessError, UsageError
from harness.base.interrupt import Interrupted, end_at_once_on_interrupt, end_on_interrupt
from harness.cli.documents.envelope import error_document, is_asked_for, json_text
from harness.cli.once import refuse_twice

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_TRACEBACK = "PERMAFROST_TRACEBACK"
# each names a folder, which need not be there yet
_FOLDERS = ("PERMAFROST_DATA", "PERMAFROST_RESULTS", "PERMAFROST_CACHE")

# In the order in which a person needs them. The text is repeated here so that --help imports nothing.
_COMMANDS = {
    "doctor": "Check engine, disk, memory, GPU, data and a tiny control run.",
    "list": "List methods, datasets, suites, metrics or findings.",
    "data": "List, get and verify datasets, or make one of your own.",
    "weights": "List, get and verify pretrained models.",
    "split": "List, make and verify standard split files.",
    "image": "Lock, fetch, build and verify frozen images.",
    "engine": "Keep a served engine running, for docker and podman.",
    "plan": "Show the cells of a suite and what they would need.",
    "run": "Run a suite, or one method on one split.",
    "stop": "Ask a campaign to end, from any machine.",
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
    "report": "Write the status page as one HTML file, or as a site.",
    "export": "Export results with all that they rest on, or verify such an export.",
    "predict": "Rank what is not known, or items of your own, by several methods.",
    "notebook": "Open a Jupyter kernel inside a method's frozen image, a job loaded.",
    "job": "Write the inputs of a job, for a container that you start yourself.",
    "new": "Make the skeleton of a new method, and check methods.",
    "clean": "Remove orphaned containers, temporary folders, caches.",
}


class LazyGroup(click.Group):
    """Finds a command's module by its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the command."""
        refuse_twice(ctx, self.make_parser(ctx).parse_args(args=[*args])[2])
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        # not list(): that name is the module of the command, once it is imported
        return [*_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        if ctx.resilient_parsing:
            # a key was pressed in a shell
            from harness.cli.completion import outlined

            return outlined(cmd_name, lambda: _command(cmd_name))
        return _command(cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands that begin so, none of them imported."""
        from click.shell_completion import CompletionItem

        known = [
            CompletionItem(name, help=text) for name, text in _COMMANDS.items() if name.startswith(incomplete)
        ]
        return [*known, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches

        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            meant = _inner_commands(args[0]) or get_close_matches(args[0], _COMMANDS, n=1)
            hint = " Did you mean " + " or ".join(f"'{one}'" for one in meant) + "?" if meant else ""
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS.items()])


def _inner_commands(name: str) -> list[str]:
    """Where a command of this name stands inside another one. All are imported, which a mistake may cost."""
    groups = [(outer, command) for outer in _COMMANDS if isinstance(command := _command(outer), click.Group)]
    return [f"{outer} {name}" for outer, command in groups if name in command.commands]


def _command(name: str) -> click.Command:
    command: click.Command = import_module(f"harness.cli.{name}").command
    return command


class _DataFolder(click.Path):
    """A folder; the empty name of a variable that is not set would be the current one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, absolute."""
        if not value:
            self.fail("no folder is named", param, ctx)
        return super().convert(value, param, ctx)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 all planned cells ok or not-applicable; 1 some are not, for whatever reason; 2 usage; "
    "3 engine; 4 data that the command itself needs are missing or corrupt; 5 audit failed; 130 interrupted. "
    "README.md leads to the page under docs/ that tells more.",
)
@click.version_option(__version__, prog_name="harness")
@click.option(
    "--data",
    type=_DataFolder(file_okay=False, resolve_path=True),
    help="Where your own datasets lie; for all commands: $PERMAFROST_DATA.  [~/.local/share/permafrost/datasets]",
)
@click.pass_context
def group(context: click.Context, data: str | None) -> None:
    """Re-run, compare and audit published predictors in frozen containers."""
    if data:
        context.with_resource(_data_in(data))


@contextmanager
def _data_in(folder: str) -> Iterator[None]:
    """The folder of own datasets, as if the environment named it."""
    from harness.base.layout import DATA_VARIABLE

    before = os.environ.get(DATA_VARIABLE)
    os.environ[DATA_VARIABLE] = folder
    try:
        yield
    finally:
        del os.environ[DATA_VARIABLE]
        if before is not None:
            os.environ[DATA_VARIABLE] = before


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: the one place where errors become messages and exit codes."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        end_on_interrupt()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                # a program reads UTF-8, whatever the terminal has
                encoding = "utf-8" if stream is sys.stdout and is_asked_for(arguments) else None
                # a terminal without Unicode shows "?" for a character that it lacks, and nothing fails
                stream.reconfigure(encoding=encoding, errors="replace")
        sys.exit(_run(arguments))
    except (KeyboardInterrupt, click.Abort):
        # also one that comes while another error is told
        end_at_once_on_interrupt(Interrupted.exit_code)
        _leave(arguments, Interrupted(_interruption(arguments)), Interrupted.exit_code)


def _run(arguments: list[str]) -> int:
    """The exit code of a command; an error becomes its message."""
    try:
        if arguments and not {"-h", "--help", "--version"}.intersection(arguments):
            _check_folders(arguments)
        colour = False if os.environ.get("NO_COLOR") else None
        code = group.main(args=arguments, prog_name="harness", standalone_mode=False, color=colour)
    except click.ClickException as error:
        if is_asked_for(arguments):
            _leave(arguments, _of_click(error), error.exit_code)
        error.show()
        sys.exit(error.exit_code)
    except HarnessError as error:
        _leave(arguments, error, error.exit_code)
    except click.Abort:
        raise  # an interrupt to click, and no fault of ours
    except OSError as error:
        _fail(
            arguments,
            f"the operating system says: {error.strerror or error}",
            where=", ".join(str(name) for name in (error.filename, error.filename2) if name) or _innermost(error),
            todo="look at rights and free space there; `harness doctor` examines the machine",
        )
    except MemoryError as error:
        _fail(
            arguments,
            ": ".join(filter(None, ["the memory of this machine does not suffice", str(error)])),
            where=_innermost(error),
            todo="ask for less at once, or take a machine with more; finished runs are kept",
        )
    except Exception as error:  # noqa: BLE001 the top-level boundary, the only one
        _fail(
            arguments,
            f"a fault of the harness itself: {type(error).__name__}: {error}",
            where=_innermost(error),
            todo=f"report it with what ${_TRACEBACK}=1 shows; finished runs are kept",
        )
    return code if isinstance(code, int) else 0


def _check_folders(arguments: list[str]) -> None:
    """Raise `UsageError` where a variable names no folder: files below it would fail one by one."""
    for variable in _FOLDERS:
        value = os.environ.get(variable)
        # the option comes before the variable
        if not value or (variable == "PERMAFROST_DATA" and _without_data(arguments) != arguments):
            continue
        path = Path(value).expanduser().absolute()
        there = next(one for one in (path, *path.parents) if os.path.lexists(one))
        if not there.is_dir():
            kind = "a file" if there.is_file() else "a pipe or a device" if there.exists() else "a broken link"
            raise UsageError(
                f"${variable} has to name a folder, and {kind} is there",
                where=str(there),
                todo=f"name a folder, which need not be there yet, or unset {variable}",
            )


def _fail(arguments: list[str], what: str, *, where: str, todo: str) -> NoReturn:
    """Exit with the message of an unexpected error, of the machine or of the harness."""
    if os.environ.get(_TRACEBACK):
        raise
    _leave(arguments, EngineError(what, where=where, todo=todo), EngineError.exit_code)


def _leave(arguments: list[str], error: HarnessError, code: int) -> NoReturn:
    """Exit with the message of an error: a JSON document on standard output where one is asked for."""
    if is_asked_for(arguments):
        try:
            click.echo(json_text(error_document(error, code, _words(arguments))))
            sys.exit(code)
        except OSError:
            pass  # nothing can be written there: the error may be just that, and a person is told
    label = "" if isinstance(error, Interrupted) else "error: "
    click.echo(f"{label}{error}", err=True)
    sys.exit(code)


def _words(arguments: list[str]) -> str:
    """The words of the command that these arguments name, as far as it was loaded when it failed."""
    arguments = _without_data(arguments)
    if not arguments or arguments[0] not in _COMMANDS:
        return ""
    command = getattr(sys.modules.get(f"{__name__}.{arguments[0]}"), "command", None)
    members = command.commands if isinstance(command, click.Group) else {}
    return " ".join([arguments[0], *(word for word in arguments[1:2] if word in members)])


def _without_data(arguments: list[str]) -> list[str]:
    """The command and what stands behind it."""
    if arguments and arguments[0].startswith("--data="):
        return arguments[1:]
    return arguments[2:] if arguments[:1] == ["--data"] else arguments


def _of_click(error: click.ClickException) -> HarnessError:
    """A wrong command line, as our own errors tell it."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "harness"
    return UsageError(error.format_message(), where=path, todo=f"{path} --help")


def _interruption(arguments: list[str]) -> str:
    resumes = _without_data(arguments)[:1] == ["run"]
    return "interrupted: finished runs are kept; the same command resumes" if resumes else "interrupted"


def _innermost(error: BaseException) -> str:
    """Where the error was raised: what is printed, or a module and a line of the harness."""
    place, trace = "", error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == "harness":
            place = f"{module}, line {trace.tb_lineno}"
        elif module == "click.utils" and trace.tb_frame.f_code.co_name == "echo":
            place = "what this command prints"
        trace = trace.tb_next
    return place
