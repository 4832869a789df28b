"""Items of one's own that a dataset is extended by, such as a drug: what `harness predict` then asks about.

A benchmark whose datasets can be extended has a module `extension`: an `Extension`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.manifests import Strict

D = TypeVar("D")


class NewItem(Strict):
    """Something of one's own that a dataset is extended by."""

    # what it is, in a word of the benchmark: `drug`
    kind: str
    # what it is called in a ranking
    name: str
    # what is known of it, such as a structure
    text: str = ""

    @property
    def where(self) -> str:
        """Where a person wrote it."""
        return f"new {self.kind} '{self.name}'"


@dataclass(frozen=True)
class Kind:
    """A kind of item, and what a person says of one."""

    # what its text holds: `structure (SMILES)`; empty where the name says all
    holds: str = ""
    # whether a person names it; else it is numbered
    named: bool = True
    # inputs that tell of it: a method that declares none of them has nothing to say; empty where every method has
    inputs: tuple[str, ...] = ()
    # the lists of a dataset that name such things, the one that rankings show first
    lists: tuple[str, ...] = ()
    # what is put between the lines of a file that holds the text; None where the text is one line
    between_lines: str | None = ""

    @property
    def usage(self) -> str:
        """What a person writes: `NAME=TEXT`."""
        return "=".join(word for word, is_written in (("NAME", self.named), ("TEXT", self.holds)) if is_written)


@dataclass(frozen=True)
class Usual:
    """What `harness predict BENCHMARK` takes where a person names no method or dataset."""

    method: str
    # the first whose files are here
    datasets: tuple[str, ...]


class Extension(Protocol):
    """A module `extension`. It may also have

    - `again(dataset, names, pairs)`: by name, what must be added so that known things, or pairs of them, can be
      asked about once more. Without it every unknown pair of known things is asked anyway, or none can be.
    - `not_asked_again(dataset, names)`: what a person must know of those of these things that it leaves out.
    """

    KINDS: Mapping[str, Kind]
    USUAL: Usual

    def with_new(self, dataset: D, items: Sequence[NewItem]) -> D:
        """The dataset with these items, or `UsageError` for one that can't be added."""
        ...


def extension_of(benchmark: str) -> Extension:
    """The extension of a benchmark; an error says that it has none."""
    extension = benchmarks.part(benchmark, "extension")
    if extension is None:
        raise UsageError(
            f"benchmark {benchmark} can't add items to a dataset",
            where="harness predict",
            todo="list them in tables of your own, and name method and dataset (docs/predicting.md)",
        )
    return cast(Extension, extension)


def kinds() -> dict[str, dict[str, Kind]]:
    """Every kind by its word, and what it is in each benchmark that has it."""
    result: dict[str, dict[str, Kind]] = {}
    for benchmark in benchmarks.names():
        if benchmarks.part(benchmark, "extension") is not None:
            for word, kind in extension_of(benchmark).KINDS.items():
                result.setdefault(word, {})[benchmark] = kind
    return result


def kind_of(benchmark: str, word: str, *, where: str = "") -> Kind:
    """A kind of a benchmark by its word."""
    own = extension_of(benchmark).KINDS
    if word not in own:
        usages = " or ".join(f"--{one} {kind.usage}" for one, kind in own.items())
        raise UsageError(
            f"benchmark {benchmark} has no items of the kind '{word}'",
            where=where or f"--{word}",
            todo=f"it has {usages} (docs/predicting.md)",
        )
    return own[word]


def listed_kinds(benchmark: str) -> dict[str, Kind]:
    """The kinds of things that a dataset of the benchmark has lists of."""
    if benchmarks.part(benchmark, "extension") is None:
        return {}
    return {word: kind for word, kind in extension_of(benchmark).KINDS.items() if kind.lists}


def with_new(benchmark: str, dataset: D, items: Sequence[NewItem]) -> D:
    """The dataset with items of one's own."""
    for item in items:
        kind_of(benchmark, item.kind, where=item.where)
        # Python reads what is no UTF-8 as halves of characters, which no file can hold
        if any("\ud800" <= letter <= "\udfff" for letter in f"{item.name}{item.text}"):
            raise UsageError("the text is not UTF-8", where=f"--{item.kind}", todo="write it in UTF-8")
    return extension_of(benchmark).with_new(dataset, items)


def items_again(
    benchmark: str, dataset: object, names: Sequence[str], pairs: Sequence[Sequence[str]]
) -> Mapping[str, NewItem]:
    """By name, what must be added to a dataset so that its own known things, or pairs of them, are asked about."""
    again = getattr(benchmarks.part(benchmark, "extension"), "again", None)
    items: Mapping[str, NewItem] = again(dataset, names, pairs) if again else {}
    return items


def notes_of_again(benchmark: str, dataset: object, names: Sequence[str]) -> list[str]:
    """What a person must know of things that were named alone and are not asked about once more."""
    notes_of = getattr(benchmarks.part(benchmark, "extension"), "not_asked_again", None)
    notes: list[str] = notes_of(dataset, names) if notes_of else []
    return notes


def check_name(item: NewItem, names: set[str]) -> None:
    """Add the name of an item to these in small letters; refuse an empty or a known one."""
    if not item.name.strip() or item.name.lower() in names:
        fault = f"there is a '{item.name}' already" if item.name.strip() else "the name is empty"
        raise UsageError(fault, where=item.where, todo="give it another name")
    names.add(item.name.lower())


def not_readable(item: NewItem, kind: Kind) -> UsageError:
    """The error for a text that does not hold what it should."""
    return UsageError(
        f"'{item.text[:40]}' is no {kind.holds}",
        where=item.where,
        todo=f"write --{item.kind} {kind.usage}, where TEXT is a {kind.holds}",
    )
