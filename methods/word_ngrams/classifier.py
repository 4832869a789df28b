"""A linear model of candidates: what they have by name are columns, and these say how probable each class is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from combination_candidates import ANSWERS, Candidate, Drugs
from combos_sdk import Document
from logistic import Array, Rows, chances_of, fitted
from ngrams import features, frequent, sentence_of


class Classifier:
    """Fitted to the candidates of some documents, of which there is one at least."""

    def __init__(
        self, train: Sequence[tuple[Document, Sequence[Candidate]]], parameters: Mapping[str, Any]
    ) -> None:
        self._longest = int(parameters["longest"])
        names = [row for document, own in train for row in self._names(document, [one.drugs for one in own])]
        self._columns = frequent(names, int(parameters["least"]))
        labels = np.array([one.label for _, own in train for one in own], dtype=np.int64)
        settings = float(parameters["penalty"]), int(parameters["steps"])
        self._weights, self.losses = fitted(self._rows(names), labels, len(ANSWERS), *settings)

    def chances(self, document: Document, sets: Sequence[Drugs]) -> Array:
        """How probable each class is for each set."""
        return chances_of(self._rows(self._names(document, sets)), self._weights)

    def _names(self, document: Document, sets: Sequence[Drugs]) -> list[list[str]]:
        sentence = sentence_of(document)
        return [features(sentence, drugs, self._longest) for drugs in sets]

    def _rows(self, names: Sequence[Sequence[str]]) -> Rows:
        known = self._columns
        return Rows([[known[name] for name in row if name in known] for row in names], len(known))
