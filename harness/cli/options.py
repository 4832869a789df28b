"""Options that several commands have, and what they share to read them and to print JSON."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypedDict

import click

from harness import benchmarks
from harness.base.heartbeat import heartbeat
from harness.base.settings import parse_settings as read_settings
from harness.base.vocabulary import Accelerator
from harness.cli.documents.envelope import document, json_text
from harness.cli.names import BENCHMARK, DATASET, METHOD, SPLIT, SUITE, VARIANT, Name, Word
from harness.cli.once import refuse_twice

Command = Callable[..., Any]

# The seeds that numpy's legacy generator accepts: it draws every split.
SEED = click.IntRange(min=0, max=2**32 - 1)
# What is there already; and a folder that is made where it is not.
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)


_FORMS = ("--json", "--markdown")


class OnceCommand(click.Command):
    """A command that refuses what it would ignore: of two values for one option the first, of two forms one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, after a check how often each option occurs, and whether a name lacks its option."""
        _, left, occurring = self.make_parser(ctx).parse_args(args=list(args))
        if left and not ctx.resilient_parsing and (meant := self._options_of(left)):
            raise click.UsageError(f"Got unexpected extra argument ({left[0]}). Did you mean {meant}?", ctx)
        refuse_twice(ctx, occurring)
        flags = {option.opts[0] for option in occurring if isinstance(option, click.Option)}
        if flags.issuperset(_FORMS) and not ctx.resilient_parsing:
            raise click.UsageError(f"{' and '.join(_FORMS)} exclude each other", ctx)
        return super().parse_args(ctx, args)

    def _options_of(self, words: list[str]) -> str:
        """The options that were left out before these words, which name a method, a dataset and the like."""
        types = {one.opts[0]: one.type for one in self.params if isinstance(one, click.Option)}
        kinds = {option: kind for option, kind in types.items() if isinstance(kind, Name)}
        named = ([option for option, kind in kinds.items() if kind.knows(word)] for word in words)
        return " ".join(f"{options[0]} {word}" for options, word in zip(named, words, strict=True) if options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with a sign of life at least every ten seconds."""
        with heartbeat(ctx.command_path):
            return super().invoke(ctx)


class OnceGroup(click.Group):
    """A group whose commands are `OnceCommand`s."""

    command_class = OnceCommand


# $PERMAFROST_MIRROR names more folders, separated by colons.
mirror_option = click.option(
    "--mirror",
    "mirrors",
    multiple=True,
    type=FOLDER,
    envvar="PERMAFROST_MIRROR",
    show_envvar=True,
    help="A folder with original data files, laid out by URL; may be repeated.",
)
reference_option = click.option(
    "--reference", is_flag=True, help="Where nothing was run on this machine, show the committed results."
)
published_seeds_option = click.option(
    "--published-seeds",
    type=click.IntRange(min=1, max=100),
    metavar="N",
    help="The first N of the 100 published seeds, in place of a suite's own number of them.",
)
runtime_option = click.option(
    "--runtime",
    metavar="NAME",
    help="Start containers with this runtime of the engine (runsc); for all commands: $PERMAFROST_RUNTIME.",
)
on_option = click.option(
    "--on",
    metavar="ENGINE",
    default="local",
    show_default=True,
    help="Where runs are made: tcp://HOST:PORT, a Dask scheduler; dask, one in this process; FILE.toml, workers "
    "that a queue such as Slurm starts.",
)
install_option = click.option(
    "--install/--no-install", default=False, help="May an engine be installed (root, Debian or Ubuntu)?"
)
json_option = click.option("--json", "as_json", is_flag=True, help="For programs.")


def accelerator_option(help: str) -> Callable[[Command], Command]:
    """`--accelerator cpu` or `cuda`."""
    return click.option("--accelerator", type=Word(["cpu", "cuda"]), default="cpu", show_default=True, help=help)


def benchmark_option(help: str) -> Callable[[Command], Command]:
    """`--benchmark NAME`."""
    return click.option(
        "--benchmark",
        type=BENCHMARK,
        default=benchmarks.default,
        help=f"{help} By default {benchmarks.default()}.",
    )


def benchmark_options(command: Command) -> Command:
    """An option for each of the `options` of all benchmarks; the command gets them together as `options`."""

    @wraps(command)
    def call(**arguments: Any) -> Any:
        values = {name: arguments.pop(name) for name in fields}
        return command(options={name: value for name, value in values.items() if value is not None}, **arguments)

    fields = {
        name: (benchmark, field)
        for benchmark in benchmarks.names()
        for name, field in benchmarks.get(benchmark).options.model_fields.items()
    }
    for name, (benchmark, field) in fields.items():
        usual = f"Of {benchmark}; {field.default} unless given."
        flag = f"--{name.replace('_', '-')}"
        call = click.option(flag, name, type=int, help=f"{field.description} {usual}")(call)
    return call


class PlanArguments(TypedDict):
    """The arguments of `harness.api.plan` that the options of a command give."""

    suite: str | None
    published_seeds: int | None
    methods: tuple[str, ...]
    variant: str | None
    parameters: dict[str, Any]
    datasets: tuple[str, ...]
    splits: tuple[str, ...]
    seeds: tuple[int, ...]
    options: dict[str, int]
    upstream: Path | None
    accelerator: Accelerator
    shard: str | None


def request_options(command: Command) -> Command:
    """The options that name a suite, or methods on data; the command gets them together as `request`."""

    @wraps(command)
    def call(settings: tuple[str, ...], **arguments: Any) -> Any:
        request = {name: arguments.pop(name) for name in PlanArguments.__annotations__ if name != "parameters"}
        return command(request={**request, "parameters": parse_settings(settings)}, **arguments)

    decorators = (
        click.option("--suite", type=SUITE, help="A named set of jobs (harness list suites)."),
        published_seeds_option,
        click.option("--method", "methods", multiple=True, type=METHOD, help="A method; may be repeated."),
        click.option("--variant", type=VARIANT, help="A named way to run it; published by default."),
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value for a parameter."
        ),
        click.option("--dataset", "datasets", multiple=True, type=DATASET, help="A dataset; may be repeated."),
        click.option(
            "--split",
            "splits",
            multiple=True,
            type=SPLIT,
            help="A strategy, or with parameters cluster:gamma=0.6; may be repeated; random by default.",
        ),
        click.option("--seed", "seeds", multiple=True, type=SEED, help="A seed of the split; may be repeated."),
        benchmark_options,
        click.option(
            "--upstream",
            type=click.Path(exists=True, file_okay=False, path_type=Path, resolve_path=True),
            help="A checkout of the authors' own code, mounted ahead of ours; its functions must have our file "
            "names.",
        ),
        accelerator_option("What the methods that can use an NVIDIA GPU compute on; the others stay on the CPU."),
        click.option("--shard", metavar="I/N", help="Only the I-th of N equal parts, for N machines (3/10)."),
    )
    decorated: Command = call
    for decorate in reversed(decorators):
        decorated = decorate(decorated)
    return decorated


@contextmanager
def without_garbage() -> Iterator[None]:
    """What is made in the block stays until the process ends, and is never looked through for garbage.

    There is next to none in a table of thousands of cells, and a quarter of the time would go into looking for it.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def document_text(value: Mapping[str, Any] | list[Any]) -> str:
    """The text that `--json` prints of an answer."""
    return json_text(document(value))


def echo_json(value: Mapping[str, Any] | list[Any]) -> None:
    """Print an answer as `--json` has it."""
    click.echo(document_text(value))


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
    """What `--set` says, by name."""
    return read_settings(texts, "--set", "write it as name=value")
