"""Golden tasks: made again by the strategies, and equal row by row, in order; and what Java itself does.

A table holds whole test files, only their bindings (where the negatives are not public), or, where the original
files are cut at 101 lines, what these begin with. What is missing is judged by what is there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.base.errors import CorruptData, MissingData, UsageError
from harness.base.layout import Layout
from harness.benchmarks.dti.converters.beta.records import table
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.parity.inputs import INPUTS, dataset_beside
from harness.benchmarks.dti.splits import java
from harness.benchmarks.dti.splits.form import FORM
from harness.benchmarks.dti.splits.generator.bindings import NODE
from harness.benchmarks.dti.splits.generator.folds import parts_of
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
from harness.parity.finding import ArrayFinding, CaseFinding, Standing, compare

_SPLITS, _DATASET, _JAVA = "splits", "beta", "java_primitives"
_STRATEGIES = {
    "0": general,
    "1": connectivity,
    "2": drug_classes,
    "3": target_classes,
    "5": new_pairs,
    "6": annotated_pairs,
}
Row = dict[str, str]

_COLUMNS = ("test", "job", "task", "fold", "role", "drug", "target", "label")
# the original files were published up to this line
_CUT = 101


def split_files(folder: Path) -> list[Path]:
    """The files of a golden folder that `check_file` compares."""
    tables = [path for path in sorted((folder / "beta").glob("*.csv*")) if path.name not in INPUTS]
    return [path for path in [folder / f"{_JAVA}.csv", *tables] if path.is_file()]


def check_file(layout: Layout, case: str, path: Path, mirrors: Sequence[Path]) -> CaseFinding:
    """The comparison of every task of a table, or every line of what Java does."""
    if case == _JAVA:
        return CaseFinding(case, _SPLITS, "java.util", arrays=tuple(_java_findings(path)))
    try:
        tasks: dict[tuple[str, ...], list[Row]] = {}
        for _, row in table(path, _COLUMNS):
            tasks.setdefault(tuple(row[name] for name in _COLUMNS[:5]), []).append(row)
        dataset = dataset_beside(path.parent) or load_dataset(layout, _DATASET, DtiDataset, mirrors=mirrors)
    except CorruptData as error:
        note = f"{error.what}: neither a table of tasks nor an input of one"
        return CaseFinding(case, _SPLITS, _SPLITS, standing=Standing.FAILED, note=note)
    except MissingData as error:
        note = f"{error.what}; give its originals with --mirror"
        return CaseFinding(case, _SPLITS, _SPLITS, standing=Standing.MISSING_DATA, note=note)
    # a whole test file may have no negatives, a whole table of tasks has some
    only = all(row["label"] == "1" for rows in tasks.values() for row in rows)
    findings = tuple(_check(dataset, " ".join(of), rows, only) for of, rows in tasks.items())
    return CaseFinding(case, _SPLITS, f"dataset {dataset.name}", arrays=findings)


def _check(dataset: DtiDataset, name: str, rows: Sequence[Row], bindings_only: bool) -> ArrayFinding:
    nodes = [{text.lower(): at for at, text in enumerate(ids)} for ids in (dataset.drug_ids, dataset.target_ids)]
    try:
        golden = np.array([(nodes[0][row["drug"]], nodes[1][row["target"]], int(row["label"])) for row in rows])
        strategy, train = _STRATEGIES[rows[0]["test"]], {"test": False, "train": True}[rows[0]["role"]]
        parameters = strategy.Parameters.model_validate(_parameters(rows[0]))
    except (KeyError, ValueError) as error:
        return ArrayFinding(name, Standing.FAILED, note=f"the task can't be read: {error}")
    missing, halves, negatives = "", None, np.empty(0, dtype=np.int64)
    try:
        halves = strategy.positives(dataset, FORM.usual_seed, parameters)
        if not bindings_only and not train:
            negatives = parts_of(dataset, strategy.make(dataset, FORM.usual_seed, parameters))[1]
    except UsageError as error:
        return ArrayFinding(name, Standing.FAILED, note=error.what)
    except MissingData as error:
        if halves is None:
            return ArrayFinding(name, Standing.MISSING_DATA, note=error.what)
        missing, golden = f"bindings alone are compared: {error.what}", golden[golden[:, 2] == 1]
    codes = halves.train if train else np.concatenate([halves.test, negatives])
    labels = np.arange(len(codes)) < len(codes) - len(negatives)
    ours = np.column_stack([codes // dataset.targets, codes % dataset.targets, labels])
    finding = compare(name, ours[: len(golden)] if len(rows) == _CUT else ours, golden, Tolerance())
    if missing and finding.standing == Standing.OK:
        return replace(finding, standing=Standing.MISSING_DATA, note=missing)
    return finding


def _parameters(row: Row) -> dict[str, object]:
    """The parameters of a strategy, from what a row says of its task."""
    fold, test = int(row["fold"]), row["test"]
    if test == "0":
        return {"fold": fold, "isolate_free": row["task"] == "isolateFree"}
    if test == "1":
        return {"fold": fold, "space": row["job"]}
    group: dict[str, object] = {"group": row["task"], "space": row["job"]}
    return group if test in ("5", "6") else {**group, "fold": fold}


def _java_findings(path: Path) -> Iterator[ArrayFinding]:
    """One finding per line; what a set holds is on the line before that of its order."""
    added: list[str] = []
    for number, (kind, size, seed, *values) in enumerate(csv.reader(path.read_text().splitlines()), start=1):
        name, random = f"line {number}: {kind} {size} {seed}", java.JavaRandom(int(seed))
        if kind == "hashin":
            added = values
            continue
        if kind == "hashout":
            texts = list(dict.fromkeys(added))
            places = np.array([texts.index(text) for text in added])
            hashes = java.hash_codes([NODE.format(text) for text in added])
            ours = java.iterated(places, hashes)
            golden = np.array([texts.index(text) for text in values])
        elif kind == "shuffle":
            ours, golden = java.shuffled(np.arange(int(size)), random), np.array(values, dtype=np.int64)
        elif kind == "nextInt":
            ours, golden = random.below_each(np.full(len(values), int(size))), np.array(values, dtype=np.int64)
        else:
            yield ArrayFinding(name, Standing.NOT_IMPLEMENTED, note="not a kind of Java's that is known here")
            continue
        yield compare(name, ours, golden, Tolerance())
