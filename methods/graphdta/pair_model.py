"""One of GraphDTA's networks, with the molecules and sequences that it is asked about."""

from __future__ import annotations

from collections.abc import Sequence

from affinity_training import Model, device
from drug_graphs import drug_graphs
from layers import Proteins
from molecule_graphs import Molecules
from network import NETWORKS, PUBLISHED
from torch import Tensor


class GraphDTA(Model):
    """Drugs and targets by their places in the lists."""

    def __init__(self, smiles: Sequence[str], sequences: Sequence[str], kind: str, dropout: float) -> None:
        super().__init__()
        if kind not in NETWORKS:
            raise ValueError(f"parameter network: there is no '{kind}'; choose one of {', '.join(NETWORKS)}")
        sizes, where = PUBLISHED[kind], device()
        self.network = NETWORKS[kind](sizes, dropout).to(where)
        self.molecules = Molecules.of(drug_graphs(smiles), where)
        self.proteins = Proteins.read(sequences, sizes.length, where)

    def drugs(self, drugs: Tensor, counts: Tensor) -> Tensor:
        return self.network.drugs(self.molecules.take(drugs), counts)

    def targets(self, targets: Tensor) -> Tensor:
        return self.network.targets(self.proteins.take(targets))

    def pairs(self, drugs: Tensor, targets: Tensor) -> Tensor:
        return self.network.pairs(drugs, targets)
