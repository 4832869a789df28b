"""Runs in the language models' image: texts, losses, measures and batches, each held to a plain definition.

Prints one number or truth for each.
"""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import torch
from biogpt import Places
from ddi_sdk import Items, Problem
from layouts import Apart, for_biogpt
from prompts import prompts
from text_batches import Features, Texts, answers
from text_measures import roc_auc
from text_minilm import MiniLM, tokeniser
from text_training import Units, fit, loss_of
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_post_hook
from transformers import BioGptConfig, BioGptModel

NAMES = ["Alpha", "beta-2 acid", "Gammamab", "Delta", "E"]
TEXTS = [
    "Alpha acts. It binds to X! Is it new? Yes.",
    "Known since 1982.  Beta-2 acid is strong. " + "It is very long and goes on and on and on. " * 3,
    "",
    "Delta lowers pressure. (Mostly.) Not at night.",
    "E.",
]
LONGEST = 48


def problem(pairs: list[tuple[int, int]], parameters: dict[str, object]) -> Problem:
    """Names, descriptions, and pairs to be answered."""
    none = Items(np.zeros((0, 2), np.int64), np.zeros(0, np.int32), np.zeros(0, np.int8))
    asked = np.array(pairs, dtype=np.int64)
    setting = np.ones(len(asked), np.int8)
    given = {"drug_names": NAMES, "drug_texts": TEXTS, "graph_texts": TEXTS}
    sizes = {"drugs": len(NAMES), "types": 3, "entities": len(NAMES), "relations": 0, "multilabel": False}
    return Problem(
        **sizes, train=none, valid=none, test_pairs=asked, test_setting=setting, inputs=given,
        parameters=parameters, seed=7,
    )  # fmt: skip


def drawn_texts() -> dict[str, object]:
    """Prompts hold as much as fits, and the same again where nothing is drawn anew."""
    pairs = [(one, other) for one, other in product(range(5), repeat=2) if one != other]
    cut = tokeniser()
    told: dict[str, object] = {}
    for order in ("drawn", "text"):
        reader = prompts(problem(pairs, {"longest": LONGEST, "sentence_order": order}), cut)
        draw = np.random.default_rng(3)
        texts = {pair: [reader.text(*pair, draw) for _ in range(8)] for pair in pairs}
        lengths = [len(cut(text)["input_ids"]) for some in texts.values() for text in some]
        told[f"{order}: longest"] = max(lengths)
        told[f"{order}: repeated"] = all(reader.text(*pair, None) == reader.text(*pair, None) for pair in pairs)
        places = [
            text.split("Delta:")[1].find(one) for text in texts[2, 3] for one in ("lowers", "(Mostly", "Not at")
        ]
        seen = np.array(places).reshape(-1, 3)
        told[f"{order}: in order"] = all(a < b for row in seen for a, b in pairwise(p for p in row if p >= 0))
    told["without a description"] = reader.text(2, 4, None).startswith("Gammamab: E: E. In the above context")
    told["different draws"] = len(set(texts[0, 1])) > 1
    return told


def losses() -> dict[str, float]:
    """Lines of several types: the mean over pairs of lines of the mean over what they say anything of."""
    torch.manual_seed(1)
    labels = np.array([[1, 0, 1], [-1, 0, -1], [0, 1, 0], [1, 1, 0], [-1, 0, 0]], dtype=np.int8)
    units = Units.of(Items(np.zeros((5, 2)), labels, np.zeros(5)))
    # a positive line alone, one whose follower says other types, and a negative line alone
    together = [list(range(a, a + n)) for a, n in zip(units.first.tolist(), units.sizes.tolist(), strict=True)]
    logits = torch.randn(5, 3)
    chances = 1 / (1 + np.exp(-logits.double().numpy()))
    lines = [
        np.mean([-np.log(p if label > 0 else 1 - p) for p, label in zip(*row, strict=True) if label])
        for row in zip(chances, labels, strict=True)
    ]
    plain = np.mean([np.mean([lines[row] for row in unit]) for unit in together])
    rows, shares = next(units.shuffled(10))
    found = loss_of(logits[rows], torch.from_numpy(labels[rows]), torch.from_numpy(shares).float())
    return {"units": float(together == [[0, 1], [2], [3], [4]]), "loss": abs(float(found) - float(plain))}


def parameters_of(method: str, variant: str) -> dict[str, object]:
    """As the card has them."""
    variants = tomllib.loads(Path(f"/methods/{method}/method.toml").read_text())["variants"]
    found: dict[str, object] = variants["published"]["parameters"] | variants[variant]["parameters"]
    return found


