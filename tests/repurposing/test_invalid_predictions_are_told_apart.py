"""Whatever a container writes, it must be valid or be refused with a reason that names file, place and value."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import InvalidPredictions
from harness.base.npy import npy_bytes
from harness.benchmarks.repurposing.answer import FoldQuestion
from harness.benchmarks.repurposing.splits.folds import Folds

FOLDS: Folds = np.array([[-1, 0, 1], [1, -1, 0], [-1, -2, 0]], dtype=np.int8)
MODELS, TESTED, TRAINED = 2, 3, 5


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with valid predictions."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "predictions.npy").write_bytes(npy_bytes(np.arange(6.0).reshape(MODELS, TESTED)))
    (folder / "validation.npy").write_bytes(npy_bytes(np.linspace(0, 1, TRAINED)))
    (folder / "lowest.npy").write_bytes(npy_bytes(np.array([-1.0, 0.25])))
    (folder / "method.json").write_text(json.dumps({"protocol": 1}))
    return folder


def _refused(folder: Path, inner_folds: int = MODELS) -> str:
    with pytest.raises(InvalidPredictions) as caught:
        FoldQuestion(FOLDS, inner_folds).read(folder)
    return str(caught.value)


def _with(values: list[float]) -> bytes:
    table = np.arange(6.0)
    table[: len(values)] = values
    return npy_bytes(table.reshape(MODELS, TESTED))


def test_valid_predictions_are_read(out: Path) -> None:
    predictions = FoldQuestion(FOLDS, MODELS).read(out)
    assert predictions.test.shape == (MODELS, TESTED)
    assert predictions.validation is not None
    assert predictions.validation.shape == (TRAINED,)
    assert predictions.lowest.tolist() == [-1.0, 0.25]


def test_what_numpy_itself_writes_is_read(out: Path) -> None:
    np.save(out / "predictions.npy", np.ones((MODELS, TESTED)))
    assert FoldQuestion(FOLDS, MODELS).read(out).test.sum() == 6


@pytest.mark.parametrize("lowest", [[0.0, 0.25], [1.5, 0.25], [-1.0, 0.3]])
def test_a_lowest_score_that_other_scores_refute(out: Path, lowest: list[float]) -> None:
    """The published metrics replace zeros by a number made from it, so it must not be the method's to choose."""
    (out / "lowest.npy").write_bytes(npy_bytes(np.array(lowest)))
    model = 1 if lowest[0] == -1.0 else 0
    assert _refused(out).startswith(f"lowest.npy: model {model} tells {lowest[model]:g} as its smallest score")


def test_a_lowest_score_is_that_of_its_own_model(out: Path) -> None:
    """The other model gave a smaller one to a pair that this one has not seen."""
    (out / "validation.npy").write_bytes(npy_bytes(np.array([-5.0, 0.25, 0.5, 0.75, 1.0])))
    (out / "lowest.npy").write_bytes(npy_bytes(np.array([-5.0, 0.25])))
    assert FoldQuestion(FOLDS, MODELS).read(out).lowest.tolist() == [-5.0, 0.25]


def test_other_files_do_not_disturb(out: Path) -> None:
    (out / "extra.bin").write_bytes(b"x")
    (out / "trace").mkdir()
    assert FoldQuestion(FOLDS, MODELS).read(out).test.shape == (MODELS, TESTED)


@pytest.mark.parametrize("name", ["predictions.npy", "validation.npy", "lowest.npy", "method.json"])
def test_missing_file(out: Path, name: str) -> None:
    (out / name).unlink()
    assert _refused(out) == f"{name}: is missing"


@pytest.mark.parametrize("name", ["predictions.npy", "validation.npy", "lowest.npy", "method.json"])
def test_empty_file(out: Path, name: str) -> None:
    (out / name).write_bytes(b"")
    assert _refused(out) == f"{name}: is empty"


@pytest.mark.parametrize("name", ["predictions.npy", "validation.npy", "lowest.npy"])
def test_half_written_file(out: Path, name: str) -> None:
    content = (out / name).read_bytes()
    (out / name).write_bytes(content[:-8])
    assert f"{name}: has {len(content) - 8} bytes instead of {len(content)}" == _refused(out)


