"""DataSAIL's split is made by DataSAIL itself, in its container, and comes out the same again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.drugs.deal import split_items
from harness.benchmarks.ddi.splits.form import FORM
from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN, TEST_NEW, VALID_NEW
from harness.benchmarks.ddi.splits.strategies import datasail
from harness.engine import Engine
from harness.splits import make_split
from harness.splits.spec import SplitSpec
from harness.splits.splits import verify_split
from harness.splits.strategies import get_strategy, strategy_source
from tests.splits.kinds import as_parts
from tests.splits.made_up_drugs import made_up_drugs

TOLD = datasail.Parameters.model_validate({"clusters": 8, "nodes": 20, "epsilon": 0.3})


def _dataset() -> DdiDataset:
    return made_up_drugs(40, 3)


@pytest.mark.thorough
@pytest.mark.engine
def test_it_splits_whole_clusters_and_repeats(engine: Engine) -> None:
    dataset = _dataset()
    answer = datasail.answered(dataset, 1, TOLD)
    assert answer.clusters.max() + 1 == TOLD.clusters
    for number in np.unique(answer.clusters):
        assert len(np.unique(answer.roles[answer.clusters == number])) == 1
    split = datasail.make(dataset, 1, TOLD)
    np.testing.assert_array_equal(split.drugs, answer.roles)
    assert datasail.broken_promises(dataset, split, TOLD) == []
    assert FORM.broken_promises(split, dataset) == []
    assert not (split.drugs == DISCARDED).any()
    assert len(np.unique(split.drugs)) == 3
    assert (split.drugs == KNOWN).sum() > 20


def test_a_split_of_other_making_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer stands in for DataSAIL's own, which is looked at above: clusters of five drugs."""
    dataset = _dataset()
    clusters = np.arange(40) // 5
    roles = np.where(clusters == 6, VALID_NEW, np.where(clusters == 7, TEST_NEW, KNOWN)).astype(np.int32)
    monkeypatch.setattr(datasail, "answered", lambda *_: datasail.Assignment(roles, clusters))
    kept = datasail.broken_draws(dataset, split_items(dataset, roles, 1), 1, TOLD)
    assert kept == []
    random = get_strategy("ddi", "random")
    drawn = as_parts(random.make(dataset, 1, random.Parameters()))
    told = " ".join(datasail.broken_draws(dataset, drawn, 1, TOLD))
    assert "of DataSAIL's clusters have drugs of several roles" in told
    assert "drugs have another role than DataSAIL gives them for seed 1" in told
    # whole clusters, but not those that DataSAIL chose
    others = split_items(dataset, roles[::-1].copy(), 1)
    assert datasail.broken_draws(dataset, others, 1, TOLD) == [
        "20 drugs have another role than DataSAIL gives them for seed 1"
    ]


def test_verification_asks_datasail(monkeypatch: pytest.MonkeyPatch, repository: Layout) -> None:
    random = SplitSpec(strategy="random", seed=1)
    made = as_parts(make_split(repository, "synthetic_ddi", random))
    roles = np.zeros_like(made.drugs)
    alone = np.arange(len(roles))
    monkeypatch.setattr(datasail, "answered", lambda *_: datasail.Assignment(roles, alone))
    wide = SplitSpec(strategy="datasail", seed=1, parameters={"epsilon": 0.5})
    (told,) = verify_split(repository, "synthetic_ddi", wide, made)
    assert told == "14 drugs have another role than DataSAIL gives them for seed 1"


def test_its_container_is_no_source_of_other_splits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any of its files is one of its own, by what it holds: the name of the other one is the same."""
    strategy: Any = get_strategy("ddi", "datasail")
    files = strategy.FILES
    assert "split.py" in {path.name for path in files} and len(files) > 1
    before = {name: strategy_source("ddi", name) for name in ("datasail", "cluster")}
    for place, file in enumerate(files):
        other = tmp_path / file.name
        other.write_text("another program", encoding="utf-8")
        monkeypatch.setattr(strategy, "FILES", (*files[:place], other, *files[place + 1 :]))
        assert strategy_source.__wrapped__("ddi", "datasail") != before["datasail"]
        assert strategy_source.__wrapped__("ddi", "cluster") == before["cluster"]
