"""How HAN is trained: full batches, Adam, cross entropy over the training pairs, positives weighed up."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from inputs import Inputs
from message import Edges
from network import HEADS, Network
from torch import Tensor
from torch.nn import functional

LOOK_EVERY = 100


@dataclass(frozen=True)
class Fit:
    """Logits of all drugs x diseases, before and after, and what they came from."""

    first: Tensor
    logits: Tensor
    losses: list[float]
    init: dict[str, Tensor]


def train(
    inputs: Inputs,
    device: torch.device,
    *,
    seed: int,
    epoch: int,
    learning_rate: float,
    weight_decay: float,
    dropout: bool,
    told: bool = False,
) -> Fit:
    """`epoch` steps, then the logits; losses where they are to be told.

    Every hundredth step ends with a look at the training pairs without dropout, and what follows the last step is
    done in the mode it leaves: the published 1,000 steps predict without dropout, 20 steps with it. Starting
    weights are drawn from the CPU's stream, dropout from that of `device`. What is returned lies on the CPU.
    """
    torch.manual_seed(seed)
    network = Network(len(inputs.drugs), len(inputs.diseases))
    init = {name: value.clone() for name, value in network.state_dict().items()}
    network.to(device)
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=True)
    features = (torch.from_numpy(one).to(device) for one in (inputs.drugs, inputs.diseases))
    graphs = (Edges.of(one, HEADS, device) for one in (inputs.drug_graph, inputs.disease_graph))
    given = (*features, *graphs)
    targets = inputs.targets
    first = _logits(network, given, dropout=False)
    labels, seen = (torch.from_numpy(one).to(device) for one in (targets.labels, targets.seen))
    share = seen / targets.seen.sum()
    # the gradient of the loss is pulled * sigmoid(logits) - pushed, and the loss itself is for whoever asks
    pushed = share * labels * targets.pos_weight
    pulled = share * (1 - labels) + pushed
    losses = []
    network.train(dropout)
    for _ in range(epoch):
        logits = network(*given)
        optimiser.zero_grad()
        logits.backward(pulled * torch.sigmoid(logits.detach()) - pushed)
        optimiser.step()
        if told:
            losses.append(float((functional.softplus(logits) * pulled - logits * pushed).sum()))
    last = _logits(network, given, dropout=dropout and epoch % LOOK_EVERY != 0)
    return Fit(first.cpu(), last.cpu(), losses, init)


def _logits(network: Network, given: tuple[Tensor, Tensor, Edges, Edges], *, dropout: bool) -> Tensor:
    network.train(dropout)
    with torch.no_grad():
        logits: Tensor = network(*given)
    return logits
