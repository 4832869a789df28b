"""The DDI-Ben datasets as their repositories release them: triplets or signed pairs, drugs, texts, graph, splits.

Items are the union of the released splits, so that any strategy may deal them anew; the released splits are kept
beside them, line by line. Files go by fixed names, which the manifests under datasets/ give to the original ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from harness.base.manifests import Strict
from harness.benchmarks.ddi.converters.ddi_bench.drugs import READERS
from harness.benchmarks.ddi.converters.ddi_bench.knowledge import read_knowledge
from harness.benchmarks.ddi.converters.ddi_bench.released import read_split, united
from harness.benchmarks.ddi.converters.ddi_bench.stand_in import completed
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.molecules import count_fingerprints, molecules_of
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of


class Parameters(Strict):
    """What the files are, and what is made of them."""

    drugs: Literal["drugbank", "twosides"]
    fingerprint: int = Field(ge=1, description="columns of the fingerprints")
    splits: list[str] = Field(description="each stands before the names of its files")
    knowledge: Literal["partial", "full"] = Field(default="partial", description="full: the graph of Hetionet")
    stand_in_seed: int | None = Field(default=None, ge=0, description="make missing parts, by this seed")


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DdiDataset:
    """The dataset out of the released files."""
    parameters = parameters_of(manifest, Parameters)
    drugs = READERS[parameters.drugs](files)
    wheres = [f"dataset {manifest.name}: drug '{drug}'" for drug in drugs.ids]
    fingerprints = count_fingerprints(molecules_of(drugs.smiles, wheres), parameters.fingerprint)
    complete = parameters.stand_in_seed is None
    types = len(drugs.type_names)
    splits = [read_split(name, files, len(drugs.ids), types, drugs.signed, complete) for name in parameters.splits]
    if parameters.stand_in_seed is not None:
        splits = completed(splits, parameters.stand_in_seed)
    items = united(splits, len(drugs.ids), types)
    graph = read_knowledge(files, drugs, full=parameters.knowledge == "full")
    return DdiDataset(
        name=manifest.name,
        pairs=items.pairs,
        labels=items.labels,
        fingerprints=fingerprints,
        knowledge=graph.edges,
        years=drugs.years,
        released=items.released,
        drug_ids=drugs.ids,
        smiles=drugs.smiles,
        drug_names=drugs.names,
        drug_texts=drugs.texts,
        graph_texts=drugs.graph_texts,
        type_names=drugs.type_names,
        entity_names=graph.entities,
        relation_names=graph.relations,
        released_names=tuple(parameters.splits),
        remarks=(*drugs.remarks, *items.remarks),
    )
