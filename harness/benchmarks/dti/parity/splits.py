"""Golden tasks: made again by the strategies, and equal row by row, in order; and what Java itself does.

A table holds whole test files, only their bindings (where the negatives are not public), or, where the original
files are cut at 101 lines, what these begin with. What is missing is judged by what is there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from harness.base.errors import CorruptData, DataError, MissingData, UsageError
from harness.base.layout import Layout
from harness.base.manifest_faults import plain_lines
from harness.benchmarks.dti.converters.beta import groups
from harness.benchmarks.dti.converters.beta.groups import NamedGroup
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.records import Pair, table
from harness.benchmarks.dti.splits import java
from harness.benchmarks.dti.splits.generator.bindings import NODE
from harness.benchmarks.dti.splits.generator.folds import parts_of
from harness.benchmarks.dti.splits.pairs import FORM
from harness.benchmarks.dti.splits.strategies import (
    annotated_pairs,
    connectivity,
    drug_classes,
    general,
    new_pairs,
    target_classes,
)
from harness.data import load_dataset
from harness.methods.card import Tolerance
from harness.parity.cases import SPLITS
from harness.parity.finding import ArrayFinding, CaseFinding, Standing, compare

JAVA, _DATASET = "java_primitives", "beta"
_BY_TEST = (general, connectivity, drug_classes, target_classes, new_pairs, annotated_pairs)
_STRATEGIES = dict(zip("012356", _BY_TEST, strict=True))
Row = dict[str, str]

_COLUMNS = ("test", "job", "task", "fold", "role", "drug", "target", "label")
_BINDINGS, _DRUGS = "beta_positives_12240.csv.gz", "beta_drug_smiles.csv.gz"
_TARGETS, _DISEASES, _NEW = "targets_with_sequence_known.csv.gz", "t5_disease_K.csv", "test5_repo_testpairs.csv.gz"
_TRIALS, _TRIAL_TARGETS = "test6_annotation.csv.gz", "test6_disease_targets.csv.gz"
_OTHERS = {"test23_class_positives.csv.gz", "inventory_repo_files.csv.gz", "test5_disease_clusters.csv.gz"}
_CLASSES = {groups.DRUG_CLASSES, groups.TARGET_CLASSES}
# the tables that are no tasks
INPUTS = _OTHERS | _CLASSES | {_BINDINGS, _DRUGS, _TARGETS, _DISEASES, _TRIALS, _TRIAL_TARGETS}
# the original files were published up to this line
_CUT = 101


def check_file(layout: Layout, case: str, path: Path, mirrors: Sequence[Path]) -> CaseFinding:
    """The comparison of every task of a table, or every line of what Java does."""
    if case == JAVA:
        return CaseFinding(case, SPLITS, "java.util", arrays=tuple(_java_findings(path)))
    tasks: dict[tuple[str, ...], list[Row]] = {}
    try:
        for _, row in table(path, _COLUMNS):
            tasks.setdefault(tuple(row[name] for name in _COLUMNS[:5]), []).append(row)
        dataset = dataset_beside(path.parent) or load_dataset(layout, _DATASET, DtiDataset, mirrors=mirrors)
    except CorruptData as error:
        note = f"{error.what}: neither a table of tasks nor an input of one"
        return CaseFinding(case, SPLITS, SPLITS, standing=Standing.FAILED, note=note)
    except MissingData as error:
        note = f"{error.what}; give its originals with --mirror"
        return CaseFinding(case, SPLITS, SPLITS, standing=Standing.MISSING_DATA, note=note)
    # a whole test file may have no negatives, a whole table of tasks has some
    only = all(row["label"] == "1" for rows in tasks.values() for row in rows)
    findings = tuple(_check(dataset, " ".join(of), rows, only) for of, rows in tasks.items())
    return CaseFinding(case, SPLITS, f"dataset {dataset.name}", arrays=findings)


def _check(dataset: DtiDataset, name: str, rows: Sequence[Row], bindings_only: bool) -> ArrayFinding:
    nodes = [{text.lower(): at for at, text in enumerate(ids)} for ids in (dataset.drug_ids, dataset.target_ids)]
    try:
        golden = np.array([(nodes[0][row["drug"]], nodes[1][row["target"]], int(row["label"])) for row in rows])
        strategy, train = _STRATEGIES[rows[0]["test"]], {"test": False, "train": True}[rows[0]["role"]]
        parameters = strategy.Parameters.model_validate(_parameters(rows[0]))
    except ValidationError as error:
        return ArrayFinding(
            name, Standing.FAILED, note=f"the task can't be read: {'; '.join(plain_lines(error, ()))}"
        )
    except (KeyError, ValueError) as error:
        return ArrayFinding(name, Standing.FAILED, note=f"the task can't be read: {error}")
    missing, halves, negatives = "", None, np.empty(0, dtype=np.int64)
    try:
        halves = strategy.positives(dataset, FORM.usual_seed, parameters)
        if not bindings_only and not train:
            negatives = parts_of(dataset, strategy.make(dataset, FORM.usual_seed, parameters))[1]
    except MissingData as error:
        if halves is None:
            return ArrayFinding(name, Standing.MISSING_DATA, note=error.what)
        missing, golden = f"bindings alone are compared: {error.what}", golden[golden[:, 2] == 1]
    except (UsageError, DataError) as error:
        return ArrayFinding(name, Standing.FAILED, note=error.what)
    codes = halves.train if train else np.concatenate([halves.test, negatives])
    labels = np.arange(len(codes)) < len(codes) - len(negatives)
    ours = np.column_stack([codes // dataset.targets, codes % dataset.targets, labels])
    finding = compare(name, ours[: len(golden)] if len(rows) == _CUT else ours, golden, Tolerance())
    if missing and finding.standing == Standing.OK:
        return replace(finding, standing=Standing.MISSING_DATA, note=missing)
    return finding


def _parameters(row: Row) -> dict[str, object]:
    """The parameters of a strategy, from what a row says of its task."""
    fold = {} if row["test"] in ("5", "6") else {"fold": int(row["fold"])}
    if row["test"] == "0":
        return {"isolate_free": row["task"] == "isolateFree", **fold}
    return {"space": row["job"], **({} if row["test"] == "1" else {"group": row["task"]}), **fold}


def _java_findings(path: Path) -> Iterator[ArrayFinding]:
    """One finding per line; what a set holds is on the line before that of its order."""
    added: list[str] = []
    for number, (kind, size, seed, *values) in enumerate(csv.reader(path.read_text().splitlines()), start=1):
        name, random = f"line {number}: {kind} {size} {seed}", java.JavaRandom(int(seed))
        if kind == "hashin":
            added = values
        elif kind == "hashout":
            hashes = java.hash_codes([NODE.format(text) for text in added])
            ours = java.iterated(np.array([added.index(text) for text in added]), hashes)
            yield compare(name, ours, np.array([added.index(text) for text in values]), Tolerance())
        elif kind in ("shuffle", "nextInt"):
            bounds = np.full(len(values), int(size))
            ours = random.below_each(bounds) if kind == "nextInt" else java.shuffled(np.arange(int(size)), random)
            yield compare(name, ours, np.array(values, dtype=np.int64), Tolerance())
        else:
            yield ArrayFinding(name, Standing.NOT_IMPLEMENTED, note="not a kind of Java's that is known here")


@cache
def dataset_beside(folder: Path) -> DtiDataset | None:
    """The dataset of the tables in a folder; None where the bindings are not among them."""
    if not all((folder / name).is_file() for name in (_BINDINGS, _DRUGS, _TARGETS)):
        return None
    drugs, targets = (
        tuple(row[kind].lower() for row in _rows(folder / name, kind))
        for name, kind in ((_DRUGS, "drug"), (_TARGETS, "target"))
    )
    known = [(row["drug"].lower(), row["target"].lower()) for row in _rows(folder / _BINDINGS, "drug", "target")]
    files = {path.name: path for path in folder.iterdir()}
    if groups.FOLDS not in files:
        files.pop(groups.TARGET_CLASSES, None)
    own = [*groups.read_classes(files, known), *_new(folder), *_trials(folder, {*drugs, *targets}, set(known))]
    dataset = groups.dataset_of("golden", known, dict.fromkeys(drugs, ""), dict.fromkeys(targets, ""))
    return groups.with_groups(dataset, own)


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
