"""The golden cases of the classifier: a batch from texts to losses, and steps of training it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from combination_bert import Bert, BertSizes
from combination_classifier import CombinationClassifier, choose_trained, loss_of
from combination_optimiser import EarlyEpsilonAdamW, optimiser_of, rate_at
from given_windows import GivenWindow
from marked_texts import MARKERS
from permafrost_sdk import Array, Case
from torch import Tensor
from word_pieces import WordPieces

_START, _PLACES = "param/", "bert.embeddings.position_ids"
# more words than any window, and more pieces than any row
_UNBOUNDED = 1 << 30
# of all steps, in the original's own schedule
_WARM_UP = 0.1
# its gradient is zero but for rounding: whether it moves depends on the processor
_IDLE = ".attention.self.key.bias"
_EARLY = "adamw_with_linear_warmup"


def model_of(case: Case) -> CombinationClassifier:
    """The network of a case's sizes with all of its parameters, and no others."""
    given = {name.removeprefix(_START): one for name, one in case.arrays.items() if name.startswith(_START)}
    sizes = _sizes(given, case.about["config"])
    if not np.array_equal(given.pop(_PLACES).ravel(), np.arange(sizes.places)):
        raise ValueError(f"{_PLACES} of this case do not count from 0")
    model = CombinationClassifier(Bert(sizes), given["classifier.weight"].shape[0])
    model.load_state_dict({name: torch.as_tensor(one) for name, one in given.items()})
    return model


def _sizes(given: Mapping[str, Array], config: Mapping[str, Any]) -> BertSizes:
    """From the arrays; what no array tells from the configuration, which must not contradict them."""
    start = "bert.encoder.layer."
    words, width = given["bert.embeddings.word_embeddings.weight"].shape
    sizes = BertSizes(
        words=words,
        width=width,
        layers=len({name.removeprefix(start).partition(".")[0] for name in given if name.startswith(start)}),
        heads=config["num_attention_heads"],
        inner=given[f"{start}0.intermediate.dense.weight"].shape[0],
        places=given["bert.embeddings.position_embeddings.weight"].shape[0],
        segments=given["bert.embeddings.token_type_embeddings.weight"].shape[0],
        dropout=config["hidden_dropout_prob"],
        attention_dropout=config["attention_probs_dropout_prob"],
    )
    said = {
        "vocab_size": words - len(MARKERS),
        "hidden_size": width,
        "num_hidden_layers": sizes.layers,
        "intermediate_size": sizes.inner,
        "max_position_embeddings": sizes.places,
    }
    if wrong := [name for name, value in said.items() if config[name] != value]:
        raise ValueError(f"the case's arrays and its configuration differ in {', '.join(wrong)}")
    return sizes


def batch(case: Case) -> dict[str, Array]:
    """From marked texts to ids, masks, logits and losses."""
    about, words = case.about, [str(word) for word in case.arrays["in/vocabulary"]]
    pieces = WordPieces({word: number for number, word in enumerate(words)})
    length = int(about["max_seq_length"])
    texts = [GivenWindow(str(text)) for text in case.arrays["in/texts"]]
    rows = [pieces.row(text, (), _UNBOUNDED, length) for text in texts]
    whole = [pieces.row(text, (), _UNBOUNDED, _UNBOUNDED) for text in texts]
    filled = pieces.batch(rows, length)
    names = [*words, *MARKERS]
    starts = max(len(row.starts) for row in rows)
    return {
        "out/input_ids": filled.ids,
        "out/attention_mask": filled.mask,
        "out/token_type_ids": np.zeros_like(filled.ids),
        "out/entity_weights": filled.weights[:, None],
        "out/subwords": hashes(" ".join(names[one] for one in row.ids) for row in whole),
        "out/starts": np.array(
            [[*row.starts, *[-1] * (starts - len(row.starts))] for row in rows], dtype=np.int32
        ),
        **_answers(case, filled.ids, filled.mask),
    }


