"""The perceptron of DDI-Ben: features of both drugs, one hidden layer, logits of all types.

A fingerprint has about 45 entries of 1,024 that are not zero, so the first layer sums the weights of these alone.
"""

from __future__ import annotations

from ddi_sdk import Array
from sparse_rows import SparseRows
from torch import Tensor, nn
from torch.nn import functional


class Network(nn.Module):
    """Logits of pairs of drugs whose features are fixed. Layers carry the published code's names."""

    def __init__(self, features: Array, types: int, *, hidden: int, dropout: float, multilabel: bool) -> None:
        super().__init__()
        self.features = SparseRows.of(features)
        self.lin1 = nn.Linear(2 * features.shape[1], hidden)
        # the other way round than the published code's: weights are read and summed input by input
        self.lin1.weight = nn.Parameter(self.lin1.weight.detach().T.contiguous())
        self.lin2 = nn.Linear(hidden, types)
        self.dropout = nn.Dropout(dropout)
        # the published code bends the logits of DrugBank alone
        self.last = nn.Identity() if multilabel else nn.ReLU()

    def forward(self, pairs: Tensor) -> Tensor:
        """Few pairs."""
        return self._above(self.features.rows_times(pairs, self.lin1.weight))

    def scores(self, pairs: Tensor) -> Tensor:
        """Many pairs: what a drug adds as head and as tail is computed once per drug."""
        heads, tails = (self.features.times(one) for one in self.lin1.weight.chunk(2))
        return self._above(heads[pairs[:, 0]] + tails[pairs[:, 1]])

    def _above(self, sums: Tensor) -> Tensor:
        hidden = functional.relu(sums + self.lin1.bias)
        logits: Tensor = self.last(self.lin2(self.dropout(hidden)))
        return logits
