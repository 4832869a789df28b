"""Remarks on what is odd in a dataset of drug pairs, but allowed.

Drugs without something, types without an item, pairs of several types, negatives that are known pairs, released
splits that break their own rule. docs/data.md says how each is treated.
"""

from __future__ import annotations

import numpy as np

from harness.base.plurals import counted
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.molecules import canonical_smiles, is_unknown, molecules_of


def remarks_on(dataset: DdiDataset) -> tuple[str, ...]:
    """One line per oddity, with its count; a structure that does not parse is refused."""
    return (*_drug_remarks(dataset), *_item_remarks(dataset), *_release_remarks(dataset))


def _drug_remarks(dataset: DdiDataset) -> list[str]:
    has_item = np.zeros(dataset.drugs, dtype=np.bool_)
    has_item[dataset.pairs] = True
    has_edge = np.zeros(dataset.entities, dtype=np.bool_)
    has_edge[dataset.knowledge[:, :2]] = True
    molecules = molecules_of(dataset.smiles, [f"drug '{drug}'" for drug in dataset.drug_ids])
    known = [one for one in molecules if not is_unknown(one)]
    counts = {
        "without any item; they stay": int((~has_item).sum()),
        "of a single atom: graphs without an edge": sum(one.GetNumAtoms() == 1 for one in molecules),
        "of unknown structure: similar to no other drug": len(molecules) - len(known),
        "with the structure of another drug": len(known) - len(set(canonical_smiles(known))),
        "without a node of the knowledge graph": int((~has_edge[: dataset.drugs]).sum())
        if dataset.relations
        else 0,
        "without a text; it is empty": _empty_count(dataset.drug_texts),
        "without a text of the knowledge graph; it is empty": _empty_count(dataset.graph_texts),
        "without a year of approval": int((dataset.years == 0).sum()),
    }
    return [f"{counted(count, 'drug')} {what}" for what, count in counts.items() if count]


def _empty_count(texts: tuple[str, ...]) -> int:
    return sum(not text.strip() for text in texts)


def _item_remarks(dataset: DdiDataset) -> list[str]:
    remarks = []
    if dataset.multilabel:
        present = (dataset.labels > 0).any(axis=0)
        positive = (dataset.labels > 0).any(axis=1)
        drugs = np.sort(dataset.pairs, axis=1)
        positives = set(map(tuple, drugs[positive].tolist()))
        unclean = sum(pair in positives for pair in map(tuple, drugs[~positive].tolist()))
        if unclean:
            remarks.append(
                f"{counted(unclean, 'negative item')} of pairs that have some type, in one order or the other"
            )
    else:
        present = np.bincount(dataset.labels, minlength=dataset.types) > 0
        several = len(dataset.pairs) - len(np.unique(dataset.pairs, axis=0))
        if several:
            remarks.append(f"{counted(several, 'item')} more than ordered pairs: some pairs have several types")
    if not present.all():
        remarks.append(f"{counted(int((~present).sum()), 'type')} without an item")
    return remarks


def _release_remarks(dataset: DdiDataset) -> list[str]:
    """Items in a part that the roles of their two drugs do not lead to; they stay where the authors have them."""
    remarks = []
    for column, name in enumerate(dataset.released_names):
        codes = dataset.released[:, 2 * column]
        roles, parts = codes[: dataset.drugs], codes[dataset.drugs :]
        inside = parts >= 0
        side, setting = np.divmod(np.maximum(parts[inside] - 1, 0), 3)
        low, high = np.sort(roles[dataset.pairs[inside]], axis=1).T
        fitting = (low == np.where(setting == 2, side + 1, 0)) & (high == np.where(setting > 0, side + 1, 0))
        if not fitting.all():
            remarks.append(
                f"released split '{name}': {counted(int((~fitting).sum()), 'item')} of drugs of other roles"
            )
        if not inside.all():
            remarks.append(f"released split '{name}': {counted(int((~inside).sum()), 'item')} outside")
    return remarks
