"""The rows of a run with all that buckets depend on: kept with its scores, so that runs can be compared later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.benchmarks.combos.metrics.bootstrap import (
    MEASURES,
    BucketDraws,
    PairedDifference,
    multi_bootstrap,
    paired_bootstrap,
)
from harness.benchmarks.combos.metrics.evaluation import CreditPair, Evaluator, MatchRule
from harness.benchmarks.combos.metrics.rows import DocumentId, RelationRow

# a row is in the first bucket, in the second, or in none
FIRST, SECOND, NEITHER = 0, 1, -1
# the published list of all sets of drugs has none of a document with more
_MOST_DRUGS = 15
# what the series of each side begin with
_SIDES = ("relations", "predictions")

Buckets = npt.NDArray[np.int64]
Series = dict[str, list[float | None]]


class AskedDocument(NamedTuple):
    """How many drugs a document has, and whether its relations need the context: `NEITHER` if only some do."""

    drugs: int
    context: int


class RowSide(NamedTuple):
    """Relations or predictions; for each whether these drugs are together in training, `NEITHER` if unknown."""

    rows: tuple[RelationRow, ...]
    seen: tuple[int, ...]


@dataclass(frozen=True)
class ScoredRows:
    """What was asked, what is true, and what was predicted."""

    asked: Mapping[DocumentId, AskedDocument]
    gold: RowSide
    predicted: RowSide

    @classmethod
    def from_series(cls, series: Mapping[str, Sequence[float | None]]) -> ScoredRows:
        """The rows that kept scores hold."""
        own = {name: [int(value) for value in values if value is not None] for name, values in series.items()}
        asked = zip(own["asked/document"], own["asked/drugs"], own["asked/context"], strict=True)
        return cls(
            {document: AskedDocument(drugs, context) for document, drugs, context in asked},
            *(_side(own, name) for name in _SIDES),
        )

    @cached_property
    def evaluator(self) -> Evaluator:
        """What gives both sides their credits."""
        return Evaluator(self.gold.rows, self.predicted.rows)

    def buckets(self, name: str, *, published: bool) -> tuple[Buckets, Buckets]:
        """The bucket of every relation and of every prediction."""
        return self._buckets(self.gold, name, published), self._buckets(self.predicted, name, published)

    def _buckets(self, side: RowSide, name: str, published: bool) -> Buckets:
        buckets = {
            "arity": [int(len({*row.spans}) > 2) for row in side.rows],
            "seen": side.seen,
            "context": [self._asked(row).context for row in side.rows],
        }[name]
        if published and name != "context":
            pairs = zip(buckets, side.rows, strict=True)
            buckets = [bucket if self._is_listed(row) else NEITHER for bucket, row in pairs]
        return np.array(buckets, dtype=np.int64)

    def _is_listed(self, row: RelationRow) -> bool:
        """Whether the published list of all sets, whose drugs are in the order of a Python set, has this list."""
        drugs = self._asked(row).drugs
        is_set = drugs <= _MOST_DRUGS and len(row.spans) > 1 and {*row.spans} <= {*range(drugs)}
        return is_set and [*row.spans] == [*{*sorted(row.spans)}]

    def _asked(self, row: RelationRow) -> AskedDocument:
        return self.asked.get(row.document, AskedDocument(0, NEITHER))

    def sums(self, rule: MatchRule, bucket: tuple[str, int] | None = None) -> npt.NDArray[np.float64]:
        """Credits and counts of relations, credits and counts of predictions, by asked document, as defined."""
        places = {document: place for place, document in enumerate(self.asked)}
        credits = self.evaluator.as_defined(rule)
        if bucket is not None:
            name, half = bucket
            credits = halves(credits, self.buckets(name, published=False))[half]
        sums = []
        for side, items in zip((self.gold, self.predicted), credits, strict=True):
            columns = [places[side.rows[row].document] for row in items.rows.tolist()]
            sums += [np.bincount(columns, weights, len(places)) for weights in (items.credits, None)]
        return np.array(sums, dtype=np.float64)

    def to_series(self) -> Series:
        """Lists of numbers, of which `from_series` makes these rows again; documents are numbers."""
        series: Series = {
            "asked/document": [int(document) for document in self.asked],
            "asked/drugs": [own.drugs for own in self.asked.values()],
            "asked/context": [own.context for own in self.asked.values()],
        }
        for name, (rows, seen) in zip(_SIDES, (self.gold, self.predicted), strict=True):
            series[f"{name}/document"] = [int(row.document) for row in rows]
            series[f"{name}/class"] = [row.label for row in rows]
            series[f"{name}/size"] = [len(row.spans) for row in rows]
            series[f"{name}/drugs"] = [span for row in rows for span in row.spans]
            series[f"{name}/seen"] = [*seen]
        return series


def _side(own: Mapping[str, Sequence[int]], name: str) -> RowSide:
    drugs = iter(own[f"{name}/drugs"])
    columns = (own[f"{name}/{column}"] for column in ("document", "size", "class"))
    rows = tuple(
        RelationRow(document, tuple(islice(drugs, size)), label)
        for document, size, label in zip(*columns, strict=True)
    )
    return RowSide(rows, tuple(own[f"{name}/seen"]))


class RelationTruth(NamedTuple):
    """The asked documents with their relations and drugs, and which combinations training shows."""

    asked: Mapping[DocumentId, AskedDocument]
    relations: Sequence[RelationRow]
    drugs: Mapping[DocumentId, Sequence[str]]
    known: Set[tuple[str, ...]]

    def beside(self, predictions: Sequence[RelationRow]) -> ScoredRows:
        """The same with predictions, of any documents."""
        return ScoredRows(self.asked, self._side(self.relations), self._side(predictions))

    def _side(self, rows: Sequence[RelationRow]) -> RowSide:
        seen = []
        for row in rows:
            texts = self.drugs.get(row.document, ())
            is_known = all(0 <= span < len(texts) for span in row.spans)
            seen.append(int(drug_names(texts, row.spans) in self.known) if is_known else NEITHER)
        return RowSide(tuple(rows), tuple(seen))


def drug_names(texts: Sequence[str], spans: Sequence[int]) -> tuple[str, ...]:
    """What a combination is known by: its drugs' texts in lower case, sorted."""
    return tuple(sorted(texts[span].lower() for span in spans))


