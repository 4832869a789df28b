"""SAGAN: substructures of molecules, and a discriminator that keeps the domains of old and new drugs together."""

from __future__ import annotations

from adversary import Adversary
from ddi_sdk import Answer, Problem, run
from ddi_training import Batch, cleaned, device, fit, loss_of_labels
from drug_pairs import DrugPairs, molecules_in
from networks import network_of
from objective import Objective, TargetDomain
from torch import Tensor, nn


def fit_predict(problem: Problem) -> Answer:
    """The common trainer, one example per item, each batch beside as many pairs of the target domain."""
    given, where, problem = problem.parameters, device(), cleaned(problem)
    network, molecules = network_of(problem), molecules_in(problem)
    predictions = 2 if problem.multilabel else problem.types
    sizes = {name: given[f"adversary_{name}"] for name in ("width", "hidden", "dropout")}
    adversary = Adversary(network.features, predictions, **sizes)
    model = nn.ModuleDict({"network": network, "adversary": adversary}).to(where)
    pairs, labels = DrugPairs(network, molecules), loss_of_labels(problem)
    objective = Objective(pairs, adversary, labels, problem.multilabel)
    target = TargetDomain(problem, where)

    def loss(batch: Batch) -> Tensor:
        of_labels, of_domains = objective(batch.pairs, batch.target, target.take(len(batch.pairs)))
        return of_labels + given["adversary_weight"] * of_domains

    return fit(problem, model, loss, pairs.scores, per_pair=False, drop_last=False, before_epoch=target.shuffle)


run(fit_predict)
