"""The inputs of a method: training documents with their relations, documents to read, nothing else.

Documents outside are left out, and a relation of an asked document never leaves the harness.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import unknown
from harness.base.input_files import Given
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.names import ANSWER, INPUTS
from harness.benchmarks.combos.splits.form import OUTSIDE, TEST, TRAIN, DocumentSplit
from harness.benchmarks.order import Arrangement, permutation, places_of

Rows = npt.NDArray[np.integer[Any]]


def inputs_of(dataset: CombosDataset, split: DocumentSplit, names: Sequence[str]) -> dict[str, Given]:
    """The inputs of every method, and those that this one declares."""
    documents = np.flatnonzero(split.parts != OUTSIDE)
    number = np.cumsum(split.parts != OUTSIDE) - 1
    own_spans = split.parts[dataset.spans[:, 0]] != OUTSIDE
    learned = split.parts[dataset.relations[:, 0]] == TRAIN
    members = dataset.relation_spans[learned[dataset.relation_spans[:, 0]]]
    inputs: dict[str, Given] = {
        "sentences": [dataset.sentences[place] for place in documents],
        "spans": _renumbered(dataset.spans[own_spans], number),
        "relations": _renumbered(dataset.relations[learned], number),
        "relation_spans": _renumbered(members, np.cumsum(learned) - 1),
        "train": number[split.parts == TRAIN].astype(np.int32),
        "asked": number[split.parts == TEST].astype(np.int32),
    }
    for name in names:
        if name == "paragraphs":
            inputs[name] = [dataset.paragraphs[place] for place in documents]
        elif name == "span_texts":
            inputs[name] = [dataset.span_texts[row] for row in np.flatnonzero(own_spans)]
        elif name not in inputs:
            raise unknown("input", name, INPUTS, where="method.toml: inputs")
    return inputs


def _renumbered(rows: Rows, number: Rows) -> npt.NDArray[np.int32]:
    """The rows with other numbers in their first column."""
    return np.column_stack([number[rows[:, 0]], rows[:, 1:]]).astype(np.int32)


def in_order(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """The same problem in the order of a secret: documents and the drugs of each have other numbers."""
    moved = permutation(order, "documents", len(inputs["sentences"]))
    number = places_of(moved)
    spans, relations, members = (np.asarray(inputs[name]) for name in ("spans", "relations", "relation_spans"))
    # the drugs of a document in another order, documents in theirs
    rows = np.lexsort((permutation(order, "spans", len(spans)), number[spans[:, 0]]))
    first_before, first_now = (_first_rows(column, len(moved)) for column in (spans[:, 0], number[spans[rows, 0]]))
    # places of drugs in their documents: now by before, row by row, and before by now
    drug_now = places_of(rows) - first_now[number[spans[:, 0]]]
    drug_before = rows - first_before[spans[rows, 0]]
    places = np.argsort(number[relations[:, 0]], kind="stable")
    listed = relations[members[:, 0], 0]
    own = np.column_stack([places_of(places)[members[:, 0]], drug_now[first_before[listed] + members[:, 1]]])
    new: dict[str, Given] = dict(inputs)
    new["spans"] = _renumbered(spans[rows], number)
    new["relations"] = _renumbered(relations[places], number)
    new["relation_spans"] = own[np.lexsort((own[:, 1], own[:, 0]))].astype(np.int32)
    for name, texts in (("sentences", moved), ("paragraphs", moved), ("span_texts", rows)):
        if name in new:
            new[name] = [new[name][place] for place in texts]
    for name in ("train", "asked"):
        new[name] = np.sort(number[np.asarray(inputs[name])]).astype(np.int32)
    asked = np.asarray(inputs["asked"])
    lines = np.searchsorted(np.asarray(new["asked"]), number[asked])
    # one list for each asked document: the number before of each drug now
    counts = np.bincount(spans[:, 0], minlength=len(moved))
    before = [drug_before[first_now[place] :][: counts[moved[place]]].tolist() for place in number[asked]]

    def restore(answer: Sequence[bytes]) -> list[bytes]:
        return [_line(answer[line], drugs) for line, drugs in zip(lines, before, strict=True)]

    return Arrangement(new, {ANSWER: restore})


def _first_rows(documents: Rows, count: int) -> npt.NDArray[np.int64]:
    """The row in which each document begins; documents count up."""
    return np.searchsorted(documents, np.arange(count))


def _line(line: bytes, drugs: Sequence[int]) -> bytes:
    """A line with the drugs' other numbers; combinations by size, then by drugs."""
    row = json.loads(line)
    for one in row["combinations"]:
        one["spans"] = sorted(drugs[drug] for drug in one["spans"])
    row["combinations"].sort(key=lambda one: (len(one["spans"]), one["spans"]))
    return (json.dumps(row, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()
