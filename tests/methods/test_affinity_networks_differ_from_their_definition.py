"""GraphDTA and DeepDTA against the same networks written down plainly, pair by pair, and at other sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.affinity_networks import BATCHES, measure
from benchmarks.in_image import code_of, measured
from harness.base.layout import Layout
from harness.benchmarks.dti.conformance.problems import SMILES
from harness.engine import Engine
from harness.images import ensure_environment
from harness.images.identity import parity_folders
from harness.methods.card import load_method

# shorter than a window, without and with what is cut off, with letters that are none
LENGTHS = (3, 60, 300, 999, 1000, 1500)
RESIDUES = tuple("ACDEFGHIKLMNPQRSTVWYBXUJ")


@pytest.mark.engine
@pytest.mark.parametrize("network", BATCHES)
def test_training_on_what_is_distinct_goes_elsewhere(layout: Layout, engine: Engine, network: str) -> None:
    """Two steps from the same weights in double precision: gradients, running statistics and answers are equal.

    Drugs and targets occur several times in a batch.
    """
    generator = np.random.default_rng(11)
    sequences = ["".join(generator.choice(RESIDUES, length)) for length in LENGTHS]
    smiles = [text or "no SMILES" for text in SMILES[:9]]
    pairs = np.column_stack([generator.integers(len(one), size=48) for one in (smiles, sequences)])
    found = measure(engine, layout, network, smiles, sequences, pairs, generator.normal(size=48), 24, double=True)
    assert found["gradients"] < 1e-10, found
    # where a gradient is all but zero, Adam makes steps of its rounding
    assert max(found["training"], found["evaluating"]) < 1e-6, found


@pytest.mark.engine
def test_a_replay_holds_sizes_it_should_read(layout: Layout, engine: Engine) -> None:
    """Cases of other widths, heads, rounds, alphabets, lengths and numbers of steps, made by plain definitions.

    A network with a layer more or less than the case is refused.
    """
    card = load_method(layout, "graphdta")
    code, _ = code_of(layout, "graphdta")
    folders = [*code, *parity_folders(layout, card), layout.root / "methods" / "_sdk" / "python"]
    mounts = {folder: f"/code/{number}" for number, folder in enumerate(dict.fromkeys(folders))}
    found = measured(
        engine,
        ensure_environment(engine, layout, "graphdta").image_id,
        ("/opt/venv/bin/python3", "/tests/plain_graphdta.py"),
        {},
        mounts={**mounts, Path(__file__).parent: "/tests"},
        environment={"PYTHONPATH": ":".join(mounts.values())},
    )
    assert set(found["apart"]) == {"gcn", "gat", "gat_gcn", "gin"}
    for kind, apart in found["apart"].items():
        assert set(apart) >= {"out_eval", "mse_eval", "grad_l2", "grad_sum", "adam_losses", "out_after3"}, kind
        assert max(apart.values()) < 1e-4, (kind, apart)
    assert set(found["apart"]["gin"]) > {"out_trainbn_nodrop", "bn2_running_var_after"}
    assert found["refused"] == {kind: ["more", "less"] for kind in found["apart"]}
