"""The reference, generated from the code: commands, Python, datasets, metrics, suites, exit codes."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

import click

from harness import api, benchmarks
from harness.base import errors
from harness.base.layout import Layout
from harness.base.markdown import code, plain, prose
from harness.base.tables import markdown_table
from harness.cli import group
from harness.data import DatasetManifest, load_manifest, manifest_names
from harness.planning.suites import load_suite, suite_names

FOLDER = "reference"


def write_reference(layout: Layout, folder: Path) -> list[str]:
    """Write all pages; their places are returned."""
    (folder / FOLDER).mkdir(parents=True)
    for name, page in PAGES.items():
        (folder / FOLDER / f"{name}.md").write_text("\n".join(page(layout)) + "\n", encoding="utf-8")
    return [f"{FOLDER}/{name}.md" for name in PAGES]


def commands(_layout: Layout) -> Iterator[str]:
    """Every command with its arguments and options, as `--help` tells them."""
    yield "# Commands"
    yield f"{prose(group.help or '')} Generated from the commands themselves.\n"
    yield from _command(group, click.Context(group, info_name="harness"), 2)


def _command(parent: click.Group, above: click.Context, level: int) -> Iterator[str]:
    for name in parent.list_commands(above):
        command = parent.get_command(above, name)
        assert command is not None, f"{name} is listed and does not exist"
        context = click.Context(command, info_name=name, parent=above)
        yield f"{'#' * level} {context.command_path}\n"
        if not isinstance(command, click.Group):
            usage = " ".join(command.collect_usage_pieces(context))
            yield f"```text\n{context.command_path} {usage}\n```\n"
        yield from _help(command.help or "")
        records = [one.get_help_record(context) for one in command.params]
        # arguments say nothing of themselves: they stand in the line above
        rows = [(code(record[0]), plain(record[1])) for record in records if record and record[1]]
        if rows:
            yield "\n".join(markdown_table(("option", "meaning"), rows)) + "\n"
        if isinstance(command, click.Group):
            yield from _command(command, context, level + 1)


def _help(text: str) -> Iterator[str]:
    """Paragraphs of a help text; those that keep their lines are examples."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        kept = paragraph.removeprefix("\b\n")
        yield f"```text\n{kept}\n```\n" if kept != paragraph else f"{plain(paragraph)}\n"


def python(_layout: Layout) -> Iterator[str]:
    """Every public name of `harness.api`, with its signature and docstring."""
    yield "# Python"
    yield "What `from harness import api` offers, from its docstrings. [Examples](../api.md) show each in use.\n"
    for name in sorted(api.__all__, key=str.lower):
        member = getattr(api, name)
        yield f"## {name}\n"
        yield f"```python\n{_signature(name, member)}\n```\n"
        yield f"{prose(inspect.getdoc(member) or '')}\n"


def _signature(name: str, member: Callable[..., object]) -> str:
    signature = inspect.signature(member)
    line = f"{name}{signature}"
    if len(line) <= 80:
        return line
    inside = "".join(f"    {one},\n" for one in _parameters(signature))
    answer = signature.return_annotation
    return f"{name}(\n{inside})" + ("" if answer is inspect.Signature.empty else f" -> {answer}")


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    starred = False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        yield str(one)


def datasets(layout: Layout) -> Iterator[str]:
    """Every dataset as its manifest has it."""
    yield "# Datasets"
    yield "Generated from `datasets/*/dataset.toml`. [Data and splits](../data.md) says what the fields mean.\n"
    for name in manifest_names(layout):
        manifest = load_manifest(layout, name)
        yield f"## {plain(manifest.title)} ({code(name)})\n"
        yield f"{prose(manifest.summary)}\n"
        yield "\n".join(markdown_table(("", ""), _facts(manifest))) + "\n"


def _facts(manifest: DatasetManifest) -> Iterator[tuple[str, str]]:
    yield "benchmark", code(manifest.benchmark)
    yield "citation", prose(manifest.citation)
    yield "licence", prose(manifest.licence)
    for file in manifest.files:
        source = ", ".join(f"[{plain(urlsplit(url).hostname)}]({url})" for url in file.urls) or "embedded"
        size = f"{file.bytes:,} bytes" if file.bytes else "size recorded when first seen"
        yield f"file {code(file.name)}", f"{size}; {source}"
    for table in manifest.brought:
        yield f"table to be brought {code(table.name)}", prose(table.holds)
    for label, text in (("to be brought", manifest.bring), ("stand-in", manifest.stand_in)):
        if text:
            yield label, prose(text)
    counts = manifest.statistics.model_dump(exclude_defaults=True)
    yield "counts", ", ".join(f"{plain(key)} {plain(value)}" for key, value in counts.items())


def metrics(_layout: Layout) -> Iterator[str]:
    """Every metric of every benchmark."""
    yield "# List of metrics"
    yield "Generated from the scorers. [Metrics](../metrics.md) has formulas, and what is worth knowing of them.\n"
    for name in benchmarks.names():
        rows = [
            (code(metric.name), plain(metric.description), metric.better, _range(metric.range))
            for metric in benchmarks.get(name).scoring.metrics
        ]
        yield f"## {code(name)}\n"
        yield "\n".join(markdown_table(("metric", "what it says", "better", "range"), rows)) + "\n"


def _range(ends: tuple[float, float] | None) -> str:
    return f"{ends[0]:g} to {ends[1]:g}" if ends else "any"


def suites(_layout: Layout) -> Iterator[str]:
    """Every suite in one sentence."""
    yield "# Suites"
    yield "Generated from `harness/benchmarks/*/suites/*.toml`. [Running](../running.md) says what a suite is.\n"
    rows = [(code(name), plain(load_suite(name).summary)) for name in suite_names()]
    yield "\n".join(markdown_table(("suite", "what it asks for"), rows))


def exit_codes(_layout: Layout) -> Iterator[str]:
    """The codes that the first command tells, and the errors behind them."""
    behind = defaultdict(list)
    for name, error in _errors(errors).items():
        behind[str(error.exit_code)].append(f"{code(name)}: {plain(inspect.getdoc(error) or '')}")
    epilog = re.match(r"Exit codes: ([^.]*)[.]", group.epilog or "")
    assert epilog, "the help of `harness` tells no exit codes"
    rows = [one.strip().partition(" ") for one in epilog[1].split(";")]
    yield "# Exit codes"
    yield "Of every command. The names are those of errors in Python, in `harness.base.errors`.\n"
    table = [(digits, plain(text), "<br>".join(behind.get(digits, []))) for digits, _, text in rows]
    yield "\n".join(markdown_table(("code", "meaning", "errors"), table))


def _errors(module: ModuleType) -> Mapping[str, type[errors.HarnessError]]:
    """The errors that a person may meet, but for what they all are."""
    base = errors.HarnessError
    members = inspect.getmembers(module, inspect.isclass)
    return {name: one for name, one in members if issubclass(one, base) and one is not base}


PAGES: Mapping[str, Callable[[Layout], Iterator[str]]] = {
    "commands": commands,
    "python": python,
    "datasets": datasets,
    "metrics": metrics,
    "suites": suites,
    "exit-codes": exit_codes,
}
