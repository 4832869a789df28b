"""Runs in the language models' image: texts, losses, measures and batches, each held to a plain definition.

Prints one number or truth for each.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise, product

sys.path.extend(f"/methods/_shared/{name}" for name in ("ddi", "ddi_training", "language"))
sys.path.extend(["/methods/_sdk/python", "/methods/textddi", "/methods/ddi_gpt"])

import numpy as np
import torch
from biogpt import Places
from ddi_sdk import Items, Problem
from layouts import Apart
from prompts import prompts
from text_batches import Features, Texts, answers
from text_measures import roc_auc
from text_minilm import MiniLM, tokeniser
from text_training import Units, loss_of
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
    given = {"drug_names": NAMES, "drug_texts": TEXTS}
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
    sys.stdout.write(json.dumps(told) + "\n")


main()
