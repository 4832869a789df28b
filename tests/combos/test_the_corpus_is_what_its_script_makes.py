"""The embedded corpus must be that of the script beside it, odd, learnable, and more than "all drugs"."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import pairwise
from types import ModuleType

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.combos.answer import Combination
from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.combos.documents import Document
from harness.benchmarks.combos.names import KEY_METRICS
from harness.benchmarks.combos.scoring import SCORING
from harness.benchmarks.combos.splits.strategies import released
from harness.data import load_dataset
from tests.data.generators import generator_of


@pytest.fixture
def script(repository: Layout) -> ModuleType:
    """The generator, as a module."""
    return generator_of(repository, "combos_corpus")


@pytest.fixture
def corpus(repository: Layout) -> CombosDataset:
    return load_dataset(repository, "combos_corpus", CombosDataset)


def test_files_are_made_again_byte_for_byte(repository: Layout, script: ModuleType) -> None:
    files = script.files()
    assert set(files) == {"train.jsonl", "test.jsonl"}
    for file, content in files.items():
        assert (repository.datasets / "combos_corpus" / file).read_bytes() == content


def test_odd_documents_are_among_them(corpus: CombosDataset) -> None:
    documents = corpus.documents
    assert corpus.remarks == ("1 of 160 documents are for training and share an abstract with a test document",)
    assert Counter(corpus.span_counts.tolist())[13] == 1
    for part in (0, 1):
        own = [one for one, file in zip(documents, corpus.released, strict=True) if file == part]
        assert any([drug.start for drug in one.drugs] != sorted(drug.start for drug in one.drugs) for one in own)
        assert any(ord(letter) > 0xFFFF for one in own for letter in one.sentence[: one.drugs[0].start])
        assert any(unicodedata.combining(letter) for one in own for letter in one.sentence)
        assert any(len(one.relations) > 1 and _share(one) for one in own)
        labels = {relation.label for one in own for relation in one.relations}
        assert labels == {1, 2, 3} and any(not one.relations for one in own)
    # places are those of the drugs, whatever stands before
    for one in documents:
        assert all(one.sentence[drug.start : drug.end] == drug.text for drug in one.drugs)


def _share(document: Document) -> bool:
    first, second = document.relations[:2]
    return bool({*first.spans} & {*second.spans})


def test_all_drugs_is_no_good_answer(corpus: CombosDataset) -> None:
    """There is more to learn than to take every sentence for one positive combination."""
    split = released.make(corpus, 1, released.Parameters())
    counts = corpus.span_counts[split.asked].tolist()
    every = tuple((Combination(tuple(range(count)), "POS", 1.0),) for count in counts)
    metrics, _ = SCORING.score(corpus, split, every, {})
    first = metrics[next(name for name in KEY_METRICS if "exact" in name.lower() and "positive" in name.lower())]
    assert first is not None and 0.2 < (first if first <= 1 else first / 100) < 0.45


def test_words_between_drugs_tell_what_is_combined(corpus: CombosDataset) -> None:
    """The words between the drugs of a pair of training are, in test, between drugs that are combined as often."""
    shares: list[Counter[str]] = [Counter(), Counter()]
    right = []
    for document, part in zip(corpus.documents, corpus.released.tolist(), strict=True):
        combined = {frozenset(one.spans) for one in document.relations}
        order = sorted(range(len(document.drugs)), key=lambda drug: document.drugs[drug].start)
        for one, other in pairwise(order):
            between = document.sentence[document.drugs[one].end : document.drugs[other].start]
            is_combined = any({one, other} <= spans for spans in combined)
            if part == 0:
                shares[is_combined][between] += 1
            elif shares[0][between] + shares[1][between]:
                right.append((shares[1][between] > shares[0][between]) == is_combined)
    assert len(right) > 30 and np.mean(right) > 0.75
