"""What HAN sees of a problem: two feature matrices, two graphs of shared partners, and labels to be met.

All three carry what the published code does to them: the nearest neighbours are written into the similarities, the
nearest one of all is usually left out, and labels are shifted by one drug.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Graph:
    """Edges source -> target of so many nodes, row by row of the source. With an edge goes its opposite."""

    nodes: int
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Targets:
    """For each entry of the logits: does the loss see it, and which label should it have."""

    seen: Flags
    labels: Floats
    pos_weight: float


@dataclass(frozen=True)
class Inputs:
    """Everything the network and its training are given."""

    drugs: Floats
    diseases: Floats
    drug_graph: Graph
    disease_graph: Graph
    targets: Targets

    @classmethod
    def of(cls, labels: Array, drugs: Array, diseases: Array, training: Flags, *, k: int, shift: int) -> Inputs:
        """From labels (-1 counts as 0), similarities of drugs and of diseases, and which pairs are training."""
        positive = labels == 1
        return cls(
            neighbours_marked(drugs, k),
            neighbours_marked(diseases, k),
            metapath_graph(positive),
            metapath_graph(positive.T),
            shifted_targets(positive, training, shift),
        )

    def told(self) -> dict[str, Array]:
        """The same under the goldens' names; drugs' features come first, diseases' after them."""
        width = len(self.drugs)
        return {
            "feat_drug": np.pad(self.drugs, ((0, 0), (0, len(self.diseases)))),
            "feat_disease": np.pad(self.diseases, ((0, 0), (width, 0))),
            "edges_metapath_drug": np.stack([self.drug_graph.source, self.drug_graph.target]),
            "edges_metapath_disease": np.stack([self.disease_graph.source, self.disease_graph.target]),
            "pos_weight": np.array([self.targets.pos_weight]),
        }


def neighbours_marked(similarity: Array, k: int) -> Floats:
    """The similarities, with k of the k + 1 largest of each row set to 1.

    Which one is left out is whatever NumPy's selection leaves at the end; its kernels for other processors leave
    another. Where rows are shorter than k + 1, all of a row but one are set.
    """
    marked = similarity.copy()
    last = min(k + 1, marked.shape[1])
    places = np.argpartition(marked, -last, axis=1)[:, -last:-1]
    np.put_along_axis(marked, places, 1.0, axis=1)
    return marked.astype(np.float32)


def metapath_graph(positive: Flags) -> Graph:
    """Row -> row wherever two rows of the labels share a column; a row with any label is its own neighbour."""
    ones = positive.astype(np.float32)
    return Graph(len(positive), *np.nonzero(ones @ ones.T))


def shifted_targets(positive: Flags, training: Flags, shift: int) -> Targets:
    """The label of drug i stands where the logits of drug i - shift are; the first drug's wraps to the last."""
    ones, count = int((positive & training).sum()), int(training.sum())
    return Targets(
        seen=np.roll(training, -shift, axis=0),
        labels=np.roll((positive & training).astype(np.float32), -shift, axis=0),
        # without any positive the weight has nothing to weigh, and infinity would turn zeros into NaN
        pos_weight=(count - ones) / ones if ones else 1.0,
    )
