"""An answer: a line of JSON for each asked document, with the combinations of its drugs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.base.errors import InvalidPredictions
from harness.benchmarks.answers import check_report, regular_file
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.documents import COMB, LABELS, NO_COMB, POS
from harness.benchmarks.combos.names import ANSWER
from harness.benchmarks.combos.splits.form import DocumentSplit
from harness.benchmarks.ranking import Ranking

_ANSWERS = tuple(LABELS[number] for number in (POS, COMB, NO_COMB))
_FIELDS = {"spans", "label", "score"}


@dataclass(frozen=True)
class Combination:
    """Drugs of a document in ascending order, what is said of taking them together, and how certain that is."""

    spans: tuple[int, ...]
    label: str
    score: float


# of every asked document
Predictions = tuple[tuple[Combination, ...], ...]


@dataclass(frozen=True)
class CombinationQuestion:
    """How many drugs each asked document has."""

    drug_counts: tuple[int, ...]

    def read(self, folder: Path) -> Predictions:
        """The combinations of every document; an error says why a file is no answer."""
        check_report(folder)
        return combinations_in(regular_file(folder, ANSWER).read_bytes().splitlines(), self.drug_counts)


def combinations_in(lines: Sequence[bytes], drug_counts: Sequence[int]) -> Predictions:
    """The combinations of documents with so many drugs, or `InvalidPredictions`."""
    if len(lines) != len(drug_counts):
        raise InvalidPredictions(f"{ANSWER}: {len(lines)} lines for {len(drug_counts)} documents")
    return tuple(
        _combinations(line, drugs, f"{ANSWER}: line {number}")
        for number, (line, drugs) in enumerate(zip(lines, drug_counts, strict=True), 1)
    )


def _combinations(line: bytes, drugs: int, where: str) -> tuple[Combination, ...]:
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidPredictions(f"{where}: is not JSON, or is cut short: {error}") from None
    if not isinstance(row, dict) or {*row} != {"combinations"} or not isinstance(row["combinations"], list):
        raise InvalidPredictions(f'{where}: is not {{"combinations": [...]}}')
    combinations = tuple(
        _combination(one, drugs, f"{where}: combination {number}")
        for number, one in enumerate(row["combinations"])
    )
    before: dict[tuple[int, ...], int] = {}
    for number, one in enumerate(combinations):
        if one.spans in before:
            again = f"drugs {list(one.spans)} are also those of combination {before[one.spans]}"
            raise InvalidPredictions(f"{where}: combination {number}: {again}")
        before[one.spans] = number
    return combinations


def _combination(row: Any, drugs: int, where: str) -> Combination:
    if not isinstance(row, dict) or {*row} != _FIELDS:
        raise InvalidPredictions(f"{where}: has not exactly the fields {', '.join(sorted(_FIELDS))}")
    spans, label, score = row["spans"], row["label"], row["score"]
    if not isinstance(spans, list) or any(type(span) is not int for span in spans):
        raise InvalidPredictions(f"{where}: spans {spans!r:.60} is not a list of whole numbers")
    if wrong := [span for span in spans if not 0 <= span < drugs]:
        raise InvalidPredictions(f"{where}: drug {wrong[0]} is none of the {drugs} of the document")
    if len(spans) < 2 or any(one >= other for one, other in pairwise(spans)):
        raise InvalidPredictions(f"{where}: spans {spans} are not two or more drugs in ascending order")
    if label not in _ANSWERS:
        raise InvalidPredictions(f"{where}: label {label!r:.60} is not {', '.join(_ANSWERS)}")
    if type(score) not in (int, float) or not math.isfinite(score) or not 0 <= score <= 1:
        raise InvalidPredictions(f"{where}: score {score!r:.60} is not a number from 0 to 1")
    return Combination(tuple(spans), label, float(score))


def rank_combinations(
    dataset: CombosDataset, split: DocumentSplit, answer: Predictions, top: int | None
) -> Ranking:
    """Every combination that is named, the most certain first; equal ones in the order of the documents."""
    rows = [
        (
            document.doc_id,
            " + ".join(document.drugs[span].text for span in one.spans),
            one.label,
            one.score,
        )
        for document, combinations in zip((dataset.documents[place] for place in split.asked), answer, strict=True)
        for one in combinations
        if one.label != LABELS[NO_COMB]
    ]
    rows.sort(key=lambda row: -row[-1])
    return Ranking(("document", "drugs", "label", "score"), tuple(rows[:top]))
