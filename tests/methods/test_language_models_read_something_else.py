"""TextDDI and DDI-GPT: what their texts, losses, positions and measures are, held to plain definitions."""

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
    code, path = code_of(repository, "textddi", "ddi_gpt")
    return measured(
        engine,
        ensure_environment(engine, repository, "textddi").image_id,
        ("/opt/venv/bin/python3", "/tests/plain_language.py"),
        {"nothing": np.zeros(1)},
        mounts={**code, repository.methods: "/methods", Path(__file__).parent: "/tests"},
        environment={"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.engine
def test_prompts_are_others(found: dict[str, Any]) -> None:
    """And the finding: as published sentences stand in the order of drawing."""
    # sentences fill a text, and no more
    assert 40 <= found["drawn: longest"] <= 48
    assert 40 <= found["text: longest"] <= 48
    assert found["drawn: repeated"]
    assert found["text: in order"]
    assert not found["drawn: in order"]
    assert found["without a description"]
    assert found["different draws"]


@pytest.mark.engine
def test_losses_measures_and_positions_are_others(found: dict[str, Any]) -> None:
    # lines that belong together, and their loss
    assert found["units"]
    assert found["loss"] < 1e-6
    assert found["roc_auc"] < 1e-12
    # the published positions, which the goldens' version no longer has
    assert found["without gaps"] < 1e-5
    assert found["last of the text"] < 1e-5
    assert found["versions apart"] > 1e-2
    assert found["encoded"] < 1e-5


@pytest.mark.engine
def test_ddi_gpt_reads_a_knowledge_graph_or_a_token_as_published(found: dict[str, Any]) -> None:
    """The finding: names alone, and the class at a masked place; corrected, neither."""
    assert found["published: names alone"] and not found["corrected: names alone"]
    assert found["published: masked"] and not found["corrected: masked"]
    assert found["published: filled with"] == [2]


@pytest.mark.engine
def test_a_first_step_has_all_its_batches_as_published(found: dict[str, Any]) -> None:
    """The finding: one batch in the first of an epoch. Ours takes along what the last left; theirs do not."""
    for method in ("textddi", "ddi_gpt"):
        assert found[f"{method}, published: steps"] == [1, 9, 17, 21, 29, 37]
        assert found[f"{method}, corrected: steps"] == [8, 16, 28, 36]
