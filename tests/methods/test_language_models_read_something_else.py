"""TextDDI and DDI-GPT: what their texts, losses, positions and measures are, held to plain definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.in_image import measured
from harness.engine import Engine
from harness.images import ensure_environment
from harness.layout import Layout


@pytest.mark.engine
def test_texts_losses_and_positions_are_others(layout: Layout, engine: Engine) -> None:
    """One run inside the image, because importing its libraries costs more than all that is looked at."""
    found = measured(
        engine,
        ensure_environment(engine, layout, "textddi").image_id,
        ("/opt/venv/bin/python3", "/tests/plain_language.py"),
        {"nothing": np.zeros(1)},
        mounts={layout.methods: "/methods", Path(__file__).parent: "/tests"},
        environment={"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    # sentences fill a text, and no more
    assert 40 <= found["drawn: longest"] <= 48
    assert 40 <= found["text: longest"] <= 48
    assert found["drawn: repeated"]
    assert found["text: in order"]
    assert not found["drawn: in order"]
    assert found["without a description"]
    assert found["different draws"]
    # lines that belong together, and their loss
    assert found["units"]
    assert found["loss"] < 1e-6
    assert found["roc_auc"] < 1e-12
    # the published positions, which the goldens' version no longer has
    assert found["without gaps"] < 1e-5
    assert found["last of the text"] < 1e-5
    assert found["versions apart"] > 1e-2
    assert found["encoded"] < 1e-5
