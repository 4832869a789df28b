"""What the original's evaluation gave on the released splits must come out of ours, dropped rows and all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.answer import question_on
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.scoring import SCORING
from harness.benchmarks.ddi.splits.parts import TRAIN, PartSplit
from harness.data import load_dataset
from harness.splits import load_split
from harness.splits.spec import SplitSpec


@pytest.mark.parametrize(
    ("which", "f1", "accuracy", "own_accuracy", "rows"),
    # MSTE leaves new drugs where they were drawn, so that of two new ones it always says type 48
    [("cluster", 1.19, 24.55, 23.69, "896 of 933"), ("random", 1.04, 34.12, 32.78, "1920 of 1992")],
)
def test_one_answer_for_all_pairs_of_new_drugs(
    layout: Layout, shared: Path, which: str, f1: float, accuracy: float, own_accuracy: float, rows: str
) -> None:
    mirrors = [shared / "mirror"]
    dataset = load_dataset(layout, "drugbank", DdiDataset, mirrors=mirrors)
    split = load_split(
        layout, "drugbank", SplitSpec(strategy="released", parameters={"which": which}, seed=0), mirrors
    )
    assert isinstance(split, PartSplit)
    counts = np.bincount(dataset.labels[split.items_in(TRAIN)], minlength=dataset.types)
    assert counts.argmax() == 48
    scores = np.tile(counts.astype(np.float32), (question_on(dataset, split).pairs, 1))
    metrics, notes = SCORING.score(dataset, split, scores, {"evaluation_batch": 128})
    assert notes["S2 items/as-published"] == f"{rows} are in whole batches of 128"
    expected = {"F1": f1, "accuracy": accuracy, "kappa": 0.0}
    for name, percent in expected.items():
        # told to five digits, then rounded again
        assert metrics[f"S2 {name}/as-published"] == pytest.approx(percent / 100, abs=1e-4)
    assert metrics["S2 accuracy/as-defined"] == pytest.approx(own_accuracy / 100, abs=1e-4)
