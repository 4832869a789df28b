"""What a converted dataset of drug pairs must be before anything is computed from it.

Refused: wrong shapes, numbers out of range, names or items that occur twice, a drug paired with itself. What is
odd but allowed is remarked on by `ddi_remarks`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.base.errors import CorruptData
from harness.base.repeats import repeated
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.remarks import remarks_on

_YEARS = (1800, 2100)
# Of released splits; harness/benchmarks/ddi/splits/parts.py gives them their names.
_ROLES = (-2, 0, 1, 2)
_PARTS = (-2, 0, 1, 2, 3, 4, 5, 6)


def checked_remarks(dataset: DdiDataset) -> tuple[str, ...]:
    """Remarks on what is odd but allowed; `CorruptData` for what is not."""
    where = f"dataset {dataset.name}"
    _check_shapes(dataset, where)
    _check_names(dataset, where)
    _check_ranges(dataset, where)
    _check_items(dataset, where)
    _check_released(dataset, where)
    return remarks_on(dataset)


def _refuse(what: str, where: str, todo: str) -> CorruptData:
    return CorruptData(what, where=where, todo=todo)


def _check_shapes(dataset: DdiDataset, where: str) -> None:
    drugs, items = dataset.drugs, len(dataset.pairs)
    width = 2 * len(dataset.released_names)
    shapes = {
        "pairs": (items, 2),
        "labels": (items, dataset.types) if dataset.multilabel else (items,),
        "fingerprints": (drugs, dataset.fingerprints.shape[-1]),
        "knowledge": (len(dataset.knowledge), 3),
        "years": (drugs,),
        "released": (drugs + items, width),
    }
    for name, shape in shapes.items():
        own = getattr(dataset, name).shape
        if own != shape:
            raise _refuse(f"'{name}' has shape {own}, not {shape}", where, "correct the converter")
    for name in ("smiles", "drug_names", "drug_texts", "graph_texts"):
        if len(getattr(dataset, name)) != drugs:
            raise _refuse(f"'{name}' has not one text per drug", where, "give an empty text where none is known")
    if not items:
        raise _refuse("there is no item", where, "give at least one pair of drugs with its type")


def _check_names(dataset: DdiDataset, where: str) -> None:
    for kind, names in (
        ("drugs", dataset.drug_ids),
        ("types", dataset.type_names),
        ("entities", dataset.entity_names),
        ("relations", dataset.relation_names),
        ("released splits", dataset.released_names),
    ):
        if twice := repeated(names):
            raise _refuse(
                f"{len(twice)} {kind} have a name that others have, '{twice[0]}' for one",
                where,
                "give each a name of its own",
            )
    if dataset.entity_names[: dataset.drugs] != dataset.drug_ids:
        raise _refuse("the first entities are not the drugs", where, "correct the converter")


def _check_ranges(dataset: DdiDataset, where: str) -> None:
    entities, relations, types = dataset.entities, dataset.relations, dataset.types
    signs = dataset.multilabel
    for name, values, least, most in (
        ("pairs", dataset.pairs, 0, dataset.drugs - 1),
        ("labels", dataset.labels, -1 if signs else 0, 1 if signs else types - 1),
        ("fingerprints", dataset.fingerprints, 0, None),
        ("knowledge", dataset.knowledge[:, :2], 0, entities - 1),
        ("knowledge", dataset.knowledge[:, 2], 0, relations - 1),
        ("years", np.where(dataset.years == 0, _YEARS[0], dataset.years), *_YEARS),
    ):
        outside = np.argwhere((values < least) | (False if most is None else values > most))
        if len(outside):
            place = tuple(int(step) for step in outside[0])
            raise _refuse(
                f"'{name}' holds {values[place]}, which is not in {least} to {'any' if most is None else most}",
                f"{where}: row {place[0]}",
                "correct the number, or add what it stands for",
            )


def _check_items(dataset: DdiDataset, where: str) -> None:
    pairs, labels = dataset.pairs, dataset.labels
    own = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(own):
        drug = dataset.drug_ids[pairs[own[0], 0]]
        raise _refuse(f"drug '{drug}' is paired with itself", f"{where}: item {own[0]}", "remove that item")
    if dataset.multilabel:
        mixed = np.flatnonzero((labels > 0).any(axis=1) == (labels < 0).any(axis=1))
        if len(mixed):
            raise _refuse(
                "an item is neither positive nor negative, or both",
                f"{where}: item {mixed[0]}",
                "give it types of one sign",
            )
    places: dict[bytes, int] = {}
    for place, key in enumerate(_keys(dataset)):
        if key in places:
            head, tail = (dataset.drug_ids[drug] for drug in pairs[place])
            raise _refuse(
                f"the pair '{head}', '{tail}' is there twice with the same types",
                f"{where}: items {places[key]} and {place}",
                "keep one of them",
            )
        places[key] = place


def _keys(dataset: DdiDataset) -> Iterator[bytes]:
    for pair, label in zip(dataset.pairs, dataset.labels, strict=True):
        yield pair.tobytes() + np.asarray(label).tobytes()


def _check_released(dataset: DdiDataset, where: str) -> None:
    for column, name in enumerate(dataset.released_names):
        codes, places = dataset.released[:, 2 * column : 2 * column + 2].T
        roles, parts, places = codes[: dataset.drugs], codes[dataset.drugs :], places[dataset.drugs :]
        has_meaning = np.isin(roles, _ROLES).all() and np.isin(parts, _PARTS).all()
        distinct = {(part, place) for part, place in zip(parts.tolist(), places.tolist(), strict=True)}
        if not has_meaning or len(distinct) < len(parts):
            raise _refuse(
                "a role or part is none of the known ones, or two items have the same place",
                f"{where}: released split '{name}'",
                "correct the converter",
            )
