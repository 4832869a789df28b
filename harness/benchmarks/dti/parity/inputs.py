"""What golden tasks are made from: the tables that lie beside them, as a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from harness.benchmarks.dti.converters.beta.groups import (
    DRUG_CLASSES,
    FOLDS,
    TARGET_CLASSES,
    Known,
    NamedGroup,
    arrays_of,
    read_classes,
)
from harness.benchmarks.dti.converters.beta.records import table
from harness.benchmarks.dti.dataset import DtiDataset

_BINDINGS, _DRUGS = "beta_positives_12240.csv.gz", "beta_drug_smiles.csv.gz"
_TARGETS, _DISEASES, _NEW = "targets_with_sequence_known.csv.gz", "t5_disease_K.csv", "test5_repo_testpairs.csv.gz"
_TRIALS, _TRIAL_TARGETS = "test6_annotation.csv.gz", "test6_disease_targets.csv.gz"
_OTHERS = {"test23_class_positives.csv.gz", "inventory_repo_files.csv.gz", "test5_disease_clusters.csv.gz"}
# the tables that are no tasks
INPUTS = _OTHERS | {_BINDINGS, _DRUGS, _TARGETS, _DISEASES, _TRIALS, _TRIAL_TARGETS, DRUG_CLASSES, TARGET_CLASSES}


@cache
def dataset_beside(folder: Path) -> DtiDataset | None:
    """The dataset of the tables in a folder; None where the bindings are not among them."""
    if not all((folder / name).is_file() for name in (_BINDINGS, _DRUGS, _TARGETS)):
        return None
    drugs, targets = _column(folder / _DRUGS, "drug"), _column(folder / _TARGETS, "target")
    known = list(zip(_column(folder / _BINDINGS, "drug"), _column(folder / _BINDINGS, "target"), strict=True))
    number = {name: place for place, name in enumerate([*drugs, *targets])}
    files = {path.name: path for path in folder.iterdir()}
    if FOLDS not in files:
        files.pop(TARGET_CLASSES, None)
    groups = [*read_classes(files, known), *_new(folder)]
    groups += _trials(folder, set(number), set(known))
    return DtiDataset(
        name="golden",
        pairs=np.array([(number[drug], number[target] - len(drugs)) for drug, target in known], dtype=np.int32),
        values=np.ones(len(known)),
        drug_ids=drugs,
        target_ids=targets,
        smiles=("",) * len(drugs),
        sequences=("",) * len(targets),
        **arrays_of(groups, number, len(drugs)),
    )


def _column(path: Path, name: str) -> tuple[str, ...]:
    return tuple(row[name].lower() for _, row in table(path, (name,)))


def _new(folder: Path) -> Iterator[NamedGroup]:
    """The diseases of Test 5, whose new bindings only the published tasks tell."""
    bindings: dict[str, dict[Known, None]] = {}
    for row in _rows(folder / _NEW, "task", "drug", "target", "label"):
        if row["label"] == "1":
            bindings.setdefault(row["task"], {})[row["drug"], row["target"]] = None
    for row in _rows(folder / _DISEASES, "disease", "K_in_iteration_order"):
        members = row["K_in_iteration_order"].split()
        yield NamedGroup(
            f"test5/{row['disease']}", list(bindings.get(row["disease"], {})), members, size=len(members)
        )


def _trials(folder: Path, nodes: set[str], known: set[Known]) -> Iterator[NamedGroup]:
    """The diseases of Test 6: annotated pairs of known nodes that are not known to bind."""
    targets: dict[str, dict[str, None]] = {}
    for row in _rows(folder / _TRIAL_TARGETS, "disease", "target"):
        if row["target"] in nodes:
            targets.setdefault(_disease(row), {})[row["target"]] = None
    pairs: dict[str, dict[Known, None]] = {}
    for row in _rows(folder / _TRIALS, "disease", "drug_id", "target_id"):
        pair = row["drug_id"].lower(), row["target_id"].lower()
        if nodes.issuperset(pair) and pair not in known:
            pairs.setdefault(_disease(row), {})[pair] = None
    for disease, own in targets.items():
        yield NamedGroup(f"test6/{disease}", list(pairs.get(disease, {})), list(own), size=len(own))


def _rows(path: Path, *columns: str) -> Iterator[dict[str, str]]:
    return (row for _, row in table(path, columns)) if path.is_file() else iter(())


def _disease(row: dict[str, str]) -> str:
    return row["disease"].lower().replace(" ", "_")
