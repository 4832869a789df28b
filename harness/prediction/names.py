"""Names that a person gives to what is in a dataset, and the rows that these names ask for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from harness.base.errors import UsageError
from harness.benchmarks import Dataset
from harness.benchmarks.new_item import kind_of, listed_kinds
from harness.prediction.request import PredictionRequest


@dataclass(frozen=True)
class Selection:
    """The rows that were asked for: all of these conditions hold, and those that are empty ask for nothing."""

    # one of these is in the row: what a person added
    own: frozenset[str] = frozenset()
    # for each of these kinds one of its names is in the row
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # both names of one of these are in the row
    pairs: frozenset[frozenset[str]] = frozenset()
    # what was added in place of something known, and what it stands for
    stands_for: Mapping[str, str] = field(default_factory=dict)

    @property
    def names_known_things(self) -> bool:
        """Whether something of the dataset was asked about by its name."""
        return bool(self.named or self.pairs)

    def ranks(self, names: Sequence[str]) -> bool:
        """Whether a row with these names counts in ranks: of all that was asked those with what a person added."""
        return not self.own or bool(self.own & frozenset(names))

    def takes(self, columns: Sequence[str], names: Sequence[str]) -> bool:
        """Whether a row with these names was asked for."""
        if not (self.own or self.named or self.pairs):
            return True
        present = frozenset(names)
        if not self.ranks(names) or (self.pairs and not any(pair <= present for pair in self.pairs)):
            return False
        return all(
            # a kind that is a column of its own is looked for there alone; what was added is asked there, too
            (wanted | self.own) & {names[columns.index(kind)]} if kind in columns else wanted & present
            for kind, wanted in self.named.items()
        )


def selection_of(
    benchmark: str, dataset: Dataset, request: PredictionRequest, own: Collection[str] = ()
) -> Selection:
    """The selection with all names as rankings show them; an unknown name is an error. `own` is what is added."""
    named: dict[str, frozenset[str]] = {}
    for kind, name in request.only:
        named[kind] = named.get(kind, frozenset()) | {known_name(benchmark, dataset, name, kind, own)}
    pairs = frozenset(_pair(benchmark, dataset, pair, own) for pair in request.pairs)
    if own and pairs and not any(pair & {*own} for pair in pairs):
        raise UsageError(
            f"no row has both what was added ({', '.join(own)}) and a pair of known ones",
            where="; ".join("--pair " + " ".join(pair) for pair in request.pairs),
            todo="name what was added in the pair, or ask for the pair without it",
        )
    return Selection(frozenset(own), named, pairs)


def known_name(benchmark: str, dataset: Dataset, name: str, kind: str = "", own: Collection[str] = ()) -> str:
    """What rankings call something of a dataset, whatever the case; an error says that nothing has this name.

    Of names that differ in capitals alone it is the one that is written so.
    """
    known = _known_names(benchmark, dataset, kind) | {one: one for one in own}
    in_small = {text.lower(): shown for text, shown in known.items()}
    if name in known:
        return known[name]
    if name.lower() not in in_small:
        near = ", ".join(in_small[one] for one in get_close_matches(name.lower(), in_small, n=5))
        todo = "add one of your own as NAME=TEXT (docs/predicting.md)"
        raise UsageError(
            f"nothing in dataset {dataset.name} is called '{name}'",
            where=f"--{kind}" if kind else "what is asked about",
            todo=f"near it: {near}; {todo}" if near else todo,
        )
    return in_small[name.lower()]


def is_known(benchmark: str, dataset: Dataset, name: str, kind: str) -> bool:
    """Whether something of a dataset has this very name."""
    return name in _known_names(benchmark, dataset, kind)


def _known_names(benchmark: str, dataset: Dataset, kind: str) -> dict[str, str]:
    """What rankings call the things of a kind, or of all, by each name; of equal names the first list counts."""
    known: dict[str, str] = {}
    for one in ({kind: kind_of(benchmark, kind)} if kind else listed_kinds(benchmark)).values():
        for listed in one.lists:
            known = {
                text: shown
                for text, shown in zip(dataset.names[listed], dataset.names[one.lists[0]], strict=True)
                if text
            } | known
    return known


def _pair(benchmark: str, dataset: Dataset, pair: tuple[str, str], own: Collection[str]) -> frozenset[str]:
    """Two names that a row can have together."""
    names = frozenset(known_name(benchmark, dataset, name, own=own) for name in pair)
    kinds = listed_kinds(benchmark)
    of_one_kind = [
        word for word, kind in kinds.items() if all(name in dataset.names[kind.lists[0]] for name in names)
    ]
    if len(names) < 2 or (of_one_kind and len(kinds) > 1):
        what = "the same" if len(names) < 2 else f"both a {of_one_kind[0]}"
        raise UsageError(
            f"'{pair[0]}' and '{pair[1]}' are {what}: no row has both",
            where=f"--pair {pair[0]} {pair[1]}",
            todo=f"name a {' and a '.join(kinds)}" if len(kinds) > 1 else "name two",
        )
    return names
