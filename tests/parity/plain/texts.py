"""RoBERTa and BioGPT with their heads as their definitions read, head by head."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from making import Arrays, Made, Parameters, layer, linear
from torch import Tensor
from torch.nn import functional

ROWS, LENGTH, WORDS, PLACES = 4, 8, 23, 30
# layers, heads, width of each, inner width, types
SIZES = ((1, 1, 6, 9, 4), (3, 2, 3, 7, 5), (2, 3, 4, 11, 3))

Read = Callable[[Parameters, Tensor, Tensor], Tensor]


def textddi(draw: np.random.Generator) -> Iterator[Made]:
    """One type per pair, then several, with other layers, heads and widths."""
    for number, (layers, heads, width, inner, types) in enumerate(SIZES[:2]):
        read = partial(_roberta, layers=layers, heads=heads, epsilon=1e-5)
        hidden, start = heads * width, "llm.roberta"
        shapes: dict[str, tuple[int, ...]] = {
            f"{start}.embeddings.word_embeddings.weight": (WORDS, hidden),
            f"{start}.embeddings.position_embeddings.weight": (PLACES, hidden),
            f"{start}.embeddings.token_type_embeddings.weight": (1, hidden),
            **_norm(f"{start}.embeddings.LayerNorm", hidden),
        }
        for one in range(layers):
            name = f"{start}.encoder.layer.{one}"
            for part in (
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
                "attention.output.dense",
            ):
                shapes |= layer(f"{name}.{part}", hidden, hidden)
            shapes |= layer(f"{name}.intermediate.dense", inner, hidden) | layer(
                f"{name}.output.dense", hidden, inner
            )
            shapes |= _norm(f"{name}.attention.output.LayerNorm", hidden) | _norm(
                f"{name}.output.LayerNorm", hidden
            )
        shapes |= layer("llm.classifier.dense", hidden, hidden) | layer("llm.classifier.out_proj", types, hidden)
        case = ("drugbank_roberta_cls_01", "twosides_cls_01")[number]
        settings = {"num_attention_heads": heads, "layer_norm_eps": 1e-5}
        yield _made(f"TextDDI/{case}", shapes, read, types, settings, draw, several=bool(number), length=LENGTH)


def ddi_gpt(draw: np.random.Generator) -> Iterator[Made]:
    """The library's head, the sum of two texts, and several types, with other layers, heads and widths."""
    cases = ("drugbank_easy_bioclass_01", "drugbank_biogpt_cls_two_pass_01", "twosides_biogpt_cls_01")
    for case, (layers, heads, width, inner, types) in zip(cases, SIZES, strict=True):
        own, parts, hidden = "easy" in case, 2 if "two_pass" in case else 1, heads * width
        start = "llm.biogpt" if own else "llm"
        read = partial(_biogpt, start=start, layers=layers, heads=heads, parts=parts)
        shapes: dict[str, tuple[int, ...]] = {
            f"{start}.embed_tokens.weight": (WORDS, hidden),
            f"{start}.embed_positions.weight": (PLACES, hidden),
            **_norm(f"{start}.layer_norm", hidden),
        }
        for one in range(layers):
            name = f"{start}.layers.{one}"
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                shapes |= layer(f"{name}.self_attn.{part}", hidden, hidden)
            shapes |= layer(f"{name}.fc1", inner, hidden) | layer(f"{name}.fc2", hidden, inner)
            shapes |= _norm(f"{name}.self_attn_layer_norm", hidden) | _norm(f"{name}.final_layer_norm", hidden)
        shapes |= {"llm.score.weight": (types, hidden)} if own else layer("linear", types, hidden)
        several = case.startswith("twosides")
        settings = {"num_attention_heads": heads}
        yield _made(f"DDI-GPT/{case}", shapes, read, types, settings, draw, several=several, length=parts * LENGTH)