def halves(credits: CreditPair, buckets: tuple[Buckets, Buckets]) -> tuple[CreditPair, CreditPair]:
    """The items of the first bucket, and those of the second."""
    first, second = (
        CreditPair(*(items[own[items.rows] == half] for items, own in zip(credits, buckets, strict=True)))
        for half in (FIRST, SECOND)
    )
    return first, second


def published_test(
    runs: Sequence[ScoredRows], bucket: str, rule: MatchRule, *, relations_only: bool = False
) -> dict[str, BucketDraws]:
    """Recall and precision of both buckets in every round, from runs that differ by their seed.

    Of documents with and without context the original permutes documents, and draws seeds alone. How exactly is
    not known here, so that these buckets are compared by `paired_buckets` alone.
    """
    if bucket == "context":
        raise ValueError("documents with and without context are not compared as published")
    pairs = [halves(run.evaluator.as_published(rule), run.buckets(bucket, published=True)) for run in runs]
    sides = [([first[side] for first, _ in pairs], [second[side] for _, second in pairs]) for side in (0, 1)]
    return dict(zip(MEASURES, multi_bootstrap(sides, relations_only=relations_only), strict=False))


def paired_buckets(runs: Sequence[ScoredRows], bucket: str, rule: MatchRule) -> dict[str, PairedDifference]:
    """The second bucket minus the first, on the same documents and seeds."""
    first, second = ([run.sums(rule, (bucket, number)) for run in runs] for number in (FIRST, SECOND))
    return paired_bootstrap(first, second)


def paired_systems(
    first: Sequence[ScoredRows], second: Sequence[ScoredRows], rule: MatchRule
) -> dict[str, PairedDifference]:
    """The second system minus the first, on the same documents, a seed of one beside a seed of the other."""
    if len({(*run.asked,) for run in (*first, *second)}) != 1 or len(first) != len(second):
        raise ValueError("systems are paired on the same documents and as many seeds")
    return paired_bootstrap([run.sums(rule) for run in first], [run.sums(rule) for run in second])
