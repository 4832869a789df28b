"""`harness predict`: what methods say of the unknown pairs of a dataset, or of items of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from harness import api
from harness.base.errors import UsageError
from harness.base.heartbeat import activity
from harness.base.plurals import counted, form_of
from harness.benchmarks.new_item import extension_of, kind_of, kinds
from harness.cli.names import BENCHMARK, DATASET, METHOD_ROW, VARIANT
from harness.cli.options import (
    SEED,
    Command,
    OnceCommand,
    document_text,
    install_option,
    json_option,
    mirror_option,
    parse_settings,
)
from harness.cli.output import chosen_kind, deliver, output_option
from harness.cli.warnings import echo_warnings
from harness.data import load_dataset, load_manifest
from harness.prediction import EVERY, KINDS, Prediction, about_lines, content_of, is_known, to_json, usual_choice

NewValue = tuple[str, str, str]


def _kind_options(command: Command) -> Command:
    """An option for each kind of item of all benchmarks; the command gets them together as `values`."""

    @wraps(command)
    def call(**arguments: Any) -> Any:
        values = [(word, value) for word in by_word for value in arguments.pop(f"own_{word}")]
        return command(values=values, **arguments)

    by_word = kinds()
    for word, own in reversed(by_word.items()):
        texts = (
            f"{kind.usage} ({benchmark}{kind.holds and f': {kind.holds}'})" for benchmark, kind in own.items()
        )
        text = f"Of your own: {', '.join(texts)}. @FILE reads TEXT. May be repeated."
        call = click.option(f"--{word}", f"own_{word}", multiple=True, metavar="ITEM", help=text)(call)
    return call


@click.command(cls=OnceCommand)
@click.argument("benchmark", type=BENCHMARK, required=False)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=METHOD_ROW,
    help=f"NAME or NAME/VARIANT; may be repeated; '{EVERY}': all that can answer. By default the usual one.",
)
@click.option("--dataset", type=DATASET, help="What they learn from; docs/data.md tells how to bring your own.")
@click.option(
    "--variant",
    type=VARIANT,
    help="Of methods named without one; by default the recommended one, which is said.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value for a parameter.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="For methods that draw random numbers.")
@click.option("--top", type=click.IntRange(min=1), help="Only so many ranked rows.")
@output_option(*KINDS)
@_kind_options
@click.option("--pair", "pairs", type=(str, str), multiple=True, metavar="NAME NAME", help="Only rows with both.")
@click.option(
    "--new",
    "items",
    type=(str, str, str),
    multiple=True,
    metavar="KIND NAME TEXT",
    help="The same as --KIND NAME=TEXT, for names with a = in them and for texts that are to have a name.",
)
@click.option("--both-orders", is_flag=True, help="Do not merge rows that differ in the order of a pair alone.")
@mirror_option
@install_option
@json_option
def command(
    benchmark: str | None,
    methods: tuple[str, ...],
    dataset: str | None,
    variant: str | None,
    settings: tuple[str, ...],
    seed: int,
    top: int | None,
    output: Path | None,
    values: list[tuple[str, str]],
    pairs: tuple[tuple[str, str], ...],
    items: tuple[NewValue, ...],
    both_orders: bool,
    mirrors: tuple[Path, ...],
    install: bool,
    as_json: bool,
) -> int:
    """Fit methods on all that is known, and rank what is not, best first: unknown pairs, or items of your own.

    \b
    harness predict combos --text "Aspirin plus clopidogrel was safe." --drug aspirin --drug clopidogrel
    harness predict ddi --drug "mine=CC(=O)Oc1ccccc1C(=O)O" --top 20
    harness predict --method deeppurpose --dataset davis --target kinase=@kinase.fasta --output drugs.csv
    harness predict repurposing --drug DB00007
    harness predict --method bnnr --method drrs --method logistic_mf --dataset mine --top 100 --output ranking.xlsx

    Several methods get a consensus rank and their disagreement. A drug without =TEXT is one of the dataset: only
    rows with it are listed, and what is known of it. The first lines say in which variant methods answer and why,
    and what scores mean; so do .xlsx, .json and .parquet. docs/predicting.md has more.

    Exit code 1 where a method that was named did not answer; the others are ranked all the same.
    """
    kind = chosen_kind(output, {"--json": "json" if as_json else None}, usual="csv")
    repository = api.open_repository(mirrors=mirrors, install=install)
    layout = repository.layout
    if dataset is None and benchmark is None:
        raise UsageError(
            "nothing says what to learn from", where="harness predict", todo="name a benchmark or --dataset"
        )
    if benchmark and not BENCHMARK.knows(benchmark) and DATASET.knows(benchmark):
        raise UsageError(
            f"'{benchmark}' is a dataset, and no benchmark",
            where="harness predict",
            todo=f"name it by its option: --dataset {benchmark}",
        )
    owner = load_manifest(layout, dataset).benchmark if dataset else benchmark or ""
    if benchmark not in (None, owner):
        raise UsageError(
            f"dataset {dataset} is one of benchmark {owner}",
            where=f"harness predict {benchmark}",
            todo="name one of them",
        )
    was_named = dataset is not None
    if not methods or dataset is None:
        usual_method, usual_dataset = usual_choice(layout, owner, repository.mirrors)
        methods, dataset = methods or (usual_method,), dataset or usual_dataset
        manifest = load_manifest(layout, dataset)
        names = f"{form_of('method', len(methods))} {', '.join(methods)}"
        told = f"{manifest.title}: {manifest.summary.rstrip('.')}" if manifest.summary else manifest.title
        click.echo(f"{names}, learning from {dataset} ({told}); --method and --dataset name others", err=True)
        if not was_named and dataset != (best := extension_of(owner).USUAL.datasets[0]):
            click.echo(f"the usual dataset, {best}, is not here: `harness data get {best}` brings it", err=True)
    new, only = _items(owner, values, items, partial(_is_listed, repository, dataset, owner))
    prediction = api.predict(
        methods,
        dataset,
        variant=variant,
        parameters=parse_settings(settings),
        seed=seed,
        top=top,
        new=new,
        only=only,
        pairs=pairs,
        both_orders=both_orders,
        repository=repository,
    )
    for line in about_lines(prediction):
        click.echo(line, err=True)
    for method in prediction.methods:
        echo_warnings(repository.store, method.key, err=True)
    with activity(f"writing {counted(len(prediction.rows), 'row')}"):
        content = f"{document_text(to_json(prediction))}\n" if kind == "json" else content_of(prediction, kind)
        deliver(content, output, _counts(prediction))
    if output is None:
        click.echo(_counts(prediction), err=True)
    for failure in prediction.failures:
        click.echo(f"error: {failure}", err=True)
    return 1 if prediction.failures and methods != (EVERY,) else 0


def _counts(prediction: Prediction) -> str:
    """How many rows there are."""
    table = prediction.table
    known = len(table.rows) - table.ranked
    ranked = f"{table.ranked} of {table.asked}" if table.ranked < table.asked else str(table.asked)
    rows = f"{ranked} {form_of('row', table.asked)}" if table.asked else "nothing to rank"
    return f"{rows}, {known} known" if prediction.has_known else rows


def _items(
    benchmark: str,
    values: Iterable[tuple[str, str]],
    items: Iterable[NewValue],
    is_listed: Callable[[str, str], bool],
) -> tuple[list[NewValue], list[tuple[str, str]]]:
    """The new items, and kinds and names of those that the dataset has: `is_listed`, also with a = in the name."""
    new = [(word, name, _text(benchmark, word, text)) for word, name, text in items]
    numbers, only = Counter[str](), list[tuple[str, str]]()
    for word, value in values:
        kind = kind_of(benchmark, word)
        name, equals, text = value.partition("=") if kind.named else ("", "=", value)
        if not kind.named:
            numbers[word] += 1
            name = f"{word} {numbers[word]}"
        if not kind.holds:
            new.append((word, value, ""))
        elif equals and not is_listed(word, value):
            new.append((word, name, _text(benchmark, word, text)))
        else:
            only.append((word, value))
    return new, only


def _is_listed(repository: api.Repository, dataset: str, benchmark: str, word: str, name: str) -> bool:
    """Whether the dataset has something of this very name."""
    return is_known(benchmark, load_dataset(repository.layout, dataset, mirrors=repository.mirrors), name, word)


def _text(benchmark: str, word: str, text: str) -> str:
    """The text itself, or that of a file: its lines put together as the kind wants it, without a FASTA header."""
    if not text.startswith("@"):
        return text
    path = Path(text[1:])
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the file can't be read: {error}", where=f"--{word}: {path}", todo="name a text file, in UTF-8"
        ) from None
    between, own = kind_of(benchmark, word).between_lines, [line.strip() for line in lines if line.strip()]
    texts = [line for line in own if not line.startswith(">")]
    several = max(len(own) - len(texts), len(texts) if between is None else 0)
    if several > 1:
        # put together they would be another one, which may well be
        what = f"the file holds {counted(several, word)}"
        raise UsageError(what, where=f"--{word}: {path}", todo="name a file for each")
    return (between or "").join(texts)