def names_alone() -> dict[str, object]:
    """What DDI-GPT reads of the same drugs with other texts of the knowledge graph, and at what place."""
    told: dict[str, object] = {}
    for variant in ("published", "corrected"):
        given = problem([(0, 1), (2, 3)], parameters_of("ddi_gpt", variant))
        other = replace(given, inputs={**given.inputs, "graph_texts": TEXTS[::-1]})
        readers = [for_biogpt(one, tokeniser()) for one in (given, other)]
        (ids, mask), (others, _) = (one.batch(one.read(given.test_pairs, None)) for one in readers)
        told[f"{variant}: names alone"] = torch.equal(ids, others)
        told[f"{variant}: masked"] = given.parameters["read_at"] == "end" and not mask[:, -1].any()
        told[f"{variant}: filled with"] = ids[mask == 0].unique().tolist()
    return told


class Counting(torch.nn.Module):
    """A model that counts the batches it learns from."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.batches = torch.nn.Linear(1, 3), 0

    def forward(self, given: Tensor) -> Tensor:
        self.batches += self.training
        return self.linear(given)


def steps(method: str, variant: str) -> list[int]:
    """After how many batches a step is made, in two epochs of twenty batches."""
    train = Items(np.tile([[0, 1]], (20, 1)), np.tile([[1, 0, 0]], (20, 1)).astype(np.int8), np.zeros(20, np.int8))
    few = {**parameters_of(method, variant), "multilabel_batch_size": 1, "epochs": 2}
    model, made = Counting(), list[int]()
    hook = register_optimizer_step_post_hook(lambda *_: made.append(model.batches))
    features = Features(np.array([1]), np.ones((1, 1), np.float32), len(NAMES))
    fit(replace(problem([(0, 1)], few), train=train, multilabel=True), model, features)
    hook.remove()
    return made


def measures() -> float:
    """Against counting pairs, ties half; a type with one kind of lines is left out."""
    draw = np.random.default_rng(5)
    scores, labels = draw.integers(0, 4, (30, 3)) / 4, draw.integers(-1, 2, (30, 3))
    labels[:, 2] = np.abs(labels[:, 2])
    plain = []
    for one in range(2):
        right, wrong = scores[labels[:, one] > 0, one], scores[labels[:, one] < 0, one]
        plain.append(np.mean([(a > b) + (a == b) / 2 for a, b in product(right, wrong)]))
    return abs(roc_auc(scores, labels) - float(np.mean(plain)))


def positions() -> dict[str, float]:
    """BioGPT without the masked tokens between its texts, and with the positions of either version."""
    torch.manual_seed(2)
    sizes = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = BioGptModel(BioGptConfig(**sizes, intermediate_size=24, max_position_embeddings=140)).eval()
    for one in model.parameters():
        torch.nn.init.normal_(one, std=0.3)
    reader = Apart([np.arange(4, 4 + length) for length in (25, 3, 1, 17, 9)])
    ids, mask = reader.batch(reader.read(np.array([(0, 1), (2, 3), (4, 0), (1, 2)]), None))
    with torch.no_grad():
        running = model(input_ids=ids, attention_mask=mask, position_ids=mask.cumsum(dim=1) * mask - 1)
        plain = running.last_hidden_state
        last = [int(row.nonzero().max()) for row in mask]
        pinned, later = (Places(version, "end").vector(model, ids, mask) for version in ("4.46", "5.x"))
        text = Places("4.46", "text").vector(model, ids, mask)
    return {
        "without gaps": float((pinned - plain[:, -1]).abs().max()),
        "last of the text": float((text - plain[range(4), last]).abs().max()),
        "versions apart": float((pinned - later).abs().max()),
    }


def encoded() -> float:
    """A pair's vector does not depend on what else is encoded, nor on where the pair stands."""
    pairs = [(one, other) for one, other in product(range(5), repeat=2) if one != other][::-1]
    given = problem([*pairs, *pairs[:3]], {"longest": LONGEST, "sentence_order": "text"})
    reader: Texts = prompts(given, tokeniser())
    encoder = MiniLM(0)
    features = Features.of(given, encoder, reader)
    together = features.batch(features.read(given.test_pairs, None))[0].numpy()
    apart = np.concatenate([answers(encoder, reader, pair[None], None) for pair in given.test_pairs])
    return float(np.abs(together - apart).max())


def main() -> None:
    """All of them."""
    told = {**drawn_texts(), **losses(), **positions(), "roc_auc": measures(), "encoded": encoded()}
    told |= names_alone()
    for method, variant in product(("textddi", "ddi_gpt"), ("published", "corrected")):
        told[f"{method}, {variant}: steps"] = steps(method, variant)
    sys.stdout.write(json.dumps(told) + "\n")


main()
