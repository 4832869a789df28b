"""DeepDTA: convolutions of a drug's SMILES and a protein's sequence predict how strongly they bind."""

from __future__ import annotations

from itertools import product

import torch
from affinity_letters import RESIDUES, letter_numbers
from affinity_training import Model, concordance, device, examples_of, predicted, train_epochs
from dti_sdk import Answer, Problem, run
from network import Network, Sizes
from torch import Tensor

SMILES = "#%()+-.0123456789=ABCDEFGHIKLMNOPRSTUVWYZ[]_abcdefghilmnorstuy"
LENGTHS = (100, 1000)


class DeepDTA(Model):
    """The network, with the letters of all drugs and targets."""

    def __init__(self, problem: Problem, kernels: tuple[int, int]) -> None:
        super().__init__()
        texts = (problem.inputs["smiles"], SMILES, LENGTHS[0]), (problem.inputs["sequences"], RESIDUES, LENGTHS[1])
        letters = (
            letter_numbers(*text, what) for text, what in zip(texts, ("SMILES", "sequences"), strict=True)
        )
        self._drugs, self._targets = (torch.from_numpy(one).to(device()) for one in letters)
        sizes = Sizes((len(SMILES) + 1, len(RESIDUES) + 1))
        self.network = Network(sizes, kernels, problem.parameters["dropout"]).to(device())

    def drugs(self, drugs: Tensor, counts: Tensor) -> Tensor:
        rows: Tensor = self.network.drug(self._drugs[drugs])
        return rows

    def targets(self, targets: Tensor) -> Tensor:
        rows: Tensor = self.network.protein(self._targets[targets])
        return rows

    def pairs(self, drugs: Tensor, targets: Tensor) -> Tensor:
        return self.network.pairs(drugs, targets)


def fit_predict(problem: Problem) -> Answer:
    """Widths of the windows are chosen by the concordance index of a share of the training pairs."""
    sides = ([int(one) for one in str(problem.parameters[f"{side}_kernels"]).split()] for side in ("drug", "protein"))
    (train, valid), best, answer = examples_of(problem), -1.0, None
    for kernels in product(*sides):
        model = DeepDTA(problem, kernels)
        losses = train_epochs(model, train, None, problem)
        index = concordance(valid.values, predicted(model, valid.pairs))
        if answer is None or index > best:
            best, answer = index, Answer(predicted(model, problem.test_pairs), len(losses), losses)
    assert answer is not None
    return answer


run(fit_predict)
