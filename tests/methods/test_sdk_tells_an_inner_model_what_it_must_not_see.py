"""Every inner model is told exactly its own problem: nothing of the pairs it must not see, by value or by mask."""

from __future__ import annotations

import importlib
import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.images.identity import sdk_folders
from harness.methods.card import load_method

Array = npt.NDArray[Any]

LABELS = np.array([[1, 0, -1, 1], [0, 1, 1, 0], [1, 1, 0, 1], [0, -1, 1, 1]], dtype=np.int8)
FOLDS = np.array([[-1, 0, 1, 2], [1, -1, 0, 2], [0, 1, -1, 0], [-2, 0, 1, 2]], dtype=np.int8)
EXTRA = np.arange(6.0).reshape(2, 3)


@pytest.fixture(scope="module")
def core(repository: Layout) -> Iterator[ModuleType]:
    """What all benchmarks stand on."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in sdk_folders(repository, load_method(repository, "constant")):
            patch.syspath_prepend(folder)
        yield importlib.import_module("permafrost_sdk")
        for name in ("permafrost_sdk", "repurposing_sdk"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def sdk(core: ModuleType) -> ModuleType:
    """What methods of `repurposing` see."""
    return importlib.import_module("repurposing_sdk")


class Job:
    """Runs one job in this process and remembers every problem that was told."""

    def __init__(self, sdk: ModuleType, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.sdk, self.folder = sdk, folder
        for name in ("in", "out"):
            (folder / name).mkdir()
            patch.setenv(f"PERMAFROST_{name.upper()}", str(folder / name))
        self.problems: list[Any] = []

    def run(
        self, answer: Callable[[Any], Any] | None = None, *, inputs: dict[str, Array] | None = None, **told: Any
    ) -> None:
        arrays = {"associations": LABELS, "folds": FOLDS, "extra": EXTRA, **(inputs or {})}
        described = {}
        for name, array in arrays.items():
            np.save(self.folder / "in" / f"{name}.npy", array)
            described[name] = {"file": f"{name}.npy"}
        job = {
            "protocol": 1,
            "task": "predict",
            "seed": 11,
            "parameters": {"rank": 3},
            "inner_folds": 3,
            "inputs": described,
            "trace": False,
            **told,
        }
        (self.folder / "in" / "job.json").write_text(json.dumps(job))
        self.problems.clear()

        def remembered(problem: Any) -> Any:
            self.problems.append(problem)
            return (answer or self.scores)(problem)

        self.sdk.run(remembered)

    def scores(self, problem: Any) -> Any:
        """Other scores for every pair and model."""
        return self.sdk.Answer(np.arange(16.0).reshape(4, 4) + 100 * (problem.model + 1))

    def read(self, name: str) -> Array:
        array: Array = np.load(self.folder / "out" / f"{name}.npy")
        return array

    @property
    def report(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / "out" / "method.json").read_text())
        return content


@pytest.fixture
def job(sdk: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    states = random.getstate(), np.random.get_state()
    yield Job(sdk, tmp_path, monkeypatch)
    random.setstate(states[0])
    np.random.set_state(states[1])


def test_what_a_model_must_not_see_is_hidden_in_labels_and_in_the_mask(job: Job) -> None:
    job.run()
    assert [problem.model for problem in job.problems] == [0, 1, 2]
    for model, problem in enumerate(job.problems):
        for place in np.ndindex(*FOLDS.shape):
            own = FOLDS[place] >= 0 and FOLDS[place] != model
            held_out = FOLDS[place] == model
            assert problem.associations[place] == (0 if held_out else LABELS[place]), place
            assert problem.training[place] == own, place
            assert problem.asked[0][place] == (FOLDS[place] == -1)
            assert problem.asked[1][place] == held_out
        assert len(problem.asked) == 2 and problem.training.dtype == bool
        assert problem.associations.dtype == LABELS.dtype


def test_without_inner_models_every_training_pair_is_told(job: Job) -> None:
    job.run(inner_folds=0)
    (problem,) = job.problems
    np.testing.assert_array_equal(problem.associations, LABELS)
    np.testing.assert_array_equal(problem.training, FOLDS >= 0)
    assert len(problem.asked) == 1
    np.testing.assert_array_equal(problem.asked[0], FOLDS == -1)
    assert not (job.folder / "out" / "validation.npy").exists()


def test_a_golden_tells_its_training_pairs_itself(job: Job) -> None:
    """It asks for every pair, so that its folds can't tell which were training."""
    training = (LABELS > 0).astype(np.uint8)
    job.run(inputs={"training": training, "folds": np.full((4, 4), -1, dtype=np.int8)}, inner_folds=0)
    (problem,) = job.problems
    np.testing.assert_array_equal(problem.training, LABELS > 0)
    assert "training" not in problem.inputs
    assert job.read("predictions").shape == (1, 16)


def test_a_problem_holds_the_declared_inputs_and_parameters_and_nothing_else(job: Job) -> None:
    job.run(parameters={"rank": 7, "fit_seed": 3}, seed=12)
    for problem in job.problems:
        assert list(problem.inputs) == ["extra"]
        np.testing.assert_array_equal(problem.inputs["extra"], EXTRA)
        assert problem.parameters == {"rank": 7, "fit_seed": 3}
        assert problem.seed == 12 and problem.trace is False
    job.run(trace=True)
    assert [problem.trace for problem in job.problems] == [True, False, False]


