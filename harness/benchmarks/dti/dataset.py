"""The converted form of a drug-target dataset: pairs with values, and facts about drugs and targets; read-only.

Nodes of the network are numbered drugs first, then targets, then all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.dti.statistics import DtiStatistics

Integers = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.float64]

_TYPES = {
    "pairs": "<i4",
    "values": "<f8",
    "released": "|i1",
    "edges": "<i4",
    "drug_similarity": "<f8",
    "target_similarity": "<f8",
    "group_sizes": "<i4",
    "group_members": "<i4",
    "group_pairs": "<i4",
}
_NAMES = ("drug_ids", "target_ids", "smiles", "sequences", "node_names", "relation_names", "group_names")

# the role of a row of group_members
MEMBER, LEADING = 0, 1
# the group of drugs and targets that a person added, and asks about
NEW_NODES = "new"

_NO_ROWS = np.empty((0, 3), dtype=np.int32)
_NO_MATRIX = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class DtiDataset:
    """Pairs in the order of their file, with a binding (1) or an affinity each. Unknown texts are empty.

    `released` is the authors' part of every pair: -1 the test part, others training folds; empty where there is
    none. `edges` are relation, head, tail: never pairs of a drug and a target, which are `pairs`.

    Groups are what tasks are about: classes of drugs (`test2/...`) or targets (`test3/...`), targets of a disease
    (`test5/...`, `test6/...`). `group_members` are group, role, node: members in their order, or those that
    lead a shuffled list of members of which some are not known; `group_sizes` counts all, known or not.
    `group_pairs` are group, drug, target: the bindings of the group in their order; of Tests 5 and 6 new ones. If
    the authors published the negatives of a task, they are the pairs of a group: `test6-TEO/...` of `test6/...`.
    """

    name: str
    pairs: Integers
    values: Numbers
    drug_ids: tuple[str, ...]
    target_ids: tuple[str, ...]
    smiles: tuple[str, ...]
    sequences: tuple[str, ...]
    released: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    edges: Integers = field(default_factory=_NO_ROWS.copy)
    node_names: tuple[str, ...] = ()
    relation_names: tuple[str, ...] = ()
    drug_similarity: Numbers = field(default_factory=_NO_MATRIX.copy)
    target_similarity: Numbers = field(default_factory=_NO_MATRIX.copy)
    group_names: tuple[str, ...] = ()
    group_sizes: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    group_members: Integers = field(default_factory=_NO_ROWS.copy)
    group_pairs: Integers = field(default_factory=_NO_ROWS.copy)
    digest: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def drugs(self) -> int:
        """How many drugs there are, those without a pair included."""
        return len(self.drug_ids)

    @property
    def targets(self) -> int:
        """How many targets there are, those without a pair included."""
        return len(self.target_ids)

    @property
    def nodes(self) -> int:
        """How many nodes the network has."""
        return self.drugs + self.targets + len(self.node_names)

    @property
    def affinity(self) -> bool:
        """Whether values are affinities, not bindings."""
        return bool((self.values != 1).any())

    @property
    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Every array in the type it is kept in."""
        return {name: getattr(self, name).astype(dtype, copy=False) for name, dtype in _TYPES.items()}

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Every list of texts."""
        return {name: getattr(self, name) for name in _NAMES}

    def statistics(self) -> DtiStatistics:
        """What the arrays show."""
        return DtiStatistics(
            drugs=self.drugs,
            targets=self.targets,
            pairs=len(self.pairs),
            affinity=self.affinity,
            structures=sum(map(bool, self.smiles)),
            sequences=sum(map(bool, self.sequences)),
            nodes=len(self.node_names),
            relations=len(self.relation_names),
            edges=len(self.edges),
            groups=len(self.group_names),
        )
