"""The knowledge graph around the drugs: edges of Hetionet, as far as they are public, in the dataset's numbers.

`partial` are the edges of the valid and test drugs of EmerGNN's first version, for both of its datasets; `full` is
Hetionet's own file. A compound goes by its DrugBank accession, everything else by Hetionet's name.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.benchmarks.ddi.converters.ddi_bench.drugs import Drugs
from harness.benchmarks.ddi.dataset import Integers
from harness.data.lines import fault, lines_of, number_in, path_of, table_in

FULL = "hetionet-v1.0-edges.sif.gz"
_COMPOUND = "Compound::"
# EmerGNN counts Hetionet's kinds of edges on from those of its drug pairs.
_FIRST_RELATION = {"drugbank": 86, "twosides": 500}

Edge = tuple[str, str, str]


@dataclass(frozen=True)
class Knowledge:
    """Edges between numbered entities; the first entities are the drugs."""

    edges: Integers
    entities: tuple[str, ...]
    relations: tuple[str, ...]


def read_knowledge(files: Mapping[str, Path], drugs: Drugs, *, full: bool) -> Knowledge:
    """The edges whose ends and kind have a number, once each."""
    kinds = table_in("relation2id.json", files)
    relations = tuple(str(kinds[str(number)]) for number in range(_FIRST_RELATION["drugbank"], len(kinds)))
    own = {accession for accession in drugs.accessions if accession}
    others = table_in("twosides_entity2id.json" if drugs.signed else "entity_drug.json", files)
    names = [name for name in sorted(others, key=lambda name: int(others[name])) if _node(name) not in own]
    number = {accession: place for place, accession in enumerate(drugs.accessions) if accession}
    number |= {_node(name): place for place, name in enumerate(names, start=len(drugs.ids))}
    kind = {name: place for place, name in enumerate(relations)}
    triples = _hetionet(path_of(FULL, files)) if full else _emergnn(files, relations)
    edges = {
        (number[head], number[tail], kind[relation])
        for head, tail, relation in triples
        if head in number and tail in number and relation in kind
    }
    return Knowledge(np.array(sorted(edges), dtype=np.int32).reshape(-1, 3), (*drugs.ids, *names), relations)


def _node(name: str) -> str:
    return name.removeprefix(_COMPOUND)


def _hetionet(path: Path) -> Iterator[Edge]:
    """Lines of source, kind and target after a header; names may hold blanks."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line, text in enumerate(stream, start=1):
            cells = text.rstrip("\n").split("\t")
            if len(cells) != 3:
                raise fault(path, line, f"{len(cells)} cells instead of 3")
            if line > 1:
                yield _node(cells[0]), _node(cells[2]), cells[1]


def _emergnn(files: Mapping[str, Path], relations: tuple[str, ...]) -> Iterator[Edge]:
    drugbank = {int(number): name for name, number in table_in("node2id.json", files).items()}
    drugbank |= {int(number): _node(name) for name, number in table_in("entity_drug.json", files).items()}
    compounds = table_in("twosides_id2drug.json", files)
    twosides = {int(number): entry["db"] or entry["cid"] for number, entry in compounds.items()}
    twosides |= {int(number): _node(name) for name, number in table_in("twosides_entity2id.json", files).items()}
    for source, names in (("drugbank", drugbank), ("twosides", twosides)):
        first = _FIRST_RELATION[source]
        kinds = range(first, first + len(relations))
        for part in ("valid", "test"):
            for where, cells in lines_of(path_of(f"{source}_{part}_KG.txt", files), 3):
                head, tail = (names[number_in(cell, range(len(names)), "entity", where)] for cell in cells[:2])
                yield head, tail, relations[number_in(cells[2], kinds, "relation", where) - first]
