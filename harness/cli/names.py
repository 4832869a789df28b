"""Types of options and arguments that take a name: any case is taken, and a shell completes them.

A key pressed in a shell must not wait, so nothing here imports a benchmark, a card or a number before it must.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from harness.base.errors import HarnessError
from harness.base.layout import Layout, find_layout

# Letters of a key that tell runs apart.
_SHORT = 12
# What a key may begin with: nothing else is looked for among files.
_KEY = re.compile("[0-9a-f]{0,64}", re.IGNORECASE)
# Where a name ends and settings of it begin: METHOD/VARIANT, STRATEGY:NAME=VALUE.
_ENDS = "[/:]"


class Word(click.Choice[str]):
    """One of a few words, in letters of any case."""

    def __init__(self, words: Iterable[str]) -> None:
        super().__init__([*words], case_sensitive=False)


class Name(click.ParamType[str]):
    """A name of a kind. Where it is known in other letters' case it is taken as that, with a word.

    An unknown one is handed on: the command knows better what may stand there, and says what was meant.
    """

    def __init__(self, kind: str, known: Callable[[Layout], Iterable[str]]) -> None:
        self.name = kind
        self._known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is known."""
        text = str(value)
        if ctx is None or ctx.resilient_parsing or not text:
            return text
        names = self.known()
        # a metric has such a sign in its name
        head = text if text.lower() in map(str.lower, names) else re.split(_ENDS, text)[0]
        name = head if head in names else {one.lower(): one for one in names}.get(head.lower(), head)
        if name != head:
            click.echo(f"{self.name} {head}: taken as {name}", err=True)
        return name + text[len(head) :]

    def knows(self, text: str) -> bool:
        """Whether this is a name, a variant or settings behind it aside; no name is known without a repository."""
        try:
            return re.split(_ENDS, text)[0].lower() in map(str.lower, self.known())
        except HarnessError:
            return False

    def known(self) -> list[str]:
        """All names, in the order in which they are listed."""
        return list(self._known(find_layout()))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin so; of a method whose name is whole, its variants."""
        try:
            names = [*self.beginning(find_layout(), ctx, incomplete)]
        except HarnessError:
            # no place for messages: without a repository there are no names
            return []
        return [CompletionItem(name, help=text) for name, text in names]

    def beginning(self, layout: Layout, ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
        """Names that begin so, each with a word on it."""
        for name in self._known(layout):
            if name.lower().startswith(incomplete.lower()):
                yield name, ""


class _MethodRow(Name):
    """METHOD or METHOD/VARIANT."""

    def beginning(self, layout: Layout, ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
        """Methods; behind a slash the variants of one."""
        method, slash, _ = incomplete.lower().partition("/")
        if not slash:
            yield from super().beginning(layout, ctx, incomplete)
            return
        for variant in _variants(layout, method):
            if f"{method}/{variant}".startswith(incomplete.lower()):
                yield f"{method}/{variant}", ""


class _Variant(Name):
    """A variant of the methods that stand before it."""

    def beginning(self, layout: Layout, ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
        """Variants of these methods; of all, where there is none."""
        named = ctx.params.get("methods") or ctx.params.get("method")
        methods = (named,) if isinstance(named, str) else named
        for variant in dict.fromkeys(
            one for method in methods or _methods(layout) for one in _variants(layout, method)
        ):
            if variant.startswith(incomplete.lower()):
                yield variant, ""


class _Key(Name):
    """The key of a run of this machine, or of a reference result."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """As it is: commands take the beginning of a key."""
        return str(value)

    def beginning(self, layout: Layout, ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
        """Keys that begin so, each with its job; short ones, where a person has not typed more."""
        if not _KEY.fullmatch(incomplete):
            return
        size = max(_SHORT, len(incomplete) + 1)
        for key, label in sorted(_runs(layout, incomplete.lower()).items()):
            yield key[:size], label


def _methods(layout: Layout) -> list[str]:
    return _folders_with(layout.methods, "method.toml")


def _variants(layout: Layout, method: str) -> list[str]:
    """Those of its card; of a method that is not there, or whose card can't be read, none."""
    path = layout.methods / method / "method.toml"
    try:
        return list(tomllib.loads(path.read_text(encoding="utf-8")).get("variants", {}))
    except (OSError, ValueError):
        return []


