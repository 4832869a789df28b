"""What a converted dataset of drug-target pairs must be before anything is computed from it.

Refused: wrong shapes, numbers out of range, names or pairs that occur twice. What is odd is remarked on.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from harness.base.errors import CorruptData
from harness.benchmarks.dti.dataset import LEADING, DtiDataset


def checked_remarks(dataset: DtiDataset) -> tuple[str, ...]:
    """Remarks on what is odd but allowed; `CorruptData` for what is not."""
    where = f"dataset {dataset.name}"
    _check_shapes(dataset, where)
    _check_names(dataset, where)
    _check_ranges(dataset, where)
    remarks = []
    for kind, texts in (("drugs", dataset.smiles), ("targets", dataset.sequences)):
        if lacking := sum(not text for text in texts):
            remarks.append(f"{lacking} of {len(texts)} {kind} have no {_TEXTS[kind]}")
    for column, (kind, count) in enumerate((("drugs", dataset.drugs), ("targets", dataset.targets))):
        if lone := count - len(np.unique(dataset.pairs[:, column])):
            remarks.append(f"{lone} of {count} {kind} are in no pair")
    return tuple(remarks)


_TEXTS = {"drugs": "structure", "targets": "sequence"}


def _check_shapes(dataset: DtiDataset, where: str) -> None:
    drugs, targets, pairs = dataset.drugs, dataset.targets, len(dataset.pairs)
    shapes = {
        "pairs": ((pairs, 2),),
        "values": ((pairs,),),
        "released": ((0,), (pairs,)),
        "edges": ((len(dataset.edges), 3),),
        "drug_similarity": ((0, 0), (drugs, drugs)),
        "target_similarity": ((0, 0), (targets, targets)),
        "group_sizes": ((len(dataset.group_names),),),
        "group_members": ((len(dataset.group_members), 3),),
        "group_pairs": ((len(dataset.group_pairs), 3),),
    }
    for name, allowed in shapes.items():
        if (own := getattr(dataset, name).shape) not in allowed:
            raise CorruptData(
                f"'{name}' has shape {own}, not {allowed[-1]}", where=where, todo="correct the converter"
            )
    for name, count in (("smiles", drugs), ("sequences", targets)):
        if len(getattr(dataset, name)) != count:
            raise CorruptData(
                f"'{name}' has not one text for each", where=where, todo="give an empty text where none is known"
            )
    if not pairs:
        raise CorruptData("there is no pair", where=where, todo="give at least one drug with a target it binds")


def _check_names(dataset: DtiDataset, where: str) -> None:
    for kind, names in (
        ("drugs", dataset.drug_ids),
        ("targets", dataset.target_ids),
        ("other nodes", dataset.node_names),
        ("relations", dataset.relation_names),
        ("groups", dataset.group_names),
    ):
        # identifiers in other cases are the same: sources disagree on case
        twice = [name for name, count in Counter(name.lower() for name in names).items() if count > 1]
        if twice:
            raise CorruptData(
                f"{len(twice)} {kind} have a name that others have, '{twice[0]}' for one",
                where=where,
                todo="give each a name of its own",
            )


def _check_ranges(dataset: DtiDataset, where: str) -> None:
    drugs, targets = dataset.drugs, dataset.targets
    groups = len(dataset.group_names)
    for name, values, end in (
        ("pairs", dataset.pairs[:, 0], drugs),
        ("pairs", dataset.pairs[:, 1], targets),
        ("edges", dataset.edges[:, 0], len(dataset.relation_names)),
        ("edges", dataset.edges[:, 1:], dataset.nodes),
        ("group_members", dataset.group_members[:, 0], groups),
        ("group_members", dataset.group_members[:, 1], LEADING + 1),
        ("group_members", dataset.group_members[:, 2], drugs + targets),
        ("group_pairs", dataset.group_pairs[:, 0], groups),
        ("group_pairs", dataset.group_pairs[:, 1], drugs),
        ("group_pairs", dataset.group_pairs[:, 2], targets),
    ):
        outside = np.argwhere((values < 0) | (values >= end))
        if len(outside):
            row = int(outside[0][0])
            raise CorruptData(
                f"'{name}' holds {values[tuple(outside[0])]}, which is not in 0 to {end - 1}",
                where=f"{where}: row {row}",
                todo="correct the number, or add what it stands for",
            )
    for name, numbers in (
        ("values", dataset.values),
        ("drug_similarity", dataset.drug_similarity),
        ("target_similarity", dataset.target_similarity),
    ):
        if not np.isfinite(numbers).all():
            row = int(np.argwhere(~np.isfinite(numbers))[0][0])
            raise CorruptData(f"'{name}' has a number that is not finite", where=f"{where}: row {row}")
    keys = dataset.pairs[:, 0].astype(np.int64) * targets + dataset.pairs[:, 1]
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(twice):
        first, second = (int(order[step]) for step in (twice[0], twice[0] + 1))
        drug, target = dataset.pairs[second]
        raise CorruptData(
            f"the pair '{dataset.drug_ids[drug]}', '{dataset.target_ids[target]}' is there twice",
            where=f"{where}: pairs {first} and {second}",
            todo="keep one of them",
        )
    ends = np.sort(dataset.edges[:, 1:], axis=1)
    joins = (ends[:, 0] < drugs) & (ends[:, 1] >= drugs) & (ends[:, 1] < drugs + targets)
    if joins.any():
        raise CorruptData(
            "an edge joins a drug and a target: it could tell a method what is asked",
            where=f"{where}: edge {int(np.flatnonzero(joins)[0])}",
            todo="give it as a pair",
        )
