"""Numbers in docs/splits.md and docs/data.md, from splits that are made again and from what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.parts import DISCARDED, PartSplit
from harness.data import load_dataset
from harness.splits.strategies import get_strategy
from tests.conftest import REPOSITORY
from tests.splits.kinds import as_parts


@pytest.fixture(scope="module")
def drugbank(repository: Layout, shared: Path) -> DdiDataset:
    dataset = load_dataset(repository, "drugbank", mirrors=[shared / "mirror"])
    assert isinstance(dataset, DdiDataset)
    return dataset


def page(name: str) -> str:
    """In one line."""
    return " ".join((REPOSITORY / "docs" / f"{name}.md").read_text(encoding="utf-8").split())


def made(dataset: DdiDataset, name: str, seed: int, **parameters: float) -> PartSplit:
    strategy = get_strategy("ddi", name)
    return as_parts(strategy.make(dataset, seed, strategy.Parameters(**parameters)))


def test_lohi_discards_as_many_drugs_as_are_told(drugbank: DdiDataset) -> None:
    found = [
        int((made(drugbank, "lohi", 1, threshold=one).drugs == DISCARDED).sum()) for one in (0.4, 0.5, 0.55, 0.6)
    ]
    first, second, third, fourth = found
    assert fourth == 0
    told = f"{first} of {len(drugbank.years):,} drugs at 0.4, {second} at 0.5, {third} at 0.55 and none at 0.6"
    assert f"seed 1 discards {told}" in page("splits")


def test_spectra_keeps_as_many_drugs_as_are_told(drugbank: DdiDataset) -> None:
    kept = [
        int((made(drugbank, "spectra", 1, spectral=one).drugs != DISCARDED).sum())
        for one in (0, 0.25, 0.5, 0.75, 1)
    ]
    told = ", ".join(f"{one:,}" for one in kept[:-1])
    assert f"with seed 1, 0, 0.25, 0.5, 0.75 and 1 keep {told} and {kept[-1]} drugs" in page("splits")


def test_periods_have_as_many_items_as_are_told(drugbank: DdiDataset) -> None:
    periods = ({"after": 2000, "until": 2010}, {"after": 1990, "until": 2000}, {"after": 1980, "until": 1990})
    splits = [made(drugbank, "period", 124, **one) for one in periods]
    known, new = [], set()
    for one, split in zip(periods, splits, strict=True):
        known.append(int(((drugbank.years > one["after"]) & (drugbank.years <= one["until"])).sum()))
        new.add(int((split.drugs == 2).sum()))
    train = [f"{int((split.items == 0).sum()):,}" for split in splits]
    (asked,) = {int((split.items == 6).sum()) for split in splits}
    text = page("splits")
    assert f"have the {known[0]}, {known[1]} and {known[2]} known drugs and the {new.pop()} new ones" in text
    assert f"so that {train[0]}, {train[1]} and {train[2]} items train (seed 124)" in text
    assert not new and f"S2 has {asked:,} test items" in text


def test_only_splits_that_discard_drugs_cost_less_than_knowing_everything() -> None:
    """From 2005 on, of the thresholds that are looked at."""
    measured = json.loads((REPOSITORY / "results" / "reference" / "ddi" / "measured.json").read_bytes())[
        "measured"
    ]
    approved = np.array([year for *_, year in measured["drug_map"]])
    years = []
    for place, year in enumerate(measured["years"]):
        everything = np.clip(approved - year, 0, None).sum()
        if everything < min(one["penalty"][place] for one in measured["splits"] if not one["discarded"]):
            years.append(year)
    assert years == [2005, 2010, 2015, 2020]
    told = 'From about 2005 on, "everything is known" has a smaller P than any split here that discards no drug.'
    assert told in page("splits")


def test_the_stand_in_is_as_small_a_part_as_is_told(repository: Layout, shared: Path) -> None:
    """Of training and S1, if what is printed are the lines of one split."""
    dataset = load_dataset(repository, "twosides_standin", mirrors=[shared / "mirror"])
    assert isinstance(dataset, DdiDataset)
    shares = set()
    for which in ("random", "cluster"):
        strategy = get_strategy("ddi", "released")
        items = as_parts(strategy.make(dataset, 124, strategy.Parameters.model_validate({"which": which}))).items
        counts = {part: int((items == part).sum()) for part in range(7)}
        released = sum(counts[part] for part in (1, 3, 4, 6))
        shares.add(f"{(counts[0] + counts[2] + counts[5]) / (116_650 - released):.0%}".replace("%", " %"))
    assert shares == {"15 %"}
    assert "(15 %, if the 116,650 of the paper's Table 6 are the lines of one split)" in page("data")
