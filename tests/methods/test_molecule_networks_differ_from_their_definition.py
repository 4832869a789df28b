"""SSI-DDI and SAGAN against the same networks written down plainly."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.in_image import code_of, measured
from benchmarks.molecule_networks import measure
from harness.base.layout import Layout
from harness.benchmarks.ddi.conformance.problems import SMILES
from harness.engine import Engine
from harness.images import ensure_environment

# lone atoms, a bond alone, molecules in several parts
SEEN = (*SMILES, "[Li+]", "CC", "[Na+].[Cl-]", "CCO.Cl")


@pytest.mark.engine
@pytest.mark.parametrize("method", ["ssi_ddi", "sagan"])
def test_training_on_distinct_molecules_goes_elsewhere(layout: Layout, engine: Engine, method: str) -> None:
    """Two steps from the same weights, each pair's molecules for themselves, and together as ours are."""
    generator = np.random.default_rng(11)
    source, target = (generator.integers(len(SEEN), size=(2 * 128, 2)) for _ in range(2))
    source = np.column_stack([source, generator.integers(7, size=len(source))])
    found = measure(engine, layout, method, SEEN, source, target, types=7)
    assert found["apart"] < 1e-5


@pytest.mark.engine
def test_the_papers_architecture_is_not_what_its_layers_say(layout: Layout, engine: Engine) -> None:
    """Bond by bond; a pair's logits depend on nothing else in the batch."""
    lone, salt = SEEN.index("[Li+]"), SEEN.index("[Na+].[Cl-]")
    pairs = np.array([[0, 1], [1, 0], [lone, 2], [salt, lone], [3, 3], [len(SEEN) - 1, 4]])
    code, path = code_of(layout, "sagan")
    found = measured(
        engine,
        ensure_environment(engine, layout, "sagan").image_id,
        ("/opt/venv/bin/python3", "/tests/plain_sagan.py"),
        {"smiles": np.array(json.dumps(SEEN)), "pairs": pairs},
        mounts={**code, Path(__file__).parent: "/tests"},
        environment={"PYTHONPATH": path},
    )
    assert max(found.values()) < 1e-5, found
