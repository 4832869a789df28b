"""BERT by its definition, under the names of its published files, and its last layer at chosen tokens alone.

Only the vectors of start markers are read from the last layer. So its queries, its feed-forward part and its
norms are computed at markers, and of all other tokens it needs what keys and values come to. With query q, key
matrix W and tokens X the strengths are q (X W)' = (q W') X', and the values (P X) V': X never meets W and V. That
is the same mathematics for a twentieth of the work; `Layer.forward` is the plain form, which lower layers have.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class BertSizes:
    """The configuration that decides shapes and what is computed."""

    words: int
    width: int
    layers: int
    heads: int
    inner: int
    places: int
    segments: int = 2
    dropout: float = 0.1
    attention_dropout: float = 0.1
    epsilon: float = 1e-12
    deviation: float = 0.02


class Embeddings(nn.Module):
    """The sum of what stands for a token, its place, and the first segment."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(sizes.words, sizes.width)
        self.position_embeddings = nn.Embedding(sizes.places, sizes.width)
        self.token_type_embeddings = nn.Embedding(sizes.segments, sizes.width)
        self.LayerNorm = nn.LayerNorm(sizes.width, eps=sizes.epsilon)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, ids: Tensor) -> Tensor:
        places = self.position_embeddings.weight[: ids.shape[1]]
        vectors = self.word_embeddings(ids) + self.token_type_embeddings.weight[0] + places
        return self.dropout(self.LayerNorm(vectors))


class SelfAttention(nn.Module):
    """Queries, keys and values of all heads."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(sizes.width, sizes.width) for _ in range(3))
        self.heads, self.dropout = sizes.heads, sizes.attention_dropout

    def forward(self, vectors: Tensor, mask: Tensor | None) -> Tensor:
        """Of every token to every token that `mask` [B, 1, 1, T] leaves."""
        query, key, value = (
            part(vectors).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        dropout = self.dropout if self.training else 0.0
        context = functional.scaled_dot_product_attention(query, key, value, mask, dropout)
        return context.transpose(1, 2).flatten(2)

    def from_places(self, chosen: Tensor, vectors: Tensor, mask: Tensor | None) -> Tensor:
        """The same of `chosen` [B, K, width] to all of `vectors`, whose keys and values are never formed."""
        heads, size = self.heads, vectors.shape[2] // self.heads
        query = self.query(chosen).unflatten(2, (heads, size))
        key_weight = self.key.weight.view(heads, size, -1)
        value_weight = self.value.weight.view(heads, size, -1)
        folded = torch.einsum("bkhd,hdw->bkhw", query, key_weight)
        strengths = folded.flatten(1, 2) @ vectors.transpose(1, 2)
        # the key's bias adds the same to every token, so it changes nothing but the rounding
        offsets = torch.einsum("bkhd,hd->bkh", query, self.key.bias.view(heads, size))
        strengths = (strengths + offsets.flatten(1)[..., None]) / size**0.5
        if mask is not None:
            strengths = strengths.masked_fill(~mask[:, 0], -torch.inf)
        shares = functional.dropout(torch.softmax(strengths, dim=2), self.dropout, self.training)
        mixed = (shares @ vectors).unflatten(1, (-1, heads))
        context = torch.einsum("bkhw,hdw->bkhd", mixed, value_weight)
        # after dropout, shares need not sum to one
        totals = shares.sum(dim=2).unflatten(1, (-1, heads))
        return (context + totals[..., None] * self.value.bias.view(heads, size)).flatten(2)


class Projection(nn.Module):
    """Back to the width, added to what came in, and normalised."""

    def __init__(self, sizes: BertSizes, inward: int) -> None:
        super().__init__()
        self.dense = nn.Linear(inward, sizes.width)
        self.LayerNorm = nn.LayerNorm(sizes.width, eps=sizes.epsilon)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, inner: Tensor, outer: Tensor) -> Tensor:
        return self.LayerNorm(self.dropout(self.dense(inner)) + outer)


class Attention(nn.Module):
    """Self-attention and its projection."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.self, self.output = SelfAttention(sizes), Projection(sizes, sizes.width)


class Widening(nn.Module):
    """The feed-forward part's inner layer."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.dense = nn.Linear(sizes.width, sizes.inner)

    def forward(self, vectors: Tensor) -> Tensor:
        return functional.gelu(self.dense(vectors))


class Layer(nn.Module):
    """Attention, then the feed-forward part."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.attention, self.intermediate = Attention(sizes), Widening(sizes)
        self.output = Projection(sizes, sizes.inner)

    def forward(self, vectors: Tensor, mask: Tensor | None) -> Tensor:
        """At every token."""
        return self._upper(self.attention.self(vectors, mask), vectors)

    def at(self, places: Tensor, vectors: Tensor, mask: Tensor | None) -> Tensor:
        """At `places` [B, K] alone."""
        chosen = vectors.gather(1, places[..., None].expand(-1, -1, vectors.shape[2]))
        return self._upper(self.attention.self.from_places(chosen, vectors, mask), chosen)

    def _upper(self, context: Tensor, vectors: Tensor) -> Tensor:
        attended = self.attention.output(context, vectors)
        return self.output(self.intermediate(attended), attended)


class Encoder(nn.Module):
    """All layers."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))


class Pooler(nn.Module):
    """Part of the published files; nothing here reads it."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.dense = nn.Linear(sizes.width, sizes.width)


class Bert(nn.Module):
    """The encoder."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.embeddings, self.encoder, self.pooler = Embeddings(sizes), Encoder(sizes), Pooler(sizes)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=sizes.deviation)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """The last layer's vectors of all tokens."""
        return self.encoder.layer[-1](self.lower(ids, mask), attended(mask))

    def lower(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """What the last layer is given."""
        vectors, seen = self.embeddings(ids), attended(mask)
        for layer in self.encoder.layer[:-1]:
            vectors = layer(vectors, seen)
        return vectors

    def at(self, places: Tensor, vectors: Tensor, mask: Tensor | None) -> Tensor:
        """The last layer's vectors at some places, of what the layers below gave."""
        return self.encoder.layer[-1].at(places, vectors, attended(mask))

    def add_words(self, count: int) -> None:
        """So many rows more for further tokens, drawn as new weights are.

        As in the original the matrix becomes a new one, which learns: whoever wants it frozen says so afterwards.
        """
        old = self.embeddings.word_embeddings
        new = nn.Embedding(old.num_embeddings + count, old.embedding_dim, device=old.weight.device)
        nn.init.normal_(new.weight, std=self.sizes.deviation)
        with torch.no_grad():
            new.weight[: old.num_embeddings] = old.weight
        self.embeddings.word_embeddings = new


def attended(mask: Tensor | None) -> Tensor | None:
    """A mask [B, T] of ones and zeros as attention takes it; None where nothing is filled up."""
    return None if mask is None else mask[:, None, None, :].bool()
