"""The classifier of marked combinations: what it computes, which of its weights learn, and its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from combination_bert import Bert
from marked_texts import MARKERS
from torch import Tensor, nn
from torch.nn import functional

Strategy = Literal["final-bert-layer", "all", "BitFit"]
# torch's own, not BERT's
_EPSILON, _DEVIATION = 1e-5, 0.02


class CombinationClassifier(nn.Module):
    """BERT, the mean of the start markers' last vectors, and a linear layer on it.

    The encoder's vocabulary must have the markers already: the start marker is the last but one of its words.
    """

    def __init__(self, bert: Bert, classes: int) -> None:
        super().__init__()
        self.bert = bert
        self.layer_norm = nn.LayerNorm(bert.sizes.width, eps=_EPSILON)
        self.dropout = nn.Dropout(bert.sizes.dropout)
        self.classifier = nn.Linear(bert.sizes.width, classes)
        nn.init.normal_(self.classifier.weight, std=_DEVIATION)
        nn.init.zeros_(self.classifier.bias)

    @property
    def start(self) -> int:
        """The start marker's id."""
        return self.bert.embeddings.word_embeddings.num_embeddings - len(MARKERS)

    def forward(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Logits [B, classes] of token ids [B, T]."""
        return self.upper(self.bert.lower(ids, mask), ids, mask)

    def upper(self, vectors: Tensor, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Logits from what the last layer is given."""
        return self.classifier(self.dropout(self.layer_norm(self.entities(vectors, ids, mask))))

    def entities(self, vectors: Tensor, ids: Tensor, mask: Tensor | None) -> Tensor:
        """The mean of a text's start markers after the last layer [B, width]."""
        marked = ids == self.start
        counts = marked.sum(dim=1)
        if not bool(counts.all()):
            row = int((counts == 0).nonzero()[0])
            raise ValueError(f"text {row} of a batch has no start marker: the window or the length cut it off")
        most = int(counts.max())
        places = marked.int().argsort(dim=1, descending=True, stable=True)[:, :most]
        shares = (torch.arange(most, device=ids.device) < counts[:, None]) / counts[:, None]
        return torch.einsum("bk,bkw->bw", shares.to(vectors.dtype), self.bert.at(places, vectors, mask))


def choose_trained(model: CombinationClassifier, strategy: Strategy, *, words: bool) -> list[str]:
    """Let learn what the strategy says, and nothing else; the names of what learns.

    `final-bert-layer` names layer 11 in the original: the last of twelve, here the last of however many. `words`:
    whether the word embeddings learn under every strategy, as they do where the original adds its markers.
    """
    if strategy not in get_args(Strategy):
        raise ValueError(f"no strategy '{strategy}': choose one of {', '.join(get_args(Strategy))}")
    last = f"encoder.layer.{model.bert.sizes.layers - 1}."
    for name, weight in model.named_parameters():
        top = name.startswith(("layer_norm.", "classifier."))
        learns = {"all": True, "BitFit": "bias" in name or top, "final-bert-layer": last in name or top}[strategy]
        weight.requires_grad_(learns or (words and name.endswith("word_embeddings.weight")))
    return [name for name, weight in model.named_parameters() if weight.requires_grad]


def loss_of(logits: Tensor, labels: Tensor, weights: Sequence[float] = ()) -> Tensor:
    """Mean cross entropy; with weights of classes the weighted mean."""
    return functional.cross_entropy(logits, labels, logits.new_tensor(weights) if weights else None)
