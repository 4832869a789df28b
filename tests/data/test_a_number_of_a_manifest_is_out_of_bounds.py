"""Numbers in a manifest: the last that can be is taken, the next refused by the name of its field."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ValidationError

from harness.benchmarks.ddi.converters import ddi_csv
from harness.benchmarks.ddi.statistics import DdiStatistics
from harness.benchmarks.repurposing.converters.synthetic import Parameters
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.statistics import RepurposingOptions, RepurposingStatistics

PAIRS = dict.fromkeys(DdiStatistics.model_fields, 5) | {"multilabel": False}
MATRIX = dict.fromkeys(RepurposingStatistics.model_fields, 5) | {"associated": False}
DRAWN = {"positives": 5, "negatives": 5, "features": 6, "seed": 5}
LEAST: list[tuple[type[BaseModel], dict[str, int], dict[str, int]]] = [
    (
        DdiStatistics,
        PAIRS,
        {"drugs": 1, "types": 1, "items": 1, "negatives": 0, "fingerprint": 1, "entities": 2, "relations": 0}
        | dict.fromkeys(("edges", "dated", "drug_texts", "graph_texts", "released"), 0),
    ),
    (
        RepurposingStatistics,
        MATRIX,
        {"drugs": 1, "diseases": 1}
        | dict.fromkeys(("positives", "negatives", "drug_features", "disease_features"), 0),
    ),
    (Parameters, DRAWN, {"positives": 1, "negatives": 0, "features": 2, "seed": 0}),
    (RepurposingOptions, {}, {"inner_folds": 0}),
]


@pytest.mark.parametrize(
    ("model", "others", "field", "least"),
    [(model, others, field, least) for model, others, fields in LEAST for field, least in fields.items()],
)
def test_the_least_number_is_taken_and_no_smaller_one(
    model: type[BaseModel], others: dict[str, Any], field: str, least: int
) -> None:
    assert getattr(model.model_validate({**others, field: least}), field) == least
    for number in (least - 1, least - 2):
        with pytest.raises(ValidationError) as caught:
            model.model_validate({**others, field: number})
        assert [fault["loc"] for fault in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize(
    ("model", "field", "most"),
    [
        (Parameters, "seed", 2**32 - 1),
        (RepurposingOptions, "inner_folds", 100),
        (ddi_csv.Parameters, "fingerprint", 2**16),
    ],
)
def test_the_greatest_number_is_taken_and_no_greater_one(model: type[BaseModel], field: str, most: int) -> None:
    others = DRAWN if model is Parameters else {}
    assert getattr(model.model_validate({**others, field: most}), field) == most
    with pytest.raises(ValidationError):
        model.model_validate({**others, field: most + 1})


def test_features_are_shared_evenly_by_drugs_and_diseases() -> None:
    with pytest.raises(ValidationError):
        Parameters.model_validate({**DRAWN, "features": 7})


@pytest.mark.parametrize("associated", [False, True])
def test_counts_are_those_of_the_matrix(associated: bool) -> None:
    """A negative is an association, too; a pair of which nothing is known is none."""
    known = np.array([[1, 0, 0, 1], [0, -1, 0, 0], [0, 0, 0, 0]], dtype=np.int8)
    dataset = RepurposingDataset(
        name="made_up",
        associations=known,
        drug_features=np.zeros((3, 5)),
        disease_features=np.zeros((4, 2)),
        drug_ids=("a", "b", "c"),
        disease_ids=("1", "2", "3", "4"),
        drug_feature_names=tuple("vwxyz"),
        disease_feature_names=("v", "w"),
    )
    counts = dataset.statistics(associated=associated)
    assert (counts.drugs, counts.diseases) == ((2, 3) if associated else (3, 4))
    assert (counts.positives, counts.negatives) == (2, 1)
    assert (counts.drug_features, counts.disease_features) == (5, 2)
    assert counts.settings == {"associated": associated}
    shape = (2, 3) if associated else (3, 4)
    assert counts.line == f"{shape[0]:>5} drugs {shape[1]:>5} diseases      2 +      1 -"
    # 8 bytes for each test pair, a fifth of all, of each inner model, and for each other pair
    pairs = shape[0] * shape[1]
    assert counts.result_bytes({"inner_folds": 5}) == 8 * pairs * 5 // 5 + 8 * pairs * 4 // 5
    assert counts.result_bytes({"inner_folds": 0}) == 8 * pairs // 5 + 8 * pairs * 4 // 5
