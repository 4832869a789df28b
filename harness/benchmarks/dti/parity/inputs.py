"""What golden tasks are made from: the tables that lie beside them, as a dataset."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData
from harness.benchmarks.dti.dataset import LEADING, MEMBER, DtiDataset
from harness.benchmarks.dti.splits.form import FORM
from harness.benchmarks.dti.splits.generator.bindings import Bindings
from harness.benchmarks.dti.splits.generator.folds import order_of_folds

Row = dict[str, str]
Codes = npt.NDArray[np.int64]

_BINDINGS, _DRUGS, _TARGETS = (
    "beta_positives_12240.csv.gz",
    "beta_drug_smiles.csv.gz",
    "targets_with_sequence_known.csv.gz",
)
_DRUG_CLASSES, _TARGET_CLASSES, _CLASS_BINDINGS = (
    "t2_class_K.csv",
    "t3_class_K.csv",
    "test23_class_positives.csv.gz",
)
_DISEASES, _TRIALS, _TRIAL_TARGETS = "t5_disease_K.csv", "test6_annotation.csv.gz", "test6_disease_targets.csv.gz"
INPUTS = frozenset(
    {_BINDINGS, _DRUGS, _TARGETS, _DRUG_CLASSES, _TARGET_CLASSES, _CLASS_BINDINGS, _DISEASES, _TRIALS}
    | {_TRIAL_TARGETS, "inventory_repo_files.csv.gz", "test5_disease_clusters.csv.gz"}
)


def rows_of(path: Path) -> list[Row]:
    """The rows of a table, compressed or not; none where there is no such file."""
    if not path.exists():
        return []
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            return list(csv.DictReader(lines))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise CorruptData(f"not a readable table: {error}", where=str(path), todo="get this file again") from None


class _Groups:
    """Groups in the form of a dataset, added one by one."""

    def __init__(self, dataset: DtiDataset) -> None:
        self.drugs = {name: place for place, name in enumerate(dataset.drug_ids)}
        self.targets = {name: place for place, name in enumerate(dataset.target_ids)}
        self.bindings = Bindings(dataset)
        self.names: list[str] = []
        self.sizes: list[int] = []
        self.members: list[tuple[int, int, int]] = []
        self.pairs: list[tuple[int, int, int]] = []

    def codes(self, rows: Sequence[Row], drug: str = "drug", target: str = "target") -> Codes:
        """The pairs of rows of which both nodes are known."""
        pairs = [(row[drug].strip().lower(), row[target].strip().lower()) for row in rows]
        known = [(self.drugs[d], self.targets[t]) for d, t in pairs if d in self.drugs and t in self.targets]
        places = np.array(known, dtype=np.int64).reshape(-1, 2)
        return self.bindings.code(places[:, 0], places[:, 1])

    def add(self, name: str, size: int, members: Sequence[int], leading: Sequence[int], codes: Codes) -> None:
        """Add a group. A size of 0 says that its bindings are not known whole."""
        number = len(self.names)
        self.names.append(name)
        self.sizes.append(size)
        self.members += [(number, MEMBER, node) for node in members]
        self.members += [(number, LEADING, node) for node in leading]
        drugs, targets = self.bindings.drugs_of(codes).tolist(), self.bindings.targets_of(codes).tolist()
        self.pairs += [(number, drug, target) for drug, target in zip(drugs, targets, strict=True)]


@cache
def dataset_beside(folder: Path) -> DtiDataset | None:
    """The dataset of the tables in a folder; None where the bindings are not among them."""
    bindings = rows_of(folder / _BINDINGS)
    if not bindings:
        return None
    drugs = tuple(row["drug"] for row in rows_of(folder / _DRUGS)) or _nodes(bindings, "drug")
    targets = tuple(row["target"] for row in rows_of(folder / _TARGETS)) or _nodes(bindings, "target")
    places = [{name: place for place, name in enumerate(names)} for names in (drugs, targets)]
    pairs = np.array([(places[0][row["drug"]], places[1][row["target"]]) for row in bindings], dtype=np.int32)
    texts = ("",) * len(drugs), ("",) * len(targets)
    plain = DtiDataset("golden", pairs, np.ones(len(pairs)), drugs, targets, *texts)
    groups = _Groups(plain)
    _add_classes(groups, folder)
    _add_diseases(groups, folder)
    return replace(
        plain,
        group_names=tuple(groups.names),
        group_sizes=np.array(groups.sizes, dtype=np.int32),
        group_members=np.array(groups.members, dtype=np.int32).reshape(-1, 3),
        group_pairs=np.array(groups.pairs, dtype=np.int32).reshape(-1, 3),
    )


def _nodes(rows: Sequence[Row], column: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row[column] for row in rows))


def _add_classes(groups: _Groups, folder: Path) -> None:
    bindings = groups.bindings
    for row in rows_of(folder / _DRUG_CLASSES):
        drugs = [groups.drugs[name] for name in row["K_in_P_in_iteration_order"].split()]
        leading = [groups.drugs[name] for name in row["leading_drugs"].split()]
        # a drug's bindings are added in their own order
        of_drugs = bindings.drugs_of(bindings.codes)
        codes = np.concatenate([bindings.codes[of_drugs == drug] for drug in drugs])
        groups.add(f"test2/{_class_of(row)}", int(row["size_K"]), drugs, leading, codes)
    orders = {_class_of(row): row["K_in_iteration_order"].split() for row in rows_of(folder / _TARGET_CLASSES)}
    folds = _by(rows_of(folder / "test3_repo_testpairs.csv.gz"), "task")
    for name, rows in _by(rows_of(folder / _CLASS_BINDINGS), "class", of="targetClass").items():
        codes = groups.codes(rows)
        targets = bindings.targets.set(bindings.targets_of(codes))
        if name in orders:
            targets = np.array([groups.targets[target] for target in orders[name]])
        whole = rows[0]["complete"] == "1"
        if whole and name in folds:
            asked = [row for row in folds[name] if row["label"] == "1" and row["job"] == folds[name][0]["job"]]
            tests = [
                groups.codes(fold) for _, fold in sorted(_by(asked, "fold").items(), key=lambda one: int(one[0]))
            ]
            codes = order_of_folds(bindings, tests, FORM.usual_seed)
        nodes = (targets + len(groups.drugs)).tolist()
        groups.add(f"test3/{name}", len(targets) if whole else 0, nodes, [], codes)


def _add_diseases(groups: _Groups, folder: Path) -> None:
    first = len(groups.drugs)
    published = _by(rows_of(folder / "test5_repo_testpairs.csv.gz"), "task")
    for row in rows_of(folder / _DISEASES):
        rows = published.get(row["disease"], [])
        asked = [one for one in rows if one["label"] == "1" and one["job"] == rows[0]["job"]]
        nodes = [groups.targets[name] + first for name in row["K_in_iteration_order"].split()]
        groups.add(f"test5/{row['disease']}", len(nodes), nodes, [], groups.codes(asked))
    targets = _by(rows_of(folder / _TRIAL_TARGETS), "disease")
    for name, rows in _by(rows_of(folder / _TRIALS), "disease").items():
        codes = groups.codes(rows, "drug_id", "target_id")
        own = [groups.targets[row["target"]] for row in targets.get(name, []) if row["target"] in groups.targets]
        if own:
            nodes = (groups.bindings.targets.set(np.array(own)) + first).tolist()
            groups.add(f"test6/{name}", len(nodes), nodes, [], codes[~groups.bindings.known[codes]])


def _class_of(row: Row) -> str:
    return f"{row['scheme'].rpartition('/')[2]}:{row['class']}"


def _by(rows: Sequence[Row], column: str, of: str = "") -> dict[str, list[Row]]:
    """Rows by a column, in the order of its values; diseases are written in several ways."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        if column == "class":
            if row["scheme"].startswith(of):
                parts.setdefault(_class_of(row), []).append(row)
        else:
            text = row[column].strip().lower().replace(" ", "_") if column == "disease" else row[column]
            parts.setdefault(text, []).append(row)
    return parts
