"""A split by time of approval must not know a drug of another time, and must be found out where it does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from harness.base.errors import DataError
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.form import FORM
from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN, TEST_NEW, VALID_NEW, part_split
from harness.benchmarks.ddi.splits.strategies import period
from tests.splits.made_up_drugs import made_up_drugs

NEAREST = period.Parameters()


@pytest.fixture(scope="module")
def dataset() -> DdiDataset:
    """Of every year from 1981 to 2020 four drugs, and forty without a year."""
    drugs = made_up_drugs(200, 3, items=6000)
    years = np.repeat(np.arange(1981, 2021), 4)
    return replace(drugs, years=np.concatenate([years, np.zeros(40)]).astype(np.int32))


@pytest.mark.parametrize("after", [1980, 1990, 2000])
def test_known_drugs_are_of_the_period_and_new_ones_later(dataset: DdiDataset, after: int) -> None:
    told = period.Parameters(after=after, until=after + 10)
    split = period.make(dataset, 1, told)
    assert period.broken_promises(dataset, split, told) == FORM.broken_promises(split, dataset) == []
    for role, first, last, count in (
        (KNOWN, after + 1, after + 10, 36),
        (VALID_NEW, after + 1, after + 10, 4),
        (TEST_NEW, 2011, 2020, 40),
    ):
        years = dataset.years[split.drugs == role]
        assert first <= years.min() <= years.max() <= last
        assert len(years) == count
    assert (split.drugs[dataset.years == 0] == DISCARDED).all()
    other = period.make(dataset, 2, told)
    np.testing.assert_array_equal(split.drugs == TEST_NEW, other.drugs == TEST_NEW)
    assert (split.drugs == VALID_NEW).tolist() != (other.drugs == VALID_NEW).tolist()


def test_drugs_of_another_time_are_found_out(dataset: DdiDataset) -> None:
    split = period.make(dataset, 1, NEAREST)
    roles = split.drugs.copy()
    roles[[0, 80, 120, 199]] = [KNOWN, TEST_NEW, KNOWN, VALID_NEW]  # of 1981, 2001, 2011 and no year
    told = "; ".join(period.broken_promises(dataset, part_split(roles, split.items), NEAREST))
    assert "2 drugs of other years, or of none, have another role, for one drug 0: known" in told
    assert "1 drugs of the known period have another role, for one drug 80: test-new" in told
    assert "1 drugs approved after 2010 have another role, for one drug 120: known" in told
    assert "drugs are valid-new, not 4" in told


def test_periods_without_drugs_are_refused(dataset: DdiDataset) -> None:
    undated = replace(dataset, years=np.zeros_like(dataset.years))
    with pytest.raises(DataError, match="0 drugs were approved in the known period and 0 later"):
        period.make(undated, 1, NEAREST)
    with pytest.raises(ValidationError, match="before new drugs are approved"):
        period.Parameters(after=2000, until=2015)
