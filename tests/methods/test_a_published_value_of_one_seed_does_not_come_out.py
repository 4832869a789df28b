"""From data to numbers: splits, inner models, their choice and the metrics together give what the study published.

Each part is held to its goldens elsewhere. Here a whole run of the study is done again, and nothing of it is given
but the name of the dataset and the seed. Published values of other seeds come out in the same way.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.benchmarks.repurposing.answer import FoldQuestion
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.input_arrays import arrays_of
from harness.benchmarks.repurposing.scoring import SCORING
from harness.compare.names import load_names
from harness.data import load_dataset
from harness.execution.trials import Trial
from harness.methods.card import load_method
from harness.splits import make_split
from harness.splits.spec import SplitSpec
from tests.methods.host import OnThisMachine
from tests.splits.kinds import as_folds

# beside the columns that name a run, and times
_METRICS = slice(5, -1)


def published(layout: Layout, dataset: str, method: str, split: str, seed: int) -> dict[str, float]:
    """Every value of one run, under our metrics' names; NaN where the study has no value."""
    path = layout.root / "results" / "published" / "repurposing" / "per_seed.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    (row,) = (row for row in rows if (*row[:3], row[4]) == (dataset, method, split, str(seed)))
    names = load_names(layout, "repurposing")
    cells = zip(head[_METRICS], row[_METRICS], strict=True)
    return {ours: float(cell or "nan") for name, cell in cells if (ours := names.metric(name).ours)}


def obtained(
    layout: Layout, work: Path, mirrors: list[Path], dataset: str, method: str, split: str, seed: int
) -> tuple[dict[str, float], str]:
    """Every value of our run, NaN for None, and which inner model was chosen."""
    names = load_names(layout, "repurposing")
    data = load_dataset(layout, names.datasets[dataset], RepurposingDataset, mirrors=mirrors)
    dealt = as_folds(make_split(layout, data.name, SplitSpec(strategy=names.splits[split], seed=seed), mirrors))
    card = load_method(layout, names.methods[method])
    parameters = card.variant(names.variant).parameters
    inputs = arrays_of(data, dealt.folds, card.inputs)
    trial = Trial(card, "repurposing", inputs, parameters, seed=1, variant=names.variant, options=names.options)
    with OnThisMachine(layout, work)(trial) as result:
        assert result.verdict == "ok", result.reason
        answer = FoldQuestion(dealt.folds, names.options["inner_folds"]).read(result.out)
    metrics, notes = SCORING.score(data, dealt, answer, parameters)
    values = {name: math.nan if value is None else value for name, value in metrics.items()}
    return values, notes["inner model/as-published"].partition(",")[0]


@pytest.mark.parametrize(
    ("method", "split", "seed", "chosen"),
    [
        # all scores are positive, and every inner model is worth the same: the first is taken
        ("LogisticMF", "random_simple", 17263407, "0"),
        ("PMF", "random_simple", 17263407, "4"),
        # no disease has two kinds of labels: neither here nor in the files there is a value of a disease
        ("PMF", "weakly_correlated", 23986186, "1"),
    ],
)
def test_a_run_on_synthetic(
    layout: Layout, tmp_path: Path, method: str, split: str, seed: int, chosen: str
) -> None:
    expected = published(layout, "Synthetic", method, split, seed)
    found, model = obtained(layout, tmp_path, [], "Synthetic", method, split, seed)
    assert model == chosen
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-12, nan_ok=True)
    assert len(expected) == 10
    assert sum(map(math.isnan, expected.values())) == (3 if split == "weakly_correlated" else 0)


@pytest.mark.parametrize("split", ["random_simple", "weakly_correlated"])
def test_a_run_on_real_data(layout: Layout, shared: Path, tmp_path: Path, split: str) -> None:
    """ALS-WR, which has negative scores and thousands that are zero."""
    place = ("Fdataset", "ALSWR", split, 17263407)
    expected = published(layout, *place)
    found, _ = obtained(layout, tmp_path, [shared / "mirror"], *place)
    assert not any(map(math.isnan, expected.values()))
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-12, nan_ok=True)
