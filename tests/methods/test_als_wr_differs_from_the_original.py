"""ALS-WR takes the original's steps in the original's order, defects included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.plain_factorisations import als_wr
from harness.base.layout import Layout
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.execution.trials import Trial
from harness.methods.card import load_method
from tests.methods.host import OnThisMachine
from tests.methods.labels_only import Labels, Matrix, OnLabels, made_up
from tests.methods.trials import ONE_MODEL

NOT_IN_THE_ORIGINAL = ("all_drugs", "blas_kernels")
MORE_DRUGS, MORE_DISEASES = (40, 30), (30, 40)
GOLDEN = "golden/repurposing/ALSWR_{}_17263407.npz"


@pytest.fixture
def run(layout: Layout, tmp_path: Path) -> OnLabels:
    return OnLabels(layout, tmp_path, "als_wr")


def plainly(run: OnLabels, labels: Labels, drugs: int) -> Matrix:
    parameters = {name: value for name, value in run.parameters().items() if name not in NOT_IN_THE_ORIGINAL}
    return als_wr(np.ascontiguousarray(labels.T), **parameters, count=drugs)


@pytest.mark.parametrize(
    ("variant", "shape", "updated_drugs"),
    [
        ("published", MORE_DRUGS, 30),
        ("corrected", MORE_DRUGS, 40),
        ("published", MORE_DISEASES, 30),
        ("corrected", MORE_DISEASES, 30),
    ],
)
def test_steps_are_those_of_the_plain_transcription(
    run: OnLabels, variant: str, shape: tuple[int, int], updated_drugs: int
) -> None:
    labels = made_up(shape)
    expected = plainly(run, labels, updated_drugs)
    np.testing.assert_allclose(run(labels, variant).scores, expected, rtol=0, atol=1e-9)


def test_finding_drugs_beyond_the_number_of_diseases_keep_random_factors(run: OnLabels) -> None:
    labels = made_up(MORE_DRUGS)
    assert labels[30:].any(axis=1).all(), "they have associations to learn from"
    published, corrected = (run(labels, variant).trace for variant in ("published", "corrected"))
    started = published["item_factors0"]
    np.testing.assert_array_equal(published["item_factors"][30:], started[30:])
    assert (published["item_factors"][:30] != started[:30]).any(axis=1).all()
    assert (corrected["item_factors"] != started).any(axis=1).all()


@pytest.mark.parametrize("negatives", [False, True], ids=["no negatives", "negatives"])
def test_finding_labels_of_minus_one_make_the_answer_chaotic(run: OnLabels, negatives: bool) -> None:
    """One part in 10^12 of the regularisation decides it: why the order of sums and the kernels are kept."""
    labels = made_up(MORE_DRUGS, negatives=negatives)
    scores, others = (run(labels, reg=0.01 * factor).scores.ravel() for factor in (1.0, 1.0 + 1e-12))
    agreement = np.corrcoef(scores, others)[0, 1]
    assert agreement < 0.5 if negatives else agreement > 1 - 1e-9


def test_nothing_known_gives_factors_of_zero(run: OnLabels) -> None:
    assert not run(np.zeros((9, 12), dtype=np.int8)).scores.any()


def test_the_starting_factors_of_drugs_follow_those_of_diseases(run: OnLabels) -> None:
    trace = run(made_up(MORE_DRUGS), n_factors=3).trace
    stream = np.random.RandomState(1354).normal(size=70 * 3)
    found = np.concatenate([trace["user_factors0"].ravel(), trace["item_factors0"].ravel()])
    np.testing.assert_array_equal(found, stream)


@pytest.mark.parametrize("dataset", ["Fdataset", "Synthetic"])
def test_whole_runs_equal_the_goldens_with_the_kernels_they_were_made_with(
    layout: Layout, shared: Path, tmp_path: Path, dataset: str
) -> None:
    """Synthetic too, which is chaotic: not one bit may differ on the way."""
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("OpenBLAS's Haswell kernels need AVX2")
    golden: Any = np.load(shared / GOLDEN.format(dataset))
    card = load_method(layout, "als_wr")
    parameters = {**card.variant("published").parameters, "blas_kernels": "Haswell"}
    inputs = {"associations": golden["A_train"], "folds": np.full(golden["A_train"].shape, TEST, dtype=np.int8)}
    trial = Trial(card, "repurposing", inputs, parameters, seed=0, options=ONE_MODEL, trace=True)
    with OnThisMachine(layout, tmp_path)(trial) as result:
        for name in ("user_factors", "item_factors"):
            found = np.load(result.out / "trace" / f"{name}.npy")
            np.testing.assert_allclose(found, golden[name], rtol=0, atol=1e-8)
