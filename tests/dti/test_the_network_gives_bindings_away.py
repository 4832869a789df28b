"""The published network holds the bindings of the test files: that must be shown, and must not reach a method."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.benchmarks.dti import study
from harness.benchmarks.dti.converters.beta.network import ARCHIVE, binding_edges
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.input_arrays import inputs_of
from harness.benchmarks.dti.splits.pairs import NEGATIVE, NEW, TEST, TRAIN, pair_split
from harness.benchmarks.dti.splits.strategies import connectivity
from harness.benchmarks.dti.study import TaskFacts, edge_auroc
from harness.data import load_dataset
from harness.data.datasets import fetch_dataset
from harness.study.measurements import load_measured
from harness.study.specs import Spec
from tests.dti.beta_files import EDGES, FILES, NODE, converted, network
from tests.dti.own_tables import write_tables


def test_edges_in_any_case_and_of_known_nodes_are_told_from_others(tmp_path: Path) -> None:
    more = [
        (NODE.format("db00001"), "Drug-Target", NODE.format("be0000009")),
        (NODE.format("DB7"), "Drug-Target", NODE.format("BE7")),
    ]
    archive = network(tmp_path, [*EDGES, *more])
    dataset = converted(tmp_path, {**FILES, ARCHIVE: archive})
    joined = binding_edges(tmp_path / ARCHIVE, dataset)
    edges = [
        (dataset.drug_ids[drug], dataset.target_ids[target])
        for drug, target in zip(*joined.nonzero(), strict=True)
    ]
    assert edges == [("db00002", "be0000007"), ("db00001", "be0000009")]
    assert dataset.remarks == (
        "3 edges Drug-Target of the network are left out: they give bindings away",
        "1 edges of drugs or targets that the benchmark does not have are left out",
    )


@pytest.mark.parametrize(
    ("member", "content"),
    [(None, b"no archive"), ("other.nt", b""), ("network.nt", b"<db\xe9> <x:y> <be1> .\n")],
)
def test_an_archive_without_a_network_is_told_by_its_file(
    tmp_path: Path, member: str | None, content: bytes
) -> None:
    path = tmp_path / ARCHIVE
    path.write_bytes(content)
    if member is not None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, content)
    with pytest.raises(CorruptData) as refused:
        binding_edges(path, converted(tmp_path))
    assert refused.value.what.startswith("network.nt can't be read: ") and refused.value.where == str(path)


@pytest.mark.parametrize(
    ("asked", "auroc"), [([1, 0, 0], 1.0), ([0, 1, 1], 0.0), ([1, 1, 0], 0.75), ([1, 1, 1], 0.5)]
)
def test_the_area_is_that_of_edges_as_scores(tmp_path: Path, asked: list[int], auroc: float) -> None:
    dataset = converted(tmp_path)
    rows = [[TRAIN, 1, 1, 0], [TEST, 2, 2, NEGATIVE], [TEST, 0, 3, NEW], [TEST, 0, 0, NEGATIVE]]
    split = pair_split(np.array(rows))
    joined = np.zeros((dataset.drugs, dataset.targets), dtype=np.bool_)
    joined[0, 3], joined[2, 2], joined[0, 0] = map(bool, asked)
    assert edge_auroc(split, dataset, joined) == auroc
    # pairs, drugs and targets of training; pairs, bindings and others of the test; its drugs and targets
    assert study._numbers(split, dataset, joined) == [1, 1, 1, 3, 1, 2, 2, 3, auroc]


@pytest.fixture
def house(tmp_path: Path) -> Layout:
    """A repository whose BETA has three bindings, two of which its network joins."""
    own = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    own.datasets.mkdir()
    tables: dict[str, str | bytes] = {
        "drugs.csv": "drug,smiles\ndb1,C\ndb2,C\ndb3,C\n",
        "targets.csv": "target,sequence\nbe1,M\nbe2,M\nbe3,M\n",
        "pairs.csv": "drug,target\ndb1,be1\ndb1,be2\ndb2,be1\n",
        "edges.csv": "head_type,head,tail_type,tail\n",
        "groups.csv": "group,drug,target\n",
        "drug_similarity.csv": "drug,other,similarity\n",
    }
    counts: dict[str, int | str] = {"structures": 3, "sequences": 3, "nodes": 0, "relations": 0, "edges": 0}
    folder = write_tables(own, tables, **counts, groups=0).rename(own.datasets / "beta")
    manifest = folder / "dataset.toml"
    manifest.write_text(manifest.read_text().replace('"mine"', '"beta"', 1))
    ends = (("db1", "be1"), ("db1", "be2"), ("db3", "be3"))
    archive = network(tmp_path, [(NODE.format(drug), "Drug-Target", NODE.format(target)) for drug, target in ends])
    (own.datasets / "beta_network").mkdir()
    (own.datasets / "beta_network" / ARCHIVE).write_bytes(archive)
    (own.datasets / "beta_network" / "dataset.toml").write_text(
        'name = "beta_network"\ntitle = "B"\nbenchmark = "dti"\ncitation = "none"\nlicence = "none"\n'
        f'converter = "beta"\n[[files]]\nname = "{ARCHIVE}"\nbytes = {len(archive)}\n'
        f'sha256 = "{hashlib.sha256(archive).hexdigest()}"\n[statistics]\ndrugs = 3\ntargets = 3\n'
    )
    return own


def test_tasks_are_counted_and_what_they_lack_is_named(house: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of two bindings is asked, beside the one pair of the drug, or of the target, that does not bind."""
    rows = {"Test 4": "single_nodes:kind={drug,target,target},rank=0", "Test 5": "new_pairs:rank={0..1}"}
    monkeypatch.setattr(study, "TASKS", rows)
    said: list[str] = []
    study.STUDY.measure(house, "dti", [], said.append)
    facts = load_measured(house, "dti", TaskFacts)
    assert facts is not None and said == ["tasks as-published", "tasks as-defined"]
    assert (facts.dataset, facts.bindings, facts.edges) == ("beta", 3, 2)
    assert facts.digest == load_dataset(house, "beta", DtiDataset).digest
    assert [(one.row, one.reading, one.made) for one in facts.rows] == [
        ("Test 4", "as-published", 0),
        ("Test 5", "as-published", 0),
        ("Test 4", "as-defined", 3),
        ("Test 5", "as-defined", 0),
    ]
    made = dict(zip((*study.QUANTITIES, "AUROC"), facts.rows[2].means, strict=True))
    assert {name: made[name] for name in ("training pairs", "test pairs", "test positives", "test negatives")} == {
        "training pairs": 2,
        "test pairs": 2,
        "test positives": 1,
        "test negatives": 1,
    }
    # one drug and two targets are asked, and twice two drugs and one target: a mean is no median
    assert (made["drugs in test"], made["targets in test"]) == (1.6667, 1.3333)
    assert facts.rows[0].means == []
    assert facts.rows[0].lacking == {
        "no code of the authors makes them, so that they are made as their text says alone": 3
    }
    assert [sum(one.lacking.values()) for one in facts.rows] == [3, 2, 0, 2]
    # what is of one task alone is left out, so that all that lack the same are told together
    assert facts.rows[3].lacking == {"Test 5 has 0 groups here": 2}


