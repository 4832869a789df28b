"""One's own drug interactions as comma-separated tables: drugs with structures, interactions, and a graph if any.

drugs: columns `drug`, `smiles`, and if wanted `name`, `text`, `graph_text`, `year`; it says which drugs there are.
interactions: `head`, `tail`, `type`, a line per triplet; or `head`, `tail`, `types`, `sign`, a line per pair, its
types separated by ";", the sign + for a pair that has them, - for one that does not. Either with `part` if wanted:
train, valid or test, for the split `released:which=own`, in which drugs are new that have no line to train on.
knowledge: `head`, `tail`, `relation`; an end that is a drug's name is that drug.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from harness.base.errors import CorruptData
from harness.base.faults import Faults, all_faults
from harness.base.manifests import Strict
from harness.base.plurals import counted
from harness.benchmarks.ddi.dataset import DdiDataset, Integers, Signs
from harness.benchmarks.ddi.molecules import count_fingerprints, molecules_of
from harness.benchmarks.ddi.splits.parts import (
    KNOWN,
    TEST_NEW,
    TEST_S0,
    TRAIN,
    VALID_NEW,
    VALID_S0,
    PartSplit,
    expected_parts,
    part_split,
)
from harness.data.cells import TableFile, TableLine, check_once, listed_table, table_of
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

DRUG_COLUMNS = ("drug", "smiles", "name", "text", "graph_text", "year")
TRIPLET = ("head", "tail", "type")
SIGNED = ("head", "tail", "types", "sign")
EDGE = ("head", "tail", "relation")
PART = "part"
# the name of the split that a person's own parts are
OWN = "own"
_TRAIN, _NEW = "train", {"valid": VALID_NEW, "test": TEST_NEW}
_SIGNS = {"+": 1, "+1": 1, "1": 1, "-": -1, "-1": -1}
# more set no substructures of a dataset apart, and exhaust the memory of a machine
_MOST_COLUMNS = 1 << 16


class Parameters(Strict):
    """The names of the files, and what is made of them."""

    drugs: str = "drugs.csv"
    interactions: str = "interactions.csv"
    knowledge: str = Field(default="", description="none: there is no graph")
    fingerprint: int = Field(default=1024, ge=1, le=_MOST_COLUMNS, description="columns of the fingerprints")
    relations: list[str] = Field(default=[], description="their order; none: as they are first read")


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DdiDataset:
    """The dataset out of its tables."""
    parameters = parameters_of(manifest, Parameters)
    drugs, molecules = _drugs(listed_table(parameters.drugs, files, manifest.name))
    ids = tuple(row.cells["drug"] for row in drugs)
    pairs, labels, types, released = _items(listed_table(parameters.interactions, files, manifest.name), ids)
    knowledge = listed_table(parameters.knowledge, files, manifest.name) if parameters.knowledge else None
    edges, entities, relations = _graph(knowledge, ids, parameters.relations)
    return DdiDataset(
        name=manifest.name,
        pairs=pairs,
        labels=labels,
        fingerprints=count_fingerprints(molecules, parameters.fingerprint),
        knowledge=edges,
        years=np.array([_year(row) for row in drugs], dtype=np.int32),
        released=np.empty((len(ids) + len(pairs), 0), dtype=np.int32) if released is None else released.table,
        drug_ids=ids,
        smiles=tuple(row.cells["smiles"] for row in drugs),
        drug_names=tuple(row.cells.get("name") or row.cells["drug"] for row in drugs),
        drug_texts=tuple(row.cells.get("text", "") for row in drugs),
        graph_texts=tuple(row.cells.get("graph_text", "") for row in drugs),
        type_names=types,
        entity_names=entities,
        relation_names=relations,
        released_names=() if released is None else (OWN,),
        remarks=()
        if released is None
        else (f"{counted(released.test, 'item')} to test on: --split released:which={OWN}",),
    )


def _drugs(file: TableFile) -> tuple[list[TableLine], list[Any]]:
    """The lines of the drugs and their structures; all that is wrong with any of them is told together."""
    with all_faults() as faults:
        rows = table_of(file, DRUG_COLUMNS[:2], optional=DRUG_COLUMNS[2:], faults=faults)
        check_once(((row, row.cells["drug"]) for row in rows), "drug '{}'", faults)
        for row in rows:
            with faults.noted():
                row.check_full("drug")
                _year(row)
                if any(map(str.isspace, row.cells["smiles"])):
                    # the rest would be read as part of the text
                    what = f"the smiles of drug '{row.cells['drug']}' has a blank in it"
                    raise row.refused(what, "give the bare text, or leave the cell empty")
        molecules: list[Any] = []
        with faults.noted():
            molecules = molecules_of([row.cells["smiles"] for row in rows], [row.where for row in rows])
    return rows, molecules


def _year(row: TableLine) -> int:
    text = row.cells.get("year", "")
    if not text:
        return 0
    if not (text.isdecimal() and len(text) == 4):
        raise row.refused(f"'{text}' is no year", "give four digits, or leave an unknown year empty")
    return int(text)


def _items(
    file: TableFile, ids: Sequence[str]
) -> tuple[Integers, Integers | Signs, tuple[str, ...], PartSplit | None]:
    """Pairs, a type or signs for each, the types' names, and the table's split if it has parts.

    Triplets are sorted, signed pairs as in the table.
    """
    with all_faults() as faults:
        rows = table_of(file, TRIPLET, SIGNED, optional=(PART,), faults=faults)
        items = list(_read_items(rows, ids, faults))
        check_once(((one.row, _told(one, ids)) for one in items), "the interaction '{}'", faults)
    pairs = np.array([one.pair for one in items], dtype=np.int32).reshape(-1, 2)
    split = _split(file, items, pairs, ids) if items and PART in items[0].row.cells else None
    names = tuple(sorted({name for one in items for name in one.types}))
    number = {name: place for place, name in enumerate(names)}
    if items and "sign" in items[0].row.cells:
        signs = np.zeros((len(items), len(names)), dtype=np.int8)
        for line, one in enumerate(items):
            signs[line, [number[name] for name in one.types]] = one.sign
        return pairs, signs, names, split
    labels = np.array([number[one.types[0]] for one in items], dtype=np.int32)
    order = np.lexsort((labels, pairs[:, 1], pairs[:, 0]))
    if split is not None:
        split = part_split(split.drugs, split.items[order], split.places[order])
    return pairs[order], labels[order], names, split


def _split(file: TableFile, items: Sequence[_Item], pairs: Integers, ids: Sequence[str]) -> PartSplit:
    """Who trains is known; other drugs are new in the part that they have lines of, in the order of the table."""
    named = [one.part for one in items]
    drugs = np.full(len(ids), KNOWN, dtype=np.int32)
    lines = {part: {end: one.row for one in items if one.part == part for end in one.pair} for part in _NEW}
    known = {end for one in items if one.part == _TRAIN for end in one.pair}
    with all_faults() as faults:
        for part, role in _NEW.items():
            drugs[[end for end in lines[part] if end not in known]] = role
        for end in sorted(set.intersection(*map(set, lines.values())) - known):
            what = f"drug '{ids[end]}' has lines of {' and of '.join(_NEW)}, and none to train on"
            faults.add(lines["test"][end].refused(what, "let a new drug have lines of one part"))
    if not known or not (drugs == TEST_NEW).any():
        lacking = "no line trains" if not known else "no line of part test has a drug without lines to train on"
        raise CorruptData(lacking, where=str(file), todo="give such lines, or leave the column `part` out")
    parts = expected_parts(pairs, drugs)
    for part, among_known in (("valid", VALID_S0), ("test", TEST_S0)):
        parts[(np.array(named) == part) & (parts == TRAIN)] = among_known
    return part_split(drugs, parts)


class _Item(NamedTuple):
    """A line of the interactions: two drugs by their numbers, types, +1 or -1 for them, and a part, or empty."""

    row: TableLine
    pair: tuple[int, int]
    types: list[str]
    sign: int
    part: str


def _read_items(rows: Iterable[TableLine], ids: Sequence[str], faults: Faults) -> Iterator[_Item]:
    places = {drug: place for place, drug in enumerate(ids)}
    for row in rows:
        with faults.noted():
            sign = _sign(row) if "sign" in row.cells else 1
            yield _Item(row, _pair(row, places), _types(row), sign, _part(row) if PART in row.cells else "")


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


def _told(one: _Item, ids: Sequence[str]) -> str:
    """What tells an interaction from others, however its types are ordered and its sign is written."""
    sign = ["-" if one.sign < 0 else "+"] if "sign" in one.row.cells else []
    return ", ".join([*(ids[end] for end in one.pair), *sorted(one.types), *sign])


def _sign(row: TableLine) -> int:
    sign = row.cells["sign"]
    if sign not in _SIGNS:
        raise row.refused(f"the sign '{sign}' is neither + nor -", "correct the sign")
    return _SIGNS[sign]


def _part(row: TableLine) -> str:
    part = row.cells[PART].lower()
    if part not in (_TRAIN, *_NEW):
        raise row.refused(f"'{row.cells[PART]}' is no part", f"write {', '.join((_TRAIN, *_NEW))}")
    return part


def _graph(
    file: TableFile | None, ids: Sequence[str], order: Sequence[str]
) -> tuple[Integers, tuple[str, ...], tuple[str, ...]]:
    """Edges in the order of the table, entities (the drugs first) and relations by name."""
    with all_faults() as faults:
        rows = table_of(file, EDGE, faults=faults) if file else []
        check_once(
            ((row, ", ".join(row.cells[column] for column in EDGE)) for row in rows), "the edge '{}'", faults
        )
        for row in rows:
            with faults.noted():
                row.check_full(*EDGE)
                if order and row.cells["relation"] not in order:
                    what = f"relation '{row.cells['relation']}' is not in the manifest's list"
                    raise row.refused(what, "add it to parameters.relations")
    entities = list(dict.fromkeys([*ids, *(row.cells[end] for row in rows for end in ("head", "tail"))]))
    relations = list(order or dict.fromkeys(row.cells["relation"] for row in rows))
    entity = {name: place for place, name in enumerate(entities)}
    relation = {name: place for place, name in enumerate(relations)}
    edges = [
        [entity[row.cells["head"]], entity[row.cells["tail"]], relation[row.cells["relation"]]] for row in rows
    ]
    return np.array(edges, dtype=np.int32).reshape(-1, 3), tuple(entities), tuple(relations)
