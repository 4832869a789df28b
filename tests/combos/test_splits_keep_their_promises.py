"""Each strategy keeps what it promises, by brute force too; a split that breaks a promise is told."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import CorruptData, DataError, UsageError
from harness.base.layout import Layout
from harness.base.npy import npy_bytes
from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.dataset import TEST_FILE, UNANNOTATED, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import Document, abstracts_of
from harness.benchmarks.combos.splits.form import OUTSIDE, TEST, TRAIN, split_of
from harness.benchmarks.combos.splits.strategies import abstracts, random, released, unannotated
from harness.data import load_dataset
from tests.combos.made_documents import datasets
from tests.core.word_for_word import said

FORM = BENCHMARK.form
STRATEGIES: tuple[Any, ...] = (abstracts, random, released, unannotated)


@pytest.fixture(scope="module")
def corpus(repository: Layout) -> CombosDataset:
    return load_dataset(repository, "combos_corpus", CombosDataset)


def _together(one: Document, other: Document) -> bool:
    """Whether two documents name one source, or have the same letters in their paragraphs."""
    same_letters = "".join(one.paragraph.split()) == "".join(other.paragraph.split())
    return same_letters or (one.source != "" and one.source == other.source)


def _groups(documents: tuple[Document, ...]) -> list[int]:
    """Abstracts by brute force: what is together with something together is together."""
    names = list(range(len(documents)))
    for _ in documents:
        for one, other in combinations(range(len(documents)), 2):
            if _together(documents[one], documents[other]):
                names[one] = names[other] = min(names[one], names[other])
    return names


@settings(max_examples=50)
@given(dataset=datasets(), pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4))
def test_abstracts_are_those_of_brute_force(dataset: CombosDataset, pairs: list[tuple[int, int]]) -> None:
    documents = list(dataset.documents)
    for one, other in pairs:
        if max(one, other) < len(documents):
            # another sentence of the same abstract: blanks differ
            changed = f"\n{documents[one].paragraph.replace(' ', '  ')}"
            documents[other] = replace(documents[other], paragraph=changed)
    assert abstracts_of(documents) == _groups(tuple(documents))


@settings(max_examples=50)
@given(dataset=datasets(), seed=st.integers(0, 50), share=st.floats(0.05, 0.95))
def test_what_is_promised_is_kept(dataset: CombosDataset, seed: int, share: float) -> None:
    groups = _groups(dataset.documents)
    for strategy in STRATEGIES:
        chosen = strategy.Parameters(test_share=share) if strategy is random else strategy.Parameters()
        if strategy is unannotated and UNANNOTATED not in dataset.released:
            with pytest.raises(DataError, match="nothing is asked"):
                strategy.make(dataset, seed, chosen)
            continue
        split = strategy.make(dataset, seed, chosen)
        assert strategy.broken_promises(dataset, split, chosen) == []
        assert FORM.fits(split, dataset)
        parts = split.parts.tolist()
        assert not any(
            part == TRAIN and own == UNANNOTATED
            for part, own in zip(parts, dataset.released.tolist(), strict=True)
        )
        if strategy in (abstracts, random):
            learned = {group for group, part in zip(groups, parts, strict=True) if part == TRAIN}
            asked = {group for group, part in zip(groups, parts, strict=True) if part == TEST}
            assert not learned & asked
        if strategy is released:
            assert parts == dataset.released.tolist()
        # a small dataset may have all its documents in one abstract
        assert set(FORM.broken_promises(split, dataset)) <= {
            "there is no training document",
            "there is no test document",
        }


def test_a_split_is_its_seed(corpus: CombosDataset) -> None:
    one, same, other = (random.make(corpus, seed, random.Parameters()) for seed in (1, 1, 2))
    assert one.digest == same.digest != other.digest
    assert (
        released.make(corpus, 1, released.Parameters()).digest
        == released.make(corpus, 2, released.Parameters()).digest
    )


def test_documents_of_a_test_abstract_are_left_out(corpus: CombosDataset) -> None:
    split = abstracts.make(corpus, 1, abstracts.Parameters())
    outside = np.flatnonzero(split.parts == OUTSIDE)
    assert len(outside) == 1 and (split.training, split.test) == (119, 40)
    source = corpus.sources[outside[0]]
    assert [corpus.released[place] for place, one in enumerate(corpus.sources) if one == source] == [0, 1]


@pytest.mark.parametrize(
    ("strategy", "changes", "promise"),
    [
        (released, {0: TEST}, "the parts are not those of the two files"),
        (released, {0: OUTSIDE}, "the parts are not those of the two files"),
        (released, {-1: OUTSIDE}, "the parts are not those of the two files"),
        (abstracts, {0: TEST}, "what is asked is not the test file"),
        (abstracts, {-1: OUTSIDE}, "what is asked is not the test file"),
        (abstracts, {119: TRAIN}, "1 training documents are of a test abstract"),
        (abstracts, {5: OUTSIDE}, "1 documents of other abstracts are left out"),
        (random, {5: OUTSIDE}, "an annotated document is outside"),
        (unannotated, {5: TEST}, "an annotated document does not train"),
        (unannotated, {5: OUTSIDE}, "an annotated document does not train"),
    ],
)
def test_a_broken_promise_is_told(
    corpus: CombosDataset, strategy: Any, changes: dict[int, int], promise: str
) -> None:
    if strategy is unannotated:
        corpus = replace(corpus, released=np.append(corpus.released[:-1], UNANNOTATED))
    parts = strategy.make(corpus, 3, strategy.Parameters()).parts.copy()
    parts[list(changes)] = list(changes.values())
    assert any(
        told.startswith(promise)
        for told in strategy.broken_promises(corpus, split_of(parts), strategy.Parameters())
    )


def test_a_draw_asks_for_nothing_that_nobody_annotated() -> None:
    """Nor leaves out what somebody did; each alone is told."""
    documents = [Document(f"id{number}", f"s{number}", f"s{number}", "", (), ()) for number in range(6)]
    dataset = dataset_of("made", documents, [0, 0, 0, TEST_FILE, TEST_FILE, UNANNOTATED])
    told = "an annotated document is outside, or one that is not annotated is not"
    for parts, broken in (
        ([TEST, TRAIN, TRAIN, TRAIN, TRAIN, OUTSIDE], []),
        ([TEST, TRAIN, TRAIN, TRAIN, TRAIN, TRAIN], [told]),
        ([TRAIN, TRAIN, TRAIN, TRAIN, TRAIN, TEST], [told]),
        ([TEST, TRAIN, TRAIN, TRAIN, OUTSIDE, OUTSIDE], [told]),
    ):
        assert random.broken_promises(dataset, split_of(parts), random.Parameters()) == broken


def test_of_documents_that_are_all_annotated_nothing_can_be_predicted(corpus: CombosDataset) -> None:
    """An image was built for it and a run made, which was then blamed for an empty answer."""
    with pytest.raises(DataError) as refused:
        unannotated.make(corpus, 0, unannotated.Parameters())
    assert said(refused.value) == (
        "every document is annotated: nothing is asked",
        "dataset combos_corpus",
        'give a sentence of your own: --text "A plus B was safe." --drug A --drug B; or make the dataset with '
        "--open-sentences",
    )


def test_a_draw_that_tears_an_abstract_apart_is_told(corpus: CombosDataset) -> None:
    groups = np.array(abstracts_of(corpus.documents))
    shared = np.flatnonzero(np.bincount(groups) > 1)[0]
    one, other = np.flatnonzero(groups == shared)
    parts = random.make(corpus, 3, random.Parameters()).parts.copy()
    parts[one], parts[other] = TRAIN, TEST
    assert "1 abstracts are in both parts" in random.broken_promises(corpus, split_of(parts), random.Parameters())


def test_a_share_may_be_missed_by_one_abstract_and_no_more(corpus: CombosDataset) -> None:
    """A fifth of 160 documents; the largest abstract has two."""
    groups = np.array(abstracts_of(corpus.documents))
    alone = np.flatnonzero(np.bincount(groups, minlength=len(groups))[groups] == 1)
    assert np.bincount(groups).max() == 2
    for count in range(30, 37):
        parts = np.full(160, TRAIN)
        parts[alone[:count]] = TEST
        told = random.broken_promises(corpus, split_of(parts), random.Parameters())
        assert told == ([] if count in (32, 33) else [f"{count} documents are asked, not 32"])


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        (lambda parts: parts[:-1], "159 parts for 160 documents"),
        (lambda parts: np.where(parts == TEST, 3, parts), "part 3 has no meaning"),
        (lambda parts: np.where(parts == TEST, -2, parts), "part -2 has no meaning"),
        (lambda parts: np.where(parts == TEST, OUTSIDE, parts), "there is no test document"),
        (lambda parts: np.where(parts == TRAIN, OUTSIDE, parts), "there is no training document"),
    ],
)
def test_a_split_that_is_none_is_told(corpus: CombosDataset, change: Any, promise: str) -> None:
    split = split_of(change(released.make(corpus, 1, released.Parameters()).parts))
    assert promise in FORM.broken_promises(split, corpus)


def test_what_is_not_annotated_never_trains() -> None:
    documents = [Document(f"id{number}", f"s{number}", f"s{number}", "", (), ()) for number in range(3)]
    dataset = dataset_of("made", documents, [0, TEST_FILE, UNANNOTATED])
    assert "1 documents to learn from are not annotated" in FORM.broken_promises(split_of([0, 1, 0]), dataset)
    assert unannotated.make(dataset, 1, unannotated.Parameters()).parts.tolist() == [0, 0, 1]
    assert random.make(dataset, 1, random.Parameters(test_share=0.5)).parts[2] == OUTSIDE


def test_a_share_is_of_what_is_annotated() -> None:
    documents = [Document(f"id{number}", f"s{number}", f"s{number}", "", (), ()) for number in range(20)]
    dataset, parameters = (
        dataset_of("made", documents, [0] * 10 + [UNANNOTATED] * 10),
        random.Parameters(test_share=0.4),
    )
    split = random.make(dataset, 1, parameters)
    assert (split.training, split.test) == (6, 4)
    assert random.broken_promises(dataset, split, parameters) == []


def test_a_dataset_without_a_test_file_says_so() -> None:
    dataset = dataset_of("made", [Document("id", "s", "s", "", (), ())], [0])
    for strategy in (released, abstracts):
        with pytest.raises(UsageError, match="released without a test file"):
            strategy.make(dataset, 1, strategy.Parameters())


def test_files_are_read_back_or_refused(corpus: CombosDataset, tmp_path: Path) -> None:
    split = released.make(corpus, 1, released.Parameters())
    path = tmp_path / "split.npy"
    path.write_bytes(FORM.content(split))
    back = FORM.read(path, lambda: corpus)
    assert back.digest == split.digest and np.array_equal(back.parts, split.parts)
    assert not back.parts.flags.writeable
    for content, what in (
        (npy_bytes(np.zeros((2, 2), dtype=np.int8)), "instead of one part per document"),
        (npy_bytes(np.zeros(3, dtype=np.int32)), "has data type <i4"),
        (b"nothing", "is not a .npy file"),
    ):
        path.write_bytes(content)
        with pytest.raises(CorruptData, match=what):
            FORM.read(path, lambda: corpus)
    with pytest.raises(CorruptData, match="can't be read"):
        FORM.read(tmp_path / "none.npy", lambda: corpus)


def test_a_description_counts_every_part(corpus: CombosDataset) -> None:
    split = released.make(corpus, 1, released.Parameters())
    strategy: Any = released
    tables = FORM.describe(split, corpus, strategy, released.Parameters())
    assert tables["train"]["documents"] == 120 and tables["test"]["documents"] == 40
    assert tables["test"]["abstracts of train"] == 1
    classes = ("COMB", "POS", "NEG")
    statistics = corpus.statistics()
    assert sum(tables["test"][name] for name in classes) == statistics.test_relations
    assert sum(tables[part][name] for part in tables for name in classes) == statistics.relations
