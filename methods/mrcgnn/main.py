"""MRCGNN: relational convolutions over the training graph, contrasted with two corruptions of it."""

from __future__ import annotations

from ddi_sdk import Answer, Problem, run
from ddi_training import Batch, cleaned, device, fit, in_chunks, loss_of_labels
from network import Network
from torch import Tensor
from training import loss_of, views_of


def fit_predict(problem: Problem) -> Answer:
    """Every batch encodes the whole graph; for questions it is encoded once."""
    problem = cleaned(problem)
    views, shape = views_of(problem), {name: problem.parameters[name] for name in ("dropout", "head_dropout")}
    network = Network(views.features.shape[1], problem.types, **shape).to(device())
    labels = loss_of_labels(problem)

    def loss(batch: Batch) -> Tensor:
        return loss_of(network, views, labels, batch)

    def scores(pairs: Tensor) -> Tensor:
        encoded = network.encode(views)
        return in_chunks(lambda some: network(encoded, views.features, some), pairs, 1024)

    return fit(problem, network, loss, scores, per_pair=True, drop_last=True)


run(fit_predict)
