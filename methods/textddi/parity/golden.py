"""The golden cases of TextDDI: a small RoBERTa with given weights, its steps, and the selector's reward."""

from __future__ import annotations

import torch
from classifier import Classifier
from golden_cases import blocks_of, load_golden
from permafrost_sdk import Array, Case
from reward import step_rewards
from text_goldens import UNDROPPED, both_kinds, replay, setting_of, shape_of, tensors
from text_training import loss_of
from transformers import RobertaConfig, RobertaForSequenceClassification

_ROBERTA = "llm.roberta"


def parity(case: Case) -> dict[str, Array]:
    """What the case's arrays ask for."""
    model = _model(case)
    load_golden(model.eval(), case)
    if "in/pos_input_ids" in case.arrays:
        return both_kinds(case, model)
    ids, mask, labels = tensors(case, "input_ids", "attention_mask", "labels")
    with torch.no_grad():
        logits = model(ids, mask)
    told = {
        "out/logits": logits.numpy(),
        "out/predicts": logits.argmax(dim=1).numpy(),
        "out/step_rewards": step_rewards(logits, labels, torch.zeros(len(labels))).numpy(),
    }
    return told | replay(
        case, model, lambda: loss_of(model(ids, mask), labels, torch.full((len(ids),), 1 / len(ids)))
    )


def _model(case: Case) -> Classifier:
    vocabulary, width = shape_of(case, f"{_ROBERTA}.embeddings.word_embeddings.weight")
    settings = {
        "vocab_size": vocabulary,
        "hidden_size": width,
        "num_hidden_layers": blocks_of(case, f"{_ROBERTA}.encoder.layer."),
        "num_attention_heads": setting_of(case, "num_attention_heads"),
        "intermediate_size": shape_of(case, f"{_ROBERTA}.encoder.layer.0.intermediate.dense.weight")[0],
        "max_position_embeddings": shape_of(case, f"{_ROBERTA}.embeddings.position_embeddings.weight")[0],
        "type_vocab_size": shape_of(case, f"{_ROBERTA}.embeddings.token_type_embeddings.weight")[0],
        "layer_norm_eps": setting_of(case, "layer_norm_eps"),
        "num_labels": shape_of(case, "llm.classifier.out_proj.weight")[0],
    }
    return Classifier(RobertaForSequenceClassification(RobertaConfig(**settings, **UNDROPPED)))
