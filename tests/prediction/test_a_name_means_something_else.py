"""Names that a person gives: found in any case, of the kind that was said, refused where no row can have them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks import Dataset
from harness.data import load_dataset
from harness.prediction import PredictionRequest
from harness.prediction.names import known_name, selection_of


@pytest.fixture(scope="module")
def dataset(repository: Layout) -> Dataset:
    return load_dataset(repository, "synthetic")


def names_of(dataset: Dataset) -> tuple[list[str], list[str]]:
    """Drugs and diseases."""
    drugs, diseases = (list(dataset.names[one]) for one in ("drug_ids", "disease_ids"))
    return drugs, diseases


def test_what_was_asked_is_what_is_selected(dataset: Dataset) -> None:
    drugs, diseases = names_of(dataset)
    request = PredictionRequest(
        methods=("bnnr",),
        dataset="synthetic",
        only=(("drug", drugs[0].upper()), ("drug", drugs[3].lower()), ("disease", diseases[2])),
        pairs=((drugs[1], diseases[1].upper()), (diseases[0], drugs[0])),
    )
    selection = selection_of("repurposing", dataset, request, own=["Mine"])
    assert selection.own == {"Mine"}
    assert selection.named == {"drug": {drugs[0], drugs[3]}, "disease": {diseases[2]}}
    assert selection.pairs == {frozenset({drugs[1], diseases[1]}), frozenset({drugs[0], diseases[0]})}
    assert selection.names_known_things


def test_nothing_asked_selects_nothing(dataset: Dataset) -> None:
    selection = selection_of("repurposing", dataset, PredictionRequest(methods=("bnnr",), dataset="synthetic"))
    assert not selection.names_known_things and not selection.own


def test_a_name_is_of_the_kind_that_was_said(dataset: Dataset) -> None:
    drugs, diseases = names_of(dataset)
    assert known_name("repurposing", dataset, drugs[4].lower(), "drug") == drugs[4]
    assert known_name("repurposing", dataset, diseases[4]) == diseases[4]
    with pytest.raises(UsageError, match=f"nothing in dataset synthetic is called '{diseases[4]}'") as refused:
        known_name("repurposing", dataset, diseases[4], "drug")
    assert refused.value.where == "--drug"


def test_a_name_that_nothing_has_is_told_with_those_near_it(dataset: Dataset) -> None:
    drugs, _ = names_of(dataset)
    with pytest.raises(UsageError, match="nothing in dataset synthetic is called") as refused:
        known_name("repurposing", dataset, f"{drugs[0]}x")
    assert drugs[0] in refused.value.todo and refused.value.where == "what is asked about"


def test_what_a_person_added_is_known_by_its_name(dataset: Dataset) -> None:
    assert known_name("repurposing", dataset, "MINE", own=["Mine"]) == "Mine"
    with pytest.raises(UsageError):
        known_name("repurposing", dataset, "Mine")


@pytest.mark.parametrize(("first", "second", "what"), [(0, 0, "the same"), (0, 1, "both a drug")])
def test_a_pair_that_no_row_has_is_refused(dataset: Dataset, first: int, second: int, what: str) -> None:
    drugs, _ = names_of(dataset)
    request = PredictionRequest(methods=("bnnr",), dataset="synthetic", pairs=((drugs[first], drugs[second]),))
    with pytest.raises(UsageError, match=f"are {what}: no row has both") as refused:
        selection_of("repurposing", dataset, request)
    assert refused.value.todo == "name a drug and a disease"


def test_rows_are_taken_that_all_conditions_hold_for(dataset: Dataset) -> None:
    drugs, diseases = names_of(dataset)
    columns = ("drug", "disease")
    request = PredictionRequest(
        methods=("bnnr",), dataset="synthetic", only=(("drug", drugs[0]),), pairs=((drugs[0], diseases[1]),)
    )
    selection = selection_of("repurposing", dataset, request)
    assert selection.takes(columns, (drugs[0], diseases[1]))
    assert not selection.takes(columns, (drugs[0], diseases[2]))
    assert not selection.takes(columns, (drugs[1], diseases[1]))
    mine = replace(selection, own=frozenset({"Mine"}), pairs=frozenset())
    assert not mine.takes(columns, (drugs[0], diseases[1])) and not mine.ranks((drugs[0], diseases[1]))
