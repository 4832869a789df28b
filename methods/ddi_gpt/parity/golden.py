"""The golden cases of DDI-GPT: a small BioGPT with given weights in all three arrangements, and its steps."""

from __future__ import annotations

import torch
from biogpt import OwnHead, Places, Summed
from golden_cases import blocks_of, load_golden
from permafrost_sdk import Array, Case
from text_goldens import UNDROPPED, both_kinds, replay, setting_of, shape_of, tensors
from text_training import loss_of
from torch import nn
from transformers import BioGptConfig, BioGptForSequenceClassification, BioGptModel

_OWN, _OURS = "llm.biogpt", "llm"


def parity(case: Case) -> dict[str, Array]:
    """What the case's arrays ask for. The goldens were made with a version whose positions are consecutive."""
    model = _model(case, Places("5.x", "end"))
    load_golden(model.eval(), case)
    if "in/pos_input_ids" in case.arrays:
        return both_kinds(case, model)
    ids, mask, labels = tensors(case, "input_ids", "attention_mask", "labels")
    with torch.no_grad():
        logits = model(ids, mask).numpy()
    shares = torch.full((len(ids),), 1 / len(ids))
    return {"out/logits": logits} | replay(case, model, lambda: loss_of(model(ids, mask), labels, shares))


def _model(case: Case, places: Places) -> nn.Module:
    own = "param/llm.score.weight" in case.arrays
    prefix, head = (_OWN, "llm.score.weight") if own else (_OURS, "linear.weight")
    vocabulary, width = shape_of(case, f"{prefix}.embed_tokens.weight")
    types = shape_of(case, head)[0]
    settings = {
        "vocab_size": vocabulary,
        "hidden_size": width,
        "num_hidden_layers": blocks_of(case, f"{prefix}.layers."),
        "num_attention_heads": setting_of(case, "num_attention_heads"),
        "intermediate_size": shape_of(case, f"{prefix}.layers.0.fc1.weight")[0],
        # two rows are not positions of tokens
        "max_position_embeddings": shape_of(case, f"{prefix}.embed_positions.weight")[0] - 2,
        "num_labels": types,
    }
    configuration = BioGptConfig(**settings, **UNDROPPED)
    if own:
        return OwnHead(BioGptForSequenceClassification(configuration), places)
    two = "in/input_ids" in case.arrays
    return Summed(BioGptModel(configuration), types, places, 2 if two else 1)
