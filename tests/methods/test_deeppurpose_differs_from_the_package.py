"""DeepPurpose: our loop around the package trains as the package's own does, and says what it can't read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.in_image import code_of, measured
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import ensure_environment


@pytest.fixture(scope="module")
def answers(repository: Layout, engine: Engine) -> dict[str, Any]:
    """One run inside the image, because importing its libraries costs more than all that is looked at."""
    code, path = code_of(repository, "deeppurpose")
    return measured(
        engine,
        ensure_environment(engine, repository, "deeppurpose").image_id,
        ("/opt/venv/bin/python3", "/tests/plain_deeppurpose.py"),
        {"nothing": np.zeros(1)},
        mounts={**code, repository.methods / "deeppurpose" / "parity": "/parity", Path(__file__).parent: "/tests"},
        environment={"PYTHONPATH": f"{path}:/parity", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.engine
@pytest.mark.parametrize("values", ["labels", "affinities"])
@pytest.mark.parametrize("encodings", ["CNN/CNN", "Morgan/AAC", "Daylight/AAC", "Transformer/Transformer"])
def test_epochs_are_trained_and_chosen_as_the_package_does(
    answers: dict[str, Any], encodings: str, values: str
) -> None:
    name = f"{encodings}, {values}"
    assert answers[f"{name}: difference"] < answers[f"{name}: spread"] / 1000


@pytest.mark.engine
def test_a_target_is_encoded_once_per_step_but_where_its_encoding_is_drawn(answers: dict[str, Any]) -> None:
    """Eight pairs of two targets: in training, and in evaluation."""
    assert answers["shared"] == {"CNN": [2, 2], "Transformer": [8, 2], "AAC": [2, 2]}


@pytest.mark.engine
def test_texts_that_the_package_can_not_read_are_told_of(answers: dict[str, Any]) -> None:
    drugs, targets = (f"1 of 5 texts have more than {most} characters, and are cut there" for most in (100, 1000))
    token = "1 of 5 texts have a subword that the package does not know: one token in all"
    assert answers["warned"] == {
        "CNN/CNN": [drugs, targets],
        "Transformer/Transformer": [token, token, "1 of 5 texts have 545 subwords or more, and are cut there"],
        "Morgan/AAC": [vectors(1, "Morgan"), vectors(2, "AAC")],
        "Daylight/AAC": [vectors(2, "Daylight"), vectors(2, "AAC")],
    }


def vectors(count: int, kind: str) -> str:
    return f"{count} of 5 texts have no {kind} feature, and so a vector of zeros"


@pytest.mark.engine
def test_without_a_verdict_of_validation_the_last_epoch_counts(answers: dict[str, Any]) -> None:
    """The package has no such pairs, or ends with an error; it must not answer with untrained weights."""
    assert min(answers["moved without validation"]) > 0.01


@pytest.mark.engine
def test_two_affinities_are_not_taken_for_labels(answers: dict[str, Any]) -> None:
    assert "labels are 0 and 1" in answers["two values"]


@pytest.mark.engine
def test_a_golden_case_may_have_other_sizes(answers: dict[str, Any]) -> None:
    assert max(answers["replayed"].values()) < 1e-6


@pytest.mark.engine
def test_triples_are_counted_as_the_package_does(answers: dict[str, Any]) -> None:
    assert answers["triples"] is True