def _datasets(layout: Layout) -> list[str]:
    """Published ones, and the user's own."""
    return sorted(name for place in layout.dataset_places for name in _folders_with(place, "dataset.toml"))


def _all_variants(layout: Layout) -> set[str]:
    return {one for method in _methods(layout) for one in _variants(layout, method)}


def _images(layout: Layout) -> list[str]:
    return sorted({*_methods(layout), *_folders_with(layout.containers, "environment.toml")})


def _folders_with(folder: Path, file: str) -> list[str]:
    return sorted(path.parent.name for path in folder.glob(f"*/{file}"))


def _weights(layout: Layout) -> list[str]:
    """METHOD for `weights.toml`, METHOD:NAME for `weights.NAME.toml`."""
    paths = layout.methods.glob("*/weights*.toml")
    return sorted(":".join([path.parent.name, *path.name.split(".")[1:-1]]) for path in paths)


def _suites(layout: Layout) -> list[str]:
    return sorted({path.stem for path in layout.benchmarks.glob("*/suites/*.toml")})


def _modules(layout: Layout, below: str) -> list[str]:
    """Modules of all benchmarks in this folder."""
    return sorted({path.stem for path in layout.benchmarks.glob(f"*/{below}/[!_]*.py")})


def _metrics() -> list[str]:
    from harness import benchmarks

    return [metric.name for name in benchmarks.names() for metric in benchmarks.get(name).scoring.metrics]


def _runs(layout: Layout, beginning: str) -> dict[str, str]:
    """Keys with their jobs: of the committed log, and of the runs that are on this machine."""
    # a log tells of failed runs too: those of this machine are here to be shown, the others no command finds
    runs = _logged(layout.reference / "log.jsonl", beginning, failed=False)
    local = _logged(layout.local / "log.jsonl", beginning, failed=True)
    here = layout.runs.glob(f"{beginning[:2]}*/{beginning}*")
    return runs | {path.name: local.get(path.name, "") for path in here if not path.name.startswith(".")}


def _logged(path: Path, beginning: str, *, failed: bool) -> dict[str, str]:
    """The jobs of the keys in a log that begin so. Only their lines are read as JSON."""
    mark, runs = f'"key":"{beginning}'.encode(), dict[str, str]()
    if not path.is_file():
        return runs
    for line in path.read_bytes().splitlines():
        if mark not in line:
            continue
        try:
            leaf = json.loads(line)
        except ValueError:
            continue
        if leaf.get("kind") == "removal":
            runs.pop(leaf["key"], None)
        elif failed or leaf.get("kind") != "failure":
            runs[leaf["key"]] = leaf.get("scope", "")
    return runs


METHOD = Name("method", _methods)
METHOD_ROW = _MethodRow("method", _methods)
VARIANT = _Variant("variant", _all_variants)
DATASET = Name("dataset", _datasets)
SUITE = Name("suite", _suites)
# what was ever run here is a suite of the commands that show
STORED_SUITE = Name("suite", lambda layout: [*_suites(layout), "stored"])
BENCHMARK = Name(
    "benchmark", lambda layout: sorted(path.parent.name for path in layout.benchmarks.glob("*/suites"))
)
SPLIT = Name("split", lambda layout: _modules(layout, "splits/strategies"))
METRIC = Name("metric", lambda layout: _metrics())
IMAGE = Name("image", _images)
WEIGHTS = Name("weights", _weights)
KEY = _Key("key", lambda layout: _runs(layout, ""))
