"""The marked classifier: network, steps, batches, decisions and files, held to plain definitions."""

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
def found(repository: Layout, engine: Engine) -> dict[str, Any]:
    """One run inside the image, because importing its libraries costs more than all that is looked at."""
    code, path = code_of(repository, "pure_minilm")
    return measured(
        engine,
        ensure_environment(engine, repository, "pure_minilm").image_id,
        ("/opt/venv/bin/python3", "/tests/plain_combinations.py"),
        {"nothing": np.zeros(1)},
        mounts={**code, Path(__file__).parent: "/tests"},
        environment={"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.engine
def test_the_last_layer_at_markers_is_another(found: dict[str, Any]) -> None:
    """Against the library's BERT over all tokens: vectors, logits, gradients of every weight, dropout."""
    said = found["network"]
    assert max(said[name] for name in ("entities", "all tokens", "logits", "alone", "dropout")) < 2e-6
    assert said["gradients"] < 1e-5
    # all but the pooler's and the second row of segments belongs to a matrix: 4 + 1 + 3 layers of 16
    assert said["gradients of"] == 53
    assert said["dropped"]
    assert "has no start marker" in said["no marker"]


@pytest.mark.engine
def test_steps_or_what_learns_is_another(found: dict[str, Any]) -> None:
    said = found["steps"]
    assert max(said[name] for name in ("adamw", "loss", "weighted loss")) < 1e-6
    assert said["rates"] == [0.0, 0.5, 1.0, 0.5, 0.0]
    assert said["final-bert-layer, False"] == [["2"], False, 20]
    assert said["final-bert-layer, True"] == [["2"], True, 21]
    assert said["BitFit, False"] == [["0", "1", "2"], False, 30]
    assert said["all, True"] == [["0", "1", "2"], True, 59]


@pytest.mark.engine
def test_kept_vectors_or_batches_change_what_is_learned(found: dict[str, Any]) -> None:
    said = found["course"]
    # half precision
    assert said["frozen"] < 1e-3
    assert said["losses of whole"] < 1e-4
    assert said["mean length"] and said["groups"] and said["widest"] == 1
    assert said["predicted"] < 1e-6
    assert said["changed"] == ["2", "classifier", "layer_norm"]
    assert said["twice"] and said["shuffled"] and said["dropout of frozen layers"]
    assert said["no dropout below, and some"][0] < 1e-5 < 1e-3 < said["no dropout below, and some"][1]
    assert said["epoch"] == 2
    assert 1 <= said["best epoch"] < 4
    assert said["chosen is the best, not the last"] == [False, True]


@pytest.mark.engine
def test_a_candidate_that_decoding_keeps_is_not_decided(found: dict[str, Any]) -> None:
    said = found["decisions"]
    assert said["same decisions"]
    assert said["decided"] < said["of"]


@pytest.mark.engine
def test_candidates_are_divided_otherwise(found: dict[str, Any]) -> None:
    said = found["division"]
    assert said["candidates"] == [749, 83]
    assert said["documents held out"] == [4, 0]
    assert said["most others"] == 2
    assert said["fewer drugs"] == 3
    assert said["labels"] == [[0, 1], [0, 1, 2]]
    assert said["again"]
    assert said["sets"][0] == 8178 > 10 * said["sets"][1]


@pytest.mark.engine
@pytest.mark.parametrize("name", ["pickled", "without bert.", "gamma", "beta", "with heads", "no pooler"])
def test_a_form_of_published_files_is_not_read(found: dict[str, Any], name: str) -> None:
    said = found["refusals"]
    assert isinstance(said[name], list)
    if name != "no pooler":
        assert said[name][0] == said["whole"][0]
    assert said[name][1] == (name == "with heads")


@pytest.mark.engine
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "lack encoder.layer.1.output.dense.bias"),
        ("unexpected", "have what BERT has not: encoder.layer.3.output.dense.bias"),
        ("other width", "embeddings.word_embeddings.weight (30, 12) instead of (30, 24)"),
        ("other heads", "a width of 12 can't be shared by 5 heads"),
        ("other kind", "hidden_act = 'relu'"),
        ("fewer words", "the vocabulary has 30 words, the configuration says 29"),
        ("no vocabulary", "the encoder's vocabulary is missing"),
        ("no configuration", "the encoder's configuration is missing"),
        ("no weights", "neither model.safetensors nor pytorch_model.bin"),
        ("no [CLS]", "the vocabulary lacks [CLS]"),
        ("cut short", "the encoder's weights can't be read"),
        ("with code", "hold more than tensors"),
        ("other places", "do not count from 0 to 39"),
    ],
)
def test_damaged_files_are_read(found: dict[str, Any], name: str, message: str) -> None:
    said = found["refusals"][name]
    assert message in said
    assert "where: FOLDER" in said and "what to do: " in said


@pytest.mark.engine
def test_an_adapted_encoder_is_another(found: dict[str, Any]) -> None:
    said = found["adaptation"]
    assert abs(said["chosen"] - 0.15) < 0.005
    assert said["special"] == 0 and said["others"]
    # one in 25 of those that become another piece is the same one
    assert abs(said["masked, kept"][0] - 0.8) < 0.02 and abs(said["masked, kept"][1] - 0.104) < 0.02
    assert said["blocks"] == [103, 16, [2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 3, 2]]
    assert "3 word pieces, not one block of 16" in said["too short"]
    assert "no setting epoch" in said["unknown setting"]
    first, last = said["losses"]
    assert last < first - 0.1
    assert said["again"] and said["parts"] < 1e-4 and said["first loss"] < 1e-5
    assert said["kept"] and said["head"] and said["vocabulary"]


@pytest.mark.engine
def test_an_encoder_of_the_package_has_another_vocabulary(found: dict[str, Any]) -> None:
    assert found["encoders"] == {"minilm": 30522, "untrained": 30522}
