"""Notes of one's own beside those of a dataset: without a subject, so that they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.benchmarks.notes.dataset import Notes

from harness.benchmarks.new_item import Kind, NewItem, Usual, check_name

KINDS = {"note": Kind("text", named=False, lists=("note_ids",), between_lines=" ")}
USUAL = Usual("word_counts", ("notes",))


def with_new(dataset: Notes, items: Sequence[NewItem]) -> Notes:
    """The dataset with further notes behind its own."""
    names = set(map(str.lower, dataset.note_ids))
    for item in items:
        check_name(item, names)
    return replace(
        dataset,
        note_ids=(*dataset.note_ids, *(item.name for item in items)),
        texts=(*dataset.texts, *(item.text for item in items)),
        subjects=(*dataset.subjects, *("" for _ in items)),
        remarks=(),
    )
