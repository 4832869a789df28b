"""A table of methods by dataset, split or metric: printed and ours in one entry, with the claim's verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from harness.base.plurals import counted
from harness.compare.comparison import ClaimVerdict, Comparison
from harness.compare.runs import Obtained
from harness.results.reference import verdict_counts
from harness.status.table import Summary
from harness.study.sheets import NONE, Sheet, percent, runs_at, tally_of
from harness.study.sides import CONTROL, Row, Sides
from harness.study.specs import Spec


@dataclass(frozen=True)
class _Cell:
    """An entry: its text, the verdict that it shows, and its JSON values."""

    text: str
    chip: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grid:
    """A table of methods. `categories`: the paper's categories of methods."""

    sides: Sides
    spec: Spec
    categories: Mapping[str, str]

    def sheet(self) -> Sheet:
        """The table of scores, or of how runs ended."""
        spec, claims = self.spec, self._claims
        columns = [(", ".join(filter(None, headings.values())), place) for headings, place in self._columns()]
        rows, chips, values, runs = [], [], [], list[list[tuple[str, ...]]]()
        for headings, place in self._along([name for name in spec.rows if name != "category"]):
            if "category" in spec.rows:
                headings["category"] = self._category(place["method"])
            cells = {heading: self._cell(**place, **column) for heading, column in columns}
            rows.append([*(headings[name] for name in spec.rows), *(cell.text for cell in cells.values())])
            chips.append([*("" for _ in spec.rows), *(cell.chip for cell in cells.values())])
            runs.append([*(() for _ in spec.rows), *(cell.runs for cell in cells.values())])
            own = {heading: cell.values for heading, cell in cells.items()}
            values.append({**headings, **self._our_split(place), "cells": own})
        head = [*spec.rows.values(), *(heading for heading, _ in columns)]
        tally = tally_of(claims)
        if not spec.marks:
            notes = [*self.sides.remarks(spec.dataset, self._splits), *_reasons(claims, "number")]
            return spec.sheet(head, rows, tally=tally, notes=notes, chips=chips, runs=runs)
        verdicts = {str(verdict): count for verdict, count in tally.items()}
        return spec.sheet(
            head,
            rows,
            tally=tally,
            counted="cells",
            notes=_reasons(claims, "cell"),
            chips=chips,
            runs=runs,
            values={"title": spec.title, "verdicts": verdicts, "rows": values},
        )

    def costs(self) -> Sheet:
        """The table of time and memory, which are never judged; rows that combine several runs are left out."""
        costs, (split,) = self.spec.costs, self._splits
        head = [*self.spec.rows.values()]
        for cost in costs:
            head += [cost.printed, cost.ours]
        rows, runs = [], []
        titles = {one.title for one in self.sides.derived}
        for row in self._methods:
            if row.variant in titles:
                continue
            medians, count = self.sides.costs(row, self.spec.dataset, split, [one.quantity for one in costs])
            entries = [self.sides.title(row.title)]
            for place, cost in enumerate(costs):
                claim = self.sides.claim(self.spec.label, row, self.spec.dataset, split, cost.metric)
                entries.append(claim.claim.published if claim else NONE)
                entries.append(f"{medians[place] / cost.unit:.{cost.digits}f}" if count else NONE)
            rows.append([*entries, str(count)])
            runs.append(runs_at(range(1, len(rows[-1])), rows[-1], self.sides.keys(row, self.spec.dataset, split)))
        claims = self._claims
        return self.spec.sheet(
            [*head, "runs"], rows, tally=tally_of(claims), notes=_reasons(claims, "number"), runs=runs
        )

    @cached_property
    def _claims(self) -> list[Comparison]:
        return self.sides.claims(self.spec.label)

    @cached_property
    def _datasets(self) -> list[str]:
        own = [self.spec.dataset] if self.spec.dataset else []
        return own or [*dict.fromkeys(one.claim.dataset for one in self._claims)]

    @cached_property
    def _splits(self) -> list[str]:
        return [*self.spec.splits.values()] or [*dict.fromkeys(one.claim.split for one in self._claims)]

    @cached_property
    def _methods(self) -> list[Row]:
        """The methods of the table's claims, all where the paper prints no numbers, then ours."""
        claimed = {one.claim.method for one in self._claims}
        rows = [row for dataset in self._datasets for row in self.sides.rows(dataset, self._splits)]
        here = dict.fromkeys(
            row for row in rows if row.title in claimed or not (row.printed and self.spec.printed)
        )
        return sorted(here, key=lambda row: row.variant == CONTROL)

    def _category(self, row: Row) -> str:
        own = {CONTROL, *(one.title for one in self.sides.derived)}
        return self.categories.get(row.title, row.variant if row.variant in own else "beside")

    def _along(self, names: Sequence[str]) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
        """Headings and values of every combination on the named axes."""
        headings_of = {split: heading for heading, split in self.spec.splits.items()}
        axes: dict[str, list[tuple[str, Any]]] = {
            "dataset": [(self.sides.title(name), name) for name in self._datasets],
            "split": [(headings_of.get(name, name), name) for name in self._splits],
            "method": [(self.sides.title(row.title), row) for row in self._methods],
            "metric": list(self.spec.metrics.items()),
        }
        for members in product(*(axes[name] for name in names)):
            headings = {name: heading for name, (heading, _) in zip(names, members, strict=True)}
            yield headings, {name: value for name, (_, value) in zip(names, members, strict=True)}

    def _columns(self) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
        last = next(reversed(self.spec.metrics), "")
        for headings, place in self._along(self.spec.columns):
            yield headings, place
            if self.spec.averages and headings.get("metric") == last:
                for word in ("average", "rank"):
                    yield {**headings, "metric": word}, {**place, "metric": "", "word": word}

    def _cell(self, method: Row, split: str, dataset: str = "", metric: str = "", word: str = "") -> _Cell:
        dataset = dataset or self.spec.dataset
        if word:
            return _Cell(self._averages[split][word][method], runs=self.sides.keys(method, dataset, split))
        claim = self.sides.claim(self.spec.label, method, dataset, split, metric)
        if self.spec.marks:
            by_seed = sorted(self.sides.runs(method, dataset, split).items())
            return self._status(claim, [run for _, run in by_seed])
        ours = self.sides.ours(method, dataset, split, metric)
        runs = self.sides.keys(method, dataset, split) if ours else ()
        return _Cell(_share(claim, ours), str(claim.verdict) if claim and ours else "", runs=runs)

    def _status(self, claim: Comparison | None, runs: Collection[Obtained]) -> _Cell:
        """`✓ ok 10`: the printed mark, then how our runs ended, with ≠ if they deviate."""
        counts = Counter(run.verdict for run in runs)
        text = verdict_counts(counts)
        ours = {str(verdict): count for verdict, count in counts.items()}
        keys = tuple(run.key for run in runs)
        if claim is None:
            return _Cell(
                text or NONE, values={"printed": "", "ours": ours, "verdict": None, "reason": ""}, runs=keys
            )
        if not text and claim.verdict is ClaimVerdict.NOT_COMPARABLE:
            text = "no data"
        word, verdict = claim.claim.published, claim.verdict
        differs = " ≠" if verdict is ClaimVerdict.DEVIATES else ""
        text = f"{self.spec.marks.get(word, word)} {text or NONE}{differs}"
        values = {"printed": word, "ours": ours, "verdict": verdict, "reason": claim.reason}
        return _Cell(text, str(verdict), values, keys)

    def _our_split(self, place: Mapping[str, Any]) -> dict[str, str]:
        split = place.get("split")
        return {"split": self.sides.names.splits.get(split, split)} if split else {}

    @cached_property
    def _averages(self) -> dict[str, dict[str, dict[Row, str]]]:
        """The means over all metrics and their ranks by split, printed / ours; our own rows have no rank."""
        return {split: self._averages_of(split) for split in self._splits}

    def _averages_of(self, split: str) -> dict[str, dict[Row, str]]:
        claimed, ours = {}, {}
        for row in self._methods:
            places = [(row, self.spec.dataset, split, metric) for metric in self.spec.metrics.values()]
            claims = [self.sides.claim(self.spec.label, *place) for place in places]
            if all(claims):
                claimed[row] = _average([one.claim.value for one in claims if one])
            means = [self.sides.ours(*place) for place in places]
            if all(means):
                ours[row] = _average([one.mean for one in means if one])
        ours_of_paper = {row: average for row, average in ours.items() if row.printed}
        of = sum(row.printed for row in self._methods)
        return {
            "average": {row: f"{percent(claimed.get(row))} / {percent(ours.get(row))}" for row in self._methods},
            "rank": {
                row: f"{_place(row, claimed, of)} / {_place(row, ours_of_paper, of)}" for row in self._methods
            },
        }


