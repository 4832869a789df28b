"""Drugs and targets of a person's own must be asked about, they alone, and change nothing of what is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from harness import api
from harness.base.errors import ManifestError, UsageError
from harness.base.layout import Layout
from harness.benchmarks import new_item
from harness.benchmarks.dti.checks import checked_remarks
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.extension import with_new
from harness.benchmarks.dti.input_arrays import inputs_of
from harness.benchmarks.dti.splits.strategies import new_nodes
from harness.benchmarks.new_item import NewItem
from harness.cli.predict import command
from harness.data import load_dataset, load_manifest
from harness.data.datasets import convert_dataset
from harness.data.extension import extended
from harness.prediction import Prediction
from harness.prediction.request import PredictionRequest
from harness.prediction.rows import RankedRows

ASPIRIN, SEQUENCE = "CC(=O)Oc1ccccc1C(=O)O", "mkvlaa"
ITEMS = [
    NewItem(kind="target", name="kin", text=SEQUENCE),
    NewItem(kind="drug", name="mine", text=ASPIRIN),
    NewItem(kind="drug", name="other", text="CO"),
]


@pytest.fixture(scope="module")
def world(repository: Layout) -> DtiDataset:
    """The embedded dataset."""
    return load_dataset(repository, "dti_world", DtiDataset)


def facts(dataset: DtiDataset) -> tuple[object, ...]:
    """All that is known, by name."""
    nodes = (*dataset.drug_ids, *dataset.target_ids, *dataset.node_names)
    drugs, targets = dataset.drug_ids, dataset.target_ids
    return (
        [(drugs[drug], targets[target]) for drug, target in dataset.pairs],
        [(dataset.relation_names[relation], nodes[head], nodes[tail]) for relation, head, tail in dataset.edges],
        [(dataset.group_names[group], role, nodes[node]) for group, role, node in dataset.group_members],
        [
            (dataset.group_names[group], drugs[drug], targets[target])
            for group, drug, target in dataset.group_pairs
        ],
        dict(zip(drugs, dataset.smiles, strict=True)),
        dict(zip(targets, dataset.sequences, strict=True)),
    )


def test_what_is_known_stays_what_it_is(world: DtiDataset) -> None:
    larger = with_new(world, ITEMS)
    checked_remarks(larger)
    before, after = facts(world), facts(larger)
    assert before[:2] == after[:2] and before[3] == after[3]
    assert after[2] == [*before[2], ("new", 0, "mine"), ("new", 0, "other"), ("new", 0, "kin")]  # type: ignore[misc]
    assert after[4] == {**before[4], "mine": ASPIRIN, "other": "CO"}  # type: ignore[dict-item]
    assert after[5] == {**before[5], "kin": "MKVLAA"}  # type: ignore[dict-item]
    np.testing.assert_array_equal(larger.drug_similarity[:-2, :-2], world.drug_similarity)
    np.testing.assert_array_equal(larger.drug_similarity[-2:, -2:], np.eye(2))
    assert not larger.drug_similarity[-2:, :-2].any() and not larger.target_similarity[-1, :-1].any()


def test_a_dataset_without_network_or_similarities_is_extended_too(world: DtiDataset) -> None:
    bare = replace(
        world,
        edges=world.edges[:0],
        node_names=(),
        drug_similarity=np.empty((0, 0)),
        target_similarity=np.empty((0, 0)),
        remarks=("odd",),
    )
    larger = with_new(bare, ITEMS[:1])
    assert (larger.drugs, larger.targets, larger.nodes) == (world.drugs, world.targets + 1, bare.nodes + 1)
    assert larger.drug_similarity.shape == larger.target_similarity.shape == (0, 0)
    assert larger.group_sizes.tolist() == [*world.group_sizes.tolist(), 1]
    assert {larger.group_sizes.dtype, larger.group_members.dtype, larger.edges.dtype} == {np.dtype(np.int32)}
    # what was odd of the other dataset is told of it alone
    assert larger.remarks == () and larger.edges.shape == (0, 3)


def test_pairs_with_own_items_are_asked_and_no_others(world: DtiDataset) -> None:
    larger = with_new(world, ITEMS)
    split = new_nodes.make(larger, 0, new_nodes.Parameters())
    asked = {(larger.drug_ids[drug], larger.target_ids[target]) for drug, target in split.test_pairs}
    own = {(drug, target) for drug in ("mine", "other") for target in larger.target_ids}
    assert asked == own | {(drug, "kin") for drug in larger.drug_ids} and split.test == len(asked)
    assert split.training == len(world.pairs) and not new_nodes.broken_promises(
        larger, split, new_nodes.Parameters()
    )
    inputs = inputs_of(larger, split, ["smiles", "sequences", "edges", "drug_similarity", "target_similarity"])
    assert np.asarray(inputs["sizes"])[:2].tolist() == [larger.drugs, larger.targets]


@pytest.mark.parametrize(
    ("item", "what"),
    [
        (("drug", "MINE", "C"), "there is a 'MINE' already"),
        (("target", "wd001", "MK"), "there is a 'wd001' already"),
        (("drug", "wt001", "C"), "there is a 'wt001' already"),
        (("drug", "", "C"), "the name is empty"),
        (("disease", "x", "C"), "no items of the kind 'disease'"),
        (("drug", "x", "c1ccc"), "is no structure"),
        (("drug", "x", ""), "is no structure"),
        (("target", "x", ""), "is no sequence"),
        (("target", "x", "MKÀ"), "is no sequence"),
        (("target", "x", "MK1"), "is no sequence"),
        (("target", "x", ">P1\nMK"), "is no sequence"),
    ],
)
def test_an_item_that_cannot_be_is_refused(world: DtiDataset, item: tuple[str, str, str], what: str) -> None:
    kind, name, text = item
    with pytest.raises(UsageError, match=what):
        new_item.with_new("dti", world, [*ITEMS, NewItem(kind=kind, name=name, text=text)])


def test_nothing_is_added_twice(world: DtiDataset) -> None:
    with pytest.raises(UsageError, match="added to this dataset already"):
        with_new(with_new(world, ITEMS), ITEMS[:1])


@pytest.fixture
def own(repository: Layout, tmp_path: Path) -> Layout:
    """A repository with the embedded dataset alone."""
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "dti_world").symlink_to(repository.datasets / "dti_world")
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")


def test_the_larger_dataset_can_be_made_again_from_its_manifest(own: Layout) -> None:
    name = extended(own, "dti_world", ITEMS)
    dataset = load_dataset(own, name, DtiDataset)
    assert dataset.drug_ids[-2:] == ("mine", "other") and dataset.name == name
    assert convert_dataset(own, name).digest == dataset.digest
    assert extended(own, "dti_world", ITEMS) == name
    assert extended(own, "dti_world", ITEMS[:2]) != name
    path = own.extended / name / "dataset.toml"
    assert load_manifest(own, name).new == ITEMS
    path.write_text(path.read_text().replace('extends = "dti_world"', 'converter = "dti_csv"'))
    with pytest.raises(ManifestError, match="converter: name one"):
        load_manifest(own, name)


def test_texts_of_files_reach_the_prediction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def predict(*_: object, new: object, **__: object) -> Prediction:
        asked.append(new)
        request = PredictionRequest(methods=("deeppurpose",), dataset="dti_world")
        return Prediction("dti", request, "World", "", (), (), RankedRows(("rank",), ((1,),), 1, 1, 1))

    monkeypatch.setattr(api, "predict", predict)
    (tmp_path / "kin.fasta").write_text(">sp|P1|KIN a kinase\nMKV\nLAA\n")
    arguments = [
        "--method",
        "m",
        "--dataset",
        "dti_world",
        "--new",
        "drug",
        "mine",
        ASPIRIN,
        "--new",
        "target",
        "kin",
    ]
    result = CliRunner().invoke(command, [*arguments, f"@{tmp_path}/kin.fasta"])
    assert result.exit_code == 0, result.output
    assert asked == [[("drug", "mine", ASPIRIN), ("target", "kin", "MKVLAA")]]
    missing = CliRunner().invoke(command, [*arguments, "@nowhere"])
    assert isinstance(missing.exception, UsageError) and "nowhere" in str(missing.exception.where)
