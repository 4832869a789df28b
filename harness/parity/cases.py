"""Golden cases of a folder: each of its files is a case, an input of cases, or reported as unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness import benchmarks
from harness.base.errors import ManifestError, UsageError
from harness.methods.card import MethodCard, ParityTable

_WILDCARDS = {"dataset": r"(?P<dataset>.+?)", "seed": r"(?P<seed>\d+)"}


@dataclass(frozen=True)
class GoldenCase:
    """One golden file. `benchmark` is None where the folder's name says nothing of it."""

    name: str
    path: Path
    benchmark: str | None

    def features_of(self, dataset: str) -> Path:
        """The features that the cases of one dataset share."""
        return self.path.parent / f"_features_{dataset}.npz"


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
    """`NAME_alpha10_{dataset}_{seed}` goes before `NAME_{dataset}_{seed}`, which fits its cases as well."""
    longest = max((len(match.table.cases) for match in matches), default=0)
    return [match for match in matches if len(match.table.cases) == longest]


def _cases_in(folder: Path) -> list[GoldenCase]:
    """The cases of one folder, and of a benchmark's folders per method; a leading _ marks inputs of others."""
    of = folder.name if folder.name in benchmarks.names() else None
    files = sorted(folder.glob("*.npz")) + (sorted(folder.glob("*/*.npz")) if of else [])
    cases = [
        GoldenCase(path.relative_to(folder).with_suffix("").as_posix(), path, of)
        for path in files
        if not path.name.startswith("_")
    ]
    for name in [of] if of else benchmarks.names():
        # files of other forms are cases where a benchmark says so
        split_files = getattr(benchmarks.part(name, "parity.splits"), "split_files", None)
        for path in split_files(folder) if split_files else ():
            case = path.relative_to(folder).as_posix().removesuffix("".join(path.suffixes[-2:]))
            cases.append(GoldenCase(case, path, name))
    return cases


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
