"""MLP, MSTE and Decagon against the same networks written down plainly, and what their trainer must do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.in_image import code_of, measured
from benchmarks.pair_networks import measure
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import ensure_environment

Array = npt.NDArray[Any]
DRUGS, TYPES = 14, 6


def made_up(*, multilabel: bool) -> dict[str, Array]:
    """Pairs of several types, a drug with itself, a type without items, a drug without fingerprint.

    Edges come twice, point to drugs, or are of kinds that Decagon leaves out.
    """
    draw = np.random.default_rng(5)
    prints = (draw.random((DRUGS, 40)) < 0.2) * draw.integers(1, 5, (DRUGS, 40))
    prints[3] = 0
    knowledge = np.column_stack([draw.integers(0, DRUGS, 60), draw.integers(0, 30, 60), draw.integers(0, 20, 60)])
    knowledge[::5, :2] = knowledge[::5, 1::-1]
    if multilabel:
        # a positive line, then the negative of the same types
        said = (draw.random((80, TYPES)) < 0.3).astype(np.int8)
        said[:, -1] = 0
        labels = np.stack([said, -said], axis=1).reshape(-1, TYPES)
        chosen = draw.permutation(DRUGS**2)[: len(labels)]
    else:
        items = draw.permutation(DRUGS**2 * (TYPES - 1))[:400]
        chosen, labels = items // (TYPES - 1), (items % (TYPES - 1)).astype(np.int32)
    pairs = np.column_stack([chosen // DRUGS, chosen % DRUGS])
    given = {
        "pairs": pairs,
        "asked": draw.integers(0, DRUGS, (50, 2)),
        "fingerprints": prints,
        "knowledge": knowledge,
    }
    return {**{name: array.astype(np.int32) for name, array in given.items()}, "labels": labels}


@pytest.mark.engine
@pytest.mark.parametrize(
    ("method", "multilabel"), [("mlp", False), ("mste", False), ("mste", True), ("decagon", False)]
)
def test_training_goes_elsewhere(layout: Layout, engine: Engine, method: str, multilabel: bool) -> None:
    """Three steps from the same weights; labels, negatives and the graph are looked up item by item."""
    given = made_up(multilabel=multilabel)
    found = measure(engine, layout, method, given, types=TYPES, steps=3, hidden=12)
    assert found["apart"] < 2e-6


@pytest.mark.engine
def test_the_trainer_chooses_another_epoch(layout: Layout, engine: Engine) -> None:
    """Checks by name in a program that sees the trainer; the empty list is what it prints when all hold."""
    code, path = code_of(layout, "mste")
    found = measured(
        engine,
        ensure_environment(engine, layout, "mlp").image_id,
        ("/opt/venv/bin/python3", "/tests/plain_trainer.py"),
        {},
        mounts={**code, Path(__file__).parent: "/tests"},
        environment={"PYTHONPATH": path},
    )
    assert not found["broken"], found["broken"]
