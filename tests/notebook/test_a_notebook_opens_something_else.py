"""What is open is the method's frozen image with a run's own problem: same labels, same answer, no network."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.data import load_manifest
from harness.engine import Engine
from harness.execution.inputs import make_inputs
from harness.execution.tasks import Task, run_in_container
from harness.images import Supply, ensure_image
from harness.images.export import image_layers
from harness.methods.card import load_method
from harness.notebook import ensure_notebook_image, pin
from harness.planning.jobs import PlannedJob, make_job
from harness.splits.spec import SplitSpec
from tests.notebook.conftest import Door

pytestmark = pytest.mark.engine
_FEW = {"maxiter": 3}


def _planned(
    layout: Layout, method: str, parameters: Mapping[str, int] | None = None, dataset: str = "synthetic"
) -> PlannedJob:
    split = SplitSpec(strategy="random", seed=1)
    return pin(
        layout,
        make_job(load_method(layout, method), load_manifest(layout, dataset), split, chosen=parameters or {}),
    )


def _seen_labels(layout: Layout, planned: PlannedJob) -> int:
    """How many associations the first inner model may see: neither test pairs nor its own held-out ones."""
    inputs = make_inputs(layout, planned, []).inputs
    folds, associations = np.asarray(inputs["folds"]), np.asarray(inputs["associations"])
    return int((associations[folds > 0] == 1).sum())


def _range_of_test_scores(engine: Engine, layout: Layout, planned: PlannedJob) -> str:
    """The lowest and the highest test score of the first inner model in a batch run."""
    task = Task(layout, planned, ensure_image(engine, layout, planned.job.method))
    with run_in_container(task, engine) as run:
        scores = np.load(run.outcome.out_folder / "predictions.npy")[0]
    return f"{scores.min():.17g} {scores.max():.17g}"


@pytest.mark.thorough
def test_octave_computes_something_else_than_a_run(
    engine: Engine, layout: Layout, open_door: Callable[..., Door], kernels: Callable[[], list[str]]
) -> None:
    planned = _planned(layout, "bnnr", _FEW)
    door = open_door("bnnr", "--set", "maxiter=3")
    assert planned.key in door.told
    cell = door.cells
    assert cell("printf ('%d %d', nnz (problem.associations == 1), problem.model)").text.split() == [
        str(_seen_labels(layout, planned)),
        "0",
    ]
    cell("scores = fit_predict (problem).scores(read_npy ('/in/folds.npy') == -1);")
    told = cell("printf ('%.17g %.17g', min (scores), max (scores))").text
    assert told.split() == _range_of_test_scores(engine, layout, planned).split()
    # the method's own functions, more than one line, an error that leaves the kernel alive
    assert "W =" in cell("[W, iter] = BNNR (1, 10, eye (3), eye (3) > 0, 2e-3, 1e-5, 5, 0, 1)").text
    assert "undefined" in cell("nothing_of_this_name").text
    assert cell("for k = 1:2\n  printf ('%d;', k)\nend").text.strip() == "1;2;"
    assert cell.completions("fit_pre") == ["fit_predict"]
    assert cell.interrupt("pause (100)") < 30
    assert "connect" in cell("urlread ('http://192.0.2.1/')").text
    cell.client.shutdown()
    assert door.process.wait(30) == 0
    assert kernels() == []


@pytest.mark.thorough
def test_r_gets_other_labels_or_another_method(
    layout: Layout, open_door: Callable[..., Door], kernels: Callable[[], list[str]]
) -> None:
    planned = _planned(layout, "lrssl", _FEW)
    door = open_door("lrssl", "--set", "maxiter=3")
    cell = door.cells
    assert cell("%R cat(sum(problem$associations == 1), problem$model)").text.split() == [
        str(_seen_labels(layout, planned)),
        "0",
    ]
    assert cell(
        "%%R\nanswer <- fit_predict(problem)\ncat(dim(answer$scores), answer$iterations)"
    ).text.split() == [
        "300",
        "300",
        "3",
    ]
    # an array of R reaches Python, a plot reaches the client, the SDK stands in for nothing any more
    assert cell("scores = %R answer$scores\nscores.shape").text.strip() == "(300, 300)"
    assert cell("%R plot(1:3)").status == "ok"
    failed = cell("%R stop('told to fail')")
    assert failed.status == "error"
    assert "told to fail" in failed.text
    # neither loop lets Python run; only R itself can be told
    assert cell.interrupt("%R Sys.sleep(100)") < 30
    assert cell.interrupt("%R while (TRUE) x <- 1") < 30
    assert cell("1 + 1").text == "2"
    cell.client.shutdown()
    assert door.process.wait(30) == 0
    assert kernels() == []


def test_python_sees_test_labels_a_network_or_a_way_to_write(
    layout: Layout, open_door: Callable[..., Door], kernels: Callable[[], list[str]]
) -> None:
    planned = _planned(layout, "constant")
    door = open_door("constant")
    cell = door.cells
    assert cell("int((problem.associations == 1).sum()), problem.model").text == str(
        (_seen_labels(layout, planned), 0)
    )
    assert cell("fit_predict(problem).scores.mean().item()").text == "1.0"
    # a function that a cell defines anew is the one the method uses
    cell("np.full = lambda shape, value: np.zeros(shape)")
    assert cell("fit_predict(problem).scores.mean().item()").text == "0.0"
    assert "unreachable" in cell("import socket; socket.create_connection(('192.0.2.1', 80), 3)").text
    assert cell("import os; sorted(os.listdir('/in'))").text == "['associations.npy', 'folds.npy', 'job.json']"
    assert cell("open('/in/job.json', 'a')").status == cell("open('/opt/method/main.py', 'a')").status == "error"
    assert cell("os.getuid() > 0, open('/proc/self/status').read().count('CapEff:\\t0000000000000000')").text == (
        "(True, 1)"
    )
    assert cell.completions("fit_pre") == ["fit_predict"]
    assert cell.interrupt("while True: pass") < 30
    assert cell("1 / 0").status == "error"
    cell.client.shutdown()
    assert door.process.wait(30) == 0
    assert kernels() == []


@pytest.mark.thorough
def test_another_benchmark_is_fitted_at_once_or_not_at_all(
    engine: Engine, layout: Layout, open_door: Callable[..., Door]
) -> None:
    """Without a dataset's name, one that lies in the repository; the answer is a run's."""
    planned = _planned(layout, "drug_frequency", dataset="synthetic_ddi")
    door = open_door("drug_frequency")
    assert planned.key in door.told
    cell = door.cells
    assert cell("import os; [name for name in os.listdir('/out') if 'kernel' not in name]").text == "[]"
    assert cell("len(problem.train.pairs) > 0 < len(problem.valid.pairs), 'answer' in globals()").text == (
        "(True, False)"
    )
    told = cell(
        "scores = fit_predict(problem).scores; f'{scores.min():.6g} {scores.max():.6g} {scores.shape}'"
    ).text
    task = Task(layout, planned, ensure_image(engine, layout, "drug_frequency"))
    with run_in_container(task, engine) as run:
        scores = np.load(run.outcome.out_folder / "predictions.npy")
    assert told == f"'{scores.min():.6g} {scores.max():.6g} {scores.shape}'"


def test_the_frozen_layers_are_changed(engine: Engine, layout: Layout) -> None:
    image = ensure_notebook_image(engine, layout, "constant", supply=Supply())
    frozen = image_layers(engine, ensure_image(engine, layout, "constant").image_id)
    assert image_layers(engine, image.image_id)[: len(frozen)] == frozen
