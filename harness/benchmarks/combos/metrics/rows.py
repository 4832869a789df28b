"""Relations and predictions as rows: what the evaluator compares, in any order and however odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.benchmarks.combos.documents import COMB, LABELS, NEG, NO_COMB, POS

DocumentId = str | int

# what a label counts as: no relation, any relation, a positive one
NONE, OTHER, POSITIVE = range(3)
_CLASSES = {LABELS[NO_COMB]: NONE, LABELS[COMB]: OTHER, LABELS[NEG]: OTHER, LABELS[POS]: POSITIVE}


class RelationRow(NamedTuple):
    """Drugs of a document, listed as somebody listed them, and their class: 0 none, 1 other, 2 positive."""

    document: DocumentId
    spans: tuple[int, ...]
    label: int


def class_of(label: int | str) -> int:
    """The class of a label, or of its number in the published label map; `ValueError` for all else."""
    number = _CLASSES.get(label) if isinstance(label, str) else label
    if number not in (NONE, OTHER, POSITIVE):
        raise ValueError(f"label {label!r} is none of {', '.join(_CLASSES)}, 0, 1 and 2")
    return number


def oddities(predictions: Sequence[RelationRow], drug_counts: Mapping[DocumentId, int]) -> list[str]:
    """What is odd in predictions, and how it counts; `drug_counts` are those of the known documents."""
    lists = {(row.document, row.spans) for row in predictions}
    sets = {(document, frozenset(spans)) for document, spans in lists}
    known = [row for row in predictions if row.document in drug_counts]
    counts = {
        "of unknown documents count as wrong": len(predictions) - len(known),
        "with drugs that the document does not have count as they are": sum(
            not {*row.spans} <= {*range(drug_counts[row.document])} for row in known
        ),
        "of fewer than two drugs match nothing": sum(len({*row.spans}) < 2 for row in predictions),
        "repeat a list: as published once for each label": len(predictions) - len(lists),
        "list a set in another order: as published one more": len(lists) - len(sets),
    }
    return [f"{count} {text}" for text, count in counts.items() if count]
