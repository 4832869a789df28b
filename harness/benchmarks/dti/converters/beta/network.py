"""The network of linked data that bioLNE was published with, without the bindings that it gives away.

Most bindings of BETA are edges `Drug-Target` of it, those of test files too: no dataset has such an edge.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.base.zips import UNREADABLE, member
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.records import KINDS, damaged, short_id

ARCHIVE, MEMBER = "network.zip", "network.nt"
BINDS = "Drug-Target"
# what a relation is called here, and whether its ends change places for that
RELATIONS = {
    "Drug-Drug-Interaction": ("drug-drug", False),
    "Drug-Side-Effect": ("drug-effect", False),
    "Disease-Possible-Drug": ("drug-disease", True),
    "Drug-Pathway": ("drug-pathway", False),
    "Drug-Variant-Location": ("drug-variant", False),
    "Drug-Haplotype": ("drug-haplotype", False),
    "Target-Target-Interaction": ("target-target", False),
    "Disease-Associated-Target": ("target-disease", True),
    "Target-Pathway": ("target-pathway", False),
    "Disease-Disease": ("disease-disease", False),
    "Disease-Pathway": ("disease-pathway", False),
    "Disease-Variant-Location": ("disease-variant", False),
    "Disease-Haplotype": ("disease-haplotype", False),
}


def with_network(dataset: DtiDataset, files: Mapping[str, Path]) -> DtiDataset:
    """The dataset with the edges between its drugs, targets and all other nodes; as it is without the archive."""
    if ARCHIVE not in files:
        return dataset
    names = [name for name, _ in RELATIONS.values()]
    number = {name: place for place, name in enumerate([*dataset.drug_ids, *dataset.target_ids])}
    places, edges, left_out, bindings = dict(number), [], 0, 0
    for where, head, relation, tail in triples_in(files[ARCHIVE]):
        if relation == BINDS:
            bindings += 1
            continue
        if relation not in RELATIONS:
            raise damaged(f"relation '{relation}' is not known", where)
        name, turned = RELATIONS[relation]
        ends = zip((tail, head) if turned else (head, tail), name.split("-"), strict=True)
        nodes = [_node(end, kind, where) for end, kind in ends]
        if all(kind not in KINDS or node in number for node, kind in zip(nodes, name.split("-"), strict=True)):
            edges.append((names.index(name), *(places.setdefault(node, len(places)) for node in nodes)))
        else:
            left_out += 1
    remarks = (
        f"{bindings} edges {BINDS} of the network are left out: they give bindings away",
        f"{left_out} edges of drugs or targets that the benchmark does not have are left out",
    )
    return replace(
        dataset,
        edges=np.array(edges, dtype=np.int32),
        node_names=tuple(places)[len(number) :],
        relation_names=tuple(names),
        remarks=(*dataset.remarks, *remarks),
    )


def binding_edges(path: Path, dataset: DtiDataset) -> npt.NDArray[np.bool_]:
    """For every drug and target whether the network in an archive joins them."""
    number = {name.lower(): place for place, name in enumerate([*dataset.drug_ids, *dataset.target_ids])}
    joined = np.zeros((dataset.drugs, dataset.targets), dtype=np.bool_)
    for where, head, relation, tail in triples_in(path):
        if relation == BINDS:
            drug, target = short_id(head, "drug", where), short_id(tail, "target", where)
            if drug in number and target in number:
                joined[number[drug], number[target] - dataset.drugs] = True
    return joined


def triples_in(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Where each line is, its head, the last word of its relation, and its tail."""
    try:
        with zipfile.ZipFile(path) as archive:
            text = member(archive, MEMBER).decode("utf-8-sig")
    except (*UNREADABLE, KeyError, UnicodeDecodeError) as error:
        raise damaged(f"{MEMBER} can't be read: {error}", path) from None
    for line, triple in enumerate(text.splitlines(), start=1):
        words, where = triple.split(), f"{path}: {MEMBER}: line {line}"
        if len(words) == 4 and words[3] == "." and all(word[0] + word[-1] == "<>" for word in words[:3]):
            yield where, words[0], words[1][1:-1].rpartition(":")[2], words[2]
        elif words:
            raise damaged("not a triple of three nodes", where)


def _node(end: str, kind: str, where: str) -> str:
    """Drugs and targets by their short form, all others by the last part of their address."""
    return short_id(end, kind, where) if kind in KINDS else end[1:-1].rpartition("/")[2].lower()
