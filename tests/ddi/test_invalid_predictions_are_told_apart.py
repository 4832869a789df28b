"""Whatever a container writes, it must be valid or be refused with a reason that names file, place and value."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from harness.base.errors import InvalidPredictions
from harness.base.npy import npy_bytes
from harness.benchmarks.ddi.answer import PairQuestion

ONE, SEVERAL = PairQuestion(pairs=3, types=2, multilabel=False), PairQuestion(pairs=3, types=2, multilabel=True)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with valid predictions."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "predictions.npy").write_bytes(_content())
    (folder / "method.json").write_text(json.dumps({"protocol": 1}))
    return folder


def _content(place: int = 0, value: float = 0.0, dtype: str = "<f4") -> bytes:
    scores = np.linspace(0, 1, 6)
    scores[place] = value
    return npy_bytes(scores.reshape(3, 2).astype(dtype))


def _refused(folder: Path, asked: PairQuestion = ONE) -> str:
    with pytest.raises(InvalidPredictions) as caught:
        asked.read(folder)
    return str(caught.value)


@pytest.mark.parametrize("asked", [ONE, SEVERAL])
def test_valid_predictions_are_read(out: Path, asked: PairQuestion) -> None:
    scores = asked.read(out)
    assert (scores.shape, scores.dtype.str, scores.flags.writeable) == ((3, 2), "<f4", False)


@pytest.mark.parametrize("name", ["predictions.npy", "method.json"])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("missing", "is missing"),
        ("empty", "is empty"),
        ("link", "is a symbolic link"),
        ("folder", "is not a plain"),
    ],
)
def test_a_file_that_is_none(out: Path, name: str, fault: str, reason: str) -> None:
    content = (out / name).read_bytes()
    (out / name).unlink()
    if fault == "empty":
        (out / name).touch()
    elif fault == "link":
        (out / "there").write_bytes(content)
        (out / name).symlink_to(out / "there")
    elif fault == "folder":
        (out / name).mkdir()
    assert _refused(out).startswith(f"{name}: {reason}")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number(out: Path, value: float) -> None:
    (out / "predictions.npy").write_bytes(_content(3, value))
    assert _refused(out) == f"predictions.npy: 1 value is not finite, first at pair 1, type 1: {value}"


@pytest.mark.parametrize("value", [-0.5, 1.5, 1e30])
def test_a_probability_must_lie_between_0_and_1(out: Path, value: float) -> None:
    (out / "predictions.npy").write_bytes(_content(4, value))
    assert ONE.read(out)[2, 0] == np.float32(value)
    assert _refused(out, SEVERAL).startswith(
        "predictions.npy: 1 value is no probability, first at pair 2, type 0: "
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (_content(dtype="<f8"), "data type <f8 instead of <f4"),
        (npy_bytes(np.zeros((2, 3), dtype=np.float32)), "shape 2 x 3 instead of 3 x 2"),
        (npy_bytes(np.zeros((3, 3), dtype=np.float32)), "shape 3 x 3 instead of 3 x 2"),
        (_content()[:-4], "bytes instead of"),
        (_content() + b"\0" * 5000, "more than the"),
        (b"\x93NUMPY\x02\x00" + _content()[8:], "not a .npy file of version 1.0"),
        (b"predictions", "not a .npy file"),
    ],
)
def test_scores_of_another_form(out: Path, content: bytes, reason: str) -> None:
    (out / "predictions.npy").write_bytes(content)
    told = _refused(out)
    assert told.startswith("predictions.npy: ")
    assert reason in told


@pytest.mark.parametrize("report", ["", "{", "[]", '{"protocol": 2}', "{}", "[" * 100_000])
def test_a_report_that_is_none(out: Path, report: str) -> None:
    (out / "method.json").write_text(report)
    assert _refused(out).startswith("method.json: ")


def test_nothing_asked_is_nothing_answered(out: Path) -> None:
    (out / "predictions.npy").write_bytes(npy_bytes(np.zeros((0, 2), dtype=np.float32)))
    assert PairQuestion(0, 2, multilabel=True).read(out).shape == (0, 2)
    assert "shape 0 x 2 instead of 3 x 2" in _refused(out)