def test_tasks_of_classes_are_made_of_the_dataset_that_has_classes(
    house: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"Test 2": "drug_classes:rank=0", "Test 3": "target_classes:rank=0", "Test 5": "new_pairs:rank=0"}
    monkeypatch.setattr(study, "TASKS", rows)
    facts = study.measure(house, [], lambda _: None)
    lacking = [one.lacking for one in facts.rows if one.reading == "as-defined"]
    assert [["beta_classes" in reason for reason in reasons] for reasons in lacking] == [[True], [True], [False]]


def test_tasks_are_made_of_data_in_a_mirror(house: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bindings, network and splits alike."""
    asked: set[tuple[str, Path]] = set()

    def noting(name: str) -> Callable[..., object]:
        own = getattr(study, name)

        def noted(*given: Any, **more: Any) -> object:
            (mirror,) = more["mirrors"] if "mirrors" in more else given[-1]
            asked.add((name, mirror))
            return own(*given, **more)

        return noted

    names = ("load_dataset", "fetch_dataset", "make_split")
    for name in names:
        monkeypatch.setattr(study, name, noting(name))
    monkeypatch.setattr(study, "TASKS", {"Test 4": "single_nodes:kind=drug,rank=0"})
    study.measure(house, [house.root / "mirror"], lambda _: None)
    assert asked == {(name, house.root / "mirror") for name in names}


def test_what_was_measured_says_so(repository: Layout) -> None:
    facts = load_measured(repository, "dti", TaskFacts)
    assert facts is not None and (facts.edges, facts.bindings) == (12_201, 12_240)
    rows = {(one.row, one.reading): one.means[-1] for one in facts.rows if one.made}
    assert round(rows["Test 0", "as-defined"], 3) == 0.997
    assert [round(rows["Test 1", reading], 3) for reading in ("as-published", "as-defined")] == [0.998, 0.998]
    # what is not known yet is no edge
    assert rows["Test 5", "as-published"] < 0.7 and rows["Test 6", "as-published"] < 0.6


def test_what_tasks_lack_is_told_with_their_number_and_rows(repository: Layout) -> None:
    facts = load_measured(repository, "dti", TaskFacts)
    assert facts is not None
    sides: Any = SimpleNamespace(layout=repository, names=SimpleNamespace(benchmark="dti"))
    shown = study.sheet(sides, facts, Spec(kind="table", number="1", title="Tasks", made="tasks"))
    assert shown is not None
    lacking = {what for one in facts.rows for what in one.lacking}
    assert lacking and len(shown.notes) == 1 + len(lacking)
    for what in lacking:
        own = [one for one in facts.rows if what in one.lacking]
        rows = "; ".join(dict.fromkeys(one.row for one in own))
        assert f"{sum(one.lacking[what] for one in own)} tasks of {rows}: {what}." in shown.notes


def test_nearly_all_bindings_are_edges_and_none_reaches_a_method(repository: Layout, shared: Path) -> None:
    mirrors = [shared / "mirror"]
    dataset = load_dataset(repository, "beta_network", DtiDataset, mirrors=mirrors)
    joined = binding_edges(fetch_dataset(repository, "beta_network", mirrors=mirrors)[ARCHIVE], dataset)
    assert int(joined[tuple(dataset.pairs.T)].sum()) == 12_201 and len(dataset.pairs) == 12_240
    split = connectivity.make(dataset, 1024, connectivity.Parameters(space="CC"))
    assert edge_auroc(split, dataset, joined) > 0.99
    edges = np.asarray(inputs_of(dataset, split, ["edges"])["edges"])
    kinds = np.searchsorted([dataset.drugs, dataset.drugs + dataset.targets], edges[:, 1:], side="right")
    assert len(edges) == 153_714 and not (np.sort(kinds, axis=1) == [0, 1]).all(axis=1).any()