def test_each_score_is_of_the_model_that_did_not_see_its_pair(job: Job) -> None:
    job.run()
    scores = [np.arange(16.0).reshape(4, 4) + 100 * (model + 1) for model in range(3)]
    np.testing.assert_array_equal(job.read("predictions"), [one[FOLDS == -1] for one in scores])
    expected = [scores[FOLDS[place]][place] for place in map(tuple, np.argwhere(FOLDS >= 0))]
    np.testing.assert_array_equal(job.read("validation"), expected)
    np.testing.assert_array_equal(job.read("lowest"), [100, 200, 300])


@pytest.mark.parametrize(
    ("scores", "lowest"), [([0, 0.5, 2], 0.5), ([0, -0.5, 2], -0.5), ([0, 0, 0], 0.0), ([3, 4, 5], 3.0)]
)
def test_the_lowest_score_is_the_smallest_but_zero(job: Job, scores: list[float], lowest: float) -> None:
    job.run(lambda _: job.sdk.Answer(np.resize(np.array(scores, dtype=float), (4, 4))), inner_folds=0)
    assert job.read("lowest").tolist() == [lowest]


def test_every_model_draws_from_the_same_seed(job: Job) -> None:
    """Both generators; a parameter of the method's own goes before the job's."""
    draws: list[tuple[float, float]] = []

    def draw(problem: Any) -> Any:
        draws.append((random.random(), float(np.random.rand())))
        return job.scores(problem)

    job.run(draw)
    assert len(set(draws)) == 1
    random.seed(11)
    np.random.seed(11)
    assert draws[0] == (random.random(), float(np.random.rand()))
    job.run(draw, seed=2**32 + 11)
    np.random.seed(11)
    assert draws[-1][1] == float(np.random.rand()) and draws[-1][0] != draws[0][0]
    job.run(draw, seed=99, parameters={"fit_seed": 11})
    assert draws[-1] == draws[0]


def test_a_report_tells_times_iterations_and_warnings(job: Job) -> None:
    def answer(problem: Any) -> Any:
        warnings.warn("twice", UserWarning, stacklevel=1)
        warnings.warn("before", RuntimeWarning, stacklevel=1)
        return job.sdk.Answer(np.ones((4, 4)), iterations=problem.model + 5)

    started = time.perf_counter()
    job.run(answer)
    elapsed, report = time.perf_counter() - started, job.report
    assert report["protocol"] == 1 and report["iterations"] == [5, 6, 7]
    assert report["warnings"] == ["RuntimeWarning: before", "UserWarning: twice"]
    assert {name: len(values) for name, values in report["seconds"].items()} == {"fit": 3, "predict": 3}
    told = [*report["seconds"]["fit"], *report["seconds"]["predict"]]
    assert min(told) > 0 and sum(told) < elapsed and report["cpu_seconds"] > 0
    assert report["peak_memory_bytes"] > 10_000_000
    assert report["versions"]["numpy"] == np.__version__
    job.run()
    assert job.report["iterations"] is None and job.report["warnings"] == []
    # a model without a number leaves none for all
    job.run(lambda problem: job.sdk.Answer(np.ones((4, 4)), iterations=5 if problem.model < 2 else None))
    assert job.report["iterations"] is None


def test_a_trace_is_written_of_the_first_model_alone(job: Job) -> None:
    def answer(problem: Any) -> Any:
        return job.sdk.Answer(np.ones((4, 4)), trace={"W": np.full(2, float(problem.model))})

    job.run(answer)
    assert not (job.folder / "out" / "trace").exists()
    job.run(answer, trace=True)
    assert job.read("trace/W").tolist() == [0.0, 0.0]


@pytest.mark.parametrize("told", [{"protocol": 0}, {"protocol": 2}])
def test_another_protocol_is_refused(job: Job, told: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="this method speaks 1"):
        job.run(**told)


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (16,), (4, 4, 1)])
def test_scores_of_another_shape_are_refused(job: Job, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="scores of shape"):
        job.run(lambda _: job.sdk.Answer(np.ones(shape)))
    assert not (job.folder / "out" / "method.json").exists()


@pytest.mark.parametrize("fault", ["type", "dimensions", "columns"])
def test_an_array_that_is_none_of_the_protocol_is_refused(core: ModuleType, tmp_path: Path, fault: str) -> None:
    arrays: dict[str, npt.NDArray[Any]] = {
        "type": np.zeros((2, 3), dtype=np.float16),
        "dimensions": np.zeros((2, 3, 1)),
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    }
    array, path = arrays[fault], tmp_path / "array.npy"
    np.save(path, array)
    with pytest.raises(ValueError, match="is not part of the protocol"):
        core.read_npy(path)
    if fault == "columns":
        # written row by row whatever it was
        core.write_npy(path, array)
        np.testing.assert_array_equal(core.read_npy(path), array)
    else:
        with pytest.raises(ValueError, match="is not part of the protocol"):
            core.write_npy(path, array)
