"""DataSAIL's split is made by DataSAIL itself, in its container, and comes out the same again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.engine import Engine
from harness.splits.parts import DISCARDED, KNOWN
from harness.splits.strategies import get_form, get_strategy, strategy_source
from tests.splits.made_up_drugs import made_up_drugs


@pytest.mark.engine
def test_it_splits_whole_clusters_and_repeats(engine: Engine) -> None:
    dataset = made_up_drugs(40, 3)
    strategy = get_strategy("ddi", "datasail")
    told = strategy.Parameters.model_validate({"clusters": 8, "nodes": 20, "epsilon": 0.3})
    split = strategy.make(dataset, 1, told)
    assert strategy.broken_promises(dataset, split, told) == []
    assert get_form("ddi").broken_promises(split, dataset) == []
    assert not (split.drugs == DISCARDED).any()
    assert len(np.unique(split.drugs)) == 3
    assert (split.drugs == KNOWN).sum() > 20
    assert strategy.make(dataset, 1, told).digest == split.digest


def test_its_container_is_no_source_of_other_splits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    container = tmp_path / "split.py"
    container.write_text("another program", encoding="utf-8")
    strategy = get_strategy("ddi", "datasail")
    assert "split.py" in {path.name for path in strategy.FILES}  # type: ignore[attr-defined]
    monkeypatch.setattr(strategy, "FILES", (container,))
    assert strategy_source.__wrapped__("ddi", "datasail") != strategy_source("ddi", "datasail")
    assert strategy_source.__wrapped__("ddi", "cluster") == strategy_source("ddi", "cluster")
