"""A made-up problem with what real data have: drugs in another order than the text, emoji, one drug, sixteen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.benchmarks.combos import BENCHMARK
from harness.benchmarks.combos.answer import combinations_in
from harness.benchmarks.combos.dataset import TEST_FILE, TRAINING_FILE, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import COMB, NEG, POS, Document, DrugRelation, MarkedDrug
from harness.benchmarks.combos.names import ANSWER
from harness.benchmarks.combos.splits.form import DocumentSplit, split_of
from harness.conformance.checks import MadeUp

_DRUGS = ("abrevolin", "bractimab", "caldorine", "dremoxan", "eltavisen", "fenzorbide", "galtucane", "hexaprolin")
# words, where capital letters stand for drugs, and what is combined
_PATTERNS: tuple[tuple[str, tuple[tuple[int, str], ...]], ...] = (
    ("A plus B improved sleep .", ((POS, "AB"),)),
    ("A plus B , but not C , improved sleep .", ((POS, "AB"),)),
    ("A or B was given .", ()),
    ("sleep was worse with A plus B than with C .", ((NEG, "AB"),)),
    ("A , B and C were taken together .", ((COMB, "ABC"),)),
    ("A plus B improved sleep , with C even more .", ((POS, "AB"), (POS, "ABC"))),
    ("A was compared with B and C .", ()),
)
# what may be asked as well: two and more code points for what looks like one character, hardly a drug, many drugs
_ODD = (
    ("\U0001f9ea nai\u0308ve : A plus B improved sleep .", ((POS, "AB"),)),
    ("A was given .", ()),
    ("no drug was given .", ()),
    (" , ".join("ABCDEFGHIJKLMNOP") + " were in the panel .", ()),
)
_TRAINING, _ASKED = 28, 14


class Problem(MadeUp[CombosDataset, DocumentSplit]):
    """Made-up documents, and a split of them."""

    benchmark = BENCHMARK

    def with_other_test_labels(self) -> Problem:
        """The same problem; asked documents that have a relation have none, and the others have one."""
        documents = list(self.dataset.documents)
        for place in self.split.asked.tolist():
            own = documents[place]
            other = (DrugRelation(NEG, (0, 1), context_needed=True),) if len(own.drugs) > 1 else ()
            documents[place] = replace(own, relations=() if own.relations else other)
        dataset = dataset_of(self.dataset.name, documents, self.dataset.released.tolist())
        return Problem(dataset, self.split)

    def metrics(self, answer: Mapping[str, Any]) -> Mapping[str, float | None]:
        """The scores of an answer, by the truth."""
        counts = self.dataset.span_counts[self.split.asked].tolist()
        return BENCHMARK.scoring.score(self.dataset, self.split, combinations_in(answer[ANSWER], counts), {})[0]


def sentences() -> Problem:
    """Documents to learn from, as many of each pattern, and fewer to read, odd ones behind."""
    patterns = [_PATTERNS[number % len(_PATTERNS)] for number in range(_TRAINING + _ASKED)]
    documents = [_document(*pattern, number) for number, pattern in enumerate([*patterns, *_ODD])]
    released = [TRAINING_FILE] * _TRAINING + [TEST_FILE] * (len(documents) - _TRAINING)
    return Problem(dataset_of("made-up", documents, released), split_of(released))


def _document(words: str, relations: tuple[tuple[int, str], ...], number: int) -> Document:
    """A document of a pattern; every third lists its drugs from behind."""
    text, drugs, letters = "", list[MarkedDrug](), ""
    for word in words.split():
        if len(word) == 1 and word.isalpha():
            turn, rest = divmod(number + ord(word), len(_DRUGS))
            # a name for each of more drugs than there are
            name = _DRUGS[rest] if word <= "H" else f"{_DRUGS[rest]}-{turn}"
            drugs.append(MarkedDrug(len(text), len(text) + len(name), name))
            letters, word = letters + word, name
        text += f"{word} "
    sentence = text.strip()
    if number % 3 == 0:
        drugs, letters = drugs[::-1], letters[::-1]
    own = tuple(DrugRelation(label, tuple(sorted(map(letters.index, named)))) for label, named in relations)
    paragraph = f"This is report {number}. {sentence} Nothing else was seen."
    return Document(f"document {number}", sentence, paragraph, "", tuple(drugs), own)
