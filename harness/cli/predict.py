"""`harness predict`: what one method says of the unknown pairs of a dataset, or of items of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import click

from harness import api
from harness.base.errors import UsageError
from harness.base.files import write_atomic
from harness.benchmarks.new_item import kind_of, kinds
from harness.cli.names import BENCHMARK, DATASET, METHOD, VARIANT
from harness.cli.options import SEED, Command, OnceCommand, OutputFile, install_option, mirror_option
from harness.cli.warnings import echo_warnings
from harness.data import load_manifest
from harness.execution.predict import usual_choice

NewValue = tuple[str, str, str]


def _kind_options(command: Command) -> Command:
    """An option for each kind of item of all benchmarks; the command gets them together as `values`."""

    @wraps(command)
    def call(**arguments: Any) -> Any:
        values = [(word, value) for word in by_word for value in arguments.pop(f"own_{word}")]
        return command(values=values, **arguments)

    by_word = kinds()
    wrapped: Callable[..., Any] = call
    for word, own in reversed(by_word.items()):
        texts = (
            f"{kind.usage} ({benchmark}{kind.holds and f': {kind.holds}'})" for benchmark, kind in own.items()
        )
        text = f"Of your own: {', '.join(texts)}. @FILE reads TEXT. May be repeated."
        wrapped = click.option(f"--{word}", f"own_{word}", multiple=True, metavar="ITEM", help=text)(wrapped)
    return wrapped  # type: ignore[return-value]


@click.command(cls=OnceCommand)
@click.argument("benchmark", type=BENCHMARK, required=False)
@click.option(
    "--method", type=METHOD, help="A method (harness list); the benchmark's usual one where none is named."
)
@click.option("--dataset", type=DATASET, help="What it learns from; docs/data.md tells how to bring your own.")
@click.option("--variant", type=VARIANT, default="published", show_default=True, help="A named way to run it.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="For methods that draw random numbers.")
@click.option("--top", type=click.IntRange(min=1), help="Only so many rows.")
@click.option("--output", type=OutputFile(".csv"), help="A .csv file; else the terminal.")
@_kind_options
@click.option(
    "--new",
    "items",
    type=(str, str, str),
    multiple=True,
    metavar="KIND NAME TEXT",
    help="The same as --KIND NAME=TEXT, for names with a = in them and for texts that are to have a name.",
)
@mirror_option
@install_option
def command(
    benchmark: str | None,
    method: str | None,
    dataset: str | None,
    variant: str,
    seed: int,
    top: int | None,
    output: Path | None,
    values: list[tuple[str, str]],
    items: tuple[NewValue, ...],
    mirrors: tuple[Path, ...],
    install: bool,
) -> None:
    """Fit a method on all that is known, and rank what is not, best first: unknown pairs, or items of your own.

    \b
    harness predict combos --text "Aspirin plus clopidogrel was safe." --drug aspirin --drug clopidogrel
    harness predict ddi --drug "mine=CC(=O)Oc1ccccc1C(=O)O" --top 20
    harness predict --method deeppurpose --dataset davis --target kinase=@kinase.fasta --output drugs.csv
    harness predict repurposing --drug DB00007
    harness predict --method bnnr --dataset mine --top 100 --output ranking.csv

    A drug without =TEXT is one of the dataset: only rows with it are listed. docs/predicting.md has more.
    """
    repository = api.open_repository(mirrors=mirrors, install=install)
    layout = repository.layout
    if dataset is None and benchmark is None:
        raise UsageError(
            "nothing says what to learn from", where="harness predict", todo="name a benchmark or --dataset"
        )
    owner = load_manifest(layout, dataset).benchmark if dataset else benchmark or ""
    if benchmark not in (None, owner):
        raise UsageError(
            f"dataset {dataset} is one of benchmark {owner}",
            where=f"harness predict {benchmark}",
            todo="name one of them",
        )
    new, only = _items(owner, values, items)
    if method is None or dataset is None:
        usual_method, usual_dataset = usual_choice(layout, owner, repository.mirrors)
        method, dataset = method or usual_method, dataset or usual_dataset
        title = load_manifest(layout, dataset).title
        click.echo(
            f"method {method}, learning from {dataset} ({title}); --method and --dataset name others", err=True
        )
    prediction = api.predict(
        method, dataset, variant=variant, seed=seed, top=top, new=new, only=only, repository=repository
    )
    echo_warnings(repository.store, prediction.key, err=True)
    count = len(prediction.ranking.rows)
    rows = f"{count} row{'' if count == 1 else 's'}" if count else "the method answers that there is nothing"
    evidence = f"evidence: harness audit {prediction.key[:12]}"
    if output is None:
        click.echo(prediction.ranking.to_csv(), nl=False)
        click.echo(f"{rows}; {evidence}", err=True)
    else:
        write_atomic(output, prediction.ranking.to_csv())
        click.echo(f"written: {output} ({rows}); {evidence}")


def _items(
    benchmark: str, values: Iterable[tuple[str, str]], items: Iterable[NewValue]
) -> tuple[list[NewValue], list[str]]:
    """The new items, and the names of those that the dataset has."""
    new = [(word, name, _text(benchmark, word, text)) for word, name, text in items]
    numbers, only = Counter[str](), []
    for word, value in values:
        kind = kind_of(benchmark, word)
        name, equals, text = value.partition("=") if kind.named else ("", "=", value)
        if not kind.named:
            numbers[word] += 1
            name = f"{word} {numbers[word]}"
        if not kind.holds:
            new.append((word, value, ""))
        elif equals:
            new.append((word, name, _text(benchmark, word, text)))
        else:
            only.append(name)
    return new, only


def _text(benchmark: str, word: str, text: str) -> str:
    """The text itself, or that of a file: lines put together as its kind wants it, without headers of FASTA."""
    if not text.startswith("@"):
        return text
    path = Path(text[1:])
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the file can't be read: {error}", where=f"--{word}: {path}", todo="name a text file"
        ) from None
    return kind_of(benchmark, word).between_lines.join(_stripped(lines))


def _stripped(lines: Iterable[str]) -> Iterator[str]:
    """Lines without blanks around them, without empty ones and headers of FASTA."""
    return (line.strip() for line in lines if line.strip() and not line.startswith(">"))
