"""BETA's bindings, structures and diseases from public files; classes and sequences from tables a person brings.

Files go by fixed names, which the manifests under datasets/ give to the original ones. Their order is kept: it
decides which tasks the generator makes. Targets are sorted, since the original order of most is not public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.errors import CorruptData
from harness.base.manifests import Strict
from harness.benchmarks.dti.converters.beta.groups import dataset_of, read_classes, read_diseases, with_groups
from harness.benchmarks.dti.converters.beta.network import with_network
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.records import damaged, pairs_in, short_id, table
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
    sizes = parameters_of(manifest, Parameters).disease_targets
    known = pairs_in(path_of("positives.nt", files), "true")
    smiles = _structures(path_of("smiles.txt", files))
    groups = [*read_classes(files, list(known)), *read_diseases(files, known.keys(), sizes)]
    nodes = [node for part in (*known, *(group.nodes for group in groups)) for node in part]
    smiles |= {node: "" for node in nodes if node.startswith("db") and node not in smiles}
    sequences, remarks = _sequences(files, sorted({node for node in nodes if node.startswith("be")}))
    dataset = replace(dataset_of(manifest.name, list(known), smiles, sequences), remarks=remarks)
    return with_network(with_groups(dataset, groups), files)


def _structures(path: Path) -> dict[str, str]:
    smiles: dict[str, str] = {}
    for where, (node, text) in lines_of(path, 2):
        drug = short_id(node, "drug", where)
        if drug in smiles:
            raise damaged(f"drug '{drug}' is there twice", where)
        smiles[drug] = text
    return smiles


def _sequences(files: Mapping[str, Path], targets: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The sequence of every target, empty where it is not known, and a remark on those of others."""
    sequences: dict[str, str] = {}
    for where, row in table(files[SEQUENCES], ("target", "sequence")) if SEQUENCES in files else ():
        target, sequence = row["target"].lower(), "".join(row["sequence"].split()).upper()
        if target in sequences or not (sequence.isascii() and sequence.isalpha()):
            what = f"target '{target}' is there twice, or its sequence is not of letters"
            todo = "give every target once, with its amino acids in one-letter code"
            raise CorruptData(what, where=where, todo=todo)
        sequences[target] = sequence
    others = len(sequences.keys() - set(targets))
    remarks = (f"{others} targets of {SEQUENCES} are not in the benchmark and are left out",) if others else ()
    return {target: sequences.get(target, "") for target in targets}, remarks