def _share(claim: Comparison | None, ours: Summary | None) -> str:
    """`12.5±2.3 / 12.1±0.4 (3)`."""
    text = NONE
    if ours is not None:
        text = percent(ours.mean) + ("" if ours.sd is None else f"±{100 * ours.sd:.1f}") + f" ({ours.n})"
    if claim is None:
        return text
    sd = "" if claim.claim.sd is None else f"±{100 * claim.claim.sd:.1f}"
    return f"{percent(claim.claim.value)}{sd} / {text}"


def _average(shares: Sequence[float]) -> float:
    """The average as it is shown, halves rounded up: equal texts have equal ranks."""
    return round(sum(shares) / len(shares) + 1e-9, 3)


def _place(row: Row, averages: Mapping[Row, float], of: int) -> str:
    if row not in averages:
        return NONE
    place = 1 + sum(1 for value in averages.values() if value > averages[row])
    return f"{place} of {len(averages)}" if len(averages) < of else str(place)


def _reasons(claims: Iterable[Comparison], what: str) -> list[str]:
    """The reasons why claims are not reproduced, with the number of claims and of the runs that they lack."""
    lacking: dict[str, list[int | None]] = {}
    for one in claims:
        if one.verdict is not ClaimVerdict.REPRODUCED:
            more = None if one.needed is None else one.needed - one.n
            lacking.setdefault(f"{one.verdict}: {one.reason}", []).append(more)
    by_count = sorted(lacking.items(), key=lambda item: -len(item[1]))
    return [f"{counted(len(own), what)}: {reason}{_more(own)}" for reason, own in by_count]


def _more(counts: Sequence[int | None]) -> str:
    """`; 2 to 431 more would decide`, of claims with the same reason."""
    numbers = sorted(count for count in counts if count is not None)
    if not numbers:
        return ""
    ends = dict.fromkeys((numbers[0], numbers[-1]))
    return f"; {' to '.join(map(str, ends))} more would decide"
