"""The network of linked data that bioLNE was published with, without the bindings that it gives away.

Most bindings of BETA are edges `Drug-Target` of it, those of test files too: no dataset has such an edge.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from harness.base.errors import CorruptData
from harness.base.zips import UNREADABLE, member
from harness.benchmarks.dti.converters.beta.records import short_id
from harness.benchmarks.dti.dataset import Integers

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
_KINDS = {"drug": "db", "target": "be"}


@dataclass(frozen=True)
class Network:
    """Relation, head and tail of every edge; nodes beside drugs and targets; and what was left out."""

    edges: Integers = field(default_factory=lambda: np.empty((0, 3), dtype=np.int32))
    nodes: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_network(files: Mapping[str, Path], number: Mapping[str, int]) -> Network:
    """The edges between known drugs, known targets and all other nodes; none without the archive."""
    if ARCHIVE not in files:
        return Network()
    names, places = [name for name, _ in RELATIONS.values()], dict(number)
    edges, left_out, bindings = [], Counter[str](), 0
    for where, head, relation, tail in triples_in(files[ARCHIVE]):
        if relation == BINDS:
            bindings += 1
            continue
        if relation not in RELATIONS:
            raise CorruptData(f"relation '{relation}' is not known", where=where, todo="restore the original file")
        name, turned = RELATIONS[relation]
        ends = (tail, head) if turned else (head, tail)
        nodes = [_node(end, kind, where) for end, kind in zip(ends, name.split("-"), strict=True)]
        if any(kind in _KINDS and node not in number for node, kind in zip(nodes, name.split("-"), strict=True)):
            left_out[name] += 1
            continue
        edges.append((names.index(name), *(places.setdefault(node, len(places)) for node in nodes)))
    remarks = (
        f"{bindings} edges {BINDS} of the network are left out: they give bindings away",
        f"{left_out.total()} edges of drugs or targets that the benchmark does not have are left out",
    )
    return Network(np.array(edges, dtype=np.int32), tuple(places)[len(number) :], tuple(names), remarks)


def triples_in(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Where each line is, its head, the last word of its relation, and its tail."""
    try:
        with zipfile.ZipFile(path) as archive:
            text = member(archive, MEMBER).decode("utf-8-sig")
    except (*UNREADABLE, KeyError, UnicodeDecodeError) as error:
        raise CorruptData(
            f"{MEMBER} can't be read: {error}", where=str(path), todo="restore the original file"
        ) from None
    for line, triple in enumerate(text.splitlines(), start=1):
        words, where = triple.split(), f"{path}: {MEMBER}: line {line}"
        if len(words) == 4 and words[3] == "." and all(word[0] + word[-1] == "<>" for word in words[:3]):
            yield where, words[0], words[1][1:-1].rpartition(":")[2], words[2]
        elif words:
            raise CorruptData("not a triple of three nodes", where=where, todo="restore the original file")


def _node(end: str, kind: str, where: str) -> str:
    """Drugs and targets by their short form, all others by the last part of their address."""
    return short_id(end, _KINDS[kind], where) if kind in _KINDS else end[1:-1].rpartition("/")[2].lower()
