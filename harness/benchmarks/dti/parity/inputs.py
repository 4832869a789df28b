"""What golden tasks are made from: the tables that lie beside them, as a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from harness.benchmarks.dti.converters.beta import groups
from harness.benchmarks.dti.converters.beta.groups import NamedGroup
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.records import Pair, table

_BINDINGS, _DRUGS = "beta_positives_12240.csv.gz", "beta_drug_smiles.csv.gz"
_TARGETS, _DISEASES, _NEW = "targets_with_sequence_known.csv.gz", "t5_disease_K.csv", "test5_repo_testpairs.csv.gz"
_TRIALS, _TRIAL_TARGETS = "test6_annotation.csv.gz", "test6_disease_targets.csv.gz"
_OTHERS = {"test23_class_positives.csv.gz", "inventory_repo_files.csv.gz", "test5_disease_clusters.csv.gz"}
_CLASSES = {groups.DRUG_CLASSES, groups.TARGET_CLASSES}
# the tables that are no tasks
INPUTS = _OTHERS | _CLASSES | {_BINDINGS, _DRUGS, _TARGETS, _DISEASES, _TRIALS, _TRIAL_TARGETS}


@cache
def dataset_beside(folder: Path) -> DtiDataset | None:
    """The dataset of the tables in a folder; None where the bindings are not among them."""
    if not all((folder / name).is_file() for name in (_BINDINGS, _DRUGS, _TARGETS)):
        return None
    drugs, targets = _column(folder / _DRUGS, "drug"), _column(folder / _TARGETS, "target")
    known = list(zip(_column(folder / _BINDINGS, "drug"), _column(folder / _BINDINGS, "target"), strict=True))
    number = {name: place for place, name in enumerate([*drugs, *targets])}
    files = {path.name: path for path in folder.iterdir()}
    if groups.FOLDS not in files:
        files.pop(groups.TARGET_CLASSES, None)
    own = [*groups.read_classes(files, known), *_new(folder), *_trials(folder, set(number), set(known))]
    return DtiDataset(
        name="golden",
        pairs=np.array([(number[drug], number[target] - len(drugs)) for drug, target in known], dtype=np.int32),
        values=np.ones(len(known)),
        drug_ids=drugs,
        target_ids=targets,
        smiles=("",) * len(drugs),
        sequences=("",) * len(targets),
        **groups.arrays_of(own, number, len(drugs)),
    )


def _column(path: Path, name: str) -> tuple[str, ...]:
    return tuple(row[name].lower() for _, row in table(path, (name,)))


def _new(folder: Path) -> Iterator[NamedGroup]:
    """The diseases of Test 5, whose new bindings only the published tasks tell."""
    rows = list(_rows(folder / _NEW, "task", "drug", "target", "label"))
    for row in _rows(folder / _DISEASES, "disease", "K_in_iteration_order"):
        name, members = row["disease"], row["K_in_iteration_order"].split()
        own = [(one["drug"], one["target"]) for one in rows if one["task"] == name and one["label"] == "1"]
        yield NamedGroup(f"test5/{name}", list(dict.fromkeys(own)), members, size=len(members))


def _trials(folder: Path, nodes: set[str], known: set[Pair]) -> Iterator[NamedGroup]:
    """The diseases of Test 6: annotated pairs of known nodes that are not known to bind."""
    members: dict[str, dict[str, None]] = {}
    for row in _rows(folder / _TRIAL_TARGETS, "disease", "target"):
        if row["target"] in nodes:
            members.setdefault(_disease(row), {})[row["target"]] = None
    pairs: dict[str, dict[Pair, None]] = {}
    for row in _rows(folder / _TRIALS, "disease", "drug_id", "target_id"):
        pair = row["drug_id"].lower(), row["target_id"].lower()
        if nodes.issuperset(pair) and pair not in known:
            pairs.setdefault(_disease(row), {})[pair] = None
    for disease, own in members.items():
        yield NamedGroup(f"test6/{disease}", list(pairs.get(disease, {})), list(own), size=len(own))


def _rows(path: Path, *columns: str) -> Iterator[dict[str, str]]:
    return (row for _, row in table(path, columns)) if path.is_file() else iter(())


def _disease(row: dict[str, str]) -> str:
    return row["disease"].lower().replace(" ", "_")
