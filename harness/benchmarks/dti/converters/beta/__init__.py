"""BETA's bindings, structures and diseases from public files; classes and sequences from tables a person brings.

Files go by fixed names, which the manifests under datasets/ give to the original ones. Their order is kept: it
decides which tasks the generator makes. Targets are sorted, since the original order of most is not public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.base.errors import CorruptData
from harness.base.manifests import Strict
from harness.benchmarks.dti.converters.beta.groups import arrays_of, read_classes, read_diseases
from harness.benchmarks.dti.converters.beta.network import read_network
from harness.benchmarks.dti.converters.beta.records import once, pairs_in, short_id, table
from harness.benchmarks.dti.dataset import DtiDataset
from harness.data.lines import lines_of, path_of
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

SEQUENCES = "sequences.csv"


class Parameters(Strict):
    """What the files do not say."""

    # how many targets a disease has, where its tasks do not show all of them
    disease_targets: dict[str, int] = {}


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DtiDataset:
    """The dataset out of the files and tables that are there."""
    parameters = parameters_of(manifest, Parameters)
    pairs = list(once(pairs_in(path_of("positives.nt", files), {"true": True})))
    known = [(pair.drug, pair.target) for pair in pairs]
    smiles = _structures(path_of("smiles.txt", files))
    groups = [*read_classes(files, known), *read_diseases(files, set(known), parameters.disease_targets)]
    drugs = list(
        dict.fromkeys([*smiles, *(drug for drug, _ in known), *(node for g in groups for node in g.nodes("db"))])
    )
    targets = sorted({target for _, target in known} | {node for group in groups for node in group.nodes("be")})
    number = {name: place for place, name in enumerate([*drugs, *targets])}
    sequences, remarks = _sequences(files, targets)
    network = read_network(files, number)
    return DtiDataset(
        name=manifest.name,
        pairs=np.array([(number[drug], number[target] - len(drugs)) for drug, target in known], dtype=np.int32),
        values=np.ones(len(known)),
        drug_ids=tuple(drugs),
        target_ids=tuple(targets),
        smiles=tuple(smiles.get(drug, "") for drug in drugs),
        sequences=sequences,
        edges=network.edges,
        node_names=network.nodes,
        relation_names=network.relations,
        remarks=(*remarks, *network.remarks),
        **arrays_of(groups, number, len(drugs)),
    )


def _structures(path: Path) -> dict[str, str]:
    smiles: dict[str, str] = {}
    for where, (node, text) in lines_of(path, 2):
        drug = short_id(node, "db", where)
        if drug in smiles:
            raise CorruptData(f"drug '{drug}' is there twice", where=where, todo="restore the original file")
        smiles[drug] = text
    return smiles


def _sequences(files: Mapping[str, Path], targets: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sequence of every target, and a remark on those of others."""
    if SEQUENCES not in files:
        return ("",) * len(targets), ()
    sequences: dict[str, str] = {}
    for where, row in table(files[SEQUENCES], ("target", "sequence")):
        target, sequence = row["target"].lower(), "".join(row["sequence"].split()).upper()
        if target in sequences or not (sequence.isascii() and sequence.isalpha()):
            raise CorruptData(
                f"target '{target}' is there twice, or its sequence is not of letters",
                where=where,
                todo="give every target once, with its amino acids in one-letter code",
            )
        sequences[target] = sequence
    others = len(sequences.keys() - set(targets))
    remarks = (f"{others} targets of {SEQUENCES} are not in the benchmark and are left out",) if others else ()
    return tuple(sequences.get(target, "") for target in targets), remarks
