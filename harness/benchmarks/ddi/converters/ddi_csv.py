"""One's own drug interactions as comma-separated tables: drugs with structures, interactions, and a graph if any.

drugs: columns `drug`, `smiles`, and if wanted `name`, `text`, `graph_text`, `year`; it says which drugs there are.
interactions: `head`, `tail`, `type`, a line per triplet; or `head`, `tail`, `types`, `sign`, a line per pair, its
types separated by ";", the sign + for a pair that has them, - for one that does not. knowledge: `head`, `tail`,
`relation`; an end that is a drug's name is that drug.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from harness.base.errors import ManifestError
from harness.base.manifests import Strict
from harness.benchmarks.ddi.dataset import DdiDataset, Integers, Signs
from harness.benchmarks.ddi.molecules import count_fingerprints, molecules_of
from harness.data.cells import TableLine, check_once, table_of
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

DRUG_COLUMNS = ("drug", "smiles", "name", "text", "graph_text", "year")
TRIPLET = ("head", "tail", "type")
SIGNED = ("head", "tail", "types", "sign")
EDGE = ("head", "tail", "relation")
_SIGNS = {"+": 1, "+1": 1, "1": 1, "-": -1, "-1": -1}


class Parameters(Strict):
    """The names of the files, and what is made of them."""

    drugs: str = "drugs.csv"
    interactions: str = "interactions.csv"
    knowledge: str = Field(default="", description="none: there is no graph")
    fingerprint: int = Field(default=1024, ge=1, description="columns of the fingerprints")
    relations: list[str] = Field(default=[], description="their order; none: as they are first read")


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DdiDataset:
    """The dataset out of its tables."""
    parameters = parameters_of(manifest, Parameters)
    for name in filter(None, (parameters.drugs, parameters.interactions, parameters.knowledge)):
        if name not in files:
            raise ManifestError(
                f"the file '{name}' is not listed",
                where=f"datasets/{manifest.name}/dataset.toml: files",
                todo="list the tables under [[files]]",
            )
    drugs = _drugs(files[parameters.drugs])
    ids = tuple(row.cells["drug"] for row in drugs)
    smiles = tuple(row.cells["smiles"] for row in drugs)
    molecules = molecules_of(smiles, [row.where for row in drugs])
    pairs, labels, types = _items(files[parameters.interactions], ids)
    edges, entities, relations = _graph(files.get(parameters.knowledge), ids, parameters.relations)
    return DdiDataset(
        name=manifest.name,
        pairs=pairs,
        labels=labels,
        fingerprints=count_fingerprints(molecules, parameters.fingerprint),
        knowledge=edges,
        years=np.array([_year(row) for row in drugs], dtype=np.int32),
        released=np.empty((len(ids) + len(pairs), 0), dtype=np.int32),
        drug_ids=ids,
        smiles=smiles,
        drug_names=tuple(row.cells.get("name") or row.cells["drug"] for row in drugs),
        drug_texts=tuple(row.cells.get("text", "") for row in drugs),
        graph_texts=tuple(row.cells.get("graph_text", "") for row in drugs),
        type_names=types,
        entity_names=entities,
        relation_names=relations,
        released_names=(),
    )


def _drugs(path: Path) -> list[TableLine]:
    rows = table_of(path, DRUG_COLUMNS[:2], optional=DRUG_COLUMNS[2:])
    check_once(((row, row.cells["drug"]) for row in rows), "drug '{}'")
    for row in rows:
        row.check_full("drug")
    return rows


def _year(row: TableLine) -> int:
    text = row.cells.get("year", "")
    if not text:
        return 0
    if not (text.isdecimal() and len(text) == 4):
        raise row.refused(f"'{text}' is no year", "give four digits, or leave an unknown year empty")
    return int(text)


def _items(path: Path, ids: Sequence[str]) -> tuple[Integers, Integers | Signs, tuple[str, ...]]:
    """Pairs, a type or signs for each, and the types' names; triplets are sorted, signed pairs as in the table."""
    rows = table_of(path, TRIPLET, SIGNED)
    signed = bool(rows) and "sign" in rows[0].cells
    places = {drug: place for place, drug in enumerate(ids)}
    pairs = np.array([_pair(row, places) for row in rows], dtype=np.int32).reshape(-1, 2)
    types_of_rows = [_types(row) for row in rows]
    names = tuple(sorted({name for types in types_of_rows for name in types}))
    number = {name: place for place, name in enumerate(names)}
    keys = (
        (row, ", ".join([*map(ids.__getitem__, pair), *sorted(types), row.cells.get("sign", "")]))
        for row, pair, types in zip(rows, pairs, types_of_rows, strict=True)
    )
    check_once(keys, "the interaction '{}'")
    if signed:
        signs = np.zeros((len(rows), len(names)), dtype=np.int8)
        for line, (row, types) in enumerate(zip(rows, types_of_rows, strict=True)):
            signs[line, [number[name] for name in types]] = _sign(row)
        return pairs, signs, names
    labels = np.array([number[types[0]] for types in types_of_rows], dtype=np.int32)
    order = np.lexsort((labels, pairs[:, 1], pairs[:, 0]))
    return pairs[order], labels[order], names


def _pair(row: TableLine, places: Mapping[str, int]) -> tuple[int, int]:
    head, tail = row.cells["head"], row.cells["tail"]
    for drug in (head, tail):
        if drug not in places:
            raise row.refused(f"drug '{drug}' has no line among the drugs", "add it there, or remove this line")
    if head == tail:
        raise row.refused(f"drug '{head}' is paired with itself", "remove the line")
    return places[head], places[tail]


def _types(row: TableLine) -> list[str]:
    cells = row.cells["types"].split(";") if "types" in row.cells else [row.cells["type"]]
    names = [name.strip() for name in cells]
    if not all(names) or len(set(names)) < len(names):
        raise row.refused("a type has no name, or is there twice", "give every type once, separated by ;")
    return names


def _sign(row: TableLine) -> int:
    sign = row.cells["sign"]
    if sign not in _SIGNS:
        raise row.refused(f"the sign '{sign}' is neither + nor -", "correct the sign")
    return _SIGNS[sign]


def _graph(
    path: Path | None, ids: Sequence[str], order: Sequence[str]
) -> tuple[Integers, tuple[str, ...], tuple[str, ...]]:
    """Edges in the order of the table, entities (the drugs first) and relations by name."""
    rows = table_of(path, EDGE) if path else []
    check_once(((row, ", ".join(row.cells[column] for column in EDGE)) for row in rows), "the edge '{}'")
    entities = list(dict.fromkeys([*ids, *(row.cells[end] for row in rows for end in ("head", "tail"))]))
    relations = list(order or dict.fromkeys(row.cells["relation"] for row in rows))
    entity = {name: place for place, name in enumerate(entities)}
    relation = {name: place for place, name in enumerate(relations)}
    edges = []
    for row in rows:
        if row.cells["relation"] not in relation:
            what = f"relation '{row.cells['relation']}' is not in the manifest's list"
            raise row.refused(what, "add it to parameters.relations")
        edges.append((entity[row.cells["head"]], entity[row.cells["tail"]], relation[row.cells["relation"]]))
    return np.array(edges, dtype=np.int32).reshape(-1, 3), tuple(entities), tuple(relations)
