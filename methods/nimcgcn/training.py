"""How NIMCGCN is trained: every forward pass, also the one that predicts, sees node features drawn afresh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from network import Network
from torch import Tensor


@dataclass(frozen=True)
class Fit:
    """Scores diseases x drugs, and what they came from."""

    scores: Tensor
    noise: list[tuple[Tensor, Tensor]]
    init: dict[str, Tensor]
    final: dict[str, Tensor]


def train(
    M: Tensor,
    disease_graph: Tensor,
    drug_graph: Tensor,
    *,
    random_state: int,
    epoch: int,
    alpha: float,
    learning_rate: float,
    fd: int,
    fg: int,
    redraw: bool,
    predictions: int,
) -> Fit:
    """Minimise (1 - alpha) sum (1 - s)^2 over ones of M + alpha sum s^2 over its zeros, by Adam on all pairs.

    The scores are those of the last of so many predictions. All is computed where M lies, but drawn from the CPU's
    stream, so that a GPU meets the same numbers. What is returned lies on the CPU.
    """
    torch.manual_seed(random_state)
    network = Network(fd, fg)
    init = _copy(network)
    network.to(M.device)
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
    noise: list[tuple[Tensor, Tensor]] = []
    forward = _forward(network, M, disease_graph, drug_graph, (fd, fg), noise, redraw=redraw)
    weight = torch.where(M == 1, 1 - alpha, alpha)
    for _ in range(epoch):
        optimiser.zero_grad()
        loss = (weight * (forward() - M) ** 2).sum()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        scores = [forward() for _ in range(predictions)]
        return Fit(scores[-1].cpu(), noise, init, _copy(network))


def _forward(
    network: Network,
    M: Tensor,
    disease_graph: Tensor,
    drug_graph: Tensor,
    widths: tuple[int, int],
    noise: list[tuple[Tensor, Tensor]],
    *,
    redraw: bool,
) -> Callable[[], Tensor]:
    def forward() -> Tensor:
        # `noise` holds the first and the latest draw
        if redraw or not noise:
            del noise[1:]
            noise.append((torch.randn(M.shape[0], widths[0]), torch.randn(M.shape[1], widths[1])))
        diseases, drugs = (one.to(M.device) for one in noise[-1])
        scores: Tensor = network(diseases, drugs, disease_graph, drug_graph)
        return scores

    return forward


def _copy(network: Network) -> dict[str, Tensor]:
    return {name: value.detach().to("cpu", copy=True) for name, value in network.state_dict().items()}