def test_symbolic_link_is_not_followed(out: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.npy"
    (out / "predictions.npy").rename(target)
    (out / "predictions.npy").symlink_to(target)
    assert _refused(out) == "predictions.npy: is a symbolic link, not a file"


def test_link_to_nowhere_is_not_called_missing(out: Path) -> None:
    (out / "lowest.npy").unlink()
    (out / "lowest.npy").symlink_to("/nowhere")
    assert _refused(out) == "lowest.npy: is a symbolic link, not a file"


def test_folder_and_pipe_are_no_files(out: Path) -> None:
    (out / "validation.npy").unlink()
    (out / "validation.npy").mkdir()
    assert _refused(out) == "validation.npy: is not a plain file"
    (out / "validation.npy").rmdir()
    os.mkfifo(out / "validation.npy")
    assert _refused(out) == "validation.npy: is not a plain file"


def test_huge_file_is_refused_before_it_is_read(out: Path) -> None:
    with (out / "predictions.npy").open("r+b") as stream:
        stream.truncate(1 << 40)
    assert _refused(out).startswith(f"predictions.npy: has {1 << 40} bytes, more than the")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([0, 0, 0, 0, float("nan")], "1 value is not finite, first at model 1, item 1: nan"),
        ([float("inf"), 0, float("nan"), float("-inf")], "3 values are not finite, first at model 0, item 0: inf"),
    ],
)
def test_values_that_are_no_scores(out: Path, values: list[float], reason: str) -> None:
    (out / "predictions.npy").write_bytes(_with(values))
    assert _refused(out) == f"predictions.npy: {reason}"


def test_validation_that_is_not_finite(out: Path) -> None:
    (out / "validation.npy").write_bytes(npy_bytes(np.array([0, 1, 2, np.nan, 4])))
    assert _refused(out) == "validation.npy: 1 value is not finite, first at item 3: nan"


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ((MODELS, TESTED + 1), "2 x 4"),
        ((MODELS, TESTED - 1), "2 x 2"),
        ((MODELS + 1, TESTED), "3 x 3"),
        ((6,), "6"),
    ],
)
def test_wrong_number_of_predictions(out: Path, shape: tuple[int, ...], told: str) -> None:
    (out / "predictions.npy").write_bytes(npy_bytes(np.zeros(shape)))
    assert _refused(out) == f"predictions.npy: has shape {told} instead of 2 x 3"


@pytest.mark.parametrize("dtype", ["<f4", "<i8", "|b1"])
def test_wrong_type_of_numbers(out: Path, dtype: str) -> None:
    (out / "predictions.npy").write_bytes(npy_bytes(np.zeros((MODELS, TESTED), dtype=dtype)))
    assert _refused(out) == f"predictions.npy: has data type {dtype} instead of <f8"


def test_big_endian_is_refused(out: Path) -> None:
    np.save(out / "predictions.npy", np.zeros((MODELS, TESTED), dtype=">f8"))
    assert _refused(out) == "predictions.npy: has data type >f8 instead of <f8"


def test_columns_first_is_refused(out: Path) -> None:
    np.save(out / "predictions.npy", np.asfortranarray(np.zeros((MODELS, TESTED))))
    assert "stored column by column" in _refused(out)


def test_nothing_is_unpickled(out: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    np.save(out / "predictions.npy", np.array([[Trap()] * 3] * 2, dtype=object), allow_pickle=True)
    assert _refused(out).startswith("predictions.npy: has data type |O instead of <f8")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"0.1,0.2\n",
        b"\x93NUMPY\x02\x00" + b"\x00" * 40,
        b"\x93NUMPY\x01\x00\xff\xff{'descr'",
        b"\x93NUMPY\x01\x00\x10\x00__import__('os')",
        b"\x93NUMPY\x01\x00\x09\x00{'a': 1}\n",
    ],
)
def test_file_of_another_kind(out: Path, content: bytes) -> None:
    (out / "predictions.npy").write_bytes(content)
    assert _refused(out).startswith("predictions.npy: ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ("{}", "speaks protocol None, the job 1"),
        ('{"protocol": 2}', "speaks protocol 2, the job 1"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_report_that_can_not_be_read(out: Path, text: str, reason: str) -> None:
    (out / "method.json").write_text(text)
    assert _refused(out) == f"method.json: {reason}"


def test_job_without_inner_folds_has_no_validation(out: Path) -> None:
    (out / "predictions.npy").write_bytes(npy_bytes(np.zeros((1, TESTED))))
    (out / "lowest.npy").write_bytes(npy_bytes(np.zeros(1)))
    assert "though the job has no inner models" in _refused(out, 0)
    (out / "validation.npy").unlink()
    assert FoldQuestion(FOLDS, 0).read(out).validation is None
