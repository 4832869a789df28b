"""NeoDTI: nodes hear their neighbours in eight networks, and what they become must give the networks again.

    m_r = norm_r relu(x_s W_r + b_r)                        what a kind hears over network r from senders s
    z = normalised(relu([sum_r m_r, x] W_0 + b_0))          row by row; W_0 and b_0 serve all kinds
    loss = sum over networks |(z_a P_r) (z_b Q_r)' - A_r|^2 + sum over weights of 0.5 |.|^2

The network of bindings counts at the pairs of training alone, all others in all cells; one between nodes of a kind
has P = Q. A network that a dataset lacks sends nothing and is not reconstructed.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from dense_products import multiply
from networks import BINDINGS, KINDS, MESSAGES, NETWORKS
from products import Cells, Heard, Matrix, squared_error
from torch import Tensor, nn
from torch.nn import functional

START = 0.1
EPSILON = 1e-12


class Model(nn.Module):
    """Parameters in the order in which the original makes them, weights and biases by what they are for."""

    def __init__(self, counts: Mapping[str, int], width: int, projection: int) -> None:
        super().__init__()
        # one by one: ParameterDict sorts what it is given at once
        self.embedding = nn.ParameterDict()
        for kind in KINDS:
            if counts[kind]:
                self.embedding[kind] = _drawn(counts[kind], width)
        self.own, self.own_bias = _drawn(2 * width, width), _constant(width)
        self.message, self.message_bias = nn.ParameterDict(), nn.ParameterDict()
        for kind, name, _ in MESSAGES:
            self.message[f"{kind} {name}"] = _drawn(width, width)
            self.message_bias[f"{kind} {name}"] = _constant(width)
        self.projection = nn.ParameterDict()
        for name, (one, other) in NETWORKS.items():
            self.projection[f"{name} left"] = _drawn(width, projection)
            if one != other:
                self.projection[f"{name} right"] = _drawn(width, projection)

    def in_order(self) -> list[nn.Parameter]:
        """All parameters in the original's order."""
        messages = (
            parts[f"{kind} {name}"] for kind, name, _ in MESSAGES for parts in (self.message, self.message_bias)
        )
        return [*self.embedding.values(), self.own, self.own_bias, *messages, *self.projection.values()]

    def forward(self, heard: Mapping[tuple[str, str], Heard]) -> dict[str, Tensor]:
        """The vectors of all nodes, by kind."""
        sums: dict[str, Tensor] = {}
        for kind, name, sender in MESSAGES:
            if (kind, name) in heard:
                weight, bias = (parts[f"{kind} {name}"] for parts in (self.message, self.message_bias))
                said = functional.relu(multiply(heard[kind, name].vectors(self.embedding[sender]), weight) + bias)
                came = heard[kind, name].weights.times(said)
                sums[kind] = sums[kind] + came if kind in sums else came
        of_others, of_itself = self.own.chunk(2)
        vectors = {}
        for kind, embedding in self.embedding.items():
            joined = multiply(embedding, of_itself) + self.own_bias
            if kind in sums:
                joined = joined + multiply(sums[kind], of_others)
            z = functional.relu(joined)
            vectors[kind] = z * z.square().sum(dim=1, keepdim=True).clamp(min=EPSILON).rsqrt()
        return vectors

    def factors(self, z: Mapping[str, Tensor], name: str) -> tuple[Tensor, Tensor]:
        """Whose products give a network again."""
        one, other = NETWORKS[name]
        left = multiply(z[one], self.projection[f"{name} left"])
        return left, left if one == other else multiply(z[other], self.projection[f"{name} right"])

    def scores(self, z: Mapping[str, Tensor], cells: Cells) -> Tensor:
        """How strongly pairs of drugs and targets bind."""
        return cells.of_product(*self.factors(z, BINDINGS))

    def losses(
        self, z: Mapping[str, Tensor], networks: Mapping[str, Matrix], cells: Cells, values: Tensor
    ) -> dict[str, Tensor]:
        """The terms of the loss, by network, and that of the weights."""
        terms = {BINDINGS: (self.scores(z, cells) - values).square().sum()}
        for name, truth in networks.items():
            if name != BINDINGS:
                terms[name] = squared_error(*self.factors(z, name), truth)
        weights = [one for one in self.in_order() if one.ndim > 1]
        return terms | {"weights": 0.5 * torch.stack([one.square().sum() for one in weights]).sum()}


def _drawn(rows: int, columns: int) -> nn.Parameter:
    """Normal numbers, none further than two deviations away."""
    start = torch.empty(rows, columns)
    return nn.Parameter(nn.init.trunc_normal_(start, std=START, a=-2 * START, b=2 * START))


def _constant(width: int) -> nn.Parameter:
    return nn.Parameter(torch.full((width,), START))
