"""Pairs of drugs, judged by a network that sees each drug's molecule once, however many pairs it is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ddi_sdk import Problem
from ddi_training import device, in_chunks
from molecule_graphs import Graph, Molecules
from molecules import molecules_of
from torch import Tensor

# so that evaluation needs no more memory than training
PAIRS_AT_ONCE = 2048


class PairNetwork(Protocol):
    """What comes of molecules, and of pairs of places among them: logits, and what lies under them."""

    def __call__(self, graph: Graph) -> Any: ...

    def judge(self, encoded: Any, pairs: Tensor) -> tuple[Tensor, Tensor]: ...


def molecules_in(problem: Problem) -> Molecules:
    """All drugs of a problem."""
    return Molecules.of(molecules_of(problem.inputs["smiles"]), device())


@dataclass(frozen=True)
class DrugPairs:
    """A network and the molecules that it sees."""

    network: PairNetwork
    molecules: Molecules

    def judge(self, pairs: Tensor) -> tuple[Tensor, Tensor]:
        """Of a batch."""
        graph, places = self.molecules.among(pairs)
        return self.network.judge(self.network(graph), places)

    def scores(self, pairs: Tensor) -> Tensor:
        """Logits of many pairs."""
        graph, places = self.molecules.among(pairs)
        encoded = self.network(graph)
        return in_chunks(lambda some: self.network.judge(encoded, some)[0], places, PAIRS_AT_ONCE)
