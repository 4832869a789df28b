"""A person's own checkout runs in place of our implementation, in every language, and the run says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.campaign import Choices
from harness.images import folder_tree
from harness.methods.card import load_method
from harness.planning.jobs import Job
from harness.planning.plan import make_plan
from harness.results.store import Store, join
from harness.splits.spec import SplitSpec
from tests.campaigns.conftest import probe_plan
from tests.fabricate import run_plan

pytestmark = pytest.mark.engine

# A stand-in of each original's file: what it computes tells that it was the one that ran.
CHECKOUTS = {
    "als_wr": (
        "als.py",
        "import numpy as np\n"
        "def als(R, *, n_factors, **others):\n"
        "    return np.full((R.shape[0], n_factors), 2.0), np.ones((R.shape[1], n_factors))\n"
        "def initial_factors(shape, n_factors, random_state):\n"
        "    return np.zeros((shape[0], n_factors)), np.zeros((shape[1], n_factors))\n"
        "half_step = Known = None\n",
        30.0,
    ),
    "bnnr": (
        "BNNR.m",
        "function [T_recovery, iter] = BNNR (alpha, beta, T, trIndex, tol1, tol2, maxiter, a, b)\n"
        "  T_recovery = 3 * ones (size (T));\n  iter = 1;\nendfunction\n",
        3.0,
    ),
    "lrssl": (
        "lrssl.R",
        "lrssl <- function(Xs, Ls, Y, ...) list(Gs = list(matrix(1, nrow(Y), ncol(Y))), G0s = list(0),\n"
        "  F.mat = Y, alpha = c(1, 0), t = 1, diff.G = 0)\n"
        "laplacian <- function(K) K\n",
        1 / 300,
    ),
}


@pytest.mark.parametrize("method", CHECKOUTS)
def test_the_checkout_runs_in_place_of_ours(layout: Layout, engine: Engine, tmp_path: Path, method: str) -> None:
    name, code, expected = CHECKOUTS[method]
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / name).write_text(code)
    job = Job(
        benchmark="repurposing",
        method=method,
        parameters=dict(load_method(layout, method).variant("published").parameters),
        dataset="synthetic",
        split=SplitSpec(strategy="random", seed=17263407),
        options={"inner_folds": 0},
        upstream=folder_tree(checkout),
    )
    plan = make_plan(layout, "upstream", [job])
    run_plan(layout, plan, engine, choices=Choices(upstream=checkout))
    (cell,) = join(plan, Store(layout.runs))
    assert cell.planned is not None
    folder = Store(layout.runs).path(cell.planned.key)
    assert cell.verdict is Verdict.OK, (folder / "log.txt").read_text()
    assert np.load(folder / "predictions.npy") == pytest.approx(expected)
    assert f"upstream {job.upstream[:12]}" in cell.job.label
    assert make_plan(layout, "ours", [job.model_copy(update={"upstream": ""})]).cells[0].planned != cell.planned


def test_a_class_of_a_checkout_runs_in_place_of_ours(layout: Layout, engine: Engine, tmp_path: Path) -> None:
    """Java looks for its classes by their names, in the checkout first."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "SimilarityInference.java").write_text(
        "final class SimilarityInference {\n"
        "    SimilarityInference(float[][] vectors, int[][] known, int side) {}\n"
        "    double score(int node, int other) { return 3; }\n}\n"
    )
    parameters = {"similarity_weight": 1.0, "classifier": "j48", "walks": 2}
    job = Job(
        benchmark="dti",
        method="biolne",
        parameters={**load_method(layout, "biolne").variant("published").parameters, **parameters},
        dataset="dti_world",
        split=SplitSpec(strategy="random", seed=17263407),
        upstream=folder_tree(checkout),
    )
    plan = make_plan(layout, "upstream", [job])
    run_plan(layout, plan, engine, choices=Choices(upstream=checkout))
    (cell,) = join(plan, Store(layout.runs))
    assert cell.planned is not None and cell.verdict is Verdict.OK, cell.reason
    # equal scores are scaled to 0
    assert not np.load(Store(layout.runs).path(cell.planned.key) / "scores.npy").any()


def test_the_data_of_a_checkout_stays_outside(probe_layout: Layout, engine: Engine, tmp_path: Path) -> None:
    """The authors' repositories hold the whole matrix beside their code: test labels, for a method to find."""
    checkout = tmp_path / "checkout"
    (checkout / "datasets").mkdir(parents=True)
    (checkout / ".git").mkdir()
    (checkout / "part").mkdir()
    for name in ("one.py", "part/two.py", "Fdataset.mat", "datasets/labels.npy", "labels.csv", ".git/pack.py"):
        (checkout / name).write_text("1\n")
    (checkout / "link.py").symlink_to(checkout / "labels.csv")
    # what a checkout can replace
    (probe_layout.methods / "probe" / "one.py").write_text("2\n")
    listing = (
        "print(sorted(os.path.join(at, name) for at, _, names in os.walk('/opt/upstream') for name in names))"
    )
    job = probe_plan(probe_layout, 1, last_words=listing).cells[0].job
    plan = make_plan(probe_layout, "upstream", [job.model_copy(update={"upstream": folder_tree(checkout)})])
    run_plan(probe_layout, plan, engine, choices=Choices(upstream=checkout))
    (cell,) = join(plan, Store(probe_layout.runs))
    assert cell.planned is not None and cell.verdict is Verdict.OK, cell.reason
    log = (Store(probe_layout.runs).path(cell.planned.key) / "log.txt").read_text()
    assert log == "['/opt/upstream/one.py', '/opt/upstream/part/two.py']\n"


def test_a_checkout_that_was_changed_after_planning_is_refused(
    probe_layout: Layout, engine: Engine, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "one.py").write_text("1\n")
    job = Job(
        benchmark="repurposing",
        method="probe",
        parameters={"behaviour": "ok", "seconds": 0.0, "last_words": ""},
        dataset="synthetic",
        split=SplitSpec(strategy="random", seed=17263407),
        options={"inner_folds": 5},
        upstream=folder_tree(checkout),
    )
    (checkout / "one.py").write_text("2\n")
    plan = make_plan(probe_layout, "upstream", [job])
    run_plan(probe_layout, plan, engine, choices=Choices(upstream=checkout))
    (cell,) = join(plan, Store(probe_layout.runs))
    assert cell.verdict is Verdict.INFRASTRUCTURE and "not the one that was planned" in cell.reason
