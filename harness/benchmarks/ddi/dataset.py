"""The converted form of a drug-drug interaction dataset: pairs, labels, and what is known of each drug; read-only.

Two kinds: in a multiclass dataset an item is a triplet (head, tail, type); in a multilabel one it is a pair with
signs, one per type: +1 the pair has the type, -1 it is the drawn negative for the type, 0 nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.ddi.statistics import DdiStatistics

Integers = npt.NDArray[np.int32]
Signs = npt.NDArray[np.int8]

ARRAYS = ("pairs", "labels", "fingerprints", "knowledge", "years", "released")
NAMES = (
    "drug_ids",
    "smiles",
    "drug_names",
    "drug_texts",
    "graph_texts",
    "type_names",
    "entity_names",
    "relation_names",
    "released_names",
)


@dataclass(frozen=True, eq=False)
class DdiDataset:
    """Items in canonical order and the drugs they join; entities 0 to drugs - 1 of the knowledge graph are drugs.

    Texts that are not known are empty. `years` are of approval, 0 where unknown. `released` has two columns, part
    and place, for each split that the authors released; its rows are the drugs, then the items.
    """

    name: str
    pairs: Integers
    labels: Integers | Signs
    fingerprints: Integers
    knowledge: Integers
    years: Integers
    released: Integers
    drug_ids: tuple[str, ...]
    smiles: tuple[str, ...]
    drug_names: tuple[str, ...]
    drug_texts: tuple[str, ...]
    graph_texts: tuple[str, ...]
    type_names: tuple[str, ...]
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]
    released_names: tuple[str, ...]
    digest: str = ""
    remarks: tuple[str, ...] = field(default=())

    @property
    def multilabel(self) -> bool:
        """Whether an item has a sign for every type, not one type."""
        return self.labels.ndim == 2

    @property
    def drugs(self) -> int:
        """How many drugs there are, those without an item included."""
        return len(self.drug_ids)

    @property
    def types(self) -> int:
        """How many types of interaction there are."""
        return len(self.type_names)

    @property
    def entities(self) -> int:
        """How many nodes the knowledge graph has, all drugs included."""
        return len(self.entity_names)

    @property
    def relations(self) -> int:
        """How many kinds of edges the knowledge graph has."""
        return len(self.relation_names)

    @property
    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Every array in the type it is kept in."""
        types = dict.fromkeys(ARRAYS, "<i4") | {"labels": "|i1" if self.multilabel else "<i4"}
        return {name: getattr(self, name).astype(dtype, copy=False) for name, dtype in types.items()}

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Every list of texts."""
        return {name: getattr(self, name) for name in NAMES}

    def statistics(self) -> DdiStatistics:
        """What the arrays show."""
        return DdiStatistics(
            multilabel=self.multilabel,
            drugs=self.drugs,
            types=self.types,
            items=len(self.pairs),
            negatives=int((self.labels < 0).any(axis=1).sum()) if self.multilabel else 0,
            fingerprint=self.fingerprints.shape[1],
            entities=self.entities,
            relations=self.relations,
            edges=len(self.knowledge),
            dated=int((self.years > 0).sum()),
            drug_texts=sum(map(bool, self.drug_texts)),
            graph_texts=sum(map(bool, self.graph_texts)),
            released=len(self.released_names),
        )
