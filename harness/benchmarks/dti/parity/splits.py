"""Golden tasks: made again by the strategies, and equal row by row, in order; and what Java itself does.

A table holds whole test files, only their bindings (where the negatives are not public), or, where the original
files are cut at 101 lines, what these begin with. What is missing is judged by what is there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from harness.base.errors import MissingData
from harness.base.layout import Layout
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.parity.inputs import INPUTS, Row, dataset_beside, rows_of
from harness.benchmarks.dti.splits import java
from harness.benchmarks.dti.splits.form import FORM
from harness.benchmarks.dti.splits.generator.bindings import NODE, bindings_of
from harness.benchmarks.dti.splits.generator.task import parts_of
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
_COLUMNS = ("test", "job", "task", "fold", "role", "drug", "target", "label")
# the original files were published up to this line
_CUT = 101
_EXACT = Tolerance()


def split_files(folder: Path) -> list[Path]:
    """The files of a golden folder that `check_file` compares."""
    tables = [path for path in sorted((folder / "beta").glob("*.csv*")) if path.name not in INPUTS]
    return [path for path in [folder / f"{_JAVA}.csv", *tables] if path.is_file()]


def check_file(layout: Layout, case: str, path: Path, mirrors: Sequence[Path]) -> CaseFinding:
    """The comparison of every task of a table, or every line of what Java does."""
    if case == _JAVA:
        return CaseFinding(case, _SPLITS, "java.util", arrays=tuple(_java_findings(path)))
    rows = rows_of(path)
    if not rows or tuple(rows[0]) != _COLUMNS or rows[0]["test"] not in _STRATEGIES:
        note = "neither a table of tasks nor an input of one"
        return CaseFinding(case, _SPLITS, _SPLITS, standing=Standing.NOT_IMPLEMENTED, note=note)
    dataset = dataset_beside(path.parent)
    try:
        dataset = dataset or load_dataset(layout, _DATASET, DtiDataset, mirrors=mirrors)
    except MissingData as error:
        note = f"{error.what}; give its originals with --mirror"
        return CaseFinding(case, _SPLITS, _SPLITS, standing=Standing.MISSING_DATA, note=note)
    tasks: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        tasks.setdefault(tuple(row[name] for name in _COLUMNS[:5]), []).append(row)
    # a whole test file may have no negatives, a whole table of tasks has some
    bindings_only = all(row["label"] == "1" for row in rows)
    findings = tuple(_check(dataset, task, bindings_only) for task in tasks.values())
    return CaseFinding(case, _SPLITS, f"Test {rows[0]['test']}", arrays=findings)


def _check(dataset: DtiDataset, rows: Sequence[Row], bindings_only: bool) -> ArrayFinding:
    first = rows[0]
    name = " ".join(first[column] for column in ("job", "task", "fold", "role"))
    strategy = _STRATEGIES[first["test"]]
    known = [
        {text.lower(): place for place, text in enumerate(ids)} for ids in (dataset.drug_ids, dataset.target_ids)
    ]
    try:
        golden = np.array([(known[0][row["drug"]], known[1][row["target"]], int(row["label"])) for row in rows])
        parameters = strategy.Parameters.model_validate(_parameters(first))
    except (KeyError, ValueError) as error:
        return ArrayFinding(name, Standing.FAILED, note=f"the task can't be read: {error}")
    missing = ""
    try:
        if not bindings_only:
            split = strategy.make(dataset, FORM.usual_seed, parameters)
            halves, negatives = parts_of(dataset, split)
    except MissingData as error:
        missing = error.what
        golden = golden[golden[:, 2] == 1]
    if bindings_only or missing:
        try:
            halves = strategy.positives(dataset, FORM.usual_seed, parameters)
        except MissingData as error:
            return ArrayFinding(name, Standing.MISSING_DATA, note=error.what)
        negatives = np.empty(0, dtype=np.int64)
    codes = halves.train if first["role"] == "train" else np.concatenate([halves.test, negatives])
    labels = np.arange(len(codes)) < len(codes) - (0 if first["role"] == "train" else len(negatives))
    bindings = bindings_of(dataset)
    ours = np.column_stack([bindings.drugs_of(codes), bindings.targets_of(codes), labels])
    finding = compare(name, ours[: len(golden)] if len(rows) == _CUT else ours, golden, _EXACT)
    if missing and finding.standing == Standing.OK:
        return ArrayFinding(name, Standing.MISSING_DATA, note=f"bindings are equal; {missing}")
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
        yield compare(name, ours, golden, _EXACT)
