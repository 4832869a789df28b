"""Runs in the image of the marked classifier: its training and prediction, ours and plainly, CPU seconds of each.

Plainly the library's layers read batches of 18 in their order, filled up to the longest, once for frozen layers,
whose vectors are kept in half precision as ours are. The last layer is computed at all tokens, forwards and
backwards, and AdamW is the formula. Both start from the same weights, without dropout, and take the same batches.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from combination_candidates import all_sets
from combination_classifier import CombinationClassifier
from combination_encoders import ENCODERS
from combination_features import predicted
from combination_method import Marked, Reading, divided
from combination_training import Course, fit, new_model
from combos_sdk import Document, Problem, Relation, Span
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertConfig, BertModel

SIZE, RATE = 18, 2e-4


def documents_of(rows: Sequence[Mapping[str, Any]]) -> tuple[Document, ...]:
    """As the SDK makes them."""
    return tuple(
        Document(
            row["sentence"],
            "",
            tuple(Span(*span, "") for span in row["spans"]),
            tuple(Relation(tuple(spans), label) for label, spans in row["relations"]),
        )
        for row in rows
    )


class Plain:
    """The published network by the library."""

    def __init__(self, model: CombinationClassifier) -> None:
        sizes = model.bert.sizes
        names = {"hidden_size": sizes.width, "num_hidden_layers": sizes.layers, "num_attention_heads": sizes.heads}
        names |= {"intermediate_size": sizes.inner, "max_position_embeddings": sizes.places}
        self.bert = BertModel(BertConfig(vocab_size=model.start + 2, **names)).eval()
        self.bert.load_state_dict(model.bert.state_dict())
        self.norm = nn.LayerNorm(sizes.width, eps=1e-5)
        self.norm.load_state_dict(model.layer_norm.state_dict())
        self.classifier = nn.Linear(sizes.width, model.classifier.out_features)
        self.classifier.load_state_dict(model.classifier.state_dict())
        self.start, self.last = model.start, self.bert.encoder.layer[-1]
        self.trained = [*self.last.parameters(), *self.norm.parameters(), *self.classifier.parameters()]

    def lower(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The vectors of the frozen layers."""
        vectors = self.bert.embeddings(input_ids=ids)
        for layer in self.bert.encoder.layer[:-1]:
            vectors = output_of(layer(vectors, mask))
        return vectors

    def logits(self, vectors: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Of a batch, from these."""
        above = output_of(self.last(vectors, mask))
        marked = (ids == self.start).float()
        mean = torch.einsum("bt,btw->bw", marked / marked.sum(1, keepdim=True), above)
        return self.classifier(self.norm(mean))

    def fit(self, texts: Any, labels: Sequence[int], epochs: int) -> list[float]:
        """Mean losses of epochs."""
        batches = [range(first, min(first + SIZE, len(labels))) for first in range(0, len(labels), SIZE)]
        kept = []
        with torch.no_grad():
            for rows in batches:
                ids, mask = filled([texts[row] for row in rows])
                kept.append((ids, mask, self.lower(ids, mask).half()))
        means = [torch.zeros_like(one) for one in self.trained]
        squares = [torch.zeros_like(one) for one in self.trained]
        losses, step = [], 0
        for _ in range(epochs):
            own = []
            for rows, (ids, mask, vectors) in zip(batches, kept, strict=True):
                step += 1
                loss = functional.cross_entropy(
                    self.logits(vectors.float(), ids, mask), torch.tensor([labels[row] for row in rows])
                )
                grads = torch.autograd.grad(loss, self.trained)
                rate = RATE * math.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                with torch.no_grad():
                    for weight, grad, mean, square in zip(self.trained, grads, means, squares, strict=True):
                        mean.mul_(0.9).add_(grad, alpha=0.1)
                        square.mul_(0.999).addcmul_(grad, grad, value=0.001)
                        weight.addcdiv_(mean, square.sqrt().add_(1e-6), value=-rate)
                own.append(float(loss.detach()))
            losses.append(sum(own) / len(own))
        return losses

    def predict(self, texts: Any) -> np.ndarray:
        """Probabilities, in batches of the texts' order."""
        chances = []
        with torch.no_grad():
            for first in range(0, len(texts), SIZE):
                ids, mask = filled([texts[row] for row in range(first, min(first + SIZE, len(texts)))])
                chances.append(torch.softmax(self.logits(self.lower(ids, mask), ids, mask).double(), 1))
        return torch.cat(chances).numpy()


def output_of(given: Any) -> Tensor:
    """A layer's vectors, which some versions of the library give in a tuple."""
    return given if isinstance(given, Tensor) else given[0]


def filled(rows: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
    """Ids and what is added to strengths of attention."""
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.int64)
    mask = torch.full(ids.shape, torch.finfo(torch.float32).min)
    for place, row in enumerate(rows):
        ids[place, : len(row)], mask[place, : len(row)] = torch.from_numpy(row), 0
    return ids, mask[:, None, None]


def main() -> None:
    """Both, one after the other."""
    torch.set_num_threads(1)
    given = json.loads(str(np.load("/in/documents.npy")[0]))
    parameters, seed = given["parameters"], given["seed"]
    encoder = ENCODERS["minilm"]()
    reading = Reading.of(encoder.words, parameters)
    train, asked = documents_of(given["train"]), documents_of(given["asked"])
    rows, _ = divided(Problem(train, (), {}, parameters, seed), reading.texts(train))
    labels = [row.label for row in rows]
    questions = [
        Marked(text, drugs, 0)
        for document, text in zip(asked, reading.texts(asked), strict=True)
        for drugs in all_sets(len(document.spans))
    ]
    torch.manual_seed(seed)
    model = new_model(encoder.bert(), parameters["classes"])
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if hasattr(module, "heads"):
            module.dropout = 0.0
    plain = Plain(model)
    times = [time.process_time()]
    result = fit(model, Course.of(parameters), reading.rows(rows), labels)
    times.append(time.process_time())
    ours = predicted(model, reading.rows(questions), torch.device("cpu"))
    times.append(time.process_time())
    texts = reading.rows(rows)
    losses = plain.fit(texts, labels, parameters["epochs"])
    times.append(time.process_time())
    theirs = plain.predict(reading.rows(questions))
    times.append(time.process_time())
    spent = dict(
        zip(("ours fit", "ours predict", "plain fit", "plain predict"), np.diff(times).tolist(), strict=True)
    )
    curves = {"ours": result.losses, "plain": losses}
    apart = {
        "losses": float(np.abs(np.subtract(losses, result.losses)).max()),
        "chances": float(np.abs(ours - theirs).max()),
    }
    sizes = {"candidates": len(rows), "questions": len(questions)}
    sys.stdout.write(json.dumps({**spent, **curves, "apart": apart, **sizes}) + "\n")


main()
