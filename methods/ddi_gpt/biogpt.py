"""BioGPT with a linear layer on the vector of one position: with the library's own head, or with one of ours."""

from __future__ import annotations

import torch
from ddi_sdk import Answer, Problem
from layouts import for_biogpt, reads_names
from text_encoders import pretrained, weights_folder
from text_training import fit
from torch import Tensor, nn
from transformers import BioGptForSequenceClassification, BioGptModel, BioGptTokenizer


class Places:
    """Which positions tokens have, and where the class is read.

    Positions by `4.46`, the version of the library that the original pins: the running count of unmasked tokens,
    and row 1 for every masked one. By `5.x`: consecutive. Read at the `end`, which is masked but in the longest
    texts, or at the last token of the `text`.
    """

    def __init__(self, positions: str, read_at: str) -> None:
        self._running, self._at_end = (
            {"4.46": True, "5.x": False}[positions],
            {"end": True, "text": False}[read_at],
        )

    def vector(self, llm: BioGptModel, ids: Tensor, mask: Tensor) -> Tensor:
        """The normalised vector at that place [B, width]."""
        places = None
        if self._running:
            ids, mask = _without_gaps(ids, mask)
            places = mask.cumsum(dim=1) * mask - 1
        vectors = llm(input_ids=ids, attention_mask=mask, position_ids=places, use_cache=False).last_hidden_state
        if self._at_end:
            return vectors[:, -1]
        last = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(dim=1)
        return vectors[torch.arange(len(vectors), device=last.device), last]


def _without_gaps(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Unmasked tokens moved together, with one masked token after the longest row of them.

    Where positions count unmasked tokens alone nothing else reaches the last position, so its vector is the same,
    and half of the work or more is saved.
    """
    width = min(ids.shape[1], int(mask.sum(dim=1).max()) + 1)
    order = (1 - mask).argsort(dim=1, stable=True)[:, :width]
    return ids.gather(1, order), mask.gather(1, order)


class OwnHead(nn.Module):
    """The library's classifier."""

    def __init__(self, llm: BioGptForSequenceClassification, places: Places) -> None:
        super().__init__()
        self.llm, self._places = llm, places

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.llm.score(self._places.vector(self.llm.biogpt, ids, mask))


class Summed(nn.Module):
    """A linear layer on the sum of so many equal parts' vectors, each read for itself."""

    def __init__(self, llm: BioGptModel, types: int, places: Places, parts: int) -> None:
        super().__init__()
        self.llm, self._places, self._parts = llm, places, parts
        self.linear = nn.Linear(llm.config.hidden_size, types)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        parts = zip(ids.chunk(self._parts, dim=1), mask.chunk(self._parts, dim=1), strict=True)
        return self.linear(sum(self._places.vector(self.llm, *part) for part in parts))


def fit_biogpt(problem: Problem) -> Answer:
    """Every weight of the brought model is trained."""
    told, folder = problem.parameters, weights_folder()
    places = Places(told["positions"], told["read_at"])
    reader = for_biogpt(problem, pretrained(BioGptTokenizer, folder))
    if reads_names(problem):
        own = pretrained(BioGptForSequenceClassification, folder, num_labels=problem.types)
        return fit(problem, OwnHead(own, places), reader)
    parts = 1 if problem.multilabel else 2
    return fit(problem, Summed(pretrained(BioGptModel, folder), problem.types, places, parts), reader)
