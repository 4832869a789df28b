"""Golden scores of drug combinations: perturbed predictions, points of reference, and the multi-bootstrap.

Where the published evaluator ends with a division by zero there are no scores: NaN on both sides.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import MissingData
from harness.base.layout import Layout
from harness.benchmarks.combos.dataset import TRAINING_FILE, CombosDataset
from harness.benchmarks.combos.documents import LABELS
from harness.benchmarks.combos.metrics.evaluation import Evaluator, MatchRule
from harness.benchmarks.combos.metrics.rows import NONE, POSITIVE, RelationRow, class_of, oddities
from harness.benchmarks.combos.metrics.scored_rows import (
    FIRST,
    NEITHER,
    SECOND,
    RelationTruth,
    drug_names,
    halves,
    published_test,
)
from harness.benchmarks.combos.scoring import shares_of, truth_on
from harness.benchmarks.combos.splits.form import FORM
from harness.benchmarks.combos.splits.strategies import released
from harness.data import load_dataset
from harness.methods.card import Tolerance
from harness.parity.finding import ArrayFinding, CaseFinding, Standing, compare
from harness.parity.goldens import arrays_in

_DATASET, _METRICS = "combos", "metrics"
_TOLERANCE = Tolerance(absolute=1e-12)
_RULES = {
    f"{mode}_{kind}": MatchRule(mode == "exact", kind == "pos")
    for mode in ("partial", "exact")
    for kind in ("any", "pos")
}
_MEASURES = {"f": "F1", "p": "precision", "r": "recall"}
_BUCKETS = {"arity": "arity", "relations_seen_in_training": "seen", "context_required": "context"}
# what the golden calls the two sides of the bootstrap, and what our draws of them are called
_SIDES = {
    "gold": ("recall", "gold_side_recall_(original_prints_Precision)"),
    "pred": ("precision", "pred_side_precision_(original_prints_Recall)"),
}
_BY_ZERO = "ZeroDivisionError"


def check_file(layout: Layout, case: str, path: Path, mirrors: Sequence[Path]) -> CaseFinding:
    """The comparison of a file of results with what the harness makes of the predictions beside it."""
    try:
        dataset = load_dataset(layout, _DATASET, CombosDataset, mirrors=mirrors)
    except MissingData as lack:
        note = f"{lack.what}; give its originals with --mirror"
        return CaseFinding(case, _METRICS, _METRICS, standing=Standing.MISSING_DATA, note=note)
    truth = truth_on(dataset, released.make(dataset, FORM.usual_seed, released.Parameters()), dataset.doc_ids)
    check = next(check for name, check in _CHECKS.items() if path.match(name))
    findings = tuple(check(path, truth, dataset))
    standing = Standing.OK if findings else Standing.FAILED
    return CaseFinding(case, _METRICS, _METRICS, findings, standing, "" if findings else "it holds no results")


def _check_predictions(path: Path, truth: RelationTruth, _dataset: CombosDataset) -> Iterator[ArrayFinding]:
    """One finding for each file of predictions, with a note on what is odd in it."""
    results = _json(path)
    counts = {document: asked.drugs for document, asked in truth.asked.items()}
    files = {own.name.partition(".")[0]: own for own in sorted(path.parent.glob("*.jsonl.gz"))}
    for name in sorted({*results, *files}):
        if name not in files or name not in results:
            lack = "predictions" if name in results else "scores"
            yield ArrayFinding(name, Standing.ABSENT, note=f"there are no {lack} of this name")
            continue
        rows = _rows_in(files[name])
        finding = _compared(name, truth.relations, rows, results[name]["scores"])
        yield replace(finding, note="; ".join([finding.note, *oddities(rows, counts)]).removeprefix("; "))


def _check_points(path: Path, truth: RelationTruth, dataset: CombosDataset) -> Iterator[ArrayFinding]:
    """One finding for each point of reference."""
    for name, result in _json(path).items():
        gold, rows = truth.relations, []
        if isinstance(result, dict) and "pred" in result:
            gold, rows, result = _rows(result["gold"]), _rows(result["pred"]), result["scores"]
        elif name in _POINTS:
            rows = [*_POINTS[name](truth, dataset)]
        else:
            yield ArrayFinding(name, Standing.NOT_IMPLEMENTED, note="not a point that is known here")
            continue
        yield _compared(name, gold, rows, result)


def _check_bootstrap(path: Path, truth: RelationTruth, _dataset: CombosDataset) -> Iterator[ArrayFinding]:
    """For each setting the draws, what is said of them, and the buckets drawn from."""
    results, theta = _json(path), arrays_in(path.with_name("theta.npz"))
    runs = [truth.beside(_rows_in(own)) for own in sorted(path.parent.glob("pred_seed*.jsonl.gz"))]
    for name, sizes in results["filter_map_size_and_true"].items():
        yield _equal(f"{name}/buckets", _bucket_sizes(truth, _BUCKETS[name]), sizes)
    for setting, stored in results["settings"].items():
        bucket, mode, kind = setting.split("/")
        rule, bucket_name = _RULES[f"{mode}_{kind}"], _BUCKETS[bucket]
        draws = published_test(runs, bucket_name, rule)
        parts = [
            halves(run.evaluator.as_published(rule), run.buckets(bucket_name, published=True)) for run in runs
        ]
        for number, (side, (measure, words)) in enumerate(_SIDES.items()):
            both, own, name = draws[measure], stored[words], f"{setting}/{side}"
            thetas = [theta[f"{bucket}__{mode}__{kind}__{side}{letter}"] for letter in "AB"]
            yield _equal(f"{name}/theta", [both.first, both.second], thetas)
            yield _equal(f"{name}/better", both.better, own["B_better_of_1000"])
            moments = [both.first.mean(), both.first.std(), both.second.mean(), both.second.std()]
            names = ("A_mean", "A_std", "B_mean", "B_std")
            yield _close(f"{name}/moments", moments, [own[one] for one in names])
            items = [[run[half][number] for run in parts] for half in (FIRST, SECOND)]
            sizes, means = ([stored[table][f"{side}_{half}"] for half in "AB"] for table in ("sizes", "per_seed"))
            yield _equal(f"{name}/sizes", [[len(one.rows) for one in row] for row in items], sizes)
            yield _close(f"{name}/per seed", [[one.mean for one in row] for row in items], means)


def _equal(name: str, ours: object, golden: object) -> ArrayFinding:
    return compare(name, np.array(ours, dtype=np.float64), np.array(golden, dtype=np.float64), Tolerance())


def _close(name: str, ours: object, golden: object) -> ArrayFinding:
    return compare(name, np.array(ours, dtype=np.float64), np.array(golden, dtype=np.float64), _TOLERANCE)


_CHECKS: dict[str, Callable[[Path, RelationTruth, CombosDataset], Iterable[ArrayFinding]]] = {
    "scores.json": _check_predictions,
    "results.json": _check_bootstrap,
    "*": _check_points,
}


def _compared(
    name: str, gold: Sequence[RelationRow], rows: Sequence[RelationRow], result: Mapping[str, Any]
) -> ArrayFinding:
    """All scores of one file of predictions."""
    ours, golden, evaluator = [], [], Evaluator(gold, rows)
    for rule, stored in result.items():
        shares = shares_of(evaluator.as_published(_RULES[rule]))
        ours.append([shares[own] if shares["F1"] else np.nan for own in _MEASURES.values()])
        golden.append([np.nan if stored == _BY_ZERO else stored[own] for own in _MEASURES])
    return _close(name, ours, golden)


def _sets(truth: RelationTruth, sizes: Callable[[int], Iterable[int]]) -> Iterator[RelationRow]:
    """The sets of drugs of each document that have these sizes, the smallest first, as positive predictions."""
    for document, asked in truth.asked.items():
        for size in sizes(asked.drugs):
            for spans in combinations(range(asked.drugs), size):
                yield RelationRow(document, spans, POSITIVE)


def _all_sizes(drugs: int) -> Iterable[int]:
    return range(2, drugs + 1)


def _known(truth: RelationTruth, dataset: CombosDataset) -> Iterator[RelationRow]:
    """Every set that a training document combines, with its most frequent class there."""
    classes: dict[tuple[str, ...], Counter[int]] = {}
    for document in (dataset.documents[number] for number in np.flatnonzero(dataset.released == TRAINING_FILE)):
        for relation in document.relations:
            names = drug_names([drug.text for drug in document.drugs], relation.spans)
            classes.setdefault(names, Counter()).update([class_of(LABELS[relation.label])])
    for row in _sets(truth, _all_sizes):
        if counts := classes.get(drug_names(truth.drugs[row.document], row.spans)):
            yield row._replace(label=counts.most_common(1)[0][0])


_POINTS: dict[str, Callable[[RelationTruth, CombosDataset], Iterable[RelationRow]]] = {
    "answers_vs_answers": lambda truth, _: truth.relations,
    "whole_span_set_POS_every_sentence": lambda truth, _: _sets(truth, lambda drugs: [drugs]),
    "all_pairs_POS": lambda truth, _: _sets(truth, lambda _: [2]),
    "all_subsets_POS_docs_up_to_8": lambda truth, _: _sets(truth, lambda n: _all_sizes(n) if n <= 8 else ()),
    "train_lookup_by_lowercased_names": _known,
    "empty_prediction_file": lambda truth, _: (),
    "all_label_0": lambda truth, _: (row._replace(label=NONE) for row in truth.relations),
    "only_wrong_doc": lambda truth, _: (row._replace(document="none of these") for row in truth.relations),
}


def _bucket_sizes(truth: RelationTruth, bucket: str) -> list[int]:
    """How many sets (of the context: documents) are in a bucket, and how many of them in its second half."""
    if bucket == "context":
        halves = np.array([asked.context for asked in truth.asked.values()])
    else:
        rows = [row._replace(spans=(*{*row.spans},)) for row in _sets(truth, _all_sizes)]
        halves = truth.beside(rows).buckets(bucket, published=True)[1]
    return [int((halves != NEITHER).sum()), int((halves == SECOND).sum())]


def _rows_in(path: Path) -> list[RelationRow]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return _rows(json.loads(line) for line in lines)


def _rows(rows: Iterable[Mapping[str, Any]]) -> list[RelationRow]:
    return [RelationRow(row["doc_id"], tuple(row["drug_idxs"]), class_of(row["relation_label"])) for row in rows]


def _json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
