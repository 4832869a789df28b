"""Names that a person gives to what is in a dataset, and the rows that these names ask for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from harness import benchmarks
from harness.base.errors import UsageError
from harness.benchmarks import Dataset
from harness.benchmarks.new_item import Kind, extension_of, kind_of
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
        present = frozenset(names)
        if not self.ranks(names) or (self.pairs and not any(pair <= present for pair in self.pairs)):
            return False
        return all(
            # a kind that is a column of its own is looked for there alone
            wanted & ({names[columns.index(kind)]} if kind in columns else present)
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
    return Selection(frozenset(own), named, pairs)


def known_name(benchmark: str, dataset: Dataset, name: str, kind: str = "", own: Collection[str] = ()) -> str:
    """What rankings call something of a dataset, whatever the case; an error says that nothing has this name."""
    kinds = {kind: kind_of(benchmark, kind)} if kind else _kinds_in(benchmark)
    known = {one.lower(): one for one in own}
    for one in kinds.values():
        for listed in one.lists:
            known = {
                text.lower(): shown
                for text, shown in zip(dataset.names[listed], dataset.names[one.lists[0]], strict=True)
                if text
            } | known
    if name.lower() not in known:
        near = ", ".join(known[one] for one in get_close_matches(name.lower(), known, n=5))
        raise UsageError(
            f"nothing in dataset {dataset.name} is called '{name}'",
            where=f"--{kind}" if kind else "what is asked about",
            todo=f"near it: {near or 'nothing'}; add one of your own as NAME=TEXT (docs/predicting.md)",
        )
    return known[name.lower()]


def _pair(benchmark: str, dataset: Dataset, pair: tuple[str, str], own: Collection[str]) -> frozenset[str]:
    """Two names that a row can have together."""
    names = frozenset(known_name(benchmark, dataset, name, own=own) for name in pair)
    kinds = _kinds_in(benchmark)
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


def _kinds_in(benchmark: str) -> dict[str, Kind]:
    """The kinds of things that a dataset of the benchmark has lists of."""
    if benchmarks.part(benchmark, "extension") is None:
        return {}
    return {word: kind for word, kind in extension_of(benchmark).KINDS.items() if kind.lists}