def _answers(case: Case, ids: Array, mask: Array) -> dict[str, Array]:
    model, about = model_of(case).eval(), case.about
    where, seen = (torch.from_numpy(one.astype(np.int64)) for one in (ids, mask))
    labels = torch.from_numpy(case.arrays["in/labels"].astype(np.int64))
    with torch.no_grad():
        lower = model.bert.lower(where, seen)
        mean, logits = model.entities(lower, where, seen), model.upper(lower, where, seen)
        losses = [loss_of(logits, labels, weights) for weights in ((), about["label_weights"])]
    prediction = logits.argmax(dim=1)
    return {
        "out/entity_mean": mean.numpy(),
        "out/logits": logits.numpy(),
        "out/probs": torch.softmax(logits, dim=1).numpy(),
        "out/pred": prediction.numpy(),
        "out/loss": losses[0].numpy(),
        "out/loss_weighted": losses[1].numpy(),
        "out/f1": _agreement(prediction, labels, about["f1"]),
    }


def _agreement(prediction: Tensor, labels: Tensor, names: Iterable[str]) -> Array:
    """Precision, recall and F1 over all that is or is said to be a combination; equal classes agree."""
    right = int(((prediction == labels) & (labels != 0)).sum())
    said, true = int((prediction != 0).sum()), int((labels != 0).sum())
    precision, recall = (right / count if count else 0.0 for count in (said, true))
    values = {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if right else 0.0,
        "n_correct": right,
        "n_pred": said,
        "task_ngold": true,
    }
    return np.array([values[name] for name in names], dtype=np.float64)


def training(case: Case) -> dict[str, Array]:
    """Losses and rates of all steps, the weights after them, and which of them learn and change, by name."""
    about, model = case.about, model_of(case)
    before = {name: one.clone() for name, one in model.state_dict().items()}
    learning = {
        f"trainable_{when}_resize": hashes(choose_trained(model, about["strategy"], words=words))
        for when, words in (("before", False), ("after", True))
    }
    optimiser = _optimiser(model, about)
    ids, mask, labels = (
        torch.from_numpy(case.arrays[f"in/{name}"].astype(np.int64))
        for name in ("input_ids", "attention_mask", "labels")
    )
    steps, size = int(about["steps"]), int(about["batch_size"])
    losses, rates = [], []
    model.train()
    for step in range(steps):
        rows = [(step * size + row) % len(ids) for row in range(size)]
        share = rate_at(step, steps, _WARM_UP) if about["optimizer"] == _EARLY else 1.0
        optimiser.set_rate(about["lr"] * share)
        rates.append(about["lr"] * share)
        loss = loss_of(model(ids[rows], mask[rows]), labels[rows], about["label_weights"] or ())
        losses.append(float(loss.detach()))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    after = model.state_dict()
    return {
        **learning,
        "losses": np.array(losses),
        "lr_per_step": np.array(rates),
        "changed_tensors": hashes(
            name for name, one in after.items() if not name.endswith(_IDLE) and not torch.equal(one, before[name])
        ),
        **{f"after/{name}": one.numpy() for name, one in after.items()},
    }


def _optimiser(model: CombinationClassifier, about: Mapping[str, Any]) -> EarlyEpsilonAdamW:
    """As the case's defaults say, which are those of the method in all but rate and decay."""
    defaults = about["optimizer_defaults"]
    optimiser = optimiser_of(model, about["lr"], defaults["weight_decay"])
    ours = {"betas": list(optimiser.defaults["betas"]), "eps": optimiser.defaults["eps"], "correct_bias": True}
    if wrong := [name for name, value in ours.items() if defaults[name] != value]:
        raise ValueError(f"the case's optimiser differs in {', '.join(wrong)}")
    return optimiser


def hashes(texts: Iterable[str]) -> Array:
    """The sha256 of each text, a row of 32 numbers."""
    rows = [np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint8) for text in texts]
    return np.array(rows, dtype=np.uint8).reshape(-1, 32)
