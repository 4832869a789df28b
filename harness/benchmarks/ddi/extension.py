"""Drugs of one's own beside those of a dataset: in no pair, so that all their pairs are asked.

Pairs of known drugs are asked in the same way: a drug is added that is like a known one, but in no pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.molecules import count_fingerprints, molecules_of
from harness.benchmarks.ddi.splits.parts import DISCARDED
from harness.benchmarks.new_item import Kind, NewItem, Usual, check_name, not_readable
from harness.benchmarks.structures import is_structure

KINDS = {
    "drug": Kind(
        "structure (SMILES)",
        inputs=("fingerprints", "smiles"),
        lists=("drug_ids", "drug_names"),
        between_lines=None,
    ),
}
USUAL = Usual("mlp", ("drugbank", "synthetic_ddi"))
# in place of a structure: the number of a known drug follows. No structure has a blank.
_LIKE = "like "


def again(dataset: DdiDataset, names: Sequence[str], pairs: Sequence[Sequence[str]]) -> Mapping[str, NewItem]:
    """The drugs to ask about again: one of each pair of drugs with interactions, and where no drug is new, all."""
    known = {dataset.drug_ids[drug] for drug in np.unique(dataset.pairs)}
    wanted = {} if len(known) < dataset.drugs else dict.fromkeys(names)
    for pair in pairs:
        if known.issuperset(pair) and not wanted.keys() & {*pair}:
            wanted[pair[0]] = None
    return {name: NewItem(kind="drug", name=f"{name} again", text=f"{_LIKE}{name}") for name in wanted}


def not_asked_again(dataset: DdiDataset, names: Sequence[str]) -> list[str]:
    """Of which drugs, named alone, pairs with new drugs are all that is asked, in words."""
    known = {dataset.drug_ids[drug] for drug in np.unique(dataset.pairs)}
    news = [drug for drug in dataset.drug_ids if drug not in known]
    others = "the drug" if len(news) == 1 else f"the {len(news)} drugs"
    return [
        f"{name}: only pairs with {others} without interactions are asked; "
        f"`--pair {name} OTHER` asks about another"
        for name in names
        if news and name in known
    ]


def with_new(dataset: DdiDataset, items: Sequence[NewItem]) -> DdiDataset:
    """The dataset with further drugs behind its own. They have no interactions, and no year.

    One like a known drug has all else that is known of it; others have no edges of the graph and no texts.
    """
    names = {name.lower() for name in (*dataset.entity_names, *dataset.drug_names)}
    numbers = {name: number for number, name in enumerate(dataset.drug_ids)}
    like = [numbers.get(item.text.removeprefix(_LIKE)) if item.text.startswith(_LIKE) else None for item in items]
    for item, known in zip(items, like, strict=True):
        check_name(item, names)
        if known is None and not is_structure(item.text):
            raise not_readable(item, KINDS[item.kind])

    def texts(known: tuple[str, ...]) -> tuple[str, ...]:
        return tuple("" if one is None else known[one] for one in like)

    ids = tuple(item.name for item in items)
    smiles = tuple(
        item.text if one is None else dataset.smiles[one] for item, one in zip(items, like, strict=True)
    )
    molecules = molecules_of(smiles, [item.where for item in items])
    knowledge = dataset.knowledge.copy()
    knowledge[:, :2] += np.where(knowledge[:, :2] < dataset.drugs, 0, len(items)).astype(np.int32)
    copies = [knowledge]
    for place, one in enumerate(like, dataset.drugs):
        for end in (0, 1) if one is not None else ():
            edges = knowledge[knowledge[:, end] == one]
            edges[:, end] = place
            copies.append(edges)
    splits = len(dataset.released_names)
    roles = np.tile(np.array([DISCARDED, 0], dtype=np.int32), (len(items), splits))
    return replace(
        dataset,
        fingerprints=np.concatenate(
            [dataset.fingerprints, count_fingerprints(molecules, dataset.fingerprints.shape[1])]
        ),
        knowledge=np.concatenate(copies),
        years=np.append(dataset.years, np.zeros(len(items), dtype=np.int32)),
        released=np.insert(dataset.released, dataset.drugs, roles, axis=0),
        drug_ids=(*dataset.drug_ids, *ids),
        smiles=(*dataset.smiles, *smiles),
        drug_names=(
            *dataset.drug_names,
            *(own or name for own, name in zip(texts(dataset.drug_names), ids, strict=True)),
        ),
        drug_texts=(*dataset.drug_texts, *texts(dataset.drug_texts)),
        graph_texts=(*dataset.graph_texts, *texts(dataset.graph_texts)),
        entity_names=(*dataset.drug_ids, *ids, *dataset.entity_names[dataset.drugs :]),
        remarks=(),
    )
