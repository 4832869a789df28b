"""TIGER against its definition: which paths its graphs have, what is gathered along them, what learns nothing."""

from __future__ import annotations

import importlib
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.graph_encoders import measure
from harness.base.layout import Layout
from harness.benchmarks.ddi.conformance.problems import SMILES, one_type
from harness.benchmarks.ddi.splits.parts import TRAIN
from harness.engine import Engine

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Made:
    """The modules that make TIGER's graphs, which need no torch."""

    molecule: ModuleType
    knowledge: ModuleType


@pytest.fixture
def made(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    before = set(sys.modules)
    for folder in ("tiger", "_shared/molecules"):
        monkeypatch.syspath_prepend(repository.methods / folder)
    yield Made(*(importlib.import_module(f"{name}_channel") for name in ("molecule", "knowledge")))
    for name in {"graphs", "molecules", "molecule_channel", "knowledge_channel"} - before:
        sys.modules.pop(name, None)


def knowledge() -> Array:
    """Facts of 12 entities: some twice with another relation, one of an entity with itself; 5 is in none."""
    generator = np.random.default_rng(5)
    facts = generator.choice([0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11], (40, 2))
    return np.column_stack([facts, generator.integers(0, 3, 40)]).astype(np.int64)


def test_sums_over_pieces_are_sums_over_paths(made: Made) -> None:
    graphs = [
        *made.molecule.molecule_graphs([*SMILES, "[Na+].OCC([O-])=O.[K+]"], aliased=True, blanks=True),
        *made.knowledge.knowledge_graphs(knowledge(), 6, 3, random.Random(2)),
    ]
    values = np.random.default_rng(1).normal(size=500)
    corrected = 0
    for graph in graphs:
        group, missing = graph.groups()
        mine = values[: len(graph.nodes)]
        found = np.bincount(group, mine)[group]
        np.add.at(found, missing.target, missing.value * mine[missing.source])
        np.testing.assert_allclose(found, graph.paths.counts(len(mine)) @ mine, atol=1e-12)
        corrected += len(missing.value)
    assert corrected > 0


def test_every_path_has_one_back(made: Made) -> None:
    graphs = [
        *made.molecule.molecule_graphs(SMILES, aliased=False, blanks=False),
        *made.knowledge.knowledge_graphs(knowledge(), 6, 3, random.Random(3)),
    ]
    for paths in (one.paths.by_target() for one in graphs):
        opposite = paths.opposites()
        for there, back in (("source", "target"), ("target", "source"), ("relation", "relation")):
            np.testing.assert_array_equal(getattr(paths, there)[opposite], getattr(paths, back))


@pytest.mark.parametrize("smiles", ["[Li+]", "[Na+].[Cl-]", "no molecule", "", "N.N.Cl[Pt]Cl"])
def test_a_molecule_without_bonds_is_one_node(made: Made, smiles: str) -> None:
    if smiles in ("no molecule", ""):
        with pytest.warns(UserWarning, match="SMILES of 1 drugs can't be read, the first is drug 1"):
            graphs = made.molecule.molecule_graphs(["CCO", smiles], aliased=True, blanks=True)
    else:
        graphs = made.molecule.molecule_graphs(["CCO", smiles], aliased=True, blanks=True)
    assert len(graphs[0].nodes) == 3
    graph = graphs[1]
    assert graph.nodes.shape == (1, 67)
    assert not graph.nodes.any()
    assert graph.degree.tolist() == [1]
    assert [one.tolist() for one in (graph.paths.value, graph.paths.relation)] == [[1], [1]]


def test_a_blank_molecule_is_read_where_it_should_be(made: Made) -> None:
    """The finding: six molecules that can be read are a node that says nothing."""
    smiles = sorted(made.molecule.BLANK)
    assert len(smiles) == 6
    for graph in made.molecule.molecule_graphs(smiles, aliased=True, blanks=True):
        assert graph.nodes.shape == (1, 67) and not graph.nodes.any()
    for graph in made.molecule.molecule_graphs(smiles, aliased=False, blanks=False):
        assert len(graph.nodes) > 4 and graph.nodes.any(axis=1).all()
        # what has no bond has no path either
        assert set(graph.paths.source.tolist()) == set(np.flatnonzero(graph.degree).tolist())


def test_a_double_bond_is_a_distance_of_two_in_the_original_alone(made: Made) -> None:
    """The finding: path values and relations are one array there."""
    found = {}
    for aliased in (True, False):
        (graph,) = made.molecule.molecule_graphs(["C=CC"], aliased=aliased, blanks=False)
        ends = zip(graph.paths.source.tolist(), graph.paths.target.tolist(), strict=True)
        told = zip(graph.paths.value.tolist(), graph.paths.relation.tolist(), strict=True)
        found[aliased] = dict(zip(ends, told, strict=True))
    double, single, two, none = (0, 1), (1, 2), (0, 2), (0, 0)
    assert [found[True][ends] for ends in (double, single, two, none)] == [(25, 25), (1, 1), (25, 25), (23, 23)]
    assert [found[False][ends] for ends in (double, single, two, none)] == [(1, 2), (1, 1), (2, 25), (0, 23)]


def test_walks_follow_the_seed_and_the_facts(made: Made) -> None:
    facts = knowledge()
    walks = [made.knowledge.knowledge_graphs(facts, 6, 3, random.Random(seed)) for seed in (1, 1, 2)]
    drawn = [[set(one.nodes.tolist()) for one in walk] for walk in walks]
    assert drawn[0] == drawn[1] != drawn[2]
    joined = {frozenset(ends) for ends in facts[:, :2].tolist()}
    for drug, nodes in enumerate(drawn[0]):
        assert drug in nodes
        assert all(any(frozenset((node, other)) in joined for other in nodes) for node in nodes - {5})
    assert drawn[0][5] == {5}


def test_a_drug_outside_the_graph_is_alone(made: Made) -> None:
    for facts in (knowledge(), np.zeros((0, 3), np.int64)):
        graph = made.knowledge.knowledge_graphs(facts, 6, 3, random.Random(1))[5]
        paths = graph.paths
        assert (graph.nodes.tolist(), graph.own) == ([5], 0)
        assert (paths.source.tolist(), paths.target.tolist(), paths.relation.tolist()) == ([0], [0], [3])


def test_a_fact_is_a_path_in_both_directions(made: Made) -> None:
    facts = np.array([[7, 8, 0], [7, 8, 2], [8, 9, 1], [8, 8, 1], [3, 7, 0]])
    graph = made.knowledge.subgraph([7, 8, 9], facts, 7, 3)
    paths = graph.paths
    found = Counter(zip(paths.source.tolist(), paths.target.tolist(), paths.relation.tolist(), strict=True))
    near = [(0, 1, 0), (1, 0, 0), (0, 1, 2), (1, 0, 2), (1, 2, 1), (2, 1, 1), (1, 1, 1), (1, 1, 1)]
    far = [(0, 0, 3), (1, 1, 3), (2, 2, 3), (0, 2, 5), (2, 0, 5)]
    assert found == Counter(near + far)
    assert graph.degree.tolist() == [2, 5, 1]


def links_of(case: Any, channel: str, slot: str) -> Iterator[tuple[slice, Counter[tuple[float, ...]]]]:
    """Where the nodes of each graph of a golden batch are, and its paths."""
    batch, ends = case[f"in/{channel}{slot}_batch"], case[f"in/{channel}{slot}_sp_edge_index"]
    told = [case[f"in/{channel}{slot}_sp_{name}"] for name in ("value", "edge_rel")]
    for number in range(batch.max() + 1):
        first, last = np.searchsorted(batch, [number, number + 1])
        mine = (ends[0] >= first) & (ends[0] < last)
        columns = (*(ends[:, mine] - first), *(one[mine] for one in told))
        yield slice(first, last), Counter(zip(*(one.tolist() for one in columns), strict=True))


def test_graphs_equal_the_originals(made: Made, shared: Path) -> None:
    for path in sorted((shared / "golden" / "ddi" / "TIGER").glob("*.npz")):
        case = np.load(path)
        facts = np.column_stack([case["in/kg_edge_index"].T, case["in/kg_rel"]])
        relations = int(facts[:, 2].max()) + 1
        smiles = [str(one) for one in case["in/smiles"]]
        molecules = made.molecule.molecule_graphs(smiles, aliased=True, blanks=True)
        for slot, drugs in (("1", case["in/h_index"]), ("2", case["in/t_index"])):
            atoms, nodes = case[f"in/mol{slot}_x"], case[f"in/sub{slot}_x"]
            given = zip(drugs.tolist(), links_of(case, "mol", slot), links_of(case, "sub", slot), strict=True)
            for drug, (at, molecule_paths), (where, paths) in given:
                known = made.knowledge.subgraph(nodes[where].tolist(), facts, drug, relations)
                np.testing.assert_allclose(molecules[drug].nodes, atoms[at], atol=1e-7)
                for graph, expected in ((molecules[drug], molecule_paths), (known, paths)):
                    told = (
                        getattr(graph.paths, name).tolist() for name in ("source", "target", "value", "relation")
                    )
                    assert Counter(zip(*told, strict=True)) == expected
                assert case[f"in/sub{slot}_id"][where].tolist() == [
                    place == known.own for place in range(len(known.nodes))
                ]


@pytest.mark.engine
@pytest.mark.parametrize("variant", ["published", "corrected"])
def test_it_gathers_what_path_by_path_it_would(layout: Layout, engine: Engine, variant: str) -> None:
    """And the finding: what only makes weights of attention is trained in the corrected variant alone."""
    problem = one_type()
    triplets = np.column_stack([problem.dataset.pairs, problem.dataset.labels]).astype(np.int64)
    graph = triplets[problem.split.items_in(TRAIN)]
    steps = np.random.default_rng(8).choice(graph, (3, 15))
    found = measure(engine, layout, "tiger", problem.dataset, graph, steps, variant=variant)
    assert found["gradients_apart"] < 1e-5
    assert found["apart"] < 1e-4
    kinds = ("wq", "wk", "rel_encoder", "spatial_encoder")
    untrained = {kind for kind in kinds if any(f"{kind}." in name for name in found["untrained"])}
    assert untrained == (set(kinds) if variant == "published" else set())
