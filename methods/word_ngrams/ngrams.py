"""What a linear model sees of a candidate: n-grams of the words around its drugs, and how many drugs there are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from combination_candidates import Drugs
from combos_sdk import Document

_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
# how many words beside the first and the last drug
_BESIDE = 4
_MOST_COUNTED = 6


class Sentence(NamedTuple):
    """The words of a sentence in lower case, with a place for each drug instead of its own words."""

    words: list[str]
    # of each drug, by its number
    places: list[int]


def sentence_of(document: Document) -> Sentence:
    """The words of a document outside its drugs, and the drugs in order."""
    words: list[str] = []
    places, end = [0] * len(document.spans), 0
    for drug, span in sorted(enumerate(document.spans), key=lambda one: (one[1].start, one[1].end)):
        words += _words(document.sentence[end : span.start])
        places[drug] = len(words)
        words.append("")
        end = max(end, span.end)
    return Sentence([*words, *_words(document.sentence[end:])], places)


def features(sentence: Sentence, drugs: Drugs, longest: int) -> list[str]:
    """The names of what a candidate has, each once."""
    words = list(sentence.words)
    for drug, place in enumerate(sentence.places):
        words[place] = "<drug>" if drug in drugs else "<other>"
    places = sorted(sentence.places[drug] for drug in drugs)
    first, last = places[0], places[-1]
    inside = words[first : last + 1]
    parts = {"in": inside, "left": words[max(0, first - _BESIDE) : first], "right": words[last + 1 :][:_BESIDE]}
    names = {f"{part} {one}" for part, own in parts.items() for one in _ngrams(own, longest)}
    # between neighbours, whichever
    for begin, end in pairwise(places):
        between = words[begin + 1 : end]
        names |= {f"next {one}" for one in _ngrams(between, 1)}
        names.add(f"next all {' '.join(between)}" if len(between) < _BESIDE else "next far")
    names |= {f"sentence {one}" for one in _ngrams(words, 1)}
    count, others = len(sentence.places), Counter(inside)["<other>"]
    size, rest = min(len(drugs), _MOST_COUNTED), min(count - len(drugs), _MOST_COUNTED)
    return [*names, f"size {size}", f"size {size} of {rest} more", f"others inside {min(others, _MOST_COUNTED)}"]


def _words(text: str) -> list[str]:
    return ["0" if word.isdigit() else word for word in _WORD.findall(text.lower())]


def _ngrams(words: Sequence[str], longest: int) -> Iterator[str]:
    for size in range(1, longest + 1):
        for begin in range(len(words) - size + 1):
            yield " ".join(words[begin : begin + size])


def frequent(rows: Iterable[Sequence[str]], least: int) -> dict[str, int]:
    """A number for each name that at least so many rows have."""
    counts = Counter(name for row in rows for name in row)
    return {name: number for number, name in enumerate(sorted(name for name in counts if counts[name] >= least))}
