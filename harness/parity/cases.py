"""Golden cases of a folder: each of its files is a case, an input of cases, or reported as unknown."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from harness import benchmarks
from harness.base.errors import ManifestError, UsageError
from harness.base.layout import Layout
from harness.methods.card import MethodCard, ParityTable
from harness.parity.finding import ArrayFinding, CaseFinding, Standing
from harness.parity.goldens import Golden, golden_in

# who computes a case again: a method, or the harness with its own metrics or splits
METHOD, METRICS, SPLITS = "method", "metrics", "splits"
# a benchmark has one file of golden metrics or a folder of them
_METRICS_PREFIX, _SPLIT_PREFIX = "metrics/", "split_"
# what only says which files there are
_LISTS = ("INDEX.json", "SHA256SUMS")
_WILDCARDS = {"dataset": r"(?P<dataset>.+?)", "seed": r"(?P<seed>\d+)"}


@dataclass(frozen=True)
class GoldenCase:
    """One golden case. `benchmark` is None where the folder's name says nothing of it."""

    name: str
    path: Path
    benchmark: str | None
    subject: str = METHOD
    # files beside `path` of which it is made too
    files: tuple[Path, ...] = ()
    # its content, where that is not the arrays of `path`; with mirrors, because it may need a dataset
    read: Callable[[Layout, Sequence[Path]], Golden] | None = None

    def content(self, layout: Layout, mirrors: Sequence[Path]) -> Golden:
        """What a method is handed and what is compared."""
        return self.read(layout, mirrors) if self.read else golden_in(self.path)

    def features_of(self, dataset: str) -> Path:
        """The features that the cases of one dataset share."""
        return self.path.parent / f"_features_{dataset}.npz"


class OwnCases(Protocol):
    """What `parity/cases.py` of a benchmark offers: cases of other forms than one archive of arrays."""

    def cases_in(self, folder: Path) -> Iterable[GoldenCase]:
        """The cases whose files have the benchmark's names, wherever the folder lies."""
        ...


@dataclass(frozen=True)
class Match:
    """A case, and the table of a card that says how to check it."""

    case: GoldenCase
    card: MethodCard
    table: ParityTable
    dataset: str
    seed: int

    @property
    def benchmark(self) -> str:
        """The benchmark of the case, or where its folder says nothing of it, the method's first."""
        return self.case.benchmark or self.card.benchmarks[0]

    def finding(
        self, standing: Standing, note: str, arrays: tuple[ArrayFinding, ...] = (), seconds: float | None = None
    ) -> CaseFinding:
        """What came of the case with this method."""
        return CaseFinding(self.case.name, METHOD, self.card.name, arrays, standing, note, seconds)


def find_cases(golden: Path) -> list[GoldenCase]:
    """All cases in a benchmark's golden folder, or in the folders of several benchmarks."""
    if not golden.is_dir():
        raise UsageError(
            "there is no such folder", where=str(golden), todo="give --golden a folder of golden cases"
        )
    cases = _cases_in(golden)
    # in a benchmark's own folder, those that hold its cases were looked into
    own_folders = {case.path.parent for case in cases}
    folders = sorted(path for path in golden.iterdir() if path.is_dir() and path not in own_folders)
    inside = {folder.name: _cases_in(folder) for folder in folders if folder.name in benchmarks.names()}
    if cases or any(inside.values()):
        for folder in folders:
            # a benchmark that is not here yet is named whole, so that it is not passed over in silence
            cases += inside.get(folder.name, [GoldenCase(f"{folder.name}/", folder, folder.name)])
    if not cases:
        raise UsageError(
            "no golden case lies here",
            where=str(golden),
            todo="give the folder of one benchmark's goldens (*.npz), or the folder that holds such folders",
        )
    return cases


def matches_of(case: GoldenCase, cards: Iterable[MethodCard]) -> list[Match]:
    """Every table of every card that covers a case; where several of one card do, the longest pattern counts."""
    return [
        match
        for card in cards
        if case.benchmark is None or case.benchmark in card.benchmarks
        for match in _most_specific(_matches(case, card))
    ]


def _matches(case: GoldenCase, card: MethodCard) -> list[Match]:
    return [
        Match(case, card, table, names.get("dataset", ""), int(names.get("seed", 0)))
        for table in card.parity
        if (match := _pattern(table.cases).fullmatch(case.name))
        for names in [match.groupdict()]
    ]


def _most_specific(matches: list[Match]) -> list[Match]:
    """`NAME_alpha10_{dataset}_{seed}` and `NAME_fixed_{seed}` go before `NAME_{dataset}_{seed}`, which fits both.

    The pattern counts that says most of a name in letters.
    """
    most = max((_letters(match.table.cases) for match in matches), default=0)
    return [match for match in matches if _letters(match.table.cases) == most]


def _letters(cases: str) -> int:
    for name in _WILDCARDS:
        cases = cases.replace(f"{{{name}}}", "")
    return len(cases)


def _cases_in(folder: Path) -> list[GoldenCase]:
    """The cases of one folder, and of a benchmark's folders per method; a leading _ marks inputs of others."""
    of = folder.name if folder.name in benchmarks.names() else None
    parts = (benchmarks.part(name, "parity.cases") for name in ([of] if of else benchmarks.names()))
    own = [case for part in parts if part for case in cast(OwnCases, part).cases_in(folder)]
    taken = {file for case in own for file in (case.path, *case.files)}
    files = sorted(folder.glob("*.npz")) + (sorted(folder.glob("*/*.npz")) if of else [])
    names = {
        path: path.relative_to(folder).with_suffix("").as_posix()
        for path in files
        if path not in taken and not path.name.startswith("_")
    }
    cases = [GoldenCase(name, path, of, _subject(name)) for path, name in names.items()] + own
    if cases:
        others = _passed_over(folder, {*taken, *files}, folder.rglob("*") if of else folder.glob("*"))
        cases += [GoldenCase(path.relative_to(folder).as_posix(), path, of) for path in others]
    return cases


def _passed_over(folder: Path, taken: Collection[Path], paths: Iterable[Path]) -> list[Path]:
    """Files that are no case, nor part of one, nor a list of the others: they must be named."""
    about = {path.with_suffix(".json") for path in taken}
    return [
        path
        for path in sorted(paths)
        if path.is_file()
        and path not in taken
        and path not in about
        and path.name not in _LISTS
        and not any(part.startswith("_") for part in path.relative_to(folder).parts)
    ]


def _subject(name: str) -> str:
    if name == METRICS or name.startswith(_METRICS_PREFIX):
        return METRICS
    return SPLITS if name.startswith(_SPLIT_PREFIX) else METHOD


@cache
def _pattern(cases: str) -> re.Pattern[str]:
    for name in _WILDCARDS:
        if cases.count(f"{{{name}}}") > 1:
            raise ManifestError(
                f"'{cases}' names {{{name}}} more than once",
                where="method.toml: parity.cases",
                todo="write for example bnnr_{dataset}_raw_{seed}",
            )
    text = re.escape(cases)
    for name, wildcard in _WILDCARDS.items():
        text = text.replace(re.escape(f"{{{name}}}"), wildcard)
    return re.compile(text)


def how(match: Match) -> str:
    """What a reader must know to judge the comparison."""
    table = match.table
    remarks = [] if table.variant == "published" else [f"variant {table.variant}"]
    remarks += [] if table.task == "predict" else [f"task {table.task}"]
    remarks += [f"{name} = {value}" for name, value in table.parameters.items()]
    reason = " ".join(table.reason.split())
    return "; ".join(remarks) + (f" ({reason})" if reason and remarks else reason)
