"""Splits of what a person knows or names: what is not known is asked, or what they say; how a split is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from harness.base.errors import DataError, UsageError
from harness.benchmarks.ddi.splits import parts
from harness.benchmarks.ddi.splits.drugs.usage import negatives, types_of_drugs
from harness.benchmarks.ddi.splits.form import FORM as DRUG_FORM
from harness.benchmarks.ddi.splits.strategies import new_drugs
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.released import ReleasedDataset
from harness.benchmarks.repurposing.splits.folds import OUTSIDE, TEST, inner_folds_of, split_of
from harness.benchmarks.repurposing.splits.form import FORM as PAIR_FORM
from harness.benchmarks.repurposing.splits.strategies import random as random_strategy
from harness.benchmarks.repurposing.splits.strategies import released, unknown_pairs
from harness.splits.spec import SplitSpec, parse_split
from tests.splits.made_up_drugs import made_up_drugs


def matrix(known: list[list[int]]) -> RepurposingDataset:
    labels = np.array(known, dtype=np.int8)
    drugs, diseases = labels.shape
    return RepurposingDataset(
        name="made up",
        associations=labels,
        drug_features=np.zeros((drugs, 1)),
        disease_features=np.zeros((diseases, 1)),
        drug_ids=tuple(map(str, range(drugs))),
        disease_ids=tuple(map(str, range(diseases))),
        drug_feature_names=("a",),
        disease_feature_names=("a",),
    )


KNOWN = [[1, 0, -1, 0], [0, 0, 1, -1]]


def test_unknown_pairs_are_asked_and_all_others_train() -> None:
    """A pair known to be none trains, too. No seed changes anything."""
    dataset, nothing = matrix(KNOWN), unknown_pairs.Parameters()
    made = unknown_pairs.make(dataset, 1, nothing)
    assert made.folds.tolist() == [[0, TEST, 0, TEST], [TEST, TEST, 0, 0]]
    assert made.digest == unknown_pairs.make(dataset, 2, nothing).digest
    assert unknown_pairs.broken_promises(dataset, made, nothing) == []
    for place, other in (((0, 0), TEST), ((0, 0), OUTSIDE), ((0, 0), 1), ((0, 1), 0), ((0, 1), OUTSIDE)):
        folds = made.folds.copy()
        folds[place] = other
        told = unknown_pairs.broken_promises(dataset, split_of(folds), nothing)
        assert told == ["the test pairs are not exactly the unknown pairs, or another one does not train"]


# the second drug's last pair is in no line of the table
PARTS = [[0, TEST, 0, 0], [TEST, TEST, 0, OUTSIDE]]


def parted(parts: list[list[int]], known: list[list[int]] = KNOWN) -> ReleasedDataset:
    return ReleasedDataset(**vars(matrix(known)), released=np.array(parts, dtype=np.int8))


@pytest.mark.parametrize(("unlisted", "last"), [("train", 0), ("test", TEST)])
def test_the_pairs_that_a_person_names_are_asked(unlisted: str, last: int) -> None:
    dataset = parted(PARTS, [[1, 0, -1, 0], [0, 1, 1, -1]])
    parameters = released.Parameters.model_validate({"unlisted": unlisted, "inner_folds": 0})
    made = released.make(dataset, 1, parameters)
    assert made.folds.tolist() == [[0, TEST, 0, 0], [TEST, TEST, 0, last]]
    assert made.digest == released.make(dataset, 2, parameters).digest
    assert released.broken_promises(dataset, made, parameters) == []
    for place, other in (((0, 0), TEST), ((0, 0), OUTSIDE), ((0, 1), 0), ((1, 3), TEST if last == 0 else 0)):
        folds = made.folds.copy()
        folds[place] = other
        told = released.broken_promises(dataset, split_of(folds), parameters)
        assert told == ["other pairs are tested, or left out"]


def test_what_a_person_leaves_to_train_is_dealt_to_inner_models_as_at_random() -> None:
    generator = np.random.default_rng(3)
    known = generator.choice([-1, 0, 1], size=(9, 8))
    parts = np.where(generator.random((9, 8)) < 0.25, TEST, 0)
    dataset, parameters = parted(parts.tolist(), known.tolist()), released.Parameters()
    made = released.make(dataset, 5, parameters)
    expected = np.full((9, 8), TEST, dtype=np.int8)
    inner_folds_of(np.flatnonzero(parts == 0), dataset.associations, expected, count=5, seed=5)
    assert np.array_equal(made.folds, expected) and made.inner_folds == 5
    assert released.broken_promises(dataset, made, parameters) == []
    assert PAIR_FORM.broken_promises(made, dataset) == []
    assert made.digest != released.make(dataset, 6, parameters).digest


def test_a_part_that_nothing_can_be_ranked_in_is_refused() -> None:
    with pytest.raises(DataError) as refused:
        released.make(parted([[TEST, 0, 0, 0], [0, 0, TEST, OUTSIDE]]), 1, released.Parameters())
    assert (refused.value.what, refused.value.where, refused.value.todo) == (
        "the test pairs have one label: there is nothing to rank",
        "dataset made up, column part",
        "name test pairs with label 0 or -1, too, or test on all that no line names: "
        "--split released:unlisted=test",
    )
    with pytest.raises(DataError):
        released.make(parted([[0] * 4] * 2), 1, released.Parameters())
    with pytest.raises(DataError) as idle:
        released.make(parted([[TEST, TEST, 0, 0], [0, 0, TEST, 0]]), 1, released.Parameters())
    assert (idle.value.what, idle.value.where, idle.value.todo) == (
        "every association is to be tested: there is nothing to learn from",
        "dataset made up, column part",
        "write train for some of them",
    )
    for dataset in (matrix(KNOWN), ReleasedDataset(**vars(matrix(KNOWN)))):
        with pytest.raises(UsageError) as unsaid:
            released.make(dataset, 1, released.Parameters())
        assert (unsaid.value.what, unsaid.value.where, unsaid.value.todo) == (
            "dataset 'made up' does not say which pairs to test on",
            "split released",
            "give its associations as a list with a column `part` (train, test), or choose another strategy",
        )


def without_items_of(drugs: set[int]) -> Any:
    dataset = made_up_drugs(30, 3)
    kept = np.array([not drugs & set(pair) for pair in dataset.pairs.tolist()])
    released = np.zeros((dataset.drugs + int(kept.sum()), 0), dtype=np.int32)
    return replace(dataset, pairs=dataset.pairs[kept], labels=dataset.labels[kept], released=released)


def test_drugs_without_an_interaction_are_the_new_ones() -> None:
    """A tenth of the others, and of the items between those that stay, are kept to choose a model by."""
    dataset, nothing = without_items_of({4, 17}), new_drugs.Parameters()
    made = new_drugs.make(dataset, 124, nothing)
    assert set(made.drugs_in(parts.TEST_NEW).tolist()) == {4, 17}
    roles = Counter(made.drugs.tolist())
    assert roles == {parts.KNOWN: 26, parts.VALID_NEW: 2, parts.TEST_NEW: 2}
    known = set(made.drugs_in(parts.KNOWN).tolist())
    ends = [sum(drug in known for drug in pair) for pair in dataset.pairs.tolist()]
    of_ends = {2: {parts.TRAIN, parts.VALID_S0}, 1: {parts.VALID_S1}, 0: {parts.VALID_S2}}
    assert all(part in of_ends[end] for part, end in zip(made.items.tolist(), ends, strict=True))
    between = ends.count(2)
    assert len(made.items_in(parts.VALID_S0)) == int(0.1 * between) > 5
    assert new_drugs.broken_promises(dataset, made, nothing) == []
    assert DRUG_FORM.broken_promises(made, dataset) == [] and DRUG_FORM.fits(made, dataset)
    again, other = (new_drugs.make(dataset, seed, nothing) for seed in (124, 125))
    assert again.digest == made.digest != other.digest
    # what was predicted before is predicted again: the same are kept to choose a model by
    assert [one.digest[:12] for one in (made, other)] == ["7e8357be50b2", "790ee1b5b5ab"]


def test_another_drug_called_new_breaks_the_promise() -> None:
    dataset, nothing = without_items_of({4, 17}), new_drugs.Parameters()
    made = new_drugs.make(dataset, 124, nothing)
    for drug, role in ((4, parts.KNOWN), (5, parts.TEST_NEW)):
        roles = made.drugs.copy()
        roles[drug] = role
        told = new_drugs.broken_promises(dataset, replace(made, drugs=roles), nothing)
        assert told == ["the new drugs are not exactly those without an interaction"]


def test_where_every_drug_interacts_nothing_can_be_asked() -> None:
    with pytest.raises(DataError, match="every drug has a known interaction: none is new") as caught:
        new_drugs.make(made_up_drugs(8, 1), 1, new_drugs.Parameters())
    assert caught.value.where == "dataset made" and "--drug NAME=SMILES" in caught.value.todo


@pytest.mark.parametrize("multilabel", [False, True])
def test_what_a_drug_takes_part_in_is_counted_at_both_ends(multilabel: bool) -> None:
    """A negative is no interaction; of single types there are none."""
    dataset = made_up_drugs(12, 5, items=60, multilabel=multilabel)
    counts = np.zeros((dataset.drugs, dataset.types), dtype=int)
    drawn = []
    for pair, label in zip(dataset.pairs.tolist(), dataset.labels, strict=True):
        kinds = np.flatnonzero(label > 0).tolist() if multilabel else [int(label)]
        for drug in pair:
            counts[drug, kinds] += 1
        drawn.append(multilabel and bool((label < 0).any()))
    assert types_of_drugs(dataset).tolist() == counts.tolist()
    assert negatives(dataset).tolist() == drawn and any(drawn) == multilabel


@pytest.mark.parametrize("shape", [(2, 3), (2, 5), (1, 4), (3, 4), (4, 2)])
def test_a_split_fits_a_matrix_of_its_own_shape_alone(shape: tuple[int, int]) -> None:
    dataset = matrix(KNOWN)
    assert PAIR_FORM.fits(unknown_pairs.make(dataset, 1, unknown_pairs.Parameters()), dataset)
    assert not PAIR_FORM.fits(split_of(np.zeros(shape, dtype=np.int8)), dataset)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("cluster", {}),
        ("cluster:gamma=0.6", {"gamma": 0.6}),
        ("cluster:gamma=0.6,valid_share=0.2", {"valid_share": 0.2, "gamma": 0.6}),
        ("task:name=drug type 3,test=1", {"test": 1, "name": "drug type 3"}),
    ],
)
def test_a_split_is_written_as_it_is_read(text: str, parameters: dict[str, Any]) -> None:
    strategy = text.partition(":")[0]
    spec = SplitSpec(strategy=strategy, seed=7, parameters=parameters)
    assert spec.text == text and parse_split(text, 7) == spec
    assert spec.label == "-".join([strategy, *(f"{name}={parameters[name]}" for name in sorted(parameters)), "7"])


@pytest.mark.parametrize(
    ("field", "taken", "refused"),
    [("test_share", [0.01, 0.99], [0.0, 1.0]), ("inner_folds", [0, 100], [-1, 101])],
)
def test_parameters_of_a_random_split_have_bounds(field: str, taken: list[float], refused: list[float]) -> None:
    for value in taken:
        assert getattr(random_strategy.Parameters.model_validate({field: value}), field) == value
    for value in refused:
        with pytest.raises(ValidationError):
            random_strategy.Parameters.model_validate({field: value})