def _made(
    name: str,
    shapes: dict[str, tuple[int, ...]],
    read: Read,
    types: int,
    settings: dict[str, float],
    draw: np.random.Generator,
    *,
    several: bool,
    length: int,
) -> Made:
    def texts() -> tuple[np.ndarray, np.ndarray]:
        # no id of padding; what is masked stands at the end
        mask = np.arange(length) < draw.integers(length - 3, length + 1, (ROWS, 1))
        return draw.integers(3, WORDS, (ROWS, length)), mask.astype(np.int64)

    inputs: Arrays = {}
    if several:
        for kind in ("pos", "neg"):
            inputs[f"{kind}_input_ids"], inputs[f"{kind}_mask"] = texts()
        inputs["labels"] = draw.integers(0, 2, (ROWS, types))
        inputs["labels"][:, 0] = 1
    else:
        inputs["input_ids"], inputs["attention_mask"] = texts()
        inputs["labels"] = draw.integers(0, types, ROWS)
    given = {name: torch.tensor(one) for name, one in inputs.items()}
    rate, decay = 2e-3, 1e-4

    def answer(P: Parameters) -> dict[str, Tensor]:
        if not several:
            logits = read(P, given["input_ids"], given["attention_mask"])
            return {"logits": logits, "loss": functional.cross_entropy(logits, given["labels"])}
        scores = [
            torch.sigmoid(read(P, given[f"{kind}_input_ids"], given[f"{kind}_mask"])) for kind in ("pos", "neg")
        ]
        said = given["labels"].double()
        lines = [
            (functional.binary_cross_entropy(one, torch.full_like(one, truth), reduction="none") * said).sum(1)
            / said.sum(1)
            for one, truth in zip(scores, (1.0, 0.0), strict=True)
        ]
        return {"pos_scores": scores[0], "neg_scores": scores[1], "loss": torch.cat(lines).mean()}

    def optimiser(P: Parameters) -> torch.optim.Optimizer:
        spared = [name for name in P if "bias" in name or "LayerNorm.weight" in name]
        groups = [
            {"params": [P[name] for name in P if name not in spared], "weight_decay": decay},
            {"params": [P[name] for name in spared], "weight_decay": 0.0},
        ]
        return torch.optim.Adam(groups, lr=rate, betas=(0.9, 0.98))

    about = {"config": settings, "optimizer": f"Adam lr {rate} betas .9 .98 eps 1e-8, wd {decay} except bias"}
    return Made(name, about, shapes, inputs, answer, {}, optimiser, clipped=1.0)


def _roberta(P: Parameters, ids: Tensor, mask: Tensor, *, layers: int, heads: int, epsilon: float) -> Tensor:
    start = "llm.roberta.embeddings"
    places = torch.arange(ids.shape[1]) + 2
    found = P[f"{start}.word_embeddings.weight"][ids] + P[f"{start}.position_embeddings.weight"][places]
    found = _normal(P, f"{start}.LayerNorm", found + P[f"{start}.token_type_embeddings.weight"][0], epsilon)
    seen = mask[:, None].expand(-1, ids.shape[1], -1) > 0
    for one in range(layers):
        name = f"llm.roberta.encoder.layer.{one}"
        projected = [linear(P, f"{name}.attention.self.{part}", found) for part in ("query", "key", "value")]
        found = found + linear(P, f"{name}.attention.output.dense", _attended(*projected, seen, heads))
        found = _normal(P, f"{name}.attention.output.LayerNorm", found, epsilon)
        inner = functional.gelu(linear(P, f"{name}.intermediate.dense", found))
        found = _normal(P, f"{name}.output.LayerNorm", found + linear(P, f"{name}.output.dense", inner), epsilon)
    return linear(P, "llm.classifier.out_proj", torch.tanh(linear(P, "llm.classifier.dense", found[:, 0])))


def _biogpt(
    P: Parameters, ids: Tensor, mask: Tensor, *, start: str, layers: int, heads: int, parts: int
) -> Tensor:
    total = torch.zeros(()).double()
    for some, seen in zip(ids.chunk(parts, dim=1), mask.chunk(parts, dim=1), strict=True):
        width, length = P[f"{start}.embed_tokens.weight"].shape[1], some.shape[1]
        found = P[f"{start}.embed_tokens.weight"][some] * width**0.5
        found = found + P[f"{start}.embed_positions.weight"][torch.arange(length) + 2]
        earlier = (seen[:, None] > 0) & torch.ones(length, length).tril().bool()
        for one in range(layers):
            name = f"{start}.layers.{one}"
            normal = _normal(P, f"{name}.self_attn_layer_norm", found, 1e-5)
            projected = [linear(P, f"{name}.self_attn.{part}", normal) for part in ("q_proj", "k_proj", "v_proj")]
            found = found + linear(P, f"{name}.self_attn.out_proj", _attended(*projected, earlier, heads))
            inner = functional.gelu(linear(P, f"{name}.fc1", _normal(P, f"{name}.final_layer_norm", found, 1e-5)))
            found = found + linear(P, f"{name}.fc2", inner)
        total = total + _normal(P, f"{start}.layer_norm", found, 1e-5)[:, -1]
    return linear(P, "llm.score" if "llm.score.weight" in P else "linear", total)


def _attended(query: Tensor, key: Tensor, value: Tensor, seen: Tensor, heads: int) -> Tensor:
    found = []
    for q, k, v in zip(*(one.chunk(heads, dim=2) for one in (query, key, value)), strict=True):
        strength = q @ k.transpose(1, 2) / q.shape[2] ** 0.5
        found.append(torch.softmax(strength.masked_fill(~seen, -torch.inf), dim=2) @ v)
    return torch.cat(found, dim=2)


def _normal(P: Parameters, name: str, given: Tensor, epsilon: float) -> Tensor:
    return functional.layer_norm(given, given.shape[-1:], P[f"{name}.weight"], P[f"{name}.bias"], epsilon)


def _norm(name: str, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}
