"""How fast drug-target pairs are scored, and in how much memory: the harness against scikit-learn, in one run.

Equal values are asked. The largest task is every pair of 6,250 drugs and 10,000 targets: its two files are read
and scored in a process of its own, whose peak memory must stay within 2 GiB.

Usage: python -m benchmarks.dti_metrics [FOLDER FOR 1.5 GB]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.metrics import auc, average_precision_score, f1_score, precision_recall_curve, roc_auc_score

from harness.base.npy import npy_bytes
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.affinities import concordance
from harness.benchmarks.dti.metrics.bindings import binding_metrics
from harness.benchmarks.dti.scoring import SCORING
from harness.benchmarks.dti.splits.pairs import NEGATIVE, TEST, TRAIN, read_pairs

Numbers = npt.NDArray[np.float64]
Truth = npt.NDArray[np.bool_]

DRUGS, TARGETS, BINDINGS = 6250, 10000, 12240
LIMIT = 2 * 1024**3


def plain_bindings(truth: Truth, scores: Numbers) -> dict[str, float]:
    """As scikit-learn has them."""
    precision, recall, _ = precision_recall_curve(truth, scores)
    total = precision + recall
    return {
        "AUROC": float(roc_auc_score(truth, scores)),
        "AUPR": float(average_precision_score(truth, scores)),
        "AUPR/trapezoid": float(auc(recall, precision)),
        "F1": float(f1_score(truth, scores >= 0.5)),
        "best F1": float(np.max(2 * precision * recall / np.where(total > 0, total, 1))),
    }


def plain_concordance(truth: Numbers, scores: Numbers) -> dict[str, float]:
    """Pair by pair, a row at a time."""
    good = total = 0.0
    for place in range(1, len(truth)):
        apart = np.sign(truth[place] - truth[:place])
        order = np.sign(scores[place] - scores[:place])
        good += float((apart * order == 1).sum()) + float((order[apart != 0] == 0).sum()) / 2
        total += float((apart != 0).sum())
    return {"CI": good / total}


def compared(
    name: str, ours: Callable[[], Mapping[str, float | str]], plain: Callable[[], dict[str, float]]
) -> str:
    """A line with both times; values that differ stop it."""
    started = time.process_time()
    found = ours()
    between = time.process_time()
    expected = plain()
    mine, theirs = between - started, time.process_time() - between
    apart = max(abs(float(found[metric]) - value) for metric, value in expected.items())
    assert apart < 1e-12, f"values differ by {apart}"
    return f"{name}: ours {mine:.3f} s, plain {theirs:.3f} s, {theirs / mine:.0f} times, apart {apart:.0e}"


def write_task(folder: Path) -> None:
    """All pairs, drug by drug: the first bindings train, as many others are asked among everything else."""
    generator = np.random.default_rng(1)
    keys = np.arange(DRUGS * TARGETS)
    known = generator.choice(keys, 2 * BINDINGS, replace=False)
    items = np.full(len(keys), NEGATIVE, dtype=np.int32)
    items[known] = np.arange(len(known))
    rows = np.column_stack([np.full(len(keys), TEST, np.int32), *map(np.int32, divmod(keys, TARGETS)), items])
    rows[known[:BINDINGS], 0] = TRAIN
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    (folder / "split.npy").write_bytes(npy_bytes(rows))
    scores = generator.normal(size=len(rows) - BINDINGS) + (rows[BINDINGS:, 3] != NEGATIVE)
    (folder / "scores.npy").write_bytes(npy_bytes(scores.round(4)))
    (folder / "known.npy").write_bytes(npy_bytes(np.column_stack(np.divmod(known, TARGETS)).astype(np.int32)))
    (folder / "method.json").write_text('{"protocol": 1}')


def score_task(folder: Path) -> str:
    """A line with the time and the peak memory of this process."""
    pairs = np.load(folder / "known.npy")
    dataset = DtiDataset(
        name="large",
        pairs=pairs,
        values=np.ones(len(pairs)),
        drug_ids=tuple(map(str, range(DRUGS))),
        target_ids=tuple(map(str, range(TARGETS))),
        smiles=("",) * DRUGS,
        sequences=("",) * TARGETS,
    )
    started = time.process_time()
    split = read_pairs(folder / "split.npy")
    answer = SCORING.question(dataset, split, {}).read(folder)
    between = time.process_time()
    values, _ = SCORING.score(dataset, split, answer, {})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert peak < LIMIT, f"{peak / 1024**2:.0f} MiB"
    return (
        f"{split.test:,} pairs: read in {between - started:.1f} s, "
        f"scored in {time.process_time() - between:.1f} s, "
        f"peak {peak / 1024**2:.0f} MiB; AUROC {values['AUROC']:.4f}, MAP@100/min {values['MAP@100/min']:.6f}"
    )


def main() -> None:
    """Print a line for each."""
    generator = np.random.default_rng(0)
    truth = generator.random(2_000_000) < 0.01
    scores = (generator.normal(size=len(truth)) + 1.5 * truth).round(3)
    print(
        compared("2,000,000 pairs", lambda: binding_metrics(truth, scores), lambda: plain_bindings(truth, scores))
    )
    affinities = np.maximum(generator.normal(7, 1, 30_000), 6).round(2)
    predicted = affinities + generator.normal(size=len(affinities))
    print(
        compared(
            "30,000 affinities",
            lambda: {"CI": concordance(affinities, predicted)},
            lambda: plain_concordance(affinities, predicted),
        )
    )
    many = generator.normal(size=1_000_000)
    started = time.process_time()
    concordance(many, many + generator.normal(size=len(many)))
    print(f"1,000,000 affinities: {time.process_time() - started:.2f} s")
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        for step in ("write_task", "score_task"):
            words = f"import benchmarks.dti_metrics as it; print(it.{step}(it.Path({folder!r})) or '', end='')"
            print(subprocess.run([sys.executable, "-c", words], check=True, text=True, stdout=-1).stdout)


if __name__ == "__main__":
    main()
