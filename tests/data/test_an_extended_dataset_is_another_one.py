"""A dataset with items of one's own: all of the other one stays as it was, and the new rows are what was said."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData, MissingData, UsageError
from harness.base.layout import Layout
from harness.benchmarks.new_item import NewItem
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.extension import with_new
from harness.data import dataset_digest, load_dataset, load_manifest
from harness.data.datasets import convert_dataset, is_converted, is_here
from harness.data.extension import extended
from harness.data.manifest import manifest_path
from harness.data.own_dataset import accept_changes
from tests.data.own_data import write_dataset

NAN = float("nan")
SIMILAR = RepurposingDataset(
    name="similar",
    associations=np.array([[1, 0], [0, -1]], dtype=np.int8),
    drug_features=np.array([[1.0, 0.25], [0.25, 1.0]]),
    disease_features=np.array([[5.0], [6.0]]),
    drug_ids=("a", "b"),
    disease_ids=("x", "y"),
    drug_feature_names=("a", "b"),
    disease_feature_names=("f",),
)


def drug(name: str, text: str) -> NewItem:
    return NewItem(kind="drug", name=name, text=text)


def disease(name: str, text: str) -> NewItem:
    return NewItem(kind="disease", name=name, text=text)


def test_new_rows_stand_behind_the_old_ones_without_associations() -> None:
    larger = with_new(SIMILAR, [disease("z", "f = 7"), drug("c", "a=0.5;b=0.75"), disease("w", "f=-1e-3;")])
    assert larger.drug_ids == ("a", "b", "c") and larger.disease_ids == ("x", "y", "z", "w")
    assert larger.associations.tolist() == [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 0]]
    assert larger.disease_features.tolist() == [[5.0], [6.0], [7.0], [-0.001]]
    assert larger.disease_feature_names == ("f",)


def test_similarities_get_columns_as_well_and_are_symmetric() -> None:
    larger = with_new(SIMILAR, [drug("c", "a=0.5"), drug("d", "b=0.125;c=0.0625")])
    assert larger.drug_feature_names == larger.drug_ids == ("a", "b", "c", "d")
    expected = [
        [1.0, 0.25, 0.5, NAN],
        [0.25, 1.0, NAN, 0.125],
        [0.5, NAN, 1.0, 0.0625],
        [NAN, 0.125, 0.0625, 1.0],
    ]
    np.testing.assert_array_equal(larger.drug_features, expected)
    # what it is made of stays as it was
    assert SIMILAR.drug_features.tolist() == [[1.0, 0.25], [0.25, 1.0]]
    assert with_new(SIMILAR, [disease("z", "f=1")]).drug_features is SIMILAR.drug_features


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (drug("c", "mass=1"), "mass"),
        (drug("c", "a=heavy"), "'heavy' is no finite number"),
        (drug("c", "a=inf"), "'inf' is no finite number"),
        (drug("c", "a=nan"), "'nan' is no finite number"),
        (drug("c", ""), "c"),
        (drug("c", ";; "), "c"),
        (drug("B", "a=1"), "B"),
        (disease("X", "f=1"), "X"),
    ],
)
def test_what_can_not_be_added_is_refused_by_name(item: NewItem, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        with_new(SIMILAR, [item])
    assert message in str(refused.value) and f"new {item.kind} '{item.name}'" in str(refused.value)


def test_two_new_items_have_two_names() -> None:
    with pytest.raises(UsageError, match="there is a 'C' already"):
        with_new(SIMILAR, [drug("c", "a=1"), drug("C", "a=1")])


ITEMS = (drug('odd "name" \x7f', "mass=100.5;rings=2"), disease("cough", "chronic=0"))


def test_an_extended_dataset_is_found_by_its_own_content(own: Layout) -> None:
    write_dataset(own)
    base = load_dataset(own, "mine", RepurposingDataset)
    name = extended(own, "mine", ITEMS)
    assert name == f"mine_new_{dataset_digest(own, name)[:8]}"
    larger = load_dataset(own, name, RepurposingDataset)
    assert larger.digest == dataset_digest(own, name) != base.digest
    assert larger.drug_ids == (*base.drug_ids, ITEMS[0].name)
    assert larger.disease_ids == (*base.disease_ids, "cough")
    assert larger.drug_features[-1].tolist() == [100.5, 2.0] and larger.disease_features[-1].tolist() == [0.0]
    assert np.array_equal(larger.associations[:-1, :-1], base.associations)
    manifest, other = load_manifest(own, name), load_manifest(own, "mine")
    assert (manifest.extends, manifest.new, manifest.benchmark) == ("mine", [*ITEMS], "repurposing")
    assert manifest.title == f"Mine and {ITEMS[0].name}, cough"
    assert (manifest.licence, manifest.citation) == (other.licence, other.citation)
    # asked for again it is the same one, and of other items another
    assert extended(own, "mine", ITEMS) == name
    assert extended(own, "mine", ITEMS[:1]) != name


def test_the_base_is_looked_for_where_the_extended_dataset_is(
    own: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(own)
    name = extended(own, "mine", ITEMS)
    asked: list[tuple[str, Any]] = []

    def load(layout: Layout, base: str, *, mirrors: Any = ()) -> Any:
        asked.append((base, mirrors))
        return load_dataset(layout, base, mirrors=mirrors)

    monkeypatch.setattr("harness.data.datasets.load_dataset", load)
    convert_dataset(own, name, mirrors=(tmp_path,))
    assert asked == [("mine", (tmp_path,))]


def test_an_extended_dataset_is_not_here_where_its_base_would_be_fetched(own: Layout) -> None:
    """To look at what was run nothing is fetched: its data are told as missing."""
    path = write_dataset(own)
    name = extended(own, "mine", ITEMS)
    manifest = load_manifest(own, name)
    load_dataset(own, name)
    table = path.parent / "associations.csv"
    table.rename(path.parent / "away")
    assert is_here(own, manifest)
    shutil.rmtree(own.cache / "datasets")
    assert not is_here(own, manifest)
    (path.parent / "away").rename(table)
    assert is_here(own, manifest) and not is_converted(own, manifest)
    shutil.rmtree(path.parent)
    assert not is_here(own, manifest)


def test_what_was_extended_is_extended_from_the_same_base(own: Layout) -> None:
    write_dataset(own)
    first = extended(own, "mine", ITEMS[:1])
    assert extended(own, first, ITEMS[1:]) == extended(own, "mine", ITEMS)
    assert extended(own, first, ITEMS) == extended(own, "mine", ITEMS)
    assert extended(own, first, ITEMS[:1]) == first


def test_an_extended_dataset_that_was_changed_is_refused(own: Layout) -> None:
    write_dataset(own)
    name = extended(own, "mine", ITEMS)
    path = manifest_path(own, name)
    path.write_text(path.read_text().replace("mass=100.5", "mass=100.6"))
    with pytest.raises(CorruptData, match="other arrays than those recorded"):
        load_dataset(own, name)


def test_an_extended_dataset_does_not_answer_from_data_that_its_base_had_before(own: Layout) -> None:
    """Its arrays are kept, and would be read whatever became of the dataset that they were made of."""
    path = write_dataset(own)
    name = extended(own, "mine", ITEMS)
    load_dataset(own, name)
    associations = path.parent / "associations.csv"
    associations.write_text(associations.read_text().replace("-1", "1"))
    for ask in (load_dataset, dataset_digest):
        with pytest.raises(CorruptData, match=r"associations\.csv changed"):
            ask(own, name)
    accept_changes(own, "mine")
    for ask in (load_dataset, dataset_digest):
        with pytest.raises(CorruptData, match=r"'mine' as it was before(.|\n)*predict --dataset mine"):
            ask(own, name)
    again = extended(own, "mine", ITEMS)
    assert again != name and load_dataset(own, again).digest == dataset_digest(own, again)
    shutil.rmtree(path.parent)
    # also where its manifest does not say as what it was when the items were added
    manifest = manifest_path(own, again)
    whole = manifest.read_text()
    for text in (whole, re.sub('extends_digest = ".*"\n', "", whole)):
        manifest.write_text(text)
        with pytest.raises(MissingData, match=f"dataset 'mine', which '{again}' adds items to, is not here"):
            dataset_digest(own, again)
    assert text != whole
