"""GraphDTA: a molecule's graph and a protein's letters predict how strongly they bind."""

from __future__ import annotations

from affinity_training import Model, device, examples_of, predicted, train_epochs
from drug_graphs import drug_graphs
from dti_sdk import Answer, Problem, run
from layers import Proteins
from molecule_graphs import Molecules
from network import NETWORKS, PUBLISHED
from torch import Tensor


class GraphDTA(Model):
    """One of the four networks, with all molecules and sequences."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        kind, where = problem.parameters["network"], device()
        sizes = PUBLISHED[kind]
        self.network = NETWORKS[kind](sizes, problem.parameters["dropout"]).to(where)
        self.molecules = Molecules.of(drug_graphs(problem.inputs["smiles"]), where)
        self.proteins = Proteins.read(problem.inputs["sequences"], sizes.length, where)

    def drugs(self, drugs: Tensor, counts: Tensor) -> Tensor:
        return self.network.drugs(self.molecules.take(drugs), counts)

    def targets(self, targets: Tensor) -> Tensor:
        return self.network.targets(self.proteins.take(targets))

    def pairs(self, drugs: Tensor, targets: Tensor) -> Tensor:
        return self.network.pairs(drugs, targets)


def fit_predict(problem: Problem) -> Answer:
    """The epoch is chosen by a share of the training pairs."""
    model, (train, valid) = GraphDTA(problem), examples_of(problem)
    losses = train_epochs(model, train, valid, problem)
    return Answer(predicted(model, problem.test_pairs), len(losses), losses)


run(fit_predict)
