"""What a converted dataset of drug-target pairs must be before anything is computed from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.base.errors import CorruptData
from harness.base.repeats import repeated
from harness.benchmarks.dti.dataset import LEADING, DtiDataset
from harness.benchmarks.structures import is_structure

# what is wrong, where in the dataset, what to do
Fault = tuple[str, str, str]
# to these a similarity must lie in 0 to 1: a cosine of equal things may come out as 1.0000000000000002
SIMILARITY_DIGITS = 9


def checked_remarks(dataset: DtiDataset) -> tuple[str, ...]:
    """Remarks on what is odd but allowed; `CorruptData` for what is not."""
    for faults in (_of_shapes, _of_names, _of_numbers, _of_pairs):
        for what, where, todo in faults(dataset):
            raise CorruptData(what, where=f"dataset {dataset.name}{where}", todo=todo)
    drugs, targets = (len(np.unique(column)) for column in dataset.pairs.T)
    known = zip(dataset.drug_ids, dataset.smiles, strict=True)
    unread = [name for name, text in known if text and not is_structure(text)]
    counts = (
        (dataset.smiles.count(""), dataset.drugs, "drugs have no structure"),
        (dataset.sequences.count(""), dataset.targets, "targets have no sequence"),
        (dataset.drugs - drugs, dataset.drugs, "drugs are in no pair"),
        (dataset.targets - targets, dataset.targets, "targets are in no pair"),
        (len(unread), dataset.drugs, f"drugs have a SMILES that RDKit can't read, '{''.join(unread[:1])}' first"),
    )
    return tuple(f"{count} of {total} {what}" for count, total, what in counts if count)


def _of_shapes(dataset: DtiDataset) -> Iterator[Fault]:
    drugs, targets, pairs = dataset.drugs, dataset.targets, len(dataset.pairs)
    shapes: dict[str, tuple[tuple[int, ...], ...]] = {
        "pairs": ((pairs, 2),),
        "values": ((pairs,),),
        "released": ((0,), (pairs,)),
        "drug_similarity": ((0, 0), (drugs, drugs)),
        "target_similarity": ((0, 0), (targets, targets)),
        "group_sizes": ((len(dataset.group_names),),),
        **{name: ((len(getattr(dataset, name)), 3),) for name in ("edges", "group_members", "group_pairs")},
    }
    for name, allowed in shapes.items():
        if (own := getattr(dataset, name).shape) not in allowed:
            yield f"'{name}' has shape {own}, not {allowed[-1]}", "", "correct the converter"
    for name, texts, count in (("smiles", dataset.smiles, drugs), ("sequences", dataset.sequences, targets)):
        if len(texts) != count:
            yield f"'{name}' has not one text for each", "", "give an empty text where none is known"
    if not pairs:
        yield "there is no pair", "", "give at least one drug with a target it binds"


def _of_names(dataset: DtiDataset) -> Iterator[Fault]:
    kinds = "drugs", "targets", "other nodes", "relations", "groups"
    ids = dataset.drug_ids, dataset.target_ids, dataset.node_names, dataset.relation_names, dataset.group_names
    for kind, names in zip(kinds, ids, strict=True):
        # identifiers in other cases are the same: sources disagree on case
        if twice := repeated(map(str.lower, names)):
            what = f"{len(twice)} {kind} have a name that others have, '{twice[0]}' for one"
            yield what, "", "give each a name of its own"


def _of_numbers(dataset: DtiDataset) -> Iterator[Fault]:
    drugs, known, groups = dataset.drugs, dataset.drugs + dataset.targets, len(dataset.group_names)
    # one more than the largest number of each column
    ends = {
        "pairs": (drugs, dataset.targets),
        "edges": (len(dataset.relation_names), dataset.nodes, dataset.nodes),
        "group_members": (groups, LEADING + 1, known),
        "group_pairs": (groups, drugs, dataset.targets),
    }
    for name, most in ends.items():
        numbers = getattr(dataset, name)
        for row, column in np.argwhere((numbers < 0) | (numbers >= most)).tolist():
            what = f"'{name}' holds {numbers[row, column]}, which is not in 0 to {most[column] - 1}"
            yield what, f": row {row}", "correct the number, or add what it stands for"
    for name in ("values", "drug_similarity", "target_similarity"):
        for row, *_ in np.argwhere(~np.isfinite(getattr(dataset, name))).tolist():
            yield f"'{name}' has a number that is not finite", f": row {row}", "correct the number"
    # methods walk along them as along weights of edges, and 1 is how similar each is to itself
    for name in ("drug_similarity", "target_similarity"):
        similarity = getattr(dataset, name)
        rounded = similarity.round(SIMILARITY_DIGITS)
        for row, column in np.argwhere((rounded < 0) | (rounded > 1)).tolist():
            what = f"'{name}' holds {similarity[row, column]}, which is not in 0 to 1"
            yield what, f": row {row}, column {column}", "scale it"


def _of_pairs(dataset: DtiDataset) -> Iterator[Fault]:
    keys = dataset.pairs[:, 0].astype(np.int64) * dataset.targets + dataset.pairs[:, 1]
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(np.diff(keys[order]) == 0)
    if len(twice):
        first, second = order[twice[0] : twice[0] + 2].tolist()
        drug, target = dataset.pairs[second]
        what = f"the pair '{dataset.drug_ids[drug]}', '{dataset.target_ids[target]}' is there twice"
        yield what, f": pairs {first} and {second}", "keep one of them"
    # 0 drugs, 1 targets, 2 others
    kinds = np.searchsorted(np.cumsum([dataset.drugs, dataset.targets]), dataset.edges[:, 1:], side="right")
    joins = np.flatnonzero((np.sort(kinds, axis=1) == (0, 1)).all(axis=1))
    if len(joins):
        what = "an edge joins a drug and a target: it could tell a method what is asked"
        yield what, f": edge {joins[0]}", "give it as a pair"
