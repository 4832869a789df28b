"""The Octave SDK: arrays keep every bit on their way through, and a failure names the file it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.images import ensure_image
from harness.methods.card import load_method
from tests.methods.arrays import all_kinds
from tests.methods.octave import Octave, OctaveFailed

pytestmark = pytest.mark.engine


@pytest.fixture
def octave(engine: Engine, repository: Layout, tmp_path: Path) -> Octave:
    inward, outward = tmp_path / "in", tmp_path / "out"
    inward.mkdir()
    outward.mkdir()
    # the container's user is another one
    outward.chmod(0o777)
    return Octave(engine, ensure_image(engine, repository, "bnnr").image_id, inward, outward)


def test_an_array_loses_no_bit_no_type_and_no_dimension_on_its_way_through(octave: Octave) -> None:
    cases = all_kinds()
    shapes = [{"name": name, "shape": list(array.shape)} for name, array in cases.items()]
    (octave.inward / "shapes.json").write_text(json.dumps(shapes))
    octave(
        """
        for one = jsondecode (fileread ("/in/shapes.json"))'
          array = read_npy (["/in/" one.name ".npy"]);
          write_npy (["/out/" one.name ".npy"], array, one.shape(:)');
        endfor
        """,
        cases,
    )
    for name, array in cases.items():
        back = octave.written(name)
        assert (back.dtype, back.shape) == (array.dtype, array.shape), name
        assert back.tobytes() == array.tobytes(), name


def test_rows_do_not_become_columns(octave: Octave) -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    printed = octave('A = read_npy ("/in/A.npy"); printf ("%d %d %g", size (A), A(1,3));', {"A": matrix})
    assert printed == "2 3 2"


def test_a_value_of_json_lines_is_another_afterwards(octave: Octave) -> None:
    values = ['h\u00e9 "said" \\n', {"name": "a", "score": 0.5, "labels": ["x", "y"]}, [1, 2.5], True]
    lines = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    (octave.inward / "values.jsonl").write_text(lines, encoding="utf-8")
    octave('write_jsonl ("/out/copy.jsonl", read_jsonl ("/in/values.jsonl"));')
    copied = (octave.outward / "copy.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line) for line in copied.splitlines()] == values


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 3), dtype=">f8"),
        np.zeros((2, 3), dtype="<f2"),
        np.zeros((2, 3), dtype="<c16"),
        np.zeros((2, 3), dtype="<U4"),
        np.zeros((2, 3, 4)),
        np.asfortranarray(np.zeros((2, 3))),
    ],
    ids=["big-endian", "half", "complex", "text", "three dimensions", "columns first"],
)
def test_an_array_outside_the_protocol_is_refused_by_name(octave: Octave, array: npt.NDArray[Any]) -> None:
    np.save(octave.inward / "foreign.npy", array)
    with pytest.raises(OctaveFailed, match=r"/in/foreign\.npy: .*not part of the protocol"):
        octave('read_npy ("/in/foreign.npy");')


@pytest.mark.parametrize("kept", [0, 5, 20, 127, 128 + 8 * 5], ids=str)
def test_a_cut_array_is_refused_by_name(octave: Octave, kept: int) -> None:
    np.save(octave.inward / "cut.npy", np.arange(6.0).reshape(2, 3))
    content = (octave.inward / "cut.npy").read_bytes()
    (octave.inward / "cut.npy").write_bytes(content[:kept])
    with pytest.raises(OctaveFailed, match=r"/in/cut\.npy: "):
        octave('read_npy ("/in/cut.npy");')


def test_an_inner_model_sees_its_items_hidden_and_nothing_else_changes(engine: Engine, layout: Layout) -> None:
    trial = _trial(layout, inner_folds=2)
    folds, associations = trial.inputs["folds"], trial.inputs["associations"]
    run = InContainers(layout, engine)
    with run(trial) as result:
        assert result.verdict is Verdict.OK, result.reason
        predictions = np.load(result.out / "predictions.npy")
        validation = np.load(result.out / "validation.npy")
        report = json.loads((result.out / "method.json").read_text())
    assert [len(report["seconds"][part]) for part in ("fit", "predict")] == [2, 2]
    assert len(report["iterations"]) == 2
    assert report["peak_memory_bytes"] > 1 << 20
    assert report["cpu_seconds"] > 0
    where_validated = np.full(folds.shape, np.nan)
    where_validated[folds >= 0] = validation
    for model in range(2):
        hidden = {**trial.inputs, "associations": np.where(folds == model, 0, associations).astype(np.int8)}
        everything = {**hidden, "folds": np.full(folds.shape, -1, dtype=np.int8)}
        with run(_trial(layout, inputs=everything)) as alone:
            assert alone.verdict is Verdict.OK, alone.reason
            scores = np.load(alone.out / "predictions.npy").reshape(folds.shape)
        assert np.array_equal(predictions[model], scores[folds == -1])
        assert np.array_equal(where_validated[folds == model], scores[folds == model])


def test_a_failure_is_exit_code_1_and_names_the_file(engine: Engine, layout: Layout) -> None:
    trial = _trial(layout)
    broken: dict[str, npt.NDArray[Any]] = {**trial.inputs, "drug_similarity": np.zeros((2, 2, 2))}
    with InContainers(layout, engine)(_trial(layout, inputs=broken)) as result:
        assert result.verdict is Verdict.ERROR
        assert "exit code 1" in result.reason
        assert "/in/drug_similarity.npy" in result.reason


def _trial(layout: Layout, *, inner_folds: int = 0, inputs: dict[str, npt.NDArray[Any]] | None = None) -> Trial:
    """BNNR on a few made-up drugs and diseases."""
    numbers = np.random.default_rng(7)
    drugs, diseases = 9, 6
    folds = numbers.integers(-2, 2, (drugs, diseases)).astype(np.int8)
    associations = np.where(folds >= 0, numbers.integers(-1, 2, (drugs, diseases)), 0).astype(np.int8)
    card = load_method(layout, "bnnr")
    made_up: dict[str, npt.NDArray[Any]] = {
        "associations": associations,
        "folds": folds,
        "drug_similarity": numbers.normal(size=(drugs, drugs)),
        "disease_similarity": numbers.normal(size=(diseases, diseases)),
    }
    return Trial(
        card=card,
        benchmark="repurposing",
        inputs=inputs or made_up,
        parameters=card.variant("published").parameters,
        seed=1,
        options={"inner_folds": inner_folds},
    )
